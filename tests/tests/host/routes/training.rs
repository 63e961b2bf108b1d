//! Every combination that can be asked for trains, compiles, survives its file, and decides.

use fishweir::classifier::Classifier;
use fishweir::data::{Dataset, ReadOptions};
use fishweir::evaluate::{Figures, judge};
use fishweir::kernel::Gram;
use fishweir::learn::{
    ChosenBy, ClassWeight, ClassifierKind, LEARNERS, ModelChoice, Request, Scaling, ScoreModels,
    TrainError, Trainer, WindowKernel, train,
};
use fishweir_tests::sample::Sampler;

use crate::routes::options;

/// Strings of two classes: runs of letters, and letters that alternate.
fn strings() -> Dataset {
    let mut s = Sampler::new(2);
    let mut text = String::from("label\tid\tsequence\n");
    for n in 0..40 {
        let runs = n % 2 == 0;
        let (mut letter, mut sequence) = (n / 2 % 2 == 0, String::new());
        for _ in 0..30 {
            letter ^= (s.normal() > 0.9) == runs;
            sequence.push(if letter { 'a' } else { 'b' });
        }
        text += &format!("{}\ts{n}\t{sequence}\n", if runs { "runs" } else { "alternates" });
    }
    Dataset::parse("strings.tsv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
}

#[test]
fn every_learner_on_every_feature_in_every_scaling() {
    let data = strings();
    let trainer = Trainer::new(&data);
    let all: Vec<usize> = (0..data.series().len()).collect();
    let (learned, judged) = all.split_at(28);
    let folder = tempfile::tempdir().expect("a folder");
    for kind in [
        ClassifierKind::Fisher,
        ClassifierKind::Top,
        ClassifierKind::Count,
        ClassifierKind::LatentMap,
    ] {
        for &learner in LEARNERS {
            // An exact information of strings of 30 letters is refused: below.
            for scaling in
                [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened, Scaling::Sampled]
            {
                let what = format!("{kind} {learner} {scaling:?}");
                let options = options(kind).with(|request| {
                    request.learner = Some(learner);
                    request.scalings = vec![scaling];
                    request.class_weight = ClassWeight::Balanced;
                });
                let trained = trainer.train(learned, &options, &|| ()).expect(&what);
                assert_eq!(trained.choice.expect("chosen").setting.scaling, Some(scaling));
                let classifier = &trained.classifier;
                assert!(classifier.provenance.notes.iter().any(|n| n.contains("balanced")));
                let path = folder.path().join("model.json");
                classifier.save(&path).expect("saved");
                let deployed = classifier.deploy().expect(&what);
                assert_eq!(
                    Classifier::load(&path).expect("read").deploy().expect("same"),
                    deployed
                );
                let windows = data.windows(None);
                let cut: Vec<_> = windows.of_all(judged).copied().collect();
                let figures = Figures::of(data.classes(), &judge(&deployed, &cut));
                assert!(figures.accuracy > 0.7, "{what}: {}", figures.accuracy);
            }
        }
    }
}

/// Strings that are alike position by position beside strings that are not: the models of both have a
/// state per position, for they are held against each other; without the former neither has.
#[test]
fn models_that_are_told_apart_have_one_topology() {
    let mut s = Sampler::new(6);
    let mut data = |aligned: bool| {
        let mut text = String::from("label\tid\tsequence\n");
        for n in 0..60 {
            let site = n % 2 == 0;
            let mut sequence = String::new();
            for usual in [0, 2, 2, 0, 1, 3, 3, 1, 0, 1] {
                let kept = site && aligned && s.normal() > -1.0;
                let letter = if kept { usual } else { s.uniform(0.0, 4.0) as usize };
                sequence.push(['a', 'c', 'g', 't'][letter]);
            }
            text += &format!("{}\ts{n}\t{sequence}\n", if site { "site" } else { "none" });
        }
        Dataset::parse("sites.tsv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
    };
    for aligned in [true, false] {
        let data = data(aligned);
        let all: Vec<usize> = (0..data.series().len()).collect();
        let options = Request::minimal(ClassifierKind::Bayes);
        let trained = train(&data, &all, &options, &|| ()).expect("trained");
        let states: Vec<usize> = trained.classifier.models.iter().map(|one| one.states()).collect();
        assert_eq!(states, if aligned { [10, 10] } else { [4, 4] });
    }
}

#[test]
fn a_shared_trainer_trains_what_a_new_one_does_and_fits_once() {
    let data = strings();
    let all: Vec<usize> = (0..data.series().len()).collect();
    let trainer = Trainer::new(&data);
    let passes = std::sync::atomic::AtomicUsize::new(0);
    let count = || {
        passes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let bayes = trainer.train(&all, &options(ClassifierKind::Bayes), &count).expect("trained");
    let fitted = passes.load(std::sync::atomic::Ordering::Relaxed);
    assert!(fitted > 0);
    let again = trainer.train(&all, &options(ClassifierKind::Bayes), &count).expect("trained");
    assert_eq!(passes.load(std::sync::atomic::Ordering::Relaxed), fitted, "fitted twice");
    assert_eq!(bayes.classifier, again.classifier);
    for kind in [ClassifierKind::Fisher, ClassifierKind::Count] {
        let shared = trainer.train(&all, &options(kind), &count).expect("trained").classifier;
        let alone = train(&data, &all, &options(kind), &|| ()).expect("trained").classifier;
        assert_eq!(shared, alone);
    }
    let other = options(ClassifierKind::Bayes).with(|request| {
        request.baum_welch =
            fishweir::fit::BaumWelch { states: 3, ..options(ClassifierKind::Bayes).baum_welch };
    });
    let other = trainer.train(&all, &other, &count).expect("trained").classifier;
    assert_eq!(other.models[0].states(), 3);
}

/// Where no inner folds can be made both inner cross-validations take the middle of every list, and the
/// model's file says so.
#[test]
fn without_inner_folds_the_middle_is_taken_and_said() {
    let data = strings();
    let few = [0, 1, 3];
    for scalings in [vec![Scaling::Practical], vec![Scaling::Practical, Scaling::Diagonal]] {
        let c = vec![0.1, 1.0, 10.0];
        let options = options(ClassifierKind::Fisher).with(|request| {
            request.scalings = scalings;
            request.c = c;
        });
        let trained = train(&data, &few, &options, &|| ()).expect("trained");
        let choice = trained.choice.expect("a choice");
        assert_eq!((choice.by, choice.setting.c), (ChosenBy::Middle, 1.0));
        assert_eq!(choice.setting.scaling, options.scalings.last().copied());
        let notes = trained.classifier.provenance.notes.join("; ");
        assert!(notes.contains("too few series or groups for inner folds"), "{notes}");
    }
    let labels = vec![0, 1, 1];
    let gram = Gram::from_fn(3, |i, j| if i == j { 1.0 } else { 0.5 });
    let options = options(ClassifierKind::Bayes).with(|request| {
        request.c = vec![0.1, 1.0, 10.0];
    });
    let classes = data.classes();
    let groups = vec![0, 1, 2];
    let problem = WindowKernel { gram: &gram, labels, groups, classes, request: &options };
    let choice = problem.choose(&[0, 1, 2]).expect("a choice");
    assert_eq!((choice.by, choice.setting.c), (ChosenBy::Middle, 1.0));
}

#[test]
fn an_exact_information_of_long_strings_is_refused_by_name() {
    let data = strings();
    let all: Vec<usize> = (0..data.series().len()).collect();
    let options = options(ClassifierKind::Fisher).with(|request| {
        request.scalings = vec![Scaling::Exact];
    });
    let refused = train(&data, &all, &options, &|| ()).expect_err("2^30 strings").to_string();
    assert!(refused.contains("2 symbols") && refused.contains("length 30"), "{refused}");
}

#[test]
fn log_odds_of_a_single_model_are_refused() {
    let data = strings();
    let all: Vec<usize> = (0..data.series().len()).collect();
    let options = options(ClassifierKind::Top).with(|request| {
        request.models = ModelChoice::Given(ScoreModels::Class("runs".into()));
    });
    let refused = train(&data, &all, &options, &|| ());
    assert!(matches!(refused, Err(TrainError::NeedsAllModels)));
}
