//! What every recursion costs: instructions a sample, bytes of state, deepest stack.
//!
//! A thousand samples are pushed between two readings of the board's counter, and the loop around
//! them is measured by itself. The state lives in RAM, the loop is a function of its own, and the
//! model's numbers are not known to the optimiser. In such a block a small model may stay in
//! registers; rows that say "called" push each sample by a call, as an interrupt handler would.

mod models;
pub mod record;

use core::hint::black_box;
use core::mem::size_of_val;

use embedded_io::Write;
use fishweir_core::ObservationError;
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::{
    Bernoulli, Categorical, FullGaussian, Gaussian, Mixture, Parametrisation, Poisson,
    Regularisation, SufficientStatistics,
};
use fishweir_core::filter::{
    Belief, Forgetting, Forward, Memory, OnlineEm, Recent, Recursion, Statistics, StepSize, Window,
};
use fishweir_core::hmm::Hmm;
use fishweir_core::smooth::{
    FixedLag, OnlineViterbi, Viterbi, posteriors, posteriors_checkpointed, viterbi,
};

use self::models::{
    BOOL_STREAM, CATEGORICAL_2, CATEGORICAL_4, CATEGORICAL_8, CHANNELS, COUNT_STREAM, SAMPLES,
    SYMBOL_STREAM, SYMBOLS, VECTOR_STREAM,
};
use self::record::Measurement;
use crate::drivers::stack;
use crate::meter::Meter;

/// How far down the stack is watched.
const DEPTH: u32 = 64 * 1024;

/// Why the table broke off.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Failure<E> {
    /// The transport failed.
    Transport(E),
    /// A model was refused.
    Model(fishweir_core::ModelError),
    /// A setting was refused.
    Setting(fishweir_core::filter::SettingError),
    /// A sample or a sequence was refused: the numbers would be those of another path.
    Refused,
}

impl<E> From<fishweir_core::ModelError> for Failure<E> {
    fn from(error: fishweir_core::ModelError) -> Self {
        Self::Model(error)
    }
}
impl<E> From<fishweir_core::filter::SettingError> for Failure<E> {
    fn from(error: fishweir_core::filter::SettingError) -> Self {
        Self::Setting(error)
    }
}

/// Measures everything and sends the records.
///
/// # Errors
/// When the transport fails, or a model, a setting or a sample is refused.
pub fn measure<S: Write, M: Meter>(serial: S, meter: M) -> Result<(), Failure<S::Error>> {
    Bench { serial, meter }.everything()
}

struct Bench<S, M> {
    serial: S,
    meter: M,
}

