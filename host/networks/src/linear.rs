//! Linear machines whose features are linear in the cells that a record has.

use std::ops::Range;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{NetworkError, NetworkFisher};
use fishweir::internals::{Elementary, TOLERANCE, choose_c, each, inner_folds, minimise_to};
use fishweir::learn::{Choice, ClassWeight, Costs, Design, Linear, Loss};

/// Costs of errors that a machine chooses from.
const COSTS: [f64; 5] = [1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// Number of folds in which it chooses.
const INNER_FOLDS: usize = 3;
const MOST_DEALT: usize = 8192;
/// The gradient at the end of a machine that only judges a cost, relative to the one at zero weights.
const JUDGED_AT: f64 = 1e-6;

/// Features of whole records, over the cells of a network's tables, and then some that are a table each:
///
/// ```text
/// phi_ijk(x) = root_ijk [row of i is j] ([x_i = k] - share_ijk)        psi_c(x) = sum_i L_c[cell of i]
/// ```
pub(super) struct CellFeatures {
    /// The cells of each row.
    rows: Vec<Range<usize>>,
    root: Vec<f64>,
    share: Vec<f64>,
    /// `L`, `[feature][cell]`.
    tables: Vec<Vec<f64>>,
}

impl NetworkFisher {
    /// A table `T` such that the weights' inner product with a record's features is the sum of `T` over
    /// the record's cells: `w . phi(x) = sum_i T[cell of i]`.
    ///
    /// # Panics
    /// If there is not a weight per cell.
    pub fn fold(&self, weights: &[f64]) -> Vec<f64> {
        assert_eq!(weights.len(), self.precision().len(), "one weight per cell");
        CellFeatures::fisher(self).fold(weights)
    }
}

impl CellFeatures {
    /// Features of a Fisher kernel: `root = (P theta)^-1/2`, `share = theta`.
    pub(super) fn fisher(fisher: &NetworkFisher) -> Self {
        let (network, rows) = (fisher.network(), fisher.network().shape().every_row());
        Self {
            rows: rows.map(|(_, _, cells)| cells).collect(),
            root: fisher.precision().iter().map(|inverse| inverse.sqrt()).collect(),
            share: network.theta().to_vec(),
            tables: Vec::new(),
        }
    }

    /// Features of the TOP kernel of class models, networks of one graph: the mean over pairs of classes of
    ///
    /// ```text
    /// K_cd(x, y) = v_cd(x) v_cd(y) + K_c(x, y) + K_d(x, y),      v_cd(x) = log p_c(x) - log p_d(x)
    /// ```
    ///
    /// with the Fisher kernels `K_c`: gradients of the log-odds in the metric of each class' information.
    /// The classes' Fisher kernels add up, row by row of the tables, to a diagonal `a` less a constant `s`,
    /// as one's does; hence `root = a^1/2` and `share = t / a`, where
    /// `t u = 1 - (1 - s u)^1/2`, `u = sum_k 1 / a_k`: features of one network for those of all classes.
    ///
    /// Source: Tsuda, Kawanabe, Raetsch, Sonnenburg and Mueller, "A new discriminative kernel from
    /// probabilistic models", 2002, of two classes.
    ///
    /// # Errors
    /// A probability of zero: it has no log-odds.
    pub(super) fn top(classes: &[NetworkFisher]) -> Result<Self, NetworkError> {
        let Some(first) = classes.first() else {
            return Err(NetworkError::NoRecords("a classifier needs records of two classes"));
        };
        let (shape, count) = (first.network().shape(), classes.len() as f64);
        if classes.iter().any(|one| one.precision().contains(&0.0)) {
            let what = "log-odds need probabilities above zero; fit with a pseudo-count above zero";
            return Err(NetworkError::Other(what.into()));
        }
        let cells = shape.all_cells();
        let mean = |of: &dyn Fn(&NetworkFisher) -> f64| classes.iter().map(of).sum::<f64>() / count;
        let (mut rows, mut root, mut share) = (Vec::new(), vec![0.0; cells], vec![0.0; cells]);
        for (node, row, cells) in shape.every_row() {
            let row = row - shape.rows(node).start;
            // Twice the mean: of the two of a pair.
            let s = 2.0 * mean(&|one| 1.0 / one.parent_probabilities(node)[row]);
            let a: Vec<f64> =
                cells.clone().map(|cell| 2.0 * mean(&|one| one.precision()[cell])).collect();
            let u: f64 = a.iter().map(|a| 1.0 / a).sum();
            let t = (1.0 - (1.0 - s * u).max(0.0).sqrt()) / u;
            for (cell, a) in cells.clone().zip(a) {
                (root[cell], share[cell]) = (a.sqrt(), t / a);
            }
            rows.push(cells);
        }
        // The sum over pairs of squared differences is C times that of the squared deviations.
        let scale = (2.0 / (count - 1.0).max(1.0)).sqrt();
        let logs: Vec<f64> =
            (0..cells).map(|cell| mean(&|one| one.network().theta()[cell].portable_ln())).collect();
        let table = |one: &NetworkFisher| {
            let theta = one.network().theta().iter().zip(&logs);
            theta.map(|(theta, mean)| scale * (theta.portable_ln() - mean)).collect()
        };
        Ok(Self { rows, root, share, tables: classes.iter().map(table).collect() })
    }

    /// Number of features.
    fn len(&self) -> usize {
        self.root.len() + self.tables.len()
    }

    /// The table `T` with `w . phi(x) = sum_i T[cell of i]`.
    pub(super) fn fold(&self, weights: &[f64]) -> Vec<f64> {
        let (of_cells, of_tables) = weights.split_at(self.root.len());
        let mut table = self.fold_cells(of_cells);
        for (weight, logs) in of_tables.iter().zip(&self.tables) {
            table.iter_mut().zip(logs).for_each(|(entry, log)| *entry += weight * log);
        }
        table
    }

    /// The table of the features over cells alone.
    fn fold_cells(&self, weights: &[f64]) -> Vec<f64> {
        let mut table: Vec<f64> =
            weights.iter().zip(&self.root).map(|(w, root)| w * root).collect();
        for cells in &self.rows {
            let terms = table[cells.clone()].iter().zip(&self.share[cells.clone()]);
            let mean: f64 = terms.map(|(entry, share)| entry * share).sum();
            table[cells.clone()].iter_mut().for_each(|entry| *entry -= mean);
        }
        table
    }

    /// Adds the features over cells of records counted by cell: the transpose of
    /// [`fold_cells`](Self::fold_cells).
    fn add_cells(&self, counts: &[f64], sum: &mut [f64]) {
        for cells in &self.rows {
            let row: f64 = counts[cells.clone()].iter().sum();
            for cell in cells.clone() {
                sum[cell] += self.root[cell] * (counts[cell] - row * self.share[cell]);
            }
        }
    }
}

/// Features that some records taught, and where all records are in them.
pub(super) struct Taught {
    pub(super) features: CellFeatures,
    nodes: usize,
    /// `[record][node]`.
    cells: Vec<u32>,
    /// The features that are a table each, `[record][table]`.
    psi: Vec<f64>,
}

impl Taught {
    /// Features, and the cells of each record, one per node.
    pub(super) fn new(
        features: CellFeatures,
        nodes: usize,
        records: impl Iterator<Item = Result<Vec<usize>, NetworkError>>,
    ) -> Result<Self, NetworkError> {
        let (mut cells, mut psi) = (Vec::new(), Vec::new());
        for of_record in records {
            let of_record = of_record?;
            let value = |logs: &Vec<f64>| of_record.iter().map(|&cell| logs[cell]).sum::<f64>();
            psi.extend(features.tables.iter().map(value));
            cells.extend(of_record.into_iter().map(|cell| cell as u32));
        }
        Ok(Self { features, nodes, cells, psi })
    }

    fn cells(&self, record: usize) -> &[u32] {
        &self.cells[record * self.nodes..][..self.nodes]
    }

    /// Some of the records, side by side.
    fn rows(&self, some: &[usize]) -> Rows<'_> {
        let tables = self.features.tables.len();
        let psi = |record: usize| &self.psi[record * tables..][..tables];
        Rows {
            features: &self.features,
            count: some.len(),
            nodes: self.nodes,
            cells: some.iter().flat_map(|&record| self.cells(record)).copied().collect(),
            psi: some.iter().flat_map(|&record| psi(record)).copied().collect(),
        }
    }
}

