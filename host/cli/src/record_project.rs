//! `fishweir new --application record`: a project that sends samples, and needs no model.

use std::fmt;
use std::path::Path;

use fishweir::project::{ProjectBoard, RecordProject, Sensor};
use fishweir::report::grouped;
use serde::Serialize;

use super::Failure;

/// A project that was written.
#[derive(Debug, Serialize)]
struct RecordFiles<'a> {
    folder: String,
    board: &'static str,
    application: &'static str,
    files: usize,
    channels: &'a [String],
    /// Samples per second.
    rate: f64,
    /// Samples per second that the serial port carries.
    most: usize,
    /// Samples per second of the sensor itself; null without one.
    sensor_rate: Option<f64>,
    /// Commands to run in the project, and beside it.
    commands: Vec<String>,
}

impl fmt::Display for RecordFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, board, channels, rate, .. } = self;
        writeln!(f, "{folder}: {} files, a project for {board}", self.files)?;
        writeln!(f, "  sends samples of {} to be recorded", channels.join(", "))?;
        writeln!(f, "  at {rate} Hz, of {} that the serial port carries", grouped(self.most))?;
        match self.sensor_rate {
            Some(own) => writeln!(f, "  reads its sensor, which samples at {own} Hz")?,
            None => writeln!(f, "  a triangle wave takes the place of a sensor: src/sensor.rs")?,
        }
        writeln!(f, "next:")?;
        self.commands.iter().try_for_each(|command| writeln!(f, "  {command}"))
    }
}

/// Writes the project to a folder that may be written.
pub(super) fn write(
    folder: &Path,
    project: &RecordProject<'_>,
    mut commands: Vec<String>,
    json: bool,
) -> Result<(), Failure> {
    let files = project.files()?;
    let libraries = fishweir_sources::libraries()?;
    let all = fishweir_sources::project(&files, libraries);
    fishweir_sources::write(folder, &all)?;
    let port = port(project.board);
    commands.push(format!("fishweir record --port {port} -o samples.csv --label NAME"));
    let report = RecordFiles {
        folder: folder.display().to_string(),
        board: project.board.name,
        application: "record",
        files: all.len(),
        channels: project.channels,
        rate: project.rate,
        most: project.most(),
        sensor_rate: project.sensor.map(Sensor::rate),
        commands,
    };
    crate::output::print_report(&report, json)
}

/// A usual name of the serial port of a board.
pub(super) fn port(board: &ProjectBoard) -> &'static str {
    if board.is_emulated() { "/dev/pts/N" } else { "/dev/ttyACM0" }
}
