//! Sequences side by side are the sequences one by one, bit for bit.

use fishweir::batch::{Batch, expectations, log_likelihoods, posteriors};
use fishweir::data::{Rows, Samples};
use fishweir::fit::{BaumWelch, Topology};
use fishweir::runtime::{Emissions, Hmm as Plain, family};
use fishweir_core::emission::{Categorical, Emission, Gaussian};
use fishweir_core::filter::{Beliefs, Forward, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Real;
use fishweir_tests::checks::views;
use proptest::prelude::*;

const STATES: usize = 3;
const SYMBOLS: usize = 4;
const LANES: usize = 5;

/// A row of probabilities, some of them zero.
fn row(length: usize) -> impl Strategy<Value = Vec<f64>> {
    let entry = prop_oneof![3 => 0.01_f64..1.0, 1 => Just(0.0), 1 => Just(1e-30)];
    prop::collection::vec(entry, length).prop_map(|mut row| {
        row[0] += 1e-3;
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|entry| *entry /= sum);
        row
    })
}

fn table(rows: usize, columns: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(row(columns), rows)
}

/// Sequences of unequal length with missing samples and, now and then, an unknown symbol.
fn sequences(count: usize, most: usize) -> impl Strategy<Value = Vec<Vec<Option<u16>>>> {
    let symbols = SYMBOLS as u16;
    let symbol =
        prop_oneof![300 => (0..symbols).prop_map(Some), 30 => Just(None), 1 => Just(Some(symbols))];
    prop::collection::vec(prop::collection::vec(symbol, 0..most), count)
}

fn filled<T: Real, const K: usize>(row: &[f64]) -> [T; K] {
    std::array::from_fn(|k| T::from_f64(row[k]))
}

fn chain<T: Real>(initial: &[f64], transition: &[Vec<f64>]) -> Chain<T, STATES> {
    Chain::from_parts(filled(initial), std::array::from_fn(|i| filled(&transition[i])))
}

/// Pushes lanes side by side and one by one, past refused samples, and compares all there is.
fn compare<T, E, X, const N: usize>(hmm: &Hmm<E, N>, sequences: &[Vec<Option<X>>])
where
    T: Real,
    E: Emission<Weight = T>,
    X: std::borrow::Borrow<E::Observation>,
{
    let forward = Forward::of(hmm);
    let mut alone = [forward.initial_state(); LANES];
    let mut lanes = Beliefs::<T, N, LANES>::IDLE;
    for (lane, state) in alone.iter().enumerate() {
        lanes.set_lane(lane, state);
    }
    for time in 0..sequences.iter().map(Vec::len).max().unwrap_or(0) {
        let samples = std::array::from_fn(|lane| {
            sequences[lane].get(time).map(|x| x.as_ref().map(std::borrow::Borrow::borrow))
        });
        let outcome = forward.push_lanes(&mut lanes, &samples);
        for (lane, sample) in samples.into_iter().enumerate() {
            let expected = match sample {
                Some(Some(x)) => forward.step(&mut alone[lane], x),
                Some(None) => {
                    forward.step_missing(&mut alone[lane]);
                    Ok(())
                }
                None => Ok(()),
            };
            assert_eq!(outcome[lane], expected, "lane {lane} at {time}");
            let bits = |x: T| x.to_f64().to_bits();
            let got = lanes.lane(lane);
            assert_eq!(got.row().map(bits), alone[lane].row().map(bits), "lane {lane} at {time}");
            assert_eq!(bits(got.log()), bits(alone[lane].log()), "lane {lane} at {time}");
        }
    }
}

