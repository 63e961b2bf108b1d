//! What the image `costs` reads of its streams, read on the host: by the core's own types, and by the library's
//! streams over the same numbers.

use fishweir::classifier::{
    Classifier, Direction, EmissionDirection, Observations, Output, Provenance, Rule,
};
use std::num::NonZeroUsize;

use fishweir::coreset;
use fishweir::data::{Front, Lags, Sample};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::classify::Normalisation;
use fishweir_core::filter::Streaming;
use fishweir_core::kernel::{Coreset, DenseFeatures};
use fishweir_tests::device_table::bits::{
    BIAS, CELLS, Digest, FEATURES, KEPT, PROBABILITY, SAMPLES, TRANSITION, WORDS, digest,
    digest_contexts, digest_coreset, digest_segments, event, event_features, features, latent, row,
    symbol, systems, weight,
};
use serde_json::json;

/// Digests by name, in the order of the image.
pub(crate) fn on_host() -> Vec<(String, u32)> {
    let systems = digest(&systems().expect("systems"), row);
    let (own_words, own_latent) = (digest(&WORDS, symbol), digest(&latent(), symbol));
    let (words, latent) = (Some(read(&words())), Some(read(&counts())));
    assert_eq!((words, latent), (own_words, own_latent), "the library's streams and the core's");
    let named = |(name, digest): (&str, Option<Digest>)| {
        (name.to_owned(), digest.expect("every sample is taken").0)
    };
    let digests = [
        ("systems", systems),
        ("words", words),
        ("latent", latent),
        ("coreset of windows", windows()),
        ("coreset of events", events()),
        ("segments", digest_segments()),
        ("contexts", digest_contexts()),
    ];
    digests.map(named).to_vec()
}

/// A coreset of windows by the library, which chooses its sizes at run time: the core's.
fn windows() -> Option<Digest> {
    let core = Coreset::<_, KEPT, FEATURES>::new(DenseFeatures::new());
    let mut state = core.initial_state();
    let mut library = coreset::Coreset::new(NonZeroUsize::new(KEPT).expect("some"), FEATURES);
    for time in 0..SAMPLES {
        core.step(&mut state, &features(time)).expect("finite");
        library.push(&features(time)).expect("finite");
        assert_eq!(core.read(&state).to_bits(), library.discrepancy().to_bits());
    }
    let mut kept: Vec<_> = state.kept().map(|kept| (kept.index, kept.weight)).collect();
    kept.sort_unstable();
    let library: Vec<_> = library.kept().iter().map(|kept| (kept.index, kept.weight)).collect();
    assert_eq!(kept, library);
    digest_coreset::<_, KEPT, FEATURES>(DenseFeatures::new(), features)
}

/// A coreset of events, in vectors of any size: that of arrays.
fn events() -> Option<Digest> {
    let own = digest_coreset::<_, KEPT, CELLS>(event_features::<[u16; 3]>().ok()?, event);
    let other =
        digest_coreset::<_, KEPT, CELLS>(event_features().ok()?, |time| event(time).to_vec());
    assert_eq!(own, other);
    own
}

/// Weights of words as they are fitted, and what they compile to.
fn words() -> Classifier {
    let even = Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::categorical(vec![vec![0.25; 4]]),
    };
    let direction = direction(vec![0.0], vec![vec![0.0]], rows::<16, 4>(weight));
    classifier(even, |outputs| Rule::Words { order: 2, outputs }, direction)
}

fn counts() -> Classifier {
    let table = |rows: &[[f32; 2]]| rows.iter().map(|row| row.map(f64::from).to_vec()).collect();
    let probability = PROBABILITY.map(|row| row.map(f64::from).to_vec()).to_vec();
    let hmm = Hmm {
        initial: vec![0.5; 2],
        transition: table(&TRANSITION),
        emission: Emissions::categorical(probability),
    };
    let emission = rows::<2, 4>(|state, symbol| weight(symbol, state));
    classifier(hmm, Rule::Linear, direction(vec![0.0; 2], rows::<2, 2>(weight), emission))
}

fn rows<const R: usize, const C: usize>(of: impl Fn(usize, usize) -> f32) -> Vec<Vec<f64>> {
    let row = |row| (0..C).map(|column| f64::from(of(row, column))).collect();
    (0..R).map(row).collect()
}

fn direction(initial: Vec<f64>, transition: Vec<Vec<f64>>, counts: Vec<Vec<f64>>) -> Direction {
    let emission = json!({ "counts": { "counts": counts } });
    let emission: EmissionDirection = serde_json::from_value(emission).expect("weights of counts");
    Direction { initial, transition, emission }
}

fn classifier(hmm: Hmm, rule: fn(Vec<Output>) -> Rule, direction: Direction) -> Classifier {
    let output = Output {
        bias: f64::from(BIAS),
        weights: vec![0.0],
        directions: vec![direction],
        codewords: Vec::new(),
        levels: Vec::new(),
    };
    Classifier {
        confidence: None,
        teaching: None,
        method: "test".into(),
        observations: Observations::Symbols("acgt".into()),
        classes: vec!["no".into(), "yes".into()],
        front: Front::NONE,
        lags: Lags::NONE,
        centre: Vec::new(),
        scale: Vec::new(),
        models: vec![hmm],
        codebooks: None,
        normalisation: Normalisation::PER_SAMPLE,
        rule: rule(vec![output]),
        provenance: Provenance::default(),
    }
}

/// What the library's stream reads.
fn read(classifier: &Classifier) -> Digest {
    let mut stream = classifier.deploy().expect("fits in f32").stream();
    let mut digest = Digest::NEW;
    for time in 0..SAMPLES {
        let sample = symbol(time).map_or(Sample::Missing, |symbol| Sample::Symbol(symbol as u16));
        stream.push(sample).expect("a symbol");
        let values = stream.decision_values().expect("in range");
        values.into_iter().chain(stream.log_likelihoods()).for_each(|x| digest.add(x));
    }
    digest
}

/// Without an image: the library runs what the core runs.
#[test]
fn the_library_reads_what_the_core_reads() {
    assert_eq!(on_host().len(), 7);
}
