//! The model of a device is replaced over its serial port: whatever is cut off and whenever the power goes, the
//! old or the new one runs, bit for bit, and the transfer is completed.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fishweir::data::{Sample, SamplesView};
use fishweir::deploy::{Deployed, UpdateKey};
use fishweir::device::{
    Answer, Board, DeviceError, Firmware, Image, Input, ModelFile, Options, Port, Qemu, send_update,
};
use fishweir_core::artefact::{length_of, write};
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::Categorical;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::wire::{Exit, UpdateStatus};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::saving::{FILE, Monitor};
use crate::faults::log;

const LABELS: &str = "fair\nalternating\nHT\n";

/// A fair coin and one that takes turns, by so much.
fn model(bias: f32) -> Deployed {
    type Coin = Hmm<Categorical<2>, 2>;
    let chain = Chain::from_parts([0.5, 0.5], [[0.125, 0.875], [0.875, 0.125]]);
    let side = |p: f32| Categorical::from_parts([p, 1.0 - p]);
    let coin = |p: f32| -> Coin { Hmm::new(chain, [side(p), side(1.0 - p)]) };
    let bank = StreamClassifier::from_parts(
        [coin(0.5), coin(bias)],
        [[1.0, 0.0], [0.0, 1.0]],
        [0.0, 0.0],
        Normalisation::NONE,
    );
    let mut room = [0; length_of::<Coin, 2, 2>(LABELS.len())];
    let bytes = write(&bank, LABELS, &mut room).expect("room enough");
    Deployed::from_artefact("coin", bytes).expect("sound")
}

fn tosses() -> Vec<Option<u16>> {
    (0..60_u16).map(|t| Some((t + t / 7) % 2)).collect()
}

/// The key that the images trust.
fn key() -> UpdateKey {
    UpdateKey::from_secret(&[7; 32])
}

fn unsigned(version: u32, model: &Deployed) -> Vec<u8> {
    model.to_update(version, SamplesView::Symbols(&tosses()), false).expect("an update")
}

fn update(version: u32, model: &Deployed) -> Vec<u8> {
    key().sign(&unsigned(version, model)).expect("an update")
}

type Bits = Vec<(usize, u32, Vec<u32>)>;

/// What the host makes of the tosses.
fn on_host(model: &Deployed) -> Bits {
    let mut stream = model.stream();
    let tosses = tosses();
    tosses
        .iter()
        .flatten()
        .map(|&toss| {
            stream.push(Sample::Symbol(toss)).expect("possible");
            let decision = stream.decision().expect("in range");
            let logs = stream.log_likelihoods();
            let logs = logs.iter().map(|log| log.to_bits()).collect();
            (decision.class, decision.margin.to_bits(), logs)
        })
        .collect()
}

fn image(board: &str, built_in: &Deployed, folder: &Path) -> Image {
    let public = folder.join("update.pub");
    std::fs::write(&public, key().public_text()).expect("writes");
    build(Some(&public), board, "field", built_in, folder).expect("builds")
}

fn build(
    key: Option<&Path>,
    board: &str,
    features: &str,
    built_in: &Deployed,
    folder: &Path,
) -> Result<Image, DeviceError> {
    let artefact = folder.join("built_in.fishweir");
    built_in.save_artefact(&artefact).expect("writes");
    let board = Board::named(board).expect("a board");
    let elf = folder.join("field.elf");
    let mut firmware = Firmware::in_repository()?;
    if let Some(key) = key {
        firmware = firmware.with_update_key(key)?;
    }
    firmware.build_with(board, "field", features, ModelFile::Artefact(&artefact), &elf)
}

fn start(image: &Image, folder: &Path) -> Qemu {
    Qemu::start_in(image, folder, &[]).expect("QEMU starts")
}

/// Streams the tosses as one more stream; what came back, and the log. Then the device ends.
fn decisions(qemu: Qemu, elf: &Path) -> (Bits, String) {
    let tosses = tosses();
    let inputs = tosses.iter().flatten().map(|&toss| Input::Symbol(toss));
    let run = qemu.run(inputs, &Options::default(), |_| ()).expect("the device answers");
    let bits = |answer: &Option<Answer>| {
        let answer = answer.as_ref().expect("a quiet line");
        (answer.class, answer.margin_bits, answer.log_likelihood_bits.to_vec())
    };
    let bits = run.outcome.answers.iter().map(bits).collect();
    (bits, log::lines(elf, &run.log).join("\n"))
}

/// Sends an update through a terminal of this machine, as to a serial port.
fn send_by_port(
    qemu: &Qemu,
    update: &[u8],
    progress: impl FnMut(usize),
) -> Result<UpdateStatus, DeviceError> {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("it can be opened");
    let name = ptsname(&terminal, Vec::new()).expect("it has a name").into_string();
    let (options, mut wire) = (Options::default(), File::from(terminal));
    let port = Port::open(&name.expect("of letters"), Port::BAUD, &options).expect("opened");
    let (mut serial, done) = (qemu.serial(), AtomicBool::new(false));
    serial.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket has time-outs");
    let mut out = wire.try_clone().expect("a file");
    thread::scope(|scope| {
        // Until the port is closed.
        scope.spawn(|| std::io::copy(&mut wire, &mut qemu.serial()).expect_err("no one there"));
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let mut bytes = [0; 256];
                let read = serial.read(&mut bytes).unwrap_or(0);
                out.write_all(&bytes[..read]).expect("room enough");
            }
        });
        let sent = send_update(&port, &port, update, &options, progress);
        done.store(true, Ordering::Relaxed);
        drop(port);
        sent
    })
}

