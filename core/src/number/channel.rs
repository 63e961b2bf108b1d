use core::fmt::Debug;

use super::Real;

/// Number type of a sample's channels: reals, or the integers of 16 bits that
/// [fixed point](super::fixed) observes; or either in an [`Option`], where channels may be missing.
pub trait Channel: Copy + Debug + PartialEq + 'static {
    /// Value before anything has come: zero.
    const BLANK: Self;

    /// `self - before`. Of integers exact where 16 bits hold it; what lies beyond is held at their end.
    fn difference(self, before: Self) -> Self;
    /// Returns whether it is a number: every integer is.
    fn is_number(self) -> bool;
    /// Returns whether it was observed.
    #[inline(always)]
    fn is_there(self) -> bool {
        true
    }
}

impl<T: Real> Channel for T {
    const BLANK: Self = T::ZERO;

    #[inline(always)]
    fn difference(self, before: Self) -> Self {
        self - before
    }
    #[inline(always)]
    fn is_number(self) -> bool {
        self.is_finite()
    }
}

impl Channel for i16 {
    const BLANK: Self = 0;

    #[inline(always)]
    fn difference(self, before: Self) -> Self {
        self.saturating_sub(before)
    }
    #[inline(always)]
    fn is_number(self) -> bool {
        true
    }
}

/// A channel that may be missing. A difference of which either side is missing is missing.
impl<T: Channel> Channel for Option<T> {
    const BLANK: Self = None;

    #[inline(always)]
    fn difference(self, before: Self) -> Self {
        match (self, before) {
            (Some(now), Some(before)) => Some(now.difference(before)),
            _ => None,
        }
    }
    #[inline(always)]
    fn is_number(self) -> bool {
        match self {
            Some(x) => x.is_number(),
            None => true,
        }
    }
    #[inline(always)]
    fn is_there(self) -> bool {
        self.is_some()
    }
}
