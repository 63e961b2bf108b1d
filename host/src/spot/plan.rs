//! A spotter from series that are marked sample by sample, or from clips and a background; how well events are found.

use std::path::Path;

use crate::classifier::{ChannelRange, Observations, Provenance};
use crate::data::{Joined, Mark, Marked, scale_of};
use crate::deploy::{Found, SpottedClass, Spotter, SpotterError, SpotterModel};
use crate::elementary::Elementary;
use crate::fit::{BaumWelch, FitError};
use crate::runtime::Hmm;

/// Plan of a spotter.
#[derive(Clone, Debug)]
pub struct SpotPlan {
    /// Fit of the models of classes; the background's has at most four states.
    pub baum_welch: BaumWelch,
    /// Largest number of samples between the end of an event and its decision.
    pub lag: u32,
    /// The least overlap, as intersection over union, at which an event of the right class counts as found.
    pub overlap: f64,
    /// Penalties on entering an event, in nats, of which the best is taken.
    pub penalties: Vec<f64>,
}

impl Default for SpotPlan {
    fn default() -> Self {
        Self {
            baum_welch: BaumWelch::default(),
            lag: 500,
            overlap: 0.5,
            penalties: vec![0.0, 5.0, 10.0, 20.0, 40.0, 60.0],
        }
    }
}

/// Results of finding events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpotFigures {
    /// Events that there are.
    pub events: usize,
    /// Events that were reported.
    pub reported: usize,
    /// Samples from the end of each event that was found to its decision, rising; negative before it.
    pub delays: Vec<i64>,
}

impl SpotFigures {
    /// Events that were found.
    pub fn found(&self) -> usize {
        self.delays.len()
    }

    /// Precision: the share of the reported events that are right; 1 if none was reported.
    pub fn precision(&self) -> f64 {
        part(self.found(), self.reported)
    }

    /// Recall: the share of the events that were found; 1 without events.
    pub fn recall(&self) -> f64 {
        part(self.found(), self.events)
    }

    /// The harmonic mean of precision and recall; 1 where nothing is to be found and nothing was.
    pub fn f1(&self) -> f64 {
        part(2 * self.found(), self.events + self.reported)
    }

    /// The median delay of the events found.
    pub fn median_delay(&self) -> Option<i64> {
        self.delays.get(self.delays.len().saturating_sub(1) / 2).copied()
    }

    /// Adds the figures of other series.
    pub fn pool(&mut self, other: &Self) {
        self.events += other.events;
        self.reported += other.reported;
        self.delays.extend_from_slice(&other.delays);
        self.delays.sort_unstable();
    }

    /// Adds a series: an event is found by at most one report, of its class and overlapping it by at least
    /// `overlap`, the most overlapping of those that are left.
    pub fn add(&mut self, marks: &[Mark], found: &[Found], overlap: f64) {
        let mut left: Vec<&Found> = found.iter().collect();
        for mark in marks {
            let shared = |one: &Found| {
                if usize::from(one.event.class) == mark.class { overlap_of(mark, one) } else { 0.0 }
            };
            let best = (0..left.len()).max_by(|&a, &b| shared(left[a]).total_cmp(&shared(left[b])));
            if let Some(best) = best.filter(|&best| shared(left[best]) >= overlap) {
                let decided = left.remove(best).decided;
                self.delays.push(decided as i64 - mark.samples.end as i64);
            }
        }
        self.delays.sort_unstable();
        self.events += marks.len();
        self.reported += found.len();
    }
}

fn part(of: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { of as f64 / all as f64 }
}

/// Intersection over union.
fn overlap_of(mark: &Mark, found: &Found) -> f64 {
    let (start, end) = (found.event.start as usize, found.event.end as usize);
    let shared = end.min(mark.samples.end).saturating_sub(start.max(mark.samples.start));
    part(shared, mark.samples.len() + end.saturating_sub(start) - shared)
}

/// A spotter and how its penalty was chosen.
#[derive(Clone, Debug)]
pub struct SpotTrial {
    /// Fitted model, with its penalty.
    pub model: SpotterModel,
    /// Spotter in the numbers of a device.
    pub spotter: Spotter,
    /// The penalty taken, in nats.
    pub penalty: f64,
    /// The figures with every penalty, where it was chosen.
    pub tried: Vec<(f64, SpotFigures)>,
    /// Folds that the penalty was chosen on; one where models had seen the only series.
    pub folds: usize,
}

