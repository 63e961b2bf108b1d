//! The figure of how far decisions are to be believed.

use std::path::Path;

use fishweir::evaluate::{Calibration, ReliabilityBin};
use fishweir::plot::{Bin, Reliability, ReliabilityPlot};
use fishweir::report::DataSummary;

use crate::{Failure, Topic, output};

/// Draws the bins of those classifiers that have probabilities, if asked to; `why` there may be none.
pub(super) fn draw<'a>(
    path: Option<&Path>,
    data: &DataSummary,
    classifiers: impl Iterator<Item = (&'a String, Option<&'a Calibration>)>,
    why: &str,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let bin = |&ReliabilityBin { windows, confidence, right }: &ReliabilityBin| Bin {
        windows,
        confidence,
        right,
    };
    let of = |(name, calibration): (&'a String, Option<&'a Calibration>)| {
        let calibration = calibration?;
        Some(Reliability {
            name,
            bins: calibration.reliability.iter().map(bin).collect(),
            error: calibration.calibration_error,
        })
    };
    let classifiers: Vec<Reliability<'_>> = classifiers.filter_map(of).collect();
    if classifiers.is_empty() {
        return Err(Failure::input(
            Topic::NothingToDraw,
            format!("--reliability has nothing to draw: {why}"),
        ));
    }
    let subtitle = format!("{}\nthe dashes are where probabilities say what happens", data.data);
    let plot = ReliabilityPlot {
        title: "Confidence against the share decided rightly",
        subtitle: &subtitle,
        classifiers: &classifiers,
    };
    output::draw(path, &plot.to_svg())
}
