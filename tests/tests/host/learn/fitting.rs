//! Class models as a statistician fits them.

use fishweir::data::{Alphabet, Dataset, Kind, ReadOptions, Samples, SamplesView, Windowing};
use fishweir::evaluate::{CrossValidationOptions, cross_validate};
use fishweir::fit::{BaumWelch, Expectations, FitError, Topology, expectations, fit};
use fishweir::learn::{
    ClassifierKind, Mirror, TrainOptions, Trained, Trainer, Vector, Vectors, constant_channels,
    train,
};
use fishweir::runtime::{Emissions, Hmm, family};
use fishweir_tests::sample::Sampler;
use std::fmt::Write as _;

fn views(samples: &[Samples]) -> Vec<SamplesView<'_>> {
    samples.iter().map(Samples::view).collect()
}

/// Two states that stay and prefer two symbols each.
fn hidden() -> Hmm {
    Hmm {
        initial: vec![0.5, 0.5],
        transition: vec![vec![0.97, 0.03], vec![0.03, 0.97]],
        emission: Emissions::categorical(vec![vec![0.4, 0.3, 0.2, 0.1], vec![0.1, 0.2, 0.3, 0.4]]),
    }
}

/// A Markov chain over symbols with the same pairs of neighbours: each symbol has a state of its own.
fn neighbours() -> Hmm {
    let Hmm { initial, transition, emission } = hidden();
    let b = emission.symbols().expect("symbols");
    let pair = |x: usize, y: usize| -> f64 {
        let of = |(i, j): (usize, usize)| initial[i] * b[i][x] * transition[i][j] * b[j][y];
        [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().map(of).sum()
    };
    let each = |row: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let sum: f64 = (0..4).map(row).sum();
        (0..4).map(|k| row(k) / sum).collect()
    };
    Hmm {
        initial: vec![0.25; 4],
        transition: (0..4).map(|x| each(&|y| pair(x, y))).collect(),
        emission: Emissions::categorical((0..4).map(|x| each(&|y| f64::from(x == y))).collect()),
    }
}

/// Strings of both, by turns.
fn strings(from: u64, count: u64) -> Dataset {
    let mut text = String::from("label\tid\tsequence\n");
    for seed in from..from + count {
        let (label, model) =
            if seed % 2 == 0 { ("hidden", hidden()) } else { ("neighbours", neighbours()) };
        let Samples::Symbols(symbols) = model.simulate(300, seed) else { panic!("symbols") };
        let letters = symbols.into_iter().flatten().map(|k| ['A', 'B', 'C', 'D'][usize::from(k)]);
        let _ = writeln!(text, "{label}\t{seed}\t{}", letters.collect::<String>());
    }
    Dataset::parse("strings.tsv", text.as_bytes(), &ReadOptions::default()).expect("strings")
}

/// The share of series that a classifier decides rightly.
fn accuracy(trained: &Trained, data: &Dataset) -> f64 {
    let (figures, _) = fishweir::evaluate::evaluate(
        trained.classifier.deploy().expect("it deploys").any(),
        data,
        None,
    )
    .expect("judged");
    figures.accuracy
}

fn all(data: &Dataset) -> Vec<usize> {
    (0..data.series().len()).collect()
}

/// Nothing but what is hidden tells these classes apart: what neighbours say is the same.
#[test]
fn hidden_states_behind_equal_neighbours_are_learnt() {
    let (shown, new) = (strings(0, 60), strings(1000, 100));
    let options = TrainOptions::new(ClassifierKind::Bayes);
    let trained = train(&shown, &all(&shown), &options, &|| ()).expect("trained");
    let right = accuracy(&trained, &new);
    assert!(right >= 0.9, "{right}");
}

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

#[test]
fn simulated_channels_have_the_model_s_moments() {
    let (mean, std) = (vec![3.0, -100.0], vec![2.0, 0.5]);
    let model = Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::gaussian(vec![mean.clone()], vec![std.clone()]),
    };
    let samples = model.simulate(40_000, 3);
    let rows = samples.view().rows().expect("channels");
    for channel in 0..2 {
        let standard = |row: &[f64]| (row[channel] - mean[channel]) / std[channel];
        let z: Vec<f64> = rows.iter().flatten().map(standard).collect();
        // Their standard errors are 0.005 to 0.05.
        for (power, moment) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            let found = z.iter().map(|z| z.powi(power)).sum::<f64>() / 40_000.0;
            assert!((found - moment).abs() < 0.03 * f64::from(power * power), "{power}: {found}");
        }
    }
}

