//! Requests of the host, and every answer to them.

extern crate std;

use std::pin::pin;
use std::vec::Vec;

use embassy_futures::{block_on, poll_once};
use embedded_io::{ErrorKind, ErrorType};
use fishweir_core::Profile;
use fishweir_core::classify::{
    DiagonalWhitening, KernelMachine, Normalisation, ScoreKernel, StoredScores, StoredSequences,
    StreamClassifier,
};
use fishweir_core::emission::{ChannelQ15, Gaussian, GaussianQ15, Parametrisation};
use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{FixedLength, FixedLengthNorm};
use fishweir_core::number::{Dual, FineQ15, NumberFormat, Q15};
use fishweir_core::wire::{
    Answer, F32, Frame, Info, LONGEST_GAP, Receiver, Request, SampleIndex, SampleKind,
    SampleRequest, Status, U16, VERSION,
};
use zerocopy::{FromBytes, IntoBytes};

use super::*;
use crate::applications::wire::Later;
use crate::classifier::WireSample;
use crate::meter::NoMeter;
use fishweir_core::classify::Classifier;

// Named here, so that the tests do not depend on which model a build was given.
#[allow(unreachable_pub, dead_code)]
mod coins {
    include!("../../../../models/default.rs");
}

/// Simulated line: the bytes that the host sends and gets. After the last byte the stream ends, or fails.
#[derive(Clone, Debug, Default, PartialEq)]
struct Line<'a> {
    sent: &'a [u8],
    received: Vec<u8>,
    /// Reads that fail, before the stream goes on or after its end.
    failures: u32,
}

impl ErrorType for Line<'_> {
    type Error = ErrorKind;
}

impl Read for Line<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        if self.failures > 0 {
            self.failures -= 1;
            return Err(ErrorKind::Other);
        }
        self.sent.read(buffer).map_err(|never| match never {})
    }
}

impl Write for Line<'_> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize, ErrorKind> {
        self.received.extend(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// Classifies over a line; over one that lets others run every conversation is the same.
fn serve<R, const MODELS: usize>(line: &mut Line<'_>, recursion: &R) -> Result<Report, ErrorKind>
where
    R: Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample>,
{
    let mut other = line.clone();
    let report = classify_stream(line, &mut Stream::new(recursion), &NoMeter);
    let (mut later, mut running) = (Later(&mut other), Stream::new(recursion));
    let waited = block_on(classify_stream_async(&mut later, &mut running, &NoMeter));
    assert_eq!((waited, &other), (report, &*line));
    report
}

fn serve_coins(line: &mut Line<'_>) -> Result<Report, ErrorKind> {
    serve(line, &coins::MODEL)
}

/// The answers of any recursion that decides.
fn answers_of<R, const MODELS: usize>(recursion: &R, frames: &[Vec<u8>]) -> Vec<Answer<MODELS>>
where
    R: Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample>,
{
    let sent = frames.concat();
    let mut line = Line { sent: &sent, ..Line::default() };
    serve(&mut line, recursion).expect("the stream ends");
    let read = |record: &Vec<u8>| Answer::read_from_bytes(record).expect("an answer");
    records(&line.received).iter().map(read).collect()
}

/// The records in frames, which are all whole.
fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut receiver, mut buffer) = (Receiver::new(), [0; 256]);
    let mut take = |&byte| {
        let length = receiver.push(byte, &mut buffer)?;
        Some(buffer[..length].to_vec())
    };
    let records = bytes.iter().filter_map(&mut take).collect();
    assert_eq!(receiver.corrupt(), 0);
    records
}

/// Everything that the device sends in answer to these frames, and its report.
fn replies(frames: &[Vec<u8>]) -> (Vec<Vec<u8>>, Report) {
    let sent = frames.concat();
    let mut line = Line { sent: &sent, ..Line::default() };
    let report = serve_coins(&mut line).expect("the stream ends");
    (records(&line.received), report)
}

fn answers(frames: &[Vec<u8>]) -> Vec<Answer<2>> {
    let read = |record: &Vec<u8>| Answer::read_from_bytes(record).expect("an answer");
    replies(frames).0.iter().map(read).collect()
}

const fn at(stream: u8, time: u16) -> SampleIndex {
    SampleIndex { stream, time }
}

fn toss(place: SampleIndex, symbol: u16) -> Vec<u8> {
    let head = place.head(Request::Sample.tag());
    Frame::new(&SampleRequest { head, sample: U16::new(symbol) }).as_bytes().to_vec()
}

