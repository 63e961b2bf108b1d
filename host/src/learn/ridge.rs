//! Least squares with a penalty, in closed form: machines of all classes, a factorisation a cost, and what each says of
//! items that it has not seen, from one factorisation for all costs.

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};
use rayon::prelude::*;

use super::blocks::{BlockCholesky, products};
use super::expansion::{Expansion, KernelLearnError, Linear, check_kernel};
use super::learner::{Learner, Trains};
use super::loss::{ClassWeight, Costs};
use super::matrix::Matrix;
use super::multi_class::{OnGram, outputs};
use crate::kernel::Gram;

/// [`Ridge`] regression as a learner.
pub static RIDGE: Learner = Learner {
    name: "ridge",
    machine: "ridge regression",
    about: "least squares with an L2 penalty, in closed form on the rows",
    costs: &[0.1, 1.0, 10.0, 100.0, 1e3, 1e4],
    trains: Trains::InClosedForm { machines, on_gram: &KERNEL_RIDGE },
};

/// The same on a Gram matrix, an output and a cost at a time.
pub static KERNEL_RIDGE: Learner = Learner {
    name: "kernel-ridge",
    machine: "kernel ridge regression",
    about: "least squares with an L2 penalty, on the Gram matrix",
    costs: &[0.1, 1.0, 10.0, 100.0, 1e3, 1e4],
    trains: Trains::OnGram(OnGram {
        bytes: |items| 24 * items * items,
        constant: 0.0,
        train: on_gram,
    }),
};

/// The largest matrix that is factorised: its eigenvalues, where rounding leaves no factor, take some minutes.
pub const RIDGE_AT_MOST: usize = 3_000;
/// Items that are left out of a machine at a time, at most, but for a larger group: what bounds RAM.
const ITEMS_AT_ONCE: usize = 512;
/// Iterations for an eigenvalue, at most.
const STEPS: usize = 100;

/// Rows of features, weighed and centred, in the axes of their moments: what
///
/// ```text
/// 1/2 |w|^2 + C sum_i v_i (y_i - w . x_i - b)^2
/// ```
///
/// is least at, for any targets `y` and cost `C`. With `s = root(v)`, `Z = diag(s) (X - 1 mean')`,
/// `t = s (y - mean y)`, the eigenvalues `l_k` of `Z' Z` (or, where there are fewer rows than features, of
/// `Z Z'`), `P = Z V` on their axes and a penalty of `1 / (2 C)`, it is `w = V (l + penalty)^-1 P' t`: every
/// target and cost takes a product with a vector.
///
/// What a machine trained without some items would say of them needs no other training (R. M. Rifkin and
/// R. A. Lippert, Notes on regularized least squares, MIT-CSAIL-TR-2007-025, 2007, section 3; for several items
/// at a time the same identity in blocks): with the hat matrix `H = P (l + penalty)^-1 P' + s s' / sum v`, what
/// the targets of items `B` exceed it by is `(I - H_BB)^-1` times what they exceed the fit of all by, both
/// times `s`.
///
/// Time: `n d m` and some `9 m^3` multiply-adds for `n` rows of `d` features, `m` the lesser; RAM: `2 n d` reals and
/// `3 m^2`.
#[derive(Clone, Debug)]
pub struct Ridge {
    weighed: Weighed,
    /// `V`, `[feature][axis]`.
    axes: DMatrix<f64>,
    /// `P`, `[item][axis]`.
    places: DMatrix<f64>,
    /// `l`, `[axis]`.
    squares: DVector<f64>,
}

impl Ridge {
    /// Factorises rows of features with a weight each.
    ///
    /// # Errors
    /// [`KernelLearnError`]: no row, another number of weights than of rows, entries that are not finite, or more
    /// than [`RIDGE_AT_MOST`] of both rows and features.
    pub fn of(rows: &Matrix, weights: &[f64]) -> Result<Self, KernelLearnError> {
        Centred::of(rows, weights)?.factorised()
    }

    /// `(l + penalty)^-1`, `[axis]`.
    fn shrunk(&self, c: f64) -> DVector<f64> {
        self.squares.map(|square| (square + 0.5 / c).recip())
    }

    /// The machine of targets, `[item]`, and a cost. Time: `(n + d) m` multiply-adds.
    #[must_use]
    pub fn machine(&self, targets: &[f64], c: f64) -> Linear {
        let (mean, targets) = self.weighed.centred(targets);
        let along = self.places.tr_mul(&targets).component_mul(&self.shrunk(c));
        self.weighed.machine(mean, &(&self.axes * along))
    }

