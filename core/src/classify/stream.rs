use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::checks::check_range;
use super::{
    AdditiveClassifier, Classifier, Decision, Normalisation, Output, ScoreOutOfRange, StreamModel,
    decide_exactly,
};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::{Belief, Streaming};
use crate::kernel::BankState;
use crate::number::{Number, NumberFormat, Real, Scalar, array_of};

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
/// Streams may be endless: outputs are subtracted before they are rounded, so that a margin is as exact
/// after `10^8` samples, when a value in `f32` is known to some eight nats. A model that a sample makes
/// impossible is [ruled out](BankState) until the stream is reset, and the others go on; what then
/// becomes of the outputs says [`Output`].
///
/// Flash: `M` models, `O (M + 1)` reals. State: `M` of theirs, `M` bytes and a counter. Work per sample:
/// `M` times that of [`Forward`](crate::filter::Forward) or
/// [`ContextLikelihood`](crate::context::ContextLikelihood); a reading costs `M` logarithms, `M`
/// divisions, and `O M` additions in double-word arithmetic, with a product each where there is a weight.
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

/// State of a [`StreamClassifier`]: one state per model, and the number of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamState<S, const M: usize> {
    bank: BankState<S, M>,
    samples: u64,
}

/// Access to the states of hidden Markov models.
impl<X: Number, const N: usize, const M: usize> StreamState<Belief<X, N>, M> {
    /// State before the first sample.
    pub const NEW: Self = Self { bank: BankState::new([Belief::NEW; M]), samples: 0 };
}

impl<S, const M: usize> StreamState<S, M> {
    /// Number of samples, missing ones included.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Models that have been ruled out, `[model]`.
    pub const fn ruled_out(&self) -> &[bool; M] {
        self.bank.ruled_out()
    }
}

impl<H: StreamModel, const M: usize, const O: usize> StreamClassifier<H, M, O> {
    /// Creates a classifier from `models[model]`, `weights[output][model]`, `biases[output]`, and checks every number.
    /// In a constant take [`from_parts`](Self::from_parts).
    ///
    /// # Errors
    /// Names the first invalid number.
    pub fn new(
        models: [H; M],
        weights: [[H::Real; M]; O],
        biases: [H::Real; O],
        normalisation: Normalisation,
    ) -> Result<Self, ModelError> {
        let made = Self::from_parts(models, weights, biases, normalisation);
        made.validate()?;
        Ok(made)
    }

    /// Creates a classifier without checks, in a constant too: [`validate`](Self::validate) checks it.
    pub const fn from_parts(
        models: [H; M],
        weights: [[H::Real; M]; O],
        biases: [H::Real; O],
        normalisation: Normalisation,
    ) -> Self {
        const {
            assert!(M > 0 && O > 0, "M and O must be at least 1");
            assert!(
                H::DIRECTIONS == 0 || H::DIRECTIONS == O,
                "the models' directions must be 0 or equal O"
            );
        }
        Self { models, weights, biases, normalisation, reserved: 0 }
    }

    /// Number of classes.
    pub const fn classes(&self) -> usize {
        if O == 1 { 2 } else { O }
    }

    /// The bank of models.
    pub const fn models(&self) -> &[H; M] {
        &self.models
    }

    /// Weights of the log-likelihoods, `[output][model]`.
    pub const fn weights(&self) -> &[[H::Real; M]; O] {
        &self.weights
    }

    /// Bias of each output, `[output]`.
    pub const fn biases(&self) -> &[H::Real; O] {
        &self.biases
    }

    /// Normalisation of evidence by length.
    pub const fn normalisation(&self) -> Normalisation {
        self.normalisation
    }

    /// Checks every number. A weight on a log-likelihood is at most `2^48` in absolute value: after `2^15`
    /// samples, each as far away as an observation [may be](crate::number::MIN_LOG_DENSITY_EXP), no margin in `f32`
    /// has overflowed.
    ///
    /// # Errors
    /// Names the first that is wrong. An error inside a model does not say which model.
    pub fn validate(&self) -> Result<(), ModelError> {
        for model in &self.models {
            model.validate()?;
        }
        check_range(self.weights.iter().map(|row| &row[..]), Part::LikelihoodWeight)?;
        for (output, bias) in self.biases.iter().enumerate() {
            if !bias.is_finite() {
                return Err(ModelError::new(Part::Bias, ErrorKind::NotFinite, output, 0));
            }
        }
        if Normalisation::from_code(self.normalisation.code()).is_none() {
            return Err(ModelError::new(Part::Normalisation, ErrorKind::Unknown, 0, 0));
        }
        Ok(())
    }