fn symbols<T: Real>(
    initial: &[f64],
    transition: &[Vec<f64>],
    emission: &[Vec<f64>],
    sequences: &[Vec<Option<u16>>],
) {
    let states =
        std::array::from_fn(|j| Categorical::<SYMBOLS, T>::from_parts(filled(&emission[j])));
    let sequences: Vec<Vec<Option<usize>>> = sequences
        .iter()
        .map(|sequence| sequence.iter().map(|x| x.map(usize::from)).collect())
        .collect();
    compare(&Hmm::new(chain::<T>(initial, transition), states), &sequences);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn lanes_of_symbols_are_single_streams(
        initial in row(STATES),
        transition in table(STATES, STATES),
        emission in table(STATES, SYMBOLS),
        sequences in sequences(LANES, 200),
    ) {
        symbols::<f32>(&initial, &transition, &emission, &sequences);
        symbols::<f64>(&initial, &transition, &emission, &sequences);
    }

    #[test]
    fn lanes_of_channels_are_single_streams(
        initial in row(STATES),
        transition in table(STATES, STATES),
        sequences in prop::collection::vec(
            prop::collection::vec(prop::option::weighted(0.9, -40.0_f32..40.0), 0..100),
            LANES,
        ),
    ) {
        let states = [-1.0, 0.5, 30.0].map(|mean| {
            Gaussian::<1, f32>::new([mean], [0.5]).expect("a distribution")
        });
        let sequences: Vec<Vec<Option<[f32; 1]>>> = sequences
            .iter()
            .map(|sequence| sequence.iter().map(|x| x.map(|x| [x])).collect())
            .collect();
        compare(&Hmm::new(chain::<f32>(&initial, &transition), states), &sequences);
    }

    #[test]
    fn a_batch_is_its_sequences(
        initial in row(STATES),
        transition in table(STATES, STATES),
        probability in table(STATES, SYMBOLS),
        sequences in sequences(37, 120),
    ) {
        let model =
            Plain { initial, transition, emission: Emissions::categorical(probability) };
        let samples: Vec<Samples> = sequences.into_iter().map(Samples::Symbols).collect();
        on_host(&model, &samples);
    }
}

/// More states than stay in vector registers are summed by another loop.
#[test]
fn lanes_of_many_states_are_single_streams() {
    const MANY: usize = 11;
    let weights = |seed: usize| -> [f64; MANY] {
        let weight: [f64; MANY] = std::array::from_fn(|k| ((seed * 7 + k * k * 5) % 13) as f64);
        weight.map(|w| w / weight.iter().sum::<f64>())
    };
    let chain = Chain::<f64, MANY>::new(weights(1), std::array::from_fn(|i| weights(i + 2)));
    let emission = std::array::from_fn(|i| {
        let p = [0.1, 0.2, 0.3, 0.4];
        Categorical::<SYMBOLS, f64>::new(std::array::from_fn(|k| p[(i + k) % 4])).expect("a law")
    });
    let sequences: Vec<Vec<Option<usize>>> = (0..LANES)
        .map(|lane| (0..40 + 9 * lane).map(|t| Some((t * t + lane) % SYMBOLS)).collect())
        .collect();
    compare(&Hmm::new(chain.expect("a chain"), emission), &sequences);
}

/// The batch in order and reversed, against each sequence in a batch of its own, which is not put in
/// lanes.
fn on_host(model: &Plain, samples: &[Samples]) {
    let views: Vec<_> = samples.iter().map(Samples::view).collect();
    let reversed: Vec<_> = views.iter().rev().copied().collect();
    let both = |views: &[_]| log_likelihoods::<f64>(model, views).expect("a model");
    let (got, mut back) = (both(&views), both(&reversed));
    back.reverse();
    assert_eq!(got, back);
    let single: Vec<_> = views.iter().flat_map(|view| both(&[*view])).collect();
    assert_eq!(got, single);
    let narrow = |views: &[_]| log_likelihoods::<f32>(model, views).expect("a model");
    let single: Vec<_> = views.iter().flat_map(|view| narrow(&[*view])).collect();
    assert_eq!(narrow(&views), single);

    // What is kept from one question serves the next, in whichever numbers it was asked first.
    for wide_first in [true, false] {
        let batch = Batch::new(&views);
        for wide in [wide_first, !wide_first, wide_first] {
            match wide {
                true => assert_eq!(batch.log_likelihoods::<f64>(model).expect("a model"), got),
                false => assert_eq!(batch.log_likelihoods::<f32>(model).expect("a model"), single),
            }
        }
    }

    let each = |views: &[_]| posteriors(model, views).expect("a model");
    let single: Vec<_> = views.iter().flat_map(|view| each(&[*view])).collect();
    let together = each(&views);
    for (index, (together, single)) in together.iter().zip(&single).enumerate() {
        assert_eq!(together, single, "sequence {index}");
    }
    for (got, posterior) in got.iter().zip(&together) {
        assert_eq!(got.as_ref().ok(), posterior.as_ref().ok().map(|p| &p.log_likelihood));
        assert_eq!(got.as_ref().err(), posterior.as_ref().err());
    }
    let single: Vec<_> = views.iter().flat_map(|view| expectations(model, &[*view])).collect();
    assert_eq!(expectations(model, &views), single);
}

