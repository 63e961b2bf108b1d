//! What a training says of itself, and refuses, before anything is fitted.

use fishweir::data::{Alphabet, Dataset, Kind, Samples, ShortSeries, Windowing};
use fishweir::fit::Topology;
use fishweir::kernel::ScoreKernelKind;
use fishweir::learn::{
    ClassifierKind, KERNEL_LOGISTIC, KERNEL_SVM, LINEAR_SVM, Mirror, ModelChoice, RIDGE, Request,
    ScoreModels, Space, Trainer,
};
use fishweir::runtime::family;

use super::choices::{levels, options};

/// How often models are fitted at most to one series of a kind.
fn most_fits(options: &Request, kind: &Kind) -> usize {
    let samples: Samples = match kind {
        Kind::Channels(_) => (0..9).map(|t| [f64::from(t), 1.0, 2.0]).collect(),
        Kind::Symbols(_) => Samples::Symbols(vec![Some(0); 9]),
    };
    let data = Dataset::labelled(kind.clone(), [("a", samples)]).expect("a series");
    most_fits_to(options, &data)
}

fn most_fits_to(request: &Request, data: &Dataset) -> usize {
    let all: Vec<usize> = (0..data.series().len()).collect();
    Space::of(data, &all, request).expect("forms").most_fits()
}

/// What is said to be varied, and how often models are fitted for it, is what a classifier and its emissions
/// leave of what is asked for.
#[test]
fn a_classifier_and_its_emissions_say_what_is_varied_and_held() {
    let channels = |names: [&str; 3]| Kind::Channels(names.map(str::to_owned).to_vec());
    let (vector, scalars) = (channels(["ax", "ay", "az"]), channels(["p", "q", "r"]));
    let mirror = Mirror::Channels(vec!["ax".to_owned()]);
    let turned =
        "2 copies of each with gains off by 5 % about the mean, (ax ay az) turned by 10 degrees";
    let perhaps = format!("mirrored across an axis if that is better in inner folds; {turned}");
    let given = format!("mirrored in ax as well; {turned}");
    let (bayes, fisher) = (ClassifierKind::Bayes, ClassifierKind::Fisher);
    let gaussian = ClassifierKind::OnScores(ScoreKernelKind::Gaussian);
    // Two floors, three folds; four images where one of three mirrors may be chosen.
    for (kind, emission, mirror, words, fits) in [
        (fisher, None, Mirror::Choose, perhaps.as_str(), 1 + (2 + 4) * 3),
        (fisher, Some("full-gaussian"), mirror.clone(), given.as_str(), 1 + (2 + 1) * 3),
        (fisher, Some("poisson"), mirror.clone(), "as they are", 1 + 3),
        (bayes, None, Mirror::Choose, "as they are", 1 + 2 * 3),
        (bayes, None, mirror, "mirrored in ax as well", 1 + 2 * 3),
    ] {
        let mut options = Request::minimal(kind);
        options.baum_welch.emission = emission.map(|name| family(name).expect("a family"));
        options.augment.mirror = mirror;
        let what = format!("{kind} {emission:?}");
        assert_eq!(options.varied(&vector), words, "{what}");
        let varies = options.varies(&vector);
        let said = ["copies", "turned", "if that is better"].map(|word| words.contains(word));
        assert_eq!([varies.copies, varies.turned, varies.mirror_chosen], said, "{what}");
        assert_eq!(varies.vectors, emission != Some("poisson"), "{what}");
        assert_eq!(options.has_floor(), emission != Some("poisson"), "{what}");
        if emission != Some("poisson") {
            assert_eq!(most_fits(&options, &vector), fits, "{what}");
        }
    }
    // Of one model, judged in closed form, a form a fit, on which the image is chosen too.
    let mut closed = Request::minimal(fisher).with(|request| {
        request.learner = Some(&RIDGE);
    });
    closed.models = ModelChoice::Given(ScoreModels::Universal);
    assert_eq!(most_fits(&closed, &vector), 1 + 2);
    let machine = Request::minimal(gaussian);
    assert_eq!(machine.varied(&vector), "as they are");
    assert_eq!(machine.learner(), &KERNEL_SVM);
    let plain = Request::minimal(fisher);
    assert_eq!(plain.baum_welch.topology, Topology::Automatic);
    // Models that a kernel machine is deployed with have no state per position.
    let strings = ["a", "b"].map(|class| (class, Samples::Symbols(vec![Some(0); 9])));
    let strings = Dataset::labelled(Kind::Symbols(Alphabet::dna()), strings).expect("strings");
    let space = Space::of(&strings, &[0, 1], &machine).expect("forms");
    assert!(space.forms().iter().all(|form| form.topology == Topology::Ergodic));
    // Scalars are neither turned nor mirrored, and symbols have no floor.
    let scalar = plain.varies(&scalars);
    assert!(!(scalar.copies || scalar.vectors || scalar.turned || scalar.mirror_chosen));
    let mut still = plain.clone();
    still.augment.rotation_degrees = 0.0;
    assert!(still.varies(&vector).copies && !still.varies(&vector).turned);
    let symbols = Kind::Symbols(Alphabet::dna());
    assert_eq!((most_fits(&plain, &scalars), most_fits(&plain, &symbols)), (1 + 3 * 3, 1 + 3));
    assert!(!plain.varies(&symbols).copies);
    // A state per position or not is tried of strings that have few enough.
    let tried = Request::new(bayes);
    let long = Samples::Symbols(vec![Some(0); 65]);
    let long = Dataset::labelled(symbols.clone(), [("a", long)]).expect("a series");
    assert_eq!((most_fits(&tried, &symbols), most_fits_to(&tried, &long)), (1 + 2 * 3, 1));
}

