//! Notes on a model and the data that it is judged on.

use std::path::Path;

use fishweir::data::Dataset;
use fishweir::evaluate::UnknownClass;
use fishweir::report::counted;

use crate::model::Model;
use crate::{Topic, note};

/// Notes data that a model was trained on.
pub(super) fn note_trained_on(path: &Path, model: &Model, data: &Dataset) {
    let trained_on = model.provenance().and_then(|trained| trained.checksum);
    if trained_on.is_some() && trained_on == data.checksum() {
        note(
            Topic::TrainingData,
            format_args!(
                "{} was trained on these data: on other data it is less accurate",
                path.display()
            ),
        );
    }
}

/// Notes classes that a model does not know.
pub(super) fn note_unknown(path: &Path, unknown: &[UnknownClass]) {
    for UnknownClass { class, series, .. } in unknown {
        note(
            Topic::UnknownClass,
            format_args!(
                "class `{class}` is unknown to {}: its {} left out of accuracy and recall, and reported separately",
                path.display(),
                match series {
                    1 => "1 series is".to_owned(),
                    _ => format!("{} are", counted(*series, "series")),
                }
            ),
        );
    }
}
