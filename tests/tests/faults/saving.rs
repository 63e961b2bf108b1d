//! A model that adapts is saved and restored bit for bit, and power lost while it is saved leaves the one
//! before or the new one.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fishweir::device::{
    Answer, Board, Firmware, Image, Input, ModelFile, Options, Outcome, Qemu, converse,
};
use fishweir_core::artefact;
use fishweir_core::classify::{Normalisation, StreamClassifier, decide};
use fishweir_core::emission::{Gaussian, Regularisation};
use fishweir_core::filter::{Forward, OnlineEm, Running, StepSize};
use fishweir_core::hmm::{Chain, Hmm};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::log;

type Model = Hmm<Gaussian<2>, 3>;
type Alone = StreamClassifier<Gaussian<2>, 3, 1, 1>;

const FILE: &str = "fishweir-flash.bin";

fn shipped() -> Model {
    let chain = Chain::<f32, 3>::new(
        [0.5, 0.25, 0.25],
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
    );
    let state = |x: f32, y: f32| Gaussian::new([x, y], [1.0, 0.5]).expect("positive variances");
    Hmm::new(chain.expect("a chain"), [state(-2.0, 0.0), state(0.0, 1.0), state(2.0, -1.0)])
}

/// Samples around other means than the shipped model's.
fn samples(seed: u64, length: usize) -> Vec<[f32; 2]> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = || generator.random_range(-1.0..1.0_f32) + generator.random_range(-0.5..0.5);
    (0..length)
        .map(|t| {
            let [x, y] = [[-3.0, 0.5], [0.5, 2.0], [3.5, -1.0]][t / 12 % 3];
            [x + noise(), y + 0.5 * noise()]
        })
        .collect()
}

/// The application's settings.
fn online(first: &Model) -> OnlineEm<'_, Gaussian<2>, 3> {
    let priors = Regularisation { variance_floor: 1e-4, pseudo_count: 0.1 };
    OnlineEm::from(first, StepSize::Constant(0.005), 50, priors).expect("settings in range")
}

/// What the host makes of a stream: class, margin and log-likelihood after each sample, in bits, and the
/// model at its end.
fn on_host(first: &Model, samples: &[[f32; 2]]) -> (Vec<(usize, u32, u32)>, Model) {
    let mut stream = Running::new(online(first));
    let decisions = samples
        .iter()
        .map(|sample| {
            stream.push(sample).expect("possible");
            let state = stream.state();
            let decision = decide(&Forward::of(state.hmm()).filtered(state.belief()));
            (decision.class, decision.margin.to_bits(), state.belief().log().to_bits())
        })
        .collect();
    (decisions, *stream.state().hmm())
}

fn bits(answers: &[Option<Answer>]) -> Vec<(usize, u32, u32)> {
    let answered = answers.iter().map(|answer| answer.as_ref().expect("a quiet line"));
    answered.map(|a| (a.class, a.margin_bits, a.log_likelihood_bits[0])).collect()
}

fn image(board: &str, folder: &Path) -> Image {
    let alone = StreamClassifier::new([shipped()], [[1.0]], [0.0], Normalisation::PER_SAMPLE);
    let mut buffer = [0; 1024];
    let path = folder.join("shipped.fishweir");
    let bytes = artefact::write(&alone, "", &mut buffer).expect("room enough");
    std::fs::write(&path, bytes).expect("writes");
    let board = Board::named(board).expect("a board");
    Firmware::in_repository()
        .and_then(|firmware| {
            let elf = folder.join("adapt.elf");
            firmware.build(board, "adapt", ModelFile::Artefact(&path), &elf)
        })
        .expect("builds")
}

/// Streams samples to a device, saves the model if asked to, and ends the device; what it said and logged.
fn run(image: &Image, folder: &Path, samples: &[[f32; 2]], save: bool) -> (Outcome, String) {
    let inputs = samples.iter().map(|sample| Input::Vector(sample));
    let inputs = inputs.chain(save.then_some(Input::Save));
    let run = Qemu::start_in(image, folder)
        .and_then(|qemu| qemu.run(inputs, &Options::default(), |_| ()))
        .expect("the device answers");
    (run.outcome, log::lines(&image.elf, &run.log).join("\n"))
}

/// The model in a slot of the file: an artefact behind 32 bytes of header.
fn saved_in(flash: &[u8], slot: usize) -> Model {
    let length = artefact::length_of::<Gaussian<2>, 3, 1, 1>(0);
    let start = slot * flash.len() / 2 + 32;
    // Aligned as a device's buffer is.
    let mut words = vec![0_u64; length.div_ceil(8)];
    let aligned = zerocopy::IntoBytes::as_mut_bytes(&mut words[..]);
    aligned[..length].copy_from_slice(&flash[start..start + length]);
    let alone: &Alone = artefact::read(&aligned[..length]).expect("an artefact");
    alone.models()[0]
}

