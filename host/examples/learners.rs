//! The learners against each other on one labelled file, on the same features: Fisher scores of class
//! models, scaled by their diagonal information.
//!
//! ```sh
//! cargo run --release --example learners -- splice.tsv
//! cargo run --release --example learners -- watch.csv.gz --group subject --window 200 --hop 50
//! ```
//!
//! One fold is held back. A row a learner and value of C: accuracy on the fold held back; the
//! objective that it minimises, summed over its machines, as a multiple of the least that was reached
//! (by whichever learner of the same objective); and the time to train, as a multiple of the first's.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use fishweir::data::{Dataset, ReadOptions, ShortSeries, Windowing};
use fishweir::kernel::Gram;
use fishweir::learn::{
    ClassWeight, ClassifierKind, Costs, FeatureMap, FeatureScaler, Features, KernelLogistic,
    KernelSvm, Linear, LinearSvm, Loss, Matrix, Request, Scaling, minimise, objective, train,
};
use fishweir_core::classify::{Normalisation, decide};

#[derive(Parser)]
struct Arguments {
    /// Labelled series
    data: PathBuf,
    /// Column whose values stay in one fold
    #[arg(long)]
    group: Option<String>,
    /// Samples per window; whole series without
    #[arg(long)]
    window: Option<NonZeroUsize>,
    /// Samples from window to window
    #[arg(long)]
    hop: Option<NonZeroUsize>,
    /// Hidden states of each class model
    #[arg(long, default_value_t = 4)]
    states: usize,
    /// Folds, of which the first is held back
    #[arg(long, default_value_t = 5)]
    folds: usize,
}

/// One machine and the objective that it reached.
type Reached = Result<(Linear, f64), Box<dyn Error>>;

/// Training of one machine on rows, or on their Gram matrix.
type Train = fn(&Matrix, &Gram, &[bool], Costs) -> Reached;

