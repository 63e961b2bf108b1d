//! Families of emissions: what was planted is found again, scores are derivatives, and directions weigh
//! them.

use fishweir::batch::log_likelihoods;
use fishweir::classifier::{ChannelRange, Classifier, Observations, Output, Provenance, Rule};
use fishweir::data::{Dataset, Front, Lags, Rows, Sample, Samples, SamplesView};
use fishweir::fit::{BaumWelch, Topology};
use fishweir_tests::checks::views;
use fishweir_tests::quick::{channels, trained_behind};

use fishweir::learn::{ClassifierKind, FeatureMap, Features, Request, train};
use fishweir::model::scores;
use fishweir::runtime::{Emissions, Hmm, family};
use fishweir_core::classify::Normalisation;
use fishweir_core::emission::Parametrisation;

use crate::learn::assert_close;

const NAMES: [&str; 6] =
    ["poisson", "bernoulli", "full-gaussian", "mixture", "autoregressive", "gaussian"];

/// Two states that linger and differ, over two channels or three.
fn planted(name: &str) -> Hmm {
    let parts: Vec<Vec<Vec<f64>>> = match name {
        "poisson" => vec![vec![vec![1.0, 6.0, 0.2], vec![7.0, 2.0, 400.0]]],
        "bernoulli" => vec![vec![vec![0.1, 0.8, 0.5], vec![0.7, 0.3, 0.9]]],
        "gaussian" => {
            vec![vec![vec![0.0, 3.0], vec![2.0, -3.0]], vec![vec![1.0, 0.5], vec![2.0, 4.0]]]
        }
        "full-gaussian" => vec![
            vec![vec![0.0, 0.0], vec![0.5, 100.0]],
            vec![vec![1.0, 0.8, 0.8, 1.0], vec![2.0, -9.0, -9.0, 60.0]],
        ],
        // One level, and two ways to move about it; what a channel does in one state it does in none.
        "autoregressive" => vec![
            vec![vec![0.0, 3.0], vec![0.0, 3.0]],
            vec![vec![1.0, 0.5], vec![0.5, 0.25]],
            vec![vec![0.0, 3.0], vec![0.0, 3.0]],
            vec![vec![1.4, 0.0, -0.7, 0.5], vec![-0.5, 1.8, 0.25, -0.9]],
        ],
        _ => vec![
            vec![vec![0.3, 0.7], vec![0.5, 0.5]],
            vec![vec![-4.0, 0.0, -4.0, 4.0], vec![4.0, 1.0, 3.0, 5.0]],
            vec![vec![1.0, 0.5, 0.8, 2.0], vec![0.5, 1.0, 0.7, 0.7]],
        ],
    };
    let emission = Emissions::new(family(name).expect("a family"), parts);
    let hmm =
        Hmm { initial: vec![0.6, 0.4], transition: vec![vec![0.9, 0.1], vec![0.2, 0.8]], emission };
    hmm.validate().expect("a model");
    hmm
}

fn drawn(hmm: &Hmm, series: u64, length: usize, seed: u64) -> Vec<Samples> {
    (0..series).map(|number| hmm.simulate(length, seed + number)).collect()
}

/// Series of which each channel is missing in a share of the samples, and some samples whole.
fn in_part(samples: Vec<Samples>, share: f64) -> Vec<Samples> {
    // A fixed sequence of numbers from 0 to 1.
    let mut at = 0.0_f64;
    let mut next = || {
        at = (at + 0.754_877_666_246_692_7).fract();
        at
    };
    let one = |samples: &Samples| {
        let rows = samples.view().rows().expect("channels");
        let mut made = Rows::new(rows.dimension());
        for row in rows.iter() {
            let row = row.expect("drawn").iter();
            let row: Vec<f64> = row.map(|&x| if next() < share { f64::NAN } else { x }).collect();
            made.push(Some(&row));
        }
        Samples::Channels(made)
    };
    samples.iter().map(one).collect()
}

