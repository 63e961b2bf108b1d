//! Cholesky factors by blocks: nearly all of the work is products of matrices, which a processor does ten times as
//! fast as products with vectors.

use std::ops::Range;

use nalgebra::{Cholesky, DMatrix};

use crate::product::{Right, View, product};

/// Rows of a block on the diagonal: this share of a large matrix is done without blocks.
const BLOCK: usize = 64;

/// `L`, lower triangular, with `L L' = K`: the factor of A.-L. Cholesky, a block of columns at a time, each after all
/// to its left (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition, 2013, section 4.2.6).
///
/// Time: `m^3 / 6` multiply-adds for `m` rows; RAM: `m^2` reals.
pub(crate) struct BlockCholesky {
    /// `L`; what lies above its diagonal is not read.
    lower: DMatrix<f64>,
    /// The inverses of its blocks on the diagonal.
    inverses: Vec<DMatrix<f64>>,
}

impl BlockCholesky {
    /// Factorises a symmetric matrix, of which what lies above the diagonal is not read; `None` where it is not
    /// positive definite in numbers.
    pub(crate) fn of(mut matrix: DMatrix<f64>) -> Option<Self> {
        let size = matrix.nrows();
        let mut inverses = Vec::with_capacity(size.div_ceil(BLOCK));
        for from in (0..size).step_by(BLOCK) {
            let (width, to) = (BLOCK.min(size - from), size.min(from + BLOCK));
            let (left, right) = matrix.as_mut_slice().split_at_mut(from * size);
            let left = View::of_columns(left, size, from);
            let across = Right::of(left.rows(from..to).transposed());
            across.add_to(&mut right[from..], size, -1.0, left.rows(from..size));
            let mut own = matrix.view_mut((from, from), (size - from, width));
            let block = Cholesky::new(own.rows(0, width).into_owned())?.unpack();
            let inverse = block.solve_lower_triangular(&DMatrix::identity(width, width))?;
            own.rows_mut(0, width).copy_from(&block);
            if to < size {
                let there = View::of(&matrix).columns(from..to).rows(to..size);
                let below = product(there, View::of(&inverse).transposed());
                matrix.view_mut((to, from), below.shape()).copy_from(&below);
            }
            inverses.push(inverse);
        }
        Some(Self { lower: matrix, inverses })
    }

    /// `L^-1 B` in the place of `B`, `[row][column]`, whose rows before `first` are zero and are passed over.
    /// Time: `m^2 / 2` multiply-adds per column.
    pub(crate) fn forward(&self, right: &mut DMatrix<f64>, first: usize) {
        let (begun, size) = (first / BLOCK, right.nrows());
        for (block, inverse) in self.inverses.iter().enumerate().skip(begun) {
            let from = block * BLOCK;
            let to = from + inverse.nrows();
            solve_block(right, View::of(inverse), from..to);
            // What is solved leaves the rows below: each block is copied once.
            let solved = Right::of(View::of(right).rows(from..to));
            let left = View::of(&self.lower).rows(to..size).columns(from..to);
            let below = right.as_mut_slice().get_mut(to..).unwrap_or_default();
            solved.add_to(below, size, -1.0, left);
        }
    }

    /// `K^-1 B`, `[row][column]`. Time: `m^2` multiply-adds per column.
    pub(crate) fn solve(&self, mut right: DMatrix<f64>) -> DMatrix<f64> {
        self.forward(&mut right, 0);
        let size = right.nrows();
        for (block, inverse) in self.inverses.iter().enumerate().rev() {
            let from = block * BLOCK;
            let to = from + inverse.nrows();
            solve_block(&mut right, View::of(inverse).transposed(), from..to);
            let solved = Right::of(View::of(&right).rows(from..to));
            let left = View::of(&self.lower).rows(from..to).columns(0..from).transposed();
            solved.add_to(right.as_mut_slice(), size, -1.0, left);
        }
        right
    }
}

/// Multiplies some rows of a matrix from the left by the inverse of a block.
fn solve_block(right: &mut DMatrix<f64>, inverse: View<'_>, rows: Range<usize>) {
    let solved = product(inverse, View::of(right).rows(rows.clone()));
    right.rows_range_mut(rows).copy_from(&solved);
}

/// `A A'`; what lies above the diagonal is zero except within a block.
/// Time: `m^2 n / 2` multiply-adds for `m` rows of `n`.
pub(crate) fn products(matrix: View<'_>) -> DMatrix<f64> {
    let size = matrix.row_count();
    let mut products = DMatrix::zeros(size, size);
    // Wide enough that the copies of both factors are a small part of the work.
    for from in (0..size).step_by(4 * BLOCK) {
        let to = size.min(from + 4 * BLOCK);
        let across = Right::of(matrix.rows(from..to).transposed());
        let into = &mut products.as_mut_slice()[from * size + from..];
        across.add_to(into, size, 1.0, matrix.rows(from..size));
    }
    products
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Compares the factor within one block, as wide as one, and over several, with nalgebra's, which has no blocks.
    #[test]
    fn blocks_change_no_factor() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (size, first) in [(1, 0), (BLOCK - 1, 5), (BLOCK, 0), (BLOCK + 1, BLOCK), (290, 130)] {
            let draw = DMatrix::from_fn(size, size + 3, |_, _| rng.random::<f64>() - 0.5);
            let across = draw.transpose();
            let (whole, half) = (&draw * &across, products(View::of(&draw)));
            assert!((whole.lower_triangle() - half.lower_triangle()).amax() < 1e-12);
            let penalised = |moments: DMatrix<f64>| moments + DMatrix::identity(size, size);
            let plain = Cholesky::new(penalised(whole)).expect("definite");
            let blocks = BlockCholesky::of(penalised(half)).expect("definite");
            let right = DMatrix::from_fn(size, 7, |row, _| match row < first {
                true => 0.0,
                false => rng.random::<f64>(),
            });
            let far = |one: &DMatrix<f64>, other: &DMatrix<f64>| (one - other).amax();
            assert!(far(&blocks.solve(right.clone()), &plain.solve(&right)) < 1e-11, "{size}");
            let (wanted, mut found) =
                (plain.l().solve_lower_triangular(&right).expect("a factor"), right);
            blocks.forward(&mut found, first);
            assert!(far(&found, &wanted) < 1e-11, "{size} from {first}");
        }
        let mut indefinite = DMatrix::identity(2 * BLOCK, 2 * BLOCK);
        indefinite[(BLOCK + 3, BLOCK + 3)] = -1e-9;
        assert!(BlockCholesky::of(indefinite).is_none());
        assert!(BlockCholesky::of(DMatrix::from_element(3, 3, f64::NAN)).is_none());
    }
}
