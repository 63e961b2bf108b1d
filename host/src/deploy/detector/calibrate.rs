//! Limits from streams in which nothing changes.

use fishweir_core::classify::Limit;
use fishweir_core::filter::ForgettingFactor;

use super::super::model::DeployedModel;
use super::Detector;
use super::error::{CalibrationError, FEWEST_ALARMS};
use super::model::{deployed, lost};
use super::stream::DetectorStream;
use crate::classifier::{Direction, Observations};
use crate::data::{Sample, SamplesView};
use crate::runtime::Hmm;

/// Options for the calibration of a detector.
///
/// The normal streams are recordings in which nothing changes, such as the model was not fitted on, or
/// series drawn from the model ([`Hmm::simulate`]). Recordings are the honest source: real streams
/// stray from every model, and limits from simulation then alarm far too often.
///
/// 1. A mean each: what an observed sample adds to the log-likelihood and to the score along the
///    direction, over all normal streams.
/// 2. A threshold each, such that the statistic alone, begun anew after every alarm, alarms once in
///    `2 T` samples of the normal streams.
/// 3. Both thresholds by one factor, such that the two together alarm once in `T` samples.
///
/// With `n` alarms over the normal streams, the mean time between them is known to a fraction of
/// about `1 / sqrt(n)`; streams of `100 T` samples give ten per cent.
///
/// Cost: one pass of the filter, and some 100 passes over two numbers per sample; 8 B per sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Length of the memory in samples, `1 / (1 - lambda)`. A change takes part of it to be detected, and one too small to stand
    /// out over that many samples is not detected.
    pub memory: f64,
    /// Mean time between false alarms `T`, in samples.
    pub mean_time: f64,
}

/// Statistics closer to their mean than this, in nats, differ by rounding.
const LEAST_THRESHOLD: f64 = 1e-3;

/// Contribution of a sample to the two statistics, `[fit, drift]`; `None` for a missing one.
type Gain = Option<[f32; 2]>;