#[test]
fn a_saved_model_is_restored_bit_for_bit_and_decisions_go_on_from_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = image(Board::DEFAULT, folder.path());
    let (before, after) = (samples(1, 400), samples(2, 200));
    let (decisions, adapted) = on_host(&shipped(), &before);
    let moved = adapted.emission()[2].mean()[0] - shipped().emission()[2].mean()[0];
    assert!(moved > 0.5, "the model has followed the stream: {moved}");

    let (outcome, log) = run(&image, folder.path(), &before, true);
    assert!(log.contains("no model saved") && log.contains("saved model 1"), "{log}");
    assert_eq!(outcome.saved, [1]);
    assert_eq!(bits(&outcome.answers), decisions);
    let flash = std::fs::read(folder.path().join(FILE)).expect("the flash's file");
    assert_eq!(saved_in(&flash, 0), adapted);

    let (outcome, log) = run(&image, folder.path(), &after, false);
    assert!(log.contains("restored model 1"), "{log}");
    assert_eq!(bits(&outcome.answers), on_host(&adapted, &after).0);
    assert_ne!(bits(&outcome.answers), on_host(&shipped(), &after).0);

    // A bit flipped in the slot: there is no other one, so the model that was built in it is.
    let mut damaged = flash;
    damaged[100] ^= 4;
    std::fs::write(folder.path().join(FILE), damaged).expect("writes");
    let (outcome, log) = run(&image, folder.path(), &after, false);
    assert!(log.contains("no model saved"), "{log}");
    assert_eq!(bits(&outcome.answers), on_host(&shipped(), &after).0);
}

/// Streams samples to a device and has it save, and kills the emulator once the flash looks so. What the
/// flash holds then.
fn killed_while_saving(
    image: &Image,
    folder: &Path,
    samples: &[[f32; 2]],
    looks_so: impl Fn(&[u8]) -> bool,
) -> Vec<u8> {
    let path: PathBuf = folder.join(FILE);
    let read = || std::fs::read(&path).expect("the flash's file");
    let qemu = Qemu::start_in(image, folder).expect("QEMU starts");
    let serial = qemu.serial().try_clone().expect("a socket");
    let options = Options::default();
    serial.set_read_timeout(Some(options.retry)).expect("a socket has time-outs");
    thread::scope(|scope| {
        let inputs = samples.iter().map(|sample| Input::Vector(sample)).chain([Input::Save]);
        let conversation =
            scope.spawn(|| converse(&serial, &serial, || (), inputs, &options, |_| ()));
        let deadline = Instant::now() + Duration::from_secs(60);
        while !looks_so(&read()) && !conversation.is_finished() && Instant::now() < deadline {}
        qemu.wait(Duration::ZERO).expect("is killed");
        // It broke off, or was just done.
        let _ = conversation.join().expect("no panic");
    });
    read()
}

#[test]
fn power_lost_in_the_middle_of_saving_leaves_the_model_before_or_the_new_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = image(Board::DEFAULT, folder.path());
    let (first, second, third) = (samples(3, 200), samples(4, 150), samples(5, 40));
    run(&image, folder.path(), &first, true);
    let one = on_host(&shipped(), &first).1;
    run(&image, folder.path(), &second, true);
    let two = on_host(&one, &second).1;
    // Both slots are full: the third save erases the first.
    let full = std::fs::read(folder.path().join(FILE)).expect("the flash's file");
    assert_eq!((saved_in(&full, 0), saved_in(&full, 1)), (one, two));
    let three = on_host(&two, &first).1;
    let from_two = on_host(&two, &third).0;
    let from_three = on_host(&three, &third).0;
    assert_ne!(from_two, from_three);

    let alone = StreamClassifier::new([three], [[1.0]], [0.0], Normalisation::PER_SAMPLE);
    let mut buffer = [0; 1024];
    let value = artefact::write(&alone, "", &mut buffer).expect("room enough");
    let mut torn = 0;
    // In the middle of erasing, then after so many bytes of the value, then after its last.
    for bytes in [0, 40, 80, 120, 160, value.len()] {
        std::fs::write(folder.path().join(FILE), &full).expect("writes");
        let left = killed_while_saving(&image, folder.path(), &first, |flash| match bytes {
            0 => flash != full,
            bytes => flash[32..].starts_with(&value[..bytes]),
        });
        let (outcome, log) = run(&image, folder.path(), &third, false);
        let answers = bits(&outcome.answers);
        let newest = log.contains("restored model 3");
        assert!(newest || log.contains("restored model 2"), "{log}");
        assert_eq!(answers, *if newest { &from_three } else { &from_two }, "{log}");
        torn += usize::from(!newest && left != full);
    }
    assert!(torn > 0, "the emulator was never killed in the middle of a save");
}
