//! Filters at run-time sizes: the core's, at the next size that is compiled, padded with numbers that
//! nothing moves and nobody sees.

use std::rc::Rc;

use fishweir_core::dynamics::{Channels, Covariance, GaussianBelief, Innovation, KalmanState};
use fishweir_core::matrix::{at, cholesky, invert};
use fishweir_core::{ErrorKind, ModelError, ObservationError, Part};

use super::{MOST_STATES, Matrix, SystemError};
use crate::data::internals::is_partial;
use crate::elementary::Elementary;
use crate::runtime::{padded, padded_rows, with_states};

/// Distribution of the first state.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) mean: Vec<f64>,
    pub(crate) covariance: Matrix,
}

/// Transition of a state.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) transition: Matrix,
    pub(crate) noise: Matrix,
}

/// Channels as whitened functions of a state.
#[derive(Clone, Debug)]
pub(crate) struct WhitenedChannels {
    /// `W C`, `[channel][row]`.
    pub(crate) observation: Matrix,
    /// `W`, `[channel][channel]` in a row.
    pub(crate) whitening: Vec<f64>,
    pub(crate) constant: f64,
}

impl WhitenedChannels {
    /// Channels that see `C s` with noise of covariance `R`.
    pub(crate) fn new(observation: &[Vec<f64>], noise: &[Vec<f64>]) -> Result<Self, ModelError> {
        let size = observation.len();
        let refused = |kind, row| Err(ModelError::new(Part::ObservationNoise, kind, row, row));
        if let Some(row) = asymmetric_row(noise) {
            return refused(ErrorKind::NotSymmetric, row);
        }
        let mut whitening = noise.concat();
        if let Err(row) = cholesky(&mut whitening, size, |_| 0.0) {
            return refused(ErrorKind::NotPositiveDefinite, row);
        }
        invert(&mut whitening, size);
        let row = |d: usize| -> Vec<f64> {
            let columns = 0..observation.first().map_or(0, Vec::len);
            let seen = |n| (0..=d).map(|e| at(&whitening, size, d, e) * observation[e][n]).sum();
            columns.map(seen).collect()
        };
        let rates = (0..size).map(|d| at(&whitening, size, d, d).portable_ln());
        let constant = rates.sum::<f64>() - 0.5 * size as f64 * std::f64::consts::TAU.portable_ln();
        Ok(Self { observation: (0..size).map(row).collect(), whitening, constant })
    }
}

/// The first row of a matrix that is not its mirror image's.
fn asymmetric_row(matrix: &[Vec<f64>]) -> Option<usize> {
    let close = |i: usize, j: usize| {
        let scale = matrix[i][i].abs() + matrix[j][j].abs();
        (matrix[i][j] - matrix[j][i]).abs() <= 1e-9 * scale
    };
    (0..matrix.len()).find(|&i| !(0..i).all(|j| close(i, j)))
}

/// Model that a filter runs on: per mode a first state and a transition, and the channels.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) starts: Vec<Start>,
    pub(crate) moves: Vec<Move>,
    pub(crate) seen: WhitenedChannels,
}

/// The mode at each time; `None` where there is one for all.
pub(crate) type Path<'a> = Option<&'a [usize]>;

fn mode(path: Path<'_>, t: usize) -> usize {
    path.map_or(0, |path| path[t])
}

/// Distributions of a filter at one time.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// Distribution of the state given the samples before: `[row]`, `[row][column]` in a row.
    pub(crate) mean: Vec<f64>,
    pub(crate) covariance: Vec<f64>,
    /// The covariance given the sample, too.
    pub(crate) filtered: Vec<f64>,
    /// Innovation of each whitened channel: error, precision, gain. Empty for a missing sample.
    pub(crate) told: Vec<(f64, f64, Vec<f64>)>,
    /// Observation matrix of the channels present, `[channel][row]`, if a channel is missing; else the motion's own.
    pub(crate) seen: Option<Matrix>,
}

impl Motion {
    fn states(&self) -> usize {
        self.starts[0].mean.len()
    }

