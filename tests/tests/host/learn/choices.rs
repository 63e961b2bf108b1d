//! What inner cross-validation chooses: the best, and of equals the first.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use fishweir::classifier::{ExpansionKernel, Rule};
use fishweir::data::{Alphabet, Dataset, Kind, ReadOptions, Samples};
use fishweir::kernel::marginal::{FixedLengthModel, MarginalModel};
use fishweir::kernel::{Gram, ScoreKernelKind};
use fishweir::learn::{
    ChosenBy, ClassWeight, ClassifierKind, Effort, KERNEL_SVM, Mirror, ModelChoice, RIDGE, Request,
    Scaling, ScoreModels, Setting, Trained, Trainer, WindowKernel, train, train_marginal,
};
use fishweir::runtime::{Emissions, Hmm, family};
use fishweir_tests::sample::Sampler;

/// Eighteen series of some channels, of two classes by turns, each class at the hands of three subjects:
/// a row is made of the class, the subject and the time.
pub(super) fn data(
    channels: &str,
    mut row: impl FnMut(usize, usize, usize) -> Vec<f64>,
) -> Dataset {
    let mut text = format!("series,subject,label,t,{channels}\n");
    for series in 0..18 {
        let (class, subject) = (series % 2, series / 2 % 3);
        for t in 0..24 {
            let _ = write!(text, "{series},{subject},{},{t}", ["a", "b"][class]);
            row(class, subject, t).iter().for_each(|x| text += &format!(",{x:?}"));
            text.push('\n');
        }
    }
    Dataset::parse("data.csv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
}

/// Levels of -1 and 1 by turns; what tells the classes apart is how far from them the samples are, and
/// under the default floor both are as far.
pub(super) fn levels() -> Dataset {
    let mut s = Sampler::new(4);
    data("p", |class, _, t| vec![(t % 2) as f64 * 2.0 - 1.0 + [0.02, 0.1][class] * s.normal()])
}

pub(super) fn options(kind: ClassifierKind, states: usize) -> Request {
    let mut options = Request::minimal(kind);
    options.group = Some("subject".to_owned());
    options.baum_welch.states = states;
    options.scalings = vec![Scaling::Practical];
    options.std_floors = vec![0.3];
    options
}

pub(super) fn trained(data: &Dataset, options: &Request) -> Trained {
    let all: Vec<usize> = (0..data.series().len()).collect();
    train(data, &all, options, &|| ()).expect("trained")
}

#[test]
fn the_floor_that_is_right_most_often_is_taken() {
    let data = levels();
    let (bayes, count) = (ClassifierKind::Bayes, ClassifierKind::Count);
    for (kind, floors, taken) in [
        (bayes, [0.3, 0.01], 0.01),
        (bayes, [0.01, 0.3], 0.01),
        (bayes, [0.01, 0.005], 0.01),
        // Second moments tell them apart under any floor.
        (count, [0.3, 0.01], 0.3),
    ] {
        let mut options = options(kind, 2);
        options.std_floors = floors.to_vec();
        let chosen = trained(&data, &options);
        let floor = chosen.form.clone().expect("a floor");
        let judged: Vec<(f64, bool)> = floor
            .candidates
            .iter()
            .map(|one| (one.form.std_floor.expect("a floor"), one.accuracy == 1.0))
            .collect();
        assert_eq!(judged, floors.map(|one| (one, kind == count || one < 0.3)), "{floor:?}");
        assert_eq!(floor.form.std_floor, Some(taken), "{kind}");
        // And the models are fitted with it.
        options.std_floors = vec![taken];
        let (mut chosen, mut alone) = (chosen.classifier, trained(&data, &options).classifier);
        for classifier in [&mut chosen, &mut alone] {
            let kept = classifier.provenance.selection.take().and_then(|kept| kept.form);
            assert_eq!(kept.map(|form| form.form.std_floor), Some(Some(taken)), "{kind}");
        }
        assert_eq!(chosen, alone, "{kind}");
    }
}

/// Series that are all alike are decided by the classes' shares of what is trained on, and where these
/// are equal for the first class.
#[test]
fn floors_of_bayes_are_judged_by_the_rule_that_is_deployed() {
    let mut text = String::from("series,subject,label,t,p\n");
    // Of the first subject two series of either class, of the second four and two.
    for (series, (subject, label)) in [
        (0, "a"),
        (0, "a"),
        (0, "b"),
        (0, "b"),
        (1, "a"),
        (1, "a"),
        (1, "a"),
        (1, "a"),
        (1, "b"),
        (1, "b"),
    ]
    .into_iter()
    .enumerate()
    {
        for t in 0..6 {
            let _ = writeln!(text, "{series},{subject},{label},{t},{}", t % 2);
        }
    }
    let data = Dataset::parse("alike.csv", text.as_bytes(), &ReadOptions::default()).expect("data");
    let mut options = options(ClassifierKind::Bayes, 1);
    options.std_floors = vec![0.3, 0.1];
    for (weight, accuracy) in [(ClassWeight::Even, 0.6), (ClassWeight::Balanced, 0.5)] {
        options.class_weight = weight;
        let floor = trained(&data, &options).form.expect("a floor");
        let judged: Vec<f64> = floor.candidates.iter().map(|one| one.accuracy).collect();
        assert_eq!(judged, [accuracy; 2], "{weight:?}");
        assert_eq!(floor.form.std_floor, Some(options.baum_welch.std_floor));
    }
}

/// What was found right of series as they are is not said of series that are varied.
#[test]
fn floors_are_judged_on_plain_series_and_costs_on_varied_ones() {
    let mut s = Sampler::new(5);
    let data = data("p", |class, _, _| vec![class as f64 * 0.2 + s.normal()]);
    let mut options = options(ClassifierKind::Fisher, 1);
    options.std_floors = vec![0.3, 0.02];
    let judged = trained(&data, &options).form.expect("floors").candidates;
    options.std_floors = vec![0.3];
    let Trained { choice: plain, form: floor, .. } = trained(&data, &options);
    assert!(judged.len() == 2 && floor.expect("a floor").candidates.is_empty());
    let channel = Mirror::Channels(vec!["p".to_owned()]);
    for (copies, mirror) in [(3, Mirror::Choose), (0, channel)] {
        options.augment.copies = Some(copies);
        options.augment.mirror = mirror;
        options.augment.gain = 1.0;
        options.std_floors = vec![0.3];
        let given = trained(&data, &options).choice;
        assert_ne!(given, plain, "varied series are other series");
        // Floors that hold nothing: whichever is taken, the models are the same.
        options.std_floors = vec![0.3, 0.02];
        let with_floors = trained(&data, &options);
        assert_eq!(with_floors.choice, given, "{copies} copies");
        assert_eq!(with_floors.form.expect("floors").candidates, judged, "{copies} copies");
    }
}

/// A trainer shares class models, but not those of another mirror image.
#[test]
fn models_of_one_mirror_image_are_not_those_of_another() {
    let mut s = Sampler::new(7);
    let data = data("ax,ay,az", |class, subject, _| {
        let mut noise = || s.normal() + (class + subject) as f64;
        vec![noise(), noise(), noise()]
    });
    let trainer = Trainer::new(&data);
    let all: Vec<usize> = (0..data.series().len()).collect();
    let mut options = options(ClassifierKind::Bayes, 1);
    for channel in ["ax", "ay"] {
        options.augment.mirror = Mirror::Channels(vec![channel.to_owned()]);
        let shared = trainer.train(&all, &options, &|| ()).expect("trained");
        assert_eq!(shared.classifier, trained(&data, &options).classifier, "{channel}");
    }
}

#[test]
fn what_was_chosen_is_noted() {
    let data = levels();
    let mut options = options(ClassifierKind::Fisher, 1);
    options.c = vec![2.5];
    let notes = trained(&data, &options).classifier.provenance.notes.join("; ");
    let wanted = "linear support vector machine: score scaled by practical, C = 2.5, nothing to choose \
                  from; training series: as they are";
    assert!(notes.ends_with(wanted), "{notes}");
    let setting = Setting {
        scaling: Some(Scaling::Diagonal),
        codebook_weight: 1.0,
        sigma: Some(2.0),
        c: 1.0,
    };
    assert_eq!(setting.to_string(), "diagonal information sigma=2 C=1");
    let weighed = Setting { codebook_weight: 4.0, sigma: None, ..setting };
    assert_eq!(weighed.to_string(), "diagonal information codebook weight=4 C=1");
    for (kind, kernel) in [
        (
            ClassifierKind::OnScores(ScoreKernelKind::Gaussian),
            ", Gaussian kernel on Fisher scores: score scaled by practical sigma=2",
        ),
        (
            ClassifierKind::OnScores(ScoreKernelKind::Polynomial),
            ", polynomial kernel of degree 2 on Fisher scores: score scaled by",
        ),
        (
            ClassifierKind::OnScores(ScoreKernelKind::Cosine),
            ", cosine of Fisher scores: score scaled by practical, C = 2.5",
        ),
        (
            ClassifierKind::OnScores(ScoreKernelKind::RootCosine),
            ", cosine of signed roots of Fisher scores: score scaled by",
        ),
    ] {
        let options = options.clone().with(|request| {
            request.kind = kind;
            request.learner = Some(&KERNEL_SVM);
            request.sigma = vec![2.0];
        });
        let notes = trained(&data, &options).classifier.provenance.notes.join("; ");
        assert!(notes.contains(kernel), "{notes}");
    }
}

/// Two subjects move one way, the third the other: to know one of another side takes a mirror.
#[test]
fn a_mirror_image_is_taken_where_it_helps_and_only_there() {
    let mut s = Sampler::new(6);
    let mut sided = |sides: [f64; 3]| {
        data("ax,ay,az", |class, subject, _| {
            let mut noise = || 0.3 * s.normal();
            vec![sides[subject] * [3.0, 0.5][class] + noise(), noise(), noise()]
        })
    };
    let mut options = options(ClassifierKind::Fisher, 2);
    options.augment.copies = Some(0);
    options.baum_welch.restarts = 1;
    let sides = [([1.0, 1.0, -1.0], "mirrored in ax as well"), ([1.0; 3], "as they are")];
    // Subjects held out in closed form, with their images; at a greater cost the model of all is enough.
    let mut closed = options.clone().with(|request| {
        request.learner = Some(&RIDGE);
        request.c = vec![0.1];
    });
    (closed.models, closed.augment.copies) = (ModelChoice::Given(ScoreModels::Universal), Some(1));
    closed.one_model_iterations = closed.baum_welch.iterations;
    for (sides, words) in sides {
        let data = sided(sides);
        let one = trained(&data, &closed);
        assert_eq!(one.varied.contains("mirrored"), words.contains("mirrored"));
        let how = one.choice.map(|choice| (choice.by, choice.candidates[0].accuracy));
        assert_eq!(how, Some((ChosenBy::HeldOutWithoutCopies, 1.0)));
        // Models are of the series alone, whatever the machine is taught.
        let mut alone = closed.clone();
        alone.augment.mirror = Mirror::Channels(Vec::new());
        assert_eq!(one.classifier.models, trained(&data, &alone).classifier.models);
    }
    for (sides, words) in sides {
        let trained = trained(&sided(sides), &options);
        assert_eq!(trained.varied, words);
        let choice = trained.choice.expect("judged");
        assert_eq!(choice.by, ChosenBy::InnerFolds);
        // The first of those that are always right, and of several.
        let mut right = choice.candidates.iter().filter(|one| one.accuracy == 1.0);
        assert_eq!(right.next().map(|one| one.setting), Some(choice.setting));
        assert!(right.next().is_some(), "{choice:?}");
    }
}

/// Where classes hardly differ some image is right a little more often by luck: by no two standard errors.
#[test]
fn a_mirror_image_that_leads_by_luck_is_not_taken() {
    let mut closed = options(ClassifierKind::Fisher, 2).with(|request| {
        request.learner = Some(&RIDGE);
        request.c = vec![0.1];
    });
    (closed.models, closed.augment.copies) = (ModelChoice::Given(ScoreModels::Universal), Some(0));
    for seed in 0..6 {
        let mut s = Sampler::new(seed);
        let data = data("ax,ay,az", |class, _, _| {
            vec![0.2 * class as f64 + s.normal(), s.normal(), s.normal()]
        });
        let Trained { varied, choice, .. } = trained(&data, &closed);
        assert_eq!(varied, "as they are", "{seed}");
        assert!(choice.is_some_and(|one| one.candidates[0].accuracy < 1.0), "{seed}: too easy");
    }
}

#[test]
fn windows_that_no_device_can_store_are_left_out_and_counted() {
    let hmm = Hmm {
        initial: vec![0.5, 0.5],
        transition: vec![vec![0.9, 0.1], vec![0.1, 0.9]],
        emission: Emissions::categorical(vec![vec![0.7, 0.1, 0.1, 0.1], vec![0.1, 0.1, 0.1, 0.7]]),
    };
    let notes = |gaps: usize| {
        let mut text = String::from("label\tid\tsequence\n");
        for n in 0..12 {
            let Samples::Symbols(symbols) = hmm.simulate(20, n) else { panic!("symbols") };
            let gap = usize::try_from(n).is_ok_and(|n| n < gaps);
            let letter = |k: u16| ['A', 'C', 'G', 'T'][usize::from(k)];
            let mut letters: String = symbols.into_iter().flatten().map(letter).collect();
            letters.replace_range(..1, if gap { "N" } else { "A" });
            let _ = writeln!(text, "{}\t{n}\t{letters}", ["a", "b"][(n % 2) as usize]);
        }
        let data = Dataset::parse("s.tsv", text.as_bytes(), &ReadOptions::default()).expect("data");
        let alphabet = match data.kind() {
            fishweir::data::Kind::Symbols(alphabet) => Some(alphabet.clone()),
            fishweir::data::Kind::Channels(_) => None,
        };
        let model = FixedLengthModel { alphabet, channels: None, hmm: hmm.clone() };
        let model = MarginalModel::FixedLength(model);
        let all: Vec<usize> = (0..12).collect();
        let options = Request::minimal(ClassifierKind::Bayes).with(|request| {
            request.c = vec![1.0];
        });
        let trained = train_marginal(&data, &all, &model, &options).expect("trained");
        let provenance = &trained.classifier.provenance;
        (provenance.windows, provenance.notes.join("; "))
    };
    let (windows, said) = notes(3);
    assert!(windows == 9 && said.ends_with("no missing symbol: 3"), "{windows}, {said}");
    let (windows, said) = notes(0);
    assert!(windows == 12 && !said.contains("left out"), "{windows}, {said}");
}

#[test]
fn stored_sequences_are_of_two_classes_or_more() {
    let hmm = Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::categorical(vec![vec![0.25; 4]]),
    };
    let dna = Alphabet::dna();
    let model = FixedLengthModel { alphabet: Some(dna.clone()), channels: None, hmm: hmm.clone() };
    let model = MarginalModel::FixedLength(model);
    let options = Request::minimal(ClassifierKind::Bayes).with(|request| {
        request.c = vec![1.0];
    });
    let trained = |classes: u64| {
        let class = |n: u64| ["a", "b", "c"][(n % classes) as usize];
        let series = (0..9).map(|n| (class(n), hmm.simulate(12, n)));
        let data = Dataset::labelled(Kind::Symbols(dna.clone()), series).expect("data");
        let all: Vec<usize> = (0..9).collect();
        train_marginal(&data, &all, &model, &options).map(|_| ()).map_err(|e| e.to_string())
    };
    let refused = trained(1).expect_err("one class");
    assert!(refused.contains("1 class among the labels, two are needed"), "{refused}");
    assert_eq!((trained(2), trained(3)), (Ok(()), Ok(())));
}

