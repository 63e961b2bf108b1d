//! Context tree weighting.

use fishweir_core::context::ContextTree;
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::{at, doubles};
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::rounding::Tolerance;

pub(super) struct ContextTrees;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    alphabet_size: usize,
    depth: usize,
    alpha: f64,
    stop: f64,
    past: Vec<usize>,
    sequence: Vec<usize>,
    test_past: Vec<usize>,
    test: Vec<usize>,
}

impl Kind for ContextTrees {
    type Inputs = Inputs;

    /// A weight is off by the roundings of all ratios before it, `K + 8` each; a prediction mixes `D + 1` of them.
    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let wrong = |error: fishweir_core::ObservationError| error.to_string();
        let (symbols, depth) = (inputs.alphabet_size, inputs.depth);
        let nodes = (inputs.sequence.len() * depth + 1).min(usize::from(u16::MAX));
        let (mut child, mut count) = (vec![0; nodes * symbols], vec![T::ZERO; nodes * symbols]);
        let mut ratio = vec![T::ZERO; nodes];
        let [alpha, stop] = [inputs.alpha, inputs.stop].map(T::from_f64);
        let (child, count, ratio) = (&mut child[..], &mut count[..], &mut ratio[..]);
        let mut tree = ContextTree::new(symbols, depth, alpha, stop, child, count, ratio)
            .map_err(|error| error.to_string())?;
        let predict = |tree: &ContextTree<'_, T>| {
            let mut row = vec![T::ZERO; symbols];
            tree.predict(&mut row);
            doubles(&row)
        };
        inputs.past.iter().try_for_each(|&symbol| tree.observe(symbol)).map_err(wrong)?;
        let (mut predictive, mut steps, mut total) = (Matrix::new(), Row::new(), Row::new());
        for &symbol in &inputs.sequence {
            predictive.push(predict(&tree));
            steps.push(tree.push(symbol).map_err(wrong)?.to_f64());
            total.push(tree.log_probability().to_f64());
        }
        let forecast = predict(&tree);
        predictive.push(forecast.clone());
        let root = tree.root_weight().to_f64();
        tree.forget_past();
        inputs.test_past.iter().try_for_each(|&symbol| tree.observe(symbol)).map_err(wrong)?;
        let (mut frozen, mut frozen_log, mut log) = (Matrix::new(), Row::new(), 0.0);
        for &symbol in &inputs.test {
            let row = predict(&tree);
            log += row.get(symbol).copied().unwrap_or(0.0).ln();
            frozen.push(row);
            frozen_log.push(log);
            tree.observe(symbol).map_err(wrong)?;
        }
        let length = inputs.sequence.len() as f64;
        let each = T::ROUNDING * (symbols as f64 + 8.0) * (depth + 1) as f64;
        let probability = Tolerance::absolute(each * length.sqrt().max(4.0));
        let least = total.last().map_or(1.0, |log: &f64| log.abs());
        let logs = Tolerance::absolute(each * (length + least));
        let last = total.last().copied().unwrap_or(0.0);
        comparison.field("log_likelihood", last, logs);
        comparison.field("root_weight", root, probability);
        comparison.field("frozen_predictive", frozen, probability);
        comparison.field("frozen_log_probability", frozen_log, logs);
        comparison.field("forecast", forecast, probability);
        if let Some(indices) = comparison.read::<Vec<usize>>("indices")? {
            comparison.field("log_probability_at", at(&indices, &total)?, logs);
            comparison.field("log_predictive_at", at(&indices, &steps)?, logs);
            comparison.field("predictive_at", at(&indices, &predictive)?, probability);
        }
        comparison.field("log_probability", total, logs);
        comparison.field("log_predictive", steps, logs);
        comparison.field("predictive", predictive, probability);
        Ok(())
    }
}
