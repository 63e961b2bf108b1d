use std::fmt;

use serde::Serialize;

use super::{counted, grouped};
use crate::parts::{ExpectedSums, PartError};

/// Leaves of a model that are summed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummedLeaves {
    /// Name of the model.
    pub model: String,
    /// Sequences of the whole data set that the model is of.
    pub sequences: usize,
    /// Leaves summed.
    pub summed: usize,
    /// Leaves of the whole data set.
    pub leaves: usize,
    /// Log-likelihood of all sequences under the model before the step, in nats; `None` while leaves are missing.
    pub log_likelihood: Option<f64>,
}

/// Result of `expect` and `merge`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartReport {
    /// Name of the file of data, or the number of parts, in words.
    pub source: String,
    /// Description of the output.
    pub what: String,
    /// Models in order.
    pub models: Vec<SummedLeaves>,
    /// File written.
    pub output: String,
}

impl PartReport {
    /// Report on sums; log-likelihoods are those of whole sums.
    ///
    /// # Errors
    /// [`PartError`] of sums whose leaves are of other data than they claim.
    pub fn new(
        source: String,
        what: String,
        sums: &ExpectedSums,
        output: String,
    ) -> Result<Self, PartError> {
        let models = sums.of_models().iter().map(|one| {
            let whole = one.summed() == one.leaves();
            let total = whole.then(|| one.total()).transpose()?;
            Ok(SummedLeaves {
                model: one.name().to_owned(),
                sequences: one.sequences(),
                summed: one.summed(),
                leaves: one.leaves(),
                log_likelihood: total.flatten().map(|total| total.log_likelihood),
            })
        });
        Ok(Self { source, what, models: models.collect::<Result<_, PartError>>()?, output })
    }
}

impl fmt::Display for PartReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.models {
            let (summed, leaves) = (grouped(one.summed), grouped(one.leaves));
            let series = counted(one.sequences, "series");
            write!(f, "{}: {summed} of {leaves} leaves, of {series}", one.model)?;
            match one.log_likelihood {
                Some(log) => writeln!(f, ", log-likelihood {log:.3}")?,
                None => writeln!(f)?,
            }
        }
        writeln!(f, "{} of {}: written to {}", self.what, self.source, self.output)
    }
}
