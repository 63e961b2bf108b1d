//! Products of matrices in one order of operations: every processor computes the same bits.
//!
//! A sum of products along `k` is split after every 256 terms. Each part is summed in the order of `k`, each term is multiplied and
//! then added, never fused, and the parts are added in their order. Vectors of any width do that for several sums side by side, so a
//! fit has the same bits with AVX-512, AVX2, NEON and WebAssembly.

use std::ops::Range;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use multiversion::multiversion;
use nalgebra::DMatrix;

/// Rows of the left factor, and columns of the right, whose products are summed at a time: the sums stay in registers.
const ROWS: usize = if cfg!(target_arch = "wasm32") { 4 } else { 16 };
const COLUMNS: usize = 4;
/// Terms of a part of a sum.
const DEPTH: usize = 256;
/// Rows of the left factor that are copied at a time: with a part of each they fit into a cache.
const HEIGHT: usize = 128;
/// Columns that are turned at a time.
const STEPS: usize = 8;

/// A part of a matrix, or of its transpose.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    values: &'v [f64],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'v> View<'v> {
    /// All of a matrix.
    pub(crate) fn of(matrix: &'v DMatrix<f64>) -> Self {
        let (rows, columns) = matrix.shape();
        Self::of_columns(matrix.as_slice(), rows, columns)
    }

    /// A matrix, a column after another.
    pub(crate) fn of_columns(values: &'v [f64], rows: usize, columns: usize) -> Self {
        Self { values, rows, columns, row_step: 1, column_step: rows }
    }

    /// Number of its rows.
    pub(crate) fn row_count(self) -> usize {
        self.rows
    }

    /// Some of its rows.
    pub(crate) fn rows(self, range: Range<usize>) -> Self {
        let from = range.start * self.row_step;
        let values = self.values.get(from..).unwrap_or_default();
        Self { values, rows: range.len(), ..self }
    }

    /// Some of its columns.
    pub(crate) fn columns(self, range: Range<usize>) -> Self {
        self.transposed().rows(range).transposed()
    }

    /// Its transpose.
    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
            ..self
        }
    }

    /// Copies some rows and columns in panels of `W` rows, `[panel][column][row]`; rows that the last panel lacks are zero.
    fn pack<const W: usize>(
        self,
        rows: Range<usize>,
        columns: Range<usize>,
        into: &mut [[f64; W]],
    ) {
        let steps = columns.len();
        for (panel, out) in into.chunks_exact_mut(steps.max(1)).enumerate() {
            let first = rows.start + panel * W;
            let width = W.min(rows.end - first);
            let start = first * self.row_step + columns.start * self.column_step;
            let mut from = 0;
            if width < W {
                out.fill([0.0; W]);
            } else if self.row_step == 1 {
                while from < steps {
                    // Of a known size, it is copied without a call.
                    let column = self.values[start + from * self.column_step..].first_chunk();
                    if let Some(column) = column {
                        out[from] = *column;
                    }
                    from += 1;
                }
            } else if self.column_step == 1 {
                while let Some(out) = out[from..].first_chunk_mut::<STEPS>() {
                    for i in 0..W {
                        let row = &self.values[start + i * self.row_step + from..][..STEPS];
                        for k in 0..STEPS {
                            out[k][i] = row[k];
                        }
                    }
                    from += STEPS;
                }
            }
            for i in 0..width {
                let row = &self.values[start + i * self.row_step..];
                for k in from..steps {
                    out[k][i] = row[k * self.column_step];
                }
            }
        }
    }
}

/// Rows of a right factor, a part of each sum's terms, in panels of columns: `[panel][row][column]`.
fn pack_right(right: View<'_>, part: Range<usize>, into: &mut [[f64; COLUMNS]]) {
    right.transposed().pack(0..right.columns, part, into);
}

/// Begins and ends of the parts of the terms.
fn parts(terms: usize) -> impl Iterator<Item = Range<usize>> {
    (0..terms).step_by(DEPTH).map(move |from| from..terms.min(from + DEPTH))
}

/// A product that is added to a matrix.
struct Into<'m> {
    /// Its columns begin `step` apart.
    matrix: &'m mut [f64],
    step: usize,
    scale: f64,
    /// Copy of some rows of the left factor.
    packed: Vec<[f64; ROWS]>,
}

