use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::system::{Parts, about, about_their_mean, away_from, bordered, check_centre, refused};
use super::{Model, ModelScore, Scored};
use crate::data::{Samples, SamplesView};
use crate::dynamics::{SwitchingSystem, SystemError};
use crate::fit::{FitError, SwitchingEm, SwitchingFit};
use crate::parallel::each;

/// A linear dynamical system that switches, around a mean: `x_t = centre + C s_t + N(0, R)`.
///
/// Its likelihood is [nearly](SwitchingSystem::log_likelihood) that of all paths of modes together. It has no
/// score, and no entries of one. A missing sample counts nothing; a sequence of symbols, or of other channels, is
/// refused as impossible.
///
/// Source: Pavlovic, Rehg and MacCormick, "Learning switching linear models of human motion", 2000.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts<SwitchingSystem>")]
pub struct SwitchingModel {
    centre: Vec<f64>,
    system: SwitchingSystem,
}

impl TryFrom<Parts<SwitchingSystem>> for SwitchingModel {
    type Error = SystemError;

    fn try_from(Parts { centre, system }: Parts<SwitchingSystem>) -> Result<Self, SystemError> {
        Self::new(centre, system)
    }
}

impl SwitchingModel {
    /// A system and the mean that it moves around, `[channel]`.
    ///
    /// # Errors
    /// [`SystemError`] naming the part that is wrong.
    pub fn new(centre: Vec<f64>, system: SwitchingSystem) -> Result<Self, SystemError> {
        system.validate()?;
        check_centre(&centre, system.channels())?;
        Ok(Self { centre, system })
    }

    /// The system that fits series, around their mean, and how it came about.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range, or there is nothing to fit.
    pub fn fit(
        options: &SwitchingEm,
        sequences: &[SamplesView<'_>],
        progress: &(dyn Fn() + Sync),
    ) -> Result<(Self, SwitchingFit), FitError> {
        let (centre, fit) = about_their_mean(sequences, |views| options.fit(views, progress))?;
        Ok((Self::new(centre, fit.system.clone())?, fit))
    }

    /// The system around the mean.
    #[must_use]
    pub fn system(&self) -> &SwitchingSystem {
        &self.system
    }

    /// Returns a system without a separate mean: the mean is that of a state variable that is always one.
    #[must_use]
    pub fn with_mean(&self) -> SwitchingSystem {
        let mut system = self.system.clone();
        for mode in 0..system.modes() {
            system.initial_mean[mode].push(1.0);
            bordered(&mut system.initial_covariance[mode], 0.0);
            bordered(&mut system.transition[mode], 1.0);
            bordered(&mut system.state_noise[mode], 0.0);
        }
        system.observation.iter_mut().zip(&self.centre).for_each(|(row, mean)| row.push(*mean));
        system
    }
}

impl Model for SwitchingModel {
    fn noun(&self) -> &'static str {
        "switching linear dynamical system"
    }

    fn size(&self) -> usize {
        self.centre.len()
    }

