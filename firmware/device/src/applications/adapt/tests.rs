extern crate std;

use std::vec::Vec;

use embassy_futures::block_on;
use fishweir_core::filter::Stream;
use fishweir_core::number::Dual;
use fishweir_core::wire::{
    CountsHead, CountsRequest, Frame, Request, SampleIndex, SampleRequest, U16,
};

use super::super::damage::{
    Outcome, doubles_cost_nothing, records, survives_at_random, survives_everywhere,
};
use super::super::wire::{Later, Sent, Wire};
use super::*;
use crate::meter::NoMeter;
use crate::storage::tests::{CLOCK, Flash};

/// A biased coin that takes turns with a fair one, over numbers that carry a direction.
fn bank() -> StreamClassifier<Hmm<Categorical<2, Dual<f32, 1>>, 2>, 1, 1> {
    let weight = |value| Dual { value, tangent: [0.5] };
    let coin = |p: f32| Categorical::from_parts([weight(p), weight(1.0 - p)]);
    let row = [weight(0.5), weight(0.5)];
    let hmm = Hmm::new(Chain::from_parts(row, [row, row]), [coin(0.5), coin(0.75)]);
    StreamClassifier::from_parts([hmm], [[1.0]], [0.0], Normalisation::NONE)
}

const EVERY: Settings = Settings { save_every: 40, warm_up: 5, ..Settings::DEFAULT };

/// Tosses of the device's first stream.
fn tosses(count: u16) -> Vec<u16> {
    (0..count).map(|t| u16::from(t % 7 == 0)).collect()
}

fn run(flash: &mut Flash, tosses: &[u16], settings: &Settings) {
    run_with(flash, tosses, settings, &NoMeter);
}

fn run_with(flash: &mut Flash, tosses: &[u16], settings: &Settings, meter: &impl Meter) -> Report {
    let frames = tosses.iter().zip(0..).flat_map(|(&toss, time)| {
        let head = SampleIndex { stream: 0, time }.head(Request::Sample.tag());
        let request = SampleRequest { head, sample: U16::new(toss) };
        Frame::new(&request).as_bytes().to_vec()
    });
    let frames: Vec<u8> = frames.collect();
    let (mut buffer, bank) = ([0; 32], bank());
    let mut line = Wire::sending(&frames);
    let (mut other, mut others_flash) = (line.clone(), flash.clone());
    let report = adapt(&mut line, &mut *flash, meter, &bank, settings, &mut buffer);
    // A line that lets others run leads to the same.
    let mut later = Later(&mut other);
    let waited = adapt_async(&mut later, &mut others_flash, meter, &bank, settings, &mut buffer);
    assert_eq!(block_on(waited), report);
    assert_eq!((&other, &others_flash), (&line, &*flash));
    report.expect("adapts")
}

fn kept(flash: &mut Flash) -> Option<Hmm<Categorical<2>, 2>> {
    restore(&mut Slots::new(flash), &mut [0; 32])
}

fn after(first: &Hmm<Categorical<2>, 2>, tosses: &[u16]) -> Hmm<Categorical<2>, 2> {
    let mut stream = Stream::new(online(first, &EVERY).expect("in range"));
    for &toss in tosses {
        stream.push(&usize::from(toss)).expect("possible");
    }
    *stream.state().hmm()
}

