//! A machine on features, streamed.

use fishweir::classifier::{Classifier, Observations, Output, Provenance, Rule};
use fishweir::data::{Front, Lags, SamplesView};
use fishweir::kernel::{CrossGram, Gram};
use fishweir::learn::{
    ClassWeight, FeatureMap, FeatureScaler, Features, KERNEL_LOGISTIC, KERNEL_SVM, KernelMachine,
    Linear, Loss, Matrix, OnGram, Scaling, minimise,
};
use fishweir_core::artefact::Topology;
use fishweir_core::classify::Normalisation;

use crate::routes::bank::{Bank, Family};

/// A machine in the primal, and what it says of new items by the way it was trained in.
struct Trained {
    outputs: Vec<Linear>,
    /// `[item][output]`.
    values: Vec<Vec<f64>>,
}

/// Each learner on mapped features: kernel machines say their values through the kernel.
fn train(
    kernel: Option<&OnGram>,
    rows: &[Vec<f64>],
    labels: &[usize],
    new: &[Vec<f64>],
) -> Trained {
    let classes = labels.iter().max().map_or(0, |most| most + 1);
    let size = rows[0].len();
    if let Some(learner) = kernel {
        let gram = Gram::of_features(rows);
        let machine =
            KernelMachine::train(learner, &gram, labels, (classes, ClassWeight::Balanced), 1.0)
                .expect("trained");
        let cross = CrossGram::of_features(new, rows);
        return Trained {
            outputs: machine
                .outputs
                .iter()
                .map(|output| output.fold(rows.iter().map(Vec::as_slice), size))
                .collect(),
            values: (0..new.len()).map(|item| machine.values(cross.row(item))).collect(),
        };
    }
    let mut matrix = Matrix::new(size);
    rows.iter().for_each(|row| matrix.push(row));
    let found = if classes == 2 { 1..2 } else { 0..classes };
    let outputs: Vec<Linear> = found
        .map(|class| {
            let positive: Vec<bool> = labels.iter().map(|&label| label == class).collect();
            let costs = ClassWeight::Even.costs(1.0, &positive);
            minimise(Loss::Logistic, &matrix, &positive, costs, None)
        })
        .collect();
    let value = |row: &Vec<f64>| outputs.iter().map(|output| output.value(row)).collect();
    Trained { values: new.iter().map(value).collect(), outputs }
}

/// The streams' values at the end of a sequence, in `f32` and in `f64`.
fn streamed(classifier: &Classifier, samples: SamplesView<'_>) -> [Vec<f64>; 2] {
    let mut single = classifier.deploy().expect("compiles").stream();
    let mut double = classifier.compile_in::<f64>().expect("compiles").stream();
    for sample in samples.iter() {
        single.push(sample).expect("possible");
        double.push(sample).expect("possible");
    }
    let single = single.decision_values().expect("in range");
    [single.into_iter().map(f64::from).collect(), double.decision_values().expect("in range")]
}

/// The sizes of a value's terms: what rounding is relative to.
fn magnitude(output: &Linear, features: &[f64]) -> f64 {
    let terms = output.weights.iter().zip(features).map(|(weight, x)| (weight * x).abs());
    output.bias.abs() + terms.sum::<f64>()
}

