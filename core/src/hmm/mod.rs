//! Hidden Markov models: their numbers. The model is immutable and lives in flash.

mod chain;

pub use chain::Chain;
pub(crate) use chain::backward;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::emission::Emission;
use crate::error::ModelError;

/// A hidden Markov model with `N` states: a Markov chain and one emission distribution per state.
///
/// ```text
/// p(x_1..T) = sum_z initial[z_1] b_{z_1}(x_1) prod_{t>1} transition[z_{t-1}][z_t] b_{z_t}(x_t)
/// ```
///
/// `Hmm<Categorical<16>, 4>` is over `f32`. `Hmm<Categorical<16, Dual<f32, 2>>, 4>` is the same
/// model with two directions attached, and the forward filter over it is the tangent filter.
///
/// Flash: `N + N^2` weights and `N` emissions. One model drives any number of states.
///
/// ```
/// use fishweir_core::{emission::Categorical, hmm::{Chain, Hmm}};
///
/// const fn weather() -> Hmm<Categorical<2>, 2> {
///     let (Ok(chain), Ok(dry), Ok(wet)) = (
///         Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]),
///         Categorical::<2, f32>::new([0.75, 0.25]),
///         Categorical::<2, f32>::new([0.1, 0.9]),
///     ) else {
///         panic!("not a model") // at compile time
///     };
///     Hmm::new(chain, [dry, wet])
/// }
/// static WEATHER: Hmm<Categorical<2>, 2> = weather();
/// assert_eq!(WEATHER.chain().transition()[0][1], 0.1); // [from][to]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Hmm<E: Emission, const N: usize> {
    chain: Chain<E::Weight, N>,
    emission: [E; N],
}

impl<E: Emission, const N: usize> Hmm<E, N> {
    /// A model from a chain and one emission per state. Their own constructors have checked them;
    /// [`validate`](Self::validate) checks what was read from elsewhere.
    pub const fn new(chain: Chain<E::Weight, N>, emission: [E; N]) -> Self {
        const { assert!(N > 0, "N must be at least 1") };
        Self { chain, emission }
    }

    /// The hidden chain.
    pub const fn chain(&self) -> &Chain<E::Weight, N> {
        &self.chain
    }

    /// The emission distributions, `[state]`.
    pub const fn emission(&self) -> &[E; N] {
        &self.emission
    }

    /// Checks every distribution of the model.
    ///
    /// # Errors
    /// Names the first number that is wrong: part, state and entry.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.chain.validate()?;
        for (state, emission) in self.emission.iter().enumerate() {
            emission.validate().map_err(|error| error.of_state(state))?;
        }
        Ok(())
    }
}

/// The real numbers of a model with emissions `E`.
pub(crate) type RealOf<E> = <<E as Emission>::Weight as crate::number::Parameter>::Real;
/// The number a filter's state holds for a model with emissions `E`.
pub(crate) type NumberOf<E> = <<E as Emission>::Weight as crate::number::Parameter>::Number;
/// Type of logarithms over a model with emissions `E`.
pub(crate) type ReadingOf<E> = <NumberOf<E> as crate::number::Number>::Reading;
