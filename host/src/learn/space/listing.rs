//! List of the forms of class models for given data: states and transitions, floors, lags, length normalisation.

use fishweir_core::classify::Normalisation;

use crate::classifier::{Codebooks, Form, ScoreModels};
use crate::data::internals::FrontEnd;
use crate::data::{Dataset, Kind, Lags, Windowing};
use crate::fit::Topology;
use crate::learn::limits::Limits;
use crate::learn::list::all_of;
use crate::learn::space::Space;
use crate::runtime::{STATE_SIZES, padded_states};

/// Numbers in a row at most where lags are chosen, but for one difference a channel.
const WIDEST: usize = 40;
/// Samples of the middle series per state, at least, where states are stages that it runs through.
const STAGE: usize = 2;
/// Least number of stages of channels: fewer are a single change, or no change.
const FEWEST_STAGES: usize = 3;
/// Lags reach no further than this part of the middle length of a series. With a fourth, series of 24 samples had
/// a choice of lag 4 alone; lags to 8 had 0.985 instead of 0.955 of ItalyPowerDemand's training part in inner folds.
const REACH: usize = 3;
/// Scores of all strings by one state per position that are tried: 128 MiB, which a machine learns from in seconds. More take
/// many times what an ergodic chain's do (of 400 strings of 64 of 60 symbols, in 20 classes, thirty seconds and one).
const MOST_SCORES: usize = 1 << 24;

