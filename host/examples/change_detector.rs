//! Calibrates a detector of change and writes it as Rust source for the firmware's `detect_change`:
//!
//! ```sh
//! cargo run --release -p fishweir --example change_detector -- detector.rs
//! cd firmware
//! FISHWEIR_MODEL=../detector.rs cargo run --release --features detect-change --bin detect_change
//! ```
//!
//! The stream is the acceleration of a wrist during the bundled exercises, all of them normal. The
//! change for which the direction is chosen: the watch slips, and an axis has an offset. The model is
//! fitted on the first third of every series, the limits are set on the second, and the last, with and
//! without the change, shows what both are worth.

use std::error::Error;
use std::path::Path;

use fishweir::classifier::{Direction, Observations};
use fishweir::data::{Dataset, Kind, ReadOptions, Rows, Samples, SamplesView};
use fishweir::deploy::{Calibration, Detector};
use fishweir::files;
use fishweir::fit::BaumWelch;
use fishweir::runtime::Hmm;

const CHANNELS: [&str; 3] = ["ax", "ay", "az"];
/// One second, and thirty, at 50 Hz.
const CALIBRATION: Calibration = Calibration { memory: 50.0, mean_time: 1_500.0 };
/// On `ax`, in g.
const OFFSET: f64 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/ts-watch-exercises/all.csv.gz");
    let channels: Vec<String> = CHANNELS.iter().map(|&name| name.to_owned()).collect();
    let kind = Some(Kind::Channels(channels.clone()));
    let data = Dataset::read(file, &ReadOptions { kind, ..ReadOptions::default() })?;
    // A third of every series each, in the order of time.
    let third = |third: usize| -> Vec<SamplesView<'_>> {
        let views = data.series().iter().map(|series| series.samples.view());
        views.map(|all| all.slice(all.len() * third / 3..all.len() * (third + 1) / 3)).collect()
    };
    let (fitted, normal, unseen) = (third(0), third(1), third(2));

    let baum_welch = BaumWelch { states: 8, ..BaumWelch::default() };
    let model = baum_welch.fit(&fitted, CHANNELS.len(), &deviations(&fitted), &|| ())?.model;
    let direction = Direction::offset(&model, 0).ok_or("no such channel")?;
    let observations = Observations::Channels(channels);
    println!("one false alarm wanted in {} samples", CALIBRATION.mean_time);
    for (name, normal) in [("recordings", normal), ("simulation", vec![])] {
        let drawn: Vec<Samples> = simulated(&model, if normal.is_empty() { 60 } else { 0 });
        let normal: Vec<SamplesView<'_>> =
            normal.into_iter().chain(drawn.iter().map(Samples::view)).collect();
        let detector = CALIBRATION.calibrate(&model, &direction, &observations, &normal)?;
        println!("limits from {name}: fit {:?}, drift {:?}", detector.fit(), detector.drift());
        println!("  calibrated on: {}", rate(&detector, &normal));
        println!("  unseen thirds: {}", rate(&detector, &unseen));
        println!("  after a slip:  {}", delays(&detector, &unseen, OFFSET));
        println!("  without one:   {}", delays(&detector, &unseen, 0.0));
        if let (Some(output), "recordings") = (std::env::args().nth(1), name) {
            files::write_whole(Path::new(&output), detector.to_source().as_bytes())?;
            println!("  written to {output}");
        }
    }
    Ok(())
}

/// The standard deviation of each channel.
fn deviations(series: &[SamplesView<'_>]) -> Vec<f64> {
    (0..CHANNELS.len())
        .map(|channel| {
            let values = || {
                let rows = series.iter().filter_map(SamplesView::rows);
                rows.flat_map(|rows| {
                    rows.iter().flatten().map(|row| row[channel]).collect::<Vec<_>>()
                })
            };
            let count = values().count() as f64;
            let mean = values().sum::<f64>() / count;
            (values().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt()
        })
        .collect()
}

fn simulated(model: &Hmm, series: u64) -> Vec<Samples> {
    (0..series).map(|seed| model.simulate(10_000, seed)).collect()
}

fn rate(detector: &Detector, streams: &[SamplesView<'_>]) -> String {
    let samples: usize = streams.iter().map(SamplesView::len).sum();
    let alarms = detector.alarms(streams);
    format!("{alarms} alarms in {samples} samples, one in {:.0}", samples as f64 / alarms as f64)
}

/// How long the detector takes to see an offset that sets in amid each stream.
fn delays(detector: &Detector, streams: &[SamplesView<'_>], offset: f64) -> String {
    let mut delays: Vec<usize> = Vec::new();
    for rows in streams.iter().filter_map(SamplesView::rows) {
        let middle = rows.len() / 2;
        let mut slipped = Rows::new(CHANNELS.len());
        for (t, row) in rows.iter().enumerate() {
            let mut row = row.map(<[f64]>::to_vec);
            if let (Some(row), true) = (&mut row, t >= middle) {
                row[0] += offset;
            }
            slipped.push(row.as_deref());
        }
        let mut stream = detector.stream();
        let samples = Samples::Channels(slipped);
        let seen = samples
            .view()
            .iter()
            .enumerate()
            .position(|(t, x)| stream.watch(x).alarm.is_some() && t >= middle);
        delays.extend(seen.map(|t| t - middle));
    }
    delays.sort_unstable();
    let median = delays.get(delays.len() / 2);
    format!(
        "an alarm in {} of {} second halves, the median after {} samples",
        delays.len(),
        streams.len(),
        median.map_or_else(|| "-".to_owned(), ToString::to_string)
    )
}
