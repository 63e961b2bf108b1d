//! Sequences for several questions: results that depend on them alone are cached.

use std::any::Any;
use std::borrow::Cow;
use std::sync::OnceLock;

use super::group::{MOST_STATES, arrange};
use super::{LANES, SETS};
use crate::data::SamplesView;

/// Sequences side by side, for several models or one that changes: which of them go together, and how their samples lie
/// in lanes, is found when first asked for and kept.
///
/// What it answers is what the functions of the same names answer of its sequences, bit for bit.
///
/// RAM: a copy of the samples, a byte each of symbols, in the model's numbers of channels, for each way that they were asked
/// to lie; in `f32` channels are converted for as long as a question takes, too.
///
/// ```
/// use fishweir::batch::{Batch, log_likelihoods};
/// use fishweir::data::SamplesView;
/// use fishweir::runtime::{Emissions, Hmm};
///
/// let text = [Some(0), Some(1), Some(1), None, Some(0)];
/// let texts = [SamplesView::Symbols(&text); 8];
/// let batch = Batch::new(&texts);
/// for p in [0.25, 0.5] {
///     let emission = Emissions::categorical(vec![vec![p, 1.0 - p]]);
///     let model = Hmm { initial: vec![1.0], transition: vec![vec![1.0]], emission };
///     assert_eq!(batch.log_likelihoods::<f32>(&model)?, log_likelihoods::<f32>(&model, &texts)?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batch<'a> {
    sequences: &'a [SamplesView<'a>],
    keeps: bool,
    /// Groups of sequences for each of the [`ARRANGEMENTS`], and for sequences run singly.
    groups: [OnceLock<Vec<Together>>; ARRANGEMENTS.len() + 1],
}

/// Sets of lanes that are filled, and lanes of each.
const ARRANGEMENTS: [(usize, usize); 3] = [(SETS, LANES), (1, LANES), (1, LANES / 2)];

/// Sequences that go together.
pub(super) struct Together {
    /// Indices of the sequences.
    pub(super) of: Vec<usize>,
    keeps: bool,
    laid: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl<'a> Batch<'a> {
    /// Creates a batch of sequences.
    pub fn new(sequences: &'a [SamplesView<'a>]) -> Self {
        Self { sequences, keeps: true, groups: Default::default() }
    }

    /// Creates a batch for a single question: nothing is cached.
    pub(crate) fn once(sequences: &'a [SamplesView<'a>]) -> Self {
        Self { keeps: false, ..Self::new(sequences) }
    }

    /// The sequences.
    pub fn sequences(&self) -> &'a [SamplesView<'a>] {
        self.sequences
    }

    /// Groups of sequences for a model of `states` states, by sets and lanes.
    pub(super) fn groups(&self, states: usize, sets_and_lanes: (usize, usize)) -> &[Together] {
        let known = ARRANGEMENTS.iter().position(|&one| one == sets_and_lanes);
        let place = known.filter(|_| states <= MOST_STATES).unwrap_or(ARRANGEMENTS.len());
        self.groups[place].get_or_init(|| {
            let lengths = self.sequences.iter().map(SamplesView::len);
            let groups = match ARRANGEMENTS.get(place) {
                Some(&arrangement) => arrange(arrangement, lengths),
                None => (0..self.sequences.len()).map(|index| vec![index]).collect(),
            };
            let together =
                |of: Vec<usize>| Together { of, keeps: self.keeps, laid: OnceLock::new() };
            groups.into_iter().map(together).collect()
        })
    }
}

impl Together {
    /// Returns the cached layout of these sequences, if it has this type and `serves`; otherwise computes it, and caches it if it
    /// is the first.
    pub(super) fn laid<X: Clone + Send + Sync + 'static>(
        &self,
        serves: impl FnOnce(&X) -> bool,
        lay: impl Fn() -> X,
    ) -> Cow<'_, X> {
        if !self.keeps {
            return Cow::Owned(lay());
        }
        let kept = self.laid.get_or_init(|| Box::new(lay()));
        let kept = kept.downcast_ref::<X>().filter(|&kept| serves(kept));
        kept.map_or_else(|| Cow::Owned(lay()), Cow::Borrowed)
    }
}
