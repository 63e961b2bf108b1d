//! Spotting against the whole stream's best path in the log domain.

use std::borrow::Borrow;

use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Real;
use fishweir_core::spot::{BACKGROUND, Event, Spotter};
use fishweir_tests::build::{Family, Task, dispatch, samples};
use fishweir_tests::laws::{self, Trial};
use fishweir_tests::oracle::{Law, LogDomain, Model, Observation, Sequence};
use fishweir_tests::sample::{Sampler, Topology};
use proptest::prelude::*;

/// States of the background, and classes; a class has one state and then two.
const B: usize = 2;
const CLASSES: [u8; 5] = [BACKGROUND, BACKGROUND, 0, 1, 1];

/// A background, and the network that it is part of.
struct Joined {
    background: Model,
    network: Model,
    sequence: Sequence,
}

impl Joined {
    fn of(seed: u64, length: usize, law: impl Fn(&mut Sampler) -> Law) -> Self {
        let mut s = Sampler::new(seed);
        let background = s.model(Topology::Ergodic, B, &law);
        let classes = [
            s.model(Topology::Ergodic, 1, &law),
            s.model(
                if seed.is_multiple_of(2) { Topology::LeftToRight } else { Topology::Ergodic },
                2,
                &law,
            ),
        ];
        let (entry, exit) = (s.row(2, 0.02, 0.2), s.row(2, 0.05, 0.4));
        let stays = 1.0 - entry.iter().sum::<f64>();
        let enters = |row: &[f64]| -> Vec<f64> {
            let own = row.iter().map(|p| stays * p);
            let classes = classes.iter().zip(&entry);
            own.chain(classes.flat_map(|(c, e)| c.initial.iter().map(move |p| e * p))).collect()
        };
        let mut transition: Vec<Vec<f64>> =
            background.transition.iter().map(|row| enters(row)).collect();
        let mut emission = background.emission.clone();
        let mut first = B;
        for (class, exit) in classes.iter().zip(exit) {
            for own in &class.transition {
                let mut row = vec![0.0; CLASSES.len()];
                for (to, p) in row.iter_mut().zip(&background.initial) {
                    *to = exit * p;
                }
                for (to, p) in row[first..].iter_mut().zip(own) {
                    *to = (1.0 - exit) * p;
                }
                transition.push(row);
            }
            emission.extend(class.emission.iter().cloned());
            first += class.states();
        }
        let network = Model { initial: enters(&background.initial), transition, emission };
        let sequence = s.sequence(&network, length, 0.15);
        Self { background, network, sequence }
    }

    /// The runs of classes on the best path of a prefix, the one at its end apart.
    fn oracle(&self, t: usize) -> (Vec<Event<f64>>, Option<Event<f64>>) {
        let prefix = &self.sequence[..t];
        let Some((path, _)) = LogDomain::of(&self.network, prefix).viterbi() else {
            return (vec![], None);
        };
        // What the background alone makes impossible is no evidence there.
        let mut alone: Sequence = Vec::new();
        for x in prefix {
            alone.push(x.clone());
            if LogDomain::of(&self.background, &alone).viterbi().is_none() {
                alone.pop();
                alone.push(None);
            }
        }
        let background = |to: usize| {
            LogDomain::of(&self.background, &alone[..to]).viterbi().map_or(0.0, |(_, log)| log)
        };
        let mut events: Vec<Event<f64>> = Vec::new();
        let mut start = 0;
        for run in path.chunk_by(|&a, &b| CLASSES[a] == CLASSES[b]) {
            let (class, end) = (CLASSES[run[0]], start + run.len());
            if class != BACKGROUND {
                let joint = |to: usize| self.network.log_joint(&path[..to], &prefix[..to]);
                let log_odds = joint(end) - joint(start) - (background(end) - background(start));
                events.push(Event { class, start: start as u64, end: end as u64, log_odds });
            }
            start = end;
        }
        let open = events.pop_if(|event| event.end as usize == t);
        (events, open)
    }
}

fn same(got: &Event<f64>, expected: &Event<f64>) {
    let place = |e: &Event<f64>| (e.class, e.start, e.end);
    assert_eq!(place(got), place(expected));
    let error = (got.log_odds - expected.log_odds).abs();
    assert!(error < 1e-9 * (1.0 + expected.log_odds.abs()), "{got:?}, expected {expected:?}");
}

