//! Tables from records with missing fields.

use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::{Inference, Network, NetworkError, Shape, Width};
use super::counts::ExpectedCounts;
use super::parameters::{Prior, check_records, count};
use crate::records::{MISSING, Records, Variable};
use fishweir::internals::Elementary;
use fishweir::internals::each;
use fishweir::sums::{LEAF, Sums};

/// Leaves of records whose expected counts are in memory at a time.
const AT_ONCE: usize = 64;

/// Expectation-maximisation of a network's tables from records with missing fields, which are taken to be
/// missing at random; a node that no record has is hidden.
///
/// It begins at the estimate from the records that have a node and its parents; rows of which there is
/// none begin at random, by `seed`, so that the states of a hidden node part. Each pass raises the
/// objective, the log-likelihood plus the prior's `sum a_ijk log theta_ijk`.
///
/// Source: Lauritzen, "The EM algorithm for graphical association models with missing data", 1995.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectationMaximisation {
    /// The prior of the tables.
    pub prior: Prior,
    /// Largest number of passes.
    pub passes: usize,
    /// Rise of the objective, relative to its size, below which the fit ends.
    pub tolerance: f64,
    /// Seed of the random rows at the start.
    pub seed: u64,
    /// Largest size of a clique.
    pub most: Width,
}

impl Default for ExpectationMaximisation {
    fn default() -> Self {
        let (prior, most) = (Prior::PseudoCount(1.0), Width::default());
        Self { prior, passes: 200, tolerance: 1e-6, seed: 1, most }
    }
}

/// Result of expectation-maximisation.
#[derive(Clone, Debug, PartialEq)]
pub struct EmFit {
    /// The network.
    pub network: Network,
    /// The objective before each pass and after the last.
    pub objective: Vec<f64>,
    /// The log-likelihood of the records under the network.
    pub log_likelihood: f64,
    /// `true` if the objective had stopped rising.
    pub converged: bool,
}

impl ExpectationMaximisation {
    /// Fits the tables of a graph.
    ///
    /// Work of a pass: a posterior of each different record with missing fields.
    ///
    /// # Errors
    /// [`NetworkError`]: a graph that is invalid or too wide, records that do not fit, a prior out of range,
    /// a record that zeros at the start make impossible.
    pub fn fit(
        &self,
        variables: &[Variable],
        parents: &[Vec<usize>],
        records: &Records,
    ) -> Result<EmFit, NetworkError> {
        self.prior.validate()?;
        let shape = Shape::new(variables, parents.to_vec())?;
        check_records(variables, records)?;
        if records.is_empty() {
            return Err(NetworkError::NoRecords("tables are learnt from some"));
        }
        let given = records;
        let (records, weights) = records.distinct();
        // A record of the distinct ones by its first place among those given.
        let place = |record: usize| {
            given.rows().position(|row| row == records.row(record)).unwrap_or(record)
        };
        let mut theta = self.start(&shape, &records, &weights);
        let mut objective = Vec::new();
        loop {
            let network = Network::of_cells(variables.to_vec(), shape.clone(), theta)?;
            let (counts, log_likelihood) = self
                .expected(&network, &records, &weights)
                .map_err(|error| error.at_record(place))?;
            objective.push(log_likelihood + self.log_prior(&network));
            let converged = match objective[..] {
                [.., before, now] => now - before <= self.tolerance * now.abs(),
                _ => records.missing() == 0,
            };
            if objective.len() > 1 && (converged || objective.len() > self.passes) {
                return Ok(EmFit { network, objective, log_likelihood, converged });
            }
            theta = self.prior.estimate(&shape, &counts);
        }
    }

    fn start(&self, shape: &Shape, records: &Records, weights: &[u32]) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut counts = if weights.iter().all(|&weight| weight == 1) {
            count(shape, records)
        } else {
            let repeated = records
                .rows()
                .zip(weights)
                .flat_map(|(record, &weight)| std::iter::repeat_n(record, weight as usize));
            count(shape, &Records::of_rows(records.columns(), repeated))
        };
        for (_, _, cells) in shape.every_row() {
            let row = &mut counts[cells];
            if row.iter().sum::<f64>() == 0.0 {
                row.iter_mut().for_each(|entry| *entry = 0.5 + random.random::<f64>());
            }
        }
        // No zero but the prior's own: what a zero rules out no pass brings back.
        let prior = match self.prior {
            Prior::PseudoCount(count) => Prior::PseudoCount(count.max(1e-3)),
            Prior::Equivalent(count) => Prior::Equivalent(count.max(1e-3)),
        };
        prior.estimate(shape, &counts)
    }

    fn log_prior(&self, network: &Network) -> f64 {
        let shape = network.shape();
        let of_node = |node: usize| {
            let added = self.prior.of_cell(shape.cells(node).len());
            let log = |theta: &f64| if added > 0.0 { added * theta.portable_ln() } else { 0.0 };
            network.table(node).iter().map(log).sum::<f64>()
        };
        (0..shape.nodes()).map(of_node).sum()
    }

    /// Expected counts and the log-likelihood.
    fn expected(
        &self,
        network: &Network,
        records: &Records,
        weights: &[u32],
    ) -> Result<(Vec<f64>, f64), NetworkError> {
        let leaves = records.len().div_ceil(LEAF);
        let mut sums = Sums::new();
        // Some at a time: each keeps counts of all cells until it is added.
        for from in (0..leaves).step_by(AT_ONCE) {
            let some = from..leaves.min(from + AT_ONCE);
            for (leaf, sum) in some.clone().zip(self.sums(network, records, weights, some)?) {
                // Each leaf comes once.
                let _ = sums.insert(leaf, 0, sum);
            }
        }
        let total = sums.total(leaves).ok().flatten();
        let total = total.unwrap_or_else(|| ExpectedCounts::zero(network.shape().all_cells()));
        Ok((total.counts, total.log_likelihood))
    }

    /// Expected counts of each of some leaves of the records, in order.
    pub(super) fn sums(
        &self,
        network: &Network,
        records: &Records,
        weights: &[u32],
        leaves: Range<usize>,
    ) -> Result<Vec<ExpectedCounts>, NetworkError> {
        let inference = match records.missing() {
            0 => None,
            _ => Some(Inference::of(network, self.most)?),
        };
        let shape = network.shape();
        let parts = each(leaves.len(), &|task| {
            let mut sum = ExpectedCounts::zero(shape.all_cells());
            let ExpectedCounts { counts, log_likelihood } = &mut sum;
            let first = (leaves.start + task) * LEAF;
            let all = records.rows().zip(weights).enumerate();
            for (index, (record, &weight)) in all.skip(first).take(LEAF) {
                let weight = f64::from(weight);
                let impossible = NetworkError::Impossible { record: index, node: None };
                let log = match &inference {
                    Some(inference) if record.contains(&MISSING) => {
                        let posterior = inference.posterior(record).ok_or(impossible)?;
                        let families = posterior.families();
                        counts.iter_mut().zip(families).for_each(|(sum, p)| *sum += weight * p);
                        posterior.log_evidence()
                    }
                    _ => {
                        let cells = (0..shape.nodes()).filter_map(|node| shape.cell(node, record));
                        let of_cell = |cell: usize| {
                            counts[cell] += weight;
                            network.theta()[cell].portable_ln()
                        };
                        cells.map(of_cell).sum()
                    }
                };
                *log_likelihood += weight * log;
            }
            Ok::<_, NetworkError>(sum)
        });
        parts.into_iter().collect()
    }
}
