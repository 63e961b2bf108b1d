//! Open parts of a request, and the alternatives of its effort, whatever the data.

use fishweir_core::classify::Normalisation;

use crate::classifier::{Form, ScoreModels};
use crate::data::{Kind, Lags};
use crate::fit::{BaumWelch, Topology};
use crate::learn::kind::ClassifierKind;
use crate::learn::request::{Effort, LagChoice, ModelChoice, Request, Varied};
use crate::runtime::Family;
use crate::runtime::family::OF_CHANNELS;

/// Codebooks for each dilation that are tried. In folds of training parts of nine sets (`host/docs/ACCURACY.md`) models
/// for each lag, of four states, were right in 0.904 in the mean over the sets, with 8 codebooks in 0.929; at a floor of
/// 0.01 with 8 in 0.931, with 16 in 0.929; four with two levels of each pattern in 0.008 more than eight without.
const CODEBOOKS: usize = 4;

/// Levels of each of their patterns.
const LEVELS: usize = 2;

/// Transitions that strings are given in longer searches.
const TOPOLOGIES: [Topology; 3] = [Topology::Ergodic, Topology::LeftToRight, Topology::Positions];

/// The floor of standard deviations of a model for each lag that no other is tried beside: in the same folds 0.03 and
/// 0.01 had 0.929 and 0.931, 0.3 had 0.925.
pub(crate) const EACH_LAG_FLOOR: f64 = 0.03;

/// The first form, and the alternatives of each of its parts: those given, or those that the effort tries.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// Fit of its models.
    pub(crate) baum_welch: BaumWelch,
    /// Default form; it has a floor even if that is not used.
    pub(crate) first: Form,
    /// Floors of standard deviations. Channels only.
    pub(crate) std_floors: Vec<f64>,
    /// Lags. Channels only.
    pub(crate) lags: Vec<Lags>,
    /// Codebooks for a model for each lag, in place of the first's; empty to keep those.
    pub(crate) codebooks: Vec<usize>,
    /// Levels of each codeword's likeness, where there are codebooks.
    pub(crate) levels: usize,
    /// `true` if fewer levels are tried too, given limits.
    pub(crate) fewer_levels: bool,
    /// Hidden states. Channels only.
    pub(crate) states: Vec<usize>,
    /// Transitions. Channels only.
    pub(crate) topologies: Vec<Topology>,
    /// Transitions and numbers of states of models of strings, `None` for the first's; empty to keep the first.
    pub(crate) chains: Vec<(Topology, Option<usize>)>,
    /// Models that give scores.
    pub(crate) models: Vec<ScoreModels>,
    /// Normalisations by length, if lengths differ.
    pub(crate) normalisations: Vec<Normalisation>,
    /// `true` if a model for each lag, if it is among the forms and within the limits, is used without any trial.
    pub(crate) each_lag_untried: bool,
    /// `true` if the first form is such a model by request: then it has the machine of one model.
    pub(crate) asks_each_lag: bool,
}

/// The first of a list, or else the default, and the others: of a list, or else those that the effort tries.
fn given<T: Clone>(list: &[T], usual: T, tried: Vec<T>) -> (T, Vec<T>) {
    match list.split_first() {
        Some((first, others)) => (first.clone(), others.to_vec()),
        None => (usual, tried),
    }
}

