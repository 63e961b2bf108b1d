//! Every recursion at a few sizes.

use core::hint::black_box;
use core::mem::size_of_val;

use embedded_io::Write;
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::context::ContextLikelihood;
use fishweir_core::dynamics::{Dynamics, Kalman};
use fishweir_core::emission::{
    Bernoulli, Categorical, FullGaussian, Gaussian, Mixture, Parametrisation, Poisson,
    Regularisation, SufficientStatistics,
};
use fishweir_core::filter::{
    Belief, Forgetting, ForgettingFactor, Forward, OnlineEm, RollingLogLikelihood, Statistics,
    StepSize, Window,
};
use fishweir_core::hmm::Hmm;
use fishweir_core::smooth::{
    FixedLag, OnlineViterbi, Viterbi, posteriors, posteriors_checkpointed, viterbi,
};
use fishweir_device::meter::Meter;

use super::bench::{Bench, Called, Failure};
use super::bits;
use super::machines::machines;
use super::models::{
    self, BOOL_STREAM, CATEGORICAL_2, CATEGORICAL_4, CATEGORICAL_8, CHANNELS, COUNT_STREAM,
    SAMPLES, SYMBOL_STREAM, SYMBOLS, VECTOR_STREAM,
};

/// Measures all recursions and sends their rows.
///
/// # Errors
/// When the transport fails, or a model, a setting or a sample is refused.
pub fn recursions<S: Write, M: Meter>(serial: S, meter: M) -> Result<(), Failure<S::Error>> {
    Table(Bench { serial, meter }).everything()
}

struct Table<S, M>(Bench<S, M>);

impl<S: Write, M: Meter> Table<S, M> {
    fn everything(&mut self) -> Result<(), Failure<S::Error>> {
        self.filter("forward, N=2", &CATEGORICAL_2)?;
        self.filter("forward, N=4", &CATEGORICAL_4)?;
        self.filter("forward, N=8", &CATEGORICAL_8)?;
        self.tangent("forward and a tangent, N=2", &CATEGORICAL_2)?;
        self.tangent("forward and a tangent, N=4", &CATEGORICAL_4)?;
        self.tangent("forward and a tangent, N=8", &CATEGORICAL_8)?;
        self.called(["forward called, N=2", "forward and a tangent called, N=2"], &CATEGORICAL_2)?;
        self.called(["forward called, N=4", "forward and a tangent called, N=4"], &CATEGORICAL_4)?;
        self.called(["forward called, N=8", "forward and a tangent called, N=8"], &CATEGORICAL_8)?;
        self.families()?;
        self.systems()?;
        self.words()?;
        self.streams()?;
        self.sequences()?;
        machines(&mut self.0)?;
        self.0.end()
    }

