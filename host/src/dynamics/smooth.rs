//! States given a whole series, and their expectations.

use nalgebra::{DMatrix, DVector};

use super::motion::{Moment, Path};
use super::system::{check_channels, dense, rows_of};
use super::{LinearSystem, Matrix, Motion, SystemError};
use crate::data::RowsView;
use crate::sums::Summand;

/// The state at each time, given all of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothed {
    /// `E[s_t | x]`, `[time][row]`.
    pub mean: Matrix,
    /// `Cov(s_t | x)`, `[time][row][column]`.
    pub covariance: Vec<Matrix>,
    /// `log p(x)`.
    pub log_likelihood: f64,
}

/// Second moments of neighbouring states, summed over a mode's steps from `s_t-1` to `s_t`.
#[derive(Clone, Debug)]
pub(crate) struct StepMoments {
    pub(crate) steps: f64,
    /// `sum E[s_t-1 s_t-1']`, `sum E[s_t s_t-1']`, `sum E[s_t s_t']`.
    pub(crate) before: DMatrix<f64>,
    pub(crate) across: DMatrix<f64>,
    pub(crate) after: DMatrix<f64>,
}

/// Moments of first states, summed over the series that start in a mode.
#[derive(Clone, Debug)]
pub(crate) struct StartMoments {
    pub(crate) starts: f64,
    pub(crate) sum: DVector<f64>,
    pub(crate) square: DMatrix<f64>,
}

/// Expected moments of states given series: all that an estimate or a score needs.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// `[mode]`.
    pub(crate) starts: Vec<StartMoments>,
    pub(crate) moves: Vec<StepMoments>,
    /// Samples that are there; `sum x x'`, `sum x E[s]'`, `sum E[s s']` over them.
    pub(crate) samples: f64,
    pub(crate) square: DMatrix<f64>,
    pub(crate) seen: DMatrix<f64>,
    pub(crate) state: DMatrix<f64>,
    pub(crate) log_likelihood: f64,
}

impl Expected {
    pub(crate) fn zero(modes: usize, states: usize, channels: usize) -> Self {
        let square = || DMatrix::zeros(states, states);
        let start = StartMoments { starts: 0.0, sum: DVector::zeros(states), square: square() };
        let step = StepMoments { steps: 0.0, before: square(), across: square(), after: square() };
        Self {
            starts: vec![start; modes],
            moves: vec![step; modes],
            samples: 0.0,
            square: DMatrix::zeros(channels, channels),
            seen: DMatrix::zeros(channels, states),
            state: square(),
            log_likelihood: 0.0,
        }
    }
}

impl Summand for Expected {
    fn add(&mut self, other: &Self) {
        for (own, other) in self.starts.iter_mut().zip(&other.starts) {
            own.starts += other.starts;
            own.sum += &other.sum;
            own.square += &other.square;
        }
        for (own, other) in self.moves.iter_mut().zip(&other.moves) {
            own.add(other);
        }
        self.samples += other.samples;
        self.square += &other.square;
        self.seen += &other.seen;
        self.state += &other.state;
        self.log_likelihood += other.log_likelihood;
    }
}

impl StepMoments {
    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.before += &other.before;
        self.across += &other.across;
        self.after += &other.after;
    }

    /// `sum E[(s_t - A s_t-1) (s_t - A s_t-1)']`.
    pub(crate) fn around(&self, transition: &DMatrix<f64>) -> DMatrix<f64> {
        let moved = &self.across - transition * &self.before;
        &self.after - &self.across * transition.transpose() - transition * moved.transpose()
    }
}

/// One state given all of a series, and its covariance with the one before.
pub(crate) struct SmoothedState {
    pub(crate) mean: DVector<f64>,
    covariance: DMatrix<f64>,
    /// `Cov(s_t, s_t-1)`; none of the first.
    across: Option<DMatrix<f64>>,
}

impl SmoothedState {
    /// `E[s s']`.
    fn square(&self) -> DMatrix<f64> {
        &self.covariance + &self.mean * self.mean.transpose()
    }

