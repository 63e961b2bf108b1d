//! Machines with a kernel on scaled scores that is not linear in them: in the dual, for nothing folds.

use crate::kernel::ScoreKernel;
use crate::parallel::each;

use crate::classifier::{Expansion, ExpansionKernel, WhiteningRows};
use crate::kernel::CrossGram;
use crate::learn::features::FeatureMap;
use crate::learn::features::scaler::{FeatureScaler, Scales};
use crate::learn::machine::Examples;
use crate::learn::selection::choice::Verdict;
use crate::learn::solver::expansion::{KernelLearnError, Linear};
use crate::learn::solver::learner::Learner;
use crate::learn::solver::loss::ClassWeight;
use crate::learn::solver::matrix::Matrix;
use crate::learn::solver::multi_class::KernelMachine;
use crate::learn::solver::nystrom::Nystrom;

/// Machines for each of several kernels and costs on features scaled alike.
pub(crate) struct ScorePath {
    metric: FeatureScaler,
    /// Rows of the training windows, unscaled.
    rows: Matrix,
    /// Rows of the training windows, scaled, as the kernels store them.
    stored: Vec<Vec<f64>>,
    machines: Vec<OnItems>,
}

/// Machines with a kernel for each of several costs.
struct OnItems {
    kernel: ScoreKernel,
    /// The training windows that the kernel is taken with: all, or the landmarks.
    items: Vec<usize>,
    /// `[cost]`.
    machines: Vec<KernelMachine>,
}

/// Scaled features of all rows.
fn scaled(metric: &FeatureScaler, rows: &Matrix) -> Vec<Vec<f64>> {
    let wide = |row: &[f32]| row.iter().copied().map(f64::from).collect::<Vec<f64>>();
    let rows: Vec<&[f32]> = rows.rows().collect();
    each(rows.len(), &|row| metric.map(&wide(rows[row])))
}

impl ScorePath {
    /// Trains machines for some kernels, which differ in a width at most, and values of C: on the Gram matrix, or on
    /// features by a number of landmarks.
    pub(crate) fn train(
        (learner, landmarks): (&Learner, Option<usize>),
        kernels: &[ScoreKernel],
        examples: &Examples,
        map: &FeatureMap,
        scales: Scales,
        c: &[f64],
        classes: (usize, ClassWeight),
    ) -> Result<Self, KernelLearnError> {
        let Examples { rows, labels, lengths } = examples;
        let metric = FeatureScaler::of(rows, lengths, map, scales)?;
        let mut stored = scaled(&metric, rows);
        if let Some(kernel) = kernels.first() {
            stored = stored.into_iter().map(|row| kernel.stored(row)).collect();
        }
        let mut machines = Vec::new();
        for &kernel in kernels {
            let value = |i: usize, j: usize| kernel.value(&stored[i], &stored[j]);
            machines.push(if let Some(most) = landmarks {
                let nystrom = Nystrom::of(stored.len(), most, value)?;
                let (classes, weight) = classes;
                let linear = learner.path(nystrom.features(), labels, classes, c, weight)?;
                let expanded = |outputs: &Vec<Linear>| KernelMachine {
                    outputs: outputs.iter().map(|output| nystrom.expansion(output)).collect(),
                };
                let machines = linear.iter().map(expanded).collect();
                OnItems { kernel, items: nystrom.landmarks().to_vec(), machines }
            } else {
                let on_gram = learner.on_gram();
                let gram = on_gram.gram(stored.len(), value);
                let machines = KernelMachine::path(on_gram, &gram, labels, classes, c)?;
                OnItems { kernel, items: (0..stored.len()).collect(), machines }
            });
        }
        Ok(Self { metric, rows: rows.clone(), stored, machines })
    }

    /// A machine that was trained elsewhere on some of the items.
    pub(crate) fn of_machine(
        metric: FeatureScaler,
        rows: Matrix,
        (kernel, items): (ScoreKernel, Vec<usize>),
        machine: KernelMachine,
    ) -> Self {
        let machines = vec![OnItems { kernel, items, machines: vec![machine] }];
        Self { metric, rows, stored: Vec::new(), machines }
    }

    /// Decisions on unscaled examples, `[kernel and cost][example]`.
    pub(crate) fn judge(&self, Examples { rows, labels, .. }: &Examples) -> Vec<Vec<Verdict>> {
        let mut new = scaled(&self.metric, rows);
        if let Some(one) = self.machines.first() {
            new.iter_mut().for_each(|row| one.kernel.prepare(row));
        }
        let mut judged = Vec::new();
        for OnItems { kernel, items, machines } in &self.machines {
            let cross = CrossGram::from_fn(new.len(), items.len(), |i, j| {
                kernel.value(&new[i], &self.stored[items[j]])
            });
            for machine in machines {
                let verdict = |(row, &label): (usize, &usize)| {
                    Verdict::of(&machine.values(cross.row(row)), label)
                };
                judged.push(labels.iter().enumerate().map(verdict).collect());
            }
        }
        judged
    }

    /// The first machine, on the whole scores of a device, with the training windows, or landmarks, for items.
    ///
    /// Entries of a score that do not move are no features; on the device they are there, and their
    /// part of the whitening is zero.
    pub(crate) fn expansion(&self, map: &FeatureMap) -> Option<Expansion> {
        let OnItems { kernel, items, machines } = self.machines.first()?;
        let places = map.places();
        let whole = |features: &[f64]| -> Vec<f64> {
            places.iter().map(|place| place.map_or(0.0, |k| features[k])).collect()
        };
        let affine = self.metric.affine(map.len());
        let whitening = match affine.diagonal() {
            Some(rate) => WhiteningRows::Diagonal(whole(&rate)),
            None => WhiteningRows::Full(
                places
                    .iter()
                    .map(|place| place.map_or(vec![0.0; places.len()], |k| whole(&affine.rows[k])))
                    .collect(),
            ),
        };
        let item = |row: &[f32]| whole(&row.iter().copied().map(f64::from).collect::<Vec<f64>>());
        let of_scores = ExpansionKernel::Scores {
            likelihood: map.with_likelihood(),
            centre: whole(&affine.centre),
            whitening,
            kernel: *kernel,
            items: items.iter().map(|&one| item(self.rows.row(one))).collect(),
        };
        Some(machines.first()?.expansion_on(of_scores))
    }
}
