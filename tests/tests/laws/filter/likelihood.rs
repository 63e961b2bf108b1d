//! The filter, forgetting and windows.

use fishweir_core::emission::{Categorical, Emission};
use fishweir_core::filter::{
    Forgetting, ForgettingFactor, Forward, RollingLogLikelihood, Stream, Streaming, Window,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Real;
use fishweir_tests::build::{Family, Task, dispatch, padded, samples};
use fishweir_tests::laws;
use fishweir_tests::oracle::{LogDomain, Model, Sequence};
use fishweir_tests::sample::zoo;

use crate::filter::{assert_near, observations, on_trial};

const LENGTH: usize = 40;

struct Checks<'a> {
    name: &'a str,
    model: &'a Model,
    sequence: &'a Sequence,
    tolerance: f64,
    /// How many nats a state may be less probable than the best and still be told from none.
    depth: f64,
}

impl<T: Real> Task<T> for Checks<'_> {
    /// Refusals that left the state alone, and windows that took every sample.
    type Output = (usize, usize);

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Self::Output, String> {
        let samples = samples::<T, E>(self.sequence)?;
        let oracle = LogDomain::of(self.model, self.sequence);
        let mut log = vec![0.0];
        log.extend(oracle.prefix_log_likelihood());
        let near = |got: T, expected: f64, t: usize| {
            assert_near(got.to_f64(), expected, self.tolerance, format!("{} at {t}", self.name));
        };
        let mut refusals = 0;
        let mut windows = 0;
        on_trial::<T, E>(self.model, &samples, |trial| {
            refusals += laws::check(Forward::of(hmm), trial, |prefix, got| {
                near(got, log[prefix.len()], prefix.len());
            });
            for lambda in [0.0, 0.5, 0.97, 1.0] {
                let memory = ForgettingFactor::factor(T::from_f64(lambda)).expect("a factor");
                let mut faded = vec![0.0];
                for t in 1..log.len() {
                    let log_c =
                        if trial.samples[t - 1].is_some() { log[t] - log[t - 1] } else { 0.0 };
                    faded.push(lambda * faded[t - 1] + log_c);
                }
                laws::check(Forgetting::of(hmm, memory), trial, |prefix, got| {
                    near(got, faded[prefix.len()], prefix.len());
                });
            }
            let recent = RollingLogLikelihood::<_, N, 3>::of(hmm, 4).expect("an interval");
            laws::check(recent, trial, |prefix, got| {
                let (t, covered) = (prefix.len(), got.samples as usize);
                assert!(covered == t.min(12) || (t > 12 && (9..=12).contains(&covered)));
                near(got.reading, log[t] - log[t - covered], t);
            });
            let window = Window::<_, 3>::of(Forward::of(hmm), 4).expect("an interval");
            if takes_all(window, trial.samples) {
                let mut compared = 0;
                laws::check(window, trial, |prefix, got| {
                    let (t, covered) = (prefix.len(), got.samples as usize);
                    assert!(covered <= t.min(12), "{covered} samples at {t}");
                    assert!(covered > 0 || t == 0, "no sample at {t}");
                    let seen = LogDomain::of(self.model, &self.sequence[t - covered..t]);
                    if seen.log_forward.iter().all(|row| is_within(row, self.depth)) {
                        near(got.reading, seen.log_likelihood(), t);
                        compared += 1;
                    }
                });
                windows += usize::from(compared > 20);
            }
        })?;
        filtered_and_predicted(hmm, self.model, &observations::<T, E>(&samples), &oracle, near);
        Ok((refusals, windows))
    }
}

/// Whether no state that can be is too improbable to be kept.
fn is_within(log: &[f64], depth: f64) -> bool {
    let best = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    log.iter().all(|l| *l == f64::NEG_INFINITY || best - l < depth)
}

fn takes_all<R: Streaming>(recursion: R, samples: &[Option<&R::Observation>]) -> bool {
    let mut stream = Stream::new(recursion);
    samples.iter().all(|&x| stream.push(x).is_ok())
}

