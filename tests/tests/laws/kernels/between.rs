//! Kernels between hidden Markov models, and what two emissions have in common.

use fishweir_core::emission::{Bernoulli, Categorical, FullGaussian, Gaussian, Mixture, Poisson};
use fishweir_core::filter::{Forward, Stream, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{
    Affinity, KernelError, LogKernel, ModelPairKernel, Overlaps, ProductKernel, Validate,
    poisson_log_overlap,
};
use fishweir_core::number::Real;
use fishweir_core::{ErrorKind, ModelError, Part};
use fishweir_tests::build::{Family, padded};
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Law, Model, Observation, log_sum_exp, words};
use fishweir_tests::sample::{Sampler, TOPOLOGIES};
use proptest::prelude::*;

use crate::kernels::{assert_near, cases};

/// States that models are padded to, and pairs of them.
const N: usize = 3;
const P: usize = N * N;
const SYMBOLS: usize = 3;

fn in_real<T: Real>(measure: Affinity<f64>) -> Affinity<T> {
    match measure {
        Affinity::Product { rho } => Affinity::Product { rho: T::from_f64(rho) },
        Affinity::MeanMap { lambda } => Affinity::MeanMap { lambda: T::from_f64(lambda) },
    }
}

/// Every measure that has something special about it.
fn measure(which: usize, parameter: f64) -> Affinity<f64> {
    match which {
        0 => Affinity::Product { rho: 0.5 },
        1 => Affinity::Product { rho: 1.0 },
        2 => Affinity::Product { rho: parameter },
        _ => Affinity::MeanMap { lambda: parameter },
    }
}

fn models(sampler: &mut Sampler, topology: usize, states: [usize; 2], zeros: bool) -> [Model; 2] {
    states.map(|states| {
        let mut model = sampler.categorical(TOPOLOGIES[topology], states, SYMBOLS);
        if zeros {
            for law in &mut model.emission {
                *law = Law::Categorical(sampler.sparse_probabilities(SYMBOLS));
            }
        }
        model
    })
}

/// `log k` after every step; a step that is `false` is not compared.
fn logs<T: Real, E: Family<T> + ProductKernel>(
    [a, b]: [&Model; 2],
    measure: Affinity<f64>,
    steps: &[bool],
) -> Vec<f64> {
    let (a, b): (Hmm<E, N>, Hmm<E, N>) = (padded(a).expect("one"), padded(b).expect("two"));
    let measure = in_real(measure);
    let overlaps = Overlaps::<T, P>::of(a.emission(), b.emission(), measure).expect("overlaps");
    let power = measure.exponent();
    let (first, second) = (a.chain().powered(power), b.chain().powered(power));
    let mut stream = Stream::new(ModelPairKernel::new(&first, &second, overlaps));
    let step = |&compared: &bool| {
        if compared {
            stream.push(&()).expect("a step");
        } else {
            stream.push(None).expect("nothing to refuse");
        }
        stream.read().to_f64()
    };
    steps.iter().map(step).collect()
}

fn discrete<T: Real>(pair: [&Model; 2], measure: Affinity<f64>, steps: &[bool]) -> Vec<f64> {
    logs::<T, Categorical<SYMBOLS, T>>(pair, measure, steps)
}

/// `log psi` from its definition, over all pairs of symbols.
fn log_psi(p: &Law, q: &Law, measure: Affinity<f64>) -> f64 {
    let (Law::Categorical(p), Law::Categorical(q)) = (p, q) else { panic!("not symbols") };
    let pairs = p.iter().enumerate().flat_map(|(k, p)| {
        q.iter().enumerate().map(move |(l, q)| match measure {
            Affinity::Product { rho } if k == l => (p * q).powf(rho),
            Affinity::Product { .. } => 0.0,
            Affinity::MeanMap { lambda } if k != l => p * q * (-lambda).exp(),
            Affinity::MeanMap { .. } => p * q,
        })
    });
    pairs.sum::<f64>().ln()
}

/// The sum over all pairs of hidden paths, from its definition.
fn enumerate([a, b]: [&Model; 2], measure: Affinity<f64>, steps: &[bool]) -> f64 {
    let power = measure.exponent();
    let paths = |model: &Model| -> Vec<(Vec<usize>, f64)> {
        let nothing = vec![None; steps.len()];
        let log = |path: &Vec<usize>| power * model.log_joint(path, &nothing);
        let all = words(model.states(), steps.len());
        all.map(|path| (path.clone(), log(&path))).filter(|(_, log)| log.is_finite()).collect()
    };
    let (ours, theirs) = (paths(a), paths(b));
    let mut terms = Vec::new();
    for (path, log) in &ours {
        for (other, other_log) in &theirs {
            let pairs = path.iter().zip(other).zip(steps).filter(|(_, compared)| **compared);
            let psi = pairs.map(|((&i, &j), _)| log_psi(&a.emission[i], &b.emission[j], measure));
            terms.push(log + other_log + psi.sum::<f64>());
        }
    }
    log_sum_exp(&terms)
}

