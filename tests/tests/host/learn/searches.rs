//! What the search for a form takes: of the past, of short series, and where there are no inner folds.

use std::fmt::Write as _;

use fishweir::classifier::{Form, FormCandidate};
use fishweir::data::{Dataset, Lags, ReadOptions, Series};
use fishweir::learn::{ClassifierKind, Effort, LagChoice, Request, ScoreModels, Space, Trained};
use fishweir_tests::sample::Sampler;

use super::choices::{data, trained};

/// Samples follow what lay three before them in one class, and its opposite in the other: levels, and differences at
/// lags 1, 2, 4 and 8, are alike. The search tries to predict from the past, takes it, and a device holds it.
#[test]
fn the_search_predicts_from_the_past_where_that_alone_tells_classes_apart() {
    let following = |weight: f64| {
        let (mut s, mut past) = (Sampler::new(11), [0.0; 3]);
        data("p", move |class, _, t| {
            let x = [weight, -weight][class] * past[t % 3] + s.normal();
            past[t % 3] = x;
            vec![x]
        })
    };
    let data = following(0.9);
    let mut options = Request::new(ClassifierKind::Fisher).trying(Effort::Normal);
    options.group = Some("subject".to_owned());
    let each = Lags::dyadic(32).apart();
    options.lags = LagChoice::Given(vec![Lags::NONE, each, Lags::order(2), Lags::order(4)]);
    // Patterns of nine samples show it as well.
    options.codebooks = vec![0];
    let Trained { classifier, form, .. } = trained(&data, &options);
    let form = form.expect("a form");
    let lags = &form.form.lags;
    assert!(lags.is_past() && lags.depth() == 4, "{lags} of orders 2 and 4");
    let judged = form.candidates.iter().filter(|one| one.form.lags.is_past() && one.closed_form);
    assert!(judged.clone().all(|one| one.form.models == ScoreModels::Universal));
    assert!(judged.count() >= 2);
    let best = |past: bool| {
        let of = form.candidates.iter().filter(|one| one.form.lags.is_past() == past);
        of.map(|one| one.accuracy).fold(0.0, f64::max)
    };
    assert!(best(true) > 0.95 && best(false) < 0.95, "{} against {}", best(true), best(false));
    assert_eq!(classifier.models[0].emission.family().name(), "autoregressive");
    let deployed = classifier.deploy().expect("a device holds it");
    let right = |series: &Series| {
        let mut stream = deployed.stream();
        series.samples.view().iter().for_each(|x| stream.push(x).expect("taken in"));
        Some(stream.decision().expect("in range").class) == series.label
    };
    assert!(data.series().iter().filter(|series| right(series)).count() >= 17);
    // It errs nowhere, so that nothing could lead it: models of classes are not judged.
    options.group = None;
    let of_classes = |one: &&FormCandidate| one.form.models != ScoreModels::Universal;
    let form = trained(&data, &options).form.expect("a form");
    assert_eq!(form.candidates.iter().filter(of_classes).count(), 0);
    assert!(form.could_not_lead > 0, "{form:?}");
    // Where less follows it errs. What it leads by far on some series, with one setting, is not judged on all with every one.
    let form = trained(&following(0.3), &options).form.expect("a form");
    let levels = form.candidates.iter().filter(of_classes).filter(|one| one.form.lags.is_empty());
    let told: Vec<_> = levels.map(|one| (one.settings, one.passes)).collect();
    assert_eq!(told, [(1, 20), (1, 20)], "{:?}", form.candidates);
}

