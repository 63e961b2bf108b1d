//! What class models are made of, and what there is to choose from: states and their transitions, the floor of
//! standard deviations, lags of differences, how evidence grows with length.

use fishweir_core::classify::Normalisation;

use super::error::TrainError;
use super::kind::ClassifierKind;
use super::limits::Limits;
use super::options::TrainOptions;
use super::price::Pricing;
use super::space::EACH_LAG_FLOOR;
use crate::classifier::{Codebooks, Form, FormChoice, ScoreModels};
use crate::data::{Dataset, FrontEnd, Kind, Lags};
use crate::fit::{BaumWelch, Topology};
use crate::runtime::family::{OF_CHANNELS, OF_PAST};
use crate::runtime::{Family, Hmm, STATE_SIZES, padded_states};

/// Forms that the last stage judges on all series with all settings: two floors of the first form, and the best
/// form of one model with its own of a model a class.
pub(super) const LAST: usize = 4;
/// Of which share a stage keeps the best.
const KEPT: usize = 4;
/// Numbers in a row at most where lags are chosen, but for one difference a channel.
const WIDEST: usize = 40;
/// Samples of the middle series a state, at least, where states are stages that it runs through.
const STAGE: usize = 2;
/// Fewer stages of channels are one change, or none.
const FEWEST_STAGES: usize = 3;
/// Lags reach no further than this part of the middle length of a series. With a fourth, series of 24 samples had
/// a choice of lag 4 alone; lags to 8 had 0.985 instead of 0.955 of ItalyPowerDemand's training part in inner folds.
const REACH: usize = 3;
/// Scores of all strings by a state a position that are tried: 128 MiB, which a machine learns from in seconds. More take
/// many times what an ergodic chain's do (of 400 strings of 64 of 60 symbols, in 20 classes, thirty seconds and one).
const MOST_SCORES: usize = 1 << 24;

impl Form {
    /// What options begin with, of what is observed.
    pub(super) fn of(options: &TrainOptions, observed: &Kind) -> Self {
        let BaumWelch { states, topology, .. } = options.baum_welch;
        let channels = matches!(observed, Kind::Channels(_));
        let floored = options.has_floor() && channels;
        // Of channels it is known what is settled; of what is made symbols of them not.
        let topology = match channels && !options.front.makes_symbols() {
            true => topology.without_positions(),
            false => topology,
        };
        Self {
            models: options.scores.clone(),
            states,
            topology,
            std_floor: floored.then_some(options.baum_welch.std_floor),
            lags: options.lags.clone(),
            codebooks: options.codebooks,
            levels: if options.codebooks > 0 { options.levels } else { 0 },
            normalisation: options.normalisation,
        }
    }
}

impl FormChoice {
    /// What was chosen, as a model that was fitted has it: what was settled of [`Topology::Automatic`].
    pub(super) fn settle(&mut self, model: &Hmm) {
        let states = model.states();
        let stays = states < 2 || model.transition[0][1] < 1.0;
        let won = self.candidates.iter_mut().filter(|one| one.won).map(|one| &mut one.form);
        for form in won.chain([&mut self.form]) {
            if form.topology == Topology::Automatic {
                form.topology = if stays { Topology::Ergodic } else { Topology::Positions };
                form.states = states;
            }
        }
    }
}

impl TrainOptions {
    /// With another form of class models, whatever else there is to choose from.
    pub(super) fn with_form(&self, form: &Form) -> Self {
        let Form { states, topology, .. } = *form;
        let std_floor = form.std_floor.unwrap_or(self.baum_welch.std_floor);
        let emission = self.emission_of(form);
        let baum_welch = self.baum_welch.clone();
        let options = Self {
            baum_welch: BaumWelch { states, topology, std_floor, emission, ..baum_welch },
            lags: form.lags.clone(),
            codebooks: form.codebooks,
            levels: if form.codebooks > 0 { form.levels } else { self.levels },
            normalisation: form.normalisation,
            ..self.clone()
        };
        if form.models == self.scores { options } else { options.on_one_model() }
    }

