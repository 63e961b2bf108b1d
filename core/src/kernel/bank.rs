use super::{KernelError, LogKernel, Pruned, Validate, no_parts};
use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::number::Real;

/// State of `M` models on one stream, each of which may rule itself out.
///
/// A model that refuses a sample which another accepts gives the stream probability zero, and no later sample can change that: it
/// is *ruled out* and gets no more samples; the others go on, until the state is created anew. A sample that all remaining models
/// refuse is refused, and nothing changes: each model leaves its own state as it was.
///
/// A front end goes around a bank, not into one: a [`Preprocessed`](crate::front::Preprocessed) that refuses a sample changes its
/// state, and a sample that is only missing would rule it out.
///
/// RAM: `M` states and `M` bytes; no copy is kept for undoing a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BankState<S, const M: usize> {
    states: [S; M],
    ruled_out: [bool; M],
}

impl<S, const M: usize> BankState<S, M> {
    /// State before the first sample: no model is ruled out.
    pub const fn new(states: [S; M]) -> Self {
        Self { states, ruled_out: [false; M] }
    }

    /// Models that give the stream probability zero, `[model]`.
    pub const fn ruled_out(&self) -> &[bool; M] {
        &self.ruled_out
    }

    /// The models' states, `[model]`; `None` of one that is ruled out.
    pub fn states(&self) -> impl Iterator<Item = Option<&S>> {
        let states = self.states.iter().zip(&self.ruled_out);
        states.map(|(state, &ruled_out)| if ruled_out { None } else { Some(state) })
    }

    /// Pushes a sample to every model that is not ruled out; `models` are in the order of the states.
    ///
    /// # Errors
    /// That of the first, where all refuse.
    #[inline(always)]
    pub fn step<R>(
        &mut self,
        models: impl Iterator<Item = R>,
        x: &R::Observation,
    ) -> Result<(), ObservationError>
    where
        R: Streaming<State = S>,
    {
        let mut refusing = self.ruled_out;
        let (mut taken, mut first) = (false, None);
        let states = self.states.iter_mut().zip(&mut refusing);
        for (model, (state, refuses)) in models.zip(states).filter(|(_, (_, out))| !**out) {
            match model.step(state, x) {
                Ok(()) => taken = true,
                Err(error) => {
                    *refuses = true;
                    first = first.or(Some(error));
                }
            }
        }
        if taken {
            self.ruled_out = refusing;
            return Ok(());
        }
        Err(first.unwrap_or(ObservationError::Impossible))
    }

    /// Lets a sample pass that was not observed.
    #[inline(always)]
    pub fn step_missing<R>(&mut self, models: impl Iterator<Item = R>)
    where
        R: Streaming<State = S>,
    {
        let states = self.states.iter_mut().zip(&self.ruled_out);
        for (model, (state, _)) in models.zip(states).filter(|(_, (_, out))| !**out) {
            model.step_missing(state);
        }
    }
}

/// `M` kernels against one stored sequence each, fed the same stream: pair kernels, or trees.
///
/// It reads their logarithms, `[sequence]`, and is `M` times as dear as one. A kernel that refuses what
/// others take (past the end of a shorter stored sequence, say) is zero from then on: see
/// [`BankState`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bank<R, const M: usize>([R; M]);

/// Logarithm of a kernel. Before a tree's last leaf it has no value and reads as that of zero.
pub trait LogReading {
    /// The real number.
    type Real: Real;
    /// `log k`.
    fn log(self) -> Self::Real;
}

impl<T: Real> LogReading for T {
    type Real = T;
    fn log(self) -> T {
        self
    }
}

impl<T: Real> LogReading for Option<T> {
    type Real = T;
    fn log(self) -> T {
        self.unwrap_or(T::NEG_INFINITY)
    }
}

impl<T: Real> LogReading for Option<Pruned<T>> {
    type Real = T;
    /// Logarithm of the sum.
    fn log(self) -> T {
        self.map_or(T::NEG_INFINITY, |pruned| pruned.log_sum)
    }
}

impl<R: Streaming, const M: usize> Bank<R, M> {
    /// Kernels side by side.
    pub const fn new(kernels: [R; M]) -> Self {
        const { assert!(M > 0, "M must be at least 1") };
        const { assert!(R::ROLLS_BACK, "R must leave its state unchanged on an error") };
        Self(kernels)
    }

    /// The kernels.
    pub const fn kernels(&self) -> &[R; M] {
        &self.0
    }
}

impl<R, const M: usize> Streaming for Bank<R, M>
where
    R: Streaming<Reading: LogReading>,
{
    type Observation = R::Observation;
    type State = BankState<R::State, M>;
    type Reading = [<R::Reading as LogReading>::Real; M];

    fn initial_state(&self) -> Self::State {
        BankState::new(self.0.each_ref().map(|kernel| kernel.initial_state()))
    }

    fn step(&self, state: &mut Self::State, x: &R::Observation) -> Result<(), ObservationError> {
        state.step(self.0.iter(), x)
    }

    fn step_missing(&self, state: &mut Self::State) {
        state.step_missing(self.0.iter());
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let mut logs = [<R::Reading as LogReading>::Real::NEG_INFINITY; M];
        for ((log, kernel), state) in logs.iter_mut().zip(&self.0).zip(state.states()) {
            if let Some(state) = state {
                *log = kernel.read(state).log();
            }
        }
        logs
    }
}

impl<T, R, const M: usize> LogKernel for Bank<R, M>
where
    T: Real,
    R: LogKernel<Parts = [T; 2], Reading: LogReading>,
{
    type Parts = [[T; 2]; M];
    fn log_parts(&self, state: &Self::State) -> Self::Parts {
        let mut logs = [no_parts(); M];
        for ((log, kernel), state) in logs.iter_mut().zip(&self.0).zip(state.states()) {
            if let Some(state) = state {
                *log = kernel.log_parts(state);
            }
        }
        logs
    }
}

impl<R: Validate, const M: usize> Validate for Bank<R, M> {
    fn validate(&self) -> Result<(), KernelError> {
        self.0.iter().try_for_each(R::validate)
    }
    /// The model that kernels share counts once.
    fn size_bytes(&self) -> usize {
        let all: usize = self.0.iter().map(R::size_bytes).sum();
        let again: usize = self.0.iter().skip(1).map(R::shared_bytes).sum();
        all - again
    }
}