fn ask(request: Request, place: SampleIndex) -> Vec<u8> {
    Frame::new(&place.head(request.tag())).as_bytes().to_vec()
}

const HEADS: u16 = 0;
const TAILS: u16 = 1;

#[test]
fn heads_then_tails_is_the_alternating_coin_by_log_five_quarters() {
    let answers = answers(&[toss(at(0, 0), HEADS), toss(at(0, 1), TAILS)]);
    assert_eq!(answers.len(), 2);
    let last = answers[1];
    assert_eq!(last.head.head.sample_index(), at(0, 1));
    assert_eq!(last.head.status, Status::Accepted as u8);
    assert_eq!(last.head.class.get(), 1);
    let near = |x: F32, value: f32| (x.get() - value).abs() < 1e-6;
    assert!(near(last.head.margin, 0.223_143_55));
    assert!(near(last.log_likelihoods[0], -1.386_294_4));
    assert!(near(last.log_likelihoods[1], -1.163_150_8));
}

#[test]
fn a_new_stream_number_is_a_new_stream() {
    let stream = |number| {
        [
            toss(at(number, 0), HEADS),
            ask(Request::Missing, at(number, 1)),
            toss(at(number, 2), TAILS),
        ]
    };
    let fresh = answers(&stream(0));
    let before = [toss(at(0, 0), TAILS), toss(at(0, 1), TAILS)];
    let again = answers(&[before.as_slice(), &stream(1)].concat());
    let numbers = |answer: &Answer<2>| (answer.head.margin, answer.log_likelihoods);
    assert!(fresh.iter().map(numbers).eq(again[2..].iter().map(numbers)));
}

/// A conversation begins anew after a line that ended, or a future that was dropped in the middle of an answer.
#[test]
fn a_new_conversation_is_a_new_stream() {
    let sent = [toss(at(0, 0), HEADS), toss(at(0, 1), TAILS)].concat();
    let mut first = Line { sent: &sent, ..Line::default() };
    serve_coins(&mut first).expect("the stream ends");
    let mut running = Stream::new(&coins::MODEL);
    for polls in [5, 16, 20, 30] {
        let mut broken = Line { sent: &sent, ..Line::default() };
        let mut later = Later(&mut broken);
        let mut future = pin!(classify_stream_async(&mut later, &mut running, &NoMeter));
        for _ in 0..polls {
            assert!(poll_once(future.as_mut()).is_pending());
        }
    }
    let mut again = Line { sent: &sent, ..Line::default() };
    classify_stream(&mut again, &mut running, &NoMeter).expect("the stream ends");
    assert_eq!(again, first);
}

#[test]
fn a_missing_sample_is_answered_and_earns_nothing() {
    let answers = answers(&[toss(at(0, 0), HEADS), ask(Request::Missing, at(0, 1))]);
    assert_eq!(answers[0].log_likelihoods, answers[1].log_likelihoods);
}

#[test]
fn lost_samples_are_missing_samples_and_the_answer_says_so() {
    let missing = |time| ask(Request::Missing, at(0, time));
    let announced =
        [toss(at(0, 0), HEADS), missing(1), missing(2), missing(3), toss(at(0, 4), TAILS)];
    let (announced, lossy) =
        (answers(&announced), answers(&[announced[0].clone(), announced[4].clone()]));
    assert_eq!(lossy.len(), 2);
    assert_eq!(lossy[1].log_likelihoods, announced[4].log_likelihoods);
    assert_eq!(lossy[1].head.margin, announced[4].head.margin);
    assert_eq!(lossy[1].head.lost.get(), 3);
    // Not without them: the coins take turns, and an odd gap is not an even one.
    let closed = answers(&[toss(at(0, 0), HEADS), toss(at(0, 1), TAILS)]);
    assert_ne!(closed[1].log_likelihoods, lossy[1].log_likelihoods);
    // Nor the start of a stream, nor its end.
    let (_, report) = replies(&[toss(at(1, 2), HEADS), ask(Request::Report, at(1, 10))]);
    assert_eq!((report.lost.get(), report.missing.get()), (2 + 7, 2 + 7));
}

