//! One-against-rest machines on scaled features, in the primal regardless of their training.

pub(crate) mod on_scores;

use crate::classifier::{Output, Scaling};
use crate::learn::features::FeatureMap;
use crate::learn::features::scaler::{FeatureScaler, Scales};
use crate::learn::selection::choice::Verdict;
use crate::learn::solver::expansion::{KernelLearnError, Linear};
use crate::learn::solver::learner::{ClosedFormHeldOut, Learner};
use crate::learn::solver::loss::ClassWeight;
use crate::learn::solver::matrix::Matrix;
use crate::learn::solver::svm::LinearSvm;
use crate::parallel::{each, try_each};

/// Training examples of machines, one per window.
#[derive(Clone)]
pub(crate) struct Examples {
    /// Features, not scaled.
    pub(crate) rows: Matrix,
    pub(crate) labels: Vec<usize>,
    /// Samples.
    pub(crate) lengths: Vec<usize>,
}

impl Examples {
    /// Adds others after them.
    pub(crate) fn append(&mut self, others: &Self) {
        self.rows.append(&others.rows);
        self.labels.extend(&others.labels);
        self.lengths.extend(&others.lengths);
    }

    /// Some of them, in the order given.
    pub(crate) fn some(&self, of: &[usize]) -> Self {
        let pick = |all: &[usize]| of.iter().map(|&item| all[item]).collect();
        let (labels, lengths) = (pick(&self.labels), pick(&self.lengths));
        Self { rows: self.rows.some(of), labels, lengths }
    }

    /// Keeps the first `count` examples.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.rows.truncate(count);
        self.labels.truncate(count);
        self.lengths.truncate(count);
    }
}

/// Machines for each of several costs on features scaled alike.
pub(crate) struct Path {
    metric: FeatureScaler,
    /// `[cost][output]`.
    machines: Vec<Vec<Linear>>,
}

impl Path {
    /// Trains machines for rising values of C.
    pub(crate) fn train(
        learner: &Learner,
        examples: &Examples,
        map: &FeatureMap,
        scales: Scales,
        c: &[f64],
        (classes, weight): (usize, ClassWeight),
    ) -> Result<Self, KernelLearnError> {
        let Examples { rows, labels, lengths } = examples;
        let (metric, rows) = FeatureScaler::mapped(rows, lengths, map, scales)?;
        Ok(Self { machines: learner.path(&rows, labels, classes, c, weight)?, metric })
    }

    /// Decisions of machines in closed form on the first examples, each from training on the other groups, `[weight of codebooks
    /// and cost][example]`.
    ///
    /// The scaling is that of all these examples.
    pub(crate) fn held_out(
        machines: ClosedFormHeldOut,
        Examples { rows, labels, lengths }: &Examples,
        map: &FeatureMap,
        (scaling, weights): (Scaling, &[f64]),
        c: &[f64],
        groups: &[usize],
        classes: (usize, ClassWeight),
    ) -> Result<Vec<Vec<Verdict>>, KernelLearnError> {
        let (rows, labels) = (rows.first(groups.len()), &labels[..groups.len()]);
        let (_, scaled) =
            FeatureScaler::mapped(&rows, &lengths[..groups.len()], map, scaling.into())?;
        let of_weight = |&weight: &f64| {
            let mut own = scaled.clone();
            if weight != 1.0 {
                map.weigh_codebooks(&mut own, weight);
            }
            machines(&own, labels, groups, classes, c)
        };
        let outputs = try_each(weights.len(), &|index| of_weight(&weights[index]))?;
        let unknown = Verdict { right: false, lead: 0.0 };
        let verdicts = |outputs: &Vec<Vec<Option<Vec<f64>>>>, cost: usize| {
            let verdict = |(item, &label): (usize, &usize)| {
                let value = |output: &Vec<Option<Vec<f64>>>| Some(output[cost].as_ref()?[item]);
                let values: Option<Vec<f64>> = outputs.iter().map(value).collect();
                values.map_or(unknown, |values| Verdict::of(&values, label))
            };
            labels.iter().enumerate().map(verdict).collect()
        };
        let of_outputs = |outputs| (0..c.len()).map(move |cost| verdicts(outputs, cost));
        Ok(outputs.iter().flat_map(of_outputs).collect())
    }

    /// Machines of one cost, `[output]`, that were trained elsewhere on features of a scaling.
    pub(crate) fn of_machines(metric: FeatureScaler, machines: Vec<Linear>) -> Self {
        Self { metric, machines: vec![machines] }
    }

    /// Decisions on unscaled examples, `[cost][example]`.
    pub(crate) fn judge(&self, examples: &Examples) -> Vec<Vec<Verdict>> {
        let (mut rows, labels) = (examples.rows.clone(), &examples.labels);
        self.metric.apply(&mut rows);
        let judge = |outputs: &Vec<Linear>| {
            let outputs: Vec<LinearSvm> = outputs.iter().map(LinearSvm::of).collect();
            let verdict = |(row, &label): (&[f32], &usize)| {
                let values: Vec<f32> = outputs.iter().map(|output| output.value(row)).collect();
                Verdict::of(&values, label)
            };
            rows.rows().zip(labels).map(verdict).collect()
        };
        each(self.machines.len(), &|index| judge(&self.machines[index]))
    }

    /// The machines of the first cost as outputs over unscaled features.
    pub(crate) fn outputs(&self, map: &FeatureMap) -> Vec<Output> {
        let first = self.machines.first().into_iter().flatten();
        first
            .map(|machine| {
                let Linear { weights, bias } = self.metric.pull(machine);
                let (codewords, levels) = map.codebook_weights(&weights);
                let (codewords, levels) = (codewords.to_vec(), levels.to_vec());
                let (directions, weights) = map.directions(&weights).into_iter().unzip();
                Output { bias, weights, directions, codewords, levels }
            })
            .collect()
    }
}
