//! What the kinds that the host computes have in common.

use fishweir::kernel::Gram;

use super::features::with_gaps;
use super::tree::Tree;

/// A matrix of kernel values of those items that have features; the others' are undefined.
pub(super) fn gram_tree(
    features: &[Option<Vec<f64>>],
    gram: impl FnOnce(&[Vec<f64>]) -> Gram,
) -> Tree {
    let known: Vec<Vec<f64>> = features.iter().flatten().cloned().collect();
    let possible: Vec<bool> = features.iter().map(Option::is_some).collect();
    with_gaps(gram(&known).rows().map(<[f64]>::to_vec).collect(), &possible).into()
}