/// What converged was within the tolerance, in nats a sample, on a fifth pass or later; what did not
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

/// Twenty series of two classes: `x` differs in spread, `p` in level, `q` never changes; `ax ay az` are
/// a vector. The unit of a channel is a factor, or a factor and an offset.
fn channels(unit: impl Fn(&str, f64) -> f64) -> Dataset {
    let mut s = Sampler::new(11);
    let mut text = String::from("series,subject,label,t,x,p,q,ax,ay,az\n");
    for series in 0..20 {
        let quiet = series % 2 == 0;
        for t in 0..24 {
            let x = if quiet { 0.001 } else { 1.0 } * s.normal();
            let p = s.normal() + if quiet { 0.0 } else { 0.7 };
            let _ = write!(
                text,
                "{series},{},{},{t}",
                series % 5,
                ["loud", "quiet"][usize::from(quiet)]
            );
            let a = [s.normal(), 3.0 + s.normal(), s.normal()];
            for (name, value) in
                ["x", "p", "q", "ax", "ay", "az"].into_iter().zip([x, p, 1.0].into_iter().chain(a))
            {
                let _ = write!(text, ",{:?}", unit(name, value));
            }
            text.push('\n');
        }
    }
    Dataset::parse("channels.csv", text.as_bytes(), &ReadOptions::default()).expect("channels")
}

/// Decisions of a cross-validation, and of the classifier of all series, window by window.
fn decisions(data: &Dataset, options: &TrainOptions) -> Vec<String> {
    let trainer = Trainer::new(data);
    let folds = CrossValidationOptions { folds: 2, seed: None };
    let validated = cross_validate(&trainer, options, folds, &|| ()).expect("validated");
    let trained = trainer.train(&all(data), options, &|| ()).expect("trained");
    let (_, judged) = fishweir::evaluate::evaluate(
        trained.classifier.deploy().expect("it deploys").any(),
        data,
        options.windowing.as_ref(),
    )
    .expect("judged");
    let classes =
        judged.iter().map(|one| format!("{} {}: {:?}", one.series, one.start, one.decision));
    let confusion = format!("{:?}", validated.pooled.confusion);
    classes.chain([confusion, format!("{:?}", trained.floor.map(|one| one.std_floor))]).collect()
}

/// Thousandths in place of units and another zero change no decision: of fits, of copies, of floors, of
/// where Baum-Welch stops. A vector has one unit, and its zero.
#[test]
fn units_change_no_decision() {
    let unit = |name: &str, value: f64| match name {
        "ax" | "ay" | "az" => 1000.0 * value,
        _ => 1000.0 * value + 1013.0,
    };
    let (plain, other) = (channels(|_, value| value), channels(unit));
    let window = |length| std::num::NonZeroUsize::new(length).expect("a length");
    for kind in [ClassifierKind::Bayes, ClassifierKind::Fisher] {
        let mut options = TrainOptions::new(kind);
        options.group = Some("subject".to_owned());
        options.baum_welch.states = 2;
        options.baum_welch.iterations = 8;
        options.inner_folds = 2;
        options.augment.mirror = Mirror::Channels(vec!["ax".to_owned()]);
        options.windowing =
            Some(Windowing { length: window(12), hop: window(6), short: Default::default() });
        options.c = vec![1.0];
        assert_eq!(decisions(&plain, &options), decisions(&other, &options), "{kind}");
        if kind == ClassifierKind::Bayes {
            continue;
        }
        // Without a vector, any channel may have any unit; copies are asked for.
        options.augment.vectors = Vectors::Given(Vec::new());
        options.augment.copies = Some(1);
        options.augment.mirror = Mirror::Channels(Vec::new());
        let moved = channels(|_, value| 1000.0 * value + 1013.0);
        assert_eq!(decisions(&plain, &options), decisions(&moved, &options), "{kind}, copies");
    }
}

