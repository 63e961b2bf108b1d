//! Calibration of decisions: probabilities and rejections.

use std::fmt;

use serde::Serialize;

use super::table::share;
use super::{Table, grouped};
use crate::evaluate::{Calibration, RejectionFigures};
use crate::words::to_three_digits;

/// Results of a model's probabilities and thresholds on other data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BelievedFigures {
    /// Calibration of the probabilities.
    pub calibration: Option<Calibration>,
    /// Effect of the thresholds; null without any.
    pub rejection: Option<RejectionFigures>,
}

/// Writes the calibration of probabilities made of decision values.
pub(super) fn write_calibration(
    f: &mut fmt::Formatter<'_>,
    calibration: &Calibration,
) -> fmt::Result {
    let Calibration { scale, log_loss, log_loss_of_shares, calibration_error, .. } = calibration;
    writeln!(
        f,
        "  probabilities by the softmax of {} times the decision values: log loss {log_loss:.3} nats per window \
         ({log_loss_of_shares:.3} for the classes' shares), calibration error {}",
        to_three_digits(*scale),
        share(*calibration_error)
    )
}

/// Writes the effect of thresholds of rejection.
pub(super) fn write_rejection(
    f: &mut fmt::Formatter<'_>,
    rejection: &RejectionFigures,
) -> fmt::Result {
    let RejectionFigures { rate, rejected, accuracy_of_accepted, unseen } = rejection;
    write!(f, "  rejected: {} of the windows", share(*rejected))?;
    if let Some(rate) = rate {
        write!(f, ", {} wanted", to_three_digits(*rate))?;
    }
    match accuracy_of_accepted {
        Some(accuracy) => writeln!(f, "; accuracy of the others {}", share(*accuracy))?,
        None => writeln!(f)?,
    }
    if unseen.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["  a class never seen", "windows", "rejected"]);
    for one in unseen {
        table.row([format!("  {}", one.class), grouped(one.windows), share(one.rejected)]);
    }
    write!(f, "{table}")
}
