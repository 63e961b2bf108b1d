//! Cost of a classifier on a device, before anything is flashed.

use fishweir_core::classify::{CODEWORDS, TAPS};
use fishweir_core::contract::{WindowClock, Windows};
use serde::{Deserialize, Serialize};

use super::source::EmissionType;
use crate::classifier::CodebooksSize;
use crate::data::Lags;
use crate::data::internals::FrontEnd;
use crate::runtime::family::reals;
use crate::runtime::{Family, Shape};

/// RAM, flash and work of a deployed classifier, of either kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes of the state, all of it, on a 32-bit device: the size of the core's `StreamState`, or of
    /// a machine's state.
    pub state_bytes: usize,
    /// Bytes of the model in flash: the size of the core's `StreamClassifier`, and of its confidence; or a
    /// machine's models, stored items and coefficients.
    pub model_bytes: usize,
    /// Multiply-adds per sample: recursions and emissions, without the exponentials.
    pub multiply_adds_per_sample: usize,
    /// Exponentials per sample.
    pub exponentials_per_sample: usize,
    /// Most extra multiply-adds per sample if all channels but one are missing; zero if none may be.
    pub multiply_adds_per_partial_sample: usize,
    /// Most extra logarithms of such a sample: for a Gaussian one per state and missing channel.
    pub logarithms_per_partial_sample: usize,
    /// Multiply-adds a decision that is read.
    pub multiply_adds_per_decision: usize,
    /// Exponentials per decision.
    pub exponentials_per_decision: usize,
    /// Logarithms per decision.
    pub logarithms_per_decision: usize,
    /// Square roots per decision.
    pub roots_per_decision: usize,
}

impl Cost {
    /// Cost on windows: a state, and a sample's work, for each open window, and 8 bytes for the position of the stream among
    /// them.
    #[must_use]
    pub(crate) fn on(self, windows: Option<Windows>) -> Self {
        let states = windows.map_or(1, |windows| windows.states());
        Self {
            state_bytes: states * self.state_bytes + size_of::<WindowClock>(),
            multiply_adds_per_sample: states * self.multiply_adds_per_sample,
            exponentials_per_sample: states * self.exponentials_per_sample,
            multiply_adds_per_partial_sample: states * self.multiply_adds_per_partial_sample,
            logarithms_per_partial_sample: states * self.logarithms_per_partial_sample,
            ..self
        }
    }
}

/// The sizes of a bank of hidden Markov models with directions, from which its cost follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Priced<'a> {
    /// Emission family of the states.
    pub(crate) family: &'static dyn Family,
    /// Shape of a model's input, including the differences at lags.
    pub(crate) shape: Shape,
    pub(crate) models: usize,
    pub(crate) states: usize,
    pub(crate) directions: usize,
    pub(crate) outputs: usize,
    /// The sensor's own, before the front end, or symbols.
    pub(crate) channels: usize,
    pub(crate) front: &'a FrontEnd,
    pub(crate) lags: &'a Lags,
    pub(crate) codebooks: Option<CodebooksSize>,
    /// Bytes of a channel that is kept.
    pub(crate) channel_bytes: usize,
}

impl Priced<'_> {
    /// Predicted cost.
    pub(crate) fn cost(&self) -> Cost {
        let Self { family, shape, models, states, directions, outputs, lags, .. } = *self;
        let bytes =
            directions_bytes(models, states, directions, outputs, &EmissionType { family, shape });
        let channels = self.front.width(self.channels);
        let words = lags.columns_kept(models, channels) + lags.as_slice().len();
        let books = codebooks_cost(self.codebooks, channels, outputs, 4).model_bytes;
        self.with(false, bytes + 4 * words + books)
    }

    /// Predicted cost if states are successive positions: without a chain, and without a sum over it.
    pub(crate) fn cost_of_known(&self) -> Cost {
        let Self { family, shape, models, states, directions, outputs, .. } = *self;
        let chain = 4 * models * (states + states * states) * (1 + directions);
        let bytes =
            directions_bytes(models, states, directions, outputs, &EmissionType { family, shape });
        self.with(true, bytes - chain)
    }

    /// Cost for known or hidden states, with `model_bytes` bytes of flash.
    pub(super) fn with(&self, known: bool, model_bytes: usize) -> Cost {
        let Self { family, shape, models: m, states: n, directions: c, outputs, .. } = *self;
        let emission = &EmissionType { family, shape };
        let (filter, belief) = if known {
            // The place in four bytes, or six, and what aligns the rest to eight.
            (FilterWork::of_one(c, emission), belief_bytes(1, c) + 8)
        } else {
            (FilterWork::of(n, c, emission), belief_bytes(n, c))
        };
        let (ring, differences) =
            ring_of(self.front.width(self.channels), self.lags, self.channel_bytes);
        let books = codebooks_cost(self.codebooks, self.front.width(self.channels), outputs, 4);
        let (flash, ram, work) = self.front.cost();
        let missing = match self.channel_bytes > 4 {
            true => m * if known { 1 } else { n },
            false => 0,
        };
        let (partial_adds, logarithms) = family.work_of_missing(shape, c);
        // Models hear rows: a sample takes its share of one.
        let share = |work: usize| work.div_ceil(self.front.every());
        Cost {
            state_bytes: bank_bytes(m, belief) + ring + books.state_bytes + ram,
            model_bytes: model_bytes + flash,
            multiply_adds_per_sample: share(
                m * filter.multiply_adds + differences + books.multiply_adds_per_sample,
            ) + work,
            exponentials_per_sample: share(m * filter.exponentials),
            multiply_adds_per_partial_sample: missing * partial_adds,
            logarithms_per_partial_sample: missing * logarithms,
            multiply_adds_per_decision: m * (outputs + c),
            logarithms_per_decision: m,
            ..Cost::default()
        }
    }
}

