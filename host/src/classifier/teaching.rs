//! What classes can be taught by on a device, in a model's file.

use fishweir_core::classify::teach::TeachingBasis;
use serde::{Deserialize, Serialize};

/// The basis of [teaching](crate::teach) in `f64`: a whitening of the evidence of windows, and the classes' means.
///
/// Evidence is the value of each output, then the log-likelihood per sample under each model: `E` numbers. Rows: the centre,
/// `[number]`; the `E` rows of the whitening `L`, lower triangular, `[column up to the row]`, where `L' L` is the inverse of the
/// common covariance; the means of the classes, whitened, `[number]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Teaching {
    /// Centre, whitening and means.
    pub rows: Vec<Vec<f64>>,
}

impl Teaching {
    /// The bytes of the core's [`TeachingBasis`], numbers rounded to `f32`.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let numbers = self.rows.first().map_or(0, Vec::len);
        let classes = self.rows.len().saturating_sub(1 + numbers);
        let short = |n: usize| u16::try_from(n).unwrap_or(0);
        let (numbers, classes) = (short(numbers), short(classes));
        let mut bytes = TeachingBasis::head(numbers, classes).to_vec();
        for row in &self.rows {
            for &real in row {
                bytes.extend_from_slice(&(real as f32).to_le_bytes());
            }
        }
        bytes
    }

    /// Checks sizes and numbers, for a number of evidence and of classes; an error describes the fault.
    pub(crate) fn check(&self, numbers: usize, classes: usize) -> Result<(), String> {
        let mut fits = self.rows.len() == 1 + numbers + classes;
        for (index, row) in self.rows.iter().enumerate() {
            let of_whitening = (1..=numbers).contains(&index);
            fits &= row.len() == if of_whitening { index } else { numbers };
        }
        if !fits {
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
