//! A metric as one affine map, for devices whose whitening does not fold into weights.

use crate::learn::features::scaler::FeatureScaler;

/// `z = rows (x - centre)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    /// Subtracted first, `[feature]`.
    pub centre: Vec<f64>,
    /// `[mapped feature][feature]`.
    pub rows: Vec<Vec<f64>>,
}

impl FeatureScaler {
    /// The map of `features` features, from the images of zero and of every axis.
    ///
    /// Only features that no whitening mixes with others have an offset (log-likelihoods), so that
    /// their part of the centre is their own.
    ///
    /// Work: that of mapping `features + 1` rows.
    pub fn affine(&self, features: usize) -> Affine {
        let mut axis = vec![0.0; features];
        let zero = self.map(&axis);
        let mut rows = vec![vec![0.0; features]; features];
        for k in 0..features {
            axis[k] = 1.0;
            for (row, (image, zero)) in rows.iter_mut().zip(self.map(&axis).iter().zip(&zero)) {
                row[k] = image - zero;
            }
            axis[k] = 0.0;
        }
        // A feature that never moves has a factor of zero, and no centre.
        let of_feature = |k: usize| if zero[k] == 0.0 { 0.0 } else { -zero[k] / rows[k][k] };
        Affine { centre: (0..features).map(of_feature).collect(), rows }
    }
}

impl Affine {
    /// The factors of the features, if they are not mixed with each other.
    pub fn diagonal(&self) -> Option<Vec<f64>> {
        let alone =
            |(k, row): (usize, &Vec<f64>)| row.iter().enumerate().all(|(j, &a)| j == k || a == 0.0);
        self.rows
            .iter()
            .enumerate()
            .all(alone)
            .then(|| self.rows.iter().enumerate().map(|(k, row)| row[k]).collect())
    }
}