#[test]
fn counts_are_those_of_the_stream_under_a_model_that_stays() {
    let (bank, tosses) = (bank(), tosses(100));
    let first = first_model(&bank).expect("one model");
    let mut sent = Sent::new().symbols(&[1, 1, 0]);
    // Another stream.
    sent.next = sent.next.next_stream();
    sent = sent.symbols(&tosses);
    for piece in [0_u16, 1, 2] {
        let head = sent.next.head(Request::Counts.tag());
        let request = CountsRequest { head, piece: U16::new(piece) };
        sent.frames.push(Frame::new(&request).as_bytes().to_vec());
    }
    let asked = |settings: &Settings| -> Vec<Vec<u8>> {
        let (mut line, mut buffer) = (Wire::sending(&sent.bytes()), [0; 32]);
        adapt(&mut line, Flash::new(), &NoMeter, &bank, settings, &mut buffer)
            .expect("a good line");
        let records = records(&line);
        records.into_iter().filter(|record| record[0] == CountsHead::TAG).collect()
    };
    assert_eq!(asked(&Settings::DEFAULT), Vec::<Vec<u8>>::new());
    let pieces = asked(&Settings::COUNTS);
    assert_eq!(pieces.len(), 3);
    let mut counts = Vec::new();
    for (piece, record) in pieces.iter().enumerate() {
        let (head, rest) = CountsHead::read_from_prefix(record).expect("a head");
        assert_eq!(head.head.sample_index(), sent.next);
        assert_eq!((usize::from(head.piece.get()), head.pieces.get()), (piece, 2));
        assert_eq!((head.lost.get(), head.model.get()), (0, artefact::model_checksum(&first)));
        counts.extend(rest.chunks(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])));
    }
    let mut stream = Stream::new(Statistics::of(&first));
    for &toss in &tosses {
        stream.push(&usize::from(toss)).expect("possible");
    }
    let mut wanted = Vec::from([stream.state().belief().log()]);
    stream.read().for_each(|count| wanted.push(count));
    assert_eq!(counts, wanted);
    assert_eq!(counts.len(), 1 + 2 + 4 + 4);
}

#[test]
fn every_so_many_samples_the_model_is_saved_and_the_next_run_begins_with_it() {
    let mut flash = Flash::new();
    let shipped = first_model(&bank()).expect("one model");
    let tosses = tosses(100);
    run(&mut flash, &tosses[..39], &EVERY);
    assert_eq!(kept(&mut flash), None);
    run(&mut flash, &tosses, &EVERY);
    let first = after(&shipped, &tosses[..80]);
    assert_eq!(kept(&mut flash), Some(first));
    run(&mut flash, &tosses[..40], &EVERY);
    assert_eq!(kept(&mut flash), Some(after(&first, &tosses[..40])));
    assert_ne!(kept(&mut flash), Some(after(&shipped, &tosses[..40])));
}

/// Reads the flash's own clock, and takes a tick to do so.
struct FlashClock;

impl Meter for FlashClock {
    const TICKS_PER_SECOND: u32 = 1_000_000;

    fn now(&self) -> u32 {
        CLOCK.set(CLOCK.get() + 1);
        CLOCK.get()
    }

    fn elapsed(&self, start: u32) -> u32 {
        self.now() - start
    }
}

#[test]
fn what_saving_takes_is_not_counted_as_work_on_a_sample() {
    let before = CLOCK.get();
    let report = run_with(&mut Flash::new(), &tosses(100), &EVERY, &FlashClock);
    assert!(CLOCK.get() - before > 10_000, "the flash was written");
    assert_eq!((report.samples.get(), report.sample_ticks.get()), (100, 100));
}

#[test]
fn damage_costs_samples_and_nothing_else() {
    let sent = Sent::new().symbols(&tosses(24)).ask(Request::Save).symbols(&tosses(20));
    let sent = sent.ask(Request::Report).ask(Request::Stop);
    let run = |mut line: Wire| {
        let (mut flash, mut buffer) = (Flash::new(), [0; 32]);
        let report = adapt(&mut line, &mut flash, &NoMeter, &bank(), &EVERY, &mut buffer);
        let report = report.expect("it goes on to the end");
        // What was learnt too.
        let mut said = records(&line);
        said.push(std::format!("{:?}", kept(&mut flash)).into_bytes());
        Outcome { said, lost: report.lost.get(), corrupt: report.corrupt.get() }
    };
    survives_everywhere(&sent.frames, &run);
    survives_at_random(&sent.frames, &run, 200);
    doubles_cost_nothing(&sent.frames, &run);
}

#[test]
fn what_cannot_be_adapted_is_refused_before_the_first_sample() {
    let refuse = |settings: &Settings, words: usize| {
        let mut buffer = std::vec![0; words];
        adapt(&mut Wire::default(), Flash::new(), &NoMeter, &bank(), settings, &mut buffer)
            .map(|_| ())
            .expect_err("refused")
    };
    let endless = Settings { step_size: StepSize::Constant(0.0), ..EVERY };
    assert_eq!(refuse(&endless, 32), AdaptError::Setting(SettingError::StepSize));
    assert_eq!(refuse(&EVERY, 3), AdaptError::NoRoom);
}
