//! Host and device agree bit for bit: real recordings and symbols, streamed to the firmware on an
//! emulated Cortex-M4F and to the host. These tests fail where QEMU or the target is missing.

use std::path::Path;

use fishweir::data::{Dataset, ReadOptions};
use fishweir::deploy::Deployed;
use fishweir::device::{Board, Firmware, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::learn::{Augment, ClassifierKind, TrainOptions, train};
use fishweir::parity::{Parity, Recording, compare};

const RECORDINGS: &[u8] = include_bytes!("../../host/data/ts-watch-exercises/all.csv.gz");
const SAMPLES: usize = 20_500;

/// A quick fit: parity is about arithmetic, not about good models.
fn options(kind: ClassifierKind) -> TrainOptions {
    let mut options = TrainOptions::new(kind);
    options.baum_welch.iterations = 3;
    options.augment = Augment::NONE;
    options.c = vec![1.0];
    options.scalings.truncate(1);
    options
}

fn trained(data: &Dataset, kind: ClassifierKind) -> Deployed {
    let some: Vec<usize> = (0..data.series().len()).step_by(2).collect();
    let trained = train(data, &some, &options(kind), &|| ()).expect("trains");
    trained.classifier.compile().expect("fits in f32")
}

enum Form {
    Source,
    Artefact,
}

fn on_device(deployed: &Deployed, recording: &Recording<'_>, form: &Form) -> Parity {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let write = |path: &Path, bytes: &[u8]| files::write_whole(path, bytes).expect("writes");
    let (source, artefact) = (at("model.rs"), at("model.fishweir"));
    write(&source, deployed.to_source().as_bytes());
    write(&artefact, &deployed.to_artefact().expect("small enough"));
    let file = match form {
        Form::Source => ModelFile::Source(&source),
        Form::Artefact => ModelFile::Artefact(&artefact),
    };
    let firmware = Firmware::in_repository().expect("the firmware is in the repository");
    let board = Board::named(Board::DEFAULT).expect("a board");
    let image = firmware.build(board, "classify_stream", file, &at("image.elf")).expect("builds");
    let run = Qemu::start(&image)
        .expect("QEMU starts")
        .run(recording.inputs(), &Options::default(), |_| ())
        .expect("the device answers");
    assert_eq!(run.outcome.answers.iter().flatten().count(), recording.samples());
    compare(deployed, recording, &run.outcome.answers).expect("comparable")
}

fn assert_identical(parity: &Parity, numbers_a_sample: usize) {
    assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
    assert!(parity.numbers >= parity.samples * numbers_a_sample, "{parity:?}");
}

#[test]
fn real_channels_give_the_same_bits() {
    let data = Dataset::parse("all.csv.gz", RECORDINGS, &ReadOptions::default()).expect("reads");
    // Series that the models never saw are far from all of them: scaling is put to the test.
    let unseen = data.series().iter().skip(1).step_by(2).map(|series| series.samples.view());
    let recording = Recording::new(unseen, Some(SAMPLES));
    assert_eq!(recording.samples(), SAMPLES);
    let deployed = trained(&data, ClassifierKind::Fisher);
    // Class, margin and a log-likelihood a model, a sample.
    assert_identical(&on_device(&deployed, &recording, &Form::Source), 2 + 7);
}

#[test]
fn a_bayes_artefact_read_in_place_gives_the_same_bits() {
    let data = Dataset::parse("all.csv.gz", RECORDINGS, &ReadOptions::default()).expect("reads");
    let unseen = data.series().iter().skip(1).step_by(2).map(|series| series.samples.view());
    let recording = Recording::new(unseen, Some(3_000));
    let deployed = trained(&data, ClassifierKind::Bayes);
    assert_identical(&on_device(&deployed, &recording, &Form::Artefact), 2 + 7);
}

#[test]
fn symbols_with_missing_ones_give_the_same_bits() {
    let mut text = String::from("label\tid\tsequence\n");
    for series in 0..8 {
        let sequence: String = (0..90)
            .map(|t| match (t * t + 3 * series * t) % 11 {
                0 => 'N',
                rest if series < 4 => ['A', 'C', 'G', 'T'][rest % 4],
                rest => ['A', 'A', 'G', 'T', 'C'][rest % 5],
            })
            .collect();
        text += &format!("{}\ts{series}\t{sequence}\n", ["plain", "skewed"][series / 4]);
    }
    let data = Dataset::parse("dna.tsv", text.as_bytes(), &ReadOptions::default()).expect("reads");
    let recording = Recording::new(data.series().iter().map(|one| one.samples.view()), None);
    for form in [Form::Source, Form::Artefact] {
        let parity = on_device(&trained(&data, ClassifierKind::Fisher), &recording, &form);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 2);
    }
}