/// The class of each record.
pub(super) struct Labelled {
    pub(super) labels: Vec<usize>,
    /// Names of the classes.
    pub(super) classes: Vec<String>,
}

/// The features of some records. Those over cells are never written out: a product is a look-up per node.
struct Rows<'a> {
    features: &'a CellFeatures,
    count: usize,
    nodes: usize,
    cells: Vec<u32>,
    psi: Vec<f64>,
}

impl Rows<'_> {
    /// The cells of a row, and its features that are a table each.
    #[inline]
    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let tables = self.features.tables.len();
        (&self.cells[row * self.nodes..][..self.nodes], &self.psi[row * tables..][..tables])
    }
}

impl Design for Rows<'_> {
    fn columns(&self) -> usize {
        self.features.len()
    }

    fn products(&self, weights: &[f64], start: f64) -> Vec<f64> {
        let (of_cells, of_tables) = weights.split_at(self.features.root.len());
        let table = self.features.fold_cells(of_cells);
        let mut values = vec![0.0; self.count];
        for (row, value) in values.iter_mut().enumerate() {
            let (cells, psi) = self.row(row);
            let mut sum = 0.0;
            for &cell in cells {
                sum += table[cell as usize];
            }
            for k in 0..psi.len() {
                sum += psi[k] * of_tables[k];
            }
            *value = sum + start;
        }
        values
    }

    fn combine(&self, factors: &[f64], sum: &mut [f64]) {
        let (of_cells, of_tables) = sum.split_at_mut(self.features.root.len());
        let mut counts = vec![0.0; of_cells.len()];
        for row in 0..self.count {
            let ((cells, psi), factor) = (self.row(row), factors[row]);
            for &cell in cells {
                counts[cell as usize] += factor;
            }
            for k in 0..psi.len() {
                of_tables[k] += factor * psi[k];
            }
        }
        self.features.add_cells(&counts, of_cells);
    }
}

