//! Hidden semi-Markov models, context tree weighting, and kernels between Markov chains.

use fishweir::data::{Rows, Samples, SamplesView};
use fishweir::fit::BaumWelch;
use fishweir::kernel::between::{Affinity, MarkovKernel, ModelKernel};
use fishweir::model::{
    ContextSet, ContextTreeWeighting, MarkovModel, Model, Scored, SegmentEm, SemiMarkov,
};
use fishweir::runtime::Emissions;
use fishweir_core::context::ContextTree;
use fishweir_core::emission::Parametrisation;
use fishweir_tests::oracle::derivative;
use fishweir_tests::sample::Sampler;

fn strings(seed: u64, count: usize, symbols: usize) -> Vec<Samples> {
    let mut s = Sampler::new(seed);
    let mut string = || {
        let mut last = 0;
        let length = 3 + s.uniform(0.0, 9.0) as usize;
        let mut symbol = |_| {
            // Runs, so that there is something to learn.
            if s.uniform(0.0, 1.0) < 0.4 {
                last = s.uniform(0.0, symbols as f64) as u16;
            }
            Some(last)
        };
        Samples::Symbols((0..length).map(&mut symbol).collect())
    };
    (0..count).map(|_| string()).collect()
}

fn views(all: &[Samples]) -> Vec<SamplesView<'_>> {
    all.iter().map(Samples::view).collect()
}

fn model(ends: bool, gaussian: bool) -> SemiMarkov {
    let leave = if ends { 0.75 } else { 1.0 };
    let emission = match gaussian {
        true => Emissions::gaussian(vec![vec![0.5], vec![-1.0]], vec![vec![0.75], vec![1.25]]),
        false => Emissions::categorical(vec![vec![0.5, 0.25, 0.25], vec![0.125, 0.125, 0.75]]),
    };
    SemiMarkov {
        initial: if ends { vec![0.5, 0.25] } else { vec![0.625, 0.375] },
        transition: vec![vec![0.0, leave], vec![leave, 0.0]],
        emission,
        durations: Vec::new(),
        negative_binomial: vec![vec![1.75, 0.375], vec![0.75, 0.5]],
        end: if ends { vec![0.25, 0.25, 0.25] } else { Vec::new() },
    }
}

/// Every entry of the score of durations and emissions is a finite difference of the log-likelihood.
#[test]
fn scores_are_slopes() {
    let mut rows = Rows::new(1);
    for x in [0.25, 0.75, f64::NAN, -1.5, -0.5, 0.0, 1.25, 0.5] {
        let row = [x];
        rows.push(if x.is_nan() { None } else { Some(&row) });
    }
    let series = Samples::Channels(rows);
    let string = Samples::Symbols([0, 0, 2, 2, 1, 2, 0].map(Some).to_vec());
    for (ends, gaussian) in [(false, false), (true, false), (false, true), (true, true)] {
        let (plain, samples) = (model(ends, gaussian), if gaussian { &series } else { &string });
        let log =
            |model: &SemiMarkov| model.posterior(samples.view()).expect("possible").log_likelihood;
        let names = plain.parameter_names();
        let score = plain.score(samples.view(), Parametrisation::RATIO).expect("possible").score;
        assert_eq!((names.len(), plain.parameters()), (score.len(), score.len()));
        let mut checked = 0;
        for (name, score) in names.iter().zip(&score) {
            let index: Vec<usize> =
                name.split(['[', ']']).filter_map(|part| part.parse().ok()).collect();
            let slope = match (name.split('[').next(), &index[..]) {
                (Some("negative_binomial"), &[state, entry]) => derivative(
                    |e| {
                        let mut moved = plain.clone();
                        moved.negative_binomial[state][entry] += e;
                        log(&moved)
                    },
                    1e-3,
                ),
                (Some("mean"), &[state, entry]) => derivative(
                    |e| {
                        let mut moved = plain.clone();
                        moved.emission.part_mut("mean").expect("means")[state][entry] += e;
                        log(&moved)
                    },
                    1e-3,
                ),
                // A row's entry moves by its ratio, and the row sums to one again.
                (Some("transition"), &[state]) => derivative(
                    |e| {
                        let mut moved = plain.clone();
                        let sum = 1.0 + e;
                        moved.end[state] = (moved.end[state] + e) / sum;
                        moved.transition[state].iter_mut().for_each(|p| *p /= sum);
                        log(&moved)
                    },
                    1e-3,
                ),
                _ => continue,
            };
            assert!((slope - score).abs() < 1e-7 * (1.0 + slope.abs()), "{name}: {score} {slope}");
            checked += 1;
        }
        assert!(checked >= 4, "{checked}");
        // Both parametrisations say the same of a success.
        let soft = plain.score(samples.view(), Parametrisation::SOFTMAX).expect("possible").score;
        let at = names.iter().position(|name| name == "negative_binomial[0][1]").expect("there");
        assert!((soft[at] - score[at] * 0.375 * 0.625).abs() < 1e-12);
    }
}

