//! Coresets: the laws of a stream, the discrepancy by its definition, weights that add up, and exchanges that are the best.

use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::kernel::{Coreset, CoresetState, DenseFeatures, FeatureMap, KeptItem};
use fishweir_core::network::EventFeatures;

use super::*;

const K: usize = 4;

/// What is kept, as index, weight and features.
fn kept<I, V>(state: &CoresetState<[Option<KeptItem<I>>; K], V>) -> Vec<&KeptItem<I>> {
    state.kept().collect()
}

/// The squared discrepancy between the items at `some` and all, from the Gram matrix.
fn discrepancy(gram: &[Vec<f64>], some: &[usize]) -> f64 {
    let mean = |rows: &[usize], columns: &[usize]| -> f64 {
        let pairs = rows.iter().flat_map(|&i| columns.iter().map(move |&j| gram[i][j]));
        pairs.sum::<f64>() / (rows.len() * columns.len()) as f64
    };
    let all: Vec<usize> = (0..gram.len()).collect();
    mean(some, some) + mean(&all, &all) - 2.0 * mean(some, &all)
}

/// Runs a stream and compares it with the definition after every item. `kernel` is that of the features, in `f64`.
fn follows_definition<M, const D: usize>(
    features: M,
    items: &[M::Item],
    kernel: impl Fn(&M::Item, &M::Item) -> f64,
) where
    M: FeatureMap<Item: PartialEq + std::fmt::Debug> + Copy,
{
    let mut stream = Stream::new(Coreset::<M, K, D>::new(features));
    let mut before: Vec<usize> = Vec::new();
    for seen in 1..=items.len() {
        stream.push(&items[seen - 1]).expect("an item");
        let gram: Vec<Vec<f64>> = items[..seen]
            .iter()
            .map(|x| items[..seen].iter().map(|y| kernel(x, y)).collect())
            .collect();
        let scale = 1.0 + (0..seen).map(|i| gram[i][i]).fold(0.0, f64::max);
        let now: Vec<usize> = kept(stream.state()).iter().map(|one| one.index as usize).collect();
        let weights: u32 = kept(stream.state()).iter().map(|one| one.weight).sum();
        assert_eq!((weights as usize, stream.state().seen() as usize), (seen, seen));
        assert!(kept(stream.state()).iter().all(|one| one.item == items[one.index as usize]));
        let expected = discrepancy(&gram, &now);
        let got = f64::from(stream.read());
        assert!((got - expected).abs() <= 1e-4 * scale, "{got} where {expected} is right");
        // The best exchange for the item that came, or none.
        let mut least = if before.len() < K { f64::INFINITY } else { discrepancy(&gram, &before) };
        if before.len() < K {
            assert_eq!(now.len(), before.len() + 1);
        } else {
            for place in 0..K {
                let mut other = before.clone();
                other[place] = seen - 1;
                least = least.min(discrepancy(&gram, &other));
            }
            assert!(expected <= least + 1e-5 * scale, "{expected} where {least} is possible");
        }
        before = now;
    }
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn coresets_of_events_follow_their_definition(seed: u64, missing in 0.0_f64..=0.3) {
        let mut drawn = Drawn::new(seed, false);
        let events = drawn.events(30, missing);
        let (theta, precision) = (narrow(&drawn.theta), narrow(&drawn.precision));
        let features = EventFeatures::<[u16; 3]>::new(TERMS, &theta, &precision).expect("tables");
        let kernel = |x: &[u16; 3], y: &[u16; 3]| {
            let mut sum = 0.0;
            for (one, other) in TERMS.locate(x).zip(TERMS.locate(y)).zip(x.iter().zip(y)).filter_map(
                |((a, b), (&s, &t))| Some(((a?, usize::from(s)), (b?, usize::from(t)))),
            ) {
                if one.0 - one.1 == other.0 - other.1 {
                    let inverse = drawn.precision[one.0] * drawn.theta[one.0];
                    let same = if one.0 == other.0 { drawn.precision[one.0] } else { 0.0 };
                    sum += same - inverse;
                }
            }
            sum
        };
        follows_definition::<_, CELLS>(features, &events, kernel);
        let samples: Vec<Option<&[u16; 3]>> = events.iter().enumerate().map(|(at, event)| (at % 5 != 3).then_some(event)).collect();
        let coreset = Coreset::<_, K, CELLS>::new(features);
        let odd = [2, 0, 0];
        let refused = check(coreset, Trial { samples: &samples, refusable: &[&odd] }, |prefix, reading| {
            assert!(reading >= 0.0 && (!prefix.is_empty() || reading == 0.0), "{reading}");
        });
        prop_assert_eq!(refused, samples.len() + 1);
    }

    #[test]
    fn coresets_of_rows_follow_their_definition(seed: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let rows: Vec<[f32; 3]> = (0..40).map(|_| std::array::from_fn(|_| random.random::<f32>() * 4.0 - 2.0)).collect();
        let features = DenseFeatures::<[f32; 3]>::new();
        let kernel = |x: &[f32; 3], y: &[f32; 3]| x.iter().zip(y).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
        follows_definition::<_, 3>(features, &rows, kernel);
        let samples: Vec<Option<&[f32; 3]>> = rows.iter().enumerate().map(|(at, row)| (at % 7 != 3).then_some(row)).collect();
        let coreset = Coreset::<_, K, 3>::new(features);
        let odd = [[f32::NAN, 0.0, 0.0], [0.0, f32::INFINITY, 0.0], [0.0, 0.0, 3e14]];
        let refusable: Vec<&[f32; 3]> = odd.iter().collect();
        let refused = check(coreset, Trial { samples: &samples, refusable: &refusable }, |_, reading| assert!(reading >= 0.0));
        prop_assert_eq!(refused, 3 * (samples.len() + 1));
    }
}

/// After many items the mean has not frozen: of a stream that changes, a coreset follows the mean of all.
#[test]
fn a_coreset_of_a_long_stream_has_its_mean() {
    let coreset = Coreset::<_, 16, 1>::new(DenseFeatures::<[f32; 1]>::new());
    let mut state = coreset.initial_state();
    let half = 2_000_000;
    for time in 0..2 * half {
        let row = [if time < half { (time % 8) as f32 } else { 100.0 + (time % 8) as f32 }];
        coreset.step(&mut state, &row).expect("finite");
    }
    assert!(coreset.read(&state) < 1e-3, "{}", coreset.read(&state));
    let mean = state.kept().map(|kept| f64::from(kept.item[0])).sum::<f64>() / 16.0;
    assert!((mean - 53.5).abs() < 0.05, "{mean}");
    let late: u32 = state.kept().filter(|kept| kept.item[0] >= 100.0).map(|kept| kept.weight).sum();
    assert_eq!(state.kept().filter(|kept| kept.item[0] >= 100.0).count(), 8);
    // Until one in 2 K items is late, none is kept, and an early one stands for them.
    assert!((f64::from(late) / f64::from(half) - 0.97).abs() < 0.02, "{late}");
}
