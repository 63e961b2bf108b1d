//! Least squares with a penalty, in closed form: machines of all classes, a factorisation a cost, and what each says of
//! items that it has not seen, from one factorisation for all costs.

mod centred;
mod row_sums;

use nalgebra::{Cholesky, DMatrix, DVector};

use centred::{Centred, NoFactor, WeightedRows};
pub(crate) use row_sums::{RowSums, solved};

use crate::kernel::Gram;
use crate::learn::solver::expansion::{Expansion, KernelLearnError, Linear, check_kernel};
use crate::learn::solver::learner::{Learner, Trains};
use crate::learn::solver::loss::{ClassWeight, Costs};
use crate::learn::solver::matrix::Matrix;
use crate::learn::solver::multi_class::{OnGram, outputs};
use crate::parallel::{each, try_each};
use crate::product::{View, product};

/// [`Ridge`] regression as a learner.
pub static RIDGE: Learner = Learner {
    name: "ridge",
    machine: "ridge regression",
    about: "least squares with an L2 penalty, in closed form on the rows",
    costs: &[0.1, 1.0, 10.0, 100.0, 1e3, 1e4],
    trains: Trains::InClosedForm { machines, held_out, on_gram: &KERNEL_RIDGE },
};

/// Ridge regression on a Gram matrix, one output and one cost at a time.
pub static KERNEL_RIDGE: Learner = Learner {
    name: "kernel-ridge",
    machine: "kernel ridge regression",
    about: "least squares with an L2 penalty, on the Gram matrix",
    costs: &[0.1, 1.0, 10.0, 100.0, 1e3, 1e4],
    trains: Trains::OnGram(OnGram {
        bytes: |items| 24 * items * items,
        constant: 0.0,
        path: |gram, positive, costs| {
            costs.iter().map(|&costs| on_gram(gram, positive, costs)).collect()
        },
    }),
};

/// The largest matrix that is factorised: its eigenvalues, where rounding leaves no factor, take some minutes.
pub const RIDGE_AT_MOST: usize = 3_000;

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
    weighed: WeightedRows,
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

    /// Outputs for the items `[item]` of each group from training without that group, for several lists of targets,
    /// `[list][item]`.
    ///
    /// `None` if a machine without a group is not determined numerically. There must be two groups at least.
    ///
    /// Time: `n m` multiply-adds per list, and for each group of `b` items `b^2 m + b^3 / 3` more.
    #[must_use]
    pub fn held_out(
        &self,
        targets: &[Vec<f64>],
        groups: &[usize],
        c: f64,
    ) -> Option<Vec<Vec<f64>>> {
        let shrunk = self.shrunk(c);
        let targets_seen = self.weighed.all_centred(targets);
        let along = product(View::of(&self.places).transposed(), View::of(&targets_seen));
        let scaled = DMatrix::from_fn(along.nrows(), along.ncols(), |axis, list| {
            along[(axis, list)] * shrunk[axis]
        });
        let beyond = targets_seen - product(View::of(&self.places), View::of(&scaled));
        self.weighed.without_groups(targets, &beyond, &members(groups), |some| {
            let of_group = |group: &Vec<usize>| {
                let places = self.places.select_rows(group);
                let mut scaled = places.transpose();
                for mut column in scaled.column_iter_mut() {
                    column.component_mul_assign(&shrunk);
                }
                DMatrix::identity(group.len(), group.len())
                    - product(View::of(&places), View::of(&scaled))
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

/// Machines of all outputs, `[output][cost]`.
fn machines(
    rows: &Matrix,
    labels: &[usize],
    (classes, weight): (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Linear>>, KernelLearnError> {
    of_outputs(rows, labels, (classes, weight), |centred, targets| centred.machines(targets, c))
}

/// Outputs of all machines for each item, trained without its group, `[output][cost][item]`; `None` if not determined
/// numerically.
fn held_out(
    rows: &Matrix,
    labels: &[usize],
    groups: &[usize],
    (classes, weight): (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Option<Vec<f64>>>>, KernelLearnError> {
    of_outputs(rows, labels, (classes, weight), |centred, targets| {
        held_out_of(centred, targets, groups, c)
    })
}

/// Outputs for each item, trained without its group, of some targets, `[target][cost][item]`.
fn held_out_of(
    centred: Centred,
    targets: &[Vec<f64>],
    groups: &[usize],
    c: &[f64],
) -> Result<Vec<Vec<Option<Vec<f64>>>>, KernelLearnError> {
    let mut of_outputs = vec![Vec::with_capacity(c.len()); targets.len()];
    let members = members(groups);
    let by_factors = try_each(c.len(), &|cost| centred.held_out(targets, &members, c[cost]));
    let of_costs = match by_factors {
        Ok(of_costs) => of_costs,
        Err(NoFactor) => {
            let ridge = centred.factorised()?;
            each(c.len(), &|cost| ridge.held_out(targets, groups, c[cost]))
        }
    };
    for of_cost in of_costs {
        let lists = of_cost
            .map_or(vec![None; targets.len()], |lists| lists.into_iter().map(Some).collect());
        of_outputs.iter_mut().zip(lists).for_each(|(all, list)| all.push(list));
    }
    Ok(of_outputs)
}

/// The machine that estimates numbers, `[item]`, at a cost.
///
/// # Errors
/// [`KernelLearnError`] as of [`Ridge::of`].
pub(crate) fn estimator(
    rows: &Matrix,
    targets: &[f64],
    c: f64,
) -> Result<Linear, KernelLearnError> {
    let centred = Centred::of(rows, &vec![1.0; targets.len()])?;
    let machines = centred.machines(&[targets.to_vec()], &[c])?;
    machines.into_iter().flatten().next().ok_or(KernelLearnError::Empty)
}

/// Estimates for each item, trained without its group, `[cost][item]`; `None` if not determined numerically.
///
/// # Errors
/// [`KernelLearnError`] as of [`Ridge::of`].
pub(crate) fn held_out_estimates(
    rows: &Matrix,
    targets: &[f64],
    groups: &[usize],
    c: &[f64],
) -> Result<Vec<Option<Vec<f64>>>, KernelLearnError> {
    let centred = Centred::of(rows, &vec![1.0; targets.len()])?;
    let all = held_out_of(centred, &[targets.to_vec()], groups, c)?;
    Ok(all.into_iter().next().unwrap_or_default())
}

/// Applies a function to centred rows and the outputs' targets: once if all items have equal weights, otherwise per output.
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
mod tests;