    /// `log p(x)` along a path of modes.
    pub(crate) fn log_likelihood(
        &self,
        path: Path<'_>,
        samples: &mut dyn Iterator<Item = Option<&[f64]>>,
    ) -> Result<f64, SystemError> {
        with_states!(self.states(), N => {
            let filter = Filter::<N>::of(self)?;
            let mut state = None;
            for (sample, x) in samples.enumerate() {
                let of = |why| SystemError::Sample { sample, why };
                let next = filter.advance(state.as_ref(), mode(path, sample));
                state = Some(filter.observe(next, x, |_| ()).map_err(of)?);
            }
            Ok(state.map_or(0.0, |state| state.density().log()))
        })
    }

    /// Distributions at each time, and `log p(x)`.
    pub(crate) fn forward(
        &self,
        path: Path<'_>,
        samples: &mut dyn Iterator<Item = Option<&[f64]>>,
    ) -> Result<(Vec<Moment>, f64), SystemError> {
        let size = self.states();
        with_states!(size, N => {
            let filter = Filter::<N>::of(self)?;
            let dense = |belief: &GaussianBelief<f64, N>| -> Vec<f64> {
                let matrix = belief.covariance().matrix();
                matrix[..size].iter().flat_map(|row| &row[..size]).copied().collect()
            };
            let (mut moments, mut state) = (Vec::new(), None);
            for (sample, x) in samples.enumerate() {
                let of = |why| SystemError::Sample { sample, why };
                let next = filter.advance(state.as_ref(), mode(path, sample));
                let mean = next.belief().mean()[..size].to_vec();
                let covariance = dense(next.belief());
                let mut told = Vec::new();
                let seen = x.filter(|x| is_partial(x)).map(|x| filter.marginal_rows(x, size));
                let next = filter.observe(next, x, |one| {
                    told.push((one.error, one.precision, one.gain[..size].to_vec()));
                });
                let next = next.map_err(of)?;
                let filtered = dense(next.belief());
                moments.push(Moment { mean, covariance, filtered, told, seen });
                state = Some(next);
            }
            Ok((moments, state.map_or(0.0, |state| state.density().log())))
        })
    }

