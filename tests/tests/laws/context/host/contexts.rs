use fishweir::data::{Alphabet, Samples};
use fishweir::model::{ContextModelError, ContextSet, MarkovModel};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use super::{drawn, views};
use crate::context::cases;

#[test]
fn sets_of_an_order_are_complete_and_in_order() {
    let strings = |set: ContextSet| set.strings(2, false, &[]).expect("few");
    assert_eq!(strings(ContextSet::Order(0)), [Vec::<u16>::new()]);
    assert_eq!(strings(ContextSet::Order(2)), [[0, 0], [0, 1], [1, 0], [1, 1]]);
    let padded: [[u16; 2]; 7] = [[2, 2], [2, 0], [2, 1], [0, 0], [0, 1], [1, 0], [1, 1]];
    assert_eq!(strings(ContextSet::Padded(2)), padded);
    assert_eq!(strings(ContextSet::Listed(vec![vec![1, 0], vec![]])), [vec![], vec![1, 0]]);
    for set in [ContextSet::Order(9), ContextSet::Padded(8), ContextSet::Order(usize::MAX)] {
        let error = set.strings(4, false, &[]).expect_err("too many");
        assert!(matches!(error, ContextModelError::TooMany { symbols: 4, .. }), "{error}");
    }
    assert_eq!(ContextSet::Order(7).strings(4, false, &[]).expect("16384").len(), 1 << 14);
}

/// How often something follows a string in others.
fn followed(strings: &[Samples], wanted: &[u16], end: bool) -> usize {
    let count = |one: &Samples| {
        let symbols = one.view().symbols().expect("symbols").to_vec();
        (0..=symbols.len())
            .filter(|&at| match symbols.get(at) {
                Some(next) => next.is_some(),
                None => end,
            })
            .filter(|&at| {
                at >= wanted.len()
                    && symbols[at - wanted.len()..at]
                        .iter()
                        .zip(wanted)
                        .all(|(a, b)| *a == Some(*b))
            })
            .count()
    };
    strings.iter().map(count).sum()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn frequent_contexts_are_all_that_are_frequent(
        seed: u64, longest in 0_usize..4, at_least in 1_usize..6, end: bool,
    ) {
        let sampler = &mut Sampler::new(seed);
        let strings: Vec<Samples> = (0..4).map(|_| drawn(sampler, 3, 14, 0.1)).collect();
        let set = ContextSet::Frequent { longest, at_least };
        let found = set.strings(3, end, &views(&strings)).expect("few");
        let mut expected = vec![Vec::new()];
        for length in 1..=longest {
            let all = ContextSet::Order(length).strings(3, false, &[]).expect("few");
            let frequent = |word: &Vec<u16>| followed(&strings, word, end) >= at_least;
            expected.extend(all.into_iter().filter(frequent));
        }
        prop_assert_eq!(&found, &expected);

        // The context is the longest suffix of the whole past: a gap forgets what was before.
        let model = MarkovModel::uniform(&set, 3, end, &views(&strings)).expect("a model");
        for one in &strings {
            let symbols = one.view().symbols().expect("symbols");
            let mut counts = vec![vec![0.0; 3 + usize::from(end)]; found.len()];
            let mut past: Vec<u16> = Vec::new();
            for next in symbols.iter().copied().chain(end.then_some(Some(3))) {
                let Some(next) = next else {
                    past.clear();
                    continue;
                };
                let context = (0..found.len())
                    .filter(|&context| past.ends_with(&found[context]))
                    .max_by_key(|&context| found[context].len())
                    .expect("the empty one");
                counts[context][usize::from(next)] += 1.0;
                past.push(next);
            }
            prop_assert_eq!(model.count(one.view()).expect("possible"), counts);
        }
    }
}

#[test]
fn a_file_of_contexts_is_read_line_by_line() {
    let dna = Alphabet::dna();
    let set = ContextSet::parse("contexts.txt", "A\n\n  CA \nGGT\n", &dna).expect("contexts");
    assert_eq!(set, ContextSet::Listed(vec![vec![0], vec![1, 0], vec![2, 2, 3]]));
    for (text, expected) in [
        ("A\nAX\n", "contexts.txt, line 2: `X` is not a symbol of the alphabet"),
        ("A\n\nC\nA\n", "contexts.txt, line 4: the context of line 1 occurs again"),
    ] {
        let error = ContextSet::parse("contexts.txt", text, &dna).expect_err("refused").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let missing = ContextSet::read("no-such-file".as_ref(), &dna).expect_err("no file").to_string();
    assert!(missing.starts_with("no-such-file: cannot read"), "{missing}");
}
