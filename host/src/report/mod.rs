//! Reports: the results of a command, as a table for people and, under the same keys, as JSON.

mod believing;
#[cfg(feature = "device")]
mod boards;
#[cfg(feature = "device")]
mod card;
mod contract;
mod detection;
mod detector;
#[cfg(feature = "device")]
mod device;
#[cfg(feature = "device")]
mod document;
mod emission;
mod evaluation;
mod figures;
mod gram;
mod judged;
mod lines;
mod model;
mod models;
mod out_of_core;
mod pace;
mod parts;
mod pca;
mod route;
mod selection;
mod source;
mod spotter;
mod spotting;
mod table;
mod taught;
mod training;
mod unknown;
mod written;

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

pub use believing::BelievedFigures;
#[cfg(feature = "device")]
pub use boards::{Boards, OnBoard};
#[cfg(feature = "device")]
pub use card::{CardFacts, CardSection, ModelCard};
pub use contract::{ChannelSummary, ContractSummary, WindowsSummary};
pub use detection::{Alarms, Changes, DetectionReport, Seen};
pub use detector::DetectorInspection;
#[cfg(feature = "device")]
pub use device::DeviceComparison;
#[cfg(feature = "device")]
pub use document::{Document, DocumentSeries, JudgedWindows, MarkedEvent, WindowDecision};
pub use emission::EmissionSummary;
pub use evaluation::{CrossValidationReport, DataSummary, Validated};
pub use gram::{FeaturesReport, GramReport, InformationSummary, SpectrumSummary};
pub use judged::{GroupFigures, ModelComparison, ModelEvaluation};
pub use lines::LineComparison;
pub use model::{Inspection, Stored};
pub use models::{ModelSummary, ModelsReport};
pub use out_of_core::OutOfCoreSummary;
pub use pace::Paces;
pub use parts::{PartReport, SummedLeaves};
pub use pca::PcaReport;
pub use source::{ShownSeries, SourceReport};
pub use spotter::{SpottedSummary, SpotterInspection};
pub use spotting::{EventFigures, SpotFoldReport, SpotValidationReport};
pub use table::{Table, write_cost};
pub use taught::TeachingCost;
pub use training::{ClassFit, FitReport, Floored};
pub use written::Written;

pub use crate::words::{
    counted, grouped, grouped_to_three_digits, printable, short, to_three_digits,
};

/// Result with two forms: [`Display`](fmt::Display) for people, JSON for programs.
///
/// `{}` is a summary, `{:#}` all that is known; some reports are short enough to have one form for both.
pub trait Report: Serialize + fmt::Display {}

impl<R: Serialize + fmt::Display> Report for R {}

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people, on a screen or less.
    Summary,
    /// For people, all of it.
    Full,
    /// One JSON object, all of it.
    Json,
}

/// Writes a report, as JSON with a line end.
///
/// # Errors
/// What the writer says.
pub fn write(report: &impl Report, format: ReportFormat, to: &mut impl Write) -> io::Result<()> {
    match format {
        ReportFormat::Summary => write!(to, "{}", printable(&report.to_string())),
        ReportFormat::Full => write!(to, "{}", printable(&format!("{report:#}"))),
        ReportFormat::Json => {
            serde_json::to_writer_pretty(&mut *to, report)?;
            writeln!(to)
        }
    }
}
