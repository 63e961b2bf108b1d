//! A line that flips, drops and doubles bytes: the stream goes on, what is lost is known sample by
//! sample, and every decision is the host's with the same samples missing.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use fishweir::deploy::Deployed;
use fishweir::device::{Image, Options, Outcome, Qemu, converse};
use fishweir::parity::{Recording, compare};
use fishweir_core::wire::{CHECKSUM_LENGTH, Exit, Head, Receiver, Request, SampleIndex};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::faults::fixtures::{classifier, image, strings};

/// Damages one byte in `every` on average, each in one of three ways.
struct Noise {
    generator: ChaCha8Rng,
    every: u32,
}

impl Noise {
    fn new(seed: u64, every: u32) -> Self {
        Self { generator: ChaCha8Rng::seed_from_u64(seed), every }
    }

    /// What becomes of a byte, and whether that is anything else.
    fn pass(&mut self, byte: u8, out: &mut Vec<u8>) -> bool {
        if self.every == 0 || !self.generator.random_ratio(1, self.every) {
            out.push(byte);
            return false;
        }
        match self.generator.random_range(0..3) {
            0 => out.push(byte ^ (1 << self.generator.random_range(0..8))),
            1 => {}
            _ => out.extend([byte, byte]),
        }
        true
    }
}

/// The line to the device. It knows what it was given, and notes what it did to it.
struct NoisyWriter<'n, W> {
    writer: W,
    noise: Noise,
    receiver: Receiver,
    record: [u8; 64],
    /// Bytes of this frame that were damaged, its delimiters not counted and counted.
    inside: usize,
    anywhere: usize,
    notes: &'n mut Notes,
}

#[derive(Default)]
struct Notes {
    /// Samples whose frames were damaged between the delimiters.
    damaged: HashSet<SampleIndex>,
    /// Samples whose frames, or the delimiters next to them, were damaged.
    touched: HashSet<SampleIndex>,
}

impl<W: Write> Write for NoisyWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = Vec::new();
        for &byte in bytes {
            let hit = self.noise.pass(byte, &mut out);
            self.anywhere += usize::from(hit);
            self.inside += usize::from(hit && byte != 0);
            let Some(length) = self.receiver.push(byte, &mut self.record) else { continue };
            let (head, _) = Head::split(&self.record[..length]).expect("the host sends heads");
            let sample = [Request::Sample, Request::Missing].map(Request::tag).contains(&head.tag);
            if sample && self.inside > 0 {
                self.notes.damaged.insert(head.sample_index());
            }
            if sample && self.anywhere > 0 {
                self.notes.touched.insert(head.sample_index());
            }
            (self.inside, self.anywhere) = (0, 0);
        }
        self.writer.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

struct NoisyReader<R> {
    reader: R,
    noise: Noise,
}

impl<R: Read> Read for NoisyReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // Doubled, they must still fit.
        let mut bytes = vec![0; buffer.len() / 2];
        loop {
            let read = self.reader.read(&mut bytes)?;
            let mut out = Vec::new();
            bytes[..read].iter().for_each(|&byte| {
                self.noise.pass(byte, &mut out);
            });
            // Nothing left is not the end.
            if !out.is_empty() || read == 0 {
                buffer[..out.len()].copy_from_slice(&out);
                return Ok(out.len());
            }
        }
    }
}

/// A conversation over a line that damages one byte in `there` on the way to the device and one in
/// `back` on the way back; 0 for none.
fn talk(image: &Image, recording: &Recording<'_>, (there, back): (u32, u32)) -> (Outcome, Notes) {
    let qemu = Qemu::start(image).expect("QEMU starts");
    let options = Options::default();
    let serial = qemu.serial();
    serial.set_read_timeout(Some(options.retry)).expect("a socket has time-outs");
    let mut notes = Notes::default();
    let writer = NoisyWriter {
        writer: serial,
        noise: Noise::new(u64::from(there), there),
        receiver: Receiver::new(),
        record: [0; 60 + CHECKSUM_LENGTH],
        inside: 0,
        anywhere: 0,
        notes: &mut notes,
    };
    let reader = NoisyReader { reader: serial, noise: Noise::new(u64::from(back) + 1, back) };
    let hang_up = || {
        let _ = serial.shutdown(Shutdown::Both);
    };
    let outcome = converse(reader, writer, hang_up, recording.inputs(), &options, |_| ())
        .expect("the stream survives");
    let ending = qemu.wait(Duration::from_secs(30)).expect("ends");
    assert_eq!(ending.code, Some(Exit::Done.code()));
    (outcome, notes)
}