/// Inner folds judge kernel machines by what they decide of what is held back.
#[test]
fn kernel_machines_are_judged_on_what_is_held_back() {
    let mut s = Sampler::new(9);
    let data = data("p", |class, _, _| vec![class as f64 * 8.0 + s.normal()]);
    for kind in [
        ClassifierKind::OnScores(ScoreKernelKind::Gaussian),
        ClassifierKind::OnScores(ScoreKernelKind::Polynomial),
    ] {
        let mut options = options(kind, 1);
        options.learner = Some(&KERNEL_SVM);
        let choice = trained(&data, &options).choice.expect("judged");
        assert_eq!(choice.by, ChosenBy::InnerFolds);
        assert!(choice.candidates.iter().all(|one| one.accuracy == 1.0), "{choice:?}");
    }
    for with_likelihood in [true, false] {
        let mut options = options(ClassifierKind::OnScores(ScoreKernelKind::Gaussian), 1);
        (options.learner, options.with_likelihood) = (Some(&KERNEL_SVM), with_likelihood);
        let Rule::Expansion(machine) = trained(&data, &options).classifier.rule else {
            panic!("a kernel machine")
        };
        let ExpansionKernel::Scores { likelihood, centre, .. } = machine.kernel else {
            panic!("a kernel on scores")
        };
        // Two models of one state: two entries of the chain, a mean and a deviation.
        assert_eq!(
            (likelihood, centre.len()),
            (with_likelihood, 2 * (4 + usize::from(likelihood)))
        );
    }
    let places: Vec<f64> =
        (0..18).map(|n| f64::from(n % 2) * 8.0 - 4.0 + 0.1 * f64::from(n)).collect();
    let gram = Gram::from_fn(18, |i, j| places[i] * places[j]);
    let options = options(ClassifierKind::Bayes, 1);
    let (labels, groups) = ((0..18).map(|n| n % 2).collect(), (0..18).collect());
    let classes = ["a", "b"].map(str::to_owned);
    let kernel = WindowKernel { gram: &gram, labels, groups, classes: &classes, request: &options };
    let choice = kernel.choose(&(0..18).collect::<Vec<usize>>()).expect("judged");
    assert!(choice.candidates.iter().all(|one| one.accuracy == 1.0), "{choice:?}");
    assert_eq!((choice.by, choice.setting.c), (ChosenBy::InnerFolds, options.costs()[0]));
}