/// A reader that ends after so many bytes.
struct Short<R>(R, usize);

impl<R: Read> Read for Short<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(self.1);
        let read = self.0.read(&mut into[..most])?;
        self.1 -= read;
        Ok(read)
    }
}

/// A transfer that breaks off after so many bytes of answers.
fn break_off(qemu: &Qemu, update: &[u8], bytes: usize) {
    let (options, serial) = (Options::default(), qemu.serial());
    serial.set_read_timeout(Some(options.retry)).expect("a socket has time-outs");
    let sent = send_update(Short(serial, bytes), serial, update, &options, |_| ());
    assert!(matches!(sent, Err(DeviceError::Stopped { .. })), "{sent:?}");
}

#[test]
fn a_killed_device_completes_its_update_and_decides_as_the_host() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let (built_in, one, two) = (model(0.75), model(0.8125), model(0.6875));
    let image = image(Board::default_name(), &built_in, folder);
    let (old, new, newest) = (on_host(&built_in), on_host(&one), on_host(&two));
    assert!(old != new && new != newest);

    let (bits, log) = decisions(start(&image, folder), &image.elf);
    assert!(log.contains("model version 0"), "{log}");
    assert_eq!(bits, old);

    // Killed during the transfer, at several places: an answer is 24 bytes.
    let update_one = update(1, &one);
    for bytes in [1, 25, 25, 97] {
        let qemu = start(&image, folder);
        break_off(&qemu, &update_one, bytes);
        drop(qemu);
        let (bits, _) = decisions(start(&image, folder), &image.elf);
        assert_eq!(bits, old, "{bytes:?}");
    }
    let qemu = start(&image, folder);
    let mut first = None;
    let status = send_by_port(&qemu, &update_one, |bytes| {
        first.get_or_insert(bytes);
    });
    assert_eq!(status.expect("takes it"), UpdateStatus::Received);
    assert!(first.is_some_and(|bytes| bytes > 128), "it went on where it broke off: {first:?}");
    // Once more, as where the answer was lost; and one that is older, or damaged.
    let again = qemu.update(&update_one, &Options::default(), |_| ()).expect("has it");
    assert_eq!(again, UpdateStatus::Received);
    let (bits, log) = decisions(qemu, &image.elf);
    assert!(log.contains("version 1 on trial") && log.contains("version 1 confirmed"), "{log}");
    assert_eq!(bits, new);
    let qemu = start(&image, folder);
    let older = qemu.update(&update(1, &two), &Options::default(), |_| ());
    let why = UpdateStatus::NotNewer;
    assert!(matches!(older, Err(DeviceError::UpdateRefused { why: w }) if w == why), "{older:?}");
    assert_eq!(decisions(qemu, &image.elf).0, new);

    // Power lost at steps of the flash: erasing (64 bytes per step), writing (words), marking, beginning.
    let flash = folder.join(FILE);
    let before = std::fs::read(&flash).expect("the flash's file");
    let update_two = update(2, &two);
    let (void, erased) = (16, before.len() as u32 / 2 / 64);
    let all = void + erased + 16 + 8 + (update_two.len() as u32 - 64).div_ceil(4);
    for steps in [3, void + 5, void + erased + 7, all - 20, all + 1, all + 7, all + 8, all + 9] {
        std::fs::write(&flash, &before).expect("writes");
        let power = folder.join("fishweir-power.bin");
        std::fs::write(&power, steps.to_le_bytes()).expect("writes");
        let qemu = start(&image, folder);
        let sent = qemu.update(&update_two, &Options::default(), |_| ());
        if sent.is_ok() {
            // Lost when the new model begins or is confirmed.
            let tosses = tosses();
            let inputs = tosses.iter().flatten().map(|&toss| Input::Symbol(toss));
            let run = qemu.run(inputs, &Options::default(), |_| ());
            assert!(
                matches!(run, Err(DeviceError::Emulator { code, .. }) if code == Some(Exit::Failed.code())),
                "{steps}: {run:?}"
            );
        } else {
            assert!(steps < all + 8, "{steps}: {sent:?}");
            drop(qemu);
        }
        std::fs::remove_file(power).expect("is there");
        let qemu = start(&image, folder);
        let status = qemu.update(&update_two, &Options::default(), |_| ()).expect("takes it");
        // The header is whole with its fourth word. A mark half written is set: lost while it was confirmed,
        // it is.
        let expected = match steps.saturating_sub(all) {
            0..4 => (UpdateStatus::Received, "version 2 confirmed"),
            4..=8 => (UpdateStatus::OnTrial, "version 2 confirmed"),
            _ => (UpdateStatus::Confirmed, "model version 2"),
        };
        assert_eq!(status, expected.0, "{steps}");
        let (bits, log) = decisions(qemu, &image.elf);
        assert!(log.contains(expected.1), "{steps}: {log}");
        assert_eq!(bits, newest, "{steps}");
    }
    // It stays.
    let (bits, log) = decisions(start(&image, folder), &image.elf);
    assert!(log.contains("model version 2"), "{log}");
    assert_eq!(bits, newest);
}

