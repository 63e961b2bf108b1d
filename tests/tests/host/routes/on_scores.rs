//! Machines with kernels on scores: what streams is what was trained, in every kernel, scaling, family
//! and topology; what cannot be deployed is refused before it is fitted; no held-back window is seen.

use std::num::NonZeroUsize;

use fishweir::classifier::{Classifier, ExpansionKernel, WhiteningRows};
use fishweir::data::{Dataset, ReadOptions, Window};
use fishweir::evaluate::{CrossValidationOptions, cross_validate};
use fishweir::fit::Topology;
use fishweir::kernel::parameter::POWER;
use fishweir::kernel::{ScoreKernel, ScoreKernelKind};
use fishweir::learn::{
    ClassWeight, ClassifierKind, FeatureMap, FeatureScaler, Features, KERNEL_LOGISTIC, KERNEL_SVM,
    LINEAR_SVM, LOGISTIC, Matrix, ModelChoice, RIDGE, Request, Scaling, ScoreModels, Trainer,
    train,
};
use fishweir_tests::sample::Sampler;

/// The classifiers that do not compile.
const KINDS: [ClassifierKind; 4] = [
    ClassifierKind::OnScores(ScoreKernelKind::Gaussian),
    ClassifierKind::OnScores(ScoreKernelKind::Polynomial),
    ClassifierKind::OnScores(ScoreKernelKind::Cosine),
    ClassifierKind::OnScores(ScoreKernelKind::RootCosine),
];

const SCALINGS: [Scaling; 4] =
    [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened, Scaling::Sampled];

/// Strings that run through two stages, sooner in one class than in the other.
fn strings(seed: u64) -> Dataset {
    let mut s = Sampler::new(seed);
    let mut text = String::from("label\tid\tsequence\n");
    for n in 0..36 {
        let turn = 10 + 8 * (n % 2);
        let letter = |t: usize, x: f64| match (t < turn, x < 0.7) {
            (true, true) | (false, false) => ['A', 'C'][(x * 100.0) as usize % 2],
            _ => ['G', 'T'][(x * 100.0) as usize % 2],
        };
        let sequence: String = (0..30).map(|t| letter(t, s.uniform(0.0, 1.0))).collect();
        text += &format!("{}\ts{n}\t{sequence}\n", ["soon", "late"][n % 2]);
    }
    Dataset::parse("strings.tsv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
}

/// Three classes of two channels, of very unlike units, one of them with a gap.
fn channels(seed: u64) -> Dataset {
    let mut s = Sampler::new(seed);
    let mut text = String::from("series,label,t,x,y\n");
    for n in 0..27 {
        for t in 0..24 {
            let phase = 0.4 * t as f64 * (1.0 + (n % 3) as f64);
            let x = 100.0 * (phase.sin() + 0.3 * s.normal());
            let y = 0.01 * (phase.cos() + 0.3 * s.normal());
            let y = if n == 5 && t == 7 { "NA".to_owned() } else { y.to_string() };
            let x = if n == 5 && t == 7 { "NA".to_owned() } else { x.to_string() };
            text += &format!("{n},{},{t},{x},{y}\n", ["slow", "brisk", "fast"][n % 3]);
        }
    }
    Dataset::parse("channels.csv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
}

fn options(kind: ClassifierKind, topology: Topology) -> Request {
    let mut options = Request::minimal(kind);
    options.baum_welch.states = 3;
    options.baum_welch.topology = topology;
    options.baum_welch.iterations = 8;
    options.inner_folds = 2;
    options.c = vec![1.0];
    options.sigma = vec![0.7];
    options.numbers = vec![(&POWER, 3.0)];
    options
}

/// Whole windows of some series.
fn cut<'a>(data: &'a Dataset, series: &[usize]) -> Vec<Window<'a>> {
    let windows = data.windows(None);
    windows.of_all(series).copied().collect()
}

