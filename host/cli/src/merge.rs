//! `fishweir merge`.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use fishweir::classifier::ClassifierError;
use fishweir::device::CountsLog;
use fishweir::files;
use fishweir::fit::BaumWelch;
use fishweir::kernel::gram_bytes;
use fishweir::parts::{ExpectedSums, FeatureSums, GramTile, JoinedTiles, PartError};
use fishweir::report::{PartReport, Written, counted};
use fishweir_networks::NetworkFile;
use fishweir_networks::learn::{CountSums, CountSumsError, ExpectationMaximisation, Prior};

use super::expect;
use super::gram::layout_of;
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::remedy::words;
use super::values::{not_negative, positive};
use super::{Failure, Topic, note};

pub(super) const LONG_ABOUT: &str = "\
Put parts together: of a pass of Baum-Welch or of a machine, as expect wrote them or devices sent them, of a network's, as network expect did, or of a \
Gram matrix, as gram --tile did.

Of sums, with --model the output is the next models: those that the sums of all leaves make likeliest; or the classifier with the \
machine that they make. Without it the output is the sum of the \
parts, which may lack leaves. Tiles become a matrix: csv, npy or libsvm, by the ending of the output.

A file of all that a device sent while it ran the application adapt with the feature counts is a part too: the order of the files, and of \
the streams in each, is that of the recordings. Damaged, repeated and late records change nothing.

Parts of other models, data or matrices, and parts that come twice or are missing, are refused by name.";

const EXAMPLES: &str = "\
Examples:
  fishweir merge part-*.json --model start.json -o next.json
  fishweir merge part-1*.json -o some.json         # parts of parts, when there are many
  fishweir merge board-*.bin --model model.json -o next.json    # what devices sent
  fishweir merge gait.gram-*-of-8.json -o gait.npy";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Parts, as expect, merge or gram --tile wrote them, or as devices sent them
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

impl Arguments {
    /// Options of the next models.
    fn baum_welch(&self) -> BaumWelch {
        let mut options = BaumWelch::default();
        options.std_floor = self.std_floor.unwrap_or(options.std_floor);
        options
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = &arguments.output;
    let inputs: Vec<&Path> =
        arguments.parts.iter().chain(&arguments.model).map(PathBuf::as_path).collect();
    // A part that is written over by the whole is a part no more: only the model may be.
    let outputs = Outputs::check(&[output], &inputs)?;
    match Kind::of(&files::read(&arguments.parts[0])?) {
        Some(Kind::Tiles) => {
            note_idle(&named([("--model", arguments.model.is_some())]), "tiles are no sums")?;
            return join(arguments, &outputs);
        }
        Some(Kind::Counts) => return count(arguments, &outputs),
        Some(Kind::Features) => return train(arguments, &outputs),
        Some(Kind::Records) => return of_devices(arguments, &outputs),
        None => {}
    }
    let idle = named([("--pseudo-count", arguments.pseudo_count.is_some())]);
    note_idle(&idle, "it is for counts of a network")?;
    let sums = merged(arguments)?;
    let source = counted(arguments.parts.len(), "part");
    let what = match &arguments.model {
        None => {
            output::write(output, sums.to_json()?.as_bytes())?;
            "sums"
        }
        Some(path) => {
            let models = expect::model(path)?;
            let next = models.maximised(&sums, &arguments.baum_welch())?;
            output::write(output, next.to_json()?.as_bytes())?;
            "next models"
        }
    };
    let report = PartReport::new(source, what.to_owned(), &sums, output.display().to_string())?;
    outputs.print(&report, arguments.json)
}

/// Kind of a part.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Tiles,
    Counts,
    Features,
    Records,
}

impl Kind {
    /// The kind by a file's content; `None` of expected statistics, and of other files.
    fn of(bytes: &[u8]) -> Option<Self> {
        match () {
            () if GramTile::is_one(bytes) => Some(Self::Tiles),
            () if CountSums::is_one(bytes) => Some(Self::Counts),
            () if FeatureSums::is_one(bytes) => Some(Self::Features),
            // Frames end with zeros, and no text has any.
            () if bytes.contains(&0) => Some(Self::Records),
            () => None,
        }
    }

    fn words(kind: Option<Self>) -> &'static str {
        match kind {
            Some(Self::Tiles) => "a tile of a Gram matrix",
            Some(Self::Counts) => "counts of a network",
            Some(Self::Features) => "sums of features",
            Some(Self::Records) => "records of a device",
            None => "expected statistics",
        }
    }
}

/// A part that was not read: of another kind than the first, or no part.
fn unread(arguments: &Arguments, path: &Path, error: ClassifierError) -> Failure {
    let kind = |path: &Path| files::read(path).map(|bytes| (Kind::of(&bytes), bytes));
    let first = arguments.parts.first().map_or(path, PathBuf::as_path);
    let (Ok((wanted, _)), Ok((found, bytes))) = (kind(first), kind(path)) else {
        return error.into();
    };
    if found == wanted || (found.is_none() && ExpectedSums::parse("", &bytes).is_err()) {
        return error.into();
    }
    let (found, wanted) = (Kind::words(found), Kind::words(wanted));
    let (path, first) = (path.display(), first.display());
    let what = format!("{path} has {found}, and {first} has {wanted}; merge parts of one kind");
    Failure::input("other-parts", what)
}

