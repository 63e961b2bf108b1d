//! States that are known before there is a model: a stream may lie in a `static`.

use super::{Coding, StaggeredStates, StreamState, WithCodebooksState};
use crate::filter::Belief;
#[cfg(feature = "microfft")]
use crate::front::CepstraState;
use crate::front::{DecimateState, PreprocessedState, SlopesState};
use crate::lagged::LagFeaturesState;
use crate::number::{Channel, Number, Real};

/// A state whose value before the first sample is a constant: the same for every model of its sizes.
///
/// [`Streaming::initial_state`](crate::filter::Streaming::initial_state) returns the same value at run time.
pub trait ConstStart: Sized {
    /// The state before the first sample.
    const START: Self;
}

/// State of front ends without memory.
impl ConstStart for () {
    const START: Self = ();
}

/// State of a [`Pipe`](crate::front::Pipe).
impl<A: ConstStart, B: ConstStart> ConstStart for (A, B) {
    const START: Self = (A::START, B::START);
}

impl<T: Real, const D: usize> ConstStart for DecimateState<T, D> {
    const START: Self = Self::NEW;
}

impl<T: Real, const D: usize, const K: usize> ConstStart for SlopesState<T, D, K> {
    const START: Self = Self::NEW;
}

#[cfg(feature = "microfft")]
impl<const BINS: usize> ConstStart for CepstraState<BINS> {
    const START: Self = Self::NEW;
}

impl<X: Number, const N: usize, const M: usize> ConstStart for StreamState<Belief<X, N>, M> {
    const START: Self = Self::NEW;
}

impl<S: ConstStart, T: Channel, const D: usize, const K: usize> ConstStart
    for LagFeaturesState<S, [[T; D]; K]>
{
    const START: Self = Self::new(S::START);
}

impl<S: ConstStart, T: Coding, const D: usize, const K: usize, const O: usize> ConstStart
    for WithCodebooksState<S, [[T; D]; K], [T::Total; O]>
{
    const START: Self = Self::new(S::START);
}

impl<F: ConstStart, R: ConstStart> ConstStart for PreprocessedState<F, R> {
    const START: Self = Self::from_parts(F::START, R::START);
}

impl<S: ConstStart, const STATES: usize> ConstStart for StaggeredStates<S, STATES> {
    const START: Self = Self::from_parts([const { S::START }; STATES]);
}
