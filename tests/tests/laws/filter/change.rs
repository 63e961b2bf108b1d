//! The detector of change: its statistics after every prefix, from the log domain and finite
//! differences, and the laws of a stream.

use fishweir_core::classify::{ChangeDetector, Limit, Statistic};
use fishweir_core::emission::{Categorical, Emission, Gaussian, Marginal};
use fishweir_core::filter::{ForgettingFactor, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;
use fishweir_core::{ErrorKind, ModelError, Part};
use fishweir_tests::build::{self, Family, Task, coordinates, dispatch, samples};
use fishweir_tests::laws;
use fishweir_tests::oracle::{Direction, LogDomain, Parametrisation, derivative};
use fishweir_tests::sample::{Sample, Sampler, zoo};

use crate::filter::{assert_near, on_trial};

const KEPT: f64 = 0.9;
const FIT: Limit<f64> = Limit { mean: -1.5, threshold: 6.0 };
const DRIFT: Limit<f64> = Limit { mean: 0.25, threshold: 3.0 };

struct Checks<'a> {
    sample: &'a Sample,
    direction: Direction,
}

impl Task<f64> for Checks<'_> {
    /// How often a statistic was the alarm: fit, drift, none.
    type Output = [usize; 3];

    fn run<E: Family<f64>, const N: usize>(self, plain: &Hmm<E, N>) -> Result<[usize; 3], String> {
        let Sample { name, model, sequence } = self.sample;
        let log = LogDomain::of(model, sequence).prefix_log_likelihood();
        let log_after = |t: usize| if t == 0 { 0.0 } else { log[t - 1] };
        let slope_after = |t: usize| {
            let moved = |e: f64| {
                let moved = self.direction.moved(model, Parametrisation::Softmax, e);
                let moved = moved.expect("one family");
                LogDomain::of(&moved, &sequence[..t]).log_likelihood()
            };
            if t == 0 { 0.0 } else { derivative(moved, 1e-3) }
        };
        let slopes: Vec<f64> = (0..=sequence.len()).map(slope_after).collect();
        // The definition, a sum over the observed samples.
        let faded = |t: usize, total: &dyn Fn(usize) -> f64, mean: f64| -> f64 {
            (1..=t)
                .filter(|&s| sequence[s - 1].is_some())
                .map(|s| KEPT.powi((t - s) as i32) * (total(s) - total(s - 1) - mean))
                .sum()
        };
        let score = build::direction::<f64, E, N>(&self.direction)?;
        let along =
            plain.with_directions(&[score], coordinates(&self.direction, Parametrisation::Softmax));
        let memory = ForgettingFactor::factor(KEPT).expect("a factor");
        let detector = ChangeDetector::from_parts(along, memory, FIT, [DRIFT]);
        detector.validate().map_err(|error| error.to_string())?;
        let mut alarms = [0; 3];
        on_trial::<f64, E>(model, &samples::<f64, E>(sequence)?, |trial| {
            laws::check(&detector, trial, |prefix, got| {
                let t = prefix.len();
                let fit = faded(t, &log_after, FIT.mean);
                let drift = faded(t, &|t| slopes[t], DRIFT.mean);
                assert_near(got.fit, fit, 1e-9, format!("{name}: fit at {t}"));
                assert_near(got.drift[0], drift, 1e-5, format!("{name}: drift at {t}"));
                let expected = match (got.fit.abs() > 6.0, got.drift[0].abs() > 3.0) {
                    (_, true) => Some(Statistic::Drift(0)),
                    (true, false) => Some(Statistic::Fit),
                    (false, false) => None,
                };
                assert_eq!(got.alarm, expected, "{name}: alarm at {t}");
                alarms[match expected {
                    Some(Statistic::Fit) => 0,
                    Some(Statistic::Drift(_)) => 1,
                    None => 2,
                }] += 1;
            });
        })?;
        Ok(alarms)
    }
}

#[test]
fn statistics_and_alarms_are_those_of_the_definition() {
    let mut alarms = [0; 3];
    for (seed, sample) in zoo(77, 40).iter().enumerate() {
        // So far apart, differences of 1e4 nats are all rounding.
        if sample.name.contains("far apart") {
            continue;
        }
        let direction = Sampler::new(seed as u64).direction(&sample.model);
        let counted = dispatch(&sample.model, Checks { sample, direction })
            .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        alarms.iter_mut().zip(counted).for_each(|(sum, count)| *sum += count);
    }
    assert!(alarms.iter().all(|&count| count > 30), "{alarms:?}");
}

