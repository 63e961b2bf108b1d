use core::fmt::Debug;

use super::Real;

/// What the channels of a sample are in: reals, or the integers of 16 bits that
/// [fixed point](super::fixed) observes.
pub trait Channel: Copy + Debug + PartialEq + 'static {
    /// What stands where nothing has come yet: zero.
    const BLANK: Self;

    /// `self - before`. Of integers exact where 16 bits hold it; what lies beyond is held at their end.
    fn difference(self, before: Self) -> Self;
    /// Whether it is a number: every integer is.
    fn is_number(self) -> bool;
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
