//! Host and device agree bit for bit: real recordings and symbols, streamed to the firmware on an
//! emulated board and to the host. These tests fail where QEMU or a target is missing.

use std::path::Path;
use std::sync::LazyLock;

use fishweir::classifier::{Classifier, Confidence, Contract};
use fishweir::data::{Dataset, Lags, RegressionData, Rows, Samples, Series};
use fishweir::deploy::{Core, Deployed};
use fishweir::device::{Board, Firmware, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::learn::{ClassifierKind, LagChoice, ScoreModels};
use fishweir::parity::{Parity, Recording, compare};
use fishweir::regress::{RegressionRequest, train};
use fishweir_core::artefact::Topology;
use fishweir_tests::quick::{
    assert_identical, channels, channels_missing, profiled, recordings, strings, systems, trained,
    trained_by_position, trained_on_differences, trained_on_each_lag, trained_on_levels,
    trained_on_the_past, trained_on_words, unseen, whole, with_holes,
};

use crate::on_every_kind_of_core;

/// The bundled recordings, and a classifier of them.
static WATCH: LazyLock<(Dataset, Deployed)> = LazyLock::new(|| {
    let data = recordings();
    let deployed = compiled(&data, ClassifierKind::Fisher);
    (data, deployed)
});

fn compiled(data: &Dataset, kind: ClassifierKind) -> Deployed {
    trained(data, kind).deploy().expect("fits in f32")
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
    let file = match form {
        Form::Source => {
            write(&source, deployed.to_source().as_bytes());
            ModelFile::Source(&source)
        }
        Form::Artefact => {
            write(&artefact, &deployed.to_artefact().expect("small enough"));
            ModelFile::Artefact(&artefact)
        }
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
    println!("{}: {instructions:.0} instructions per sample, {stack} B of stack", board.name);
    // The state lies on the stack, and is as large as was said.
    assert_eq!(run.outcome.info.state_bytes, deployed.cost().state_bytes, "{}", board.name);
    // How far decisions are believed lies beside the classifier.
    let believed = deployed.confidence().map_or(0, |one| 8 * (1 + one.of_core().likelihoods.len()));
    let model_bytes = deployed.cost().model_bytes - believed;
    assert_eq!(run.outcome.info.model_bytes, model_bytes, "{}", board.name);
    assert!(stack as usize > run.outcome.info.state_bytes, "{}", board.name);
    // A product a model takes less than a filter.
    let known = deployed.topology() == Topology::STEPS || deployed.order().is_some();
    let least = if known { 50.0 } else { 100.0 };
    assert!(instructions > least, "{}: {instructions}", board.name);
    // Nor is what was told before any board ran it too little or too much.
    if let (Some(work), Some(core)) = (deployed.work(), Core::named(board.core)) {
        let [low, high] = core.instructions(&work);
        assert!(
            (low..=high).contains(&instructions),
            "{}: {instructions} of {low} to {high}",
            board.name
        );
    }
    compare(deployed, recording, &run.outcome.answers).expect("comparable")
}

#[test]
fn real_channels_give_the_same_bits() {
    let (data, deployed) = &*WATCH;
    let parity =
        on_device(board(Board::default_name()), deployed, &unseen(data, 4_000), &Form::Source);
    // Class, margin and a log-likelihood per model and sample.
    assert_identical(&parity, 2 + 7);
}

/// A regression is a classifier of one output: sign and magnitude of the estimate are compared.
#[test]
fn estimates_have_the_same_bits() {
    let source = RegressionData::new(recordings(), "wx").expect("a channel");
    let mut request = RegressionRequest::default();
    let training = &mut request.request;
    (training.states, training.one_model_iterations) = (vec![3], 2);
    (training.lags, training.codebooks) = (LagChoice::Given(vec![Lags::NONE]), vec![0]);
    let trained = train(&source, &request, &|| ()).expect("trains");
    let deployed = trained.regressor.deploy().expect("fits in f32");
    let views = source.data.series().iter().map(|one| one.samples.view());
    let recording = Recording::new(views, Some(400));
    let parity = on_device(board(Board::default_name()), &deployed, &recording, &Form::Artefact);
    assert_identical(&parity, 2 + 1);
}

#[test]
fn real_channels_give_the_same_bits_on_every_kind_of_core() {
    let (data, deployed) = &*WATCH;
    on_every_kind_of_core(|board| {
        let parity = on_device(board, deployed, &unseen(data, 200), &Form::Source);
        assert_identical(&parity, 2 + 7);
    });
}

/// The recordings with a gyroscope at a fifth of the rate, and with a few dropouts of one axis of the accelerometer, and of
/// all channels.
fn slower_gyroscope(data: &Dataset) -> Dataset {
    let series = data.series().iter().map(|one| {
        let rows = one.samples.view().rows().expect("channels");
        let mut made = Rows::new(rows.dimension());
        for (t, row) in rows.iter().enumerate() {
            let mut row = row.expect("whole").to_vec();
            if t % 5 > 0 {
                row[3..].fill(f64::NAN);
            }
            if t % 17 == 3 {
                row[1] = f64::NAN;
            }
            if t % 41 == 7 {
                row.fill(f64::NAN);
            }
            made.push(Some(&row));
        }
        Series { samples: Samples::Channels(made), ..one.clone() }
    });
    let [classes, columns] = [data.classes(), data.columns()].map(<[String]>::to_vec);
    let series = series.collect();
    Dataset::new(data.source(), data.kind().clone(), classes, columns, series).expect("series")
}

#[test]
fn samples_that_lack_channels_give_the_same_bits() {
    let data = slower_gyroscope(&WATCH.0);
    assert!(data.missing().partial > 0 && data.missing().observations > 0);
    let plain = compiled(&data, ClassifierKind::Fisher);
    let lagged = trained_on_differences(&data, &[1, 5], ScoreModels::All);
    let each_lag = trained_on_each_lag(&data, &[2, 10]);
    for (deployed, models, name, form) in [
        (&plain, 7, Board::default_name(), Form::Source),
        (&plain, 7, "microbit", Form::Artefact),
        (&lagged.deploy().expect("fits"), 7, Board::default_name(), Form::Artefact),
        (&each_lag.deploy().expect("fits"), 2, Board::default_name(), Form::Source),
    ] {
        assert!(deployed.contract().is_some_and(|one| one.channels[3].missing), "{name}");
        let recording = unseen(&data, 300).in_part(true);
        let parity = on_device(board(name), deployed, &recording, &form);
        assert_identical(&parity, 2 + models);
    }
}

#[test]
fn a_bayes_artefact_read_in_place_gives_the_same_bits() {
    let data = &WATCH.0;
    let deployed = compiled(data, ClassifierKind::Bayes);
    // The small core faults where a number is read that is not aligned.
    for (name, samples) in [(Board::default_name(), 1_000), ("microbit", 300)] {
        let parity = on_device(board(name), &deployed, &unseen(data, samples), &Form::Artefact);
        assert_identical(&parity, 2 + 7);
    }
}

#[test]
fn systems_of_samples_that_lack_channels_give_the_same_bits() {
    let data = with_holes(&channels());
    let mut set = systems(&data);
    set.provenance.channels = channels_missing([true, false, true]);
    let deployed = Deployed::of_systems(&set).expect("fits in f32");
    assert!(deployed.contract().is_some_and(Contract::lacks_some));
    let recording = whole(&data).in_part(true);
    for name in [Board::default_name(), "microbit"] {
        let parity = on_device(board(name), &deployed, &recording, &Form::Source);
        assert_identical(&parity, 2 + 2);
    }
}

#[test]
fn a_bank_of_systems_gives_the_same_bits() {
    let data = channels();
    let deployed = Deployed::of_systems(&systems(&data)).expect("fits in f32");
    for name in [Board::default_name(), "microbit"] {
        let parity = on_device(board(name), &deployed, &whole(&data), &Form::Source);
        assert_identical(&parity, 2 + 2);
    }
}

#[test]
fn a_profile_along_a_direction_gives_the_same_bits() {
    let data = strings(40);
    let deployed = profiled(&data).deploy().expect("fits in f32");
    assert_eq!((deployed.directions(), deployed.topology()), (1, Topology::PROFILE));
    for form in [Form::Source, Form::Artefact] {
        let parity = on_device(board(Board::default_name()), &deployed, &whole(&data), &form);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 1);
    }
}

#[test]
fn weights_of_words_give_the_same_bits() {
    let data = strings(60);
    let deployed = trained_on_words(&data, 2).deploy().expect("fits in f32");
    assert_eq!((deployed.order(), deployed.states()), (Some(2), 16));
    for name in [Board::default_name(), "microbit"] {
        let parity = on_device(board(name), &deployed, &whole(&data), &Form::Source);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 1);
    }
}