impl Labelled {
    /// Logistic regression one class against the rest, one output for two classes: tables in the shape of
    /// the network's, and biases. The cost of an error is chosen as the library chooses, in three folds of these
    /// records; in folds of 8192 of them where there are more.
    ///
    /// `inner` gives the features that some records teach; none where they are those of `whole`, for they
    /// look at no class.
    pub(super) fn machines(
        &self,
        whole: &Taught,
        inner: impl Fn(&[usize]) -> Result<Option<Taught>, NetworkError>,
    ) -> Result<(Vec<Linear>, Choice), NetworkError> {
        let choice = self.choose(whole, inner)?;
        let all: Vec<usize> = (0..self.labels.len()).collect();
        let paths = self.train(whole, &all, &[choice.setting.c], TOLERANCE);
        Ok((paths.into_iter().flatten().collect(), choice))
    }

    /// Machines on some of the records, `[output][cost]`, as tables: each starts where the one before ended.
    fn train(
        &self,
        taught: &Taught,
        some: &[usize],
        costs: &[f64],
        tolerance: f64,
    ) -> Vec<Vec<Linear>> {
        let rows = taught.rows(some);
        let classes = self.classes.len();
        let outputs = if classes == 2 { 1..2 } else { 0..classes };
        each(outputs.len(), &|output| {
            let class = outputs.start + output;
            let positive: Vec<bool> = some.iter().map(|&row| self.labels[row] == class).collect();
            let mut last = None;
            let step = |&cost: &f64| {
                let costs = Costs::even(cost);
                let (loss, start) = (Loss::Logistic, last.as_ref());
                let machine = minimise_to(tolerance, loss, &rows, &positive, costs, start);
                let table = taught.features.fold(&machine.weights);
                let bias = last.insert(machine).bias;
                Linear { weights: table, bias }
            };
            costs.iter().map(step).collect()
        })
    }

