//! The host's run of a deployed classifier: the core's recursions at run-time sizes.

use fishweir_core::classify::{Decision, decide, decision_value};
use fishweir_core::emission::Emission;
use fishweir_core::filter::{Forward, Recursion};
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::{Dual, Scalar, Tangent, Weight as CoreWeight};
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
pub struct Stream {
    bank: Vec<ModelStream>,
    weights: Vec<Vec<f32>>,
    biases: Vec<f32>,
    normalisation: fishweir_core::classify::Normalisation,
    channels: Option<usize>,
    row: Vec<f32>,
    samples: u64,
}

/// One model: the directions are run in blocks, each beside the same values.
struct ModelStream {
    blocks: Vec<Box<dyn Block + Send>>,
}

/// Directions run side by side at most; each block runs the values again.
const BLOCK: usize = 8;

impl Deployed {
    /// A stream before its first sample.
    #[must_use]
    pub fn stream(&self) -> Stream {
        let directions = self.directions();
        let bank = self
            .models
            .iter()
            .map(|model| ModelStream {
                blocks: (0..directions.max(1))
                    .step_by(BLOCK)
                    .map(|first| block(model, first, directions - first.min(directions)))
                    .collect(),
            })
            .collect();
        Stream {
            bank,
            weights: self.weights.clone(),
            biases: self.biases.clone(),
            normalisation: self.normalisation,
            channels: match self.observations {
                crate::classifier::Observations::Channels(ref names) => Some(names.len()),
                crate::classifier::Observations::Symbols(_) => None,
            },
            row: Vec::new(),
            samples: 0,
        }
    }
}

impl Stream {
    /// Takes in one sample; the values of a row are rounded to `f32`, as the device receives them.
    ///
    /// # Errors
    /// [`PushError`]; the stream is then as before.
    pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) if row.len() == channels => {
                self.row.clear();
                self.row.extend(row.iter().map(|&x| x as f32));
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

    fn push_each(&mut self, x: &Observation<'_>) -> Result<(), PushError> {
        for taken in 0..self.blocks().count() {
            let Some(error) = self.blocks().nth(taken).and_then(|block| block.push(x).err()) else {
                continue;
            };
            self.blocks().take(taken).for_each(|block| block.undo());
            return Err(error);
        }
        Ok(())
    }

    fn blocks(&mut self) -> impl Iterator<Item = &mut Box<dyn Block + Send>> {
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

    /// Log-likelihood of the stream under each model, `[model]`.
    #[must_use]
    pub fn log_likelihoods(&self) -> Vec<f32> {
        self.bank.iter().map(|model| model.blocks[0].log().0).collect()
    }

    /// The outputs' values, `[output]`.
    #[must_use]
    pub fn decision_values(&self) -> Vec<f32> {
        let factor = self.normalisation.factor(self.samples);
        let logs: Vec<(f32, Vec<f32>)> = self
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
                    (weight, *log, tangent.get(output).copied().unwrap_or(0.0))
                });
                decision_value(bias, factor, evidence)
            })
            .collect()
    }

    /// The decision so far.
    #[must_use]
    pub fn decision(&self) -> Decision {
        decide(&self.decision_values())
    }
}

enum Observation<'a> {
    Row(&'a [f32]),
    Symbol(u16),
}

