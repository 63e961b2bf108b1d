//! A model that adapts is saved and restored bit for bit, and power lost while it is saved leaves the one
//! before or the new one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fishweir::device::{
    Answer, Board, DeviceError, Firmware, Image, Input, ModelFile, Options, Outcome, Qemu, converse,
};
use fishweir_core::artefact;
use fishweir_core::classify::{Normalisation, StreamClassifier, decide};
use fishweir_core::emission::{Gaussian, Regularisation};
use fishweir_core::filter::{Forward, OnlineEm, StepSize, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::wire::{Exit, Head, Receiver, Saved};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::faults::log;

type Model = Hmm<Gaussian<2>, 3>;
type Alone = StreamClassifier<Hmm<Gaussian<2>, 3>, 1, 1>;

pub(super) const FILE: &str = "fishweir-flash.bin";

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
    let mut stream = Stream::new(online(first));
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
    let alone =
        StreamClassifier::from_parts([shipped()], [[1.0]], [0.0], Normalisation::PER_SAMPLE);
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
    let run = Qemu::start_in(image, folder, &[])
        .and_then(|qemu| qemu.run(inputs, &Options::default(), |_| ()))
        .expect("the device answers");
    (run.outcome, log::lines(&image.elf, &run.log).join("\n"))
}

/// The model in a slot of the file: an artefact behind 32 bytes of header.
fn saved_in(flash: &[u8], slot: usize) -> Model {
    let length = artefact::length_of::<Hmm<Gaussian<2>, 3>, 1, 1>(0);
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
    let image = image(Board::default_name(), folder.path());
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

/// The emulator's monitor.
pub(super) struct Monitor(BufReader<UnixStream>);

impl Monitor {
    pub(super) fn connect(socket: &Path) -> Self {
        let deadline = Instant::now() + Duration::from_secs(30);
        let stream = loop {
            match UnixStream::connect(socket) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
        };
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket has time-outs");
        let mut monitor = Self(BufReader::new(stream));
        monitor.line();
        monitor.tell("qmp_capabilities", &["\"return\""]);
        monitor
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("the monitor answers");
        assert!(!line.is_empty() && !line.contains("\"error\""), "{line}");
        line
    }

    /// Gives a command, and waits until all of these have been said, in any order.
    pub(super) fn tell(&mut self, command: &str, wanted: &[&str]) {
        let line = format!(r#"{{"execute": "{command}"}}"#);
        self.0.get_mut().write_all(line.as_bytes()).expect("the monitor listens");
        let mut wanted = wanted.to_vec();
        while !wanted.is_empty() {
            let line = self.line();
            wanted.retain(|what| !line.contains(what));
        }
    }
}

/// The device's side of the line. It tells of every model that the device says it has saved.
struct Overheard<R> {
    reader: R,
    receiver: Receiver,
    record: [u8; 256],
    saved: mpsc::Sender<()>,
}

impl<R: Read> Read for Overheard<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(into)?;
        for &byte in &into[..read] {
            let Some(length) = self.receiver.push(byte, &mut self.record) else { continue };
            let (head, _) = Head::split(&self.record[..length]).expect("the device sends heads");
            if head.tag == Saved::TAG {
                // Nobody may be waiting any more.
                let _ = self.saved.send(());
            }
        }
        Ok(read)
    }
}