impl Space<'_> {
    /// Rows of the longest window of a series.
    pub(crate) fn length(&self, series: usize, front: &FrontEnd) -> usize {
        length(self.data, series, self.request.windowing, front)
    }

    /// Rows of windows of the series, of each one the longest, in order.
    fn lengths(&self, front: &FrontEnd) -> Vec<usize> {
        lengths(self.data, self.series, self.request.windowing, front)
    }

    /// The middle one of them.
    pub(crate) fn middle_length(&self) -> usize {
        middle_length(self.data, self.series, self.request.windowing, &self.front)
    }

    /// The length that nine of ten strings have at most, if the middle one is not much shorter: the last position stands
    /// for all that follow. Of whole ones, for the first position of a window that begins within one is no place.
    pub(crate) fn aligned_length(&self) -> Option<usize> {
        let lengths = self.lengths(&FrontEnd::default());
        let whole = self.request.windowing.is_none();
        let length = *lengths.get(9 * lengths.len() / 10).filter(|_| whole)?;
        (5 * lengths[lengths.len() / 2] >= 4 * length).then_some(length)
    }

    /// Length of the strings, if a state per position can be compiled.
    pub(crate) fn positions(&self) -> Option<usize> {
        self.aligned_length().filter(|&length| padded_states(length).is_some())
    }

    /// Length of the strings, if a state per position would not make far more scores than other forms.
    fn positions_to_try(&self) -> Option<usize> {
        let universal = self.open.first.models == ScoreModels::Universal;
        let models = if universal { 1 } else { self.data.classes().len() };
        let scores = |length: &usize| self.series.len() * models * self.data.kind().size() * length;
        let few =
            |length: &usize| self.request.features().is_none() || scores(length) <= MOST_SCORES;
        self.positions().filter(few)
    }

    /// Returns whether a state per position would be tried for strings that are short enough.
    pub(crate) fn would_try_positions(&self) -> bool {
        let positions = |&(topology, _): &(Topology, _)| topology == Topology::Positions;
        matches!(self.data.kind(), Kind::Symbols(_))
            && self.open.baum_welch.topology == Topology::Automatic
            && self.open.chains.iter().any(positions)
    }

    /// The forms of models of strings to choose from: each chain that they are long enough for, with each
    /// normalisation where lengths differ. The first alone if there is no chain.
    fn of_strings(&self, first: Form) -> Vec<Form> {
        if self.open.chains.is_empty() {
            return vec![first];
        }
        let lengths = self.lengths(&FrontEnd::default());
        let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        let positions = self.positions_to_try();
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
            for (topology, states) in self.open.chains.iter().filter_map(chain) {
                let form = Form { topology, states, normalisation, ..first.clone() };
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
        if forms.is_empty() { vec![first] } else { forms }
    }

    /// Normalisations by length: others than the first if lengths differ.
    fn normalisations(&self, lengths: &[usize]) -> Vec<Normalisation> {
        let differ = lengths.first().zip(lengths.last()).is_some_and(|(a, b)| 5 * a < 4 * b);
        let any = differ && self.request.features().is_some();
        all_of(&self.open.first.normalisation, self.open.normalisations.iter().filter(|_| any))
    }

    /// States and transitions of models of channels.
    fn chains(&self, first: &Form) -> Vec<(Topology, usize)> {
        let whole = self.request.windowing.is_none();
        let fits = |topology: &Topology, states: usize| match topology {
            Topology::LeftToRight => {
                whole && states >= FEWEST_STAGES && STAGE * states <= self.middle
            }
            Topology::Positions => whole,
            Topology::Automatic | Topology::Ergodic => true,
        };
        let mut chains = Vec::new();
        for states in all_of(&first.states, &self.open.states) {
            let others = self.open.topologies.iter().filter(|other| fits(other, states));
            let topologies = all_of(&first.topology, others);
            chains.extend(topologies.into_iter().map(|topology| (topology, states)));
        }
        chains
    }

    /// Lags other than the first.
    fn other_lags(&self) -> Vec<Lags> {
        let channels = self.front.width(self.data.kind().size());
        // Of a model for each lag those that reach no further.
        let reaching = |lags: &Lags| match lags.is_apart() {
            true => lags.up_to(self.middle / REACH),
            false => lags.clone(),
        };
        let within = |lags: &Lags| {
            !lags.is_empty()
                && lags.depth() * REACH <= self.middle
                && lags.seen_width(channels) <= usize::max(WIDEST, 2 * channels)
        };
        let mut lags: Vec<Lags> = match self.request.takes_lags(self.data.kind()) {
            true => self.open.lags.iter().map(reaching).filter(within).collect(),
            false => Vec::new(),
        };
        // It was asked for, however short series are.
        if self.open.asks_each_lag && lags.is_empty() {
            lags.push(Lags::one(1).apart());
        }
        lags
    }

    /// The forms of class models to choose from, the first first.
    pub(crate) fn listed(&self) -> Vec<Form> {
        let first = self.first();
        if !matches!(self.data.kind(), Kind::Channels(_)) {
            return self.of_strings(first);
        }
        let other_lags = self.other_lags();
        let apart = other_lags.iter().any(Lags::is_apart);
        let room = Codebooks::drawn(self.middle, 1, 0).is_some();
        let models = all_of(&first.models, &self.open.models);
        let chains = self.chains(&first);
        let floors = match first.std_floor {
            Some(floor) => all_of(&floor, &self.open.std_floors),
            None => vec![self.open.baum_welch.std_floor],
        };
        let mut forms = Vec::new();
        for normalisation in self.normalisations(&self.lengths(&self.front)) {
            for lags in all_of(&first.lags, &other_lags) {
                for &(topology, states) in &chains {
                    for &floor in &floors {
                        // A model for each lag is of all classes; where there are such, one that sees no
                        // differences is not tried.
                        let any = |models: &&ScoreModels| match **models == ScoreModels::Universal {
                            true => {
                                let other = first.models == **models && !self.open.asks_each_lag;
                                !(lags.is_empty() && apart) || other
                            }
                            false => !lags.is_apart(),
                        };
                        // Beside models for each lag codebooks see what those do not.
                        let codebooks: &[usize] = match self.open.codebooks.as_slice() {
                            [_, ..] if lags.is_apart() && !room => &[0],
                            others @ [_, ..] if lags.is_apart() => others,
                            _ => &[first.codebooks],
                        };
                        for models in models.iter().filter(any) {
                            for &codebooks in codebooks {
                                let (models, lags) = (models.clone(), lags.clone());
                                forms.push(Form {
                                    models,
                                    states,
                                    topology,
                                    std_floor: first.std_floor.map(|_| floor),
                                    lags,
                                    codebooks,
                                    levels: if codebooks > 0 { self.open.levels } else { 0 },
                                    normalisation,
                                });
                            }
                        }
                    }
                }
            }
        }
        if self.request.limits == Limits::default() || !self.open.fewer_levels {
            return forms;
        }
        // Limits may leave room for fewer levels.
        let with_fewer = |form: Form| -> Vec<Form> {
            (0..=form.levels).rev().map(|levels| Form { levels, ..form.clone() }).collect()
        };
        forms.into_iter().flat_map(with_fewer).collect()
    }
}

/// Rows of the longest window of a series.
fn length(data: &Dataset, series: usize, windowing: Option<Windowing>, front: &FrontEnd) -> usize {
    let length = data.series()[series].samples.view().len();
    front.rows(windowing.map_or(length, |by| by.length.get().min(length)))
}

/// Rows of windows of some series, of each one the longest, in order.
fn lengths(
    data: &Dataset,
    series: &[usize],
    windowing: Option<Windowing>,
    front: &FrontEnd,
) -> Vec<usize> {
    let mut lengths: Vec<usize> =
        series.iter().map(|&one| length(data, one, windowing, front)).collect();
    lengths.sort_unstable();
    lengths
}

/// The middle one of them.
pub(crate) fn middle_length(
    data: &Dataset,
    series: &[usize],
    windowing: Option<Windowing>,
    front: &FrontEnd,
) -> usize {
    let lengths = lengths(data, series, windowing, front);
    lengths.get(lengths.len() / 2).copied().unwrap_or(0)
}