#[track_caller]
fn assert_log(got: f64, expected: f64, tolerance: f64) {
    let near = got == expected || (got - expected).abs() <= tolerance * (1.0 + expected.abs());
    assert!(near, "{got} where {expected} is right");
}

proptest! {
    #![proptest_config(cases(60))]

    /// Up to 5 steps, some not compared, and chains and symbols with zeros.
    #[test]
    fn it_is_the_enumeration(
        seed: u64, topology in 0_usize..4, a in 1_usize..=3, b in 1_usize..=2,
        which in 0_usize..4, parameter in 0.1..3.0_f64, zeros: bool,
        steps in prop::collection::vec(prop::bool::weighted(0.8), 1..=5),
    ) {
        let mut sampler = Sampler::new(seed);
        let [a, b] = &models(&mut sampler, topology, [a, b], zeros);
        let measure = measure(which, parameter);
        let double = discrete::<f64>([a, b], measure, &steps);
        let single = discrete::<f32>([a, b], measure, &steps);
        for t in 1..=steps.len() {
            let expected = enumerate([a, b], measure, &steps[..t]);
            assert_log(double[t - 1], expected, 1e-12);
            assert_log(single[t - 1], expected, 1e-5);
        }
    }

    /// The laws of a stream; and the same reading in parts.
    #[test]
    fn it_keeps_the_laws(
        seed: u64, topology in 0_usize..4, which in 0_usize..4, parameter in 0.1..3.0_f64, zeros: bool,
        steps in prop::collection::vec(prop::bool::weighted(0.8), 1..=12),
    ) {
        let mut sampler = Sampler::new(seed);
        let [a, b] = &models(&mut sampler, topology, [3, 2], zeros);
        let measure = measure(which, parameter);
        let batch = discrete::<f64>([a, b], measure, &steps);
        let hmm = |model| -> Hmm<Categorical<SYMBOLS, f64>, N> { padded(model).expect("a model") };
        let (one, other) = (hmm(a), hmm(b));
        let power = measure.exponent();
        let (first, second) = (one.chain().powered(power), other.chain().powered(power));
        let overlaps = Overlaps::<f64, P>::of(one.emission(), other.emission(), measure);
        let between = ModelPairKernel::new(&first, &second, overlaps.expect("overlaps"));
        prop_assert_eq!(between.validate(), Ok(()));
        let samples: Vec<Option<&()>> = steps.iter().map(|&step| step.then_some(&())).collect();
        let refused = check(between, Trial { samples: &samples, refusable: &[] }, |prefix, reading| {
            let expected = if prefix.is_empty() { 0.0 } else { batch[prefix.len() - 1] };
            assert_eq!(reading, expected);
        });
        prop_assert_eq!(refused, 0);
        let mut state = between.initial_state();
        between.step(&mut state, &())?;
        let ([log, rest], read) = (between.log_parts(&state), between.read(&state));
        // Rounding is relative to the logarithm.
        prop_assert!(log == read || (log + rest - read).abs() < 1e-15 * (1.0 + read.abs()));
    }

    /// Which model is first, and how states are numbered, is the same but for rounding.
    #[test]
    fn order_is_nothing_to_it(
        seed: u64, topology in 0_usize..4, which in 0_usize..4, parameter in 0.1..3.0_f64,
    ) {
        let mut sampler = Sampler::new(seed);
        let [a, b] = &models(&mut sampler, topology, [3, 2], true);
        let (measure, steps) = (measure(which, parameter), [true; 9]);
        let log = |pair| *discrete::<f64>(pair, measure, &steps).last().expect("steps");
        let order = [2, 0, 1];
        let renamed = Model {
            initial: order.map(|j| a.initial[j]).into(),
            transition: order.map(|i| order.map(|j| a.transition[i][j]).into()).into(),
            emission: order.map(|j| a.emission[j].clone()).into(),
        };
        let expected = log([a, b]);
        assert_log(log([b, a]), expected, 1e-13);
        assert_log(log([&renamed, b]), expected, 1e-13);
    }

    /// With `rho` one the hidden states are summed out of both: it is the sum over sequences of what the
    /// two filters say.
    #[test]
    fn expected_likelihood_is_of_what_is_observed(seed: u64, topology in 0_usize..4, zeros: bool) {
        let mut sampler = Sampler::new(seed);
        let [a, b] = &models(&mut sampler, topology, [3, 2], zeros);
        let hmm = |model| -> Hmm<Categorical<SYMBOLS, f64>, N> { padded(model).expect("a model") };
        let (one, other) = (hmm(a), hmm(b));
        let likelihood = |hmm: &Hmm<Categorical<SYMBOLS, f64>, N>, word: &Vec<usize>| {
            let mut stream = Stream::new(Forward::of(hmm));
            stream.push_block(word).map_or(0.0, |_| stream.read().exp())
        };
        let all = words(SYMBOLS, 5).map(|word| likelihood(&one, &word) * likelihood(&other, &word));
        let expected = all.sum::<f64>().ln();
        let log = discrete::<f64>([a, b], Affinity::Product { rho: 1.0 }, &[true; 5])[4];
        assert_log(log, expected, 1e-12);
    }

    /// Wide enough, all are alike; narrow enough, it is the expected likelihood, of densities but for the
    /// width's own factor.
    #[test]
    fn widths_have_limits(seed: u64, topology in 0_usize..4) {
        let mut sampler = Sampler::new(seed);
        let [a, b] = &models(&mut sampler, topology, [3, 2], false);
        let at = |measure| discrete::<f64>([a, b], measure, &[true; 4])[3];
        let widest = at(Affinity::MeanMap { lambda: 0.0 });
        prop_assert!(widest.abs() < 1e-14, "{widest}");
        assert_log(at(Affinity::MeanMap { lambda: 40.0 }), at(Affinity::Product { rho: 1.0 }), 1e-12);
        let (p, q) = (sampler.full_gaussian_law(2), sampler.full_gaussian_law(2));
        let law = |law| <FullGaussian<2, f64> as Family<f64>>::build(law).expect("a law");
        let (p, q) = (law(&p), law(&q));
        let lambda = 1e9;
        let factor = (lambda / std::f64::consts::TAU).ln();
        let narrow = p.log_overlap(&q, Affinity::MeanMap { lambda })? + factor;
        assert_log(narrow, p.log_overlap(&q, Affinity::Product { rho: 1.0 })?, 1e-7);
    }

    /// Bhattacharyya's affinity is one with itself and less with others; that of models with hidden states
    /// is of states and observations, and one where these tell the states apart.
    #[test]
    fn affinity_is_at_most_one(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let half = Affinity::Product { rho: 0.5 };
        macro_rules! holds {
            ($family:ty, $law:expr) => {{
                let mut law = || <$family as Family<f64>>::build(&$law(&mut sampler)).expect("a law");
                let (p, q) = (law(), law());
                prop_assert!(p.log_overlap(&p, half)?.abs() < 1e-13);
                prop_assert!(p.log_overlap(&q, half)? < 0.0);
            }};
        }
        holds!(Categorical<4, f64>, |s: &mut Sampler| Law::Categorical(s.probabilities(4)));
        holds!(Gaussian<3, f64>, |s: &mut Sampler| s.gaussian_law(3, 2.0));
        holds!(FullGaussian<3, f64>, |s: &mut Sampler| s.full_gaussian_law(3));
        holds!(Bernoulli<3, f64>, |s: &mut Sampler| Law::Bernoulli(s.row(3, 0.1, 0.9)));
        holds!(Poisson<2, f64>, |s: &mut Sampler| Law::Poisson(s.row(2, 0.1, 90.0)));
        let mut model = sampler.categorical(TOPOLOGIES[0], 3, SYMBOLS);
        let log = |model: &Model| discrete::<f64>([model, model], half, &[true; 8])[7];
        prop_assert!(log(&model) >= 0.0);
        for (state, law) in model.emission.iter_mut().enumerate() {
            *law = Law::Categorical((0..SYMBOLS).map(|k| f64::from(k == state)).collect());
        }
        prop_assert!(log(&model).abs() < 1e-14);
    }

    /// What two emissions have in common, from the definition: sums over what they observe, and an integral.
    #[test]
    fn overlaps_are_their_definitions(
        seed: u64, which in 0_usize..4, parameter in 0.2..3.0_f64,
    ) {
        let mut sampler = Sampler::new(seed);
        let measure = measure(which, parameter);
        let over = |points: &[f64], step: f64, p: &Law, q: &Law| {
            let density = |law: &Law| -> Vec<f64> {
                let log = |&x: &f64| law.log_density(&Observation::Channels(vec![x]));
                points.iter().map(log).collect()
            };
            let (p, q) = (density(p), density(q));
            match measure {
                Affinity::Product { rho } => {
                    let terms = p.iter().zip(&q).map(|(p, q)| rho * (p + q) + step.ln());
                    log_sum_exp(&terms.collect::<Vec<_>>())
                }
                Affinity::MeanMap { lambda } => {
                    let mut terms = Vec::new();
                    for (x, p) in points.iter().zip(&p) {
                        for (y, q) in points.iter().zip(&q) {
                            let gap = x - y;
                            terms.push(p + q - 0.5 * lambda * gap * gap + 2.0 * step.ln());
                        }
                    }
                    log_sum_exp(&terms)
                }
            }
        };
        let counts: Vec<f64> = (0..90).map(f64::from).collect();
        // The widest product, at the least power, has a standard deviation of 2.24 about 2 at most.
        let reals: Vec<f64> = (-400..=400).map(|x| f64::from(x) / 16.0).collect();
        macro_rules! holds {
            ($family:ident, $points:expr, $step:expr, $p:expr, $q:expr, $tolerance:expr) => {{
                let (p, q): (Law, Law) = ($p, $q);
                let law = |law| <$family<1, f64> as Family<f64>>::build(law).expect("a law");
                let expected = over(&$points, $step, &p, &q);
                assert_log(law(&p).log_overlap(&law(&q), measure)?, expected, $tolerance);
                let law = |law| <$family<1, f32> as Family<f32>>::build(law).expect("a law");
                let single = law(&p).log_overlap(&law(&q), in_real(measure))?;
                assert_log(single.into(), expected, 1e-4);
            }};
        }
        let mut rate = || Law::Poisson(sampler.row(1, 0.0, 20.0));
        holds!(Poisson, counts, 1.0, rate(), rate(), 1e-11);
        let mut share = || Law::Bernoulli(sampler.row(1, 0.0, 1.0));
        holds!(Bernoulli, [0.0, 1.0], 1.0, share(), share(), 1e-11);
        let mut bell = || sampler.gaussian_law(1, 2.0);
        holds!(Gaussian, reals, 1.0 / 16.0, bell(), bell(), 1e-10);
    }

    /// A covariance matrix that is diagonal is one; so is a mixture of one component, and one split in two
    /// that are the same is what `rho` makes of it.
    #[test]
    fn families_agree(seed: u64, which in 0_usize..4, parameter in 0.2..3.0_f64) {
        let mut sampler = Sampler::new(seed);
        let measure = measure(which, parameter);
        let mut law =
            || <Gaussian<3, f64> as Family<f64>>::build(&sampler.gaussian_law(3, 2.0)).expect("a law");
        let (p, q) = (law(), law());
        let expected = p.log_overlap(&q, measure)?;
        let full = FullGaussian::from(p).log_overlap(&FullGaussian::from(q), measure)?;
        assert_log(full, expected, 1e-12);
        let one = |law| Mixture::new([1.0, 0.0], [law, p]).expect("a mixture");
        assert_log(one(p).log_overlap(&one(q), measure)?, expected, 1e-14);
        let split = Mixture::new([0.5, 0.5], [p, p])?;
        let split = split.log_overlap(&one(q), measure)?;
        let factor = 2.0 * 0.5_f64.powf(measure.exponent());
        assert_log(split, expected + factor.ln(), 1e-13);
    }
}

