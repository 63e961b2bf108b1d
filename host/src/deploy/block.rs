//! The core's recursions over one deployed model, at run-time sizes.

use std::marker::PhantomData;

use fishweir_core::classify::StreamModel;
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::{Parameter, Real, RealParameter, Scalar, array_of};

use super::error::PushError;
use super::model::DeployedModel;
use crate::runtime::family::{DeployedEmission, lift};
use crate::runtime::{CategoricalVec, HostReal, HostWeight, RowState, with_states, with_two_sizes};

/// Observation of one sample, of any kind.
pub(super) enum Observation<'a, T> {
    Row(&'a [T]),
    /// Integers of a device, `None` where a channel is missing.
    Integers(&'a [Option<i16>]),
    Symbol(u16),
}

/// A model and a block of its directions, of any size.
pub(super) trait Block<T> {
    fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn reset(&mut self);
    /// The log-likelihood.
    fn log(&self) -> T;
    /// The log-likelihood and its derivatives, `[direction of the block]`: the nearest numbers and what
    /// those drop.
    fn log_parts(&self) -> ([T; 2], Vec<[T; 2]>);
}

/// Emission that is built from a deployed model.
pub(super) trait Build<T>: Emission<Weight: RealParameter<Real = T>> + Observe<T> {
    /// States at a compiled size, those past the model's out of reach, with the directions from `first`
    /// on; `None` for emissions of another kind.
    fn states<const N: usize>(emission: &[DeployedEmission<T>], first: usize) -> Option<[Self; N]>;
}

/// An emission family's observation among those of a stream.
pub(super) trait Observe<T>: Emission {
    fn observe<'x>(x: &'x Observation<'_, T>) -> Option<&'x Self::Observation>;
}

type Number<E> = <<E as Emission>::Weight as Parameter>::Number;

/// A model of the core, and where its stream is.
pub(super) struct Running<H: StreamModel, E> {
    model: H,
    state: H::State,
    emission: PhantomData<fn(E)>,
}

impl<H: StreamModel<State: Copy>, E> Running<H, E> {
    pub(super) fn of(model: H) -> Self {
        let state = model.likelihood().initial_state();
        Self { model, state, emission: PhantomData }
    }
}

impl<T: Real, H, E> Block<T> for Running<H, E>
where
    H: StreamModel<Real = T, Observation = E::Observation>,
    E: Observe<T>,
{
    fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        let x = E::observe(x).ok_or(PushError::Kind)?;
        Ok(self.model.likelihood().step(&mut self.state, x)?)
    }
    fn push_missing(&mut self) {
        self.model.likelihood().step_missing(&mut self.state);
    }
    fn reset(&mut self) {
        self.state = self.model.likelihood().initial_state();
    }
    fn log(&self) -> T {
        self.model.likelihood().read(&self.state).value()
    }
    fn log_parts(&self) -> ([T; 2], Vec<[T; 2]>) {
        parts(self.model.log_parts(&self.state))
    }
}

/// The values of a log-likelihood and the remainders of rounding, and its derivatives.
pub(super) fn parts<T: Real>([high, low]: [impl Scalar<Real = T>; 2]) -> ([T; 2], Vec<[T; 2]>) {
    let mut derivatives = Vec::new();
    while let (Some(nearest), Some(rest)) =
        (high.derivative(derivatives.len()), low.derivative(derivatives.len()))
    {
        derivatives.push([nearest, rest]);
    }
    ([high.value(), low.value()], derivatives)
}

impl<T: Real, W: RealParameter<Real = T>> Build<T> for CategoricalVec<W> {
    fn states<const N: usize>(emission: &[DeployedEmission<T>], first: usize) -> Option<[Self; N]> {
        let size = emission.first()?.shape.size;
        Some(std::array::from_fn(|state| Self::of(emission.get(state), first, size)))
    }
}

