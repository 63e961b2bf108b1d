//! The files of a project on disk: written, and brought to a new model without touching what a person wrote.
//!
//! A project keeps what it was asked for, and a checksum of each file as it was written, in `.fishweir.json`. A file that still has
//! its checksum is the program's own; any other is the person's.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use fishweir::project::{ProjectBoard, ProjectError};
use fishweir_sources::File;
use serde::{Deserialize, Serialize};

use super::fixed::NumberName;
use super::new::{Application, SensorName};
use super::{Failure, Topic, note};

/// The file that a project is known by.
const RECORD: &str = ".fishweir.json";

/// Files that are the model's own: they always come with it.
const OF_MODEL: [&str; 2] = ["src/model.rs", "src/self_test.rs"];

/// How a project finds its board again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum BoardPlace {
    /// The name of one that is known, or the path of its folder, from the folder of the project.
    Named(String),
    /// A chip of a family, and its memories.
    Chip { chip: String, memories: String },
}

impl BoardPlace {
    /// The place of a board that a project in `project` is for.
    pub(super) fn of(board: &ProjectBoard, project: &Path) -> std::io::Result<Self> {
        let Some(folder) = board.folder() else { return Ok(Self::Named(board.name.to_owned())) };
        let project = std::path::absolute(project)?;
        // A project that is not there yet has no canonical path: its folders that are there have one.
        let there = project.ancestors().find_map(|one| Some((one, one.canonicalize().ok()?)));
        let project = match there {
            Some((one, canonical)) => {
                canonical.join(project.strip_prefix(one).unwrap_or(Path::new("")))
            }
            None => project,
        };
        Ok(Self::Named(between(&project, folder).to_string_lossy().replace('\\', "/")))
    }

    /// The board, for a project in `project`.
    pub(super) fn find(&self, project: &Path) -> Result<&'static ProjectBoard, ProjectError> {
        match self {
            Self::Chip { chip, memories } => ProjectBoard::of_chip(chip, memories),
            Self::Named(place) => {
                let folder = project.join(place);
                match folder.join("board.toml").is_file() {
                    true => ProjectBoard::named(&folder.to_string_lossy()),
                    false => ProjectBoard::named(place),
                }
            }
        }
    }
}

/// The way from one folder to another, both from the root; the other itself where they have nothing else in common.
fn between(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    if !to.components().take(common).any(|part| matches!(part, Component::Normal(_))) {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// Options that a project was written with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) board: BoardPlace,
    /// Pins that are not those of the board's `board.toml`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pins: BTreeMap<String, String>,
    /// What sets the alarm pin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) alarms: Vec<String>,
    /// The sensor, and units that its channels' names do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sensor: Option<SensorName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) units: Vec<String>,
    pub(super) application: Application,
    pub(super) number: NumberName,
    pub(super) tasks: bool,
    pub(super) endless: bool,
    pub(super) name: String,
}

/// `.fishweir.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    settings: Settings,
    /// Checksum of each file as it was written.
    files: BTreeMap<String, u32>,
}

/// The settings of a project.
pub(super) fn settings(folder: &Path) -> Result<Settings, Failure> {
    record(folder).map(|record| record.settings)
}

fn record(folder: &Path) -> Result<Record, Failure> {
    let file = folder.join(RECORD);
    let wrong = |what: String| {
        Failure::input(
            Topic::NoProject,
            format!(
                "{}: {what}; --update takes the folder of a project that `fishweir new` wrote",
                file.display()
            ),
        )
    };
    let text = std::fs::read(&file).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
}

/// Writes the files of a project; with `update` those that a person has changed stay, but for the model's own, and are noted
/// where the program would write another file than before.
pub(super) fn write(
    folder: &Path,
    files: &[File],
    settings: Settings,
    update: bool,
) -> Result<(), Failure> {
    let before = if update { Some(record(folder)?) } else { None };
    let mut sums = BTreeMap::new();
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (path, bytes) in files {
        let sum = crc32fast::hash(bytes);
        sums.insert(path.clone(), sum);
        let Some(before) = &before else {
            written.push((path.clone(), bytes.clone()));
            continue;
        };
        let recorded = before.files.get(path).copied();
        let there = std::fs::read(folder.join(path)).ok().map(|there| crc32fast::hash(&there));
        match there {
            Some(there) if there == sum => {}
            Some(there) if Some(there) != recorded && !OF_MODEL.contains(&path.as_str()) => {
                if recorded != Some(sum) {
                    kept.push(path.as_str());
                }
            }
            // A file that a person has taken away stays away.
            None if recorded.is_some() && !OF_MODEL.contains(&path.as_str()) => {}
            _ => written.push((path.clone(), bytes.clone())),
        }
    }
    fishweir_sources::write(folder, &written)?;
    let record = Record { settings, files: sums };
    let text = serde_json::to_vec_pretty(&record).map_err(std::io::Error::from)?;
    fishweir_sources::write(folder, &[(RECORD.to_owned(), text)])?;
    if !kept.is_empty() {
        note(
            Topic::KeptFiles,
            format_args!(
                "{}: you changed them, so they are kept, but the new model needs others; `fishweir new` in another \
                 folder writes those",
                kept.join(", ")
            ),
        );
    }
    Ok(())
}