/// The outputs' values of a trained machine on windows, from features and their metric in `f64`, which
/// is where it was trained: `bias + sum_m coefficient_m k(z_m, z)`; and the sum of the terms' sizes.
fn values_where_trained(
    model: &Classifier,
    scaling: Scaling,
    (learned, judged): (&[Window<'_>], &[Window<'_>]),
) -> Vec<Vec<(f64, f64)>> {
    let expansion = model.expansion().expect("a machine");
    let ExpansionKernel::Scores { likelihood, kernel, .. } = &expansion.kernel else {
        panic!("on scores");
    };
    let map = FeatureMap::new(
        Features::Scores,
        model.models.clone(),
        model.scale.clone(),
        *likelihood,
        model.normalisation,
    );
    let extract = |windows: &[Window<'_>]| -> Vec<Vec<f64>> {
        let views: Vec<_> = windows.iter().map(|window| window.samples).collect();
        map.extract(&views).into_iter().map(|row| row.expect("possible")).collect()
    };
    let mut rows = Matrix::new(map.len());
    extract(learned).iter().for_each(|row| rows.push(row));
    let lengths: Vec<usize> = learned.iter().map(|window| window.samples.len()).collect();
    let metric = FeatureScaler::of(&rows, &lengths, &map, scaling).expect("a metric");
    let rounded = |row: &[f32]| row.iter().copied().map(f64::from).collect::<Vec<f64>>();
    let items: Vec<Vec<f64>> = rows.rows().map(|row| metric.map(&rounded(row))).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = |a: &[f64], b: &[f64]| product(a, b) / (product(a, a) * product(b, b)).sqrt();
    let roots = |row: &[f64]| row.iter().map(|x| x.signum() * x.abs().sqrt()).collect::<Vec<f64>>();
    let of_kernel = |a: &[f64], b: &[f64]| match *kernel {
        ScoreKernel::Gaussian { gamma } => {
            let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            (-gamma * product(&apart, &apart)).exp()
        }
        ScoreKernel::Polynomial { degree } => (1.0 + product(a, b)).powi(degree as i32),
        ScoreKernel::Cosine => cosine(a, b),
        ScoreKernel::RootCosine => cosine(&roots(a), &roots(b)),
    };
    let values = |row: Vec<f64>| -> Vec<(f64, f64)> {
        let z = metric.map(&row);
        let kernels: Vec<f64> = items.iter().map(|item| of_kernel(item, &z)).collect();
        let outputs = expansion.coefficients.iter().zip(&expansion.biases);
        outputs
            .map(|(coefficients, bias)| {
                let terms = coefficients.iter().zip(&kernels).map(|(c, k)| c * k);
                (bias + terms.clone().sum::<f64>(), bias.abs() + terms.map(f64::abs).sum::<f64>())
            })
            .collect()
    };
    extract(judged).into_iter().map(values).collect()
}