    /// What machines of a cost say of the items `[item]` of each group, trained without that group, for several
    /// lists of targets, `[list][item]`; `None` where a machine without one is not determined in numbers. There must
    /// be two groups at least.
    ///
    /// Time: `n m` multiply-adds a list, and for each group of `b` items `b^2 m + b^3 / 3` more.
    #[must_use]
    pub fn held_out(
        &self,
        targets: &[Vec<f64>],
        groups: &[usize],
        c: f64,
    ) -> Option<Vec<Vec<f64>>> {
        let shrunk = self.shrunk(c);
        let targets_seen = self.weighed.all_centred(targets);
        let along = self.places.tr_mul(&targets_seen);
        let scaled = DMatrix::from_fn(along.nrows(), along.ncols(), |axis, list| {
            along[(axis, list)] * shrunk[axis]
        });
        let beyond = targets_seen - &self.places * scaled;
        self.weighed.without_groups(targets, &beyond, &members(groups), |some| {
            let of_group = |group: &Vec<usize>| {
                let places = self.places.select_rows(group);
                let mut scaled = places.transpose();
                for mut column in scaled.column_iter_mut() {
                    column.component_mul_assign(&shrunk);
                }
                DMatrix::identity(group.len(), group.len()) - places * scaled
            };
            some.iter().map(of_group).collect()
        })
    }
}

/// The items of each group that has any.
fn members(groups: &[usize]) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); groups.iter().max().map_or(0, |last| last + 1)];
    groups.iter().enumerate().for_each(|(item, &group)| members[group].push(item));
    members.retain(|group| !group.is_empty());
    members
}

/// Weights of items, and where the weighted rows' middle is.
#[derive(Clone, Debug)]
struct Weighed {
    /// `s`, `[item]`.
    roots: DVector<f64>,
    /// `[feature]`.
    mean: DVector<f64>,
}

impl Weighed {
    /// The weighted mean of targets, and them, centred and weighed.
    fn centred(&self, targets: &[f64]) -> (f64, DVector<f64>) {
        let weights = self.roots.iter().map(|root| root * root);
        let sum: f64 = weights.zip(targets).map(|(weight, target)| weight * target).sum();
        let mean = sum / self.roots.norm_squared();
        let weighed = self.roots.iter().zip(targets).map(|(root, target)| root * (target - mean));
        (mean, DVector::from_iterator(targets.len(), weighed))
    }

    /// Lists of targets, centred and weighed, `[item][list]`.
    fn all_centred(&self, lists: &[Vec<f64>]) -> DMatrix<f64> {
        let lists: Vec<DVector<f64>> = lists.iter().map(|list| self.centred(list).1).collect();
        DMatrix::from_columns(&lists)
    }

    /// Targets, `[list][item]`, less what a machine without an item's group leaves of them: of what the machine of all
    /// leaves, `[item][list]`, by `(I - H)_BB` of some groups at a time, `left`, from which `s s' / sum v` is still to
    /// be taken.
    fn without_groups(
        &self,
        targets: &[Vec<f64>],
        beyond: &DMatrix<f64>,
        groups: &[Vec<usize>],
        left: impl Fn(&[Vec<usize>]) -> Vec<DMatrix<f64>>,
    ) -> Option<Vec<Vec<f64>>> {
        let (total, mut values) = (self.roots.norm_squared(), targets.to_vec());
        let mut rest = groups;
        while !rest.is_empty() {
            // As many groups as have together so many items, or one.
            let mut items = 0;
            let fit = |group: &&Vec<usize>| {
                items += group.len();
                items <= ITEMS_AT_ONCE
            };
            let (some, others) = rest.split_at(rest.iter().take_while(fit).count().max(1));
            rest = others;
            for (group, left) in some.iter().zip(left(some)) {
                let roots = self.roots.select_rows(group);
                let left = Cholesky::new(left - &roots * roots.transpose() / total)?;
                let beyond = left.solve(&beyond.select_rows(group));
                for (values, beyond) in values.iter_mut().zip(beyond.column_iter()) {
                    for ((&item, beyond), root) in group.iter().zip(beyond.iter()).zip(roots.iter())
                    {
                        values[item] -= beyond / root;
                    }
                }
            }
        }
        Some(values)
    }

    /// The machine of weights on centred features, of targets with a mean.
    fn machine(&self, mean: f64, weights: &DVector<f64>) -> Linear {
        let bias = mean - self.mean.dot(weights);
        Linear { weights: weights.iter().copied().collect(), bias }
    }
}

