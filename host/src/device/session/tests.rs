//! A scripted device: frames prepared beforehand, whatever the questions.

use std::cell::Cell;
use std::io::Cursor;

use fishweir_core::number::NumberFormat;
use fishweir_core::wire::{self, DELIMITER, Frame, Receiver};

use super::*;

fn framed<T: FromBytes + IntoBytes + zerocopy::Immutable + zerocopy::Unaligned>(
    record: &T,
) -> Vec<u8> {
    Frame::new(record).as_bytes().to_vec()
}

/// The device is in the middle of stream 3; the host begins the next.
const DEVICE: SampleIndex = SampleIndex { stream: 3, time: 500 };

fn info(version: u8, kind: SampleKind) -> Vec<u8> {
    framed(&Info {
        head: DEVICE.head(Info::TAG),
        version,
        sample_kind: kind as u8,
        sample_length: 2.into(),
        models: 2.into(),
        classes: 3.into(),
        model_bytes: 100.into(),
        state_bytes: 10.into(),
        ticks_per_second: 25_000_000.into(),
        profile: Profile::of(NumberFormat::F32).to_bytes(),
    })
}

fn answer(stream: u8, time: u16, status: u8, margin: f32) -> Vec<u8> {
    framed(&wire::Answer::<2> {
        head: AnswerHead {
            head: SampleIndex { stream, time }.head(AnswerHead::TAG),
            status,
            decided: 1,
            lost: 0.into(),
            class: 2.into(),
            margin: margin.into(),
        },
        log_likelihoods: [(-1.5).into(), 7.0.into()],
    })
}

fn report() -> Vec<u8> {
    framed(&Report { samples: 1.into(), sample_ticks: 50.into(), ..Report::EMPTY })
}

/// The records of frames, all whole.
fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut receiver, mut buffer) = (Receiver::new(), [0; 256]);
    let mut records = Vec::new();
    for &byte in bytes {
        if let Some(length) = receiver.push(byte, &mut buffer) {
            records.push(buffer[..length].to_vec());
        }
    }
    assert_eq!(receiver.corrupt(), 0);
    records
}

fn ask(script: &[Vec<u8>], inputs: &[Input<'_>]) -> (Result<Outcome, DeviceError>, Vec<u8>) {
    let mut sent = Vec::new();
    let outcome = converse(
        Cursor::new(script.concat()),
        &mut sent,
        || (),
        inputs.iter().copied(),
        &Options::default(),
        |_| (),
    );
    (outcome, sent)
}

fn refusal(script: &[Vec<u8>], inputs: &[Input<'_>]) -> DeviceError {
    ask(script, inputs).0.expect_err("must be refused")
}

const HELLO: u8 = VERSION;

#[test]
fn inputs_go_out_in_order_and_answers_come_back_in_order() {
    let seen = Cell::new(0);
    let script = [
        info(HELLO, SampleKind::Vector),
        answer(4, 0, 0, 2.5),
        answer(5, 0, 1, 0.5),
        framed(&Saved { head: DEVICE.head(Saved::TAG), number: 6.into() }),
        report(),
    ];
    let mut sent = Vec::new();
    let inputs = [Input::Vector(&[1.0, -2.0]), Input::Reset, Input::Missing, Input::Save];
    let outcome = converse(
        Cursor::new(script.concat()),
        &mut sent,
        || (),
        inputs,
        &Options::default(),
        |answers| seen.set(answers),
    )
    .expect("a whole conversation");
    let expected: [&[u8]; 6] = [
        b"I\0\0\0",
        b"S\x04\0\0\0\0\x80\x3F\0\0\0\xC0",
        b"M\x05\0\0",
        b"K\x05\x01\0",
        b"Q\x05\x01\0",
        b"X\x05\x01\0",
    ];
    assert_eq!(records(&sent), expected);
    assert_eq!(seen.get(), 2);
    assert_eq!(outcome.info.ticks_per_second, Some(25_000_000));
    let answers: Vec<_> = outcome.answers.iter().flatten().collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0].status, Status::Accepted);
    assert_eq!(answers[0].class, 2);
    assert_eq!(answers[0].margin(), 2.5);
    assert_eq!(answers[1].status, Status::Impossible);
    assert_eq!(answers[1].log_likelihood_bits[..], [(-1.5f32).to_bits(), 7.0f32.to_bits()]);
    assert_eq!(outcome.saved, [6]);
    assert_eq!(outcome.report.sample_ticks, 50);
    assert_eq!(outcome.report.stack_bytes, None);
}

#[test]
fn answers_that_do_not_come_are_known_by_their_place_and_doubled_ones_count_once() {
    let mut damaged = answer(4, 1, 0, 0.0);
    damaged[9] ^= 1;
    let script = [
        vec![0x55, 0xAA, DELIMITER, 7, 7],
        info(HELLO, SampleKind::Vector),
        info(HELLO, SampleKind::Vector),
        damaged,
        answer(4, 2, 0, 1.0),
        answer(4, 2, 0, 1.0),
        answer(5, 1, 0, 2.0),
        report(),
    ];
    let missing = Input::Missing;
    let inputs = [missing, missing, missing, missing, Input::Reset, missing, missing, missing];
    let outcome = ask(&script, &inputs).0.expect("a whole conversation");
    let margins: Vec<_> =
        outcome.answers.iter().map(|answer| answer.as_ref().map(Answer::margin)).collect();
    assert_eq!(margins, [None, None, Some(1.0), None, None, Some(2.0), None]);
    // Two fragments before the first frame, and the damaged answer.
    assert_eq!(outcome.corrupt, 3);
}

