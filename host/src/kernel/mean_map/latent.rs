use super::Rbf;
use super::mixing::Mixing;
use super::rbf::squared_distance;
use crate::batch::{Expectations, expectations, posteriors};
use crate::data::SamplesView;
use crate::elementary::Elementary;
use crate::kernel::{Gram, Kernel, KernelError, ScoreKernel, gram_of_features, inner_product};
use crate::model::NoScore;
use crate::runtime::Hmm;

/// Cliques of a hidden Markov model whose means a [`LatentMap`] compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cliques {
    /// A sample and its hidden state: `v_xq`.
    Emissions,
    /// A hidden state and the next: `v_qq`.
    Transitions,
    /// All of these; their kernels are added.
    #[default]
    All,
}

impl Cliques {
    fn emissions(self) -> bool {
        self != Self::Transitions
    }

    fn transitions(self) -> bool {
        self != Self::Emissions
    }
}

/// The latent mean map kernel of one or several hidden Markov models, whose kernels are added: a radial
/// basis function of samples and hidden states, expected given the two sequences.
///
/// ```text
/// v_xq = 1 / (T T') sum_{s,t} k(x_s, y_t) sum_{i,j} gamma_s(i) gamma'_t(j) l(i, j)
/// v_qq = sum_{i,j} sum_{i',j'} xi(i, j) xi'(i', j') l(i, i') l(j, j'),  xi(i, j) = sum_t xi_t(i, j) / (T - 1)
/// K    = v_xq + v_qq,     or     exp( -nu (K_xx - 2 K_xy + K_yy) )
/// ```
///
/// `l` is one for equal states and `m` for others, and so is `k` for symbols; of channels it is the radial
/// basis function itself. A missing sample has no `k` with any other and has its place in `T`; a sequence of
/// one sample has a `v_qq` of zero with all.
///
/// Of symbols the kernel is an inner product of [features](Self::features): expected counts of symbols
/// and states, and of transitions, each index mixed; without mixing, at an infinite rate, `v_xq` is the
/// [marginalised count kernel](crate::kernel::CountKernel). A linear machine on them folds the mixing into
/// its weights and compiles to a direction. Channels, and exponentiated maps, do not compile.
///
/// Source: Mehta and Gray, "Generative and Latent Mean Map Kernels", 2010, section 4 (the second sum of equations 8 and 9 is over
/// `j != i`). Work: that of forward-backward, `K N + N^2` multiply-adds per sequence, and as many per pair; of
/// channels `T T' (D + N)` multiply-adds and `T T'` exponentials per pair. RAM: `K N + N^2` reals per sequence, or
/// `T N + N^2`.
#[derive(Clone, Copy, Debug)]
pub struct LatentMap<'m> {
    /// The models.
    pub models: &'m [Hmm],
    /// Radial basis function of a distance, of samples and of states.
    pub rbf: Rbf,
    /// Cliques whose means are compared.
    pub cliques: Cliques,
    /// The rate `nu` at which the kernel is exponentiated; `None` is the kernel itself.
    pub nu: Option<f64>,
}

impl LatentMap<'_> {
    /// Features of sequences of symbols whose inner products are the kernel, before it is exponentiated: model
    /// by model `[state][symbol]` and then `[from][to]`, those of the cliques asked for.
    ///
    /// # Errors
    /// [`KernelError`] for a model of channels, and naming a sequence that a model makes impossible.
    pub fn features(&self, sequences: &[SamplesView<'_>]) -> Result<Vec<Vec<f64>>, KernelError> {
        let mut features = vec![Vec::new(); sequences.len()];
        for model in self.models {
            if !model.emission.is_over_symbols() {
                return Err(KernelError::NotSymbols(model.emission.family().observes()));
            }
            let (states, symbols) = (model.states(), model.size());
            let all = expectations(model, sequences).into_iter().zip(sequences).enumerate();
            for ((sequence, (expected, samples)), features) in all.zip(&mut features) {
                let Expectations { pairs, emission, .. } =
                    expected.map_err(|why| NoScore { sequence, why })?;
                if self.cliques.emissions() {
                    let counts = emission.get("counts").unwrap_or_default();
                    let mut table = mean(counts, samples.len());
                    mix(&mut table, [states, symbols], self.rbf.mismatch());
                    features.extend(table);
                }
                if self.cliques.transitions() {
                    features.extend(self.transitions(&pairs, samples.len()));
                }
            }
        }
        Ok(features)
    }

    /// The kernel on the features: `None` is their inner product.
    ///
    /// # Errors
    /// [`KernelError::Parameter`]: the rate is out of range.
    pub fn kernel(&self) -> Result<Option<ScoreKernel>, KernelError> {
        if let Some(nu) = self.nu.filter(|nu| !(*nu > 0.0 && nu.is_finite())) {
            let range = "positive and finite";
            return Err(KernelError::Parameter { name: "nu", value: nu, range });
        }
        Ok(self.nu.map(|gamma| ScoreKernel::Gaussian { gamma }))
    }

    /// Means of expected transitions, mixed, `[from][to]`.
    fn transitions(&self, pairs: &[Vec<f64>], samples: usize) -> Vec<f64> {
        let states = pairs.len();
        let mut table = mean(pairs, samples.saturating_sub(1));
        mix(&mut table, [states, states], self.rbf.mismatch());
        table
    }

    /// The kernel of a model of channels, of all pairs.
    fn of_channels(&self, model: &Hmm, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        let rbf = self.rbf.of_channels()?;
        let all = posteriors(model, sequences).map_err(KernelError::Model)?;
        let means =
            all.into_iter().zip(sequences).enumerate().map(|(sequence, (found, samples))| {
                let rows = samples.rows().ok_or(KernelError::Mixed)?;
                let posterior = found.map_err(|why| NoScore { sequence, why })?;
                let transitions = self.transitions(&posterior.pairs, rows.len());
                let count = rows.len();
                let (mut samples, mut states) = (Vec::new(), Vec::new());
                for (sample, posterior) in rows.iter().zip(posterior.rows()) {
                    if let Some(sample) = sample {
                        samples.push(sample);
                        states.extend_from_slice(posterior);
                    }
                }
                Ok(Mean { count, samples, states, transitions })
            });
        let means = means.collect::<Result<Vec<_>, KernelError>>()?;
        Ok(Gram::from_fn(means.len(), |i, j| {
            let mut value = 0.0;
            if self.cliques.emissions() {
                value += means[i].emissions(&means[j], rbf);
            }
            if self.cliques.transitions() {
                value += inner_product(&means[i].transitions, &means[j].transitions);
            }
            value
        }))
    }
}

