//! Fixed point on the device: host and device agree bit for bit without an FPU and with one.

use fishweir::classifier::Contract;
use fishweir::data::{Dataset, Rows, Samples};
use fishweir::deploy::FixedPoint;
use fishweir::learn::{ClassifierKind, ScoreModels};
use fishweir::parity::Recording;
use fishweir_tests::on_board::{OnBoard, as_integers, classify};
use fishweir_tests::quick::{
    assert_identical, recordings, strings, trained, trained_by_position, trained_on_differences,
    trained_on_levels, trained_on_words, unseen, whole, with_holes,
};

/// A core without an FPU and one with.
const BOARDS: [&str; 2] = ["microbit", "mps2-an386"];

/// The core without an FPU, which fixed point is for. With `FISHWEIR_BOARDS=all` both: integers know no difference.
fn boards() -> &'static [&'static str] {
    if crate::all_boards() { &BOARDS } else { &BOARDS[..1] }
}

pub(crate) fn quantised(data: &Dataset) -> FixedPoint {
    trained(data, ClassifierKind::Fisher).quantise().expect("fits fixed point")
}

fn on_device(board: &str, fixed: &FixedPoint, recording: &Recording<'_>) -> OnBoard {
    let run = classify(board, &fixed.to_source(), recording, fixed.stream());
    assert_eq!(run.state_bytes, fixed.cost().state_bytes, "{board}");
    assert_eq!(run.model_bytes, fixed.cost().model_bytes, "{board}");
    run
}

#[test]
fn symbols_in_fixed_point_give_the_same_bits() {
    let data = strings(90);
    let recording = whole(&data);
    for kind in [ClassifierKind::Fisher, ClassifierKind::Top, ClassifierKind::Count] {
        let fixed = trained(&data, kind).quantise().expect("fits fixed point");
        for board in boards() {
            let OnBoard { parity, .. } = on_device(board, &fixed, &recording);
            assert!(parity.missing > 0);
            assert_identical(&parity, 2 + 2);
        }
    }
}

/// By position, strings being longer than there are positions, and by the last symbols; and what it spares
/// a core without a floating-point unit.
#[test]
fn states_that_are_known_give_the_same_bits_in_fixed_point() {
    let data = strings(40);
    let recording = whole(&data);
    for (classifier, models) in [
        (trained_by_position(&data, ClassifierKind::Fisher, 30), 2),
        (trained_by_position(&data, ClassifierKind::Bayes, 30), 2),
        (trained_on_words(&data, 2), 1),
    ] {
        let fixed = classifier.quantise().expect("fits fixed point");
        for board in boards() {
            let OnBoard { parity, instructions, .. } = on_device(board, &fixed, &recording);
            assert!(parity.missing > 0);
            assert_identical(&parity, 2 + models);
            if *board == "microbit" {
                let deployed = classifier.deploy().expect("fits in f32");
                let float = classify(board, &deployed.to_source(), &recording, deployed.stream());
                assert!(instructions < 0.7 * float.instructions, "{instructions}");
            }
        }
    }
}

/// A bank of a model for each of seven classes, by each classifier that compiles.
#[test]
fn channels_in_fixed_point_give_the_same_bits() {
    let data = recordings();
    let few = |samples| (samples, ["microbit"].as_slice());
    for (kind, (samples, boards)) in [
        (ClassifierKind::Fisher, (600, boards())),
        (ClassifierKind::Bayes, few(300)),
        (ClassifierKind::Top, few(300)),
        (ClassifierKind::Count, few(300)),
    ] {
        let classifier = trained(&data, kind);
        let fixed = classifier.quantise().expect("fits fixed point");
        assert_eq!((fixed.classes().len(), fixed.models()), (7, 7));
        let integers = as_integers(&data, fixed.places());
        let recording = Recording::new(integers.iter().map(Samples::view), Some(samples));
        let fixed = fixed.over_integers();
        for board in boards {
            let run = on_device(board, &fixed, &recording);
            assert_identical(&run.parity, 2 + 7);
        }
    }
}

