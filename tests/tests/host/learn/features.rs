//! Which features there are, and which channels they can come from.

use fishweir::classifier::Codebooks;
use fishweir::data::{Dataset, Kind, Samples, SamplesView};
use fishweir::learn::{
    FeatureKind, FeatureMap, FeatureScaler, Features, Linear, Matrix, Scales, Scaling,
    coarse_channels, constant_channels,
};
use fishweir::model::scores;
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::classify::Normalisation;
use fishweir_core::emission::Parametrisation;

use crate::learn::assert_close;

/// From left to right; what is certain or impossible does not move.
fn ordered() -> Hmm {
    Hmm {
        initial: vec![1.0, 0.0],
        transition: vec![vec![0.9, 0.1], vec![0.0, 1.0]],
        emission: Emissions::categorical(vec![vec![0.5, 0.5, 0.0], vec![0.2, 0.3, 0.5]]),
    }
}

/// The one state and the one symbol that there are.
fn certain() -> Hmm {
    let emission = Emissions::categorical(vec![vec![1.0]]);
    Hmm { initial: vec![1.0], transition: vec![vec![1.0]], emission }
}

fn map(features: Features, models: Vec<Hmm>, with_likelihood: bool) -> FeatureMap {
    FeatureMap::new(features, models, Vec::new(), with_likelihood, Normalisation::NONE)
}

#[test]
fn entries_of_a_score_that_cannot_move_are_no_features() {
    let model = ordered();
    let samples = Samples::Symbols([0, 1, 1, 2, 0].map(Some).to_vec());
    let whole = scores(&model, &[samples.view()], Parametrisation::SOFTMAX).expect("possible");
    // Two of a row of transitions, two and three symbols: those of probability zero or one are left out.
    let moving = [2, 3, 6, 7, 9, 10, 11];
    for models in [1, 2] {
        let map = map(Features::Scores, vec![model.clone(); models], true);
        let found = map.extract(&[samples.view()]).remove(0).expect("possible");
        assert_eq!((map.len(), found.len()), (8 * models, 8 * models));
        for block in found.chunks(8) {
            for (feature, place) in block.iter().zip(moving) {
                assert_close(*feature, whole[0].score[place], 1e-12, "entry");
            }
            assert_close(block[7], whole[0].log_likelihood, 1e-12, "log-likelihood");
        }
        assert_eq!(map.blocks()[models - 1], 8 * (models - 1)..8 * models - 1);
    }
}

