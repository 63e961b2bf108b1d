//! Fixed point against `f64`: the filter, the tangent filter and decisions, over random models and
//! over real recordings.

mod bound;
mod lags;
mod recordings;

use std::num::NonZeroUsize;

use fishweir::classifier::{
    Classifier, Direction, EmissionDirection, Observations, Output, Provenance, Rule,
};
use fishweir::data::{Dataset, Front, Lags, ReadOptions, Sample, ShortSeries, Windowing};
use fishweir::deploy::{DeviationLimits, QuantiseError, Stream};
use fishweir::learn::{ClassifierKind, ScoreModels};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::ObservationError;
use fishweir_core::classify::Normalisation;
use fishweir_core::emission::ChannelQ15;
use fishweir_tests::quick::{recordings, trained, trained_on_differences, with_holes};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

/// Rows of weights as probabilities, `floor` apart from zero, some of them zero.
fn distribution(weights: &[u32]) -> Vec<f64> {
    let all = weights.iter().map(|&w| f64::from(w)).sum::<f64>();
    if all == 0.0 {
        return vec![1.0 / weights.len() as f64; weights.len()];
    }
    weights.iter().map(|&w| f64::from(w) / all).collect()
}

fn row(length: usize) -> impl Strategy<Value = Vec<u32>> {
    // A fifth of the entries is zero.
    prop::collection::vec(prop_oneof![1 => Just(0), 4 => 1..1000_u32], length)
}

fn dense(length: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1..1000_u32, length)
}

fn rates(length: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-2.0..2.0, length)
}

/// A classifier whose one decision value is the derivative of `log p` along a direction.
fn derivative_of(hmm: Hmm, direction: Direction) -> Classifier {
    let size = hmm.size();
    let observations = if hmm.emission.is_over_symbols() {
        Observations::Symbols(('A'..).take(size).collect())
    } else {
        Observations::Channels((0..size).map(|d| format!("c{d}")).collect())
    };
    Classifier {
        confidence: None,
        teaching: None,
        method: "fisher".into(),
        observations,
        classes: vec!["no".into(), "yes".into()],
        front: Front::NONE,
        lags: Lags::NONE,
        centre: Vec::new(),
        scale: Vec::new(),
        models: vec![hmm],
        codebooks: None,
        normalisation: Normalisation::NONE,
        rule: Rule::Linear(vec![Output {
            bias: 0.0,
            weights: vec![0.0],
            directions: vec![direction],
            codewords: Vec::new(),
            levels: Vec::new(),
        }]),
        provenance: Provenance::default(),
    }
}

prop_compose! {
    fn categorical()(states in 1..=5_usize, symbols in 2..=9_usize)(
        initial in row(states),
        transition in prop::collection::vec(dense(states), states),
        probability in prop::collection::vec(dense(symbols), states),
        moved in (
            rates(states),
            prop::collection::vec(rates(states), states),
            prop::collection::vec(rates(symbols), states),
        ),
        sequence in prop::collection::vec(prop::option::weighted(0.95, 0..symbols as u16), 1..400),
    ) -> (Classifier, Vec<Option<u16>>) {
        let rows = |rows: &[Vec<u32>]| rows.iter().map(|row| distribution(row)).collect();
        let hmm = Hmm {
            initial: distribution(&initial),
            transition: rows(&transition),
            emission: Emissions::categorical(rows(&probability)),
        };
        let direction = Direction {
            initial: moved.0,
            transition: moved.1,
            emission: EmissionDirection::categorical(moved.2),
        };
        (derivative_of(hmm, direction), sequence)
    }
}

prop_compose! {
    fn gaussian()(states in 1..=5_usize, channels in 1..=4_usize)(
        initial in dense(states),
        transition in prop::collection::vec(dense(states), states),
        mean in prop::collection::vec(prop::collection::vec(-1.0..1.0, channels), states),
        std in prop::collection::vec(prop::collection::vec(0.3..2.0, channels), states),
        moved in (
            rates(states),
            prop::collection::vec(rates(states), states),
            prop::collection::vec(rates(channels), states),
            prop::collection::vec(rates(channels), states),
        ),
        sequence in prop::collection::vec(
            prop::option::weighted(0.95, prop::collection::vec(-3.0..3.0, channels)), 1..200),
    ) -> (Classifier, Vec<Option<Vec<f64>>>) {
        let hmm = Hmm {
            initial: distribution(&initial),
            transition: transition.iter().map(|row| distribution(row)).collect(),
            emission: Emissions::gaussian(mean, std),
        };
        let direction = Direction {
            initial: moved.0,
            transition: moved.1,
            emission: EmissionDirection::gaussian(moved.2, moved.3),
        };
        (derivative_of(hmm, direction), sequence)
    }
}

