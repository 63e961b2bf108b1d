//! States out of reach change no bit.

use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::smooth::posteriors;
use fishweir_tests::build::{Family, padded, samples};
use fishweir_tests::oracle::{Model, Sequence};
use fishweir_tests::sample::{Sampler, TOPOLOGIES};
use proptest::prelude::*;
use std::borrow::Borrow;

use crate::theorems::push;

/// Everything that filter and smoother say of the model's own states, as bits.
fn bits<E: Family<f32>, const N: usize>(model: &Model, sequence: &Sequence) -> Vec<u32> {
    let states = model.states();
    let hmm = padded::<f32, E, N>(model).expect("a model");
    let samples = samples::<f32, E>(sequence).expect("observations");
    let forward = Forward::of(&hmm);
    let mut state = forward.initial_state();
    let mut bits = Vec::new();
    for x in &samples {
        assert!(push(&forward, &mut state, x.as_ref()));
        bits.push(forward.log_likelihood(&state).to_bits());
        bits.extend(forward.filtered(&state)[..states].iter().map(|p| p.to_bits()));
        bits.extend(forward.predicted(&state)[..states].iter().map(|p| p.to_bits()));
    }
    let mut rows = vec![[0.0_f32; N]; samples.len()];
    let mut pairs = [[0.0_f32; N]; N];
    let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
    let log = posteriors(&hmm, observations, &mut rows, &mut pairs).expect("possible");
    bits.push(log.to_bits());
    for row in rows.iter().chain(&pairs[..states]) {
        bits.extend(row[..states].iter().map(|p| p.to_bits()));
    }
    bits
}

proptest! {
    #![proptest_config(crate::theorems::cases(24))]

    #[test]
    fn states_out_of_reach_change_no_bit(seed: u64, length in 1_usize..=90, topology in 0_usize..4) {
        let mut s = Sampler::new(seed);
        macro_rules! sizes {
            ($model:ident, $sequence:ident, $family:ty, $exact:literal: $($size:literal)+) => {
                let exact = bits::<$family, $exact>(&$model, &$sequence);
                $(prop_assert_eq!(&exact, &bits::<$family, $size>(&$model, &$sequence));)+
            };
        }
        let topology = TOPOLOGIES[topology];
        let (model, sequence) = {
            let model = s.categorical(topology, 3, 4);
            let sequence = s.sequence(&model, length, 0.1);
            (model, sequence)
        };
        sizes!(model, sequence, Categorical<4, f32>, 3: 4 5 8 16);
        let (model, sequence) = {
            let model = s.model(topology, 2, |s| s.gaussian_law(2, 4.0));
            let sequence = s.sequence(&model, length, 0.1);
            (model, sequence)
        };
        sizes!(model, sequence, Gaussian<2, f32>, 2: 3 4 7 8);
        let (model, sequence) = {
            let model = s.categorical(topology, 5, 2);
            let sequence = s.sequence(&model, length, 0.1);
            (model, sequence)
        };
        sizes!(model, sequence, Categorical<2, f32>, 5: 6 7 8 9);
    }
}
