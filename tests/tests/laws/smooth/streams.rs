//! The laws of a stream, and every reading after every prefix against the log domain.

use std::borrow::Borrow;

use fishweir_core::emission::Categorical;
use fishweir_core::filter::Stream;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Max, Real};
use fishweir_core::smooth::{FixedLag, OnlineViterbi, Viterbi};
use fishweir_tests::build::{Family, Task, dispatch, padded, samples};
use fishweir_tests::laws::{self, Trial};
use fishweir_tests::oracle::{LogDomain, Model, Observation, Sequence};
use fishweir_tests::sample::{Sampler, Topology, zoo};

use crate::smooth::close;

const LAG: usize = 3;

struct Laws<'a> {
    model: &'a Model,
    sequence: &'a Sequence,
    refusable: &'a [Option<Observation>],
}

impl<T: Real> Task<T> for Laws<'_> {
    /// How many observations were refused.
    type Output = usize;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<usize, String> {
        let (taken, odd) = (samples::<T, E>(self.sequence)?, samples::<T, E>(self.refusable)?);
        let taken: Vec<_> = taken.iter().map(|x| x.as_ref().map(Borrow::borrow)).collect();
        let odd: Vec<_> = odd.iter().flatten().map(Borrow::borrow).collect();
        let trial = Trial { samples: &taken, refusable: &odd };
        let oracle = |t: usize| LogDomain::of(self.model, &self.sequence[..t]);

        let mut refused = laws::check(FixedLag::<_, N, LAG>::of(hmm), trial, |prefix, got| {
            let t = prefix.len();
            assert_eq!(got.lag, LAG.min(t.saturating_sub(1)));
            let expected = match t.checked_sub(got.lag + 1) {
                Some(at) => oracle(t).posterior().expect("a possible prefix")[at].clone(),
                None => self.model.initial.clone(),
            };
            for (got, expected) in got.probability.iter().zip(expected) {
                close(got.to_f64(), expected, 1e-10, "smoothed at a lag");
            }
        });
        refused += laws::check(Viterbi::of(hmm), trial, |prefix, got| {
            let expected = oracle(prefix.len()).viterbi().map_or(0.0, |(_, log)| log);
            close(got.to_f64(), expected, 1e-11, "the best path's log-probability");
        });
        refused += laws::check(OnlineViterbi::<_, 32>::of(hmm), trial, |prefix, got| {
            assert!(got.since as usize + got.states.len() <= prefix.len());
        });
        Ok(refused)
    }
}

#[test]
fn laws_of_a_stream() {
    let mut refused = 0;
    for sample in zoo(31, 24) {
        let refusable: Vec<Option<Observation>> = match &sample.sequence.iter().flatten().next() {
            Some(Observation::Symbol(_)) => (0..17).map(|k| Some(Observation::Symbol(k))).collect(),
            Some(Observation::Channels(x)) => [f64::NAN, f64::INFINITY]
                .map(|wrong| Some(Observation::Channels(vec![wrong; x.len()])))
                .to_vec(),
            _ => continue,
        };
        let laws = Laws { model: &sample.model, sequence: &sample.sequence, refusable: &refusable };
        refused += dispatch::<f64, _>(&sample.model, laws)
            .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
    }
    assert!(refused > 1_000, "only {refused} refusals");
}

#[test]
fn the_forward_recursion_over_max_is_viterbis() {
    let model = Sampler::new(5).categorical(Topology::Ergodic, 4, 4);
    let hmm = padded::<f64, Categorical<4, f64>, 4>(&model).expect("a model");
    let mut viterbi = Stream::new(Viterbi::of(&hmm));
    let mut belief: [Max<f64>; 4] = hmm.chain().begin();
    for (time, x) in [2, 0, 1, 3, 3, 0, 1].into_iter().enumerate() {
        if time > 0 {
            belief = hmm.chain().predict(&belief);
        }
        for (entry, law) in belief.iter_mut().zip(hmm.emission()) {
            entry.0 *= law.probability()[x];
        }
        viterbi.push(&x).expect("a possible observation");
        assert_eq!(viterbi.state().row(), &belief);
    }
}