impl<'m> Into<'m> {
    fn new(matrix: &'m mut [f64], step: usize, scale: f64) -> Self {
        Self { matrix, step, scale, packed: Vec::new() }
    }

    /// Adds a part of the terms: some columns of the left factor, and panels of as many rows of the right.
    fn add(
        &mut self,
        left: View<'_>,
        part: Range<usize>,
        right: &[[f64; COLUMNS]],
        columns: usize,
    ) {
        let steps = part.len();
        for top in (0..left.rows).step_by(HEIGHT) {
            let below = left.rows.min(top + HEIGHT);
            let length = (below - top).div_ceil(ROWS) * steps;
            if self.packed.len() < length {
                self.packed.resize(length, [0.0; ROWS]);
            }
            let packed = &mut self.packed[..length];
            left.pack(top..below, part.clone(), packed);
            for (right, first) in right.chunks_exact(steps).zip((0..).step_by(COLUMNS)) {
                let matrix = self.matrix.get_mut(first * self.step..).unwrap_or_default();
                let place = Place { step: self.step, rows: top..below, columns: columns - first };
                add_panel(packed, right, self.scale, matrix, place);
            }
        }
    }
}

/// Where products of a panel are added: rows of a matrix, and as many columns as are left of it, which begin `step` apart.
struct Place {
    step: usize,
    rows: Range<usize>,
    columns: usize,
}

/// Adds the products of panels of the left factor with one of the right to a matrix.
#[cfg_attr(
    not(all(target_arch = "wasm32", target_feature = "simd128")),
    multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))
)]
fn add_panel(
    packed: &[[f64; ROWS]],
    right: &[[f64; COLUMNS]],
    scale: f64,
    matrix: &mut [f64],
    place: Place,
) {
    let steps = right.len();
    let mut row = place.rows.start;
    while row < place.rows.end {
        let panel = (row - place.rows.start) / ROWS;
        let sums = tile(&packed[panel * steps..][..steps], right);
        let height = if place.rows.end - row < ROWS { place.rows.end - row } else { ROWS };
        for j in 0..COLUMNS {
            if j == place.columns {
                break;
            }
            let column = &mut matrix[j * place.step + row..][..height];
            // Of a known size, it is added to without a loop.
            if let Some(column) = column.first_chunk_mut::<ROWS>() {
                for i in 0..ROWS {
                    column[i] += scale * sums[j][i];
                }
            } else {
                for i in 0..height {
                    column[i] += scale * sums[j][i];
                }
            }
        }
        row += ROWS;
    }
}

/// The right factor of several products, copied.
pub(crate) struct Right {
    /// Rows, and columns.
    shape: (usize, usize),
    /// `[part of the rows][panel of columns][row][column]`.
    panels: Vec<[f64; COLUMNS]>,
}

impl Right {
    /// RAM: as much as the factor.
    pub(crate) fn of(view: View<'_>) -> Self {
        let across = view.columns.div_ceil(COLUMNS);
        let mut panels = vec![[0.0; COLUMNS]; across * view.rows];
        for part in parts(view.rows) {
            let into = &mut panels[across * part.start..across * part.end];
            pack_right(view, part, into);
        }
        Self { shape: (view.rows, view.columns), panels }
    }

    /// Adds `scale left right` to a matrix whose columns begin `step` apart.
    ///
    /// Time: a multiply-add per row of `left`, column of `right` and term.
    pub(crate) fn add_to(&self, into: &mut [f64], step: usize, scale: f64, left: View<'_>) {
        let (terms, columns) = self.shape;
        debug_assert_eq!(left.columns, terms, "factors must fit");
        let (mut into, across) = (Into::new(into, step, scale), columns.div_ceil(COLUMNS));
        for part in parts(terms) {
            let right = &self.panels[across * part.start..across * part.end];
            into.add(left, part, right, columns);
        }
    }
}

/// `left right`. RAM beside it: a copy of 256 rows of the right factor.
pub(crate) fn product(left: View<'_>, right: View<'_>) -> DMatrix<f64> {
    debug_assert_eq!(left.columns, right.rows, "factors must fit");
    let mut product = DMatrix::zeros(left.rows, right.columns);
    let mut into = Into::new(product.as_mut_slice(), left.rows, 1.0);
    let across = right.columns.div_ceil(COLUMNS);
    let mut panels = vec![[0.0; COLUMNS]; across * right.rows.min(DEPTH)];
    for part in parts(right.rows) {
        let panels = &mut panels[..across * part.len()];
        pack_right(right, part.clone(), panels);
        into.add(left, part, panels, right.columns);
    }
    product
}

