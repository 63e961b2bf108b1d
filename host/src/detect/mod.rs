//! A detector from normal series alone: fitted, calibrated and tried on parts that do not overlap.

use crate::classifier::{Direction, Observations, Provenance};
use crate::data::scale_of;
use crate::data::{Dataset, Rows, RowsView, Samples, SamplesView};
use crate::deploy::{Calibration, CalibrationError, Detector, DetectorModel};
use crate::fit::{BaumWelch, Fit, FitError, fit};
use crate::runtime::Hmm;

/// Change that the detector looks for, besides any unlikely sample.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Nobody knows: the likelihood alone gives alarms.
    Unknown,
    /// A channel has an offset, in its own units: a mount that slips, a sensor that drifts.
    Offset {
        /// Index of the channel.
        channel: usize,
        /// Size of the change in the trial.
        size: f64,
    },
    /// Recordings of the change. Full Gaussians look along the change of their means alone.
    Recorded(&'a Dataset),
}

/// Plan of a detector.
#[derive(Clone, Debug)]
pub struct DetectorPlan<'a> {
    /// Fit of the model of normal series.
    pub baum_welch: BaumWelch,
    /// Calibration of the limits.
    pub calibration: Calibration,
    /// Change to look for.
    pub change: Change<'a>,
}

/// A detector, and its results on series that neither model nor limits have seen.
#[derive(Clone, Debug)]
pub struct DetectorTrial {
    /// The detector.
    pub detector: Detector,
    /// Parts of the detector, as stored in its file.
    pub model: DetectorModel,
    /// The model of normal.
    pub fit: Fit,
    /// False alarms where the limits were set.
    pub calibrated: FalseAlarms,
    /// False alarms on the unseen parts, which estimate those to expect.
    pub unseen: FalseAlarms,
    /// Delays of changes, and alarms without a change over as many samples; `None` if it is unknown which samples are normal.
    pub changes: Option<Changes>,
}

/// Delays of a detector, with and without changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Delays on series that change.
    pub changed: Delays,
    /// Delays on series that do not, cut alike: those of chance.
    pub unchanged: Delays,
}

/// Alarms where nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FalseAlarms {
    /// Number of alarms.
    pub alarms: usize,
    /// Number of samples.
    pub samples: usize,
}

/// Detection delays of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Series that change.
    pub series: usize,
    /// Samples from the first changed one to that of the first alarm, both counted, where there is one;
    /// rising.
    pub samples: Vec<usize>,
}

impl Delays {
    /// The delay that half of the changes are seen within, in samples; `None` where half are not seen.
    pub fn median(&self) -> Option<usize> {
        self.samples.get(self.series.saturating_sub(1) / 2).copied()
    }
}

/// Reason why there is no detector.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum DetectorError {
    /// A model of normal, or of the change, that cannot be fitted.
    #[error("{file}: {error}")]
    Fit {
        /// The data.
        file: String,
        /// Reason.
        error: FitError,
    },
    /// The limits.
    #[error("{file}, the middle third of every series: {error}")]
    Calibration {
        /// The data.
        file: String,
        /// Reason.
        error: CalibrationError,
    },
    /// An offset in a family without a mean.
    #[error(
        "{family} emissions have no mean to shift: take gaussian, full-gaussian or mixture, or give recordings of \
         the change"
    )]
    #[strum(serialize = "no-mean")]
    Offset {
        /// The family of emissions.
        family: &'static str,
    },
    /// A channel that is not there.
    #[error("{file}: there is no channel {channel} for an offset")]
    #[strum(serialize = "unknown-channel")]
    Channel {
        /// The data.
        file: String,
        /// Index of the channel.
        channel: usize,
    },
    /// A change in data of another kind than the model's.
    #[error("{file}: has {found}, and the normal data have {wanted}")]
    #[strum(serialize = "wrong-observations")]
    Other {
        /// The data.
        file: String,
        /// Observations of the series.
        found: String,
        /// Observations of the normal series.
        wanted: String,
    },
}

crate::kinds!(DetectorError,
    Self::Fit { error, .. } => error,
    Self::Calibration { error, .. } => error,
);

