//! Long gaps and long sequences, in single precision.

use fishweir_core::emission::Categorical;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::smooth::{Survivors, Viterbi, viterbi};
use fishweir_tests::build::{padded, samples};
use fishweir_tests::sample::{Sampler, Topology};

use crate::smooth::each_other::{checkpointed_is_plain, wide_window_decodes_the_path};
use crate::smooth::{close, smoothed};

#[test]
fn a_long_gap_does_not_underflow() {
    const N: usize = 16;
    let chain = Chain::<f32, N>::new([1.0 / 16.0; N], [[1.0 / 16.0; N]; N]).expect("a model");
    let hmm = Hmm::new(chain, [Categorical::<2>::new([0.5, 0.5]).expect("a model"); N]);
    let mut state = Survivors::NEW;
    for gap in 1..=3000_u32 {
        Viterbi::of(&hmm).step_missing(&mut state);
        let expected = -f64::from(gap) * 16_f64.ln();
        close(state.log().0.into(), expected, 1e-6, "log-probability of one of 16^t paths");
    }
}

/// The largest difference of two numbers that are not far apart in size.
fn largest_difference<const N: usize>(single: &[[f32; N]], double: &[[f64; N]]) -> f64 {
    let pairs = single.iter().flatten().zip(double.iter().flatten());
    pairs.map(|(&s, &d)| (f64::from(s) - d).abs()).fold(0.0, f64::max)
}

#[test]
fn long_sequences_in_single_precision() {
    const T: usize = 100_000;
    for topology in [Topology::Ergodic, Topology::Sparse] {
        let mut sampler = Sampler::new(7);
        let model = sampler.categorical(topology, 4, 4);
        let sequence = sampler.sequence(&model, T, 0.01);
        let single = padded::<f32, Categorical<4, f32>, 4>(&model).expect("a model");
        let double = padded::<f64, Categorical<4, f64>, 4>(&model).expect("a model");
        let symbols = samples::<f32, Categorical<4, f32>>(&sequence).expect("symbols");

        let (rows, pairs, log) = smoothed(&single, &symbols).expect("a possible sequence");
        let (rows64, pairs64, log64) = smoothed(&double, &symbols).expect("a possible sequence");
        close(log.into(), log64, 1e-6, "log-likelihood");
        let error = largest_difference(&rows, &rows64);
        assert!(error < 3e-6, "posteriors off by {error:e}");
        for row in &rows {
            let sum: f64 = row.iter().map(|&p| f64::from(p)).sum();
            assert!((sum - 1.0).abs() < 3e-6, "a posterior that sums to {sum}");
        }
        let error = largest_difference(&pairs, &pairs64) / T as f64;
        assert!(error < 1e-6, "pairs off by {error:e} a sample");
        let total: f64 = pairs.iter().flatten().map(|&p| f64::from(p)).sum();
        close(total, (T - 1) as f64, 1e-5, "all pairs");
        checkpointed_is_plain(&single, &symbols, &rows, &pairs, log).expect("a possible sequence");

        let observations = || symbols.iter().map(Option::as_ref);
        let (mut back, mut path) = (vec![[0_u8; 4]; T], vec![0_u8; T]);
        let log =
            viterbi(&single, observations(), &mut back, &mut path).expect("a possible sequence");
        let mut path64 = vec![0_u8; T];
        let log64 =
            viterbi(&double, observations(), &mut back, &mut path64).expect("a possible sequence");
        close(log.into(), log64, 1e-6, "log-probability of the best path");
        let states: Vec<usize> = path.iter().copied().map(usize::from).collect();
        close(model.log_joint(&states, &sequence), log64, 1e-6, "the path has the probability");
        wide_window_decodes_the_path(&single, &symbols, &path, log);
    }
}
