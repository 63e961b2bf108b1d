use fishweir_core::dynamics::{Dynamics, Parameters};
use fishweir_core::number::Real;
use fishweir_core::{ModelError, Part};
use nalgebra::{DMatrix, DVector};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::motion::factors;
use super::{Matrix, Motion, Move, Start, SystemError, WhitenedChannels};
use crate::data::{Rows, RowsView, Samples};
use crate::runtime::check::{FINITE, length, numbers};
use crate::runtime::numbers::normal;

/// A linear dynamical system with run-time sizes, in `f64`, as fitting makes it.
///
/// ```text
/// s_0 ~ N(mu, Sigma)      s_t = A s_t-1 + N(0, Q)      x_t = C s_t + N(0, R)
/// ```
///
/// Channels have no mean of their own: centre them first.
///
/// Source: Shumway and Stoffer, "An approach to time series smoothing and forecasting using the EM
/// algorithm", 1982.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSystem {
    /// `mu`, `[row]`.
    pub initial_mean: Vec<f64>,
    /// `Sigma`, `[row][column]`; may be singular.
    pub initial_covariance: Matrix,
    /// `A`, `[to][from]`.
    pub transition: Matrix,
    /// `Q`, `[row][column]`; may be singular.
    pub state_noise: Matrix,
    /// `C`, `[channel][row]`.
    pub observation: Matrix,
    /// `R`, `[channel][channel]`; positive definite.
    pub observation_noise: Matrix,
}

/// The mean and the covariance of numbers that are Gaussian together.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// `[entry]`.
    pub mean: Vec<f64>,
    /// `[entry][entry]`.
    pub covariance: Matrix,
}

impl LinearSystem {
    /// Numbers of a state.
    pub fn states(&self) -> usize {
        self.initial_mean.len()
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.observation.len()
    }

    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// [`SystemError`] naming the first part that is wrong, and the row.
    pub fn validate(&self) -> Result<(), SystemError> {
        self.motion().map(|_| ())
    }

    /// Parameters that are free: `A`, `C` and the triangles of the covariances. Of these `n^2` are the
    /// choice of coordinates, which no likelihood sees.
    pub fn free_parameters(&self) -> usize {
        let (n, d) = (self.states(), self.channels());
        n + n * (n + 1) + d * (d + 1) / 2 + d * n
    }

    /// Model that a filter runs on.
    pub(crate) fn motion(&self) -> Result<Motion, SystemError> {
        let n = self.states();
        let start =
            Start { mean: self.initial_mean.clone(), covariance: self.initial_covariance.clone() };
        let step = Move { transition: self.transition.clone(), noise: self.state_noise.clone() };
        check_parts("", n, &start, &step)?;
        let seen = seen(n, &self.observation, &self.observation_noise)?;
        let motion = Motion { starts: vec![start], moves: vec![step], seen };
        motion.validate(false)?;
        Ok(motion)
    }

    /// `log p(x)` of a series, by the Kalman filter. Work per sample: `2 n^3 + d (2 n^2 + 3 n)` multiply-adds
    /// at the size that `n` is padded to, a power of two.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system, or a series with other channels.
    pub fn log_likelihood(&self, samples: RowsView<'_>) -> Result<f64, SystemError> {
        check_channels(self.channels(), samples)?;
        self.motion()?.log_likelihood(None, &mut samples.iter_in_part())
    }

    /// The core's system, its numbers rounded to the format of a device.
    ///
    /// # Errors
    /// A number that rounding to the format invalidates: a covariance that is no longer positive definite.
    ///
    /// # Panics
    /// If the sizes are others than the system's: a mistake of the caller.
    pub fn dynamics<T: Real, const N: usize, const D: usize>(
        &self,
    ) -> Result<Dynamics<N, D, T>, ModelError> {
        assert_eq!([N, D], [self.states(), self.channels()], "a system of these sizes");
        fn matrix<T: Real, const R: usize, const C: usize>(rows: &[Vec<f64>]) -> [[T; C]; R] {
            std::array::from_fn(|i| std::array::from_fn(|j| T::from_f64(rows[i][j])))
        }
        Dynamics::new(&Parameters {
            initial_mean: std::array::from_fn(|i| T::from_f64(self.initial_mean[i])),
            initial_covariance: matrix(&self.initial_covariance),
            transition: matrix(&self.transition),
            state_noise: matrix(&self.state_noise),
            observation: matrix(&self.observation),
            observation_noise: matrix(&self.observation_noise),
        })
    }

    /// Draws a series. The same seed draws the same series.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system.
    pub fn simulate(&self, length: usize, seed: u64) -> Result<Samples, SystemError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Ok(Samples::Channels(Draw::of(&self.motion()?, self)?.rows(length, None, &mut rng)))
    }

    /// Joint Gaussian of the samples at `times` successive times, `k d` entries in the order of time. Work: `k^2 n^3`.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system.
    pub fn joint(&self, times: usize) -> Result<Moments, SystemError> {
        self.validate()?;
        let (a, c) = (dense(&self.transition), dense(&self.observation));
        let d = self.channels();
        let mut mean = Vec::new();
        let mut covariance = DMatrix::zeros(times * d, times * d);
        for (t, (state, own)) in self.state_moments(times).into_iter().enumerate() {
            mean.extend((&c * state).iter());
            let mut along = own;
            for later in t..times {
                let mut block = &c * &along * c.transpose();
                if later == t {
                    block += dense(&self.observation_noise);
                }
                covariance.view_mut((later * d, t * d), (d, d)).copy_from(&block);
                covariance.view_mut((t * d, later * d), (d, d)).copy_from(&block.transpose());
                along = &a * along;
            }
        }
        Ok(Moments { mean, covariance: rows_of(&covariance) })
    }

    /// Gaussian of the sample at each of `times` times, separately.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system.
    pub fn marginals(&self, times: usize) -> Result<Vec<Moments>, SystemError> {
        self.validate()?;
        let (c, r) = (dense(&self.observation), dense(&self.observation_noise));
        let of = |(mean, covariance): (DVector<f64>, DMatrix<f64>)| Moments {
            mean: (&c * mean).iter().copied().collect(),
            covariance: rows_of(&(&c * covariance * c.transpose() + &r)),
        };
        Ok(self.state_moments(times).into_iter().map(of).collect())
    }

    /// Mean and covariance of the state at each time.
    fn state_moments(&self, times: usize) -> Vec<(DVector<f64>, DMatrix<f64>)> {
        let (a, q) = (dense(&self.transition), dense(&self.state_noise));
        let mut mean = DVector::from_column_slice(&self.initial_mean);
        let mut covariance = dense(&self.initial_covariance);
        let mut moments = Vec::new();
        for _ in 0..times {
            let next = (&a * &mean, &a * &covariance * a.transpose() + &q);
            moments.push((mean, covariance));
            (mean, covariance) = next;
        }
        moments
    }
}

