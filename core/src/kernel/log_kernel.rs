use crate::filter::Streaming;
use crate::number::Real;

/// A kernel, or several side by side, whose logarithms can be read before they are rounded to one number
/// each: for differences, of which a rounded logarithm of `-10^5` leaves nothing.
pub trait LogKernel: Streaming {
    /// `[log, what the nearest number to it drops]` of a kernel, an array of them of several. Minus infinity
    /// drops nothing.
    type Parts;
    /// `log k`, in two parts. Work: a logarithm a kernel.
    fn log_parts(&self, state: &Self::State) -> Self::Parts;

    /// `true` if there is no room for another sample: one is then refused, and a missing one changes nothing.
    fn is_full(&self, _: &Self::State) -> bool {
        false
    }
}

/// The logarithm of zero in two parts.
pub(crate) fn no_parts<T: Real>() -> [T; 2] {
    [T::NEG_INFINITY, T::ZERO]
}
