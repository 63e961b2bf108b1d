//! The promise of every application's line: what it loses, doubles or damages costs samples, which are counted, and time
//! stays right. Each application hears a conversation with a byte dropped, doubled, changed or failing at every place, and
//! with several such damages and noise at random places. It must answer as if the frames that were hit had never been sent, or
//! as if nothing had happened: no wrong sample is taken, nothing ends early, and what comes after has its place.

use std::format;
use std::string::String;
use std::vec::Vec;

use embedded_io::ErrorKind;
use fishweir_core::classify::{ChangeDetector, Limit, WindowClassifier};
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::{ForgettingFactor, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;
use fishweir_core::spot::{BACKGROUND, Spotter};
use fishweir_core::wire::{F32, Receiver, Report, Request};
use zerocopy::FromBytes;

use super::wire::{Sent, Wire};
use super::{Form, classify_stream, detect_change, events, spot_events, symbols};
use crate::alarm::Alarm;
use crate::link::ReadErrors;
use crate::meter::NoMeter;

#[allow(unreachable_pub, dead_code)]
mod motion {
    include!("../../../models/motion.rs");
}

#[allow(unreachable_pub, dead_code)]
mod coins {
    include!("../../../models/default.rs");
}

#[allow(unreachable_pub, dead_code)]
mod house {
    include!("../../../models/events.rs");
}

/// Answers of an application, and its counts of damage apart from them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) said: Vec<Vec<u8>>,
    pub(super) lost: u64,
    pub(super) corrupt: u64,
}

type Bytes = Vec<Result<u8, ErrorKind>>;
type Run<'r> = &'r dyn Fn(Wire) -> Outcome;

/// Number of ways in which a line damages a byte: it drops, doubles, fails to read or changes it.
const WAYS: usize = 14;

fn damage(way: usize, byte: u8) -> Bytes {
    match way {
        0 => Bytes::new(),
        1 => std::vec![Ok(byte); 2],
        2 => std::vec![Err(ErrorKind::Other)],
        3 => std::vec![Ok(0)],
        4 => std::vec![Ok(!byte)],
        5 => std::vec![Ok(byte.wrapping_add(1))],
        way => std::vec![Ok(byte ^ 1 << (way - 6))],
    }
}

fn whole(frames: &[Vec<u8>]) -> Bytes {
    frames.concat().into_iter().map(Ok).collect()
}

fn without(frames: &[Vec<u8>], lost: &[usize]) -> Bytes {
    let kept = frames.iter().enumerate().filter(|(index, _)| !lost.contains(index));
    kept.flat_map(|(_, frame)| frame.iter().map(|&byte| Ok(byte))).collect()
}

/// Every damage at every place.
pub(super) fn survives_everywhere(frames: &[Vec<u8>], run: Run<'_>) {
    let undamaged = run(Wire::of(whole(frames)));
    assert_eq!((undamaged.lost, undamaged.corrupt), (0, 0));
    let (mut harmless, mut costly) = (0, 0);
    for (index, frame) in frames.iter().enumerate() {
        let lost = run(Wire::of(without(frames, &[index])));
        for (at, &byte) in frame.iter().enumerate() {
            for way in 0..WAYS {
                let mut sent = whole(&frames[..index]);
                sent.extend(frame[..at].iter().map(|&byte| Ok(byte)));
                sent.extend(damage(way, byte));
                sent.extend(frame[at + 1..].iter().map(|&byte| Ok(byte)));
                sent.extend(whole(&frames[index + 1..]));
                let outcome = run(Wire::of(sent));
                if outcome.said == undamaged.said && outcome.lost == 0 {
                    harmless += 1;
                } else {
                    assert_eq!(outcome.said, lost.said, "frame {index}, byte {at}, way {way}");
                    assert_eq!(outcome.lost, lost.lost, "frame {index}, byte {at}, way {way}");
                    // Its last delimiter may be the end of the transport.
                    assert!(outcome.corrupt > 0 || index + 1 == frames.len());
                    costly += 1;
                }
            }
        }
    }
    // Only delimiters, of which there are two, can be damaged for nothing.
    assert!(costly > harmless, "{costly} and {harmless}");
}

/// A generator of numbers that need not be good (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }
}

