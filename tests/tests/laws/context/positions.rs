use fishweir_core::ObservationError;
use fishweir_core::context::{
    ContextLikelihood, ContextModel, ContextStatistics, IndependentPositions, Positions, Steps,
};
use fishweir_core::emission::{Categorical, Parametrisation};
use fishweir_core::filter::{Forward, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{KernelError, PositionFisher};
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Factored, derivative, words};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::context::{after, assert_near, assert_positive, cases, dot};

const K: usize = 3;
const L: usize = 5;
type Model = IndependentPositions<K, L, f64>;
type Table = [[f64; K]; L];

fn model(sampler: &mut Sampler) -> (Model, Table) {
    let theta: Table =
        std::array::from_fn(|_| sampler.probabilities(K).try_into().expect("K probabilities"));
    let rows = theta.map(|row| Categorical::<K, f64>::new(row).expect("a distribution"));
    (Model::new(Positions, rows), theta)
}

fn sequence(sampler: &mut Sampler) -> [usize; L] {
    std::array::from_fn(|_| sampler.uniform(0.0, K as f64) as usize)
}

fn textbook(theta: &Table, x: &[Option<usize>], y: &[usize]) -> f64 {
    let terms = theta.iter().zip(x).zip(y).map(|((theta, x), y)| match x {
        Some(x) if x == y => 1.0 / theta[*x] - 1.0,
        Some(_) => -1.0,
        None => 0.0,
    });
    terms.sum()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_score_is_the_slope_and_the_kernel_a_direction(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let (model, theta) = model(&mut sampler);
        let (x, y) = (sequence(&mut sampler), sequence(&mut sampler));
        let samples: Vec<_> = x.iter().map(Some).collect();
        let counts = after(ContextStatistics::of(&model), &samples);
        let softmax = model.score(&counts, Parametrisation::SOFTMAX);
        let ratio = model.score(&counts, Parametrisation::RATIO);
        for i in 0..L {
            for k in 0..K {
                let by_logit = |e: f64| {
                    let moved = |j: usize| theta[i][j] * if j == k { e.exp() } else { 1.0 };
                    (moved(x[i]) / (0..K).map(moved).sum::<f64>()).ln()
                };
                assert_near(softmax[i][k], derivative(by_logit, 1e-3), 1e-9, "softmax");
                let by_ratio = |e: f64| {
                    let moved = |j: usize| theta[i][j] + if j == k { e } else { 0.0 };
                    (moved(x[i]) / (0..K).map(moved).sum::<f64>()).ln()
                };
                assert_near(ratio[i][k], derivative(by_ratio, 1e-3), 1e-6, "ratio");
            }
        }
        let expected = textbook(&theta, &x.map(Some), &y);
        let along = model.with_directions(&[model.whitened(&y)], Parametrisation::SOFTMAX);
        let reading = after(ContextLikelihood::of(&along), &samples);
        assert_near(reading.tangent[0], expected, 1e-11, "as a direction");
        let [kernel] = after(PositionFisher::of(&model, [&y[..]]).expect("stored"), &samples);
        assert_near(kernel, expected, 1e-12, "against a stored sequence");
    }

    /// Without the redundant parameter the information has an inverse: by logits of all symbols but the
    /// last, and by their probabilities.
    #[test]
    fn the_invariant_kernel_is_the_same_in_all_parametrisations(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let (_, theta) = model(&mut sampler);
        let sequences: Vec<_> = (0..6).map(|_| sequence(&mut sampler)).collect();
        let free = K - 1;
        let inverse = |entry: &dyn Fn(&[f64; K], usize, usize) -> f64, theta: &[f64; K]| {
            let rows: Vec<Vec<f64>> =
                (0..free).map(|a| (0..free).map(|b| entry(theta, a, b)).collect()).collect();
            Factored::of(&rows).inverse()
        };
        let same = |a: usize, b: usize| if a == b { 1.0 } else { 0.0 };
        let by_logit = |theta: &[f64; K], a: usize, b: usize| theta[a] * (same(a, b) - theta[b]);
        let by_probability = |theta: &[f64; K], a: usize, b: usize| same(a, b) / theta[a] + 1.0 / theta[K - 1];
        let logit_score = |theta: &[f64; K], x: usize, a: usize| same(x, a) - theta[a];
        let probability_score =
            |theta: &[f64; K], x: usize, a: usize| same(x, a) / theta[a] - same(x, K - 1) / theta[K - 1];
        let kernel = |x: &[usize; L], y: &[usize; L], information: &dyn Fn(&[f64; K], usize, usize) -> f64,
            score: &dyn Fn(&[f64; K], usize, usize) -> f64| {
            (0..L)
                .map(|i| {
                    let of = |x: usize| (0..free).map(|a| score(&theta[i], x, a)).collect::<Vec<_>>();
                    let inverse = inverse(information, &theta[i]);
                    let white: Vec<f64> = inverse.iter().map(|row| dot(row, &of(y[i]))).collect();
                    dot(&of(x[i]), &white)
                })
                .sum::<f64>()
        };
        let mut gram = vec![];
        let mut square = vec![];
        for x in &sequences {
            let row: Vec<f64> =
                sequences.iter().map(|y| textbook(&theta, &x.map(Some), y)).collect();
            for (y, &expected) in sequences.iter().zip(&row) {
                assert_near(kernel(x, y, &by_logit, &logit_score), expected, 1e-10, "logits");
                let other = kernel(x, y, &by_probability, &probability_score);
                assert_near(other, expected, 1e-10, "probabilities");
            }
            square.push(row.iter().map(|k| (1.0 + k).powi(2)).collect());
            gram.push(row);
        }
        assert_positive(&gram);
        assert_positive(&square);
    }

    #[test]
    fn streams_keep_the_laws(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let (model, theta) = model(&mut sampler);
        let stored: [[usize; L]; 3] = std::array::from_fn(|_| sequence(&mut sampler));
        let x: Vec<Option<usize>> = sequence(&mut sampler)
            .iter()
            .map(|&x| (sampler.uniform(0.0, 1.0) < 0.7).then_some(x))
            .collect();
        let samples: Vec<_> = x.iter().map(Option::as_ref).collect();
        let trial = Trial { samples: &samples, refusable: &[&K, &1000] };
        let kernel = PositionFisher::of(&model, stored.each_ref().map(|s| &s[..])).expect("stored");
        let refused = check(kernel, trial, |prefix, reading: [f64; 3]| {
            let x: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
            for (stored, got) in stored.iter().zip(reading) {
                assert_near(got, textbook(&theta, &x, stored), 1e-12, "kernel");
            }
        });
        prop_assert_eq!(refused, 2 * (L + 1));
        check(ContextLikelihood::of(&model), trial, |prefix, log: f64| {
            let terms = theta.iter().zip(prefix).filter_map(|(theta, x)| Some(theta[x.copied()?].ln()));
            assert_near(log, terms.sum::<f64>(), 1e-12, "log p");
        });
        check(ContextStatistics::of(&model), trial, |prefix, counts: Table| {
            for (i, row) in counts.iter().enumerate() {
                let mut expected = [0.0; K];
                if let Some(&&x) = prefix.get(i).and_then(Option::as_ref) {
                    expected[x] = 1.0;
                }
                assert_eq!(*row, expected);
            }
        });
        let mut stream = Stream::new(kernel);
        (0..L).for_each(|_| stream.push(None).expect("nothing to refuse"));
        let full = *stream.state();
        prop_assert_eq!(stream.read(), [0.0; 3]);
        prop_assert_eq!(stream.push(&0), Err(ObservationError::PastEnd));
        stream.push(None).expect("nothing to refuse");
        prop_assert_eq!(*stream.state(), full);
    }

    #[test]
    fn the_mean_score_and_the_mean_kernel_are_zero(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let (model, theta) = model(&mut sampler);
        let y = sequence(&mut sampler);
        let (mut mean, mut mean_kernel) = (Table::default(), 0.0);
        for x in words(K, L) {
            let samples: Vec<_> = x.iter().map(Some).collect();
            let p = after(ContextLikelihood::of(&model), &samples).exp();
            let counts = after(ContextStatistics::of(&model), &samples);
            let score = model.score(&counts, Parametrisation::RATIO);
            for (mean, score) in mean.as_flattened_mut().iter_mut().zip(score.as_flattened()) {
                *mean += p * score;
            }
            mean_kernel += p * textbook(&theta, &x.into_iter().map(Some).collect::<Vec<_>>(), &y);
        }
        prop_assert!(mean.as_flattened().iter().all(|entry| entry.abs() < 1e-12), "{mean:?}");
        prop_assert!(mean_kernel.abs() < 1e-11, "{mean_kernel}");
    }
}

