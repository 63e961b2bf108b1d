//! The host's run of a deployed classifier: the core's recursions at run-time sizes.

use fishweir_core::ObservationError;
use fishweir_core::classify::teach::window_evidence;
use fishweir_core::classify::{
    Calibration, Coding, Decision, Normalisation, Output, Prediction, ScoreOutOfRange, decide,
    decide_exactly, expand_kernels,
};
use fishweir_core::number::{Channel, Real};

use super::block::Observation;
use super::error::PushError;
use super::kernel_stream::KernelStream;
use super::model_stream::ModelStream;
use super::past::{Integers, Past};
use crate::classifier::Observations;
use crate::data::Sample;
use crate::data::internals::{FrontOutput, FrontStream};
use crate::elementary::Elementary;

/// A stream through a deployed classifier. It owns its numbers, so it may outlive the classifier.
pub struct Stream<T: Real = f32> {
    evidence: Evidence<T>,
    /// `[output][model]`, or of a kernel `[output][item]`.
    weights: Vec<Vec<T>>,
    biases: Vec<T>,
    normalisation: Normalisation,
    channels: Option<usize>,
    /// `true` if models accept samples with missing channels; otherwise such a sample is missing.
    in_part: bool,
    row: Vec<T>,
    /// Front end that samples go through first.
    front: Option<FrontStream<T>>,
    /// The last samples, in reals.
    past: Past<T>,
    /// State for observations in integers.
    integers: Option<Integers>,
    samples: u64,
}

/// Evidence that outputs weigh.
pub(super) enum Evidence<T> {
    /// Log-likelihoods of models.
    Models(Vec<ModelStream<T>>),
    /// Kernel values.
    Kernels(Box<dyn KernelStream<T> + Send>),
}

/// Returns whether a channel is missing, that is, NaN.
#[expect(clippy::eq_op, reason = "what is no number is not equal to itself")]
fn is_missing<C: PartialEq>(x: &C) -> bool {
    x != x
}

impl<T: Real> Stream<T> {
    pub(super) fn of(
        evidence: Evidence<T>,
        (weights, biases, normalisation): (Vec<Vec<T>>, Vec<T>, Normalisation),
        observations: &Observations,
    ) -> Self {
        let channels = match observations {
            Observations::Channels(names) => Some(names.len()),
            Observations::Symbols(_) => None,
        };
        Self {
            evidence,
            weights,
            biases,
            normalisation,
            channels,
            in_part: false,
            row: Vec::new(),
            front: None,
            past: Past::default(),
            integers: None,
            samples: 0,
        }
    }

    /// Returns the stream of samples that may lack channels, or may not.
    pub(super) fn in_part(self, in_part: bool) -> Self {
        Self { in_part, ..self }
    }