fn check(
    family: Family,
    features: Features,
    scaling: Scaling,
    normalisation: Normalisation,
) -> f64 {
    let mut worst = 0.0_f64;
    for classes in [2, 3] {
        let bank = Bank::draw(family, classes, 5);
        let views = bank.views();
        let (train_views, new) = views.split_at(8 * classes);
        let map =
            FeatureMap::new(features, bank.models.clone(), vec![2.0, 0.5], true, normalisation);
        let extract = |views: &[SamplesView<'_>]| -> Vec<Vec<f64>> {
            map.extract(views).into_iter().map(|row| row.expect("possible")).collect()
        };
        let (rows, raw) = (extract(train_views), extract(new));
        let mut matrix = Matrix::new(map.len());
        rows.iter().for_each(|row| matrix.push(row));
        // An exact information is of sequences that can be enumerated.
        let lengths = [5];
        let metric = FeatureScaler::of(&matrix, &lengths, &map, scaling).expect("a metric");
        let mapped = |rows: &[Vec<f64>]| rows.iter().map(|row| metric.map(row)).collect::<Vec<_>>();
        let (phi, phi_new) = (mapped(&rows), mapped(&raw));
        for kernel in [None, Some(KERNEL_SVM.on_gram()), Some(KERNEL_LOGISTIC.on_gram())] {
            let trained = train(kernel, &phi, &bank.labels[..8 * classes], &phi_new);
            let pulled: Vec<Linear> = trained.outputs.iter().map(|o| metric.pull(o)).collect();
            let outputs = pulled
                .iter()
                .map(|output| {
                    let (directions, weights) = map.directions(&output.weights).into_iter().unzip();
                    Output {
                        bias: output.bias,
                        weights,
                        directions,
                        codewords: Vec::new(),
                        levels: Vec::new(),
                    }
                })
                .collect();
            let classifier = Classifier {
                method: "test".into(),
                observations: match family {
                    Family::Symbols | Family::Aligned => Observations::Symbols("acgt".into()),
                    Family::Channels => Observations::Channels(vec!["x".into(), "y".into()]),
                },
                classes: (0..classes).map(|class| class.to_string()).collect(),
                front: Front::NONE,
                lags: Lags::NONE,
                centre: Vec::new(),
                scale: Vec::new(),
                models: map.models().to_vec(),
                codebooks: None,
                normalisation,
                rule: match features {
                    Features::EmpiricalMap { order, .. } => Rule::Words { order, outputs },
                    _ => Rule::Linear(outputs),
                },
                confidence: None,
                teaching: None,
                provenance: Provenance::default(),
            };
            let known = classifier.deploy().expect("compiles").topology() == Topology::STEPS;
            // A direction that weighs transitions moves a chain that was known.
            let moves = matches!(features, Features::LatentMap { .. });
            assert_eq!(known, family == Family::Aligned && !moves);
            for ((view, values), raw) in new.iter().zip(&trained.values).zip(&raw) {
                let [single, double] = streamed(&classifier, *view);
                for (o, &value) in values.iter().enumerate() {
                    let scale = magnitude(&pulled[o], raw);
                    let what = format!(
                        "{family:?} {features:?} {scaling:?} {kernel:?} {classes} classes: {value}"
                    );
                    let off = (double[o] - value).abs();
                    assert!(off <= 1e-9 * (1.0 + scale), "{what}, in f64 {}", double[o]);
                    let off = (single[o] - value).abs() / (1.0 + scale);
                    assert!(off <= 64.0 * f64::from(f32::EPSILON), "{what}, in f32 {}", single[o]);
                    worst = worst.max(off);
                }
            }
        }
    }
    worst
}

const SCALINGS: [Scaling; 5] =
    [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened, Scaling::Sampled, Scaling::Exact];

const NORMALISATIONS: [Normalisation; 3] =
    [Normalisation::NONE, Normalisation::PER_SAMPLE, Normalisation::PER_ROOT_SAMPLE];

const ALL: [Family; 3] = [Family::Symbols, Family::Channels, Family::Aligned];

macro_rules! routes {
    ($($name:ident: $features:ident $({ $($field:ident: $value:expr),* })? of $families:expr;)*) => {$(
        #[test]
        fn $name() {
            for (f, family) in $families.into_iter().enumerate() {
                for (s, scaling) in SCALINGS.into_iter().enumerate() {
                    if family == Family::Channels && scaling == Scaling::Exact {
                        continue; // real numbers cannot be enumerated
                    }
                    // Every pair of choices occurs, but where there are few families; not every three of them.
                    for normalisation in NORMALISATIONS.into_iter().skip((f + s) % 3).step_by(3) {
                        let worst = check(family, Features::$features $({ $($field: $value),* })?, scaling, normalisation);
                        println!("{family:?} {scaling:?} {normalisation:?}: {worst:.1e} in f32");
                    }
                }
            }
        }
    )*};
}

routes! {
    fisher_scores_compile_to_directions: Scores of ALL;
    log_odds_and_their_tangents_compile_to_directions: LogOdds of ALL;
    expected_statistics_compile_to_directions: Counts of ALL;
    latent_mean_maps_compile_to_directions:
        LatentMap { mismatch: 0.3 } of [Family::Symbols, Family::Aligned];
    empirical_mean_maps_compile_to_contexts:
        EmpiricalMap { order: 1, mismatch: 0.3 } of [Family::Symbols];
}
