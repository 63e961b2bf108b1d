//! Classification of sequences of two hidden Markov models: the synthetic row of Table 1 of N. A. Mehta and A. G.
//! Gray, "Generative and Latent Mean Map Kernels", 2010, on models of our own, for it does not print its
//! own.
//!
//! Two models of three states and two symbols, 500 sequences of 100 symbols of each; models of three
//! states, one a sequence, by Baum-Welch without pseudocounts from the likeliest of eight random starts
//! (there from one, after a segmental pass); ten folds. Models are compared over 10 and 30
//! transitions. The document reports the least loss over all settings; the table adds the loss where folds
//! inside the training folds choose. The loss of the models that drew the sequences is printed first: no
//! classifier is expected to be better.
//!
//! ```sh
//! cargo run --release -p fishweir --example synthetic_sequences
//! ```
use std::error::Error;

use common::Task;
use common::chosen::{LossTable, in_words};
use common::sequences::Strings;
use fishweir::batch::log_likelihoods;
use fishweir::data::{Folds, Samples, SamplesView};
use fishweir::runtime::{Emissions, Hmm};

mod common;

const SEQUENCES: usize = 500;
const LENGTH: usize = 100;
const FOLDS: usize = 10;
/// Rates of the mean map.
const LAMBDA: [f64; 3] = [0.1, 1.0, 3.0];
/// Transitions.
const STEPS: [usize; 2] = [10, 30];

/// Source of the sequences of a class.
///
/// Both start anywhere and emit alike (a one with probability 0.1, 0.5, 0.9); the first stays in its state with probability 0.8,
/// the second with 0.3.
fn source(stay: f64) -> Hmm {
    let row = |state: usize| {
        (0..3).map(|to| if to == state { stay } else { (1.0 - stay) / 2.0 }).collect()
    };
    Hmm {
        initial: vec![1.0 / 3.0; 3],
        transition: (0..3).map(row).collect(),
        emission: Emissions::categorical([0.1, 0.5, 0.9].map(|one| vec![1.0 - one, one]).to_vec()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let sources = [source(0.8), source(0.3)];
    let classes = ["slow", "quick"].map(String::from);
    let count = 2 * SEQUENCES;
    let labels: Vec<usize> = (0..count).map(|item| item / SEQUENCES).collect();
    let drawn: Vec<Samples> = labels
        .iter()
        .zip(0..)
        .map(|(&class, seed)| sources[class].simulate(LENGTH, seed))
        .collect();
    let items: Vec<SamplesView<'_>> = drawn.iter().map(Samples::view).collect();
    let groups: Vec<usize> = (0..count).collect();
    let folds = Folds::stratified(&labels, &classes, FOLDS, Some(1))?;
    let task = Task { labels: &labels, classes: &classes, groups: &groups, folds: &folds };

    let [slow, quick] = &sources;
    let logs = |model: &Hmm| log_likelihoods::<f64>(model, &items);
    let both = logs(slow)?.into_iter().zip(logs(quick)?).zip(&labels);
    let right = both.map(|((slow, quick), &label)| Ok(usize::from(quick? > slow?) == label));
    let right: Vec<bool> = right.collect::<Result<_, Box<dyn Error>>>()?;
    println!("{count} sequences of {LENGTH} symbols, {FOLDS} folds; loss: share decided wrongly");
    println!("of the models that drew them: {}\n", in_words(task.loss(&right)));

    let strings =
        Strings { items: &items, size: 2, states: [3, 3], steps: &STEPS, lambda: &LAMBDA };
    let models = strings.models(|_| 3)?;
    let mut table = LossTable::new();
    let published = ["0.063", "0.091", "0.247", "0.067", "0.068", "0.066", "0.062"];
    strings.rows(&task, &models, published, &mut table)?;
    table.print();
    Ok(())
}
