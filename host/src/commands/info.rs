//! `fishweir info`.

use std::path::PathBuf;

use fishweir::deploy::{Setting, SpotterModel};
use fishweir::files;
use fishweir::report::{Inspection, Paces, SpotterInspection};

use super::model::Model;
use super::options::{named, refuse_idle};
use super::values::{not_negative, positive};
use super::{Failure, print};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model or a spotter (JSON), a profile (HMMER3/f) or an artefact
    model: PathBuf,
    /// Samples a second: say whether cores keep up at --clock
    #[arg(long, value_name = "HZ", value_parser = positive, requires = "clock")]
    rate: Option<f64>,
    /// Clocks of the processor, in millions a second
    #[arg(long, value_name = "MHZ", value_parser = positive, requires = "rate")]
    clock: Option<f64>,
    /// What the part's datasheet says that it draws while it runs, in milliamperes: say what a day takes too
    #[arg(long, value_name = "MA", value_parser = positive, requires = "rate")]
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
    let bytes = files::read(&arguments.model)?;
    if SpotterModel::is_one(&bytes) {
        let told = named([("--rate", arguments.rate.is_some())]);
        refuse_idle(&told, "what spotters take of processors was not measured")?;
        let model = SpotterModel::parse(&file, &bytes)?;
        let inspection = SpotterInspection::new(file, bytes.len(), &model)?;
        return print(&inspection, arguments.json);
    }
    if arguments.current.is_some_and(|current| current < arguments.sleep) {
        let why = "--sleep draws more than --current: a part asleep draws less than one that runs";
        return Err(Failure::Input(why.into()));
    }
    let model = Model::parse(&arguments.model, &bytes)?;
    let inspection = Inspection::new(file, model.file_bytes, &model.deployed, model.fitted())?;
    let setting = arguments.rate.zip(arguments.clock).map(|(rate, clock)| Setting {
        rate,
        clock: 1e6 * clock,
        current: arguments.current,
        sleep: arguments.sleep,
    });
    let pace = setting.map(|setting| Paces { setting, cores: model.deployed.paces(&setting) });
    print(
        &Inspection { pace, provenance: model.provenance().cloned(), ..inspection },
        arguments.json,
    )
}