    /// The sample as models read it: one that lacks a channel is missing, unless the contract allows it.
    pub(super) fn heard_as<'s>(&self, sample: Sample<'s>) -> Sample<'s> {
        if self.in_part { sample.unless_empty() } else { sample.if_whole() }
    }

    /// Returns the stream behind a front end, with the last samples.
    pub(super) fn behind(self, front: Option<FrontStream<T>>, past: Past<T>) -> Self {
        Self { front, past, ..self }
    }

    /// Returns the stream of observations in the device's integers.
    pub(super) fn over_integers(self, integers: Integers) -> Self {
        Self { integers: Some(integers), ..self }
    }

    /// Takes in a sample, for [`push`](Stream::push).
    pub(super) fn push_sample(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        self.push_heard(self.heard_as(sample))
    }

    /// Takes in a sample [as it is heard](Self::heard_as).
    pub(super) fn push_heard(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        let result = self.try_push(sample);
        // Behind a front end it is missing already.
        if matches!(result, Err(PushError::Observation(_))) && self.front.is_none() {
            let _ = self.push_row(None);
        }
        result
    }

    /// Tries to take in a sample; on an error the stream is unchanged, unless there is a front end.
    fn try_push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) if row.len() == channels => {
                if let Some(mut integers) = self.integers.take() {
                    let taken = integers.read(row).map_err(PushError::from);
                    let Integers { row, whole, past, .. } = &mut integers;
                    let taken = taken.and_then(|()| {
                        self.hear(past, (row, whole), |row| Observation::Integers(row))
                    });
                    self.integers = Some(integers);
                    return taken;
                }
                self.row.clear();
                self.row.extend(row.iter().map(|&x| T::from_f64(x)));
                let row = std::mem::take(&mut self.row);
                let taken = self.push_through(Some(&row));
                self.row = row;
                taken
            }
            (Sample::Symbol(symbol), None) => self.push_symbol(symbol),
            (Sample::Missing, _) => self.push_through(None),
            _ => Err(PushError::Kind),
        }
    }

    /// Returns whether a sample is of the kind that the stream observes.
    pub(super) fn takes(&self, sample: Sample<'_>) -> bool {
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) => row.len() == channels,
            (Sample::Symbol(_), channels) => channels.is_none(),
            (Sample::Missing, _) => true,
            (Sample::Row(_), None) => false,
        }
    }

    /// Pushes a row as the core's `Preprocessed` does: a complete row is pushed, and a refused one is missing.
    fn push_through(&mut self, x: Option<&[T]>) -> Result<(), PushError> {
        let Some(mut front) = self.front.take() else { return self.push_row(x) };
        let mut told = Ok(());
        let taken = front.push(x, &mut |heard| {
            told = match heard {
                FrontOutput::Symbol(symbol) => self.push_symbol(symbol),
                other => self.push_row(other.row()),
            };
            if told.is_err() {
                let _ = self.push_row(None);
            }
        });
        self.front = Some(front);
        // A missing sample has no caller to report to.
        taken.map_err(PushError::from).and(told).or_else(|e| x.map_or(Ok(()), |_| Err(e)))
    }

    fn push_symbol(&mut self, symbol: u16) -> Result<(), PushError> {
        self.push_each(&Observation::Symbol(symbol))?;
        self.samples += 1;
        Ok(())
    }

    /// Takes in a row of real channels, `None` for a missing one.
    fn push_row(&mut self, row: Option<&[T]>) -> Result<(), PushError> {
        let Some(row) = row else {
            self.push_missing();
            self.samples += 1;
            return Ok(());
        };
        let mut past = std::mem::take(&mut self.past);
        let taken = self.hear(&mut past, (row, row), |row| Observation::Row(row));
        self.past = past;
        taken
    }

    /// Takes in a row of channels after others of its kind.
    fn hear<R: Channel, C: Coding>(
        &mut self,
        past: &mut Past<R, C>,
        (row, whole): (&[R], &[C]),
        observation: impl for<'x> Fn(&'x [R]) -> Observation<'x, T>,
    ) -> Result<(), PushError> {
        match past.heard(row) {
            Some(heard) => self.push_each(&observation(heard))?,
            None if row.iter().all(|x| x.is_number() || is_missing(x)) => self.push_each_missing(),
            None => return Err(ObservationError::NotFinite.into()),
        }
        past.take(row, whole);
        self.samples += 1;
        Ok(())
    }

    /// Pushes a sample as the core's `BankState` does: if all refuse it, it is refused; a single model that does is ruled out.
    fn push_each(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        let bank = match &mut self.evidence {
            Evidence::Models(bank) => bank,
            Evidence::Kernels(kernel) => return kernel.push(x),
        };
        let asked = bank.iter_mut().filter(|model| !model.ruled_out);
        let answers: Vec<_> = asked.map(|model| (model.push(x), model)).collect();
        if answers.iter().all(|(answer, _)| answer.is_err()) {
            let first = answers.into_iter().find_map(|(answer, _)| answer.err());
            return Err(first.unwrap_or(ObservationError::Impossible.into()));
        }
        answers.into_iter().for_each(|(answer, model)| model.ruled_out = answer.is_err());
        Ok(())
    }

    fn push_missing(&mut self) {
        self.past.take_missing();
        self.integers.iter_mut().for_each(|integers| integers.past.take_missing());
        self.push_each_missing();
    }

    fn push_each_missing(&mut self) {
        match &mut self.evidence {
            Evidence::Models(bank) => {
                for model in bank.iter_mut().filter(|model| !model.ruled_out) {
                    model.blocks.iter_mut().for_each(|block| block.push_missing());
                }
            }
            Evidence::Kernels(kernel) => kernel.push_missing(),
        }
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.front.iter_mut().for_each(FrontStream::reset);
        self.past.reset();
        self.integers.iter_mut().for_each(|integers| integers.past.reset());
        match &mut self.evidence {
            Evidence::Models(bank) => {
                for model in bank {
                    model.ruled_out = false;
                    model.blocks.iter_mut().for_each(|block| block.reset());
                }
            }
            Evidence::Kernels(kernel) => kernel.reset(),
        }
        self.samples = 0;
    }

    /// Number of samples that models have read, missing ones included: rows, behind a front end.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Log-likelihood of the stream under each model, `[model]`; minus infinity of one that makes it
    /// impossible, which is out until the stream is reset. None of a kernel machine, which has none to
    /// show.
    pub fn log_likelihoods(&self) -> Vec<T> {
        let Evidence::Models(bank) = &self.evidence else { return Vec::new() };
        let log = |model: &ModelStream<T>| match model.blocks.first() {
            Some(block) if !model.ruled_out => block.log(),
            _ => T::NEG_INFINITY,
        };
        bank.iter().map(log).collect()
    }

    /// The outputs as they are compared.
    fn outputs(&self) -> Result<Outputs<T>, ScoreOutOfRange> {
        Ok(match &self.evidence {
            Evidence::Models(bank) => Outputs::Exact(self.weighed(bank)),
            Evidence::Kernels(kernel) => {
                let (kernels, log_scale) = kernel.kernels(self.samples)?;
                let rows = self.weights.iter().map(Vec::as_slice);
                let mut values = vec![T::ZERO; self.biases.len()];
                let left = expand_kernels(rows, &self.biases, &kernels, log_scale, &mut values);
                Outputs::Relative(values, left)
            }
        })
    }

    /// The outputs before they are rounded, `[output]`, as the core sums them.
    fn weighed(&self, bank: &[ModelStream<T>]) -> Vec<Output<T>> {
        let mut outputs = vec![Output::NONE; self.biases.len()];
        for (m, model) in bank.iter().enumerate() {
            let parts: Vec<_> = model.blocks.iter().map(|block| block.log_parts()).collect();
            let rates: Vec<[T; 2]> = parts.iter().flat_map(|(_, rates)| rates).copied().collect();
            for (o, (output, weights)) in outputs.iter_mut().zip(&self.weights).enumerate() {
                match parts.first() {
                    Some(&(log, _)) if !model.ruled_out => {
                        output.add(weights[m], log, rates.get(o).copied());
                    }
                    _ => output.rule_out(weights[m]),
                }
            }
        }
        let of_integers = self.integers.iter().flat_map(|integers| integers.past.evidence());
        for evidence in [self.past.evidence().collect::<Vec<_>>(), of_integers.collect()] {
            let outputs = outputs.iter_mut().zip(evidence);
            outputs.for_each(|(output, parts)| output.add_evidence(parts));
        }
        let factor = self.normalisation.factor(self.samples);
        for (output, &bias) in outputs.iter_mut().zip(&self.biases) {
            output.finish(factor, bias);
        }
        outputs
    }

    /// The decision so far; a kernel machine's margin is in the scale of its kernel values.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`], of a kernel on scores.
    pub fn decision(&self) -> Result<Decision<T>, ScoreOutOfRange> {
        Ok(match self.outputs()? {
            Outputs::Exact(outputs) => decide_exactly(&outputs),
            Outputs::Relative(values, _) => decide(&values),
        })
    }

    /// The outputs' values, `[output]`: of two classes' one, the sign decides; else the largest. Rounded,
    /// so that two large ones may be the same where [`leads`](Self::leads) says by how much they differ.
    ///
    /// A kernel machine's where they leave the range of the format are infinite, or zero.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    pub fn decision_values(&self) -> Result<Vec<T>, ScoreOutOfRange> {
        Ok(self.outputs()?.values())
    }

    /// Returns the values divided by a common scale, and its logarithm: the quantities that a kernel machine on the device
    /// compares.
    ///
    /// See the core's `DecisionValues`. For evidence the logarithm is zero.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    pub fn relative_values(&self) -> Result<(Vec<T>, T), ScoreOutOfRange> {
        Ok(match self.outputs()? {
            Outputs::Exact(outputs) => (outputs.iter().map(Output::value).collect(), T::ZERO),
            Outputs::Relative(values, log_scale) => (values, log_scale),
        })
    }

    /// Returns the margin of each class over the best of the others, `[class]`.
    ///
    /// Negative where the class does not win, infinite where models that are ruled out decide. Subtracted before rounding where
    /// values may be large.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    pub fn leads(&self) -> Result<Vec<T>, ScoreOutOfRange> {
        Ok(match self.outputs()? {
            Outputs::Exact(outputs) => leads(&outputs, Output::value, Output::difference),
            relative => leads(&relative.values(), |&value| value, |&a, &b| a - b),
        })
    }

    /// Returns the margin of a class of a bank over another, subtracted before rounding; zero for a kernel machine.
    pub(super) fn lead(&self, class: usize, other: usize) -> T {
        let Evidence::Models(bank) = &self.evidence else { return T::ZERO };
        match (self.weighed(bank).as_slice(), class) {
            ([value], 1) => value.value(),
            ([value], _) => -value.value(),
            (values, _) => values[class].difference(&values[other]),
        }
    }

    /// Returns the decision so far, its probability, and the reason for rejecting it, if any: the device's, bit for bit.
    ///
    /// `None` for a kernel machine, which has no calibration.
    pub fn believed(&self, confidence: &Calibration<'_, T>) -> Option<Prediction<T>> {
        let Evidence::Models(bank) = &self.evidence else { return None };
        Some(confidence.believe(&self.weighed(bank), self.log_likelihoods(), self.samples))
    }

    /// Returns the evidence that a device sends with its decision: log-likelihoods, `[model]`, or for a kernel machine decision
    /// values, `[output]`.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    pub fn evidence(&self) -> Result<Vec<T>, ScoreOutOfRange> {
        match self.evidence {
            Evidence::Models(_) => Ok(self.log_likelihoods()),
            Evidence::Kernels(_) => Ok(self.relative_values()?.0),
        }
    }
}