/// Where series are too short for a codebook one model per class is kept unless models for each lag lead it, as it is taken
/// untried there.
#[test]
fn short_series_have_a_model_a_class_unless_it_is_led() {
    let mut s = Sampler::new(13);
    let mut text = "series,label,t,p\n".to_owned();
    for series in 0..40 {
        let class = series % 2;
        for t in 0..7 {
            let x = [[0.0, 1.2], [1.2, 0.0]][class][t / 4] + s.normal();
            let _ = writeln!(text, "{series},{},{t},{x:?}", ["a", "b"][class]);
        }
    }
    let data = Dataset::parse("short.csv", text.as_bytes(), &ReadOptions::default());
    let data = data.expect("a data set");
    let options = Request::new(ClassifierKind::Fisher).trying(Effort::Normal);
    let form = trained(&data, &options).form.expect("a form");
    let best = |universal: bool| {
        let alike = |one: &&FormCandidate| (one.form.models == ScoreModels::Universal) == universal;
        let last = form.candidates.iter().map(|one| one.stage).max();
        let of = form.candidates.iter().filter(alike).filter(|one| Some(one.stage) == last);
        of.map(|one| one.accuracy).fold(0.0, f64::max)
    };
    assert!(best(true) > 0.5 && best(true) < best(false) + 0.1, "{:?}", form.candidates);
    assert_eq!(form.form.models, ScoreModels::All, "{:?}", form.candidates);
}

/// A class of one group leaves no inner folds: floors are chosen by what is held out in closed form.
#[test]
fn floors_are_chosen_in_closed_form_where_a_class_is_of_one_group() {
    let (mut s, mut text) = (Sampler::new(14), "series,subject,label,t,p\n".to_owned());
    for series in 0..18 {
        let class = series % 2;
        for t in 0..24 {
            let (subject, x) = (class * (series / 2 % 3), s.normal());
            let _ = writeln!(text, "{series},{subject},{},{t},{x:?}", ["a", "b"][class]);
        }
    }
    let data = Dataset::parse("one.csv", text.as_bytes(), &ReadOptions::default());
    let mut options = Request::new(ClassifierKind::Fisher).trying(Effort::Normal);
    options.group = Some("subject".to_owned());
    let form = trained(&data.expect("a data set"), &options).form.expect("a form");
    assert!(form.candidates.len() >= 2 && form.candidates.iter().all(|one| one.closed_form));
    let won: Vec<&Form> =
        form.candidates.iter().filter(|one| one.won).map(|one| &one.form).collect();
    assert_eq!(won, [&form.form]);
}

/// An empty list leaves what it would hold to the effort, and no inner folds leave passes to count.
#[test]
fn an_empty_list_is_left_to_the_effort() {
    let mut s = Sampler::new(15);
    let data = data("p", move |class, _, _| vec![class as f64 + s.normal()]);
    let series: Vec<usize> = (0..data.series().len()).collect();
    for effort in [Effort::Quick, Effort::Normal] {
        let usual = Request::new(ClassifierKind::Fisher).trying(effort);
        let forms =
            |request: &Request| Space::of(&data, &series, request).expect("forms").forms().to_vec();
        let told = usual.clone().with(|request| {
            (request.std_floors, request.codebooks) = (vec![0.2], vec![1]);
            (request.lags, request.c) = (LagChoice::Given(vec![Lags::one(1)]), vec![3.0]);
        });
        let as_told = |form: &Form| form.std_floor == Some(0.2) && form.codebooks == 1;
        assert!(forms(&told).iter().all(as_told), "{effort:?}");
        assert_eq!(told.costs(), [3.0]);
        let emptied = told.with(|request| {
            request.std_floors.clear();
            request.codebooks.clear();
            request.c.clear();
            request.lags = LagChoice::Usual;
        });
        assert_eq!(forms(&usual), forms(&emptied));
        assert_eq!(emptied.costs(), [0.1, 1.0, 10.0]);
        let floors: Vec<_> = forms(&usual).iter().map(|form| form.std_floor).collect();
        assert!(floors.contains(&Some(0.03)), "{floors:?}");
        let none = usual.with(|request| request.inner_folds = 0);
        assert!(Space::of(&data, &series, &none).expect("forms").most_passes() > 0);
    }
}
