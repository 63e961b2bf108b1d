//! A project around a model that watches a stream and reports what it finds.

use std::fmt::Write as _;

use super::alarm::{Alarms, alarms};
use super::base::Base;
use super::line::{Line, host_files};
use super::platform::{Pace, Style};
use super::sensor::Observed;
use super::template::fill;
use super::watcher::{WatchedRecording, Watcher, WatcherKind};
use super::{CoreSource, ProjectBoard, ProjectError, SampleSource, Sensor};
use crate::report::grouped;

/// Parts of a project around a watcher.
#[derive(Debug)]
pub struct WatchProject<'a> {
    /// The package's name: letters, digits, `-` and `_`, a letter first.
    pub name: &'a str,
    /// The board.
    pub board: &'static ProjectBoard,
    /// Tasks on an executor, by embassy, instead of one loop that waits.
    pub tasks: bool,
    /// Source of the samples.
    pub samples: SampleSource,
    /// The model, with its self-test.
    pub watcher: &'a Watcher,
    /// Samples per second.
    pub rate: f64,
    /// Source of the core.
    pub core: CoreSource,
    /// The sensor; without one the recordings stand for it.
    pub sensor: Option<&'a Sensor>,
    /// What raises the alarm, of what the model finds; `any` is for all of it.
    pub alarms: &'a [String],
}

/// Lines of a program that answers a host, by kind of model.
struct Served {
    application: &'static str,
    before: &'static str,
    /// Before each conversation.
    begin: &'static str,
    serve: &'static str,
}

const RECORDS: Served = Served {
    application: "\
use fishweir_device::applications::Form;
use fishweir_device::applications::events::{Line as Record, Names, {{call}}, longest};",
    before: "    \
    let names = Names { columns: &model::COLUMNS, states: &model::STATES, classes: &model::CLASSES };
    let (mut event, mut field) = ([0; model::COLUMNS.len()], [0; longest(&model::STATES)]);
    let mut record = Record::new(names, &mut event, &mut field);
    let mut records = fishweir_core::filter::Stream::new(&model::MODEL);
    let meter = meter::start();
",
    begin: "        records.reset();\n",
    serve: "{{call}}(&mut line, &meter, &mut records, &mut record, Form::Frames)",
};

impl Served {
    fn of(kind: WatcherKind) -> Self {
        match kind {
            WatcherKind::Spotter => Self {
                application: "use fishweir_device::alarm::Alarm;\nuse fishweir_device::applications::spot_events::{{call}};",
                before: "    let meter = meter::start();\n",
                begin: "",
                serve: "{{call}}(&mut line, &meter, &model::MODEL, &model::CLASSES, &mut Alarm::none())",
            },
            WatcherKind::Detector => Self {
                application: "use fishweir_device::alarm::Alarm;\nuse fishweir_device::applications::detect_change::{{call}};",
                before: "    let mut detector = fishweir_core::filter::Stream::new(&model::MODEL);\n",
                begin: "        detector.reset();\n",
                serve: "{{call}}(&mut line, &mut detector, &mut Alarm::none())",
            },
            WatcherKind::RecordClassifier | WatcherKind::RecordAlarm => RECORDS,
        }
    }
}

impl WatcherKind {
    fn stream(self) -> &'static str {
        match self {
            Self::Spotter => include_str!("template/watch/stream_spotter.rs"),
            Self::Detector => include_str!("template/watch/stream_detector.rs"),
            Self::RecordClassifier => include_str!("template/watch/stream_record_classifier.rs"),
            Self::RecordAlarm => include_str!("template/watch/stream_record_alarm.rs"),
        }
    }

    /// Features of the core that the model needs.
    fn features(self) -> &'static str {
        if self == Self::Spotter { ", features = [\"heapless\"]" } else { "" }
    }

    /// The command that writes the model's source, and the one that compares a board's answers.
    fn commands(self) -> [&'static str; 2] {
        match self.is_of_records() {
            true => ["fishweir network export", "fishweir network run DATA --model MODEL"],
            false => ["fishweir export --rust", "fishweir run DATA --model MODEL"],
        }
    }
}

