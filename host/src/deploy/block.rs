//! The core's recursions over one deployed model, at run-time sizes.

use std::marker::PhantomData;

use fishweir_core::classify::StreamModel;
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Recursion;
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::{Dual, Parameter, Real, Scalar, Tangent, Weight as CoreWeight};

use super::{DeployedEmission, DeployedModel, PushError, Weight};
use crate::runtime::{CategoricalVec, GaussianVec, with_states};

/// Directions run side by side at most; each block runs the values again.
pub(super) const BLOCK: usize = 8;

/// What is pushed, whatever its kind.
pub(super) enum Observation<'a, T> {
    Row(&'a [T]),
    Integers(&'a [i16]),
    Symbol(u16),
}

/// A model and a block of its directions, whatever its sizes.
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

/// An emission family of the host, made from a deployed one.
pub(super) trait Build<T>: Emission<Weight: CoreWeight<Real = T>> + Observe<T> {
    fn build(emission: Option<&DeployedEmission<T>>, first: usize, size: usize) -> Option<Self>;
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
        let state = model.likelihood().start();
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
        Ok(self.model.likelihood().push(&mut self.state, x)?)
    }
    fn push_missing(&mut self) {
        self.model.likelihood().push_missing(&mut self.state);
    }
    fn reset(&mut self) {
        self.state = self.model.likelihood().start();
    }
    fn log(&self) -> T {
        self.model.likelihood().read(&self.state).value()
    }
    fn log_parts(&self) -> ([T; 2], Vec<[T; 2]>) {
        let [high, low] = self.model.log_parts(&self.state);
        let derivative =
            |direction| Some([high.derivative(direction)?, low.derivative(direction)?]);
        ([high.value(), low.value()], (0..).map_while(derivative).collect())
    }
}

impl<T: Real, W: CoreWeight<Real = T>> Build<T> for CategoricalVec<W> {
    fn build(emission: Option<&DeployedEmission<T>>, first: usize, size: usize) -> Option<Self> {
        let probability = match emission {
            Some(DeployedEmission::Categorical(row)) => {
                row.iter().map(|weight| lift(Some(weight), first)).collect()
            }
            None => vec![W::constant(T::ZERO); size],
            Some(_) => return None,
        };
        Some(Self { probability })
    }
}

