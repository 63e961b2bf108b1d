//! How many forms of class models a search tries: those that each effort leaves to choose from.

use fishweir_core::classify::Normalisation;
use serde::Serialize;

use super::kind::ClassifierKind;
use super::options::TrainOptions;
use crate::classifier::ScoreModels;
use crate::data::Lags;
use crate::fit::Topology;
use crate::runtime::Family;
use crate::runtime::family::OF_CHANNELS;

/// How much is tried before something is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Of fisher on real channels by Gaussian emissions a model for each lag of all classes, with codebooks beside them,
    /// and no other form; else, and where series are too short for codebooks, two floors of standard deviations; of
    /// whole strings of about one length, 64 symbols at most, a state a position against an ergodic chain (of
    /// latent-mean-map what is likelier)
    #[default]
    Quick,
    /// Of fisher the same at two floors, against a model a class (or for each lag) where it errs enough to be led; of other
    /// classifiers of channels that compile 2, 4 and 8 states at two floors, of whole series from left to right too; of strings these states ergodic, 4 and 8 from
    /// left to right, and a state a position. Where channels form vectors jittered copies against none.
    /// Where lengths differ with and without normalisation
    Normal,
    /// More: one model of all classes, differences at lags or predicting from the past, of 4 to 16 states, of whole series
    /// from left to right too, with and without codebooks, more floors; of strings to 16 states
    Thorough,
}

/// Codebooks for each dilation that are tried. In folds of training parts of nine sets (`host/docs/ACCURACY.md`) models
/// for each lag, of four states, were right in 0.904 in the mean over the sets, with 8 codebooks in 0.929; at a floor of
/// 0.01 with 8 in 0.931, with 16 in 0.929; four with two levels of each pattern in 0.008 more than eight without.
pub(super) const CODEBOOKS: usize = 4;

/// Transitions that strings are given in longer searches.
const TOPOLOGIES: [Topology; 3] = [Topology::Ergodic, Topology::LeftToRight, Topology::Positions];

/// Levels of each of their patterns.
pub(super) const LEVELS: usize = 2;

/// Weights of codebooks beside one model of all classes. In folds of training parts of ten sets (`host/docs/ACCURACY.md`)
/// four codebooks with two levels gained 0.003 in the mean over eight with none, by this choice 0.008.
const ONE_MODEL_WEIGHTS: [f64; 2] = [1.0, 4.0];

/// The floor of standard deviations of a model for each lag that no other is tried beside: on the same folds 0.03 and
/// 0.01 had 0.929 and 0.931, 0.3 had 0.925.
pub(super) const EACH_LAG_FLOOR: f64 = 0.03;

