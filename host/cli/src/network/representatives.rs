//! `fishweir network representatives`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use fishweir_networks::random_subsets;
use fishweir_networks::report::RepresentativesReport;

use super::super::output::Outputs;
use super::model::{fisher, network};
use super::table::{records, refused};
use super::{Failure, sample};

const EXAMPLES: &str = "\
Examples:
  fishweir network representatives nursery.csv --model nursery.json -k 8
  fishweir network representatives events.csv --model house.json -k 8 --online";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records to choose from
    data: PathBuf,
    /// Network
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Records to choose
    #[arg(short = 'k', long, value_name = "K", default_value_t = 10)]
    records: usize,
    /// Random choices, of which the best is where the exchange begins
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: usize,
    /// Choose in one pass, as a device does in fixed memory: each record is kept or dropped when it comes. --draws are
    /// for comparison alone
    #[arg(long)]
    online: bool,
    /// Seed of the random choices
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Output file of the chosen records, as CSV of their states; - for standard output
    #[arg(short, long, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&outputs, &[&arguments.model, &arguments.data])?;
    let file = network(&arguments.model)?;
    let (table, records) = records(&arguments.data, &file.columns)?;
    let at = |error| refused(&table, error);
    let fisher = fisher(file.network());
    let draws = arguments.draws.max(1);
    let subsets =
        random_subsets(records.len(), arguments.records, draws, arguments.seed).map_err(at)?;
    let costs = fisher.discrepancies(&records, &subsets).map_err(at)?;
    let best = (0..draws).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
    let keep = NonZeroUsize::new(arguments.records).filter(|_| arguments.online);
    let (indices, discrepancy, passes, weights) = match keep {
        Some(keep) => {
            let kept = fisher.coreset(&records, keep).map_err(at)?;
            (kept.indices, kept.discrepancy.into(), 1, Some(kept.weights))
        }
        None => {
            let mut found = fisher.representatives(&records, &subsets[best]).map_err(at)?;
            found.indices.sort_unstable();
            (found.indices, found.objective, found.trace.len() - 1, None)
        }
    };
    let report = RepresentativesReport {
        data: table.source().to_owned(),
        records: records.len(),
        lines: indices.iter().map(|&index| table.line(index)).collect(),
        discrepancy,
        random: costs.iter().sum::<f64>() / draws as f64,
        start: costs[best],
        passes,
        weights,
        exact: fisher.is_exact(),
        output: arguments.output.as_ref().map(|path| path.display().to_string()),
    };
    if let Some(path) = &arguments.output {
        sample::write(path, file.network().variables(), &records.subset(&indices))?;
    }
    outputs.print(&report, arguments.json)
}
