//! What a machine refuses, and where it has no decision.

use fishweir_core::classify::{
    DiagonalWhitening, FullWhitening, KernelMachine, Normalisation, ScoreKernel, StoredScores,
    StoredSequences, Whitening,
};
use fishweir_core::emission::{Gaussian, Parametrisation};
use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{FixedLength, FixedLengthNorm, KernelError, Validate};
use fishweir_core::{ErrorKind, ModelError, Part};
use fishweir_tests::build::padded;
use fishweir_tests::sample::Sampler;

use super::{Law, SCORES, STATES, STORED};
use crate::kernels::aligned::model;

/// A sample that the models take may take a score out of its range: then there is no decision, until a
/// reset.
#[test]
fn a_score_out_of_range_has_no_decision() {
    const SCORES: usize = 2 + 4 + 2 * 2;
    fn read<W: Whitening<f32, SCORES> + Copy>(whitening: W, x: f32) -> Vec<Option<f32>> {
        let row = [0.5_f32; 2];
        let chain = Chain::<f32, 2>::new(row, [row, row]).expect("sums to one");
        let hmm = Hmm::new(chain, [Gaussian::<1>::new([0.0], [1.0]).expect("positive"); 2]);
        let kernels = [
            ScoreKernel::Gaussian { gamma: 1.0 },
            ScoreKernel::Polynomial { degree: 2 },
            ScoreKernel::Cosine,
            ScoreKernel::RootCosine,
        ];
        let decide = |kernel| {
            let (by, per_sample) = (Parametrisation::SOFTMAX, Normalisation::PER_SAMPLE);
            let stored = [[0.1; SCORES]];
            let kernel: StoredScores<_, _, [[_; SCORES]; 1]> =
                StoredScores::from_parts([hmm], by, per_sample, whitening, kernel, stored);
            let machine = KernelMachine::from_parts(kernel, [[1.0]], [0.5_f32]);
            machine.validate().expect("finite");
            let mut stream = Stream::new(&machine);
            stream.push_block(&[[0.5], [x]]).expect("possible");
            let margin = stream.read().ok().map(|decision| decision.margin);
            stream.reset();
            stream.push_block(&[[0.5], [-0.5]]).expect("possible");
            // What was out of range is forgotten.
            assert!(stream.read().is_ok() || x.abs() < 1e8);
            margin
        };
        kernels.map(decide).to_vec()
    }
    let centre = [0.0; SCORES];
    let identity: [[f32; SCORES]; SCORES] =
        std::array::from_fn(|i| std::array::from_fn(|k| if i == k { 1.0 } else { 0.0 }));
    let diagonal = DiagonalWhitening { centre, rate: [1.0; SCORES] };
    let full = FullWhitening { centre, rows: identity };
    for margin in [read(diagonal, 1.0), read(full, 1.0)].concat() {
        assert!(margin.is_some_and(f32::is_finite), "{margin:?}");
    }
    // A billion standard deviations: the filter takes it, the square of it is past the range.
    assert_eq!([read(diagonal, 1e9), read(full, 1e9)].concat(), [None; 8]);
    // Infinities of both signs sum to no number.
    let mut wild = identity;
    wild[0] = std::array::from_fn(|k| if k % 2 == 0 { f32::MAX } else { -f32::MAX });
    assert_eq!(read(FullWhitening { centre, rows: wild }, 30.0), [None; 4]);
}

#[test]
fn what_is_wrong_is_named() {
    /// Beyond which no entry may lie.
    const FARTHEST: f64 = (1_u64 << 48) as f64;
    let mut sampler = Sampler::new(5);
    let hmm: Hmm<Law<f64>, STATES> =
        padded(&model(&mut sampler, 0, STATES, false)).expect("a model");
    let good: [&[u8]; STORED] = [&[0, 1], &[2, 3], &[1, 1]];
    let machine = |stored, norms, coefficients: [[f64; STORED]; 1], bias: f64| {
        let kernel = FixedLength::from_parts(&hmm, stored);
        let kernel = StoredSequences::new(kernel, FixedLengthNorm::of(&hmm, 2), norms);
        KernelMachine::from_parts(kernel, coefficients, [bias]).validate()
    };
    let (norms, ones) = ([0.0; STORED], [[1.0; STORED]]);
    assert_eq!(machine(good, norms, ones, 0.0), Ok(()));
    let kind = |part, row, entry| {
        Err(KernelError::Model(ModelError::new(part, ErrorKind::NotFinite, row, entry)))
    };
    assert_eq!(machine(good, norms, ones, f64::NAN), kind(Part::Bias, 0, 0));
    assert_eq!(
        machine(good, norms, [[0.0, f64::INFINITY, 0.0]], 0.0),
        kind(Part::Coefficient, 0, 1)
    );
    assert_eq!(machine(good, [0.0, 0.0, f64::NAN], ones, 0.0), kind(Part::StoredItem, 0, 2));
    let error = fishweir_core::ObservationError::UnknownSymbol;
    assert_eq!(
        machine([&[0, 1], &[2, 9], &[1, 1]], norms, ones, 0.0),
        Err(KernelError::Stored { sequence: 1, position: 1, error })
    );
    assert_eq!(
        machine([&[0, 1], &[2, 3, 0], &[1, 1]], norms, ones, 0.0),
        Err(KernelError::Length { sequence: 1, found: 3, expected: 2 })
    );
    let scores = |kernel, entry: f64, rate| {
        StoredScores::<[Hmm<Law<f64>, STATES>; 2], _, [[_; SCORES]; 1]>::from_parts(
            [hmm; 2],
            Parametrisation::SOFTMAX,
            Normalisation::NONE,
            DiagonalWhitening { centre: [0.0; SCORES], rate: [rate; SCORES] },
            kernel,
            [[entry; SCORES]],
        )
        .validate()
    };
    let gaussian = |gamma| ScoreKernel::Gaussian { gamma };
    assert_eq!(scores(gaussian(1.0), 0.5, 1.0), Ok(()));
    assert_eq!(scores(ScoreKernel::Cosine, -FARTHEST, 1.0), Ok(()));
    assert_eq!(scores(ScoreKernel::RootCosine, -FARTHEST, 1.0), Ok(()));
    assert_eq!(scores(ScoreKernel::RootCosine, 0.5, f64::NAN), kind(Part::Whitening, 1, 0));
    assert_eq!(scores(ScoreKernel::RootCosine, f64::NAN, 1.0), kind(Part::StoredItem, 0, 0));
    assert_eq!(scores(gaussian(1.0), f64::NAN, 1.0), kind(Part::StoredItem, 0, 0));
    assert_eq!(scores(gaussian(1.0), 0.5, f64::NAN), kind(Part::Whitening, 1, 0));
    assert_eq!(scores(gaussian(f64::NAN), 0.5, 1.0), kind(Part::Kernel, 0, 0));
    for (kernel, entry, part, kind) in [
        (gaussian(0.0), 0.5, Part::Kernel, ErrorKind::NotPositive),
        (ScoreKernel::Polynomial { degree: 0 }, 0.5, Part::Kernel, ErrorKind::NotInRange),
        (ScoreKernel::Cosine, FARTHEST * 1.01, Part::StoredItem, ErrorKind::NotInRange),
        (ScoreKernel::RootCosine, FARTHEST * 1.01, Part::StoredItem, ErrorKind::NotInRange),
    ] {
        let error = ModelError::new(part, kind, 0, 0);
        assert_eq!(scores(kernel, entry, 1.0), Err(KernelError::Model(error)));
    }
}