/// The places of the samples of a recording: the device starts in stream 0, so the host in stream 1.
fn places(recording: &Recording<'_>) -> Vec<SampleIndex> {
    let mut place = SampleIndex::default().next_stream();
    let mut places = Vec::new();
    for input in recording.inputs() {
        if matches!(input, fishweir::device::Input::Reset) {
            place = place.next_stream();
        } else {
            places.push(place);
            place = place.next();
        }
    }
    places
}

fn with_device(test: impl FnOnce(&Deployed, &Image, &Recording<'_>)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deployed = classifier();
    let image = image(&deployed, "classify_stream", folder.path());
    let data = strings(700);
    let recording = Recording::new(data.series().iter().map(|one| one.samples.view()), None);
    test(&deployed, &image, &recording);
}

#[test]
fn samples_damaged_on_the_way_are_missing_samples_there_and_all_others_count() {
    with_device(|deployed, image, recording| {
        let (outcome, notes) = talk(image, recording, (300, 0));
        let answers = &outcome.answers;
        // Sample by sample: what was damaged is lost, what was not touched is not.
        assert!(notes.damaged.len() > 100, "{}", notes.damaged.len());
        for (place, answer) in places(recording).iter().zip(answers) {
            match answer {
                Some(_) => assert!(!notes.damaged.contains(place), "{place:?}"),
                None => assert!(notes.touched.contains(place), "{place:?}"),
            }
        }
        let parity = compare(deployed, recording, answers).expect("comparable");
        assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
        // The last samples of a stream that are lost are known by nobody to have been there, but for
        // the last stream: there the request for the report says how many there were.
        let unanswered = answers.iter().filter(|answer| answer.is_none()).count();
        assert_eq!(parity.lost + parity.not_compared, unanswered);
        assert_eq!(parity.unanswered, 0);
        let lost = outcome.report.lost as usize;
        assert!(parity.lost <= lost && lost <= unanswered, "{parity:?} {:?}", outcome.report);
        assert!(outcome.report.corrupt > 0);
        assert_eq!((outcome.corrupt, outcome.report.repeated), (0, 0));

        // Had the device not made up for what it lost, or the host not known of it, bits would differ.
        let mut unaware = answers.clone();
        unaware.iter_mut().flatten().for_each(|answer| answer.lost = 0);
        let parity = compare(deployed, recording, &unaware).expect("comparable");
        assert!(parity.differing_bits > 0);
    });
}

#[test]
fn answers_damaged_on_the_way_back_are_missed_and_nothing_else() {
    with_device(|deployed, image, recording| {
        let (outcome, _) = talk(image, recording, (0, 400));
        let unanswered = outcome.answers.iter().filter(|answer| answer.is_none()).count();
        assert!(unanswered > 100 && outcome.corrupt > 100, "{unanswered}");
        let report = &outcome.report;
        assert_eq!((report.lost, report.corrupt, report.repeated), (0, 0, 0));
        let parity = compare(deployed, recording, &outcome.answers).expect("comparable");
        assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
        assert_eq!((parity.lost, parity.unanswered + parity.not_compared), (0, unanswered));
    });
}

#[test]
fn a_line_that_is_noisy_both_ways_carries_what_it_can() {
    with_device(|deployed, image, recording| {
        let (outcome, _) = talk(image, recording, (2000, 2000));
        let answered = outcome.answers.iter().flatten().count();
        assert!(10 * answered > 9 * recording.samples() && answered < recording.samples());
        let parity = compare(deployed, recording, &outcome.answers).expect("comparable");
        assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
        assert!(parity.lost > 0 && parity.unanswered > 0, "{parity:?}");
    });
}