/// Rows of features, weighed and centred, and their products.
struct Centred {
    weighed: Weighed,
    /// `Z`, `[item][feature]`, and transposed.
    rows: DMatrix<f64>,
    across: DMatrix<f64>,
    /// Whether products are of items: where there are no more of them than features.
    by_item: bool,
    /// `Z Z'`, or `Z' Z`: what lies above the diagonal is not read.
    moments: DMatrix<f64>,
}

impl Centred {
    fn of(rows: &Matrix, weights: &[f64]) -> Result<Self, KernelLearnError> {
        let (items, features) = (weights.len(), rows.columns());
        if items == 0 {
            return Err(KernelLearnError::Empty);
        }
        if rows.rows().len() != items {
            return Err(KernelLearnError::Labels { labels: items, items: rows.rows().len() });
        }
        let size = items.min(features);
        if size > RIDGE_AT_MOST {
            return Err(KernelLearnError::TooLarge { size, most: RIDGE_AT_MOST });
        }
        let entries = rows.rows().flatten().map(|&x| f64::from(x));
        let mut rows = DMatrix::from_row_iterator(items, features, entries);
        let roots = DVector::from_iterator(items, weights.iter().map(|weight| weight.sqrt()));
        let total: f64 = weights.iter().sum();
        let mean = rows.tr_mul(&DVector::from_column_slice(weights)) / total;
        for (mut column, &mean) in rows.column_iter_mut().zip(mean.iter()) {
            column.add_scalar_mut(-mean);
            column.component_mul_assign(&roots);
        }
        let across = rows.transpose();
        let by_item = items <= features;
        let moments = if by_item { products(&rows, &across) } else { products(&across, &rows) };
        Ok(Self { weighed: Weighed { roots, mean }, rows, across, by_item, moments })
    }

    fn factorised(self) -> Result<Ridge, KernelLearnError> {
        let Self { weighed, rows, across, by_item, moments } = self;
        let size = moments.nrows();
        let eigen = SymmetricEigen::try_new(moments, f64::EPSILON, STEPS * size);
        let eigen = eigen.ok_or(KernelLearnError::Eigenvalues)?;
        // What rounding leaves of an axis along which nothing differs is no axis.
        let least = f64::EPSILON * size as f64 * eigen.eigenvalues.amax();
        let kept: Vec<usize> = (0..size).filter(|&axis| eigen.eigenvalues[axis] > least).collect();
        let squares = eigen.eigenvalues.select_rows(&kept);
        let mut own = eigen.eigenvectors.select_columns(&kept);
        let (axes, places) = if by_item {
            let mut axes = &across * &own;
            for (axis, square) in squares.iter().enumerate() {
                axes.column_mut(axis).unscale_mut(square.sqrt());
                own.column_mut(axis).scale_mut(square.sqrt());
            }
            (axes, own)
        } else {
            let places = &rows * &own;
            (own, places)
        };
        Ok(Ridge { weighed, axes, places, squares })
    }

    /// The factor of the moments and the penalty of a cost; `None` where rounding leaves none.
    fn factor(&self, c: f64) -> Option<BlockCholesky> {
        let mut penalised = self.moments.clone();
        (0..penalised.nrows()).for_each(|axis| penalised[(axis, axis)] += 0.5 / c);
        BlockCholesky::of(penalised)
    }

    /// The machines of some targets, `[target][cost]`, a Cholesky factor a cost: some `m^3 / 6` multiply-adds each,
    /// where eigenvalues take some `9 m^3` for all, and slower ones. Where rounding leaves no factor, by eigenvalues.
    fn machines(
        self,
        targets: &[Vec<f64>],
        c: &[f64],
    ) -> Result<Vec<Vec<Linear>>, KernelLearnError> {
        let seen = self.weighed.all_centred(targets);
        let mut machines = vec![Vec::with_capacity(c.len()); targets.len()];
        for &cost in c {
            let Some(factor) = self.factor(cost) else {
                let ridge = self.factorised()?;
                let of =
                    |targets: &Vec<f64>| c.iter().map(|&c| ridge.machine(targets, c)).collect();
                return Ok(targets.iter().map(of).collect());
            };
            let weights = match self.by_item {
                true => self.rows.tr_mul(&factor.solve(seen.clone())),
                false => factor.solve(&self.across * &seen),
            };
            for ((machines, targets), weights) in
                machines.iter_mut().zip(targets).zip(weights.column_iter())
            {
                let (mean, _) = self.weighed.centred(targets);
                machines.push(self.weighed.machine(mean, &weights.into_owned()));
            }
        }
        Ok(machines)
    }

