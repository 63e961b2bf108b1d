//! Models that nobody fitted here: expectations for a maximisation of one's own, mixtures of any family, a classifier.

use fishweir::batch::{decode_mixed, expectations};
use fishweir::classifier::{Classifier, Observations};
use fishweir::data::{Samples, SamplesView};
use fishweir::estimator::Fitted;
use fishweir::fit::{BaumWelch, ExpectationStep};
use fishweir::model::Hmm;
use fishweir::runtime::Emissions;
use fishweir::runtime::family::family;

const WEIGHTS: [[f64; 2]; 2] = [[0.25, 0.75], [0.5, 0.5]];
const MEANS: [[f64; 2]; 4] = [[0.0, 1.0], [3.0, 0.0], [1.0, -2.0], [-2.0, 2.0]];
const STDS: [[f64; 2]; 4] = [[1.0, 0.5], [0.3, 2.0], [1.0, 1.0], [0.7, 0.9]];

fn chain(emission: Emissions) -> Hmm {
    let transition = vec![vec![0.9, 0.1], vec![0.3, 0.7]];
    Hmm { initial: vec![0.6, 0.4], transition, emission }
}

fn rows(table: &[[f64; 2]]) -> Vec<Vec<f64>> {
    table.iter().map(|row| row.to_vec()).collect()
}

/// The mixture as a family.
fn mixture() -> Hmm {
    let joined = |table: &[[f64; 2]]| table.chunks(2).map(<[[f64; 2]]>::concat).collect();
    let parts = [rows(&WEIGHTS), joined(&MEANS), joined(&STDS)];
    chain(Emissions::new(family("mixture").expect("a family"), parts))
}

#[test]
fn the_path_of_a_mixture_of_any_family_is_that_of_the_family_of_mixtures() {
    let model = mixture();
    let (samples, states) = model.simulate_path(300, 7);
    assert_eq!(samples, model.simulate(300, 7));
    assert_eq!(states.len(), 300);
    let wanted = model.decode(samples.view()).expect("possible");
    let right = wanted.states.iter().zip(&states).filter(|(a, b)| a == b).count();
    assert!(right > 240, "{right} of 300 states");
    let diagonal = Emissions::gaussian(rows(&MEANS), rows(&STDS));
    let matrices = |std: &[f64; 2]| vec![std[0] * std[0], 0.0, 0.0, std[1] * std[1]];
    let full = Emissions::new(
        family("full-gaussian").expect("a family"),
        [rows(&MEANS), STDS.iter().map(matrices).collect()],
    );
    let chain = (model.initial.as_slice(), model.transition.as_slice());
    for components in [diagonal, full] {
        let path = decode_mixed(chain, &rows(&WEIGHTS), &components, samples.view());
        let path = path.expect("possible");
        assert_eq!(path.states, wanted.states);
        let difference = path.log_probability - wanted.log_probability;
        assert!(difference.abs() < 1e-9 * wanted.log_probability.abs(), "{difference}");
        let two =
            decode_mixed(chain, &rows(&[[0.5, 0.6], [0.5, 0.5]]), &components, samples.view());
        assert!(two.expect_err("no distribution").to_string().contains("weights[0]"));
        let few = decode_mixed(chain, &rows(&[[0.5, 0.5]; 3]), &components, samples.view());
        assert!(few.is_err());
    }
}

#[test]
fn one_expectation_step_is_the_sum_of_those_of_the_sequences() {
    let model = mixture();
    let drawn: Vec<Samples> =
        (0..40).map(|seed| model.simulate(20 + seed as usize, seed)).collect();
    let views: Vec<SamplesView<'_>> = drawn.iter().map(Samples::view).collect();
    let found = ExpectationStep::new(&views).expectations(&model).expect("possible");
    let alone = expectations(&model, &views);
    let log: f64 = alone.iter().map(|one| one.as_ref().expect("possible").log_likelihood).sum();
    assert!((found.log_likelihood - log).abs() < 1e-9 * log.abs());
    let samples: usize = drawn.iter().map(|one| one.view().len()).sum();
    let counts: f64 = found.emission.get("counts").expect("counts").iter().flatten().sum();
    assert!((counts - samples as f64).abs() < 1e-9 * samples as f64);
    // What Baum-Welch starts from, too.
    let options = BaumWelch { iterations: 1, ..BaumWelch::default() };
    let fit = fishweir::fit::fit(&options, model, &views, &[1.0, 1.0], &|| ()).expect("a fit");
    assert_eq!(fit.log_likelihood[0], found.log_likelihood);
}

#[test]
fn typed_models_become_a_classifier_that_files_and_devices_take() {
    let loud = Emissions::gaussian(vec![vec![1.0], vec![-4.0]], vec![vec![2.0], vec![1.0]]);
    let quiet = Emissions::gaussian(vec![vec![0.5], vec![-0.5]], vec![vec![0.3], vec![0.2]]);
    let models = vec![chain(loud), chain(quiet)];
    let channels = || Observations::Channels(vec!["ax".into()]);
    let classes = || vec!["loud".to_owned(), "quiet".to_owned()];
    let made = Classifier::of_models(channels(), classes(), models.clone(), &[0.9, 0.1], None);
    let classifier = made.expect("a classifier");
    let read = Classifier::parse("m", classifier.to_json().expect("numbers").as_bytes());
    assert_eq!(read.expect("the same"), classifier);
    let fitted = Fitted::try_from(classifier).expect("deployed");
    for seed in 0..20 {
        for (class, model) in models.iter().enumerate() {
            let drawn = model.simulate(60, seed);
            assert_eq!(fitted.predict(&drawn).expect("decided"), ["loud", "quiet"][class]);
        }
    }
    for (observations, priors, words) in [
        (channels(), vec![1.0], "2 models for 2 classes"),
        (channels(), vec![0.0, 1.0], "prior above 0"),
        (
            Observations::Channels(vec!["x".into(), "y".into()]),
            vec![0.5; 2],
            "does not observe 2 values",
        ),
        (Observations::Symbols("a".into()), vec![0.5; 2], "something else"),
    ] {
        let made = Classifier::of_models(observations, classes(), models.clone(), &priors, None);
        let error = made.expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    }
    let mut broken = models.clone();
    broken[1].transition[0][1] = 0.5;
    let made = Classifier::of_models(channels(), classes(), broken, &[0.5; 2], None);
    assert!(made.expect_err("refused").to_string().contains("quiet: transition[0]"));
}
