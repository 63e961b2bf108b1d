//! Which features there are, and which channels they can come from.

use fishweir::data::{Dataset, Kind, Samples, SamplesView};
use fishweir::learn::{
    FeatureMap, Features, Matrix, Metric, Scaling, coarse_channels, constant_channels,
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

/// Whatever a metric does to features, entry by entry where none is mixed with another.
#[test]
fn a_metric_is_one_affine_map() {
    let mut other = ordered();
    other.transition = vec![vec![0.5, 0.5], vec![0.5, 0.5]];
    other.emission = Emissions::categorical(vec![vec![0.2, 0.3, 0.5], vec![0.6, 0.2, 0.2]]);
    let map = map(Features::Scores, vec![ordered(), other], true);
    let samples: Vec<Samples> = (0..12).map(|seed| ordered().simulate(15, seed)).collect();
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let mut rows: Vec<Vec<f64>> = map.extract(&views).into_iter().flatten().collect();
    // A feature may never move.
    rows.iter_mut().for_each(|row| row[3] = 0.0);
    let mut matrix = Matrix::new(map.len());
    rows.iter().for_each(|row| matrix.push(row));
    for scaling in [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened] {
        let metric = Metric::of(&matrix, &[15; 12], &map, scaling).expect("a metric");
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