    /// How states of a form emit; `None` as suits what is observed.
    pub(super) fn emission_of(&self, form: &Form) -> Option<&'static dyn Family> {
        let own = self.baum_welch.emission;
        if form.lags.is_past() { own.or(Some(OF_PAST)) } else { own }
    }

    /// Whether differences at lags are of what is observed, and compile.
    pub(super) fn takes_lags(&self, observed: &Kind) -> bool {
        let reals = |family: &dyn Family| family.observes() == OF_CHANNELS.observes();
        matches!(observed, Kind::Channels(_))
            && self.kind.compiles()
            && self.baum_welch.emission.is_none_or(reals)
    }

    /// How many forms are tried at most, once for each stage that they see.
    pub(super) fn most_trials(&self, observed: &Kind) -> usize {
        let channels = matches!(observed, Kind::Channels(_));
        let others = |count: usize| if channels { 1 + count } else { 1 };
        let levels = match self.limits == Limits::default() || !self.fewer_levels {
            true => 1,
            false => 1 + self.levels,
        };
        let trials = |lags: &Lags| match lags.is_apart() {
            true => lags.of_models().len() * self.other_codebooks.len().max(1) * levels,
            false => 1,
        };
        let of_lags = self.other_lags.iter().map(trials).sum();
        let lags = if self.takes_lags(observed) { others(of_lags) } else { 1 };
        let normalisations =
            if self.features().is_some() { others(self.other_normalisations.len()) } else { 1 };
        let floors = self.floors(observed).len();
        let stages = if self.windowing.is_none() { self.other_topologies.len() } else { 0 };
        let all = match channels {
            true => {
                let chains = others(self.other_states.len()) * (1 + stages);
                lags * normalisations * floors * chains
            }
            false => self.chains.len().max(1) * (1 + self.other_normalisations.len()),
        };
        // Of one model there is a fit for each, and no fold; of class models its shape, and the first's floors, on some
        // series and on all.
        let (mut left, mut tried) = match self.other_models.len() {
            1.. if channels => {
                let firsts = floors * (1 + stages);
                (2 + firsts, all.div_ceil(self.inner_folds.max(1)) + 2 + firsts)
            }
            _ => (all, 0),
        };
        while left > LAST {
            tried += left;
            left = kept_of(left);
        }
        tried + left
    }

    /// Rows of the longest window of a series.
    fn length(&self, data: &Dataset, series: usize, front: &FrontEnd) -> usize {
        let length = data.series()[series].samples.view().len();
        front.rows(self.windowing.map_or(length, |by| by.length.get().min(length)))
    }

    /// Rows of windows of some series, of each one the longest, in order.
    fn lengths(&self, data: &Dataset, series: &[usize], front: &FrontEnd) -> Vec<usize> {
        let mut lengths: Vec<usize> =
            series.iter().map(|&one| self.length(data, one, front)).collect();
        lengths.sort_unstable();
        lengths
    }

    /// Refuses a list to choose from that has nothing.
    pub(super) fn check_candidates(&self) -> Result<(), TrainError> {
        let lists = [
            ("scaling", self.scalings.is_empty()),
            ("value of C", self.c.is_empty()),
            ("width (sigma)", self.kind == ClassifierKind::Gaussian && self.sigma.is_empty()),
        ];
        match lists.into_iter().find(|(_, empty)| *empty) {
            Some((what, _)) => Err(TrainError::NoCandidate(what)),
            None => Ok(()),
        }
    }

    /// Refuses lags at which no window of some series has a past.
    pub(super) fn check_reach(&self, data: &Dataset, series: &[usize]) -> Result<(), TrainError> {
        let front = self.front.over(data.kind()).unwrap_or_default();
        let length = |one: &usize| self.length(data, *one, &front);
        // Of equals the first.
        let Some(&longest) = series.iter().rev().max_by_key(|one| length(one)) else {
            return Ok(());
        };
        let length = length(&longest);
        if self.lags.depth() < length || self.lags.is_empty() {
            return Ok(());
        }
        let (lags, series) = (self.lags.clone(), data.series()[longest].id.clone());
        let windowed = self.windowing.is_some();
        Err(TrainError::LongLags { lags, series, length, windowed })
    }

    /// The middle one of them.
    pub(super) fn middle_length(
        &self,
        data: &Dataset,
        series: &[usize],
        front: &FrontEnd,
    ) -> usize {
        let lengths = self.lengths(data, series, front);
        lengths.get(lengths.len() / 2).copied().unwrap_or(0)
    }

    /// The length that nine of ten strings have at most, if the middle one is not much shorter: the last position stands
    /// for all that follow. Of whole ones, for the first position of a window that begins within one is no place.
    fn aligned_length(&self, data: &Dataset, series: &[usize]) -> Option<usize> {
        let lengths = self.lengths(data, series, &FrontEnd::default());
        let length = *lengths.get(9 * lengths.len() / 10).filter(|_| self.windowing.is_none())?;
        (5 * lengths[lengths.len() / 2] >= 4 * length).then_some(length)
    }

    /// The same, if a state a position can be compiled.
    pub(super) fn positions(&self, data: &Dataset, series: &[usize]) -> Option<usize> {
        self.aligned_length(data, series).filter(|&length| padded_states(length).is_some())
    }

    /// The same, if the scores of models of so many states are not far more than those of others.
    fn positions_to_try(&self, data: &Dataset, series: &[usize]) -> Option<usize> {
        let models = if self.universal() { 1 } else { data.classes().len() };
        let scores = |length: &usize| series.len() * models * data.kind().size() * length;
        let few = |length: &usize| self.features().is_none() || scores(length) <= MOST_SCORES;
        self.positions(data, series).filter(few)
    }

    /// The length of strings that have about one, where that is why no state a position is tried of them.
    #[must_use]
    pub fn too_long_for_positions(&self, data: &Dataset, series: &[usize]) -> Option<usize> {
        let positions = |&(topology, _): &(Topology, _)| topology == Topology::Positions;
        let would_try = matches!(data.kind(), Kind::Symbols(_))
            && self.baum_welch.topology == Topology::Automatic
            && self.chains.iter().any(positions);
        let length = would_try.then(|| self.aligned_length(data, series)).flatten()?;
        padded_states(length).is_none().then_some(length)
    }

    /// The forms of models of strings to choose from: each chain that they are long enough for, with each
    /// normalisation where lengths differ. The options' own alone where there are none.
    fn forms_of_strings(&self, data: &Dataset, series: &[usize]) -> Vec<Form> {
        let first = Form::of(self, data.kind());
        if self.chains.is_empty() {
            return vec![first];
        }
        let lengths = self.lengths(data, series, &FrontEnd::default());
        let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        let positions = self.positions_to_try(data, series);
        // The last state stands for all that follow.
        let longest =
            lengths.last().zip(STATE_SIZES.last()).map(|(&length, &most)| most.min(length));
        let told = (first.topology != Topology::Automatic).then_some(first.topology);
        // Two stages are one change.
        let fewest = first.states.min(4);
        let chain = |&(topology, states): &(Topology, Option<usize>)| {
            let states = states.unwrap_or(first.states);
            let long = states < 2 || STAGE * states <= middle;
            match topology {
                _ if told.is_some_and(|told| told != topology) => None,
                Topology::Positions if told.is_some() => longest.map(|length| (topology, length)),
                Topology::Positions => positions.map(|length| (topology, length)),
                Topology::LeftToRight => (long && states >= fewest).then_some((topology, states)),
                _ => Some((topology, states)),
            }
        };
        let mut forms = Vec::new();
        for normalisation in self.normalisations(&lengths) {
            for (topology, states) in self.chains.iter().filter_map(chain) {
                let form = Form { topology, states, normalisation, ..first.clone() };
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
        if forms.is_empty() { vec![first] } else { forms }
    }

    /// How evidence may grow with length: others than the first where lengths differ.
    fn normalisations(&self, lengths: &[usize]) -> Vec<Normalisation> {
        let differ = lengths.first().zip(lengths.last()).is_some_and(|(a, b)| 5 * a < 4 * b);
        let others = match differ && self.features().is_some() {
            true => self.other_normalisations.as_slice(),
            false => &[],
        };
        all_of(&self.normalisation, others)
    }

    /// The forms of class models to choose from, the first first.
    pub(super) fn forms(&self, data: &Dataset, series: &[usize]) -> Vec<Form> {
        let first = Form::of(self, data.kind());
        if !matches!(data.kind(), Kind::Channels(_)) {
            return self.forms_of_strings(data, series);
        }
        // Refused before where it does not fit.
        let front = self.front.over(data.kind()).unwrap_or_default();
        let lengths = self.lengths(data, series, &front);
        let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        let channels = front.width(data.kind().size());
        // Of a model for each lag those that reach no further.
        let reaching = |lags: &Lags| match lags.is_apart() {
            true => lags.up_to(middle / REACH),
            false => lags.clone(),
        };
        let within = |lags: &Lags| {
            !lags.is_empty()
                && lags.depth() * REACH <= middle
                && lags.seen_width(channels) <= usize::max(WIDEST, 2 * channels)
        };
        let mut lags: Vec<Lags> = match self.takes_lags(data.kind()) {
            true => self.other_lags.iter().map(reaching).filter(within).collect(),
            false => Vec::new(),
        };
        // It was asked for, however short series are.
        if self.asks_each_lag() && lags.is_empty() {
            lags.push(Lags::one(1).apart());
        }
        let apart = lags.iter().any(Lags::is_apart);
        let room = Codebooks::drawn(middle, 1, 0).is_some();
        let mut forms = Vec::new();
        let models = all_of(&first.models, &self.other_models);
        let whole = self.windowing.is_none();
        let fits = |topology: &Topology, states: usize| match topology {
            Topology::LeftToRight => whole && states >= FEWEST_STAGES && STAGE * states <= middle,
            Topology::Positions => whole,
            Topology::Automatic | Topology::Ergodic => true,
        };
        let mut chains = Vec::new();
        for states in all_of(&first.states, &self.other_states) {
            let others = self.other_topologies.iter().filter(|other| fits(other, states));
            let topologies = all_of(&first.topology, others);
            chains.extend(topologies.into_iter().map(|topology| (topology, states)));
        }
        for normalisation in self.normalisations(&lengths) {
            for lags in all_of(&first.lags, &lags) {
                for &(topology, states) in &chains {
                    for floor in self.floors(data.kind()) {
                        // A model for each lag is of all classes; where there are such, one that sees no
                        // differences is not tried.
                        let any = |models: &&ScoreModels| match **models == ScoreModels::Universal {
                            true => {
                                let other = first.models == **models && !self.asks_each_lag();
                                !(lags.is_empty() && apart) || other
                            }
                            false => !lags.is_apart(),
                        };
                        // Beside models for each lag codebooks see what those do not.
                        let codebooks: &[usize] = match self.other_codebooks.as_slice() {
                            [_, ..] if lags.is_apart() && !room => &[0],
                            others @ [_, ..] if lags.is_apart() => others,
                            _ => &[first.codebooks],
                        };
                        for models in models.iter().filter(any) {
                            for &codebooks in codebooks {
                                let (models, lags) = (models.clone(), lags.clone());
                                let std_floor = first.std_floor.map(|_| floor);
                                forms.push(Form {
                                    models,
                                    states,
                                    topology,
                                    std_floor,
                                    lags,
                                    codebooks,
                                    levels: if codebooks > 0 { self.levels } else { 0 },
                                    normalisation,
                                });
                            }
                        }
                    }
                }
            }
        }
        if self.limits == Limits::default() || !self.fewer_levels {
            return forms;
        }
        // Limits may leave room for fewer levels.
        let with_fewer = |form: Form| -> Vec<Form> {
            (0..=form.levels).rev().map(|levels| Form { levels, ..form.clone() }).collect()
        };
        forms.into_iter().flat_map(with_fewer).collect()
    }

    /// Of forms those that are left where a model for each lag is taken untried: that, with the codebooks that were
    /// asked for, at the floor that suits it if it is among them; without one, all those whose models are the first's.
    /// Series too short for codebooks are told apart by a model a class, which had 0.978 of the test part of
    /// pen tracks of eight samples where models for each lag alone had 0.909.
    pub(super) fn untried(&self, mut forms: Vec<Form>) -> Vec<Form> {
        if !self.each_lag_untried {
            return forms;
        }
        if let Some(form) = self.usual(&forms) {
            return vec![form.clone()];
        }
        let models = forms.first().map(|form| form.models.clone());
        forms.retain(|form| Some(&form.models) == models.as_ref());
        forms
    }

    /// Whether a model for each lag is what was asked for: see [`on_each_lag`](Self::on_each_lag).
    pub(super) fn asks_each_lag(&self) -> bool {
        self.each_lag_untried && self.scores == ScoreModels::Universal
    }

    /// Of forms a model for each lag that is taken where nothing is tried: see [`untried`](Self::untried).
    pub(super) fn usual<'f>(&self, forms: &'f [Form]) -> Option<&'f Form> {
        let alone = self.other_codebooks.is_empty() || self.asks_each_lag();
        let whole = |form: &&Form| form.codebooks > 0 || alone;
        let each_lag = || forms.iter().filter(|form| form.lags.is_apart()).filter(whole);
        each_lag().find(|form| form.std_floor == Some(EACH_LAG_FLOOR)).or(each_lag().next())
    }

    /// The forms that a training on some series tries: one where it tries none.
    #[must_use]
    pub fn tried(&self, data: &Dataset, series: &[usize]) -> Vec<Form> {
        let options = self.clone().on_a_device();
        options.untried(options.forms(data, series))
    }

    /// The options with the one form that is taken untried, where there is one: nothing is left to choose from.
    pub(super) fn settled(&self, data: &Dataset, series: &[usize]) -> Self {
        let forms = Pricing::of(self, data, series)
            .and_then(|pricing| self.limits.kept(self.forms(data, series), pricing.as_ref()));
        match self.untried(forms.unwrap_or_default()).as_slice() {
            [form] => Self {
                std_floors: Vec::new(),
                chains: Vec::new(),
                other_lags: Vec::new(),
                other_codebooks: Vec::new(),
                other_states: Vec::new(),
                other_topologies: Vec::new(),
                other_models: Vec::new(),
                other_normalisations: Vec::new(),
                each_lag_untried: false,
                ..self.with_form(form)
            },
            _ => self.clone(),
        }
    }
}

/// The first of several, and the others that differ from it and from each other.
pub(super) fn all_of<'t, T>(first: &T, others: impl IntoIterator<Item = &'t T>) -> Vec<T>
where
    T: Clone + PartialEq + 't,
{
    let mut all = vec![first.clone()];
    others.into_iter().for_each(|one| {
        if !all.contains(one) {
            all.push(one.clone());
        }
    });
    all
}

/// How many of so many forms the next stage sees.
pub(super) fn kept_of(judged: usize) -> usize {
    usize::max(judged.div_ceil(KEPT), LAST)
}
