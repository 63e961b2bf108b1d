//! Segments with durations and a final state, against sums over all segmentations; context trees, against sums over all trees.

use fishweir_core::context::ContextTree;
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Streaming;
use fishweir_core::semi_markov::{SegmentChain, SegmentFilter, SegmentModel};
use fishweir_tests::checks::{assert_near, fresh_cases as cases};
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

const STATES: usize = 3;
const LONGEST: usize = 4;
const SYMBOLS: usize = 3;

/// Numbers of a model, and its hazards.
struct Plain {
    initial: [f64; STATES],
    transition: [[f64; STATES]; STATES],
    duration: [[f64; LONGEST]; STATES],
    end: [f64; STATES],
    emission: [Categorical<SYMBOLS, f64>; STATES],
}

fn row<const N: usize>(s: &mut Sampler) -> [f64; N] {
    s.probabilities(N).try_into().expect("as many")
}

impl Plain {
    fn draw(seed: u64, ends: bool) -> Self {
        let mut s = Sampler::new(seed);
        let mut end = [1.0; STATES];
        let mut transition = [[0.0; STATES]; STATES];
        for (state, row) in transition.iter_mut().enumerate() {
            let drawn = s.probabilities(STATES);
            let left: f64 = 1.0 - drawn[state];
            for to in (0..STATES).filter(|to| *to != state) {
                row[to] = drawn[to] / left * if ends { 1.0 - drawn[state] } else { 1.0 };
            }
            if ends {
                end[state] = drawn[state];
            }
        }
        Self {
            initial: row(&mut s),
            transition,
            duration: std::array::from_fn(|_| row(&mut s)),
            end,
            emission: std::array::from_fn(|_| {
                Categorical::<SYMBOLS, f64>::new(row(&mut s)).expect("a row")
            }),
        }
    }

    fn model(&self, ends: bool) -> SegmentModel<f64, STATES, LONGEST> {
        let plain = SegmentModel::with_durations(self.initial, self.transition, self.duration);
        if !ends {
            return plain.expect("a model");
        }
        let hazard =
            self.duration.map(|row| std::array::from_fn(|u| row[u] / row[u..].iter().sum::<f64>()));
        SegmentModel::with_end(self.initial, self.transition, hazard, self.end).expect("a model")
    }

    /// Sums over all segmentations: of prefixes by the state of the last segment, and of strings that end here.
    fn sums(&self, x: &[Option<&usize>]) -> ([f64; STATES], f64) {
        let (mut open, mut ended) = ([0.0; STATES], 0.0);
        for state in 0..STATES {
            self.extend(x, state, self.initial[state], &mut open, &mut ended);
        }
        (open, ended)
    }

    fn extend(
        &self,
        x: &[Option<&usize>],
        state: usize,
        weight: f64,
        open: &mut [f64; STATES],
        ended: &mut f64,
    ) {
        let mut weight = weight;
        for u in 1..=x.len().min(LONGEST) {
            let p = x[u - 1].map_or(1.0, |symbol| self.emission[state].probability()[*symbol]);
            weight *= p;
            let here = self.duration[state][u - 1];
            if u == x.len() {
                open[state] += weight * self.duration[state][u - 1..].iter().sum::<f64>();
                *ended += weight * here * self.end[state];
                return;
            }
            for to in 0..STATES {
                let next = weight * here * self.transition[state][to];
                if next > 0.0 {
                    self.extend(&x[u..], to, next, open, ended);
                }
            }
        }
    }
}

/// `log p(x)` of a tree of contexts by the estimator of Krichevsky and Trofimov, over all trees below a node.
fn all_trees(
    past: &[usize],
    x: &[usize],
    context: &[usize],
    (depth, alpha, stop): (usize, f64, f64),
) -> f64 {
    // Symbols that followed the context, in order.
    let whole: Vec<usize> = past.iter().chain(x).copied().collect();
    let mut counts = [0.0; 2];
    let mut leaf = 1.0;
    for t in past.len()..whole.len() {
        if context.iter().enumerate().all(|(d, symbol)| whole[t - 1 - d] == *symbol) {
            let total: f64 = counts.iter().sum();
            leaf *= (counts[whole[t]] + alpha) / (total + 2.0 * alpha);
            counts[whole[t]] += 1.0;
        }
    }
    if context.len() == depth {
        return leaf;
    }
    let longer = |symbol| {
        let longer: Vec<usize> = context.iter().copied().chain([symbol]).collect();
        all_trees(past, x, &longer, (depth, alpha, stop))
    };
    stop * leaf + (1.0 - stop) * longer(0) * longer(1)
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn filters_of_segments_sum_over_all_segmentations(
        seed in 0..10_000_u64, ends in any::<bool>(),
        x in prop::collection::vec(prop::option::weighted(0.8, 0..SYMBOLS), 1..7),
    ) {
        let plain = Plain::draw(seed, ends);
        let model = plain.model(ends);
        let filter = SegmentFilter::of(&model, &plain.emission);
        let samples: Vec<Option<&usize>> = x.iter().map(Option::as_ref).collect();
        let trial = Trial { samples: &samples, refusable: &[&SYMBOLS] };
        let refused = check(filter, trial, |prefix, log| {
            if prefix.is_empty() {
                assert_eq!(log, 0.0);
                return;
            }
            let (open, _) = plain.sums(prefix);
            assert_near(log, open.iter().sum::<f64>().ln(), 1e-12, "log p");
        });
        prop_assert!(refused > 0);
        let mut state = filter.initial_state();
        for &x in &samples {
            filter.push(&mut state, x).expect("possible");
        }
        let (open, ended) = plain.sums(&samples);
        let total: f64 = open.iter().sum();
        for (p, sum) in filter.filtered(&state).iter().zip(open) {
            assert_near(*p, sum / total, 1e-12, "filtered");
        }
        assert_near(filter.log_if_ended(&state), ended.ln(), 1e-12, "ended");
        assert_near(filter.end_probability(&state), ended / total, 1e-12, "ends");
    }

    #[test]
    fn context_trees_sum_over_all_trees(
        depth in 0..4_usize, alpha in 0.1..2.0_f64, stop in 0.05..0.95_f64,
        past in prop::array::uniform4(0..2_usize), x in prop::collection::vec(0..2_usize, 1..10),
    ) {
        let (mut child, mut count, mut ratio) = ([0; 64], [0.0; 64], [0.0; 32]);
        let tree = ContextTree::new(2, depth, alpha, stop, &mut child, &mut count, &mut ratio);
        let mut tree = tree.expect("valid settings");
        for symbol in past {
            tree.observe(symbol).expect("a symbol");
        }
        for (t, &symbol) in x.iter().enumerate() {
            let mut next = [0.0; 2];
            tree.predict(&mut next);
            assert_near(next.iter().sum(), 1.0, 1e-12, "sum");
            let before = tree.log_probability();
            let log = tree.push(symbol).expect("a symbol");
            assert_near(log, next[symbol].ln(), 1e-12, "prediction");
            assert_near(tree.log_probability() - before, log, 1e-12, "step");
            let all = all_trees(&past, &x[..=t], &[], (depth, alpha, stop));
            assert_near(tree.log_probability(), all.ln(), 1e-10, "log p");
        }
        prop_assert!(tree.push(2).is_err() && tree.observe(2).is_err());
    }
}

