//! Online EM against its definition, and what it must never do.

use fishweir_core::emission::{Categorical, Gaussian, Regularisation};
use fishweir_core::filter::{OnlineEm, SettingError, StepSize, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_tests::build::{padded, samples};
use fishweir_tests::laws;
use fishweir_tests::oracle::{Law, Model, Observation};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, Topology};

use crate::filter::{assert_near, on_trial};

const WARM_UP: u64 = 5;
const PRIOR: Regularisation<f64> = Regularisation { variance_floor: 0.01, pseudo_count: 0.25 };

/// What a state's observations are counted by: symbols, or `(1, x, x^2)` per channel.
fn features(law: &Law, x: &Observation) -> Vec<f64> {
    match (law, x) {
        (Law::Categorical(p), Observation::Symbol(symbol)) => {
            (0..p.len()).map(|k| f64::from(k == *symbol)).collect()
        }
        (_, Observation::Channels(x)) => x.iter().flat_map(|x| [1.0, *x, x * x]).collect(),
        _ => panic!("a law and its observation"),
    }
}

fn estimate_row(row: &[f64], counts: &[f64]) -> Vec<f64> {
    let held = row.iter().zip(counts);
    let counts: Vec<f64> =
        held.map(|(p, n)| if *p > 0.0 { n + PRIOR.pseudo_count } else { 0.0 }).collect();
    let total: f64 = counts.iter().sum();
    counts.iter().map(|n| n / total).collect()
}

fn estimate_law(law: &Law, counts: &[f64]) -> Law {
    match law {
        Law::Categorical(p) => Law::Categorical(estimate_row(p, counts)),
        Law::Gaussian { .. } if counts[0] == 0.0 => law.clone(),
        Law::Gaussian { .. } => {
            let mean: Vec<f64> = counts.chunks(3).map(|n| n[1] / n[0]).collect();
            let spread = counts.chunks(3).zip(&mean).map(|(n, m)| n[2] / n[0] - m * m);
            let variance = spread.map(|v| v.max(PRIOR.variance_floor)).collect();
            Law::Gaussian { mean, variance }
        }
        _ => panic!("no such family here"),
    }
}

/// Cappé's algorithm by its definition: conditional expectations `rho(k)` of each statistic given
/// the current state, passed through the backward kernel `r(i | k)`.
fn by_definition(
    first: &Model,
    sequence: &[Option<Observation>],
    gamma: impl Fn(u64) -> f64,
) -> Model {
    let n = first.states();
    let mut model = first.clone();
    let mut filtered = first.initial.clone();
    // rho[statistic][current state]: transitions, then features.
    let mut transitions = vec![vec![vec![0.0; n]; n]; n];
    let blank = |law: &Law| match law {
        Law::Categorical(p) => p.len(),
        Law::Gaussian { mean, .. } => 3 * mean.len(),
        _ => panic!("no such family here"),
    };
    let mut emissions: Vec<Vec<Vec<f64>>> =
        model.emission.iter().map(|law| vec![vec![0.0; n]; blank(law)]).collect();
    for (t, x) in sequence.iter().enumerate() {
        let g = gamma(t as u64 + 1);
        let predicted: Vec<f64> = (0..n)
            .map(|j| match t {
                0 => filtered[j],
                _ => (0..n).map(|i| filtered[i] * model.transition[i][j]).sum(),
            })
            .collect();
        let kernel = |i: usize, k: usize| match t {
            0 => 0.0,
            _ if predicted[k] == 0.0 => 0.0,
            _ => filtered[i] * model.transition[i][k] / predicted[k],
        };
        let pass = |rho: &[f64], k: usize| -> f64 {
            (1.0 - g) * (0..n).map(|i| kernel(i, k) * rho[i]).sum::<f64>()
        };
        for (i, rows) in transitions.iter_mut().enumerate() {
            for (j, rho) in rows.iter_mut().enumerate() {
                let injected = |k: usize| if k == j { g * kernel(i, j) } else { 0.0 };
                *rho = (0..n).map(|k| pass(rho, k) + injected(k)).collect();
            }
        }
        for (i, rows) in emissions.iter_mut().enumerate() {
            let seen = x.as_ref().map(|x| features(&model.emission[i], x));
            for (entry, rho) in rows.iter_mut().enumerate() {
                let feature = seen.as_ref().map_or(0.0, |seen| seen[entry]);
                let injected = |k: usize| if k == i { g * feature } else { 0.0 };
                *rho = (0..n).map(|k| pass(rho, k) + injected(k)).collect();
            }
        }
        let log: Vec<f64> = model.log_row(x.as_ref());
        let weighed: Vec<f64> = predicted.iter().zip(&log).map(|(p, l)| p * l.exp()).collect();
        let total: f64 = weighed.iter().sum();
        filtered = weighed.iter().map(|p| p / total).collect();
        if t as u64 + 1 > WARM_UP {
            let counts = |rho: &Vec<f64>| -> f64 {
                rho.iter().zip(&filtered).map(|(rho, f)| rho * f).sum::<f64>() / g
            };
            for (row, rho) in model.transition.iter_mut().zip(&transitions) {
                *row = estimate_row(row, &rho.iter().map(counts).collect::<Vec<_>>());
            }
            for (law, rho) in model.emission.iter_mut().zip(&emissions) {
                *law = estimate_law(law, &rho.iter().map(counts).collect::<Vec<_>>());
            }
        }
    }
    model
}