/// The error that a filter in fixed point may make, from the formats' roundings and the model.
///
/// With `e` the error of the filtered row, in absolute sum, `c` the chain's coefficient of ergodicity,
/// `r = max_j b_j(x) / p(x | past)` how surprising a sample was, and `a`, `b`, `k` what rounding does to
/// a prediction, to likelihoods relative to the largest, and to the row that is kept:
///
/// ```text
/// d  = r (c e + a + b)        the relative error of p(x | past)
/// e' = 2 d / (1 - d) + k      log p is off by at most  -log(1 - d)  more, by the scale's error, and
///                             by what rounding does to the row's sum
/// ```
struct Bound<'m> {
    model: &'m Hmm,
    places: Vec<i16>,
    ergodicity: f64,
    row: f64,
    log: f64,
}

impl<'m> Bound<'m> {
    fn new(model: &'m Hmm, places: &[i16]) -> Self {
        let apart = |a: &Vec<f64>, b: &Vec<f64>| {
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
        };
        let rows = &model.transition;
        let pairs = rows.iter().flat_map(|a| rows.iter().map(move |b| apart(a, b)));
        let ergodicity = pairs.fold(0.0, f64::max);
        Self { model, places: places.to_vec(), ergodicity, row: 0.0, log: 0.0 }
    }

    /// What a sample does to the row's sum, and so to `log p`, besides: each entry that is kept is
    /// rounded by half a unit, and over channels a row of the chain sums to one within `2^-16`.
    fn sum(&self) -> f64 {
        (self.model.states() as f64 + 1.0) * 2.0_f64.powi(-16)
    }

    /// `log max_j b_j(x)`, the error of likelihoods relative to it, and that of its logarithm.
    fn emission(&self, x: Sample<'_>) -> (f64, f64, f64) {
        let part = |name| self.model.emission.part(name).expect("of the sample's kind").iter();
        let states: Vec<(f64, f64)> = match x {
            Sample::Symbol(symbol) => {
                part("probability").map(|row| (row[usize::from(symbol)].ln(), 0.0)).collect()
            }
            Sample::Row(x) => part("mean")
                .zip(part("std"))
                .map(|(mean, std)| self.density(x, mean, std))
                .collect(),
            Sample::Missing => return (0.0, 0.0, 0.0),
        };
        let best = states.iter().map(|state| state.0).fold(f64::NEG_INFINITY, f64::max);
        let of_best = states.iter().filter(|state| state.0 == best).fold(0.0, |_, state| state.1);
        let relative =
            states.iter().map(|(log, error)| (log - best).exp() * ((error + of_best).exp() - 1.0));
        // A table's entry, and for densities a power of two between the entries of another.
        (best, relative.fold(0.0, f64::max) + 1.4 * 2.0_f64.powi(-15), of_best)
    }

    /// A log density and its error: of the observation's sixteen bits, of `y` and of its square.
    fn density(&self, x: &[f64], mean: &[f64], std: &[f64]) -> (f64, f64) {
        let (mut log, mut error) = (0.0, 2.0_f64.powi(-16));
        for (((x, mean), std), &places) in x.iter().zip(mean).zip(std).zip(&self.places) {
            let z = (x - mean) / std;
            log -= 0.5 * z * z + std.ln() + 0.5 * std::f64::consts::TAU.ln();
            let finest = if z.abs() > 18.0 { 2.0_f64.powi(-7) } else { 2.0_f64.powi(-11) };
            let off = (-f64::from(places)).exp2() / std + z.abs() * 2.0_f64.powi(-14) + finest;
            error += z.abs() * off + 0.5 * off * off + 2.0_f64.powi(-16);
        }
        (log, error)
    }

