//! How far rounding may take a result from the exact one, from sizes, length and data.

use crate::oracle::{
    Direction, Factored, Law, LawDirection, LogDomain, Model, Observation, Parametrisation,
    log_sum_exp,
};

/// How far a number may be from the one expected: `absolute + relative |expected|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Part that does not depend on the number.
    pub absolute: f64,
    /// Part proportional to the number.
    pub relative: f64,
}

impl Tolerance {
    /// No slack at all.
    pub const EXACT: Self = Self { absolute: 0.0, relative: 0.0 };

    /// An absolute slack.
    pub const fn absolute(absolute: f64) -> Self {
        Self { absolute, relative: 0.0 }
    }

    /// A relative slack.
    pub const fn relative(relative: f64) -> Self {
        Self { absolute: 0.0, relative }
    }

    /// Both slacks together.
    pub fn plus(self, other: Self) -> Self {
        Self { absolute: self.absolute + other.absolute, relative: self.relative + other.relative }
    }

    /// Whether `got` is near enough; infinities must be equal, and NaN never is.
    pub fn allows(self, expected: f64, got: f64) -> bool {
        if expected.is_finite() {
            (got - expected).abs() <= self.absolute + self.relative * expected.abs()
        } else {
            got == expected
        }
    }
}

/// What the precision under test may add to an exact result, derived from its sizes.
///
/// Only sums and products of non-negative numbers stand between the parameters and a likelihood, so
/// relative errors add and never cancel. Counting in units `u` of one rounding (`2^-24` in `f32`, 0
/// for the `f64` reference, whose tolerances the cases themselves state), to first order:
///
/// * Sample `t` adds `c_t = 3 + s(N) + e(x_t)`: the stored transition probability, its product, the
///   product with the likelihood; a pairwise sum of `s(N) = 2 + N/4` additions; and the relative
///   error `e` of the likelihood row, 1 for a table, for Gaussians that of the exponent ([`Law`]'s
///   `log b`): centring `x`, the square, the normaliser, `exp`'s own argument. A likelihood is off by
///   `sum_t c_t`.
/// * Read backwards: the computed filter is the exact one of a model whose likelihoods are off by
///   `c_t` at time `t`. Each enters a filtered probability twice (a quotient), and fades with the
///   chain's coefficient of ergodicity `tau = tanh(D/4)`, `D` the projective diameter of the
///   transition matrix (Birkhoff): `2 min(sum_t c_t, m max_t c_t)` with `m = min(T, 1/(1 - tau))`.
/// * A smoothed probability is that of the same perturbed model, the past and the future fading
///   both, and the backward pass rounds as often again: `4 min(sum_t c_t, 2 m max_t c_t)`.
/// * A state far from an observation has a likelihood with few digits, and next to no weight. Summed
///   over paths, the *absolute* error of a likelihood relative to the whole, and of a probability, is
///   the same with `e(x_t)` averaged over the states' posterior; the *relative* error of a
///   probability takes the largest. Where the two are near, the relative bound is used.
/// * A sum over time adds `T` roundings; terms of either sign count with their magnitudes.
#[derive(Clone, Copy, Debug)]
pub struct Rounding {
    unit: f64,
    /// Steps.
    pub length: f64,
    /// With `e` averaged over the states.
    average: Steps,
    /// With the largest `e` of any state.
    worst: Steps,
    /// `m`: how many steps' errors are alive.
    memory: f64,
    /// `sum_t |log p(x_t | x_1..t-1)|`.
    log_range: f64,
    /// The largest of those.
    pub largest_step: f64,
}

/// `c_t`, summed up.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// `sum_t c_t`.
    sum: f64,
    /// `max_t c_t`.
    largest: f64,
}

impl Steps {
    fn of(steps: impl Iterator<Item = f64>) -> Self {
        steps.fold(Self { sum: 0.0, largest: 0.0 }, |all, step| Self {
            sum: all.sum + step,
            largest: all.largest.max(step),
        })
    }

    /// `min(sum_t c_t, memory max_t c_t)`.
    fn alive(self, memory: f64) -> f64 {
        self.sum.min(memory * self.largest)
    }
}