/// Reason why there is no spotter.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum SpottingError {
    /// A model that cannot be fitted.
    #[error("{file}: {what}: {error}")]
    Fit {
        /// The data.
        file: String,
        /// Name of the model.
        what: String,
        /// Reason.
        error: FitError,
    },
    /// Every sample is marked.
    #[error(
        "{0}: every sample is marked, so there is no background: leave samples unmarked, or name the mark of the \
         background"
    )]
    #[strum(serialize = "no-background")]
    NoBackground(String),
    /// Models that cannot be joined.
    #[error(transparent)]
    Join(#[from] SpotterError),
    /// A setting out of range.
    #[error("{setting}: it must be {wanted}")]
    #[strum(serialize = "bad-setting")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Valid range.
        wanted: &'static str,
    },
}

crate::kinds!(SpottingError,
    Self::Fit { error, .. } => error,
    Self::Join(error) => error,
);

/// A background and classes with what is known of how often they come, before any penalty.
struct Models {
    /// Channel ranges, with the channels that were missing in some sample.
    channels: Vec<ChannelRange>,
    background: Hmm,
    classes: Vec<SpottedClass>,
}

/// Most states of the background's model.
const BACKGROUND_STATES: usize = crate::deploy::BACKGROUND_STATES;

impl SpotPlan {
    /// Checks what is no setting of a fit.
    ///
    /// # Errors
    /// [`SpottingError::Setting`].
    pub fn validate(&self) -> Result<(), SpottingError> {
        let setting = |setting, wanted| Err(SpottingError::Setting { setting, wanted });
        if !(self.overlap > 0.0 && self.overlap <= 1.0) {
            return setting("overlap", "above 0 and at most 1");
        }
        if self.penalties.is_empty() || self.penalties.iter().any(|p| !(0.0..=60.0).contains(p)) {
            return setting("penalties", "between 0 and 60 nats");
        }
        Ok(())
    }

    /// Fits a model to each class's events and one to what lies between them. A class is entered as often a
    /// sample of background as the marks say, less the penalty, and left after as many samples as its
    /// events last on average. The penalty is that of the best F1 on series that the models have not
    /// seen, in three folds or as many as there are series; of equals the smaller one.
    ///
    /// Cost: a fit of every model per fold and one more, and a pass of the network a penalty.
    ///
    /// # Errors
    /// [`SpottingError`].
    pub fn carry_out(
        &self,
        marked: &Marked,
        progress: &(dyn Fn() + Sync),
    ) -> Result<SpotTrial, SpottingError> {
        let series = marked.data().series().len();
        let folds = series.min(3);
        let fold_of: Vec<usize> = (0..series).map(|one| one % folds).collect();
        let chosen = match folds {
            1 => "series on which the models were trained".to_owned(),
            folds => format!("{folds} folds of series"),
        };
        self.choose(marked, &fold_of, folds, &chosen, progress)
    }

    /// Fits a spotter to clips and a background that are [joined](Joined).
    ///
    /// No fold is judged on clips or stretches of background that it was fitted to. Events are expected as often as in the joined
    /// series, one per clip in all of the background, less the penalty.
    ///
    /// # Errors
    /// [`SpottingError`].
    pub fn carry_out_on_clips(
        &self,
        joined: &Joined,
        progress: &(dyn Fn() + Sync),
    ) -> Result<SpotTrial, SpottingError> {
        let (marked, folds) = (joined.marked(), joined.folds());
        let chosen = format!("{folds} folds of clips and background");
        let mut trial = self.choose(marked, joined.fold_of(), folds, &chosen, progress)?;
        let files = marked.data().source().split(", ").map(|file| {
            Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
        });
        trial.model.provenance.data = files.collect::<Vec<_>>().join(", ");
        trial.model.provenance.series = joined.recordings();
        Ok(trial)
    }

    /// Models of all series, with the penalty that is best where folds judge those that they have not seen.
    fn choose(
        &self,
        marked: &Marked,
        fold_of: &[usize],
        folds: usize,
        chosen: &str,
        progress: &(dyn Fn() + Sync),
    ) -> Result<SpotTrial, SpottingError> {
        self.validate()?;
        let all: Vec<usize> = (0..fold_of.len()).collect();
        let mut tried: Vec<(f64, SpotFigures)> =
            self.penalties.iter().map(|&penalty| (penalty, SpotFigures::default())).collect();
        for fold in 0..folds {
            let (test, train): (Vec<usize>, Vec<usize>) =
                all.iter().partition(|&&series| fold_of[series] == fold);
            let train = if train.is_empty() { &test } else { &train };
            let models = self.fit(marked, train, progress)?;
            for (penalty, figures) in &mut tried {
                let spotter = self.join(marked, &models, *penalty).deploy()?;
                self.judge(&spotter, marked, &test, figures);
            }
        }
        let (mut penalty, mut best) = (0.0, f64::NEG_INFINITY);
        for (one, figures) in &tried {
            if figures.f1() > best {
                (penalty, best) = (*one, figures.f1());
            }
        }
        let mut model = self.join(marked, &self.fit(marked, &all, progress)?, penalty);
        model.provenance = Provenance {
            windows: all.iter().map(|&series| marked.events(series).len()).sum(),
            notes: vec![format!(
                "penalty {penalty} nats on entering an event: F1 {best:.3} on {chosen}"
            )],
            ..Provenance::of(marked.data(), &all)
        };
        let spotter = model.deploy()?;
        Ok(SpotTrial { model, spotter, penalty, tried, folds })
    }

