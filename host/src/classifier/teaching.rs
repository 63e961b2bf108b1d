//! What classes can be taught by on a device, in a model's file.

use fishweir_core::classify::teach::TeachingBasis;
use serde::{Deserialize, Serialize};

/// The basis of [teaching](crate::teach) in `f64`: a whitening of the evidence of windows, and the classes' means.
///
/// Evidence is the value of each output, then the log-likelihood per sample under each model: `E` numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Teaching {
    /// Mean of the evidence over the classes, `[number]`.
    pub centre: Vec<f64>,
    /// Whitening `L`, lower triangular, `[row][column up to the row]`: `L' L` is the inverse of the common covariance.
    pub whitening: Vec<Vec<f64>>,
    /// Means of the classes, whitened, `[class][number]`.
    pub means: Vec<Vec<f64>>,
    /// Windows that it was learnt from.
    pub windows: usize,
}

impl Teaching {
    /// The bytes of the core's [`TeachingBasis`], numbers rounded to `f32`.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let sizes = [self.centre.len(), self.means.len()].map(|n| u16::try_from(n).unwrap_or(0));
        let mut bytes = TeachingBasis::head(sizes[0], sizes[1]).to_vec();
        let rows = self.whitening.iter().chain(&self.means).flatten();
        for &real in self.centre.iter().chain(rows) {
            bytes.extend((real as f32).to_le_bytes());
        }
        bytes
    }

    /// Checks sizes and numbers, for so many outputs, models and classes; an error describes the fault.
    pub(crate) fn check(&self, numbers: usize, classes: usize) -> Result<(), String> {
        let rows = self.whitening.iter().enumerate().all(|(row, of)| of.len() == row + 1);
        let means = self.means.iter().all(|mean| mean.len() == numbers);
        let counts = [self.centre.len(), self.whitening.len(), self.means.len()];
        if !rows || !means || counts != [numbers, numbers, classes] {
            return Err(format!(
                "`teaching` is not of {numbers} numbers of evidence and {classes} classes"
            ));
        }
        match TeachingBasis::read(&self.bytes()) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("`teaching`: {error}")),
        }
    }
}
