//! The host's run of a deployed classifier: the core's recursions at run-time sizes.

use std::marker::PhantomData;

use fishweir_core::artefact::Succession;
use fishweir_core::classify::{Decision, StreamModel, decide, decision_value};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Recursion;
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::{Dual, Parameter, Real, Scalar, Tangent, Weight as CoreWeight};
use fishweir_core::{Flaw, ModelError, ObservationError, Part};

use super::{Deployed, DeployedEmission, DeployedModel, Weight};
use crate::data::Sample;
use crate::runtime::{CategoricalVec, GaussianVec, with_states};

/// Why a sample was not taken in; the stream is then as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The models refuse it.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// A row where a symbol is wanted, or the other way round, or a row of another length.
    #[error("a sample of another kind than the classifier observes")]
    Kind,
}

/// A stream through a deployed classifier. It owns its numbers, so it may outlive the classifier.
pub struct Stream<T = f32> {
    bank: Vec<ModelStream<T>>,
    weights: Vec<Vec<T>>,
    biases: Vec<T>,
    normalisation: fishweir_core::classify::Normalisation,
    channels: Option<usize>,
    row: Vec<T>,
    /// Where observations are integers: their binary places, and a row of them.
    places: Option<Vec<i16>>,
    integers: Vec<i16>,
    samples: u64,
}

/// One model: the directions are run in blocks, each beside the same values.
pub(super) struct ModelStream<T> {
    pub(super) blocks: Vec<Box<dyn Block<T> + Send>>,
}

/// Directions run side by side at most; each block runs the values again.
const BLOCK: usize = 8;

impl<T: Real + Send> Deployed<T> {
    /// A stream before its first sample.
    #[must_use]
    pub fn stream(&self) -> Stream<T> {
        let directions = self.directions();
        let known = self.succession() == Succession::STEPS;
        let bank = self
            .models
            .iter()
            .map(|model| {
                let steps = model.steps().filter(|_| known);
                let block = |first| {
                    let left = directions - usize::min(first, directions);
                    block(model, steps.as_deref(), first, left)
                };
                let blocks = (0..directions.max(1)).step_by(BLOCK).map(block).collect();
                ModelStream { blocks }
            })
            .collect();
        Stream::of(
            bank,
            self.weights.clone(),
            self.biases.clone(),
            self.normalisation,
            &self.observations,
            None,
        )
    }
}

impl<T: Real> Stream<T> {
    pub(super) fn of(
        bank: Vec<ModelStream<T>>,
        weights: Vec<Vec<T>>,
        biases: Vec<T>,
        normalisation: fishweir_core::classify::Normalisation,
        observations: &crate::classifier::Observations,
        places: Option<Vec<i16>>,
    ) -> Self {
        let channels = match observations {
            crate::classifier::Observations::Channels(names) => Some(names.len()),
            crate::classifier::Observations::Symbols(_) => None,
        };
        Self {
            bank,
            weights,
            biases,
            normalisation,
            channels,
            row: Vec::new(),
            places,
            integers: Vec::new(),
            samples: 0,
        }
    }