/// Strings longer than there are positions, so that the last one holds for many.
#[test]
fn states_that_are_known_give_the_same_bits() {
    let data = strings(40);
    for (kind, form) in [
        (ClassifierKind::Fisher, Form::Source),
        (ClassifierKind::Fisher, Form::Artefact),
        (ClassifierKind::Bayes, Form::Artefact),
    ] {
        let deployed = trained_by_position(&data, kind, 30).deploy().expect("fits in f32");
        assert_eq!(deployed.topology(), Topology::STEPS);
        for name in [Board::default_name(), "microbit"] {
            let parity = on_device(board(name), &deployed, &whole(&data), &form);
            assert!(parity.missing > 0);
            assert_identical(&parity, 2 + 2);
        }
    }
}

#[test]
fn symbols_with_missing_ones_give_the_same_bits() {
    let data = strings(90);
    let recording = whole(&data);
    for form in [Form::Source, Form::Artefact] {
        let deployed = compiled(&data, ClassifierKind::Fisher);
        let parity = on_device(board(Board::default_name()), &deployed, &recording, &form);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 2);
    }
}

/// Differences at lags, before a source's classifier of class models and an artefact's of one model of all, and there
/// the past itself, and of a model a lag in either; what is missing is in the ring too, or ends it.
#[test]
fn differences_at_lags_give_the_same_bits() {
    let data = channels();
    let gappy = |one: &Series| {
        let mut rows = Rows::new(3);
        let view = one.samples.view().rows().expect("channels");
        view.iter().enumerate().for_each(|(t, row)| rows.push(row.filter(|_| t % 7 != 3 && t > 1)));
        Samples::Channels(rows)
    };
    let samples: Vec<Samples> = data.series().iter().map(gappy).collect();
    let recording = Recording::new(samples.iter().map(Samples::view), None);
    let on_differences = |scores| trained_on_differences(&data, &[1, 2, 5], scores);
    for (name, form, classifier, models) in [
        (Board::default_name(), Form::Source, on_differences(ScoreModels::All), 2),
        ("microbit", Form::Artefact, on_differences(ScoreModels::Universal), 1),
        ("microbit", Form::Artefact, trained_on_the_past(&data, &[1, 3]), 1),
        (Board::default_name(), Form::Source, trained_on_each_lag(&data, &[1, 4]), 2),
        ("microbit", Form::Artefact, trained_on_each_lag(&data, &[1, 2, 5]), 3),
    ] {
        assert_eq!(classifier.models.len(), models);
        let deployed = classifier.deploy().expect("fits in f32");
        let parity = on_device(board(name), &deployed, &recording, &form);
        assert!(parity.missing > 0, "{parity:?}");
        assert_identical(&parity, 2 + models);
        let bytes = deployed.to_artefact().expect("small enough");
        assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    }
}