fn total(hmm: &Hmm, views: &[SamplesView<'_>]) -> f64 {
    let logs = log_likelihoods::<f64>(hmm, views).expect("a model");
    logs.into_iter().map(|log| log.expect("possible")).sum()
}

#[test]
fn a_planted_model_is_found_again() {
    for (name, share) in NAMES.into_iter().flat_map(|name| [(name, 0.0), (name, 0.2)]) {
        let truth = planted(name);
        let shown = in_part(drawn(&truth, 20, 300, 1), share);
        let held_back = in_part(drawn(&truth, 20, 300, 100), share);
        let options = BaumWelch {
            states: 2,
            topology: Topology::Ergodic,
            emission: family(name),
            std_floor: 0.01,
            restarts: 3,
            rows: if name == "autoregressive" { 3 } else { 1 },
            ..BaumWelch::default()
        };
        let scale = vec![1.0; truth.size()];
        let fit = options.fit(&views(&shown), truth.size(), &scale, &|| ()).expect("fitted");
        // No pass makes what was shown less likely; of no pseudocounts' doing is a loss of this size.
        let fell = fit.log_likelihood.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
        assert!(fell < 0.05, "{name}: a pass lost {fell} nats");
        // On what it has not seen it is as likely as the truth, but for its parameters' uncertainty.
        let lost = total(&truth, &views(&held_back)) - total(&fit.model, &views(&held_back));
        assert!(lost.abs() < 40.0, "{name}: {lost} nats in 6000 samples");
        let found = &fit.model.emission;
        for (part, tolerance) in
            [("rate", 0.1), ("probability", 0.05), ("covariance", 0.15), ("coefficient", 0.05)]
        {
            let (Some(truth), Some(found)) = (truth.emission.part(part), found.part(part)) else {
                continue;
            };
            let away = |order: [usize; 2]| {
                let rows = truth.iter().zip(order.map(|state| &found[state]));
                let entries = rows.flat_map(|(truth, found)| truth.iter().zip(found));
                entries.map(|(t, f)| (t - f).abs() / (1.0 + t.abs())).fold(0.0, f64::max)
            };
            let away = away([0, 1]).min(away([1, 0]));
            assert!(away < tolerance, "{name}: {part} off by {away}: {found:?}");
        }
    }
}

/// The model with one coordinate of one state's score moved.
fn moved(hmm: &Hmm, block: &str, state: usize, entry: usize, by: f64) -> Hmm {
    let mut hmm = hmm.clone();
    let size = hmm.size();
    let emission = &mut hmm.emission;
    let mut row = |part: &str, change: &dyn Fn(&mut Vec<f64>)| {
        change(&mut emission.part_mut(part).expect("a part")[state]);
    };
    match block {
        "log_rate" => row("rate", &|row| row[entry] *= by.exp()),
        "logit" => row("probability", &|row| {
            let odds = row[entry] / (1.0 - row[entry]) * by.exp();
            row[entry] = odds / (1.0 + odds);
        }),
        "logits" => row("weight", &|row| {
            row[entry] *= by.exp();
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }),
        "mean" | "coefficient" => row(block, &|row| row[entry] += by),
        "covariance" => row("covariance", &|row| {
            row[entry] += by;
            let mirrored = entry % size * size + entry / size;
            if mirrored != entry {
                row[mirrored] += by;
            }
        }),
        _ => row("std", &|row| row[entry] *= by.exp()),
    }
    hmm.validate().expect("a model");
    hmm
}

#[test]
fn scores_are_derivatives() {
    for (name, share) in NAMES.into_iter().flat_map(|name| [(name, 0.0), (name, 0.3)]) {
        let hmm = planted(name);
        let samples = in_part(drawn(&hmm, 3, 20, 7), share);
        let views = views(&samples);
        // Of a covariance matrix the score is with respect to its entries.
        let full = name == "full-gaussian";
        let by = if full { Parametrisation::RATIO } else { Parametrisation::SOFTMAX };
        let found = scores(&hmm, &views, by).expect("possible");
        let blocks: Vec<(&str, usize)> = match name {
            "poisson" => vec![("log_rate", 3)],
            "bernoulli" => vec![("logit", 3)],
            "full-gaussian" => vec![("mean", 2), ("covariance", 4)],
            "autoregressive" => vec![("mean", 2), ("log_std", 2), ("coefficient", 4)],
            "gaussian" => vec![("mean", 2), ("log_std", 2)],
            _ => vec![("logits", 2), ("mean", 4), ("log_std", 4)],
        };
        let mut place = 2 + 4;
        for state in 0..2 {
            for &(block, width) in &blocks {
                for entry in 0..width {
                    let h = 1e-5;
                    let log = |h| total(&moved(&hmm, block, state, entry, h), &views);
                    let slope = (log(h) - log(-h)) / (2.0 * h);
                    let off_diagonal = block == "covariance" && entry % 2 != entry / 2;
                    let twice = if off_diagonal { 2.0 } else { 1.0 };
                    let score: f64 = found.iter().map(|one| twice * one.score[place]).sum();
                    let what = format!("{name}: {block} [{state}][{entry}]");
                    assert_close(score, slope, 1e-5, &what);
                    place += 1;
                }
            }
        }
        assert!(found.iter().all(|one| one.score.len() == place), "{name}");
    }
}

/// A channel that may be missing, or not.
fn channel_in_part(missing: bool) -> ChannelRange {
    let unit = String::new();
    ChannelRange { unit, centre: 0.0, spread: 1.0, rests: None, fixed: false, missing }
}

/// A classifier linear in scores compiles to directions: their stream says the inner product.
#[test]
fn directions_weigh_scores() {
    for (name, share) in NAMES.into_iter().flat_map(|name| [(name, 0.0), (name, 0.3)]) {
        let hmm = planted(name);
        let mut other = hmm.clone();
        other.transition.swap(0, 1);
        let lags = if name == "autoregressive" { Lags::order(2) } else { Lags::NONE };
        let own = hmm.size() / lags.width(1);
        let channels: Vec<String> = (0..own).map(|d| format!("c{d}")).collect();
        let scale: Vec<f64> = (0..hmm.size()).map(|d| 0.5 + d as f64).collect();
        let models = vec![hmm.clone(), other];
        let map =
            FeatureMap::new(Features::Scores, models.clone(), scale, true, Normalisation::NONE);
        let weights: Vec<f64> = (0..map.len()).map(|n| ((n * 7 % 11) as f64 - 5.0) / 8.0).collect();
        let (directions, likelihoods) = map.directions(&weights).into_iter().unzip();
        let classifier = Classifier {
            method: "fisher".into(),
            observations: Observations::Channels(channels),
            classes: vec!["a".into(), "b".into()],
            front: Front::NONE,
            lags: lags.clone(),
            centre: Vec::new(),
            scale: Vec::new(),
            models,
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::Linear(vec![Output {
                bias: 0.25,
                weights: likelihoods,
                directions,
                codewords: Vec::new(),
                levels: Vec::new(),
            }]),
            confidence: None,
            teaching: None,
            provenance: Provenance {
                channels: (0..own).map(|_| channel_in_part(share > 0.0)).collect(),
                ..Provenance::default()
            },
        };
        let text = serde_json::to_string(&classifier).expect("JSON");
        let read: Classifier = serde_json::from_str(&text).expect("reads back");
        assert_eq!(read, classifier, "{name}");
        let samples = drawn(&hmm, 1, 60, 3);
        // A sensor's channels, of which its past is made again.
        let mut raw = Rows::new(own);
        samples[0].view().iter().for_each(|sample| match sample {
            Sample::Row(row) => raw.push(Some(&row[..own])),
            _ => raw.push(None),
        });
        let raw = in_part(vec![Samples::Channels(raw)], share).remove(0);
        let (view, wide) = (raw.view(), lags.widen(raw.view()));
        let features = map.extract(&[wide.view()]).remove(0).expect("possible");
        let terms = features.iter().zip(&weights).map(|(feature, weight)| feature * weight);
        let (value, size) =
            terms.fold((0.25, 1.0), |(sum, size), term: f64| (sum + term, size + term.abs()));
        let mut single = read.deploy().expect("fits in f32").stream();
        let mut double = read.compile_in::<f64>().expect("fits").stream();
        for sample in view.iter() {
            single.push(sample).expect("possible");
            double.push(sample).expect("possible");
        }
        let off = (double.decision_values().expect("in range")[0] - value).abs() / size;
        assert!(off < 1e-10, "{name}: off by {off:e} in f64");
        let off = (f64::from(single.decision_values().expect("in range")[0]) - value).abs() / size;
        assert!(off < 64.0 * f64::from(f32::EPSILON), "{name}: off by {off:e} in f32");
    }
}

/// Words are learnt from the series trained on: others may be anything, and those trained on matter.
#[test]
fn words_of_symbols_are_learnt_from_training_series_alone() {
    let data = channels();
    let with = |changed: usize| {
        let altered = data.series().iter().enumerate().map(|(index, series)| {
            let mut rows = Rows::new(3);
            let shift = if index % 2 == changed { 1_000.0 } else { 0.0 };
            let view = series.samples.view().rows().expect("channels");
            view.iter().flatten().for_each(|row| {
                rows.push(Some(&row.iter().map(|x| x + shift).collect::<Vec<_>>()))
            });
            (["p", "q"][series.label.expect("labelled")], Samples::Channels(rows))
        });
        Dataset::labelled(data.kind().clone(), altered).expect("series")
    };
    // Trained on those of even numbers.
    let classifier = |data: &Dataset| trained_behind(data, "decimate=2,symbols=6");
    let (own, others, trained) = (classifier(&with(2)), classifier(&with(1)), classifier(&with(0)));
    assert!(own.front.makes_symbols());
    assert_eq!((&own.front, &own.models), (&others.front, &others.models));
    assert_ne!(own.front, trained.front);
    // A file keeps them, to the bit.
    let text = serde_json::to_string(&own).expect("JSON");
    assert_eq!(serde_json::from_str::<Classifier>(&text).expect("reads back"), own);
    // One Gaussian's models know no symbols.
    let mut options = Request::minimal(ClassifierKind::Bayes);
    options.front = "symbols=6".parse().expect("a front end");
    options.baum_welch.emission = family("gaussian");
    let refused = train(&data, &[0, 2, 4, 6], &options, &|| ()).expect_err("refused").to_string();
    assert!(refused.contains("gaussian"), "{refused}");
    options.baum_welch.emission = None;
    options.front = "symbols=64".parse().expect("a front end");
    let refused = train(&data, &[0], &options, &|| ()).expect_err("refused").to_string();
    assert!(refused.contains("different rows"), "{refused}");
}
