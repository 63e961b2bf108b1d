//! Windows around what is computed in whole numbers, around other models, and around kernel machines.

use fishweir_core::classify::{
    ChangeDetector, Codebooks, DiagonalWhitening, KernelMachine, Limit, NoNorm, Normalisation,
    ScoreKernel, StoredScores, StoredSequences, StreamClassifier,
};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::{Categorical, Gaussian, Parametrisation};
use fishweir_core::filter::ForgettingFactor;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{FixedLength, FixedLengthNorm};
use fishweir_core::number::Dual;
use fishweir_tests::build::padded;
use fishweir_tests::oracle::Model;
use fishweir_tests::sample::{Sampler, Topology};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{cases, laws, odd, row};
use crate::filter::{fixed_point, integers};
use crate::profile_hmm::{A, K, mapped, profile};

proptest! {
    #![proptest_config(cases())]

    /// 16-bit tables and integers.
    #[test]
    fn in_fixed_point(seed: u64) {
        let mut s = Sampler::new(seed);
        let chain = [[16_384, 16_384], [30_000, 2_768], [8_000, 24_768]];
        let tables = |symbols| fixed_point::tables(chain, symbols);
        let models = [
            tables([[(32_768, 0), (0, 0)], [(8_192, 200), (24_576, -200)]]),
            tables([[(16_384, 90), (16_384, -90)], [(1_024, 0), (31_744, 0)]]),
        ];
        let bank = StreamClassifier::from_parts(models, [[1.0, -1.0]], [0.0], Normalisation::NONE);
        let symbol = |s: &mut Sampler| s.uniform(0.0, 2.0) as usize;
        laws(&mut s, 1, &bank, symbol, &[2, 1000]);

        let integers_of = |s: &mut Sampler| [integers::integer(s), integers::integer(s)];
        laws(&mut s, 1, &integers::at_lags(), integers_of, &[]);
        let weights = std::array::from_fn(|_| std::array::from_fn(|_| integers_of(&mut s)));
        let vectors = integers::vectors(&mut s);
        let (dilations, scales) = (integers::DILATIONS, integers::SCALES);
        let books = Codebooks::in_units(dilations, scales, vectors, weights, integers::UNITS);
        let steps = ([[[0; 1]; 8]; 2], [[[[1; 2]; 1]; 8]; 2]);
        let whole = integers::Whole::from_parts(integers::at_lags(), books.with_levels(steps.0, steps.1));
        laws(&mut s, 5, &whole, integers_of, &[]);
    }

    /// Contexts that are seen, profiles, systems, detectors.
    #[test]
    fn of_other_models(seed: u64) {
        let mut s = Sampler::new(seed);
        let model = |level: f32| {
            let state = |t| Gaussian::<2>::new([level * t as f32; 2], [1.0 + level; 2]);
            ContextModel::new(Steps, std::array::from_fn::<_, 5, _>(|t| state(t).expect("a state")))
        };
        let models = [model(0.25), model(1.0)];
        let steps = StreamClassifier::from_parts(models, [[1.0, -1.0]], [0.0], Normalisation::PER_SAMPLE);
        laws(&mut s, 1, &steps, row, &odd::<2>());

        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let profiles = [true, false].map(|local| profile(&mut random, local, true));
        let single = profiles.map(|profile| mapped(&profile, |weight| weight as f32));
        let odds = StreamClassifier::from_parts(single, [[1.0, -0.5]], [0.0], Normalisation::NONE);
        let residue = |s: &mut Sampler| s.uniform(0.0, A as f64) as usize;
        laws(&mut s, 1, &odds, residue, &[A, 99]);
        let along = profiles.map(|profile| {
            mapped(&profile, |weight| Dual { value: weight as f32, tangent: [0.5 * weight as f32] })
        });
        let odds = StreamClassifier::from_parts(along, [[0.0; 2]], [0.25], Normalisation::PER_SAMPLE);
        laws(&mut s, K as u32, &odds, residue, &[A]);

        let systems = [s.system(2, 2), s.system(2, 2)];
        let models = systems.each_ref().map(crate::dynamics::dynamics::<f32, 2, 2>);
        let systems = StreamClassifier::from_parts(models, [[1.0, -1.0]], [0.0], Normalisation::NONE);
        laws(&mut s, 1, &systems, row, &odd::<2>()[..2]);

        let coin = |heads: f32| {
            let moved = |value, rate| Dual { value, tangent: [rate] };
            Hmm::new(
                Chain::from_parts([moved(1.0, 0.0)], [[moved(1.0, 0.0)]]),
                [Categorical::from_parts([moved(heads, 0.25), moved(1.0 - heads, -0.25)])],
            )
        };
        let limit = |mean| Limit { mean, threshold: 1.5 };
        let memory = ForgettingFactor::factor(0.9).expect("a factor");
        let detector = ChangeDetector::from_parts(coin(0.75), memory, limit(-0.7), [limit(0.1)]);
        laws(&mut s, 1, &detector, |s| s.uniform(0.0, 2.0) as usize, &[2]);
    }

    /// Stored sequences are shorter than some windows: what comes after their end is refused by the older windows alone.
    #[test]
    fn of_kernel_machines(seed: u64) {
        let mut s = Sampler::new(seed);
        let plain: [Model; 2] = std::array::from_fn(|_| s.categorical(Topology::Ergodic, 3, 4));
        let models: [Hmm<Categorical<4>, 3>; 2] =
            plain.each_ref().map(|plain| padded(plain).expect("a model"));
        let items: [[u8; 5]; 3] =
            std::array::from_fn(|_| std::array::from_fn(|_| s.uniform(0.0, 4.0) as u8));
        let kernel = FixedLength::from_parts(&models[0], items.each_ref().map(|item| &item[..]));
        let coefficients = [[1.0_f32, -0.5, 0.25]];
        let symbol = |s: &mut Sampler| s.uniform(0.0, 4.0) as usize;
        let own = FixedLengthNorm::of(&models[0], 5);
        let normalised = StoredSequences::new(kernel, own, [-6.0, -7.0, -8.0]);
        let machine = KernelMachine::from_parts(normalised, coefficients, [0.25]);
        laws(&mut s, 1, &machine, symbol, &[4]);
        let machine = KernelMachine::from_parts(
            StoredSequences::new(kernel, NoNorm::NEW, [-7.0; 3]),
            coefficients,
            [0.0],
        );
        laws(&mut s, 1, &machine, symbol, &[4]);

        const SCORES: usize = 2 * (3 + 9 + 12);
        let stored = std::array::from_fn(|_| std::array::from_fn(|_| s.normal() as f32));
        let whitening = DiagonalWhitening { centre: [0.0; SCORES], rate: [0.5; SCORES] };
        let scores = StoredScores::<_, _, [[_; SCORES]; 3]>::from_parts(
            models,
            Parametrisation::SOFTMAX,
            Normalisation::PER_SAMPLE,
            whitening,
            ScoreKernel::Gaussian { gamma: 0.25 },
            stored,
        );
        laws(&mut s, 1, &KernelMachine::from_parts(scores, coefficients, [0.25]), symbol, &[4]);
    }
}
