use fishweir::data::Samples;
use fishweir::kernel::{FisherKernel, Kernel, Metric};
use fishweir::model::{ContextModelError, ContextSet, MarkovModel, Scored};
use fishweir_core::ObservationError;
use fishweir_core::context::{
    AutomatonView, ContextLikelihood, ContextModel, ContextStatistics, Span, StringEnd,
};
use fishweir_core::emission::{Categorical, Parametrisation};
use fishweir_core::smooth::SequenceError;
use fishweir_tests::oracle::words;
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use super::{
    BOTH, assert_draws_have_the_information, assert_information, assert_slopes, assert_stationary,
    drawn, markov, score, sets, string, views,
};
use crate::context::{after, assert_near, cases};

/// The core's stream of const sizes: seven contexts of three events, the third of probability zero where
/// there is no end.
fn core_model<'a>(
    model: &MarkovModel,
    next: &'a mut Vec<u16>,
) -> ContextModel<AutomatonView<'a>, Categorical<3, f64>, 7> {
    let contexts: Vec<&[u16]> = model.contexts().iter().map(Vec::as_slice).collect();
    let (events, end) = if model.has_end() { (3, StringEnd::Event) } else { (2, StringEnd::Open) };
    next.resize(contexts.len() * events, 0);
    let span = Span::build(&contexts, events, end, next).expect("contexts");
    let rows = std::array::from_fn(|context| {
        let mut row = [0.0; 3];
        row[..events].copy_from_slice(&model.probability()[context]);
        Categorical::<3, f64>::new(row).expect("probabilities")
    });
    ContextModel::new(AutomatonView::new(next, events, span), rows)
}