    /// Takes in a sample, of `log p(x | past)`; the bound on `log p` so far.
    fn push(&mut self, x: Sample<'_>, log: f64) -> f64 {
        let (table, states) = (2.0_f64.powi(-15), self.model.states() as f64);
        let predicted = self.ergodicity * self.row + states * table;
        self.log += self.sum();
        if let Sample::Missing = x {
            self.row = predicted + states * table;
            return self.log;
        }
        let (best, relative, scale) = self.emission(x);
        let off = ((best - log).exp() * (predicted + relative)).min(1.0);
        self.log += scale - (1.0 - off).ln();
        self.row = (2.0 * off / (1.0 - off) + states * table).min(2.0);
        self.log
    }
}

/// The worst of `|found - wanted|` relative to the bound over all prefixes of `log p`, and to
/// `first + each t + part |log p|` of its derivative.
fn worst<'x>(
    classifier: &Classifier,
    samples: impl Iterator<Item = Sample<'x>>,
    (first, each, part): (f64, f64, f64),
) -> Result<[f64; 2], TestCaseError> {
    let fixed = classifier.quantise().map_err(|error| TestCaseError::fail(error.to_string()))?;
    let exact = classifier.compile_in::<f64>().expect("compiles");
    let mut bound = Bound::new(&classifier.models[0], fixed.places());
    let (mut fixed, mut exact) = (fixed.stream(), exact.stream());
    let mut worst = [0.0_f64; 2];
    for (t, sample) in samples.enumerate() {
        let before = exact.log_likelihoods()[0];
        prop_assert_eq!(fixed.push(sample).is_ok(), exact.push(sample).is_ok(), "sample {}", t);
        let log = exact.log_likelihoods()[0];
        let of_log = f64::from(fixed.log_likelihoods()[0]) - log;
        let of_rate = f64::from(fixed.decision_values().expect("in range")[0])
            - exact.decision_values().expect("in range")[0];
        // What `f32` shows of it.
        let shown = 2.0_f64.powi(-23) * (1.0 + log.abs());
        worst[0] = worst[0].max(of_log.abs() / (bound.push(sample, log - before) + shown));
        let of_derivative = first + each * (t + 1) as f64 + part * log.abs();
        worst[1] = worst[1].max(of_rate.abs() / of_derivative);
    }
    Ok(worst)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn categorical_models_keep_the_stated_error((classifier, sequence) in categorical()) {
        let samples = sequence.iter().map(|x| x.map_or(Sample::Missing, Sample::Symbol));
        let [log, _] = worst(&classifier, samples, (1.0, 0.0, 0.0))?;
        prop_assert!(log < 1.0, "log-likelihood off by {log} times its bound");
    }

    /// No observation lies outside the channel's sixteen bits.
    #[test]
    fn gaussian_models_keep_the_stated_error((classifier, sequence) in gaussian()) {
        let samples = sequence.iter().map(|x| x.as_deref().map_or(Sample::Missing, Sample::Row));
        let [log, _] = worst(&classifier, samples, (1.0, 0.0, 0.0))?;
        prop_assert!(log < 1.0, "log-likelihood off by {log} times its bound");
    }
}

/// How far derivatives are off over a thousand drawn models, as parts of what is said of them, rising.
/// The models are the same in every run: what is said was measured, not derived.
fn derivatives<C: Strategy>(
    drawn: C,
    worst: impl Fn(&C::Value) -> Result<[f64; 2], TestCaseError>,
) -> Vec<f64> {
    let seeded = ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(seeded);
    let mut one = || {
        let tree = drawn.new_tree(&mut runner).expect("a model");
        worst(&tree.current()).expect("fits")[1]
    };
    let mut parts: Vec<f64> = (0..1_000).map(|_| one()).collect();
    parts.sort_by(f64::total_cmp);
    println!("median {}, worst {}", parts[499], parts[999]);
    parts
}

#[test]
fn derivatives_over_symbols_keep_what_was_measured() {
    let parts = derivatives(categorical(), |(classifier, sequence)| {
        let samples = sequence.iter().map(|x| x.map_or(Sample::Missing, Sample::Symbol));
        worst(classifier, samples, (4e-3, 1e-3, 0.0))
    });
    assert!(parts[999] < 1.0, "off by {} times the bound", parts[999]);
}

