//! Recordings of two sensors of which the second is slower, or drops out: accuracy against the share of samples without
//! it, by models that leave out what is missing, beside two ways to fill it in and samples dropped whole.
//!
//! ```sh
//! cargo run --release -p fishweir --example missing_channels -- missing.svg
//! ```
//!
//! The data are the bundled recordings of exercises: an accelerometer and a gyroscope on a watch, at 50 Hz. Of the gyroscope
//! every `k`-th sample stays (`rate`), or each with probability `1 / k` (`dropouts`), and the rest is
//!
//! - left out: a channel that is missing is integrated over, in training and in decisions;
//! - the last value that was there, before the first the mean over the training series;
//! - the mean over the training series;
//! - dropped, and the sample with it.
//!
//! Windows of 4 s that follow each other; each subject is held back once. Bayes classifiers, one model of four states per class.
//! Intervals are over subjects.
use std::error::Error;
use std::path::Path;

use fishweir::data::{
    Dataset, ReadOptions, Rows, Samples, Series, ShortSeries, Windowing, centre_and_scale,
};
use fishweir::evaluate::{Figures, Judged, Units, judge};
use fishweir::learn::{ClassifierKind, Request, train};
use fishweir::plot::ScatterPlot;
use fishweir::report::Table;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RECORDINGS: &str = "data/ts-watch-exercises/all.csv.gz";
/// Channels of the second sensor.
const SLOW: std::ops::Range<usize> = 3..6;
/// Numbers of samples of which one has the second sensor.
const EVERY: [usize; 4] = [2, 5, 10, 50];
const WINDOW: usize = 200;

/// Pattern in which samples lose the second sensor.
#[derive(Clone, Copy)]
enum Loss {
    Rate,
    Dropouts,
}

/// Treatment of the missing channels.
#[derive(Clone, Copy, PartialEq)]
enum Remedy {
    LeaveOut,
    LastValue,
    Mean,
    DropSample,
}

const LOSSES: [(&str, Loss); 2] = [("rate", Loss::Rate), ("dropouts", Loss::Dropouts)];
const REMEDIES: [(&str, Remedy); 4] = [
    ("left out", Remedy::LeaveOut),
    ("last value", Remedy::LastValue),
    ("mean", Remedy::Mean),
    ("sample dropped", Remedy::DropSample),
];

fn main() -> Result<(), Box<dyn Error>> {
    let figure = std::env::args().nth(1).filter(|path| path.ends_with(".svg"));
    let figure = figure.ok_or("give the path of a figure (.svg)")?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDINGS);
    let data = Dataset::read(path, &ReadOptions::default())?;
    let (subjects, names) = data.groups("subject")?;
    let of_subjects = (subjects.as_slice(), names.len());
    let complete = accuracy(&data, of_subjects, 1, Loss::Rate, Remedy::LeaveOut)?;
    println!("complete: {}", shown(&complete));
    let (mut points, mut of_point, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (of_loss, loss) in LOSSES {
        let heads = EVERY.map(|every| format!("1 of {every}"));
        let mut table = Table::new(["gyroscope".to_owned()].into_iter().chain(heads));
        for (number, (name, remedy)) in REMEDIES.into_iter().enumerate() {
            let mut row = vec![format!("{of_loss}: {name}")];
            for every in EVERY {
                let found = accuracy(&data, of_subjects, every, loss, remedy)?;
                row.push(shown(&found));
                if let Loss::Rate = loss {
                    points.push([100.0 * (1.0 - 1.0 / every as f64), found.0.accuracy]);
                    of_point.push(Some(number));
                    values.push(format!("{:.3}", found.0.accuracy));
                }
            }
            table.row(row);
        }
        println!("{table}");
    }
    let remedies = REMEDIES.map(|(name, _)| name.to_owned());
    let plot = ScatterPlot {
        title: "Exercises, with a gyroscope at a lower rate",
        subtitle: "accuracy against the share of samples without it\nsubjects held back in turn",
        axes: ["samples without the gyroscope, %", "accuracy"],
        points: &points,
        names: &values,
        labels: &of_point,
        classes: &remedies,
    };
    std::fs::write(figure, plot.to_svg())?;
    Ok(())
}