fn filtered_and_predicted<T: Real, E: Emission<Weight = T>, const N: usize>(
    hmm: &Hmm<E, N>,
    model: &Model,
    samples: &[Option<&E::Observation>],
    oracle: &LogDomain,
    near: impl Fn(T, f64, usize),
) {
    let forward = Forward::of(hmm);
    let mut belief = forward.initial_state();
    let mut expected = model.initial.clone();
    for t in 0..=samples.len() {
        let predicted = if t == 0 {
            model.initial.clone()
        } else {
            let into = |j| (0..model.states()).map(|i| expected[i] * model.transition[i][j]).sum();
            (0..model.states()).map(into).collect()
        };
        let (filtered, foreseen) = (forward.filtered(&belief), forward.predicted(&belief));
        for j in 0..N {
            near(filtered[j], expected.get(j).copied().unwrap_or(0.0), t);
            near(foreseen[j], predicted.get(j).copied().unwrap_or(0.0), t);
        }
        match samples.get(t) {
            Some(Some(x)) => forward.step(&mut belief, x).expect("a possible sample"),
            Some(None) => forward.step_missing(&mut belief),
            None => break,
        }
        expected = oracle.filtered(t).expect("a possible prefix");
    }
}

fn check_zoo<T: Real>(tolerance: f64, depth: f64) {
    let (mut refusals, mut windows) = (0, 0);
    for sample in zoo(21, LENGTH) {
        let (name, model, sequence) = (sample.name, &sample.model, &sample.sequence);
        let checks = Checks { name, model, sequence, tolerance, depth };
        let (refused, windowed) = dispatch::<T, _>(model, checks).expect("a model of the sizes");
        refusals += refused;
        windows += windowed;
    }
    assert!(windows >= 10, "{windows} windows");
    assert!(refusals > 10 * LENGTH, "{refusals} refusals");
}

#[test]
fn readings_are_the_log_domains_in_double_precision() {
    check_zoo::<f64>(1e-11, 650.0);
}

#[test]
fn readings_are_the_log_domains_in_single_precision() {
    check_zoo::<f32>(2e-4, 70.0);
}

/// Products that vanish are formed once more from a prediction that sums to one: nothing is rounded that
/// a likely sample would not round, as a logarithm would be.
#[test]
fn improbable_samples_cost_no_digits() {
    let tiny = f32::power_of_two(-30);
    let law = |p: f32| Categorical::<2, f32>::new([p * tiny, 1.0]).expect("a law");
    let hmm = Hmm::new(
        Chain::<f32, 2>::new([0.5, 0.5], [[0.75, 0.25], [0.375, 0.625]]).expect("a chain"),
        [law(0.3), law(0.7)],
    );
    let likely = |p: f32| Categorical::<2, f32>::from_parts([p, 0.0]);
    let scaled = Hmm::new(*hmm.chain(), [likely(0.3), likely(0.7)]);
    let (improbable, likely) = (Forward::of(&hmm), Forward::of(&scaled));
    let mut states = [improbable.initial_state(), likely.initial_state()];
    for t in 0..20 {
        improbable.step(&mut states[0], &0).expect("possible");
        likely.step(&mut states[1], &0).expect("possible");
        assert_eq!(improbable.filtered(&states[0]), likely.filtered(&states[1]), "at {t}");
    }
}

#[test]
fn settings_are_checked() {
    use fishweir_core::filter::SettingError;
    for lambda in [-0.1, 1.1, f64::NAN] {
        assert_eq!(ForgettingFactor::factor(lambda), Err(SettingError::Forgetting));
    }
    for length in [0.5, -1.0, f64::NAN] {
        assert_eq!(ForgettingFactor::samples(length), Err(SettingError::Forgetting));
    }
    assert_eq!(ForgettingFactor::samples(1.0), ForgettingFactor::factor(0.0));
    assert_eq!(ForgettingFactor::samples(8.0), ForgettingFactor::factor(0.875));
    let model = zoo(1, 1).remove(0).model;
    let hmm = padded::<f64, Categorical<4, f64>, 3>(&model).expect("three states, four symbols");
    assert_eq!(RollingLogLikelihood::<_, 3, 2>::of(&hmm, 0).err(), Some(SettingError::Interval));
    assert_eq!(Window::<_, 2>::of(Forward::of(&hmm), 0).err(), Some(SettingError::Interval));
}
