//! Windows of a stream that a device keeps in fixed memory: a coreset beside a random sample of the same size.
//!
//! ```sh
//! cargo run --release -p fishweir --example stream_coresets -- \
//!     exercises,host/data/ts-watch-exercises/all.csv.gz,200,subject gestures,labelled.csv.gz,100
//! ```
//!
//! A set is a name, a file, samples of a window, of which the next one begins at the half, and a column whose equal values stay in
//! one fold. Of three folds one trains a model, one is the stream whose windows are kept, and one judges, in each of the six
//! orders; series come in random order, twenty times. The features are the device's: whitened evidence. A table row has, over the
//! windows of the stream, the squared discrepancy between kept and all, and the mean squared distance to the nearest kept one;
//! then the classes among the kept, and the accuracy on the third fold of nearest class means and of the nearest window, learnt
//! from the kept windows with their labels.

use std::num::NonZeroUsize;

use fishweir::coreset::Coreset;
use fishweir::data::{Dataset, ReadOptions, ShortSeries, Windowing};
use fishweir::learn::{ClassifierKind, Request, train};
use fishweir::teach::{learn, whitened};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const KEPT: [usize; 4] = [8, 16, 32, 64];
const DRAWS: u64 = 20;
const FOLDS: usize = 3;
/// Discrepancy, distance, classes, accuracy by means, accuracy by the nearest.
const FIGURES: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Features of a window, its class and its series.
struct Seen {
    row: Vec<f32>,
    label: usize,
    series: usize,
}

fn distance(x: &[f64], y: &[f32]) -> f64 {
    x.iter().zip(y).map(|(x, &y)| (x - f64::from(y)).powi(2)).sum()
}

fn wide(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&number| f64::from(number)).collect()
}

fn mean<'r>(rows: impl Iterator<Item = &'r [f32]>) -> Vec<f64> {
    let (mut sum, mut count) = (Vec::new(), 0.0);
    for row in rows {
        sum.resize(row.len(), 0.0);
        sum.iter_mut().zip(row).for_each(|(sum, &number)| *sum += f64::from(number));
        count += 1.0;
    }
    sum.iter_mut().for_each(|sum| *sum /= count);
    sum
}

/// The figures of kept windows.
fn judge(kept: &[&Seen], stream: &[&Seen], tests: &[Seen], classes: usize) -> [f64; FIGURES] {
    let (own, all) =
        (mean(kept.iter().map(|one| &*one.row)), mean(stream.iter().map(|one| &*one.row)));
    let discrepancy = own.iter().zip(&all).map(|(a, b)| (a - b).powi(2)).sum();
    let nearest = |row: &[f32]| {
        let row = wide(row);
        let each = kept.iter().map(|one| (distance(&row, &one.row), one.label));
        each.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, usize::MAX))
    };
    let apart: f64 = stream.iter().map(|one| nearest(&one.row).0).sum();
    let of_class = |class: usize| kept.iter().filter(move |one| one.label == class);
    let found: Vec<usize> = (0..classes).filter(|&class| of_class(class).count() > 0).collect();
    let means: Vec<(Vec<f64>, usize)> =
        found.iter().map(|&class| (mean(of_class(class).map(|one| &*one.row)), class)).collect();
    let (mut by_means, mut by_nearest) = (0.0, 0.0);
    for test in tests {
        let each = means.iter().map(|(mean, class)| (distance(mean, &test.row), *class));
        let class = each.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, class)| class);
        by_means += f64::from(u8::from(class == Some(test.label)));
        by_nearest += f64::from(u8::from(nearest(&test.row).1 == test.label));
    }
    let n = tests.len() as f64;
    [discrepancy, apart / stream.len() as f64, found.len() as f64, by_means / n, by_nearest / n]
}

/// A uniform sample in one pass. Source: Vitter, "Random sampling with a reservoir", 1985, algorithm R.
fn reservoir<'s>(stream: &[&'s Seen], keep: usize, rng: &mut impl Rng) -> Vec<&'s Seen> {
    let mut kept = Vec::new();
    for (seen, &one) in stream.iter().enumerate() {
        if kept.len() < keep {
            kept.push(one);
        } else if let Some(place) = kept.get_mut(rng.random_range(0..=seen)) {
            *place = one;
        }
    }
    kept
}