impl<T: Real, W: CoreWeight<Real = T>> Observe<T> for CategoricalVec<W> {
    fn observe<'x>(x: &'x Observation<'_, T>) -> Option<&'x u16> {
        match x {
            Observation::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }
}

impl<T: Real, W: CoreWeight<Real = T>> Build<T> for GaussianVec<W> {
    fn build(emission: Option<&DeployedEmission<T>>, first: usize, size: usize) -> Option<Self> {
        let tangents =
            |rows: &[Vec<T>]| rows.iter().map(|row| tangent::<T, W>(row, first)).collect();
        Some(match emission {
            Some(DeployedEmission::Gaussian { mean, rate, constant, linear, quadratic }) => Self {
                mean: mean.clone(),
                rate: rate.clone(),
                constant: lift(Some(constant), first),
                linear: tangents(linear),
                quadratic: tangents(quadratic),
            },
            // Out of reach, and never the likeliest of a row.
            None => Self {
                mean: vec![T::ZERO; size],
                rate: vec![T::ZERO; size],
                constant: W::constant(T::NEG_INFINITY),
                linear: vec![W::Tangent::ZERO; size],
                quadratic: vec![W::Tangent::ZERO; size],
            },
            Some(_) => return None,
        })
    }
}

impl<T: Real, W: CoreWeight<Real = T>> Observe<T> for GaussianVec<W> {
    fn observe<'x>(x: &'x Observation<'_, T>) -> Option<&'x [T]> {
        match x {
            Observation::Row(row) => Some(row),
            _ => None,
        }
    }
}

fn tangent<T: Real, W: CoreWeight<Real = T>>(rates: &[T], first: usize) -> W::Tangent {
    W::Tangent::from_fn(|c| rates.get(first + c).copied().unwrap_or(T::ZERO))
}

fn lift<T: Real, W: CoreWeight<Real = T>>(weight: Option<&Weight<T>>, first: usize) -> W {
    weight.map_or(W::constant(T::ZERO), |weight| {
        W::new(weight.value, tangent::<T, W>(&weight.tangent, first))
    })
}

pub(super) fn block<T: Real + Send>(
    model: &DeployedModel<T>,
    steps: Option<&[usize]>,
    first: usize,
    left: usize,
) -> Box<dyn Block<T> + Send> {
    match left {
        0 => family::<T, T>(model, steps, first),
        1 => family::<T, Dual<T, 1>>(model, steps, first),
        _ => family::<T, Dual<T, BLOCK>>(model, steps, first),
    }
}

fn family<T: Real + Send, W: CoreWeight<Real = T, Number: Send> + Send>(
    model: &DeployedModel<T>,
    steps: Option<&[usize]>,
    first: usize,
) -> Box<dyn Block<T> + Send>
where
    W::Tangent: Send,
    <W::Number as fishweir_core::number::Number>::Ledger: Send,
{
    match (model.emission.first(), steps) {
        (Some(DeployedEmission::Categorical(_)), Some(steps)) => {
            stepping::<T, CategoricalVec<W>>(model, steps, first)
        }
        (_, Some(steps)) => stepping::<T, GaussianVec<W>>(model, steps, first),
        (Some(DeployedEmission::Categorical(_)), None) => {
            running::<T, CategoricalVec<W>>(model, first)
        }
        (_, None) => running::<T, GaussianVec<W>>(model, first),
    }
}

/// The chain at a compiled size, with the directions from `first` on.
pub(super) fn chain<T: Real, W: CoreWeight<Real = T>, const N: usize>(
    model: &DeployedModel<T>,
    first: usize,
) -> Chain<W, N> {
    Chain::from_parts(
        std::array::from_fn(|j| lift(model.initial.get(j), first)),
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match model.transition.get(i) {
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
    <Number<E> as fishweir_core::number::Number>::Ledger: Send,
{
    with_states!(model.initial.len(), N => {
        let hmm: CoreHmm<E, N> = hmm(model, first);
        Box::new(Running::<_, E>::of(hmm))
    })
}

/// Positions for which a model whose states are known is compiled: no recursion grows with them.
const POSITIONS: usize = 64;

fn stepping<T: Real, E>(
    model: &DeployedModel<T>,
    steps: &[usize],
    first: usize,
) -> Box<dyn Block<T> + Send>
where
    E: Build<T, Weight: Send> + Send + 'static,
    Number<E>: Send,
    <Number<E> as fishweir_core::number::Number>::Ledger: Send,
{
    let last = steps.len() - 1;
    let size = size_of_emissions(model);
    let emission = std::array::from_fn(|position| {
        emission_of(model.emission.get(steps[usize::min(position, last)]), first, size)
    });
    let model: ContextModel<Steps, E, POSITIONS> = ContextModel::new(Steps, emission);
    Box::new(Running::<_, E>::of(model))
}

/// The core's model at a compiled size, with the directions from `first` on.
pub(super) fn hmm<T: Real, E: Build<T>, const N: usize>(
    model: &DeployedModel<T>,
    first: usize,
) -> CoreHmm<E, N> {
    let size = size_of_emissions(model);
    let emission = std::array::from_fn(|j| emission_of(model.emission.get(j), first, size));
    CoreHmm::new(chain(model, first), emission)
}

/// Symbols or channels.
fn size_of_emissions<T>(model: &DeployedModel<T>) -> usize {
    match model.emission.first() {
        Some(DeployedEmission::Categorical(row)) => row.len(),
        Some(DeployedEmission::Gaussian { mean, .. }) => mean.len(),
        None => 0,
    }
}

/// An emission, or that of a state out of reach.
fn emission_of<T: Real, E: Build<T>>(
    emission: Option<&DeployedEmission<T>>,
    first: usize,
    size: usize,
) -> E {
    // A bank holds one family: its makers see to it.
    E::build(emission, first, size)
        .or_else(|| E::build(None, first, size))
        .unwrap_or_else(|| unreachable!("a state out of reach can always be built"))
}
