//! What is asked of `fishweir new`: on the command line, or by the project that is updated.

use std::ops::Deref;

use fishweir::classifier::Observations;
use fishweir::project::{ProjectBoard, Sensor};
use fishweir_sources::File;

use super::super::options::{self, note_idle};
use super::super::project_files::{self, BoardPlace, Settings};
use super::super::{Failure, Topic};
use super::{Application, Arguments};

/// What is asked for: on the command line, or by the project that is updated.
pub(in super::super) struct Asked {
    arguments: Arguments,
    pub(in super::super) board: &'static ProjectBoard,
}

impl Deref for Asked {
    type Target = Arguments;

    fn deref(&self) -> &Arguments {
        &self.arguments
    }
}

impl Asked {
    pub(super) fn of(given: &Arguments) -> Result<Self, Failure> {
        let mut arguments = given.clone();
        let board = match (&given.chip, given.board) {
            (Some(chip), _) => ProjectBoard::of_chip(chip, given.memories.as_deref().unwrap_or("")),
            (None, Some(board)) => Ok(board),
            // Only an update names neither.
            (None, None) => {
                let before = project_files::settings(&given.folder)?;
                arguments.application = before.application;
                arguments.number = before.number;
                arguments.tasks = before.tasks;
                arguments.endless = before.endless;
                arguments.name = Some(before.name);
                arguments.pin = before.pins.into_iter().collect();
                arguments.sensor = before.sensor;
                arguments.units = before.units;
                // A new model may find something else.
                if arguments.alarm.is_empty() {
                    arguments.alarm = before.alarms;
                }
                if arguments.application == Application::Field {
                    arguments.update_key = Some(given.folder.join("update.pub"));
                }
                before.board.find(&given.folder)
            }
        };
        let board = board.and_then(|board| board.with_pins(&arguments.pin));
        let board = board.map_err(|error| Failure::input(error.kind(), error.to_string()))?;
        Ok(Self { arguments, board })
    }

    /// What raises the alarm, in a program that has a pin for it.
    pub(in super::super) fn alarms(&self) -> Result<&[String], Failure> {
        let has_pin = !matches!(self.application, Application::Record | Application::Stream);
        let idle = options::named([("--alarm", !self.alarm.is_empty() && !has_pin)]);
        note_idle(&idle, "only --application sensor, field and teach set a pin")?;
        Ok(if has_pin { &self.alarm } else { &[] })
    }

    /// The sensor, for channels of these names at a rate; `None` if none is named, or the samples come from a host.
    pub(in super::super) fn sensor(
        &self,
        observations: &Observations,
        rate: f64,
    ) -> Result<Option<Sensor>, Failure> {
        let Some(part) = self.sensor else { return Ok(None) };
        if self.application == Application::Stream {
            note_idle(&["--sensor"], "samples come from a host with --application stream")?;
            return Ok(None);
        }
        let Observations::Channels(names) = observations else {
            return Err(Failure::input(
                Topic::WrongObservations,
                "the model observes symbols, and a sensor gives numbers: leave --sensor out",
            ));
        };
        Ok(Some(Sensor::new(part.part(), names, &self.units, rate)?))
    }

    /// The public key of those whose models the program takes; `None` if it takes none.
    pub(super) fn key(&self) -> Result<Option<String>, Failure> {
        let is_field = self.application == Application::Field;
        let Some(file) = &self.update_key else {
            return match is_field {
                false => Ok(None),
                true => Err(Failure::input(
                    Topic::MissingOption,
                    "--application field takes models that one key has signed: make a key by `fishweir keygen update.key`, and add \
                     --update-key update.pub",
                )),
            };
        };
        if !is_field {
            note_idle(&["--update-key"], "only --application field takes models")?;
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&fishweir::files::read(file)?).trim().to_owned();
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Failure::input(
                Topic::BadKey,
                format!(
                    "{}: no public key, which has 64 hexadecimal digits; name the file with the ending .pub that `fishweir keygen` wrote",
                    file.display()
                ),
            ));
        }
        Ok(Some(text))
    }

    /// Writes the files of a project of this name around a model.
    pub(in super::super) fn write(&self, files: &[File], name: &str) -> Result<(), Failure> {
        let board = match (&self.chip, &self.memories) {
            (Some(chip), Some(memories)) => {
                BoardPlace::Chip { chip: chip.clone(), memories: memories.clone() }
            }
            _ if self.update => project_files::settings(&self.folder)?.board,
            _ => BoardPlace::of(self.board, &self.folder)?,
        };
        let settings = Settings {
            board,
            pins: self.pin.iter().cloned().collect(),
            alarms: self.alarm.clone(),
            sensor: self.sensor,
            units: self.units.clone(),
            application: self.application,
            number: self.number,
            tasks: self.tasks,
            endless: self.endless,
            name: name.to_owned(),
        };
        project_files::write(&self.folder, files, settings, self.update)
    }
}