fn main() -> Result<()> {
    println!("| set | kept | by | discrepancy | distance | classes | means | nearest |");
    println!("|---|--:|---|--:|--:|--:|--:|--:|");
    for argument in std::env::args().skip(1) {
        let parts: Vec<&str> = argument.split(',').collect();
        let [name, file, window, group @ ..] = parts.as_slice() else {
            return Err(format!("{argument}: a set is NAME,FILE,WINDOW[,GROUP]").into());
        };
        let data = Dataset::read(file, &ReadOptions::default())?;
        let length = NonZeroUsize::new(window.parse()?).ok_or("a window has a sample")?;
        let hop = NonZeroUsize::new(length.get() / 2).unwrap_or(length);
        let mut request = Request::new(ClassifierKind::Fisher);
        request.windowing = Some(Windowing { length, hop, short: ShortSeries::Keep });
        request.group = group.first().map(ToString::to_string);
        let classes = data.classes().len();
        let windows = data.windows(request.windowing.as_ref());
        let folds = data.folds(FOLDS, request.group.as_deref(), None)?;
        // By sizes: a coreset, then a reservoir; differences of accuracy by means; all windows.
        let mut figures = vec![[[0.0; FIGURES]; 2]; KEPT.len()];
        let mut differences = vec![Vec::new(); KEPT.len()];
        let (mut whole, mut trials) = ([0.0; FIGURES], 0.0);
        for training in 0..FOLDS {
            let series = folds.test(training);
            let mut classifier = train(&data, &series, &request, &|| ())?.classifier;
            let own: Vec<_> = windows.of_all(&series).copied().collect();
            classifier.teaching = Some(learn(&classifier.deploy()?, &own)?);
            let deployed = classifier.deploy()?;
            let seen = |fold: usize| {
                let mut seen = Vec::new();
                let mut stream = deployed.stream();
                for window in windows.of_all(&folds.test(fold)) {
                    stream.reset();
                    for sample in window.samples.iter() {
                        // A refused sample is missing, as on a device.
                        let _ = stream.push(sample);
                    }
                    if let (Some(row), Some(label)) = (whitened(&deployed, &stream), window.label())
                    {
                        seen.push(Seen { row, label, series: window.series });
                    }
                }
                seen
            };
            for streamed in (0..FOLDS).filter(|&fold| fold != training) {
                let (arriving, tests) = (seen(streamed), seen(FOLDS - training - streamed));
                for draw in 0..DRAWS {
                    let mut rng = ChaCha8Rng::seed_from_u64(draw);
                    let mut order = folds.test(streamed);
                    order.shuffle(&mut rng);
                    let of =
                        |series: usize| arriving.iter().filter(move |one| one.series == series);
                    let stream: Vec<&Seen> = order.into_iter().flat_map(of).collect();
                    for (at, &keep) in KEPT.iter().enumerate() {
                        let size = NonZeroUsize::new(keep).ok_or("keep one at least")?;
                        let mut coreset = Coreset::new(size, stream[0].row.len());
                        for one in &stream {
                            coreset.push(&one.row)?;
                        }
                        let kept = coreset.kept();
                        let kept: Vec<&Seen> =
                            kept.iter().map(|kept| stream[kept.index as usize]).collect();
                        let drawn = reservoir(&stream, keep, &mut rng);
                        let both = [kept, drawn].map(|kept| judge(&kept, &stream, &tests, classes));
                        differences[at].push(both[0][3] - both[1][3]);
                        for (sums, one) in figures[at].iter_mut().zip(both) {
                            sums.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
                        }
                    }
                    trials += 1.0;
                    if draw == 0 {
                        let one = judge(&stream, &stream, &tests, classes);
                        whole.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
                    }
                }
            }
        }
        let row = |kept: &str, by: &str, sums: &[f64; FIGURES], trials: f64| {
            let [discrepancy, distance, classes, means, nearest] = sums.map(|sum| sum / trials);
            println!(
                "| {name} | {kept} | {by} | {discrepancy:.3} | {distance:.2} | {classes:.1} | {means:.3} | {nearest:.3} |"
            );
        };
        for (at, keep) in KEPT.iter().enumerate() {
            for (by, sums) in ["coreset", "reservoir"].iter().zip(&figures[at]) {
                row(&keep.to_string(), by, sums, trials);
            }
            // Of draws, which share models and tests: nothing about other data.
            let mean = differences[at].iter().sum::<f64>() / trials;
            let square: f64 = differences[at].iter().map(|one| (one - mean).powi(2)).sum();
            eprintln!(
                "{name} {keep}: by means {mean:+.3}, standard error {:.3}",
                square.sqrt() / trials
            );
        }
        row("all", "", &whole, trials / DRAWS as f64);
    }
    Ok(())
}
