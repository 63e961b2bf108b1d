//! What the numbers of channels may be.

use super::error::{DataError, Place};
use super::table::shorten;

/// What the numbers of a series' channels may be: some models emit counts, or yes and no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Any finite numbers.
    #[default]
    Reals,
    /// Whole numbers from 0 to 4294967040: what is more, a device's `f32` rounds to more than 32 bits.
    Counts,
    /// 1 for yes, 0 for no.
    YesOrNo,
}

/// The largest whole number of 32 bits that `f32` holds.
const LARGEST_COUNT: f64 = 4_294_967_040.0;

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
            Self::Counts if count(value).is_err() || value > LARGEST_COUNT => {
                Err(DataError::NotACount { place: place(), text: shorten(text) })
            }
            Self::YesOrNo if yes_or_no(value).is_err() => {
                Err(DataError::NotYesOrNo { place: place(), text: shorten(text) })
            }
            _ => Ok(value),
        }
    }
}
