//! A kernel machine that asks for rows of the matrix as it needs them, and features to make rows of.

use std::sync::OnceLock;

use fishweir::learn::{ClassWeight, LinearSvm, Matrix};

/// Rows of a kernel matrix over all items.
pub(crate) trait Rows: Sync {
    /// The kernel of an item with all items.
    fn row(&self, item: usize) -> &[f32];

    /// The kernel of an item with itself.
    fn diagonal(&self, item: usize) -> f32;
}

/// Rows that are computed once, when they are first asked for.
pub(crate) struct Kept<F> {
    row: F,
    rows: Vec<OnceLock<Vec<f32>>>,
}

impl<F: Fn(usize) -> Vec<f32> + Sync> Kept<F> {
    pub(crate) fn new(items: usize, row: F) -> Self {
        Self { row, rows: (0..items).map(|_| OnceLock::new()).collect() }
    }
}

/// Of kernels whose diagonal is one.
impl<F: Fn(usize) -> Vec<f32> + Sync> Rows for Kept<F> {
    fn row(&self, item: usize) -> &[f32] {
        self.rows[item].get_or_init(|| (self.row)(item))
    }

    fn diagonal(&self, _: usize) -> f32 {
        1.0
    }
}

/// Least violation of the optimality conditions that is worked on, in units of the margin.
const TOLERANCE: f32 = 0.05;
/// Steps at most, an item.
const STEPS: usize = 4;

/// The value of a support vector machine at every item: the objective of
/// [`LinearSvm`](fishweir::learn::LinearSvm), squared hinge and a bias that is penalised, with the kernel in the
/// place of the inner product. Dual coordinate descent, always at the largest violation: few rows are asked for.
pub(crate) fn machine(rows: &dyn Rows, items: usize, train: &[(usize, bool)], c: f64) -> Vec<f32> {
    let labels: Vec<bool> = train.iter().map(|&(_, positive)| positive).collect();
    let costs = ClassWeight::Balanced.costs(c, &labels);
    let ridge = |positive: bool| (0.5 / costs.of(positive)) as f32;
    let mut dual = vec![0.0_f32; train.len()];
    let mut values = vec![0.0_f32; items];
    for _ in 0..STEPS * train.len() {
        let gradient = |index: usize| {
            let (item, positive) = train[index];
            let y = if positive { 1.0 } else { -1.0 };
            y * values[item] - 1.0 + ridge(positive) * dual[index]
        };
        let violation = |index: usize| {
            let gradient = gradient(index);
            if dual[index] > 0.0 { gradient.abs() } else { (-gradient).max(0.0) }
        };
        let worst = (0..train.len()).map(|index| (violation(index), index));
        let Some((largest, index)) = worst.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        if largest < TOLERANCE {
            break;
        }
        let (item, positive) = train[index];
        let norm = rows.diagonal(item) + 1.0 + ridge(positive);
        let before = dual[index];
        dual[index] = (before - gradient(index) / norm).max(0.0);
        let by = (dual[index] - before) * if positive { 1.0 } else { -1.0 };
        for (value, kernel) in values.iter_mut().zip(rows.row(item)) {
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
        let squares = rows.rows().map(|row| dot(row, row)).collect();
        Self { rows, squares }
    }

    /// Every row scaled to unit length.
    pub(crate) fn unit(mut rows: Matrix) -> Self {
        for row in rows.rows_mut() {
            let norm = dot(row, row).sqrt().max(f32::MIN_POSITIVE);
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

    /// Squared distances from an item to all.
    fn distances(&self, item: usize) -> Vec<f32> {
        let (own, square) = (self.rows.rows().nth(item).unwrap_or_default(), self.squares[item]);
        let rows = self.rows.rows().zip(&self.squares);
        rows.map(|(row, other)| (square + other - 2.0 * dot(own, row)).max(0.0)).collect()
    }

    /// The Gaussian kernel `exp(-d^2 / 2 s^2)` on them, `s` the median over the positives of the distance to the
    /// nearest negative among some training items: the width of Jaakkola, Diekhans and Haussler.
    pub(crate) fn gaussian(
        &self,
        train: &[(usize, bool)],
    ) -> Kept<impl Fn(usize) -> Vec<f32> + Sync> {
        let nearest = |item: usize| {
            let distances = self.distances(item);
            let negatives = train.iter().filter(|(_, positive)| !positive);
            negatives.map(|&(other, _)| distances[other]).fold(f32::INFINITY, f32::min)
        };
        let positives = train.iter().filter(|(_, positive)| *positive);
        let mut squares: Vec<f32> = positives.map(|&(item, _)| nearest(item)).collect();
        squares.sort_by(f32::total_cmp);
        let square = squares.get(squares.len() / 2).copied().unwrap_or(1.0).max(1e-6);
        Kept::new(self.squares.len(), move |item| {
            self.distances(item).iter().map(|d| (-d / (2.0 * square)).exp()).collect()
        })
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (a, b) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.0.iter().zip(b.0) {
        for l in 0..16 {
            sums[l] += a[l] * b[l];
        }
    }
    let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
