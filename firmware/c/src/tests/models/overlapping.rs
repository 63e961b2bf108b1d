// The bundled coins, decided on windows of 6 tosses that begin every 2: for tests. Partly filled windows do not decide,
// and there are channels that no model over symbols has.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::contract::{self, ChannelRange, Channels, Contract, Partial, Period};
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

/// Contract of the coins.
pub const CONTRACT: Contract<'static> = Contract {
    windows: Some(contract::Windows {
        longest_gap: 5,
        partial: Partial::Never,
        ..contract::Windows::of(6, 2)
    }),
    period: Some(Period { nanoseconds: 12_500_000, tolerance: 0.05 }),
    channels: Channels::of(&[
        ChannelRange { unit: "m/s^2", centre: -0.25, spread: 1e-7 },
        ChannelRange { unit: "", centre: 3e20, spread: 0.0 },
    ]),
    ..Contract::NONE
};
