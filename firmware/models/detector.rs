// A fair coin that may begin to favour a side: the detector that is built in when none is named. Small
// enough to check by hand.
//
// Along its direction the logits of heads (symbol 0) and tails part: `log p` changes by 1/2 with every
// head and by -1/2 with every tail. Over a memory of 64 tosses, 16 heads more than tails are an alarm.
// Every toss earns `log 1/2`, so that the fit of a fair coin stays at zero whatever it shows.

use fishweir_core::classify::{ChangeDetector, Limit};
use fishweir_core::emission::{Alphabet, Categorical};
use fishweir_core::filter::ForgettingFactor;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;

/// The names of the classes: empty for a detector.
pub static CLASSES: [&str; 0] = [];

/// The names of the channels, by index; empty over symbols.
pub static CHANNELS: [&str; 0] = [];

/// The letters of the symbols in order, those of a missing one, and whether lower case is read as
/// upper case.
pub static ALPHABET: Alphabet<'static> = Alphabet::new("HT", "-?", false);

/// The type of [`MODEL`]: one state over two symbols, one direction.
pub type Model = ChangeDetector<Categorical<2, Dual<f32, 1>>, 1, 1>;

/// Detector of a coin that is no longer fair.
pub static MODEL: Model = ChangeDetector::from_parts(
    Hmm::new(
        Chain::from_parts(
            [Dual { value: 1.0, tangent: [0.0] }],
            [[Dual { value: 1.0, tangent: [0.0] }]],
        ),
        [Categorical::from_parts([
            Dual { value: 0.5, tangent: [0.25] },
            Dual { value: 0.5, tangent: [-0.25] },
        ])],
    ),
    ForgettingFactor::from_one_minus_lambda(1.0 / 64.0),
    Limit { mean: -core::f32::consts::LN_2, threshold: 1.0 },
    [Limit { mean: 0.0, threshold: 8.0 }],
);