fn far<T: Real>(mean: f64) -> Gaussian<1, T> {
    Gaussian::new([T::from_f64(mean)], [T::ONE]).expect("a law")
}

/// Pairs of states far from each other are improbable, not impossible: their overlap is far below the
/// least number, also beside others that are near but out of reach.
#[test]
fn far_apart_is_not_apart() {
    fn log<T: Real>() -> f64 {
        let left_right =
            Chain::from_parts([T::ONE, T::ZERO], [[T::ZERO, T::ONE], [T::ZERO, T::ONE]]);
        let turned = Chain::from_parts([T::ONE, T::ZERO], [[T::ONE, T::ZERO], [T::ZERO, T::ONE]]);
        let (a, b) = ([far::<T>(0.0), far(100.0)], [far::<T>(100.0), far(0.0)]);
        let measure = Affinity::Product { rho: T::ONE };
        let overlaps = Overlaps::<T, 4>::of(&a, &b, measure).expect("overlaps");
        let mut stream = Stream::new(ModelPairKernel::new(&left_right, &turned, overlaps));
        for _ in 0..3 {
            stream.push(&()).expect("a step");
        }
        stream.read().to_f64()
    }
    // First 100 apart, then at the same place, twice.
    let same = -0.5 * (2.0 * std::f64::consts::TAU).ln();
    let expected = 3.0 * same - 0.25 * 100.0 * 100.0;
    assert_near(log::<f64>(), expected, 1e-13, "f64");
    assert_near(log::<f32>(), expected, 1e-6, "f32");
}