#[test]
fn a_long_gap_is_filled_as_far_as_is_promised() {
    let (records, report) = replies(&[toss(at(0, 0), HEADS), toss(at(0, 5001), TAILS)]);
    let answer = Answer::<2>::read_from_bytes(&records[1]).expect("an answer");
    assert_eq!(answer.head.lost.get(), 5000);
    assert_eq!((report.lost.get(), report.missing.get()), (5000, u64::from(LONGEST_GAP)));
}

#[test]
fn a_sample_that_comes_again_is_not_pushed_again() {
    let toss = toss(at(0, 0), HEADS);
    let (records, report) = replies(&[toss.clone(), toss]);
    assert_eq!(records.len(), 1);
    assert_eq!((report.samples.get(), report.repeated.get()), (1, 1));
}

#[test]
fn a_damaged_frame_is_a_lost_sample() {
    let mut damaged = toss(at(0, 1), HEADS);
    damaged[6] ^= 0x10;
    let (records, report) = replies(&[toss(at(0, 0), HEADS), damaged, toss(at(0, 2), TAILS)]);
    assert_eq!(records.len(), 2);
    assert_eq!((report.corrupt.get(), report.lost.get()), (1, 1));
}

#[test]
fn an_unknown_symbol_is_invalid_and_leaves_everything_as_it_was() {
    let answers = answers(&[
        toss(at(0, 0), HEADS),
        toss(at(0, 1), TAILS),
        toss(at(0, 2), 2),
        toss(at(0, 3), 0),
    ]);
    assert_eq!(answers[2].head.status, Status::Invalid as u8);
    assert_eq!(answers[2].log_likelihoods, answers[1].log_likelihoods);
    assert_eq!(answers[2].head.margin, answers[1].head.margin);
    assert_eq!(answers[3].head.status, Status::Accepted as u8);
}

#[test]
fn a_channel_that_integers_do_not_hold_is_refused_by_name() {
    let chain = FineQ15 { weight: Dual { value: Q15::ONE, tangent: [] }, exponent: 0 };
    let channel = ChannelQ15::new(100.0, 20.0, 0).expect("fits");
    let emission = GaussianQ15::<1>::from_parts([channel], 0, [], [[]], [[]], []);
    let hmm = Hmm::new(Chain::from_parts([chain], [[chain]]), [emission]);
    let classifier = StreamClassifier::from_parts([hmm], [[1.0]], [0.0], Normalisation::NONE);
    let values = [90.0, f32::NAN, f32::INFINITY, 32_767.5, -40_000.0, 1e30, 89.6];
    let frames: Vec<_> = (0..)
        .zip(values)
        .map(|(time, value)| {
            let head = at(0, time).head(Request::Sample.tag());
            let sample = [F32::new(value)];
            Frame::new(&SampleRequest { head, sample }).as_bytes().to_vec()
        })
        .collect();
    let answers = answers_of::<_, 1>(&classifier, &frames);
    let statuses = answers.iter().map(|answer| answer.head.status).collect::<Vec<_>>();
    let [invalid, out] = [Status::Invalid as u8, Status::OutOfRange as u8];
    assert_eq!(statuses, [0, invalid, invalid, out, out, out, 0]);
    let log = |answer: &Answer<1>| answer.log_likelihoods[0].get();
    assert!(answers[1..6].iter().all(|answer| log(answer) == log(&answers[0])));
    // 89.6 is 90 to the model.
    assert_eq!(log(&answers[6]), 2.0 * log(&answers[0]));
}

#[test]
fn a_sample_past_the_end_is_told_until_a_new_stream_begins() {
    let hmm = coins::MODEL.models()[1];
    let stored: &[u8] = &[0, 1];
    let kernel = FixedLength::from_parts(&hmm, [stored]);
    let own = FixedLengthNorm::of(&hmm, stored.len());
    let machine =
        KernelMachine::from_parts(StoredSequences::new(kernel, own, [0.0]), [[1.0]], [0.0_f32]);
    let places = [at(0, 0), at(0, 1), at(0, 2), at(0, 3), at(1, 0)];
    let frames: Vec<_> = places.map(|place| toss(place, HEADS)).to_vec();
    let answers = answers_of::<_, 1>(&machine, &frames);
    let statuses = answers.iter().map(|answer| answer.head.status).collect::<Vec<_>>();
    let past = Status::PastEnd as u8;
    assert_eq!(statuses, [0, 0, past, past, 0]);
    assert_eq!(answers[3].log_likelihoods, answers[1].log_likelihoods);
}