#[test]
fn derivatives_over_channels_keep_what_was_measured() {
    let parts = derivatives(gaussian(), |(classifier, sequence)| {
        let samples = sequence.iter().map(|x| x.as_deref().map_or(Sample::Missing, Sample::Row));
        worst(classifier, samples, (2e-3, 1e-3, 2e-3))
    });
    assert!(parts[999] < 1.0, "off by {} times the bound", parts[999]);
}

#[test]
fn zeros_stay_zeros_and_a_refused_sample_is_missing() {
    // Left to right: A, then B, then C for ever.
    let hmm = Hmm {
        initial: vec![1.0, 0.0, 0.0],
        transition: vec![vec![0.5, 0.5, 0.0], vec![0.0, 0.75, 0.25], vec![0.0, 0.0, 1.0]],
        emission: Emissions::categorical(vec![
            vec![1.0, 0.0, 0.0],
            vec![0.0, 1.0, 0.0],
            vec![0.0, 0.0, 1.0],
        ]),
    };
    let direction = Direction {
        initial: vec![0.0; 3],
        transition: vec![vec![1.0, 0.0, 0.0], vec![0.0; 3], vec![0.0; 3]],
        emission: EmissionDirection::categorical(vec![vec![0.0; 3]; 3]),
    };
    let fixed = derivative_of(hmm, direction).quantise().expect("fits");
    let after = |symbols: &[u16]| {
        let mut stream = fixed.stream();
        for &symbol in symbols {
            stream.push(Sample::Symbol(symbol)).expect("possible");
        }
        stream
    };
    let [mut refused, mut missing] = [after(&[0, 0, 1]), after(&[0, 0, 1])];
    assert!(refused.push(Sample::Symbol(0)).is_err(), "back to A");
    assert!(refused.push(Sample::Symbol(7)).is_err(), "no symbol");
    (0..2).for_each(|_| missing.push(Sample::Missing).expect("one passes"));
    assert_eq!(says(&refused), says(&missing));
    let stream = after(&[0, 0, 1, 2]);
    // A A B C: stays once, leaves once, leaves B.
    let log = stream.log_likelihoods()[0];
    assert!((log - (0.5_f32 * 0.5 * 0.25).ln()).abs() < 1e-6, "{log}");
    // d/dw (log p_stay + log p_leave) = (1 - p) - p.
    assert!(
        stream.decision_values().expect("in range")[0].abs() < 1e-3,
        "{:?}",
        stream.decision_values()
    );
}

fn says(stream: &Stream) -> impl PartialEq + std::fmt::Debug + use<> {
    (stream.log_likelihoods(), stream.decision_values(), stream.samples())
}

/// Two states over two channels, alike but for the last standard deviation.
fn on_two_channels(std: f64) -> Classifier {
    let hmm = Hmm {
        initial: vec![0.5, 0.5],
        transition: vec![vec![0.5, 0.5]; 2],
        emission: Emissions::gaussian(
            vec![vec![0.0, 0.0]; 2],
            vec![vec![1.0, 1.0], vec![1.0, std]],
        ),
    };
    let direction = Direction {
        initial: vec![0.0; 2],
        transition: vec![vec![0.0; 2]; 2],
        emission: EmissionDirection::gaussian(vec![vec![0.0; 2]; 2], vec![vec![0.0; 2]; 2]),
    };
    derivative_of(hmm, direction)
}

#[test]
fn what_does_not_fit_is_named() {
    match on_two_channels(1e-6).quantise() {
        Err(QuantiseError::Channel { channel, .. }) => assert_eq!(channel, "c1"),
        other => panic!("{other:?}"),
    }
    // Of two models, the second's direction is too steep for any unit.
    let mut two = on_two_channels(1.0);
    two.models.push(two.models[0].clone());
    let mut steep = two.outputs()[0].directions[0].clone();
    steep.initial = vec![1e300, -1e300];
    let Rule::Linear(outputs) = &mut two.rule else { panic!("linear") };
    outputs[0].directions.push(steep);
    outputs[0].weights.push(0.0);
    let message = two.quantise().expect_err("too steep").to_string();
    assert!(message.starts_with("the model of class `yes`, output 0"), "{message}");
}

