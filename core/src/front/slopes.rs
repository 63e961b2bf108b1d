use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::Front;
use crate::error::ObservationError;
use crate::lagged::RingIndex;
use crate::number::Real;

/// The most samples that a slope is over: its weights are exact in any number.
pub const LONGEST_SLOPE: usize = 64;

/// A sample of `D` channels and the slope of each over the last `K + 1` samples: rows of `2 D` numbers.
///
/// ```text
/// row_t = ( x_t, s_t ),
/// s_t   = sum over k of ( k - m ) ( x_t - x_(t - k) )  /  sum over k of ( k - m )^2,      k = 0, ..., K,  m = K / 2
/// ```
///
/// the slope of the line of least squares, in a channel's unit per sample. Of noise of variance `v` about that line it has
/// `12 v / ( K (K + 1) (K + 2) )`, where the difference from the sample before has `2 v`. A level cancels in each term,
/// so that an offset costs no precision.
///
/// Before a stream's beginning lies its first sample; where a sample is missing, the last one that was observed
/// stands for it in later slopes, as for [differences at lags](crate::lagged::LagFeatures), and its own row is missing.
///
/// Flash: none. RAM: `D K` numbers and 8 bytes. Work: `D K` multiply-adds and a subtraction each, a sample.
///
/// Source: A. Savitzky and M. J. E. Golay, Smoothing and Differentiation of Data by Simplified Least Squares
/// Procedures, Analytical Chemistry 36 (1964), 1627-1639, at the last sample of a window and of the first order.
///
/// ```
/// use fishweir_core::emission::Gaussian;
/// use fishweir_core::filter::{Forward, Stream};
/// use fishweir_core::front::{Preprocessed, Slopes};
/// use fishweir_core::hmm::{Chain, Hmm};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let ramp = Gaussian::<2, f64>::new([0.0, 2.0], [1.0, 1.0])?;
/// let hmm = Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]])?, [ramp]);
/// let fronted = Preprocessed::new(Slopes::<1, 2, f64>::new(), Forward::of(&hmm));
/// let (mut stream, mut rows) = (Stream::new(&fronted), Stream::new(Forward::of(&hmm)));
/// // Of 0, 2, 4 the line rises by two a sample; before the first lies the first.
/// for (x, slope) in [(0.0, 0.0), (2.0, 1.0), (4.0, 2.0)] {
///     stream.push(&[x])?;
///     rows.push(&[x, slope])?;
/// }
/// assert_eq!(stream.read(), rows.read());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Slopes<const D: usize, const K: usize, T = f32> {
    number: PhantomData<T>,
}

/// The last samples of a [`Slopes`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SlopesState<T, const D: usize, const K: usize> {
    past: [[T; D]; K],
    place: RingIndex,
}

impl<T: Real, const D: usize, const K: usize> SlopesState<T, D, K> {
    /// State before the first sample.
    pub const NEW: Self = Self { past: [[T::ZERO; D]; K], place: RingIndex::NEW };
}

impl<const D: usize, const K: usize, T> Slopes<D, K, T> {
    /// Asserts that rows of `E` numbers hold the channels and their slopes.
    pub(crate) const fn assert_row<const E: usize>() {
        assert!(E == 2 * D, "rows behind slopes must hold 2 * D numbers");
        assert!(K > 0 && K < LONGEST_SLOPE, "K must be from 1 to 63");
    }

    /// Slopes over the last `K + 1` samples.
    pub const fn new() -> Self {
        const { assert!(K > 0 && K < LONGEST_SLOPE, "K must be from 1 to 63") };
        Self { number: PhantomData }
    }
}

impl<const D: usize, const E: usize, const K: usize, T: Real> Front<[T; E]> for Slopes<D, K, T> {
    type Sample = [T; D];
    type State = SlopesState<T, D, K>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        SlopesState::NEW
    }

    #[inline]
    fn step(
        &self,
        SlopesState { past, place }: &mut Self::State,
        x: Option<&[T; D]>,
        emit: impl FnOnce(Option<&[T; E]>),
    ) -> Result<(), ObservationError> {
        const { Self::assert_row::<E>() };
        let mut row = [T::ZERO; E];
        let result = x.map_or(Ok(()), |x| place.with_slopes(past, x, &mut row));
        let x = x.filter(|_| result.is_ok());
        emit(x.map(|_| &row));
        match x {
            Some(x) => place.take(past, x),
            None => place.take_missing(past),
        }
        result
    }
}

impl RingIndex {
    /// Writes a sample and the slopes of its channels over it and the rows of a ring: see [`Slopes`].
    ///
    /// `row` is twice as long as `x`, and holds something else where it is refused. The ring is not changed; of more
    /// rows than a [`Slopes`] has the weights are rounded. Work: a multiply-add and a subtraction a row and channel.
    ///
    /// # Errors
    /// [`ObservationError::NotFinite`]: a channel, or its slope, is not.
    #[inline]
    pub fn with_slopes<T: Real>(
        self,
        ring: &[impl AsRef<[T]>],
        x: &[T],
        row: &mut [T],
    ) -> Result<(), ObservationError> {
        let (levels, slopes) = row.split_at_mut(x.len().min(row.len()));
        levels.iter_mut().zip(x).for_each(|(to, &x)| *to = x);
        slopes.iter_mut().for_each(|to| *to = T::ZERO);
        // Weights are whole numbers, 2 k - K, and so is what their squares sum to, K (K + 1) (K + 2) / 3.
        let depth = ring.len() as u32;
        for lag in 1..=depth {
            let before = self.row_back(ring, lag).unwrap_or(x);
            let (later, earlier) = (2 * lag, depth);
            let weight = T::from_u32(later.abs_diff(earlier));
            let weight = if later < earlier { T::ZERO - weight } else { weight };
            let differences = x.iter().zip(before).map(|(&x, &before)| x - before);
            for (to, difference) in slopes.iter_mut().zip(differences) {
                *to = *to + weight * difference;
            }
        }
        let two = T::from_u32(2);
        let [a, b, c, three] = [depth, depth + 1, depth + 2, 3].map(T::from_u32);
        let squares = a * b * c / three;
        slopes.iter_mut().for_each(|to| *to = two * *to / squares);
        let finite = row.iter().all(|x| x.is_finite());
        if finite { Ok(()) } else { Err(ObservationError::NotFinite) }
    }
}