type Outcome = (Figures, Option<(f64, f64)>);

fn shown((figures, interval): &Outcome) -> String {
    let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
    format!("{:.3} ({low:.3} to {high:.3})", figures.accuracy)
}

/// Subjects held back in turn.
fn accuracy(
    data: &Dataset,
    (subjects, count): (&[usize], usize),
    every: usize,
    loss: Loss,
    remedy: Remedy,
) -> Result<Outcome, Box<dyn Error>> {
    let (mut all, mut units): (Vec<Judged>, Vec<usize>) = (Vec::new(), Vec::new());
    let windowing = |n: usize| n.try_into().map_err(|_| "a window without samples");
    let windowing = Windowing {
        length: windowing(WINDOW)?,
        hop: windowing(WINDOW)?,
        short: ShortSeries::default(),
    };
    for held in 0..count {
        let training: Vec<usize> =
            (0..subjects.len()).filter(|&series| subjects[series] != held).collect();
        let test: Vec<usize> =
            (0..subjects.len()).filter(|&series| subjects[series] == held).collect();
        let lossy = lost(data, every, loss)?;
        let (mean, _) = centre_and_scale(&lossy, &training);
        let made = remedied(&lossy, &mean, remedy)?;
        let mut request = Request::minimal(ClassifierKind::Bayes);
        request.baum_welch.states = 4;
        request.windowing = Some(windowing);
        let deployed = train(&made, &training, &request, &|| ())?.classifier.deploy()?;
        let windows = made.windows(Some(&windowing));
        let cut: Vec<_> = windows.of_all(&test).copied().collect();
        let judged = judge(&deployed, &cut);
        units.extend(judged.iter().map(|one| subjects[one.series]));
        all.extend(judged);
    }
    let interval = Units::of(&all, &units).accuracy().map(|one| (one.low, one.high));
    Ok((Figures::of(data.classes(), &all), interval))
}

/// Series changed row by row; a channel that is missing is NaN, and a row may be missing.
fn changed(
    data: &Dataset,
    mut change: impl FnMut(usize, usize, Option<&[f64]>) -> Option<Vec<f64>>,
) -> Result<Dataset, Box<dyn Error>> {
    let mut all = Vec::new();
    for (index, series) in data.series().iter().enumerate() {
        let rows = series.samples.view().rows().ok_or("channels")?;
        let mut made = Rows::new(rows.dimension());
        for (t, row) in rows.iter_in_part().enumerate() {
            made.push(change(index, t, row).as_deref());
        }
        all.push(Series { samples: Samples::Channels(made), ..series.clone() });
    }
    let [classes, columns] = [data.classes(), data.columns()].map(<[String]>::to_vec);
    Ok(Dataset::new(data.source(), data.kind().clone(), classes, columns, all)?)
}

/// The series with the second sensor in some samples alone.
fn lost(data: &Dataset, every: usize, loss: Loss) -> Result<Dataset, Box<dyn Error>> {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    changed(data, |_, t, row| {
        let kept = match loss {
            Loss::Rate => t % every == 0,
            Loss::Dropouts => random.random_range(0..every) == 0,
        };
        let mut row = row?.to_vec();
        if !kept {
            row[SLOW].fill(f64::NAN);
        }
        Some(row)
    })
}

/// Applies a treatment to the data.
fn remedied(data: &Dataset, mean: &[f64], remedy: Remedy) -> Result<Dataset, Box<dyn Error>> {
    let (mut last, mut current) = (mean.to_vec(), None);
    changed(data, |series, _, row| {
        if current.replace(series) != Some(series) {
            last.copy_from_slice(mean);
        }
        let mut row = row?.to_vec();
        if remedy == Remedy::DropSample && row.iter().any(|x| x.is_nan()) {
            return None;
        }
        for channel in 0..row.len() {
            match remedy {
                Remedy::LastValue if row[channel].is_nan() => row[channel] = last[channel],
                Remedy::Mean if row[channel].is_nan() => row[channel] = mean[channel],
                _ => last[channel] = row[channel],
            }
        }
        Some(row)
    })
}
