//! Transitions that a model may make.

use serde::{Deserialize, Serialize};

use crate::data::SamplesView;
use crate::elementary::Elementary;
use crate::runtime::Hmm;

/// Transitions that a model may make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// One state per position for strings of about one length, 64 symbols at most, or ergodic.
    ///
    /// If the effort tries both, inner folds choose the one that separates the classes better. Otherwise a state per position is
    /// used if strings have one length and this makes a held-out third of them more likely than a chain of `states` states does.
    /// Class models share one topology: the one that makes the strings of all classes together more likely.
    #[default]
    Automatic,
    /// Transitions from every state to every other.
    Ergodic,
    /// Transitions to the same or the next state, from the first on: for series that run through stages.
    LeftToRight,
    /// The state is the position, the last standing for all that follow: for windows aligned on a
    /// site. The model of independent positions (Jaakkola and Haussler, "Exploiting generative
    /// models in discriminative classifiers", 1998, section 5).
    Positions,
}

impl Topology {
    /// Initial and transition probabilities, uniform over the allowed ones.
    pub(super) fn chain(self, states: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let uniform_over = |allowed: std::ops::RangeInclusive<usize>| -> Vec<f64> {
            let share = 1.0 / allowed.clone().count() as f64;
            (0..states).map(|to| if allowed.contains(&to) { share } else { 0.0 }).collect()
        };
        let last = states - 1;
        let (first, rows): (_, Vec<_>) = match self {
            Self::Automatic | Self::Ergodic => (0..=last, (0..states).map(|_| 0..=last).collect()),
            Self::LeftToRight => {
                (0..=0, (0..states).map(|from| from..=last.min(from + 1)).collect())
            }
            Self::Positions => {
                (0..=0, (0..states).map(|from| last.min(from + 1)..=last.min(from + 1)).collect())
            }
        };
        (uniform_over(first), rows.into_iter().map(uniform_over).collect())
    }

    /// Topology for data without positions, which begin anywhere: a stream, and windows of a series.
    pub(crate) fn without_positions(self) -> Self {
        match self {
            Self::Automatic => Self::Ergodic,
            told => told,
        }
    }

    /// Returns whether states have an order and a first state.
    pub(crate) fn is_ordered(self) -> bool {
        matches!(self, Self::LeftToRight | Self::Positions)
    }

    /// State of each series at each time, `[series][time]`.
    ///
    /// For states without an order it is the best path under a model that has been started, `None` if that makes a series
    /// impossible. Ordered stages are visited regardless of the model: evenly at a `warp` of one; late ones are longer below one,
    /// and early ones above.
    pub(super) fn paths(
        self,
        model: &Hmm,
        series: &[SamplesView<'_>],
        warp: f64,
    ) -> Option<Vec<Vec<usize>>> {
        if matches!(self, Self::Automatic | Self::Ergodic) {
            let paths = model.decode_each(series).ok()?;
            return Some(paths.into_iter().map(|path| path.states).collect());
        }
        let states = model.states();
        Some(series.iter().map(|series| self.stages(states, series.len(), warp)).collect())
    }

    /// Stages of a series of `length` samples, `[time]`.
    fn stages(self, states: usize, length: usize, warp: f64) -> Vec<usize> {
        if self == Self::Positions {
            return (0..length).map(|t| t.min(states - 1)).collect();
        }
        let steps = length.saturating_sub(1).max(1);
        // No series goes through more states than it has samples.
        let furthest = (states - 1).min(length.saturating_sub(1)) as f64;
        let mut state = 0;
        let next = |t| {
            let share = (t as f64 / steps as f64).portable_powf(warp);
            // Half a rounding more, lest the last stage be missed by one.
            let wanted = (share * furthest + 1e-9) as usize;
            state = wanted.min(state + usize::from(t > 0));
            state
        };
        (0..length).map(next).collect()
    }
}