/// Mixes both indices of a table, row after row, with the root of [`Mixing`]. It is its own transpose: weights
/// on what is mixed are weights, mixed, on what is not.
pub(crate) fn mix(table: &mut [f64], [rows, columns]: [usize; 2], mismatch: f64) {
    Mixing::root(columns, mismatch).apply(table, columns, 1);
    Mixing::root(rows, mismatch).apply(table, rows, columns);
}

/// Divides a table by `count`, row after row.
fn mean(table: &[Vec<f64>], count: usize) -> Vec<f64> {
    let factor = 1.0 / count.max(1) as f64;
    table.iter().flatten().map(|entry| factor * entry).collect()
}

/// Stored mean of a sequence of channels.
struct Mean<'x> {
    /// Samples, those that are missing too.
    count: usize,
    /// Those that are there.
    samples: Vec<&'x [f64]>,
    /// Posterior of the states at each of these, `[sample][state]`.
    states: Vec<f64>,
    transitions: Vec<f64>,
}

impl Mean<'_> {
    /// `v_xq`: posteriors sum to one, so `sum_ij gamma_i gamma'_j l_ij = m + (1 - m) gamma . gamma'`.
    fn emissions(&self, other: &Self, rbf: Rbf) -> f64 {
        let mismatch = rbf.mismatch();
        let mut sum = 0.0;
        let (count, others) = (self.samples.len(), other.samples.len());
        for s in 0..count {
            let (x, own) = (self.samples[s], of_row(&self.states, count, s));
            for t in 0..others {
                let (y, its) = (other.samples[t], of_row(&other.states, others, t));
                let its = &its[..own.len()];
                let mut alike = 0.0;
                for state in 0..own.len() {
                    alike += own[state] * its[state];
                }
                let states = mismatch + (1.0 - mismatch) * alike;
                sum += rbf.of_squared(squared_distance(x, y)) * states;
            }
        }
        sum / (self.count.max(1) as f64 * other.count.max(1) as f64)
    }
}

/// A row of a table with that number of rows.
#[inline]
fn of_row(table: &[f64], rows: usize, row: usize) -> &[f64] {
    let width = table.len() / rows;
    &table[row * width..(row + 1) * width]
}

impl Kernel for LatentMap<'_> {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        let exponentiated = self.kernel()?;
        if self.models.iter().all(|model| model.emission.is_over_symbols()) {
            return Ok(gram_of_features(&self.features(sequences)?, exponentiated));
        }
        let mut grams = Vec::with_capacity(self.models.len());
        for model in self.models {
            grams.push(self.of_channels(model, sequences)?);
        }
        let sum = |i, j| grams.iter().map(|gram| gram.get(i, j)).sum::<f64>();
        let total = Gram::from_fn(sequences.len(), sum);
        let Some(nu) = self.nu else { return Ok(total) };
        // Rounding may leave the distance of equal sequences below zero.
        let distance = |i, j| (total.get(i, i) - 2.0 * total.get(i, j) + total.get(j, j)).max(0.0);
        Ok(Gram::from_fn(sequences.len(), |i, j| (-nu * distance(i, j)).portable_exp()))
    }
}
