//! Forward-only statistics are forward-backward's, at every prefix.

use std::borrow::Borrow;

use fishweir_core::emission::VectorSpace;
use fishweir_core::filter::{Statistics, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::score::StatisticsOf;
use fishweir_core::smooth::posteriors;
use fishweir_tests::build::{Family, Task, dispatch, samples};
use fishweir_tests::oracle::{LogDomain, Sequence};
use fishweir_tests::sample::zoo;
use proptest::prelude::*;

use crate::theorems::{assert_close, push};

/// Flattened statistics at every prefix: forward-only, and from posteriors.
struct Collect<'a>(&'a Sequence);

struct StatisticsState {
    states: usize,
    forward_only: Vec<Vec<f64>>,
    smoothed: Vec<Vec<f64>>,
}

impl<T: Real> Task<T> for Collect<'_> {
    type Output = StatisticsState;
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<StatisticsState, String> {
        let stream = Statistics::of(hmm);
        let mut state = stream.initial_state();
        let samples = samples::<T, E>(self.0)?;
        let flat = |expected: &StatisticsOf<E, N>| {
            let mut flat = vec![T::ZERO; StatisticsOf::<E, N>::LENGTH];
            expected.write_to(&mut flat);
            flat.iter().map(|x| x.to_f64()).collect()
        };
        let mut out = StatisticsState { states: N, forward_only: vec![], smoothed: vec![] };
        for t in 0..samples.len() {
            assert!(push(&stream, &mut state, samples[t].as_ref()));
            out.forward_only.push(flat(&stream.read(&state)));
            let prefix = &samples[..=t];
            let mut rows = vec![[T::ZERO; N]; prefix.len()];
            let mut expected = StatisticsOf::<E, N>::ZERO;
            let observations = prefix.iter().map(|x| x.as_ref().map(Borrow::borrow));
            posteriors(hmm, observations, &mut rows, &mut expected.transition)
                .map_err(|error| error.to_string())?;
            expected.initial = rows[0];
            for (row, x) in rows.iter().zip(prefix) {
                let Some(x) = x else { continue };
                let states = hmm.emission().iter().zip(&mut expected.emission).zip(row);
                for ((emission, collected), &weight) in states.filter(|(_, w)| **w > T::ZERO) {
                    emission.observe(x.borrow(), weight, collected);
                }
            }
            out.smoothed.push(flat(&expected));
        }
        Ok(out)
    }
}

proptest! {
    #![proptest_config(crate::theorems::cases(16))]

    #[test]
    fn statistics_are_forward_backward_at_every_prefix(seed: u64, length in 1_usize..=70) {
        for sample in zoo(seed, length) {
            let task = Collect(&sample.sequence);
            let collected = dispatch::<f64, _>(&sample.model, task).expect("possible");
            // Standardised moments of a state far away are large where its weight is none.
            let reach = if sample.name.starts_with("far") { 1e6 } else { 1.0 };
            for (a, b) in collected.forward_only.iter().zip(&collected.smoothed) {
                for (a, b) in a.iter().zip(b) {
                    assert_close(*a, *b, 1e-9, 1e-10 * reach, sample.name);
                }
            }
            // And the transitions are the log domain's, which shares no code with either.
            let pairs = LogDomain::of(&sample.model, &sample.sequence).pairs().expect("possible");
            let last = &collected.forward_only[length - 1];
            let (n, states) = (collected.states, sample.model.states());
            for i in 0..states {
                for j in 0..states {
                    assert_close(last[n + i * n + j], pairs[i][j], 1e-9, 1e-10, sample.name);
                }
            }
        }
    }
}
