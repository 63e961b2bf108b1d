//! Sets of records: their kernel, their distance, tests of whether they are alike, and a few records that
//! stand for many.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{NetworkError, NetworkFisher};
use crate::records::Records;
use fishweir::internals::each;

/// The mean feature of a set of records, as a table of centred counts.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanFeature {
    records: usize,
    /// `true` if every record is complete.
    whole: bool,
    /// `(n_ijk - n_ij theta_ijk) / n`.
    deviation: Vec<f64>,
}

impl MeanFeature {
    /// Records in the set.
    pub fn records(&self) -> usize {
        self.records
    }
}

/// Result of a test of two sets of records, or of one against the network.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SampleTest {
    /// The squared maximum mean discrepancy.
    pub mmd_squared: f64,
    /// `N M / (N + M)` times that; `N` times against the network.
    pub statistic: f64,
    /// Degrees of freedom of its limit, a chi-squared distribution.
    pub degrees: usize,
    /// The probability of such a statistic or a larger one where both are drawn from the network: in the
    /// limit of many records. `None` where fields are missing: expected features vary less, and the limit is
    /// another.
    pub p_limit: Option<f64>,
    /// Value by permutations, for any distribution of the two; `None` if none were requested.
    pub p_permutations: Option<f64>,
    /// Contribution of each node to the squared discrepancy.
    pub by_node: Vec<f64>,
}

/// Records that stand for all, found by exchanging one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Representatives {
    /// Indices of the records, from 0.
    pub indices: Vec<usize>,
    /// The squared discrepancy between these and all.
    pub objective: f64,
    /// Objective at the start and after each pass; the last pass changed nothing.
    pub trace: Vec<f64>,
}

/// Least decrease of the objective by an exchange, relative to its terms: less is rounding.
const STRICTLY: f64 = 1e-12;

impl NetworkFisher {
    /// The mean feature of records.
    ///
    /// # Errors
    /// No record; else as [`NetworkFisher::counts`].
    pub fn mean(&self, records: &Records) -> Result<MeanFeature, NetworkError> {
        if records.is_empty() {
            return Err(NetworkError::NoRecords("a set needs one"));
        }
        let mean = self.mean_of(&self.counts(records)?, records.len());
        Ok(MeanFeature { whole: records.missing() == 0, ..mean })
    }

    /// Mean feature of complete records.
    fn mean_of(&self, counts: &[f64], records: usize) -> MeanFeature {
        let mut deviation = self.centre(counts);
        deviation.iter_mut().for_each(|entry| *entry /= records as f64);
        MeanFeature { records, whole: true, deviation }
    }

    /// The kernel of two sets, the mean of the kernels of their pairs: `K(X, Y) = 1/(NM) sum K(x, y)`.
    pub fn set_kernel(&self, x: &MeanFeature, y: &MeanFeature) -> f64 {
        self.product(&x.deviation, &y.deviation)
    }

    /// Contribution of each node to [`set_kernel`](Self::set_kernel).
    pub fn set_kernel_by_node(&self, x: &MeanFeature, y: &MeanFeature) -> Vec<f64> {
        let shape = self.network().shape();
        let of_node = |node| {
            let terms = shape
                .cells(node)
                .map(|cell| x.deviation[cell] * y.deviation[cell] * self.precision()[cell]);
            terms.sum()
        };
        (0..shape.nodes()).map(of_node).collect()
    }

    /// The squared distance of the mean features, `K(X, X) + K(Y, Y) - 2 K(X, Y)`: the squared maximum
    /// mean discrepancy, from differences, so that nothing cancels.
    ///
    /// Source: Gretton, Borgwardt, Rasch, Schölkopf and Smola, "A kernel two-sample test", 2012.
    pub fn mmd_squared(&self, x: &MeanFeature, y: &MeanFeature) -> f64 {
        let difference = difference(x, y);
        self.set_kernel(&difference, &difference)
    }

    /// Tests whether records are drawn from the network: Rao's score test.
    ///
    /// `N |mean phi|^2` is in the limit chi-squared with [`dimension`](NetworkFisher::dimension) degrees of freedom.
    pub fn test_against_network(&self, x: &MeanFeature) -> SampleTest {
        let by_node = self.set_kernel_by_node(x, x);
        self.tested(by_node, x.records as f64, x.whole, None)
    }

