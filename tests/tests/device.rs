//! Host and device agree bit for bit: real recordings and symbols, streamed to the firmware on an
//! emulated board and to the host. These tests fail where QEMU or a target is missing.

use std::path::Path;
use std::sync::LazyLock;

use fishweir::data::{Dataset, ReadOptions};
use fishweir::deploy::Deployed;
use fishweir::device::{BOARDS, Board, Firmware, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::learn::{Augment, ClassifierKind, TrainOptions, train};
use fishweir::parity::{Parity, Recording, compare};

const RECORDINGS: &[u8] = include_bytes!("../../host/data/ts-watch-exercises/all.csv.gz");

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

/// The bundled recordings, and a classifier that is trained on every other series of them.
static WATCH: LazyLock<(Dataset, Deployed)> = LazyLock::new(|| {
    let data = Dataset::parse("all.csv.gz", RECORDINGS, &ReadOptions::default()).expect("reads");
    let deployed = trained(&data, ClassifierKind::Fisher);
    (data, deployed)
});

/// Series that the models never saw, far from all of them: scaling is put to the test.
fn unseen(data: &Dataset, samples: usize) -> Recording<'_> {
    let series = data.series().iter().skip(1).step_by(2).map(|series| series.samples.view());
    let recording = Recording::new(series, Some(samples));
    assert_eq!(recording.samples(), samples);
    recording
}

enum Form {
    Source,
    Artefact,
}

fn board(name: &str) -> &'static Board {
    Board::named(name).expect("a board")
}

fn on_device(
    board: &'static Board,
    deployed: &Deployed,
    recording: &Recording<'_>,
    form: &Form,
) -> Parity {
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
    let run = firmware
        .build(board, "classify_stream", file, &at("image.elf"))
        .and_then(|image| Qemu::start(&image))
        .and_then(|qemu| qemu.run(recording.inputs(), &Options::default(), |_| ()))
        .unwrap_or_else(|error| panic!("{}: {error}", board.name));
    assert_eq!(run.outcome.answers.iter().flatten().count(), recording.samples());
    let instructions = run.instructions_per_sample().expect("every board counts");
    let stack = run.outcome.report.stack_bytes.expect("every board watches its stack");
    println!("{}: {instructions:.0} instructions a sample, {stack} B of stack", board.name);
    // The state lies on the stack.
    assert!(stack as usize > run.outcome.info.state_bytes, "{}", board.name);
    assert!(instructions > 100.0, "{}", board.name);
    compare(deployed, recording, &run.outcome.answers).expect("comparable")
}

fn assert_identical(parity: &Parity, numbers_a_sample: usize) {
    assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
    assert!(parity.numbers >= parity.samples * numbers_a_sample, "{parity:?}");
}

#[test]
fn real_channels_give_the_same_bits() {
    let (data, deployed) = &*WATCH;
    let parity = on_device(board(Board::DEFAULT), deployed, &unseen(data, 20_500), &Form::Source);
    // Class, margin and a log-likelihood a model, a sample.
    assert_identical(&parity, 2 + 7);
}

#[test]
fn real_channels_give_the_same_bits_on_every_board() {
    let (data, deployed) = &*WATCH;
    for board in &BOARDS {
        let parity = on_device(board, deployed, &unseen(data, 600), &Form::Source);
        assert_identical(&parity, 2 + 7);
    }
}

#[test]
fn a_bayes_artefact_read_in_place_gives_the_same_bits() {
    let data = &WATCH.0;
    let deployed = trained(data, ClassifierKind::Bayes);
    // The small core faults where a number is read that is not aligned.
    for (name, samples) in [(Board::DEFAULT, 3_000), ("microbit", 600)] {
        let parity = on_device(board(name), &deployed, &unseen(data, samples), &Form::Artefact);
        assert_identical(&parity, 2 + 7);
    }
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
        let deployed = trained(&data, ClassifierKind::Fisher);
        let parity = on_device(board(Board::DEFAULT), &deployed, &recording, &form);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 2);
    }
}
