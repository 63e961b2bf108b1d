//! Classifiers of endless streams: margins in single precision against double precision where
//! log-likelihoods are far larger than what they differ by, and what becomes of a bank when a model is
//! ruled out.

use fishweir_core::ObservationError;
use fishweir_core::classify::{Normalisation, StreamClassifier, StreamModel};
use fishweir_core::context::{ContextModel, Steps, Unconditional};
use fishweir_core::emission::{Categorical, Emission};
use fishweir_core::filter::{Recursion, Running};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Dual, Real};
use fishweir_tests::laws::{self, Trial};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Some 41 nats each: `10^7` in all, which `f32` holds to a nat.
const SAMPLES: usize = 250_000;
const NORMALISATIONS: [Normalisation; 3] =
    [Normalisation::NONE, Normalisation::PER_SAMPLE, Normalisation::PER_ROOT_SAMPLE];
/// `[output][model]`: a Bayes classifier, and a linear machine with weights of either sign.
const BAYES: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const LINEAR: [[f32; 3]; 3] = [[0.7, -0.3, -0.4], [-0.9, 1.1, -0.2], [0.3, 0.3, -0.6]];

/// Three symbols of `2^-60` or so in both states, in another order for each model; a fourth that does
/// not come is all the rest.
fn laws_of(model: usize) -> [[f32; 4]; 2] {
    let p = |power: i32| 2.0_f32.powi(power);
    let laws = [[p(-60), p(-61), p(-60), 1.0], [p(-61), p(-60), p(-59), 1.0]];
    laws.map(|law| std::array::from_fn(|k| if k < 3 { law[(k + model) % 3] } else { law[3] }))
}

fn dual<T: Real, const C: usize>(value: f32, rate: impl Fn(usize) -> f32) -> Dual<T, C> {
    let real = |x: f32| T::from_f64(x.into());
    Dual { value: real(value), tangent: std::array::from_fn(|c| real(value * rate(c))) }
}

fn emission<T: Real, const C: usize>(model: usize) -> [Categorical<4, Dual<T, C>>; 2] {
    let law = |(state, law): (usize, [f32; 4])| {
        let rate = |k: usize| {
            move |c: usize| ((model + 2 * state + 3 * k + 5 * c) % 7) as f32 / 4.0 - 0.75
        };
        Categorical::from_parts(std::array::from_fn(|k| dual(law[k], rate(k))))
    };
    let [first, second] = laws_of(model);
    [law((0, first)), law((1, second))]
}

fn hidden<T: Real, const C: usize>(model: usize) -> Hmm<Categorical<4, Dual<T, C>>, 2> {
    let row = |row: [f32; 2]| row.map(|p| dual(p, |c| (c as f32 - 1.0) / 8.0));
    let chain = Chain::from_parts(row([0.5, 0.5]), [row([0.75, 0.25]), row([0.125, 0.875])]);
    Hmm::new(chain, emission(model))
}

fn known<T: Real, const C: usize>(
    model: usize,
) -> ContextModel<Steps, Categorical<4, Dual<T, C>>, 2> {
    ContextModel::new(Steps, emission(model))
}

fn real<T: Real, const M: usize, const O: usize>(weights: [[f32; M]; O]) -> [[T; M]; O] {
    weights.map(|row| row.map(|weight| T::from_f64(weight.into())))
}

