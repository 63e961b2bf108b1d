//! Boards as workers: the expected counts that they send, and nothing else, make the model that one host makes of all
//! recordings, to the bit.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use fishweir::classifier::{Classifier, Observations};
use fishweir::data::{Samples, SamplesView};
use fishweir::device::{
    Board, CountsLog, DeviceError, Firmware, Image, ModelFile, Options, Qemu, collect_counts,
};
use fishweir::fit::{BaumWelch, FittedMoments};
use fishweir::parts::{self, ExpectedSums, Share};
use fishweir::runtime::{Emissions, Hmm as HostHmm, family};
use fishweir::sums::{Digest, LEAF, digests_of};
use fishweir_core::artefact::{self, model_checksum};
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::{Gaussian, VectorSpace};
use fishweir_core::filter::{Statistics, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::boards;

type Model = Hmm<Gaussian<2>, 3>;

fn shipped() -> Model {
    let chain = Chain::<f32, 3>::new(
        [0.5, 0.25, 0.25],
        [[0.75, 0.125, 0.125], [0.125, 0.75, 0.125], [0.125, 0.125, 0.75]],
    );
    // Variances whose roots are exact.
    let state = |x: f32, y: f32| Gaussian::new([x, y], [4.0, 0.25]).expect("positive variances");
    Hmm::new(chain.expect("a chain"), [state(-2.0, 0.0), state(0.0, 1.0), state(2.0, -1.0)])
}

/// The same model on the host.
fn on_host() -> HostHmm {
    let widened = |row: &[f32]| -> Vec<f64> { row.iter().map(|&x| x.into()).collect() };
    let model = shipped();
    let means = model.emission().iter().map(|state| widened(state.mean())).collect();
    let stds = vec![vec![2.0, 0.5]; 3];
    HostHmm {
        initial: widened(model.chain().initial()),
        transition: model.chain().transition().iter().map(|row| widened(row)).collect(),
        emission: Emissions::new(family("gaussian").expect("a family"), vec![means, stds]),
    }
}

/// Recordings of a few samples each: three leaves, of which the last is not full.
fn recordings() -> Vec<Vec<[f32; 2]>> {
    let mut generator = ChaCha8Rng::seed_from_u64(4);
    let recording = |_| {
        let length = generator.random_range(3..30);
        let mut noise =
            || generator.random_range(-1.0..1.0_f32) + generator.random_range(-0.5..0.5);
        (0..length)
            .map(|t| {
                let [x, y] = [[-3.0, 0.5], [0.5, 2.0], [3.5, -1.0]][t / 5 % 3];
                [x + noise(), y + 0.5 * noise()]
            })
            .collect()
    };
    (0..2 * LEAF + 20).map(recording).collect()
}

/// What the core finds of a recording on this machine.
fn counted(samples: &[[f32; 2]]) -> Vec<f32> {
    let model = shipped();
    let statistics = Statistics::of(&model);
    let mut state = statistics.initial_state();
    samples.iter().for_each(|sample| statistics.push(&mut state, Some(sample)).expect("possible"));
    let mut counts = vec![state.belief().log()];
    statistics.read(&state).for_each(|count| counts.push(count));
    counts
}

fn image(board: &'static Board, folder: &Path, features: &str) -> Image {
    let alone =
        StreamClassifier::from_parts([shipped()], [[1.0]], [0.0], Normalisation::PER_SAMPLE);
    let mut buffer = [0; 1024];
    let path = folder.join("shipped.fishweir");
    let bytes = artefact::write(&alone, "", &mut buffer).expect("room enough");
    std::fs::write(&path, bytes).expect("writes");
    Firmware::in_repository()
        .and_then(|firmware| {
            let elf = folder.join("adapt.elf");
            firmware.build_with(board, "adapt", features, ModelFile::Artefact(&path), &elf)
        })
        .expect("builds")
}

/// Counts of recordings, and all that the device sent.
type Counted = (Vec<Vec<f32>>, Vec<u8>);

/// Has a board count recordings, over a line that damages every `noise`th byte, or none.
fn count(
    image: &Image,
    folder: &Path,
    recordings: &[Vec<[f32; 2]>],
    (noise, model): (Option<usize>, u32),
) -> Result<Counted, DeviceError> {
    let bytes = |sample: &[f32; 2]| sample.iter().flat_map(|x| x.to_le_bytes()).collect();
    let recordings: Vec<Vec<Vec<u8>>> =
        recordings.iter().map(|one| one.iter().map(bytes).collect()).collect();
    let options = Options::default();
    let qemu = Qemu::start_in(image, folder, &[])?;
    let mut failed = None;
    let talked = qemu.talk(options.patience, |mut serial| {
        serial.set_read_timeout(Some(Duration::from_millis(200)))?;
        let mut reader = Noisy::new(serial.try_clone()?, noise);
        let writer = Noisy::new(serial, noise);
        let counts = collect_counts(&mut reader, writer, &recordings, model, &options);
        counts.map(|counts| (counts, reader.heard)).map_err(|error| {
            let text = error.to_string();
            failed = Some(error);
            // The last word may have been damaged: the device stops all the same.
            let _ = serial.write_all(&[0]);
            io::Error::other(text)
        })
    });
    match (talked, failed) {
        (_, Some(error)) => Err(error),
        (talked, None) => Ok(talked?.0),
    }
}

/// A line that damages bytes now and then.
struct Noisy<S> {
    line: S,
    every: Option<usize>,
    passed: usize,
    /// All that was read.
    heard: Vec<u8>,
}

impl<S> Noisy<S> {
    fn new(line: S, every: Option<usize>) -> Self {
        Self { line, every, passed: 0, heard: Vec::new() }
    }

    fn damage(&mut self, bytes: &mut [u8]) {
        let Some(every) = self.every else { return };
        for byte in bytes {
            self.passed += 1;
            if self.passed.is_multiple_of(every) {
                *byte ^= 0x24;
            }
        }
    }
}

impl<S: Read> Read for Noisy<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.line.read(buffer)?;
        self.damage(&mut buffer[..length]);
        self.heard.extend(&buffer[..length]);
        Ok(length)
    }
}