impl Open {
    pub(crate) fn of(request: &Request) -> Self {
        let compiles = request.kind.compiles();
        let mut baum_welch = request.baum_welch.clone();
        baum_welch.topology = match (request.topologies.first(), request.states.is_empty()) {
            (Some(&topology), _) => topology,
            (None, false) => Topology::Ergodic,
            (None, true) => baum_welch.topology,
        };
        let tried = Alternatives::of(request, &baum_welch);
        let (states, other_states) = given(&request.states, baum_welch.states, tried.states);
        let (_, topologies) = given(&request.topologies, baum_welch.topology, tried.topologies);
        let (std_floor, mut std_floors) =
            given(&request.std_floors, baum_welch.std_floor, tried.std_floors);
        let (codebooks, mut other_codebooks) = given(&request.codebooks, 0, tried.codebooks);
        let (normalisation, normalisations) =
            given(&request.normalisations, Normalisation::PER_SAMPLE, tried.normalisations);
        let mut chains = tried.chains;
        if !request.states.is_empty() {
            // The number of positions as given, whatever the strings' length.
            let positions = baum_welch.topology == Topology::Positions;
            chains.retain(|(_, states)| states.is_none() && !positions);
            if chains.is_empty() && !other_states.is_empty() {
                chains.push((baum_welch.topology, None));
            }
            let topologies: Vec<Topology> = chains.iter().map(|(topology, _)| *topology).collect();
            for topology in topologies.into_iter().filter(|one| *one != Topology::Positions) {
                chains.extend(other_states.iter().map(|&states| (topology, Some(states))));
            }
        }
        let (mut lags, mut other_lags) = match &request.lags {
            LagChoice::Given(lags) => given(lags, Lags::NONE, Vec::new()),
            LagChoice::Usual | LagChoice::Choose => (Lags::NONE, tried.lags),
        };
        let mut each_lag_untried = tried.each_lag_untried;
        let mut models = tried.models;
        let mut scores = ScoreModels::All;
        let mut asks_each_lag = false;
        if request.models != ModelChoice::Usual {
            models = Vec::new();
            // The default's form by its name, where nothing of it was said otherwise.
            asks_each_lag = request.models == ModelChoice::EachLag
                && each_lag_untried
                && request.lags == LagChoice::Usual
                && request.std_floors.len() < 2;
            if !asks_each_lag && each_lag_untried {
                (each_lag_untried, other_lags) = (false, other_given(&request.lags));
                other_codebooks = other_codebooks_given(request);
            }
            if request.models == ModelChoice::EachLag && !asks_each_lag {
                lags = if lags.is_empty() { Lags::dyadic(8) } else { lags }.apart();
                // What was asked for is not given up for other forms.
                other_lags.retain(Lags::is_apart);
            }
            scores = match &request.models {
                ModelChoice::Given(models) => models.clone(),
                _ => ScoreModels::Universal,
            };
        }
        if request.learner.is_some() {
            models = Vec::new();
        }
        // Several floors were given to choose from.
        each_lag_untried &= request.std_floors.len() < 2;
        if !request.has_floor() {
            std_floors = Vec::new();
        }
        if request.has_past() {
            lags = if lags.is_empty() { Lags::order(2) } else { lags }.of_past();
            other_lags = other_lags.into_iter().map(Lags::of_past).collect();
        }
        // Models that a kernel machine on their scores is deployed with have no state per position: those would be too many.
        if !compiles {
            baum_welch.topology = baum_welch.topology.without_positions();
        }
        if request.features().is_none() {
            scores = ScoreModels::All;
            // Models of classes, which is what is left, see no lag each.
            if lags.is_apart() {
                lags = Lags::NONE;
            }
        }
        (baum_welch.states, baum_welch.std_floor) = (states, std_floor);
        let levels = request.levels.unwrap_or(LEVELS);
        let first = Form {
            models: scores,
            states,
            topology: baum_welch.topology,
            std_floor: Some(std_floor),
            lags,
            codebooks,
            levels: if codebooks > 0 { levels } else { 0 },
            normalisation,
        };
        Self {
            baum_welch,
            first,
            std_floors,
            lags: other_lags,
            codebooks: other_codebooks,
            levels,
            fewer_levels: request.levels.is_none(),
            states: other_states,
            topologies,
            chains,
            models,
            normalisations,
            each_lag_untried,
            asks_each_lag,
        }
    }