    /// What [`Ridge::held_out`] says, of the factor of a cost: `H = U' U` with `U = L^-1 Z'`, and where products are of
    /// items `I - H = penalty U' U` with `U = L^-1`, without a difference of what is nearly alike. `Ok(None)` where
    /// a machine without a group is not determined in numbers, an error where rounding leaves no factor.
    ///
    /// Time: `m^3 / 6 + n m^2 / 2` multiply-adds, and `b^2 m` for each group of `b` items.
    fn held_out(
        &self,
        targets: &[Vec<f64>],
        groups: &[Vec<usize>],
        c: f64,
    ) -> Result<Option<Vec<Vec<f64>>>, NoFactor> {
        let (factor, penalty) = (self.factor(c).ok_or(NoFactor)?, 0.5 / c);
        let seen = self.weighed.all_centred(targets);
        let beyond = match self.by_item {
            true => factor.solve(seen) * penalty,
            false => {
                let weights = factor.solve(&self.across * &seen);
                seen - &self.rows * weights
            }
        };
        let left = |some: &[Vec<usize>]| {
            let items: Vec<usize> = some.iter().flatten().copied().collect();
            let mut along = match self.by_item {
                true => DMatrix::zeros(self.moments.nrows(), items.len()),
                false => self.across.select_columns(&items),
            };
            let mut first = 0;
            if self.by_item {
                items.iter().enumerate().for_each(|(place, &item)| along[(item, place)] = 1.0);
                first = items.iter().min().copied().unwrap_or(0);
            }
            factor.forward(&mut along, first);
            let mut from = 0;
            let of_group = |group: &Vec<usize>| {
                let own = along.columns(from, group.len());
                from += group.len();
                // A product of matrices where there is one to make.
                let squares = match group.len() {
                    1 => own.tr_mul(&own),
                    _ => own.transpose() * own,
                };
                match self.by_item {
                    true => squares * penalty,
                    false => DMatrix::identity(group.len(), group.len()) - squares,
                }
            };
            some.iter().map(of_group).collect()
        };
        Ok(self.weighed.without_groups(targets, &beyond, groups, left))
    }
}

/// Rounding left no Cholesky factor.
struct NoFactor;

