use rand_core::Rng;

use crate::emission::{Emission, Sample, choose};
use crate::hmm::Hmm;

/// Ancestral sampling: states and observations drawn from a model, one sample at a time.
///
/// ```text
/// z_1 ~ initial        z_t+1 ~ transition[z_t]        x_t ~ b_{z_t}
/// ```
///
/// An endless iterator. The generator is the caller's, any of `rand_core`'s, lent or given; the same
/// generator draws the same bits on host and device. What has probability zero is never drawn.
///
/// Source: Rabiner 1989, section II.D. State: one index. Work per sample: at most `N` subtractions
/// and one emission's [`sample`](Sample::sample).
///
/// ```
/// use fishweir_core::{emission::Categorical, hmm::{Chain, Hmm}, smooth::Ancestral};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([1.0, 0.0], [[0.9, 0.1], [0.0, 1.0]])?,
///     [Categorical::<2>::new([1.0, 0.0])?, Categorical::<2>::new([0.0, 1.0])?],
/// );
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let symbols: Vec<usize> =
///     Ancestral::of(&hmm, &mut rng).take(200).map(|draw| draw.observation).collect();
/// assert_eq!((symbols[0], symbols[199]), (0, 1));
/// assert!(symbols.is_sorted()); // left to right
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Ancestral<'m, E: Emission, R, const N: usize> {
    hmm: &'m Hmm<E, N>,
    rng: R,
    state: Option<usize>,
}

/// One sample drawn from a model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Draw<O> {
    /// The hidden state.
    pub state: usize,
    /// Observation emitted by the state.
    pub observation: O,
}

impl<'m, E: Emission, R, const N: usize> Ancestral<'m, E, R, N> {
    /// Draws from a model, with a generator, from the initial distribution on.
    pub const fn of(hmm: &'m Hmm<E, N>, rng: R) -> Self {
        Self { hmm, rng, state: None }
    }
}

impl<E: Sample, R: Rng, const N: usize> Iterator for Ancestral<'_, E, R, N> {
    type Item = Draw<E::Observation>;

    /// Never `None`.
    fn next(&mut self) -> Option<Self::Item> {
        let chain = self.hmm.chain();
        let distribution = match self.state {
            Some(before) => chain.transition().get(before)?,
            None => chain.initial(),
        };
        let state = choose(distribution, &mut self.rng);
        let observation = self.hmm.emission().get(state)?.sample(&mut self.rng);
        self.state = Some(state);
        Some(Draw { state, observation })
    }
}
