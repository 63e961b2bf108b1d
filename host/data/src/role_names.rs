//! Names that tell the role of a column, in small letters and with `_` for blanks.

use super::quantity::split_unit;
use super::stamps::plain;

/// Names of columns of labels other than `label`; the first that exists is used.
pub(super) const LABELS: [&str; 15] = [
    "label",
    "class",
    "activity",
    "target",
    "gesture",
    "category",
    "labels",
    "class_name",
    "class_label",
    "activity_name",
    "activity_label",
    "label_name",
    "event",
    "klasse",
    "aktivität",
];

/// Names of columns of series other than `series`.
pub(super) const SERIES: [&str; 22] = [
    "series",
    "machine",
    "recording",
    "recording_id",
    "series_id",
    "id",
    "trial",
    "trial_id",
    "sequence_id",
    "episode",
    "file",
    "filename",
    "file_name",
    "take",
    "segment",
    "segment_id",
    "aufnahme",
    "messung",
    "rec",
    "run",
    "measurement",
    "measurement_id",
];

/// Names of columns of whole series.
pub(super) const WHOLE: [&str; 17] = [
    "subject",
    "subject_id",
    "user",
    "user_id",
    "participant",
    "participant_id",
    "patient",
    "patient_id",
    "person",
    "device",
    "device_id",
    "session",
    "session_id",
    "source",
    "age",
    "sex",
    "proband",
];

/// Names of columns that may number the rows.
pub(super) const COUNTERS: [&str; 14] = [
    "index",
    "idx",
    "row",
    "unnamed:_0",
    "unnamed:0",
    "sample",
    "sample_index",
    "n",
    "no",
    "nr",
    "id",
    "frame",
    "packet",
    "seq",
];

/// Last words of the names of columns that number something.
const NUMBERS: [&str; 6] = ["no", "nr", "num", "number", "id", "#"];

/// The name of a column as these lists have it: what stands in brackets behind it is left out.
///
/// ```text
/// "Activity (label)" -> "activity",    "Recording No." -> "recording_no"
/// ```
pub(super) fn base(name: &str) -> String {
    plain(split_unit(name).0).trim_matches('_').to_owned()
}

/// Returns whether a name says that the column numbers something, and not one that is [of whole series](WHOLE).
pub(super) fn numbers_something(base: &str) -> bool {
    let mut words = base.rsplit('_');
    words.next().is_some_and(|last| NUMBERS.contains(&last))
        && words.next().is_some()
        && !WHOLE.contains(&base)
        && !COUNTERS.contains(&base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Kind, ReadOptions};

    #[test]
    fn what_stands_in_brackets_tells_no_other_column() {
        assert_eq!(base("Activity (label)"), "activity");
        assert_eq!(base("Recording No."), "recording_no");
        assert!(numbers_something("recording_no") && numbers_something("set_id"));
        assert!(!numbers_something("id") && !numbers_something("subject_id"));
    }

    #[test]
    fn numbers_of_recordings_are_no_channel() {
        let mut text = "Recording No.,Activity (label),Date,Acc X (g)\n".to_owned();
        for recording in 1..=4 {
            for step in 0..20 {
                let label = if recording % 2 == 0 { "walk" } else { "run" };
                let time = recording * 10_000 + step * 20;
                text += &format!("{recording},{label},{time},{}\n", f64::from(step) * 0.1);
            }
        }
        let data = Dataset::parse("moves.csv", text.as_bytes(), &ReadOptions::default());
        let data = data.expect("reads");
        assert_eq!(*data.kind(), Kind::Channels(vec!["Acc X (g)".to_owned()]));
        assert_eq!((data.series().len(), data.classes().len()), (4, 2));
    }
}
