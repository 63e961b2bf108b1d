//! The files of a project on disk: written, and brought to a new model without touching what a person wrote.
//!
//! A project keeps what it was asked for, and a checksum of each file as it was written, in `.fishweir.json`. A file that still has
//! its checksum is the program's own; any other is the person's.

use std::collections::BTreeMap;
use std::path::Path;

use fishweir_sources::File;
use serde::{Deserialize, Serialize};

use super::fixed::NumberName;
use super::new::Application;
use super::{Failure, Topic, note};

/// The file that a project is known by.
const RECORD: &str = ".fishweir.json";

/// Files that are the model's own: they always come with it.
const OF_MODEL: [&str; 2] = ["src/model.rs", "src/self_test.rs"];

/// Options that a project was written with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) board: String,
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