/// Below this `exp` is zero in `f32`: the state is as good as out of reach.
const DEEPEST: f64 = 90.0;

impl Rounding {
    /// The bounds for one model and sequence; `unit` is one half of the distance from 1 to the next
    /// number, or 0 for none.
    pub fn of(model: &Model, sequence: &[Option<Observation>], unit: f64) -> Self {
        let own = 3.0 + 2.0 + model.states() as f64 / 4.0;
        let slow = LogDomain::of(model, sequence);
        let posterior = slow.posterior();
        let errors: Vec<Vec<f64>> = sequence
            .iter()
            .map(|x| x.as_ref().map_or(vec![0.0], |x| row_errors(model, x)))
            .collect();
        let worst = |t: usize| errors[t].iter().copied().fold(0.0, f64::max);
        let average = |t: usize| match &posterior {
            Some(rows) => rows[t].iter().zip(&errors[t]).map(|(p, e)| p * e).sum(),
            // An impossible sequence has no posterior.
            None => worst(t),
        };
        let length = sequence.len().max(1) as f64;
        let (mut log_range, mut largest_step): (f64, f64) = (0.0, 0.0);
        if unit > 0.0 {
            let mut before = 0.0;
            for log in slow.prefix_log_likelihood() {
                let step = f64::abs(log - before);
                before = log;
                if step.is_finite() {
                    log_range += step;
                    largest_step = largest_step.max(step);
                }
            }
        }
        Self {
            unit,
            length,
            average: Steps::of((0..errors.len()).map(|t| own + average(t))),
            worst: Steps::of((0..errors.len()).map(|t| own + worst(t))),
            memory: length.min(1.0 / (1.0 - contraction(&model.transition))),
            log_range,
            largest_step,
        }
    }

    /// Of `log p(x_1..t)`: every step's relative error, and the roundings of the ledger's total.
    pub fn log(&self) -> Tolerance {
        Tolerance::absolute(self.unit * (self.average.sum + 4.0 * self.log_range))
    }

    /// Of the log-probability of a single path, which may be any.
    pub fn log_of_path(&self) -> Tolerance {
        Tolerance::absolute(self.unit * (self.worst.sum + 4.0 * self.log_range))
    }

    /// Of a filtered probability.
    pub fn filtered(&self) -> Tolerance {
        self.probability(2.0, self.memory)
    }

    /// Of a posterior probability.
    pub fn smoothed(&self) -> Tolerance {
        self.probability(4.0, 2.0 * self.memory)
    }

    fn probability(&self, times: f64, memory: f64) -> Tolerance {
        let [absolute, relative] =
            [self.average, self.worst].map(|steps| self.unit * times * steps.alive(memory));
        if relative <= 2.0 * absolute {
            Tolerance::relative(relative)
        } else {
            Tolerance::absolute(absolute)
        }
    }

    /// Of a sum of posterior probabilities over time: a posterior's error, and `T` additions.
    pub fn counted(&self) -> Tolerance {
        let Tolerance { absolute, relative } = self.smoothed();
        Tolerance { absolute: self.length * absolute, relative: relative + self.unit * self.length }
    }

    /// Of a sum over time of posteriors times terms of magnitude up to `most`, of either sign.
    pub fn weighted(&self, most: f64) -> Tolerance {
        let Tolerance { absolute, relative } = self.smoothed();
        let each = absolute + relative + self.unit * self.length;
        Tolerance::absolute(each * self.length * most)
    }

    /// Of a sum over time of terms that are themselves off by a few roundings of `most`.
    pub fn summed(&self, most: f64) -> Tolerance {
        Tolerance::absolute(8.0 * self.unit * self.length * most)
    }

    /// Of a derivative that sums `T` terms of magnitude up to `most`, read as a difference of two
    /// totals or not.
    pub fn derivative(&self, most: f64) -> Tolerance {
        let sum = self.weighted(most);
        sum.plus(Tolerance::absolute(4.0 * self.unit * self.length * most))
    }

    /// What rounding `lambda` does to a sum of terms up to `most` that fades by it: `n` samples ago
    /// `n` roundings, over a memory of `1 / (1 - lambda)` samples.
    pub fn forgotten(&self, lambda: f64, most: f64) -> Tolerance {
        let memory = self.length.min(1.0 / (1.0 - lambda));
        Tolerance::absolute(2.0 * self.unit * memory * memory * most)
    }

