//! Measures one recursion and sends a row.

use core::hint::black_box;
use core::mem::size_of_val;

use embedded_io::Write;
use fishweir_core::ObservationError;
use fishweir_core::filter::Streaming;
use fishweir_device::meter::Meter;

use super::bits::{self, Digest};
use super::models::SAMPLES;
use super::record::Measurement;
use crate::drivers::stack;

/// Depth below the caller to which the stack is watched.
const DEPTH: u32 = 64 * 1024;

/// Reason why the table ended early.
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

/// Measures with a meter and sends by a serial port.
pub(super) struct Bench<S, M> {
    pub(super) serial: S,
    pub(super) meter: M,
}

impl<S: Write, M: Meter> Bench<S, M> {
    #[inline(never)]
    pub(super) fn recursion<R>(
        &mut self,
        name: &str,
        recursion: &R,
        model_bytes: usize,
        stream: &[R::Observation],
        odd: &R::Observation,
    ) -> Result<(), Failure<S::Error>>
    where
        R: Streaming<Observation: Sized>,
    {
        // Called through a pointer, so that there is one function of it, whose size the host looks up.
        let push_all = black_box(push_all::<R> as PushAll<R>);
        let mut state = recursion.initial_state();
        // The first samples take paths of their own.
        let mut taken = push_all(recursion, &mut state, stream);
        let (all, ticks) = self.meter.measure(|| push_all(recursion, &mut state, stream));
        taken &= all;
        let ((), empty_ticks) = self.meter.measure(|| push_none(black_box(stream)));
        if !taken {
            return Err(Failure::Refused);
        }
        let stack_bytes = stack::used_by(DEPTH, || {
            state.clone_from(&recursion.initial_state());
            let _ = push_all(recursion, &mut state, stream);
            recursion.step_missing(&mut state);
            // Far away or no observation at all: the slow paths.
            let _ = black_box(recursion.step(&mut state, odd));
            black_box(recursion.read(&state));
        });
        let sizes = [model_bytes, size_of_val(&state)];
        self.row(name, [ticks, empty_ticks], sizes, stack_bytes, push_all as usize)
    }

    #[inline(never)]
    pub(super) fn sequence(
        &mut self,
        name: &str,
        model_bytes: usize,
        lent: usize,
        work: impl FnMut() -> bool,
    ) -> Result<(), Failure<S::Error>> {
        self.called(name, [model_bytes, lent], 0, work)
    }

    /// Measures work on a stream by a function, whose size the host looks up by its address.
    #[inline(never)]
    pub(super) fn called(
        &mut self,
        name: &str,
        sizes: [usize; 2],
        code: usize,
        mut work: impl FnMut() -> bool,
    ) -> Result<(), Failure<S::Error>> {
        let (done, ticks) = self.meter.measure(&mut work);
        if !done {
            return Err(Failure::Refused);
        }
        let stack_bytes = stack::used_by(DEPTH, || {
            black_box(work());
        });
        self.row(name, [ticks, 0], sizes, stack_bytes, code)
    }

    /// A digest of a stream's readings.
    pub(super) fn digest(
        &mut self,
        name: &str,
        digest: Option<Digest>,
    ) -> Result<(), Failure<S::Error>> {
        let Digest(digest) = digest.ok_or(Failure::Refused)?;
        let samples = bits::SAMPLES as u32;
        self.send(name, Measurement { samples, digest, ..Measurement::END })
    }

    /// Measures an operation that runs once, by its ticks alone.
    pub(super) fn once(
        &mut self,
        name: &str,
        work: impl FnOnce(),
    ) -> Result<(), Failure<S::Error>> {
        let ((), ticks) = self.meter.measure(work);
        self.send(name, Measurement { samples: 1, ticks, ..Measurement::END })
    }

    fn row(
        &mut self,
        name: &str,
        [ticks, empty_ticks]: [u32; 2],
        [model_bytes, state_bytes]: [usize; 2],
        stack_bytes: u32,
        code: usize,
    ) -> Result<(), Failure<S::Error>> {
        let record = Measurement {
            samples: SAMPLES as u32,
            ticks,
            empty_ticks,
            model_bytes: model_bytes as u32,
            state_bytes: state_bytes as u32,
            stack_bytes,
            code: code as u32,
            ..Measurement::END
        };
        self.send(name, record)
    }

    fn send(&mut self, name: &str, mut record: Measurement) -> Result<(), Failure<S::Error>> {
        record.ticks_per_second = M::TICKS_PER_SECOND;
        for (slot, byte) in record.name.iter_mut().zip(name.bytes()) {
            *slot = byte;
        }
        self.serial.write_all(&record.to_bytes()).map_err(Failure::Transport)
    }

    /// Ends the table.
    pub(super) fn end(&mut self) -> Result<(), Failure<S::Error>> {
        self.serial.write_all(&Measurement::END.to_bytes()).map_err(Failure::Transport)?;
        self.serial.flush().map_err(Failure::Transport)
    }
}

/// A recursion whose every push is a call.
pub(super) struct Called<R>(pub(super) R);

impl<R: Streaming> Streaming for Called<R> {
    type Observation = R::Observation;
    type State = R::State;
    type Reading = R::Reading;
    const ROLLS_BACK: bool = R::ROLLS_BACK;

    fn initial_state(&self) -> R::State {
        self.0.initial_state()
    }
    #[inline(never)]
    fn step(&self, state: &mut R::State, x: &R::Observation) -> Result<(), ObservationError> {
        self.0.step(state, x)
    }
    fn step_missing(&self, state: &mut R::State) {
        self.0.step_missing(state);
    }
    fn read(&self, state: &R::State) -> R::Reading {
        self.0.read(state)
    }
}

type PushAll<R> = fn(&R, &mut <R as Streaming>::State, &[<R as Streaming>::Observation]) -> bool;

/// The loop that is measured.
#[inline(never)]
fn push_all<R>(recursion: &R, state: &mut R::State, stream: &[R::Observation]) -> bool
where
    R: Streaming<Observation: Sized>,
{
    for x in stream {
        if recursion.step(state, x).is_err() {
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
