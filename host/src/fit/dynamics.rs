//! Expectation maximisation of linear dynamical systems.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::options::FitError;
use crate::data::internals::centre_and_spread;
use crate::data::{RowsView, SamplesView};
use crate::dynamics::{Expected, LinearSystem, MOST_STATES, Motion, SystemError, rows_of, smooth};
use crate::parallel::try_each;
use crate::sums::{Summand, sum_items};
use crate::words::short;

/// Fit of a linear dynamical system: expectation maximisation from a stochastic realisation of
/// the channels' autocovariances. There is no chance in it.
///
/// Sources: Shumway and Stoffer, "An approach to time series smoothing and forecasting using the EM
/// algorithm", 1982; Ghahramani and Hinton, "Parameter estimation for linear dynamical systems", 1996; for
/// the start Akaike, "Stochastic theory of minimal realization", 1974.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemEm {
    /// Numbers of a state.
    pub states: usize,
    /// Largest number of passes over the data.
    pub iterations: usize,
    /// Converged when a pass, the fifth or a later one, moves the log-likelihood by no more than this, in
    /// nats per sample: whatever the units of the channels.
    pub tolerance: f64,
    /// No standard deviation of the channels' noise, in any direction, falls below this fraction of the
    /// channels' own over the sequences fitted; of one, where a channel never moves.
    pub std_floor: f64,
}

impl Default for SystemEm {
    fn default() -> Self {
        Self { states: 2, iterations: 100, tolerance: 1e-5, std_floor: 0.01 }
    }
}

/// A fitted system and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemFit {
    /// The system.
    pub system: LinearSystem,
    /// Log-likelihood before each pass, and after the last.
    pub log_likelihood: Vec<f64>,
    /// `true` if it converged within the passes allowed.
    pub converged: bool,
}

/// Passes before which nothing is called converged.
const LEAST_PASSES: usize = 5;

/// Least ratio of a variance to the largest one that counts as nonzero.
const LEAST_VARIANCE: f64 = 1e-10;

impl SystemEm {
    /// Checks the options.
    ///
    /// # Errors
    /// [`FitError::Option`] naming the first that is out of range.
    pub fn validate(&self) -> Result<(), FitError> {
        let check = |good: bool, option, value: String, wanted| {
            if good { Ok(()) } else { Err(FitError::Option { option, value, wanted }) }
        };
        let states = (1..=MOST_STATES).contains(&self.states);
        check(states, "states", self.states.to_string(), "between 1 and 64")?;
        check(self.iterations > 0, "iterations", self.iterations.to_string(), "at least 1")?;
        let tolerance = self.tolerance.is_finite() && self.tolerance >= 0.0;
        check(tolerance, "tolerance", short(self.tolerance), "finite and not negative")?;
        let floor = self.std_floor.is_finite() && self.std_floor > 0.0;
        check(floor, "standard deviation floor", short(self.std_floor), "finite and positive")
    }