impl Calibration {
    /// A detector of changes of `model`, along `direction` above all.
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn calibrate(
        &self,
        model: &Hmm,
        direction: &Direction,
        observations: &Observations,
        normal: &[SamplesView<'_>],
    ) -> Result<Detector, CalibrationError> {
        let in_part =
            normal.iter().filter_map(SamplesView::rows).any(|rows| rows.has_partial_rows());
        self.calibrate_for((observations, in_part), model, direction, normal)
    }

    /// [`calibrate`](Self::calibrate) for a detector whose channels may be missing, or not, though none is in these streams.
    pub(crate) fn calibrate_for(
        &self,
        (observations, in_part): (&Observations, bool),
        model: &Hmm,
        direction: &Direction,
        normal: &[SamplesView<'_>],
    ) -> Result<Detector, CalibrationError> {
        self.validate()?;
        let deployed = deployed(model, direction, observations)?;
        let lost = lost(self.memory);
        let gains = gains((observations, in_part), &deployed, normal);
        let observed = gains.iter().flatten().flatten().count();
        if (observed as f64) < FEWEST_ALARMS as f64 * self.mean_time {
            return Err(CalibrationError::TooFew { observed, mean_time: self.mean_time });
        }
        let means = [0, 1].map(|k| {
            let sum: f64 = gains.iter().flatten().flatten().map(|gain| f64::from(gain[k])).sum();
            sum / observed as f64
        });
        let record = Record { gains: &gains, kept: 1.0 - f64::from(lost), means };
        let samples = gains.iter().map(Vec::len).sum::<usize>();
        let wanted = samples as f64 / self.mean_time;
        let alone = [0, 1].map(|k| record.threshold(k, wanted / 2.0));
        let scale = record.scale(alone, wanted);
        let limit = |k: usize| Limit {
            mean: means[k] as f32,
            threshold: (scale * alone[k]).max(LEAST_THRESHOLD) as f32,
        };
        let mut detector = Detector {
            observations: observations.clone(),
            model: deployed,
            lost,
            fit: limit(0),
            drift: limit(1),
            notes: Vec::new(),
            in_part,
        };
        let alarms = detector.alarms(normal);
        detector.notes = vec![
            format!(
                "Memory {} samples. Wanted: one false alarm in {} samples.",
                self.memory, self.mean_time
            ),
            format!("Calibrated on {samples} samples in which nothing changes: {alarms} alarms."),
        ];
        Ok(detector)
    }

    fn validate(&self) -> Result<(), CalibrationError> {
        for (setting, value, wanted, good) in [
            ("memory", self.memory, "at least one sample", self.memory >= 1.0),
            (
                "mean time between false alarms",
                self.mean_time,
                "longer than the memory",
                self.mean_time > self.memory,
            ),
        ] {
            if !(good && value.is_finite()) {
                return Err(CalibrationError::Setting { setting, value, wanted });
            }
        }
        Ok(())
    }
}

impl Detector {
    /// Number of alarms on streams, each begun anew, by the arithmetic of the device.
    pub fn alarms(&self, streams: &[SamplesView<'_>]) -> usize {
        let mut stream = self.stream();
        let mut alarms = 0;
        for samples in streams {
            stream.reset();
            alarms += samples.iter().filter(|&x| stream.watch(x).alarm.is_some()).count();
        }
        alarms
    }
}

/// Runs the filter over all streams, each begun anew. A sample that is refused counts as missing.
fn gains(
    observed: (&Observations, bool),
    model: &DeployedModel,
    normal: &[SamplesView<'_>],
) -> Vec<Vec<Gain>> {
    let unlimited = Limit { mean: 0.0, threshold: f32::INFINITY };
    let mut stream =
        DetectorStream::new(observed, model, ForgettingFactor::ENDLESS, unlimited, unlimited);
    let mut of = |samples: &SamplesView<'_>| -> Vec<Gain> {
        stream.reset();
        samples
            .iter()
            .map(|sample| if observed.1 { sample.unless_empty() } else { sample.if_whole() })
            .map(|sample| match (sample, stream.gain(sample)) {
                (Sample::Row(_) | Sample::Symbol(_), Ok((fit, drift))) => Some([fit, drift]),
                _ => None,
            })
            .collect()
    };
    normal.iter().map(&mut of).collect()
}

/// Sums of the filter over the normal streams.
struct Record<'a> {
    gains: &'a [Vec<Gain>],
    kept: f64,
    means: [f64; 2],
}

impl Record<'_> {
    /// Alarms with these thresholds, the statistics begun anew after each.
    fn alarms(&self, thresholds: [f64; 2]) -> f64 {
        let mut alarms = 0;
        for stream in self.gains {
            let mut statistics = [0.0; 2];
            for gain in stream {
                for (k, statistic) in statistics.iter_mut().enumerate() {
                    let gained = gain.map_or(0.0, |gain| f64::from(gain[k]) - self.means[k]);
                    *statistic = self.kept * *statistic + gained;
                }
                if statistics.iter().zip(thresholds).any(|(s, threshold)| s.abs() > threshold) {
                    alarms += 1;
                    statistics = [0.0; 2];
                }
            }
        }
        f64::from(alarms)
    }

    /// Least threshold at which a statistic alone gives at most `wanted` alarms.
    fn threshold(&self, k: usize, wanted: f64) -> f64 {
        let alarms = |threshold: f64| {
            let mut thresholds = [f64::INFINITY; 2];
            thresholds[k] = threshold;
            self.alarms(thresholds)
        };
        let mut high = 1.0;
        while alarms(high) > wanted {
            high *= 2.0;
        }
        bisect(0.0, high, |threshold| alarms(threshold) > wanted)
    }

    /// Factor for both thresholds with which they give `wanted` alarms together.
    fn scale(&self, alone: [f64; 2], wanted: f64) -> f64 {
        bisect(0.5, 1.5, |scale| self.alarms(alone.map(|threshold| scale * threshold)) > wanted)
    }
}

/// Point where a condition that holds at first fails, approached from above.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..30 {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