/// Pushes one stream to both, and compares class and margin now and then.
fn compare<S, D, const O: usize>(
    what: &str,
    single: fn(usize) -> S,
    double: fn(usize) -> D,
    weights: [[f32; 3]; O],
) where
    S: StreamModel<Real = f32, Observation = usize>,
    D: StreamModel<Real = f64, Observation = usize>,
{
    let pairs = NORMALISATIONS.map(|by| {
        let bias = [0.25; O];
        let narrow = StreamClassifier::new(std::array::from_fn(single), weights, bias, by);
        let wide = StreamClassifier::new(
            std::array::from_fn(double),
            real(weights),
            bias.map(f64::from),
            by,
        );
        (narrow, wide)
    });
    let (mut narrow, mut wide) = (pairs[0].0.start(), pairs[0].1.start());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for t in 1..=SAMPLES {
        let x = rng.random_range(0..3);
        pairs[0].0.push(&mut narrow, &x).expect("possible");
        pairs[0].1.push(&mut wide, &x).expect("possible");
        if t % 25_000 == 0 {
            for (by, (single, double)) in NORMALISATIONS.iter().zip(&pairs) {
                let (got, expected) = (single.read(&narrow), double.read(&wide));
                let off = (f64::from(got.margin) - expected.margin).abs();
                let near = off <= 1e-3 * (1.0 + expected.margin);
                assert!(near, "{what}, {by:?}, {t}: {got:?} where {expected:?} is right");
                let tie = expected.margin < 1e-3;
                assert!(got.class == expected.class || tie, "{what}, {by:?}, {t}");
            }
        }
    }
    let log = pairs[0].1.log_likelihoods(&wide)[0];
    assert!(log < -1e7, "a stream long enough to lose a margin in: {log}");
}

#[test]
fn margins_of_hidden_models_are_exact_however_long_the_stream() {
    compare("Bayes", hidden::<f32, 0>, hidden::<f64, 0>, BAYES);
    compare("odds", hidden::<f32, 0>, hidden::<f64, 0>, [[0.0, 1.0, -1.0]]);
    compare("linear", hidden::<f32, 3>, hidden::<f64, 3>, LINEAR);
}

#[test]
fn margins_of_models_of_known_states_are_exact_however_long_the_stream() {
    compare("Bayes", known::<f32, 0>, known::<f64, 0>, BAYES);
    compare("one output", known::<f32, 1>, known::<f64, 1>, [[1.0, -1.5, 0.5]]);
    compare("linear", known::<f32, 3>, known::<f64, 3>, LINEAR);
}

/// Coins of four sides, the fifth of which none has; the first has no third, the second no fourth.
const SIDES: [[f64; 5]; 3] =
    [[0.5, 0.25, 0.0, 0.25, 0.0], [0.25, 0.5, 0.25, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25, 0.0]];

fn coins<const C: usize>() -> [Hmm<Categorical<5, Dual<f64, C>>, 1>; 3] {
    let certain = Dual { value: 1.0, tangent: [0.0; C] };
    SIDES.map(|sides| {
        // The rate of a side's log is its number for the first output, and negated for the third.
        let tangent = |k: usize| std::array::from_fn(|c| sides[k] * k as f64 * (1.0 - c as f64));
        let law = std::array::from_fn(|k| Dual { value: sides[k], tangent: tangent(k) });
        Hmm::new(Chain::from_parts([certain], [[certain]]), [Categorical::from_parts(law)])
    })
}

/// The decision by hand, from counts. A model that is ruled out counts as one under which the stream is
/// `e^1e9` times less likely than it could be.
fn by_hand(weights: &[[f64; 3]; 3], prefix: &[Option<&usize>]) -> (usize, f64) {
    let seen: Vec<usize> = prefix.iter().flatten().map(|&&k| k).collect();
    let values: Vec<f64> = (0..3)
        .map(|o| {
            let model = |m: usize| {
                if seen.iter().any(|&k| SIDES[m][k] == 0.0) {
                    return -1e9 * weights[o][m];
                }
                let log: f64 = seen.iter().map(|&k| SIDES[m][k].ln()).sum();
                let score: f64 = seen.iter().map(|&k| k as f64 * [1.0, 0.0, -1.0][o]).sum();
                weights[o][m] * log + score
            };
            (0..3).map(model).sum::<f64>()
        })
        .collect();
    let best = (0..3).fold(0, |best, o| if values[o] > values[best] { o } else { best });
    let others = (0..3).filter(|&o| o != best).map(|o| values[best] - values[o]);
    (best, others.fold(f64::INFINITY, f64::min))
}