/// Two models that have no sequence in common: zero is an answer, and stays.
#[test]
fn nothing_in_common_is_zero() {
    let one = Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain");
    let symbol = |k: usize| {
        Categorical::<2, f32>::new(std::array::from_fn(|l| f32::from(u8::from(k == l))))
            .expect("a law")
    };
    let measure = Affinity::Product { rho: 0.5 };
    let overlaps = Overlaps::<f32, 1>::of(&[symbol(0)], &[symbol(1)], measure).expect("overlaps");
    let between = ModelPairKernel::new(&one, &one, overlaps);
    assert_eq!(between.validate(), Ok(()));
    let mut stream = Stream::new(between);
    stream.push(None).expect("nothing to refuse");
    assert_eq!(stream.read(), 0.0);
    for _ in 0..2 {
        stream.push(&()).expect("a step");
        assert_eq!(stream.read(), f32::NEG_INFINITY);
    }
    stream.push(None).expect("nothing to refuse");
    assert_eq!(stream.read(), f32::NEG_INFINITY);
    let [log, _] = between.log_parts(stream.state());
    assert_eq!(log, f32::NEG_INFINITY);
}

/// A hundred thousand steps, in both precisions, with powered rows that grow and with ones that fall.
#[test]
fn it_never_ends() {
    let mut sampler = Sampler::new(7);
    let [a, b] = &models(&mut sampler, 0, [3, 2], false);
    let steps = vec![true; 100_000];
    for rho in [0.25, 1.0, 3.0] {
        let measure = Affinity::Product { rho };
        let double = *discrete::<f64>([a, b], measure, &steps).last().expect("steps");
        let single = *discrete::<f32>([a, b], measure, &steps).last().expect("steps");
        // Every step is off by the same few roundings of the chains' stored numbers.
        assert!((double - single).abs() < 0.1, "{double} and {single}");
        // A row of dominant eigenvalues: as much is added a step.
        let before = discrete::<f64>([a, b], measure, &steps[..50_000])[49_999];
        assert_near(double - before, before, 1e-4, "the second half");
    }
}

