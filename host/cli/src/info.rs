//! `fishweir info`.

use std::path::Path;

use fishweir::deploy::{Currents, DetectorModel, FixedPoint, OperatingPoint, SpotterModel};
use fishweir::model::ModelSet;
use fishweir::project::ProjectModel;
use fishweir::report::{Boards, DetectorInspection, Inspection, Paces, SpotterInspection};
use fishweir_networks::NetworkFile;

use super::model::{Model, ModelArgument};
use super::options::{named, note_idle};
use super::values::{hertz, not_negative, positive};
use super::{Failure, Topic, network, output, recognise};

const EXAMPLES: &str = "\
Examples:
  fishweir info gait.json --rate 50
  fishweir info gait.json --recipe > gait.toml     # for fit --config gait.toml";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Samples per second, to report which boards keep up and their charge per day [default: the training's rate]
    ///
    /// The report has the charge for parts whose makers publish the current. With --clock it lists cores instead of
    /// boards.
    #[arg(long, value_name = "HZ", value_parser = hertz, allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Clock of your processor in MHz
    #[arg(long, value_name = "MHZ", value_parser = positive)]
    clock: Option<f64>,
    /// Current of the running part in mA, from its datasheet, to report the charge per day
    #[arg(long, value_name = "MA", value_parser = positive, requires = "clock")]
    current: Option<f64>,
    /// Current of the sleeping part in mA
    #[arg(long, value_name = "MA", value_parser = not_negative, requires = "current", default_value = "0")]
    sleep: f64,
    /// Print the recipe that the model was fitted by, for --config
    #[arg(long, conflicts_with_all = ["rate", "json"])]
    recipe: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.model.path();
    let file = path.display().to_string();
    let bytes = recognise::read(path)?;
    if arguments.recipe {
        return print_recipe(path, &bytes);
    }
    if SpotterModel::is_one(&bytes) {
        let told = named([("--rate", arguments.rate.is_some())]);
        note_idle(&told, "the processor time of spotters was not measured")?;
        let model = SpotterModel::parse(&file, &bytes)?;
        let inspection = SpotterInspection::new(file, bytes.len(), &model)?;
        return crate::output::print_report(&inspection, arguments.json);
    }
    if DetectorModel::is_one(&bytes) {
        let told = named([("--rate", arguments.rate.is_some())]);
        note_idle(&told, "the processor time of detectors was not measured")?;
        let model = DetectorModel::parse(&file, &bytes)?;
        return crate::output::print_report(
            &DetectorInspection::new(file, bytes.len(), &model)?,
            arguments.json,
        );
    }
    if recognise::is_network(&file, &bytes) {
        let told = named([("--rate", arguments.rate.is_some())]);
        note_idle(&told, "events come when they come")?;
        return network::inspect(path, arguments.json);
    }
    if arguments.current.is_some_and(|current| current < arguments.sleep) {
        let why = "--sleep is more than --current: a part draws less asleep than running";
        return Err(Failure::input(Topic::SleepAboveCurrent, why));
    }
    let model = Model::parse_any(path, &bytes)?;
    // Where samples come as in training, the model says how fast.
    let rate = model.rate(arguments.rate)?;
    if arguments.clock.is_some() && rate.is_none() {
        let what = "--clock needs a rate, and the model has none: give --rate HZ";
        return Err(Failure::input(Topic::MissingOption, what));
    }
    let setting = rate.zip(arguments.clock).map(|(rate, clock)| OperatingPoint {
        rate,
        clock: 1e6 * clock,
        current: arguments
            .current
            .map(|current| Currents { run: [current; 2], sleep: [arguments.sleep; 2] }),
    });
    let inspection = inspect(path, &model, (rate, setting))?;
    crate::output::print_report(&inspection, arguments.json)
}

/// Inspects a classifier of series, with the pace of boards at a rate; with an operating point the pace of cores instead.
pub(super) fn inspect(
    path: &Path,
    model: &Model,
    (rate, setting): (Option<f64>, Option<OperatingPoint>),
) -> Result<Inspection, Failure> {
    let file = path.display().to_string();
    let fitted = model.fitted().filter(|_| model.deployed.target().is_none());
    let fixed = fitted.and_then(|fitted| fitted.quantise().ok());
    let inspection =
        Inspection::new(file, model.file_bytes, &model.deployed, model.fitted(), fixed.as_ref())?;
    let mut formats = vec![ProjectModel::F32(&model.deployed)];
    formats.extend(fixed.as_ref().map(ProjectModel::Q15));
    let pace = setting.map(|setting| {
        Paces::new(setting, model.deployed.work(), fixed.as_ref().and_then(FixedPoint::work))
    });
    // At a clock that was named it is cores that are asked for.
    let rate = rate.filter(|_| pace.is_none());
    let boards = Some(Boards::new(&formats, rate));
    Ok(Inspection { pace, boards, provenance: model.provenance().cloned(), ..inspection })
}

/// Prints the recipe that a model keeps.
fn print_recipe(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let file = path.display();
    let name = file.to_string();
    let provenance = if SpotterModel::is_one(bytes) {
        Some(SpotterModel::parse(&name, bytes)?.provenance)
    } else if DetectorModel::is_one(bytes) {
        Some(DetectorModel::parse(&name, bytes)?.provenance)
    } else if let Ok(network) = NetworkFile::parse(&name, bytes) {
        network.provenance
    } else if ModelSet::is_one(bytes) {
        Some(ModelSet::parse(&name, bytes)?.provenance)
    } else {
        Model::parse_any(path, bytes)?.provenance().cloned()
    };
    let Some(provenance) = provenance else {
        return Err(Failure::input(
            Topic::NoRecipe,
            format!(
                "{file}: it has no recipe; name a model's JSON file, as `fit` or `spot` writes it"
            ),
        ));
    };
    let text =
        format!("# {file}, of {}\n{}", provenance.named(), provenance.recipe.unwrap_or_default());
    output::print(text.as_bytes())
}
