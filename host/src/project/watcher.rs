//! Models that watch a stream and report what they find, as a project has them.

use fishweir_core::classify::Statistic;

use super::board::ProjectBoard;
use super::sample_form::SampleForm;
use crate::classifier::Observations;
use crate::data::internals::in_one_line;
use crate::data::{Samples, SamplesView};
use crate::deploy::{Detector, Found, Spotter};

/// Kind of a watcher, and with it its application on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatcherKind {
    /// Events of classes in a stream.
    Spotter,
    /// Changes of a stream.
    Detector,
    /// Classes of records of categories.
    RecordClassifier,
    /// Changes of records of categories.
    RecordAlarm,
}

/// A model that watches a stream and reports what it finds, with the samples of its self-test.
#[derive(Clone, Debug)]
pub struct Watcher {
    /// Kind of the model.
    pub kind: WatcherKind,
    /// Rust source of the model: `src/model.rs`.
    pub source: String,
    /// The observations, in one line.
    pub observed: String,
    /// Description of what it finds: `events of door, bell`.
    pub finds: String,
    /// Names of what it finds, as its program reports them: classes, kinds of alarms, or columns.
    pub names: Vec<String>,
    /// Rust's name of the type of a sample.
    pub sample: String,
    /// Bytes in flash of a sample, of the model, and bytes of a stream's state.
    pub bytes: [usize; 3],
    /// Bytes of a row of numbers along all directions, one per state.
    pub row_bytes: usize,
    /// Streams of the self-test.
    pub recordings: Vec<WatchedRecording>,
    /// `true` if they are noise, for want of recordings.
    pub noise: bool,
}

/// Bits of a finding: class or kind, two places, value.
pub type FindingBits = [u32; 4];

/// A stream of a self-test, and what the host finds in it.
#[derive(Clone, Debug, Default)]
pub struct WatchedRecording {
    /// Each sample as the text of an optional value of Rust.
    pub samples: Vec<String>,
    /// Findings: samples so far, and bits. What the end of the stream leaves stands last.
    pub findings: Vec<(usize, FindingBits)>,
    /// Bits of the reading after the last sample.
    pub reading: [u32; 2],
}

/// Recordings of a self-test, and samples of each, at the most: the start of a program is not to take long.
const MOST: usize = 4;
const LONGEST: usize = 512;
/// Samples of noise in place of a recording.
const NOISE: usize = 64;

impl WatcherKind {
    /// The application's name: that of a module of `fishweir_device::applications`.
    #[must_use]
    pub fn application(self) -> &'static str {
        match self {
            Self::Spotter => "spot_events",
            Self::Detector => "detect_change",
            Self::RecordClassifier | Self::RecordAlarm => "events",
        }
    }

    /// Returns whether it watches records of categories.
    #[must_use]
    pub fn is_of_records(self) -> bool {
        matches!(self, Self::RecordClassifier | Self::RecordAlarm)
    }
}

/// What is found in a recording, at which samples, and the last reading.
type Findings = (Vec<(usize, FindingBits)>, [u32; 2]);

impl Watcher {
    /// The most samples of the self-tests on a board, for samples of `bytes` bytes.
    #[must_use]
    pub fn most_samples(board: &ProjectBoard, bytes: usize) -> [usize; MOST] {
        let left = super::self_test::flash_for_recordings(board) / bytes.max(1);
        [(left / MOST).min(LONGEST); MOST]
    }

