//! Probability products of Markov chains of any order.

use fishweir::kernel::between::{Affinity, MarkovKernel, ModelKernel};
use fishweir::model::MarkovModel;
use serde::Deserialize;
use serde_json::Value;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::rounding::Tolerance;

pub(super) struct MarkovProducts;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    chain: Chain,
    chain2: Chain,
    lengths: Vec<usize>,
    rhos: Row,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chain {
    order: usize,
    initial: Row,
    transition: Value,
    #[serde(default)]
    second: Matrix,
}

impl Chain {
    /// A model with start markers: the first symbols have contexts of their own.
    fn model(self) -> Result<MarkovModel, String> {
        let symbols = self.initial.len();
        let marker = symbols as u16;
        let wrong = |error: serde_json::Error| format!("transition: {error}");
        let mut contexts = vec![vec![marker; self.order]];
        let mut rows = vec![self.initial];
        let all = 0..marker;
        match self.order {
            1 if self.second.is_empty() => {
                contexts.extend(all.map(|symbol| vec![symbol]));
                rows.extend(serde_json::from_value::<Matrix>(self.transition).map_err(wrong)?);
            }
            2 => {
                contexts.extend(all.clone().map(|symbol| vec![marker, symbol]));
                rows.extend(self.second);
                contexts.extend(all.clone().flat_map(|a| all.clone().map(move |b| vec![a, b])));
                let table: Vec<Matrix> = serde_json::from_value(self.transition).map_err(wrong)?;
                rows.extend(table.into_iter().flatten());
            }
            order => return Err(format!("no chain of order {order}")),
        }
        MarkovModel::new(symbols, false, contexts, rows).map_err(|error| error.to_string())
    }
}

impl Kind for MarkovProducts {
    type Inputs = Inputs;

    /// All of it is the host's, in `f64`.
    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let (a, b) = (inputs.chain.model()?, inputs.chain2.model()?);
        let (mut logs, mut values, mut cosines) = (Matrix::new(), Matrix::new(), Matrix::new());
        for &length in &inputs.lengths {
            let (mut log_row, mut value_row, mut cosine_row) = (vec![], vec![], vec![]);
            for &rho in &inputs.rhos {
                let kernel = MarkovKernel::new(Affinity::Product { rho }, length);
                let kernel = kernel.map_err(|error| error.to_string())?;
                let log = |a, b| kernel.log_value(a, b).map_err(|error| error.to_string());
                let both = log(&a, &b)?;
                log_row.push(both);
                value_row.push(both.exp());
                cosine_row.push((both - 0.5 * (log(&a, &a)? + log(&b, &b)?)).exp());
            }
            logs.push(log_row);
            values.push(value_row);
            cosines.push(cosine_row);
        }
        comparison.field("log_value", logs, Tolerance::EXACT);
        comparison.field("value", values, Tolerance::EXACT);
        comparison.field("cosine", cosines, Tolerance::EXACT);
        Ok(())
    }
}
