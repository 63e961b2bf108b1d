//! Kernel machines: at every prefix the kernel expansion written out in `f64`, from kernels in the log
//! domain and from scores by forward-backward.

mod refusals;
mod scores;
mod sequences;

use fishweir_core::emission::Categorical;
use fishweir_tests::sample::Sampler;

const STATES: usize = 3;
const SYMBOLS: usize = 4;
const STORED: usize = 3;
/// Entries of the scores of two models.
const SCORES: usize = 2 * (STATES + STATES * STATES + STATES * SYMBOLS);

type Law<T> = Categorical<SYMBOLS, T>;

fn machine_parts<const O: usize>(
    sampler: &mut Sampler,
    biased: bool,
) -> ([[f64; STORED]; O], [f64; O]) {
    let mut row = |length| sampler.row(length, -1.0, 1.0);
    let coefficients = std::array::from_fn(|_| row(STORED).try_into().expect("as many"));
    let biases: [f64; O] = row(O).try_into().expect("as many");
    (coefficients, if biased { biases } else { [0.0; O] })
}
