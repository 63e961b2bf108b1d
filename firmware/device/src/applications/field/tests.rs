//! A model replaced in the middle of a conversation.

extern crate std;

use std::vec::Vec;

use embassy_futures::block_on;
use fishweir_core::filter::Stream;
use fishweir_core::wire::{
    Answer, Frame, Receiver, RecordBuffer, SampleRequest, U16, UPDATE_CHUNK, UpdateOffer,
};

use super::*;
use crate::applications::damage::{Outcome, records, survives_at_random, survives_everywhere};
use crate::applications::wire::{Later, Wire, frames_of};
use crate::meter::NoMeter;
use crate::session::Session;
use crate::storage::tests::Flash;
use crate::update::NoSignature;
use crate::update::tests::{Model, header, model, piece, transfer, update};

fn samples(stream: u8, times: core::ops::Range<u16>) -> Vec<u8> {
    let request = |time: u16| {
        let head = SampleIndex { stream, time }.head(Request::Sample.tag());
        Frame::new(&SampleRequest { head, sample: U16::new(time % 2) }).as_bytes().to_vec()
    };
    times.flat_map(request).collect()
}

fn offer(bytes: &[u8]) -> Vec<u8> {
    let head = SampleIndex::default().head(Request::Offer.tag());
    Frame::new(&UpdateOffer { head, header: header(bytes) }).as_bytes().to_vec()
}

fn chunks(bytes: &[u8]) -> Vec<u8> {
    let head = SampleIndex::default().head(Request::Chunk.tag());
    let chunk = |offset: usize| {
        let data = piece(bytes, offset);
        let (transfer, offset) = (transfer(bytes).into(), (offset as u32).into());
        let piece = UpdatePiece { transfer, offset, data };
        Frame::new(&UpdateChunk { head, piece }).as_bytes().to_vec()
    };
    (64..bytes.len()).step_by(UPDATE_CHUNK).flat_map(chunk).collect()
}

/// Returns a device's answers: updates' statuses with the running version, and margins.
fn answers(flash: &mut Flash, sent: &[&[u8]]) -> (Vec<(UpdateStatus, u32)>, Vec<u32>) {
    let mut line = Wire::sending(&sent.concat());
    let built_in = model(0);
    let windows = WindowClassifier::endless(&built_in);
    let (settings, mut other, mut others_flash) = (Settings::DEFAULT, line.clone(), flash.clone());
    let report = field(&mut line, &mut *flash, NoSignature, &NoMeter, windows, &settings);
    // A line that lets others run leads to the same.
    let mut later = Later(&mut other);
    let waited =
        field_async(&mut later, &mut others_flash, NoSignature, &NoMeter, windows, &settings);
    assert_eq!(block_on(waited), report);
    assert_eq!((&other, &others_flash), (&line, &*flash));
    report.expect("answers");
    let (mut receiver, mut room) = (Receiver::new(), RecordBuffer::<[u8; 200]>::new());
    let (mut statuses, mut margins) = (Vec::new(), Vec::new());
    for &byte in line.received() {
        let Some(length) = receiver.push(byte, room.bytes()) else { continue };
        let record = &room.bytes()[..length];
        if let Ok(progress) = UpdateProgress::read_from_bytes(record) {
            let status = UpdateStatus::from_byte(progress.status).expect("a status");
            statuses.push((status, progress.running.get()));
        } else if let Ok(answer) = Answer::<2>::read_from_bytes(record) {
            margins.push(answer.head.margin.get().to_bits());
        }
    }
    (statuses, margins)
}

fn on_host(model: &Model, times: u16) -> Vec<u32> {
    let mut stream = Stream::new(model);
    let mut margin = |time: u16| {
        stream.push(&usize::from(time % 2)).expect("possible");
        stream.read().margin.to_bits()
    };
    (0..times).map(&mut margin).collect()
}

#[test]
fn a_stream_ends_with_the_model_it_began_with_and_the_next_has_the_new_one() {
    let mut flash = Flash::of(16);
    let new = update(1);
    let state = SampleIndex::default().head(Request::UpdateState.tag());
    let state = Frame::new(&state);
    let sent = [
        &samples(1, 0..10)[..],
        &offer(&new),
        &chunks(&new),
        &samples(1, 10..20),
        state.as_bytes(),
        &samples(2, 0..16),
        state.as_bytes(),
        &samples(2, 16..20),
    ];
    let (statuses, margins) = answers(&mut flash, &sent);
    assert_eq!(margins, [on_host(&model(0), 20), on_host(&model(1), 20)].concat());
    let pieces = new.len().div_ceil(UPDATE_CHUNK) - 1;
    let mut expected = std::vec![(UpdateStatus::Receiving, 0); pieces];
    expected.extend([
        (UpdateStatus::Received, 0),
        (UpdateStatus::Received, 0),
        (UpdateStatus::Confirmed, 1),
    ]);
    assert_eq!(statuses, expected);
    // After a reset it is there from the first sample on.
    let (statuses, margins) = answers(&mut flash, &[state.as_bytes(), &samples(0, 0..5)]);
    assert_eq!(statuses, [(UpdateStatus::Confirmed, 1)]);
    assert_eq!(margins, on_host(&model(1), 5));
}