    /// The first form for the observations.
    pub(crate) fn first_over(&self, request: &Request, observed: &Kind) -> Form {
        let channels = matches!(observed, Kind::Channels(_));
        // Of channels it is known what is settled; of what is made symbols of them not.
        let topology = match channels && !request.front.makes_symbols() {
            true => self.first.topology.without_positions(),
            false => self.first.topology,
        };
        let std_floor = self.first.std_floor.filter(|_| request.has_floor() && channels);
        Form { topology, std_floor, ..self.first.clone() }
    }

    /// Returns whether codebooks are to be chosen for a model for each lag.
    pub(crate) fn tries_codebooks(&self) -> bool {
        let of_all = [&self.first.models].into_iter().chain(&self.models);
        let apart = [&self.first.lags].into_iter().chain(&self.lags).any(Lags::is_apart);
        of_all.into_iter().any(|models| *models == ScoreModels::Universal)
            && apart
            && self.codebooks.iter().any(|&count| count > 0)
    }
}

impl Request {
    /// Summary of the augmentation of training series of a kind, and of their codebooks.
    #[must_use]
    pub fn varies(&self, observed: &Kind) -> Varied {
        let augment = self.augmentation();
        let Kind::Channels(names) = observed else { return Varied::default() };
        let copies = augment.numbers_of_copies(observed).iter().any(|&number| number > 0);
        let all = augment.vectors.among(names);
        let vectors = !all.is_empty();
        // A vector's magnitude is the same however it is turned.
        let turns = all.iter().any(|vector| !self.front.takes_magnitude_of(&vector.channels));
        let turned = copies && turns && augment.rotation_degrees > 0.0;
        let open = Open::of(self);
        Varied {
            copies,
            vectors,
            turned,
            copies_differ: turned || (copies && augment.gain > 0.0),
            mirror_chosen: augment.mirrors(observed).is_none(),
            codebooks: open.first.codebooks > 0 || open.tries_codebooks(),
        }
    }
}

/// Given lags other than the first.
fn other_given(lags: &LagChoice) -> Vec<Lags> {
    match lags {
        LagChoice::Given(lags) => lags.iter().skip(1).cloned().collect(),
        LagChoice::Usual | LagChoice::Choose => Vec::new(),
    }
}

/// Given codebooks other than the first.
fn other_codebooks_given(request: &Request) -> Vec<usize> {
    request.codebooks.iter().skip(1).copied().collect()
}

/// Alternatives that an effort tries, if none are given.
#[derive(Default)]
struct Alternatives {
    std_floors: Vec<f64>,
    lags: Vec<Lags>,
    codebooks: Vec<usize>,
    states: Vec<usize>,
    topologies: Vec<Topology>,
    chains: Vec<(Topology, Option<usize>)>,
    models: Vec<ScoreModels>,
    normalisations: Vec<Normalisation>,
    each_lag_untried: bool,
}

