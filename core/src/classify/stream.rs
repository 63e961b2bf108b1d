use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Decision, Normalisation, StreamModel, decide, decision_value};
use crate::error::{Flaw, ModelError, ObservationError, Part};
use crate::filter::Recursion;
use crate::number::{Number, Real, Scalar};

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
/// A [`StreamModel`] is a [hidden Markov model](crate::hmm::Hmm), or a
/// [model whose contexts are seen](crate::context::ContextModel): one for each position of strings that
/// are aligned, say. Hidden Markov models of a bank have the same number of states; a smaller one is
/// padded with states out of reach.
///
/// Flash: `M` models, `O (M + 1)` reals. State: `M` of theirs and a counter. Work a sample: `M` times
/// that of [`Forward`](crate::filter::Forward) or
/// [`ContextLikelihood`](crate::context::ContextLikelihood); a reading costs `M` logarithms and `M`
/// divisions.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct StreamClassifier<H: StreamModel, const M: usize, const O: usize> {
    models: [H; M],
    weights: [[H::Real; M]; O],
    biases: [H::Real; O],
    normalisation: Normalisation,
    /// Keeps the size a multiple of eight for every number type.
    reserved: u32,
}

/// What a stream left in a [`StreamClassifier`]: a state a model, and the count of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamState<S, const M: usize> {
    states: [S; M],
    samples: u64,
}

impl<S, const M: usize> StreamState<S, M> {
    /// How many samples have been taken in, missing ones included.
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

impl<H: StreamModel, const M: usize, const O: usize> StreamClassifier<H, M, O> {
    /// A classifier from its parts: `models[model]`, `weights[output][model]`, `biases[output]`.
    ///
    /// The parts are finite where their makers made them so; [`validate`](Self::validate) checks
    /// what was read from elsewhere.
    pub const fn new(
        models: [H; M],
        weights: [[H::Real; M]; O],
        biases: [H::Real; O],
        normalisation: Normalisation,
    ) -> Self {
        const {
            assert!(M > 0 && O > 0, "a classifier needs a model and an output");
            assert!(
                H::DIRECTIONS == 0 || H::DIRECTIONS == O,
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
    pub const fn models(&self) -> &[H; M] {
        &self.models
    }

    /// How much each log-likelihood weighs, `[output][model]`.
    pub const fn weights(&self) -> &[[H::Real; M]; O] {
        &self.weights
    }

    /// What each output starts from, `[output]`.
    pub const fn biases(&self) -> &[H::Real; O] {
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
    pub fn log_likelihoods(&self, state: &StreamState<H::State, M>) -> [H::Real; M] {
        let mut log = [H::Real::ZERO; M];
        for (log, (model, state)) in log.iter_mut().zip(self.models.iter().zip(&state.states)) {
            *log = model.likelihood().read(state).value();
        }
        log
    }

    /// The outputs' values, `[output]`: see the type.
    pub fn decision_values(&self, state: &StreamState<H::State, M>) -> [H::Real; O] {
        let factor = self.normalisation.factor(state.samples);
        let mut log = [None; M];
        for (log, (model, state)) in log.iter_mut().zip(self.models.iter().zip(&state.states)) {
            *log = Some(model.likelihood().read(state));
        }
        let mut values = self.biases;
        for (output, (value, weights)) in values.iter_mut().zip(&self.weights).enumerate() {
            let evidence = weights.iter().zip(log.iter().flatten()).map(|(&weight, log)| {
                let derivative = log.derivative(output).unwrap_or(H::Real::ZERO);
                (weight, log.value(), derivative)
            });
            *value = decision_value(*value, factor, evidence);
        }
        values
    }
}

impl<H: StreamModel, const M: usize, const O: usize> Recursion for StreamClassifier<H, M, O> {
    type Observation = H::Observation;
    type State = StreamState<H::State, M>;
    type Reading = Decision<H::Real>;

    #[inline]
    fn start(&self) -> Self::State {
        let states = self.models.each_ref().map(|model| model.likelihood().start());
        StreamState { states, samples: 0 }
    }

    /// Pushes to every model; a sample that any of them finds impossible is refused by all.
    fn push(&self, state: &mut Self::State, x: &H::Observation) -> Result<(), ObservationError> {
        let before = state.states;
        for (model, own) in self.models.iter().zip(&mut state.states) {
            if let Err(error) = model.likelihood().push(own, x) {
                // A single model has left its state unchanged itself.
                if M > 1 {
                    state.states = before;
                }
                return Err(error);
            }
        }
        state.samples += 1;
        Ok(())
    }

    fn push_missing(&self, state: &mut Self::State) {
        for (model, state) in self.models.iter().zip(&mut state.states) {
            model.likelihood().push_missing(state);
        }
        state.samples += 1;
    }

    fn read(&self, state: &Self::State) -> Decision<H::Real> {
        decide(&self.decision_values(state))
    }
}