/// Cost of the codebooks, in numbers of four bytes or, in fixed point, of two.
///
/// In fixed point outputs have units, and levels still take four bytes.
pub(super) fn codebooks_cost(
    codebooks: Option<CodebooksSize>,
    channels: usize,
    outputs: usize,
    number: usize,
) -> Cost {
    let Some(CodebooksSize { books, depth, levels }) = codebooks else { return Cost::default() };
    let vectors = TAPS * CODEWORDS;
    let units = if number < 4 { number * outputs } else { 0 };
    let weighed = CODEWORDS * outputs * (1 + levels);
    let book = 4 + 4 * CODEWORDS * levels + vectors + number * (channels + weighed);
    // An addition is half a multiply-add, and of two levels one is exceeded two times of three: by the parity test on two cores,
    // one without floats, this is within the predicted cost.
    let additions = if levels > 0 { CODEWORDS * outputs / 3 } else { 0 };
    let steps = additions + CODEWORDS * levels / 4;
    Cost {
        state_bytes: (number * channels * depth + 8 + 8 * outputs).next_multiple_of(8),
        model_bytes: (books * book + units).next_multiple_of(4),
        multiply_adds_per_sample: books * (TAPS * channels + vectors + outputs + steps),
        ..Cost::default()
    }
}

/// Bytes of past samples, in numbers of `number` bytes and with alignment, and the number of differences per sample.
pub(super) fn ring_of(channels: usize, lags: &Lags, number: usize) -> (usize, usize) {
    if lags.is_empty() {
        return (0, 0);
    }
    let bytes = (number * channels * lags.depth() + 8).next_multiple_of(8);
    (bytes, channels * lags.as_slice().len())
}

/// Bytes of a belief over `n` states with `c` directions, on a 32-bit device.
pub(super) fn belief_bytes(n: usize, c: usize) -> usize {
    // The ledger's 64-bit exponent aligns a belief to eight bytes.
    (4 * n * (1 + c) + 16 + 8 * c + 4).next_multiple_of(8)
}

/// Bytes of the state of a bank of models: beliefs, one byte per model that says whether it is ruled out, and a counter.
pub(super) fn bank_bytes(models: usize, belief: usize) -> usize {
    models * belief + models.next_multiple_of(8) + 8
}

/// Work of a filter over `n` states with `c` directions on a sample.
pub(super) struct FilterWork {
    pub(super) multiply_adds: usize,
    pub(super) exponentials: usize,
}

impl FilterWork {
    pub(super) fn of(n: usize, c: usize, emission: &EmissionType) -> Self {
        Self::with((1 + 2 * c) * (n * n + n), n, c, emission)
    }

    /// Work of a row of likelihoods alone.
    pub(super) fn of_row(n: usize, emission: &EmissionType) -> Self {
        Self::with(0, n, 0, emission)
    }

    /// Work for a known state.
    fn of_one(c: usize, emission: &EmissionType) -> Self {
        Self::with(1 + 2 * c, 1, c, emission)
    }

    fn with(recursion: usize, n: usize, c: usize, emission: &EmissionType) -> Self {
        let (multiply_adds, exponentials) = emission.family.work(emission.shape, c);
        Self { multiply_adds: recursion + n * multiply_adds, exponentials: n * exponentials }
    }
}

/// Bytes in flash of `m` models of `n` states with `c` directions, and of `o` outputs' weights: the
/// size of the core's `StreamClassifier`.
pub(super) fn directions_bytes(
    m: usize,
    n: usize,
    c: usize,
    o: usize,
    emission: &EmissionType,
) -> usize {
    let emission = reals(emission.family, emission.shape, c);
    4 * m * ((n + n * n) * (1 + c) + n * emission) + 4 * o * (m + 1) + 8
}