impl<T: Real, W: RealParameter<Real = T>> Observe<T> for CategoricalVec<W> {
    fn observe<'x>(x: &'x Observation<'_, T>) -> Option<&'x u16> {
        match x {
            Observation::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }
}

impl<T: HostReal, W: HostWeight<Real = T>> Build<T> for RowState<W> {
    fn states<const N: usize>(emission: &[DeployedEmission<T>], first: usize) -> Option<[Self; N]> {
        Self::states(emission, first)
    }
}

impl<T: Real, W: RealParameter<Real = T>> Observe<T> for RowState<W> {
    fn observe<'x>(x: &'x Observation<'_, T>) -> Option<&'x [T]> {
        match x {
            Observation::Row(row) => Some(row),
            _ => None,
        }
    }
}

/// Recursion of a model along the `left` directions from `first` on; if states are known, its rows are positions.
pub(super) fn block<T: HostReal>(
    model: &DeployedModel<T>,
    known: bool,
    first: usize,
    left: usize,
) -> Box<dyn Block<T> + Send> {
    match left {
        0 => kind::<T, T>(model, known, first),
        1 => kind::<T, T::One>(model, known, first),
        _ => kind::<T, T::Many>(model, known, first),
    }
}

fn kind<T: HostReal, W: HostWeight<Real = T>>(
    model: &DeployedModel<T>,
    known: bool,
    first: usize,
) -> Box<dyn Block<T> + Send> {
    match (model.is_over_symbols(), known) {
        (true, true) => stepping::<T, CategoricalVec<W>>(model, first),
        (false, true) => stepping::<T, RowState<W>>(model, first),
        (true, false) => running::<T, CategoricalVec<W>>(model, first),
        (false, false) => running::<T, RowState<W>>(model, first),
    }
}

/// The chain at a compiled size, with the directions from `first` on.
pub(super) fn chain<T: Real, W: RealParameter<Real = T>, const N: usize>(
    model: &DeployedModel<T>,
    first: usize,
) -> Chain<W, N> {
    let zero = W::constant(T::ZERO);
    Chain::from_parts(
        array_of(zero, |j| lift(model.initial.get(j), first)),
        array_of([zero; N], |i| {
            array_of(zero, |j| match model.transition.get(i) {
                Some(row) => lift(row.get(j), first),
                // A state out of reach stays where it is.
                None => W::constant(if i == j { T::ONE } else { T::ZERO }),
            })
        }),
    )
}

fn running<T: Real, E>(model: &DeployedModel<T>, first: usize) -> Box<dyn Block<T> + Send>
where
    E: Build<T> + Send + 'static,
    E::Weight: Send,
    Number<E>: Send,
    <Number<E> as fishweir_core::number::Number>::ScaleAccumulator: Send,
{
    // A stream over `f64` only measures fixed point.
    if const { size_of::<T>() == 8 } {
        with_two_sizes!(model.initial.len(), N => {
            let hmm: CoreHmm<E, N> = hmm(model, first);
            Box::new(Running::<_, E>::of(hmm))
        })
    } else {
        with_states!(model.initial.len(), N => {
            let hmm: CoreHmm<E, N> = hmm(model, first);
            Box::new(Running::<_, E>::of(hmm))
        })
    }
}

/// Positions for which a model whose states are known is compiled: no recursion grows with them.
pub(super) const POSITIONS: usize = 64;

fn stepping<T: Real, E>(model: &DeployedModel<T>, first: usize) -> Box<dyn Block<T> + Send>
where
    E: Build<T, Weight: Send> + Send + 'static,
    Number<E>: Send,
    <Number<E> as fishweir_core::number::Number>::ScaleAccumulator: Send,
{
    let last = model.emission.len() - 1;
    let at = |position| model.emission[usize::min(position, last)].clone();
    let emission: Vec<DeployedEmission<T>> = (0..POSITIONS).map(at).collect();
    let model: ContextModel<Steps, E, POSITIONS> =
        ContextModel::new(Steps, states_of(&emission, first));
    Box::new(Running::<_, E>::of(model))
}

/// The core's model at a compiled size, with the directions from `first` on.
pub(super) fn hmm<T: Real, E: Build<T>, const N: usize>(
    model: &DeployedModel<T>,
    first: usize,
) -> CoreHmm<E, N> {
    CoreHmm::new(chain(model, first), states_of(&model.emission, first))
}

/// States at a compiled size, with the directions from `first` on.
pub(super) fn states_of<T: Real, E: Build<T>, const N: usize>(
    emission: &[DeployedEmission<T>],
    first: usize,
) -> [E; N] {
    // A bank holds one family, and who calls has looked at its kind.
    E::states(emission, first).unwrap_or_else(|| unreachable!("emissions of the other kind"))
}
