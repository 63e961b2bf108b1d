use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Decision, Normalisation, decide, decision_value};
use crate::emission::Emission;
use crate::error::{Flaw, ModelError, ObservationError, Part};
use crate::filter::{Belief, Forward, Recursion};
use crate::hmm::{Hmm, NumberOf, RealOf};
use crate::number::{Number, Parameter, Real, Scalar, Tangent};

/// A classifier of streams: a bank of `M` models whose log-likelihoods and directional derivatives
/// combine linearly into `O` outputs.
///
/// ```text
/// value_o(x_1..t) = bias_o + f(t) sum_m ( weight_om log p_m(x_1..t) + w_om . score_m(x_1..t) )
/// ```
///
/// The direction `w_om` is attached to model `m` as its `o`-th; `f` is `1`, `1/t` or `1/sqrt(t)`.
/// With one output the sign decides between two classes; with more the largest value does. What
/// compiles to this form: a Bayes classifier (weights one, no direction, log-priors as biases), and
/// linear machines on practical, whitened or diagonal-information Fisher scores (Jaakkola and
/// Haussler, equations 2 and 3), with log-likelihoods among the features or not.
///
/// All models have the same number of states; a smaller one is padded with states out of reach.
///
/// Flash: `M` models, `O (M + 1)` reals. State: `M` beliefs and a counter. Work a sample: `M` times
/// that of [`Forward`]; a reading costs `M` logarithms and `M` divisions.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct StreamClassifier<E: Emission, const N: usize, const M: usize, const O: usize> {
    models: [Hmm<E, N>; M],
    weights: [[RealOf<E>; M]; O],
    biases: [RealOf<E>; O],
    normalisation: Normalisation,
    /// Keeps the size a multiple of eight for every number type.
    reserved: u32,
}

/// What a stream left in a [`StreamClassifier`]: a belief a model, and the count of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamState<X: Number, const N: usize, const M: usize> {
    beliefs: [Belief<X, N>; M],
    samples: u64,
}

impl<X: Number, const N: usize, const M: usize> StreamState<X, N, M> {
    /// How many samples have been taken in, missing ones included.
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

impl<E: Emission, const N: usize, const M: usize, const O: usize> StreamClassifier<E, N, M, O> {
    /// A classifier from its parts: `models[model]`, `weights[output][model]`, `biases[output]`.
    ///
    /// The parts are finite where their makers made them so; [`validate`](Self::validate) checks
    /// what was read from elsewhere.
    pub const fn new(
        models: [Hmm<E, N>; M],
        weights: [[RealOf<E>; M]; O],
        biases: [RealOf<E>; O],
        normalisation: Normalisation,
    ) -> Self {
        const {
            assert!(M > 0 && O > 0, "a classifier needs a model and an output");
            let directions = <<E::Weight as Parameter>::Tangent as Tangent<RealOf<E>>>::DIRECTIONS;
            assert!(
                directions == 0 || directions == O,
                "models carry no direction, or one an output"
            );
        }
        Self { models, weights, biases, normalisation, reserved: 0 }
    }

    /// How many classes it tells apart.
    pub const fn classes(&self) -> usize {
        if O == 1 { 2 } else { O }
    }

    /// The bank of models.
    pub const fn models(&self) -> &[Hmm<E, N>; M] {
        &self.models
    }

    /// How much each log-likelihood weighs, `[output][model]`.
    pub const fn weights(&self) -> &[[RealOf<E>; M]; O] {
        &self.weights
    }

    /// What each output starts from, `[output]`.
    pub const fn biases(&self) -> &[RealOf<E>; O] {
        &self.biases
    }

    /// How evidence grows with length.
    pub const fn normalisation(&self) -> Normalisation {
        self.normalisation
    }

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong. An error inside a model does not say which model.
    pub fn validate(&self) -> Result<(), ModelError> {
        for model in &self.models {
            model.validate()?;
        }
        for (output, row) in self.weights.iter().enumerate() {
            for (model, weight) in row.iter().enumerate() {
                if !weight.is_finite() {
                    return Err(ModelError::new(
                        Part::LikelihoodWeight,
                        Flaw::NotFinite,
                        output,
                        model,
                    ));
                }
            }
        }
        for (output, bias) in self.biases.iter().enumerate() {
            if !bias.is_finite() {
                return Err(ModelError::new(Part::Bias, Flaw::NotFinite, output, 0));
            }
        }
        if Normalisation::from_code(self.normalisation.code()).is_none() {
            return Err(ModelError::new(Part::Normalisation, Flaw::Unknown, 0, 0));
        }
        Ok(())
    }

    /// The log-likelihood of the stream under each model, `[model]`.
    pub fn log_likelihoods(&self, state: &StreamState<NumberOf<E>, N, M>) -> [RealOf<E>; M] {
        let mut log = [RealOf::<E>::ZERO; M];
        for (log, belief) in log.iter_mut().zip(&state.beliefs) {
            *log = belief.log().value();
        }
        log
    }

    /// The outputs' values, `[output]`: see the type.
    pub fn decision_values(&self, state: &StreamState<NumberOf<E>, N, M>) -> [RealOf<E>; O] {
        let factor = self.normalisation.factor(state.samples);
        let mut log = [Belief::<NumberOf<E>, N>::NEW.log(); M];
        for ((log, model), belief) in log.iter_mut().zip(&self.models).zip(&state.beliefs) {
            *log = Forward::of(model).read(belief);
        }
        let mut values = self.biases;
        for (output, (value, weights)) in values.iter_mut().zip(&self.weights).enumerate() {
            let evidence = weights.iter().zip(&log).map(|(&weight, log)| {
                let derivative = log.derivative(output).unwrap_or(RealOf::<E>::ZERO);
                (weight, log.value(), derivative)
            });
            *value = decision_value(*value, factor, evidence);
        }
        values
    }
}

impl<E: Emission, const N: usize, const M: usize, const O: usize> Recursion
    for StreamClassifier<E, N, M, O>
{
    type Observation = E::Observation;
    type State = StreamState<NumberOf<E>, N, M>;
    type Reading = Decision<RealOf<E>>;

    #[inline]
    fn start(&self) -> Self::State {
        StreamState { beliefs: [Belief::NEW; M], samples: 0 }
    }

    /// Pushes to every model; a sample that any of them finds impossible is refused by all.
    fn push(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let before = state.beliefs;
        for (model, belief) in self.models.iter().zip(&mut state.beliefs) {
            if let Err(error) = Forward::of(model).push(belief, x) {
                // A single model has left its belief unchanged itself.
                if M > 1 {
                    state.beliefs = before;
                }
                return Err(error);
            }
        }
        state.samples += 1;
        Ok(())
    }

    fn push_missing(&self, state: &mut Self::State) {
        for (model, belief) in self.models.iter().zip(&mut state.beliefs) {
            Forward::of(model).push_missing(belief);
        }
        state.samples += 1;
    }

    fn read(&self, state: &Self::State) -> Decision<RealOf<E>> {
        decide(&self.decision_values(state))
    }
}