/// Name, which objective it minimises, and how.
const LEARNERS: [(&str, &str, Train); 5] = [
    ("svm: dual coordinate descent", "squared hinge", |rows, _, positive, costs| {
        let machine =
            LinearSvm::train(rows, positive, costs, &mut vec![0.0; positive.len()]).linear();
        let reached = objective(Loss::SquaredHinge, rows, positive, costs, &machine);
        Ok((machine, reached))
    }),
    ("svm: Newton in the primal", "squared hinge", |rows, _, positive, costs| {
        let machine = minimise(Loss::SquaredHinge, rows, positive, costs, None);
        let reached = objective(Loss::SquaredHinge, rows, positive, costs, &machine);
        Ok((machine, reached))
    }),
    ("logistic: Newton in the primal", "logistic", |rows, _, positive, costs| {
        let machine = minimise(Loss::Logistic, rows, positive, costs, None);
        let reached = objective(Loss::Logistic, rows, positive, costs, &machine);
        Ok((machine, reached))
    }),
    ("klr: Newton on the kernel", "logistic", |rows, gram, positive, costs| {
        let gram = gram.clone().map(|kernel| kernel + 1.0);
        let machine = KernelLogistic::train(&gram, positive, costs)?;
        let expansion = machine.expansion();
        let mut linear = expansion.fold(rows.rows(), rows.columns());
        linear.bias = expansion.coefficients.iter().sum();
        Ok((linear, -machine.objective))
    }),
    ("kernel-svm: pairs on the kernel", "hinge", |rows, gram, positive, costs| {
        let machine = KernelSvm::train(gram, positive, costs)?;
        Ok((machine.expansion.fold(rows.rows(), rows.columns()), machine.objective))
    }),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let data = Dataset::read(&arguments.data, &ReadOptions::default())?;
    let windowing = arguments.window.map(|length| Windowing {
        length,
        hop: arguments.hop.unwrap_or(length),
        short: ShortSeries::default(),
    });
    let folds = data.folds(arguments.folds, arguments.group.as_deref(), None)?;
    let (learned, held_back) = (folds.train(0), folds.test(0));
    let mut options = Request::minimal(ClassifierKind::Bayes);
    options.baum_welch.states = arguments.states;
    options.windowing = windowing;
    let classifier = train(&data, &learned, &options, &|| ())?.classifier;

    let (models, scale) = (classifier.models, classifier.scale);
    let map = FeatureMap::new(Features::Scores, models, scale, true, Normalisation::PER_SAMPLE);
    let labels = data.labels()?;
    let windows = data.windows(windowing.as_ref());
    let features = |series: &[usize]| -> (Matrix, Vec<usize>) {
        let cut: Vec<_> = windows.of_all(series).collect();
        let found = map.extract(&cut.iter().map(|window| window.samples).collect::<Vec<_>>());
        let mut rows = Matrix::new(map.len());
        let mut kept = Vec::new();
        for (row, window) in found.iter().zip(cut) {
            if let Some(row) = row {
                rows.push(row);
                kept.push(labels[window.series]);
            }
        }
        (rows, kept)
    };
    let (rows, train_labels) = features(&learned);
    let (test_rows, test_labels) = features(&held_back);
    let metric = FeatureScaler::of(&rows, &[], &map, Scaling::Diagonal)?;
    let mapped = |rows: &Matrix| -> (Matrix, Vec<Vec<f64>>) {
        let mut matrix = Matrix::new(rows.columns());
        let wide = |row: &[f32]| row.iter().copied().map(f64::from).collect::<Vec<f64>>();
        let all: Vec<Vec<f64>> = rows.rows().map(|row| metric.map(&wide(row))).collect();
        all.iter().for_each(|row| matrix.push(row));
        // What the matrix rounded is what all learners see.
        let rounded = matrix.rows().map(wide).collect();
        (matrix, rounded)
    };
    let ((rows, wide), (_, test)) = (mapped(&rows), mapped(&test_rows));
    let started = Instant::now();
    let gram = Gram::of_features(&wide);
    let gram_time = started.elapsed().as_secs_f64();
    println!(
        "{}: {} windows of {} features to train on, {} held back; Gram matrix {:.2} s",
        arguments.data.display(),
        train_labels.len(),
        map.len(),
        test_labels.len(),
        gram_time
    );

    let classes = data.classes().len();
    let found: Vec<usize> = if classes == 2 { vec![1] } else { (0..classes).collect() };
    for c in [0.1, 1.0, 10.0] {
        let mut results = Vec::new();
        for (name, loss, train) in LEARNERS {
            let started = Instant::now();
            let mut machines = Vec::new();
            let mut reached = 0.0;
            for &class in &found {
                let positive: Vec<bool> = train_labels.iter().map(|&l| l == class).collect();
                let costs = ClassWeight::Even.costs(c, &positive);
                let (machine, objective) = train(&rows, &gram, &positive, costs)?;
                reached += objective;
                machines.push(machine);
            }
            let seconds = started.elapsed().as_secs_f64();
            let right = test.iter().zip(&test_labels).filter(|(row, label)| {
                let values: Vec<f64> = machines.iter().map(|machine| machine.value(row)).collect();
                decide(&values).class == **label
            });
            let accuracy = right.count() as f64 / test_labels.len().max(1) as f64;
            results.push((name, loss, accuracy, reached, seconds));
        }
        println!("\nC = {c}\n{:<32}  accuracy  objective      time", "");
        for (name, loss, accuracy, reached, seconds) in &results {
            let least = results.iter().filter(|one| one.1 == *loss).map(|one| one.3);
            let least = least.fold(f64::INFINITY, f64::min);
            println!(
                "{name:<32}  {accuracy:.4}    {:.6}  {:>8.2}  ({loss}, {seconds:.2} s)",
                reached / least,
                seconds / results[0].4
            );
        }
    }
    Ok(())
}