/// What is out of range is refused, and says what it is.
#[test]
fn refusals_name_the_culprit() {
    let law = [far::<f64>(0.0)];
    let overlaps = |measure| Overlaps::<f64, 1>::of(&law, &law, measure);
    let kernel = |kind| Err(ModelError::new(Part::Kernel, kind, 0, 0));
    assert_eq!(overlaps(Affinity::Product { rho: 0.0 }), kernel(ErrorKind::NotPositive));
    assert_eq!(overlaps(Affinity::Product { rho: f64::NAN }), kernel(ErrorKind::NotFinite));
    assert_eq!(overlaps(Affinity::MeanMap { lambda: -1.0 }), kernel(ErrorKind::Negative));
    assert_eq!(overlaps(Affinity::MeanMap { lambda: f64::INFINITY }), kernel(ErrorKind::NotFinite));

    let rates = |rate: f64, measure| poisson_log_overlap(&[1.0, rate], &[1.0, rate], measure);
    let rate = Err(ModelError::new(Part::Parameter("rate"), ErrorKind::NotInRange, 0, 1));
    assert_eq!(rates(1e10, Affinity::Product { rho: 1.0 }), rate);
    assert_eq!(rates(1e8, Affinity::MeanMap { lambda: 1.0 }), rate);
    assert_eq!(rates(1e10, Affinity::Product { rho: 0.5 }), Ok(0.0));
    let small = rates(1.0, Affinity::Product { rho: 1e-7 });
    assert_eq!(small, Err(ModelError::new(Part::Kernel, ErrorKind::NotInRange, 0, 0)));

    let good = overlaps(Affinity::Product { rho: 1.0 }).expect("overlaps");
    let wrong = Overlaps::from_parts([0.5], *good.logs(), *good.log_scale());
    let one = Chain::<f64, 1>::new([1.0], [[1.0]]).expect("a chain");
    let negative = Chain::from_parts([-1.0], [[1.0]]);
    let model = |part, kind| Err(KernelError::Model(ModelError::new(part, kind, 0, 0)));
    assert_eq!(
        ModelPairKernel::new(&one, &one, wrong).validate(),
        model(Part::Kernel, ErrorKind::Inconsistent)
    );
    let between = ModelPairKernel::new(&one, &negative, good);
    assert_eq!(between.validate(), model(Part::Initial, ErrorKind::Negative));
}
