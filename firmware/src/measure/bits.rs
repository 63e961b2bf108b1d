//! Streams whose every reading the host repeats, bit for bit: a bank of linear dynamical systems, mixed counts of
//! words and mixed expected counts, each along a direction; coresets, segments, contexts. The host compiles this file too.

use fishweir_core::ModelError;
use fishweir_core::classify::{Normalisation, StreamClassifier, StreamModel};
use fishweir_core::context::{Automaton, ContextTree, MarkovString, StringEnd};
use fishweir_core::dynamics::{Dynamics, Parameters};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{Coreset, FeatureMap};
use fishweir_core::network::{EventFeatures, FactorLayout, MISSING, TermsError};
use fishweir_core::number::Dual;
use fishweir_core::semi_markov::{SegmentFilter, SegmentModel};

/// A number and its rate of change along one direction.
pub type Weight = Dual<f32, 1>;
/// Weights of words of three symbols.
pub type Words = StreamClassifier<MarkovString<4, 16, Weight>, 1, 1>;
/// Weights of expected counts.
pub type Latent = StreamClassifier<Hmm<Categorical<4, Weight>, 2>, 1, 1>;
/// Two systems.
pub type Systems = StreamClassifier<Dynamics<2, 2, Weight>, 2, 1>;

/// Samples of a stream, missing ones among them.
pub const SAMPLES: usize = 512;
/// Bias of decisions.
pub const BIAS: f32 = 0.125;
/// `[from][to]`.
pub const TRANSITION: [[f32; 2]; 2] = [[0.75, 0.25], [0.125, 0.875]];
/// `[state][symbol]`.
pub const PROBABILITY: [[f32; 4]; 2] = [[0.5, 0.25, 0.125, 0.125], [0.125, 0.125, 0.25, 0.5]];

/// Weight of a count, from -1/2 to 1/2: its products with powers of two are exact.
pub const fn weight(row: usize, column: usize) -> f32 {
    ((5 * row + 3 * column + row * column) % 9) as f32 / 8.0 - 0.5
}

/// The symbol at a time; `None` of a missing one.
pub const fn symbol(time: usize) -> Option<usize> {
    if time % 29 == 17 { None } else { Some((time * time / 3 + 5 * time) % 4) }
}

/// The row at a time; `None` of a missing one.
pub fn row(time: usize) -> Option<[f32; 2]> {
    let at = |k: usize| ((time * time + k * time) % 23) as f32 / 8.0 - 1.25;
    if time % 31 == 11 { None } else { Some([at(3), at(7)]) }
}

/// A probability, with the rate that weighs how often it is taken.
const fn counted(probability: f32, weight: f32) -> Weight {
    Dual { value: probability, tangent: [probability * weight] }
}

/// Weights of words.
pub static WORDS: Words = {
    let Ok(contexts) = Automaton::order(2, StringEnd::Open) else { panic!("not 16 contexts") };
    let mut rows = [Categorical::from_parts([counted(0.25, 0.0); 4]); 16];
    let mut context = 0;
    while context < 16 {
        rows[context] = Categorical::from_parts([
            counted(0.25, weight(context, 0)),
            counted(0.25, weight(context, 1)),
            counted(0.25, weight(context, 2)),
            counted(0.25, weight(context, 3)),
        ]);
        context += 1;
    }
    let words = MarkovString::new(contexts, rows);
    StreamClassifier::from_parts([words], [[0.0]], [BIAS], Normalisation::PER_SAMPLE)
};

/// Weights of expected counts.
pub fn latent() -> Latent {
    let row =
        |state: usize| core::array::from_fn(|to| counted(TRANSITION[state][to], weight(state, to)));
    let emission = |state: usize| {
        Categorical::from_parts(core::array::from_fn(|symbol| {
            counted(PROBABILITY[state][symbol], weight(symbol, state))
        }))
    };
    let chain = Chain::from_parts([counted(0.5, 0.0); 2], [row(0), row(1)]);
    let hmm = Hmm::new(chain, [emission(0), emission(1)]);
    StreamClassifier::from_parts([hmm], [[0.0]], [BIAS], Normalisation::PER_SAMPLE)
}