#[test]
fn requests_of_another_length_are_faults_and_nothing_happens() {
    let mut flash = Flash::of(16);
    let before = flash.clone();
    let [offer, chunk, state] =
        [Request::Offer, Request::Chunk, Request::UpdateState].map(|request| request.tag());
    let short = [Frame::new(&[offer, 0, 0, 0, 1]), Frame::new(&[chunk, 0, 0, 0, 1])];
    let long = Frame::new(&[state, 0, 0, 0, 1]);
    let sent = [short[0].as_bytes(), short[1].as_bytes(), long.as_bytes(), &samples(1, 0..2)];
    let (statuses, margins) = answers(&mut flash, &sent);
    assert!(statuses.is_empty());
    assert_eq!(margins, on_host(&model(0), 2));
    assert_eq!(flash.bytes(), before.bytes());
}

#[test]
fn damage_costs_samples_or_pieces_of_an_update_and_nothing_else() {
    let new = update(1);
    let stop = Frame::new(&SampleIndex::default().head(Request::Stop.tag()));
    let report = Frame::new(&SampleIndex { stream: 2, time: 20 }.head(Request::Report.tag()));
    let sent = [
        &samples(1, 0..4)[..],
        &offer(&new),
        &chunks(&new),
        &samples(1, 4..8),
        &samples(2, 0..20),
        report.as_bytes(),
        stop.as_bytes(),
    ];
    let frames = frames_of(&sent.concat());
    let run = |mut line: Wire| {
        let (mut flash, built_in) = (Flash::of(16), model(0));
        let (windows, settings) = (WindowClassifier::endless(&built_in), Settings::DEFAULT);
        let report = field(&mut line, &mut flash, NoSignature, &NoMeter, windows, &settings);
        let report = report.expect("it goes on to the end");
        let said = records(&line);
        Outcome { said, lost: report.lost.get(), corrupt: report.corrupt.get() }
    };
    survives_everywhere(&frames, &run);
    survives_at_random(&frames, &run, 200);
}

fn start<'m>(
    flash: &'m mut Flash,
    built_in: &'m Model,
) -> UpdatableClassifier<'m, &'m mut Flash, NoSignature, Model, 2, 1> {
    let windows = WindowClassifier::endless(built_in);
    UpdatableClassifier::start(flash, NoSignature, windows, &Settings::DEFAULT).expect("reads")
}

#[test]
fn samples_of_a_sensor_are_pushed_beside_a_session_that_takes_updates() {
    let mut flash = Flash::of(16);
    let (built_in, new) = (model(0), update(1));
    let mut replaceable = start(&mut flash, &built_in);
    let mut session = Session::new(&mut replaceable, &NoMeter);
    let sent = [offer(&new), chunks(&new)].concat();
    let mut pieces = sent.chunks(sent.len() / 19);
    let mut margins = Vec::new();
    for time in 0..20 {
        // A part of the update comes between two samples.
        for &byte in pieces.next().into_iter().flatten() {
            session.on_byte(Ok::<_, embedded_io::ErrorKind>(byte)).expect("no error");
        }
        let sensed = session.classifier();
        assert_eq!(sensed.push(Some(&(time % 2))), Ok(()));
        sensed.between_samples();
        margins.push(sensed.decision().expect("in range").margin.to_bits());
    }
    assert_eq!(margins, on_host(&built_in, 20));
    let sensed = session.classifier();
    assert!(sensed.has_newer() && !sensed.updates.is_on_trial());
    sensed.reset();
    assert!(!sensed.has_newer() && sensed.updates.is_on_trial());
    let mut push = |time: usize| {
        assert_eq!(sensed.push(Some(&(time % 2))), Ok(()));
        sensed.between_samples();
        sensed.decision().expect("in range").margin.to_bits()
    };
    let margins: Vec<u32> = (0..16).map(&mut push).collect();
    assert_eq!(margins, on_host(&model(1), 16));
    assert!(!sensed.updates.is_on_trial());
    // It was confirmed: two resets later it is still there.
    for _ in 0..2 {
        assert_eq!(start(&mut flash, &built_in).updates.version(), 1);
    }
}
