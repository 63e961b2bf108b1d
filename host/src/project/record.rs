//! A project that sends the samples of a sensor to be recorded. It has no model yet.

use super::base::Base;
use super::line::Line;
use super::platform::{Pace, Style};
use super::template::fill;
use super::{CoreSource, ProjectBoard, ProjectError, Sensor};
use crate::device::{Port, check_names};

/// Parts of a project that sends samples.
#[derive(Debug)]
pub struct RecordProject<'a> {
    /// The package's name: letters, digits, `-` and `_`, a letter first.
    pub name: &'a str,
    /// The board.
    pub board: &'static ProjectBoard,
    /// Tasks on an executor, by embassy, instead of one loop that waits.
    pub tasks: bool,
    /// Names of the channels, each with its unit in brackets where it has one.
    pub channels: &'a [String],
    /// Samples per second.
    pub rate: f64,
    /// Source of the device's library.
    pub core: CoreSource,
    /// The sensor; without one a wave stands for it.
    pub sensor: Option<&'a Sensor>,
}

/// Bytes per second that descriptions of the channels take.
const DESCRIPTIONS: usize = 304;

impl RecordProject<'_> {
    /// Samples per second that the line carries.
    #[must_use]
    pub fn most(&self) -> usize {
        // Ten bits a byte; head, checksum and frame beside the values.
        (Port::BAUD as usize / 10 - DESCRIPTIONS) / (4 * self.channels.len() + 11)
    }

    /// The project's files: path in the folder, with `/`; contents.
    ///
    /// # Errors
    /// [`ProjectError`]: as for a [`Project`](super::Project); a name that no channel can have; a rate that the line does not
    /// carry.
    pub fn files(&self) -> Result<Vec<(&'static str, String)>, ProjectError> {
        let Self { name, board, tasks, channels, rate, core, sensor } = *self;
        let style = Style::of(tasks, sensor);
        let (alarm, line) = (false, Line::Sends);
        let pace = Pace::Timed;
        let base = Base { name, board, style, pace, rate, core, alarm, sensor, line };
        base.check()?;
        check_names(channels).map_err(Box::new)?;
        let most = self.most();
        if channels.is_empty() || rate > most as f64 {
            return Err(ProjectError::Line { rate, channels: channels.len(), most });
        }
        let emulated = board.is_emulated();
        let names: Vec<String> = channels.iter().map(|name| format!("{name:?}")).collect();
        let libraries = format!(
            "embedded-io = \"0.7.1\"\nfishweir-device = {{ {} }}",
            base.library("firmware/device")
        );
        let mut values = base.names();
        values.extend([
            ("{{channels}}", names.join(", ")),
            ("{{core}}", libraries),
            ("{{more_packages}}", base.more_packages()),
            ("{{count}}", channels.len().to_string()),
            ("{{most}}", most.to_string()),
            ("{{observed}}", channels.join(", ")),
        ]);
        let filled = |template: &str| fill(&base.select(template), &values);
        let through = include_str!("template/record/lines/through.rs");
        let line = board.line_source(false, [""; 4], through);
        let report = match emulated {
            true => include_str!("template/record/report_semihosting.rs"),
            false => include_str!("template/record/report_defmt.rs"),
        };
        let mut files = base.files("pty");
        files.extend([
            ("Cargo.toml", filled(include_str!("template/manifest.toml"))),
            ("README.md", filled(include_str!("template/record/README.md"))),
            ("src/main.rs", filled(include_str!("template/record/main.rs"))),
            ("src/board.rs", filled(&board.board_source())),
            ("src/line.rs", filled(&line)),
            ("src/report.rs", filled(report)),
        ]);
        match sensor {
            Some(sensor) => {
                files.push(("src/sensor.rs", filled(Sensor::record_source())));
                files.extend(sensor.files(board)?);
            }
            None => {
                files.push(("src/sensor.rs", filled(include_str!("template/record/sensor.rs"))));
            }
        }
        base.check_values(&files)?;
        Ok(files)
    }
}
