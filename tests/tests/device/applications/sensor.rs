//! `watch_sensor`: real recordings, through a simulated sensor's registers, over I2C, to decisions.

use std::ops::Range;
use std::os::unix::net::UnixStream;

use fishweir::data::{Dataset, Sample};
use fishweir::deploy::Deployed;
use fishweir::learn::ClassifierKind;
use fishweir_tests::quick::trained;

use super::bridge::{self, Crossing};
use super::simulated::{SimulatedSensor, Trouble};
use super::{Built, PATIENCE, build, recordings};
use crate::on_boards;

/// What the sensor's twelve bits are worth at 8 g.
const G_PER_DIGIT: f32 = 0.004;

fn compiled(data: &Dataset) -> Deployed {
    trained(data, ClassifierKind::Fisher).deploy().expect("fits in f32")
}

/// The accelerations of a series that the models have not seen, in g.
fn unseen(data: &Dataset, samples: usize) -> Vec<[f32; 3]> {
    let rows = data.series()[1].samples.view().rows().expect("channels");
    let axes = |row: Option<&[f64]>| {
        let row = row.expect("none is missing");
        [row[0] as f32, row[1] as f32, row[2] as f32]
    };
    rows.iter().take(samples).map(axes).collect()
}

/// A decision line of the device, checked against the host's stream of what the sensor tells.
struct Host<'a> {
    deployed: &'a Deployed,
    recording: &'a [[f32; 3]],
    /// Samples that never reached the device.
    lost: Range<usize>,
}

impl Host<'_> {
    /// The lines that the device should print after blocks that end at these samples.
    fn decisions(&self, ends: &[usize]) -> Vec<String> {
        let mut stream = self.deployed.stream();
        let mut lines = Vec::new();
        for (t, felt) in self.recording.iter().enumerate() {
            if self.lost.contains(&t) {
                stream.push(Sample::Missing).expect("always possible");
            } else {
                let digits = felt.map(|g| (g / G_PER_DIGIT).round().clamp(-2048.0, 2047.0));
                let row = digits.map(|digits| f64::from(digits * G_PER_DIGIT));
                stream.push(Sample::Row(&row)).expect("possible");
            }
            if ends.contains(&(t + 1)) {
                let decision = stream.decision().expect("in range");
                let class = &self.deployed.classes()[decision.class];
                let margin = decision.margin.to_bits();
                lines.push(format!("decision {} {class} {margin:08x}", t + 1));
            }
        }
        lines
    }
}

fn watch(built: &Built, recording: &[[f32; 3]], troubles: &[Trouble]) -> Crossing {
    let sensor = SimulatedSensor::new(recording.to_vec(), troubles.to_vec());
    let conversation = |serial: &UnixStream| bridge::serve(serial, sensor);
    built.start().talk(PATIENCE, conversation).expect("the device ends well").0
}

fn with<'a>(crossing: &'a Crossing, word: &str) -> Vec<&'a str> {
    crossing.lines.iter().map(String::as_str).filter(|line| line.starts_with(word)).collect()
}

/// After how many samples the device has decided.
fn ends(crossing: &Crossing) -> Vec<usize> {
    let sample = |line: &&str| line.split(' ').nth(1).and_then(|at| at.parse().ok());
    with(crossing, "decision").iter().filter_map(sample).collect()
}

#[test]
fn decisions_over_real_register_traffic_are_the_hosts() {
    let data = recordings(&["ax", "ay", "az"]);
    let (deployed, recording) = (compiled(&data), unseen(&data, 400));
    let source = deployed.to_source();
    on_boards(|board| {
        let crossing = watch(&build(board, "watch_sensor", &source), &recording, &[]);
        let ends = ends(&crossing);
        assert_eq!(ends, (1..=50).map(|block| 8 * block).collect::<Vec<_>>());
        let host = Host { deployed: &deployed, recording: &recording, lost: 0..0 };
        assert_eq!(with(&crossing, "decision"), host.decisions(&ends));
        assert_eq!(crossing.lines.last().map(String::as_str), Some("done 400 0 0 0"));
        // A look takes three transactions (the status, its second register, the FIFO), each sample
        // one, and the last is told that it is over. The first wait is before the set-up.
        let traffic = crossing.traffic;
        assert_eq!((traffic.samples, traffic.polls, traffic.refused), (400, 50, 0));
        assert_eq!(traffic.transactions, SET_UP + 3 * 50 + 400);
        assert_eq!(crossing.waited_ms, 160 * (1 + 50 + 1));
    });
}

/// Transactions that set the sensor up: the identity; nine settings of bits, a read and a write each;
/// two of the FIFO's mode.
const SET_UP: usize = 1 + 9 * 2 + 2;

/// Seconds into the recording, and what must come of it: the faults, and the samples lost.
struct Case {
    trouble: Trouble,
    faults: &'static [&'static str],
    lost: Range<usize>,
}

#[test]
fn a_sensor_in_trouble_is_reported_and_the_stream_recovers() {
    let data = recordings(&["ax", "ay", "az"]);
    let (deployed, recording) = (compiled(&data), unseen(&data, 480));
    let source = deployed.to_source();
    let cases = [
        // Data never become ready. The last block, at 1.12 s, had two samples; a timeout of 0.48 s, a
        // look more, set up anew at 1.76 s.
        Case { trouble: Trouble::Stall(1_000), faults: &["fault 50 stalled"], lost: 50..88 },
        // The same after a loss of power, with the FIFO's two.
        Case { trouble: Trouble::PowerLoss(1_000), faults: &["fault 48 stalled"], lost: 48..80 },
        // Not acknowledged, for less than the FIFO holds.
        Case {
            trouble: Trouble::NoAnswer(900..1_200),
            faults: &["fault 40 no answer"],
            lost: 0..0,
        },
        // And for more: 104 samples have come when the sensor answers again, the last 32 are there.
        Case {
            trouble: Trouble::NoAnswer(900..2_000),
            faults: &["fault 40 no answer", "fault 40 overrun"],
            lost: 40..72,
        },
    ];
    on_boards(|board| {
        let built = build(board, "watch_sensor", &source);
        for Case { trouble, faults, lost } in &cases {
            let crossing = watch(&built, &recording, std::slice::from_ref(trouble));
            assert_eq!(with(&crossing, "fault"), *faults, "{trouble:?}");
            let told: Vec<String> = (!lost.is_empty())
                .then(|| format!("lost {} {}", lost.end, lost.len()))
                .into_iter()
                .collect();
            assert_eq!(with(&crossing, "lost"), told, "{trouble:?}");
            let ends = ends(&crossing);
            assert_eq!(ends.last(), Some(&480), "{trouble:?}: the stream goes on to its end");
            let host = Host { deployed: &deployed, recording: &recording, lost: lost.clone() };
            assert_eq!(with(&crossing, "decision"), host.decisions(&ends), "{trouble:?}");
            let done = format!("done 480 {} 0 {}", lost.len(), faults.len());
            assert_eq!(crossing.lines.last(), Some(&done), "{trouble:?}");
            // A stream in which the lost samples had simply been left out would decide otherwise.
            if !lost.is_empty() {
                let shorter: Vec<[f32; 3]> =
                    [&recording[..lost.start], &recording[lost.end..]].concat();
                let ignorant = Host { deployed: &deployed, recording: &shorter, lost: 0..0 };
                let margin = |line: &str| line.rsplit(' ').next().map(String::from);
                let last = ignorant.decisions(&[shorter.len()]);
                let device = with(&crossing, "decision").last().copied().and_then(margin);
                assert_ne!(device, margin(&last[0]), "{trouble:?}");
            }
        }
    });
}
