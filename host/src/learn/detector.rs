//! A detector from normal series alone: fitted, calibrated and tried on parts that do not overlap.

use super::one_model::{centre_and_scale, size};
use crate::classifier::{Direction, Observations};
use crate::data::{Dataset, Rows, Samples, SamplesView};
use crate::deploy::{Calibration, CalibrationError, Detector};
use crate::fit::{BaumWelch, Fit, FitError, fit};
use crate::runtime::Hmm;

/// What a stream may change to, and the detector looks for beside all that is unlikely.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Nobody knows: the likelihood alone gives alarms.
    Unknown,
    /// A channel has an offset, in its own units: a mount that slips, a sensor that drifts.
    Offset {
        /// Which channel.
        channel: usize,
        /// By how much, in the trial.
        size: f64,
    },
    /// Recordings of what is to be seen.
    Recorded(&'a Dataset),
}

/// How a detector comes about.
#[derive(Clone, Debug)]
pub struct DetectorPlan<'a> {
    /// How the model of normal is fitted.
    pub baum_welch: BaumWelch,
    /// How the limits are set.
    pub calibration: Calibration,
    /// What is looked for.
    pub change: Change<'a>,
}

/// A detector, and what it is worth on series that neither model nor limits have seen.
#[derive(Clone, Debug)]
pub struct DetectorTrial {
    /// The detector.
    pub detector: Detector,
    /// The model of normal.
    pub fit: Fit,
    /// False alarms where the limits were set.
    pub calibrated: FalseAlarms,
    /// False alarms on the unseen parts: what to expect.
    pub unseen: FalseAlarms,
    /// How changes are seen; `None` where nobody knows which.
    pub changes: Option<Delays>,
}

/// Alarms where nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FalseAlarms {
    /// So many.
    pub alarms: usize,
    /// In so many samples.
    pub samples: usize,
}

/// How long changes go unseen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Series that change.
    pub series: usize,
    /// From the change to the first alarm after it, in samples, where there is one; rising.
    pub delays: Vec<usize>,
}

impl Delays {
    /// The delay that half of the changes are seen within, in samples; `None` where half are not seen.
    #[must_use]
    pub fn median(&self) -> Option<usize> {
        self.delays.get(self.series.saturating_sub(1) / 2).copied()
    }
}

/// Why there is no detector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// A model of normal, or of the change, that cannot be fitted.
    #[error("{file}: {error}")]
    Fit {
        /// The data.
        file: String,
        /// Why.
        error: FitError,
    },
    /// The limits.
    #[error("{file}: {error}")]
    Calibration {
        /// The data.
        file: String,
        /// Why.
        error: CalibrationError,
    },
    /// An offset of what has none.
    #[error(
        "{family} has no mean that an offset would move: take gaussian, full-gaussian or mixture, or \
         recordings of the change"
    )]
    Offset {
        /// The family of emissions.
        family: &'static str,
    },
    /// A change to what the model does not observe.
    #[error("{file}: observes {found}, where what is normal is of {wanted}")]
    Other {
        /// The data.
        file: String,
        /// What they observe.
        found: String,
        /// What the normal series do.
        wanted: String,
    },
}