fn transitions_agree<E, const N: usize>(hmm: &Hmm<E, N>, expected: &Model, what: &str)
where
    E: fishweir_core::emission::Emission<Weight = f64>,
{
    hmm.validate().expect("a model");
    for (i, row) in expected.transition.iter().enumerate() {
        for (j, p) in row.iter().enumerate() {
            assert_near(hmm.chain().transition()[i][j], *p, 1e-9, format!("{what} {i} to {j}"));
        }
    }
}

const STEPS: [StepSize<f64>; 3] =
    [StepSize::Power(0.6), StepSize::Power(1.0), StepSize::Constant(0.1)];

fn gamma(step: StepSize<f64>) -> impl Fn(u64) -> f64 {
    move |t| match step {
        StepSize::Power(kappa) => (t as f64).powf(-kappa),
        StepSize::Constant(gamma) => gamma,
    }
}

#[test]
fn categorical_models_adapt_by_definition() {
    let mut sampler = Sampler::new(4);
    for topology in TOPOLOGIES {
        let truth = sampler.categorical(topology, 3, 4);
        let sequence = sampler.sequence(&truth, 40, 0.1);
        let mut model = truth.clone();
        model.emission = (0..3).map(|_| Law::Categorical(sampler.probabilities(4))).collect();
        let hmm = padded::<f64, Categorical<4, f64>, 3>(&model).expect("a model");
        let taken = samples::<f64, Categorical<4, f64>>(&sequence).expect("symbols");
        for step in STEPS {
            let adapting = OnlineEm::from(&hmm, step, WARM_UP, PRIOR).expect("settings");
            on_trial::<f64, Categorical<4, f64>>(&model, &taken, |trial| {
                let refused = laws::check(adapting, trial, |prefix, got| {
                    let expected = by_definition(&model, &sequence[..prefix.len()], gamma(step));
                    transitions_agree(&got, &expected, "transition");
                    for (law, got) in expected.emission.iter().zip(got.emission()) {
                        let Law::Categorical(p) = law else { panic!("categorical stays so") };
                        for (k, p) in p.iter().enumerate() {
                            assert_near(got.probability()[k], *p, 1e-9, "probability");
                        }
                    }
                });
                assert!(refused > 0);
            })
            .expect("a trial");
        }
    }
}

#[test]
fn gaussian_models_adapt_by_definition() {
    let mut sampler = Sampler::new(14);
    for topology in [Topology::Ergodic, Topology::LeftToRight, Topology::Absorbing] {
        let model = sampler.model(topology, 3, |s| s.gaussian_law(2, 2.0));
        let sequence = sampler.sequence(&model, 40, 0.1);
        let hmm = padded::<f64, Gaussian<2, f64>, 3>(&model).expect("a model");
        let taken = samples::<f64, Gaussian<2, f64>>(&sequence).expect("channels");
        for step in STEPS {
            let adapting = OnlineEm::from(&hmm, step, WARM_UP, PRIOR).expect("settings");
            on_trial::<f64, Gaussian<2, f64>>(&model, &taken, |trial| {
                laws::check(adapting, trial, |prefix, got| {
                    let expected = by_definition(&model, &sequence[..prefix.len()], gamma(step));
                    transitions_agree(&got, &expected, "transition");
                    for (law, got) in expected.emission.iter().zip(got.emission()) {
                        let Law::Gaussian { mean, variance } = law else { panic!("a Gaussian") };
                        for d in 0..2 {
                            assert_near(got.mean()[d], mean[d], 1e-8, "mean");
                            assert_near(got.rate()[d], variance[d].sqrt().recip(), 1e-8, "rate");
                        }
                    }
                });
            })
            .expect("a trial");
        }
    }
}