    /// A bound on what one sample adds to a directional derivative along any path: the largest rate
    /// of a log transition probability plus the largest of a log likelihood.
    pub fn largest_rate(
        &self,
        model: &Model,
        direction: &Direction,
        by: Parametrisation,
        sequence: &[Option<Observation>],
    ) -> f64 {
        let rows = model.transition.iter().zip(&direction.transition);
        let chain = rows
            .map(|(row, w)| row_rate(row, w, by))
            .fold(row_rate(&model.initial, &direction.initial, by), f64::max);
        let laws = || model.emission.iter().zip(&direction.emission);
        let emission = sequence
            .iter()
            .flatten()
            .flat_map(|x| laws().map(move |(law, w)| law_rate(law, w, by, x)))
            .fold(0.0, f64::max);
        chain + emission
    }
}

/// The largest `|dp / p|` of a row; where `p` is zero, relative to the least that is not.
fn row_rate(row: &[f64], direction: &[f64], by: Parametrisation) -> f64 {
    let least = row.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
    let total: f64 = match by {
        Parametrisation::Ratio => direction.iter().sum(),
        Parametrisation::Softmax => row.iter().zip(direction).map(|(p, w)| p * w).sum(),
    };
    let rates = row.iter().zip(direction).map(|(p, w)| match by {
        Parametrisation::Ratio => (w - p * total).abs() / if *p > 0.0 { *p } else { least },
        Parametrisation::Softmax => (w - total).abs(),
    });
    rates.fold(0.0, f64::max)
}

/// A bound on `|d log b(x)|`, terms of either sign added up.
fn law_rate(law: &Law, direction: &LawDirection, by: Parametrisation, x: &Observation) -> f64 {
    if let Some(((law, there), direction)) =
        x.marginal_of(law).zip(x.marginal_of_direction(direction))
    {
        return law_rate(&law, &direction, by, &there);
    }
    match (law, direction, x) {
        (Law::Categorical(p), LawDirection::Categorical(w), _) => row_rate(p, w, by),
        (
            Law::Gaussian { mean, variance },
            LawDirection::Gaussian { mean: w, spread },
            Observation::Channels(x),
        ) => {
            let log_std = spread.log_std(variance);
            let channels = x.iter().zip(mean).zip(variance).zip(w.iter().zip(&log_std));
            channels
                .map(|(((x, mean), v), (w, l))| {
                    let z = (x - mean).abs() / v.sqrt();
                    w.abs() * z / v.sqrt() + l.abs() * (z * z + 1.0)
                })
                .sum()
        }
        (
            Law::FullGaussian { mean, covariance },
            LawDirection::FullGaussian { mean: w, covariance: rates },
            Observation::Channels(x),
        ) => {
            let deviation: Vec<f64> = x.iter().zip(mean).map(|(x, mean)| x - mean).collect();
            let factored = Factored::of(covariance);
            let pull = factored.solve(&deviation);
            let size: f64 = pull.iter().map(|p| p * p).sum();
            let moved: f64 = pull.iter().zip(w).map(|(p, w)| (p * w).abs()).sum();
            let d = mean.len() as f64;
            moved + norm(rates) * (size + d * norm(&factored.inverse()))
        }
        (Law::Poisson(rate), LawDirection::Counting(w), Observation::Channels(x)) => {
            x.iter().zip(rate).zip(w).map(|((x, rate), w)| w.abs() * (x + rate)).sum()
        }
        (Law::Bernoulli(_), LawDirection::Counting(w), _) => w.iter().map(|w| w.abs()).sum(),
        (
            Law::Mixture { weight, component },
            LawDirection::Mixture { weight: w, component: directions },
            x,
        ) => {
            let components = component.iter().zip(directions);
            let worst = components.map(|(law, w)| law_rate(law, w, by, x)).fold(0.0, f64::max);
            row_rate(weight, w, by) + worst
        }
        _ => 0.0,
    }
}