    /// A spotter, and the events that it finds in recordings.
    #[must_use]
    pub fn of_spotter<'s>(
        spotter: &Spotter,
        board: &ProjectBoard,
        recordings: impl IntoIterator<Item = SamplesView<'s>>,
    ) -> Self {
        let form =
            SampleForm::new(spotter.observations(), spotter.values(), spotter.lacks_some(), None);
        let cost = spotter.cost();
        let find = |samples: &SamplesView<'_>| {
            let mut stream = spotter.stream();
            let bits = |Found { event, decided }: Found| {
                let place = [event.start as u32, event.end as u32];
                (
                    decided as usize,
                    [event.class.into(), place[0], place[1], event.log_odds.to_bits()],
                )
            };
            let mut findings = Vec::new();
            for sample in samples.iter() {
                // A refused sample is missing.
                let _ = stream.push(form.taken(sample));
                findings.extend(stream.decided().into_iter().map(bits));
            }
            findings.extend(stream.undecided().into_iter().map(bits));
            (findings, [samples.len() as u32, stream.forced() as u32])
        };
        let finds = format!("events of {}", names(spotter.classes()));
        let memory = [cost.model_bytes, cost.state_bytes];
        let row_bytes = 4 * spotter.states();
        Self::of(
            (WatcherKind::Spotter, spotter.to_source(), finds, spotter.classes().to_vec()),
            (spotter.observations(), &form),
            (memory, row_bytes),
            (board, recordings),
            &find,
        )
    }

    /// A detector, and the alarms that it raises in recordings.
    #[must_use]
    pub fn of_detector<'s>(
        detector: &Detector,
        board: &ProjectBoard,
        recordings: impl IntoIterator<Item = SamplesView<'s>>,
    ) -> Self {
        let form = SampleForm::new(
            detector.observations(),
            detector.values(),
            detector.lacks_some(),
            None,
        );
        let cost = detector.cost();
        let find = |samples: &SamplesView<'_>| {
            let (mut stream, mut findings) = (detector.stream(), Vec::new());
            for (index, sample) in samples.iter().enumerate() {
                let reading = stream.watch(form.taken(sample));
                let Some(alarm) = reading.alarm else { continue };
                let (sample, kind) = (index as u32 + 1, u32::from(alarm == Statistic::Fit));
                let value = reading.value(alarm).unwrap_or_default();
                findings.push((index + 1, [kind, sample, sample, value.to_bits()]));
            }
            let reading = stream.read();
            (findings, [reading.fit.to_bits(), reading.drift[0].to_bits()])
        };
        let memory = [cost.model_bytes, cost.state_bytes];
        let row_bytes = 8 * detector.states();
        Self::of(
            (
                WatcherKind::Detector,
                detector.to_source(),
                "changes".to_owned(),
                ["change", "unlikely"].map(str::to_owned).to_vec(),
            ),
            (detector.observations(), &form),
            (memory, row_bytes),
            (board, recordings),
            &find,
        )
    }

    /// The first samples of the recordings, or noise, with what is found in them.
    fn of<'s>(
        (kind, source, finds, names): (WatcherKind, String, String, Vec<String>),
        (observations, form): (&Observations, &SampleForm<'_>),
        ([model_bytes, state_bytes], row_bytes): ([usize; 2], usize),
        (board, recordings): (&ProjectBoard, impl IntoIterator<Item = SamplesView<'s>>),
        find: &dyn Fn(&SamplesView<'_>) -> Findings,
    ) -> Self {
        let record = |samples: SamplesView<'_>| {
            let (findings, reading) = find(&samples);
            let samples = samples.iter().map(|sample| form.text(sample)).collect();
            WatchedRecording { samples, findings, reading }
        };
        let whole = recordings.into_iter().filter(|samples| !samples.is_empty());
        let cut =
            |(samples, most): (SamplesView<'s>, usize)| samples.slice(0..samples.len().min(most));
        let most = Self::most_samples(board, form.bytes());
        let mut recordings: Vec<_> = whole.zip(most).map(cut).map(record).collect();
        let noise = recordings.is_empty();
        if noise {
            let drawn = form.noise(NOISE);
            recordings = drawn.iter().map(Samples::view).map(record).collect();
        }
        let observed = match observations {
            Observations::Channels(names) => names.join(", "),
            Observations::Symbols(symbols) => {
                format!("symbols {}, by their number", in_one_line(symbols))
            }
        };
        let (sample, bytes) = (form.type_name(), [form.bytes(), model_bytes, state_bytes]);
        Self { kind, source, observed, finds, names, sample, bytes, row_bytes, recordings, noise }
    }

    /// Samples of the self-test.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.recordings.iter().map(|recording| recording.samples.len()).sum()
    }

    /// Findings of the self-test.
    #[must_use]
    pub fn findings(&self) -> usize {
        self.recordings.iter().map(|recording| recording.findings.len()).sum()
    }
}

/// Names in comments and prose: one line whatever is in a name.
fn names(classes: &[String]) -> String {
    let names: Vec<String> = classes.iter().map(|name| name.escape_debug().to_string()).collect();
    names.join(", ")
}
