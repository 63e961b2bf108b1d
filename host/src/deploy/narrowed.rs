//! Samples as a device receives them: rows in `f32`.

use super::block::Observation;
use super::error::PushError;
use crate::classifier::Observations;
use crate::data::Sample;

/// Converter of samples of one kind.
pub(super) struct Narrowed {
    /// Number of channels of rows; `None` for symbols.
    channels: Option<usize>,
    /// True if samples may lack channels; else such a sample is missing.
    in_part: bool,
    row: Vec<f32>,
}

impl Narrowed {
    pub(super) const fn new(observations: &Observations, in_part: bool) -> Self {
        let channels = match observations {
            Observations::Channels(names) => Some(names.len()),
            Observations::Symbols(_) => None,
        };
        Self { channels, in_part, row: Vec::new() }
    }

    /// A sample with its row rounded, NaN where a channel is missing; `None` for a missing one.
    ///
    /// # Errors
    /// [`PushError::Kind`]: a sample of another kind, or a row of another length.
    pub(super) fn narrow(
        &mut self,
        sample: Sample<'_>,
    ) -> Result<Option<Observation<'_, f32>>, PushError> {
        let sample = if self.in_part { sample.unless_empty() } else { sample.if_whole() };
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) if row.len() == channels => {
                self.row.clear();
                self.row.extend(row.iter().map(|&x| x as f32));
                Ok(Some(Observation::Row(&self.row)))
            }
            (Sample::Symbol(symbol), None) => Ok(Some(Observation::Symbol(symbol))),
            (Sample::Missing, _) => Ok(None),
            _ => Err(PushError::Kind),
        }
    }
}
