//! Classifiers of endless streams: margins in single precision against double precision where
//! log-likelihoods are far larger than what they differ by.

use fishweir_core::classify::{Normalisation, StreamClassifier, StreamModel};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Dual, Real};

use crate::Draws;

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
        let narrow = StreamClassifier::from_parts(std::array::from_fn(single), weights, bias, by);
        let wide = StreamClassifier::from_parts(
            std::array::from_fn(double),
            real(weights),
            bias.map(f64::from),
            by,
        );
        (narrow, wide)
    });
    let (mut narrow, mut wide) = (pairs[0].0.initial_state(), pairs[0].1.initial_state());
    let mut draws = Draws::new(5);
    for t in 1..=SAMPLES {
        let x = draws.below(3);
        pairs[0].0.step(&mut narrow, &x).expect("possible");
        pairs[0].1.step(&mut wide, &x).expect("possible");
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