/// The application over channels on a core without a floating-point unit, in floats and in fixed point.
/// `host/docs/MEASURED.md` has what this prints.
#[test]
fn channels_in_fixed_point_cost_a_part_of_floats_without_an_fpu() {
    let data = recordings();
    for kind in [ClassifierKind::Bayes, ClassifierKind::Fisher] {
        let classifier = trained(&data, kind);
        let fixed = classifier.quantise().expect("fits fixed point");
        let deployed = classifier.deploy().expect("fits in f32");
        let integers = as_integers(&data, fixed.places());
        let fixed = fixed.over_integers();
        for board in BOARDS {
            println!("{kind}, fixed point, then floats");
            let recording = Recording::new(integers.iter().map(Samples::view), Some(300));
            let small = on_device(board, &fixed, &recording);
            let recording = unseen(&data, 300);
            let float = classify(board, &deployed.to_source(), &recording, deployed.stream());
            assert_identical(&float.parity, 2 + 7);
            // With a unit for floats there is nothing to gain in time; without, most of it.
            let part = small.instructions / float.instructions;
            assert!(if board == "microbit" { part < 0.25 } else { part > 0.5 }, "{part}");
            assert!(small.model_bytes <= float.model_bytes);
            assert!(small.state_bytes < float.state_bytes);
        }
    }
}

/// Differences at lags, and the form that is fitted by default: a model for each lag, and codebooks beside them. What
/// it spares a core without a floating-point unit, of time and of memory.
#[test]
fn lags_and_codebooks_give_the_same_bits_in_fixed_point() {
    let data = recordings();
    for (name, classifier, models) in [
        ("lags", trained_on_differences(&data, &[1, 4], ScoreModels::Universal), 1),
        ("codebooks", trained_on_levels(&data, &[1, 2, 4], 2, 1), 3),
    ] {
        let fixed = classifier.quantise().expect("fits fixed point");
        let deployed = classifier.deploy().expect("fits in f32");
        let integers = gapped(&as_integers(&data, fixed.places()));
        let recording = Recording::new(integers.iter().map(Samples::view), Some(600));
        let fixed = fixed.over_integers();
        for &board in boards() {
            println!("{name}, fixed point, then floats");
            let small = on_device(board, &fixed, &recording);
            assert!(small.parity.missing > 0);
            assert_identical(&small.parity, 2 + models);
            if board == "microbit" {
                // In floats the ring of samples fills this one's memory. Another core without an FPU, whose images other
                // tests build too, has room for both.
                let board = "riscv-virt";
                let small = on_device(board, &fixed, &recording);
                assert_identical(&small.parity, 2 + models);
                let recording = unseen(&data, 300);
                let float = classify(board, &deployed.to_source(), &recording, deployed.stream());
                assert_identical(&float.parity, 2 + models);
                assert!(small.instructions < 0.25 * float.instructions, "{}", small.instructions);
                assert!(small.model_bytes <= float.model_bytes);
                assert!(small.state_bytes < float.state_bytes);
            }
        }
    }
}

/// Channels that are missing, of samples and of differences at lags.
#[test]
fn channels_that_are_missing_give_the_same_bits_in_fixed_point() {
    let data = with_holes(&recordings());
    for (classifier, models) in [
        (trained(&data, ClassifierKind::Fisher), 7),
        (trained_on_differences(&data, &[1, 4], ScoreModels::Universal), 1),
    ] {
        let fixed = classifier.quantise().expect("fits fixed point");
        assert!(fixed.contract().is_some_and(Contract::lacks_some));
        let integers = as_integers(&data, fixed.places());
        let recording = Recording::new(integers.iter().map(Samples::view), Some(300)).in_part(true);
        let fixed = fixed.over_integers();
        for board in boards() {
            let run = on_device(board, &fixed, &recording);
            assert_identical(&run.parity, 2 + models);
        }
    }
}

/// The same with every 37th sample missing.
fn gapped(series: &[Samples]) -> Vec<Samples> {
    let of_series = |samples: &Samples| {
        let view = samples.view();
        let rows = view.rows().expect("channels");
        let mut some = Rows::new(rows.dimension());
        rows.iter().enumerate().for_each(|(t, row)| some.push(row.filter(|_| t % 37 != 36)));
        Samples::Channels(some)
    };
    series.iter().map(of_series).collect()
}
