use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{Affinity, Covariance, Normal, gaussian_log_overlap};
use fishweir_core::number::power;
use fishweir_core::{matrix, smooth};

use super::compared::{checked, refused, wrong};
use super::{BetweenError, FactorialHmm, ModelKernel};
use crate::elementary::Elementary;
use crate::runtime::{Potential, padded, padded_rows, padded_states, with_states};

/// A lower bound on the probability product kernel between factorial hidden Markov models, for chains
/// whose states together are too many to enumerate.
///
/// By Jensen's inequality, for every distribution `Q` over observations and both models' paths,
///
/// ```text
/// k >= B(Q) = exp( rho E_Q[log p(x, z) q(x, z')] + H(Q) )
/// ```
///
/// where `k` is the kernel of states and observations together, as [`FactorialKernel`](super::FactorialKernel)
/// computes it. `Q` has the observations apart from the paths, and every chain's path apart from the others',
/// but keeps each chain whole. It starts uniform over all states at all times; then each part in turn is
/// made the best for the others: the observations' means in closed form, a chain's path by forward and
/// backward passes. The bound rises with every one, to a maximum that need not be the largest.
///
/// Matrices of bounds need not be positive semi-definite. Sources: Jebara, Kondor and Howard, "Probability
/// Product Kernels", 2004, section 6; the covariance is shared and means add up, as Ghahramani and Jordan,
/// "Factorial Hidden Markov Models", 1997, have them. Time a sweep: `T sum_c (4 N_c^2 + D N_c)` and
/// `T C D^2` multiply-adds. RAM: `T sum_c N_c` numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanField {
    rho: f64,
    steps: usize,
    sweeps: usize,
    tolerance: f64,
}

impl MeanField {
    /// The bound over `steps` transitions, after 200 sweeps at most, or when one raises its logarithm by less
    /// than `10^-9`.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where `rho` is not above zero and finite.
    pub fn new(rho: f64, steps: usize) -> Result<Self, BetweenError> {
        checked(Affinity::Product { rho })?;
        Ok(Self { rho, steps, sweeps: 200, tolerance: 1e-9 })
    }

    /// Sets the largest number of sweeps, and the rise of the bound's logarithm below which they stop.
    #[must_use]
    pub fn until(self, sweeps: usize, tolerance: f64) -> Self {
        Self { sweeps, tolerance, ..self }
    }

    /// The bound's logarithm at the start, where `Q` is uniform, and after every sweep. It is minus infinity
    /// at the start where a chain has a probability of zero.
    ///
    /// # Errors
    /// [`BetweenError`] as [`log_value`](ModelKernel::log_value).
    pub fn log_bounds(&self, a: &FactorialHmm, b: &FactorialHmm) -> Result<Vec<f64>, BetweenError> {
        let mut field = Field::uniform(self, a, b)?;
        let mut bounds = vec![field.log_bound()];
        for _ in 0..self.sweeps {
            field.sweep()?;
            let (last, next) = (bounds[bounds.len() - 1], field.log_bound());
            bounds.push(next);
            let settled = next - last < self.tolerance;
            if settled {
                break;
            }
        }
        Ok(bounds)
    }
}

impl ModelKernel for MeanField {
    type Model = FactorialHmm;

