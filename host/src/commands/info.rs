//! `fishweir info`.

use std::path::PathBuf;

use fishweir::report::Inspection;

use super::model::Model;
use super::{Failure, print};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model (JSON), a profile (HMMER3/f) or an artefact
    model: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = Model::read(&arguments.model)?;
    let file = arguments.model.display().to_string();
    let inspection = Inspection::new(file, model.file_bytes, &model.deployed, model.fitted())?;
    print(&Inspection { provenance: model.provenance().cloned(), ..inspection }, arguments.json)
}