/// A model of few passes of Baum-Welch is not fitted anew where more are wanted, and has the bits that it would have had.
#[test]
fn fits_go_on_where_they_stopped() {
    let mut s = Sampler::new(12);
    let data = data("p,q", |class, subject, t| {
        let level = [[0.0, 1.0], [1.0, 3.0]][class][t / 3 % 2] + 0.1 * subject as f64;
        vec![level + s.normal(), level * s.normal()]
    });
    let all: Vec<usize> = (0..data.series().len()).collect();
    for emission in [None, family("autoregressive")] {
        let mut options = options(ClassifierKind::Bayes, 3);
        (options.baum_welch.emission, options.baum_welch.tolerance) = (emission, 0.0);
        let passes = AtomicUsize::new(0);
        let of = |trainer: &Trainer<'_>, iterations| {
            let mut options = options.clone();
            options.baum_welch.iterations = iterations;
            passes.store(0, Ordering::Relaxed);
            let count = || {
                passes.fetch_add(1, Ordering::Relaxed);
            };
            let trained = trainer.train(&all, &options, &count).expect("trained");
            let fits = trained.fits.into_iter().map(|fit| (fit.log_likelihood, fit.restarts));
            let json = trained.classifier.to_json().expect("JSON");
            (json, fits.collect::<Vec<_>>(), passes.load(Ordering::Relaxed))
        };
        let (model, fits, most) = of(&Trainer::new(&data), 12);
        let trainer = Trainer::new(&data);
        let begun = [2, 7, 12].map(|iterations| {
            let (of_few, fits_of_few, passes) = of(&trainer, iterations);
            let same = (&of_few, &fits_of_few) == (&model, &fits);
            assert_eq!(same, iterations == 12, "{iterations} iterations");
            passes
        });
        // Two models.
        assert_eq!((begun, most), ([2 * 2, 2 * 5, 2 * 5], 2 * 12));
    }
}

