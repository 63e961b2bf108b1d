//! What a fitted classifier of channels takes on an emulated board in fixed point and in `f32`, and that no bit
//! differs from the host's:
//! `cargo run --release -p fishweir-tests --example fixed_cost -- MODEL DATA BOARD [q15|f32] [SAMPLES]`

use std::path::Path;

use fishweir::classifier::Classifier;
use fishweir::data::{Dataset, ReadOptions, Samples};
use fishweir::parity::Recording;
use fishweir_tests::on_board::{as_integers, classify};
use fishweir_tests::quick::{assert_identical, unseen};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, data, board, rest @ ..] = arguments.as_slice() else {
        return Err("which model, data and board?".into());
    };
    let number = rest.first().map_or("q15", String::as_str);
    let samples = rest.get(1).map_or(Ok(400), |text| text.parse())?;
    let classifier = Classifier::load(Path::new(model))?;
    let data = Dataset::read(Path::new(data), &ReadOptions::default())?;
    let run = match number {
        "q15" => {
            let fixed = classifier.quantise()?;
            let integers = as_integers(&data, fixed.places());
            let recording = Recording::new(integers.iter().map(Samples::view), Some(samples));
            let fixed = fixed.over_integers();
            classify(board, &fixed.to_source(), &recording, fixed.stream())
        }
        "f32" => {
            let deployed = classifier.deploy()?;
            let recording = unseen(&data, samples);
            classify(board, &deployed.to_source(), &recording, deployed.stream())
        }
        other => return Err(format!("{other}: q15 or f32").into()),
    };
    assert_identical(&run.parity, 2 + classifier.models.len());
    Ok(())
}
