use fishweir_core::ObservationError;
use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::{Model, ModelScore, Scored, names_of_rows};
use crate::data::internals::centre_and_spread;
use crate::data::{Rows, RowsView, Samples, SamplesView};
use crate::dynamics::{LinearSystem, SystemError, dense, rows_of};
use crate::fit::{FitError, SystemEm, SystemFit};
use crate::parallel::each;

/// A linear dynamical system around a mean: `x_t = centre + C s_t + N(0, R)`.
///
/// Score: `initial_mean`, then by rows the covariance of the first state, `A`, `Q`, `C` and `R`; these are
/// `n + 3 n^2 + d n + d^2` entries, the slopes along the numbers themselves whatever parametrisation is asked for. All
/// covariances must be positive definite. A missing sample counts nothing, nor does a missing channel of a sample; a sequence
/// of symbols, or of other channels, is refused as impossible.
///
/// Sources: Shumway and Stoffer, "An approach to time series smoothing and forecasting using the EM
/// algorithm", 1982; for the score by what is expected, Jaakkola and Haussler, "Exploiting generative
/// models in discriminative classifiers", 1998. Work per sample: that of a Kalman smoother, some `20 n^3`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts<LinearSystem>")]
pub struct SystemModel {
    centre: Vec<f64>,
    system: LinearSystem,
}

/// Doublings of a sum of powers: 2^20 samples are for ever.
const DOUBLINGS: usize = 20;

/// A system as files have it, and the mean that it moves around.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts<S> {
    pub(super) centre: Vec<f64>,
    pub(super) system: S,
}

/// Refuses a mean with other channels than the system's, or a number that is not finite.
pub(super) fn check_centre(centre: &[f64], channels: usize) -> Result<(), SystemError> {
    if centre.len() != channels || centre.iter().any(|x| !x.is_finite()) {
        return Err(SystemError::Channels(channels));
    }
    Ok(())
}

impl TryFrom<Parts<LinearSystem>> for SystemModel {
    type Error = SystemError;

    fn try_from(Parts { centre, system }: Parts<LinearSystem>) -> Result<Self, SystemError> {
        Self::new(centre, system)
    }
}

impl SystemModel {
    /// A system and the mean that it moves around, `[channel]`.
    ///
    /// # Errors
    /// [`SystemError`] naming the part that is wrong.
    pub fn new(centre: Vec<f64>, system: LinearSystem) -> Result<Self, SystemError> {
        system.validate()?;
        check_centre(&centre, system.channels())?;
        // Without a sample the score is zero, unless a covariance has no inverse.
        system.score(Rows::new(centre.len()).view())?;
        Ok(Self { centre, system })
    }

