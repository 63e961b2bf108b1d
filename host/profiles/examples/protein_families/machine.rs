//! A kernel machine that asks for rows of the matrix as it needs them, and features to make rows of.

use std::cell::RefCell;
use std::rc::Rc;

use fishweir::learn::{ClassWeight, LinearSvm, Matrix};
use multiversion::multiversion;

/// Rows of a kernel matrix over all items, of ones on the diagonal: computed when they are first asked for, and kept.
pub(crate) struct Kept<F> {
    of: F,
    rows: RefCell<Vec<Option<Rc<[f32]>>>>,
}

/// Rows that are computed at once.
const BLOCK: usize = 16;
/// Features that are multiplied at once.
const LANES: usize = 16;

impl<F: Fn(&[usize]) -> Vec<Vec<f32>>> Kept<F> {
    /// `of` computes the rows of some items.
    pub(crate) fn new(items: usize, of: F) -> Self {
        Self { of, rows: RefCell::new(vec![None; items]) }
    }

    /// The row of an item. Where it is not there, those of `next` are computed with it.
    fn row(&self, item: usize, next: impl FnOnce() -> Vec<usize>) -> Rc<[f32]> {
        let mut rows = self.rows.borrow_mut();
        if rows[item].is_none() {
            let mut items = vec![item];
            let missing = next().into_iter().filter(|&one| one != item && rows[one].is_none());
            items.extend(missing.take(BLOCK - 1));
            for (&item, row) in items.iter().zip((self.of)(&items)) {
                rows[item] = Some(row.into());
            }
        }
        rows[item].clone().unwrap_or_default()
    }
}

/// Least violation of the optimality conditions that is worked on, in units of the margin.
const TOLERANCE: f32 = 0.05;
/// Largest number of steps per item.
const STEPS: usize = 4;

/// The value of a support vector machine at every item: the objective of
/// [`LinearSvm`](fishweir::learn::LinearSvm), squared hinge and a bias that is penalised, with the kernel in the
/// place of the inner product. Dual coordinate descent, always at the largest violation: few rows are asked for.
pub(crate) fn machine<F: Fn(&[usize]) -> Vec<Vec<f32>>>(
    rows: &Kept<F>,
    items: usize,
    train: &[(usize, bool)],
    c: f64,
) -> Vec<f32> {
    let labels: Vec<bool> = train.iter().map(|&(_, positive)| positive).collect();
    let costs = ClassWeight::Balanced.costs(c, &labels);
    let ridge = |positive: bool| (0.5 / costs.of(positive)) as f32;
    let mut dual = vec![0.0_f32; train.len()];
    let mut values = vec![0.0_f32; items];
    let mut violations = vec![0.0_f32; train.len()];
    for _ in 0..STEPS * train.len() {
        let gradient = |index: usize, values: &[f32]| {
            let (item, positive) = train[index];
            let y = if positive { 1.0 } else { -1.0 };
            y * values[item] - 1.0 + ridge(positive) * dual[index]
        };
        let mut worst = 0;
        for index in 0..train.len() {
            let gradient = gradient(index, &values);
            violations[index] =
                if dual[index] > 0.0 { gradient.abs() } else { (-gradient).max(0.0) };
            if violations[index] > violations[worst] {
                worst = index;
            }
        }
        if violations.get(worst).is_none_or(|&largest| largest < TOLERANCE) {
            break;
        }
        let (item, positive) = train[worst];
        let norm = 2.0 + ridge(positive);
        let after = (dual[worst] - gradient(worst, &values) / norm).max(0.0);
        let by = (after - dual[worst]) * if positive { 1.0 } else { -1.0 };
        dual[worst] = after;
        // What else is far off is likely to be asked for soon.
        let next = || {
            let mut order: Vec<usize> = (0..train.len()).collect();
            order.sort_unstable_by(|&a, &b| violations[b].total_cmp(&violations[a]));
            let missing = order.into_iter().take_while(|&index| violations[index] >= TOLERANCE);
            missing.map(|index| train[index].0).collect()
        };
        for (value, kernel) in values.iter_mut().zip(rows.row(item, next).iter()) {
            *value += by * (kernel + 1.0);
        }
    }
    values
}

/// Features of all items.
pub(crate) struct Vectors {
    rows: Matrix,
    /// `|x|^2`, `[item]`.
    squares: Vec<f32>,
}

impl Vectors {
    pub(crate) fn new(rows: Matrix) -> Self {
        let squares = rows.rows().map(square).collect();
        Self { rows, squares }
    }