    /// The figures of a spotter on marked series, whose classes are the spotter's.
    pub fn figures(&self, spotter: &Spotter, marked: &Marked) -> SpotFigures {
        let mut figures = SpotFigures::default();
        let all: Vec<usize> = (0..marked.data().series().len()).collect();
        self.judge(spotter, marked, &all, &mut figures);
        figures
    }

    /// The figures of each class on marked series, `[class]`, whose classes are the spotter's. [`figures`](Self::figures) pools
    /// them.
    pub fn figures_by_class(&self, spotter: &Spotter, marked: &Marked) -> Vec<SpotFigures> {
        let mut figures = vec![SpotFigures::default(); marked.classes().len()];
        for (index, series) in marked.data().series().iter().enumerate() {
            let found = spotter.spot(&series.samples.view());
            for (class, figures) in figures.iter_mut().enumerate() {
                let of_class = |one: &&Found| usize::from(one.event.class) == class;
                let found: Vec<Found> = found.iter().filter(of_class).copied().collect();
                let marks = marked.events(index).iter().filter(|mark| mark.class == class);
                figures.add(&marks.cloned().collect::<Vec<_>>(), &found, self.overlap);
            }
        }
        figures
    }

    fn judge(&self, spotter: &Spotter, marked: &Marked, series: &[usize], to: &mut SpotFigures) {
        for &one in series {
            let found = spotter.spot(&marked.data().series()[one].samples.view());
            to.add(marked.events(one), &found, self.overlap);
        }
    }