    /// The moments of a step from the state before to this; `None` for the first state.
    pub(crate) fn step(&self, before: &Self) -> Option<StepMoments> {
        let across = self.across.as_ref()? + &self.mean * before.mean.transpose();
        Some(StepMoments { steps: 1.0, before: before.square(), across, after: self.square() })
    }
}

/// Backwards through what a filter knew, without inverting any covariance: `r` and `N` are what later
/// samples say of a state, `E[s | x] = m + P r` and `Cov(s | x) = P - P N P`.
///
/// Sources: Bryson and Frazier 1963; de Jong, "Smoothing and interpolation with the state-space model",
/// 1989.
fn backward(motion: &Motion, path: Path<'_>, moments: &[Moment]) -> Vec<SmoothedState> {
    let states = motion.starts[0].mean.len();
    let square = |entries: &[f64]| DMatrix::from_row_slice(states, states, entries);
    let vectors = |rows: &[Vec<f64>]| -> Vec<DVector<f64>> {
        rows.iter().map(|row| DVector::from_column_slice(row)).collect()
    };
    let all = vectors(&motion.seen.observation);
    let transitions: Vec<DMatrix<f64>> =
        motion.moves.iter().map(|step| dense(&step.transition)).collect();
    let mut r = DVector::zeros(states);
    let mut n = DMatrix::zeros(states, states);
    let mut given = Vec::with_capacity(moments.len());
    for (t, moment) in moments.iter().enumerate().rev() {
        let own = moment.seen.as_deref().map(vectors);
        let channels = own.as_ref().unwrap_or(&all);
        // A missing sample has no innovations.
        let channels = &channels[..moment.told.len()];
        for (channel, (error, precision, gain)) in channels.iter().zip(&moment.told).rev() {
            // By `L = I - K c'`, backwards through each channel that was seen.
            let gain = DVector::from_column_slice(gain) * *precision;
            let back = gain.dot(&r);
            r += channel * (error * precision - back);
            let told = &n * &gain;
            let inner = gain.dot(&told);
            n += channel * channel.transpose() * (precision + inner);
            n -= channel * told.transpose() + &told * channel.transpose();
        }
        let predicted = square(&moment.covariance);
        let mean = DVector::from_column_slice(&moment.mean) + &predicted * &r;
        let kept = DMatrix::identity(states, states) - &predicted * &n;
        let mut covariance = &kept * &predicted;
        covariance = (&covariance + covariance.transpose()) * 0.5;
        let transition = &transitions[path.map_or(0, |path| path[t])];
        let across = t.checked_sub(1).map(|before| {
            let filtered = square(&moments[before].filtered);
            &kept * transition * filtered
        });
        given.push(SmoothedState { mean, covariance, across });
        r = transition.transpose() * r;
        n = transition.transpose() * n * transition;
    }
    given.reverse();
    given
}

/// The states of one series along a path of modes, given all of it, and `log p(x | path)`.
pub(crate) fn smooth(
    motion: &Motion,
    path: Path<'_>,
    samples: RowsView<'_>,
) -> Result<(Vec<SmoothedState>, f64), SystemError> {
    let (moments, log_likelihood) = motion.forward(path, &mut samples.iter_in_part())?;
    Ok((backward(motion, path, &moments), log_likelihood))
}

