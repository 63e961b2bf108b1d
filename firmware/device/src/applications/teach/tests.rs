extern crate std;

use std::vec;
use std::vec::Vec;

use embassy_futures::block_on;
use embedded_io::ErrorKind;
use fishweir_core::classify::teach::RECORD_HEAD;
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::contract::Windows;
use fishweir_core::emission::Categorical;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::wire::{Frame, Request};
use zerocopy::FromBytes;

use super::super::damage::records;
use super::super::wire::{Later, Sent, Wire};
use super::*;
use crate::meter::NoMeter;
use crate::session::Session;
use crate::storage::tests::Flash;

type Coins = StreamClassifier<Hmm<Categorical<2>, 1>, 2, 1>;
/// One output and two models.
const NUMBERS: usize = 3;
const MOST: usize = 2;
type Taught = TaughtClasses<MOST, NUMBERS>;
type Device<'m, F> = TeachableClassifier<'m, F, Coins, 1, MOST, NUMBERS>;

static CONTRACT: Contract<'static> =
    Contract { windows: Some(Windows::of(4, 4)), ..Contract::NONE };
const PAGES: usize = 8;

fn coins() -> Coins {
    let coin = |heads: f32| {
        let chain = Chain::from_parts([1.0], [[1.0]]);
        Hmm::new(chain, [Categorical::from_parts([heads, 1.0 - heads])])
    };
    let models = [coin(0.5), coin(0.9)];
    StreamClassifier::from_parts(models, [[-1.0, 1.0]], [0.0], Normalisation::NONE)
}

fn basis() -> Vec<u8> {
    let mut bytes = TeachingBasis::head(3, 2).to_vec();
    let centre = [0.0_f32, -0.7, -0.7];
    let whitening = [0.5_f32, 0.0, 2.0, 0.1, 0.0, 2.0];
    let means = [[-0.5_f32, 0.0, -0.5], [1.0, 0.0, 1.0]];
    for real in centre.iter().chain(&whitening).chain(means.as_flattened()) {
        bytes.extend(real.to_le_bytes());
    }
    bytes
}

fn lesson(basis: &[u8]) -> Lesson<'_> {
    Lesson { basis, calibration: None, known: &["fair", "biased"] }
}

fn name(text: &str) -> ClassName {
    ClassName::new(text).expect("a name")
}

fn step(action: TeachAction, text: &str) -> Vec<u8> {
    let name = if text.is_empty() { [0; 16] } else { *name(text).as_bytes() };
    let request = TeachRequest {
        head: SampleIndex::default().head(Request::Teach.tag()),
        step: TeachStep { action: action as u8, name },
    };
    Frame::new(&request).as_bytes().to_vec()
}

/// What the device answers to these bytes; the same over a line that others run beside.
fn answers(flash: &mut Flash, bytes: &[u8]) -> Vec<Vec<u8>> {
    let (coins, basis) = (coins(), basis());
    let windows = || WindowClassifier::new(&coins, &CONTRACT).expect("one state");
    let mut buffer = vec![0; Taught::RECORD_LONGEST];
    let mut line = Wire::sending(bytes);
    let (mut other, mut others_flash) = (line.clone(), flash.clone());
    let done = teach::<_, _, _, _, 2, 1, MOST, NUMBERS>(
        &mut line,
        &mut *flash,
        &NoMeter,
        windows(),
        lesson(&basis),
        &mut buffer,
    );
    let mut later = Later(&mut other);
    let waited = teach_async::<_, _, _, _, 2, 1, MOST, NUMBERS>(
        &mut later,
        &mut others_flash,
        &NoMeter,
        windows(),
        lesson(&basis),
        &mut buffer,
    );
    assert_eq!(block_on(waited), done);
    assert_eq!((&other, &others_flash), (&line, &*flash));
    done.expect("a quiet line");
    records(&line)
}

fn states(answers: &[Vec<u8>]) -> Vec<(u8, u8, u16, u32)> {
    let states = answers.iter().filter(|record| record[0] == TeachState::TAG);
    let states = states.map(|record| TeachState::read_from_bytes(record).expect("a state"));
    states.map(|one| (one.status, one.classes, one.windows.get(), one.saved.get())).collect()
}

