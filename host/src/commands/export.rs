//! `fishweir export`.

use std::path::PathBuf;

use fishweir::files;
use serde::Serialize;

use super::arguments::check_output;
use super::model::Model;
use super::{Failure, print};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model (JSON) or an artefact
    model: PathBuf,
    /// Rust source with a static of the model, for linking into firmware
    #[arg(long, value_name = "FILE.rs")]
    rust: Option<PathBuf>,
    /// Binary artefact, read in place by the core
    #[arg(long, visible_alias = "artifact", value_name = "FILE.fishweir")]
    artefact: Option<PathBuf>,
    /// Either, by the file's ending: .rs or .fishweir
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

enum Form {
    Rust,
    Artefact,
}

#[derive(Debug, Serialize)]
struct Exported {
    model: String,
    files: Vec<ExportedFile>,
}

#[derive(Debug, Serialize)]
struct ExportedFile {
    file: String,
    form: &'static str,
    bytes: usize,
}

impl std::fmt::Display for Exported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for ExportedFile { file, form, bytes } in &self.files {
            writeln!(f, "{form} written to {file}: {} B", fishweir::report::grouped(*bytes))?;
        }
        Ok(())
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut wanted = Vec::new();
    wanted.extend(arguments.rust.iter().map(|file| (Form::Rust, file)));
    wanted.extend(arguments.artefact.iter().map(|file| (Form::Artefact, file)));
    for file in &arguments.output {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => wanted.push((Form::Rust, file)),
            Some("fishweir" | "bin") => wanted.push((Form::Artefact, file)),
            _ => {
                return Err(Failure::Input(format!(
                    "{}: the ending says neither Rust source (.rs) nor artefact (.fishweir); \
                     use --rust FILE or --artefact FILE",
                    file.display()
                )));
            }
        }
    }
    if wanted.is_empty() {
        return Err(Failure::Input(
            "nothing to write: name --rust FILE.rs, --artefact FILE.fishweir, or -o FILE".into(),
        ));
    }
    let model = Model::open(&arguments.model)?;
    for (_, file) in &wanted {
        check_output(file, &arguments.model)?;
    }
    let mut written = Vec::new();
    for (form, file) in wanted {
        let (form, bytes) = match form {
            Form::Rust => ("Rust source", model.deployed.to_source().into_bytes()),
            Form::Artefact => ("artefact", model.deployed.to_artefact()?),
        };
        files::write_whole(file, &bytes)?;
        let file = file.display().to_string();
        written.push(ExportedFile { file, form, bytes: bytes.len() });
    }
    let report = Exported { model: arguments.model.display().to_string(), files: written };
    print(&report, arguments.json)
}