/// Silent now and then: where there is nothing to read, for a while.
struct Hesitant(Vec<Option<Vec<u8>>>, std::time::Duration);

impl Read for Hesitant {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.pop() {
            Some(Some(bytes)) => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                Ok(bytes.len())
            }
            Some(None) => {
                // Time for the sender to get done.
                thread::sleep(self.1);
                Err(std::io::ErrorKind::WouldBlock.into())
            }
            None => Ok(0),
        }
    }
}

#[test]
fn a_slow_device_does_not_drown_in_questions() {
    let mut script = vec![info(HELLO, SampleKind::Vector)];
    script.extend((0..10).map(|time| answer(4, time, 0, 0.0)));
    script.push(report());
    let mut script: Vec<_> = script
        .into_iter()
        .flat_map(|record| [vec![None; 6], vec![Some(record)]].concat())
        .collect();
    script.reverse();
    let mut sent = Vec::new();
    let reader = Hesitant(script, std::time::Duration::from_millis(5));
    let inputs = [Input::Missing; 10];
    let outcome = converse(reader, &mut sent, || (), inputs, &Options::default(), |_| ())
        .expect("a whole conversation");
    assert!(outcome.answers.iter().all(Option::is_some));
    let sent = records(&sent);
    // It was silent six times before each of its twelve records.
    for request in [Request::Info, Request::Report] {
        let asked = sent.iter().filter(|record| record[0] == request.tag()).count();
        assert!((2..=8).contains(&asked), "{request:?} {asked} times");
    }
}

#[test]
fn questions_are_asked_again_when_nothing_comes() {
    let mut script = vec![
        None,
        Some(info(HELLO, SampleKind::Vector)),
        Some(answer(4, 0, 0, 0.0)),
        None,
        None,
        None,
        None,
        Some(report()),
        None,
    ];
    script.reverse();
    let mut sent = Vec::new();
    let inputs = [Input::Missing].into_iter();
    let reader = Hesitant(script, std::time::Duration::from_millis(50));
    converse(reader, &mut sent, || (), inputs, &Options::default(), |_| ())
        .expect("a whole conversation");
    let sent = records(&sent);
    let count = |request: Request| sent.iter().filter(|record| record[0] == request.tag()).count();
    assert_eq!(count(Request::Info), 2);
    assert_eq!(count(Request::Missing), 1, "samples are never sent again");
    assert!(count(Request::Report) > 1, "{sent:?}");
    assert_eq!(count(Request::Stop), 2);
}

#[test]
fn an_input_of_another_shape_is_refused_by_number() {
    let script = [info(HELLO, SampleKind::Vector), answer(4, 0, 0, 0.0)];
    let error = refusal(&script, &[Input::Missing, Input::Vector(&[1.0])]);
    assert_eq!(
        error.to_string(),
        "sample 1: a vector of 1 channels, but the model on the device takes vectors of 2 channels"
    );
    let error = refusal(&script, &[Input::Symbol(3)]);
    assert!(matches!(error, DeviceError::SampleShape { index: 0, .. }), "{error}");
}

#[test]
fn another_version_or_another_speaker_is_refused() {
    let error = refusal(&[info(HELLO + 1, SampleKind::Vector)], &[]);
    assert!(matches!(error, DeviceError::Version { found } if found == HELLO + 1), "{error}");
    // Version 2 had no profile: another length.
    let shorter = [b"I\x03\xf4\x01\x02f".as_slice(), &[0; 18]].concat();
    let error = refusal(&[framed::<[u8; 24]>(&shorter.try_into().expect("its length"))], &[]);
    assert!(matches!(error, DeviceError::Version { found: 2 }), "{error}");
    let error = refusal(&[b"login: ".to_vec()], &[]);
    assert!(matches!(error, DeviceError::Stopped { answers: 0 }), "{error}");
}

#[test]
fn a_device_that_stops_or_faults_is_an_error_that_counts_the_answers() {
    let inputs = [Input::Missing, Input::Missing];
    let script = |rest: Vec<u8>| [info(HELLO, SampleKind::Vector), answer(4, 0, 0, 0.0), rest];
    let error = refusal(&script(vec![0, 1]), &inputs);
    assert!(matches!(error, DeviceError::Stopped { answers: 1 }), "{error}");
    let error = refusal(&script(framed(&Fault::new(DEVICE, FaultKind::Transport, 0))), &inputs);
    assert!(matches!(error, DeviceError::Fault { answers: 1, .. }), "{error}");
    for wrong in [
        answer(4, 1, 99, 0.0),
        answer(9, 1, 0, 0.0),
        framed(b"?\0\0\0"),
        framed(b"A\0\0\0\0"),
        framed(b"Q\0\0\0\0"),
        framed(b"Q"),
    ] {
        let error = refusal(&script(wrong), &inputs);
        assert!(matches!(error, DeviceError::BadRecord { answers: 1.., .. }), "{error}");
    }
}
