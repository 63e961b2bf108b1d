use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{by_view_in_units, check_sum, in_units};
use crate::emission::Emission;
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_symbol};
use crate::number::{Dual, FixedLog, Q15, Real};

/// A distribution over `K` symbols by its logarithms, in fixed point, with `C` directions: for models
/// whose [contexts are seen](crate::context), which need no product of probabilities.
///
/// ```text
/// log2 P(x = k) = log2_k 2^-16          d log P(x = k) = rate_k 2^-14 units
/// ```
///
/// A sample is a look-up and `1 + C` additions of integers, which are exact: after `T` samples `log p`
/// is off by at most `T 2^-17 ln 2`, and a derivative by `T 2^-15` of the direction's unit.
///
/// Flash: `4 + 2 C` bytes per symbol, and `2 C`, rounded up to words.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct CategoricalLogQ15<const K: usize, const C: usize = 0> {
    log2: [i32; K],
    rate: [[i16; C]; K],
    unit: [i16; C],
}

/// A [`CategoricalLogQ15`] whose alphabet size is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct CategoricalLogQ15View<'a, const C: usize> {
    /// Logarithms of the probabilities to base 2, `v 2^-16`, `[symbol]`; the least `i32` for an impossible
    /// symbol.
    pub log2: &'a [i32],
    /// Rates of change of the natural logarithms, `v 2^-14` units, `[symbol]`.
    pub rate: &'a [[i16; C]],
    /// Exponents of the units of the directions, the same in all contexts.
    pub unit: &'a [i16; C],
}

impl<const K: usize, const C: usize> CategoricalLogQ15<K, C> {
    /// A distribution from tables already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(log2: [i32; K], rate: [[i16; C]; K], unit: [i16; C]) -> Self {
        Self { log2, rate, unit }
    }

    /// View of the distribution with its size at run time.
    pub const fn view(&self) -> CategoricalLogQ15View<'_, C> {
        CategoricalLogQ15View { log2: &self.log2, rate: &self.rate, unit: &self.unit }
    }
}

impl CategoricalLogQ15View<'_, 0> {
    /// A symbol's probability as an entry of its table: the logarithm, rounded. Zero stays zero.
    pub fn entry_for(probability: f64) -> i32 {
        // The least of positive numbers has logarithm -1074.
        let log2 = libm::log2(probability) * 65_536.0;
        if probability > 0.0 { libm::round(log2) as i32 } else { i32::MIN }
    }
}

impl<const C: usize> Emission for CategoricalLogQ15View<'_, C> {
    type Weight = Dual<Q15, C>;
    type Observation = usize;

    #[inline]
    fn log_likelihood(&self, &symbol: &usize) -> FixedLog<C> {
        match (self.log2.get(symbol), self.rate.get(symbol)) {
            (Some(&log2), Some(rate)) => FixedLog { log2, rate: rate.map(i32::from), exponent: 0 },
            _ => FixedLog::IMPOSSIBLE,
        }
    }

    fn check(&self, &symbol: &usize) -> Result<(), ObservationError> {
        check_symbol(symbol, self.log2.len())
    }

    fn width(&self) -> usize {
        self.log2.len()
    }

    fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
        states.first().map_or(reading, |state| in_units(reading, state.unit))
    }

    /// Checks that probabilities sum to one within their roundings.
    fn validate(&self) -> Result<(), ModelError> {
        let mut sum = 0.0;
        for (k, &log2) in self.log2.iter().enumerate() {
            if log2 > 0 {
                return Err(ModelError::new(Part::Probability, ErrorKind::AboveOne, 0, k));
            }
            // Of what cannot be it is zero.
            let bits = log2 as f32 * f32::power_of_two(-16);
            sum += Real::exp(bits * core::f32::consts::LN_2);
        }
        check_sum(sum, 1.0 / 4096.0)
    }
}

impl<const K: usize, const C: usize> Emission for CategoricalLogQ15<K, C> {
    type Weight = Dual<Q15, C>;
    type Observation = usize;

    by_view_in_units!(#[inline]);
}