#[test]
fn a_class_is_taught_saved_restored_and_forgotten_over_the_line() {
    let mut flash = Flash::of(PAGES);
    // A window begins with the request: that which was half full is not shown.
    let mut sent = Sent::new().symbols(&[0, 0]);
    sent.frames.push(step(TeachAction::Show, "tails"));
    let mut sent = sent.symbols(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
    sent.frames.push(step(TeachAction::Ask, "tails"));
    sent.frames.push(step(TeachAction::Stop, "tails"));
    sent.frames.push(step(TeachAction::Stop, ""));
    let bytes = sent.bytes();
    let said = answers(&mut flash, &bytes);
    // Saved once: stopping again has nothing to save.
    assert_eq!(states(&said), [(0, 0, 0, 0), (0, 1, 3, 0), (0, 1, 3, 1), (0, 1, 0, 1)]);

    let bytes = [
        step(TeachAction::Show, "fair"),
        step(TeachAction::Forget, "heads"),
        step(TeachAction::Show, "heads"),
        step(TeachAction::Forget, "tails"),
        step(TeachAction::Ask, "tails"),
    ];
    let said = states(&answers(&mut flash, &bytes.concat()));
    let known = TeachStatus::KnownClass as u8;
    let unknown = TeachStatus::UnknownName as u8;
    assert_eq!(
        said,
        [(known, 1, 0, 1), (unknown, 1, 0, 1), (0, 1, 0, 1), (0, 0, 0, 2), (0, 0, 0, 2)]
    );
    assert_eq!(states(&answers(&mut flash, &step(TeachAction::Ask, "tails"))), [(0, 0, 0, 2)]);
}

fn device<'m>(
    flash: &'m mut Flash,
    coins: &'m Coins,
    basis: &'m [u8],
    buffer: &'m mut [u8],
) -> Device<'m, &'m mut Flash> {
    let windows = WindowClassifier::new(coins, &CONTRACT).expect("one state");
    Device::start::<()>(flash, windows, lesson(basis), buffer).expect("there is room")
}

fn push<F: NorFlash>(device: &mut Device<'_, F>, tosses: &[usize]) {
    for toss in tosses {
        let _ = ClassifierStream::<2>::push(device, Some(toss));
        ClassifierStream::<2>::between_samples(device);
    }
}

/// Teaches one class, then another, shows the first more, and forgets the second: four saves. Returns what is to be found after
/// each, the first of them before any.
fn session(flash: &mut Flash) -> Vec<Taught> {
    let (coins, basis) = (coins(), basis());
    let mut buffer = vec![0; Taught::RECORD_LONGEST];
    let mut device = device(flash, &coins, &basis, &mut buffer);
    let mut states = vec![device.taught().clone()];
    for (text, tosses) in
        [("tails", [1, 1, 1, 1]), ("mixed", [0, 1, 0, 1]), ("tails", [1, 1, 0, 1])]
    {
        device.begin(&name(text));
        push(&mut device, &tosses);
        push(&mut device, &tosses);
        device.stop();
        states.push(device.taught().clone());
    }
    device.forget(&name("mixed"));
    states.push(device.taught().clone());
    states
}

fn restored(flash: &mut Flash) -> Taught {
    let (coins, basis) = (coins(), basis());
    let mut buffer = vec![0; Taught::RECORD_LONGEST];
    device(flash, &coins, &basis, &mut buffer).taught().clone()
}

/// Torn steps: some bits done, all but none, half a word.
const TORN: [u32; 5] = [0, u32::MAX, 0x0000_FFFF, 0x9E37_79B9, 1];

#[test]
fn power_lost_at_any_step_leaves_the_classes_before_or_the_new_ones() {
    let mut whole = Flash::of(PAGES);
    let wanted = session(&mut whole);
    assert_eq!(restored(&mut whole), wanted[4]);
    let (mut steps, mut seen) = (0, [0; 5]);
    'all: loop {
        for torn in TORN {
            let mut flash = Flash::of(PAGES).losing_power(steps, torn);
            let reached = session(&mut flash);
            if !flash.is_dead() {
                break 'all;
            }
            let mut flash = flash.after_reset();
            let found = restored(&mut flash);
            let at = wanted.iter().position(|state| *state == found);
            let at =
                at.unwrap_or_else(|| panic!("neither old nor new after {steps} steps: {found:?}"));
            seen[at] += 1;
            // Saves that were not reached have not happened, and none is undone: of those before the cut one is the last.
            assert_eq!(reached, wanted, "what is in RAM goes on");
            // And it can be taught on from there.
            let (coins, basis) = (coins(), basis());
            let mut buffer = vec![0; Taught::RECORD_LONGEST];
            let mut device = device(&mut flash, &coins, &basis, &mut buffer);
            let had = found.find(&name("tails")).and_then(|place| found.get(place));
            let had = had.map_or(0, |class| class.windows());
            device.begin(&name("tails"));
            push(&mut device, &[1, 1, 1, 1]);
            assert_eq!(device.stop(), TeachStatus::Done);
            let again = restored(&mut flash);
            let place = again.find(&name("tails")).expect("taught");
            assert_eq!(again.get(place).expect("taught").windows(), had + 1, "{steps}");
        }
        steps += 1;
    }
    // Each save erases four pages and writes its record, a word at a time, and eight words of header.
    let words = (RECORD_HEAD + 24 + 4 * NUMBERS + 4) / 4;
    assert!(steps > 4 * (4 + words + 8), "{steps}");
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    // States come in order: the more steps, the later.
    let mut last = 0;
    for steps in 0..steps {
        let mut flash = Flash::of(PAGES).losing_power(steps, 0);
        session(&mut flash);
        let found = restored(&mut flash.after_reset());
        let at = wanted.iter().position(|state| *state == found).expect("checked above");
        assert!(at >= last, "{steps}: {at} after {last}");
        last = at;
    }
}