#[test]
fn what_streams_is_what_was_trained() {
    let (mut worst, mut all_right, mut all_judged) = (0.0_f64, 0, 0);
    for (data, topologies) in [
        (strings(3), vec![Topology::Ergodic, Topology::LeftToRight, Topology::Positions]),
        (channels(4), vec![Topology::Ergodic, Topology::LeftToRight]),
    ] {
        let all: Vec<usize> = (0..data.series().len()).collect();
        let (learned, judged) = all.split_at(2 * all.len() / 3);
        let (trainer, many) = (Trainer::new(&data), topologies.len());
        for (t, topology) in topologies.into_iter().enumerate() {
            for (k, kind) in KINDS.into_iter().enumerate() {
                // Every pair of choices occurs; not every four of them.
                let scalings = SCALINGS.into_iter().enumerate();
                for (s, scaling) in scalings.filter(|(s, _)| (t + k + s) % many == 0) {
                    let learner = [&KERNEL_SVM, &KERNEL_LOGISTIC][(t + s / many) % 2];
                    let what = format!("{kind} {topology:?} {scaling:?} {learner}");
                    let options = options(kind, topology).with(|request| {
                        request.scalings = vec![scaling];
                        request.learner = Some(learner);
                        request.class_weight = ClassWeight::Balanced;
                    });
                    let trained = trainer.train(learned, &options, &|| ()).expect(&what);
                    let model = trained.classifier;
                    assert_eq!(model.provenance.windows, learned.len());
                    let deployed = model.deploy().expect(&what);
                    let windows = (&*cut(&data, learned), &*cut(&data, judged));
                    let wanted = values_where_trained(&model, scaling, windows);
                    let (mut stream, mut right) = (deployed.stream(), 0);
                    for (window, wanted) in windows.1.iter().zip(wanted) {
                        stream.reset();
                        window.samples.iter().for_each(|x| stream.push(x).expect("possible"));
                        let values = stream.decision_values().expect("in range");
                        assert_eq!(values.len(), wanted.len());
                        for (value, (wanted, size)) in values.into_iter().zip(wanted) {
                            let off = (f64::from(value) - wanted).abs() / size.max(1.0);
                            assert!(off < 2e-5, "{what}: {value} where {wanted} is right");
                            worst = worst.max(off);
                        }
                        right += usize::from(
                            Some(stream.decision().expect("in range").class) == window.label(),
                        );
                    }
                    (all_right, all_judged) = (all_right + right, all_judged + judged.len());
                }
            }
        }
    }
    println!("off by {worst:.1e} of the terms' sum at worst; {all_right} of {all_judged} right");
    assert!(10 * all_right > 6 * all_judged, "{all_right} of {all_judged}: nothing was learnt");
}

#[test]
fn whitening_that_does_not_mix_stays_a_factor_an_entry() {
    let data = strings(3);
    let all: Vec<usize> = (0..data.series().len()).collect();
    for scaling in [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened] {
        let options =
            options(ClassifierKind::OnScores(ScoreKernelKind::Gaussian), Topology::LeftToRight)
                .with(|request| {
                    request.scalings = vec![scaling];
                });
        let trained = train(&data, &all, &options, &|| ()).expect("trains");
        let Some(ExpansionKernel::Scores { whitening, centre, items, .. }) =
            trained.classifier.expansion().map(|machine| &machine.kernel)
        else {
            panic!("on scores");
        };
        // Whole scores and a log-likelihood per model; what a left-to-right model fixes is not weighed.
        let entries = trained.classifier.models.len() * (3 + 9 + 3 * 4 + 1);
        assert_eq!((centre.len(), items[0].len()), (entries, entries));
        let fixed = 3 + 3;
        match whitening {
            WhiteningRows::Diagonal(rate) => {
                assert_ne!(scaling, Scaling::Whitened);
                assert!(rate.iter().filter(|rate| **rate == 0.0).count() >= 2 * fixed);
            }
            WhiteningRows::Full(rows) => {
                assert_eq!(scaling, Scaling::Whitened);
                let nothing = |row: &&Vec<f64>| row.iter().all(|factor| *factor == 0.0);
                assert!(rows.iter().filter(nothing).count() >= 2 * fixed);
            }
        }
    }
}