#[test]
fn what_cannot_be_stored_is_named() {
    let certain = Categorical::<2, f32>::new([1.0, 0.0]).expect("a distribution");
    let model = IndependentPositions::<2, 2>::new(Positions, [certain; 2]);
    let refused = |stored: &'static [u8]| {
        PositionFisher::of(&model, [&[0, 0], stored]).map(|_| ()).expect_err("refused")
    };
    assert_eq!(refused(&[0]), KernelError::Length { sequence: 1, found: 1, expected: 2 });
    let stored = |error| KernelError::Stored { sequence: 1, position: 1, error };
    assert_eq!(refused(&[0, 2]), stored(ObservationError::UnknownSymbol));
    assert_eq!(refused(&[0, 1]), stored(ObservationError::Impossible));
    let mut stream = Stream::new(PositionFisher::of(&model, [&[0_u8, 0]]).expect("stored"));
    assert_eq!(stream.push(&1), Err(ObservationError::Impossible));
    stream.reset();
    stream.push_block(&[0, 0]).expect("possible");
    assert_eq!(stream.read(), [0.0], "what is certain says nothing");
}

/// The states of this hidden Markov model are not hidden: its forward filter finds what the product does,
/// at every prefix, past the last position and over gaps.
#[test]
fn steps_are_a_hidden_markov_model_whose_states_follow_one_another() {
    let mut sampler = Sampler::new(77);
    let (model, _) = model(&mut sampler);
    let certain = |to: usize| std::array::from_fn(|state| f64::from(u8::from(state == to)));
    let chain = Chain::<f64, L>::new(
        certain(0),
        std::array::from_fn(|from| certain(usize::min(from + 1, L - 1))),
    );
    let hidden = Hmm::new(chain.expect("a chain"), *model.emission());
    let steps = ContextModel::new(Steps, *model.emission());
    let symbols = [2, 0, 1, 1, 2, 0, 0, 1, 2, 1].map(Some);
    for gap in [None, Some(0), Some(3), Some(8)] {
        let mut samples: Vec<Option<&usize>> = symbols.iter().map(Option::as_ref).collect();
        if let Some(gap) = gap {
            samples[gap] = None;
        }
        let refusable = [&K];
        let trial = Trial { samples: &samples, refusable: &refusable };
        let refused = check(ContextLikelihood::of(&steps), trial, |prefix, log| {
            assert_near(log, after(Forward::of(&hidden), prefix), 1e-14, "log-likelihood");
        });
        assert!(refused > 0);
    }
}