    /// Returns no names: the model has no scores.
    fn parameter_names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Scored for SwitchingModel {
    fn parameters(&self) -> usize {
        0
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        _: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        let of = |samples: &SamplesView<'_>| {
            let about = about(&self.centre, samples)?;
            let log_likelihood = self.system.log_likelihood(about.view()).map_err(refused)?;
            Ok(ModelScore { log_likelihood, score: Vec::new() })
        };
        each(sequences.len(), &|index| of(&sequences[index]))
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        let drawn = self.system.simulate(length, seed).ok();
        away_from(&self.centre, drawn.as_ref().and_then(|(_, samples)| samples.view().rows()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::dynamics::LinearSystem;

    fn system(modes: usize) -> SwitchingSystem {
        let of = |mode: usize| [0.75, -0.5][mode];
        SwitchingSystem {
            initial: vec![1.0 / modes as f64; modes],
            chain: vec![vec![1.0 / modes as f64; modes]; modes],
            initial_mean: vec![vec![0.5]; modes],
            initial_covariance: vec![vec![vec![1.0]]; modes],
            transition: (0..modes).map(|mode| vec![vec![of(mode)]]).collect(),
            state_noise: vec![vec![vec![0.25]]; modes],
            observation: vec![vec![1.0]],
            observation_noise: vec![vec![0.5]],
        }
    }

    #[test]
    fn one_mode_is_a_linear_system_and_two_are_near_the_sum_over_paths() {
        let samples: Samples = (0..8).map(|t| [f64::from(t * t % 5) / 2.0 - 1.0]).collect();
        let rows = samples.view().rows().expect("channels");
        let linear = LinearSystem {
            initial_mean: vec![0.5],
            initial_covariance: vec![vec![1.0]],
            transition: vec![vec![0.75]],
            state_noise: vec![vec![0.25]],
            observation: vec![vec![1.0]],
            observation_noise: vec![vec![0.5]],
        };
        let (found, wanted) = (system(1).log_likelihood(rows), linear.log_likelihood(rows));
        let (found, wanted) = (found.expect("a system"), wanted.expect("a system"));
        assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        let two = system(2);
        let mut sum = 0.0_f64;
        for number in 0..1_usize << 8 {
            let path: Vec<usize> = (0..8).map(|t| number >> t & 1).collect();
            let along = two.log_likelihood_along(&path, rows).expect("a path");
            sum += (two.log_probability(&path) + along).exp();
        }
        let found = two.log_likelihood(rows).expect("a system");
        assert!((found - sum.ln()).abs() < 0.05, "{found} {}", sum.ln());
        let around = SwitchingModel::new(vec![3.0], two).expect("a model");
        let moved: Samples = (0..8).map(|t| [f64::from(t * t % 5) / 2.0 + 2.0]).collect();
        let logs = Model::log_likelihoods(&around, &[moved.view()]);
        assert!((logs[0].expect("possible") - found).abs() < 1e-9);
        let rows = moved.view().rows().expect("channels");
        let whole = around.with_mean().log_likelihood(rows).expect("a system");
        assert!((whole - found).abs() < 1e-6, "{whole} {found}");
        assert_eq!(around.draw(4, 1), around.draw(4, 1));
    }

    #[test]
    fn what_a_chain_forbids_a_sample_lacks_or_a_mode_refuses_counts_nothing() {
        let all = |system: &SwitchingSystem, samples: &Samples| {
            let rows = samples.view().rows().expect("channels");
            let of_path = |number: usize| {
                let path: Vec<usize> = (0..rows.len()).map(|t| number >> t & 1).collect();
                let prior = system.log_probability(&path);
                // A path that is refused has no density.
                let along = system.log_likelihood_along(&path, rows).unwrap_or(f64::NEG_INFINITY);
                (prior + along).exp()
            };
            let sum: f64 = (0..1_usize << rows.len()).map(of_path).sum();
            (system.log_likelihood(rows), sum.ln())
        };
        // A start and a chain with zeros; each mode after the other is one path.
        let mut one_way = system(2);
        (one_way.initial, one_way.chain) = (vec![1.0, 0.0], vec![vec![0.6, 0.4], vec![0.0, 1.0]]);
        let mut with_gap = Rows::new(1);
        for x in [Some(-1.0), None, Some(0.5), Some(1.0), None, Some(-0.5)] {
            with_gap.push(x.as_ref().map(std::slice::from_ref));
        }
        let with_gap = Samples::Channels(with_gap);
        let mut by_turns = one_way.clone();
        by_turns.chain = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        let (found, wanted) = all(&by_turns, &with_gap);
        assert!((found.expect("a system") - wanted).abs() < 1e-12, "{wanted}");
        // Merging is coarse of modes that last; its value is that of the recursion in NumPy.
        let (found, wanted) = all(&one_way, &with_gap);
        let found = found.expect("a system");
        assert!((found + 5.399_879_330_432).abs() < 1e-9, "{found}");
        assert!((found - wanted).abs() < 0.1, "{wanted}");
        // Missing all along: every path has the density one.
        let mut nothing = Rows::new(1);
        (0..4).for_each(|_| nothing.push(None));
        let (found, wanted) = all(&one_way, &Samples::Channels(nothing));
        assert!(found.expect("a system").abs() < 1e-12 && wanted.abs() < 1e-12);
        // A mode that is never left is a linear system, whatever the other one is.
        one_way.chain = vec![vec![1.0, 0.0], vec![0.5, 0.5]];
        let (found, wanted) = all(&one_way, &with_gap);
        assert!((found.expect("a system") - wanted).abs() < 1e-12, "{wanted}");
        // A mode that is too far away to take the first sample is one that the series did not begin in.
        let mut far = one_way;
        (far.initial, far.initial_mean[1]) = (vec![0.5, 0.5], vec![1e25]);
        assert!(
            far.log_likelihood_along(&[1; 6], with_gap.view().rows().expect("channels")).is_err()
        );
        let (found, wanted) = all(&far, &with_gap);
        assert!((found.expect("a system") - wanted).abs() < 1e-12, "{wanted}");
        // Where both are, the series is refused.
        far.initial_mean[0] = vec![1e25];
        assert!(all(&far, &with_gap).0.is_err());
    }
}