/// Machines of all outputs, `[output][cost]`.
fn machines(
    rows: &Matrix,
    labels: &[usize],
    (classes, weight): (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Linear>>, KernelLearnError> {
    of_outputs(rows, labels, (classes, weight), |centred, targets| centred.machines(targets, c))
}

/// What the machines of all outputs say of each item, trained without its group, `[output][cost][item]`; `None` where
/// that is not determined in numbers.
pub(super) fn held_out(
    rows: &Matrix,
    labels: &[usize],
    groups: &[usize],
    (classes, weight): (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Option<Vec<f64>>>>, KernelLearnError> {
    of_outputs(rows, labels, (classes, weight), |centred, targets| {
        let mut of_outputs = vec![Vec::with_capacity(c.len()); targets.len()];
        let members = members(groups);
        let by_factors: Result<Vec<_>, NoFactor> =
            c.par_iter().map(|&c| centred.held_out(targets, &members, c)).collect();
        let of_costs = match by_factors {
            Ok(of_costs) => of_costs,
            Err(NoFactor) => {
                let ridge = centred.factorised()?;
                c.par_iter().map(|&c| ridge.held_out(targets, groups, c)).collect()
            }
        };
        for of_cost in of_costs {
            let lists = of_cost
                .map_or(vec![None; targets.len()], |lists| lists.into_iter().map(Some).collect());
            of_outputs.iter_mut().zip(lists).for_each(|(all, list)| all.push(list));
        }
        Ok(of_outputs)
    })
}

/// What centred rows give for the outputs' targets that go with their weights: all where items weigh the same, else
/// one an output.
fn of_outputs<T: Send>(
    rows: &Matrix,
    labels: &[usize],
    (classes, weight): (usize, ClassWeight),
    each: impl Fn(Centred, &[Vec<f64>]) -> Result<Vec<T>, KernelLearnError>,
) -> Result<Vec<T>, KernelLearnError> {
    let outputs = outputs(labels, classes);
    let targets: Vec<Vec<f64>> = outputs.iter().map(|positive| signs(positive)).collect();
    if weight == ClassWeight::Even {
        return each(Centred::of(rows, &vec![1.0; labels.len()])?, &targets);
    }
    let one = |(positive, targets): (&Vec<bool>, &Vec<f64>)| {
        let costs = weight.costs(1.0, positive);
        let weights: Vec<f64> = positive.iter().map(|&positive| costs.of(positive)).collect();
        each(Centred::of(rows, &weights)?, std::slice::from_ref(targets))
    };
    let all: Result<Vec<Vec<T>>, KernelLearnError> =
        outputs.iter().zip(&targets).map(one).collect();
    Ok(all?.into_iter().flatten().collect())
}

fn signs(positive: &[bool]) -> Vec<f64> {
    positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect()
}

/// The machine `f = b + sum_i a_i K(x_i, .)` that `1/2 |f|^2 + sum_i c_i (S_i - f(x_i))^2` is least at:
/// `(K + diag(1 / (2 c))) a = S - b`, `sum_i a_i = 0`.
fn on_gram(gram: &Gram, positive: &[bool], costs: Costs) -> Result<Expansion, KernelLearnError> {
    check_kernel(gram, positive, costs)?;
    let items = gram.len();
    let penalised = DMatrix::from_fn(items, items, |i, j| {
        gram.get(i, j) + if i == j { 0.5 / costs.of(positive[i]) } else { 0.0 }
    });
    let factor = Cholesky::new(penalised).ok_or(KernelLearnError::NotSemidefinite)?;
    let signs = DVector::from_vec(signs(positive));
    let (ones, of_signs) = (factor.solve(&DVector::repeat(items, 1.0)), factor.solve(&signs));
    let bias = of_signs.sum() / ones.sum();
    Ok(Expansion { coefficients: (of_signs - ones * bias).iter().copied().collect(), bias })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// More items than features, as many, and fewer; and items that are all alike, where the penalty alone makes the
    /// moments definite.
    #[test]
    fn a_factor_a_cost_makes_the_machines_of_the_eigenvalues() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for (items, features, spread) in [(30, 7, 1.0), (12, 12, 1.0), (9, 40, 1.0), (20, 6, 0.0)] {
            let mut rows = Matrix::new(features);
            for _ in 0..items {
                let row = |_| 3.0 + spread * rng.random::<f64>();
                rows.push(&(0..features).map(row).collect::<Vec<f64>>());
            }
            let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
            let c = [0.1, 10.0, 1e3];
            let by_factors = machines(&rows, &labels, (3, ClassWeight::Even), &c).expect("factors");
            let ridge = Ridge::of(&rows, &vec![1.0; items]).expect("eigenvalues");
            for (positive, of_costs) in outputs(&labels, 3).iter().zip(&by_factors) {
                for (&c, machine) in c.iter().zip(of_costs) {
                    let wanted = ridge.machine(&signs(positive), c);
                    let weights = machine.weights.iter().zip(&wanted.weights);
                    for (one, other) in weights.chain([(&machine.bias, &wanted.bias)]) {
                        assert!((one - other).abs() < 1e-7 * (1.0 + other.abs()), "{one} {other}");
                    }
                }
            }
        }
    }

    /// Singles, and groups of several with one of more than are left out at a time; products of items and of features;
    /// items that weigh differently.
    #[test]
    fn a_factor_a_cost_holds_out_what_eigenvalues_do() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        for (items, features) in [(90, 11), (40, 70), (700, 9)] {
            let mut rows = Matrix::new(features);
            for _ in 0..items {
                let row: Vec<f64> = (0..features).map(|_| rng.random::<f64>() + 0.5).collect();
                rows.push(&row);
            }
            let weights: Vec<f64> = (0..items).map(|item| [0.5, 2.0][item % 2]).collect();
            let targets: Vec<Vec<f64>> = (2..5)
                .map(|n| (0..items).map(|item| [1.0, -1.0][usize::from(item % n > 0)]).collect())
                .collect();
            let alone: Vec<usize> = (0..items).rev().collect();
            let large = items.saturating_sub(100);
            let several: Vec<usize> =
                (0..items).map(|item| if item < large { 0 } else { 1 + item % 3 }).collect();
            for groups in [alone, several] {
                for c in [0.1, 10.0] {
                    let centred = Centred::of(&rows, &weights).expect("rows");
                    let found = centred.held_out(&targets, &members(&groups), c);
                    let found = found.ok().flatten().expect("determined");
                    let ridge = centred.factorised().expect("eigenvalues");
                    let wanted = ridge.held_out(&targets, &groups, c).expect("determined");
                    let pairs = found.iter().flatten().zip(wanted.iter().flatten());
                    for (found, wanted) in pairs {
                        assert!(
                            (found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()),
                            "{items} {c}"
                        );
                    }
                }
            }
        }
    }
}
