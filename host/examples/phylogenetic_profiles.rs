//! The kernels of trees on profiles of presence and absence, against the linear kernel and naive Bayes.
//!
//! ```sh
//! cargo run --release -p fishweir --example phylogenetic_profiles -- [profiles.tsv [model.toml]]
//! ```
//!
//! Without data, profiles are simulated, and are no real ones: a tree of 32 species, grown by splitting
//! a leaf taken by chance, branches of exponential length (mean 1/4); genes are gained at rate 1/2 and
//! lost at rate 1 along it. Each of 2 functions has 5 pathways; a pathway has a history (the states of
//! all inner nodes, drawn once), and each of its 30 genes the leaves that follow from it. So genes of a
//! pathway share an ancestry, pathways of a function nothing but the name. 300 genes, five folds.
//!
//! With data: labelled strings of 0 and 1 (`-` where a species was not examined), and the
//! `[hidden-tree]` model's file.
//!
//! Seen on the simulated profiles (0.4 s): accuracy 0.997 of the hidden tree kernel, 0.993 of the pruned
//! one and of the linear kernel, 0.903 of naive Bayes; smallest eigenvalues are zero to rounding.
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use common::{Task, naive_bayes};
use fishweir::data::{Alphabet, Dataset, Kind, ReadOptions, Samples, SamplesView, Series};
use fishweir::kernel::Gram;
use fishweir::kernel::marginal::{MarginalModel, Substitution, TreeKernelModel};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod common;

const FOLDS: usize = 5;
const SPECIES: usize = 32;
const FUNCTIONS: usize = 2;
const PATHWAYS: usize = 5;
const GENES: usize = 30;
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (model, data) = match (arguments.next(), arguments.next()) {
        (Some(data), Some(model)) => {
            let kind = Some(Kind::Symbols(Alphabet::binary()));
            let MarginalModel::HiddenTree(model) = MarginalModel::read(Path::new(&model))? else {
                return Err("the model's file needs a [hidden-tree]".into());
            };
            (model, Dataset::read(data, &ReadOptions { kind, ..ReadOptions::default() })?)
        }
        (None, None) => simulated()?,
        _ => return Err("give profiles and a model's file, or neither".into()),
    };
    let items: Vec<SamplesView<'_>> = data.series().iter().map(|one| one.samples.view()).collect();
    let labels = data.labels()?;
    let groups: Vec<usize> = (0..items.len()).collect();
    let folds = data.folds(FOLDS, None, Some(SEED))?;
    let task = Task { labels: &labels, classes: data.classes(), groups: &groups, folds: &folds };
    println!("{} profiles, {FOLDS} folds", items.len());
    for (name, model) in [
        ("hidden tree kernel", MarginalModel::HiddenTree(model.clone())),
        ("pruned tree kernel", MarginalModel::PrunedTree(model)),
    ] {
        task.cross_validate_fixed(|| Ok(model.log_gram(&items)?.normalised()))?.print(name);
    }
    let one = |item: &SamplesView<'_>| {
        let symbols = item.symbols().unwrap_or_default().iter();
        symbols.map(|x| x.map_or(0.0, |x| 2.0 * f64::from(x) - 1.0)).collect::<Vec<f64>>()
    };
    let features: Vec<Vec<f64>> = items.iter().map(one).collect();
    let gram = || Ok(Gram::of_features(&features).normalised());
    task.cross_validate_fixed(gram)?.print("linear kernel, agreements");
    let classes = data.classes().len();
    let bayes = task
        .decide_with(|train, test| Ok(naive_bayes(&items, &labels, (classes, 2), (train, test))))?;
    println!("{:<34} accuracy {:.4}", "naive Bayes, species by species", bayes.accuracy());
    Ok(())
}

/// A tree, its branches' lengths, and profiles that evolved on it.
fn simulated() -> Result<(TreeKernelModel, Dataset), Box<dyn Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    // [node]: children, both or none.
    let mut children: Vec<Option<[usize; 2]>> = vec![None];
    let mut leaves = vec![0];
    while leaves.len() < SPECIES {
        let node = leaves.swap_remove(rng.random_range(0..leaves.len()));
        let [first, second] = [children.len(), children.len() + 1];
        children[node] = Some([first, second]);
        children.extend([None, None]);
        leaves.extend([first, second]);
    }
    let length: Vec<f64> =
        children.iter().map(|_| -0.25 * (1.0 - rng.random::<f64>()).ln()).collect();
    let mut newick = String::new();
    write_newick(0, &children, &length, &mut newick)?;
    let substitution = Substitution::GainLoss { gain: 0.5, loss: 1.0 };
    let model = TreeKernelModel {
        alphabet: Alphabet::binary(),
        newick: Some((newick + ";").parse()?),
        newick_file: None,
        leaves: Vec::new(),
        root: None,
        transition: None,
        transition_of_child: None,
        substitution: Some(substitution.clone()),
        arity: None,
    };
    let present = substitution.stationary(2)[1];
    let mut series = Vec::new();
    for label in 0..FUNCTIONS {
        for pathway in 0..PATHWAYS {
            let mut history = vec![usize::from(rng.random::<f64>() < present); children.len()];
            // Parents come before their children.
            for (node, pair) in children.iter().enumerate() {
                for &child in pair.iter().flatten() {
                    let gained = substitution.transition(length[child], 2)[history[node]][1];
                    history[child] = usize::from(rng.random::<f64>() < gained);
                }
            }
            for gene in 0..GENES {
                let mut profile = Vec::new();
                let mut draw = |parent: usize, leaf: usize| {
                    let has = substitution.transition(length[leaf], 2)[history[parent]][1];
                    Some(u16::from(rng.random::<f64>() < has))
                };
                each_leaf(0, &children, &mut |parent, leaf| profile.push(draw(parent, leaf)));
                series.push(Series {
                    id: format!("function {label}, pathway {pathway}, gene {gene}"),
                    label: Some(label),
                    columns: Vec::new(),
                    times: Vec::new(),
                    samples: Samples::Symbols(profile),
                    line: 0,
                });
            }
        }
    }
    let classes = (0..FUNCTIONS).map(|label| format!("function {label}")).collect();
    let kind = Kind::Symbols(Alphabet::binary());
    Ok((model, Dataset::new("simulation", kind, classes, Vec::new(), series)?))
}

fn write_newick(
    node: usize,
    children: &[Option<[usize; 2]>],
    length: &[f64],
    text: &mut String,
) -> std::fmt::Result {
    match children[node] {
        None => write!(text, "s{node}")?,
        Some([first, second]) => {
            text.push('(');
            write_newick(first, children, length, text)?;
            text.push(',');
            write_newick(second, children, length, text)?;
            text.push(')');
        }
    }
    write!(text, ":{}", length[node])
}

/// Leaves from left to right, with their parents.
fn each_leaf(node: usize, children: &[Option<[usize; 2]>], visit: &mut impl FnMut(usize, usize)) {
    for &child in children[node].iter().flatten() {
        match children[child] {
            None => visit(node, child),
            Some(_) => each_leaf(child, children, visit),
        }
    }
}
