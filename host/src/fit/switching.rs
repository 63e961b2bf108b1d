//! Switching systems: segmentation by a hidden Markov model, a regression a mode, then both again with the
//! states in between.

use std::convert::Infallible;
use std::ops::Range;

use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::dynamics::{Data, maximise_channels, positive, regression};
use super::{BaumWelch, FitError, SystemEm, Topology};
use crate::batch::path;
use crate::data::internals::centre_and_spread;
use crate::data::{Rows, Samples, SamplesView};
use crate::dynamics::{
    Expected, LinearSystem, Motion, SmoothedState, StartMoments, StepMoments, SwitchingSystem,
    dense, rows_of,
};
use crate::elementary::Elementary;
use crate::parallel::each;
use crate::runtime::numbers::{log_dirichlet, normalise_into};
use crate::runtime::{Potential, family, padded, with_states};
use crate::sums::sum_items;
use crate::words::short;
use fishweir_core::number::array_of;

/// Options for the fit of a switching system.
///
/// 1. One linear dynamical system is fitted to all series, and its states are smoothed.
/// 2. A hidden Markov model segments them: each state with the one before it, Gaussian a mode.
/// 3. A regression a mode says how each moves. Every mode counts, beside its own steps, some that the one system
///    of all would make: a mode of few steps is near it. That is a matrix normal inverse Wishart prior.
/// 4. In turn until nothing changes: the states given the path of modes, exactly; all parameters from what is
///    expected of them; and the path, the likeliest for those expectations, by Viterbi's algorithm. No step
///    lowers the density of series and path times that of the priors, nor does a pass.
///
/// All modes have one distribution of the first state. What is found depends on where it starts: the
/// density of path and series has many maxima.
///
/// Sources: Pavlovic, Rehg and MacCormick, "Learning switching linear models of human motion", 2000;
/// Ghahramani and Hinton, "Variational learning for switching state-space models", 2000, with one path in
/// the place of a distribution over paths; for the prior Fox, Sudderth, Jordan and Willsky, "Bayesian
/// nonparametric inference of switching dynamic linear models", 2011.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchingEm {
    /// Modes.
    pub modes: usize,
    /// Numbers of a state, passes, when they end, and the floor of the channels' noise.
    #[serde(flatten)]
    pub system: SystemEm,
    /// Initialisations of the segmentation; the likeliest is kept.
    pub restarts: usize,
    /// Seed of the segmentation.
    pub seed: u64,
    /// Added to every count of a mode that follows another, and of a first one.
    pub transition_pseudocount: f64,
    /// Steps of the one system that every mode counts. Without any, modes of a short series fit its noise.
    pub pseudo_steps: f64,
}

impl Default for SwitchingEm {
    fn default() -> Self {
        let chain = BaumWelch::default();
        Self {
            modes: 2,
            system: SystemEm::default(),
            restarts: 5,
            seed: chain.seed,
            transition_pseudocount: chain.transition_pseudocount,
            pseudo_steps: 10.0,
        }
    }
}

/// A fitted switching system and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchingFit {
    /// The system.
    pub system: SwitchingSystem,
    /// The path of modes of each series, `[series][time]`.
    pub paths: Vec<Vec<usize>>,
    /// `log p(series, paths)` before each pass, and after the last.
    pub log_joint: Vec<f64>,
    /// `true` if it converged within the passes allowed.
    pub converged: bool,
}

/// Passes before which nothing is called converged.
const LEAST_PASSES: usize = 5;

impl SwitchingEm {
    /// Checks the options.
    ///
    /// # Errors
    /// [`FitError::Option`] naming the first that is out of range.
    pub fn validate(&self) -> Result<(), FitError> {
        self.system.validate()?;
        if !(self.pseudo_steps.is_finite() && self.pseudo_steps >= 0.0) {
            let (option, value) = ("pseudo-steps", short(self.pseudo_steps));
            return Err(FitError::Option { option, value, wanted: "finite and not negative" });
        }
        self.segmentation().validate()
    }