/// How long to wait for what is sure to come.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_model_saved_in_real_flash_survives_a_reset() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = image("microbit", folder.path());
    let (before, after) = (samples(6, 200), samples(7, 100));
    let (mut decisions, adapted) = on_host(&shipped(), &before);
    decisions.extend(on_host(&adapted, &after).0);

    let socket = folder.path().join("monitor");
    let server = format!("unix:{},server=on,wait=off", socket.display());
    let qemu = Qemu::start_in(&image, folder.path(), &["-qmp", &server]).expect("QEMU starts");
    let (told, saved) = mpsc::channel();
    // Once the device has said that the model is saved, all that is left for it is to wait for the next
    // sample: the board is reset, and when it has been, what comes after is sent to the restarted program.
    let reset_when_saved = move || {
        saved.recv_timeout(PATIENCE).expect("a model is saved");
        Monitor::connect(&socket).tell("system_reset", &["\"return\"", "\"RESET\""]);
        None
    };
    let inputs = before
        .iter()
        .map(|sample| Input::Vector(sample))
        .chain([Input::Save])
        .chain(std::iter::once_with(reset_when_saved).flatten())
        .chain([Input::Reset])
        .chain(after.iter().map(|sample| Input::Vector(sample)));
    let (options, serial) = (Options::default(), qemu.serial());
    serial.set_read_timeout(Some(options.retry)).expect("a socket has time-outs");
    let reader =
        Overheard { reader: serial, receiver: Receiver::new(), record: [0; 256], saved: told };
    let hang_up = || {
        let _ = serial.shutdown(Shutdown::Both);
    };
    let outcome = converse(reader, serial, hang_up, inputs, &options, |_| ());
    let outcome = outcome.expect("the device answers");
    let ending = qemu.wait(options.patience).expect("ends");
    assert_eq!(ending.code, Some(Exit::Done.code()));
    let log = log::lines(&image.elf, &ending.log).join("\n");
    assert!(log.contains("saved model 1") && log.contains("restored model 1"), "{log}");
    assert_eq!(outcome.saved, [1]);
    assert_eq!(bits(&outcome.answers), decisions);
}

/// Streams samples to a device that loses power after so many steps of saving; whether it did.
fn loses_power(image: &Image, folder: &Path, samples: &[[f32; 2]], steps: u32) -> bool {
    let power = folder.join("fishweir-power.bin");
    std::fs::write(&power, steps.to_le_bytes()).expect("writes");
    let inputs = samples.iter().map(|sample| Input::Vector(sample)).chain([Input::Save]);
    let run = Qemu::start_in(image, folder, &[])
        .and_then(|qemu| qemu.run(inputs, &Options::default(), |_| ()));
    std::fs::remove_file(power).expect("is there");
    match run {
        Ok(_) => false,
        Err(DeviceError::Emulator { code, .. }) if code == Some(Exit::Failed.code()) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn power_lost_in_the_middle_of_saving_leaves_the_model_before_or_the_new_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = image(Board::default_name(), folder.path());
    let file = folder.path().join(FILE);
    let read = || std::fs::read(&file).expect("the flash's file");
    let (first, second, third) = (samples(3, 200), samples(4, 150), samples(5, 40));
    run(&image, folder.path(), &first, true);
    let one = on_host(&shipped(), &first).1;
    run(&image, folder.path(), &second, true);
    let two = on_host(&one, &second).1;
    // Both slots are full: the third save erases the first.
    let full = read();
    assert_eq!((saved_in(&full, 0), saved_in(&full, 1)), (one, two));
    let three = on_host(&two, &first).1;
    let from_two = on_host(&two, &third).0;
    let from_three = on_host(&three, &third).0;
    assert_ne!(from_two, from_three);

    // Steps: 64 bytes of the slot erased, then words of the value, then words of the header.
    let erasing = full.len() as u32 / 2 / 64;
    let writing = (artefact::length_of::<Hmm<Gaussian<2>, 3>, 1, 1>(0) as u32).div_ceil(4);
    let header = 32 / 4;
    let written = erasing + writing;
    let places = [
        (0, 2),
        (3, 2),
        (erasing - 1, 2),
        (erasing, 2),
        (erasing + writing / 2, 2),
        (written, 2),
        // Magic, number, length, then the checksum: with all of it the value counts.
        (written + 1, 2),
        (written + 3, 2),
        (written + 4, 3),
        (written + header - 1, 3),
        (written + header, 3),
    ];
    for (steps, newest) in places {
        std::fs::write(&file, &full).expect("writes");
        let lost = loses_power(&image, folder.path(), &first, steps);
        assert_eq!(lost, steps < written + header, "{steps}");
        assert_ne!(read(), full, "{steps}");
        let (outcome, log) = run(&image, folder.path(), &third, false);
        assert!(log.contains(&format!("restored model {newest}")), "{steps}: {log}");
        let expected = if newest == 3 { &from_three } else { &from_two };
        assert_eq!(&bits(&outcome.answers), expected, "{steps}");
    }
}
