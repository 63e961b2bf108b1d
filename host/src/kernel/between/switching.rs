//! Switching systems: sums over paths of modes, all of them or some that were drawn.

use fishweir_core::kernel::Affinity;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::check::same;
use super::compared::checked;
use super::dynamics::{Half, Pair, is_constant, log_power};
use super::multinomial::log_sum;
use super::{BetweenError, ModelKernel};
use crate::dynamics::{Motion, SwitchingSystem};
use crate::elementary::Elementary;

/// Pairs of paths of modes at most, in a sum over all.
pub const MOST_PATHS: usize = 1 << 22;

/// Weight of a pair of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathWeights {
    /// `(p(q) p'(q'))^rho`: the kernel of the joint density of path and samples.
    Powered,
    /// `p(q) p'(q')`: what [`SampledPaths`] estimate. The same where `rho` is one.
    Expected,
}

/// The kernel of two switching systems by a sum over all pairs of paths:
///
/// ```text
/// k = sum_q,q' w(q) w'(q') k(x | q, x' | q')
/// ```
///
/// where `k` of two paths is [`DynamicsKernel`](super::DynamicsKernel)'s of systems that change in time. For
/// the product kernel with `rho` other than one it is not of the density of the samples alone, whose power
/// is no sum.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, sections 4 and 5.1. Work a
/// pair: `(m m')^times` filters, which share their beginnings; refused beyond [`MOST_PATHS`].
#[derive(Clone, Copy, Debug)]
pub struct SwitchingKernel {
    times: usize,
    measure: Affinity<f64>,
    weights: PathWeights,
}

impl SwitchingKernel {
    /// The kernel of `times` successive samples, by a measure.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] of a `rho` or a `lambda` out of range.
    pub fn new(
        times: usize,
        measure: Affinity<f64>,
        weights: PathWeights,
    ) -> Result<Self, BetweenError> {
        Ok(Self { times, measure: checked(measure)?, weights })
    }

    /// Factor of each path of a system in a product, by the number that its modes spell.
    ///
    /// It is the path's weight, and the normaliser of its density's power.
    fn paths(&self, system: &SwitchingSystem, motion: &Motion) -> Result<Vec<f64>, BetweenError> {
        let modes = system.modes();
        let mut logs = vec![f64::NEG_INFINITY; modes.pow(self.times as u32)];
        let exponent = match self.weights {
            PathWeights::Powered => self.measure.exponent(),
            PathWeights::Expected => 1.0,
        };
        motion.centred().each_path(
            self.times,
            &|from, to| possible(system, from, to),
            &mut |path, log| {
                let weight = exponent * system.log_probability(path);
                logs[number(path, modes, |mode| mode)] = weight + log_power(self.measure, log);
            },
        )?;
        Ok(logs)
    }
}

impl ModelKernel for SwitchingKernel {
    type Model = SwitchingSystem;

    fn log_value(&self, a: &SwitchingSystem, b: &SwitchingSystem) -> Result<f64, BetweenError> {
        if is_constant(self.measure) {
            return same("channels", a.channels(), b.channels()).map(|()| 0.0);
        }
        let (one, other) = (a.motion()?, b.motion()?);
        let pair = pair_of(a, &one, b, &other, self.measure)?;
        let modes = b.modes();
        let paths = u32::try_from(self.times)
            .ok()
            .and_then(|times| (a.modes() * modes).checked_pow(times))
            .filter(|&paths| paths <= MOST_PATHS);
        if paths.is_none() {
            let (part, times) = ("the sum over paths".into(), self.times);
            let why = format!(
                "{} by {modes} modes at {times} times are more than {MOST_PATHS} pairs of paths; \
                 draw some",
                a.modes()
            );
            return Err(BetweenError::Model { part, why });
        }
        let (of_a, of_b) = (self.paths(a, &one)?, self.paths(b, &other)?);
        let mut logs = Vec::new();
        let allowed = |from: Option<usize>, to: usize| {
            possible(a, from.map(|from| from / modes), to / modes)
                && possible(b, from.map(|from| from % modes), to % modes)
        };
        pair.motion.each_path(self.times, &allowed, &mut |path, log| {
            let first = of_a[number(path, a.modes(), |mode| mode / modes)];
            let second = of_b[number(path, modes, |mode| mode % modes)];
            logs.push(first + second + log);
        })?;
        Ok(log_sum(&logs) + pair.log_constant(self.times))
    }
}

fn possible(system: &SwitchingSystem, from: Option<usize>, to: usize) -> bool {
    from.map_or(system.initial[to], |from| system.chain[from][to]) > 0.0
}

/// The number whose digits are modes.
fn number(path: &[usize], modes: usize, of: impl Fn(usize) -> usize) -> usize {
    path.iter().fold(0, |number, &mode| number * modes + of(mode))
}

fn pair_of(
    a: &SwitchingSystem,
    one: &Motion,
    b: &SwitchingSystem,
    other: &Motion,
    measure: Affinity<f64>,
) -> Result<Pair, BetweenError> {
    Pair::of(
        &Half { motion: one, seen: &a.observation, noise: &a.observation_noise },
        &Half { motion: other, seen: &b.observation, noise: &b.observation_noise },
        measure,
    )
}

