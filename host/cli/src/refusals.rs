//! Reports of samples that models refused.

use fishweir::data::{Dataset, Window};
use fishweir::deploy::Deployed;
use fishweir::report::counted;

use super::tell::place;

/// Reports the samples that the models refused, if any: their number, and the place of the first.
///
/// `first` is the first window with one. For a failed check.
pub(super) fn refused(
    deployed: &Deployed,
    data: &Dataset,
    count: usize,
    first: Option<&Window<'_>>,
) -> Option<String> {
    first.map(|window| refused_from(count, &first_refused(deployed, data, window)))
}

/// Describes the place of the first refused sample of a window.
pub(super) fn first_refused(deployed: &Deployed, data: &Dataset, window: &Window<'_>) -> String {
    let mut stream = deployed.stream();
    let refused = window.samples.iter().position(|sample| stream.push(sample).is_err());
    place(data, window.source, window.start + refused.unwrap_or_default())
}

/// Reports refused samples, the first of which has a place.
pub(super) fn refused_from(count: usize, first: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!(
        "{} {verb} refused as impossible under all models, and counted as missing; the first is {first}",
        counted(count, "sample"),
    )
}
