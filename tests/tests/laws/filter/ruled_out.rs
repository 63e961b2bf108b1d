//! What becomes of a bank of models when one is ruled out.

use fishweir_core::ObservationError;
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::context::{ContextModel, Unconditional};
use fishweir_core::emission::{Categorical, Emission};
use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;
use fishweir_tests::laws::{self, Trial};

const NORMALISATIONS: [Normalisation; 3] =
    [Normalisation::NONE, Normalisation::PER_SAMPLE, Normalisation::PER_ROOT_SAMPLE];
/// `[output][model]`: a Bayes classifier, and a linear machine with weights of either sign.
const BAYES: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const LINEAR: [[f32; 3]; 3] = [[0.7, -0.3, -0.4], [-0.9, 1.1, -0.2], [0.3, 0.3, -0.6]];

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
        let weights = weights.map(|row| row.map(f64::from));
        for by in NORMALISATIONS {
            let classifier = StreamClassifier::from_parts(coins::<3>(), weights, [0.0; 3], by);
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
    let weights = BAYES.map(|row| row.map(f64::from));
    let bank = StreamClassifier::from_parts(coins::<0>(), weights, [0.0; 3], Normalisation::NONE);
    let mut stream = Stream::new(&bank);
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
    assert_eq!(stream.state().samples(), 5, "refused samples are missing ones");
    assert_eq!(stream.state().ruled_out(), &[true, true, false]);
    stream.reset();
    assert_eq!(stream.state().ruled_out(), &[false; 3]);
    // Of two classes with one output between them, the sign decides for the one that is left.
    let odds =
        StreamClassifier::from_parts(coins::<1>(), [[-1.0, 1.0, 0.0]], [0.0], Normalisation::NONE);
    for (symbol, class) in [(2, 1), (3, 0)] {
        let mut stream = Stream::new(&odds);
        stream.push_block(&[0, symbol]).expect("possible under two");
        assert_eq!((stream.read().class, stream.read().margin), (class, f64::INFINITY));
    }
}

#[test]
fn a_wrong_number_of_known_states_is_named() {
    let law = |p: f64| Categorical::<2, f64>::from_parts([p, 0.5]);
    let validated = |p| {
        let model = ContextModel::new(Unconditional, [law(p)]);
        StreamClassifier::from_parts([model], [[1.0]], [0.0], Normalisation::NONE).validate()
    };
    assert_eq!(validated(0.5), Ok(()));
    let error = law(0.75).validate().expect_err("sums to more than one");
    assert_eq!(validated(0.75), Err(error.of_state(0)));
}