impl TrainOptions {
    /// With as many forms of class models to choose from as a search tries. What is set already remains the
    /// first, and what has others already keeps those.
    #[must_use]
    pub fn searching(mut self, search: Search) -> Self {
        // Those of many channels are few: see `WIDEST` of forms.
        type Tried<'a> = (&'a [u32], &'a [u32], &'a [u32], &'a [usize], &'a [f64]);
        let (each, longest, orders, states, floors): Tried<'_> = match search {
            Search::Quick | Search::Normal => (&[32], &[], &[], &[], &[EACH_LAG_FLOOR]),
            Search::Thorough => {
                (&[2, 8, 32], &[2, 8, 32], &[1, 2, 4, 8], &[8, 16], &[0.1, EACH_LAG_FLOOR, 0.01])
            }
        };
        self.std_floors = floors.to_vec();
        // A Gram matrix each, and models that must be small; words have no models.
        if !self.kind.compiles() || self.kind == ClassifierKind::EmpiricalMap {
            return self;
        }
        let quick = search == Search::Quick;
        if !quick {
            self.augment.other_copies = vec![0];
        }
        let automatic = self.baum_welch.topology == Topology::Automatic;
        self.chains = match search {
            // Expected transitions keep a chain of as many states as positions: of promoters 95 times the flash, for 0.02.
            Search::Quick if automatic && self.kind == ClassifierKind::LatentMap => Vec::new(),
            // What makes strings likelier need not be what tells their classes apart.
            Search::Quick => chains_of(&[Topology::Ergodic, Topology::Positions], &[]),
            Search::Normal => chains_of(&TOPOLOGIES, &[2, 8]),
            Search::Thorough => chains_of(&TOPOLOGIES, &[2, 8, 16]),
        };
        let usual = |family: &dyn Family| family.name() == OF_CHANNELS.name();
        self.each_lag_untried = quick
            && self.kind == ClassifierKind::Fisher
            && self.baum_welch.emission.is_none_or(usual);
        if quick && !self.each_lag_untried {
            return self;
        }
        // A covariance of every channel with every difference would be large.
        let diagonal =
            self.baum_welch.emission.is_none_or(|family| family.name() != "full-gaussian");
        if diagonal {
            let dyadic = |longest: &[u32]| -> Vec<Lags> {
                longest.iter().copied().map(Lags::dyadic).collect()
            };
            self.other_lags = dyadic(longest);
            if search == Search::Thorough {
                self.other_lags.push(Lags::one(4));
            }
            // One model of all classes alone can be a model for each lag.
            if self.kind == ClassifierKind::Fisher {
                self.other_lags.extend(dyadic(each).into_iter().map(Lags::apart));
                self.other_codebooks = match search {
                    Search::Thorough => vec![0, CODEBOOKS, 2 * CODEBOOKS],
                    _ => vec![CODEBOOKS],
                };
            }
            if self.baum_welch.emission.is_some_and(Family::is_autoregressive) {
                self.other_lags = [1, 4, 8].map(Lags::order).into();
            } else if self.baum_welch.emission.is_none() && self.kind == ClassifierKind::Fisher {
                // One model of all classes predicts from its past, which costs a fit; models of classes, in every
                // inner fold, where it is asked for.
                self.other_lags.extend(orders.iter().copied().map(Lags::order));
            }
        }
        if self.baum_welch.topology != Topology::Positions {
            // Of fisher a model for each lag is tried instead.
            let of_class_models = search == Search::Normal && self.kind != ClassifierKind::Fisher;
            self.other_states = if of_class_models { vec![2, 8] } else { states.to_vec() };
            if automatic && (of_class_models || search == Search::Thorough) {
                self.other_topologies = vec![Topology::LeftToRight];
            }
        }
        if self.kind == ClassifierKind::Fisher {
            self.other_models = vec![ScoreModels::Universal];
        }
        if !quick {
            self.other_normalisations = vec![Normalisation::PER_SAMPLE, Normalisation::NONE];
        }
        self
    }

    /// With the form that [`Search::Quick`] takes, asked for: a model for each lag of all classes, as far as series
    /// reach, the codebooks beside them that were to be tried, and what is learnt from one model, but for what differs
    /// from the defaults. Where series are too short for codebooks it has none, and is no model a class. Other options
    /// than those with [`each_lag_untried`](Self::each_lag_untried) stay as they are.
    #[must_use]
    pub fn on_each_lag(mut self) -> Self {
        if !self.each_lag_untried {
            return self;
        }
        self.other_models = Vec::new();
        self.on_one_model()
    }

    /// The weights of codebooks to choose from; one where there are none to weigh.
    pub(super) fn codebook_weights(&self) -> &[f64] {
        match self.codebook_weights.as_slice() {
            _ if self.codebooks == 0 => &[1.0],
            [] if self.universal() => &ONE_MODEL_WEIGHTS,
            [] => &[1.0],
            given => given,
        }
    }

    /// Whether there are codebooks to choose, beside a model for each lag.
    pub(super) fn tries_codebooks(&self) -> bool {
        let of_all = self.universal() || self.other_models.contains(&ScoreModels::Universal);
        let apart = [&self.lags].into_iter().chain(&self.other_lags).any(Lags::is_apart);
        of_all && apart && self.other_codebooks.iter().any(|&count| count > 0)
    }
}

/// Chains of a model's own states and of others; a state a position there is once.
fn chains_of(topologies: &[Topology], others: &[usize]) -> Vec<(Topology, Option<usize>)> {
    let of = |&topology: &Topology| {
        let others = if topology == Topology::Positions { &[] } else { others };
        let states = std::iter::once(None).chain(others.iter().copied().map(Some));
        states.map(move |states| (topology, states))
    };
    topologies.iter().flat_map(of).collect()
}