    /// `log p(x)` where modes follow a Markov chain, and what is known of the state after a sample is taken for one
    /// Gaussian: exact of one mode.
    ///
    /// Source: Ackerson and Fu, "On state estimation in switching environments", 1970.
    pub(crate) fn log_likelihood_merged(
        &self,
        initial: &[f64],
        chain: &[Vec<f64>],
        samples: &mut dyn Iterator<Item = Option<&[f64]>>,
    ) -> Result<f64, SystemError> {
        with_states!(self.states(), N => {
            let filter = Filter::<N>::of(self)?;
            let (mut log, mut prior, mut merged) = (0.0, initial.to_vec(), None);
            for (sample, x) in samples.enumerate() {
                let mut refused = ObservationError::Impossible;
                let mut taken: Vec<(usize, f64, GaussianBelief<f64, N>)> = Vec::new();
                for (mode, prior) in prior.iter().enumerate().filter(|(_, prior)| **prior > 0.0) {
                    match filter.observe(filter.advance(merged.as_ref(), mode), x, |_| ()) {
                        Ok(next) => {
                            taken.push((mode, prior.portable_ln() + next.density().log(), *next.belief()));
                        }
                        Err(why) => refused = why,
                    }
                }
                let most = taken.iter().map(|(_, log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
                if most == f64::NEG_INFINITY {
                    return Err(SystemError::Sample { sample, why: refused });
                }
                let sum: f64 = taken.iter().map(|(_, log, _)| (log - most).portable_exp()).sum();
                log += most + sum.portable_ln();
                taken.iter_mut().for_each(|(_, log, _)| *log = (*log - most).portable_exp() / sum);
                let share = |to: usize| taken.iter().map(|(from, w, _)| w * chain[*from][to]).sum();
                prior = (0..chain.len()).map(share).collect();
                merged = Some(merge(&taken)?);
            }
            Ok(log)
        })
    }

    /// Tells `leaf` of every path of `times` modes that is `allowed`, and of `log p` of zeros along it;
    /// paths share what their beginnings have in common. `allowed` is asked of a mode, and of the one
    /// before it if there is one.
    pub(crate) fn each_path(
        &self,
        times: usize,
        allowed: &dyn Fn(Option<usize>, usize) -> bool,
        leaf: &mut dyn FnMut(&[usize], f64),
    ) -> Result<(), SystemError> {
        with_states!(self.states(), N => {
            let filter = Filter::<N>::of(self)?;
            let zeros = vec![0.0; self.seen.observation.len()];
            filter.walk(times, &zeros, allowed, leaf)
        })
    }

    /// Motion from a mean of zero: zeros are then expected, and their density is the normaliser.
    pub(crate) fn centred(&self) -> Self {
        let mut centred = self.clone();
        centred.starts.iter_mut().for_each(|start| start.mean.fill(0.0));
        centred
    }

    /// Checks the covariances of a motion of one mode, or of one of several.
    pub(crate) fn validate(&self, several: bool) -> Result<(), SystemError> {
        let (states, named) = (self.states(), |name: &str, mode: usize| match several {
            true => format!("{name}[{mode}]"),
            false => name.to_owned(),
        });
        if states == 0 || states > MOST_STATES {
            return Err(SystemError::States(states));
        }
        for (mode, start) in self.starts.iter().enumerate() {
            factors(&start.covariance, Part::InitialCovariance)
                .map_err(|e| SystemError::covariance(named("initial_covariance", mode), e))?;
        }
        for (mode, step) in self.moves.iter().enumerate() {
            factors(&step.noise, Part::StateNoise)
                .map_err(|e| SystemError::covariance(named("state_noise", mode), e))?;
        }
        Ok(())
    }
}

/// One Gaussian of the mean and the covariance of several, weighed, as a state that has begun.
fn merge<const N: usize>(
    all: &[(usize, f64, GaussianBelief<f64, N>)],
) -> Result<KalmanState<f64, N>, SystemError> {
    let mean: [f64; N] =
        std::array::from_fn(|i| all.iter().map(|(_, weight, one)| weight * one.mean()[i]).sum());
    let mut covariance = [[0.0; N]; N];
    for (_, weight, one) in all {
        let (own, matrix) = (one.mean(), one.covariance().matrix());
        for i in 0..N {
            for j in 0..N {
                let apart = (own[i] - mean[i]) * (own[j] - mean[j]);
                covariance[i][j] += weight * (matrix[i][j] + apart);
            }
        }
    }
    let covariance = Covariance::new(&covariance, Part::InitialCovariance)
        .map_err(|error| SystemError::covariance("covariance of the modes together", error))?;
    let mut state = KalmanState::new(GaussianBelief::new(mean, covariance));
    // The first step of a state has no transition: it begins.
    state.advance(&[[0.0; N]; N], &Covariance::ZERO);
    Ok(state)
}

/// The factors of a covariance: variances on the diagonal, the unit lower triangle left of it.
pub(crate) fn factors(matrix: &[Vec<f64>], part: Part) -> Result<Matrix, ModelError> {
    let size = matrix.len();
    with_states!(size, N => {
        let covariance = Covariance::<f64, N>::new(&padded_rows(matrix), part)?;
        Ok(covariance.factors()[..size].iter().map(|row| row[..size].to_vec()).collect())
    })
}

/// A motion in the core's numbers, at one of the sizes that are compiled.
struct Filter<const N: usize> {
    starts: Vec<GaussianBelief<f64, N>>,
    moves: Vec<([[f64; N]; N], Covariance<f64, N>)>,
    observation: Vec<[f64; N]>,
    whitening: Vec<f64>,
    constant: f64,
}

impl<const N: usize> Filter<N> {
    fn of(motion: &Motion) -> Result<Self, SystemError> {
        let start = |start: &Start| {
            let covariance =
                Covariance::new(&padded_rows(&start.covariance), Part::InitialCovariance)
                    .map_err(|error| SystemError::covariance("initial_covariance", error))?;
            Ok(GaussianBelief::new(padded(&start.mean), covariance))
        };
        let step = |step: &Move| {
            let noise = Covariance::new(&padded_rows(&step.noise), Part::StateNoise)
                .map_err(|error| SystemError::covariance("state_noise", error))?;
            Ok((padded_rows(&step.transition), noise))
        };
        Ok(Self {
            starts: motion.starts.iter().map(start).collect::<Result<_, SystemError>>()?,
            moves: motion.moves.iter().map(step).collect::<Result<_, SystemError>>()?,
            observation: motion.seen.observation.iter().map(|row| padded(row)).collect(),
            whitening: motion.seen.whitening.clone(),
            constant: motion.seen.constant,
        })
    }

    /// Moves a state to the next sample by a mode.
    fn advance(&self, state: Option<&KalmanState<f64, N>>, mode: usize) -> KalmanState<f64, N> {
        let mut next = state.copied().unwrap_or_else(|| KalmanState::new(self.starts[mode]));
        let (transition, noise) = &self.moves[mode];
        next.advance(transition, noise);
        next
    }

    fn channels(&self) -> Channels<'_, f64, N> {
        Channels {
            observation: &self.observation,
            whitening: &self.whitening,
            constant: self.constant,
        }
    }

    /// Takes in a sample; NaN marks a missing channel.
    fn observe(
        &self,
        mut state: KalmanState<f64, N>,
        x: Option<&[f64]>,
        told: impl FnMut(&Innovation<f64, N>),
    ) -> Result<KalmanState<f64, N>, ObservationError> {
        let Some(x) = x else { return Ok(state) };
        if !is_partial(x) {
            return state.observe(&self.channels(), x, told).map(|()| state);
        }
        let (mut rows, mut whitening) = (self.observation.clone(), self.whitening.clone());
        let marginal = self.channels().marginal(|d| !x[d].is_nan(), &mut rows, &mut whitening);
        let there: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
        state.observe(&marginal, &there, told).map(|()| state)
    }

    /// Whitened observation matrix of the channels present: `[channel][row]`.
    fn marginal_rows(&self, x: &[f64], size: usize) -> Matrix {
        let (mut rows, mut whitening) = (self.observation.clone(), self.whitening.clone());
        let marginal = self.channels().marginal(|d| !x[d].is_nan(), &mut rows, &mut whitening);
        marginal.observation.iter().map(|row| row[..size].to_vec()).collect()
    }

    fn walk(
        &self,
        times: usize,
        zeros: &[f64],
        allowed: &dyn Fn(Option<usize>, usize) -> bool,
        leaf: &mut dyn FnMut(&[usize], f64),
    ) -> Result<(), SystemError> {
        if times == 0 {
            leaf(&[], 0.0);
            return Ok(());
        }
        let modes = self.moves.len();
        // Modes still to be taken: when, which, and after what. No recursion: paths may be long.
        let first = (0..modes).rev().filter(|&mode| allowed(None, mode));
        let mut open: Vec<(usize, usize, _)> = first.map(|mode| (0, mode, None)).collect();
        let mut path = Vec::new();
        while let Some((sample, mode, before)) = open.pop() {
            let before: Option<Rc<KalmanState<f64, N>>> = before;
            let next = self.observe(self.advance(before.as_deref(), mode), Some(zeros), |_| ());
            let next = next.map_err(|why| SystemError::Sample { sample, why })?;
            path.truncate(sample);
            path.push(mode);
            if path.len() == times {
                leaf(&path, next.density().log());
                continue;
            }
            let next = Rc::new(next);
            let after = (0..modes).rev().filter(|&after| allowed(Some(mode), after));
            open.extend(after.map(|after| (sample + 1, after, Some(Rc::clone(&next)))));
        }
        Ok(())
    }
}
