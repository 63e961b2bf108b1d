// A spotter of events, exported by fishweir 0.1.0. Train again, do not change this file.
//
// Observes symbols "HT", numbered in this order.
// Class 0: heads.
// Class 1: tails.

use fishweir_core::emission::{Alphabet, Categorical};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::spot::{BACKGROUND, Spotter};

/// The names of the classes, by index.
#[rustfmt::skip]
pub static CLASSES: [&str; 2] = ["heads", "tails"];

/// The names of the channels, by index; empty over symbols.
#[rustfmt::skip]
pub static CHANNELS: [&str; 0] = [];

/// The letters of the symbols in order, those of a missing one, and whether lower case is read as
/// upper case.
#[rustfmt::skip]
pub static ALPHABET: Alphabet<'static> = Alphabet::new("HT", "-?", false);

/// A network of 7 states over 2 symbols (HT); 4 of them are the background's.
pub type Model = Spotter<Categorical<2, f32>, 7, 4, 4>;

/// The spotter, in flash.
#[rustfmt::skip]
#[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]
pub static MODEL: Model = Spotter::from_parts(
        Hmm::new(
            Chain::from_parts(
                [0.96, 0.0, 0.0, 0.0, 0.02, 0.01, 0.01],
                [
                    [0.96, 0.0, 0.0, 0.0, 0.02, 0.01, 0.01],
                    [0.0, 0.96, 0.0, 0.0, 0.02, 0.01, 0.01],
                    [0.0, 0.0, 0.96, 0.0, 0.02, 0.01, 0.01],
                    [0.0, 0.0, 0.0, 0.96, 0.02, 0.01, 0.01],
                    [0.05, 0.0, 0.0, 0.0, 0.95, 0.0, 0.0],
                    [0.04, 0.0, 0.0, 0.0, 0.0, 0.864, 0.096],
                    [0.04, 0.0, 0.0, 0.0, 0.0, 0.096, 0.864],
                ],
            ),
            [
                Categorical::from_parts([0.5, 0.5]),
                Categorical::from_parts([0.5, 0.5]),
                Categorical::from_parts([0.5, 0.5]),
                Categorical::from_parts([0.5, 0.5]),
                Categorical::from_parts([0.95, 0.05]),
                Categorical::from_parts([0.1, 0.9]),
                Categorical::from_parts([0.02, 0.98]),
            ],
        ),
        Chain::from_parts(
            [1.0, 0.0, 0.0, 0.0],
            [
                [1.0, 0.0, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ],
        ),
        [BACKGROUND, BACKGROUND, BACKGROUND, BACKGROUND, 0, 1, 1],
        60,
);