/// The sums of a part of the terms for a panel of each factor, `[column][row]`.
///
/// Each column's sums have a name of their own: in one array of arrays they are kept in memory by some settings of the compiler, which
/// takes ten times as long.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
fn tile(left: &[[f64; ROWS]], right: &[[f64; COLUMNS]]) -> [[f64; ROWS]; COLUMNS] {
    let [mut a, mut b, mut c, mut d] = [[0.0; ROWS]; COLUMNS];
    for k in 0..left.len().min(right.len()) {
        let (left, right) = (left[k], right[k]);
        for i in 0..ROWS {
            a[i] += left[i] * right[0];
            b[i] += left[i] * right[1];
            c[i] += left[i] * right[2];
            d[i] += left[i] * right[3];
        }
    }
    [a, b, c, d]
}

/// The same where programs are small before they are fast, and loops stay loops: two sums to a register.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn tile(left: &[[f64; ROWS]], right: &[[f64; COLUMNS]]) -> [[f64; ROWS]; COLUMNS] {
    use std::arch::wasm32::{f64x2, f64x2_add, f64x2_extract_lane, f64x2_mul, f64x2_splat};

    let zero = f64x2_splat(0.0);
    let (mut a, mut b, mut c, mut d) = ((zero, zero), (zero, zero), (zero, zero), (zero, zero));
    for k in 0..left.len().min(right.len()) {
        let (left, right) = (&left[k], &right[k]);
        let (low, high) = (f64x2(left[0], left[1]), f64x2(left[2], left[3]));
        let [x, y, z, w] = [right[0], right[1], right[2], right[3]];
        let (x, y, z, w) = (f64x2_splat(x), f64x2_splat(y), f64x2_splat(z), f64x2_splat(w));
        a = (f64x2_add(a.0, f64x2_mul(low, x)), f64x2_add(a.1, f64x2_mul(high, x)));
        b = (f64x2_add(b.0, f64x2_mul(low, y)), f64x2_add(b.1, f64x2_mul(high, y)));
        c = (f64x2_add(c.0, f64x2_mul(low, z)), f64x2_add(c.1, f64x2_mul(high, z)));
        d = (f64x2_add(d.0, f64x2_mul(low, w)), f64x2_add(d.1, f64x2_mul(high, w)));
    }
    let mut sums = [[0.0; ROWS]; COLUMNS];
    for (sums, (low, high)) in sums.iter_mut().zip([a, b, c, d]) {
        let ends = |pair| [f64x2_extract_lane::<0>(pair), f64x2_extract_lane::<1>(pair)];
        let ([first, second], [third, fourth]) = (ends(low), ends(high));
        *sums = [first, second, third, fourth];
    }
    sums
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Compares every bit with sums in the documented order, for shapes about the sizes of panels and parts.
    #[test]
    fn sums_have_one_order() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for (rows, terms, columns) in
            [(1, 1, 1), (3, 0, 2), (16, 256, 4), (17, 257, 5), (130, 600, 9)]
        {
            let mut draw =
                |rows, columns| DMatrix::from_fn(rows, columns, |_, _| rng.random::<f64>() - 0.5);
            let (left, right) = (draw(rows, terms), draw(terms, columns));
            let wanted = DMatrix::from_fn(rows, columns, |i, j| {
                let mut sum = 0.0;
                for from in (0..terms).step_by(DEPTH) {
                    let mut part = 0.0;
                    for k in from..terms.min(from + DEPTH) {
                        part += left[(i, k)] * right[(k, j)];
                    }
                    sum += part;
                }
                sum
            });
            assert_eq!(product(View::of(&left), View::of(&right)), wanted);
            let (across, along) = (left.transpose(), right.transpose());
            let turned = product(View::of(&across).transposed(), View::of(&along).transposed());
            assert_eq!(turned, wanted);
            let (some, others) = (rows / 3..rows, columns / 2..columns);
            let part = product(
                View::of(&left).rows(some.clone()),
                View::of(&right).columns(others.clone()),
            );
            let of_wanted = wanted.view((some.start, others.start), (some.len(), others.len()));
            assert_eq!(part, of_wanted);
        }
    }
}
