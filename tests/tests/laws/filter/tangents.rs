//! The tangent filter and what is read from it, against finite differences in the log domain.

use fishweir_core::emission::{Categorical, Gaussian, Parametrisation as Coordinates, VectorSpace};
use fishweir_core::filter::{
    Forgetting, ForgettingFactor, Forward, RollingLogLikelihood, Statistics, Stream,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Dual, Scalar};
use fishweir_core::score::{Score, ScoreOf};
use fishweir_tests::build::{self, Family, Task, coordinates, dispatch, samples};
use fishweir_tests::laws;
use fishweir_tests::oracle::{Direction, LogDomain, Model, Parametrisation, Sequence, derivative};
use fishweir_tests::sample::{Sample, Sampler, Topology, zoo};

use crate::filter::{assert_near, on_trial};

struct Checks<'a> {
    sample: &'a Sample,
    direction: Direction,
}

impl Task<f64> for Checks<'_> {
    type Output = ();

    fn run<E: Family<f64>, const N: usize>(self, plain: &Hmm<E, N>) -> Result<(), String> {
        let Sample { name, model, sequence } = self.sample;
        let direction = &self.direction;
        check(name, model, sequence, direction, plain)
    }
}

fn check<E: Family<f64>, const N: usize>(
    name: &str,
    model: &Model,
    sequence: &Sequence,
    direction: &Direction,
    plain: &Hmm<E, N>,
) -> Result<(), String> {
    let by = coordinates(direction, Parametrisation::Softmax);
    let score = build::direction::<f64, E, N>(direction)?;
    let hmm = plain.with_directions(&[score], by);
    let slope_of = |t: usize| {
        let log = |e: f64| {
            let moved = direction.moved(model, Parametrisation::Softmax, e).expect("one family");
            LogDomain::of(&moved, &sequence[..t]).log_likelihood()
        };
        if t == 0 { 0.0 } else { derivative(log, 1e-3) }
    };
    let slopes: Vec<f64> = (0..=sequence.len()).map(slope_of).collect();
    let near = |got: Option<f64>, expected: f64, t: usize| {
        let got = got.unwrap_or(f64::NAN);
        assert_near(got, expected, 1e-5, format!("{name}: slope at {t}"));
    };
    let taken = samples::<f64, E>(sequence)?;
    on_trial::<f64, E>(model, &taken, |trial| {
        laws::check(Forward::of(&hmm), trial, |prefix, got| {
            near(got.derivative(0), slopes[prefix.len()], prefix.len());
        });
        let mut faded = vec![0.0];
        for t in 1..slopes.len() {
            let gained =
                if trial.samples[t - 1].is_some() { slopes[t] - slopes[t - 1] } else { 0.0 };
            faded.push(0.9 * faded[t - 1] + gained);
        }
        let memory = ForgettingFactor::factor(0.9).expect("a factor");
        laws::check(Forgetting::of(&hmm, memory), trial, |prefix, got| {
            near(got.derivative(0), faded[prefix.len()], prefix.len());
        });
        let recent = RollingLogLikelihood::<_, N, 2>::of(&hmm, 5).expect("an interval");
        laws::check(recent, trial, |prefix, got| {
            let (t, covered) = (prefix.len(), got.samples as usize);
            near(got.reading.derivative(0), slopes[t] - slopes[t - covered], t);
        });
        // The other reader: the score from statistics, times the direction, to rounding.
        let mut statistics = Stream::new(Statistics::of(plain));
        let mut tangent = Stream::new(Forward::of(&hmm));
        for &x in trial.samples {
            statistics.push(x).expect("possible");
            tangent.push(x).expect("possible");
            let read = Score::of(plain, &statistics.read(), by);
            let slope = tangent.read().derivative(0).expect("a direction");
            assert_near(read.dot(&score), slope, 1e-10, format!("{name}: score . direction"));
        }
    })
}

#[test]
fn tangents_at_every_prefix_are_finite_differences() {
    let mut checked = 0;
    for (seed, sample) in zoo(55, 40).iter().enumerate() {
        // So far apart, differences of 1e4 nats are all rounding.
        if sample.name.contains("far apart") {
            continue;
        }
        let direction = Sampler::new(seed as u64).direction(&sample.model);
        dispatch(&sample.model, Checks { sample, direction })
            .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        checked += 1;
    }
    assert!(checked >= 13, "{checked}");
}

/// Whatever a sensor says, a tangent is a number.
#[test]
fn absurd_observations_leave_tangents_finite() {
    let laws = [-1.0_f32, 0.0, 40.0].map(|mean| Gaussian::new([mean], [1.0]).expect("a law"));
    let chain =
        Chain::<f32, 3>::new([1.0, 0.0, 0.0], [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])
            .expect("a chain");
    let hmm = Hmm::new(chain, laws);
    let mut direction = ScoreOf::<Gaussian<1>, 3>::ZERO;
    direction.for_each_mut(|entry| *entry = 1.0);
    let tangent = hmm.with_directions(&[direction], Coordinates::SOFTMAX);
    let mut stream = Stream::new(Forward::of(&tangent));
    let (mut taken, mut refused) = (0, 0);
    for t in 0..400 {
        let size = 10_f32.powi(t % 39);
        for x in [size, -size, 0.3] {
            match stream.push(&[x]) {
                Ok(()) => taken += 1,
                Err(_) => refused += 1,
            }
            let read = stream.read();
            assert!(read.value.is_finite() && read.tangent[0].is_finite(), "{read:?} after {x}");
        }
    }
    assert!(taken > 500 && refused > 300, "{taken} taken, {refused} refused");
}

/// Minus infinity without a slope: a state that cannot be stays so in every direction.
#[test]
fn a_state_that_cannot_be_has_no_slope() {
    let hmm = Sampler::new(3).categorical(Topology::LeftToRight, 3, 4);
    let hmm = build::padded::<f64, Categorical<4, f64>, 3>(&hmm).expect("a model");
    let mut direction = ScoreOf::<Categorical<4, f64>, 3>::ZERO;
    direction.for_each_mut(|entry| *entry = 1.0);
    let tangent = hmm.with_directions(&[direction], Coordinates::SOFTMAX);
    let mut stream = Stream::new(Forward::of(&tangent));
    let never = [Dual { value: f64::NEG_INFINITY, tangent: [0.0] }; 3];
    assert_eq!(stream.state().joint_logs(), never, "before the first sample there is no state");
    stream.push(&0).expect("possible");
    let joint = stream.state().joint_logs();
    assert_eq!(joint[1..], never[1..]);
    assert_eq!(joint[0], stream.read(), "the one state there is");
}
