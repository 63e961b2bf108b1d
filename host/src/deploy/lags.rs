//! Sources of classifiers that read their channels' past too, or differences from it.

use crate::data::Lags;

/// Text around a model that reads these columns of a row; empty for one that reads all.
pub(super) fn hearing(columns: Option<Vec<usize>>) -> [String; 2] {
    columns.map_or_else(Default::default, |columns| {
        ["        ChannelSubset::from_parts(\n".into(), format!("        {columns:?}),\n")]
    })
}

/// Source of a classifier whose rows hold past values at lags, for `models` models and `outputs` outputs over `channels`
/// channels.
pub(super) fn with_lags(
    text: &str,
    lags: &Lags,
    channels: usize,
    [models, outputs]: [usize; 2],
) -> String {
    let (depth, width, count) = (lags.depth(), lags.width(channels), lags.as_slice().len());
    let (what, past) = match lags.is_past() {
        true => ("the last", ", true"),
        false => ("differences from the last", ""),
    };
    let mut text = text.to_owned();
    if lags.is_apart() {
        // Each model hears some columns of a row.
        let banked = format!(", {models}, {outputs}>;");
        let heard = format!(", {width}, {}>{banked}", lags.seen_width(channels));
        text = text
            .replacen("classify::{", "classify::{ChannelSubset, ", 1)
            .replacen("Model = StreamClassifier<", "Model = StreamClassifier<ChannelSubset<", 1)
            .replacen(&banked, &heard, 1);
    }
    let types = format!(
        "/// The classifier of channels: it appends {what} {depth} samples to each row.\n\
         pub type Model = fishweir_core::lagged::LagFeatures<Rows, fishweir_core::lagged::Lookback<{channels}, {depth}{past}>, {count}>;\n\n\
         /// The classifier, in flash."
    );
    let text = text
        .replacen("pub type Model = ", "pub type Rows = ", 1)
        .replacen("/// The classifier, in flash.", &types, 1)
        .replacen(
            "Model = StreamClassifier::from_parts(",
            "Model = Model::from_parts(StreamClassifier::from_parts(",
            1,
        );
    // What a bank's source ends with.
    let lags = lags.as_slice();
    text.strip_suffix(");\n").map_or_else(String::new, |text| format!("{text}), {lags:?});\n"))
}