proptest! {
    #![proptest_config(cases(80))]

    /// To the bit, because both count, and both scores are the same arithmetic of rows.
    #[test]
    fn scores_are_those_of_the_stream(seed: u64, set in 0_usize..4, length in 0_usize..30) {
        let sampler = &mut Sampler::new(seed);
        let model = markov(sampler, set);
        let samples = drawn(sampler, 2, length, 0.15);
        let mut next = Vec::new();
        let core = core_model(&model, &mut next);
        let symbols = samples.view().symbols().expect("symbols").iter();
        let end = model.has_end().then_some(Some(2));
        let events: Vec<Option<usize>> = symbols.map(|s| s.map(usize::from)).chain(end).collect();
        let events: Vec<Option<&usize>> = events.iter().map(Option::as_ref).collect();
        let log = after(ContextLikelihood::of(&core), &events);
        let statistics = after(ContextStatistics::of(&core), &events);
        let events = model.probability()[0].len();
        for by in BOTH {
            let found = score(&model, &samples, by);
            assert_near(found.log_likelihood, log, 1e-13, "log p");
            let rows = core.score(&statistics, by);
            let streamed: Vec<f64> =
                rows.iter().flat_map(|row| row[..events].iter().copied()).collect();
            prop_assert_eq!(found.score, streamed);
        }
        let counts = model.count(samples.view()).expect("possible");
        let streamed: Vec<Vec<f64>> =
            statistics.iter().map(|row| row[..events].to_vec()).collect();
        prop_assert_eq!(counts, streamed);
    }

    #[test]
    fn scores_are_slopes(seed: u64, set in 0_usize..4, length in 0_usize..15) {
        let sampler = &mut Sampler::new(seed);
        let (contexts, end) = sets()[set].clone();
        let table: Vec<Vec<f64>> =
            (0..7).map(|_| sampler.probabilities(2 + usize::from(end))).collect();
        let samples = drawn(sampler, 2, length, 0.1);
        assert_slopes(&table, 0, &samples, |table| {
            MarkovModel::new(2, end, contexts.clone(), table).expect("a model")
        });
    }

    /// Over all strings of a length; those that are not predicted are any.
    #[test]
    fn the_information_is_the_mean_square_of_scores_of_mean_zero(
        seed: u64, set in 1_usize..3, length in 0_usize..7, order in 0_usize..3,
    ) {
        let sampler = &mut Sampler::new(seed);
        assert_information(&markov(sampler, set), length, words(2, length).map(string), 1.0, 1e-12);
        let contexts = ContextSet::Order(order).strings(3, false, &[]).expect("few");
        let rows = contexts.iter().map(|_| sampler.probabilities(3)).collect();
        let model = MarkovModel::new(3, false, contexts, rows).expect("a model");
        let given = 3_f64.powi(-(order.min(length) as i32));
        assert_information(&model, length, words(3, length).map(string), given, 1e-12);
    }

    /// Strings that end soon: what those past the longest summed add is below the tolerance.
    #[test]
    fn the_information_of_strings_that_end_is_over_all_lengths(seed: u64, padded: bool) {
        let sampler = &mut Sampler::new(seed);
        let (contexts, _) = sets()[if padded { 0 } else { 3 }].clone();
        let row = |sampler: &mut Sampler| {
            let (stays, share) = (sampler.uniform(0.03, 0.06), sampler.uniform(0.2, 0.8));
            vec![stays * share, stays * (1.0 - share), 1.0 - stays]
        };
        let rows = contexts.iter().map(|_| row(sampler)).collect();
        let model = MarkovModel::new(2, true, contexts, rows).expect("a model");
        let strings = (0..=9).flat_map(|length| words(2, length).map(string));
        assert_information(&model, 0, strings, 1.0, 1e-9);
    }

    /// Counting is maximum likelihood, with zeros where there were zeros.
    #[test]
    fn fitted_models_are_stationary_and_keep_their_zeros(seed: u64, set in 0_usize..4, count in 1_usize..8) {
        let sampler = &mut Sampler::new(seed);
        let strings: Vec<Samples> = (0..count)
            .map(|_| {
                let length = sampler.uniform(0.0, 20.0) as usize;
                drawn(sampler, 2, length, 0.05)
            })
            .collect();
        let start = markov(sampler, set);
        let fitted = start.refit(&views(&strings), 0.0).expect("possible");
        assert_stationary(&fitted, &strings, 1e-11);
        // What the strings did not need is taken away, and does not come back.
        let sparse = fitted.refit(&views(&strings), 3.0).expect("possible");
        let rows = fitted.probability().iter().zip(sparse.probability());
        for (context, (old, new)) in rows.enumerate() {
            for (p, q) in old.iter().zip(new) {
                prop_assert!((*p == 0.0) == (*q == 0.0), "context {context}: {old:?}, {new:?}");
            }
        }
        // A context that never came is as it was.
        let mut seen = [0.0; 7];
        for one in &strings {
            for (seen, row) in seen.iter_mut().zip(start.count(one.view()).expect("possible")) {
                *seen += row.iter().sum::<f64>();
            }
        }
        for (context, _) in seen.iter().enumerate().filter(|(_, seen)| **seen == 0.0) {
            prop_assert_eq!(&fitted.probability()[context], &start.probability()[context]);
        }
    }

    /// Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, example 12.32,
    /// with what its second term subtracts: `n(u)` counts the occurrences of `u` that something
    /// follows.
    #[test]
    fn at_the_uniform_point_the_practical_kernel_is_the_p_spectrum_kernel_less_its_mean(
        seed: u64, p in 1_usize..5,
    ) {
        let sampler = &mut Sampler::new(seed);
        let strings: Vec<Samples> = (0..5)
            .map(|_| {
                let length = sampler.uniform(1.0, 25.0) as usize;
                drawn(sampler, 4, length, 0.0)
            })
            .collect();
        let views = views(&strings);
        let model = MarkovModel::uniform(&ContextSet::Order(p - 1), 4, false, &[]).expect("a model");
        let kernel = FisherKernel {
            models: std::slice::from_ref(&model),
            parametrisation: Parametrisation::RATIO,
            metric: Metric::Practical,
            form: None,
        };
        let gram = kernel.gram(&views).expect("possible");
        for (i, s) in views.iter().enumerate() {
            for (j, t) in views.iter().enumerate() {
                let [s, t] = [s, t].map(|one| one.symbols().expect("symbols"));
                let [of, with] = [s, t].map(|one| one.split_last().map_or(one, |(_, rest)| rest));
                let expected = 16.0 * spectrum(s, t, p) - 4.0 * spectrum(of, with, p - 1);
                prop_assert_eq!(gram.get(i, j), expected, "{} and {}", i, j);
            }
        }
    }
}

/// The `p`-spectrum kernel by its definition: pairs of places with the same `p` symbols.
fn spectrum(s: &[Option<u16>], t: &[Option<u16>], p: usize) -> f64 {
    let pieces = |x: &[Option<u16>]| -> Vec<Vec<Option<u16>>> {
        (0..(x.len() + 1).saturating_sub(p)).map(|from| x[from..from + p].to_vec()).collect()
    };
    let (of, with) = (pieces(s), pieces(t));
    of.iter().map(|u| with.iter().filter(|v| *v == u).count()).sum::<usize>() as f64
}

#[test]
fn drawn_strings_have_the_information_of_the_closed_form() {
    let sampler = &mut Sampler::new(3);
    for set in 0..4 {
        assert_draws_have_the_information(&markov(sampler, set), 6);
    }
    let order = MarkovModel::uniform(&ContextSet::Order(2), 2, false, &[]).expect("a model");
    let strings: Vec<Samples> = (0..6).map(|_| drawn(sampler, 2, 12, 0.0)).collect();
    let fitted = order.refit(&views(&strings), 0.5).expect("possible");
    assert_draws_have_the_information(&fitted, 6);
    // The same seed draws the same, and only an end makes lengths differ.
    assert_eq!(fitted.draw(9, 4), fitted.draw(9, 4));
    assert_ne!(fitted.draw(9, 4), fitted.draw(9, 5));
    assert!((0..20).all(|seed| fitted.draw(9, seed).view().len() == 9));
    let ends = markov(sampler, 0);
    let lengths: Vec<usize> = (0..20).map(|seed| ends.draw(9, seed).view().len()).collect();
    assert!(lengths.iter().any(|length| *length != lengths[0]), "{lengths:?}");
}

