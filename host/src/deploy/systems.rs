//! Banks of linear dynamical systems, one per class: the likeliest decides.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fishweir_core::artefact::Topology;
use fishweir_core::dynamics::{Channels, Covariance, GaussianBelief, KalmanState};
use fishweir_core::{ErrorKind, ModelError, Part};

use super::block::{Block, Observation};
use super::common::Common;
use super::cost::{Cost, bank_bytes};
use super::error::{DeployError, PushError};
use super::evaluator::{Description, Evaluator};
use super::model_stream::ModelStream;
use super::source::{comments, labels, reals, tail};
use super::stream::Evidence;
use crate::dynamics::{LinearSystem, SystemError, factors};
use crate::model::{FittedModel, ModelSet, NamedModel};
use crate::report::counted;
use crate::runtime::{padded, padded_rows, with_states};

/// A system in the numbers of a device: the fields of the core's `Dynamics`.
#[derive(Clone, Debug, PartialEq)]
struct DeployedSystem {
    mean: Vec<f32>,
    /// Covariance in factors, as is the noise.
    covariance: Vec<Vec<f32>>,
    transition: Vec<Vec<f32>>,
    noise: Vec<Vec<f32>>,
    /// Whitened, `[channel][row]`.
    observation: Vec<Vec<f32>>,
    /// `[channel][channel]`.
    whitening: Vec<Vec<f32>>,
    constant: f32,
}

impl DeployedSystem {
    fn of(system: &LinearSystem) -> Result<Self, SystemError> {
        let seen = system.motion()?.seen;
        let factors = |matrix: &[Vec<f64>], part| {
            factors(matrix, part).map_err(|error| SystemError::covariance("covariance", error))
        };
        let round = |rows: &[Vec<f64>]| -> Vec<Vec<f32>> {
            rows.iter().map(|row| row.iter().map(|&x| x as f32).collect()).collect()
        };
        let whitening: Vec<Vec<f64>> =
            seen.whitening.chunks(system.channels()).map(<[f64]>::to_vec).collect();
        Ok(Self {
            mean: system.initial_mean.iter().map(|&x| x as f32).collect(),
            covariance: round(&factors(&system.initial_covariance, Part::InitialCovariance)?),
            transition: round(&system.transition),
            noise: round(&factors(&system.state_noise, Part::StateNoise)?),
            observation: round(&seen.observation),
            whitening: round(&whitening),
            constant: seen.constant as f32,
        })
    }

    fn tables(&self) -> [&[Vec<f32>]; 5] {
        [&self.covariance, &self.transition, &self.noise, &self.observation, &self.whitening]
    }

    /// The fields of the core's `Dynamics` in order.
    fn for_each_real(&self, put: impl FnMut(f32)) {
        let tables = self.tables().into_iter().flatten().flatten();
        self.mean.iter().chain(tables).chain([&self.constant]).copied().for_each(put);
    }

    /// Checks the numbers, as the core's `Dynamics::validate`.
    fn validate(&self) -> Result<(), ModelError> {
        let rows = self.transition.iter().enumerate().map(|(i, row)| (Part::Transition, i, row));
        for (part, i, row) in std::iter::once((Part::Parameter("mean"), 0, &self.mean)).chain(rows)
        {
            if let Some(entry) = row.iter().position(|x| !x.is_finite()) {
                return Err(ModelError::new(part, ErrorKind::NotFinite, i, entry));
            }
        }
        with_states!(self.states(), N => self.filter::<N>().validate())
    }

    fn states(&self) -> usize {
        self.mean.len()
    }

    fn stream(&self) -> ModelStream<f32> {
        with_states!(self.states(), N => ModelStream::of(vec![Box::new(self.filter::<N>())]))
    }

    /// The core's filter at a compiled size: no state reaches the padding, and no channel sees it.
    fn filter<const N: usize>(&self) -> Filter<N> {
        let covariance = Covariance::from_factors(padded_rows(&self.covariance));
        let initial = GaussianBelief::new(padded(&self.mean), covariance);
        Filter {
            initial,
            transition: padded_rows(&self.transition),
            noise: Covariance::from_factors(padded_rows(&self.noise)),
            observation: self.observation.iter().map(|one| padded(one)).collect(),
            whitening: self.whitening.concat(),
            constant: self.constant,
            state: KalmanState::new(initial),
        }
    }
}

