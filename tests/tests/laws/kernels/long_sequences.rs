//! Machines on kernels of long sequences: logarithms of `-10^5` are subtracted before they are rounded.

use fishweir_core::classify::{NoNorm, StoredSequences};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{FixedLength, FixedLengthNorm, LogKernel};
use fishweir_core::number::Real;

use super::{Sampler, symbols};

const LENGTH: usize = 100_000;
const STORED: usize = 3;

/// A stream of two symbols, and itself with none, two and five of them changed.
fn sequences() -> (Vec<usize>, [Vec<u8>; STORED]) {
    let t = symbols(&mut Sampler::new(29), LENGTH, 2);
    let stored = [0, 2, 5].map(|changes| {
        let mut stored: Vec<u8> = t.iter().map(|&symbol| symbol as u8).collect();
        stored.iter_mut().step_by(LENGTH / 8).take(changes).for_each(|symbol| *symbol ^= 1);
        stored
    });
    (t, stored)
}

/// The logarithms of the values that a machine is fed, relative to the largest, and of the largest.
fn logs<T, K, S>(kernel: &StoredSequences<K, S, [T; STORED]>, t: &[usize]) -> ([f64; STORED], f64)
where
    T: Real,
    K: LogKernel<Observation = usize, Parts = [[T; 2]; STORED]>,
    S: LogKernel<Observation = usize, Parts = [T; 2]>,
{
    let mut state = kernel.initial_state();
    t.iter().for_each(|x| kernel.step(&mut state, x).expect("a symbol"));
    let read = kernel.read(&state).expect("in range");
    (read.values.map(|value| value.to_f64().ln()), read.log_scale.to_f64())
}

/// Of one model in either precision: every number of it is a fraction by a power of two.
fn read<T: Real>(normalised: bool) -> ([f64; STORED], f64) {
    let (t, stored) = sequences();
    let row = |row: [f64; 2]| row.map(<T as Real>::from_f64);
    let rows = [[0.875, 0.125], [0.25, 0.75]].map(row);
    let laws = [[0.75, 0.25], [0.125, 0.875]];
    let laws = laws.map(|law| Categorical::<2, T>::from_parts(row(law)));
    let hmm = Hmm::new(Chain::from_parts(row([0.5, 0.5]), rows), laws);
    let kernel = FixedLength::of(&hmm, stored.each_ref().map(Vec::as_slice)).expect("symbols");
    if normalised {
        // Some `log k(s, s) / 2`.
        let norm = <T as Real>::from_f64(-111_000.0);
        let own = FixedLengthNorm::of(&hmm, LENGTH);
        logs(&StoredSequences::new(kernel, own, [norm; STORED]), &t)
    } else {
        logs(&StoredSequences::new(kernel, NoNorm::NEW, [T::ZERO; STORED]), &t)
    }
}

#[test]
fn values_of_long_sequences_are_as_in_double_precision() {
    for normalised in [true, false] {
        let (single, double) = (read::<f32>(normalised), read::<f64>(normalised));
        println!("normalised: {normalised}: {single:?} {double:?}");
        assert!(double.1 < -1e4 || normalised, "{double:?}");
        for (single, double) in single.0.into_iter().zip(double.0) {
            assert!((single - double).abs() < 1e-3, "{single} where {double} is right");
        }
        assert!((single.1 / double.1 - 1.0).abs() < 1e-6, "{} and {}", single.1, double.1);
    }
}
