//! Successive halving: the numbers of forms that its stages see.

/// Forms that the last stage judges on all series with all settings: two floors of the first form, and the best
/// form of one model with its own of a model per class.
pub(crate) const LAST: usize = 4;
/// Divisor of the number of forms that a stage keeps.
const KEPT: usize = 4;

/// Number of forms that the next stage sees, of `judged` forms.
pub(crate) fn kept_of(judged: usize) -> usize {
    usize::max(judged.div_ceil(KEPT), LAST)
}
