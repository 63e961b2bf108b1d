use fishweir_core::ObservationError;
use fishweir_core::context::{
    Automaton, AutomatonView, ContextError, ContextLikelihood, ContextModel, ContextStatistics,
    MarkovString, Span, StringEnd, Unnormalised,
};
use fishweir_core::emission::Parametrisation;
use fishweir_core::filter::Stream;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{derivative, words};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::context::{after, assert_near, assert_positive, cases, dot};

/// The contexts of a kind of model over two symbols, with seven contexts each; what begins a string;
/// and whether it is one that has an end.
pub(crate) fn sets() -> [(Vec<Vec<u16>>, StringEnd); 4] {
    let padded: [&[u16]; 7] = [&[0, 0], &[0, 1], &[1, 0], &[1, 1], &[2, 0], &[2, 1], &[2, 2]];
    let closed: [&[u16]; 7] = [&[], &[0], &[1], &[0, 1], &[1, 1], &[1, 1, 1], &[0, 1, 1]];
    // Of 1 0 1 and of 0 0 0 not every prefix is a context.
    let open: [&[u16]; 7] = [&[], &[1], &[0, 1], &[1, 0, 1], &[0, 0, 0], &[0], &[1, 1]];
    let owned = |set: [&[u16]; 7]| set.map(<[u16]>::to_vec).to_vec();
    [
        (owned(padded), StringEnd::Event),
        (owned(closed), StringEnd::Open),
        (owned(open), StringEnd::Open),
        (owned(closed), StringEnd::Event),
    ]
}

const CONTEXTS: usize = 7;
const EVENTS: usize = 3;

/// What is predicted in which context, by the definition: `(context, event)` in order.
fn walk(contexts: &[Vec<u16>], events: &[Option<usize>]) -> Vec<(usize, usize)> {
    let find = |wanted: &[u16]| contexts.iter().position(|context| context == wanted);
    let longest = contexts.iter().map(Vec::len).max().unwrap_or(0);
    let empty = find(&[]);
    let start = contexts.iter().position(|c| !c.is_empty() && c.iter().all(|&s| s == 2));
    let (mut at, mut unknown) = match (start.or(empty), empty) {
        (Some(context), _) => (context, 0),
        _ => (0, longest),
    };
    let mut predicted = Vec::new();
    for event in events {
        let Some(event) = *event else {
            (at, unknown) = empty.map_or((at, longest), |empty| (empty, 0));
            continue;
        };
        if unknown == 0 {
            predicted.push((at, event));
        }
        unknown = usize::saturating_sub(unknown, 1);
        if event < 2 {
            let mut seen = contexts[at].clone();
            seen.push(event as u16);
            at = (0..=seen.len()).find_map(|cut| find(&seen[cut..])).expect("a suffix");
        }
    }
    predicted
}

type Table = [[f64; EVENTS]; CONTEXTS];

fn table(sampler: &mut Sampler, end: StringEnd) -> Table {
    std::array::from_fn(|_| {
        let mut row = std::array::from_fn(|_| sampler.uniform(0.2, 3.0));
        if end == StringEnd::Open {
            row[EVENTS - 1] = 0.0;
        }
        row
    })
}

fn parameters(a: Table) -> Unnormalised<EVENTS, CONTEXTS, f64> {
    Unnormalised::<EVENTS, CONTEXTS, f64>::new(a).expect("parameters")
}

/// An open set has two events, of three that there is room for; a table of its own says so.
fn automaton<'a>(
    contexts: &[Vec<u16>],
    end: StringEnd,
    next: &'a mut Vec<u16>,
) -> AutomatonView<'a> {
    let contexts: Vec<&[u16]> = contexts.iter().map(Vec::as_slice).collect();
    let events = if end == StringEnd::Open { 2 } else { 3 };
    next.resize(contexts.len() * events, 0);
    let span = Span::build(&contexts, events, end, next).expect("contexts");
    AutomatonView::new(next, events, span)
}

fn log_of(a: &Table, predicted: &[(usize, usize)]) -> f64 {
    predicted.iter().map(|&(c, x)| (a[c][x] / a[c].iter().sum::<f64>()).ln()).sum()
}

