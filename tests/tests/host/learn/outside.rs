//! A learner of another crate: in closed form, and judged by what it says itself is held out.

use fishweir::learn::{
    ChosenBy, ClassWeight, ClassifierKind, KERNEL_RIDGE, KernelLearnError, Learner, Linear, Matrix,
    ModelChoice, Request, ScoreModels, Space, Trainer, Trains,
};
use fishweir_tests::sample::Sampler;

use super::choices::data;

/// The plane between the means of items of a class and of all others.
fn between_means(rows: &Matrix, positive: &dyn Fn(usize) -> Option<bool>) -> Linear {
    let mut sums = [vec![0.0; rows.columns()], vec![0.0; rows.columns()]];
    let mut counts = [0.0; 2];
    for (item, row) in rows.rows().enumerate() {
        let Some(positive) = positive(item) else { continue };
        counts[usize::from(positive)] += 1.0;
        sums[usize::from(positive)].iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    let mean = |of: usize, column: usize| sums[of][column] / f64::max(counts[of], 1.0);
    let weights: Vec<f64> = (0..rows.columns()).map(|x| mean(1, x) - mean(0, x)).collect();
    let middle = |x: usize| 0.5 * (mean(1, x) + mean(0, x));
    let bias = -weights.iter().enumerate().map(|(x, weight)| weight * middle(x)).sum::<f64>();
    Linear { weights, bias }
}

/// The class that each output finds.
fn outputs(classes: usize) -> std::ops::Range<usize> {
    if classes == 2 { 1..2 } else { 0..classes }
}

fn machines(
    rows: &Matrix,
    labels: &[usize],
    (classes, _): (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Linear>>, KernelLearnError> {
    let of = |class: usize| vec![between_means(rows, &|item| Some(labels[item] == class)); c.len()];
    Ok(outputs(classes).map(of).collect())
}

fn held_out(
    rows: &Matrix,
    labels: &[usize],
    groups: &[usize],
    (classes, _): (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Option<Vec<f64>>>>, KernelLearnError> {
    let value = |class: usize, item: usize, row: &[f32]| {
        let others =
            |other: usize| (groups[other] != groups[item]).then_some(labels[other] == class);
        let Linear { weights, bias } = between_means(rows, &others);
        weights.iter().zip(row).map(|(weight, &x)| weight * f64::from(x)).sum::<f64>() + bias
    };
    let of = |class: usize| {
        let values = rows.rows().enumerate().map(|(item, row)| value(class, item, row)).collect();
        vec![Some(values); c.len()]
    };
    Ok(outputs(classes).map(of).collect())
}

/// What it holds out is the opposite of what it decides.
fn contrary(
    rows: &Matrix,
    labels: &[usize],
    groups: &[usize],
    classes: (usize, ClassWeight),
    c: &[f64],
) -> Result<Vec<Vec<Option<Vec<f64>>>>, KernelLearnError> {
    let mut all = held_out(rows, labels, groups, classes, c)?;
    all.iter_mut().flatten().flatten().flatten().for_each(|value| *value = -*value);
    Ok(all)
}

static MEANS: Learner = Learner {
    name: "means",
    machine: "plane between means",
    about: "Between the means of the classes",
    costs: &[1.0],
    trains: Trains::InClosedForm { machines, held_out, on_gram: &KERNEL_RIDGE },
};

static CONTRARY: Learner = Learner {
    name: "contrary",
    trains: Trains::InClosedForm { machines, held_out: contrary, on_gram: &KERNEL_RIDGE },
    ..MEANS
};

#[test]
fn a_learner_in_closed_form_is_judged_by_what_it_holds_out_itself() {
    let mut s = Sampler::new(21);
    let data = data("p", move |class, _, _| vec![class as f64 * 3.0 + s.normal()]);
    // One after the other with all that trainings share.
    let (trainer, all) = (Trainer::new(&data), (0..data.series().len()).collect::<Vec<_>>());
    let accuracies = |learner: &'static Learner| {
        let request = Request::minimal(ClassifierKind::Fisher).with(|request| {
            request.models = ModelChoice::Given(ScoreModels::Universal);
            (request.learner, request.std_floors) = (Some(learner), vec![0.3]);
        });
        let space = Space::of(&data, &all, &request).expect("forms");
        space.check().expect("sound");
        let plan = trainer.choose(&space, &|| ()).expect("a plan");
        assert_eq!(plan.learner(), Some(learner));
        let trained = trainer.fit(&plan, &|| ()).expect("trained");
        // Step by step it is what it is at once.
        let at_once = Trainer::new(&data).train(&all, &request, &|| ()).expect("trained");
        assert_eq!(
            (&trained.choice, &trained.classifier.rule),
            (&at_once.choice, &at_once.classifier.rule)
        );
        let by = trained.classifier.provenance.selection.and_then(|made| made.learner);
        assert_eq!(by.as_deref(), Some(learner.name));
        let choice = trained.choice.expect("a machine");
        assert_eq!(choice.by, ChosenBy::HeldOut);
        choice.candidates.iter().map(|one| one.accuracy).collect::<Vec<f64>>()
    };
    let (honest, contrary) = (accuracies(&MEANS), accuracies(&CONTRARY));
    assert!(honest.iter().any(|&right| right > 0.8), "{honest:?}");
    for (honest, contrary) in honest.iter().zip(&contrary) {
        assert!((honest + contrary - 1.0).abs() < 1e-12, "{honest} and {contrary}");
    }
}