#[test]
fn an_impossible_model_is_ruled_out_and_the_others_go_on() {
    let (x, missing) = (&[0_usize, 1, 2, 3, 4, 7], None);
    let take = |k: usize| Some(&x[k]);
    let samples =
        [take(0), take(1), missing, take(0), take(2), take(1), missing, take(3), take(0), take(1)];
    for weights in [BAYES, LINEAR, [[-0.5, -0.5, 1.0], [0.0; 3], [0.25, 0.0, 0.0]]] {
        let weights = real::<f64, 3, 3>(weights);
        for by in NORMALISATIONS {
            let classifier = StreamClassifier::new(coins::<3>(), weights, [0.0; 3], by);
            let trial = Trial { samples: &samples, refusable: &[&x[4], &x[5]] };
            let refused = laws::check(&classifier, trial, |prefix, got| {
                let (class, margin) = by_hand(&weights, prefix);
                let margin = margin * by.factor::<f64>(prefix.len() as u64);
                assert!(!got.margin.is_nan());
                if margin > 1e6 {
                    assert_eq!(got.margin, f64::INFINITY, "{weights:?} after {prefix:?}");
                } else {
                    assert!((got.margin - margin).abs() < 1e-6, "{got:?}, not {margin}");
                }
                assert!(got.class == class || margin < 1e-6, "{weights:?} after {prefix:?}");
            });
            // Neither is ever taken, by however few models.
            assert_eq!(refused, 2 * (samples.len() + 1));
        }
    }
}

#[test]
fn a_model_is_out_until_the_reset() {
    let weights = real::<f64, 3, 3>(BAYES);
    let bank = StreamClassifier::new(coins::<0>(), weights, [0.0; 3], Normalisation::NONE);
    let mut stream = Running::new(&bank);
    stream.push_block(&[2, 0]).expect("possible under two");
    assert_eq!(stream.state().ruled_out(), &[true, false, false]);
    let [first, second, third] = bank.log_likelihoods(stream.state());
    assert_eq!(first, f64::NEG_INFINITY);
    assert!((second - third).abs() < 1e-12 && second.is_finite());
    assert_eq!(bank.decision_values(stream.state())[0], f64::NEG_INFINITY);
    stream.push(&3).expect("possible under one");
    assert_eq!((stream.read().class, stream.read().margin), (2, f64::INFINITY));
    assert_eq!(stream.push(&4), Err(ObservationError::Impossible));
    assert_eq!(stream.push(&5), Err(ObservationError::UnknownSymbol));
    assert_eq!(stream.state().samples(), 3);
    stream.reset();
    assert_eq!(stream.state().ruled_out(), &[false; 3]);
    // Of two classes with one output between them, the sign decides for the one that is left.
    let odds = StreamClassifier::new(coins::<1>(), [[-1.0, 1.0, 0.0]], [0.0], Normalisation::NONE);
    for (symbol, class) in [(2, 1), (3, 0)] {
        let mut stream = Running::new(&odds);
        stream.push_block(&[0, symbol]).expect("possible under two");
        assert_eq!((stream.read().class, stream.read().margin), (class, f64::INFINITY));
    }
}

#[test]
fn a_wrong_number_of_known_states_is_named() {
    let law = |p: f64| Categorical::<2, f64>::from_parts([p, 0.5]);
    let validated = |p| {
        let model = ContextModel::new(Unconditional, [law(p)]);
        StreamClassifier::new([model], [[1.0]], [0.0], Normalisation::NONE).validate()
    };
    assert_eq!(validated(0.5), Ok(()));
    let error = law(0.75).validate().expect_err("sums to more than one");
    assert_eq!(validated(0.75), Err(error.of_state(0)));
}