fn counted(predicted: &[(usize, usize)]) -> Table {
    let mut counts = Table::default();
    for &(context, event) in predicted {
        counts[context][event] += 1.0;
    }
    counts
}

/// Symbols, and the end if there is one.
fn string(sampler: &mut Sampler, length: usize, end: StringEnd, gaps: f64) -> Vec<Option<usize>> {
    let mut events: Vec<_> = (0..length)
        .map(|_| {
            let symbol = usize::from(sampler.uniform(0.0, 1.0) < 0.5);
            (sampler.uniform(0.0, 1.0) >= gaps).then_some(symbol)
        })
        .collect();
    if end == StringEnd::Event {
        events.push(Some(2));
    }
    events
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn every_set_keeps_the_laws_and_the_definition(seed: u64, set in 0_usize..4, length in 0_usize..30) {
        let mut sampler = Sampler::new(seed);
        let (contexts, end) = sets()[set].clone();
        let a = table(&mut sampler, end);
        let mut next = vec![];
        let model = ContextModel::new(automaton(&contexts, end, &mut next), parameters(a).probabilities());
        let events = string(&mut sampler, length, end, 0.15);
        let samples: Vec<_> = events.iter().map(Option::as_ref).collect();
        let trial = Trial { samples: &samples, refusable: &[&3, &1000] };
        let plain = |prefix: &[Option<&usize>]| -> Vec<Option<usize>> {
            prefix.iter().map(|x| x.copied()).collect()
        };
        let refused = check(ContextLikelihood::of(&model), trial, |prefix, log: f64| {
            assert_near(log, log_of(&a, &walk(&contexts, &plain(prefix))), 1e-12, "log p");
        });
        prop_assert_eq!(refused, 2 * (samples.len() + 1));
        check(ContextStatistics::of(&model), trial, |prefix, counts: Table| {
            assert_eq!(counts, counted(&walk(&contexts, &plain(prefix))), "counts");
        });
        if end == StringEnd::Event {
            let mut stream = Stream::new(ContextLikelihood::of(&model));
            stream.push(&2).expect("the empty string");
            let ended = *stream.state();
            prop_assert_eq!(stream.push(&0), Err(ObservationError::PastEnd));
            prop_assert_eq!(stream.push(&2), Err(ObservationError::PastEnd));
            stream.push(None).expect("nothing to refuse");
            prop_assert_eq!(*stream.state(), ended);
        }
    }

    #[test]
    fn the_score_is_the_slope_and_directions_read_it(seed: u64, set in 0_usize..4, length in 0_usize..20) {
        let mut sampler = Sampler::new(seed);
        let (contexts, end) = sets()[set].clone();
        let a = table(&mut sampler, end);
        let mut next = vec![];
        let weights = parameters(a);
        let model = ContextModel::new(automaton(&contexts, end, &mut next), weights.probabilities());
        let events = string(&mut sampler, length, end, 0.0);
        let predicted = walk(&contexts, &events);
        let samples: Vec<_> = events.iter().map(Option::as_ref).collect();
        let counts = after(ContextStatistics::of(&model), &samples);
        let score = weights.score(&counts);
        for (context, row) in score.iter().enumerate() {
            for (event, &entry) in row.iter().enumerate().filter(|(event, _)| a[context][*event] > 0.0) {
                let log = |e: f64| {
                    let mut a = a;
                    a[context][event] += e;
                    log_of(&a, &predicted)
                };
                assert_near(entry, derivative(log, 1e-3), 1e-8, format!("[{context}][{event}]"));
            }
        }
        // Along the parameters, along ratios and along logits.
        let w: Table = std::array::from_fn(|_| std::array::from_fn(|_| sampler.uniform(-1.0, 1.0)));
        let inner = |score: &Table| dot(w.as_flattened(), score.as_flattened());
        let derivative = |direction: Table, parametrisation| {
            let along = model.with_directions(&[direction], parametrisation);
            after(ContextLikelihood::of(&along), &samples).tangent[0]
        };
        let own = derivative(weights.direction(&w), Parametrisation::RATIO);
        assert_near(own, inner(&score), 1e-11, "parameters");
        for by in [Parametrisation::RATIO, Parametrisation::SOFTMAX] {
            assert_near(derivative(w, by), inner(&model.score(&counts, by)), 1e-11, format!("{by:?}"));
        }
    }

    /// Strings of one length under an open set: the sum over all of them is exact.
    #[test]
    fn the_mean_score_is_zero(seed: u64, set in 1_usize..3, length in 0_usize..8) {
        let mut sampler = Sampler::new(seed);
        let (contexts, end) = sets()[set].clone();
        let a = table(&mut sampler, end);
        let (mut mass, mut mean) = (0.0, Table::default());
        for word in words(2, length) {
            let predicted = walk(&contexts, &word.into_iter().map(Some).collect::<Vec<_>>());
            let p = log_of(&a, &predicted).exp();
            mass += p;
            let score = parameters(a).score(&counted(&predicted));
            for (mean, score) in mean.as_flattened_mut().iter_mut().zip(score.as_flattened()) {
                *mean += p * score;
            }
        }
        assert_near(mass, 1.0, 1e-12, "mass");
        // An event of probability zero never comes to balance what its absence takes.
        let entries = mean.as_flattened().iter().zip(a.as_flattened());
        for (entry, _) in entries.filter(|(_, a)| **a > 0.0) {
            prop_assert!(entry.abs() < 1e-12 * (1.0 + length as f64), "mean score {mean:?}");
        }
    }

    /// With an end, strings of all lengths: those past the longest summed have at most the mass that is
    /// missing, and a score that grows with their length.
    #[test]
    fn the_mean_score_is_zero_over_strings_that_end(seed: u64, padded: bool) {
        const LONGEST: usize = 12;
        let mut sampler = Sampler::new(seed);
        let (contexts, end) = sets()[if padded { 0 } else { 3 }].clone();
        let mut a = table(&mut sampler, end);
        for row in &mut a {
            row[2] = row[0] + row[1]; // one half, everywhere
        }
        let weights = parameters(a);
        let mut mean = Table::default();
        for length in 0..=LONGEST {
            for word in words(2, length) {
                let events: Vec<_> = word.into_iter().chain([2]).map(Some).collect();
                let predicted = walk(&contexts, &events);
                let p = log_of(&a, &predicted).exp();
                let score = weights.score(&counted(&predicted));
                for (mean, score) in mean.as_flattened_mut().iter_mut().zip(score.as_flattened()) {
                    *mean += p * score;
                }
            }
        }
        // A string of n symbols has mass 2^-(n+1), and n + 1 events.
        let events: f64 = (LONGEST + 1..200).map(|n| 0.5_f64.powi(n as i32 + 1) * (n + 1) as f64).sum();
        let largest = a.as_flattened().iter().fold(0.0, |most: f64, a| most.max(2.0 / a));
        let bound = events * largest;
        prop_assert!(bound < 0.1, "the bound is {bound}: it says nothing");
        for entry in mean.as_flattened() {
            prop_assert!(entry.abs() < bound, "mean score {mean:?} past {bound}");
        }
    }

    /// At the uniform point, without its second term, the score's kernel is `K^2` times the `p`-spectrum
    /// kernel of length `k + 1`; with it, contexts are centred.
    #[test]
    fn the_uniform_point_gives_the_p_spectrum_kernel(seed: u64) {
        const K: usize = 3;
        let mut sampler = Sampler::new(seed);
        let order = Automaton::<K, 9>::order(2, StringEnd::Open).expect("nine contexts");
        let uniform = Unnormalised::<K, 9, f64>::new([[1.0 / 3.0; K]; 9]).expect("parameters");
        let model = MarkovString::new(order, uniform.probabilities());
        let strings: Vec<Vec<usize>> = (0..5)
            .map(|n| (0..6 + 4 * n).map(|_| sampler.uniform(0.0, 3.0) as usize).collect())
            .collect();
        let features: Vec<[[f64; K]; 9]> = strings
            .iter()
            .map(|s| after(ContextStatistics::of(&model), &s.iter().map(Some).collect::<Vec<_>>()))
            .collect();
        let mut gram = vec![];
        for (s, counts) in strings.iter().zip(&features) {
            let score = uniform.score(counts);
            for row in &score {
                assert_near(row.iter().sum::<f64>(), 0.0, 1e-12, "perpendicular to ones");
            }
            let mut kernels = vec![];
            for (t, others) in strings.iter().zip(&features) {
                let spectrum = s.windows(3).map(|u| t.windows(3).filter(|v| *v == u).count());
                let spectrum = spectrum.sum::<usize>() as f64;
                let first = |counts: &[[f64; K]; 9]| -> Vec<f64> {
                    counts.as_flattened().iter().map(|n| n / (1.0 / 3.0)).collect()
                };
                assert_near(dot(&first(counts), &first(others)), 9.0 * spectrum, 1e-12, "spectrum");
                kernels.push(dot(score.as_flattened(), uniform.score(others).as_flattened()));
            }
            gram.push(kernels);
        }
        assert_positive(&gram);
    }

    /// The table of an order is that of all strings of its length.
    #[test]
    fn an_order_is_a_set_of_contexts(event: bool) {
        let end = if event { StringEnd::Event } else { StringEnd::Open };
        let strings: Vec<Vec<u16>> =
            words(2, 3).map(|word| word.into_iter().map(|x| x as u16).collect()).collect();
        let set: [&[u16]; 8] = std::array::from_fn(|c| &strings[c][..]);
        if event {
            prop_assert_eq!(Automaton::<3, 8>::new(&set, end), Automaton::order(3, end));
        } else {
            prop_assert_eq!(Automaton::<2, 8>::new(&set, end), Automaton::order(3, end));
        }
    }
}