impl Expected {
    /// Adds the expectations of one series.
    pub(crate) fn observe(
        &mut self,
        given: &[SmoothedState],
        log_likelihood: f64,
        (motion, path): (&Motion, Path<'_>),
        samples: RowsView<'_>,
    ) {
        self.log_likelihood += log_likelihood;
        let completion = samples.has_partial_rows().then(|| Completion::of(motion));
        for (t, one) in given.iter().enumerate() {
            let mode = path.map_or(0, |path| path[t]);
            let before = t.checked_sub(1).and_then(|before| given.get(before));
            match before.and_then(|before| one.step(before)) {
                Some(step) => self.moves[mode].add(&step),
                None => {
                    let sums = &mut self.starts[mode];
                    sums.starts += 1.0;
                    sums.sum += &one.mean;
                    sums.square += one.square();
                }
            }
            if let Some(x) = samples.row(t) {
                let x = DVector::from_column_slice(x);
                self.samples += 1.0;
                self.square += &x * x.transpose();
                self.seen += &x * one.mean.transpose();
                self.state += one.square();
            } else if let Some((completion, x)) = completion.as_ref().zip(samples.row_in_part(t)) {
                completion.add(x, one, self);
            }
        }
    }
}

/// Expected values of missing channels, given the state and the channels present.
struct Completion {
    /// `C`.
    observation: DMatrix<f64>,
    /// `R`.
    noise: DMatrix<f64>,
}

impl Completion {
    fn of(motion: &Motion) -> Self {
        let size = motion.seen.observation.len();
        let whitening = DMatrix::from_row_slice(size, size, &motion.seen.whitening);
        let unwhitened = |rows: &DMatrix<f64>| {
            whitening.solve_lower_triangular(rows).unwrap_or_else(|| rows.clone())
        };
        let inverse = unwhitened(&DMatrix::identity(size, size));
        Self {
            observation: unwhitened(&dense(&motion.seen.observation)),
            noise: &inverse * inverse.transpose(),
        }
    }

    /// Adds the moments of a sample that lacks channels: `x = a + F s + N(0, V)` given the channels that are there, with
    ///
    /// ```text
    /// B = R_mo R_oo^-1      a_m = B x_o      F_m = C_m - B C_o      V_mm = R_mm - B R_om
    /// ```
    ///
    /// and `a_o = x_o`.
    fn add(&self, x: &[f64], one: &SmoothedState, to: &mut Expected) {
        let Self { observation, noise } = self;
        let (missing, there): (Vec<usize>, Vec<usize>) = (0..x.len()).partition(|&d| x[d].is_nan());
        let part = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| noise[(rows[i], columns[j])])
        };
        let across = part(&missing, &there);
        let Some(own) = part(&there, &there).cholesky() else { return };
        let by = own.solve(&across.transpose()).transpose();
        let left = part(&missing, &missing) - &by * across.transpose();
        let values = DVector::from_iterator(there.len(), there.iter().map(|&d| x[d]));
        let guessed = &by * &values;
        let seen = observation.select_rows(&missing) - &by * observation.select_rows(&there);
        let mut level = DVector::zeros(x.len());
        let mut slope = DMatrix::zeros(x.len(), observation.ncols());
        let mut rest = DMatrix::zeros(x.len(), x.len());
        for (&d, &value) in there.iter().zip(values.iter()) {
            level[d] = value;
        }
        for (i, &d) in missing.iter().enumerate() {
            level[d] = guessed[i];
            slope.row_mut(d).copy_from(&seen.row(i));
            for (j, &e) in missing.iter().enumerate() {
                rest[(d, e)] = left[(i, j)];
            }
        }
        let square = one.square();
        let moved = &slope * &one.mean;
        to.samples += 1.0;
        to.square += &level * level.transpose()
            + &level * moved.transpose()
            + &moved * level.transpose()
            + &slope * &square * slope.transpose()
            + rest;
        to.seen += &level * one.mean.transpose() + &slope * &square;
        to.state += square;
    }
}

/// The gradient of a log-likelihood, in the shape of a [`LinearSystem`]: with respect to every entry,
/// those of a covariance taken for different from their mirror images. So for any direction `w` whose
/// covariances are symmetric, `w . score` is the derivative along it.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemScore {
    /// `[row]`.
    pub initial_mean: Vec<f64>,
    /// `[row][column]`, as all that follow.
    pub initial_covariance: Matrix,
    /// Gradient with respect to `A`.
    pub transition: Matrix,
    /// Gradient with respect to `Q`.
    pub state_noise: Matrix,
    /// Gradient with respect to `C`.
    pub observation: Matrix,
    /// Gradient with respect to `R`.
    pub observation_noise: Matrix,
}

