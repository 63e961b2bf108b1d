//! Boundaries between series, in tables whose columns do not define them alone.

use std::collections::HashMap;

use super::part::{Draft, Part};
use super::source::Finding;
use crate::words::counted;

/// Number of usual steps in a gap that separates recordings if no column does.
const GAP: f64 = 20.0;

/// Boundaries between series.
pub(super) struct Parting {
    /// The name in the column of the series.
    last: Option<String>,
    /// `true` for each series that continues the recording of the one before.
    continues: Vec<bool>,
    /// Seconds without a sample that part recordings, and seconds by which the time falls between them, where no column
    /// tells them apart.
    gap: Option<[f64; 2]>,
    segments: bool,
    /// Reason of the first boundary, if any.
    by: Option<&'static str>,
}

impl Parting {
    /// Creates boundaries where the time leaps or falls, if the usual step is known; with `segments` also where labels
    /// change. Without labels a small fall is a fault of the order, and a leap belongs to the recording.
    pub(super) fn new(usual_step: Option<f64>, labelled: bool, segments: bool) -> Self {
        let gap = usual_step.map(|step| match labelled {
            true => [GAP * step, 0.0],
            false => [f64::INFINITY, if step.is_finite() { GAP * step } else { 0.0 }],
        });
        Self { last: None, continues: Vec::new(), gap, segments, by: None }
    }

    /// Returns whether a name differs from the last one.
    pub(super) fn is_another(&self, id: &str) -> bool {
        self.last.as_deref() != Some(id)
    }

    /// Returns whether another series begins with a row.
    pub(super) fn parts(
        &mut self,
        id: &str,
        label: Option<&str>,
        time: Option<f64>,
        current: Option<&Draft>,
    ) -> bool {
        let Some(current) = current else { return true };
        if self.is_another(id) {
            return true;
        }
        let jumps = self.gap.zip(time).zip(current.times.last());
        if jumps.is_some_and(|(([leap, fall], t), &before)| t < before - fall || t - before > leap)
        {
            self.by.get_or_insert("time");
            return true;
        }
        if self.segments && current.label.as_deref() != label {
            self.by.get_or_insert("label");
            return true;
        }
        false
    }

    /// Begins a series of that name.
    pub(super) fn begin(&mut self, id: &str) {
        self.continues.push(!self.is_another(id));
        if self.is_another(id) {
            self.last = Some(id.to_owned());
        }
    }

    /// Begins another part of a series whose rows alternate with those of others.
    pub(super) fn go_on(&mut self) {
        self.by.get_or_insert("label");
        self.continues.push(true);
    }

    /// Numbers the parts of recordings; a column keeps which recording each is of.
    pub(super) fn name_parts(&self, part: &mut Part) {
        if !self.continues.contains(&true) {
            return;
        }
        const COLUMN: &str = "recording";
        let keeps = !part.columns.iter().any(|name| name == COLUMN);
        if keeps {
            part.columns.push(COLUMN.to_owned());
        }
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (draft, &continues) in part.drafts.iter_mut().zip(&self.continues) {
            let number = numbers.entry(draft.id.clone()).or_default();
            *number = if continues { *number + 1 } else { 1 };
            if keeps {
                draft.columns.push(draft.id.clone());
            }
            draft.id = format!("{}/{number}", draft.id);
        }
        let series = counted(part.drafts.len(), "series");
        part.findings.add(
            Finding::Series,
            match self.by {
                Some("time") if self.gap.is_some_and(|[leap, _]| leap.is_infinite()) => {
                    format!("no column names the series: a new one begins where the time goes back ({series})")
                }
                Some("time") => format!(
                    "no column names the series: a new one begins where the time goes back or jumps by more than \
                     {GAP} usual steps ({series})"
                ),
                _ => format!("a new series begins where the label changes ({series}); `{COLUMN}` has the name of the \
                        whole recording"),
            },
        );
    }
}
