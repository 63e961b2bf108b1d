//! Counts of missing observations.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::samples::{RowsView, is_partial};
use crate::words::grouped;

/// Counts of missing observations. They are not dropped: an observation is `None` in its place, a channel
/// NaN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Observations that are missing.
    pub observations: usize,
    /// Further rows in which some channels are missing.
    pub partial: usize,
    /// Rows of these in which a channel is missing, `[channel]`; empty where there are no such rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<usize>,
    /// Missing observations by the character or word read (`N`, `-`, `NA`, ...), for symbols.
    pub codes: BTreeMap<String, usize>,
}

impl Missing {
    /// Counts the rows that lack some channels.
    pub(super) fn add_partial(&mut self, rows: RowsView<'_>) {
        if !rows.has_partial_rows() {
            return;
        }
        self.absent.resize(rows.dimension(), 0);
        for row in rows.iter_in_part().flatten().filter(|row| is_partial(row)) {
            self.partial += 1;
            for (count, x) in self.absent.iter_mut().zip(row) {
                *count += usize::from(x.is_nan());
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} missing", grouped(self.observations))?;
        if self.partial > 0 {
            write!(f, ", {} in some channels", grouped(self.partial))?;
        }
        for (position, (code, count)) in self.codes.iter().enumerate() {
            let before = if position == 0 { " (" } else { ", " };
            let code = if code.is_empty() { "empty" } else { code };
            write!(f, "{before}{code} {}", grouped(*count))?;
        }
        f.write_str(if self.codes.is_empty() { "" } else { ")" })
    }
}