/// Bank of systems with states of one size, one per class.
#[derive(Clone, Debug, PartialEq)]
pub struct Systems(Vec<DeployedSystem>);

fn is_in_part(x: &[f32]) -> bool {
    x.iter().any(|x| x.is_nan())
}

/// A Kalman filter, and where its stream is.
struct Filter<const N: usize> {
    initial: GaussianBelief<f32, N>,
    transition: [[f32; N]; N],
    noise: Covariance<f32, N>,
    observation: Vec<[f32; N]>,
    whitening: Vec<f32>,
    constant: f32,
    state: KalmanState<f32, N>,
}

impl<const N: usize> Filter<N> {
    fn channels(&self) -> Channels<'_, f32, N> {
        let (observation, whitening) = (self.observation.as_slice(), self.whitening.as_slice());
        Channels { observation, whitening, constant: self.constant }
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.initial.covariance().validate(Part::InitialCovariance)?;
        self.noise.validate(Part::StateNoise)?;
        self.channels().validate()
    }
}

impl<const N: usize> Block<f32> for Filter<N> {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let Observation::Row(x) = x else { return Err(PushError::Kind) };
        let mut next = self.state;
        next.advance(&self.transition, &self.noise);
        if is_in_part(x) {
            let (mut rows, mut whitening) = (self.observation.clone(), self.whitening.clone());
            let mut values = vec![0.0; x.len()];
            let there = |d: usize| x.get(d).copied().filter(|x| !x.is_nan());
            next.observe_in_part(
                &self.channels(),
                there,
                (&mut rows, &mut whitening, &mut values),
            )?;
        } else {
            next.observe(&self.channels(), x, |_| ())?;
        }
        self.state = next;
        Ok(())
    }
    fn push_missing(&mut self) {
        self.state.advance(&self.transition, &self.noise);
    }
    fn reset(&mut self) {
        self.state = KalmanState::new(self.initial);
    }
    fn log(&self) -> f32 {
        self.state.density().log()
    }
    fn log_parts(&self) -> ([f32; 2], Vec<[f32; 2]>) {
        (self.state.density().log_parts(), Vec::new())
    }
}

/// Weights of the log-likelihoods of one model per class, `[output][model]`.
pub(super) fn one_per_class(classes: &[String]) -> Result<Vec<Vec<f32>>, DeployError> {
    let count = classes.len();
    let apart = classes.iter().enumerate().all(|(at, one)| !classes[..at].contains(one));
    if count < 2 || !apart {
        return Err(DeployError::NotOnePerClass(format!(
            "{count} models of {} cannot decide: at least two classes are needed, with one model each",
            counted(classes.iter().collect::<BTreeSet<_>>().len(), "class")
        )));
    }
    if count == 2 {
        return Ok(vec![vec![-1.0, 1.0]]);
    }
    let row = |class| (0..count).map(|m| if m == class { 1.0 } else { 0.0 }).collect();
    Ok((0..count).map(row).collect())
}

impl Systems {
    /// Returns the Bayes classifier of a set of systems with equal priors.
    pub(super) fn of(set: &ModelSet) -> Result<(Common, Self), DeployError> {
        let refused = |why: String| Err(DeployError::Models(why));
        let (mut systems, mut classes) = (Vec::new(), Vec::new());
        for NamedModel { name, class, model } in &set.models {
            let FittedModel::LinearSystem(model) = model else {
                let what = model.any().noun();
                return refused(format!(
                    "model {name:?} is a {what}; of models without a classifier only linear dynamical systems and Markov \
                     strings can be deployed; train a classifier"
                ));
            };
            let Some(class) = class else {
                return Err(DeployError::NotOnePerClass(format!("model {name:?} has no class")));
            };
            let system = DeployedSystem::of(&model.with_mean())
                .map_err(|error| DeployError::Models(format!("model {name:?}: {error}")))?;
            system.validate().map_err(|source| DeployError::Rounded {
                place: format!("model {name:?}"),
                source,
                advice: "rescale the channels",
            })?;
            systems.push(system);
            classes.push(class.clone());
        }
        let weights = one_per_class(&classes)?;
        if systems.iter().any(|system| system.states() != systems[0].states()) {
            return refused("the systems have states of different sizes; fit them together".into());
        }
        let outputs = (weights.clone(), vec![0.0; weights.len()]);
        let contract = set.provenance.contract_in_part().carried();
        Ok((Common::new(set.observations.clone(), classes, outputs, contract), Self(systems)))
    }

