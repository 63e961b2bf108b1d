//! One-against-rest linear machines on scaled features.

use rayon::prelude::*;

use super::features::{FeatureMap, Scaling};
use super::svm::{LinearSvm, Matrix};
use crate::classifier::Output;

/// A linear machine an output, and how its features were scaled.
pub(super) struct Machine {
    standard: Vec<Standard>,
    outputs: Vec<LinearSvm>,
}

/// A feature becomes `(x - offset) factor`.
#[derive(Clone, Copy, Debug)]
struct Standard {
    offset: f64,
    factor: f64,
}

impl Standard {
    fn of(self, x: f64) -> f64 {
        (x - self.offset) * self.factor
    }
}

impl Machine {
    /// Machines for one value of C.
    pub(super) fn train(
        rows: Matrix,
        labels: &[usize],
        classes: usize,
        map: &FeatureMap,
        scaling: Scaling,
        c: f64,
    ) -> Self {
        Self::path(rows, labels, classes, map, scaling, &[c]).swap_remove(0)
    }

    /// Machines for rising values of C, each started from the one before.
    pub(super) fn path(
        mut rows: Matrix,
        labels: &[usize],
        classes: usize,
        map: &FeatureMap,
        scaling: Scaling,
        c: &[f64],
    ) -> Vec<Self> {
        let standard = standards(&rows, map, scaling);
        for row in rows.rows_mut() {
            for (x, standard) in row.iter_mut().zip(&standard) {
                *x = standard.of(f64::from(*x)) as f32;
            }
        }
        let positives = if classes == 2 { 1..2 } else { 0..classes };
        let machines: Vec<Vec<LinearSvm>> = positives
            .into_par_iter()
            .map(|class| {
                let positive: Vec<bool> = labels.iter().map(|&label| label == class).collect();
                let mut dual = vec![0.0; labels.len()];
                c.iter().map(|&c| LinearSvm::train(&rows, &positive, c as f32, &mut dual)).collect()
            })
            .collect();
        (0..c.len())
            .map(|index| Self {
                standard: standard.clone(),
                outputs: machines.iter().map(|path| path[index].clone()).collect(),
            })
            .collect()
    }

    /// How many rows of unscaled features are decided rightly.
    pub(super) fn count_right(&self, rows: &Matrix, labels: &[usize]) -> usize {
        let decide = |row: &[f32]| {
            let scaled: Vec<f32> = row
                .iter()
                .zip(&self.standard)
                .map(|(&x, standard)| standard.of(f64::from(x)) as f32)
                .collect();
            let values: Vec<f32> =
                self.outputs.iter().map(|output| output.value(&scaled)).collect();
            fishweir_core::classify::decide(&values).class
        };
        rows.rows().zip(labels).filter(|(row, label)| decide(row) == **label).count()
    }

    /// The machines as outputs over unscaled features: factors go into the weights, offsets into
    /// the biases.
    pub(super) fn outputs(&self, map: &FeatureMap) -> Vec<Output> {
        self.outputs
            .iter()
            .map(|machine| {
                let (mut bias, mut weights) = (f64::from(machine.bias), Vec::new());
                for (&weight, standard) in machine.weights.iter().zip(&self.standard) {
                    let weight = f64::from(weight) * standard.factor;
                    bias -= weight * standard.offset;
                    weights.push(weight);
                }
                let (directions, weights) = map.directions(&weights).into_iter().unzip();
                Output { bias, weights, directions }
            })
            .collect()
    }
}

/// How each feature is scaled, so that the scores' block and the log-likelihoods' block both have a
/// mean square norm of one, and one grid of C serves every size of model.
///
/// Scores are multiplied by one number (practical) or divided by the root of their mean square, the
/// diagonal of the empirical information; they are not centred, for under the model their mean is
/// zero. Log-likelihoods, which have no natural zero, are centred each and scaled alike.
fn standards(rows: &Matrix, map: &FeatureMap, scaling: Scaling) -> Vec<Standard> {
    let count = rows.rows().len().max(1) as f64;
    let columns = rows.columns();
    let (mut mean, mut square) = (vec![0.0; columns], vec![0.0; columns]);
    for row in rows.rows() {
        for ((mean, square), &x) in mean.iter_mut().zip(&mut square).zip(row) {
            let x = f64::from(x);
            *mean += x / count;
            *square += x * x / count;
        }
    }
    let is_likelihood = map.likelihood_columns();
    let likelihoods = is_likelihood.iter().filter(|is| **is).count();
    let scores = (columns - likelihoods).max(1) as f64;
    let total = |wanted: bool, values: &dyn Fn(usize) -> f64| -> f64 {
        (0..columns).filter(|&k| is_likelihood[k] == wanted).map(values).sum()
    };
    let score_norm = total(false, &|k| square[k]);
    let likelihood_norm = total(true, &|k| square[k] - mean[k] * mean[k]);
    // A feature that never moves is no evidence: its factor is zero.
    let reciprocal_root = |x: f64| if x > 1e-24 { x.sqrt().recip() } else { 0.0 };
    (0..columns)
        .map(|k| match (is_likelihood[k], scaling) {
            (true, _) => Standard { offset: mean[k], factor: reciprocal_root(likelihood_norm) },
            (false, Scaling::Practical) => {
                Standard { offset: 0.0, factor: reciprocal_root(score_norm) }
            }
            (false, Scaling::Diagonal) => {
                Standard { offset: 0.0, factor: reciprocal_root(square[k] * scores) }
            }
        })
        .collect()
}
