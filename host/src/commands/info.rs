//! `fishweir info`.

use std::path::PathBuf;

use fishweir::report::Inspection;

use super::model::Model;
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
    let Model { deployed, fitted, file_bytes, .. } = Model::read(&arguments.model)?;
    let file = arguments.model.display().to_string();
    print(&Inspection::new(file, file_bytes, &deployed, fitted.as_ref())?, arguments.json)
}