/// A state that lasts one sample for certain, and one that cannot be reached and fits far better, leave every number finite.
#[test]
fn certain_durations_and_far_states_have_finite_scores() {
    let mut certain = model(false, true);
    certain.negative_binomial[0][1] = 1.0;
    let mut rows = Rows::new(1);
    for x in [0.25, 0.75, -1.5, 0.5] {
        rows.push(Some(&[x]));
    }
    let near = Samples::Channels(rows);
    let mut far = model(false, true);
    let states = far.states();
    far.initial = (0..states).map(|state| f64::from(u8::from(state == 0))).collect();
    let deviations = far.emission.part_mut("std").expect("standard deviations");
    deviations[0][0] = 1e-2;
    let mut rows = Rows::new(1);
    rows.push(Some(&[30.0]));
    rows.push(Some(&[0.5]));
    for (model, samples) in [(certain, near), (far, Samples::Channels(rows))] {
        let found = model.score(samples.view(), Parametrisation::RATIO).expect("possible");
        assert!(found.log_likelihood.is_finite(), "{found:?}");
        assert!(found.score.iter().all(|one| one.is_finite()), "{found:?}");
    }
}

#[test]
fn fits_climb_and_files_read_back() {
    let all = strings(3, 24, 3);
    for (durations, longest, end) in
        [(true, None, false), (true, Some(6), false), (false, None, true), (true, None, true)]
    {
        let start = BaumWelch { states: 2, iterations: 12, tolerance: 0.0, ..BaumWelch::default() };
        let start = BaumWelch { symbol_pseudocount: 0.0, transition_pseudocount: 0.0, ..start };
        let em = SegmentEm { start, durations, longest, end };
        let log = |model: &SemiMarkov| -> f64 {
            model.log_likelihoods(&views(&all)).into_iter().map(|log| log.expect("possible")).sum()
        };
        let mut last = f64::NEG_INFINITY;
        for iterations in [1, 3, 6, 12] {
            let start = BaumWelch { iterations: 5, ..em.start.clone() };
            let begun = SegmentEm { start, ..em.clone() };
            let mut model = begun.fit(&views(&all), 3, &[]).expect("a fit");
            for _ in 0..iterations {
                let moments = fishweir::fit::FittedMoments::of(
                    &em.start,
                    model.emission.family(),
                    &views(&all),
                    &[],
                );
                let (next, before) = em.improve(&model, &views(&all), moments).expect("a pass");
                assert!(log(&next) >= before - 1e-9, "{durations} {longest:?} {end}");
                model = next;
            }
            assert!(log(&model) >= last - 1e-9);
            last = log(&model);
            let text = serde_json::to_string(&model).expect("a file");
            assert_eq!(serde_json::from_str::<SemiMarkov>(&text).expect("a model"), model);
            let drawn = model.draw(40, 7);
            assert!(model.score(drawn.view(), Parametrisation::SOFTMAX).is_ok() || end);
        }
    }
}

#[test]
fn what_is_no_model_is_refused() {
    let kind = |change: fn(&mut SemiMarkov)| {
        let mut model = model(true, false);
        change(&mut model);
        fishweir::StableKind::kind(&model.validate().expect_err("refused"))
    };
    assert_eq!(kind(|model| model.end[0] = 0.5), "not-a-distribution");
    assert_eq!(kind(|model| model.end.truncate(1)), "wrong-shape");
    assert_eq!(kind(|model| model.negative_binomial[1][1] = 1.5), "out-of-range");
    assert_eq!(kind(|model| model.transition[0] = vec![0.5, 0.25]), "out-of-range");
}