/// A model and a block of its directions, whatever its sizes.
trait Block {
    fn push(&mut self, x: &Observation<'_>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn undo(&mut self);
    fn reset(&mut self);
    /// The log-likelihood and its derivatives, `[direction of the block]`.
    fn log(&self) -> (f32, Vec<f32>);
}

/// An emission family of the host, made from a deployed one.
trait Build: Emission<Weight: CoreWeight<Real = f32>> {
    fn build(emission: Option<&DeployedEmission>, first: usize, size: usize) -> Option<Self>;
    fn observe<'x>(x: &'x Observation<'_>) -> Option<&'x Self::Observation>;
}

type Number<E> = <<E as Emission>::Weight as fishweir_core::number::Parameter>::Number;

struct Running<E: Emission, const N: usize> {
    hmm: CoreHmm<E, N>,
    state: fishweir_core::filter::Belief<Number<E>, N>,
    before: fishweir_core::filter::Belief<Number<E>, N>,
}

impl<E: Build, const N: usize> Block for Running<E, N> {
    fn push(&mut self, x: &Observation<'_>) -> Result<(), PushError> {
        let x = E::observe(x).ok_or(PushError::Kind)?;
        self.before = self.state;
        Ok(Forward::of(&self.hmm).push(&mut self.state, x)?)
    }
    fn push_missing(&mut self) {
        Forward::of(&self.hmm).push_missing(&mut self.state);
    }
    fn undo(&mut self) {
        self.state = self.before;
    }
    fn reset(&mut self) {
        self.state = Forward::of(&self.hmm).start();
    }
    fn log(&self) -> (f32, Vec<f32>) {
        let log = self.state.log();
        (log.value(), (0..).map_while(|direction| log.derivative(direction)).collect())
    }
}

impl<W: CoreWeight<Real = f32>> Build for CategoricalVec<W> {
    fn build(emission: Option<&DeployedEmission>, first: usize, size: usize) -> Option<Self> {
        let probability = match emission {
            Some(DeployedEmission::Categorical(row)) => {
                row.iter().map(|weight| lift(Some(weight), first)).collect()
            }
            None => vec![W::constant(0.0); size],
            Some(_) => return None,
        };
        Some(Self { probability })
    }
    fn observe<'x>(x: &'x Observation<'_>) -> Option<&'x u16> {
        match x {
            Observation::Symbol(symbol) => Some(symbol),
            Observation::Row(_) => None,
        }
    }
}

impl<W: CoreWeight<Real = f32>> Build for GaussianVec<W> {
    fn build(emission: Option<&DeployedEmission>, first: usize, size: usize) -> Option<Self> {
        let tangents =
            |rows: &[Vec<f32>]| rows.iter().map(|row| tangent::<W>(row, first)).collect();
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
                mean: vec![0.0; size],
                rate: vec![0.0; size],
                constant: W::constant(f32::NEG_INFINITY),
                linear: vec![W::Tangent::ZERO; size],
                quadratic: vec![W::Tangent::ZERO; size],
            },
            Some(_) => return None,
        })
    }
    fn observe<'x>(x: &'x Observation<'_>) -> Option<&'x [f32]> {
        match x {
            Observation::Row(row) => Some(row),
            Observation::Symbol(_) => None,
        }
    }
}

fn tangent<W: CoreWeight<Real = f32>>(rates: &[f32], first: usize) -> W::Tangent {
    W::Tangent::from_fn(|c| rates.get(first + c).copied().unwrap_or(0.0))
}

fn lift<W: CoreWeight<Real = f32>>(weight: Option<&Weight>, first: usize) -> W {
    weight.map_or(W::constant(0.0), |weight| {
        W::new(weight.value, tangent::<W>(&weight.tangent, first))
    })
}

fn block(model: &DeployedModel, first: usize, left: usize) -> Box<dyn Block + Send> {
    match left {
        0 => family::<f32>(model, first),
        1 => family::<Dual<f32, 1>>(model, first),
        _ => family::<Dual<f32, BLOCK>>(model, first),
    }
}

fn family<W: CoreWeight<Real = f32, Number: Send> + Send>(
    model: &DeployedModel,
    first: usize,
) -> Box<dyn Block + Send>
where
    W::Tangent: Send,
    <W::Number as fishweir_core::number::Number>::Ledger: Send,
{
    match model.emission.first() {
        Some(DeployedEmission::Categorical(_)) => running::<CategoricalVec<W>>(model, first),
        _ => running::<GaussianVec<W>>(model, first),
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
                    chain::<Dual<f32, 1>, N>(model, output).validate()?;
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

fn chain<W: CoreWeight<Real = f32>, const N: usize>(
    model: &DeployedModel,
    first: usize,
) -> Chain<W, N> {
    Chain::from_parts(
        std::array::from_fn(|j| lift(model.initial.get(j), first)),
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match model.transition.get(i) {
                Some(row) => lift(row.get(j), first),
                // A state out of reach stays where it is.
                None => W::constant(if i == j { 1.0 } else { 0.0 }),
            })
        }),
    )
}

fn running<E>(model: &DeployedModel, first: usize) -> Box<dyn Block + Send>
where
    E: Build + Send + 'static,
    E::Weight: Send,
    Number<E>: Send,
    <Number<E> as fishweir_core::number::Number>::Ledger: Send,
{
    let size = match model.emission.first() {
        Some(DeployedEmission::Categorical(row)) => row.len(),
        Some(DeployedEmission::Gaussian { mean, .. }) => mean.len(),
        None => 0,
    };
    with_states!(model.initial.len(), N => {
        let emission = std::array::from_fn(|j| {
            // A bank holds one family: its makers see to it.
            E::build(model.emission.get(j), first, size)
                .or_else(|| E::build(None, first, size))
                .unwrap_or_else(|| unreachable!("a state out of reach can always be built"))
        });
        let hmm: CoreHmm<E, N> = CoreHmm::new(chain(model, first), emission);
        let state = Forward::of(&hmm).start();
        Box::new(Running { hmm, state, before: state })
    })
}