/// A class a thousand times quieter than another keeps its spread; what is held at the floor is said.
#[test]
fn a_quiet_class_is_not_made_loud() {
    let data = channels(|_, value| value);
    let mut options = TrainOptions::new(ClassifierKind::Bayes);
    options.baum_welch.states = 1;
    let trained = train(&data, &all(&data), &options, &|| ()).expect("trained");
    let quiet = data.classes().iter().position(|class| class == "quiet").expect("a class");
    let std = trained.fits[quiet].model.emission.part("std").expect("Gaussians");
    let own = data.series().iter().filter(|series| series.label == Some(quiet));
    let rows = own.flat_map(|series| series.samples.view().rows().expect("rows").iter());
    let x: Vec<f64> = rows.flatten().map(|row| row[0]).collect();
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let sample = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt();
    assert!(sample < 0.0015 && (std[0][0] / sample - 1.0).abs() < 1e-9, "{std:?}, {sample}");
    assert_eq!(trained.fits[quiet].floored, [0, 0, 1, 0, 0, 0], "the constant channel alone");
    assert_eq!(constant_channels(&data, &all(&data)), ["q"]);
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

/// Windows begin anywhere: a state is the first of one as often as it is any.
#[test]
fn windows_from_the_middle_are_expected_and_classes_weigh_by_windows() {
    let mut s = Sampler::new(3);
    let mut text = String::from("series,label,t,x\n");
    for series in 0..12 {
        let long = series % 2 == 0;
        for t in 0..if long { 80 } else { 40 } {
            // Begins at 0, and is at 5 three quarters of the time.
            let level = if t < 20 * (1 + usize::from(long)) / 2 { 0.0 } else { 5.0 };
            let _ = writeln!(
                text,
                "{series},{},{t},{}",
                ["short", "long"][usize::from(long)],
                level + s.normal()
            );
        }
    }
    let data =
        Dataset::parse("steps.csv", text.as_bytes(), &ReadOptions::default()).expect("steps");
    let mut options = TrainOptions::new(ClassifierKind::Bayes);
    options.baum_welch.states = 2;
    let first = |options: &TrainOptions| -> (Vec<f64>, f64) {
        let trained = train(&data, &all(&data), options, &|| ()).expect("trained");
        let classifier = trained.classifier.linear().expect("Bayes");
        let long = data.classes().iter().position(|class| class == "long").expect("a class");
        let mut initial = classifier.models[long].initial.clone();
        initial.sort_by(f64::total_cmp);
        (initial, classifier.outputs[0].bias)
    };
    let (whole, even) = first(&options);
    assert!(whole[1] > 0.95 && even.abs() < 1e-12, "{whole:?} {even}");
    let length = std::num::NonZeroUsize::new(20).expect("a length");
    options.windowing = Some(Windowing { length, hop: length, short: Default::default() });
    let (cut, bias) = first(&options);
    assert!((cut[1] - 0.75).abs() < 0.02, "{cut:?}");
    // Four windows a series against two, counted with one more of each: ln(13 / 25).
    assert!((bias - (13.0_f64 / 25.0).ln()).abs() < 1e-12, "{bias}");
}

/// The prior of a class is its share of the windows, each class with one more; an output is of one model.
#[test]
fn priors_of_several_classes_are_their_shares() {
    let symbols = |n: usize| -> Samples { (0..9).map(|t| (t * n % 4) as u16).collect() };
    let labels = ["a", "b", "c", "a", "a", "c"];
    let series = labels.iter().enumerate().map(|(n, &label)| (label, symbols(n)));
    let data = Dataset::labelled(Kind::Symbols(Alphabet::dna()), series).expect("data");
    let mut options = TrainOptions::new(ClassifierKind::Bayes);
    options.baum_welch.states = 1;
    let trained = train(&data, &all(&data), &options, &|| ()).expect("trained");
    let outputs = &trained.classifier.linear().expect("Bayes").outputs;
    for (class, (output, windows)) in outputs.iter().zip([3.0, 1.0, 2.0]).enumerate() {
        assert!((output.bias - f64::ln((windows + 1.0) / 9.0)).abs() < 1e-12, "{}", output.bias);
        let weights: Vec<f64> = (0..3).map(|model| f64::from(model == class)).collect();
        assert_eq!(output.weights, weights);
    }
}

#[test]
fn given_vectors_that_are_none_are_refused() {
    let data = channels(|_, value| value);
    let mut options = TrainOptions::new(ClassifierKind::Fisher);
    let channels = ["x", "p", "z"].map(str::to_owned);
    options.augment.vectors = Vectors::Given(vec![Vector { channels, axial: false }]);
    options.augment.copies = Some(1);
    let refused = train(&data, &all(&data), &options, &|| ()).expect_err("no such channel");
    assert!(refused.to_string().contains("no channel `z`"), "{refused}");
}