/// The parameters of a system.
pub const fn system(turn: f32) -> Parameters<f32, 2, 2> {
    Parameters {
        initial_mean: [0.25, -0.5],
        initial_covariance: [[1.0, 0.25], [0.25, 0.75]],
        transition: [[0.875, turn], [-turn, 0.75]],
        state_noise: [[0.25, 0.0625], [0.0625, 0.125]],
        observation: [[1.0, 0.5], [-0.25, 0.75]],
        observation_noise: [[0.5, 0.125], [0.125, 0.25]],
    }
}

/// Two systems, along a direction in transition and observation.
///
/// # Errors
/// None: they are systems.
pub fn systems() -> Result<Systems, ModelError> {
    let direction = Parameters {
        transition: [[0.5, -0.25], [0.125, 0.25]],
        observation: [[0.25, 0.5], [-0.5, 0.125]],
        ..Parameters::ZERO
    };
    let along = |turn| Dynamics::new(&system(turn).with_directions(&[direction]));
    let models = [along(0.25)?, along(-0.375)?];
    Ok(StreamClassifier::from_parts(models, [[1.0, -1.0]], [BIAS], Normalisation::NONE))
}

/// Digest of readings: an FNV-1a hash of their bits in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub u32);

impl Digest {
    /// Digest of nothing.
    pub const NEW: Self = Self(0x811C_9DC5);

