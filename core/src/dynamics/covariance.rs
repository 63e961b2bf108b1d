use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Arithmetic, Parameter, Real, Tangent};

/// A covariance matrix as its factors `L d L'`: `L` with ones on its diagonal and zeros right of it, `d` a
/// diagonal that is not negative.
///
/// No rounding makes such a product anything but symmetric and positive semi-definite, however long it is
/// computed with: Bierman, "Factorization Methods for Discrete Sequential Estimation", 1977. Kept in one
/// square: `d` on the diagonal, `L` left of it, zeros right of it.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Covariance<W, const N: usize>([[W; N]; N]);

impl<W, const N: usize> Covariance<W, N> {
    /// Covariance from factors already checked, as an export writes them: `d` on the diagonal, `L` left of it, zeros
    /// right of it. [`validate`](Self::validate) checks them again.
    pub const fn from_factors(factors: [[W; N]; N]) -> Self {
        Self(factors)
    }

    /// `d` on the diagonal, `L` left of it.
    pub const fn factors(&self) -> &[[W; N]; N] {
        &self.0
    }

    #[inline(always)]
    pub(super) const fn factors_mut(&mut self) -> &mut [[W; N]; N] {
        &mut self.0
    }
}

impl<W: Arithmetic, const N: usize> Covariance<W, N> {
    /// Nothing varies.
    pub const ZERO: Self = Self([[W::ZERO; N]; N]);

    /// Factors a matrix `[row][column]`, which may be singular: a value that is zero within rounding is
    /// taken for zero. `part` is what an error calls it. Work: `N^3 / 6` multiply-adds.
    ///
    /// # Errors
    /// The first entry that is not finite or not its mirror image's equal; the first row in which the
    /// matrix is not positive semi-definite; the first that a direction moves where nothing varies, for
    /// which there is no derivative.
    pub fn new(matrix: &[[W; N]; N], part: Part) -> Result<Self, ModelError> {
        check_symmetric(matrix, part)?;
        let mut factors = [[W::ZERO; N]; N];
        for j in 0..N {
            let diagonal = matrix[j][j];
            let pivot = remainder(matrix, &factors, j, j);
            let varies = is_visible(Parameter::value(pivot), Parameter::value(diagonal).abs());
            if varies && Parameter::value(pivot) < Real::from_u32(0) {
                return Err(ModelError::new(part, ErrorKind::NotPositiveSemidefinite, j, j));
            }
            if varies {
                let reciprocal = pivot.reciprocal();
                for i in j + 1..N {
                    factors[i][j] = remainder(matrix, &factors, i, j).times(reciprocal);
                }
                factors[j][j] = pivot;
                continue;
            }
            for i in j..N {
                let rest = remainder(matrix, &factors, i, j);
                let value = Parameter::value(rest);
                let scale = Parameter::value(diagonal) * Parameter::value(matrix[i][i]);
                if i > j && is_visible(value * value, scale.abs()) {
                    return Err(ModelError::new(part, ErrorKind::NotPositiveSemidefinite, i, j));
                }
                if rest.tangent() != W::Tangent::ZERO {
                    return Err(ModelError::new(
                        Part::Tangent,
                        ErrorKind::NotPositiveDefinite,
                        i,
                        j,
                    ));
                }
            }
        }
        Ok(Self(factors))
    }

    /// First row that the rows before it determine completely; `None` for a positive
    /// definite matrix.
    pub fn singular_row(&self) -> Option<usize> {
        let varies = |&row: &usize| Parameter::value(self.0[row][row]) > Real::from_u32(0);
        (0..N).find(|row| !varies(row))
    }

    /// The matrix, `[row][column]`. Work: `N^3 / 3` multiply-adds.
    pub fn matrix(&self) -> [[<W as Parameter>::Real; N]; N] {
        let factor = |row: usize, k: usize| match row == k {
            true => Real::from_u32(1),
            false => Parameter::value(self.0[row][k]),
        };
        let mut matrix = [[Real::from_u32(0); N]; N];
        for i in 0..N {
            for j in 0..=i {
                let mut sum: <W as Parameter>::Real = Real::from_u32(0);
                for k in 0..=j {
                    sum = sum + factor(i, k) * Parameter::value(self.0[k][k]) * factor(j, k);
                }
                matrix[i][j] = sum;
                matrix[j][i] = sum;
            }
        }
        matrix
    }

    /// Checks every number.
    ///
    /// # Errors
    /// The first that is not finite, the first variance below zero, the first number right of the
    /// diagonal.
    pub fn validate(&self, part: Part) -> Result<(), ModelError> {
        for (row, entries) in self.0.iter().enumerate() {
            check_row(entries, part, row)?;
            for (column, &entry) in entries.iter().enumerate() {
                let value = Parameter::value(entry);
                let kind = match column {
                    _ if column == row && value < Real::from_u32(0) => ErrorKind::Negative,
                    _ if column > row && entry != W::ZERO => ErrorKind::Inconsistent,
                    _ => continue,
                };
                return Err(ModelError::new(part, kind, row, column));
            }
        }
        Ok(())
    }
}

/// Checks that the numbers of a row, and their rates of change, are finite.
///
/// # Errors
/// Names the first that is not.
pub(super) fn check_row<W: Arithmetic>(row: &[W], part: Part, at: usize) -> Result<(), ModelError> {
    for (entry, &number) in row.iter().enumerate() {
        if !Parameter::value(number).is_finite() {
            return Err(ModelError::new(part, ErrorKind::NotFinite, at, entry));
        }
        if !number.tangent().is_finite() {
            return Err(ModelError::new(Part::Tangent, ErrorKind::NotFinite, at, entry));
        }
    }
    Ok(())
}

/// Checks that a matrix is finite, and its own mirror image but for rounding.
fn check_symmetric<W: Arithmetic, const N: usize>(
    matrix: &[[W; N]; N],
    part: Part,
) -> Result<(), ModelError> {
    for (i, row) in matrix.iter().enumerate() {
        check_row(row, part, i)?;
        for (j, &entry) in row.iter().enumerate().take(i) {
            let scale = [i, j].map(|k| Parameter::value(matrix[k][k]).abs());
            let gap = Parameter::value(entry.minus(matrix[j][i])).abs();
            if gap > <W as Parameter>::Real::SUM_TOLERANCE * (scale[0] + scale[1]) {
                return Err(ModelError::new(part, ErrorKind::NotSymmetric, i, j));
            }
        }
    }
    Ok(())
}

/// Returns the part of an entry that the columns before `j` do not explain.
fn remainder<W: Arithmetic, const N: usize>(
    matrix: &[[W; N]; N],
    factors: &[[W; N]; N],
    i: usize,
    j: usize,
) -> W {
    let mut rest = matrix[i][j];
    for k in 0..j {
        rest = rest.minus(factors[i][k].times(factors[j][k]).times(factors[k][k]));
    }
    rest
}

/// Returns whether a difference of numbers of a given scale has a significant digit left.
fn is_visible<T: Real>(difference: T, scale: T) -> bool {
    scale + difference.abs() * T::power_of_two(-4) > scale
}