    /// Tests whether two sets are drawn from one distribution.
    ///
    /// If that is the network's, `NM/(N + M)` times the squared discrepancy is in the limit chi-squared. If it is another, the
    /// limit is wrong and the permutations are right: the p-value is the share, among `permutations` random divisions of all
    /// records into `N` and `M` (drawn with `seed`) and the given division, of those whose statistic is as large.
    ///
    /// Work of a permutation: one count per node and record, and five operations per cell.
    ///
    /// # Errors
    /// As [`mean`](Self::mean), records of `y` counted on from those of `x`; permutations of records with
    /// missing fields are refused.
    pub fn two_sample_test(
        &self,
        x: &Records,
        y: &Records,
        permutations: usize,
        seed: u64,
    ) -> Result<SampleTest, NetworkError> {
        let of_y = |error: NetworkError| error.at_record(|record| x.len() + record);
        let (of_x, of_y) = (self.mean(x)?, self.mean(y).map_err(of_y)?);
        let difference = difference(&of_x, &of_y);
        let by_node = self.set_kernel_by_node(&difference, &difference);
        let (n, m) = (x.len() as f64, y.len() as f64);
        let mut p = None;
        if permutations > 0 {
            let all = self.all_cells([x, y])?;
            // As a sum over the same counts in the same order as theirs: a division that is the given one
            // again has the same bits.
            let observed = self.divided(&all, &(0..all.len()).collect::<Vec<_>>(), x.len());
            let as_large = each(permutations, &|permutation| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(permutation as u64);
                let mut order: Vec<usize> = (0..all.len()).collect();
                order.shuffle(&mut random);
                self.divided(&all, &order, x.len()) >= observed * (1.0 - STRICTLY)
            });
            let as_large = as_large.into_iter().filter(|&large| large).count();
            p = Some((1 + as_large) as f64 / (1 + permutations) as f64);
        }
        Ok(self.tested(by_node, n * m / (n + m), difference.whole, p))
    }

    fn tested(
        &self,
        by_node: Vec<f64>,
        factor: f64,
        whole: bool,
        p_permutations: Option<f64>,
    ) -> SampleTest {
        let mmd_squared = by_node.iter().sum::<f64>();
        let (statistic, degrees) = (factor * mmd_squared, self.dimension());
        // Where nothing can vary there is no such distribution, and no deviation.
        let limit = || ChiSquared::new(degrees as f64).map_or(1.0, |limit| limit.sf(statistic));
        let p_limit = whole.then(limit);
        SampleTest { mmd_squared, statistic, degrees, p_limit, p_permutations, by_node }
    }

    /// The cells of whole records, one set after the other; in errors their records are counted on.
    pub(super) fn all_cells<const S: usize>(
        &self,
        sets: [&Records; S],
    ) -> Result<Vec<Vec<usize>>, NetworkError> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        for records in sets {
            let before = all.len();
            let at = |error: NetworkError| error.at_record(|record| before + record);
            self.network().check(records).map_err(at)?;
            for (index, record) in records.rows().enumerate() {
                let missing = || {
                    let node = record.iter().position(|&v| v == crate::records::MISSING);
                    let node = self.network().name(node.unwrap_or(0)).to_owned();
                    NetworkError::Missing { record: before + index, node }
                };
                all.push(self.cells(before + index, record)?.ok_or_else(missing)?);
            }
        }
        Ok(all)
    }

    /// The squared discrepancy between the first `n` of an order and the others.
    fn divided(&self, all: &[Vec<usize>], order: &[usize], n: usize) -> f64 {
        let mut counts = vec![0.0; self.precision().len()];
        let (first, second) = (1.0 / n as f64, -1.0 / (all.len() - n) as f64);
        for (place, &index) in order.iter().enumerate() {
            let by = if place < n { first } else { second };
            all[index].iter().for_each(|&cell| counts[cell] += by);
        }
        let difference = self.centre(&counts);
        self.product(&difference, &difference)
    }

    /// The squared discrepancy of some records, by number, from all.
    ///
    /// # Errors
    /// As [`representatives`](Self::representatives).
    pub fn discrepancies(
        &self,
        records: &Records,
        subsets: &[Vec<usize>],
    ) -> Result<Vec<f64>, NetworkError> {
        let (cells, mean) = (self.all_cells([records])?, self.mean(records)?);
        for subset in subsets {
            check_indices(subset, records.len())?;
        }
        Ok(each(subsets.len(), &|index| {
            self.objective(&self.sum_counts(&cells, &subsets[index]), subsets[index].len(), &mean)
        }))
    }

    fn sum_counts(&self, cells: &[Vec<usize>], indices: &[usize]) -> Vec<f64> {
        let mut counts = vec![0.0; self.precision().len()];
        for &index in indices {
            cells[index].iter().for_each(|&cell| counts[cell] += 1.0);
        }
        counts
    }

    fn objective(&self, counts: &[f64], records: usize, mean: &MeanFeature) -> f64 {
        self.mmd_squared(&self.mean_of(counts, records), mean)
    }

    /// Whole records whose mean feature is close to that of all, from a start: the places are visited one
    /// after the other, and the record there is exchanged for the one, not chosen already, that brings the
    /// mean closest, where that is strictly closer; of equals the first. It ends after a pass without an
    /// exchange.
    ///
    /// With `R` the deviation without the place, a candidate's objective is
    /// `|R|^2 + 2/k R . phi_c + K(c, c) / k^2`: a look-up per node. A place costs an operation a cell and a
    /// look-up a node of each record.
    ///
    /// Source: Leppä-aho, Silander and Roos 2020, algorithm 1.
    ///
    /// # Errors
    /// No start, an index twice or that no record has, a record with missing fields or an impossible one.
    pub fn representatives(
        &self,
        records: &Records,
        start: &[usize],
    ) -> Result<Representatives, NetworkError> {
        check_indices(start, records.len())?;
        let (cells, mean) = (self.all_cells([records])?, self.mean(records)?);
        let own: Vec<f64> = cells.iter().map(|cells| self.pair(cells, cells)).collect();
        let (mut indices, k) = (start.to_vec(), start.len() as f64);
        let mut chosen = vec![false; records.len()];
        indices.iter().for_each(|&index| chosen[index] = true);
        let mut counts = self.sum_counts(&cells, &indices);
        let mut trace = vec![self.objective(&counts, indices.len(), &mean)];
        loop {
            let mut changed = false;
            for place in &mut indices {
                cells[*place].iter().for_each(|&cell| counts[cell] -= 1.0);
                let mut without = self.centre(&counts);
                for (entry, mean) in without.iter_mut().zip(&mean.deviation) {
                    *entry = *entry / k - mean;
                }
                let rest = self.product(&without, &without);
                for (entry, inverse) in without.iter_mut().zip(self.precision()) {
                    *entry *= inverse;
                }
                let cost = |candidate: usize| {
                    let product: f64 = cells[candidate].iter().map(|&cell| without[cell]).sum();
                    (2.0 * product + own[candidate] / k) / k
                };
                let before = cost(*place);
                let enough = before - STRICTLY * (rest + before.abs());
                let mut best = (enough, *place);
                for candidate in (0..cells.len()).filter(|&candidate| !chosen[candidate]) {
                    let cost = cost(candidate);
                    if cost < best.0 {
                        best = (cost, candidate);
                    }
                }
                let (_, candidate) = best;
                if candidate != *place {
                    (chosen[*place], chosen[candidate]) = (false, true);
                    (*place, changed) = (candidate, true);
                }
                cells[*place].iter().for_each(|&cell| counts[cell] += 1.0);
            }
            trace.push(self.objective(&counts, indices.len(), &mean));
            if !changed {
                let objective = trace.last().copied().unwrap_or(0.0);
                return Ok(Representatives { indices, objective, trace });
            }
        }
    }
}

