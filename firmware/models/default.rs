// Fair coin or alternating coin: the model that is built in when none is named. Small enough to check
// by hand, and every probability is exact in binary.
//
// Model 0 is a fair coin: `p = 2^-t`. Model 1 has two hidden states that take turns, one for heads
// (symbol 0) three times in four, the other for tails:
//
//     p(0, 1) = 1/2 x 3/4 x 3/4 + 1/2 x 1/4 x 1/4 = 5/16, against 1/4 for the fair coin
//
// so that after heads, tails the decision is class 1 by a margin of log 5/4 = 0.2231.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::{Alphabet, Categorical};
use fishweir_core::hmm::{Chain, Hmm};

/// The names of the classes, by index.
pub static CLASSES: [&str; 2] = ["fair", "alternating"];

/// The names of the channels, by index: empty over symbols.
pub static CHANNELS: [&str; 0] = [];

/// Heads and tails as letters.
pub static ALPHABET: Alphabet<'static> = Alphabet::new("HT", "-?", true);

/// The type of [`MODEL`]: two models of two states, over two symbols, without directions.
pub type Model = StreamClassifier<Hmm<Categorical<2>, 2>, 2, 2>;

/// Classifier of two coins.
pub static MODEL: Model = StreamClassifier::from_parts(
    [
        Hmm::new(
            Chain::from_parts([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]]),
            [Categorical::from_parts([0.5, 0.5]), Categorical::from_parts([0.5, 0.5])],
        ),
        Hmm::new(
            Chain::from_parts([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]]),
            [Categorical::from_parts([0.75, 0.25]), Categorical::from_parts([0.25, 0.75])],
        ),
    ],
    [[1.0, 0.0], [0.0, 1.0]],
    [0.0, 0.0],
    Normalisation::NONE,
);

/// Contract without conditions: the model decides after each sample of a stream that never ends.
pub const CONTRACT: fishweir_core::contract::Contract<'static> =
    fishweir_core::contract::Contract::NONE;