/// Up to three damages at random places, among them noise and a row of failing reads.
pub(super) fn survives_at_random(frames: &[Vec<u8>], run: Run<'_>, rounds: usize) {
    let dice = &mut Dice(0x5EED);
    let mut costly = 0;
    for round in 0..rounds {
        let mut hit: Vec<usize> =
            (0..1 + dice.below(3)).map(|_| dice.below(frames.len())).collect();
        hit.sort_unstable();
        hit.dedup();
        let mut sent = Bytes::new();
        for (index, frame) in frames.iter().enumerate() {
            let at = if hit.contains(&index) { dice.below(frame.len()) } else { usize::MAX };
            for (place, &byte) in frame.iter().enumerate() {
                if place != at {
                    sent.push(Ok(byte));
                    continue;
                }
                match dice.below(WAYS + 2) {
                    WAYS => {
                        let noise = 1 + dice.below(40);
                        sent.extend((0..noise).map(|_| Ok(dice.below(256) as u8)));
                        sent.push(Ok(byte));
                    }
                    way if way > WAYS => {
                        let row = 1 + dice.below(ReadErrors::LIMIT as usize);
                        sent.extend((0..row).map(|_| Err(ErrorKind::Other)));
                    }
                    way => sent.extend(damage(way, byte)),
                }
            }
        }
        let outcome = run(Wire::of(sent));
        let possible = (0..1_usize << hit.len()).any(|subset| {
            let lost: Vec<usize> =
                (0..hit.len()).filter(|bit| subset >> bit & 1 == 1).map(|bit| hit[bit]).collect();
            let expected = run(Wire::of(without(frames, &lost)));
            (&outcome.said, outcome.lost) == (&expected.said, expected.lost)
        });
        assert!(possible, "round {round}, frames {hit:?}: {outcome:?}");
        costly += usize::from(outcome.lost > 0);
    }
    assert!(costly > rounds / 3, "{costly} of {rounds}");
}

/// A sample that comes twice is taken once.
pub(super) fn doubles_cost_nothing(frames: &[Vec<u8>], run: Run<'_>) {
    let undamaged = run(Wire::of(whole(frames)));
    for (index, frame) in frames.iter().enumerate() {
        // Delimiter, distance to the first zero, tag.
        if [b'S', b'M', b'E'].contains(&frame[2]) {
            let mut twice = frames.to_vec();
            twice.insert(index, frame.clone());
            assert_eq!(run(Wire::of(whole(&twice))), undamaged, "frame {index}");
        }
    }
}

/// Records of a session, its report without the damage.
pub(super) fn records(line: &Wire) -> Vec<Vec<u8>> {
    let (mut receiver, mut room, mut records) = (Receiver::new(), [0; 256], Vec::new());
    for &byte in line.received() {
        let Some(length) = receiver.push(byte, &mut room) else { continue };
        let mut record = room[..length].to_vec();
        if let Ok(report) = Report::mut_from_bytes(&mut record)
            && report.head.tag == Report::TAG
        {
            (report.repeated, report.corrupt) = (0.into(), 0.into());
        }
        records.push(record);
    }
    assert_eq!(receiver.corrupt(), 0);
    records
}

/// Returns lines, of those of counts only the first `words` words.
fn lines(line: &Wire, words: usize) -> Vec<Vec<u8>> {
    let cut = |line: String| match line.starts_with("counts ") {
        true => line.split(' ').take(words).collect::<Vec<_>>().join(" "),
        false => line,
    };
    line.framed_lines().into_iter().map(|line| cut(line).into_bytes()).collect()
}

fn vector(t: usize) -> [F32; 3] {
    // None of these is another's, shifted by a byte or not.
    [t as f32 * 0.01 + 0.3, 1.0 - t as f32 * 0.03, (t % 7) as f32 - 3.0].map(F32::new)
}

#[test]
fn classify_stream_keeps_time() {
    let run = |mut line: Wire| {
        let windows = WindowClassifier::<_, 1>::endless(&motion::MODEL);
        let mut running = Stream::new(windows);
        let report = classify_stream::classify_stream(&mut line, &mut running, &NoMeter);
        let report = report.expect("it goes on to the end");
        Outcome { said: records(&line), lost: report.lost.get(), corrupt: report.corrupt.get() }
    };
    let mut sent = (0..12).fold(Sent::new().ask(Request::Info), |sent, t| sent.sample(vector(t)));
    sent = sent.missing();
    sent.next = sent.next.next_stream();
    sent = (0..12).fold(sent, |sent, t| sent.sample(vector(t + 50)));
    let sent = sent.ask(Request::Report).ask(Request::Stop);
    survives_everywhere(&sent.frames, &run);
    survives_at_random(&sent.frames, &run, 400);
    doubles_cost_nothing(&sent.frames, &run);
}