#[test]
fn what_is_impossible_or_no_symbol_is_refused_where_it_is() {
    let contexts = vec![vec![0], vec![1]];
    let rows = vec![vec![1.0, 0.0], vec![0.5, 0.5]];
    let model = MarkovModel::new(2, false, contexts, rows).expect("a model");
    let refused = |symbols: &[u16]| {
        let samples = Samples::Symbols(symbols.iter().copied().map(Some).collect());
        model.scores(&[samples.view()], Parametrisation::RATIO).swap_remove(0).err()
    };
    let at = |time, error| Some(SequenceError::Observation { time, error });
    assert_eq!(refused(&[1, 1, 0, 0, 0]), None);
    assert_eq!(refused(&[1, 1, 0, 1]), at(3, ObservationError::Impossible));
    assert_eq!(refused(&[1, 2]), at(1, ObservationError::UnknownSymbol));
    // With an end, its number is no symbol, and an end that cannot be is at the string's length.
    let rows = vec![vec![1.0, 0.0, 0.0], vec![0.25, 0.5, 0.25]];
    let ends = MarkovModel::new(2, true, vec![vec![0], vec![1]], rows).expect("a model");
    let refused = |symbols: &[u16]| {
        let samples = Samples::Symbols(symbols.iter().copied().map(Some).collect());
        ends.scores(&[samples.view()], Parametrisation::RATIO).swap_remove(0).err()
    };
    assert_eq!(refused(&[1, 1]), None);
    assert_eq!(refused(&[1, 0, 0]), at(3, ObservationError::Impossible));
    assert_eq!(refused(&[1, 2]), at(1, ObservationError::UnknownSymbol));
}

#[test]
fn bad_models_name_the_entry() {
    let new = |contexts: &[&[u16]], rows: &[&[f64]]| {
        let contexts = contexts.iter().map(|context| context.to_vec()).collect();
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        MarkovModel::new(2, false, contexts, rows).expect_err("refused").to_string()
    };
    let half: &[f64] = &[0.5, 0.5];
    for (found, part) in [
        (new(&[&[0], &[1]], &[half, &[0.5, 0.6]]), "probability[1] is no probability distribution"),
        (new(&[&[0], &[1]], &[half, &[f64::NAN, 0.5]]), "probability[1]"),
        (new(&[&[0], &[1]], &[half]), "probability has 1 entries, and 2 are needed"),
        (new(&[&[0], &[1]], &[half, &[1.0]]), "probability[1] has 1 entries, and 2"),
        (new(&[&[0], &[3]], &[half, half]), "context 1, position 0"),
        (new(&[&[0], &[1, 1]], &[half, half]), "differs in length"),
        (new(&[&[], &[1], &[1]], &[half, half, half]), "context 2 repeats context 1"),
    ] {
        assert!(found.contains(part), "{found}");
    }
    let error = MarkovModel::new(0, false, vec![vec![]], vec![vec![]]).expect_err("refused");
    assert!(error.to_string().contains("symbols"), "{error}");
    let samples = string([0, 1, 0]);
    let fit = |pseudo_count| {
        MarkovModel::fit(&ContextSet::Order(1), 2, false, &[samples.view()], pseudo_count)
    };
    assert!(fit(0.0).is_ok());
    for pseudo_count in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(pseudo_count), Err(ContextModelError::PseudoCount(_))));
    }
    let none = MarkovModel::fit(&ContextSet::Order(1), 2, false, &[], 0.5);
    assert!(matches!(none, Err(ContextModelError::NoData)));
}

#[test]
fn a_model_reads_back_from_its_text_and_a_bad_text_is_refused() {
    let sampler = &mut Sampler::new(8);
    for set in 0..4 {
        let model = markov(sampler, set);
        let text = serde_json::to_string(&model).expect("text");
        assert_eq!(serde_json::from_str::<MarkovModel>(&text).expect("the model"), model);
        let bad = text.replacen("\"symbols\":2", "\"symbols\":3", 1);
        let error = serde_json::from_str::<MarkovModel>(&bad).expect_err("refused").to_string();
        assert!(error.contains("probability[0]"), "{error}");
        let bad = text.replacen("\"symbols\"", "\"letters\"", 1);
        assert!(serde_json::from_str::<MarkovModel>(&bad).is_err());
    }
}
