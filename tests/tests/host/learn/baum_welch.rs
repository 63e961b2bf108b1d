//! One model fitted: where it starts, what holds it, when it has converged, how it is read.

use fishweir::batch::{Expectations, expectations};
use fishweir::data::Samples;
use fishweir::fit::{BaumWelch, FitError, Topology, fit};
use fishweir::runtime::{Emissions, Hmm, family};
use fishweir::sums::Summand;
use fishweir_tests::sample::Sampler;

use crate::learn::fitting::hidden;
use fishweir_tests::checks::views;

#[test]
fn restarts_of_symbols_differ() {
    let samples: Vec<Samples> = (0..10).map(|seed| hidden().simulate(100, seed)).collect();
    for topology in [Topology::Ergodic, Topology::LeftToRight] {
        let options = BaumWelch { restarts: 4, topology, ..BaumWelch::default() };
        let fit = options.fit(&views(&samples), 4, &[], &|| ()).expect("fitted");
        let mut reached: Vec<f64> = fit.restarts.iter().map(|one| one.log_likelihood).collect();
        assert_eq!(fit.last(), reached.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        reached.sort_by(f64::total_cmp);
        reached.dedup();
        assert_eq!(reached.len(), 4, "{topology:?}: {reached:?}");
    }
    let many = BaumWelch { restarts: 1_000_000_000_000, ..BaumWelch::default() };
    assert!(many.validate().expect_err("too many").to_string().contains("restarts"));
}

#[test]
fn settings_out_of_range_are_named() {
    let good = BaumWelch::default();
    let cases: [(&str, BaumWelch); 9] = [
        ("states", BaumWelch { states: 0, ..good.clone() }),
        ("states", BaumWelch { states: 65, ..good.clone() }),
        ("iterations", BaumWelch { iterations: 0, ..good.clone() }),
        ("restarts", BaumWelch { restarts: 0, ..good.clone() }),
        ("tolerance", BaumWelch { tolerance: -1e-9, ..good.clone() }),
        ("standard deviation floor", BaumWelch { std_floor: 0.0, ..good.clone() }),
        ("standard deviation floor", BaumWelch { std_floor: f64::NAN, ..good.clone() }),
        ("symbol pseudocount", BaumWelch { symbol_pseudocount: f64::INFINITY, ..good.clone() }),
        ("transition pseudocount", BaumWelch { transition_pseudocount: -0.1, ..good.clone() }),
    ];
    for (option, options) in cases {
        let error = options.validate().expect_err(option).to_string();
        assert!(error.contains(option), "{option}: {error}");
    }
    let least = BaumWelch {
        states: 1,
        iterations: 1,
        tolerance: 0.0,
        symbol_pseudocount: 0.0,
        transition_pseudocount: 0.0,
        ..good
    };
    assert!(least.validate().is_ok());
}

/// A state is dead below one sample; a start that is impossible stays so, others are as frequent as
/// their states.
#[test]
fn a_fit_is_read_by_its_occupancy() {
    let samples = [hidden().simulate(50, 1)];
    let mut fit = BaumWelch { states: 3, topology: Topology::Ergodic, ..BaumWelch::default() }
        .fit(&views(&samples), 4, &[], &|| ())
        .expect("fitted");
    fit.occupancy = vec![0.5, 1.0, 3.0];
    assert_eq!(fit.dead_states(), 1);
    fit.occupancy = vec![0.0, 0.5, 3.0];
    assert_eq!(fit.dead_states(), 2);
    fit.occupancy = vec![4.0, 1.0, 3.0];
    fit.model.initial = vec![0.0, 0.5, 0.5];
    assert_eq!(fit.starting_anywhere().model.initial, [0.0, 0.25, 0.75]);
}

/// What converged was within the tolerance, in nats per sample, on a fifth pass or later; what did not
/// says so.
#[test]
fn converged_is_said_of_nothing_else() {
    let samples: Vec<Samples> = (0..10).map(|seed| hidden().simulate(100, seed)).collect();
    let exact =
        BaumWelch { symbol_pseudocount: 0.0, transition_pseudocount: 0.0, ..BaumWelch::default() };
    for tolerance in [1e-2, 1e-4] {
        let options = BaumWelch { tolerance, topology: Topology::Ergodic, ..exact.clone() };
        let fit = options.fit(&views(&samples), 4, &[], &|| ()).expect("fitted");
        let gains: Vec<f64> = fit.log_likelihood.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (last, before) = gains.split_last().expect("passes");
        assert!(fit.converged && gains.len() >= 5 && last / 1000.0 <= tolerance, "{gains:?}");
        assert!(before.iter().skip(4).all(|gain| gain / 1000.0 > tolerance), "{gains:?}");
        let occupied: f64 = fit.occupancy.iter().sum();
        assert!((occupied - 1000.0).abs() < 1e-6 && fit.dead_states() == 0);
    }
    let options = BaumWelch { iterations: 3, topology: Topology::Ergodic, ..exact };
    let fit = options.fit(&views(&samples), 4, &[], &|| ()).expect("fitted");
    assert!(!fit.converged && fit.log_likelihood.len() == 4);
}

/// With pseudocounts it is the penalised log-likelihood that a pass must move by no more.
#[test]
fn convergence_is_of_what_the_passes_raise() {
    let samples: Vec<Samples> = (0..6).map(|seed| hidden().simulate(20, seed)).collect();
    let options = BaumWelch {
        tolerance: 1e-3,
        symbol_pseudocount: 8.0,
        transition_pseudocount: 5.0,
        ..BaumWelch::default()
    };
    let run = |start: Hmm, iterations| {
        let options = BaumWelch { iterations, ..options.clone() };
        fit(&options, start, &views(&samples), &[], &|| ()).expect("fitted")
    };
    let start = Hmm {
        initial: vec![0.9, 0.1],
        transition: vec![vec![0.5, 0.5], vec![0.9, 0.1]],
        emission: Emissions::categorical(vec![vec![0.1, 0.1, 0.1, 0.7], vec![0.3, 0.3, 0.3, 0.1]]),
    };
    // One pass after the other.
    let (mut model, mut penalised) = (start.clone(), Vec::new());
    for _ in 0..60 {
        let logs = |rows: &[Vec<f64>]| rows.iter().flatten().map(|p| p.ln()).sum::<f64>();
        let chain = logs(&model.transition) + logs(std::slice::from_ref(&model.initial));
        let symbols = logs(model.emission.symbols().expect("symbols"));
        let pass = run(model, 1);
        penalised.push(pass.log_likelihood[0] + 5.0 * chain + 8.0 * symbols);
        model = pass.model;
    }
    let moves = penalised.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(moves.clone().all(|gain| gain > -1e-9), "{penalised:?}");
    let within = |&(pass, gain): &(usize, f64)| pass >= 5 && gain <= 1e-3 * 120.0;
    let (passes, _) = (1..).zip(moves).find(within).expect("it converges");
    let whole = run(start, 60);
    assert!(whole.converged && passes > 5);
    assert_eq!(whole.log_likelihood.len() - 1, passes);
}

/// The statistics of several sequences are the sums of each one's.
#[test]
fn statistics_add_up() {
    let (one, other) = (hidden().simulate(20, 1), hidden().simulate(30, 2));
    let each: Vec<Expectations> =
        expectations(&hidden(), &[one.view(), other.view()]).into_iter().flatten().collect();
    let mut sum = Expectations::zero(&hidden());
    sum.add(&each[0]);
    assert_eq!(sum, each[0]);
    sum.add(&each[1]);
    assert_eq!(sum.log_likelihood, each[0].log_likelihood + each[1].log_likelihood);
    assert_eq!(sum.initial[1], each[0].initial[1] + each[1].initial[1]);
    assert_eq!(sum.pairs[0][1], each[0].pairs[0][1] + each[1].pairs[0][1]);
}

/// The floor is by the channel's own spread, by a thousandth of all data's where that is more, and by all
/// data's where the channel never moves.
#[test]
fn floors_are_fractions_of_the_right_spread() {
    let rows = |spread: f64| -> Samples {
        (0..40).map(|t| [1.0 + spread * (f64::from(t % 2) * 2.0 - 1.0), f64::from(t % 4)]).collect()
    };
    let options = BaumWelch { states: 1, std_floor: 2.0, ..BaumWelch::default() };
    for (spread, floor) in [(0.5, 2.0 * 0.5), (1e-4, 2.0 * 5e-3), (0.0, 2.0 * 5.0)] {
        let samples = [rows(spread)];
        let fit = options.fit(&views(&samples), 2, &[5.0, 1.0], &|| ()).expect("fitted");
        let std = fit.model.emission.part("std").expect("Gaussians");
        assert!((std[0][0] / floor - 1.0).abs() < 1e-9, "{spread}: {std:?}");
        assert_eq!(fit.floored, [1, 1]);
    }
}

/// Channels weigh by their spread over all training data, whatever their units; fewer distinct rows than
/// states leave numbers too.
#[test]
fn states_start_from_clusters_in_units_of_the_channels() {
    let mut s = Sampler::new(8);
    let row = |s: &mut Sampler, t: usize| [1000.0 * s.normal(), (t % 3) as f64 * 20.0 + s.normal()];
    let samples: [Samples; 1] = [(0..300).map(|t| row(&mut s, t)).collect()];
    for seed in 1..6 {
        let options =
            BaumWelch { states: 3, iterations: 1, std_floor: 0.01, seed, ..BaumWelch::default() };
        let fit = options.fit(&views(&samples), 2, &[1000.0, 1.0], &|| ()).expect("fitted");
        let mean = fit.model.emission.part("mean").expect("Gaussians");
        let mut levels: Vec<f64> = mean.iter().map(|row| row[1]).collect();
        levels.sort_by(f64::total_cmp);
        for (level, planted) in levels.into_iter().zip([0.0, 20.0, 40.0]) {
            assert!((level - planted).abs() < 0.5, "{seed}: {mean:?}");
        }
    }
    let two: [Samples; 1] = [(0..30).map(|t| [f64::from(t % 2)]).collect()];
    let options = BaumWelch { states: 4, ..BaumWelch::default() };
    let fit = options.fit(&views(&two), 1, &[0.5], &|| ()).expect("fitted");
    assert!(fit.last().is_finite() && fit.model.validate().is_ok());
}

/// There is but one way to know them; which component of a mixture a sample is of is not known.
#[test]
fn where_the_states_are_known_there_is_one_fit() {
    let samples: Vec<Samples> =
        (0..9).map(|n| (0..5).map(|t| [f64::from(n * t % 7)]).collect()).collect();
    for (name, topology, fits) in [
        ("gaussian", Topology::Positions, 1),
        ("mixture", Topology::Positions, 3),
        ("gaussian", Topology::LeftToRight, 3),
    ] {
        let emission = family(name);
        let options =
            BaumWelch { states: 3, topology, emission, restarts: 3, ..BaumWelch::default() };
        let fit = options.fit(&views(&samples), 1, &[2.0], &|| ()).expect("fitted");
        let seeds: Vec<u64> = fit.restarts.iter().map(|one| one.seed).collect();
        assert_eq!(seeds, (1..=fits).collect::<Vec<u64>>(), "{name} {topology:?}");
        if topology == Topology::Positions {
            assert_eq!(fit.model.initial, [1.0, 0.0, 0.0]);
            let next = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
            assert_eq!(fit.model.transition, next);
        }
    }
}

#[test]
fn an_impossible_sequence_is_named_by_its_number() {
    let mut start = hidden();
    start.emission = Emissions::categorical(vec![vec![0.5, 0.5, 0.0, 0.0]; 2]);
    for wrong in [0, 7, 133, 299] {
        let of = |n| Samples::Symbols(vec![Some(if n == wrong { 2 } else { 1 }); 4]);
        let samples: Vec<Samples> = (0..300).map(of).collect();
        let error = fit(&BaumWelch::default(), start.clone(), &views(&samples), &[], &|| ());
        let error = error.expect_err("impossible");
        let found = matches!(error, FitError::Impossible { sequence, .. } if sequence == wrong);
        assert!(found, "{wrong}: {error}");
    }
}