type Detector = ChangeDetector<Gaussian<3, Dual<f32, 1>>, 1, 1>;

/// Three channels of unit variance, and a mean that may drift.
fn detector() -> Detector {
    let one = Dual { value: 1.0, tangent: [0.0] };
    let constant = Dual { value: -2.756_815_6, tangent: [0.0] };
    let emission = Gaussian::from_parts([0.0; 3], [1.0; 3], constant, [[1.0]; 3], [[0.0]; 3]);
    ChangeDetector::from_parts(
        Hmm::new(Chain::from_parts([one], [[one]]), [emission]),
        ForgettingFactor::from_one_minus_lambda(1.0 / 64.0),
        Limit { mean: -4.256_815_6, threshold: 40.0 },
        [Limit { mean: 0.0, threshold: 12.0 }],
    )
}

/// Samples, with a request for the statistics after each `every` of them; the one at `missing` is missing.
fn watched(samples: usize, every: usize, missing: Option<usize>) -> Sent {
    let mut sent = Sent::new();
    for t in 0..samples {
        sent = if Some(t) == missing { sent.missing() } else { sent.sample(vector(t)) };
        if t % every == every - 1 {
            sent = sent.ask(Request::Reading);
        }
    }
    sent.ask(Request::Report).ask(Request::Stop)
}

fn detect(mut line: Wire) -> Outcome {
    let detector = detector();
    let report =
        detect_change::detect_change(&mut line, &mut Stream::new(&detector), &mut Alarm::none());
    let losses = report.expect("it goes on to the end").losses;
    Outcome { said: lines(&line, 6), lost: losses.lost, corrupt: losses.corrupt }
}

#[test]
fn detect_change_keeps_time() {
    let sent = watched(24, 3, None);
    survives_everywhere(&sent.frames, &detect);
    survives_at_random(&sent.frames, &detect, 400);
    doubles_cost_nothing(&sent.frames, &detect);
    let alarms = detect(Wire::of(whole(&sent.frames))).said;
    assert!(alarms.iter().any(|line| line.starts_with(b"alarm ")), "{alarms:?}");
    // A frame that is lost is a missing sample in its place: every bit of what follows.
    let mut sample = 0;
    for index in 0..sent.frames.len() {
        if sent.frames[index][2] != b'S' {
            continue;
        }
        let mut lost = detect(Wire::of(without(&sent.frames, &[index])));
        let mut told = detect(Wire::of(whole(&watched(24, 3, Some(sample)).frames)));
        let (last, other) = (lost.said.pop(), told.said.pop());
        assert_eq!(lost.said, told.said, "{sample}");
        let counts =
            |line: Option<Vec<u8>>| String::from_utf8(line.expect("counts")).expect("text");
        assert_eq!(counts(last), format!("{}1", counts(other).trim_end_matches('0')));
        sample += 1;
    }
    assert_eq!(sample, 24);
}

#[test]
fn a_byte_removed_from_a_long_stream_of_three_channels_costs_one_sample_at_most() {
    let sent = watched(150, 150, None);
    let bytes = sent.bytes();
    let undamaged = detect(Wire::of(whole(&sent.frames)));
    let (mut places, mut costly) = (0, 0);
    for at in 0..bytes.len() {
        let mut bytes: Bytes = bytes.iter().map(|&byte| Ok(byte)).collect();
        let _ = bytes.remove(at);
        let outcome = detect(Wire::of(bytes));
        places += 1;
        costly += usize::from(outcome.said != undamaged.said);
        // The last statistics and the counts are of all samples.
        let counts = outcome.said.last().expect("counts").clone();
        let text = String::from_utf8(counts).expect("text");
        if text.starts_with("counts") {
            assert!(text.starts_with(&format!("counts 150 {} 0 ", outcome.lost)), "{at}: {text}");
        }
        assert!(outcome.lost <= 1, "{at}");
    }
    assert!(places > 3_000 && costly > places * 8 / 10, "{costly} of {places}");
}

/// Spotter of up and down on a background, over three channels.
fn spotter() -> Spotter<Gaussian<3>, 3, 1, 4> {
    let constant = -2.756_815_6;
    let about =
        |level: f32| Gaussian::from_parts([0.0, 0.0, level], [1.0; 3], constant, [(); 3], [(); 3]);
    let network = Hmm::new(
        Chain::from_parts([0.9, 0.05, 0.05], [[0.9, 0.05, 0.05], [0.3, 0.7, 0.0], [0.3, 0.0, 0.7]]),
        [about(0.0), about(3.0), about(-3.0)],
    );
    let background = Chain::from_parts([1.0], [[1.0]]);
    Spotter::from_parts(network, background, [BACKGROUND, 0, 1], 8)
}

