//! The host's run of a detector: the core's recursion at run-time sizes.

use fishweir_core::classify::{ChangeDetector, ChangeReading, ChangeState, Limit};
use fishweir_core::emission::Emission;
use fishweir_core::filter::{ForgettingFactor, Streaming};
use fishweir_core::number::{Dual, Scalar};

use super::super::block::{Build, Observation, hmm};
use super::super::error::PushError;
use super::super::model::DeployedModel;
use super::super::narrowed::Narrowed;
use super::Detector;
use crate::classifier::Observations;
use crate::data::Sample;
use crate::runtime::{CategoricalVec, RowState, with_states};

/// A stream through a [`Detector`], with the device's arithmetic and its bits.
pub struct DetectorStream {
    run: Box<dyn Run + Send>,
    samples: Narrowed,
}

impl Detector {
    /// A stream before its first sample.
    pub fn stream(&self) -> DetectorStream {
        let Self { model, lost, fit, drift, .. } = self;
        DetectorStream::new(
            (&self.observations, self.in_part),
            model,
            ForgettingFactor::from_one_minus_lambda(*lost),
            *fit,
            *drift,
        )
    }
}

impl DetectorStream {
    pub(super) fn new(
        (observations, in_part): (&Observations, bool),
        model: &DeployedModel,
        memory: ForgettingFactor,
        fit: Limit,
        drift: Limit,
    ) -> Self {
        let run = if model.is_over_symbols() {
            running::<CategoricalVec<Dual<f32, 1>>>(model, memory, fit, drift)
        } else {
            running::<RowState<Dual<f32, 1>>>(model, memory, fit, drift)
        };
        Self { run, samples: Narrowed::new(observations, in_part) }
    }

    /// Takes in one sample; the values of a row are rounded to `f32`, as the device receives them.
    ///
    /// # Errors
    /// Why it was refused: it is missing then. Of [`PushError::Kind`] no time has passed.
    pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match self.samples.narrow(sample)? {
            Some(x) => {
                let pushed = self.run.push(&x);
                if matches!(pushed, Err(PushError::Observation(_))) {
                    self.run.push_missing();
                }
                pushed
            }
            None => {
                self.run.push_missing();
                Ok(())
            }
        }
    }

    /// Takes in one sample, or a missing one in its place where it is refused, as the firmware does;
    /// then what the detector reads. After an alarm it begins anew.
    pub fn watch(&mut self, sample: Sample<'_>) -> ChangeReading {
        if let Err(PushError::Kind) = self.push(sample) {
            self.run.push_missing();
        }
        let reading = self.read();
        if reading.alarm.is_some() {
            self.reset();
        }
        reading
    }

    /// Returns the statistics of the stream, and the alarm if any.
    pub fn read(&self) -> ChangeReading {
        self.run.read()
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.run.reset();
    }

    /// Log-likelihood and derivative of a sample.
    pub(super) fn gain(&mut self, sample: Sample<'_>) -> Result<(f32, f32), PushError> {
        self.run.mark();
        self.push(sample)?;
        Ok(self.run.gain())
    }
}

trait Run {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn reset(&mut self);
    fn read(&self) -> ChangeReading;
    /// Remembers where the stream stands.
    fn mark(&mut self);
    /// Log-likelihood and derivative accumulated since the mark.
    fn gain(&self) -> (f32, f32);
}

struct DetectorRun<E: Emission, const N: usize> {
    detector: ChangeDetector<E, N, 1>,
    state: ChangeState<Dual<f32, 1>, N>,
    mark: ChangeState<Dual<f32, 1>, N>,
}

impl<E, const N: usize> Run for DetectorRun<E, N>
where
    E: Build<f32, Weight = Dual<f32, 1>>,
{
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = E::observe(x).ok_or(PushError::Kind)?;
        Ok(self.detector.step(&mut self.state, x)?)
    }
    fn push_missing(&mut self) {
        self.detector.step_missing(&mut self.state);
    }
    fn reset(&mut self) {
        self.state = self.detector.initial_state();
    }
    fn read(&self) -> ChangeReading {
        self.detector.read(&self.state)
    }
    fn mark(&mut self) {
        self.mark = self.state;
    }
    fn gain(&self) -> (f32, f32) {
        let evidence = |state: &ChangeState<_, N>| state.fading().belief().evidence();
        let gain = evidence(&self.state).difference(&evidence(&self.mark));
        (gain.value(), gain.derivative(0).unwrap_or_default())
    }
}

fn running<E>(
    model: &DeployedModel,
    memory: ForgettingFactor,
    fit: Limit,
    drift: Limit,
) -> Box<dyn Run + Send>
where
    E: Build<f32, Weight = Dual<f32, 1>> + Send + 'static,
{
    with_states!(model.initial.len(), N => {
        let detector: ChangeDetector<E, N, 1> =
            ChangeDetector::from_parts(hmm(model, 0), memory, fit, [drift]);
        let state = detector.initial_state();
        Box::new(DetectorRun { detector, state, mark: state })
    })
}
