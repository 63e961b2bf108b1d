//! The host's run of a deployed machine, with the device's arithmetic and its bits.

use fishweir_core::classify::{Decision, ScoreOutOfRange, decide, expand_kernels};

use super::super::PushError;
use super::super::block::Observation;
use super::super::stream::leads;
use super::{DeployedKernel, Machine, scores, sequences};
use crate::classifier::Observations;
use crate::data::Sample;

/// A stream through a deployed [`Machine`]. It owns its numbers, so it may outlive the machine.
pub struct MachineStream {
    kernel: Box<dyn KernelStream + Send>,
    coefficients: Vec<Vec<f32>>,
    biases: Vec<f32>,
    channels: Option<usize>,
    row: Vec<f32>,
    samples: u64,
}

/// A kernel against the stored items, whatever its sizes.
pub(super) trait KernelStream {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn reset(&mut self);
    /// Values `[item]` relative to a common scale, and its logarithm, after so many samples.
    fn kernels(&self, samples: u64) -> Result<(Vec<f32>, f32), ScoreOutOfRange>;
}

impl Machine {
    /// A stream before its first sample.
    #[must_use]
    pub fn stream(&self) -> MachineStream {
        let kernel = match &self.kernel {
            DeployedKernel::FixedLength(kernel) => sequences::stream(kernel),
            DeployedKernel::Scores(kernel) => scores::stream(kernel, self.size()),
        };
        let channels = match &self.observations {
            Observations::Channels(names) => Some(names.len()),
            Observations::Symbols(_) => None,
        };
        let (coefficients, biases) = (self.coefficients.clone(), self.biases.clone());
        MachineStream { kernel, coefficients, biases, channels, row: Vec::new(), samples: 0 }
    }
}

impl MachineStream {
    /// Takes in one sample; the values of a row are rounded to `f32`, as the device receives them.
    ///
    /// # Errors
    /// [`PushError`]; the stream is then as before.
    pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) if row.len() == channels => {
                self.row.clear();
                self.row.extend(row.iter().map(|&x| x as f32));
                self.kernel.push(&Observation::Row(&self.row))?;
            }
            (Sample::Symbol(symbol), None) => self.kernel.push(&Observation::Symbol(symbol))?,
            (Sample::Missing, _) => self.kernel.push_missing(),
            _ => return Err(PushError::Kind),
        }
        self.samples += 1;
        Ok(())
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.kernel.reset();
        self.samples = 0;
    }

    /// Samples taken in, missing ones included.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The kernel's values with the stored items, `[item]`, relative to a common scale, and its
    /// logarithm.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`], of a kernel on scores.
    pub fn kernels(&self) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        self.kernel.kernels(self.samples)
    }

    /// The outputs' values, `[output]`, and the logarithm of what they were divided by: see the
    /// core's `DecisionValues`.
    ///
    /// # Errors
    /// As [`kernels`](Self::kernels).
    pub fn decision_values(&self) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        let (kernels, log_scale) = self.kernels()?;
        let rows = self.coefficients.iter().map(Vec::as_slice);
        let mut values = vec![0.0; self.biases.len()];
        let left = expand_kernels(rows, &self.biases, &kernels, log_scale, &mut values);
        Ok((values, left))
    }

    /// The same as they are: times the exponential of that logarithm, so that they compare with
    /// other streams'. Where it leaves the range of `f32` they are infinite, or zero.
    ///
    /// # Errors
    /// As [`kernels`](Self::kernels).
    pub fn unscaled_values(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
        let (values, log_scale) = self.decision_values()?;
        if log_scale == 0.0 {
            return Ok(values);
        }
        let scale = f64::from(log_scale).exp();
        Ok(values.into_iter().map(|value| (f64::from(value) * scale) as f32).collect())
    }

    /// By how much each class leads the best of the others, `[class]`, of [`unscaled_values`
    /// ](Self::unscaled_values); negative where it does not.
    ///
    /// # Errors
    /// As [`kernels`](Self::kernels).
    pub fn leads(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
        Ok(leads(&self.unscaled_values()?, |&value| value, |&a, &b| a - b))
    }

    /// The decision so far.
    ///
    /// # Errors
    /// As [`kernels`](Self::kernels).
    pub fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        Ok(decide(&self.decision_values()?.0))
    }
}
