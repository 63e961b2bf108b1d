// Resting or moving: the classifier of accelerations that is built in when none is named. Small enough to
// check by hand.
//
// Both models have a hidden state for each of the six ways that gravity (1 g) may point, mostly kept, and
// differ in how far the axes stray from it: 0.125 g at rest, 1 g in motion. The evidence is all that came
// since the start: a sample on the spot speaks for rest by 3 log 8 = 6.2 nats, one that is 0.36 g off for
// neither, one that is 1 g off for motion by 25.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::Gaussian;
use fishweir_core::hmm::{Chain, Hmm};

/// The names of the classes, by index.
pub static CLASSES: [&str; 2] = ["resting", "moving"];

/// The names of the channels, by index: in g.
pub static CHANNELS: [&str; 3] = ["x", "y", "z"];

/// The type of [`MODEL`]: two models of six states, over three axes in g, without directions.
pub type Model = StreamClassifier<Hmm<Gaussian<3>, 6>, 2, 2>;

/// Does it move?
pub static MODEL: Model = StreamClassifier::from_parts(
    // Three times `log rate - log(2 pi) / 2`.
    [poses(8.0, 3.481_509), poses(1.0, -2.756_815_6)],
    [[1.0, 0.0], [0.0, 1.0]],
    [0.0, 0.0],
    Normalisation::NONE,
);

const fn poses(rate: f32, constant: f32) -> Hmm<Gaussian<3>, 6> {
    const LEAVE: f32 = 1.0 / 128.0;
    let mut transition = [[LEAVE; 6]; 6];
    let mut emission = [pose([0.0; 3], rate, constant); 6];
    let mut state = 0;
    while state < 6 {
        transition[state][state] = 1.0 - 5.0 * LEAVE;
        let mut gravity = [0.0; 3];
        gravity[state / 2] = if state % 2 == 0 { 1.0 } else { -1.0 };
        emission[state] = pose(gravity, rate, constant);
        state += 1;
    }
    Hmm::new(Chain::from_parts([1.0 / 6.0; 6], transition), emission)
}

const fn pose(mean: [f32; 3], rate: f32, constant: f32) -> Gaussian<3> {
    Gaussian::from_parts(mean, [rate; 3], constant, [(); 3], [(); 3])
}

/// Contract without conditions: the model decides after each sample of a stream that never ends.
pub const CONTRACT: fishweir_core::contract::Contract<'static> =
    fishweir_core::contract::Contract::NONE;
