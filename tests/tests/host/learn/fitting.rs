//! Class models as a statistician fits them.

use fishweir::data::{Alphabet, Dataset, Kind, ReadOptions, Samples, Windowing};
use fishweir::evaluate::{CrossValidationOptions, cross_validate};
use fishweir::learn::{
    ClassifierKind, Mirror, Request, Trained, Trainer, Vector, Vectors, constant_channels, train,
};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_tests::sample::Sampler;
use std::fmt::Write as _;

/// Two states that stay and prefer two symbols each.
pub(super) fn hidden() -> Hmm {
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
    let (figures, _) =
        fishweir::evaluate::evaluate(&trained.classifier.deploy().expect("it deploys"), data, None)
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
    let options = Request::minimal(ClassifierKind::Bayes);
    let trained = train(&shown, &all(&shown), &options, &|| ()).expect("trained");
    let right = accuracy(&trained, &new);
    assert!(right >= 0.9, "{right}");
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
fn decisions(data: &Dataset, options: &Request) -> Vec<String> {
    let trainer = Trainer::new(data);
    let folds = CrossValidationOptions { folds: 2, seed: None };
    let validated = cross_validate(&trainer, options, folds, &|| ()).expect("validated");
    let trained = trainer.train(&all(data), options, &|| ()).expect("trained");
    let (_, judged) = fishweir::evaluate::evaluate(
        &trained.classifier.deploy().expect("it deploys"),
        data,
        options.windowing.as_ref(),
    )
    .expect("judged");
    let classes =
        judged.iter().map(|one| format!("{} {}: {:?}", one.series, one.start, one.decision));
    let confusion = format!("{:?}", validated.pooled.confusion);
    classes
        .chain([confusion, format!("{:?}", trained.form.map(|one| one.form.std_floor))])
        .collect()
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
        let mut options = Request::minimal(kind);
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
    let mut options = Request::minimal(ClassifierKind::Bayes);
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
    let mut options = Request::minimal(ClassifierKind::Bayes);
    options.baum_welch.states = 2;
    let first = |options: &Request| -> (Vec<f64>, f64) {
        let trained = train(&data, &all(&data), options, &|| ()).expect("trained");
        let classifier = trained.classifier;
        let long = data.classes().iter().position(|class| class == "long").expect("a class");
        let mut initial = classifier.models[long].initial.clone();
        initial.sort_by(f64::total_cmp);
        (initial, classifier.outputs()[0].bias)
    };
    let (whole, even) = first(&options);
    assert!(whole[1] > 0.95 && even.abs() < 1e-12, "{whole:?} {even}");
    let length = std::num::NonZeroUsize::new(20).expect("a length");
    options.windowing = Some(Windowing { length, hop: length, short: Default::default() });
    let (cut, bias) = first(&options);
    assert!((cut[1] - 0.75).abs() < 0.02, "{cut:?}");
    // Four windows per series against two, counted with one more of each: ln(13 / 25).
    assert!((bias - (13.0_f64 / 25.0).ln()).abs() < 1e-12, "{bias}");
}

/// The prior of a class is its share of the windows, each class with one more; an output is of one model.
#[test]
fn priors_of_several_classes_are_their_shares() {
    let symbols = |n: usize| -> Samples { (0..9).map(|t| (t * n % 4) as u16).collect() };
    let labels = ["a", "b", "c", "a", "a", "c"];
    let series = labels.iter().enumerate().map(|(n, &label)| (label, symbols(n)));
    let data = Dataset::labelled(Kind::Symbols(Alphabet::dna()), series).expect("data");
    let mut options = Request::minimal(ClassifierKind::Bayes);
    options.baum_welch.states = 1;
    let trained = train(&data, &all(&data), &options, &|| ()).expect("trained");
    let outputs = trained.classifier.outputs();
    for (class, (output, windows)) in outputs.iter().zip([3.0, 1.0, 2.0]).enumerate() {
        assert!((output.bias - f64::ln((windows + 1.0) / 9.0)).abs() < 1e-12, "{}", output.bias);
        let weights: Vec<f64> = (0..3).map(|model| f64::from(model == class)).collect();
        assert_eq!(output.weights, weights);
    }
}

#[test]
fn given_vectors_that_are_none_are_refused() {
    let data = channels(|_, value| value);
    let mut options = Request::minimal(ClassifierKind::Fisher);
    let channels = ["x", "p", "z"].map(str::to_owned);
    options.augment.vectors = Vectors::Given(vec![Vector { channels, axial: false }]);
    options.augment.copies = Some(1);
    let refused = train(&data, &all(&data), &options, &|| ()).expect_err("no such channel");
    assert!(refused.to_string().contains("no channel `z`"), "{refused}");
}
