//! Expected sufficient statistics of sequences under a model: the one engine whose readers are
//! Baum-Welch and the Fisher score.

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::smooth::SequenceError;

use crate::batch::{Reader, Smoothed, each_smoothed};
use crate::data::SamplesView;
use crate::runtime::{Emissions, Hmm};

/// Expected sufficient statistics, of one sequence or summed over several.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectations {
    /// `log p(x_1..T)`, summed.
    pub log_likelihood: f64,
    /// `p(z_1 = i | x)`, `[state]`.
    pub initial: Vec<f64>,
    /// Expected transitions, `[from][to]`.
    pub pairs: Vec<Vec<f64>>,
    /// Expected emission statistics.
    pub emission: EmissionStatistics,
}

/// Expected statistics of the emissions over the observations that were not missing.
#[derive(Clone, Debug, PartialEq)]
pub enum EmissionStatistics {
    /// Expected counts of symbols.
    Categorical {
        /// `[state][symbol]`.
        counts: Vec<Vec<f64>>,
    },
    /// Expected moments about the model's means, which keeps their precision at any offset.
    Gaussian {
        /// `sum_t p(z_t = j | x)`, `[state]`.
        occupancy: Vec<f64>,
        /// `sum_t p(z_t = j | x) z`, where `z = (x - mean_j) / std_j`, `[state][channel]`.
        first: Vec<Vec<f64>>,
        /// `sum_t p(z_t = j | x) z^2`, `[state][channel]`.
        second: Vec<Vec<f64>>,
    },
}

impl Expectations {
    /// Nothing expected yet, in the shape of a model.
    #[must_use]
    pub fn zero(model: &Hmm) -> Self {
        let (states, size) = (model.states(), model.size());
        let table = || vec![vec![0.0; size]; states];
        Self {
            log_likelihood: 0.0,
            initial: vec![0.0; states],
            pairs: vec![vec![0.0; states]; states],
            emission: match model.emission {
                Emissions::Categorical { .. } => {
                    EmissionStatistics::Categorical { counts: table() }
                }
                Emissions::Gaussian { .. } => EmissionStatistics::Gaussian {
                    occupancy: vec![0.0; states],
                    first: table(),
                    second: table(),
                },
            },
        }
    }

    /// Observations expected in each state, `[state]`.
    #[must_use]
    pub fn occupancy(&self) -> Vec<f64> {
        match &self.emission {
            EmissionStatistics::Categorical { counts } => {
                counts.iter().map(|row| row.iter().sum()).collect()
            }
            EmissionStatistics::Gaussian { occupancy, .. } => occupancy.clone(),
        }
    }

    /// Adds the statistics of more sequences under the same model.
    pub fn add(&mut self, other: &Self) {
        fn add(to: &mut [f64], from: &[f64]) {
            for (to, from) in to.iter_mut().zip(from) {
                *to += from;
            }
        }
        fn add_rows(to: &mut [Vec<f64>], from: &[Vec<f64>]) {
            for (to, from) in to.iter_mut().zip(from) {
                add(to, from);
            }
        }
        self.log_likelihood += other.log_likelihood;
        add(&mut self.initial, &other.initial);
        add_rows(&mut self.pairs, &other.pairs);
        match (&mut self.emission, &other.emission) {
            (
                EmissionStatistics::Categorical { counts },
                EmissionStatistics::Categorical { counts: more },
            ) => add_rows(counts, more),
            (
                EmissionStatistics::Gaussian { occupancy, first, second },
                EmissionStatistics::Gaussian {
                    occupancy: more_occupancy,
                    first: more_first,
                    second: more_second,
                },
            ) => {
                add(occupancy, more_occupancy);
                add_rows(first, more_first);
                add_rows(second, more_second);
            }
            _ => debug_assert!(false, "statistics of two families"),
        }
    }
}

/// The expected statistics of each sequence under a valid model, in order; an impossible sequence
/// is an error in its place.
///
/// Forward-backward by the core, in `f64`, many sequences side by side (see [`batch`](crate::batch)).
/// RAM: `16 N` reals a step of a group. Work a sample: `4 N^2 + N` likelihoods and statistics.
#[must_use]
pub fn expectations(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Vec<Result<Expectations, SequenceError>> {
    each_smoothed(model, sequences, &Statistics)
}

/// Reads expected statistics.
struct Statistics;

impl Reader for Statistics {
    type Output = Expectations;

    fn read<'x, E: Accumulate, const N: usize>(
        &self,
        model: &Hmm,
        hmm: &CoreHmm<E, N>,
        samples: impl Iterator<Item = Option<&'x E::Observation>>,
        smoothed: &Smoothed<'_, N>,
    ) -> Expectations
    where
        E::Observation: 'x,
    {
        let mut expected = Expectations::zero(model);
        expected.log_likelihood = smoothed.log_likelihood;
        for (to, from) in expected.pairs.iter_mut().zip(&smoothed.pairs) {
            to.copy_from_slice(&from[..model.states()]);
        }
        if let Some(first) = smoothed.rows.first() {
            expected.initial.copy_from_slice(&first[..model.states()]);
        }
        let weighed = samples.zip(smoothed.rows).filter_map(|(x, row)| x.map(|x| (x, row)));
        E::collect(hmm.emission(), weighed, &mut expected.emission);
        expected
    }
}

/// How a family adds observations to its statistics.
pub(crate) trait Accumulate: Emission<Weight = f64> {
    /// Adds observations, each weighed by its posterior, `[state]`.
    fn collect<'x, const N: usize>(
        states: &[Self; N],
        samples: impl Iterator<Item = (&'x Self::Observation, &'x [f64; N])>,
        into: &mut EmissionStatistics,
    ) where
        Self::Observation: 'x;
}

impl Accumulate for crate::runtime::CategoricalVec<f64> {
    fn collect<'x, const N: usize>(
        _: &[Self; N],
        samples: impl Iterator<Item = (&'x u16, &'x [f64; N])>,
        into: &mut EmissionStatistics,
    ) {
        let EmissionStatistics::Categorical { counts } = into else { return };
        let size = counts.first().map_or(0, Vec::len);
        let mut by_symbol = vec![[0.0; N]; size];
        for (&symbol, posterior) in samples {
            let sums = &mut by_symbol[usize::from(symbol)];
            for (sum, weight) in sums.iter_mut().zip(posterior) {
                *sum += weight;
            }
        }
        for (state, counts) in counts.iter_mut().enumerate() {
            for (count, sums) in counts.iter_mut().zip(&by_symbol) {
                *count += sums[state];
            }
        }
    }
}

impl Accumulate for crate::runtime::GaussianVec<f64> {
    fn collect<'x, const N: usize>(
        states: &[Self; N],
        samples: impl Iterator<Item = (&'x [f64], &'x [f64; N])>,
        into: &mut EmissionStatistics,
    ) {
        let EmissionStatistics::Gaussian { occupancy, first, second } = into else { return };
        for (x, posterior) in samples {
            let tables = occupancy.iter_mut().zip(first.iter_mut()).zip(second.iter_mut());
            for (((occupancy, first), second), (state, &weight)) in
                tables.zip(states.iter().zip(posterior))
            {
                *occupancy += weight;
                let channels = x.iter().zip(&state.mean).zip(&state.rate);
                for (((x, mean), rate), (first, second)) in
                    channels.zip(first.iter_mut().zip(second))
                {
                    let z = (x - mean) * rate;
                    *first += weight * z;
                    *second += weight * z * z;
                }
            }
        }
    }
}