    /// The cost, by records that neither the machines nor their features were learnt from.
    pub(super) fn choose(
        &self,
        whole: &Taught,
        inner: impl Fn(&[usize]) -> Result<Option<Taught>, NetworkError>,
    ) -> Result<Choice, NetworkError> {
        // Of each class its share, shuffled: many tables go through all combinations of their columns in order.
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
        order.sort_by_key(|&row| self.labels[row]);
        let dealt = order.len().min(MOST_DEALT);
        let mut rows: Vec<usize> = (0..dealt).map(|at| order[at * order.len() / dealt]).collect();
        // A class of one record cannot be held back.
        let mut counts = vec![0_usize; self.classes.len()];
        rows.iter().for_each(|&row| counts[self.labels[row]] += 1);
        rows.retain(|&row| counts[self.labels[row]] > 1);
        let labels: Vec<usize> = rows.iter().map(|&row| self.labels[row]).collect();
        let there: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 1).collect();
        let names: Vec<String> = there.iter().map(|&class| self.classes[class].clone()).collect();
        let numbers: Vec<usize> =
            labels.iter().map(|label| there.partition_point(|class| class < label)).collect();
        let folds = inner_folds(&numbers, &names, None, INNER_FOLDS);
        choose_c(&COSTS, (&labels, &rows), folds.as_ref(), ClassWeight::Even, |train, held_back| {
            let of = |places: &[usize]| places.iter().map(|&at| rows[at]).collect::<Vec<_>>();
            let (train, held_back) = (of(train), of(held_back));
            let of_fold = inner(&train)?;
            let taught = of_fold.as_ref().unwrap_or(whole);
            let machines = self.train(taught, &train, &COSTS, JUDGED_AT);
            let value = |path: &Vec<Linear>, cost: usize, row: usize| {
                let Linear { weights: table, bias } = &path[cost];
                taught.cells(row).iter().map(|&cell| table[cell as usize]).sum::<f64>() + bias
            };
            let values = |cost: usize| -> Vec<Vec<f64>> {
                let of_row =
                    |&row: &usize| machines.iter().map(|path| value(path, cost, row)).collect();
                held_back.iter().map(of_row).collect()
            };
            Ok((0..COSTS.len()).map(values).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use fishweir::internals::inner_product;

    use super::super::{Network, Width};
    use super::*;
    use crate::records::{Records, Variable};

    #[test]
    fn features_of_the_top_kernel_are_its_definition() {
        let p = |p: f64, q: f64| vec![p, q, 1.0 - p - q];
        let class = |a: f64, b: f64| {
            let tables = [vec![p(a, b)], vec![p(b, a), p(0.1, a), p(b, 0.2)]];
            let network = Network::new(Variable::numbered(&[3, 3]), vec![vec![], vec![0]], &tables);
            NetworkFisher::new(network.expect("a network"), Width::default(), 1)
        };
        let classes = [class(0.2, 0.3), class(0.5, 0.4), class(0.1, 0.6)];
        let records = Records::of_rows(2, (0..9).map(|i| [i / 3, i % 3]));
        let features = CellFeatures::top(&classes).expect("features");
        let cells = classes[0].all_cells([&records]).expect("whole");
        let of_record = |cells: &[usize]| {
            let feature = |one: usize| {
                let weights: Vec<f64> =
                    (0..features.len()).map(|other| f64::from(u8::from(other == one))).collect();
                let table = features.fold(&weights);
                cells.iter().map(|&cell| table[cell]).sum::<f64>()
            };
            (0..features.len()).map(feature).collect::<Vec<f64>>()
        };
        let found: Vec<Vec<f64>> = cells.iter().map(|cells| of_record(cells)).collect();
        let logs =
            classes.each_ref().map(|one| one.network().log_likelihoods(&records).expect("logs"));
        let grams = classes.each_ref().map(|one| one.gram(&records).expect("a matrix"));
        for (i, x) in found.iter().enumerate() {
            for (j, y) in found.iter().enumerate() {
                let pair = |c: usize, d: usize| {
                    let v = |i: usize| logs[c][i] - logs[d][i];
                    v(i) * v(j) + grams[c].get(i, j) + grams[d].get(i, j)
                };
                let wanted = (pair(0, 1) + pair(0, 2) + pair(1, 2)) / 3.0;
                let kernel = inner_product(x, y);
                assert!(
                    (kernel - wanted).abs() < 1e-10 * wanted.abs().max(1.0),
                    "{kernel} {wanted}"
                );
            }
        }
        // And the transpose is one: the features of each record, added up.
        let count = features.len();
        let taught = Taught::new(features, 2, cells.into_iter().map(Ok)).expect("cells");
        let rows = taught.rows(&(0..9).collect::<Vec<_>>());
        let factors: Vec<f64> = (0..9).map(|i| f64::from(i) - 3.5).collect();
        let mut sum = vec![1.0; count];
        rows.combine(&factors, &mut sum);
        for (entry, sum) in sum.into_iter().enumerate() {
            let wanted: f64 = found.iter().zip(&factors).map(|(x, factor)| factor * x[entry]).sum();
            assert!((sum - 1.0 - wanted).abs() < 1e-10, "{entry}");
        }
    }
}