    /// Takes in one sample; the values of a row are rounded to `f32`, as the device receives them.
    ///
    /// # Errors
    /// [`PushError`]; the stream is then as before.
    pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) if row.len() == channels => {
                if let Some(places) = &self.places {
                    if !row.iter().all(|x| x.is_finite()) {
                        return Err(ObservationError::NotFinite.into());
                    }
                    let integer =
                        |(&x, &places): (&f64, &i16)| (x * f64::from(places).exp2()).round() as i16;
                    self.integers.clear();
                    self.integers.extend(row.iter().zip(places).map(integer));
                    let integers = std::mem::take(&mut self.integers);
                    let taken = self.push_each(&Observation::Integers(&integers));
                    self.integers = integers;
                    self.samples += u64::from(taken.is_ok());
                    return taken;
                }
                self.row.clear();
                self.row.extend(row.iter().map(|&x| T::from_f64(x)));
                let row = std::mem::take(&mut self.row);
                let taken = self.push_each(&Observation::Row(&row));
                self.row = row;
                taken?;
            }
            (Sample::Symbol(symbol), None) => self.push_each(&Observation::Symbol(symbol))?,
            (Sample::Missing, _) => self.blocks().for_each(|block| block.push_missing()),
            _ => return Err(PushError::Kind),
        }
        self.samples += 1;
        Ok(())
    }

    fn push_each(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        for taken in 0..self.blocks().count() {
            let Some(error) = self.blocks().nth(taken).and_then(|block| block.push(x).err()) else {
                continue;
            };
            self.blocks().take(taken).for_each(|block| block.undo());
            return Err(error);
        }
        Ok(())
    }

    fn blocks(&mut self) -> impl Iterator<Item = &mut Box<dyn Block<T> + Send>> {
        self.bank.iter_mut().flat_map(|model| &mut model.blocks)
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.blocks().for_each(|block| block.reset());
        self.samples = 0;
    }

    /// Samples taken in, missing ones included.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Number of models.
    #[must_use]
    pub fn models(&self) -> usize {
        self.bank.len()
    }

    /// Log-likelihood of the stream under each model, `[model]`.
    #[must_use]
    pub fn log_likelihoods(&self) -> Vec<T> {
        self.bank.iter().map(|model| model.blocks[0].log().0).collect()
    }

    /// The outputs' values, `[output]`.
    #[must_use]
    pub fn decision_values(&self) -> Vec<T> {
        let factor = self.normalisation.factor(self.samples);
        let logs: Vec<(T, Vec<T>)> = self
            .bank
            .iter()
            .map(|model| {
                let mut parts = model.blocks.iter().map(|block| block.log());
                let mut all = parts.next().unwrap_or_default();
                parts.for_each(|(_, tangent)| all.1.extend(tangent));
                all
            })
            .collect();
        self.biases
            .iter()
            .zip(&self.weights)
            .enumerate()
            .map(|(output, (&bias, weights))| {
                let evidence = weights.iter().zip(&logs).map(|(&weight, (log, tangent))| {
                    (weight, *log, tangent.get(output).copied().unwrap_or(T::ZERO))
                });
                decision_value(bias, factor, evidence)
            })
            .collect()
    }

    /// The decision so far.
    #[must_use]
    pub fn decision(&self) -> Decision<T> {
        decide(&self.decision_values())
    }
}

pub(super) enum Observation<'a, T> {
    Row(&'a [T]),
    Integers(&'a [i16]),
    Symbol(u16),
}

/// A model and a block of its directions, whatever its sizes.
pub(super) trait Block<T> {
    fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn undo(&mut self);
    fn reset(&mut self);
    /// The log-likelihood and its derivatives, `[direction of the block]`.
    fn log(&self) -> (T, Vec<T>);
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
    before: H::State,
    emission: PhantomData<fn(E)>,
}

impl<H: StreamModel<State: Copy>, E> Running<H, E> {
    pub(super) fn of(model: H) -> Self {
        let state = model.likelihood().start();
        Self { model, state, before: state, emission: PhantomData }
    }
}

impl<T: Real, H, E> Block<T> for Running<H, E>
where
    H: StreamModel<Real = T, Observation = E::Observation>,
    E: Observe<T>,
{
    fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        let x = E::observe(x).ok_or(PushError::Kind)?;
        self.before = self.state;
        Ok(self.model.likelihood().push(&mut self.state, x)?)
    }
    fn push_missing(&mut self) {
        self.model.likelihood().push_missing(&mut self.state);
    }
    fn undo(&mut self) {
        self.state = self.before;
    }
    fn reset(&mut self) {
        self.state = self.model.likelihood().start();
    }
    fn log(&self) -> (T, Vec<T>) {
        let log = self.model.likelihood().read(&self.state);
        (log.value(), (0..).map_while(|direction| log.derivative(direction)).collect())
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

fn block<T: Real + Send>(
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

impl Deployed {
    /// Checks every number by the core's own checks.
    ///
    /// # Errors
    /// The core's name for the first that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        for model in &self.models {
            with_states!(model.initial.len(), N => {
                // Tangents are checked one output at a time: they are the same numbers in any block.
                for output in 0..self.directions().max(1) {
                    chain::<f32, Dual<f32, 1>, N>(model, output).validate()?;
                    for (state, emission) in model.emission.iter().enumerate() {
                        let emission_error = match emission {
                            DeployedEmission::Categorical(_) => {
                                CategoricalVec::<Dual<f32, 1>>::build(Some(emission), output, 0)
                                    .map_or(Ok(()), |emission| emission.validate())
                            }
                            DeployedEmission::Gaussian { .. } => {
                                GaussianVec::<Dual<f32, 1>>::build(Some(emission), output, 0)
                                    .map_or(Ok(()), |emission| emission.validate())
                            }
                        };
                        emission_error.map_err(|error| error.of_state(state))?;
                    }
                }
            });
        }
        let tables = self.weights.iter().map(|row| (Part::LikelihoodWeight, row.as_slice()));
        for (row, (part, values)) in
            tables.chain([(Part::Bias, self.biases.as_slice())]).enumerate()
        {
            if let Some(entry) = values.iter().position(|value| !value.is_finite()) {
                return Err(ModelError::new(part, Flaw::NotFinite, row, entry));
            }
        }
        Ok(())
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
