//! `fishweir info`.

use std::path::PathBuf;

use fishweir::deploy::{Currents, FixedPoint, OperatingPoint, SpotterModel};
use fishweir::project::ProjectModel;
use fishweir::report::{Boards, Inspection, Paces, SpotterInspection};

use super::model::Model;
use super::options::{named, refuse_idle};
use super::values::{hertz, not_negative, positive};
use super::{Failure, Topic, network, print, recognise};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model, a spotter or a network (JSON), a profile (HMMER3/f) or an artefact
    model: PathBuf,
    /// Samples per second [default: those of the training data, where these say]: say whether the boards of `new` keep up, and what a day takes of a battery where makers say what
    /// their part draws; or, with --clock, whether cores do
    #[arg(long, value_name = "HZ", value_parser = hertz, allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Clocks of the processor, in millions a second
    #[arg(long, value_name = "MHZ", value_parser = positive, requires = "rate")]
    clock: Option<f64>,
    /// What the part's datasheet says that it draws while it runs, in milliamperes: say what a day takes too
    #[arg(long, value_name = "MA", value_parser = positive, requires = "clock")]
    current: Option<f64>,
    /// What it draws asleep, in milliamperes
    #[arg(long, value_name = "MA", value_parser = not_negative, requires = "current", default_value = "0")]
    sleep: f64,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.model.display().to_string();
    let bytes = recognise::read(&arguments.model)?;
    if SpotterModel::is_one(&bytes) {
        let told = named([("--rate", arguments.rate.is_some())]);
        refuse_idle(&told, "what spotters take of processors was not measured")?;
        let model = SpotterModel::parse(&file, &bytes)?;
        let inspection = SpotterInspection::new(file, bytes.len(), &model)?;
        return print(&inspection, arguments.json);
    }
    if recognise::is_network(&file, &bytes) {
        let told = named([("--rate", arguments.rate.is_some())]);
        refuse_idle(&told, "events come when they come")?;
        return network::inspect(&arguments.model, arguments.json);
    }
    if arguments.current.is_some_and(|current| current < arguments.sleep) {
        let why = "--sleep draws more than --current: a part asleep draws less than one that runs";
        return Err(Failure::input(Topic::SleepAboveCurrent, why));
    }
    let model = Model::parse(&arguments.model, &bytes)?;
    let fixed = model.fitted().and_then(|fitted| fitted.quantise().ok());
    let inspection =
        Inspection::new(file, model.file_bytes, &model.deployed, model.fitted(), fixed.as_ref())?;
    let mut formats = vec![ProjectModel::F32(&model.deployed)];
    formats.extend(fixed.as_ref().map(ProjectModel::Q15));
    // Where samples come as in training, the model says how fast.
    let rate = model.rate(arguments.rate)?;
    let setting = arguments.rate.zip(arguments.clock).map(|(rate, clock)| OperatingPoint {
        rate,
        clock: 1e6 * clock,
        current: arguments
            .current
            .map(|current| Currents { run: [current; 2], sleep: [arguments.sleep; 2] }),
    });
    let pace = setting.map(|setting| {
        Paces::new(setting, model.deployed.work(), fixed.as_ref().and_then(FixedPoint::work))
    });
    // At a clock that was named it is cores that are asked for.
    let rate = rate.filter(|_| pace.is_none());
    let boards = Some(Boards::new(&formats, rate));
    print(
        &Inspection { pace, boards, provenance: model.provenance().cloned(), ..inspection },
        arguments.json,
    )
}
