//! Remote homology: does a protein domain belong to a superfamily, judged from the superfamily's other families?
//! The experiment that made the Fisher kernel (Jaakkola, Diekhans and Haussler 2000; Liao and Noble 2003), with
//! profile hidden Markov models.
//!
//! A task leaves one family out of its superfamily. A profile is built from the other families' domains,
//! progressively; then domains are ranked by
//! - the profile alone: its log-odds;
//! - support vector machines on its Fisher scores, linear and Gaussian: the gradient by what match states emit,
//!   grouped by the nine components of a Dirichlet mixture, whitened by diagonal information; and linear on it with
//!   the log-odds as well;
//! - machines without a model: words of three (spectrum), of five but for one (mismatch), Smith-Waterman scores
//!   against the positive training domains (pairwise);
//! - `half-*`: profiles of one half of the other families, alone, and with a machine whose positives are that half
//!   or the other half. The profile has seen the positives of the first machine, as it has in all of the above.
//!
//! Machines are trained on the other families against one half of the domains of other folds; all are judged
//! on the family left out against the other half: area below the curve of detections against false alarms, area
//! up to the first 50 false alarms (ROC50), median rate of false positives (median RFP).
//!
//! The data: ASTRAL domains of SCOPe 2.07 below 40 % identity as FASTA, the class (`a.1.1.2`) the
//! header's second word (<https://scop.berkeley.edu/astral/>); a table of families to leave out
//! (`family`, tab-separated, with a header); and a table of halves (`domain`, `half`: train or test).
//!
//! ```sh
//! cargo run --release -p fishweir-profiles --example protein_families -- astral.fa.gz tasks.tsv halves.tsv.gz \
//!     --results results.tsv --every 10
//! ```
//!
//! What was measured is in `host/docs/PROFILES.md`.

mod machine;
mod methods;
mod results;
mod tasks;

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::Parser;
use fishweir::plot::{Curve, RocPlot, Shares};

use methods::Method;
use results::Results;
use tasks::{Domains, Judged, Task, tasks};

#[derive(Parser)]
struct Arguments {
    /// Domains, FASTA
    domains: PathBuf,
    /// Families to leave out
    tasks: PathBuf,
    /// File with the half of each domain, for its use as a negative
    halves: PathBuf,
    /// Take every N-th of the tasks
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Leave out every N-th of the tasks: those that settings were chosen on
    #[arg(long)]
    but_every: Option<usize>,
    /// Take the tasks of superfamilies whose names begin so
    #[arg(long)]
    superfamily: Option<String>,
    /// Negatives are the domains of the same fold, as in the first experiment, and not of other folds
    #[arg(long)]
    same_fold: bool,
    /// C of the linear machines on Fisher scores; that of others is one
    #[arg(long, default_value_t = 0.001)]
    c: f64,
    /// Methods, the first that which others are held against; mismatch keeps a matrix of all domains, and takes long
    #[arg(long, value_enum, value_delimiter = ',', default_values = [
        "profile", "fisher-odds", "fisher-gaussian", "fisher", "spectrum", "pairwise",
    ])]
    methods: Vec<Method>,
    /// File of results, one line per task and method, tab-separated; results that it has are not computed again
    #[arg(long)]
    results: Option<PathBuf>,
    /// Output file of the figures: tasks against ROC and ROC50, SVG
    #[arg(long)]
    figures: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let domains = Domains::read(&arguments.domains)?;
    let tasks = tasks(&arguments, &domains)?;
    let settings = format!("# c {}, same fold {}", arguments.c, arguments.same_fold);
    let mut results = Results::open(arguments.results.as_deref(), &settings)?;
    println!("{} domains, {} tasks", domains.ids.len(), tasks.len());
    for task in &tasks {
        let wanted = results.missing(&task.family, &arguments.methods);
        for (method, values) in methods::of_models(&domains, task, &wanted, arguments.c)? {
            results.add(&task.family, method, task.judge(&values)?)?;
        }
    }
    for &method in &arguments.methods {
        let left: Vec<&Task> = tasks
            .iter()
            .filter(|task| !results.missing(&task.family, &[method]).is_empty())
            .collect();
        methods::without_models(&domains, &left, method, |task, values| {
            results.add(&task.family, method, task.judge(values)?)
        })?;
    }
    let families: Vec<&str> = tasks.iter().map(|task| task.family.as_str()).collect();
    print!("\n{}", results.means(&families, &arguments.methods));
    if let [base, others @ ..] = arguments.methods.as_slice() {
        print!("\n{}", results.against(&families, *base, others));
    }
    match &arguments.figures {
        Some(folder) => draw(folder, &results, &families, &arguments.methods),
        None => Ok(()),
    }
}

/// Tasks against the score that they reach.
fn draw(
    folder: &Path,
    results: &Results,
    families: &[&str],
    methods: &[Method],
) -> Result<(), Box<dyn Error>> {
    type Figure = (&'static str, &'static str, fn(&Judged) -> f64);
    let kinds: [Figure; 2] = [
        ("ROC", "area (ROC)", |one| one.roc),
        ("ROC50", "area up to 50 false alarms (ROC50)", |one| one.roc_50),
    ];
    for (name, axis, figure) in kinds {
        let scores: Vec<Vec<f64>> = methods
            .iter()
            .map(|&method| results.of(families, method).iter().map(figure).collect())
            .collect();
        let points: Vec<_> = scores.iter().map(|scores| results::reached(scores)).collect();
        let curves: Vec<Curve<'_>> = methods
            .iter()
            .zip(scores.iter().zip(&points))
            .map(|(method, (scores, points))| Curve {
                name: method.name(),
                points,
                area: scores.iter().sum::<f64>() / scores.len().max(1) as f64,
            })
            .collect();
        let title = format!("Remote homology: tasks against {name}");
        let subtitle = format!("{} families left out of their superfamilies", families.len());
        let shares = Shares::Tasks(axis);
        let svg = RocPlot { shares, title: &title, subtitle: &subtitle, curves: &curves }.to_svg();
        std::fs::write(folder.join(format!("protein-families-{}.svg", name.to_lowercase())), svg)?;
    }
    Ok(())
}