/// Sums over all strings, of models of different orders.
#[test]
fn products_of_chains_sum_over_all_strings() {
    let (all, length) = (strings(5, 30, 2), 5);
    let fit = |set, end| MarkovModel::fit(&set, 2, end, &views(&all), 0.5).expect("a model");
    let sets = [
        ContextSet::Order(0),
        ContextSet::Order(2),
        ContextSet::Padded(1),
        ContextSet::Padded(2),
        ContextSet::Frequent { longest: 3, at_least: 4 },
    ];
    let whole: Vec<Samples> = (0..1_usize << length)
        .map(|s| Samples::Symbols((0..length).map(|t| Some((s >> t & 1) as u16)).collect()))
        .collect();
    for end in [false, true] {
        let models: Vec<MarkovModel> = sets.iter().map(|set| fit(set.clone(), end)).collect();
        let first: Vec<f64> = vec![1.0, 0.25, 1.0, 1.0, 1.0];
        for (a, from) in models.iter().zip(&first) {
            for (b, other) in models.iter().zip(&first) {
                let p = |model: &MarkovModel, first: f64| -> Vec<f64> {
                    let logs = model.log_likelihoods(&views(&whole)).into_iter();
                    logs.map(|log| first * log.expect("possible").exp()).collect()
                };
                let (p, q) = (p(a, *from), p(b, *other));
                let value = |measure| {
                    let kernel = MarkovKernel::new(measure, length).expect("a kernel");
                    kernel.log_value(a, b).expect("a value").exp()
                };
                let sum: f64 = p.iter().zip(&q).map(|(p, q)| (p * q).powf(0.75)).sum();
                let found = value(Affinity::Product { rho: 0.75 });
                assert!((found - sum).abs() < 1e-12 * sum, "{found} {sum}");
                let mut sum = 0.0;
                for (s, p) in p.iter().enumerate() {
                    for (t, q) in q.iter().enumerate() {
                        sum += p * q * (-0.5 * f64::from((s ^ t).count_ones())).exp();
                    }
                }
                let found = value(Affinity::MeanMap { lambda: 0.5 });
                assert!((found - sum).abs() < 1e-12 * sum, "{found} {sum}");
            }
        }
    }
}

/// The fixed mixture predicts what the tree that was learnt does, wherever its context has been seen.
#[test]
fn weighted_contexts_are_the_trees() {
    let all = strings(11, 20, 3);
    let options = ContextTreeWeighting { depth: 3, alpha: 0.5, stop: 0.5 };
    let model = options.fit(3, &views(&all)).expect("a model");
    let (mut child, mut count, mut ratio) = (vec![0; 3000], vec![0.0; 3000], vec![0.0; 1000]);
    let tree = ContextTree::new(3, 3, 0.5, 0.5, &mut child, &mut count, &mut ratio);
    let mut tree = tree.expect("valid settings");
    for one in &all {
        tree.forget_past();
        for symbol in one.view().symbols().expect("symbols").iter().flatten() {
            tree.push((*symbol).into()).expect("a symbol");
        }
    }
    assert_eq!(tree.nodes(), model.contexts().len());
    let mut log = 0.0;
    let test = &all[0].view();
    tree.forget_past();
    for symbol in test.symbols().expect("symbols").iter().flatten() {
        let mut next = [0.0_f64; 3];
        tree.predict(&mut next);
        log += next[usize::from(*symbol)].ln();
        tree.observe((*symbol).into()).expect("a symbol");
    }
    let found = model.log_likelihoods(&[*test])[0].expect("possible");
    assert!((found - log).abs() < 1e-10, "{found} {log}");
    for wrong in [
        ContextTreeWeighting { depth: 33, ..options },
        ContextTreeWeighting { alpha: 0.0, ..options },
        ContextTreeWeighting { stop: 1.0, ..options },
    ] {
        assert!(wrong.fit(3, &views(&all)).is_err());
    }
}