impl SystemScore {
    /// All entries, part by part in the order of the fields: a feature vector.
    pub fn entries(&self) -> Vec<f64> {
        let mean = std::slice::from_ref(&self.initial_mean);
        let parts: [&[Vec<f64>]; 6] = [
            mean,
            &self.initial_covariance,
            &self.transition,
            &self.state_noise,
            &self.observation,
            &self.observation_noise,
        ];
        parts.into_iter().flatten().flatten().copied().collect()
    }
}

impl LinearSystem {
    /// The state at each time given all of a series, missing samples among it. Work per sample: that of the
    /// filter, and some `10 n^3`; RAM `32 n^2` bytes per sample: what
    /// the filter knew, and what is known given all.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid system, or a series with other channels.
    pub fn smooth(&self, samples: RowsView<'_>) -> Result<Smoothed, SystemError> {
        check_channels(self.channels(), samples)?;
        let (given, log_likelihood) = smooth(&self.motion()?, None, samples)?;
        Ok(Smoothed {
            mean: given.iter().map(|one| one.mean.iter().copied().collect()).collect(),
            covariance: given.iter().map(|one| rows_of(&one.covariance)).collect(),
            log_likelihood,
        })
    }

    /// The score of a series: the gradient of its log-likelihood, by Fisher's identity from what is
    /// expected of the states.
    ///
    /// Source: Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers", 1998,
    /// equation 2, of a linear dynamical system.
    ///
    /// # Errors
    /// [`SystemError`] as [`smooth`](Self::smooth); [`SystemError::Singular`] of a `Sigma` or a `Q` that
    /// has no inverse.
    pub fn score(&self, samples: RowsView<'_>) -> Result<SystemScore, SystemError> {
        Ok(self.scored(samples)?.0)
    }

    /// The score of a series and its log-likelihood, of one pass.
    pub(crate) fn scored(&self, samples: RowsView<'_>) -> Result<(SystemScore, f64), SystemError> {
        check_channels(self.channels(), samples)?;
        let motion = self.motion()?;
        let (given, log_likelihood) = smooth(&motion, None, samples)?;
        let mut expected = Expected::zero(1, self.states(), self.channels());
        expected.observe(&given, log_likelihood, (&motion, None), samples);
        let (start, step) = (&expected.starts[0], &expected.moves[0]);
        let mean = DVector::from_column_slice(&self.initial_mean);
        let (a, c) = (dense(&self.transition), dense(&self.observation));
        let inverse = |name, matrix: &[Vec<f64>]| {
            let factored = dense(matrix).cholesky().ok_or(SystemError::Singular(name))?;
            Ok::<_, SystemError>(factored.inverse())
        };
        let first = inverse("initial_covariance", &self.initial_covariance)?;
        let noise = inverse("state_noise", &self.state_noise)?;
        let seen = inverse("observation_noise", &self.observation_noise)?;
        // Of a Gaussian: half of `S^-1 (sum of squares - count S) S^-1`.
        let of_covariance = |inverse: &DMatrix<f64>, squares: DMatrix<f64>, count: f64| {
            rows_of(&((inverse * squares * inverse - inverse * count) * 0.5))
        };
        let gap = &start.sum - &mean * start.starts;
        let around = &start.square - &start.sum * mean.transpose() - &mean * gap.transpose();
        let moved = &step.across - &a * &step.before;
        let steps = step.around(&a);
        let shown = &expected.seen - &c * &expected.state;
        let errors = &expected.square - &expected.seen * c.transpose() - &c * shown.transpose();
        let score = SystemScore {
            initial_mean: (&first * gap).iter().copied().collect(),
            initial_covariance: of_covariance(&first, around, start.starts),
            transition: rows_of(&(&noise * &moved)),
            state_noise: of_covariance(&noise, steps, step.steps),
            observation: rows_of(&(&seen * &shown)),
            observation_noise: of_covariance(&seen, errors, expected.samples),
        };
        Ok((score, log_likelihood))
    }
}
