//! `fishweir info`.

use std::path::PathBuf;

use fishweir::classifier::{Observations, normalisation_name};
use fishweir::report::{Inspection, MachineInspection};
use fishweir_core::artefact::Succession;

use super::model::{MachineModel, Opened};
use super::{Failure, print};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model (JSON) or an artefact
    model: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.model.display().to_string();
    let model = match Opened::read(&arguments.model)? {
        Opened::Linear(model) => model,
        Opened::Machine(MachineModel { machine, expansion, file_bytes }) => {
            let report = MachineInspection::new(file, file_bytes, expansion.items(), &machine);
            return print(&report, arguments.json);
        }
    };
    let deployed = &model.deployed;
    let (channels, symbols) = match deployed.observations() {
        Observations::Channels(names) => (Some(names.clone()), None),
        Observations::Symbols(symbols) => (None, Some(symbols.clone())),
    };
    let report = Inspection {
        file,
        form: if model.classifier.is_some() { "model" } else { "artefact" }.to_owned(),
        file_bytes: model.file_bytes,
        classifier: model.method().to_owned(),
        route: if deployed.directions() == 0 { "log_likelihoods" } else { "directions" }.to_owned(),
        classes: deployed.classes().to_vec(),
        channels,
        symbols,
        models: deployed.models(),
        states: deployed.states(),
        known_states: deployed.succession() == Succession::STEPS,
        outputs: deployed.outputs(),
        directions: deployed.directions(),
        normalisation: normalisation_name(deployed.normalisation()).to_owned(),
        provenance: model.classifier.as_ref().map(|classifier| classifier.provenance.clone()),
        cost: deployed.cost(),
        artefact_bytes: deployed.to_artefact()?.len(),
        routes: deployed.routes(),
    };
    print(&report, arguments.json)
}
