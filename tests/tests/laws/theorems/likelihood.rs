//! Forward, backward, enumeration, Viterbi: one likelihood.

use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_tests::build::{Family, Task, dispatch, samples};
use fishweir_tests::oracle::{Enumeration, LogDomain, Model, Sequence};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, all_sequences, zoo};
use proptest::prelude::*;

use crate::theorems::{assert_close, push};

/// `log p(x_1..t)` and the filtered row at every prefix, until the sequence becomes impossible.
struct Filter<'a>(&'a Sequence);

pub(crate) struct Filtered {
    pub(crate) log: Vec<f64>,
    pub(crate) rows: Vec<Vec<f64>>,
    /// Whether every observation was possible.
    pub(crate) possible: bool,
}

impl<T: Real> Task<T> for Filter<'_> {
    type Output = Filtered;
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Filtered, String> {
        let forward = Forward::of(hmm);
        let mut state = forward.initial_state();
        let mut out = Filtered { log: vec![], rows: vec![], possible: true };
        for x in samples::<T, E>(self.0)? {
            out.possible = push(&forward, &mut state, x.as_ref());
            if !out.possible {
                break;
            }
            out.log.push(forward.log_likelihood(&state).to_f64());
            out.rows.push(forward.filtered(&state).iter().map(|p| p.to_f64()).collect());
        }
        Ok(out)
    }
}

pub(crate) fn filter<T: Real>(model: &Model, sequence: &Sequence) -> Filtered {
    dispatch::<T, _>(model, Filter(sequence)).expect("a model of the sizes compiled")
}

fn log_likelihood(model: &Model, sequence: &Sequence) -> f64 {
    let filtered = filter::<f64>(model, sequence);
    if filtered.possible { *filtered.log.last().unwrap_or(&0.0) } else { f64::NEG_INFINITY }
}

proptest! {
    #![proptest_config(crate::theorems::cases(48))]

    /// The probabilities of all sequences of a length sum to one.
    #[test]
    fn all_sequences_sum_to_one(
        seed: u64, states in 1_usize..=4, symbols in 2_usize..=3, length in 1_usize..=5,
        topology in 0_usize..4, zeros: bool,
    ) {
        let mut sampler = Sampler::new(seed);
        let mut model = sampler.categorical(TOPOLOGIES[topology], states, symbols);
        if zeros {
            for law in &mut model.emission {
                let p = sampler.sparse_probabilities(symbols);
                *law = fishweir_tests::oracle::Law::Categorical(p);
            }
        }
        let sum: f64 =
            all_sequences(&model, length).iter().map(|x| log_likelihood(&model, x).exp()).sum();
        assert_close(sum, 1.0, 1e-13, 0.0, "sum over all sequences");
    }

    /// The filter is the sum over all hidden paths.
    #[test]
    fn forward_is_the_enumeration(seed: u64, length in 1_usize..=6) {
        for sample in zoo(seed, length) {
            let Some(all) = Enumeration::of(&sample.model, &sample.sequence) else {
                prop_assert_eq!(log_likelihood(&sample.model, &sample.sequence), f64::NEG_INFINITY);
                continue;
            };
            let log = log_likelihood(&sample.model, &sample.sequence);
            // Below 10^-300 the enumeration's own products have lost digits.
            if all.likelihood > 1e-300 {
                assert_close(log, all.likelihood.ln(), 1e-12, 1e-11, sample.name);
            }
        }
    }

    /// Forward equals backward, equals the log domain, at lengths where products underflow.
    #[test]
    fn forward_is_backward(seed: u64, length in 1_usize..=300) {
        for sample in zoo(seed, length) {
            let slow = LogDomain::of(&sample.model, &sample.sequence);
            let fast = filter::<f64>(&sample.model, &sample.sequence);
            prop_assert!(fast.possible, "{}: a sampled sequence is possible", sample.name);
            let log = fast.log[length - 1];
            assert_close(log, slow.log_likelihood_backward(), 1e-12, 1e-10, sample.name);
            let prefix = slow.prefix_log_likelihood();
            for (t, log) in fast.log.iter().enumerate() {
                assert_close(*log, prefix[t], 1e-12, 1e-10, sample.name);
                let rows = slow.filtered(t).expect("possible");
                for (a, b) in fast.rows[t].iter().zip(&rows) {
                    assert_close(*a, *b, 1e-9, 1e-12, sample.name);
                }
            }
        }
    }

    /// A symbol that no reachable state emits is refused, exactly where the oracle says `-inf`.
    #[test]
    fn impossible_is_refused(seed: u64, length in 1_usize..=12) {
        for sample in zoo(seed, 1) {
            // Sequences of one model are often impossible under another of the same family.
            let other = zoo(seed.wrapping_add(1), length)
                .into_iter()
                .find(|other| other.name == sample.name)
                .expect("the same zoo");
            let slow = LogDomain::of(&sample.model, &other.sequence).prefix_log_likelihood();
            let fast = filter::<f64>(&sample.model, &other.sequence);
            let possible = slow.iter().take_while(|log| log.is_finite()).count();
            prop_assert_eq!(fast.log.len(), possible, "{}", sample.name);
        }
    }

    /// After every prefix, the stream says what the prefix alone would say: to the last bit.
    #[test]
    fn streaming_is_batch_at_every_prefix(seed: u64, length in 1_usize..=80) {
        for sample in zoo(seed, length) {
            let stream = filter::<f32>(&sample.model, &sample.sequence);
            for t in 1..=length {
                let prefix = sample.sequence[..t].to_vec();
                let batch = filter::<f32>(&sample.model, &prefix);
                prop_assert_eq!(batch.log[t - 1].to_bits(), stream.log[t - 1].to_bits());
                prop_assert_eq!(&batch.rows[t - 1], &stream.rows[t - 1]);
            }
        }
    }
}