/// The difference of two mean features.
fn difference(x: &MeanFeature, y: &MeanFeature) -> MeanFeature {
    let deviation = x.deviation.iter().zip(&y.deviation).map(|(x, y)| x - y).collect();
    MeanFeature { records: x.records + y.records, whole: x.whole && y.whole, deviation }
}

/// Checks which records are meant.
fn check_indices(indices: &[usize], records: usize) -> Result<(), NetworkError> {
    let mut seen = vec![false; records];
    for &index in indices {
        match seen.get_mut(index) {
            None => {
                let what = format!("there is no record {index}, only {records} from 0");
                return Err(NetworkError::Other(what));
            }
            Some(true) => {
                return Err(NetworkError::Other(format!("record {index} is chosen twice")));
            }
            Some(seen) => *seen = true,
        }
    }
    if indices.is_empty() {
        return Err(NetworkError::NoRecords("choose one at least"));
    }
    Ok(())
}

/// Draws subsets of `k` different records of `n`, at random, `draws` times.
///
/// # Errors
/// Fewer records than are to be chosen, or none to choose.
pub fn random_subsets(
    n: usize,
    k: usize,
    draws: usize,
    seed: u64,
) -> Result<Vec<Vec<usize>>, NetworkError> {
    if k == 0 || k > n {
        let range = "1 to the number of records";
        return Err(NetworkError::Setting {
            name: "the number of representatives",
            value: k as f64,
            range,
        });
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all: Vec<usize> = (0..n).collect();
    Ok((0..draws).map(|_| all.partial_shuffle(&mut random, k).0.to_vec()).collect())
}