/// `tanh(D/4)`: how much of a filtered row's relative error one step of the chain lets through. 1
/// where a transition is impossible.
fn contraction(transition: &[Vec<f64>]) -> f64 {
    let mut diameter: f64 = 0.0;
    for a in transition {
        for b in transition {
            let ratios = a.iter().zip(b).map(|(a, b)| (a / b).ln());
            let (low, high) = ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| {
                if r.is_nan() {
                    (f64::NEG_INFINITY, f64::INFINITY)
                } else {
                    (low.min(r), high.max(r))
                }
            });
            diameter = diameter.max(high - low);
        }
    }
    (diameter / 4.0).tanh()
}

/// `e(x)`: relative errors of a row of likelihoods, in units, `[state]`; none of states that are as
/// good as out of reach.
fn row_errors(model: &Model, x: &Observation) -> Vec<f64> {
    let logs = model.log_row(Some(x));
    let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let error = |(law, log): (&Law, &f64)| match law {
        _ if *log == f64::NEG_INFINITY || best - log >= DEEPEST => 0.0,
        Law::Categorical(_) => 1.0,
        law => log_error(law, x) + (best - log) + 2.0,
    };
    model.emission.iter().zip(&logs).map(error).collect()
}

/// Absolute error of `log b(x)`, in units.
fn log_error(law: &Law, x: &Observation) -> f64 {
    if let Some((marginal, there)) = x.marginal_of(law) {
        // What is missing is taken out of the whole.
        return log_error(&marginal, &there) + log_error(law, &x.filled(law));
    }
    match (law, x) {
        (Law::Gaussian { mean, variance }, Observation::Channels(x)) => {
            let d = mean.len() as f64;
            let channels = x.iter().zip(mean).zip(variance);
            channels
                .map(|((x, mean), v)| {
                    let z = (x - mean).abs() / v.sqrt();
                    let centring = z * (x.abs() + mean.abs()) / v.sqrt();
                    let normaliser = (v.ln().abs() + 4.0) * (d + 1.0);
                    centring + (d + 6.0) * z * z + normaliser
                })
                .sum()
        }
        (Law::FullGaussian { mean, covariance }, Observation::Channels(x)) => {
            // A Cholesky solve is the exact one of a matrix off by about D (D + 3) roundings of its
            // norm; the quadratic form follows its perturbation.
            let d = mean.len() as f64;
            let deviation: Vec<f64> = x.iter().zip(mean).map(|(x, mean)| x - mean).collect();
            let factored = Factored::of(covariance);
            let pull = factored.solve(&deviation);
            let size: f64 = pull.iter().map(|p| p * p).sum();
            let centring: f64 =
                pull.iter().zip(x).zip(mean).map(|((p, x), m)| p.abs() * (x.abs() + m.abs())).sum();
            let spread = norm(covariance);
            let condition = spread * norm(&factored.inverse());
            centring + d * (d + 3.0) * (spread * size + condition) + 4.0 * d
        }
        (Law::Poisson(rate), Observation::Channels(x)) => {
            let channels = x.iter().zip(rate);
            let log_factorial = |x: f64| (x + 1.0) * (x + 2.0).ln();
            channels
                .map(|(x, r)| 4.0 * x * (r.ln().abs() + 1.0) + 2.0 * r + 8.0 * log_factorial(*x))
                .sum()
        }
        (Law::Bernoulli(p), _) => {
            3.0 * p.len() as f64 + p.iter().map(|p| p / (1.0 - p)).sum::<f64>()
        }
        (Law::Mixture { weight, component }, x) => {
            let logs: Vec<f64> =
                weight.iter().zip(component).map(|(w, law)| w.ln() + law.log_density(x)).collect();
            let total = log_sum_exp(&logs);
            let terms = weight.iter().zip(component).zip(&logs);
            let worst = terms
                .filter(|(_, log)| total - **log < DEEPEST)
                .map(|((w, law), log)| log_error(law, x) + w.ln().abs() + (total - log) + 3.0)
                .fold(0.0, f64::max);
            worst + weight.len() as f64 + total.abs()
        }
        _ => 1.0,
    }
}

/// The largest row sum of magnitudes.
fn norm(matrix: &[Vec<f64>]) -> f64 {
    matrix.iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}
