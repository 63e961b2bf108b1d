//! Linear dynamical systems: the kernel of two is a likelihood of zeros.

use std::f64::consts::TAU;

use fishweir_core::kernel::Affinity;

use super::check::same;
use super::compared::checked;
use super::linear::log_overlap;
use super::{BetweenError, ModelKernel};
use crate::dynamics::{
    LinearSystem, MOST_STATES, Matrix, Motion, Move, Start, SystemError, WhitenedChannels,
};
use crate::elementary::Elementary;

/// The kernel of all samples of a number of times, drawn from two linear dynamical systems, by a measure:
/// exact, and no matrix grows with time.
///
/// With `D` numbers in all samples together and `S_t` the innovations' covariances, a power of a system's
/// density is one of the same system with its covariances over `rho`, but for a factor:
///
/// ```text
/// p^rho = Z p_rho,      log Z = (1 - rho)/2 ( D log 2 pi + sum_t log |S_t| ) - D/2 log rho
/// k     = Z Z' times the density of x - x' at zero,   x from p_rho, x' from p'_rho
/// ```
///
/// The difference is seen of the states side by side: a Kalman filter over `diag(A, A')` and `[C, -C']`
/// with noise `(R + R')/rho`, fed zeros. For the mean map `rho` is one, `I/lambda` is added to the noise,
/// and `D/2 log (2 pi/lambda)` to the logarithm. Systems need not have states of the same size.
///
/// Sources: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, sections 4.4 and 4.5, with the
/// covariance of different times, which that takes for zero: see [`PerStepKernel`]. Work per pair: one
/// filter of `n + n'` numbers and two of `n` and `n'`, `2 (n + n')^3` multiply-adds a time.
#[derive(Clone, Copy, Debug)]
pub struct DynamicsKernel {
    times: usize,
    measure: Affinity<f64>,
}

impl DynamicsKernel {
    /// The kernel of `times` successive samples, by a measure.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] of a `rho` or a `lambda` out of range.
    pub fn new(times: usize, measure: Affinity<f64>) -> Result<Self, BetweenError> {
        Ok(Self { times, measure: checked(measure)? })
    }
}

impl ModelKernel for DynamicsKernel {
    type Model = LinearSystem;

    fn log_value(&self, a: &LinearSystem, b: &LinearSystem) -> Result<f64, BetweenError> {
        let (measure, times) = (self.measure, self.times);
        if is_constant(measure) {
            return same("channels", a.channels(), b.channels()).map(|()| 0.0);
        }
        let pair = Pair::of(
            &Half { motion: &a.motion()?, noise: &a.observation_noise, seen: &a.observation },
            &Half { motion: &b.motion()?, noise: &b.observation_noise, seen: &b.observation },
            measure,
        )?;
        let zeros = vec![0.0; a.channels()];
        let zeros = || std::iter::repeat_n(Some(zeros.as_slice()), times);
        let own =
            |system: &LinearSystem| system.motion()?.centred().log_likelihood(None, &mut zeros());
        let joint = pair.motion.log_likelihood(None, &mut zeros())?;
        let powers = log_power(measure, own(a)?) + log_power(measure, own(b)?);
        Ok(powers + joint + pair.log_constant(times))
    }
}

/// Returns whether a measure makes all models equal: a Gaussian that is infinitely wide.
pub(super) fn is_constant(measure: Affinity<f64>) -> bool {
    measure == Affinity::MeanMap { lambda: 0.0 }
}

/// `(1 - rho)/2 (D log 2 pi + sum_t log |S_t|)`, from the log density of what is expected.
pub(super) fn log_power(measure: Affinity<f64>, log_centre: f64) -> f64 {
    -(1.0 - measure.exponent()) * log_centre
}

/// Half of a pair: a motion, and its channels before they were whitened.
pub(super) struct Half<'a> {
    pub(super) motion: &'a Motion,
    pub(super) seen: &'a Matrix,
    pub(super) noise: &'a Matrix,
}

/// Two systems side by side, and the difference of what is seen of them. A mode is one of the first, and
/// one of the second, which changes fastest.
pub(super) struct Pair {
    pub(super) motion: Motion,
    measure: Affinity<f64>,
    channels: usize,
}