    fn filter<const N: usize>(
        &mut self,
        name: &str,
        hmm: &'static Hmm<Categorical<SYMBOLS>, N>,
    ) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(hmm);
        self.0.recursion(name, &Forward::of(hmm), size_of_val(hmm), &SYMBOL_STREAM, &SYMBOLS)
    }

    #[inline(never)]
    fn called<const N: usize>(
        &mut self,
        [name, with_tangent]: [&str; 2],
        hmm: &'static Hmm<Categorical<SYMBOLS>, N>,
    ) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(hmm);
        let (stream, odd) = (&SYMBOL_STREAM, &SYMBOLS);
        self.0.recursion(name, &Called(Forward::of(hmm)), size_of_val(hmm), stream, odd)?;
        let along = hmm.with_directions(&[models::direction()], Parametrisation::default());
        let along = black_box(&along);
        let bytes = size_of_val(along);
        self.0.recursion(with_tangent, &Called(Forward::of(along)), bytes, stream, odd)
    }

    #[inline(never)]
    fn tangent<E: Streamed<Real = f32>, const N: usize>(
        &mut self,
        name: &str,
        hmm: &Hmm<E, N>,
    ) -> Result<(), Failure<S::Error>> {
        let directions = [models::direction()];
        let along = hmm.with_directions(&directions, Parametrisation::default());
        let along = black_box(&along);
        self.0.recursion(name, &Forward::of(along), size_of_val(along), E::stream(), &E::odd())
    }

    fn families(&mut self) -> Result<(), Failure<S::Error>> {
        self.family("Gaussian, N=4 D=3", "Gaussian and a tangent, N=4 D=3", models::gaussian()?)?;
        self.family(
            "full Gaussian, N=4 D=3",
            "full Gaussian and a tangent, N=4 D=3",
            models::full_gaussian()?,
        )?;
        self.family(
            "mixture of 2 Gaussians, N=4 D=3",
            "mixture and a tangent, N=4 D=3",
            models::mixture()?,
        )?;
        self.family("Poisson, N=4 D=3", "Poisson and a tangent, N=4 D=3", models::poisson()?)?;
        self.family("Bernoulli, N=4 D=3", "Bernoulli and a tangent, N=4 D=3", models::bernoulli()?)
    }

    #[inline(never)]
    fn family<E: Streamed<Real = f32>>(
        &mut self,
        name: &str,
        with_tangent: &str,
        hmm: Hmm<E, 4>,
    ) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(&hmm);
        self.0.recursion(name, &Forward::of(hmm), size_of_val(hmm), E::stream(), &E::odd())?;
        self.tangent(with_tangent, hmm)
    }

    /// Linear dynamical systems.
    #[inline(never)]
    fn systems(&mut self) -> Result<(), Failure<S::Error>> {
        let parameters = models::system();
        let system = black_box(Dynamics::new(&parameters)?);
        let (stream, odd) = (&VECTOR_STREAM, &[f32::MAX; CHANNELS]);
        let bytes = size_of_val(&system);
        self.0.recursion("Kalman, N=4 D=3", &Kalman::of(&system), bytes, stream, odd)?;
        let along =
            black_box(Dynamics::new(&parameters.with_directions(&[models::system_direction()]))?);
        let bytes = size_of_val(&along);
        let name = "Kalman and a tangent, N=4 D=3";
        self.0.recursion(name, &Kalman::of(&along), bytes, stream, odd)
    }

    /// Weights of words of three symbols, four letters.
    #[inline(never)]
    fn words(&mut self) -> Result<(), Failure<S::Error>> {
        let [words] = black_box(bits::WORDS.models());
        let stream = const { &models::symbols::<4>() };
        let bytes = size_of_val(words);
        self.0.recursion("words, 16 contexts", &ContextLikelihood::of(words), bytes, stream, &4)
    }

    #[inline(never)]
    fn streams(&mut self) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(&CATEGORICAL_4);
        let bytes = size_of_val(hmm);
        let (stream, odd) = (&SYMBOL_STREAM, &SYMBOLS);
        let forgetting = Forgetting::of(hmm, ForgettingFactor::samples(100.0)?);
        self.0.recursion("forgetting, N=4", &forgetting, bytes, stream, odd)?;
        let recent = RollingLogLikelihood::<_, 4, 4>::of(hmm, 16)?;
        self.0.recursion("recent, 4 marks, N=4", &recent, bytes, stream, odd)?;
        let window = Window::<_, 4>::of(Forward::of(hmm), 16)?;
        self.0.recursion("window, 4 filters, N=4", &window, bytes, stream, odd)?;
        self.0.recursion(
            "fixed lag 16, N=4",
            &FixedLag::<_, 4, 16>::of(hmm),
            bytes,
            stream,
            odd,
        )?;
        self.0.recursion("Viterbi, N=4", &Viterbi::of(hmm), bytes, stream, odd)?;
        let online = OnlineViterbi::<_, 64>::of(hmm);
        self.0.recursion("online Viterbi 64, N=4", &online, bytes, stream, odd)?;
        let spotter = black_box(&models::SPOTTER_8);
        let spotter_bytes = size_of_val(spotter);
        self.0.recursion("spotter of 4 events, N=8", spotter, spotter_bytes, stream, odd)?;
        self.0.recursion("statistics, N=4", &Statistics::of(hmm), bytes, stream, odd)?;
        let priors = Regularisation { variance_floor: 1e-3, pseudo_count: 0.1 };
        let adapting = OnlineEm::from(hmm, StepSize::Constant(0.01), 100, priors)?;
        self.0.recursion("online EM, N=4", &adapting, bytes, stream, odd)?;
        self.classifier()?;

        let hmm = models::gaussian()?;
        let hmm = black_box(&hmm);
        let bytes = size_of_val(hmm);
        let (stream, odd) = (&VECTOR_STREAM, &[1e6; CHANNELS]);
        self.0.recursion(
            "statistics, Gaussian N=4 D=3",
            &Statistics::of(hmm),
            bytes,
            stream,
            odd,
        )?;
        let adapting = OnlineEm::from(hmm, StepSize::Constant(0.01), 100, priors)?;
        self.0.recursion("online EM, Gaussian N=4 D=3", &adapting, bytes, stream, odd)
    }

    #[inline(never)]
    fn classifier(&mut self) -> Result<(), Failure<S::Error>> {
        let classifier = StreamClassifier::from_parts(
            [CATEGORICAL_4, CATEGORICAL_4],
            [[1.0, -1.0]],
            [0.1],
            Normalisation::NONE,
        );
        let classifier = black_box(&classifier);
        let bytes = size_of_val(classifier);
        self.0.recursion(
            "classifier of 2 models, N=4",
            &classifier,
            bytes,
            &SYMBOL_STREAM,
            &SYMBOLS,
        )?;
        let directions = [models::direction()];
        let along = || CATEGORICAL_4.with_directions(&directions, Parametrisation::default());
        let classifier = StreamClassifier::from_parts(
            [along(), along()],
            [[1.0, -1.0]],
            [0.1],
            Normalisation::NONE,
        );
        let classifier = black_box(&classifier);
        let bytes = size_of_val(classifier);
        let name = "classifier of 2 models, a tangent, N=4";
        self.0.recursion(name, &classifier, bytes, &SYMBOL_STREAM, &SYMBOLS)
    }

    /// Recursions over a whole sequence, in lent buffers, which are the state.
    #[inline(never)]
    fn sequences(&mut self) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(&CATEGORICAL_4);
        let bytes = size_of_val(hmm);
        let sequence = || SYMBOL_STREAM.iter().map(Some);
        let (mut rows, mut pairs) = ([[0.0; 4]; SAMPLES], [[0.0; 4]; 4]);
        let lent = size_of_val(&rows);
        self.0.sequence("posteriors, T=1024 N=4", bytes, lent, || {
            posteriors(hmm, sequence(), &mut rows, &mut pairs).is_ok()
        })?;
        let (mut back, mut path) = ([[0_u8; 4]; SAMPLES], [0_u8; SAMPLES]);
        let lent = size_of_val(&back) + size_of_val(&path);
        self.0.sequence("Viterbi path, T=1024 N=4", bytes, lent, || {
            viterbi(hmm, sequence(), &mut back, &mut path).is_ok()
        })?;
        let (mut checkpoints, mut rows) = ([Belief::NEW; 32], [[0.0; 4]; 32]);
        let lent = size_of_val(&checkpoints) + size_of_val(&rows);
        self.0.sequence("checkpointed, T=1024 N=4", bytes, lent, || {
            let observation = |t: usize| SYMBOL_STREAM.get(t);
            let visit = |_, row: &[f32; 4]| {
                black_box(row);
            };
            posteriors_checkpointed(
                hmm,
                SAMPLES,
                observation,
                &mut checkpoints,
                &mut rows,
                &mut pairs,
                visit,
            )
            .is_ok()
        })
    }
}

/// A family with a stream to measure it on, and a sample that takes the slow path.
trait Streamed: SufficientStatistics<Observation: Sized> {
    fn stream() -> &'static [Self::Observation];
    fn odd() -> Self::Observation;
}

macro_rules! streamed {
    ($($family:ty: $stream:ident, $odd:expr;)*) => {$(
        impl Streamed for $family {
            fn stream() -> &'static [Self::Observation] {
                &$stream
            }
            fn odd() -> Self::Observation {
                $odd
            }
        }
    )*};
}
streamed! {
    Categorical<SYMBOLS>: SYMBOL_STREAM, SYMBOLS;
    Gaussian<CHANNELS>: VECTOR_STREAM, [1e6; CHANNELS];
    FullGaussian<CHANNELS>: VECTOR_STREAM, [1e6; CHANNELS];
    Mixture<Gaussian<CHANNELS>, 2>:
        VECTOR_STREAM, [1e6; CHANNELS];
    Poisson<CHANNELS>: COUNT_STREAM, [1_000_000; CHANNELS];
    Bernoulli<CHANNELS>: BOOL_STREAM, [true; CHANNELS];
}