    fn states(&self) -> usize {
        self.0.first().map_or(0, DeployedSystem::states)
    }
}

impl Evaluator for Systems {
    fn description(&self) -> Description {
        Description {
            models: self.0.len(),
            states: self.states(),
            state: "number",
            directions: 0,
            recursion: "by the Kalman filter",
            topology: Topology::CHAIN,
            order: None,
            items: None,
            emission: None,
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.0.iter().try_for_each(DeployedSystem::validate)
    }

    fn for_each_real(&self, _: &Common, put: &mut dyn FnMut(f32)) {
        self.0.iter().for_each(|system| system.for_each_real(&mut *put));
    }

    fn stream(&self, _: &Common) -> Evidence<f32> {
        Evidence::Models(self.0.iter().map(DeployedSystem::stream).collect())
    }

    /// `M` states of `N^2 + N` reals with a likelihood each, and
    /// `2 N^3 + D (2 N^2 + 3 N) + D^2 / 2` multiply-adds per sample.
    fn cost(&self, of: &Common) -> Cost {
        let (m, n, d, o) = (self.0.len(), self.states(), of.size(), of.outputs());
        let missing = if of.in_part() { d.saturating_sub(1) } else { 0 };
        // The likelihood is a product and its ledger; a byte says whether it has begun.
        let state = (4 * (n * n + n) + 24 + 1_usize).next_multiple_of(8);
        Cost {
            state_bytes: bank_bytes(m, state),
            model_bytes: self.payload(of).len(),
            multiply_adds_per_partial_sample: m * missing * d * (n + d),
            logarithms_per_partial_sample: m * missing,
            multiply_adds_per_sample: m * (2 * n * n * n + d * (2 * n * n + 3 * n) + d * d / 2),
            multiply_adds_per_decision: m * o,
            logarithms_per_decision: m,
            ..Cost::default()
        }
    }

    fn source(&self, of: &Common) -> String {
        let mut text = comments(&of.observations, &of.classes, "");
        let (m, n, d, o) = (self.0.len(), self.states(), of.size(), of.outputs());
        let system = format!("Dynamics<{n}, {d}>");
        let (import, system, open, close) = match of.in_part() {
            true => (
                "use fishweir_core::emission::Marginal;\n",
                format!("Marginal<{system}>"),
                "Marginal::new(Dynamics::from_parts(",
                ")),",
            ),
            false => ("", system, "Dynamics::from_parts(", "),"),
        };
        let _ = write!(
            text,
            "\nuse fishweir_core::classify::{{Normalisation, StreamClassifier}};\n\
             use fishweir_core::dynamics::{{Covariance, Dynamics}};\n{import}\n\
             {}\
             /// {m} linear dynamical systems with states of {n} numbers over {d} channels, {o} outputs.\n\
             pub type Model = StreamClassifier<{system}, {m}, {o}>;\n\n\
             /// The classifier, in flash.\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             pub static MODEL: Model = StreamClassifier::from_parts(\n    [\n",
            labels(&of.observations, &of.classes),
        );
        for system in &self.0 {
            let _ = writeln!(text, "        {open}");
            let _ = writeln!(text, "            {},", reals(&system.mean));
            for (at, table) in system.tables().into_iter().enumerate() {
                let rows: Vec<String> = table.iter().map(|row| reals(row)).collect();
                let rows = format!("[{}]", rows.join(", "));
                let _ = match at {
                    0 | 2 => writeln!(text, "            Covariance::from_factors({rows}),"),
                    _ => writeln!(text, "            {rows},"),
                };
            }
            let _ = writeln!(text, "            {:?},\n        {close}", system.constant);
        }
        tail(&mut text, &of.weights, &of.biases, of.normalisation);
        text
    }

    fn no_artefact(&self, _: &Common) -> Option<String> {
        Some("linear dynamical systems".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use fishweir_core::classify::{StaggeredStates, StreamClassifier};
    use fishweir_core::dynamics::{Dynamics, Kalman};
    use fishweir_core::emission::Marginal;
    use fishweir_core::filter::{Stream, Streaming};

    use super::*;
    use crate::classifier::{Observations, Provenance};
    use crate::data::Sample;
    use crate::deploy::Deployed;
    use crate::deploy::engine::Engine;
    use crate::model::SystemModel;

    fn model(turn: f64) -> SystemModel {
        seen(turn, vec![vec![0.5, 0.1], vec![0.1, 0.3]])
    }

    fn seen(turn: f64, observation_noise: Vec<Vec<f64>>) -> SystemModel {
        let at = |i: usize, j: usize, own: f64, other: f64| {
            if i == j { own } else { other / (1.0 + (i + j) as f64) }
        };
        let square = |own: f64, other: f64| -> Vec<Vec<f64>> {
            (0..4).map(|i| (0..4).map(|j| at(i, j, own, other)).collect()).collect()
        };
        let system = LinearSystem {
            initial_mean: vec![0.3, -0.2, 0.1, 0.7],
            initial_covariance: square(1.0, 0.2),
            transition: square(0.7, turn),
            state_noise: square(0.3, 0.1),
            observation: vec![vec![1.0, 0.3, -0.2, 0.1], vec![0.2, -0.6, 1.0, 0.4]],
            observation_noise,
        };
        SystemModel::new(vec![1.3, -0.7], system).expect("a system")
    }

    fn set(models: Vec<(Option<&str>, FittedModel)>) -> ModelSet {
        let named = |(at, (class, model)): (usize, (Option<&str>, FittedModel))| NamedModel {
            name: format!("{at}"),
            class: class.map(str::to_owned),
            model,
        };
        ModelSet {
            observations: Observations::Channels(vec!["x".into(), "y".into()]),
            models: models.into_iter().enumerate().map(named).collect(),
            provenance: Provenance::default(),
        }
    }

    fn table<const R: usize, const C: usize>(rows: &[Vec<f32>]) -> [[f32; C]; R] {
        std::array::from_fn(|i| std::array::from_fn(|j| rows[i][j]))
    }

    /// Missing channels give the same results on the host and in the core's own type.
    #[test]
    fn the_stream_of_samples_that_lack_channels_has_the_core_s_bits() {
        let mut two = set(vec![(Some("a"), model(0.2).into()), (Some("b"), model(-0.3).into())]);
        let channel = |missing| crate::classifier::ChannelRange { missing, ..Default::default() };
        two.provenance.channels = vec![channel(false), channel(true)];
        let deployed = Deployed::of_systems(&two).expect("a bank");
        let Engine::Systems(systems) = &deployed.engine else { panic!("other models") };
        let core: Vec<Marginal<Dynamics<5, 2>>> =
            systems.0.iter().map(|one| Marginal::new(dynamics(one))).collect();
        let mut filters: Vec<_> = core
            .iter()
            .map(|one| Stream::new(fishweir_core::classify::StreamModel::likelihood(one)))
            .collect();
        let mut stream = deployed.stream();
        for t in 0..400_usize {
            let there = |d: usize, x: f64| if (t + 3 * d).is_multiple_of(5) { f64::NAN } else { x };
            let row = [
                there(0, (t * t % 17) as f64 / 4.0 - 1.0),
                there(1, (t * 5 % 13) as f64 / 5.0 - 2.0),
            ];
            stream.push(Sample::Row(&row)).expect("taken");
            let row = row.map(|x| (!x.is_nan()).then_some(x as f32));
            for filter in &mut filters {
                filter.push(&row).expect("taken");
            }
            let bits = |logs: Vec<f32>| logs.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let logs = filters.iter().map(|filter| filter.read()).collect();
            assert_eq!(bits(stream.log_likelihoods()), bits(logs), "after {t}");
        }
        let text = deployed.to_source();
        for part in ["StreamClassifier<Marginal<Dynamics<5, 2>>, 2, 1>", "Marginal::new(Dynamics"] {
            assert!(text.contains(part), "{text}");
        }
        let (cost, whole) = (
            deployed.cost(),
            Deployed::of_systems(&set(vec![
                (Some("a"), model(0.2).into()),
                (Some("b"), model(-0.3).into()),
            ]))
            .expect("a bank")
            .cost(),
        );
        assert_eq!((cost.state_bytes, cost.model_bytes), (whole.state_bytes, whole.model_bytes));
    }

    fn dynamics(one: &DeployedSystem) -> Dynamics<5, 2> {
        let [covariance, transition, noise, ..] = one.tables();
        Dynamics::from_parts(
            std::array::from_fn(|i| one.mean[i]),
            Covariance::from_factors(table(covariance)),
            table(transition),
            Covariance::from_factors(table(noise)),
            table(&one.observation),
            table(&one.whitening),
            one.constant,
        )
    }

    /// Five numbers, of which the host runs eight.
    #[test]
    fn the_stream_has_the_bits_of_the_core_s_own_type() {
        let two = set(vec![(Some("a"), model(0.2).into()), (Some("b"), model(-0.3).into())]);
        let deployed = Deployed::of_systems(&two).expect("a bank");
        let Engine::Systems(systems) = &deployed.engine else { panic!("other models") };
        assert_eq!((deployed.states(), deployed.models(), deployed.outputs()), (5, 2, 1));
        let core: Vec<Dynamics<5, 2>> = systems.0.iter().map(dynamics).collect();
        core.iter().for_each(|one| one.validate().expect("valid"));
        let mut filters: Vec<_> = core.iter().map(|one| Stream::new(Kalman::of(one))).collect();
        let mut stream = deployed.stream();
        for t in 0..400_usize {
            let row = [(t * t % 17) as f64 / 4.0 - 1.0, (t * 5 % 13) as f64 / 5.0 - 2.0];
            let sample = if t % 19 == 7 { Sample::Missing } else { Sample::Row(&row) };
            stream.push(sample).expect("taken");
            for filter in &mut filters {
                let row = (sample != Sample::Missing).then(|| row.map(|x| x as f32));
                filter.push(&row).expect("taken");
            }
            let bits = |logs: Vec<f32>| logs.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let logs = filters.iter().map(|filter| filter.read()).collect();
            assert_eq!(bits(stream.log_likelihoods()), bits(logs), "after {t}");
        }
        type Bank = StreamClassifier<Dynamics<5, 2>, 2, 1>;
        let cost = deployed.cost();
        type States = StaggeredStates<<Bank as Streaming>::State, 1>;
        assert_eq!(cost.state_bytes, size_of::<States>());
        assert_eq!(cost.model_bytes, size_of::<Bank>());
        let text = deployed.to_source();
        for part in ["StreamClassifier<Dynamics<5, 2>, 2, 1>", "Covariance::from_factors([["] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_bank_is_of_systems_one_a_class() {
        let of = |models| Deployed::of_systems(&set(models)).expect_err("no bank").to_string();
        assert!(of(vec![(None, model(0.1).into())]).contains("has no class"));
        assert!(of(vec![(Some("a"), model(0.1).into())]).contains("two classes are needed"));
        let twice = || (Some("a"), FittedModel::from(model(0.1)));
        assert!(of(vec![twice(), twice()]).contains("two classes are needed"));
        // So loud a noise that its whitening is nothing in f32: finite, and no device takes it.
        let loud = seen(0.1, vec![vec![1e100, 0.0], vec![0.0, 1.0]]);
        let message = of(vec![(Some("a"), model(0.1).into()), (Some("b"), loud.into())]);
        assert!(message.contains("model \"1\" is invalid"), "{message}");
    }
}
