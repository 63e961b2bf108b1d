use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::system::{Draw, check_channels, check_parts, seen};
use super::{Matrix, Motion, Move, Start, SystemError};
use crate::data::{RowsView, Samples};
use crate::elementary::Elementary;
use crate::runtime::check::{distribution, distributions, length};
use crate::runtime::numbers::choose;

/// A linear dynamical system that switches: a Markov chain of modes, each with dynamics of its own, seen
/// through the same channels.
///
/// ```text
/// q_0 ~ initial          q_t ~ chain[q_t-1]
/// s_0 ~ N(mu[q_0], Sigma[q_0])      s_t = A[q_t] s_t-1 + N(0, Q[q_t])      x_t = C s_t + N(0, R)
/// ```
///
/// Given a path of modes it is a linear dynamical system that changes in time, and everything about it is
/// exact; over all paths there is a sum of as many terms as there are paths.
///
/// Source: Pavlovic, Rehg and MacCormick, "Learning switching linear models of human motion", 2000.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchingSystem {
    /// The first mode's distribution, `[mode]`.
    pub initial: Vec<f64>,
    /// Probabilities of the next mode, `[from][to]`.
    pub chain: Matrix,
    /// `mu`, `[mode][row]`.
    pub initial_mean: Matrix,
    /// `Sigma`, `[mode][row][column]`.
    pub initial_covariance: Vec<Matrix>,
    /// `A`, `[mode][to][from]`.
    pub transition: Vec<Matrix>,
    /// `Q`, `[mode][row][column]`.
    pub state_noise: Vec<Matrix>,
    /// `C`, `[channel][row]`.
    pub observation: Matrix,
    /// `R`, `[channel][channel]`.
    pub observation_noise: Matrix,
}

impl SwitchingSystem {
    /// Number of modes.
    pub fn modes(&self) -> usize {
        self.initial.len()
    }

    /// Numbers of a state.
    pub fn states(&self) -> usize {
        self.initial_mean.first().map_or(0, Vec::len)
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.observation.len()
    }

    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// [`SystemError`] naming the first part that is wrong, its mode and row.
    pub fn validate(&self) -> Result<(), SystemError> {
        self.motion().map(|_| ())
    }

    /// Model that a filter runs on.
    pub(crate) fn motion(&self) -> Result<Motion, SystemError> {
        let (modes, n) = (self.modes(), self.states());
        if modes == 0 {
            return Err(SystemError::Empty("modes"));
        }
        distribution("initial", &self.initial)?;
        distributions("chain", &self.chain, modes, modes)?;
        for (name, found) in [
            ("initial_mean", self.initial_mean.len()),
            ("initial_covariance", self.initial_covariance.len()),
            ("transition", self.transition.len()),
            ("state_noise", self.state_noise.len()),
        ] {
            length(name, found, modes)?;
        }
        let (mut starts, mut moves) = (Vec::new(), Vec::new());
        for mode in 0..modes {
            let start = Start {
                mean: self.initial_mean[mode].clone(),
                covariance: self.initial_covariance[mode].clone(),
            };
            let step = Move {
                transition: self.transition[mode].clone(),
                noise: self.state_noise[mode].clone(),
            };
            check_parts(&format!("[{mode}]"), n, &start, &step)?;
            starts.push(start);
            moves.push(step);
        }
        let seen = seen(n, &self.observation, &self.observation_noise)?;
        let motion = Motion { starts, moves, seen };
        motion.validate(true)?;
        Ok(motion)
    }

    /// Checks that a path has one valid mode per sample.
    pub(crate) fn check_path(&self, path: &[usize], samples: usize) -> Result<(), SystemError> {
        let good = path.len() == samples && path.iter().all(|&mode| mode < self.modes());
        if good { Ok(()) } else { Err(SystemError::Path { found: path.len(), wanted: samples }) }
    }

    /// `log p(path)`; minus infinity of one that the chain does not take.
    pub fn log_probability(&self, path: &[usize]) -> f64 {
        let first = path.first().map_or(0.0, |&mode| self.initial[mode].portable_ln());
        let steps = path.windows(2).map(|pair| self.chain[pair[0]][pair[1]].portable_ln());
        first + steps.sum::<f64>()
    }

    /// `log p(x | path)` of a series along a path of modes: exact, by the Kalman filter.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system or path, or a series with other channels.
    pub fn log_likelihood_along(
        &self,
        path: &[usize],
        samples: RowsView<'_>,
    ) -> Result<f64, SystemError> {
        check_channels(self.channels(), samples)?;
        let motion = self.motion()?;
        self.check_path(path, samples.len())?;
        motion.log_likelihood(Some(path), &mut samples.iter_in_part())
    }

    /// `log p(x)` of a series, nearly: a sum over as many paths as there are is out of reach, so what is known of the
    /// state after each sample is taken for one Gaussian, of the modes' mean and covariance together. Exact of one
    /// mode, and of one path; coarse of modes that last, for what a mode tells of the state is lost (of six samples
    /// of two modes, one of them never left, 0.09 too much). Work per sample: `m` filters and `m n^2`.
    ///
    /// Source: Ackerson and Fu, "On state estimation in switching environments", 1970.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system, or a series with other channels.
    pub fn log_likelihood(&self, samples: RowsView<'_>) -> Result<f64, SystemError> {
        check_channels(self.channels(), samples)?;
        self.motion()?.log_likelihood_merged(
            &self.initial,
            &self.chain,
            &mut samples.iter_in_part(),
        )
    }

    /// Draws a path of modes.
    pub(crate) fn draw_path(&self, length: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let mut path = Vec::with_capacity(length);
        for _ in 0..length {
            let row = path.last().map_or(&self.initial, |&mode: &usize| &self.chain[mode]);
            path.push(choose(row, rng));
        }
        path
    }

    /// Draws a series and the path of modes that it took. The same seed draws the same.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system.
    pub fn simulate(&self, length: usize, seed: u64) -> Result<(Vec<usize>, Samples), SystemError> {
        let motion = self.motion()?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let path = self.draw_path(length, &mut rng);
        let draw = Draw::new(&motion, &self.observation, &self.observation_noise)?;
        let rows = draw.rows(length, Some(&path), &mut rng);
        Ok((path, Samples::Channels(rows)))
    }
}
