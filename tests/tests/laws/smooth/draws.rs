//! Draws of states, observations and paths have the model's frequencies.

use std::borrow::Borrow;
use std::convert::Infallible;

use fishweir_core::emission::{Categorical, Gaussian, Sample as _};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::rand_core::TryRng;
use fishweir_core::smooth::{Ancestral, StateIndex, draw_path, viterbi};
use fishweir_tests::build::{Family, Task, dispatch, padded, samples};
use fishweir_tests::oracle::{Enumeration, Observation, Sequence, words};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, Topology, zoo};

/// SplitMix64: enough of a generator, and any that implements the trait will do.
struct SplitMix(u64);

impl TryRng for SplitMix {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|bits| (bits >> 32) as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(bits ^ (bits >> 31))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let bits = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
        Ok(())
    }
}

/// Counts of `draws` independent events of probability `p` lie within five standard deviations.
fn counted(count: usize, draws: usize, p: f64, what: &str) {
    let (draws, count) = (draws as f64, count as f64);
    let spread = (draws * p * (1.0 - p)).sqrt();
    assert!((count - draws * p).abs() <= 5.0 * spread, "{what}: {count} of {draws}, expected {p}");
}

#[test]
fn draws_have_the_frequencies_of_the_model() {
    for (seed, topology) in TOPOLOGIES.into_iter().enumerate() {
        let model = Sampler::new(seed as u64).categorical(topology, 3, 4);
        let hmm = padded::<f32, Categorical<4, f32>, 4>(&model).expect("a model");
        let mut transitions = [[0_usize; 4]; 4];
        let mut emissions = [[0_usize; 4]; 4];
        let mut initial = [0_usize; 4];
        let mut rng = SplitMix(seed as u64);
        for _ in 0..2_000 {
            let mut before: Option<usize> = None;
            for draw in Ancestral::of(&hmm, &mut rng).take(20) {
                match before {
                    None => initial[draw.state] += 1,
                    Some(before) => transitions[before][draw.state] += 1,
                }
                emissions[draw.state][draw.observation] += 1;
                before = Some(draw.state);
            }
        }
        for (state, &count) in initial.iter().take(3).enumerate() {
            counted(count, 2_000, model.initial[state], "initial");
        }
        for (counts, probabilities) in transitions.iter().zip(&model.transition) {
            let draws = counts.iter().sum();
            for (&count, &p) in counts.iter().zip(probabilities) {
                counted(count, draws, p, "transition");
            }
        }
        for (counts, law) in emissions.iter().zip(hmm.emission()).take(3) {
            let draws = counts.iter().sum();
            for (&count, &p) in counts.iter().zip(law.probability()) {
                counted(count, draws, p.into(), "emission");
            }
        }
        assert_eq!(initial[3] + transitions.iter().map(|row| row[3]).sum::<usize>(), 0, "padding");
    }
}

#[test]
fn paths_are_drawn_as_often_as_their_posterior_says() {
    const DRAWS: usize = 20_000;
    for sample in zoo(21, 4) {
        let (model, sequence) = (&sample.model, &sample.sequence);
        let truth = Enumeration::of(model, sequence).expect("a possible sequence");
        let drawn = match dispatch::<f32, _>(model, DrawPaths { sequence, draws: DRAWS }) {
            Err(error) if error.starts_with("no such") => continue,
            drawn => drawn.expect("a family that is known"),
        };
        let mut counts = std::collections::HashMap::<Vec<usize>, usize>::new();
        for path in drawn {
            *counts.entry(path).or_default() += 1;
        }
        for path in words(model.states(), sequence.len()) {
            let posterior = model.log_joint(&path, sequence).exp() / truth.likelihood;
            let count = counts.remove(&path).unwrap_or(0);
            assert!(count == 0 || posterior > 0.0, "{}: impossible path", sample.name);
            if posterior > 1e-3 {
                counted(count, DRAWS, posterior, sample.name);
            }
        }
        assert!(counts.is_empty(), "{}: states out of reach", sample.name);
    }
}

struct DrawPaths<'a> {
    sequence: &'a Sequence,
    draws: usize,
}

impl<T: Real> Task<T> for DrawPaths<'_> {
    type Output = Vec<Vec<usize>>;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Self::Output, String> {
        let samples = samples::<T, E>(self.sequence)?;
        let mut rows = vec![[T::ZERO; N]; samples.len()];
        let mut path = vec![0_u8; samples.len()];
        let mut rng = SplitMix(17);
        let draw = |_| {
            let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
            draw_path(hmm, observations, &mut rows, &mut path, &mut rng)
                .map_err(|error| error.to_string())?;
            Ok(path.iter().map(|state| state.index()).collect())
        };
        (0..self.draws).map(draw).collect()
    }
}

#[test]
fn normal_draws_are_normal() {
    const DRAWS: usize = 40_000;
    let (mean, variance) = ([3.0, -20.0, 0.5], [4.0, 0.25, 1.0]);
    let gaussian = Gaussian::<3, f64>::new(mean, variance).expect("a model");
    let mut rng = SplitMix(3);
    let drawn: Vec<[f64; 3]> = (0..DRAWS).map(|_| gaussian.sample(&mut rng)).collect();
    let z = |x: &[f64; 3], d: usize| (x[d] - mean[d]) / variance[d].sqrt();
    for d in 0..3 {
        // The normal distribution at -2, -1, ..., 2.
        for (at, p) in
            [(-2.0, 0.022_750), (-1.0, 0.158_655), (0.0, 0.5), (1.0, 0.841_345), (2.0, 0.977_250)]
        {
            counted(drawn.iter().filter(|x| z(x, d) < at).count(), DRAWS, p, "quantile");
        }
        for e in 0..d {
            let correlation: f64 =
                drawn.iter().map(|x| z(x, d) * z(x, e)).sum::<f64>() / DRAWS as f64;
            assert!(correlation.abs() < 5.0 / (DRAWS as f64).sqrt(), "{correlation}");
        }
    }
}

#[test]
fn a_drawn_path_scores_no_more_than_the_best() {
    let model = Sampler::new(9).model(Topology::Ergodic, 3, |s| s.gaussian_law(2, 2.0));
    let hmm = padded::<f64, Gaussian<3, f64>, 4>(&model).expect("a model");
    let mut rng = SplitMix(11);
    for _ in 0..50 {
        let draws: Vec<_> = Ancestral::of(&hmm, &mut rng).take(30).collect();
        let (mut back, mut path) = (vec![[0_u8; 4]; 30], vec![0_u8; 30]);
        let observations = draws.iter().map(|draw| Some(&draw.observation));
        let best = viterbi(&hmm, observations, &mut back, &mut path).expect("a possible sequence");
        let sequence: Sequence = draws
            .iter()
            .map(|draw| {
                let channels = draw.observation[..2].to_vec();
                Some(Observation::Channels(channels))
            })
            .collect();
        let states: Vec<usize> = draws.iter().map(|draw| draw.state).collect();
        // The padded third channel is drawn, and has its own density in `best`.
        let padding: f64 =
            draws.iter().map(|draw| std::f64::consts::PI * draw.observation[2].powi(2)).sum();
        assert!(model.log_joint(&states, &sequence) - padding <= best + 1e-9);
    }
}