#[test]
fn bad_sets_are_named() {
    let set = |contexts: [&'static [u16]; 3]| {
        Automaton::<2, 3>::new(&contexts, StringEnd::Open).expect_err("a bad set")
    };
    assert_eq!(set([&[], &[0], &[0, 3]]), ContextError::Symbol { context: 2, position: 1 });
    assert_eq!(set([&[], &[0], &[0, 2]]), ContextError::Symbol { context: 2, position: 1 });
    assert_eq!(set([&[], &[1], &[1]]), ContextError::Duplicate { context: 2, earlier: 1 });
    assert_eq!(set([&[0], &[1], &[0, 1]]), ContextError::NoEmpty { context: 2 });
    assert_eq!(set([&[0, 0], &[0, 1], &[1, 0]]), ContextError::NoSuffix { context: 1, symbol: 1 });
    assert_eq!(set([&[2], &[0], &[0, 0]]), ContextError::NoSuffix { context: 0, symbol: 1 });
    let count = Automaton::<2, 5>::order(2, StringEnd::Open);
    assert_eq!(count, Err(ContextError::Count { found: 4, expected: 5 }));
    let message = ContextError::NoSuffix { context: 1, symbol: 1 }.to_string();
    assert!(message.contains("add the empty one"), "{message}");
}