/// A matrix by its rows, for arithmetic.
pub(crate) fn dense(rows: &[Vec<f64>]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, j| rows[i][j])
}

pub(crate) fn rows_of(matrix: &DMatrix<f64>) -> Matrix {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

/// Checks that a series has `channels` channels.
pub(super) fn check_channels(channels: usize, samples: RowsView<'_>) -> Result<(), SystemError> {
    let same = samples.dimension() == channels;
    if same { Ok(()) } else { Err(SystemError::Channels(channels)) }
}

/// Shapes and finite numbers of a mode's parts; `of` is `[mode]`, or nothing.
pub(super) fn check_parts(
    of: &str,
    n: usize,
    start: &Start,
    step: &Move,
) -> Result<(), SystemError> {
    let named = |name: &str| format!("{name}{of}");
    length(named("initial_mean"), start.mean.len(), n)?;
    let mean = std::slice::from_ref(&start.mean);
    numbers(&named("initial_mean"), mean, (1, n), FINITE)?;
    numbers(&named("initial_covariance"), &start.covariance, (n, n), FINITE)?;
    numbers(&named("transition"), &step.transition, (n, n), FINITE)?;
    numbers(&named("state_noise"), &step.noise, (n, n), FINITE)?;
    Ok(())
}

/// Channels, checked and whitened.
pub(super) fn seen(
    n: usize,
    observation: &[Vec<f64>],
    noise: &[Vec<f64>],
) -> Result<WhitenedChannels, SystemError> {
    let d = observation.len();
    if d == 0 {
        return Err(SystemError::Empty("channels"));
    }
    numbers("observation", observation, (d, n), FINITE)?;
    numbers("observation_noise", noise, (d, d), FINITE)?;
    WhitenedChannels::new(observation, noise)
        .map_err(|error| SystemError::covariance("observation_noise", error))
}

/// Roots of covariances, by which series are drawn.
pub(super) struct Draw<'a> {
    motion: &'a Motion,
    starts: Vec<Matrix>,
    noises: Vec<Matrix>,
    observation: &'a [Vec<f64>],
    noise: Matrix,
}

impl<'a> Draw<'a> {
    fn of(motion: &'a Motion, system: &'a LinearSystem) -> Result<Self, SystemError> {
        Self::new(motion, &system.observation, &system.observation_noise)
    }

    pub(super) fn new(
        motion: &'a Motion,
        observation: &'a [Vec<f64>],
        noise: &[Vec<f64>],
    ) -> Result<Self, SystemError> {
        let root = |matrix: &[Vec<f64>], part| {
            let of = |error| SystemError::covariance("covariance", error);
            let mut root = factors(matrix, part).map_err(of)?;
            let deviations: Vec<f64> = (0..root.len()).map(|k| root[k][k].sqrt()).collect();
            for (row, entries) in root.iter_mut().enumerate() {
                entries[row] = 1.0;
                entries.iter_mut().zip(&deviations).for_each(|(entry, by)| *entry *= by);
            }
            Ok::<_, SystemError>(root)
        };
        let starts = motion.starts.iter().map(|s| root(&s.covariance, Part::InitialCovariance));
        let noises = motion.moves.iter().map(|m| root(&m.noise, Part::StateNoise));
        Ok(Self {
            motion,
            starts: starts.collect::<Result<_, _>>()?,
            noises: noises.collect::<Result<_, _>>()?,
            observation,
            noise: root(noise, Part::ObservationNoise)?,
        })
    }

    /// A series along a path of modes.
    pub(super) fn rows(&self, length: usize, path: Option<&[usize]>, rng: &mut ChaCha8Rng) -> Rows {
        let mut rows = Rows::new(self.observation.len());
        let mut state: Option<Vec<f64>> = None;
        for t in 0..length {
            let mode = path.map_or(0, |path| path[t]);
            let (expected, root) = match &state {
                None => (self.motion.starts[mode].mean.clone(), &self.starts[mode]),
                Some(s) => (product(&self.motion.moves[mode].transition, s), &self.noises[mode]),
            };
            let drawn = scattered(expected, root, rng);
            let x = scattered(product(self.observation, &drawn), &self.noise, rng);
            rows.push(Some(&x));
            state = Some(drawn);
        }
        rows
    }
}

fn product(matrix: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

/// A draw of this mean and root of its covariance.
fn scattered(mut mean: Vec<f64>, root: &[Vec<f64>], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let z: Vec<f64> = root.iter().map(|_| normal(rng)).collect();
    mean.iter_mut().zip(product(root, &z)).for_each(|(mean, z)| *mean += z);
    mean
}