/// Features that were taken once serve a training with other settings, and what was decided on them one with the same.
#[test]
fn what_was_held_out_serves_trainings_like_it() {
    let mut s = Sampler::new(13);
    let data = data("ax,ay,az", |class, subject, t| {
        let level = [[0.0, 1.0], [0.5, 1.2]][class][t / 3 % 2] + 0.3 * subject as f64;
        vec![level + s.normal(), s.normal() - level, 0.3 * s.normal()]
    });
    let all: Vec<usize> = (0..data.series().len()).collect();
    let trainer = Trainer::new(&data);
    let group = Some("subject".to_owned());
    for (effort, c, group) in [
        (Effort::Normal, vec![1.0, 10.0], &group),
        (Effort::Quick, vec![1.0, 10.0], &group),
        (Effort::Quick, vec![1.0, 10.0], &None),
        (Effort::Quick, vec![0.1], &None),
    ] {
        let mut options = Request::new(ClassifierKind::Fisher).trying(effort);
        (options.c, options.group) = (c, group.clone());
        let of = |trainer: &Trainer<'_>| {
            let trained = trainer.train(&all, &options, &|| ()).expect("trained");
            let mut classifier = trained.classifier;
            // Shared models are not fitted again.
            let selection = classifier.provenance.selection.as_mut();
            let form = selection.and_then(|selection| selection.form.as_mut());
            form.expect("a form").fits = 0;
            (classifier, trained.choice)
        };
        assert_eq!(of(&trainer), of(&Trainer::new(&data)), "{effort:?}, {:?}", options.c);
    }
}