    /// Takes in the bits of a number.
    pub fn add(&mut self, x: f32) {
        for byte in x.to_bits().to_le_bytes() {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
}

/// Digest of a classifier's readings after every sample of a stream: the decision value and the log-likelihoods.
///
/// `None` if a sample is refused.
pub fn digest<H, const M: usize>(
    classifier: &StreamClassifier<H, M, 1>,
    stream: fn(usize) -> Option<H::Observation>,
) -> Option<Digest>
where
    H: StreamModel<Real = f32, Observation: Sized>,
{
    let (mut digest, mut state) = (Digest::NEW, classifier.initial_state());
    for time in 0..SAMPLES {
        match stream(time) {
            Some(x) => classifier.step(&mut state, &x).ok()?,
            None => classifier.step_missing(&mut state),
        }
        let values = classifier.decision_values(&state);
        values.into_iter().chain(classifier.log_likelihoods(&state)).for_each(|x| digest.add(x));
    }
    Some(digest)
}

/// Windows that a coreset keeps.
pub const KEPT: usize = 16;
/// Features of a window: those of seven classes in the default form.
pub const FEATURES: usize = 13;

/// Features of the window at a time.
pub fn features(time: usize) -> [f32; FEATURES] {
    let at = |k: usize| ((time * time + (2 * k + 3) * time + k) % 29) as f32 / 8.0 - 1.75;
    let mut row = [0.0; FEATURES];
    for (k, entry) in row.iter_mut().enumerate() {
        *entry = at(k);
    }
    row
}

/// A door, a lamp below it, and a fan below both: a network of binary nodes.
const CARDS: [u16; 3] = [2; 3];
const LENGTHS: [u16; 3] = [1, 2, 3];
const COLUMNS: [u16; 6] = [0, 0, 1, 1, 0, 2];
/// Cells of its tables.
pub const CELLS: usize = 2 + 4 + 8;
/// Probability of each cell.
pub static THETA: [f32; CELLS] =
    [0.75, 0.25, 0.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0.125, 0.875, 0.75, 0.25, 0.625, 0.375];
/// `1 / (P theta)` by cell, with rows as probable as they may be: any positive numbers do.
pub static PRECISION: [f32; CELLS] =
    [1.25, 4.0, 2.5, 2.5, 16.0, 5.25, 5.0, 5.0, 128.0, 18.0, 3.5, 10.5, 8.5, 14.0];

/// The event at a time: some nodes are missing in some.
pub const fn event(time: usize) -> [u16; 3] {
    let code = (time * time / 3 + 5 * time) % 27;
    let fan = if time % 17 == 3 { MISSING } else { (code / 9 % 2) as u16 };
    [(code % 2) as u16, (code / 2 % 2) as u16, fan]
}

/// Features of events.
///
/// # Errors
/// None: the tables fit.
pub fn event_features<I>() -> Result<EventFeatures<'static, I>, TermsError> {
    let terms = FactorLayout::new(&CARDS, &LENGTHS, &COLUMNS)?;
    EventFeatures::new(terms, &THETA, &PRECISION)
}

/// Digest of a coreset: its discrepancy after every item, then what it keeps and the weights.
///
/// `None` if an item is refused.
pub fn digest_coreset<M, const K: usize, const D: usize>(
    features: M,
    stream: fn(usize) -> M::Item,
) -> Option<Digest>
where
    M: FeatureMap,
{
    let coreset = Coreset::<M, K, D>::new(features);
    let (mut digest, mut state) = (Digest::NEW, coreset.initial_state());
    for time in 0..SAMPLES {
        coreset.step(&mut state, &stream(time)).ok()?;
        digest.add(coreset.read(&state));
    }
    for kept in state.kept() {
        digest.add(kept.index as f32);
        digest.add(kept.weight as f32);
    }
    Some(digest)
}

/// Segments of four states that last up to 16 samples, the last state's longer.
pub const fn segments() -> SegmentModel<f32, 4, 16> {
    let mut hazard = [[1.0; 16]; 4];
    let mut state = 0;
    while state < 4 {
        let mut elapsed = 0;
        while elapsed < 15 {
            hazard[state][elapsed] = ((state + 1) * (elapsed + 1)) as f32 / 64.0;
            elapsed += 1;
        }
        state += 1;
    }
    hazard[3][15] = 0.5;
    let transition = [
        [0.0, 0.5, 0.25, 0.25],
        [0.75, 0.0, 0.25, 0.0],
        [0.5, 0.5, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
    ];
    SegmentModel::from_parts([0.25; 4], transition, hazard, [0.0; 4])
}

/// Emissions of the states of the segments.
pub const fn segment_emissions() -> [Categorical<4>; 4] {
    [
        Categorical::from_parts([0.625, 0.125, 0.125, 0.125]),
        Categorical::from_parts([0.125, 0.625, 0.125, 0.125]),
        Categorical::from_parts([0.125, 0.125, 0.625, 0.125]),
        Categorical::from_parts([0.25, 0.25, 0.25, 0.25]),
    ]
}

/// Digest of segments: the log-likelihood, the states, and the probability that a segment ends, after every sample.
pub fn digest_segments() -> Option<Digest> {
    static MODEL: SegmentModel<f32, 4, 16> = segments();
    static EMISSION: [Categorical<4>; 4] = segment_emissions();
    let filter = SegmentFilter::of(&MODEL, &EMISSION);
    let (mut digest, mut state) = (Digest::NEW, filter.initial_state());
    for time in 0..SAMPLES {
        match symbol(time) {
            Some(x) => filter.step(&mut state, &x).ok()?,
            None => filter.step_missing(&mut state),
        }
        digest.add(filter.read(&state));
        filter.filtered(&state).into_iter().for_each(|p| digest.add(p));
        digest.add(filter.end_probability(&state));
    }
    Some(digest)
}

/// Digest of a context tree that runs out of nodes: the logarithm of the probability of each symbol, and in the end of those to come.
pub fn digest_contexts() -> Option<Digest> {
    let (mut child, mut count, mut ratio) = ([0; 4 * 48], [0.0_f32; 4 * 48], [0.0; 48]);
    let mut tree = ContextTree::new(4, 3, 0.5, 0.5, &mut child, &mut count, &mut ratio).ok()?;
    let mut digest = Digest::NEW;
    for time in 0..SAMPLES {
        match symbol(time) {
            Some(x) => digest.add(tree.push(x).ok()?),
            None => tree.forget_past(),
        }
    }
    let mut next = [0.0; 4];
    tree.predict(&mut next);
    next.into_iter().for_each(|p| digest.add(p));
    Some(digest)
}
