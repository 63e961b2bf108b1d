//! Classifiers of records on networks, in ten stratified folds: naive Bayes, TAN, KDB of two parents, and
//! logistic regression on features of the Fisher and the TOP kernel.
//!
//! ```sh
//! cargo run --release -p fishweir-networks --example network_classifiers -- nursery.csv class nursery.out.csv
//! cargo run --release -p fishweir-networks --example network_classifiers -- zoo.csv type zoo.out.csv animal
//! python3 host/networks/examples/network_peers.py classify nursery.csv class nursery.out.csv
//! ```
//!
//! Columns named after the output are left out. Numbers are cut by description length; cuts, graphs, tables
//! and machines are learnt from nine folds, what is missing is a state of its own. The output has a line a
//! record with its fold, and of each classifier whether it decides rightly: the script sets a random forest
//! and gradient boosting for comparison, on the same folds.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use fishweir::data::Folds;
use fishweir_core::classify::decide;
use fishweir_networks::learn::{HillClimb, Prior};
use fishweir_networks::records::{Binning, Cutting, MISSING, Schema, TextTable};
use fishweir_networks::{ClassifierPlan, Method};

const METHODS: [(&str, Method); 6] = [
    ("naive-bayes", Method::NaiveBayes),
    ("tan", Method::TreeAugmented),
    ("kdb", Method::KDependence(2)),
    ("fisher-tree", Method::FisherTree),
    ("top-tan", Method::TopTree),
    ("top-kdb", Method::TopKDependence(2)),
];
const FOLDS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, class, output, dropped @ ..] = &arguments[..] else {
        return Err(
            "give a table, the class' column, a file for the output, columns to leave out".into()
        );
    };
    let table = TextTable::read(data)?.without(dropped)?;
    let class = table.column(class)?;
    let binning = Binning {
        cutting: Cutting::DescriptionLength,
        missing_is_a_state: true,
        ..Binning::default()
    };
    let all: Vec<usize> = (0..table.len()).collect();
    let whole = Schema::learn(&table, &all, Some(class), &binning)?;
    let records = whole.records(&table)?;
    let rows: Vec<usize> =
        all.into_iter().filter(|&row| records.row(row)[class] != MISSING).collect();
    let labels: Vec<usize> = rows.iter().map(|&row| records.row(row)[class].into()).collect();
    let folds = Folds::stratified(&labels, &whole.variables()[class].states, FOLDS, Some(1))?;
    let at = |places: Vec<usize>| places.into_iter().map(|place| rows[place]).collect::<Vec<_>>();

    let mut right = vec![[0_u8; METHODS.len()]; table.len()];
    let mut seconds = [0.0; METHODS.len()];
    for fold in 0..FOLDS {
        let (train, test) = (at(folds.train(fold)), at(folds.test(fold)));
        let schema = Schema::learn(&table, &train, Some(class), &binning)?;
        let records = schema.records(&table)?;
        let (learnt, judged) = (records.subset(&train), records.subset(&test));
        for (index, (_, method)) in METHODS.into_iter().enumerate() {
            let begun = Instant::now();
            let (prior, climb) = (Prior::PseudoCount(1.0), HillClimb::default());
            let plan = ClassifierPlan { method, prior, climb };
            let classifier = plan.train(&schema.variables(), &learnt, class)?;
            for (&row, values) in test.iter().zip(classifier.values(&judged)?) {
                let decided = decide(&values).class;
                right[row][index] = (decided == usize::from(records.row(row)[class])).into();
            }
            seconds[index] += begun.elapsed().as_secs_f64();
        }
    }
    let mut text = "line,fold".to_owned();
    METHODS.iter().for_each(|(name, _)| text = format!("{text},{name}"));
    for (place, &row) in rows.iter().enumerate() {
        let right: Vec<String> = right[row].iter().map(u8::to_string).collect();
        let _ = write!(text, "\n{},{},{}", table.line(row), folds.fold_of(place), right.join(","));
    }
    fs::write(output, text + "\n")?;
    for (index, (name, _)) in METHODS.iter().enumerate() {
        let share = right.iter().filter(|row| row[index] == 1).count() as f64 / rows.len() as f64;
        println!("{name:<12} accuracy {share:.4}   {:8.2} s", seconds[index]);
    }
    Ok(())
}