impl<S: Write, M: Meter> Bench<S, M> {
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
        self.streams()?;
        self.sequences()?;
        self.send(&Measurement::END)?;
        self.serial.flush().map_err(Failure::Transport)
    }

    fn filter<const N: usize>(
        &mut self,
        name: &str,
        hmm: &'static Hmm<Categorical<SYMBOLS>, N>,
    ) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(hmm);
        self.recursion(name, &Forward::of(hmm), size_of_val(hmm), &SYMBOL_STREAM, &SYMBOLS)
    }

    #[inline(never)]
    fn called<const N: usize>(
        &mut self,
        [name, with_tangent]: [&str; 2],
        hmm: &'static Hmm<Categorical<SYMBOLS>, N>,
    ) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(hmm);
        let (stream, odd) = (&SYMBOL_STREAM, &SYMBOLS);
        self.recursion(name, &Called(Forward::of(hmm)), size_of_val(hmm), stream, odd)?;
        let along = hmm.along(&[models::direction()], Parametrisation::default());
        let along = black_box(&along);
        let bytes = size_of_val(along);
        self.recursion(with_tangent, &Called(Forward::of(along)), bytes, stream, odd)
    }

    #[inline(never)]
    fn tangent<E: Streamed<Real = f32>, const N: usize>(
        &mut self,
        name: &str,
        hmm: &Hmm<E, N>,
    ) -> Result<(), Failure<S::Error>> {
        let directions = [models::direction()];
        let along = hmm.along(&directions, Parametrisation::default());
        let along = black_box(&along);
        self.recursion(name, &Forward::of(along), size_of_val(along), E::stream(), &E::odd())
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
        self.recursion(name, &Forward::of(hmm), size_of_val(hmm), E::stream(), &E::odd())?;
        self.tangent(with_tangent, hmm)
    }

    #[inline(never)]
    fn streams(&mut self) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(&CATEGORICAL_4);
        let bytes = size_of_val(hmm);
        let (stream, odd) = (&SYMBOL_STREAM, &SYMBOLS);
        let forgetting = Forgetting::of(hmm, Memory::samples(100.0)?);
        self.recursion("forgetting, N=4", &forgetting, bytes, stream, odd)?;
        let recent = Recent::<_, 4, 4>::of(hmm, 16)?;
        self.recursion("recent, 4 marks, N=4", &recent, bytes, stream, odd)?;
        let window = Window::<_, 4>::of(Forward::of(hmm), 16)?;
        self.recursion("window, 4 filters, N=4", &window, bytes, stream, odd)?;
        self.recursion("fixed lag 16, N=4", &FixedLag::<_, 4, 16>::of(hmm), bytes, stream, odd)?;
        self.recursion("Viterbi, N=4", &Viterbi::of(hmm), bytes, stream, odd)?;
        let online = OnlineViterbi::<_, 4, 64>::of(hmm);
        self.recursion("online Viterbi 64, N=4", &online, bytes, stream, odd)?;
        self.recursion("statistics, N=4", &Statistics::of(hmm), bytes, stream, odd)?;
        let priors = Regularisation { variance_floor: 1e-3, pseudo_count: 0.1 };
        let adapting = OnlineEm::from(hmm, StepSize::Constant(0.01), 100, priors)?;
        self.recursion("online EM, N=4", &adapting, bytes, stream, odd)?;
        self.classifier()?;

        let hmm = models::gaussian()?;
        let hmm = black_box(&hmm);
        let bytes = size_of_val(hmm);
        let (stream, odd) = (&VECTOR_STREAM, &[1e6; CHANNELS]);
        self.recursion("statistics, Gaussian N=4 D=3", &Statistics::of(hmm), bytes, stream, odd)?;
        let adapting = OnlineEm::from(hmm, StepSize::Constant(0.01), 100, priors)?;
        self.recursion("online EM, Gaussian N=4 D=3", &adapting, bytes, stream, odd)
    }

    #[inline(never)]
    fn classifier(&mut self) -> Result<(), Failure<S::Error>> {
        let classifier = StreamClassifier::new(
            [CATEGORICAL_4, CATEGORICAL_4],
            [[1.0, -1.0]],
            [0.1],
            Normalisation::NONE,
        );
        let classifier = black_box(&classifier);
        let bytes = size_of_val(classifier);
        self.recursion(
            "classifier of 2 models, N=4",
            &classifier,
            bytes,
            &SYMBOL_STREAM,
            &SYMBOLS,
        )?;
        let directions = [models::direction()];
        let along = || CATEGORICAL_4.along(&directions, Parametrisation::default());
        let classifier =
            StreamClassifier::new([along(), along()], [[1.0, -1.0]], [0.1], Normalisation::NONE);
        let classifier = black_box(&classifier);
        let bytes = size_of_val(classifier);
        let name = "classifier of 2 models, a tangent, N=4";
        self.recursion(name, &classifier, bytes, &SYMBOL_STREAM, &SYMBOLS)
    }

    /// Recursions over a whole sequence, in lent buffers. The state is what is lent.
    #[inline(never)]
    fn sequences(&mut self) -> Result<(), Failure<S::Error>> {
        let hmm = black_box(&CATEGORICAL_4);
        let bytes = size_of_val(hmm);
        let sequence = || SYMBOL_STREAM.iter().map(Some);
        let (mut rows, mut pairs) = ([[0.0; 4]; SAMPLES], [[0.0; 4]; 4]);
        let lent = size_of_val(&rows);
        self.sequence("posteriors, T=1024 N=4", bytes, lent, || {
            posteriors(hmm, sequence(), &mut rows, &mut pairs).is_ok()
        })?;
        let (mut back, mut path) = ([[0_u8; 4]; SAMPLES], [0_u8; SAMPLES]);
        let lent = size_of_val(&back) + size_of_val(&path);
        self.sequence("Viterbi path, T=1024 N=4", bytes, lent, || {
            viterbi(hmm, sequence(), &mut back, &mut path).is_ok()
        })?;
        let (mut checkpoints, mut rows) = ([Belief::NEW; 32], [[0.0; 4]; 32]);
        let lent = size_of_val(&checkpoints) + size_of_val(&rows);
        self.sequence("checkpointed, T=1024 N=4", bytes, lent, || {
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

    #[inline(never)]
    fn recursion<R>(
        &mut self,
        name: &str,
        recursion: &R,
        model_bytes: usize,
        stream: &[R::Observation],
        odd: &R::Observation,
    ) -> Result<(), Failure<S::Error>>
    where
        R: Recursion<Observation: Sized>,
    {
        let mut state = recursion.start();
        // The first samples take paths of their own.
        let mut taken = push_all(recursion, &mut state, stream);
        let (all, ticks) = self.meter.measure(|| push_all(recursion, &mut state, stream));
        taken &= all;
        let ((), empty_ticks) = self.meter.measure(|| push_none(black_box(stream)));
        if !taken {
            return Err(Failure::Refused);
        }
        let stack_bytes = stack::used_by(DEPTH, || {
            state.clone_from(&recursion.start());
            let _ = push_all(recursion, &mut state, stream);
            recursion.push_missing(&mut state);
            // Far away or no observation at all: the slow paths.
            let _ = black_box(recursion.push(&mut state, odd));
            black_box(recursion.read(&state));
        });
        self.row(name, [ticks, empty_ticks], [model_bytes, size_of_val(&state)], stack_bytes)
    }

    #[inline(never)]
    fn sequence(
        &mut self,
        name: &str,
        model_bytes: usize,
        lent: usize,
        mut work: impl FnMut() -> bool,
    ) -> Result<(), Failure<S::Error>> {
        let (done, ticks) = self.meter.measure(&mut work);
        if !done {
            return Err(Failure::Refused);
        }
        let stack_bytes = stack::used_by(DEPTH, || {
            black_box(work());
        });
        self.row(name, [ticks, 0], [model_bytes, lent], stack_bytes)
    }

    fn row(
        &mut self,
        name: &str,
        [ticks, empty_ticks]: [u32; 2],
        [model_bytes, state_bytes]: [usize; 2],
        stack_bytes: u32,
    ) -> Result<(), Failure<S::Error>> {
        let mut record = Measurement {
            ticks_per_second: M::TICKS_PER_SECOND,
            samples: SAMPLES as u32,
            ticks,
            empty_ticks,
            model_bytes: model_bytes as u32,
            state_bytes: state_bytes as u32,
            stack_bytes,
            ..Measurement::END
        };
        for (slot, byte) in record.name.iter_mut().zip(name.bytes()) {
            *slot = byte;
        }
        self.send(&record)
    }

    fn send(&mut self, record: &Measurement) -> Result<(), Failure<S::Error>> {
        self.serial.write_all(&record.to_bytes()).map_err(Failure::Transport)
    }
}

/// A recursion whose every push is a call.
struct Called<R>(R);

impl<R: Recursion> Recursion for Called<R> {
    type Observation = R::Observation;
    type State = R::State;
    type Reading = R::Reading;

    fn start(&self) -> R::State {
        self.0.start()
    }
    #[inline(never)]
    fn push(&self, state: &mut R::State, x: &R::Observation) -> Result<(), ObservationError> {
        self.0.push(state, x)
    }
    fn push_missing(&self, state: &mut R::State) {
        self.0.push_missing(state);
    }
    fn read(&self, state: &R::State) -> R::Reading {
        self.0.read(state)
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

/// The loop that is measured.
#[inline(never)]
fn push_all<R>(recursion: &R, state: &mut R::State, stream: &[R::Observation]) -> bool
where
    R: Recursion<Observation: Sized>,
{
    for x in stream {
        if recursion.push(state, x).is_err() {
            return false;
        }
    }
    true
}

/// The loop without a push.
#[inline(never)]
fn push_none<X>(stream: &[X]) {
    for _ in stream {
        // No instruction, but the loop stays.
        black_box(());
    }
}
