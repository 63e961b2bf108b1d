use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::Front;
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::number::Real;

/// Vector quantisation: a sample of `D` channels becomes the number of the nearest of `K` rows, the quantiser's words: a
/// symbol of a categorical model.
///
/// ```text
/// row_t = argmin over k of  sum over d of w_d ( x_td - c_kd )^2,        k = 0, ..., K - 1
/// ```
///
/// Of words that are as near it is the first. Weights `w_d` are in the inverse square of a channel's unit, and the sum
/// runs in the channels' order over differences, so that an offset costs no precision and every machine forms
/// the same bits. A sample whose distance to every word is past the largest number is refused, as one that is not
/// finite.
///
/// Flash: `4 D (1 + K)` bytes. RAM: none. Work: `2 K D` multiply-adds and `K` comparisons per sample; the emission
/// of a symbol is then a look-up, without an exponential.
///
/// Source: Y. Linde, A. Buzo, R. M. Gray, An Algorithm for Vector Quantizer Design, IEEE Transactions on
/// Communications 28 (1980), 84-95.
///
/// ```
/// use fishweir_core::emission::Categorical;
/// use fishweir_core::filter::{Forward, Stream};
/// use fishweir_core::front::{VectorQuantiser, Preprocessed};
/// use fishweir_core::hmm::{Chain, Hmm};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let words = VectorQuantiser::<2, 3, f64>::new([1.0, 0.25], [[0.0, 0.0], [1.0, 0.0], [0.0, 4.0]])?;
/// let hmm = Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]])?, [Categorical::<3, f64>::new([0.5, 0.25, 0.25])?]);
/// let fronted = Preprocessed::new(words, Forward::of(&hmm));
/// let mut stream = Stream::new(&fronted);
/// stream.push(&[0.25, 3.0])?; // the last word
/// assert_eq!(stream.read(), 0.25_f64.ln());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct VectorQuantiser<const D: usize, const K: usize, T = f32> {
    weights: [T; D],
    words: [[T; D]; K],
}

impl<const D: usize, const K: usize, T: Real> VectorQuantiser<D, K, T> {
    /// Asserts that the sizes are not zero.
    pub(crate) const SIZES: () = assert!(D > 0 && K > 0, "D and K must be at least 1");

    /// Creates a quantiser from words, `[symbol][channel]`, and weights of a channel's squared difference.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    pub fn new(weights: [T; D], words: [[T; D]; K]) -> Result<Self, ModelError> {
        let made = Self::from_parts(weights, words);
        made.validate().map(|()| made)
    }

    /// Quantiser from checked numbers that a host wrote.
    pub const fn from_parts(weights: [T; D], words: [[T; D]; K]) -> Self {
        const { Self::SIZES };
        Self { weights, words }
    }

    /// Checks that weights are above zero and words are numbers.
    ///
    /// # Errors
    /// Names what is not.
    pub fn validate(&self) -> Result<(), ModelError> {
        let wrong = |row, kind, entry| Err(ModelError::new(Part::Front, kind, row, entry));
        let positive = |w: &T| w.is_finite() && *w > T::ZERO;
        if let Some(entry) = self.weights.iter().position(|w| !positive(w)) {
            return wrong(0, ErrorKind::NotInRange, entry);
        }
        for (word, row) in self.words.iter().enumerate() {
            if let Some(entry) = row.iter().position(|c| !c.is_finite()) {
                return wrong(1 + word, ErrorKind::NotFinite, entry);
            }
        }
        Ok(())
    }

    /// Weight of a channel's squared difference, `[channel]`.
    pub const fn weights(&self) -> &[T; D] {
        &self.weights
    }

    /// The words, `[symbol][channel]`.
    pub const fn words(&self) -> &[[T; D]; K] {
        &self.words
    }
}

impl<const D: usize, const K: usize, T: Real> Front<usize> for VectorQuantiser<D, K, T> {
    type Sample = [T; D];
    type State = ();

    #[inline]
    fn initial_state(&self) {}

    #[inline]
    fn step(
        &self,
        (): &mut (),
        x: Option<&[T; D]>,
        emit: impl FnOnce(Option<&usize>),
    ) -> Result<(), ObservationError> {
        let words = self.words.iter().map(<[T; D]>::as_slice);
        match x.map(|x| nearest_word(&self.weights, words, x)) {
            Some(Ok(symbol)) => emit(Some(&symbol)),
            Some(Err(error)) => {
                emit(None);
                return Err(error);
            }
            None => emit(None),
        }
        Ok(())
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// The number of the word that is nearest to a sample: see [`VectorQuantiser`].
///
/// # Errors
/// [`ObservationError::NotFinite`]: a channel, or the distance to every word, is not.
#[inline]
#[doc(hidden)]
pub fn nearest_word<'w, T: Real + 'w>(
    weights: &[T],
    words: impl Iterator<Item = &'w [T]>,
    x: &[T],
) -> Result<usize, ObservationError> {
    let mut nearest: Option<(usize, T)> = None;
    for (symbol, word) in words.enumerate() {
        let mut distance = T::ZERO;
        for ((&x, &c), &w) in x.iter().zip(word).zip(weights) {
            let difference = x - c;
            distance = distance + w * (difference * difference);
        }
        // A distance that is no finite number is not that of the nearest.
        if distance.is_finite() && nearest.is_none_or(|(_, least)| distance < least) {
            nearest = Some((symbol, distance));
        }
    }
    nearest.map(|(symbol, _)| symbol).ok_or(ObservationError::NotFinite)
}