impl Pair {
    pub(super) fn of(
        a: &Half<'_>,
        b: &Half<'_>,
        measure: Affinity<f64>,
    ) -> Result<Self, BetweenError> {
        let channels = a.seen.len();
        same("channels", channels, b.seen.len())?;
        let states = a.motion.starts[0].mean.len() + b.motion.starts[0].mean.len();
        if states > MOST_STATES {
            return Err(SystemError::States(states).into());
        }
        let rho = measure.exponent();
        let over = |matrix: Matrix| -> Matrix {
            matrix.into_iter().map(|row| row.into_iter().map(|x| x / rho).collect()).collect()
        };
        let starts = pairs(&a.motion.starts, &b.motion.starts, |a, b| Start {
            mean: [&a.mean[..], &b.mean].concat(),
            covariance: over(side_by_side(&a.covariance, &b.covariance)),
        });
        let moves = pairs(&a.motion.moves, &b.motion.moves, |a, b| Move {
            transition: side_by_side(&a.transition, &b.transition),
            noise: over(side_by_side(&a.noise, &b.noise)),
        });
        let row = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            a.iter().copied().chain(b.iter().map(|b| -b)).collect::<Vec<f64>>()
        };
        let observation: Matrix = a.seen.iter().zip(b.seen).map(row).collect();
        let widening = match measure {
            Affinity::MeanMap { lambda } => lambda.recip(),
            Affinity::Product { .. } => 0.0,
        };
        let entry = |i: usize, j: usize| {
            (a.noise[i][j] + b.noise[i][j]) / rho + if i == j { widening } else { 0.0 }
        };
        let noise: Matrix =
            (0..channels).map(|i| (0..channels).map(|j| entry(i, j)).collect()).collect();
        let seen = WhitenedChannels::new(&observation, &noise).map_err(|error| {
            BetweenError::Singular { part: "sum of observation noises".into(), row: error.row }
        })?;
        Ok(Self { motion: Motion { starts, moves, seen }, measure, channels })
    }

    /// Constant of `log k` apart from densities.
    pub(super) fn log_constant(&self, times: usize) -> f64 {
        let size = (times * self.channels) as f64;
        match self.measure {
            Affinity::Product { rho } => -size * rho.portable_ln(),
            Affinity::MeanMap { lambda } => 0.5 * size * (TAU / lambda).portable_ln(),
        }
    }
}

/// `f` of every pair, the second of which changes fastest.
fn pairs<A, B>(a: &[A], b: &[A], f: impl Fn(&A, &A) -> B) -> Vec<B> {
    a.iter().flat_map(|a| b.iter().map(|b| f(a, b)).collect::<Vec<B>>()).collect()
}

/// Two matrices on the diagonal of one.
fn side_by_side(a: &[Vec<f64>], b: &[Vec<f64>]) -> Matrix {
    let (n, m) = (a.len(), b.len());
    let first = a.iter().map(|row| [&row[..], &vec![0.0; m]].concat());
    let second = b.iter().map(|row| [&vec![0.0; n][..], row].concat());
    first.chain(second).collect()
}

/// The product over times of the kernels of two systems' samples at that time: what there would be if
/// samples of different times were independent. They are if `A` is zero; else this is another kernel than
/// [`DynamicsKernel`], of the marginals alone: two systems that differ in nothing but how they move from
/// one time to the next may look the same to it.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 4.5, as printed. Work a
/// pair: `3 n^3 + d^3` a time.
#[derive(Clone, Copy, Debug)]
pub struct PerStepKernel {
    times: usize,
    measure: Affinity<f64>,
}

impl PerStepKernel {
    /// The kernel of `times` successive samples, by a measure.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] of a `rho` or a `lambda` out of range.
    pub fn new(times: usize, measure: Affinity<f64>) -> Result<Self, BetweenError> {
        Ok(Self { times, measure: checked(measure)? })
    }
}

impl ModelKernel for PerStepKernel {
    type Model = LinearSystem;

    fn log_value(&self, a: &LinearSystem, b: &LinearSystem) -> Result<f64, BetweenError> {
        same("channels", a.channels(), b.channels())?;
        let (one, other) = (a.marginals(self.times)?, b.marginals(self.times)?);
        one.iter().zip(&other).map(|(a, b)| log_overlap(a, b, self.measure)).sum()
    }
}