struct Laws<'a> {
    joined: &'a Joined,
    refusable: &'a [Option<Observation>],
}

impl<T: Real> Task<T> for Laws<'_> {
    /// Events, and observations that were refused.
    type Output = [usize; 2];

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<[usize; 2], String> {
        let Joined { background, sequence, .. } = self.joined;
        let chain: Chain<T, B> = Chain::from_parts(
            std::array::from_fn(|j| T::from_f64(background.initial[j])),
            std::array::from_fn(|i| {
                std::array::from_fn(|j| T::from_f64(background.transition[i][j]))
            }),
        );
        let class = std::array::from_fn(|j| CLASSES.get(j).copied().unwrap_or(0));
        let spotter: Spotter<E, N, B, 8> = Spotter::from_parts(*hmm, chain, class, u32::MAX);
        spotter.validate().map_err(|error| error.to_string())?;

        let taken = samples::<T, E>(sequence)?;
        let taken: Vec<_> = taken.iter().map(|x| x.as_ref().map(Borrow::borrow)).collect();
        let mut stream = Stream::new(&spotter);
        let mut decided: Vec<Event<f64>> = Vec::new();
        let plain = |event: &Event<T>| Event {
            class: event.class,
            start: event.start,
            end: event.end,
            log_odds: event.log_odds.to_f64(),
        };
        for (t, x) in taken.iter().enumerate() {
            stream.push(*x).map_err(|error| error.to_string())?;
            decided.extend(stream.read().events.iter().map(plain));
            if stream.state().forced() > 0 {
                break; // More was undecided than there is room for.
            }
            let (ended, open) = self.joined.oracle(t + 1);
            let rest = spotter.undecided(stream.state());
            let all: Vec<_> =
                decided.iter().copied().chain(rest.events.iter().map(plain)).collect();
            assert_eq!(all.len(), ended.len(), "after {} samples: {all:?}, {ended:?}", t + 1);
            all.iter().zip(&ended).for_each(|(got, expected)| same(got, expected));
            assert_eq!(rest.open.is_some(), open.is_some());
            rest.open.iter().zip(&open).for_each(|(got, expected)| same(&plain(got), expected));
        }
        let odd = samples::<T, E>(self.refusable)?;
        let odd: Vec<_> = odd.iter().flatten().map(Borrow::borrow).collect();
        let trial = Trial { samples: &taken, refusable: &odd };
        let refused = laws::check(&spotter, trial, |_, _| ());
        // Whatever the lag, events are in order, and none is later than it.
        for lag in [0, 1, 3] {
            let hasty: Spotter<E, N, B, 2> = Spotter::from_parts(*hmm, chain, class, lag);
            let mut stream = Stream::new(&hasty);
            let mut end = 0;
            for x in &taken {
                stream.push(*x).map_err(|error| error.to_string())?;
                for event in stream.read().events {
                    assert!(end <= event.start && event.start < event.end, "{event:?} from {end}");
                    end = event.end;
                    assert!(stream.state().samples() <= end + u64::from(lag).max(1), "{event:?}");
                }
            }
        }
        Ok([decided.len(), refused])
    }
}

fn check(joined: &Joined, refusable: &[Option<Observation>]) -> [usize; 2] {
    dispatch::<f64, _>(&joined.network, Laws { joined, refusable }).expect("sound")
}

#[test]
fn a_stream_is_cut_where_the_whole_best_path_is() {
    let [mut events, mut refused] = [0; 2];
    for seed in 0..24 {
        let joined = Joined::of(seed, 40, |s| Law::Categorical(s.sparse_probabilities(5)));
        let symbols: Vec<_> = (0..7).map(|k| Some(Observation::Symbol(k))).collect();
        let [more, odd] = check(&joined, &symbols);
        (events, refused) = (events + more, refused + odd);
        let joined = Joined::of(seed, 40, |s| s.gaussian_law(2, 3.0));
        let wrong = [f64::NAN, f64::INFINITY].map(|x| Some(Observation::Channels(vec![x; 2])));
        let [more, odd] = check(&joined, &wrong);
        (events, refused) = (events + more, refused + odd);
    }
    assert!(events > 50, "only {events} events");
    assert!(refused > 1_000, "only {refused} refusals");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn random_networks_too(seed in any::<u64>()) {
        check(&Joined::of(seed, 30, |s| s.gaussian_law(1, 4.0)), &[]);
    }
}