impl Alternatives {
    /// Alternatives for models that are fitted so.
    fn of(request: &Request, baum_welch: &BaumWelch) -> Self {
        let (kind, effort) = (request.kind, request.effort);
        let std_floors = match effort {
            Effort::Minimal | Effort::Quick | Effort::Normal => vec![EACH_LAG_FLOOR],
            Effort::Thorough => vec![0.1, EACH_LAG_FLOOR, 0.01],
        };
        let floors_alone = Self { std_floors: std_floors.clone(), ..Self::default() };
        let chooses_lags = request.lags == LagChoice::Choose;
        // A Gram matrix each, and models that must be small; words have no models.
        if !kind.compiles() || kind == ClassifierKind::EmpiricalMap {
            return floors_alone;
        }
        let (quick, normal) = (effort == Effort::Quick, effort == Effort::Normal);
        let automatic = baum_welch.topology == Topology::Automatic;
        let chains = match effort {
            Effort::Minimal => Vec::new(),
            // Expected transitions keep a chain of as many states as positions: of promoters 95 times the flash, for 0.02.
            Effort::Quick if automatic && kind == ClassifierKind::LatentMap => Vec::new(),
            // What makes strings likelier need not be what tells their classes apart.
            Effort::Quick => chains_of(&[Topology::Ergodic, Topology::Positions], &[]),
            Effort::Normal => chains_of(&TOPOLOGIES, &[2, 8]),
            Effort::Thorough => chains_of(&TOPOLOGIES, &[2, 8, 16]),
        };
        let fisher = kind == ClassifierKind::Fisher;
        let usual = |family: &dyn Family| family.name() == OF_CHANNELS.name();
        let each_lag_untried = quick && fisher && baum_welch.emission.is_none_or(usual);
        let mut tried = Self { chains, each_lag_untried, ..floors_alone };
        if chooses_lags && matches!(effort, Effort::Minimal | Effort::Quick) {
            tried.each_lag_untried = false;
            tried.lags = lags(request, Effort::Normal);
            if !request.has_past() {
                tried.lags.push(Lags::one(4));
            }
            return tried;
        }
        if effort == Effort::Minimal || quick && !each_lag_untried {
            return tried;
        }
        tried.lags = lags(request, effort);
        // A covariance of every channel with every difference would be large.
        if fisher && is_diagonal(request) {
            tried.codebooks = match effort {
                Effort::Thorough => vec![0, CODEBOOKS, 2 * CODEBOOKS],
                _ => vec![CODEBOOKS],
            };
        }
        if baum_welch.topology != Topology::Positions {
            // Of fisher a model for each lag is tried instead.
            let of_class_models = normal && !fisher;
            tried.states = match effort {
                _ if of_class_models => vec![2, 8],
                Effort::Thorough => vec![8, 16],
                _ => Vec::new(),
            };
            if automatic && (of_class_models || effort == Effort::Thorough) {
                tried.topologies = vec![Topology::LeftToRight];
            }
        }
        if fisher {
            tried.models = vec![ScoreModels::Universal];
        }
        if !quick {
            tried.normalisations = vec![Normalisation::PER_SAMPLE, Normalisation::NONE];
        }
        tried
    }
}

fn is_diagonal(request: &Request) -> bool {
    request.baum_welch.emission.is_none_or(|family| !family.has_covariances())
}

/// The lags that an effort tries. Those of many channels are few: see `WIDEST` of forms.
fn lags(request: &Request, effort: Effort) -> Vec<Lags> {
    if !is_diagonal(request) {
        return Vec::new();
    }
    if request.has_past() {
        return [1, 4, 8].map(Lags::order).into();
    }
    let dyadic =
        |longest: &[u32]| -> Vec<Lags> { longest.iter().copied().map(Lags::dyadic).collect() };
    let thorough = effort == Effort::Thorough;
    let mut lags = Vec::new();
    if thorough {
        lags = dyadic(&[2, 8, 32]);
        lags.push(Lags::one(4));
    }
    // One model of all classes alone can be a model for each lag.
    if request.kind == ClassifierKind::Fisher {
        let each: &[u32] = if thorough { &[2, 8, 32] } else { &[32] };
        lags.extend(dyadic(each).into_iter().map(Lags::apart));
        // It predicts from its past too, which costs a fit; models of classes, in every inner fold, where it is asked for.
        if thorough && request.baum_welch.emission.is_none() {
            lags.extend([1, 2, 4, 8].map(Lags::order));
        }
    }
    lags
}

/// Chains of a model's own states and of others; a state per position there is once.
fn chains_of(topologies: &[Topology], others: &[usize]) -> Vec<(Topology, Option<usize>)> {
    let of = |&topology: &Topology| {
        let others = if topology == Topology::Positions { &[] } else { others };
        let states = std::iter::once(None).chain(others.iter().copied().map(Some));
        states.map(move |states| (topology, states))
    };
    topologies.iter().flat_map(of).collect()
}