    /// Fits a system to series of one kind, missing samples among them. Channels have no mean of their own:
    /// they come centred.
    ///
    /// Work per pass and sample: some `20 n^3 + d (2 n^2 + 3 n)`; RAM: `32 n^2` bytes per sample of the series
    /// that are worked on at once.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range, there is nothing to fit, or a series is of symbols.
    pub fn fit(
        &self,
        sequences: &[SamplesView<'_>],
        progress: &(dyn Fn() + Sync),
    ) -> Result<SystemFit, FitError> {
        self.validate()?;
        let data = Data::of(sequences, self.std_floor)?;
        self.improve(self.start(&data), &data, progress)
    }

    /// Improves a system until it converges.
    ///
    /// # Errors
    /// [`FitError`] as [`fit`](Self::fit), and for a system that is invalid or of other channels.
    pub fn fit_from(
        &self,
        start: LinearSystem,
        sequences: &[SamplesView<'_>],
        progress: &(dyn Fn() + Sync),
    ) -> Result<SystemFit, FitError> {
        self.validate()?;
        start.validate()?;
        let data = Data::of(sequences, self.std_floor)?;
        if data.floor.len() != start.channels() {
            return Err(SystemError::Channels(start.channels()).into());
        }
        self.improve(start, &data, progress)
    }

    fn improve(
        &self,
        start: LinearSystem,
        data: &Data<'_>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<SystemFit, FitError> {
        let enough = self.tolerance * data.samples as f64;
        let (mut system, mut log_likelihood) = (start, Vec::new());
        let mut before = f64::NEG_INFINITY;
        loop {
            let expected = data.expect(&system)?;
            let now = expected.log_likelihood;
            log_likelihood.push(now);
            let passes = log_likelihood.len() - 1;
            let converged = passes >= LEAST_PASSES && (now - before).abs() <= enough;
            if converged || passes >= self.iterations {
                return Ok(SystemFit { system, log_likelihood, converged });
            }
            before = now;
            maximise(&mut system, &expected, &data.floor);
            progress();
        }
    }

    /// Initial system: its state is the part of the past that predicts the future.
    ///
    /// It is found by the singular values of the matrix of autocovariances `[future][past]`.
    fn start(&self, data: &Data<'_>) -> LinearSystem {
        let (states, channels) = (self.states, data.floor.len());
        let ahead = states.div_ceil(channels) + 1;
        let lags = data.autocovariances(2 * ahead);
        let size = ahead * channels;
        let future_past = DMatrix::from_fn(size, size, |i, j| {
            lags[i / channels + j / channels + 1][(i % channels, j % channels)]
        });
        let svd = future_past.svd(true, false);
        let axes = svd.u.unwrap_or_else(|| DMatrix::identity(size, size));
        // Channels are in units of their deviations. What nothing tells of starts small, not nowhere.
        let largest = svd.singular_values.iter().copied().fold(0.1, f64::max);
        let of_state: Vec<f64> = (0..states)
            .map(|k| svd.singular_values.get(k).copied().unwrap_or(0.0).max(0.01 * largest))
            .collect();
        let seen = DMatrix::from_fn(size, states, |i, k| axes[(i, k)] * of_state[k].sqrt());
        let (early, late) = (seen.rows(0, size - channels), seen.rows(channels, size - channels));
        let inverse = early.into_owned().pseudo_inverse(1e-9);
        let mut transition = inverse
            .map_or_else(|_| DMatrix::identity(states, states) * 0.9, |inverse| inverse * late);
        let fastest = transition.complex_eigenvalues();
        let fastest =
            fastest.iter().map(|e| (e.re * e.re + e.im * e.im).sqrt()).fold(0.0, f64::max);
        if fastest > MOST_PERSISTENT {
            transition *= MOST_PERSISTENT / fastest;
        }
        let spread = DMatrix::from_diagonal(&DVector::from_vec(of_state.clone()));
        let noise = &spread - &transition * &spread * transition.transpose();
        let observation = seen.rows(0, channels).into_owned();
        let rest = &lags[0] - &observation * &spread * observation.transpose();
        let (units, tenth) = (&data.scale, (0.1_f64).sqrt());
        let scaled = |i: usize, j: usize, x: f64| x * units[i] * units[j];
        let rest = at_least(&rest, &vec![tenth; channels]);
        LinearSystem {
            initial_mean: vec![0.0; states],
            initial_covariance: rows_of(&spread),
            state_noise: rows_of(&at_least(
                &noise,
                &of_state.iter().map(|s| (0.05 * s).sqrt()).collect::<Vec<f64>>(),
            )),
            transition: rows_of(&transition),
            observation: rows_of(&DMatrix::from_fn(channels, states, |i, k| {
                observation[(i, k)] * units[i]
            })),
            observation_noise: rows_of(&DMatrix::from_fn(channels, channels, |i, j| {
                scaled(i, j, rest[(i, j)])
            })),
        }
    }
}

/// No start is closer to a random walk.
const MOST_PERSISTENT: f64 = 0.98;

/// The series of a fit, and properties of their channels.
pub(super) struct Data<'a> {
    pub(super) series: Vec<RowsView<'a>>,
    pub(super) samples: usize,
    /// Standard deviations, one where the channel is constant, `[channel]`.
    pub(super) scale: Vec<f64>,
    /// Floor of the noise's standard deviations.
    pub(super) floor: Vec<f64>,
}

impl<'a> Data<'a> {
    pub(super) fn of(sequences: &[SamplesView<'a>], std_floor: f64) -> Result<Self, FitError> {
        let samples: usize = sequences.iter().map(SamplesView::observed).sum();
        if samples == 0 {
            return Err(FitError::NoData);
        }
        let rows = |view: &SamplesView<'a>| view.rows();
        let series: Vec<RowsView<'a>> = sequences.iter().filter_map(rows).collect();
        let channels = series.first().map_or(0, RowsView::dimension);
        let other = series.iter().any(|rows| rows.dimension() != channels);
        if series.len() < sequences.len() || other {
            return Err(SystemError::Channels(channels).into());
        }
        // Of samples alone there is no dynamics.
        let most = sequences.iter().map(SamplesView::observed).max().unwrap_or(0);
        if most < 2 {
            return Err(FitError::FewPoints { found: most });
        }
        let (_, spread) = centre_and_spread(channels, || {
            series.iter().flat_map(RowsView::iter_in_part).flatten()
        });
        let scale: Vec<f64> =
            spread.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect();
        let floor = scale.iter().map(|std| std_floor * std).collect();
        Ok(Self { series, samples, scale, floor })
    }

    fn expect(&self, system: &LinearSystem) -> Result<Expected, FitError> {
        let motion = system.motion()?;
        let zero = Expected::zero(1, system.states(), system.channels());
        let of_series = |index: usize| {
            let (given, log_likelihood) = self.smooth(&motion, None, index)?;
            let mut one = zero.clone();
            one.observe(&given, log_likelihood, (&motion, None), self.series[index]);
            Ok::<_, FitError>(one)
        };
        let of_leaf = |series: Range<usize>| {
            let mut sum = zero.clone();
            for one in try_each(series.len(), &|offset| of_series(series.start + offset))? {
                sum.add(&one);
            }
            Ok::<_, FitError>(sum)
        };
        Ok(sum_items(self.series.len(), &of_leaf)?.unwrap_or(zero))
    }

    /// The states of one of the series.
    pub(super) fn smooth(
        &self,
        motion: &Motion,
        path: Option<&[usize]>,
        index: usize,
    ) -> Result<(Vec<crate::dynamics::SmoothedState>, f64), FitError> {
        smooth(motion, path, self.series[index])
            .map_err(|why| FitError::Impossible { sequence: index, why: why.to_string() })
    }

    /// `E[x_t+k x_t']` of the channels in units of their standard deviations, for each lag `k`: of each pair of channels over
    /// the samples that have both.
    fn autocovariances(&self, lags: usize) -> Vec<DMatrix<f64>> {
        let channels = self.scale.len();
        let in_units = |x: &[f64]| {
            DVector::from_iterator(channels, x.iter().zip(&self.scale).map(|(x, std)| x / std))
        };
        let lag = |k: usize| {
            let mut sum = DMatrix::zeros(channels, channels);
            let mut pairs = DMatrix::<f64>::zeros(channels, channels);
            for rows in &self.series {
                for (later, now) in rows.iter_in_part().skip(k).zip(rows.iter_in_part()) {
                    let (Some(later), Some(now)) = (later, now) else { continue };
                    let mut products = in_units(later) * in_units(now).transpose();
                    for (product, count) in products.iter_mut().zip(pairs.iter_mut()) {
                        match product.is_nan() {
                            true => *product = 0.0,
                            false => *count += 1.0,
                        }
                    }
                    sum += products;
                }
            }
            sum.zip_map(&pairs, |sum, pairs| sum / f64::max(pairs, 1.0))
        };
        (0..lags).map(lag).collect()
    }
}

/// The system that the expected moments make likeliest, with the floor.
fn maximise(system: &mut LinearSystem, expected: &Expected, floor: &[f64]) {
    let (start, step) = (&expected.starts[0], &expected.moves[0]);
    let mean = &start.sum / start.starts;
    let around = &start.square / start.starts - &mean * mean.transpose();
    system.initial_mean = mean.iter().copied().collect();
    system.initial_covariance = rows_of(&positive(&around));
    if step.steps > 0.0 {
        let transition = regression(&step.across, &step.before);
        let noise = step.around(&transition) / step.steps;
        system.transition = rows_of(&transition);
        system.state_noise = rows_of(&positive(&noise));
    }
    (system.observation, system.observation_noise) = maximise_channels(expected, floor);
}

/// Estimates the observation matrix and its noise.
pub(super) fn maximise_channels(
    expected: &Expected,
    floor: &[f64],
) -> (crate::dynamics::Matrix, crate::dynamics::Matrix) {
    let observation = regression(&expected.seen, &expected.state);
    let shown = &expected.seen - &observation * &expected.state;
    let errors = &expected.square
        - &expected.seen * observation.transpose()
        - &observation * shown.transpose();
    (rows_of(&observation), rows_of(&at_least(&(errors / expected.samples), floor)))
}

/// `products squares^-1`; along what never varies, nothing.
pub(super) fn regression(products: &DMatrix<f64>, squares: &DMatrix<f64>) -> DMatrix<f64> {
    if let Some(factored) = squares.clone().cholesky() {
        return factored.solve(&products.transpose()).transpose();
    }
    let size = squares.nrows();
    let inverse = squares.clone().pseudo_inverse(LEAST_VARIANCE * squares.norm());
    products * inverse.unwrap_or_else(|_| DMatrix::zeros(size, size))
}

/// The nearest covariance to a matrix that rounding has changed.
pub(super) fn positive(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let most = matrix.diagonal().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    at_least(matrix, &vec![(LEAST_VARIANCE * most).sqrt(); matrix.nrows()])
}

/// The likeliest covariance of which no direction's standard deviation is below the floor, in units of the
/// rows' floors.
pub(super) fn at_least(matrix: &DMatrix<f64>, floor: &[f64]) -> DMatrix<f64> {
    let size = floor.len();
    let in_floors = DMatrix::from_fn(size, size, |i, j| {
        0.5 * (matrix[(i, j)] + matrix[(j, i)]) / (floor[i] * floor[j])
    });
    let mut axes = in_floors.symmetric_eigen();
    axes.eigenvalues.iter_mut().for_each(|variance| *variance = variance.max(1.0));
    let found = axes.recompose();
    DMatrix::from_fn(size, size, |i, j| 0.5 * (found[(i, j)] + found[(j, i)]) * floor[i] * floor[j])
}