/// Of too few nodes it is a distribution still: all strings of a length sum to one.
#[test]
fn context_trees_without_room_stay_distributions() {
    let mut sum = 0.0_f64;
    for string in 0..256_usize {
        let (mut child, mut count, mut ratio) = ([0; 8], [0.0_f64; 8], [0.0; 4]);
        let tree = ContextTree::new(2, 3, 0.5, 0.5, &mut child, &mut count, &mut ratio);
        let mut tree = tree.expect("valid settings");
        for t in 0..8 {
            tree.push(string >> t & 1).expect("a symbol");
        }
        assert!(tree.nodes() <= 4);
        sum += tree.log_probability().exp();
    }
    assert_near(sum, 1.0, 1e-12, "sum");
}

/// A geometric tail goes on for ever: it is the hidden Markov model that stays with that probability.
#[test]
fn tails_are_geometric() {
    let chain = SegmentModel::<f64, 2, 1>::new([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], [[0.25]; 2]);
    let chain = chain.expect("a model");
    let emission =
        [[0.75, 0.25], [0.125, 0.875]].map(|p| Categorical::<2, f64>::new(p).expect("a row"));
    let filter = SegmentFilter::of(&chain, &emission);
    let (mut state, mut a) = (filter.initial_state(), [0.5_f64, 0.5]);
    for (t, x) in [0, 0, 1, 1, 1, 0, 1].into_iter().enumerate() {
        filter.step(&mut state, &x).expect("possible");
        if t > 0 {
            a = [0.75 * a[0] + 0.25 * a[1], 0.75 * a[1] + 0.25 * a[0]];
        }
        a = [0, 1].map(|j| a[j] * emission[j].probability()[x]);
    }
    assert_near(filter.read(&state), (a[0] + a[1]).ln(), 1e-12, "log p");
}

#[test]
fn invalid_chains_are_named() {
    use fishweir_core::{ErrorKind, Part};
    let chain = |transition: &[f64], hazard: &[f64]| {
        let refused = SegmentChain::new(&[0.5, 0.5], transition, hazard).map(|_| ());
        refused.map_err(|error| (error.part, error.kind, error.row, error.entry))
    };
    let duration = Part::Parameter("duration");
    assert_eq!(chain(&[0.0, 1.0, 1.0, 0.0], &[0.5, 1.0]), Ok(()));
    let short = Err((Part::Transition, ErrorKind::Inconsistent, 0, 0));
    assert_eq!(chain(&[0.0, 1.0, 1.0], &[0.5, 1.0]), short);
    let above = Err((duration, ErrorKind::AboveOne, 1, 0));
    assert_eq!(chain(&[0.0, 1.0, 1.0, 0.0], &[0.5, 1.5]), above);
    let sum = Err((Part::Transition, ErrorKind::SumNotOne, 1, 0));
    assert_eq!(chain(&[0.0, 1.0, 1.0, 0.5], &[0.5, 1.0]), sum);
    let table = SegmentModel::with_durations([1.0_f64], [[0.0]], [[0.5, 0.25]]);
    assert_eq!(table.map_err(|error| error.part), Err(duration));
}

/// A context tree names the setting that is out of range.
#[test]
fn settings_out_of_range_are_named() {
    let kind = |symbols, alpha, stop| {
        let (mut child, mut count, mut ratio) = ([0; 2], [0.0_f32; 2], [0.0; 1]);
        let tree = ContextTree::new(symbols, 1, alpha, stop, &mut child, &mut count, &mut ratio);
        tree.map(|_| ()).map_err(|error| error.part)
    };
    assert_eq!(kind(2, 0.5, 0.5), Ok(()));
    for (wrong, name) in [
        (kind(0, 0.5, 0.5), "symbols"),
        (kind(2, 0.0, 0.5), "alpha"),
        (kind(2, f32::NAN, 0.5), "alpha"),
        (kind(2, 0.5, 0.0), "stop"),
        (kind(2, 0.5, 1.0), "stop"),
        (kind(2, 0.5, f32::NAN), "stop"),
    ] {
        assert_eq!(wrong, Err(fishweir_core::Part::Parameter(name)));
    }
}
