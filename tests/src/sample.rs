//! Sample models and sequences for laws and theorems: random ones by seed, and the special shapes
//! that break careless recursions (exact zeros, one state, absorbing states, certain emissions,
//! means far from the data).

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::oracle::{
    Direction, Law, LawDirection, Model, Observation, Sequence, Spread, System, sequences,
};

/// A source of random models, reproducible by its seed.
#[derive(Clone, Debug)]
pub struct Sampler {
    rng: ChaCha8Rng,
}

/// A model with a name and a sequence that it can emit.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What is special about it.
    pub name: &'static str,
    /// The model.
    pub model: Model,
    /// A sequence of positive probability, some of it missing.
    pub sequence: Sequence,
}

/// How a hidden chain may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// From every state to every state.
    Ergodic,
    /// From a state to itself and the next; the last is absorbing, and the first the only beginning.
    LeftToRight,
    /// Any, but the last state is never left.
    Absorbing,
    /// Ergodic with some transitions of probability zero.
    Sparse,
}

/// Every topology.
pub const TOPOLOGIES: [Topology; 4] =
    [Topology::Ergodic, Topology::LeftToRight, Topology::Absorbing, Topology::Sparse];

impl Sampler {
    /// The source with this seed.
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A number in a range.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.rng.random_range(low..high)
    }

    /// A linear dynamical system whose states neither vanish nor grow without end.
    pub fn system(&mut self, states: usize, channels: usize) -> System {
        let mut matrix = |rows: usize, columns: usize, size: f64| -> Vec<Vec<f64>> {
            (0..rows).map(|_| (0..columns).map(|_| size * self.normal()).collect()).collect()
        };
        let spread = 0.6 / (states as f64).sqrt();
        let transition = matrix(states, states, spread);
        let observation = matrix(channels, states, 1.0);
        let mean = matrix(1, states, 1.0).remove(0);
        let mut covariance = |size: usize| -> Vec<Vec<f64>> {
            let root = matrix(size, size, 0.7);
            let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let entry = |i: usize, j: usize| inner(&root[i], &root[j]) + 0.1 * f64::from(i == j);
            (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
        };
        let (first, noise, seen) = (covariance(states), covariance(states), covariance(channels));
        System { mean, covariance: first, transition, noise, observation, observation_noise: seen }
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform(f64::MIN_POSITIVE, 1.0).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform(0.0, 1.0)).cos()
    }

    /// Numbers in a range.
    pub fn row(&mut self, length: usize, low: f64, high: f64) -> Vec<f64> {
        (0..length).map(|_| self.uniform(low, high)).collect()
    }

    /// Positive probabilities.
    pub fn probabilities(&mut self, length: usize) -> Vec<f64> {
        let row = self.row(length, 0.05, 1.0);
        normalised(row)
    }

    /// Probabilities of which about a third are zero, never all.
    pub fn sparse_probabilities(&mut self, length: usize) -> Vec<f64> {
        let keep = self.rng.random_range(0..length);
        let mut row = self.row(length, 0.05, 1.0);
        for (entry, p) in row.iter_mut().enumerate() {
            if entry != keep && self.rng.random_bool(0.3) {
                *p = 0.0;
            }
        }
        normalised(row)
    }

    /// The initial distribution and the transition matrix of a topology.
    pub fn chain(&mut self, topology: Topology, states: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let unit = |at: usize| (0..states).map(|j| if j == at { 1.0 } else { 0.0 }).collect();
        let initial = match topology {
            Topology::LeftToRight => unit(0),
            _ => self.probabilities(states),
        };
        let row = |i: usize| match topology {
            Topology::LeftToRight | Topology::Absorbing if i + 1 == states => unit(i),
            Topology::LeftToRight => {
                let stay = self.uniform(0.1, 0.9);
                let mut row = vec![0.0; states];
                (row[i], row[i + 1]) = (stay, 1.0 - stay);
                row
            }
            Topology::Sparse => self.sparse_probabilities(states),
            Topology::Ergodic | Topology::Absorbing => self.probabilities(states),
        };
        (initial, (0..states).map(row).collect())
    }

    /// A model of a topology, with emissions drawn by `law`.
    pub fn model(
        &mut self,
        topology: Topology,
        states: usize,
        mut law: impl FnMut(&mut Self) -> Law,
    ) -> Model {
        let (initial, transition) = self.chain(topology, states);
        let emission = (0..states).map(|_| law(self)).collect();
        Model { initial, transition, emission }
    }

    /// A categorical model without zeros in its emissions.
    pub fn categorical(&mut self, topology: Topology, states: usize, symbols: usize) -> Model {
        self.model(topology, states, |s| Law::Categorical(s.probabilities(symbols)))
    }

    /// Independent Gaussians with means within `reach` of zero and standard deviations near one.
    pub fn gaussian_law(&mut self, channels: usize, reach: f64) -> Law {
        let mean = self.row(channels, -reach, reach);
        Law::Gaussian { mean, variance: self.row(channels, 0.3, 2.0) }
    }

    /// A Gaussian with a full covariance matrix, `B B' + I / 4`.
    pub fn full_gaussian_law(&mut self, channels: usize) -> Law {
        let b: Vec<Vec<f64>> = (0..channels).map(|_| self.row(channels, -1.0, 1.0)).collect();
        let entry = |i: usize, j: usize| {
            let product: f64 = b[i].iter().zip(&b[j]).map(|(a, b)| a * b).sum();
            product + if i == j { 0.25 } else { 0.0 }
        };
        let covariance = (0..channels).map(|i| (0..channels).map(|j| entry(i, j)).collect());
        Law::FullGaussian { covariance: covariance.collect(), mean: self.row(channels, -2.0, 2.0) }
    }

    /// A mixture of laws.
    pub fn mixture_law(&mut self, components: usize, mut law: impl FnMut(&mut Self) -> Law) -> Law {
        let weight = self.probabilities(components);
        Law::Mixture { weight, component: (0..components).map(|_| law(self)).collect() }
    }

    /// An observation that a law can emit.
    pub fn observation(&mut self, law: &Law) -> Observation {
        match law {
            Law::Categorical(p) => Observation::Symbol(self.choose(p)),
            Law::Gaussian { mean, variance } => Observation::Channels(
                mean.iter().zip(variance).map(|(m, v)| m + v.sqrt() * self.normal()).collect(),
            ),
            Law::FullGaussian { mean, covariance } => {
                // Channel by channel given those before it: the rows of a Cholesky factor.
                let (mut factor, mut x): (Vec<Vec<f64>>, Vec<f64>) = (vec![], vec![]);
                let normal: Vec<f64> = mean.iter().map(|_| self.normal()).collect();
                for (d, covariances) in covariance.iter().enumerate() {
                    let mut row: Vec<f64> = Vec::with_capacity(d + 1);
                    for (e, other) in factor.iter().enumerate() {
                        let known: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                        row.push((covariances[e] - known) / other[e]);
                    }
                    let known: f64 = row.iter().map(|a| a * a).sum();
                    row.push((covariances[d] - known).sqrt());
                    let deviation: f64 = row.iter().zip(&normal).map(|(a, z)| a * z).sum();
                    x.push(mean[d] + deviation);
                    factor.push(row);
                }
                Observation::Channels(x)
            }
            Law::Poisson(rate) => {
                Observation::Channels(rate.iter().map(|rate| self.count(*rate)).collect())
            }
            Law::Bernoulli(p) => {
                let yes = p.iter().map(|p| f64::from(self.uniform(0.0, 1.0) < *p));
                Observation::Channels(yes.collect())
            }
            Law::Mixture { weight, component } => {
                let at = self.choose(weight);
                self.observation(&component[at])
            }
        }
    }

    /// A sequence from the model, each observation missing with probability `missing`.
    pub fn sequence(&mut self, model: &Model, length: usize, missing: f64) -> Sequence {
        let mut state = self.choose(&model.initial);
        (0..length)
            .map(|t| {
                if t > 0 {
                    state = self.choose(&model.transition[state]);
                }
                let x = self.observation(&model.emission[state]);
                (!self.rng.random_bool(missing)).then_some(x)
            })
            .collect()
    }

    /// A direction of the model's shape, rates of order one, along log standard deviations.
    pub fn direction(&mut self, model: &Model) -> Direction {
        let states = model.states();
        let initial = self.row(states, -1.0, 1.0);
        let transition = (0..states).map(|_| self.row(states, -1.0, 1.0)).collect();
        let emission = model.emission.iter().map(|law| self.law_direction(law)).collect();
        Direction { initial, transition, emission }
    }

    fn law_direction(&mut self, law: &Law) -> LawDirection {
        match law {
            Law::Categorical(p) => LawDirection::Categorical(self.row(p.len(), -1.0, 1.0)),
            Law::Gaussian { mean, .. } => LawDirection::Gaussian {
                mean: self.row(mean.len(), -1.0, 1.0),
                spread: Spread::LogStd(self.row(mean.len(), -1.0, 1.0)),
            },
            Law::FullGaussian { mean, .. } => {
                let draw: Vec<Vec<f64>> =
                    mean.iter().map(|_| self.row(mean.len(), -0.1, 0.1)).collect();
                // Symmetric, as a change of a covariance matrix is.
                let entry = |i: usize, j: usize| draw[i][j] + draw[j][i];
                let row = |i| (0..draw.len()).map(|j| entry(i, j)).collect();
                let covariance = (0..draw.len()).map(row).collect();
                LawDirection::FullGaussian { mean: self.row(mean.len(), -1.0, 1.0), covariance }
            }
            Law::Poisson(parameters) | Law::Bernoulli(parameters) => {
                LawDirection::Counting(self.row(parameters.len(), -1.0, 1.0))
            }
            Law::Mixture { weight, component } => LawDirection::Mixture {
                weight: self.row(weight.len(), -1.0, 1.0),
                component: component.iter().map(|law| self.law_direction(law)).collect(),
            },
        }
    }

    /// A Poisson count, by the product of uniform numbers (Knuth).
    fn count(&mut self, rate: f64) -> f64 {
        let (mut count, mut product) = (0.0, self.uniform(0.0, 1.0));
        while product > (-rate).exp() {
            count += 1.0;
            product *= self.uniform(0.0, 1.0);
        }
        count
    }

    fn choose(&mut self, probabilities: &[f64]) -> usize {
        let mut rest = self.uniform(0.0, 1.0);
        for (choice, p) in probabilities.iter().enumerate() {
            rest -= p;
            if rest < 0.0 && *p > 0.0 {
                return choice;
            }
        }
        // Rounding left a trace: the last that can be.
        probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0)
    }
}

