//! Fixed point on the device: host and device agree bit for bit without an FPU and with one.

use fishweir::data::{Dataset, ReadOptions, Rows, Sample, Samples};
use fishweir::deploy::FixedPoint;
use fishweir::device::{Board, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::learn::{Augment, ClassifierKind, TrainOptions, train};
use fishweir::parity::{Parity, Recording, compare_stream};
use fishweir_tests::device_table::firmware;

const RECORDINGS: &[u8] = include_bytes!("../../host/data/ts-watch-exercises/all.csv.gz");
const BOARDS: [&str; 2] = ["microbit", "mps2-an386"];

/// A quick fit on every other series: parity is about arithmetic, not about good models.
fn trained(data: &Dataset) -> FixedPoint {
    let mut options = TrainOptions::new(ClassifierKind::Fisher);
    options.baum_welch.iterations = 3;
    options.augment = Augment::NONE;
    options.c = vec![1.0];
    options.scalings.truncate(1);
    let some: Vec<usize> = (0..data.series().len()).step_by(2).collect();
    let trained = train(data, &some, &options, &|| ()).expect("trains");
    trained.classifier.quantise().expect("fits fixed point")
}

fn on_device(board: &str, fixed: &FixedPoint, recording: &Recording<'_>) -> Parity {
    let board = Board::named(board).expect("a board");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("model.rs");
    files::write_whole(&source, fixed.to_source().as_bytes()).expect("writes");
    let image = folder.path().join("image.elf");
    let image = firmware()
        .and_then(|firmware| {
            firmware.build(board, "classify_stream", ModelFile::Source(&source), &image)
        })
        .expect("builds");
    let run = Qemu::start(&image)
        .and_then(|device| device.run(recording.inputs(), &Options::default(), |_| ()))
        .expect("the device answers");
    compare_stream(fixed.stream(), recording, &run.outcome.answers).expect("comparable")
}

fn assert_identical(parity: &Parity, numbers_a_sample: usize) {
    assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
    assert!(parity.numbers >= parity.samples * numbers_a_sample, "{parity:?}");
}

#[test]
fn symbols_in_fixed_point_give_the_same_bits() {
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
    let fixed = trained(&data);
    let recording = Recording::new(data.series().iter().map(|one| one.samples.view()), None);
    for board in BOARDS {
        let parity = on_device(board, &fixed, &recording);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 2);
    }
}

#[test]
fn channels_in_fixed_point_give_the_same_bits() {
    let data = Dataset::parse("all.csv.gz", RECORDINGS, &ReadOptions::default()).expect("reads");
    let fixed = trained(&data);
    // What a sensor with these units would give.
    let integers: Vec<Samples> = data
        .series()
        .iter()
        .skip(1)
        .step_by(2)
        .map(|series| {
            let mut rows = Rows::new(fixed.places().len());
            for sample in series.samples.view().iter() {
                let row = match sample {
                    Sample::Row(row) => Some(row),
                    _ => None,
                };
                let integers: Option<Vec<f64>> = row.map(|row| {
                    let integer = |(x, &places): (&f64, &i16)| {
                        f64::from((x * f64::from(places).exp2()).round() as i16)
                    };
                    row.iter().zip(fixed.places()).map(integer).collect()
                });
                rows.push(integers.as_deref());
            }
            Samples::Channels(rows)
        })
        .collect();
    let recording = Recording::new(integers.iter().map(Samples::view), Some(2_000));
    let fixed = fixed.over_integers();
    for board in BOARDS {
        assert_identical(&on_device(board, &fixed, &recording), 2 + 7);
    }
}
