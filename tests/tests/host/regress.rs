//! Regressions: a stream's value is the weighted score that closed-form ridge regression of explicit scores gives.

use std::num::NonZeroUsize;

use fishweir::Normalisation;
use fishweir::classifier::{Regressor, Rule, Scaling};
use fishweir::data::{
    Dataset, Kind, Lags, RegressionData, Samples, SamplesView, ShortSeries, TargetValue, Windowing,
};
use fishweir::deploy::Deployed;
use fishweir::learn::{ClassifierKind, FeatureMap, Features, LagChoice, Request};
use fishweir::regress::{RegressionRequest, estimate, train};
use fishweir_tests::sample::Sampler;

/// Twelve series of sixty samples of two channels, and a third that is to be estimated.
fn swings() -> RegressionData {
    let mut s = Sampler::new(5);
    let mut series = |n: usize| -> Samples {
        let swing = 1.0 + 0.2 * n as f64;
        let sample = |t: usize| {
            let phase = 0.8 * t as f64;
            let mut near = |x: f64| x + 0.1 * s.normal();
            [near(swing * phase.sin()), near(swing * phase.cos()), swing + 0.001 * t as f64]
        };
        (0..60).map(sample).collect()
    };
    let channels = Kind::Channels(["x", "y", "swing (mm)"].map(str::to_owned).to_vec());
    let all: Vec<(&str, Samples)> = (0..12).map(|n| ("all", series(n))).collect();
    RegressionData::new(Dataset::labelled(channels, all).expect("sound"), "swing")
        .expect("a target")
}

fn request(kind: ClassifierKind, of: TargetValue) -> RegressionRequest {
    let mut request = Request::new(kind);
    request.states = vec![2];
    request.lags = LagChoice::Given(vec![Lags::NONE]);
    request.codebooks = vec![0];
    request.with_likelihood = false;
    (request.scalings, request.c) = (vec![Scaling::Practical], vec![100.0]);
    (request.sigma, request.landmarks) = (vec![1.0], NonZeroUsize::new(10));
    request.windowing = Some(Windowing {
        length: NonZeroUsize::new(20).expect("positive"),
        hop: NonZeroUsize::new(10).expect("positive"),
        short: ShortSeries::Keep,
    });
    RegressionRequest { request, of, coverage: 0.8 }
}

/// Solves `A x = b` by Gaussian elimination with the largest pivot.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("one");
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

#[test]
fn a_stream_has_the_value_of_closed_form_ridge_regression_on_explicit_scores() {
    let source = swings();
    let request = request(ClassifierKind::Fisher, TargetValue::Mean);
    let trained = train(&source, &request, &|| ()).expect("trains");
    let regressor = &trained.regressor;
    let [model] = regressor.estimator.models.as_slice() else { panic!("one model") };
    // The scores of all windows, per sample, by the library's features.
    let (_, scale) = fishweir::data::centre_and_scale(&source.data, &(0..12).collect::<Vec<_>>());
    let models = vec![model.clone()];
    let map = FeatureMap::new(Features::Scores, models, scale, false, Normalisation::PER_SAMPLE);
    let windows = source.data.windows(request.request.windowing.as_ref());
    let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
    let rows: Vec<Vec<f64>> =
        map.extract(&views).into_iter().map(|row| row.expect("possible")).collect();
    let of = |window| source.of_window(window, TargetValue::Mean).expect("a target");
    let targets: Vec<f64> = windows.all().iter().map(of).collect();
    // One factor, so that the block's mean square norm is one; then (Z' Z + 1 / (2 C)) w = Z' t.
    let count = rows.len() as f64;
    let squares: f64 = rows.iter().flatten().map(|x| x * x).sum::<f64>() / count;
    let factor = squares.sqrt().recip();
    let columns = rows[0].len();
    let mean: Vec<f64> =
        (0..columns).map(|k| rows.iter().map(|row| row[k] * factor).sum::<f64>() / count).collect();
    let middle = targets.iter().sum::<f64>() / count;
    let centred: Vec<Vec<f64>> =
        rows.iter().map(|row| (0..columns).map(|k| row[k] * factor - mean[k]).collect()).collect();
    let product = |j: usize, k: usize| centred.iter().map(|row| row[j] * row[k]).sum::<f64>();
    let moments: Vec<Vec<f64>> = (0..columns)
        .map(|j| {
            (0..columns).map(|k| product(j, k) + if j == k { 0.5 / 100.0 } else { 0.0 }).collect()
        })
        .collect();
    let right: Vec<f64> = (0..columns)
        .map(|k| centred.iter().zip(&targets).map(|(row, t)| row[k] * (t - middle)).sum())
        .collect();
    let weights = solve(moments, right);
    let deployed = regressor.deploy().expect("fits in f32");
    let (estimates, _) = estimate(
        &deployed,
        &source,
        &(0..12).collect::<Vec<_>>(),
        (request.request.windowing.as_ref(), TargetValue::Mean),
        0.0,
    );
    assert_eq!(estimates.len(), rows.len());
    let spread = regressor.trained.deviation;
    for (one, row) in estimates.iter().zip(&centred) {
        let expected = middle + row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
        assert!((one.estimate - expected).abs() < 2e-3 * spread, "{one:?}, not {expected}");
    }
    // What a stream decides is the one decision value.
    let mut stream = deployed.stream();
    for sample in views[3].iter() {
        stream.push(sample).expect("possible");
    }
    let [value] = stream.decision_values().expect("in range")[..] else { panic!("one value") };
    assert_eq!(stream.decision().expect("in range").value().to_bits(), value.to_bits());
    assert_eq!(f64::from(value), estimates[3].estimate);
}

#[test]
fn file_and_artefact_keep_every_bit() {
    let source = swings();
    for kind in ["fisher", "gaussian"] {
        let kind = *ClassifierKind::ALL.iter().find(|one| one.to_string() == kind).expect("a kind");
        let trained = train(&source, &request(kind, TargetValue::Last), &|| ()).expect("trains");
        let (own, mean) = (trained.validation.figures, trained.validation.baseline);
        assert!(own.rmse < 0.6 * mean.rmse, "{kind}: {own:?}, {mean:?}");
        let regressor = trained.regressor;
        assert_eq!(matches!(regressor.estimator.rule, Rule::Linear(_)), kind.compiles());
        let text = regressor.to_json().expect("numbers");
        assert!(Regressor::is_one(text.as_bytes()));
        let read = Regressor::parse("m.json", text.as_bytes()).expect("a regression");
        assert_eq!(read, regressor);
        let deployed = read.deploy().expect("fits in f32");
        let target = deployed.target().expect("a target");
        assert_eq!((target.name.as_str(), target.unit.as_str()), ("swing", "mm"));
        assert_eq!(target.of, TargetValue::Last);
        if kind.compiles() {
            let bytes = deployed.to_artefact().expect("small enough");
            assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
        }
        // A file whose estimator decides between classes is none of a regression.
        let other = text.replace("[\"-\",\"+\"]", "[\"no\",\"+\"]");
        assert!(Regressor::parse("m.json", other.as_bytes()).is_err());
    }
}