fn normalised(mut row: Vec<f64>) -> Vec<f64> {
    let sum: f64 = row.iter().sum();
    for p in &mut row {
        *p /= sum;
    }
    row
}

/// The special models, each with a sequence of the given length: every topology with categorical
/// and Gaussian emissions, one state, certain emissions, means far apart, full covariances,
/// counts, mixtures.
pub fn zoo(seed: u64, length: usize) -> Vec<Sample> {
    let mut s = Sampler::new(seed);
    let mut models = vec![
        ("ergodic, categorical", s.categorical(Topology::Ergodic, 3, 4)),
        ("left to right, categorical", s.categorical(Topology::LeftToRight, 3, 3)),
        ("absorbing, categorical", s.categorical(Topology::Absorbing, 4, 3)),
        ("sparse, categorical", s.categorical(Topology::Sparse, 5, 6)),
        ("one state, categorical", s.categorical(Topology::Ergodic, 1, 3)),
        ("zeros in the emissions", {
            s.model(Topology::Sparse, 3, |s| Law::Categorical(s.sparse_probabilities(4)))
        }),
        ("certain emissions", {
            let mut model = s.categorical(Topology::Ergodic, 3, 3);
            for (state, law) in model.emission.iter_mut().enumerate() {
                let certain = (0..3).map(|k| if k == state { 1.0 } else { 0.0 });
                *law = Law::Categorical(certain.collect());
            }
            model
        }),
        ("ergodic, Gaussian", s.model(Topology::Ergodic, 3, |s| s.gaussian_law(2, 2.0))),
        ("left to right, Gaussian", s.model(Topology::LeftToRight, 4, |s| s.gaussian_law(1, 3.0))),
        ("one state, Gaussian", s.model(Topology::Ergodic, 1, |s| s.gaussian_law(3, 2.0))),
        ("far apart, Gaussian", s.model(Topology::LeftToRight, 3, |s| s.gaussian_law(2, 300.0))),
        ("full covariance", s.model(Topology::Absorbing, 3, |s| s.full_gaussian_law(3))),
        ("counts", s.model(Topology::Ergodic, 3, |s| Law::Poisson(s.row(2, 0.2, 20.0)))),
        ("yes or no", s.model(Topology::Sparse, 3, |s| Law::Bernoulli(s.row(3, 0.1, 0.9)))),
        ("mixture, categorical", {
            s.model(Topology::LeftToRight, 3, |s| {
                s.mixture_law(2, |s| Law::Categorical(s.sparse_probabilities(4)))
            })
        }),
        ("mixture, diagonal", {
            s.model(Topology::Ergodic, 2, |s| s.mixture_law(3, |s| s.gaussian_law(2, 3.0)))
        }),
        ("mixture, full covariance", {
            s.model(Topology::Sparse, 3, |s| s.mixture_law(2, |s| s.full_gaussian_law(2)))
        }),
    ];
    let samples = models.drain(..).map(|(name, model)| {
        let sequence = s.sequence(&model, length, 0.2);
        Sample { name, model, sequence }
    });
    samples.collect()
}

/// All sequences of a length that a categorical model's alphabet has.
pub fn all_sequences(model: &Model, length: usize) -> Vec<Sequence> {
    let symbols = match model.emission.first() {
        Some(Law::Categorical(p)) => p.len(),
        _ => 0,
    };
    sequences(symbols, length).collect()
}
