//! `fishweir info`.

use std::path::PathBuf;

use fishweir::deploy::SpotterModel;
use fishweir::files;
use fishweir::report::{Inspection, SpotterInspection};

use super::model::Model;
use super::{Failure, print};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model or a spotter (JSON), a profile (HMMER3/f) or an artefact
    model: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.model.display().to_string();
    let bytes = files::read(&arguments.model)?;
    if SpotterModel::is_one(&bytes) {
        let model = SpotterModel::parse(&file, &bytes)?;
        let inspection = SpotterInspection::new(file, bytes.len(), &model)?;
        return print(&inspection, arguments.json);
    }
    let model = Model::parse(&arguments.model, &bytes)?;
    let inspection = Inspection::new(file, model.file_bytes, &model.deployed, model.fitted())?;
    print(&Inspection { provenance: model.provenance().cloned(), ..inspection }, arguments.json)
}