fn spot(mut line: Wire) -> Outcome {
    let report = spot_events::spot_events(
        &mut line,
        &NoMeter,
        &spotter(),
        &["up", "down"],
        &mut Alarm::none(),
    );
    let losses = report.expect("it goes on to the end").losses;
    Outcome { said: lines(&line, 6), lost: losses.lost, corrupt: losses.corrupt }
}

fn spotted(missing: Option<usize>) -> Sent {
    let mut sent = Sent::new();
    for t in 0..28 {
        // 28 of two streams.
        if t == 14 {
            sent = sent.end();
        }
        sent = if Some(t) == missing { sent.missing() } else { sent.sample(vector(t / 2)) };
    }
    sent.end().ask(Request::Report).ask(Request::Stop)
}

#[test]
fn spot_events_keeps_time() {
    let sent = spotted(None);
    survives_everywhere(&sent.frames, &spot);
    survives_at_random(&sent.frames, &spot, 400);
    doubles_cost_nothing(&sent.frames, &spot);
    let found = spot(Wire::of(whole(&sent.frames))).said;
    let told = |line: &&Vec<u8>| line.starts_with(b"event ") || line.starts_with(b"open ");
    assert!(found.iter().filter(told).count() >= 3, "{found:?}");
    let (mut sample, mut differ) = (0, 0);
    for index in 0..sent.frames.len() {
        if sent.frames[index][2] != b'S' {
            continue;
        }
        let mut lost = spot(Wire::of(without(&sent.frames, &[index])));
        let mut told = spot(Wire::of(whole(&spotted(Some(sample)).frames)));
        differ += usize::from(told.said[..told.said.len() - 1] != found[..found.len() - 1]);
        let (last, other) = (lost.said.pop(), told.said.pop());
        assert_eq!(lost.said, told.said, "{sample}");
        let counts =
            |line: Option<Vec<u8>>| String::from_utf8(line.expect("counts")).expect("text");
        assert_eq!(counts(last), format!("{}1", counts(other).trim_end_matches('0')));
        sample += 1;
    }
    assert!(sample == 28 && differ > 14, "{differ} of {sample}");
}

#[test]
fn symbols_keeps_its_lines() {
    let run = |mut line: Wire| {
        let (alphabet, classes) = (&coins::ALPHABET, &coins::CLASSES);
        let windows = WindowClassifier::<_, 1>::endless(&coins::MODEL);
        let mut running = Stream::new(windows);
        let report = symbols::symbols(&mut line, &mut running, alphabet, classes, Form::Frames);
        let report = report.expect("it goes on to the end");
        Outcome { said: lines(&line, 1), lost: report.damaged.into(), corrupt: report.corrupt }
    };
    let long = "HTTHHHTHHTTTHTHHTHTHHTHHHTTHTHHTHTHTTTHHTHTHHTHHTTT\n";
    let text = format!("HTH\n{long}HHHH\nHx-T\nTTTT\n");
    let sent = Sent::new().text(&text).ask(Request::Stop);
    survives_everywhere(&sent.frames, &run);
    survives_at_random(&sent.frames, &run, 400);
    doubles_cost_nothing(&sent.frames, &run);
}

#[test]
fn events_keeps_its_lines() {
    let run = |mut line: Wire| {
        let names = events::Names {
            columns: &house::COLUMNS,
            states: &house::STATES,
            classes: &house::CLASSES,
        };
        let (mut event, mut field) = ([0; 2], [0; events::longest(&house::STATES)]);
        let mut record = events::Line::new(names, &mut event, &mut field);
        let mut running = Stream::new(&house::MODEL);
        let form = Form::Frames;
        let report = events::events(&mut line, &NoMeter, &mut running, &mut record, form);
        let report = report.expect("it goes on to the end");
        Outcome { said: lines(&line, 1), lost: report.refused.into(), corrupt: report.corrupt }
    };
    let text =
        "open,bright\nshut,off\n  open  ,    \"dim, warm\"                   \nshut,?\n?,off\n";
    let sent = Sent::new().text(text).ask(Request::Stop);
    survives_everywhere(&sent.frames, &run);
    survives_at_random(&sent.frames, &run, 400);
    doubles_cost_nothing(&sent.frames, &run);
}