type Coin = Categorical<2, Dual<f64, 1>>;

fn coin() -> Hmm<Coin, 1> {
    let certain = Dual { value: 1.0, tangent: [0.0] };
    let side = |rate| Dual { value: 0.5, tangent: [rate] };
    Hmm::new(
        Chain::from_parts([certain], [[certain]]),
        [Categorical::from_parts([side(0.25), side(-0.25)])],
    )
}

#[test]
fn a_bad_number_is_named() {
    let validated = |lost: f64, fit, drift| {
        ChangeDetector::from_parts(
            coin(),
            ForgettingFactor::from_one_minus_lambda(lost),
            fit,
            [drift],
        )
        .validate()
    };
    let refused = |part, kind, row, entry| Err(ModelError::new(part, kind, row, entry));
    assert_eq!(validated(0.1, FIT, DRIFT), Ok(()));
    for lost in [-0.1, 1.5, f64::NAN] {
        assert_eq!(validated(lost, FIT, DRIFT), refused(Part::Memory, ErrorKind::NotInRange, 0, 0));
    }
    let limit = |mean, threshold| Limit { mean, threshold };
    let (no_number, infinity) = (f64::NAN, f64::INFINITY);
    assert_eq!(
        validated(0.1, limit(no_number, 1.0), DRIFT),
        refused(Part::Limit, ErrorKind::NotFinite, 0, 0)
    );
    assert_eq!(
        validated(0.1, FIT, limit(0.0, infinity)),
        refused(Part::Limit, ErrorKind::NotFinite, 1, 1)
    );
    assert_eq!(
        validated(0.1, FIT, limit(0.0, 0.0)),
        refused(Part::Limit, ErrorKind::NotPositive, 1, 1)
    );
    // A bad model is found first.
    let mut bad = coin();
    bad =
        Hmm::new(*bad.chain(), [Categorical::from_parts([Dual { value: 2.0, tangent: [0.0] }; 2])]);
    let detector = ChangeDetector::from_parts(bad, ForgettingFactor::ENDLESS, FIT, [DRIFT]);
    let expected = bad.emission()[0].validate().map_err(|error| error.of_state(0));
    assert!(expected.is_err());
    assert_eq!(detector.validate(), expected);
}

#[test]
fn a_statistic_at_its_limit_is_no_alarm() {
    // Each head drifts by its rate over its probability, a half: exact numbers.
    let drifted = |threshold| {
        let fit = Limit { mean: 0.5_f64.ln(), threshold: 1.0 };
        let drift = Limit { mean: 0.0, threshold };
        let detector = ChangeDetector::from_parts(coin(), ForgettingFactor::ENDLESS, fit, [drift]);
        let mut stream = Stream::new(&detector);
        stream.push_block(&[0; 3]).expect("heads are possible");
        stream.read()
    };
    let at = drifted(1.5);
    assert_eq!((at.drift, at.alarm), ([1.5], None));
    assert_eq!(drifted(1.499).alarm, Some(Statistic::Drift(0)));
    assert_eq!(at.value(Statistic::Fit), Some(at.fit));
    assert_eq!(at.value(Statistic::Drift(0)), Some(1.5));
    assert_eq!(at.value(Statistic::Drift(1)), None);
}

/// A sample that lacks every channel is a missing one: it has no weight.
#[test]
fn a_sample_of_nothing_is_missing() {
    let certain = Dual { value: 1.0, tangent: [0.0] };
    let (mean, rate, constant) = ([1.0, -1.0], [2.0, 0.5], Dual { value: -1.8, tangent: [0.0] });
    let state =
        Gaussian::<2, Dual<f64, 1>>::from_parts(mean, rate, constant, [[0.25], [0.0]], [[0.0]; 2]);
    let chain = Chain::from_parts([certain], [[certain]]);
    let hmm = Hmm::new(chain, [Marginal::new(state)]);
    let memory = ForgettingFactor::factor(KEPT).expect("a factor");
    let detector = ChangeDetector::from_parts(hmm, memory, FIT, [DRIFT]);
    let [mut lacking, mut missing] = [Stream::new(&detector), Stream::new(&detector)];
    for x in [[Some(1.5), None], [None, None], [Some(0.0), Some(-2.0)], [None, None]] {
        lacking.push(Some(&x)).expect("possible");
        missing.push((x != [None, None]).then_some(&x)).expect("possible");
        assert_eq!(lacking.read(), missing.read());
    }
}
