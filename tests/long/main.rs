//! Laws of streams that do not end: millions of samples each. A target of the core, so that what is compiled here
//! is optimised as the core is; the other laws, which compile more and run less, are not.

#![allow(
    clippy::disallowed_methods,
    reason = "what is compared need not be the device's to the last bit"
)]

mod adaptation;
mod counts;
mod filters;
mod margins;
mod systems;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Numbers to make streams of: the same for a seed, always.
struct Draws(ChaCha8Rng);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// In `[0, 1)`.
    fn uniform(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// Below a small number.
    fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    /// Of mean zero and variance one, and nearly normal: the sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