    /// The log-likelihood of the stream under each model, `[model]`; minus infinity of one that is ruled
    /// out.
    pub fn log_likelihoods(&self, state: &StreamState<H::State, M>) -> [H::Real; M] {
        let mut log = [H::Real::NEG_INFINITY; M];
        for (log, (model, state)) in log.iter_mut().zip(self.models.iter().zip(state.bank.states()))
        {
            if let Some(state) = state {
                *log = model.likelihood().read(state).value();
            }
        }
        log
    }

    /// The outputs' values, `[output]`: see the type. Rounded, so that two large ones may be the same
    /// where the margin says by how much they differ.
    pub fn decision_values(&self, state: &StreamState<H::State, M>) -> [H::Real; O] {
        let outputs = self.outputs(state);
        array_of(H::Real::ZERO, |output| outputs[output].value())
    }
}

impl<H: StreamModel, const M: usize, const O: usize> Streaming for StreamClassifier<H, M, O> {
    type Observation = H::Observation;
    type State = StreamState<H::State, M>;
    type Reading = Decision<H::Real>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        let states = self.models.each_ref().map(|model| model.likelihood().initial_state());
        StreamState { bank: BankState::new(states), samples: 0 }
    }

    /// Pushes to every model that is not ruled out.
    ///
    /// # Errors
    /// Where all of them refuse; the state is unchanged.
    fn step(&self, state: &mut Self::State, x: &H::Observation) -> Result<(), ObservationError> {
        state.bank.step(self.models.iter().map(H::likelihood), x)?;
        state.samples += 1;
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        state.bank.step_missing(self.models.iter().map(H::likelihood));
        state.samples += 1;
    }

    fn read(&self, state: &Self::State) -> Decision<H::Real> {
        decide_exactly(&self.outputs(state))
    }
}

impl<H: StreamModel, const M: usize, const O: usize> Classifier for StreamClassifier<H, M, O> {
    type Real = H::Real;
    type Evidence = [H::Real; M];
    const FORMAT: NumberFormat = H::FORMAT;

    fn decision(&self, state: &Self::State) -> Result<Decision<H::Real>, ScoreOutOfRange> {
        Ok(self.read(state))
    }
    fn evidence(&self, state: &Self::State) -> Result<[H::Real; M], ScoreOutOfRange> {
        Ok(self.log_likelihoods(state))
    }
    fn classes(&self) -> usize {
        Self::classes(self)
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self)
    }
}

impl<H: StreamModel, const M: usize, const O: usize> AdditiveClassifier
    for StreamClassifier<H, M, O>
{
    type Outputs = [Output<H::Real>; O];

    fn sums(&self, state: &StreamState<H::State, M>) -> [Output<H::Real>; O] {
        let mut outputs = [Output::NONE; O];
        for (m, (model, own)) in self.models.iter().zip(state.bank.states()).enumerate() {
            let weight = |row: &[H::Real; M]| row.get(m).copied().unwrap_or(H::Real::ZERO);
            let parts = own.map(|own| model.log_parts(own));
            for (o, (output, row)) in outputs.iter_mut().zip(&self.weights).enumerate() {
                match &parts {
                    Some([high, low]) => {
                        let derivative = high.derivative(o).zip(low.derivative(o));
                        output.add(
                            weight(row),
                            [high.value(), low.value()],
                            derivative.map(Into::into),
                        );
                    }
                    None => output.rule_out(weight(row)),
                }
            }
        }
        outputs
    }

    fn finish(&self, state: &StreamState<H::State, M>, outputs: &mut [Output<H::Real>; O]) {
        let factor = self.normalisation.factor(state.samples);
        for (output, &bias) in outputs.iter_mut().zip(&self.biases) {
            output.finish(factor, bias);
        }
    }

    fn log_likelihoods(&self, state: &Self::State) -> [H::Real; M] {
        Self::log_likelihoods(self, state)
    }
    fn samples(&self, state: &Self::State) -> u64 {
        state.samples
    }
    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}