/// What would be refused on the way is refused before anything is fitted.
#[test]
fn too_much_and_too_little_are_refused_beforehand() {
    let data = levels();
    let trainer = Trainer::new(&data);
    let ten: Vec<usize> = (0..10).collect();
    let check = |options: &Request| trainer.check(&ten, options).map_err(|e| e.to_string());
    let copied = |kind, learner, copies| {
        let mut options = options(kind, 1);
        options.learner = Some(learner);
        options.augment.copies = Some(copies);
        options
    };
    let (fisher, gaussian) =
        (ClassifierKind::Fisher, ClassifierKind::OnScores(ScoreKernelKind::Gaussian));
    // A Gram matrix takes 5 000 windows, of ten series and their copies.
    for (kind, learner, refusal) in [
        (fisher, &LINEAR_SVM, None),
        (fisher, &KERNEL_SVM, Some("5010 training windows are too many for a kernel")),
        (fisher, &KERNEL_LOGISTIC, Some("5010 training windows are too many for a kernel")),
        (gaussian, &KERNEL_SVM, Some("5010 training windows are too many for gaussian")),
    ] {
        assert_eq!(check(&copied(kind, learner, 499)), Ok(()), "{kind}, {learner}");
        let refused = check(&copied(kind, learner, 500)).err();
        assert_eq!(refused.is_some(), refusal.is_some(), "{kind}, {learner}: {refused:?}");
        let refused = refused.unwrap_or_default();
        assert!(refused.starts_with(refusal.unwrap_or_default()), "{refused}");
    }
    let many = check(&copied(fisher, &LINEAR_SVM, 100_000_000)).expect_err("too many features");
    assert!(many.contains("4 features for each of 1 000 000 010 windows"), "{many}");
    let mut long = copied(fisher, &LINEAR_SVM, 0);
    let length = std::num::NonZeroUsize::new(25).expect("a length");
    long.windowing = Some(Windowing { length, hop: length, short: ShortSeries::Drop });
    assert!(check(&long).expect_err("no window").contains("no window to train on"));
    let alone = Dataset::labelled(data.kind().clone(), [("a", data.series()[0].samples.clone())]);
    let alone = Trainer::new(alone.as_ref().expect("sound"))
        .check(&[0], &options(fisher, 1))
        .expect_err("one class")
        .to_string();
    assert!(alone.contains("1 class among the labels, two are needed"), "{alone}");
}
