use super::gram::inner_product;
use super::{Axes, Information, InformationError};
use crate::parallel::each;

/// A linear map `phi(x) = W g(x)` from scores to features whose inner products are a Fisher kernel,
/// `K(x, y) = g(x)' W' W g(y)`.
///
/// | kernel | `W' W` | made by |
/// |---|---|---|
/// | practical | identity | [`practical`](Self::practical) |
/// | invariant | Moore-Penrose inverse of the information | [`inverse`](Self::inverse) |
/// | invariant, ridge | `(I + ridge)^-1` | [`ridge`](Self::ridge) |
/// | diagonal | `1 / I_pp`, nothing where `I_pp` is zero | [`diagonal`](Self::diagonal) |
/// | diagonal, ridge | `1 / (I_pp + ridge)` | [`diagonal`](Self::diagonal) |
///
/// Being inner products, the kernels are positive semidefinite by construction; being linear, a
/// machine on the features is one on the scores, with the weights that [`pull`](Self::pull) gives.
///
/// Sources: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, definition
/// 12.27; Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers",
/// 1998, equations 9 and 10.
#[derive(Clone, Debug, PartialEq)]
pub struct Whitening(Form);

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Identity,
    /// `[parameter]`.
    Diagonal(Vec<f64>),
    /// `[feature][parameter]`.
    Full(Vec<Vec<f64>>),
}

impl Whitening {
    /// The scores themselves.
    pub fn practical() -> Self {
        Self(Form::Identity)
    }

    /// Whitens by the root of the information's Moore-Penrose inverse: directions without information (see
    /// [`Axes::informative`]) are left out. A feature for each of the others; the kernel is the same
    /// in every parametrisation.
    pub fn inverse(axes: &Axes) -> Self {
        Self(Form::Full(axes.informative().map(|(value, axis)| over_root(axis, value)).collect()))
    }

    /// Whitens by the root of `(I + ridge)^-1`.
    ///
    /// # Errors
    /// [`InformationError::Ridge`] for a ridge that is not positive.
    pub fn ridge(axes: &Axes, ridge: f64) -> Result<Self, InformationError> {
        if !(ridge.is_finite() && ridge > 0.0) {
            return Err(InformationError::Ridge(ridge));
        }
        // The information has no negative eigenvalue; rounding may make it seem so.
        let axes = axes.values.iter().map(|value| value.max(0.0)).zip(&axes.directions);
        Ok(Self(Form::Full(axes.map(|(value, axis)| over_root(axis, value + ridge)).collect())))
    }

    /// Whitens by the roots of `1 / (I_pp + ridge)`; an entry without information, and without a ridge, is
    /// left out.
    ///
    /// # Errors
    /// [`InformationError::Ridge`] for a ridge that is negative or not finite.
    pub fn diagonal(information: &Information, ridge: f64) -> Result<Self, InformationError> {
        if !(ridge.is_finite() && ridge >= 0.0) {
            return Err(InformationError::Ridge(ridge));
        }
        let entries = information.matrix().diagonal().map(|entry| entry + ridge);
        let factor = |entry: f64| if entry > 0.0 { entry.sqrt().recip() } else { 0.0 };
        Ok(Self(Form::Diagonal(entries.map(factor).collect())))
    }

    /// The features of scores, `[sequence][parameter]` to `[sequence][feature]`. Work per sequence:
    /// nothing, `P` or `P^2` multiply-adds.
    ///
    /// # Panics
    /// If scores are of another length than the information they are whitened by.
    pub fn features(&self, scores: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        match &self.0 {
            Form::Identity => scores,
            _ => each(scores.len(), &|index| self.apply(&scores[index])),
        }
    }

    /// The features of one score.
    ///
    /// # Panics
    /// If it is of another length than the information it is whitened by.
    pub fn apply(&self, score: &[f64]) -> Vec<f64> {
        match &self.0 {
            Form::Identity => score.to_vec(),
            Form::Diagonal(factor) => {
                assert_eq!(score.len(), factor.len(), "a score of another model");
                score.iter().zip(factor).map(|(entry, factor)| entry * factor).collect()
            }
            Form::Full(rows) => rows.iter().map(|row| inner_product(row, score)).collect(),
        }
    }

    /// The weights on scores that mean the same as weights on features: `W' w`, so that
    /// `w . phi(x) = (W' w) . g(x)`.
    ///
    /// # Panics
    /// If there is not a weight per feature.
    pub fn pull(&self, weights: &[f64]) -> Vec<f64> {
        match &self.0 {
            Form::Identity => weights.to_vec(),
            Form::Diagonal(factor) => {
                assert_eq!(weights.len(), factor.len(), "one weight per feature");
                weights.iter().zip(factor).map(|(weight, factor)| weight * factor).collect()
            }
            Form::Full(rows) => {
                assert_eq!(weights.len(), rows.len(), "one weight per feature");
                let mut pulled = vec![0.0; rows.first().map_or(0, Vec::len)];
                for (weight, row) in weights.iter().zip(rows) {
                    for (sum, entry) in pulled.iter_mut().zip(row) {
                        *sum += weight * entry;
                    }
                }
                pulled
            }
        }
    }
}

fn over_root(axis: &[f64], value: f64) -> Vec<f64> {
    let root = value.sqrt();
    axis.iter().map(|entry| entry / root).collect()
}
