//! What the numbers of channels may be.

use super::error::{DataError, Place};
use super::table::shorten;

/// What the numbers of a series' channels may be: some models emit counts, or yes and no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Any finite numbers.
    #[default]
    Reals,
    /// Whole numbers from 0 to 4294967040, the largest of 32 bits that a device's `f32` holds too.
    Counts,
    /// 1 for yes, 0 for no.
    YesOrNo,
}

impl Values {
    /// The number, where it may be one.
    pub(super) fn check(
        self,
        value: f64,
        text: &str,
        place: impl FnOnce() -> Box<Place>,
    ) -> Result<f64, DataError> {
        use fishweir_core::emission::{count, yes_or_no};
        match self {
            Self::Counts if count(f64::from(value as f32)).is_err() || count(value).is_err() => {
                Err(DataError::NotACount { place: place(), text: shorten(text) })
            }
            Self::YesOrNo if yes_or_no(value).is_err() => {
                Err(DataError::NotYesOrNo { place: place(), text: shorten(text) })
            }
            _ => Ok(value),
        }
    }
}