impl WatchProject<'_> {
    /// The project's files: path in the folder, with `/`; contents.
    ///
    /// # Errors
    /// [`ProjectError`]: as for a [`Project`](super::Project).
    pub fn files(&self) -> Result<Vec<(&'static str, String)>, ProjectError> {
        let Self { name, board, tasks, samples, watcher, rate, core, .. } = *self;
        let sensor = self.sensor.filter(|_| samples == SampleSource::Sensor);
        let style = Style::of(tasks, sensor);
        let by_host = samples == SampleSource::Host;
        let (pace, alarm) = (Pace::AtOnce, !self.alarms.is_empty());
        let line = if by_host { Line::Answers } else { Line::None };
        let base = Base { name, board, style, pace, rate, core, alarm, sensor, line };
        base.check()?;
        base.check_source(samples)?;
        let has_any = watcher.kind != WatcherKind::RecordClassifier;
        let alarms = alarms(&watcher.names, self.alarms, has_any)?;
        let values = self.values(&base, &alarms);
        let filled = |template: &str| fill(&base.select(template), &values);
        let report = match board.is_emulated() {
            true => include_str!("template/watch/report_semihosting.rs"),
            false => include_str!("template/watch/report_defmt.rs"),
        };
        let mut files = base.files(if by_host { "pty" } else { "none" });
        files.extend([
            ("Cargo.toml", filled(include_str!("template/manifest.toml"))),
            ("src/board.rs", filled(&board.board_source())),
            ("src/report.rs", filled(report)),
            ("src/self_test.rs", self_test(watcher)),
            ("src/stream.rs", watcher.kind.stream().to_owned()),
            ("src/model.rs", watcher.source.clone()),
        ]);
        files.extend(match samples {
            SampleSource::Host => host_files(board, &filled),
            SampleSource::Sensor => vec![
                ("README.md", filled(include_str!("template/watch/README.md"))),
                ("src/main.rs", filled(include_str!("template/watch/main.rs"))),
            ],
        });
        match sensor {
            Some(sensor) => {
                let observed = Observed { sample: &watcher.sample, places: &[] };
                files.push(("src/sensor.rs", filled(&sensor.next_source(&observed)?)));
                files.extend(sensor.files(board)?);
            }
            None if by_host => {}
            None => files.push(("src/sensor.rs", filled(include_str!("template/sensor.rs")))),
        }
        base.check_values(&files)?;
        Ok(files)
    }

    /// Values of the templates' names.
    fn values(&self, base: &Base<'_>, alarms: &Alarms) -> Vec<(&'static str, String)> {
        let Watcher { kind, finds, observed, bytes, .. } = self.watcher;
        let [_, flash, ram] = bytes.map(grouped);
        let Served { application, before, begin, serve } = Served::of(*kind);
        let call = base.call(kind.application());
        let [export, check] = kind.commands();
        let every = self.rate.round().max(1.0) as u64;
        let mut values = vec![
            ("{{application}}", application.to_owned()),
            ("{{before}}", before.to_owned()),
            ("{{begin}}", begin.to_owned()),
            ("{{serve}}", format!("{serve}{}", base.awaited())),
            ("{{call}}", call),
            (
                "{{task}}",
                format!(
                    "Watches the samples that a host sends over a serial port and reports {finds}"
                ),
            ),
            ("{{checker}}", format!("`{check} --port`")),
            ("{{check}}", check.to_owned()),
            ("{{export}}", export.to_owned()),
            ("{{finds}}", finds.clone()),
            ("{{observed}}", observed.clone()),
            ("{{stream}}", "the model in the middle of a stream, and what it finds".to_owned()),
            ("{{units}}", String::new()),
            ("{{every}}", every.to_string()),
            ("{{flash}}", flash),
            ("{{ram}}", ram),
            ("{{core}}", base.libraries(kind.features())),
            ("{{alarm_names}}", alarms.names.clone()),
            ("{{alarms}}", alarms.texts.clone()),
            ("{{more_packages}}", base.more_packages()),
            ("{{hertz}}", base.hertz()),
        ];
        values.extend(base.names());
        values
    }
}

/// `self_test.rs`.
fn self_test(watcher: &Watcher) -> String {
    let (mut tables, mut streams) = (String::new(), String::from("\n"));
    for (index, recording) in watcher.recordings.iter().enumerate() {
        let WatchedRecording { samples, findings, reading } = recording;
        let rows: String = samples.iter().map(|sample| format!("    {sample},\n")).collect();
        let found: String = findings
            .iter()
            .map(|(sample, [kind, start, end, value])| {
                format!("    ({sample}, [{kind}, {start}, {end}, {value:#010x}]),\n")
            })
            .collect();
        let (length, count) = (samples.len(), findings.len());
        let _ = write!(
            tables,
            "\n#[rustfmt::skip]\nstatic SAMPLES_{index}: [Option<Sample>; {length}] = [\n{rows}];\n\n\
             #[rustfmt::skip]\nstatic FINDINGS_{index}: [(usize, Bits); {count}] = [\n{found}];\n"
        );
        let [first, second] = reading;
        let _ = writeln!(
            streams,
            "    Recording {{ label: None, samples: &SAMPLES_{index}, findings: &FINDINGS_{index}, \
             reading: [{first:#010x}, {second:#010x}] }},"
        );
    }
    let values = [
        ("{{sample}}", watcher.sample.clone()),
        ("{{streams}}", streams),
        ("{{count}}", watcher.recordings.len().to_string()),
    ];
    fill(include_str!("template/watch/self_test.rs"), &values) + &tables
}