#[test]
fn bad_parameters_are_named() {
    let refused = |row: [f32; 2]| {
        let error = Unnormalised::<2, 2, f32>::new([[1.0, 1.0], row]).expect_err("refused");
        (error.row, error.entry)
    };
    assert_eq!(refused([1.0, f32::NAN]), (1, 1));
    assert_eq!(refused([-1.0, 2.0]), (1, 0));
    assert_eq!(refused([0.0, 0.0]), (1, 0));
    assert_eq!(refused([f32::MAX, f32::MAX]), (1, 0));
}

/// A symbol that a context cannot be followed by is refused, and a count that is zero divides nothing.
#[test]
fn zeros_stay_zeros() {
    let weights = Unnormalised::<2, 2, f64>::new([[1.0, 0.0], [1.0, 3.0]]).expect("parameters");
    let order = Automaton::order(1, StringEnd::Open).expect("two contexts");
    let model = MarkovString::new(order, weights.probabilities());
    let mut likelihood = Stream::new(ContextLikelihood::of(&model));
    let mut statistics = Stream::new(ContextStatistics::of(&model));
    for stream in [1, 1, 0] {
        likelihood.push(&stream).expect("possible");
        statistics.push(&stream).expect("possible");
    }
    assert_eq!(likelihood.push(&1), Err(ObservationError::Impossible));
    assert_eq!(statistics.push(&1), Err(ObservationError::Impossible));
    assert_eq!(weights.score(&statistics.read()), [[0.0, 0.0], [1.0 - 0.5, 1.0 / 3.0 - 0.5]]);
}