#[test]
fn classes_of_another_model_and_damaged_ones_are_not_taken() {
    let mut flash = Flash::of(PAGES);
    let states = session(&mut flash);
    let (coins, mut other) = (coins(), basis());
    let last = other.len() - 1;
    other[last] ^= 1;
    let mut buffer = vec![0; Taught::RECORD_LONGEST];
    assert!(device(&mut flash, &coins, &other, &mut buffer).taught().is_empty());
    assert_eq!(restored(&mut flash), states[4]);
    // Without a basis, or with too little room, it does not start.
    let windows = WindowClassifier::new(&coins, &CONTRACT).expect("one state");
    let basis = basis();
    let none = Device::start::<()>(&mut flash, windows, lesson(&[]), &mut buffer);
    assert_eq!(none.err(), Some(TeachingError::Basis(TeachError::Malformed)));
    let short = Device::start::<()>(&mut flash, windows, lesson(&basis), &mut buffer[1..]);
    assert_eq!(short.err(), Some(TeachingError::NoRoom));
}

#[test]
fn a_taught_class_is_decided_and_a_full_device_takes_no_more() {
    let (coins, basis, mut flash) = (coins(), basis(), Flash::of(PAGES));
    let mut buffer = vec![0; Taught::RECORD_LONGEST];
    let mut device = device(&mut flash, &coins, &basis, &mut buffer);
    for text in ["tails", "mixed"] {
        assert_eq!(device.begin(&name(text)), TeachStatus::Done);
        push(&mut device, &if text == "tails" { [1; 4] } else { [0, 1, 0, 1] });
    }
    assert_eq!(device.begin(&name("more")), TeachStatus::NoRoom);
    assert_eq!(device.showing(), Some(&name("mixed")));
    device.stop();
    push(&mut device, &[1, 1, 1, 1]);
    let decided = device.prediction().decision.class;
    assert_eq!((decided, device.name(decided)), (2, "tails"));
    push(&mut device, &[0, 0, 0, 0]);
    let decided = device.prediction().decision.class;
    assert_eq!((decided, device.name(decided)), (1, "biased"));
}

/// What a host shows is a stream of its own beside a sensor: its windows have none of the sensor's samples.
#[test]
fn samples_of_a_sensor_are_in_no_window_that_a_host_shows() {
    let (mut flash, coins, basis) = (Flash::of(PAGES), coins(), basis());
    let mut buffer = vec![0; Taught::RECORD_LONGEST];
    let mut device = device(&mut flash, &coins, &basis, &mut buffer);
    let mut sent = Sent::new();
    sent.frames.push(step(TeachAction::Show, "tails"));
    let shown = sent.clone().frames.len();
    let sent = sent.symbols(&[1, 1, 1, 1, 1, 0, 1]);
    let mut session = Session::<_, _, 2>::new(&mut device, &NoMeter);
    for (number, frame) in sent.frames.iter().enumerate() {
        // The sensor's last samples come when the lesson has begun.
        if number <= shown {
            push(session.classifier(), &[0, 0, 0]);
        }
        for &byte in frame {
            session.on_byte(Ok::<_, ErrorKind>(byte)).expect("no error");
        }
    }
    let windows: Vec<u16> =
        (0..MOST).filter_map(|at| Some(device.taught().get(at)?.windows())).collect();
    assert_eq!(windows, [1], "the sensor's are not whole, the host's first is");
}
