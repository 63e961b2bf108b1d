//! Kernel machines: the cost of a sample, and that of a decision, which is read after all of them.

use core::hint::black_box;

use embedded_io::Write;
use fishweir_core::classify::{
    DiagonalWhitening, KernelMachine, Normalisation, ScoreKernel, StoredKernel, StoredScores,
    StoredSequences,
};
use fishweir_core::emission::{Gaussian, Parametrisation};
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{FixedLength, FixedLengthNorm};
use fishweir_device::meter::Meter;

use super::bench::{Bench, Failure};
use super::models::{
    self, CATEGORICAL_4, CHANNELS, SAMPLES, SYMBOL_STREAM, SYMBOLS, VECTOR_STREAM,
};

/// Stored items.
const ITEMS: usize = 32;
/// Number of symbols that the bench pushes without a reset.
const LENGTH: usize = 2 * SAMPLES;
/// Score entries of a Gaussian model of four states.
const ENTRIES: usize = 4 + 16 + 4 * 2 * CHANNELS;

/// Measures them and sends their rows.
pub(super) fn machines<S: Write, M: Meter>(
    bench: &mut Bench<S, M>,
) -> Result<(), Failure<S::Error>> {
    sequences(bench)?;
    scores(bench, models::gaussian()?)
}

#[inline(never)]
fn sequences<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    static STORED: [u8; LENGTH] = {
        let mut stored = [0; LENGTH];
        let mut t = 0;
        while t < LENGTH {
            stored[t] = ((5 * t + t * t / 7) % SYMBOLS) as u8;
            t += 1;
        }
        stored
    };
    let hmm = black_box(&CATEGORICAL_4);
    let kernel = FixedLength::from_parts(hmm, [black_box(&STORED[..]); ITEMS]);
    let own = FixedLengthNorm::of(hmm, LENGTH);
    let machine = KernelMachine::from_parts(
        StoredSequences::new(kernel, own, [-3.0; ITEMS]),
        [[0.5; ITEMS]],
        [0.1_f32],
    );
    let names = ["SVM, 32 sequences, N=4", "SVM, 32 sequences, N=4: a decision"];
    both(bench, names, &machine, &SYMBOL_STREAM, &SYMBOLS)
}

#[inline(never)]
fn scores<S: Write, M: Meter>(
    bench: &mut Bench<S, M>,
    hmm: Hmm<Gaussian<CHANNELS>, 4>,
) -> Result<(), Failure<S::Error>> {
    let kernel = StoredScores::<_, _, [[_; ENTRIES]; ITEMS]>::from_parts(
        [hmm],
        Parametrisation::SOFTMAX,
        Normalisation::PER_SAMPLE,
        DiagonalWhitening { centre: [0.1; ENTRIES], rate: [1.5; ENTRIES] },
        ScoreKernel::Gaussian { gamma: 0.02 },
        [[0.25; ENTRIES]; ITEMS],
    );
    let machine = KernelMachine::from_parts(kernel, [[0.5; ITEMS]], [0.1_f32]);
    let names = ["SVM, 32 scores, N=4 D=3", "SVM, 32 scores, N=4 D=3: a decision"];
    both(bench, names, &machine, &VECTOR_STREAM, &[1e6; CHANNELS])
}

fn both<S, M, K>(
    bench: &mut Bench<S, M>,
    [sample, decision]: [&str; 2],
    machine: &KernelMachine<K, [[f32; ITEMS]; 1]>,
    stream: &[K::Observation],
    odd: &K::Observation,
) -> Result<(), Failure<S::Error>>
where
    S: Write,
    M: Meter,
    K: StoredKernel<ITEMS, Real = f32, Observation: Sized>,
{
    let machine = black_box(machine);
    bench.recursion(sample, &machine, machine.size_bytes(), stream, odd)?;
    let mut state = machine.initial_state();
    for x in stream.iter().take(60) {
        machine.step(&mut state, x).map_err(|_| Failure::Refused)?;
    }
    let lent = size_of_val(&state);
    // As many decisions as other rows have samples.
    bench.sequence(decision, machine.size_bytes(), lent, || {
        for _ in 0..SAMPLES {
            let _ = black_box(machine.read(black_box(&state)));
        }
        true
    })
}