#[test]
fn a_batch_of_channels_is_its_sequences() {
    let model = Plain {
        initial: vec![0.5, 0.5, 0.0],
        transition: vec![vec![0.9, 0.1, 0.0], vec![0.0, 0.8, 0.2], vec![0.1, 0.0, 0.9]],
        emission: Emissions::gaussian(
            vec![vec![0.0, 1.0], vec![-3.0, 2.0], vec![50.0, 0.0]],
            vec![vec![1.0, 0.5], vec![0.1, 2.0], vec![1.0, 1.0]],
        ),
    };
    let samples: Vec<Samples> = (0..40_u32)
        .map(|sequence| {
            let mut rows = Rows::new(2);
            for t in 0..sequence * 3 {
                let x = f64::from((t * 7 + sequence * 13) % 29) - 9.0;
                rows.push((t % 11 != 5).then_some(&[x, 0.3 * x][..]));
            }
            Samples::Channels(rows)
        })
        .collect();
    on_host(&model, &samples);
}

/// Rows with gaps and now and then a value that is far away, impossible, or none at all, under models that
/// run in groups of sixteen and of eight lanes.
#[test]
fn channels_with_gaps_and_refused_values_are_single_sequences() {
    let odd = [1e6, -1e12, 1e30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for states in [1, 4, 7] {
        let rows = |seed: usize| -> Vec<Vec<f64>> {
            let row = |i: usize| -> Vec<f64> {
                let weight = |j: usize| ((i * 7 + j * j * 5 + seed) % 11) as f64;
                let weights: Vec<f64> =
                    (0..states).map(|j| weight(j) + f64::from(i == j)).collect();
                let sum: f64 = weights.iter().sum();
                weights.iter().map(|w| w / sum).collect()
            };
            (0..states).map(row).collect()
        };
        let table = |scale: f64| -> Vec<Vec<f64>> {
            (0..states).map(|j| vec![scale * (1.0 + j as f64), scale + 0.1 * j as f64]).collect()
        };
        let model = Plain {
            initial: rows(3).swap_remove(0),
            transition: rows(0),
            emission: Emissions::gaussian(table(2.0), table(0.5)),
        };
        let samples: Vec<Samples> = (0..45_usize)
            .map(|sequence| {
                let mut rows = Rows::new(2);
                for t in 0..(sequence * 29) % 113 {
                    let at = t * t + 17 * sequence;
                    let x = if at % 701 == 5 { odd[t % odd.len()] } else { (at % 23) as f64 / 4.0 };
                    rows.push((at % 31 != 7).then_some(&[x, 3.0 - 0.3 * (at % 13) as f64][..]));
                }
                Samples::Channels(rows)
            })
            .collect();
        let views: Vec<_> = samples.iter().map(Samples::view).collect();
        let found = log_likelihoods::<f64>(&model, &views).expect("a model");
        let refused = found.iter().filter(|found| found.is_err()).count();
        assert!((3..20).contains(&refused), "{refused} of {}", found.len());
        on_host(&model, &samples);
    }
}

/// Channels that are predicted from their past, of one sample or of three, with gaps and values that are refused.
#[test]
fn predicted_channels_are_single_sequences() {
    for (channels, lags, states) in [(2, 3, 4), (1, 1, 2), (3, 2, 5)] {
        let width = channels * (1 + lags);
        let rows = |sequence: usize, odd: bool| {
            let mut rows = Rows::new(width);
            for t in 0..(sequence * 29) % 83 {
                let at = t * t + 17 * sequence;
                let number = |entry: usize| ((at + entry * entry * 5) % 23) as f64 / 4.0;
                let mut row: Vec<f64> = (0..width).map(number).collect();
                if odd && at % 501 == 5 {
                    row[t % width] = [1e12, 1e200, f64::INFINITY, f64::NAN][t % 4];
                }
                rows.push((at % 31 != 7).then_some(row.as_slice()));
            }
            Samples::Channels(rows)
        };
        let samples: Vec<Samples> = (0..37).map(|sequence| rows(sequence, false)).collect();
        let options = BaumWelch {
            states,
            rows: 1 + lags,
            iterations: 3,
            emission: family("autoregressive"),
            topology: Topology::Ergodic,
            ..BaumWelch::default()
        };
        let fit = options.fit(&views(&samples), width, &vec![1.0; width], &|| ()).expect("fitted");
        on_host(&fit.model, &samples);
        let samples: Vec<Samples> = (0..37).map(|sequence| rows(sequence, true)).collect();
        let found = log_likelihoods::<f64>(&fit.model, &views(&samples)).expect("a model");
        assert!((1..20).contains(&found.iter().filter(|found| found.is_err()).count()));
        on_host(&fit.model, &samples);
    }
}

/// An alphabet that fits a register and one that does not, at sizes that run in sets of lanes.
#[test]
fn symbols_of_small_and_large_alphabets_are_single_sequences() {
    for (states, symbols) in [(2, 16), (4, 17), (9, 3), (13, 200)] {
        let rows = |count: usize, length: usize| -> Vec<Vec<f64>> {
            let row = |i: usize| -> Vec<f64> {
                let weight = |k: usize| ((i * 3 + k * k * 7 + k) % 13) as f64 + f64::from(k == i);
                let sum: f64 = (0..length).map(weight).sum();
                (0..length).map(|k| weight(k) / sum).collect()
            };
            (0..count).map(row).collect()
        };
        let model = Plain {
            initial: vec![1.0 / states as f64; states],
            transition: rows(states, states),
            emission: Emissions::categorical(rows(states, symbols)),
        };
        let sequence = |index: usize| {
            let symbol = |t: usize| {
                let at = t * t * 3 + index * 19 + t;
                (at % 37 != 11).then_some((at % (symbols + usize::from(at % 97 == 5))) as u16)
            };
            Samples::Symbols((0..(index * 31) % 97).map(symbol).collect())
        };
        let samples: Vec<Samples> = (0..70).map(sequence).collect();
        on_host(&model, &samples);
        // As many as fill one set of lanes.
        on_host(&model, &samples[..16]);
    }
}

/// A batch that was asked under a model of one alphabet answers under one of another.
#[test]
fn a_batch_serves_models_of_any_size() {
    let sequence =
        |index: usize| (0..20 + index).map(|t| Some(((t * t + index) % 3) as u16)).collect();
    let samples: Vec<Samples> = (0..40).map(|index| Samples::Symbols(sequence(index))).collect();
    let views = views(&samples);
    let batch = Batch::new(&views);
    // The third symbol is none of the first alphabet's.
    for (states, symbols) in [(2, 2), (2, 3), (7, 3), (40, 4), (2, 3)] {
        let even = |count: usize| vec![1.0 / count as f64; count];
        let model = Plain {
            initial: even(states),
            transition: vec![even(states); states],
            emission: Emissions::categorical(vec![even(symbols); states]),
        };
        let found = batch.log_likelihoods::<f32>(&model).expect("a model");
        assert_eq!(found, log_likelihoods::<f32>(&model, &views).expect("a model"));
        assert_eq!(found.iter().all(Result::is_ok), symbols > 2);
    }
}

/// Of a chain with one path all is counted that the recursions over all its states expect, missing samples and
/// impossible ones among them.
#[test]
fn states_that_are_known_are_counted() {
    const POSITIONS: usize = 40;
    // Begins in the last but one, so that the path is no run of numbers, and stays in the last.
    let order = |at: usize| if at == 0 { POSITIONS - 2 } else { at - 1 };
    let mut transition = vec![vec![0.0; POSITIONS]; POSITIONS];
    for at in 0..POSITIONS - 2 {
        transition[order(at)][order(at + 1)] = 1.0;
    }
    for stays in [order(POSITIONS - 2), POSITIONS - 1] {
        transition[stays][stays] = 1.0;
    }
    let mut initial = vec![0.0; POSITIONS];
    initial[order(0)] = 1.0;
    let row = |state: usize| -> Vec<f64> {
        let weight =
            |k: usize| ((state * 3 + k * k * 7 + k) % 5) as f64 + f64::from(k == state % 4);
        let sum: f64 = (0..SYMBOLS).map(weight).sum();
        (0..SYMBOLS).map(|k| weight(k) / sum).collect()
    };
    let probability: Vec<Vec<f64>> = (0..POSITIONS).map(row).collect();
    let core: Hmm<Categorical<SYMBOLS, f64>, POSITIONS> = Hmm::new(
        Chain::from_parts(filled(&initial), std::array::from_fn(|i| filled(&transition[i]))),
        std::array::from_fn(|j| Categorical::from_parts(filled(&probability[j]))),
    );
    let plain = probability.clone();
    let model = Plain { initial, transition, emission: Emissions::categorical(probability) };
    let sequence = |index: usize| -> Vec<Option<u16>> {
        let likeliest = |at: usize| {
            let row = &plain[order(at.min(POSITIONS - 2))];
            (0..SYMBOLS).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("symbols")
        };
        let symbol = |at: usize| match (at + index) % 9 {
            7 => None,
            // Now and then one that may be impossible there.
            5 if index.is_multiple_of(3) => Some((at % SYMBOLS) as u16),
            _ => Some(likeliest(at) as u16),
        };
        (0..3 * index).map(symbol).collect()
    };
    let sequences: Vec<Vec<Option<u16>>> = (0..20).map(sequence).collect();
    let samples: Vec<Samples> = sequences.iter().cloned().map(Samples::Symbols).collect();
    on_host(&model, &samples);
    let (found, logs) = (
        posteriors(&model, &views(&samples)).expect("a model"),
        log_likelihoods::<f64>(&model, &views(&samples)).expect("a model"),
    );
    let mut refused = 0;
    for ((sequence, found), log) in sequences.iter().zip(found).zip(logs) {
        let symbols: Vec<Option<usize>> = sequence.iter().map(|x| x.map(usize::from)).collect();
        let mut rows = vec![[0.0; POSITIONS]; sequence.len()];
        let mut pairs = [[0.0; POSITIONS]; POSITIONS];
        let wanted = fishweir_core::smooth::posteriors(
            &core,
            symbols.iter().map(Option::as_ref),
            &mut rows,
            &mut pairs,
        );
        assert_eq!(log, wanted);
        let (Ok(found), Ok(wanted)) = (&found, &wanted) else {
            refused += 1;
            assert_eq!(found.as_ref().err(), wanted.as_ref().err());
            continue;
        };
        assert_eq!(found.log_likelihood.to_bits(), wanted.to_bits());
        let near = |a: &f64, b: &f64| (a - b).abs() < 1e-12 * (1.0 + b);
        assert!(found.smoothed.iter().zip(rows.as_flattened()).all(|(a, b)| near(a, b)));
        assert!(found.pairs.iter().flatten().zip(pairs.as_flattened()).all(|(a, b)| near(a, b)));
    }
    assert!((2..10).contains(&refused), "{refused} refused");
}

/// Whatever else is in the batch.
#[test]
fn a_sequence_of_other_channels_than_the_models_is_refused() {
    let model = Plain {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::gaussian(vec![vec![0.0; 2]], vec![vec![1.0; 2]]),
    };
    let samples: Vec<Samples> = [2, 1, 2, 3, 2]
        .map(|channels| {
            let mut rows = Rows::new(channels);
            rows.push(Some(&vec![0.5; channels]));
            Samples::Channels(rows)
        })
        .into();
    on_host(&model, &samples);
    let views: Vec<_> = samples.iter().map(Samples::view).collect();
    let found = log_likelihoods::<f32>(&model, &views).expect("a model");
    let taken: Vec<bool> = found.iter().map(Result::is_ok).collect();
    assert_eq!(taken, [true, false, true, false, true]);
}

#[test]
fn a_model_that_is_none_is_refused() {
    let model = Plain {
        initial: vec![0.5, 0.6],
        transition: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        emission: Emissions::categorical(vec![vec![1.0]; 2]),
    };
    assert!(log_likelihoods::<f32>(&model, &[]).is_err());
}
