//! Tables of features, which are no series.

use super::error::DataError;
use super::part::{Body, Part};
use crate::words::shorten;

/// Words in names of features of whole series.
const STATISTICS: [&str; 22] = [
    "mean", "std", "sd", "min", "max", "median", "var", "rms", "skew", "skewness", "kurtosis",
    "kurt", "energy", "iqr", "mad", "avg", "average", "range", "entropy", "p2p", "quantile", "sum",
];

/// Returns whether a name is that of a statistic: `x_mean`, `std(ax)`, `acc_x.max`.
fn is_statistic(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|one: char| !one.is_alphanumeric());
    words.any(|word| STATISTICS.contains(&word))
}

/// Refuses a table of features: a row per series, of statistics.
pub(super) fn check_no_features(part: &Part, timed: bool) -> Result<(), DataError> {
    let one_each = part.drafts.len() > 1
        && part
            .drafts
            .iter()
            .all(|draft| matches!(&draft.body, Body::Rows(rows) if rows.view().len() == 1));
    let names = part.channels.as_deref().unwrap_or_default();
    let statistics = names.iter().filter(|name| is_statistic(name)).count();
    if timed || !one_each || 2 * statistics < names.len() {
        return Ok(());
    }
    Err(DataError::OtherFormat {
        file: part.file.clone(),
        what: format!(
            "a table of features, one row per series: {}",
            shorten(&names.join(", "))
        ),
        remedy: "give the samples that they were computed from, one per row; fishweir computes its own features".into(),
    })
}