    /// Every row scaled to unit length.
    pub(crate) fn unit(mut rows: Matrix) -> Self {
        for row in rows.rows_mut() {
            let norm = square(row).sqrt().max(f32::MIN_POSITIVE);
            row.iter_mut().for_each(|x| *x /= norm);
        }
        Self::new(rows)
    }

    /// The linear machine on them, trained on some: its values at all.
    pub(crate) fn linear(&self, train: &[(usize, bool)], c: f64) -> Vec<f32> {
        let all: Vec<&[f32]> = self.rows.rows().collect();
        let mut rows = Matrix::new(self.rows.columns());
        for &(item, _) in train {
            rows.push(&all[item].iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        }
        let labels: Vec<bool> = train.iter().map(|&(_, positive)| positive).collect();
        let costs = ClassWeight::Balanced.costs(c, &labels);
        let machine = LinearSvm::train(&rows, &labels, costs, &mut vec![0.0; labels.len()]);
        all.iter().map(|row| machine.value(row)).collect()
    }

    /// Squared distances from some items to all.
    fn distances(&self, items: &[usize]) -> Vec<Vec<f32>> {
        let own: Vec<&[f32]> =
            items.iter().filter_map(|&item| self.rows.rows().nth(item)).collect();
        let mut distances = Vec::with_capacity(items.len());
        for (own, items) in own.chunks(BLOCK).zip(items.chunks(BLOCK)) {
            let mut block = vec![vec![0.0; self.squares.len()]; own.len()];
            products(&self.rows, own, &mut block);
            for (row, &item) in block.iter_mut().zip(items) {
                for (entry, other) in row.iter_mut().zip(&self.squares) {
                    *entry = (self.squares[item] + other - 2.0 * *entry).max(0.0);
                }
            }
            distances.extend(block);
        }
        distances
    }

    /// The Gaussian kernel `exp(-d^2 / 2 s^2)` on them, `s` the median over the positives of the distance to the
    /// nearest negative among some training items: the width of Jaakkola, Diekhans and Haussler.
    pub(crate) fn gaussian(
        &self,
        train: &[(usize, bool)],
    ) -> Kept<impl Fn(&[usize]) -> Vec<Vec<f32>>> {
        let positives: Vec<usize> =
            train.iter().filter(|(_, positive)| *positive).map(|&(item, _)| item).collect();
        let nearest = |distances: &Vec<f32>| {
            let negatives = train.iter().filter(|(_, positive)| !positive);
            negatives.map(|&(other, _)| distances[other]).fold(f32::INFINITY, f32::min)
        };
        let distances = self.distances(&positives);
        let mut squares: Vec<f32> = distances.iter().map(nearest).collect();
        squares.sort_by(f32::total_cmp);
        let square = squares.get(squares.len() / 2).copied().unwrap_or(1.0).max(1e-6);
        let kernel = move |row: Vec<f32>| -> Vec<f32> {
            row.into_iter().map(|d| (-d / (2.0 * square)).exp()).collect()
        };
        let kept = Kept::new(self.squares.len(), move |items| {
            self.distances(items).into_iter().map(kernel).collect()
        });
        for (item, row) in positives.into_iter().zip(distances) {
            kept.rows.borrow_mut()[item] = Some(kernel(row).into());
        }
        kept
    }
}

/// Inner products of some rows with all rows, `[own][row]`: every row is read from memory once for all.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn products(rows: &Matrix, own: &[&[f32]], into: &mut [Vec<f32>]) {
    for (at, row) in rows.rows().enumerate() {
        let (chunks, rest) = row.as_chunks::<LANES>();
        for (own, into) in own.chunks(4).zip(into.chunks_mut(4)) {
            // Four at once; where there are fewer the last is taken again.
            let own = [0, 1, 2, 3].map(|q| own[q.min(own.len() - 1)].as_chunks::<LANES>());
            let mut sums = [[0.0_f32; LANES]; 4];
            let four = own[0].0.iter().zip(own[1].0).zip(own[2].0.iter().zip(own[3].0));
            for (row, ((a, b), (c, d))) in chunks.iter().zip(four) {
                for l in 0..LANES {
                    sums[0][l] += row[l] * a[l];
                    sums[1][l] += row[l] * b[l];
                    sums[2][l] += row[l] * c[l];
                    sums[3][l] += row[l] * d[l];
                }
            }
            for ((into, sums), own) in into.iter_mut().zip(&sums).zip(&own) {
                let rest: f32 = rest.iter().zip(own.1).map(|(a, b)| a * b).sum();
                into[at] = sums.iter().sum::<f32>() + rest;
            }
        }
    }
}

fn square(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum()
}