    /// The system that series make likeliest, around their mean, by expectation maximisation.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range, or there is nothing to fit.
    pub fn fit(
        options: &SystemEm,
        sequences: &[SamplesView<'_>],
        progress: &(dyn Fn() + Sync),
    ) -> Result<(Self, SystemFit), FitError> {
        let (centre, fit) = about_their_mean(sequences, |views| options.fit(views, progress))?;
        Ok((Self::new(centre, fit.system.clone())?, fit))
    }

    /// The mean, `[channel]`.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The system around it.
    pub fn system(&self) -> &LinearSystem {
        &self.system
    }

    /// Returns the model with the stationary covariance `P = A P A' + Q` as that of its first state, if there is one.
    ///
    /// Of one series expectation maximisation shrinks the covariance of the first state, so that models of like series begin apart.
    #[must_use]
    pub fn with_stationary_start(&self) -> Self {
        let mut model = self.clone();
        let (mut power, mut sum) =
            (dense(&self.system.transition), dense(&self.system.state_noise));
        // Doubling: sums of 2, 4, 8, ... terms of A^k Q A'^k.
        for _ in 0..DOUBLINGS {
            sum = &sum + &power * &sum * power.transpose();
            power = &power * &power;
        }
        if power.iter().all(|entry| entry.abs() < 1e-12) && sum.iter().all(|p| p.is_finite()) {
            model.system.initial_covariance = rows_of(&sum);
        }
        model
    }

    /// Returns a system without a separate mean: the mean is that of a state variable that is always one.
    pub fn with_mean(&self) -> LinearSystem {
        let mut system = self.system.clone();
        system.initial_mean.push(1.0);
        bordered(&mut system.initial_covariance, 0.0);
        bordered(&mut system.transition, 1.0);
        bordered(&mut system.state_noise, 0.0);
        system.observation.iter_mut().zip(&self.centre).for_each(|(row, mean)| row.push(*mean));
        system
    }
}

/// Samples about a mean; those of another kind, or of other channels, are impossible.
pub(super) fn about(centre: &[f64], samples: &SamplesView<'_>) -> Result<Rows, SequenceError> {
    let rows = samples.rows().filter(|rows| rows.dimension() == centre.len());
    let error = ObservationError::Impossible;
    Ok(centred(rows.ok_or(SequenceError::Observation { time: 0, error })?, centre))
}

/// A row and a column more, of zeros but for their corner.
pub(super) fn bordered(matrix: &mut Vec<Vec<f64>>, corner: f64) {
    matrix.iter_mut().for_each(|row| row.push(0.0));
    let mut last = vec![0.0; matrix.len()];
    last.push(corner);
    matrix.push(last);
}

/// The mean of all channels of series, and what is fitted to these about it; to other samples as they are,
/// which are for the fit to refuse.
pub(super) fn about_their_mean<F>(
    sequences: &[SamplesView<'_>],
    fit: impl FnOnce(&[SamplesView<'_>]) -> Result<F, FitError>,
) -> Result<(Vec<f64>, F), FitError> {
    let rows =
        || sequences.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter_in_part());
    let channels = sequences.iter().find_map(SamplesView::rows).map_or(0, |rows| rows.dimension());
    let (centre, _) = centre_and_spread(channels, || rows().flatten());
    let moved: Vec<Rows> =
        sequences.iter().filter_map(SamplesView::rows).map(|rows| centred(rows, &centre)).collect();
    let views: Vec<SamplesView<'_>> =
        moved.iter().map(|rows| SamplesView::Channels(rows.view())).collect();
    let fit = fit(if views.len() == sequences.len() { &views } else { sequences })?;
    Ok((centre, fit))
}

/// Adds the mean to drawn samples; empty without samples.
pub(super) fn away_from(centre: &[f64], drawn: Option<RowsView<'_>>) -> Samples {
    let back: Vec<f64> = centre.iter().map(|x| -x).collect();
    Samples::Channels(drawn.map_or_else(|| Rows::new(centre.len()), |rows| centred(rows, &back)))
}

fn centred(rows: RowsView<'_>, centre: &[f64]) -> Rows {
    let mut moved = Rows::new(rows.dimension());
    for row in rows.iter_in_part() {
        let row =
            row.map(|row| row.iter().zip(centre).map(|(x, mean)| x - mean).collect::<Vec<_>>());
        moved.push(row.as_deref());
    }
    moved
}

/// Converts an error about a checked system and samples of its channels: only a sample can be refused.
pub(super) fn refused(error: SystemError) -> SequenceError {
    match error {
        SystemError::Sample { sample: time, why: error } => {
            SequenceError::Observation { time, error }
        }
        _ => SequenceError::Observation { time: 0, error: ObservationError::Impossible },
    }
}

impl Model for SystemModel {
    fn noun(&self) -> &'static str {
        "linear dynamical system"
    }

    fn size(&self) -> usize {
        self.centre.len()
    }

    /// `initial_mean[0][row]`, `initial_covariance[row][column]`, `transition`, `state_noise`,
    /// `observation[channel][row]`, `observation_noise[channel][channel]`.
    fn parameter_names(&self) -> Vec<String> {
        let (n, d) = (self.system.states(), self.system.channels());
        let parts = [
            ("initial_mean", 1, n),
            ("initial_covariance", n, n),
            ("transition", n, n),
            ("state_noise", n, n),
            ("observation", d, n),
            ("observation_noise", d, d),
        ];
        parts.iter().flat_map(|&(name, rows, columns)| names_of_rows(name, rows, columns)).collect()
    }

    fn log_likelihoods(&self, sequences: &[SamplesView<'_>]) -> Vec<Result<f64, SequenceError>> {
        let of = |samples: &SamplesView<'_>| {
            self.system.log_likelihood(about(&self.centre, samples)?.view()).map_err(refused)
        };
        each(sequences.len(), &|index| of(&sequences[index]))
    }
}

impl Scored for SystemModel {
    fn parameters(&self) -> usize {
        let (n, d) = (self.system.states(), self.system.channels());
        n + 3 * n * n + d * n + d * d
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        _: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        let of = |samples: &SamplesView<'_>| {
            let found = self.system.scored(about(&self.centre, samples)?.view());
            let (score, log_likelihood) = found.map_err(refused)?;
            Ok(ModelScore { log_likelihood, score: score.entries() })
        };
        each(sequences.len(), &|index| of(&sequences[index]))
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        let drawn = self.system.simulate(length, seed).ok();
        away_from(&self.centre, drawn.as_ref().and_then(|samples| samples.view().rows()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_its_channels_is_impossible() {
        let system = LinearSystem {
            initial_mean: vec![0.0],
            initial_covariance: vec![vec![1.0]],
            transition: vec![vec![0.5]],
            state_noise: vec![vec![0.25]],
            observation: vec![vec![1.0]],
            observation_noise: vec![vec![0.5]],
        };
        let model = SystemModel::new(vec![2.0], system).expect("a system");
        let own: Samples = [[1.5], [3.0], [2.25]].into_iter().collect();
        let wider: Samples = [[1.5, 0.0], [3.0, 0.0]].into_iter().collect();
        let symbols: Samples = [0, 1, 1].into_iter().collect();
        let views = [own.view(), wider.view(), symbols.view()];
        let logs = Model::log_likelihoods(&model, &views);
        let scores = model.scores(&views, Parametrisation::SOFTMAX);
        let wanted = SequenceError::Observation { time: 0, error: ObservationError::Impossible };
        for other in 1..views.len() {
            assert_eq!(logs[other].as_ref().expect_err("refused"), &wanted);
            assert_eq!(scores[other].as_ref().expect_err("refused"), &wanted);
        }
        let (log, score) =
            (logs[0].as_ref().expect("its own"), scores[0].as_ref().expect("its own"));
        assert!((log - score.log_likelihood).abs() < 1e-12, "{log} {}", score.log_likelihood);
        assert_eq!(score.score.len(), model.parameters());
    }
}
