//! A classifier's source on an emulated board: its bits, and what it takes there.

#![allow(clippy::missing_panics_doc, reason = "a panic is how a test fails")]

use fishweir::data::{Dataset, Rows, Samples};
use fishweir::deploy::Stream;
use fishweir::device::{Board, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::parity::{Parity, Recording, compare_stream};

use crate::device_table::firmware;

/// What a run on a board told.
#[derive(Debug)]
pub struct OnBoard {
    /// Against the host's stream.
    pub parity: Parity,
    /// Instructions per sample.
    pub instructions: f64,
    /// Bytes of the state.
    pub state_bytes: usize,
    /// Bytes of the model.
    pub model_bytes: usize,
}

/// Runs `classify_stream` with a model's source on a board, and prints what it took.
pub fn classify(board: &str, source: &str, recording: &Recording<'_>, stream: Stream) -> OnBoard {
    let named = Board::named(board).expect("a board");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.rs");
    files::write_whole(&path, source.as_bytes()).expect("writes");
    let image = folder.path().join("image.elf");
    let image = firmware()
        .and_then(|firmware| {
            firmware.build(named, "classify_stream", ModelFile::Source(&path), &image)
        })
        .expect("builds");
    let run = Qemu::start(&image)
        .and_then(|device| device.run(recording.inputs(), &Options::default(), |_| ()))
        .expect("the device answers");
    let instructions = run.instructions_per_sample().expect("every board counts");
    let info = &run.outcome.info;
    println!(
        "{board}: {instructions:.0} instructions per sample, state {} B, model {} B, stack {:?} B",
        info.state_bytes, info.model_bytes, run.outcome.report.stack_bytes
    );
    OnBoard {
        parity: compare_stream(stream, recording, &run.outcome.answers).expect("comparable"),
        instructions,
        state_bytes: info.state_bytes,
        model_bytes: info.model_bytes,
    }
}

/// Every other series as a sensor with these units would give it.
pub fn as_integers(data: &Dataset, places: &[i16]) -> Vec<Samples> {
    data.series()
        .iter()
        .skip(1)
        .step_by(2)
        .map(|series| {
            let mut rows = Rows::new(places.len());
            let view = series.samples.view();
            for row in view.rows().iter().flat_map(|rows| rows.iter_in_part()) {
                let integers: Option<Vec<f64>> = row.map(|row| {
                    let integer = |(x, &places): (&f64, &i16)| match x.is_nan() {
                        true => *x,
                        false => f64::from((x * f64::from(places).exp2()).round() as i16),
                    };
                    row.iter().zip(places).map(integer).collect()
                });
                rows.push(integers.as_deref());
            }
            Samples::Channels(rows)
        })
        .collect()
}