    fn segmentation(&self) -> BaumWelch {
        BaumWelch {
            states: self.modes,
            topology: Topology::Ergodic,
            emission: family("full-gaussian"),
            restarts: self.restarts,
            seed: self.seed,
            transition_pseudocount: self.transition_pseudocount,
            ..BaumWelch::default()
        }
    }

    /// Fits a switching system to series of one kind, missing samples among them. Channels have no mean of
    /// their own: they come centred.
    ///
    /// # Errors
    /// [`FitError`] as [`SystemEm::fit`].
    pub fn fit(
        &self,
        sequences: &[SamplesView<'_>],
        progress: &(dyn Fn() + Sync),
    ) -> Result<SwitchingFit, FitError> {
        self.validate()?;
        let start = self.system.fit(sequences, progress)?.system;
        let data = Data::of(sequences, self.system.std_floor)?;
        let states = self.smooth_all(&data, &self.alike(&start), None)?;
        let mut paths = self.segment(&states, progress)?;
        let mut system = self.alike(&start);
        let expected = self.expect((&data, &system.motion()?), &states, &paths);
        let prior = self.prior(&start, &expected);
        self.maximise(&mut system, &expected, &paths, &data, &prior);
        let enough = self.system.tolerance * data.samples as f64;
        let (mut log_joint, mut before) = (Vec::new(), f64::NEG_INFINITY);
        loop {
            let states = self.smooth_all(&data, &system, Some(&paths))?;
            let expected = self.expect((&data, &system.motion()?), &states, &paths);
            let of_paths: f64 = paths.iter().map(|path| system.log_probability(path)).sum();
            let joint = expected.log_likelihood + of_paths;
            log_joint.push(joint);
            let now = joint + self.log_prior(&system, &prior);
            let passes = log_joint.len() - 1;
            let converged = passes >= LEAST_PASSES && (now - before).abs() <= enough;
            if converged || passes >= self.system.iterations {
                return Ok(SwitchingFit { system, paths, log_joint, converged });
            }
            before = now;
            self.maximise(&mut system, &expected, &paths, &data, &prior);
            paths = likeliest_paths(&system, &states)?;
            progress();
        }
    }

    /// Modes that are all one system.
    fn alike(&self, system: &LinearSystem) -> SwitchingSystem {
        let even = vec![1.0 / self.modes as f64; self.modes];
        SwitchingSystem {
            chain: vec![even.clone(); self.modes],
            initial: even,
            initial_mean: vec![system.initial_mean.clone(); self.modes],
            initial_covariance: vec![system.initial_covariance.clone(); self.modes],
            transition: vec![system.transition.clone(); self.modes],
            state_noise: vec![system.state_noise.clone(); self.modes],
            observation: system.observation.clone(),
            observation_noise: system.observation_noise.clone(),
        }
    }

    /// The states of each series, along its path, or in the first mode.
    fn smooth_all(
        &self,
        data: &Data<'_>,
        system: &SwitchingSystem,
        paths: Option<&[Vec<usize>]>,
    ) -> Result<Vec<(Vec<SmoothedState>, f64)>, FitError> {
        let motion = system.motion()?;
        let one =
            |index: usize| data.smooth(&motion, paths.map(|paths| paths[index].as_slice()), index);
        each(data.series.len(), &one).into_iter().collect()
    }

    fn expect(
        &self,
        (data, motion): (&Data<'_>, &Motion),
        states: &[(Vec<SmoothedState>, f64)],
        paths: &[Vec<usize>],
    ) -> Expected {
        let zero = Expected::zero(self.modes, self.system.states, data.scale.len());
        let of_leaf = |series: Range<usize>| {
            let mut sum = zero.clone();
            for index in series {
                let (given, log) = &states[index];
                sum.observe(given, *log, (motion, Some(&paths[index])), data.series[index]);
            }
            Ok::<_, Infallible>(sum)
        };
        match sum_items(states.len(), &of_leaf) {
            Ok(sum) => sum.unwrap_or(zero),
            Err(never) => match never {},
        }
    }

    /// Paths of modes from states and their predecessors.
    fn segment(
        &self,
        states: &[(Vec<SmoothedState>, f64)],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<usize>>, FitError> {
        let size = 2 * self.system.states;
        let pairs = |(given, _): &(Vec<SmoothedState>, f64)| {
            let mut rows = Rows::new(size);
            for (t, one) in given.iter().enumerate() {
                let before = t.checked_sub(1).map(|before| &given[before].mean);
                let row = before
                    .map(|before| one.mean.iter().chain(before).copied().collect::<Vec<f64>>());
                rows.push(row.as_deref());
            }
            Samples::Channels(rows)
        };
        let series: Vec<Samples> = states.iter().map(pairs).collect();
        let views: Vec<SamplesView<'_>> = series.iter().map(Samples::view).collect();
        if self.modes == 1 || views.iter().all(|view| view.observed() == 0) {
            return Ok(views.iter().map(|view| vec![0; view.len()]).collect());
        }
        let rows = views.iter().filter_map(SamplesView::rows);
        let rows: Vec<&[f64]> = rows.flat_map(|rows| rows.iter().flatten()).collect();
        let (_, scale) = centre_and_spread(size, || rows.iter().copied());
        let fit = self.segmentation().fit(&views, size, &scale, progress)?;
        let decode = |(sequence, view): (usize, &SamplesView<'_>)| {
            let path = fit.model.decode(*view);
            let path = path.map_err(|why| FitError::Impossible { sequence, why: why.to_string() });
            Ok(path?.states)
        };
        views.iter().enumerate().map(decode).collect()
    }

    /// Prior moments of every mode: those of the single system, from states like those of the data.
    fn prior(&self, start: &LinearSystem, expected: &Expected) -> StepMoments {
        let steps: f64 = expected.moves.iter().map(|step| step.steps).sum();
        let states = start.states();
        let seen = expected.moves.iter().map(|step| &step.before);
        let seen = seen.fold(DMatrix::zeros(states, states), |sum, one| sum + one);
        // Of series of one sample there is no step.
        let share = if steps > 0.0 { self.pseudo_steps / steps } else { 0.0 };
        let (before, transition) = (seen * share, dense(&start.transition));
        let across = &transition * &before;
        let noise = dense(&start.state_noise) * self.pseudo_steps;
        let after = &across * transition.transpose() + noise;
        StepMoments { steps: self.pseudo_steps, before, across, after }
    }

    /// The system that the expected moments and the priors make likeliest. A mode without a step keeps its own.
    fn maximise(
        &self,
        system: &mut SwitchingSystem,
        expected: &Expected,
        paths: &[Vec<usize>],
        data: &Data<'_>,
        prior: &StepMoments,
    ) {
        for (mode, step) in expected.moves.iter().enumerate() {
            let mut step = step.clone();
            step.add(prior);
            if step.steps == 0.0 {
                continue;
            }
            let transition = regression(&step.across, &step.before);
            let noise = step.around(&transition) / step.steps;
            system.transition[mode] = rows_of(&transition);
            system.state_noise[mode] = rows_of(&positive(&noise));
        }
        let starts: f64 = expected.starts.iter().map(|start| start.starts).sum();
        if starts > 0.0 {
            let of_all = |of: fn(&StartMoments) -> DMatrix<f64>| {
                let sums = expected.starts.iter().map(of);
                sums.reduce(|sum, one| sum + one).unwrap_or_default() / starts
            };
            let mean = of_all(|start| {
                DMatrix::from_column_slice(start.sum.len(), 1, start.sum.as_slice())
            });
            let around = of_all(|start| start.square.clone()) - &mean * mean.transpose();
            let covariance = rows_of(&positive(&around));
            system.initial_mean.fill(mean.iter().copied().collect());
            system.initial_covariance.fill(covariance);
        }
        (system.observation, system.observation_noise) = maximise_channels(expected, &data.floor);
        let modes = self.modes;
        let mut initial = vec![0.0; modes];
        let mut pairs = vec![vec![0.0; modes]; modes];
        for path in paths {
            path.first().into_iter().for_each(|&first| initial[first] += 1.0);
            path.windows(2).for_each(|pair| pairs[pair[0]][pair[1]] += 1.0);
        }
        normalise_into(&mut system.initial, &initial, self.transition_pseudocount);
        for (row, counts) in system.chain.iter_mut().zip(&pairs) {
            normalise_into(row, counts, self.transition_pseudocount);
        }
    }

    /// The logarithm of the priors' density, up to a constant.
    fn log_prior(&self, system: &SwitchingSystem, prior: &StepMoments) -> f64 {
        let rows = system.chain.iter().chain(std::iter::once(&system.initial));
        let log = log_dirichlet(self.transition_pseudocount, rows);
        if prior.steps == 0.0 {
            return log;
        }
        log + (0..self.modes).map(|mode| Law::of(system, mode).expected(prior)).sum::<f64>()
    }
}

/// The likeliest paths under the expectations of the states.
fn likeliest_paths(
    system: &SwitchingSystem,
    states: &[(Vec<SmoothedState>, f64)],
) -> Result<Vec<Vec<usize>>, FitError> {
    let modes = system.modes();
    let laws: Vec<Law> = (0..modes).map(|mode| Law::of(system, mode)).collect();
    with_states!(modes, N => {
        // A mode out of reach stays where it is.
        let step = |i: usize, j: usize| match system.chain.get(i) {
            Some(row) => row.get(j).copied().unwrap_or(0.0),
            None => f64::from(i == j),
        };
        let chain = Chain::from_parts(
            padded(&system.initial),
            array_of([0.0; N], |i| array_of(0.0, |j| step(i, j))),
        );
        // Observed of a mode is what is expected of its log density.
        let hmm = CoreHmm::new(chain, std::array::from_fn::<_, N, _>(Potential));
        let one = |sequence: usize| {
            let (given, _) = &states[sequence];
            let log = |(t, one): (usize, &SmoothedState)| {
                let step = t.checked_sub(1).and_then(|before| one.step(&given[before]));
                step.map(|step| laws.iter().map(|law| law.expected(&step)).collect::<Vec<f64>>())
            };
            let rows: Vec<Option<Vec<f64>>> = given.iter().enumerate().map(log).collect();
            let found = path::<_, N>(&hmm, rows.iter().map(Option::as_deref));
            let found = found.map_err(|why| FitError::Impossible { sequence, why: why.to_string() });
            Ok(found?.states)
        };
        each(states.len(), &one).into_iter().collect()
    })
}

/// Transition of a mode, for expectations of its log density.
struct Law {
    transition: DMatrix<f64>,
    precision: DMatrix<f64>,
    log_determinant: f64,
}

impl Law {
    fn of(system: &SwitchingSystem, mode: usize) -> Self {
        let transition = dense(&system.transition[mode]);
        let noise = dense(&system.state_noise[mode]);
        let size = noise.nrows();
        match noise.cholesky() {
            Some(factored) => Self {
                transition,
                precision: factored.inverse(),
                log_determinant: factored
                    .l()
                    .diagonal()
                    .iter()
                    .map(|d| 2.0 * d.portable_ln())
                    .sum(),
            },
            // Every noise is the nearest covariance.
            None => Self {
                transition,
                precision: DMatrix::zeros(size, size),
                log_determinant: f64::INFINITY,
            },
        }
    }

    /// `E log N(s_t; A s_t-1, Q)` of all steps, but for the constant that all modes have.
    fn expected(&self, step: &StepMoments) -> f64 {
        let around = step.around(&self.transition);
        -0.5 * (step.steps * self.log_determinant + (&self.precision * around).trace())
    }
}
