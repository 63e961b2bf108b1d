//! `fishweir merge`.

use std::path::{Path, PathBuf};

use fishweir::files;
use fishweir::fit::BaumWelch;
use fishweir::kernel::gram_bytes;
use fishweir::parts::{ExpectedSums, GramTile, JoinedTiles, PartError};
use fishweir::report::{PartReport, Written, counted};
use fishweir_networks::NetworkFile;
use fishweir_networks::learn::{CountSums, CountSumsError, ExpectationMaximisation, Prior};

use super::expect;
use super::gram::layout_of;
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::remedy::words;
use super::values::{not_negative, positive};
use super::{Failure, Topic};

pub(super) const LONG_ABOUT: &str = "\
Put parts together: of a pass of Baum-Welch, as expect wrote them, of a network's, as network expect did, or of a Gram matrix, as gram \
--tile did.

Of sums, with --model the output is the next models: those that the sums of all leaves make likeliest. Without it the output is the sum of the \
parts, which may lack leaves. Tiles become a matrix: csv, npy or libsvm, by the ending of the output.

Parts of other models, data or matrices, and parts that come twice or are missing, are refused by name.";

const EXAMPLES: &str = "\
Examples:
  fishweir merge part-*.json --model start.json -o next.json
  fishweir merge part-1*.json -o some.json         # parts of parts, when there are many
  fishweir merge gait.gram-*-of-8.json -o gait.npy";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Parts, as expect, merge or gram --tile wrote them
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,
    /// Models that the parts are of; writes the next ones
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// File for the sums, the models or the matrix, - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Smallest standard deviation of a state, as a fraction of the channel's [default: 0.3]
    #[arg(long, value_name = "FRACTION", value_parser = positive, requires = "model")]
    std_floor: Option<f64>,
    /// Number added to every count of a network [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = not_negative, requires = "model")]
    pseudo_count: Option<f64>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = &arguments.output;
    let inputs: Vec<&Path> =
        arguments.parts.iter().chain(&arguments.model).map(PathBuf::as_path).collect();
    // A part that is written over by the whole is a part no more: only the model may be.
    let outputs = Outputs::check(&[output], &inputs)?;
    let first = files::read(&arguments.parts[0])?;
    if GramTile::is_one(&first) {
        note_idle(&named([("--model", arguments.model.is_some())]), "tiles are no sums")?;
        return join(arguments, &outputs);
    }
    if CountSums::is_one(&first) {
        return count(arguments, &outputs);
    }
    let idle = named([("--pseudo-count", arguments.pseudo_count.is_some())]);
    note_idle(&idle, "it is for counts of a network")?;
    let sums = merged(&arguments.parts)?;
    let source = counted(arguments.parts.len(), "part");
    let what = match &arguments.model {
        None => {
            output::write(output, sums.to_json()?.as_bytes())?;
            "sums"
        }
        Some(path) => {
            let (models, _) = expect::model(path)?;
            let mut options = BaumWelch::default();
            options.std_floor = arguments.std_floor.unwrap_or(options.std_floor);
            let next = models.maximised(&sums, &options)?;
            output::write(output, next.to_json()?.as_bytes())?;
            "next models"
        }
    };
    let report = PartReport::new(source, what.to_owned(), &sums, output.display().to_string())?;
    outputs.print(&report, arguments.json)
}

/// The sum of all parts.
fn merged(paths: &[PathBuf]) -> Result<ExpectedSums, Failure> {
    let mut sum: Option<ExpectedSums> = None;
    for path in paths {
        let file = path.display().to_string();
        let named =
            |error: PartError| Failure::input(error.kind(), format!("{file}: {}", words(&error)));
        let part = ExpectedSums::parse(&file, &files::read(path)?)?;
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => sum.merge(part).map_err(named)?,
        }
    }
    // One is required.
    sum.ok_or_else(|| Failure::input("missing-required-argument", "PART: name one or more"))
}

/// Joins tiles, and writes their matrix.
fn join(arguments: &Arguments, outputs: &Outputs) -> Result<(), Failure> {
    let tile = |path: &PathBuf| GramTile::parse(&path.display().to_string(), &files::read(path)?);
    let tiles = arguments.parts.iter().map(tile).collect::<Result<Vec<_>, _>>()?;
    let joined = GramTile::joined(tiles).map_err(|(index, error)| {
        let file = arguments.parts[index].display();
        Failure::input(error.kind(), format!("{file}: {error}"))
    })?;
    // One is required.
    let Some(JoinedTiles { gram, items, kernel }) = joined else { return Ok(()) };
    let output = &arguments.output;
    output::write(output, &gram_bytes(layout_of(output).format(), &gram, &items)?)?;
    let what = format!("the {kernel} kernel of {}", counted(gram.len(), "item"));
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}

/// Adds the counts of a network, and writes the sum or the next network.
fn count(arguments: &Arguments, outputs: &Outputs) -> Result<(), Failure> {
    note_idle(&named([("--std-floor", arguments.std_floor.is_some())]), "the parts are counts")?;
    let mut sum: Option<CountSums> = None;
    for path in &arguments.parts {
        let file = path.display().to_string();
        let part = CountSums::parse(&file, &files::read(path)?)?;
        let named = |error: CountSumsError| {
            Failure::input(error.kind(), format!("{file}: {}", words(&error)))
        };
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => sum.merge(part).map_err(named)?,
        }
    }
    // One is required.
    let Some(sum) = sum else { return Ok(()) };
    let log =
        sum.log_likelihood().map_or_else(String::new, |log| format!(", log-likelihood {log:.3}"));
    let output = &arguments.output;
    let what = match &arguments.model {
        None => {
            output::write(output, sum.to_json()?.as_bytes())?;
            format!("counts of {} of {} leaves{log}", sum.summed(), sum.leaves())
        }
        Some(path) => {
            let file = NetworkFile::read(path)?;
            let mut em = ExpectationMaximisation::default();
            em.prior = arguments.pseudo_count.map_or(em.prior, Prior::PseudoCount);
            let next = file.with_network(em.maximised(file.network(), &sum)?);
            let next = next.ok_or_else(|| {
                let what = "is a classifier of records; give a network";
                Failure::input(Topic::WrongModel, format!("{}: {what}", path.display()))
            })?;
            output::write(output, &next.bytes_for(output)?)?;
            format!("next network{log}")
        }
    };
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}