#[test]
fn where_nothing_can_move_there_is_no_feature() {
    assert!(map(Features::Scores, vec![certain()], false).is_empty());
    let likelihood = map(Features::Scores, vec![certain()], true);
    assert!(!likelihood.is_empty() && likelihood.len() == 1);
    assert!(!map(Features::Counts, vec![certain()], false).is_empty());
    let other = Samples::Symbols(vec![Some(0); 3]);
    let views: [SamplesView<'_>; 1] = [other.view()];
    let none = map(Features::Scores, vec![certain()], false).extract(&views);
    assert_eq!(none, [Some(Vec::new())]);
}

/// Log-odds of pairs are of both models, and each score weighs by the pairs that its model is in.
#[test]
fn weights_on_log_odds_are_on_both_models_likelihoods() {
    let models = vec![ordered(); 3];
    let log_odds = map(Features::LogOdds, models.clone(), true);
    let scores = map(Features::Scores, models, false);
    assert_eq!(log_odds.len(), scores.len() + 3, "no log-likelihood but in the log-odds");
    let mut weights: Vec<f64> = (0..scores.len()).map(|k| (k % 5) as f64 - 2.0).collect();
    let plain = scores.directions(&weights);
    // Of models 0 and 1, 0 and 2, 1 and 2.
    weights.extend([1.0, 10.0, 100.0]);
    let weighed = log_odds.directions(&weights);
    let likelihoods: Vec<f64> = weighed.iter().map(|(_, likelihood)| *likelihood).collect();
    assert_eq!(likelihoods, [-11.0, 1.0 - 100.0, 110.0]);
    for ((of_scores, none), (of_both, _)) in plain.iter().zip(&weighed) {
        assert_eq!(*none, 0.0);
        let entries =
            of_scores.transition.iter().flatten().zip(of_both.transition.iter().flatten());
        for (plain, weighed) in entries {
            assert_close(*weighed, 2.0_f64.sqrt() * plain, 1e-12, "entry");
        }
    }
}

#[test]
fn where_nothing_moves_whitening_leaves_zeros() {
    let map = map(Features::Scores, vec![ordered()], false);
    let mut matrix = Matrix::new(map.len());
    (0..4).for_each(|_| matrix.push(&vec![0.0; map.len()]));
    let metric = FeatureScaler::of(&matrix, &[5; 4], &map, Scaling::Whitened).expect("a metric");
    assert_eq!(metric.map(&vec![1.0; map.len()]), vec![0.0; map.len()]);
}

/// Features of some series by two models, and the matrix of them. One of them never moves.
fn rows() -> (FeatureMap, Vec<Vec<f64>>, Matrix) {
    let mut other = ordered();
    other.transition = vec![vec![0.5, 0.5], vec![0.5, 0.5]];
    other.emission = Emissions::categorical(vec![vec![0.2, 0.3, 0.5], vec![0.6, 0.2, 0.2]]);
    let map = map(Features::Scores, vec![ordered(), other], true);
    let samples: Vec<Samples> = (0..12).map(|seed| ordered().simulate(15, seed)).collect();
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let mut rows: Vec<Vec<f64>> = map.extract(&views).into_iter().flatten().collect();
    rows.iter_mut().for_each(|row| row[3] = 0.0);
    let mut matrix = Matrix::new(map.len());
    rows.iter().for_each(|row| matrix.push(row));
    (map, rows, matrix)
}

const SCALINGS: [Scaling; 3] = [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened];

/// One grid of C serves all: scores have a mean square norm of one, and so have log-likelihoods, which are
/// centred.
#[test]
fn scaled_scores_and_log_likelihoods_have_a_mean_square_norm_of_one() {
    let (map, rows, matrix) = rows();
    let is_likelihood: Vec<bool> =
        map.kinds().iter().map(|kind| *kind == FeatureKind::Likelihood).collect();
    let scores = is_likelihood.iter().filter(|is| !**is).count();
    assert_eq!((scores, map.len()), (map.len() - 2, is_likelihood.len()));
    for scaling in SCALINGS {
        let metric = FeatureScaler::of(&matrix, &[15; 12], &map, scaling).expect("a metric");
        let mapped: Vec<Vec<f64>> = rows.iter().map(|row| metric.map(row)).collect();
        let mean = |k: usize, power: i32| {
            mapped.iter().map(|row| row[k].powi(power)).sum::<f64>() / mapped.len() as f64
        };
        for wanted in [false, true] {
            let columns = (0..map.len()).filter(|&k| is_likelihood[k] == wanted);
            // Divided by its own root mean square, a feature that never moves has no part in it.
            let dead = usize::from(!wanted && scaling == Scaling::Diagonal) as f64;
            let norm: f64 = columns.map(|k| mean(k, 2)).sum();
            assert_close(norm, 1.0 - dead / scores as f64, 1e-4, scaling.name());
        }
        for k in (0..map.len()).filter(|&k| is_likelihood[k]) {
            assert_close(mean(k, 1), 0.0, 1e-5, "mean of a log-likelihood");
        }
        if scaling == Scaling::Diagonal {
            assert_close(mean(0, 2), 1.0 / scores as f64, 1e-5, "mean square of an entry");
        }
        // A machine on what is scaled is one on what is not.
        let weights = (0..map.len()).map(|k| (k * 5 % 7) as f64 - 3.0).collect();
        let machine = Linear { weights, bias: 0.75 };
        let pulled = metric.pull(&machine);
        for (row, mapped) in rows.iter().zip(&mapped) {
            assert_close(pulled.value(row), machine.value(mapped), 1e-9, scaling.name());
        }
    }
}

/// Codewords and levels are centred, and as large as scores times their weight, each in a block of their own.
#[test]
fn blocks_of_codebooks_are_as_large_as_their_weight() {
    let model = Hmm {
        initial: vec![0.5, 0.5],
        transition: vec![vec![0.9, 0.1], vec![0.2, 0.8]],
        emission: Emissions::gaussian(vec![vec![-1.0], vec![1.0]], vec![vec![1.0], vec![0.5]]),
    };
    let samples: Vec<Samples> = (0..10).map(|seed| model.simulate(40, seed)).collect();
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let rows: Vec<_> = views.iter().filter_map(SamplesView::rows).collect();
    let books = Codebooks::draw(&rows, &[1.0], 2).expect("long enough").with_levels(&rows, 2);
    let (factor, features) = (Normalisation::PER_SAMPLE, Features::Scores);
    let map = FeatureMap::new(features, vec![model], vec![1.0], false, factor).beside(Some(books));
    let features: Vec<Vec<f64>> = map.extract(&views).into_iter().flatten().collect();
    let mut matrix = Matrix::new(map.len());
    features.iter().for_each(|row| matrix.push(row));
    let of = |kind| (0..map.len()).filter(|&k| map.kinds()[k] == kind).collect::<Vec<usize>>();
    let (words, levels) = (of(FeatureKind::Codeword), of(FeatureKind::Level));
    // Three dilations, two codebooks each.
    assert_eq!((words.len(), levels.len()), (3 * 2 * 8, 3 * 2 * 8 * 2));
    assert_eq!(levels.last(), Some(&(map.len() - 1)));
    for scaling in SCALINGS {
        let of_weight = |codebook_weight| {
            let scales = Scales { scaling, codebook_weight };
            let metric = FeatureScaler::of(&matrix, &[40; 10], &map, scales).expect("a metric");
            features.iter().map(|row| metric.map(row)).collect::<Vec<_>>()
        };
        let (plain, weighed) = (of_weight(1.0), of_weight(4.0));
        for block in [&words, &levels] {
            let mean = |mapped: &[Vec<f64>], k: usize, power: i32| {
                mapped.iter().map(|row| row[k].powi(power)).sum::<f64>() / mapped.len() as f64
            };
            let norm = |mapped| block.iter().map(|&k| mean(mapped, k, 2)).sum::<f64>();
            // What never moves has no part where each is divided by its own deviation.
            let still = block.iter().filter(|&&k| mean(&plain, k, 2) == 0.0).count();
            let still = if scaling == Scaling::Diagonal { still } else { 0 };
            let wanted = 1.0 - still as f64 / block.len() as f64;
            assert_close(norm(&plain), wanted, 1e-4, scaling.name());
            assert_close(norm(&weighed), 16.0 * wanted, 2e-3, scaling.name());
            block.iter().for_each(|&k| assert_close(mean(&weighed, k, 1), 0.0, 1e-5, "a mean"));
        }
        for (plain, weighed) in plain.iter().zip(&weighed) {
            assert_eq!(plain[..words[0]], weighed[..words[0]], "scores");
        }
    }
}

/// Whatever a metric does to features, entry by entry where none is mixed with another.
#[test]
fn a_metric_is_one_affine_map() {
    let (map, rows, matrix) = rows();
    for scaling in SCALINGS {
        let metric = FeatureScaler::of(&matrix, &[15; 12], &map, scaling).expect("a metric");
        let affine = metric.affine(map.len());
        let diagonal = affine.diagonal();
        assert_eq!(diagonal.is_none(), scaling == Scaling::Whitened);
        for row in &rows {
            for (k, mapped) in metric.map(row).into_iter().enumerate() {
                let centred = row.iter().zip(&affine.centre).map(|(x, centre)| x - centre);
                let image = affine.rows[k].iter().zip(centred.clone()).map(|(a, x)| a * x).sum();
                assert_close(image, mapped, 1e-9, scaling.name());
                let Some(rates) = &diagonal else { continue };
                let alone: Vec<f64> = rates.iter().zip(centred).map(|(a, x)| a * x).collect();
                assert_close(alone[k], mapped, 1e-9, scaling.name());
            }
        }
    }
}

/// Near 2^20 single precision goes in eighths.
#[test]
fn a_channel_is_coarse_whose_steps_are_over_a_tenth_of_its_spread() {
    let names = ["fine", "coarse", "below", "still"].map(str::to_owned).to_vec();
    let far = f64::from(1 << 20);
    let row = |t: u32| {
        let turn = f64::from(t % 2) * 2.0 - 1.0;
        [far + 2.0 * turn, far + turn, -far + turn, far]
    };
    let series = (0..3).map(|_| ("a", (0..8).map(row).collect::<Samples>()));
    let data = Dataset::labelled(Kind::Channels(names), series).expect("sound");
    let coarse = coarse_channels(&data, &[0, 2]);
    assert_eq!(coarse, [("coarse", 0.125, 1.0), ("below", 0.125, 1.0)]);
    assert_eq!(constant_channels(&data, &[0, 2]), ["still"]);
    assert!(coarse_channels(&data, &[]).is_empty() && constant_channels(&data, &[]).is_empty());
}