#[test]
fn scores_out_of_range_decide_nothing_until_a_new_stream_begins() {
    const ENTRIES: usize = 1 + 1 + 2;
    let emission = Gaussian::<1>::new([0.0], [1.0]).expect("positive");
    let hmm = Hmm::new(Chain::from_parts([1.0], [[1.0]]), [emission]);
    let kernel: StoredScores<_, _, [[_; ENTRIES]; 1]> = StoredScores::from_parts(
        [hmm],
        Parametrisation::SOFTMAX,
        Normalisation::NONE,
        DiagonalWhitening { centre: [0.0; ENTRIES], rate: [1.0; ENTRIES] },
        ScoreKernel::Gaussian { gamma: 1.0 },
        [[0.25; ENTRIES]],
    );
    let machine = KernelMachine::from_parts(kernel, [[1.0]], [0.5_f32]);
    let push = |place: SampleIndex, value| {
        let head = place.head(Request::Sample.tag());
        Frame::new(&SampleRequest { head, sample: [F32::new(value)] }).as_bytes().to_vec()
    };
    let samples = [(at(0, 0), 0.5), (at(0, 1), 1e9), (at(0, 2), 0.5), (at(1, 0), 0.5)];
    let frames = samples.map(|(place, value)| push(place, value));
    let answers = answers_of::<_, 1>(&machine, &frames);
    let statuses = answers.iter().map(|answer| answer.head.status).collect::<Vec<_>>();
    let undecided = Status::Undecided as u8;
    assert_eq!(statuses, [0, undecided, undecided, 0]);
    assert_eq!((answers[1].head.margin.get(), answers[1].log_likelihoods[0].get()), (0.0, 0.0));
    assert_eq!(answers[3].head.margin, answers[0].head.margin);
}

#[test]
fn info_and_report_say_what_runs_and_what_it_did() {
    let (records, report) = replies(&[
        ask(Request::Info, at(77, 77)),
        toss(at(0, 0), HEADS),
        ask(Request::Missing, at(0, 1)),
        toss(at(0, 2), TAILS),
        ask(Request::Report, at(0, 3)),
        ask(Request::Stop, at(0, 3)),
        toss(at(0, 3), HEADS),
    ]);
    assert_eq!(records.len(), 5, "nothing is read after X");
    assert_eq!((report.samples.get(), report.missing.get(), report.lost.get()), (2, 1, 0));
    let info = Info::read_from_bytes(&records[0]).expect("an info");
    assert_eq!((info.head, info.version), (at(0, 0).head(Info::TAG), VERSION));
    assert_eq!(info.sample_kind, SampleKind::Symbol as u8);
    assert_eq!(info.sample_length.get(), 1);
    assert_eq!((info.models.get(), info.classes.get()), (2, 2));
    assert_eq!(info.model_bytes.get() as usize, size_of::<coins::Model>());
    assert_eq!(Profile::from_bytes(info.profile), Some(Profile::of(NumberFormat::F32)));
    assert_eq!(records[4], report.as_bytes());
}

#[test]
fn what_is_no_request_is_a_fault_and_the_next_is_served() {
    let unknown = Frame::new(b"?\0\0\0").as_bytes().to_vec();
    let short = Frame::new(b"S\0\0\0\0").as_bytes().to_vec();
    let long = Frame::new(b"I\0\0\0\0").as_bytes().to_vec();
    let save = ask(Request::Save, at(0, 0));
    let (records, _) = replies(&[unknown, short, long, save, ask(Request::Info, at(0, 0))]);
    let faults = [(1, b'?'), (3, b'S'), (3, b'I'), (1, b'K')];
    for (record, (kind, tag)) in records.iter().zip(faults) {
        assert_eq!(record, &[b'E', 0, 0, 0, kind, tag]);
    }
    assert_eq!(records[4][0], Info::TAG);
}

#[test]
fn a_receiver_that_lost_bytes_goes_on_and_one_that_is_dead_is_given_up() {
    let sent = toss(at(0, 0), HEADS);
    let mut line = Line { sent: &sent, failures: 3, ..Line::default() };
    assert_eq!(serve_coins(&mut line).map(|report| report.samples.get()), Ok(1));
    let mut line = Line { sent: &sent, failures: u32::MAX, ..Line::default() };
    assert_eq!(serve_coins(&mut line), Err(ErrorKind::Other));
    assert_eq!(records(&line.received), [b"E\0\0\0\x02\0"]);
}