/// Codebooks beside models for each lag, whose codewords and levels are counted, and looked back for over what is missing.
#[test]
fn codebooks_give_the_same_bits() {
    let data = channels();
    let gappy = |one: &Series| {
        let mut rows = Rows::new(3);
        let view = one.samples.view().rows().expect("channels");
        view.iter().enumerate().for_each(|(t, row)| rows.push(row.filter(|_| t % 9 != 4)));
        Samples::Channels(rows)
    };
    let samples: Vec<Samples> = data.series().iter().map(gappy).collect();
    let recording = Recording::new(samples.iter().map(Samples::view), None);
    let classifier = trained_on_levels(&data, &[1, 2], 2, 2);
    // It lies behind the codebooks, and those behind the lags.
    let confidence = Some(Confidence { scale: 0.5, rejection: None, windows: 8 });
    let deployed = Classifier { confidence, ..classifier }.deploy().expect("fits in f32");
    let codebooks = deployed.codebooks().expect("series that are long enough");
    assert!(codebooks.books().len() >= 4, "{codebooks:?}");
    for (name, form) in [(Board::default_name(), Form::Source), ("microbit", Form::Artefact)] {
        let parity = on_device(board(name), &deployed, &recording, &form);
        assert!(parity.missing > 0, "{parity:?}");
        assert_identical(&parity, 2 + 2);
    }
}