fn refusal(qemu: &Qemu, update: &[u8]) -> UpdateStatus {
    match qemu.update(update, &Options::default(), |_| ()) {
        Err(DeviceError::UpdateRefused { why }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_device_takes_what_its_key_has_signed_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let (built_in, one, two) = (model(0.75), model(0.8125), model(0.6875));
    let image = image(Board::default_name(), &built_in, folder);
    let qemu = start(&image, folder);
    let genuine = update(2, &two);
    let stranger = UpdateKey::from_secret(&[8; 32]);
    // Not signed, signed by another, the signature of another update, one bit of either changed.
    assert_eq!(refusal(&qemu, &unsigned(1, &one)), UpdateStatus::Signature);
    let forged = stranger.sign(&genuine).expect("an update");
    assert_eq!(refusal(&qemu, &forged), UpdateStatus::Signature);
    let other = update(2, &one);
    let swapped = [&genuine[..genuine.len() - 64], &other[other.len() - 64..]].concat();
    assert_eq!(refusal(&qemu, &swapped), UpdateStatus::Signature);
    let mut flipped = genuine.clone();
    *flipped.last_mut().expect("a signature") ^= 0x10;
    assert_eq!(refusal(&qemu, &flipped), UpdateStatus::Signature);
    // Damage is not sent at all, nor is what was cut off.
    let mut damaged = genuine.clone();
    damaged[100] ^= 1;
    for bytes in [&damaged[..], &genuine[..genuine.len() - 1]] {
        let refused = qemu.update(bytes, &Options::default(), |_| ());
        assert!(matches!(refused, Err(DeviceError::NotAnUpdate(_))), "{refused:?}");
    }
    // The genuine one, after which an older one is refused, signed as it is.
    let status = qemu.update(&genuine, &Options::default(), |_| ()).expect("takes it");
    assert_eq!(status, UpdateStatus::Received);
    let (bits, log) = decisions(qemu, &image.elf);
    assert!(log.contains("version 2 confirmed"), "{log}");
    assert_eq!(bits, on_host(&two));
    let qemu = start(&image, folder);
    assert_eq!(refusal(&qemu, &update(1, &one)), UpdateStatus::NotNewer);
    assert_eq!(decisions(qemu, &image.elf).0, on_host(&two));
}

#[test]
fn an_image_without_a_key_is_built_by_a_word_that_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let (built_in, one) = (model(0.75), model(0.8125));
    let failed =
        |key: Option<&Path>| match build(key, Board::default_name(), "field", &built_in, folder) {
            Err(DeviceError::Build { message, .. }) => message,
            other => panic!("{other:?}"),
        };
    let message = failed(None);
    for word in ["FISHWEIR_UPDATE_KEY", "fishweir keygen", "insecure-updates-by-anyone"] {
        assert!(message.contains(word), "{message}");
    }
    let private = folder.join("update.key");
    std::fs::write(&private, key().private_text()).expect("writes");
    assert!(failed(Some(&private)).contains("update.key is no public key"));
    let word = "insecure-updates-by-anyone";
    let image = build(None, Board::default_name(), word, &built_in, folder).expect("builds");
    let qemu = start(&image, folder);
    let status = qemu.update(&unsigned(1, &one), &Options::default(), |_| ());
    assert_eq!(status.expect("takes it"), UpdateStatus::Received);
    assert_eq!(decisions(qemu, &image.elf).0, on_host(&one));
}

#[test]
#[ignore = "another image: tests/boards runs it"]
fn an_update_in_a_part_s_own_flash_survives_resets() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let (built_in, one) = (model(0.75), model(0.8125));
    let image = image("microbit", &built_in, folder);
    let socket = folder.join("monitor");
    let server = format!("unix:{},server=on,wait=off", socket.display());
    let qemu = Qemu::start_in(&image, folder, &["-qmp", &server]).expect("QEMU starts");
    let mut monitor = Monitor::connect(&socket);
    let update = update(1, &one);
    for bytes in [25, 49, 73] {
        break_off(&qemu, &update, bytes);
        monitor.tell("system_reset", &["\"return\"", "\"RESET\""]);
    }
    let status = qemu.update(&update, &Options::default(), |_| ()).expect("takes it");
    assert_eq!(status, UpdateStatus::Received);
    monitor.tell("system_reset", &["\"return\"", "\"RESET\""]);
    let status = qemu.update(&update, &Options::default(), |_| ()).expect("has it");
    assert_eq!(status, UpdateStatus::OnTrial);
    let (bits, log) = decisions(qemu, &image.elf);
    assert!(log.contains("model version 1"), "{log}");
    assert_eq!(bits, on_host(&one));
}
