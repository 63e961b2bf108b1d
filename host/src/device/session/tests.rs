//! A scripted device: bytes prepared beforehand, whatever is asked.

use std::cell::Cell;
use std::io::Cursor;

use zerocopy::IntoBytes;

use super::super::protocol;
use super::*;

fn info(version: u8, kind: SampleKind) -> Vec<u8> {
    Info {
        tag: Info::TAG,
        version,
        sample_kind: kind as u8,
        sample_length: 2.into(),
        models: 2.into(),
        classes: 3.into(),
        model_bytes: 100.into(),
        state_bytes: 10.into(),
        ticks_per_second: 25_000_000.into(),
    }
    .as_bytes()
    .to_vec()
}

fn answer(status: u8, margin: f32) -> Vec<u8> {
    protocol::Answer::<2> {
        head: AnswerHead { status, class: 2.into(), margin_bits: margin.to_bits().into() },
        log_likelihood_bits: [(-1.5f32).to_bits().into(), 7.into()],
    }
    .as_bytes()
    .to_vec()
}

fn report() -> Vec<u8> {
    Report { samples: 1.into(), sample_ticks: 50.into(), ..Report::EMPTY }.as_bytes().to_vec()
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

const HELLO: u8 = protocol::VERSION;

#[test]
fn inputs_go_out_in_order_and_answers_come_back_in_order() {
    let seen = Cell::new(0);
    let script = [info(HELLO, SampleKind::Vector), answer(0, 2.5), answer(1, 0.5), report()];
    let mut sent = Vec::new();
    let inputs = [Input::Vector(&[1.0, -2.0]), Input::Reset, Input::Missing];
    let outcome = converse(
        Cursor::new(script.concat()),
        &mut sent,
        || (),
        inputs,
        &Options::default(),
        |answers| seen.set(answers),
    )
    .expect("a whole conversation");
    assert_eq!(sent, b"IS\0\0\x80\x3F\0\0\0\xC0RMQ");
    assert_eq!(seen.get(), 2);
    assert_eq!(outcome.info.ticks_per_second, Some(25_000_000));
    assert_eq!(outcome.answers[0].status, Status::Accepted);
    assert_eq!(outcome.answers[0].class, 2);
    assert_eq!(outcome.answers[0].margin(), 2.5);
    assert_eq!(outcome.answers[1].status, Status::Impossible);
    assert_eq!(outcome.answers[1].log_likelihood_bits[..], [(-1.5f32).to_bits(), 7]);
    assert_eq!(outcome.report.sample_ticks, 50);
    assert_eq!(outcome.report.stack_bytes, None);
}

#[test]
fn an_input_of_another_shape_is_refused_by_number() {
    let script = [info(HELLO, SampleKind::Vector), answer(0, 0.0)];
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
    let error = refusal(&[b"login: ".to_vec()], &[]);
    assert!(matches!(error, DeviceError::BadRecord { answers: 0, .. }), "{error}");
}

#[test]
fn a_device_that_stops_or_faults_is_an_error_that_counts_the_answers() {
    let inputs = [Input::Missing, Input::Missing];
    let hello = info(HELLO, SampleKind::Vector);
    let error = refusal(&[hello.clone(), answer(0, 0.0), vec![0, 1]], &inputs);
    assert!(matches!(error, DeviceError::Stopped { answers: 1 }), "{error}");
    let error = refusal(&[hello.clone(), answer(0, 0.0), b"E\x02\0".to_vec()], &inputs);
    assert!(matches!(error, DeviceError::Fault { answers: 1, .. }), "{error}");
    let error = refusal(&[hello.clone(), vec![3]], &inputs);
    assert!(matches!(error, DeviceError::BadRecord { answers: 0, .. }), "{error}");
    let error = refusal(&[hello, answer(0, 0.0), report()], &inputs);
    assert!(matches!(error, DeviceError::Count { answers: 1, samples: 2 }), "{error}");
}
