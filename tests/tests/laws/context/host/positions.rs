use fishweir::data::Samples;
use fishweir::kernel::{Expected, FisherKernel, Kernel, Metric};
use fishweir::model::{ContextModelError, PositionModel, Scored};
use fishweir_core::ObservationError;
use fishweir_core::context::{
    ContextLikelihood, ContextStatistics, IndependentPositions, Positions,
};
use fishweir_core::emission::{Categorical, Parametrisation};
use fishweir_core::smooth::SequenceError;
use fishweir_tests::oracle::words;
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use super::{
    BOTH, assert_draws_have_the_information, assert_information, assert_slopes, assert_stationary,
    drawn, score, string, views,
};
use crate::context::{after, assert_near, cases};

const LENGTH: usize = 5;

fn table(sampler: &mut Sampler) -> Vec<Vec<f64>> {
    (0..LENGTH).map(|_| sampler.probabilities(3)).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn scores_are_those_of_the_stream(seed: u64, length in 0_usize..=LENGTH) {
        let sampler = &mut Sampler::new(seed);
        let table = table(sampler);
        let model = PositionModel::new(table.clone()).expect("a model");
        let rows = std::array::from_fn(|position| {
            let row = [table[position][0], table[position][1], table[position][2]];
            Categorical::<3, f64>::new(row).expect("probabilities")
        });
        let core = IndependentPositions::<3, LENGTH, f64>::new(Positions, rows);
        let samples = drawn(sampler, 3, length, 0.2);
        let symbols = samples.view().symbols().expect("symbols").iter();
        let symbols: Vec<Option<usize>> = symbols.map(|s| s.map(usize::from)).collect();
        let symbols: Vec<Option<&usize>> = symbols.iter().map(Option::as_ref).collect();
        let log = after(ContextLikelihood::of(&core), &symbols);
        let statistics = after(ContextStatistics::of(&core), &symbols);
        for by in BOTH {
            let found = score(&model, &samples, by);
            assert_near(found.log_likelihood, log, 1e-13, "log p");
            prop_assert_eq!(found.score, core.score(&statistics, by).concat());
        }
    }

    #[test]
    fn scores_are_slopes_with_the_information_of_their_squares(seed: u64, length in 0_usize..=LENGTH) {
        let sampler = &mut Sampler::new(seed);
        let mut table = table(sampler);
        let samples = drawn(sampler, 2, length, 0.1);
        // A symbol that cannot be somewhere.
        table[1] = vec![0.25, 0.75, 0.0];
        let model = |table| PositionModel::new(table).expect("a model");
        assert_slopes(&table, 0, &samples, model);
        assert_information(&model(table), length, words(3, length).map(string), 1.0, 1e-12);
    }

    #[test]
    fn fitted_models_are_stationary(seed: u64, count in 1_usize..9) {
        let sampler = &mut Sampler::new(seed);
        let strings: Vec<Samples> = (0..count).map(|_| drawn(sampler, 3, LENGTH, 0.1)).collect();
        let fitted = PositionModel::fit(3, &views(&strings), 0.0).expect("one length");
        assert_stationary(&fitted, &strings, 1e-11);
        // With a pseudo-count a, (n + a) / (N + 3 a).
        let smooth = PositionModel::fit(3, &views(&strings), 0.5).expect("one length");
        for position in 0..LENGTH {
            let at = |one: &Samples| one.view().symbols().expect("symbols")[position];
            let seen: Vec<u16> = strings.iter().filter_map(at).collect();
            for symbol in 0..3_u16 {
                let count = seen.iter().filter(|s| **s == symbol).count() as f64;
                let expected = (count + 0.5) / (seen.len() as f64 + 1.5);
                let got = smooth.probability()[position][usize::from(symbol)];
                assert_near(got, expected, 1e-14, format!("[{position}][{symbol}]"));
            }
        }
    }

    /// Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers", 1998,
    /// section 5: at the uniform point the invariant kernel is the number of matches, `K` times,
    /// less the length.
    #[test]
    fn at_the_uniform_point_the_invariant_kernel_counts_matches(seed: u64, symbols in 2_usize..6) {
        let sampler = &mut Sampler::new(seed);
        let strings: Vec<Samples> = (0..6).map(|_| drawn(sampler, symbols, 7, 0.0)).collect();
        let model = PositionModel::uniform(symbols, 7).expect("a model");
        for parametrisation in BOTH {
            let expected = Expected::Exact { length: 7 };
            let kernel = FisherKernel {
                models: std::slice::from_ref(&model),
                parametrisation,
                metric: Metric::Information { expected, diagonal: false, ridge: 0.0 },
                form: None,
            };
            let gram = kernel.gram(&views(&strings)).expect("possible");
            for (i, s) in strings.iter().enumerate() {
                for (j, t) in strings.iter().enumerate() {
                    let [s, t] = [s, t].map(|one| one.view().symbols().expect("symbols"));
                    let matches = s.iter().zip(t).filter(|(a, b)| a == b).count();
                    let expected = (symbols * matches) as f64 - 7.0;
                    assert_near(gram.get(i, j), expected, 1e-11, format!("{i} and {j}"));
                }
            }
        }
    }
}

#[test]
fn drawn_sequences_have_the_information_of_the_closed_form() {
    let model = PositionModel::new(table(&mut Sampler::new(4))).expect("a model");
    for length in [LENGTH, 3] {
        assert_draws_have_the_information(&model, length);
    }
    assert_eq!(model.draw(100, 1).view().len(), LENGTH);
}

#[test]
fn sequences_of_another_length_and_bad_tables_are_named() {
    let strings = [string([0, 1, 2]), string([0, 1, 2]), string([0, 1])];
    let error = PositionModel::fit(3, &views(&strings), 0.5).expect_err("refused");
    let length = matches!(error, ContextModelError::Length { sequence: 2, found: 2, wanted: 3 });
    assert!(length && error.sequence() == Some(2), "{error}");
    assert!(matches!(PositionModel::fit(3, &[], 0.5), Err(ContextModelError::NoData)));

    let model = PositionModel::uniform(3, 2).expect("a model");
    let found = model.scores(&views(&strings), Parametrisation::SOFTMAX);
    let past = SequenceError::Observation { time: 2, error: ObservationError::PastEnd };
    assert_eq!((found[0].as_ref().err(), found[2].is_ok()), (Some(&past), true));

    for (table, part) in [
        (vec![vec![0.5, 0.5], vec![1.0]], "probability[1] has 1 entries, and 2"),
        (vec![vec![0.5, 0.5], vec![1.5, -0.5]], "probability[1] is no probability distribution"),
        (vec![], "probability"),
        (vec![vec![]], "probability"),
    ] {
        let error = PositionModel::new(table).expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    }
    let text = r#"{"probability":[[0.5,0.4]]}"#;
    let error = serde_json::from_str::<PositionModel>(text).expect_err("refused").to_string();
    assert!(error.contains("probability[0]"), "{error}");
}
