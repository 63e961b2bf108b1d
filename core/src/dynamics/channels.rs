use super::covariance::check_row;
use crate::emission::is_log_normaliser;
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Arithmetic, Parameter, Real};

/// Channels of a sample as whitened functions of the state: `y = W x = W C s + N(0, I)`. A view, with their
/// number known at run time or not.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Channels<'a, W, const N: usize> {
    /// `W C`, `[channel][row]`.
    pub observation: &'a [[W; N]],
    /// `W`, `[channel][channel]` in a row; zero right of the diagonal.
    pub whitening: &'a [W],
    /// `sum_d log W_dd - D/2 log 2 pi`.
    pub constant: W,
}

impl<W: Arithmetic, const N: usize> Channels<'_, W, N> {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong: part, row and column.
    pub fn validate(&self) -> Result<(), ModelError> {
        for (d, row) in self.observation.iter().enumerate() {
            check_row(row, Part::Observation, d)?;
        }
        let rows = || self.whitening.chunks_exact(self.observation.len().max(1)).enumerate();
        for (d, row) in rows() {
            check_row(row, Part::ObservationNoise, d)?;
            for (e, &entry) in row.iter().enumerate() {
                let flaw = match e {
                    _ if e == d && Parameter::value(entry) <= Real::from_u32(0) => {
                        ErrorKind::NotPositiveDefinite
                    }
                    _ if e > d && entry != W::ZERO => ErrorKind::Inconsistent,
                    _ => continue,
                };
                return Err(ModelError::new(Part::ObservationNoise, flaw, d, e));
            }
        }
        let rates = rows().filter_map(|(d, row)| row.get(d)).map(|&rate| Parameter::value(rate));
        if !is_log_normaliser(Parameter::value(self.constant), rates) {
            return Err(ModelError::new(Part::Normaliser, ErrorKind::Inconsistent, 0, 0));
        }
        check_row(&[self.constant], Part::Normaliser, 0)
    }
}