    fn log_value(&self, a: &FactorialHmm, b: &FactorialHmm) -> Result<f64, BetweenError> {
        let bounds = self.log_bounds(a, b)?;
        // A bound is one wherever it was read; at the maximum the last digit may fall.
        Ok(bounds.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    fn is_positive_semidefinite(&self) -> bool {
        false
    }
}

/// `Q`, but for its observations, which follow from the rest.
struct Field {
    rho: f64,
    channels: usize,
    sides: [Side; 2],
    /// The Cholesky factor of the sum of both covariances.
    together: Vec<f64>,
    /// `log k` of two Gaussians with these covariances around one mean.
    at_one_mean: f64,
}

/// One model's chains.
struct Side {
    chains: Vec<Path>,
    /// Expected means of the observations, `[time][channel]`.
    mean: Vec<Vec<f64>>,
}

/// One chain's path.
struct Path {
    /// Probabilities to the power `rho`.
    initial: Vec<f64>,
    transition: Vec<Vec<f64>>,
    /// Contribution of a state to the mean, `[state][channel]`.
    mean: Vec<Vec<f64>>,
    /// `m_i' S^-1 m_j` of these, `[state][state]`.
    gram: Vec<Vec<f64>>,
    /// `Q` of a state, `[time][state]`.
    posterior: Vec<Vec<f64>>,
    /// `rho E log p(path) + H(path)`.
    log_own: f64,
}

impl Field {
    fn uniform(
        kernel: &MeanField,
        a: &FactorialHmm,
        b: &FactorialHmm,
    ) -> Result<Self, BetweenError> {
        a.validate()?;
        b.validate()?;
        let (channels, second) = (a.channels(), b.channels());
        if channels != second {
            return Err(BetweenError::Shapes { what: "channels", first: channels, second });
        }
        let mut scratch = vec![0.0; channels * channels + channels];
        let (one, other) = (a.covariance.concat(), b.covariance.concat());
        let centre = vec![0.0; channels];
        let of = |covariance, scratch: &mut [f64]| {
            let normal = Normal::full(&centre, covariance, scratch).map_err(refused)?;
            Ok::<_, BetweenError>(Normal::from_parts(
                &centre,
                Covariance::Full(covariance),
                *normal.log_determinant(),
            ))
        };
        let normals = [of(&one, &mut scratch)?, of(&other, &mut scratch)?];
        let measure = Affinity::Product { rho: kernel.rho };
        let at_one_mean = gaussian_log_overlap(&normals[0], &normals[1], measure, &mut scratch)
            .map_err(refused)?;
        let together = factor(one.iter().zip(&other).map(|(a, b)| a + b).collect(), channels)?;
        let sides = [Side::uniform(kernel, a)?, Side::uniform(kernel, b)?];
        Ok(Self { rho: kernel.rho, channels, sides, together, at_one_mean })
    }

    /// `(S + S')^-1 (M' - M)` at a time: what the observation's mean, in units of the first model's
    /// covariance, lies off that model's; of the second model it is the negative.
    fn pull(&self, time: usize) -> Vec<f64> {
        let [own, other] = &self.sides;
        let gap = own.mean[time].iter().zip(&other.mean[time]);
        let mut pull: Vec<f64> = gap.map(|(own, other)| other - own).collect();
        matrix::solve(&self.together, self.channels, &mut pull);
        matrix::solve_transposed(&self.together, self.channels, &mut pull);
        pull
    }

    /// Every chain once, the observations after each.
    fn sweep(&mut self) -> Result<(), BetweenError> {
        for side in 0..2 {
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for chain in 0..self.sides[side].chains.len() {
                let times = self.sides[side].mean.len();
                let path = &self.sides[side].chains[chain];
                let potential = |time: usize| -> Vec<f64> {
                    let pull = self.pull(time);
                    let of_state = |(mean, gram): (&Vec<f64>, &Vec<f64>), state: usize| {
                        let linear = sign * inner(mean, &pull);
                        let others = inner(gram, &path.posterior[time]);
                        self.rho * (linear + others - 0.5 * gram[state])
                    };
                    let states = path.mean.iter().zip(&path.gram).enumerate();
                    states.map(|(state, rows)| of_state(rows, state)).collect()
                };
                let potentials: Vec<Vec<f64>> = (0..times).map(potential).collect();
                self.sides[side].update(chain, &potentials)?;
            }
        }
        Ok(())
    }

    /// `log B(Q)` with the best observations.
    fn log_bound(&self) -> f64 {
        let own: f64 = self.sides.iter().flat_map(|side| &side.chains).map(|p| p.log_own).sum();
        let [one, other] = &self.sides;
        let observed = (0..one.mean.len()).map(|time| {
            let gap = one.mean[time].iter().zip(&other.mean[time]).map(|(a, b)| b - a);
            let distance: f64 = gap.zip(self.pull(time)).map(|(gap, pull)| gap * pull).sum();
            let spread = self.sides.iter().map(|side| side.spread(time)).sum::<f64>();
            self.at_one_mean - 0.5 * self.rho * (distance + spread)
        });
        own + observed.sum::<f64>()
    }
}

impl Side {
    fn uniform(kernel: &MeanField, model: &FactorialHmm) -> Result<Self, BetweenError> {
        let (channels, times) = (model.channels(), kernel.steps + 1);
        let covariance = factor(model.covariance.concat(), channels)?;
        let mut chains = Vec::with_capacity(model.initial.len());
        for (chain, initial) in model.initial.iter().enumerate() {
            let states = initial.len();
            if padded_states(states).is_none() {
                let why = format!("chain {chain} has {states} states; it must have 1 to 64");
                return Err(BetweenError::Model { part: "chains".into(), why });
            }
            let whitened = |mean: &Vec<f64>| {
                let mut mean = mean.clone();
                matrix::solve(&covariance, channels, &mut mean);
                mean
            };
            let mean = model.mean[chain].clone();
            let white: Vec<Vec<f64>> = mean.iter().map(whitened).collect();
            let gram = |a: &Vec<f64>| white.iter().map(|b| inner(a, b)).collect();
            let transition = &model.transition[chain];
            let share = (states as f64).recip();
            let log_mean =
                |row: &Vec<f64>| row.iter().map(|p| share * p.portable_ln()).sum::<f64>();
            let moves = transition.iter().map(|row| share * log_mean(row)).sum::<f64>();
            // Without a transition there is no transition of probability zero.
            let moved = if kernel.steps == 0 { 0.0 } else { kernel.steps as f64 * moves };
            let entropy = times as f64 * (states as f64).portable_ln();
            let powered = |row: &Vec<f64>| -> Vec<f64> {
                row.iter().map(|&p| power(p, kernel.rho)).collect()
            };
            chains.push(Path {
                initial: powered(initial),
                transition: transition.iter().map(powered).collect(),
                gram: white.iter().map(gram).collect(),
                mean,
                posterior: vec![vec![share; states]; times],
                log_own: kernel.rho * (log_mean(initial) + moved) + entropy,
            });
        }
        let mut side = Self { chains, mean: vec![vec![0.0; channels]; times] };
        side.add_up();
        Ok(side)
    }

    fn add_up(&mut self) {
        for (time, mean) in self.mean.iter_mut().enumerate() {
            mean.fill(0.0);
            for path in &self.chains {
                for (share, own) in path.posterior[time].iter().zip(&path.mean) {
                    mean.iter_mut().zip(own).for_each(|(mean, own)| *mean += share * own);
                }
            }
        }
    }

    /// Makes a chain's path the best for the log potentials of its states, `[time][state]`.
    fn update(&mut self, chain: usize, potential: &[Vec<f64>]) -> Result<(), BetweenError> {
        let path = &mut self.chains[chain];
        let log_sum = with_states!(path.initial.len(), N => path.smooth::<N>(potential))
            .map_err(|error| wrong("mean field", &error))?;
        let weighed = path.posterior.iter().zip(potential);
        path.log_own = log_sum - weighed.map(|(share, log)| inner(share, log)).sum::<f64>();
        self.add_up();
        Ok(())
    }

    /// `sum_c trace S^-1 Cov(mean_c)` at a time.
    fn spread(&self, time: usize) -> f64 {
        let of = |path: &Path| -> f64 {
            let share = &path.posterior[time];
            let states = share.iter().zip(&path.gram).enumerate();
            states.map(|(state, (p, row))| p * (row[state] - inner(row, share))).sum()
        };
        self.chains.iter().map(of).sum()
    }
}

impl Path {
    /// Forward and backward: the posterior, and the logarithm of its normaliser.
    fn smooth<const N: usize>(
        &mut self,
        potential: &[Vec<f64>],
    ) -> Result<f64, smooth::SequenceError> {
        let chain = Chain::from_parts(padded(&self.initial), padded_rows(&self.transition));
        let hmm = Hmm::new(chain, std::array::from_fn(Potential));
        let (mut posterior, mut pairs) = (vec![[0.0; N]; potential.len()], [[0.0; N]; N]);
        let rows = potential.iter().map(|row| Some(row.as_slice()));
        let log_sum = smooth::posteriors(&hmm, rows, &mut posterior, &mut pairs)?;
        for (own, found) in self.posterior.iter_mut().zip(&posterior) {
            own.iter_mut().zip(found).for_each(|(own, found)| *own = *found);
        }
        Ok(log_sum)
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn factor(mut covariance: Vec<f64>, channels: usize) -> Result<Vec<f64>, BetweenError> {
    matrix::cholesky(&mut covariance, channels, |_| 0.0)
        .map_err(|row| BetweenError::Singular { part: "covariance".into(), row })?;
    Ok(covariance)
}
