//! `fishweir new`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::project::{CoreSource, PROJECT_BOARDS, Project, ProjectBoard, ProjectModel, Start};
use serde::Serialize;

use super::model::Model;
use super::options::refuse_idle;
use super::reading::Reading;
use super::{Failure, print, sources, tell, values};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder to write: it must be new, or empty
    folder: PathBuf,
    /// The board
    #[arg(long, value_parser = boards())]
    board: &'static ProjectBoard,
    /// A fitted model (JSON), a profile (HMMER3/f) or an artefact
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// Recordings for the self-test, and to play for a sensor: the first 64 samples of four series, of each label
    /// one where there are so many [default: noise]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// Tasks on an executor, by embassy, instead of a loop that waits: not on emulated boards, which have no clock
    #[arg(long = "async")]
    tasks: bool,
    /// Samples a second
    #[arg(long, value_name = "HERTZ", default_value_t = 50.0, value_parser = values::positive, allow_negative_numbers = true)]
    rate: f64,
    /// The package's name, for folders whose name none can have [default: that of the folder]
    #[arg(long)]
    name: Option<String>,
    /// Write over files that are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

fn boards() -> impl TypedValueParser<Value = &'static ProjectBoard> {
    let names = PROJECT_BOARDS.iter().map(|board| {
        PossibleValue::new(board.name).help(format!("{}, {}", board.title, board.core))
    });
    PossibleValuesParser::new(names).try_map(|name| ProjectBoard::named(&name))
}

#[derive(Debug, Serialize)]
struct Written {
    folder: String,
    board: &'static str,
    files: usize,
    model_bytes: usize,
    state_bytes: usize,
    /// Samples of the self-test.
    samples: usize,
    /// Whether they are noise.
    noise: bool,
    /// What to run there.
    commands: Vec<String>,
}

impl std::fmt::Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { folder, board, files, samples, .. } = self;
        writeln!(f, "{folder}: {files} files, a project for {board}")?;
        writeln!(
            f,
            "  model {} B of flash, a stream {} B of RAM",
            self.model_bytes, self.state_bytes
        )?;
        let what = if self.noise {
            "of noise, for want of recordings (--data)"
        } else {
            "of the recordings"
        };
        writeln!(f, "  self-test: {samples} samples {what}, every decision's bits")?;
        writeln!(f, "next:")?;
        self.commands.iter().try_for_each(|command| writeln!(f, "  {command}"))
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let shown = folder.display();
    let empty = match folder.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            return Err(Failure::Input(format!("{shown}: {error}; name another folder")));
        }
    };
    if !empty && !arguments.force {
        return Err(Failure::Input(format!(
            "{shown}: there are files in it; name another folder, or --force to write over them"
        )));
    }
    let named =
        std::path::absolute(folder)?.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = arguments.name.clone().or(named).unwrap_or_default();
    let model = Model::read(&arguments.model)?;
    let data = match &arguments.data {
        Some(data) => Some(tell::read(data, &arguments.reading.options_of(&model, None)?)?),
        None => {
            refuse_idle(&arguments.reading.given(), "nothing is read without --data")?;
            None
        }
    };
    let series = data.iter().flat_map(|data| data.series());
    let recordings = series.map(|series| (series.samples.view(), series.label));
    let libraries = sources::libraries()?;
    let project = Project {
        name: &name,
        board: arguments.board,
        tasks: arguments.tasks,
        model: ProjectModel::F32(&model.deployed),
        rate: arguments.rate,
        core: if libraries.is_some() { CoreSource::Vendored } else { CoreSource::Registry },
    };
    let made = project.files(recordings)?;
    let mut all: Vec<(String, &[u8])> =
        made.files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes())).collect();
    if let Some((workspace, sources)) = &libraries {
        all.push(("vendor/Cargo.toml".to_owned(), workspace.as_bytes()));
        all.extend(sources.iter().map(|(name, bytes)| (format!("vendor/{name}"), *bytes)));
    }
    sources::write(folder, &all)?;
    let cost = model.deployed.cost();
    let report = Written {
        folder: shown.to_string(),
        board: arguments.board.name,
        files: all.len(),
        model_bytes: cost.model_bytes,
        state_bytes: cost.state_bytes,
        samples: made.samples,
        noise: made.noise,
        commands: commands(folder, arguments.board),
    };
    print(&report, arguments.json)
}

fn commands(folder: &Path, board: &ProjectBoard) -> Vec<String> {
    let mut commands = vec![format!("cd {}", folder.display())];
    match board.start {
        Start::Emulated => {
            let emulated = fishweir::device::Board::named(board.name);
            commands.extend(emulated.map(|board| board.missing()).unwrap_or_default());
        }
        Start::Probe(_) => {
            commands.push(format!("rustup target add {}", board.target));
            commands.push("cargo install probe-rs-tools --locked    # what flashes it".to_owned());
        }
    }
    commands.push("cargo run --release".to_owned());
    commands
}
