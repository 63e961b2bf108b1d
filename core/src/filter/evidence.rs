use crate::number::{Number, Scalar};

/// `log p(x_1..t)` before it is rounded to one number.
///
/// After `10^8` samples a log-likelihood in `f32` is known to some eight nats, its directional
/// derivative as coarsely. A difference of two (what the last samples added; by how much one model
/// leads another) is as exact as ever when it is taken here, of ledgers, not of readings.
///
/// RAM: `1 + C` reals and the ledger, 24 B in `f32`, 32 B with one direction.
///
/// ```
/// # use fishweir_core::{emission::Categorical, filter::{Forward, Stream}, hmm::{Chain, Hmm}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hmm = Hmm::new(
/// #     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
/// #     [Categorical::<2, f32>::new([0.75, 0.25])?, Categorical::<2, f32>::new([0.1, 0.9])?],
/// # );
/// let mut stream = Stream::new(Forward::of(&hmm));
/// stream.push_block(&[0, 1].repeat(10_000))?;
/// let before = stream.state().evidence();
/// stream.push(&0)?;
/// let surprise = -stream.state().evidence().difference(&before); // -log p(x_t | x_1..t-1)
/// assert!((surprise - 0.679_589).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence<X: Number> {
    pub(super) sum: X,
    pub(super) ledger: X::ScaleAccumulator,
}

impl<X: Number> Evidence<X> {
    /// Evidence of no sample: `log 1`. Its tangent is zero.
    pub(crate) const NONE: Self = Self { sum: X::ONE, ledger: X::UNSCALED };

    /// `log p(x_1..t)`, with its tangent over dual numbers. One logarithm, and a division where
    /// there are directions.
    #[inline]
    pub fn log(&self) -> X::Reading {
        X::log(self.sum, &self.ledger)
    }

    /// Difference of this log-likelihood and another, with its tangent: `log p(x_s+1..t | x_1..s)` where `other`
    /// is the same stream's after `s` samples. One logarithm and `1 + 2C` divisions.
    #[inline]
    pub fn difference(&self, other: &Self) -> X::Reading {
        X::log_ratio(self.sum, &self.ledger, other.sum, &other.ledger)
    }
}

impl<X: Scalar> Evidence<X> {
    /// [`log`](Self::log) as the nearest number and what that drops, with their tangents: for sums over
    /// several models, whose terms may be far larger than what is left of them.
    #[inline]
    pub fn log_parts(&self) -> [X::Reading; 2] {
        X::log_parts(self.sum, &self.ledger)
    }
}