#[test]
fn statistics_that_overflow_begin_anew() {
    // From a standard deviation of 1e16 to one of 1e-5 in a sample: what was collected in units of the
    // first has no numbers in units of the second.
    let chain = Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain");
    let hmm = Hmm::new(chain, [Gaussian::<1>::new([0.0], [1e32]).expect("a law")]);
    let prior = Regularisation { variance_floor: 1e-10, pseudo_count: 0.0 };
    let adapting = OnlineEm::from(&hmm, StepSize::Constant(1.0), 0, prior).expect("settings");
    let mut stream = Stream::new(adapting);
    for x in [0.0, 0.0, 2e-5] {
        stream.push(&[x]).expect("possible");
        stream.read().validate().expect("a model");
    }
    assert_eq!(stream.state().samples(), 3);
    assert_near(f64::from(stream.read().emission()[0].mean()[0] * 1e5), 2.0, 1e-3, "mean");
}

/// A variance beyond `f32` is no estimate yet, and what was collected for it is kept: the state does not
/// collapse onto the next sample alone.
#[test]
fn statistics_without_an_estimate_are_kept() {
    let chain = Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain");
    let hmm = Hmm::new(chain, [Gaussian::<1>::new([0.0], [1e32]).expect("a law")]);
    let prior = Regularisation { variance_floor: 1e-10, pseudo_count: 0.0 };
    let adapting = OnlineEm::from(&hmm, StepSize::Constant(0.5), 1, prior).expect("settings");
    let mut stream = Stream::new(adapting);
    for x in [1e20, -1e20, 0.0] {
        stream.push(&[x]).expect("possible");
        assert_eq!(stream.read().emission(), hmm.emission(), "after {x}");
    }
    for _ in 0..20 {
        stream.push(&[0.0]).expect("possible");
    }
    let rate = stream.read().emission()[0].rate()[0];
    assert!(rate < 1e-16 && rate > 1e-19, "{rate}: the two far samples count");
}

#[test]
fn adaptation_finds_the_stream_s_model() {
    let truth = Model {
        initial: vec![0.5, 0.5],
        transition: vec![vec![0.95, 0.05], vec![0.1, 0.9]],
        emission: [-1.0, 2.0]
            .map(|m| Law::Gaussian { mean: vec![m], variance: vec![0.5] })
            .to_vec(),
    };
    let sequence = Sampler::new(6).sequence(&truth, 20_000, 0.0);
    let shipped = Hmm::new(
        Chain::<f32, 2>::new([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]]).expect("a chain"),
        [-2.5, 4.0].map(|mean| Gaussian::new([mean], [2.0]).expect("a law")),
    );
    let prior = Regularisation { variance_floor: 1e-3, pseudo_count: 0.0 };
    for (step, slack) in [(StepSize::Power(0.6), 0.06), (StepSize::Constant(0.002), 0.1)] {
        let adapting = OnlineEm::from(&shipped, step, 50, prior).expect("settings");
        let mut stream = Stream::new(adapting);
        for x in samples::<f32, Gaussian<1>>(&sequence).expect("channels").iter().flatten() {
            stream.push(x).expect("possible");
        }
        let (chain, laws) = (stream.state().hmm().chain(), stream.state().hmm().emission());
        for (got, expected) in [
            (laws[0].mean()[0], -1.0),
            (laws[1].mean()[0], 2.0),
            (laws[0].rate()[0].powi(-2), 0.5),
            (laws[1].rate()[0].powi(-2), 0.5),
            (chain.transition()[0][0], 0.95),
            (chain.transition()[1][1], 0.9),
        ] {
            assert!((got - expected).abs() < slack, "{step:?}: {got} where {expected} made it");
        }
    }
}

#[test]
fn settings_are_checked() {
    let chain = Chain::<f64, 1>::new([1.0], [[1.0]]).expect("a chain");
    let hmm = Hmm::new(chain, [Categorical::<2, f64>::new([0.5, 0.5]).expect("a law")]);
    let with = |step, prior| OnlineEm::from(&hmm, step, 0, prior).map(|_| ());
    for step in [
        StepSize::Power(0.5),
        StepSize::Power(1.1),
        StepSize::Power(f64::NAN),
        StepSize::Constant(0.0),
        StepSize::Constant(1.5),
        StepSize::Constant(f64::NAN),
    ] {
        assert_eq!(with(step, PRIOR), Err(SettingError::StepSize), "{step:?}");
    }
    for step in [StepSize::Power(1.0), StepSize::Constant(1.0)] {
        assert_eq!(with(step, PRIOR), Ok(()), "{step:?}");
    }
    for (variance_floor, pseudo_count) in
        [(0.0, 0.0), (f64::NAN, 0.0), (f64::INFINITY, 0.0), (1.0, -1.0), (1.0, f64::NAN)]
    {
        let prior = Regularisation { variance_floor, pseudo_count };
        assert_eq!(with(StepSize::Constant(0.1), prior), Err(SettingError::Regularisation));
    }
}