    fn fit(
        &self,
        marked: &Marked,
        series: &[usize],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Models, SpottingError> {
        let kind = marked.data().kind();
        if marked.stretches(None, series).is_empty() {
            return Err(SpottingError::NoBackground(marked.data().source().to_owned()));
        }
        let views: Vec<_> =
            series.iter().map(|&one| marked.data().series()[one].samples.view()).collect();
        let scale = scale_of(kind, &views);
        let model = |what: &str, class: Option<usize>, states: usize| {
            let mut baum_welch = BaumWelch { states, ..self.baum_welch.clone() };
            baum_welch.topology = baum_welch.topology.without_positions();
            let stretches = marked.stretches(class, series);
            let fit =
                baum_welch.fit(&stretches, kind.size(), &scale, progress).map_err(|error| {
                    let file = marked.data().source().to_owned();
                    SpottingError::Fit { file, what: what.to_owned(), error }
                })?;
            let samples: usize = stretches.iter().map(|one| one.len()).sum();
            Ok::<_, SpottingError>((fit, stretches.len() as f64, samples as f64))
        };
        let states = self.baum_welch.states;
        let (background, _, between) =
            model("the background", None, states.min(BACKGROUND_STATES))?;
        let mut classes = Vec::new();
        for (class, name) in marked.classes().iter().enumerate() {
            let (fit, events, samples) = model(name, Some(class), states)?;
            // Never as often as every sample, however few there are.
            let entry = events / (between + events) / marked.classes().len() as f64;
            let exit = events / (samples + events);
            classes.push(SpottedClass { name: name.clone(), model: fit.model, entry, exit });
        }
        let channels = ChannelRange::all(marked.data(), series);
        Ok(Models { channels, background: background.starting_anywhere().model, classes })
    }

    fn join(&self, marked: &Marked, models: &Models, penalty: f64) -> SpotterModel {
        let mut classes = models.classes.clone();
        classes.iter_mut().for_each(|class| class.entry *= (-penalty).portable_exp());
        SpotterModel {
            observations: Observations::from(marked.data().kind()),
            background: models.background.clone(),
            classes,
            lag: self.lag,
            provenance: Provenance { channels: models.channels.clone(), ..Provenance::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use fishweir_core::spot::Event;

    use super::*;
    use crate::data::{Dataset, ReadOptions};

    #[test]
    fn an_event_is_found_once_and_by_its_class() {
        let mark = |class, samples| Mark { class, samples };
        let found = |class, start, end| Found {
            event: Event { class, start, end, log_odds: 1.0 },
            decided: end + 3,
        };
        let mut figures = SpotFigures::default();
        let marks = [mark(0, 10..20), mark(1, 30..40), mark(0, 50..60)];
        figures.add(&marks, &[found(0, 10, 15), found(0, 16, 20), found(0, 30, 40)], 0.5);
        assert_eq!(figures, SpotFigures { events: 3, reported: 3, delays: vec![-2] });
        assert_eq!((figures.precision(), figures.f1()), (1.0 / 3.0, 1.0 / 3.0));
        assert_eq!(SpotFigures::default().f1(), 1.0);
    }

    /// Noise about zero, with stretches about 3 and about -3.
    #[test]
    fn stretches_of_another_level_are_spotted() {
        let mut text = String::from("series,t,x,mark\n");
        for series in 0..4_u32 {
            for t in 0..300_u32 {
                let noise = f64::from((t * 7919 + series * 104_729) % 101) / 50.0 - 1.0;
                let (level, mark) = match t {
                    60..90 => (3.0, "high"),
                    150..190 => (-3.0, "low"),
                    240..260 => (3.0, "high"),
                    _ => (0.0, ""),
                };
                let _ = writeln!(text, "{series},{t},{},{mark}", level + noise);
            }
        }
        let marked = Marked::parse("m", text.as_bytes(), "mark", None, &ReadOptions::default());
        let marked = marked.expect("sound");
        let baum_welch = BaumWelch { states: 2, iterations: 10, ..BaumWelch::default() };
        let plan = SpotPlan { baum_welch, ..SpotPlan::default() };
        let trial = plan.carry_out(&marked, &|| ()).expect("made");
        assert_eq!(trial.folds, 3);
        let figures = plan.figures(&trial.spotter, &marked);
        assert_eq!((figures.events, figures.reported, figures.found()), (12, 12, 12));
        let series = marked.data().series()[0].samples.view();
        let found = trial.spotter.spot(&series);
        let starts: Vec<_> = found.iter().map(|one| (one.event.class, one.event.start)).collect();
        assert_eq!(starts, [(0, 60), (1, 150), (0, 240)]);
        assert!(found.iter().all(|one| one.event.log_odds > 0.0));
    }

    /// Clips about 3 and about -3, noise about zero as the background: they are found in a stream that neither
    /// is a part of.
    #[test]
    fn clips_and_a_background_teach_what_marked_series_do() {
        let noise = |t: u32| f64::from(t * 7919 % 101) / 50.0 - 1.0;
        let mut text = String::from("series,label,t,x\n");
        for clip in 0..12_u32 {
            let (level, label) = [(3.0, "high"), (-3.0, "low")][clip as usize % 2];
            for t in 0..20 + clip {
                let _ = writeln!(text, "{clip},{label},{t},{}", level + noise(97 * clip + t));
            }
        }
        let mut rest = String::from("t,x\n");
        (0..900).for_each(|t| rest += &format!("{t},{}\n", noise(5_000 + t)));
        let read = |name, text: &str| {
            Dataset::parse(name, text.as_bytes(), &ReadOptions::default()).expect("sound")
        };
        let joined =
            Joined::new(&read("clips", &text), &read("rest", &rest), None, 1).expect("possible");
        let baum_welch = BaumWelch { states: 2, iterations: 10, ..BaumWelch::default() };
        let plan = SpotPlan { baum_welch, ..SpotPlan::default() };
        let trial = plan.carry_out_on_clips(&joined, &|| ()).expect("made");
        assert_eq!(trial.folds, 3);
        assert!(trial.tried.iter().all(|(_, figures)| figures.events == 12));
        let provenance = &trial.model.provenance;
        assert_eq!(
            (&*provenance.data, provenance.series, provenance.windows),
            ("clips, rest", 13, 12)
        );
        assert!(provenance.notes[0].ends_with("on 3 folds of clips and background"));
        let level = |t| match t {
            40..70 => -3.0,
            100..125 => 3.0,
            _ => 0.0,
        };
        let stream = (0..200_u32).map(|t| [level(t) + noise(9_000 + t)]);
        let stream: crate::data::Samples = stream.collect();
        let found = trial.spotter.spot(&stream.view());
        let starts: Vec<_> = found.iter().map(|one| (one.event.class, one.event.start)).collect();
        assert_eq!(starts, [(1, 40), (0, 100)]);
    }
}