/// The sum of all parts.
fn merged(arguments: &Arguments) -> Result<ExpectedSums, Failure> {
    let mut sum: Option<ExpectedSums> = None;
    for path in &arguments.parts {
        let file = path.display().to_string();
        let named =
            |error: PartError| Failure::input(error.kind(), format!("{file}: {}", words(&error)));
        let part = ExpectedSums::parse(&file, &files::read(path)?)
            .map_err(|error| unread(arguments, path, error))?;
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => sum.merge(part).map_err(named)?,
        }
    }
    // One is required.
    sum.ok_or_else(|| Failure::input("missing-required-argument", "PART: name one or more"))
}

/// Adds the counts that devices sent, and writes the next models.
fn of_devices(arguments: &Arguments, outputs: &Outputs) -> Result<(), Failure> {
    let idle = named([("--pseudo-count", arguments.pseudo_count.is_some())]);
    note_idle(&idle, "it is for counts of a network")?;
    let Some(path) = &arguments.model else {
        let what = "records of devices need --model: the models that they were counted under";
        return Err(Failure::input(Topic::MissingOption, what));
    };
    let models = expect::model(path)?;
    let (names, checksums) = (models.names()?, models.device_checksums()?);
    let mut counts: Vec<Vec<Vec<f32>>> = vec![Vec::new(); names.len()];
    let mut before: Vec<(&PathBuf, CountsLog)> = Vec::with_capacity(arguments.parts.len());
    for part in &arguments.parts {
        let file = part.display();
        let refused = |kind, what: &dyn Display| Failure::input(kind, format!("{file}: {what}"));
        let log =
            CountsLog::parse(&files::read(part)?).map_err(|error| refused(error.kind(), &error))?;
        if let Some((same, _)) = before.iter().find(|(_, other)| other.is_same(&log)) {
            let what = format!("the counts of {} again; leave one of the two out", same.display());
            return Err(refused("repeated-counts", &what));
        }
        let mut known = 0;
        for model in log.models() {
            let Some(index) = checksums.iter().position(|&own| own == model) else {
                let what = "counts under a model that is not in the file given by --model,";
                let model =
                    format_args!("{file}: {what} {} ({model:08x}), left out", path.display());
                note("other-models", model);
                continue;
            };
            let lacking = log.lacking(model);
            if !lacking.is_empty() {
                let streams = lacking.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
                let what = "the device lacks samples of streams";
                note(Topic::LostSamples, format_args!("{file}: {what} {streams}, left out"));
            }
            let recordings =
                log.recordings(model).map_err(|error| refused(error.kind(), &error))?;
            known += recordings.len();
            counts[index].extend(recordings);
        }
        if known == 0 {
            let wanted: Vec<String> = checksums.iter().map(|own| format!("{own:08x}")).collect();
            let what = format!(
                "no whole recording was counted under the models of {} ({}); count anew with these models",
                path.display(),
                wanted.join(", ")
            );
            return Err(refused("other-models", &what));
        }
        before.push((part, log));
    }
    let sums = models.sums_of_counts(&counts)?;
    let next = models.maximised_by_counts(&sums, &arguments.baum_welch())?;
    output::write(&arguments.output, next.to_json()?.as_bytes())?;
    let source = counted(arguments.parts.len(), "device");
    let output = arguments.output.display().to_string();
    let report = PartReport::new(source, "next models".to_owned(), &sums, output)?;
    outputs.print(&report, arguments.json)
}

/// Adds the sums of a machine, and writes the sum or the classifier.
fn train(arguments: &Arguments, outputs: &Outputs) -> Result<(), Failure> {
    let (std_floor, pseudo_count) =
        (arguments.std_floor.is_some(), arguments.pseudo_count.is_some());
    let idle = named([("--std-floor", std_floor), ("--pseudo-count", pseudo_count)]);
    note_idle(&idle, "models stay as they are, and a machine is trained")?;
    let mut sum: Option<FeatureSums> = None;
    for path in &arguments.parts {
        let file = path.display().to_string();
        let part = FeatureSums::parse(&file, &files::read(path)?)
            .map_err(|error| unread(arguments, path, error))?;
        let named =
            |error: PartError| Failure::input(error.kind(), format!("{file}: {}", words(&error)));
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => sum.merge(part).map_err(named)?,
        }
    }
    // One is required.
    let Some(sum) = sum else { return Ok(()) };
    let output = &arguments.output;
    let (bytes, what) = match &arguments.model {
        None => (sum.to_json()?, expect::leaves(&sum)),
        Some(path) => {
            let machine = expect::machine(path, &files::read(path)?)?.ok_or_else(|| {
                let what =
                    "has no machine that sums over windows make; give the classifier of the parts";
                Failure::input(Topic::WrongModel, format!("{}: {what}", path.display()))
            })?;
            let next = machine.trained(&sum)?.to_json()?;
            (next, format!("classifier by the {}", expect::leaves(&sum)))
        }
    };
    output::write(output, bytes.as_bytes())?;
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}

/// Joins tiles, and writes their matrix.
fn join(arguments: &Arguments, outputs: &Outputs) -> Result<(), Failure> {
    let tile = |path: &PathBuf| {
        GramTile::parse(&path.display().to_string(), &files::read(path)?)
            .map_err(|error| unread(arguments, path, error))
    };
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
        let part = CountSums::parse(&file, &files::read(path)?)
            .map_err(|error| unread(arguments, path, error))?;
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