impl Stream {
    /// The evidence that a class is [taught](crate::teach) by: the value of each output, then the log-likelihood per sample
    /// under each model. `None` before the first sample, and of a kernel machine.
    pub(crate) fn teaching_evidence(&self) -> Option<Vec<f32>> {
        let Evidence::Models(bank) = &self.evidence else { return None };
        let (outputs, logs) = (self.weighed(bank), self.log_likelihoods());
        let mut room = vec![0.0; outputs.len() + logs.len()];
        window_evidence(&outputs, &logs, self.samples, &mut room)?;
        Some(room)
    }
}

/// Outputs as they are compared.
enum Outputs<T> {
    /// Values that are not rounded yet.
    Exact(Vec<Output<T>>),
    /// Divided by a common scale, and its logarithm.
    Relative(Vec<T>, T),
}

impl<T: Real> Outputs<T> {
    fn values(self) -> Vec<T> {
        match self {
            Self::Exact(outputs) => outputs.iter().map(Output::value).collect(),
            Self::Relative(values, log_scale) if log_scale == T::ZERO => values,
            Self::Relative(values, log_scale) => {
                let scale = log_scale.to_f64().portable_exp();
                values.into_iter().map(|value| T::from_f64(value.to_f64() * scale)).collect()
            }
        }
    }
}

/// Margin of each class over the best of the others; one value is that of the second of two
/// classes, its sign deciding.
pub(crate) fn leads<V, T: Real>(
    values: &[V],
    rounded: impl Fn(&V) -> T,
    less: impl Fn(&V, &V) -> T,
) -> Vec<T> {
    if let [value] = values {
        return vec![-rounded(value), rounded(value)];
    }
    let lead = |class: usize| {
        let others = values.iter().enumerate().filter(|&(other, _)| other != class);
        let leads = others.map(|(_, other)| less(&values[class], other));
        leads.reduce(|least, lead| if lead < least { lead } else { least })
    };
    (0..values.len()).map(|class| lead(class).unwrap_or(T::ZERO)).collect()
}

#[cfg(test)]
mod tests {
    use super::leads;

    #[test]
    fn one_class_leads_at_most() {
        let leads = |values: &[f32]| leads(values, |&value| value, |&a, &b| a - b);
        assert_eq!(leads(&[0.5]), [-0.5, 0.5]);
        assert_eq!(leads(&[1.0, 3.0, 2.5]), [-2.0, 0.5, -0.5]);
    }
}