/// By landmarks a machine keeps a few items, of those that it would choose from; with every item a landmark it is the
/// machine on the kernel.
#[test]
fn landmarks_are_all_that_is_kept() {
    let data = strings(4);
    let all: Vec<usize> = (0..data.series().len()).collect();
    let (learned, judged) = all.split_at(2 * all.len() / 3);
    let trainer = Trainer::new(&data);
    let items = |model: &Classifier| match &model.expansion().expect("a machine").kernel {
        ExpansionKernel::Scores { items, .. } => items.clone(),
        _ => panic!("on scores"),
    };
    let (mut all_right, mut all_judged) = (0, 0);
    for kind in KINDS {
        let trained = |landmarks: Option<usize>, learner| {
            let landmarks = landmarks.and_then(NonZeroUsize::new);
            let options = options(kind, Topology::Ergodic).with(|request| {
                request.landmarks = landmarks;
                request.learner = Some(learner);
                request.scalings = vec![Scaling::Diagonal];
            });
            trainer.train(learned, &options, &|| ()).expect("trains").classifier
        };
        let values = |model: &Classifier| -> Vec<f32> {
            let deployed = model.deploy().expect("deploys");
            let mut stream = deployed.stream();
            let values = cut(&data, judged).into_iter().map(|window| {
                stream.reset();
                window.samples.iter().for_each(|x| stream.push(x).expect("possible"));
                stream.decision_values().expect("in range")[0]
            });
            values.collect()
        };
        let exact = trained(None, &KERNEL_SVM);
        let every = trained(Some(learned.len()), &KERNEL_SVM);
        for (one, other) in values(&exact).into_iter().zip(values(&every)) {
            assert!((one - other).abs() < 2e-2 * other.abs().max(1.0), "{kind}: {one} {other}");
        }
        for learner in [&KERNEL_SVM, &LINEAR_SVM, &LOGISTIC, &RIDGE] {
            let few = trained(Some(6), learner);
            assert_eq!(items(&few).len(), 6, "{kind} {learner}");
            assert!(items(&few).iter().all(|item| items(&exact).contains(item)));
            assert_eq!(few.deploy().expect("deploys").items(), 6);
            let windows = cut(&data, judged);
            let labels = windows.iter().map(|window| window.label() == Some(1));
            let right = values(&few).into_iter().zip(labels);
            let right = right.filter(|(value, label)| (*value > 0.0) == *label).count();
            (all_right, all_judged) = (all_right + right, all_judged + judged.len());
        }
    }
    assert!(5 * all_right >= 3 * all_judged, "{all_right} of {all_judged}");
}

#[test]
fn width_and_cost_are_chosen_within_the_training_data() {
    let data = strings(5);
    let all: Vec<usize> = (0..data.series().len()).collect();
    let options = options(ClassifierKind::OnScores(ScoreKernelKind::Gaussian), Topology::Ergodic)
        .with(|request| {
            request.sigma = vec![0.5, 2.0];
            request.c = vec![0.1, 1.0, 10.0];
            request.models = ModelChoice::Given(ScoreModels::Class("late".into()));
        });
    let trained = train(&data, &all, &options, &|| ()).expect("trains");
    let choice = trained.choice.expect("chosen");
    assert_eq!(choice.candidates.len(), 2 * 2 * 3);
    let best = choice.candidates.iter().map(|one| one.accuracy).fold(0.0, f64::max);
    let first = choice.candidates.iter().find(|one| one.accuracy == best).expect("one");
    assert_eq!(choice.setting, first.setting);
    assert_eq!(trained.classifier.models.len(), 1);
    let machine = trained.classifier.expansion().expect("a machine");
    let ExpansionKernel::Scores { kernel: ScoreKernel::Gaussian { gamma }, .. } = machine.kernel
    else {
        panic!("Gaussian");
    };
    let sigma = choice.setting.sigma.expect("a width");
    assert!((gamma * 2.0 * sigma * sigma - 1.0).abs() < 1e-12);
}

/// What is trained depends on the training series alone: others may be anything.
#[test]
fn nothing_is_learnt_from_what_is_held_back() {
    let text = |other: bool| {
        let data = strings(3);
        let mut text = String::from("label\tid\tsequence\n");
        for (n, series) in data.series().iter().enumerate() {
            let held_back = n % 3 == 0;
            let letters = series.samples.view();
            let letters = letters.symbols().expect("symbols").iter().flatten();
            let swap = |symbol: &u16| {
                ['A', 'C', 'G', 'T'][usize::from(*symbol ^ u16::from(other && held_back))]
            };
            let sequence: String = letters.map(swap).collect();
            let label = series.label.expect("labelled") ^ usize::from(other && held_back);
            text += &format!("{}\ts{n}\t{sequence}\n", data.classes()[label]);
        }
        text
    };
    let machines = [false, true].map(|other| {
        let data = Dataset::parse("strings.tsv", text(other).as_bytes(), &ReadOptions::default())
            .expect("a data set");
        let seen: Vec<usize> = (0..data.series().len()).filter(|n| n % 3 != 0).collect();
        KINDS.map(|kind| {
            let options = options(kind, Topology::Ergodic).with(|request| {
                request.c = vec![0.1, 10.0];
            });
            let mut machine = train(&data, &seen, &options, &|| ()).expect("trains").classifier;
            machine.provenance.checksum = None;
            machine
        })
    });
    assert_eq!(machines[0], machines[1]);
}

