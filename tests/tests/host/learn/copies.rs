//! How many jittered copies of training series there are, where that is chosen.

use fishweir::classifier::CopiesChoice;
use fishweir::data::Dataset;
use fishweir::learn::{
    ChosenBy, ClassifierKind, Effort, Mirror, ModelChoice, RIDGE, Request, ScoreModels, Trained,
    Trainer, train,
};
use fishweir_tests::sample::Sampler;

use super::choices::{data, options, trained};

/// Vectors of length one that point along z, and for the second class as far from it as is said.
fn tilted(degrees: f64, noise: f64) -> Dataset {
    let mut s = Sampler::new(7);
    data("ax,ay,az", |class, _, _| {
        let (x, z) = (class as f64 * degrees.to_radians()).sin_cos();
        [x, 0.0, z].map(|x| x + noise * s.normal()).to_vec()
    })
}

/// A model of all classes and a machine in closed form, or a model per class and one that inner folds judge.
fn with_copies(closed: bool, copies: usize, others: &[usize]) -> Request {
    let mut options = options(ClassifierKind::Fisher, 1);
    if closed {
        options.models = ModelChoice::Given(ScoreModels::Universal);
        options.learner = Some(&RIDGE);
    }
    options.group = None;
    (options.augment.mirror, options.c) = (Mirror::Channels(Vec::new()), vec![0.01, 1.0, 100.0]);
    (options.augment.copies, options.augment.other_copies) = (Some(copies), others.to_vec());
    options
}

fn choice_of(trained: &Trained) -> Option<CopiesChoice> {
    trained.classifier.provenance.selection.clone().expect("chosen").copies
}

/// Copies that are turned by ten degrees hide three: they are given up where they cost more than luck does, and kept
/// where they cost nothing. What is taken is what would have been told.
#[test]
fn copies_are_given_up_only_where_they_plainly_cost() {
    for (closed, by) in [(true, ChosenBy::HeldOut), (false, ChosenBy::InnerFolds)] {
        for (degrees, noise, taken, mirror) in [
            (3.0, 0.002, 0, Mirror::Channels(Vec::new())),
            (60.0, 0.1, 3, Mirror::Channels(Vec::new())),
            (3.0, 0.002, 0, Mirror::Choose),
        ] {
            let data = tilted(degrees, noise);
            let with_copies = |copies, others: &[usize]| {
                let mut options = with_copies(closed, copies, others);
                options.augment.mirror = mirror.clone();
                options
            };
            let chosen = trained(&data, &with_copies(3, &[0, 3]));
            let choice = choice_of(&chosen).expect("a choice");
            let what = format!("{degrees} degrees, closed form {closed}: {choice:?}");
            assert_eq!(choice.copies, taken, "{what}");
            let numbers: Vec<usize> = choice.candidates.iter().map(|one| one.copies).collect();
            assert_eq!(numbers, [3, 0], "each once; {what}");
            let [first, other] = &choice.candidates[..] else { panic!("{what}") };
            let lead = other.lead.expect("the other is held against the first");
            assert!(first.lead.is_none() && lead.accuracy == other.accuracy - first.accuracy);
            let trials = (other.accuracy * (1.0 - other.accuracy) / 18.0).sqrt();
            assert!(lead.standard_error >= trials, "{what}");
            let plain = lead.accuracy > 2.0 * lead.standard_error;
            assert_eq!(plain, taken == 0, "{what}");
            // The same as if it had been told, but that copies have their own C in closed form.
            let told = trained(&data, &with_copies(taken, &[]));
            assert_eq!(choice_of(&told), None);
            assert_eq!(chosen.varied, told.varied);
            assert_eq!(chosen.classifier.models, told.classifier.models);
            if closed && taken > 0 {
                let settings = |one: &Trained| one.choice.as_ref().map(|one| one.candidates.len());
                assert_eq!((settings(&chosen), settings(&told)), (Some(3), Some(3)));
                continue;
            }
            assert_eq!(chosen.classifier.rule, told.classifier.rule, "{what}");
            assert_eq!(told.choice.as_ref().map(|choice| choice.by), Some(by));
            assert_eq!(told.choice, chosen.choice);
        }
    }
}

/// What is said before a training, and where there is nothing to choose.
#[test]
fn numbers_of_copies_are_told_beforehand_and_none_are_tried_of_what_is_not_varied() {
    let data = tilted(30.0, 0.1);
    let words = with_copies(true, 2, &[0, 1]).varied(data.kind());
    assert!(words.starts_with("2 or 0 or 1 copies of each with gains off by 5 %"), "{words}");
    assert!(words.ends_with("if that is better in inner folds"), "{words}");
    assert!(with_copies(true, 0, &[4]).varies(data.kind()).copies);
    assert!(!with_copies(true, 0, &[0]).varies(data.kind()).copies);
    // Bayes is trained on none, and scalars have none unless they are asked for.
    let normal = |kind| Request::new(kind).trying(Effort::Normal);
    assert!(!normal(ClassifierKind::Bayes).varies(data.kind()).copies);
    assert!(normal(ClassifierKind::Fisher).varies(data.kind()).copies);
    let scalars = super::choices::levels();
    assert!(!normal(ClassifierKind::Fisher).varies(scalars.kind()).copies);
    assert!(choice_of(&trained(&scalars, &normal(ClassifierKind::Fisher))).is_none());
    let all: Vec<usize> = (0..data.series().len()).collect();
    let many = with_copies(true, 2, &[usize::MAX]);
    Trainer::new(&data).check(&all, &many).expect("the first is what is checked");
    let refused = train(&data, &all, &many, &|| ()).expect_err("no room for the other").to_string();
    assert!(refused.contains("copies of each training series take"), "{refused}");
}