impl DetectorPlan<'_> {
    /// Fits the model on the first third of every series, sets the limits on the second, and tries the
    /// detector on the last. Of recordings of the change the first half of every series says in which
    /// direction it leads, the second tries it; an offset sets in amid the last third.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn carry_out(
        &self,
        normal: &Dataset,
        progress: &(dyn Fn() + Sync),
    ) -> Result<DetectorTrial, TrialError> {
        if let Change::Recorded(changed) = self.change
            && changed.kind() != normal.kind()
        {
            return Err(TrialError::Other {
                file: changed.source().to_owned(),
                found: Observations::from(changed.kind()).to_string(),
                wanted: Observations::from(normal.kind()).to_string(),
            });
        }
        let [first, second, third] = parts(normal);
        let all: Vec<usize> = (0..normal.series().len()).collect();
        let (_, scale) = centre_and_scale(normal, &all);
        let fitted = self
            .baum_welch
            .fit(&first, size(normal), &scale, progress)
            .map_err(|error| TrialError::Fit { file: normal.source().to_owned(), error })?
            .starting_anywhere();
        let model = &fitted.model;
        let detector = self
            .calibration
            .calibrate(
                model,
                &self.direction(model, &scale, progress)?,
                &Observations::from(normal.kind()),
                &second,
            )
            .map_err(|error| TrialError::Calibration { file: normal.source().to_owned(), error })?;
        let changes = match self.change {
            Change::Unknown => None,
            Change::Offset { channel, size } => {
                let moved: Vec<_> =
                    third.iter().map(|samples| with_offset(*samples, channel, size)).collect();
                let begins = |samples: &Samples| samples.view().len() / 2;
                Some(delays(&detector, moved.iter().map(|one| (one.view(), begins(one)))))
            }
            Change::Recorded(changed) => {
                let [_, tried] = parts(changed);
                Some(delays(&detector, tried.into_iter().map(|samples| (samples, 0))))
            }
        };
        let [calibrated, unseen] = [&second, &third].map(|streams| FalseAlarms {
            alarms: detector.alarms(streams),
            samples: streams.iter().map(SamplesView::len).sum(),
        });
        Ok(DetectorTrial { detector, fit: fitted, calibrated, unseen, changes })
    }

    /// The direction of the change.
    fn direction(
        &self,
        model: &Hmm,
        scale: &[f64],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Direction, TrialError> {
        let changed = match self.change {
            Change::Unknown => return Ok(Direction::zero(model)),
            Change::Offset { channel, .. } => {
                let family = model.emission.family().name();
                return Direction::offset(model, channel).ok_or(TrialError::Offset { family });
            }
            Change::Recorded(changed) => changed,
        };
        let [seen, _] = parts(changed);
        // From the model of normal, so that states keep their meaning.
        let moved = fit(&self.baum_welch, model.clone(), &seen, scale, progress)
            .map_err(|error| TrialError::Fit { file: changed.source().to_owned(), error })?
            .starting_anywhere();
        Ok(Direction::towards(model, &moved.model).unwrap_or_else(|| Direction::zero(model)))
    }
}

/// The series with an offset from its middle on.
fn with_offset(samples: SamplesView<'_>, channel: usize, size: f64) -> Samples {
    let Some(rows) = samples.rows() else { return Samples::Symbols(Vec::new()) };
    let mut moved = Rows::new(rows.dimension());
    for (t, row) in rows.iter().enumerate() {
        let mut row = row.map(<[f64]>::to_vec);
        if let Some(row) = row.as_mut().filter(|_| t >= rows.len() / 2) {
            row[channel] += size;
        }
        moved.push(row.as_deref());
    }
    Samples::Channels(moved)
}

/// How long the detector takes to see what sets in at a place of each stream.
fn delays<'a>(
    detector: &Detector,
    streams: impl Iterator<Item = (SamplesView<'a>, usize)>,
) -> Delays {
    let (mut series, mut delays) = (0, Vec::new());
    let mut stream = detector.stream();
    for (samples, begins) in streams {
        series += 1;
        stream.reset();
        // Every sample up to the alarm goes through the stream, those before the change too.
        let alarm = samples
            .iter()
            .enumerate()
            .position(|(t, x)| stream.watch(x).alarm.is_some() && t >= begins);
        delays.extend(alarm.map(|t| t - begins));
    }
    delays.sort_unstable();
    Delays { series, delays }
}

/// Every series in so many parts of one length, in the order of time, `[part][series]`.
fn parts<const P: usize>(data: &Dataset) -> [Vec<SamplesView<'_>>; P] {
    std::array::from_fn(|part| {
        let views = data.series().iter().map(|series| series.samples.view());
        views.map(|all| all.slice(all.len() * part / P..all.len() * (part + 1) / P)).collect()
    })
}
