//! Cholesky factors by blocks: nearly all of the work is products of matrices, which a processor does ten times as
//! fast as products with vectors.

use nalgebra::{Cholesky, DMatrix};

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
            let (left, mut own) = matrix.columns_range_pair_mut(..from, from..to);
            let mut own = own.rows_range_mut(from..);
            if from > 0 {
                let across = left.rows_range(from..to).transpose();
                own.gemm(-1.0, &left.rows_range(from..), &across, 1.0);
            }
            let block = Cholesky::new(own.rows(0, width).into_owned())?.unpack();
            let inverse = block.solve_lower_triangular(&DMatrix::identity(width, width))?;
            own.rows_mut(0, width).copy_from(&block);
            if to < size {
                let below = own.rows_range(width..) * inverse.transpose();
                own.rows_range_mut(width..).copy_from(&below);
            }
            inverses.push(inverse);
        }
        Some(Self { lower: matrix, inverses })
    }

    /// `L^-1 B` in the place of `B`, `[row][column]`, whose rows before `first` are zero and are passed over.
    /// Time: `m^2 / 2` multiply-adds per column.
    pub(crate) fn forward(&self, right: &mut DMatrix<f64>, first: usize) {
        let begun = first / BLOCK;
        let start = begun * BLOCK;
        for (block, inverse) in self.inverses.iter().enumerate().skip(begun) {
            let from = block * BLOCK;
            let to = from + inverse.nrows();
            let (above, mut own) = right.rows_range_pair_mut(start..from, from..to);
            if start < from {
                let left = self.lower.view((from, start), (to - from, from - start));
                own.gemm(-1.0, &left, &above, 1.0);
            }
            let solved = inverse * &own;
            own.copy_from(&solved);
        }
    }

    /// `K^-1 B`, `[row][column]`. Time: `m^2` multiply-adds per column.
    pub(crate) fn solve(&self, mut right: DMatrix<f64>) -> DMatrix<f64> {
        self.forward(&mut right, 0);
        let size = right.nrows();
        for (block, inverse) in self.inverses.iter().enumerate().rev() {
            let from = block * BLOCK;
            let to = from + inverse.nrows();
            let (mut own, below) = right.rows_range_pair_mut(from..to, to..size);
            if to < size {
                own.gemm_tr(
                    -1.0,
                    &self.lower.view((to, from), (size - to, to - from)),
                    &below,
                    1.0,
                );
            }
            let solved = inverse.tr_mul(&own);
            own.copy_from(&solved);
        }
        right
    }
}

/// `A A'` of `A` and its transpose, what lies above the diagonal left zero but within a block.
/// Time: `m^2 n / 2` multiply-adds for `m` rows of `n`.
pub(crate) fn products(matrix: &DMatrix<f64>, transposed: &DMatrix<f64>) -> DMatrix<f64> {
    let size = matrix.nrows();
    let mut products = DMatrix::zeros(size, size);
    // Wide enough that a product of matrices pays for its packing.
    for from in (0..size).step_by(4 * BLOCK) {
        let width = (4 * BLOCK).min(size - from);
        products.view_mut((from, from), (size - from, width)).gemm(
            1.0,
            &matrix.rows_range(from..),
            &transposed.columns(from, width),
            0.0,
        );
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
            let (whole, half) = (&draw * &across, products(&draw, &across));
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