impl DetectorPlan<'_> {
    /// Fits the model on the first third of every series, sets the limits on the second, and tries the
    /// detector on the last. Of recordings of the change the first half of every series says in which
    /// direction it leads, the second tries it; an offset sets in amid the last third.
    ///
    /// Cost: a fit on a third of the samples, one on half of those of a recorded change, and some five passes
    /// of the filter. RAM: as of the fit.
    ///
    /// # Errors
    /// [`DetectorError`].
    pub fn carry_out(
        &self,
        normal: &Dataset,
        progress: &(dyn Fn() + Sync),
    ) -> Result<DetectorTrial, DetectorError> {
        let observations = Observations::from(normal.kind());
        let file = || normal.source().to_owned();
        match self.change {
            Change::Recorded(changed) if changed.kind() != normal.kind() => {
                return Err(DetectorError::Other {
                    file: changed.source().to_owned(),
                    found: Observations::from(changed.kind()).to_string(),
                    wanted: observations.to_string(),
                });
            }
            Change::Offset { channel, .. } if channel >= observations.size() => {
                return Err(DetectorError::Channel { file: file(), channel });
            }
            _ => {}
        }
        let mut baum_welch = self.baum_welch.clone();
        // Though thirds of strings of one length have one length too.
        baum_welch.topology = baum_welch.topology.without_positions();
        let [first, second, third] = parts(normal);
        let scale = scale_of(normal.kind(), &first);
        let fitted = baum_welch
            .fit(&first, normal.kind().size(), &scale, progress)
            .map_err(|error| DetectorError::Fit { file: file(), error })?
            .starting_anywhere();
        let direction = self.direction(&baum_welch, &fitted.model, &scale, progress)?;
        let all: Vec<usize> = (0..normal.series().len()).collect();
        let provenance = Provenance::of(normal, &all);
        // A channel may be missing if it is in any part of the recordings.
        let in_part = provenance.contract_in_part().lacks_some();
        let detector = self
            .calibration
            .calibrate_for((&observations, in_part), &fitted.model, &direction, &second)
            .map_err(|error| DetectorError::Calibration { file: file(), error })?;
        let false_alarms = |streams: &[SamplesView<'_>]| FalseAlarms {
            alarms: detector.alarms(streams),
            samples: streams.iter().map(SamplesView::len).sum(),
        };
        let (calibrated, unseen) = (false_alarms(&second), false_alarms(&third));
        let changes = self.changes(&detector, &third);
        let notes = detector.notes().to_vec();
        let model = DetectorModel {
            observations,
            normal: fitted.model.clone(),
            direction,
            memory: self.calibration.memory,
            fit: detector.fit().into(),
            drift: detector.drift().into(),
            provenance: Provenance { notes, ..provenance },
        };
        Ok(DetectorTrial { detector, model, fit: fitted, calibrated, unseen, changes })
    }

    /// The direction of the change.
    fn direction(
        &self,
        baum_welch: &BaumWelch,
        model: &Hmm,
        scale: &[f64],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Direction, DetectorError> {
        let family = model.emission.family().name();
        let changed = match self.change {
            Change::Unknown => return Ok(Direction::zero(model)),
            Change::Offset { channel, .. } => {
                return Direction::offset(model, channel).ok_or(DetectorError::Offset { family });
            }
            Change::Recorded(changed) => changed,
        };
        let [seen, _] = parts(changed);
        // From the model of normal, so that states keep their meaning.
        let moved = fit(baum_welch, model.clone(), &seen, scale, progress)
            .map_err(|error| DetectorError::Fit { file: changed.source().to_owned(), error })?
            .starting_anywhere();
        // One model's shapes.
        Ok(Direction::towards(model, &moved.model).unwrap_or_else(|| Direction::zero(model)))
    }

    /// Measures the delays of the detector, with and without changes.
    fn changes(&self, detector: &Detector, normal: &[SamplesView<'_>]) -> Option<Changes> {
        match self.change {
            Change::Unknown => None,
            Change::Offset { channel, size } => {
                let rows = normal.iter().filter_map(SamplesView::rows);
                let moved: Vec<_> = rows.map(|rows| with_offset(rows, channel, size)).collect();
                let middle = |samples: SamplesView<'_>| samples.len() / 2;
                Some(Changes {
                    changed: delays(detector, moved.iter().map(Samples::view), middle),
                    unchanged: delays(detector, normal.iter().copied(), middle),
                })
            }
            Change::Recorded(changed) => {
                let [_, tried] = parts(changed);
                let longest = |all: &[SamplesView<'_>]| all.iter().map(SamplesView::len).max();
                let length = longest(&tried).min(longest(normal)).unwrap_or_default();
                let of = |all: &[SamplesView<'_>]| {
                    let cut = all.iter().map(|one| one.slice(0..one.len().min(length)));
                    delays(detector, cut, |_| 0)
                };
                Some(Changes { changed: of(&tried), unchanged: of(normal) })
            }
        }
    }
}

/// The series with an offset from its middle on.
fn with_offset(rows: RowsView<'_>, channel: usize, size: f64) -> Samples {
    let mut moved = Rows::new(rows.dimension());
    for (t, row) in rows.iter_in_part().enumerate() {
        let mut row = row.map(<[f64]>::to_vec);
        if let Some(row) = row.as_mut().filter(|_| t >= rows.len() / 2) {
            row[channel] += size;
        }
        moved.push(row.as_deref());
    }
    Samples::Channels(moved)
}

/// Measures the delay of a change that sets in at a place of each stream.
fn delays<'a>(
    detector: &Detector,
    streams: impl Iterator<Item = SamplesView<'a>>,
    begins: impl Fn(SamplesView<'a>) -> usize,
) -> Delays {
    let (mut series, mut delays) = (0, Vec::new());
    let mut stream = detector.stream();
    for samples in streams.filter(|samples| !samples.is_empty()) {
        series += 1;
        stream.reset();
        let begins = begins(samples);
        // Every sample up to the alarm goes through the stream, those before the change too.
        let alarm = samples
            .iter()
            .enumerate()
            .position(|(t, x)| stream.watch(x).alarm.is_some() && t >= begins);
        delays.extend(alarm.map(|t| t - begins + 1));
    }
    delays.sort_unstable();
    Delays { series, samples: delays }
}

/// Cuts every series into `P` parts of one length, in the order of time, `[part][series]`.
fn parts<const P: usize>(data: &Dataset) -> [Vec<SamplesView<'_>>; P] {
    std::array::from_fn(|part| {
        let views = data.series().iter().map(|series| series.samples.view());
        views.map(|all| all.slice(all.len() * part / P..all.len() * (part + 1) / P)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind;

    #[test]
    fn the_median_is_of_all_changes_those_unseen_last() {
        let median =
            |series, samples: &[usize]| Delays { series, samples: samples.to_vec() }.median();
        assert_eq!(median(0, &[]), None);
        assert_eq!(median(2, &[7]), Some(7));
        assert_eq!(median(3, &[7]), None);
        assert_eq!(median(4, &[3, 7]), Some(7));
    }

    /// Two regimes, noise that repeats late, and an end that is given.
    fn normal(end: f64) -> Dataset {
        let row = |n: u32, t: u32| {
            let near = f64::from((t + 13 * n) * 7919 % 101) / 50.0 - 1.0;
            [if t >= 400 { end * near } else { near + f64::from(t / 20 % 2) }]
        };
        let series = (0..6).map(|n| ("all", (0..600).map(|t| row(n, t)).collect()));
        Dataset::labelled(Kind::Channels(vec!["x".into()]), series).expect("sound")
    }

    fn plan(change: Change<'_>) -> DetectorPlan<'_> {
        let baum_welch = BaumWelch { states: 2, iterations: 10, ..BaumWelch::default() };
        let calibration = Calibration { memory: 10.0, mean_time: 60.0 };
        DetectorPlan { baum_welch, calibration, change }
    }

    #[test]
    fn an_offset_sets_in_amid_a_series() {
        let samples: Samples = (0..5_u32).map(|t| [f64::from(t), 7.0]).collect();
        let moved = with_offset(samples.view().rows().expect("rows"), 0, 0.5);
        let first = [0.0, 1.0, 2.5, 3.5, 4.5];
        assert_eq!(moved, first.into_iter().map(|x| [x, 7.0]).collect());
    }

    /// A change seen at once has a delay of one sample.
    #[test]
    fn delays_count_the_first_changed_sample_and_that_of_the_alarm() {
        let trial = plan(Change::Offset { channel: 0, size: 1e4 });
        let trial = trial.carry_out(&normal(1.0), &|| ()).expect("made");
        let changed = trial.changes.expect("an offset").changed;
        assert_eq!(changed, Delays { series: 6, samples: vec![1; 6] });
    }

    #[test]
    fn the_last_third_moves_no_number() {
        let of = |end| {
            let trial = plan(Change::Offset { channel: 0, size: 1.0 });
            trial.carry_out(&normal(end), &|| ()).expect("made").detector
        };
        assert_eq!(of(1.0).to_source(), of(50.0).to_source());
    }

    #[test]
    fn what_cannot_be_looked_for_is_named() {
        let data = normal(1.0);
        let refused = |plan: DetectorPlan<'_>| plan.carry_out(&data, &|| ()).expect_err("refused");
        let far = refused(plan(Change::Offset { channel: 1, size: 1.0 }));
        assert!(matches!(far, DetectorError::Channel { channel: 1, .. }), "{far}");
        let symbols = Kind::Symbols(crate::data::Alphabet::dna());
        let other = Dataset::labelled(symbols, [("a", [0_u16, 1].into_iter().collect())]);
        let other = other.expect("sound");
        let error = refused(plan(Change::Recorded(&other)));
        assert!(matches!(error, DetectorError::Other { .. }), "{error}");
    }
}