/// A transition of `10^-5`, beside a direction whose unit is the means': what it adds to the derivative
/// is its rate over its probability, and both must keep their digits.
#[test]
fn a_channel_that_integers_do_not_hold_is_refused_and_missing() {
    let fixed = on_two_channels(1.5).quantise().expect("fits");
    let [mut stream, mut missing] = [fixed.stream(), fixed.stream()];
    for stream in [&mut stream, &mut missing] {
        stream.push(Sample::Row(&[0.5, -0.5])).expect("possible");
    }
    let most = 32_767.5 / f64::from(fixed.places()[1]).exp2();
    // What lacks a channel is missing, and no mistake.
    stream.push(Sample::Row(&[0.5, f64::NAN])).expect("one passes");
    missing.push(Sample::Missing).expect("one passes");
    assert_eq!(says(&stream), says(&missing));
    for (x, error) in [
        (f64::INFINITY, ObservationError::NotFinite),
        (1e9, ObservationError::OutOfRange),
        (-1e300, ObservationError::OutOfRange),
        (most, ObservationError::OutOfRange),
    ] {
        assert_eq!(stream.push(Sample::Row(&[0.5, x])), Err(error.into()), "{x}");
        missing.push(Sample::Missing).expect("one passes");
        assert_eq!(says(&stream), says(&missing));
    }
    let halfway = |x| ChannelQ15::integer(x).expect("in range");
    assert_eq!([0.5, -0.5, 1.49, 32_767.4, -32_768.4].map(halfway), [1, -1, 1, 32_767, -32_768]);
}

#[test]
fn rare_transitions_keep_their_digits() {
    let hmm = Hmm {
        initial: vec![0.5, 0.5],
        transition: vec![vec![1.0 - 1.3e-5, 1.3e-5], vec![2.1e-5, 1.0 - 2.1e-5]],
        emission: Emissions::gaussian(vec![vec![0.0], vec![8.0]], vec![vec![1.0], vec![1.0]]),
    };
    let direction = Direction {
        initial: vec![0.0; 2],
        transition: vec![vec![0.0, 100.0], vec![-30.0, 0.0]],
        emission: EmissionDirection::gaussian(vec![vec![1.0], vec![-1.0]], vec![vec![0.0]; 2]),
    };
    let classifier = derivative_of(hmm, direction);
    let fixed = classifier.quantise().expect("fits");
    let exact = classifier.compile_in::<f64>().expect("compiles");
    let (mut fixed, mut exact) = (fixed.stream(), exact.stream());
    for t in 0..200 {
        let x = if t / 50 % 2 == 0 { 0.25 } else { 7.75 };
        fixed.push(Sample::Row(&[x])).expect("possible");
        exact.push(Sample::Row(&[x])).expect("possible");
        let crossings = t / 50;
        let off = (f64::from(fixed.decision_values().expect("in range")[0])
            - exact.decision_values().expect("in range")[0])
            .abs();
        // A crossing adds 100 or takes 30. The rates leave the exponent 7: half a unit is a hundredth.
        assert!(off < f64::from(crossings) + 0.1, "sample {t}: off by {off}");
    }
}

/// Channels that are missing: the bound holds, and decisions are those of `f64`.
#[test]
fn recordings_that_lack_channels_are_decided_as_in_f64() {
    let data = with_holes(&recordings());
    for (classifier, within) in [
        (trained(&data, ClassifierKind::Bayes), 0.01),
        (trained_on_differences(&data, &[1, 4], ScoreModels::Universal), 0.03),
    ] {
        let fixed = classifier.quantise().expect("fits");
        let windowing = Windowing {
            length: NonZeroUsize::new(200).expect("positive"),
            hop: NonZeroUsize::new(8000).expect("positive"),
            short: ShortSeries::default(),
        };
        let found = fixed.deviation(&classifier, &data, Some(&windowing)).expect("measures");
        assert!(found.windows >= 90 && found.refused_by_one == 0, "{found:?}");
        found.check(DeviationLimits::default()).expect("decides as f64 does");
        assert!(found.mean < within * found.mean_margin, "{found:?}");
        assert!(found.bound.exceeded == 0 && 20 * found.bound.windows >= 19 * found.windows);
    }
}