impl<S: Write> Write for Noisy<S> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut bytes = buffer.to_vec();
        // The last frame ends the run.
        let stop = buffer.windows(2).any(|pair| pair[1] == b'X' && pair[0] < 16);
        if !stop {
            self.damage(&mut bytes);
        }
        self.line.write_all(&bytes)?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.flush()
    }
}

/// The next model as `merge` makes it, by what devices sent: the first of a classifier, as on a board.
fn merged(counts: Vec<Vec<f32>>) -> HostHmm {
    let names = ["x", "y"].map(str::to_owned).to_vec();
    let classes = ["gait", "rest"].map(str::to_owned).to_vec();
    let rest = HostHmm { initial: vec![0.25, 0.5, 0.25], ..on_host() };
    let (models, priors) = (vec![on_host(), rest.clone()], [0.5; 2]);
    let channels = Observations::Channels(names);
    let classifier = Classifier::of_models(channels, classes, models, &priors, None);
    let file = parts::ModelFile::Classifier(Box::new(classifier.expect("a classifier")));
    assert_eq!(file.device_checksums().expect("in range")[0], model_checksum(&shipped()));
    let sums = file.sums_of_counts(&[counts]).expect("sums");
    let next = file.maximised_by_counts(&sums, &BaumWelch::default()).expect("models");
    let parts::ModelFile::Classifier(next) = next else { panic!("no classifier") };
    assert_eq!(next.models[1], rest);
    next.models[0].clone()
}

fn bits(counts: &[Vec<f32>]) -> Vec<Vec<u32>> {
    counts.iter().map(|one| one.iter().map(|count| count.to_bits()).collect()).collect()
}

