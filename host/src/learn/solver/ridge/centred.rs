//! Rows of features, weighed and centred, and machines by a Cholesky factor of their moments and each cost's penalty.

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

use super::{RIDGE_AT_MOST, Ridge};
use crate::learn::solver::blocks::{BlockCholesky, products};
use crate::learn::solver::expansion::{KernelLearnError, Linear};
use crate::learn::solver::matrix::Matrix;
use crate::product::{View, product};

/// Largest number of items that are left out at a time, unless a group is larger: a bound on RAM.
const ITEMS_AT_ONCE: usize = 512;
/// Largest number of iterations for an eigenvalue.
const STEPS: usize = 100;

/// Weights of items, and where the weighted rows' middle is.
#[derive(Clone, Debug)]
pub(super) struct WeightedRows {
    /// `s`, `[item]`.
    roots: DVector<f64>,
    /// `[feature]`.
    mean: DVector<f64>,
}

impl WeightedRows {
    /// The weighted mean of targets, and them, centred and weighed.
    pub(super) fn centred(&self, targets: &[f64]) -> (f64, DVector<f64>) {
        let weights = self.roots.iter().map(|root| root * root);
        let sum: f64 = weights.zip(targets).map(|(weight, target)| weight * target).sum();
        let mean = sum / self.roots.norm_squared();
        let weighed = self.roots.iter().zip(targets).map(|(root, target)| root * (target - mean));
        (mean, DVector::from_iterator(targets.len(), weighed))
    }

    /// Lists of targets, centred and weighed, `[item][list]`.
    pub(super) fn all_centred(&self, lists: &[Vec<f64>]) -> DMatrix<f64> {
        let lists: Vec<DVector<f64>> = lists.iter().map(|list| self.centred(list).1).collect();
        DMatrix::from_columns(&lists)
    }

    /// Targets, `[list][item]`, less what a machine without an item's group leaves of them: of what the machine of all
    /// leaves, `[item][list]`, by `(I - H)_BB` of some groups at a time, `left`, from which `s s' / sum v` is still to
    /// be taken.
    pub(super) fn without_groups(
        &self,
        targets: &[Vec<f64>],
        beyond: &DMatrix<f64>,
        groups: &[Vec<usize>],
        left: impl Fn(&[Vec<usize>]) -> Vec<DMatrix<f64>>,
    ) -> Option<Vec<Vec<f64>>> {
        let (total, mut values) = (self.roots.norm_squared(), targets.to_vec());
        let mut rest = groups;
        while !rest.is_empty() {
            // Consecutive groups up to a total number of items, or one group.
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
    pub(super) fn machine(&self, mean: f64, weights: &DVector<f64>) -> Linear {
        let bias = mean - self.mean.dot(weights);
        Linear { weights: weights.iter().copied().collect(), bias }
    }
}

/// Rows of features, weighed and centred, and their products.
pub(super) struct Centred {
    weighed: WeightedRows,
    /// `Z'`, `[feature][item]`: an item is a column.
    across: DMatrix<f64>,
    /// `true` if products are between items, because there are no more of them than features.
    by_item: bool,
    /// `Z Z'`, or `Z' Z`: what lies above the diagonal is not read.
    moments: DMatrix<f64>,
}

impl Centred {
    pub(super) fn of(rows: &Matrix, weights: &[f64]) -> Result<Self, KernelLearnError> {
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
        let mut across = DMatrix::from_iterator(features, items, entries);
        let roots = DVector::from_iterator(items, weights.iter().map(|weight| weight.sqrt()));
        let total: f64 = weights.iter().sum();
        let mean = &across * DVector::from_column_slice(weights) / total;
        for (mut column, &root) in across.column_iter_mut().zip(roots.iter()) {
            column -= &mean;
            column *= root;
        }
        let by_item = items <= features;
        let along = View::of(&across);
        let moments = products(if by_item { along.transposed() } else { along });
        Ok(Self { weighed: WeightedRows { roots, mean }, across, by_item, moments })
    }

    pub(super) fn factorised(self) -> Result<Ridge, KernelLearnError> {
        let Self { weighed, across, by_item, moments } = self;
        let size = moments.nrows();
        let eigen = SymmetricEigen::try_new(moments, f64::EPSILON, STEPS * size);
        let eigen = eigen.ok_or(KernelLearnError::Eigenvalues)?;
        // What rounding leaves of an axis along which nothing differs is no axis.
        let least = f64::EPSILON * size as f64 * eigen.eigenvalues.amax();
        let kept: Vec<usize> = (0..size).filter(|&axis| eigen.eigenvalues[axis] > least).collect();
        let squares = eigen.eigenvalues.select_rows(&kept);
        let mut own = eigen.eigenvectors.select_columns(&kept);
        let (axes, places) = if by_item {
            let mut axes = product(View::of(&across), View::of(&own));
            for (axis, square) in squares.iter().enumerate() {
                axes.column_mut(axis).unscale_mut(square.sqrt());
                own.column_mut(axis).scale_mut(square.sqrt());
            }
            (axes, own)
        } else {
            let places = product(View::of(&across).transposed(), View::of(&own));
            (own, places)
        };
        Ok(Ridge { weighed, axes, places, squares })
    }

    /// `Z' B`.
    fn times_across(&self, right: &DMatrix<f64>) -> DMatrix<f64> {
        product(View::of(&self.across), View::of(right))
    }

    /// The factor of the moments and the penalty of a cost; `None` if rounding leaves no factor.
    fn factor(&self, c: f64) -> Option<BlockCholesky> {
        let mut penalised = self.moments.clone();
        (0..penalised.nrows()).for_each(|axis| penalised[(axis, axis)] += 0.5 / c);
        BlockCholesky::of(penalised)
    }

    /// The machines of some targets, `[target][cost]`, a Cholesky factor a cost: some `m^3 / 6` multiply-adds each,
    /// where eigenvalues take some `9 m^3` for all, and slower ones. Where rounding leaves no factor, by eigenvalues.
    pub(super) fn machines(
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
                true => self.times_across(&factor.solve(seen.clone())),
                false => factor.solve(self.times_across(&seen)),
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

    /// Computes [`Ridge::held_out`] from the factor of a cost: `H = U' U` with `U = L^-1 Z'`.
    ///
    /// If products are between items, `I - H = penalty U' U` with `U = L^-1`, which avoids a difference of nearly equal numbers.
    /// `Ok(None)` if a machine without a group is not determined numerically, an error if rounding leaves no factor.
    ///
    /// Time: `m^3 / 6 + n m^2 / 2` multiply-adds, and `b^2 m` for each group of `b` items.
    pub(super) fn held_out(
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
                let weights = factor.solve(self.times_across(&seen));
                seen - product(View::of(&self.across).transposed(), View::of(&weights))
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
                let first = from;
                from += group.len();
                let squares = match group.len() {
                    1 => DMatrix::from_element(1, 1, along.column(first).dot(&along.column(first))),
                    _ => {
                        let own = View::of(&along).columns(first..from);
                        product(own.transposed(), own)
                    }
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
pub(super) struct NoFactor;