/// A switching system with paths of modes that were drawn from it, once: what [`SampledSwitchingKernel`]
/// compares.
#[derive(Clone, Debug)]
pub struct SampledPaths {
    system: SwitchingSystem,
    motion: Motion,
    /// `[draw][time]`, and what normalises the power of each's density.
    paths: Vec<(Vec<usize>, f64)>,
}

impl SampledPaths {
    /// Draws `draws` paths of `times` modes. The same seed draws the same.
    ///
    /// Give each system a seed of its own: paths that two systems drew with one seed are not independent.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for an invalid system; [`BetweenError::Parameter`] for no draw.
    pub fn draw(
        system: SwitchingSystem,
        times: usize,
        draws: usize,
        seed: u64,
    ) -> Result<Self, BetweenError> {
        if draws == 0 {
            let (name, range) = ("draws", "1 or more");
            return Err(BetweenError::Parameter { name, value: 0.0, range });
        }
        let motion = system.motion()?;
        let (centred, zeros) = (motion.centred(), vec![0.0; system.channels()]);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut paths = Vec::with_capacity(draws);
        for _ in 0..draws {
            let path = system.draw_path(times, &mut rng);
            let mut zeros = std::iter::repeat_n(Some(zeros.as_slice()), times);
            let log = centred.log_likelihood(Some(&path), &mut zeros)?;
            paths.push((path, log));
        }
        Ok(Self { system, motion, paths })
    }

    /// The system.
    pub fn system(&self) -> &SwitchingSystem {
        &self.system
    }
}

/// The kernel of two switching systems by paths that were drawn once a system, and are paired by their
/// number:
///
/// ```text
/// k = 1/S sum_i k(x | q_i, x' | q'_i)
/// ```
///
/// A sum of kernels of `i`-th paths, so every matrix is positive semi-definite whatever was drawn. Between
/// systems that were drawn apart it estimates [`SwitchingKernel`] with [`PathWeights::Expected`], without
/// bias; of a system with itself paths are paired with themselves, and its kernel is larger.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 5.1. Work per pair: `S`
/// filters of `n + n'` numbers.
#[derive(Clone, Copy, Debug)]
pub struct SampledSwitchingKernel {
    measure: Affinity<f64>,
}

impl SampledSwitchingKernel {
    /// The kernel of a measure.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] of a `rho` or a `lambda` out of range.
    pub fn new(measure: Affinity<f64>) -> Result<Self, BetweenError> {
        Ok(Self { measure: checked(measure)? })
    }
}

impl ModelKernel for SampledSwitchingKernel {
    type Model = SampledPaths;

    fn log_value(&self, a: &SampledPaths, b: &SampledPaths) -> Result<f64, BetweenError> {
        let times = |drawn: &SampledPaths| drawn.paths[0].0.len();
        same("draws", a.paths.len(), b.paths.len())?;
        same("times", times(a), times(b))?;
        if is_constant(self.measure) {
            return same("channels", a.system.channels(), b.system.channels()).map(|()| 0.0);
        }
        let pair = pair_of(&a.system, &a.motion, &b.system, &b.motion, self.measure)?;
        let (modes, zeros) = (b.system.modes(), vec![0.0; a.system.channels()]);
        let mut logs = Vec::with_capacity(a.paths.len());
        for ((first, own), (second, other)) in a.paths.iter().zip(&b.paths) {
            let path: Vec<usize> =
                first.iter().zip(second).map(|(first, second)| first * modes + second).collect();
            let mut zeros = std::iter::repeat_n(Some(zeros.as_slice()), times(a));
            let log = pair.motion.log_likelihood(Some(&path), &mut zeros)?;
            logs.push(log + log_power(self.measure, *own) + log_power(self.measure, *other));
        }
        let mean = log_sum(&logs) - (logs.len() as f64).portable_ln();
        Ok(mean + pair.log_constant(times(a)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::LinearSystem;
    use crate::kernel::between::DynamicsKernel;

    #[test]
    fn a_long_path_of_one_mode_is_a_system_s() {
        let system = |stay: f64| LinearSystem {
            initial_mean: vec![0.5],
            initial_covariance: vec![vec![1.0]],
            transition: vec![vec![stay]],
            state_noise: vec![vec![0.25]],
            observation: vec![vec![1.0]],
            observation_noise: vec![vec![0.5]],
        };
        let switching = |system: &LinearSystem| SwitchingSystem {
            initial: vec![1.0],
            chain: vec![vec![1.0]],
            initial_mean: vec![system.initial_mean.clone()],
            initial_covariance: vec![system.initial_covariance.clone()],
            transition: vec![system.transition.clone()],
            state_noise: vec![system.state_noise.clone()],
            observation: system.observation.clone(),
            observation_noise: system.observation_noise.clone(),
        };
        let (times, measure) = (20_000, Affinity::Product { rho: 0.5 });
        let (one, other) = (system(0.75), system(-0.5));
        let plain = DynamicsKernel::new(times, measure).expect("a measure");
        let wanted = plain.log_value(&one, &other).expect("a kernel");
        let paths = SwitchingKernel::new(times, measure, PathWeights::Powered).expect("a measure");
        let found = paths.log_value(&switching(&one), &switching(&other)).expect("a kernel");
        assert!((found - wanted).abs() < 1e-9 * wanted.abs(), "{found}, not {wanted}");
    }
}