#[test]
fn three_boards_make_the_model_of_one_host() {
    let all = recordings();
    let host = on_host();
    let samples: Vec<Samples> =
        all.iter().map(|one| one.iter().map(|x| x.map(f64::from)).collect()).collect();
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let options = BaumWelch { states: 3, ..BaumWelch::default() };
    let moments = FittedMoments::of(&options, host.emission.family(), &views, &[1.0, 1.0]);
    let leaves = all.len().div_ceil(LEAF);
    let data = digests_of(&views, 0).total(leaves).expect("whole").expect("some");
    let whole = (data, all.len(), moments);
    let by_host: Vec<Vec<f32>> = all.iter().map(|one| counted(one)).collect();
    let sums = |first: usize, counts: &[Vec<f32>]| {
        let some = &views[first * LEAF..][..counts.len()];
        let marks = digests_of(some, first);
        ExpectedSums::of_counts(("gait", &host), (first, counts), &marks, whole.clone())
    };
    let alone = sums(0, &by_host).expect("sums");
    let next = |sums: &ExpectedSums| {
        let (expected, moments) = sums.total_of_counts(&host).expect("whole");
        options.maximised(&host, &expected, moments).expect("a model")
    };
    let mut merged: Option<ExpectedSums> = None;
    let mut parts = 0;
    let mut sent = vec![Vec::new(); 3];
    // The last first: the order of arrival changes nothing.
    for (number, board) in (1..=3).zip(boards().take(3)).collect::<Vec<_>>().into_iter().rev() {
        let range = Share::new(number, 3).expect("a share").range(leaves);
        let some = range.start * LEAF..all.len().min(range.end * LEAF);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let image = image(board, folder.path(), "counts");
        let model = model_checksum(&shipped());
        let (counts, heard) =
            count(&image, folder.path(), &all[some.clone()], (None, model)).expect("counts");
        let log = |heard: &[u8]| {
            CountsLog::parse(heard).and_then(|log| log.recordings(model)).expect("whole counts")
        };
        sent[number - 1] = log(&heard);
        assert_eq!(bits(&sent[number - 1]), bits(&counts));
        assert_eq!(bits(&counts), bits(&by_host[some.clone()]), "{}", board.name);
        let part = sums(range.start, &counts).expect("sums");
        match &mut merged {
            None => merged = Some(part),
            Some(merged) => merged.merge(part).expect("apart"),
        }
        parts += 1;
        if board.name == Board::default_name() {
            // Damaged, repeated and late records change nothing.
            let noisy = count(&image, folder.path(), &all[some.clone()], (Some(1499), model));
            let (noisy, heard) = noisy.expect("counts");
            assert_eq!(bits(&noisy), bits(&counts));
            assert_eq!(bits(&log(&heard)), bits(&counts));
            let other = count(&image, folder.path(), &all[some], (None, model ^ 1));
            assert!(other.expect_err("another model").to_string().contains("under the model"));
        }
    }
    assert_eq!(parts, 3);
    let merged = merged.expect("three parts");
    assert_eq!(merged, alone);
    assert_eq!(next(&merged), next(&alone));
    assert_ne!(next(&merged), host);
    let by_records = self::merged(sent.concat());
    assert_eq!(by_records, self::merged(by_host));
    assert_ne!(by_records, host);
    // Counts of devices are not those of double precision.
    let marks = digests_of(&views, 0);
    let double = ExpectedSums::of_model(
        ("gait", &host),
        (0, &views),
        &marks,
        (Digest::of_sequences(&views), all.len()),
    );
    assert!(merged.clone().merge(double.expect("sums")).is_err());
}

#[test]
fn an_image_that_adapts_counts_nothing() {
    let board = Board::named(Board::default_name()).expect("a board");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = image(board, folder.path(), "image");
    let model = model_checksum(&shipped());
    let refused = count(&image, folder.path(), &recordings()[..1], (None, model));
    let error = refused.expect_err("it adapts").to_string();
    assert!(error.contains("does not serve requests 0x4e"), "{error}");
}