/// Where labels mean nothing, nothing can be told: a machine that had stored a test window would know.
#[test]
fn labels_drawn_by_chance_are_not_predicted() {
    let mut s = Sampler::new(11);
    let mut text = String::from("label\tid\tsequence\n");
    for n in 0..60 {
        let sequence: String =
            (0..20).map(|_| ['A', 'C', 'G', 'T'][s.uniform(0.0, 4.0) as usize % 4]).collect();
        text += &format!("{}\ts{n}\t{sequence}\n", ["heads", "tails"][n % 2]);
    }
    let data = Dataset::parse("coin.tsv", text.as_bytes(), &ReadOptions::default()).expect("data");
    let trainer = Trainer::new(&data);
    for kind in KINDS {
        // Narrow and dear: all that is stored is known by heart.
        let options = options(kind, Topology::Ergodic).with(|request| {
            request.c = vec![1e2];
            request.sigma = vec![0.05];
            request.numbers = vec![(&POWER, 4.0)];
        });
        let folds = CrossValidationOptions { folds: 5, seed: None };
        let found = cross_validate(&trainer, &options, folds, &|| ()).expect("validated");
        let accuracy = found.pooled.accuracy;
        assert!((0.25..0.75).contains(&accuracy), "{kind}: {accuracy}");
        // A machine is read at a window's end.
        assert!(found.latency.is_none_or(|latency| latency.median == 20));
    }
}

#[test]
fn what_cannot_be_deployed_or_trained_is_refused_before_the_fit() {
    let data = strings(3);
    let all: Vec<usize> = (0..data.series().len()).collect();
    let refused = |change: &dyn Fn(&mut Request)| {
        let mut options =
            options(ClassifierKind::OnScores(ScoreKernelKind::Gaussian), Topology::Ergodic);
        change(&mut options);
        let passes = std::sync::atomic::AtomicUsize::new(0);
        let count = || {
            passes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let error = train(&data, &all, &options, &count).expect_err("refused").to_string();
        assert_eq!(passes.into_inner(), 0, "nothing is fitted first");
        error
    };
    for (change, part) in [
        (&(|o: &mut Request| o.baum_welch.states = 9) as &dyn Fn(&mut Request), "states"),
        (&|o: &mut Request| o.learner = Some(&LOGISTIC), "learner"),
        (&|o: &mut Request| o.learner = Some(&LINEAR_SVM), "kernel-svm or klr"),
        (&|o: &mut Request| o.sigma = vec![1e-30], "number of the kernel"),
    ] {
        let error = refused(change);
        assert!(error.contains(part), "no {part} in {error}");
    }
    // An automatic topology would have been a state per position.
    let mut automatic =
        options(ClassifierKind::OnScores(ScoreKernelKind::Cosine), Topology::Automatic);
    automatic.baum_welch.states = 4;
    let trained = train(&data, &all, &automatic, &|| ()).expect("trains").classifier;
    assert!(trained.models.iter().all(|model| model.states() == 4));
    // More windows than a Gram matrix takes.
    let mut text = String::from("label\tid\tsequence\n");
    for n in 0..5_001 {
        text += &format!("{}\ts{n}\tAC\n", ["a", "b"][n % 2]);
    }
    let many = Dataset::parse("many.tsv", text.as_bytes(), &ReadOptions::default()).expect("data");
    let series: Vec<usize> = (0..5_001).collect();
    let error = train(
        &many,
        &series,
        &options(ClassifierKind::OnScores(ScoreKernelKind::Gaussian), Topology::Ergodic),
        &|| (),
    );
    let error = error.expect_err("too many").to_string();
    assert!(error.contains("5001 training windows") && error.contains("longer hop"), "{error}");
}
