//! Fixed point on the device: host and device agree bit for bit without an FPU and with one.

use fishweir::data::{Dataset, Rows, Sample, Samples};
use fishweir::deploy::FixedPoint;
use fishweir::device::{Board, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::learn::ClassifierKind;
use fishweir::parity::{Parity, Recording, compare_stream};
use fishweir_tests::device_table::firmware;
use fishweir_tests::quick::{assert_identical, recordings, strings, trained, whole};

const BOARDS: [&str; 2] = ["microbit", "mps2-an386"];

pub(crate) fn quantised(data: &Dataset) -> FixedPoint {
    trained(data, ClassifierKind::Fisher).quantise().expect("fits fixed point")
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

#[test]
fn symbols_in_fixed_point_give_the_same_bits() {
    let data = strings(90);
    let fixed = quantised(&data);
    let recording = whole(&data);
    for board in BOARDS {
        let parity = on_device(board, &fixed, &recording);
        assert!(parity.missing > 0);
        assert_identical(&parity, 2 + 2);
    }
}

/// What a sensor with these units would give.
pub(crate) fn as_integers(data: &Dataset, places: &[i16]) -> Vec<Samples> {
    data.series()
        .iter()
        .skip(1)
        .step_by(2)
        .map(|series| {
            let mut rows = Rows::new(places.len());
            for sample in series.samples.view().iter() {
                let row = match sample {
                    Sample::Row(row) => Some(row),
                    _ => None,
                };
                let integers: Option<Vec<f64>> = row.map(|row| {
                    let integer = |(x, &places): (&f64, &i16)| {
                        f64::from((x * f64::from(places).exp2()).round() as i16)
                    };
                    row.iter().zip(places).map(integer).collect()
                });
                rows.push(integers.as_deref());
            }
            Samples::Channels(rows)
        })
        .collect()
}

#[test]
fn channels_in_fixed_point_give_the_same_bits() {
    let data = recordings();
    let fixed = quantised(&data);
    let integers = as_integers(&data, fixed.places());
    let recording = Recording::new(integers.iter().map(Samples::view), Some(600));
    let fixed = fixed.over_integers();
    for board in BOARDS {
        assert_identical(&on_device(board, &fixed, &recording), 2 + 7);
    }
}
