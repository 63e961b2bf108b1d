use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{by_view_in_units, check_sum, in_units};
use crate::emission::{Emission, Row};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_symbol};
use crate::number::{Dual, FixedLog, Parameter, Q15, RATE_MAX, Real, log2};

/// A distribution over `K` symbols in fixed point, with `C` directions:
/// `P(x = k) = p_k 2^-exponent_k`.
///
/// The exponent of a symbol is the same in all states, so that a rare symbol keeps its digits: the
/// likeliest state's `p_k` is above a half. The unit of the directions' rates is the model's: that of
/// its chain, too. A row of likelihoods is a look-up and one addition.
///
/// Flash: `K` tables of `2 (1 + C)` bytes and `2 (K + C)` bytes per state.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct CategoricalQ15<const K: usize, const C: usize = 0> {
    probability: [Dual<Q15, C>; K],
    exponent: [u16; K],
    unit: [i16; C],
}

/// A [`CategoricalQ15`] whose alphabet size is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct CategoricalQ15View<'a, const C: usize> {
    /// Probabilities relative to `2^-exponent`, `[symbol]`.
    pub probability: &'a [Dual<Q15, C>],
    /// Exponents, `[symbol]`, the same in all states.
    pub exponent: &'a [u16],
    /// Exponents of the units of the directions, the same in all states and in the chain.
    pub unit: &'a [i16; C],
}

/// The exponent of one symbol, from its largest probability over the states: the power of two that
/// brings it above a half. The largest there is for a symbol of probability zero.
pub(super) const EXPONENT_MAX: u16 = 1000;

impl<const K: usize, const C: usize> CategoricalQ15<K, C> {
    /// A distribution from tables already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(
        probability: [Dual<Q15, C>; K],
        exponent: [u16; K],
        unit: [i16; C],
    ) -> Self {
        Self { probability, exponent, unit }
    }

    /// View of the distribution with its size at run time.
    pub const fn view(&self) -> CategoricalQ15View<'_, C> {
        CategoricalQ15View {
            probability: &self.probability,
            exponent: &self.exponent,
            unit: &self.unit,
        }
    }
}

impl CategoricalQ15View<'_, 0> {
    /// The exponent for a symbol: the power of two that brings the largest of its probabilities over
    /// the states above a half.
    pub fn exponent_for(largest: f64) -> u16 {
        let mut exponent = 0;
        let mut scaled = largest;
        while scaled <= 0.5 && exponent < EXPONENT_MAX {
            scaled *= 2.0;
            exponent += 1;
        }
        exponent
    }

    /// A symbol's probability in one state as an entry of its table: rounded; zero stays zero, and
    /// what is possible stays possible.
    pub fn entry_for(probability: f64, exponent: u16) -> Q15 {
        let scaled = libm::ldexp(probability, 15 + i32::from(exponent));
        let nearest = libm::round(scaled) as u16;
        Q15(if probability > 0.0 { nearest.max(1) } else { 0 })
    }
}

impl<const C: usize> Emission for CategoricalQ15View<'_, C> {
    type Weight = Dual<Q15, C>;
    type Observation = usize;

    fn log_likelihood(&self, &symbol: &usize) -> FixedLog<C> {
        let (Some(p), Some(&exponent)) = (self.probability.get(symbol), self.exponent.get(symbol))
        else {
            return FixedLog::IMPOSSIBLE;
        };
        if p.value == Q15::ZERO {
            return FixedLog::IMPOSSIBLE;
        }
        let value = u32::from(p.value.0);
        let mut rate = [0; C];
        for c in 0..C {
            rate[c] = (p.tangent[c].rate() << 15) / value as i32;
        }
        FixedLog { log2: log2(value) - ((15 + i32::from(exponent)) << 16), rate, exponent: 0 }
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], &symbol: &usize) -> Option<Row<Dual<Q15, C>, N>> {
        let exponent = *states.first()?.exponent.get(symbol)?;
        let mut likelihood = [Dual { value: Q15::ZERO, tangent: [Q15::ZERO; C] }; N];
        for j in 0..N {
            likelihood[j] = *states[j].probability.get(symbol)?;
        }
        Some(Row { likelihood, log_scale: scale(exponent) })
    }

    fn check(&self, &symbol: &usize) -> Result<(), ObservationError> {
        check_symbol(symbol, self.probability.len())
    }

    fn width(&self) -> usize {
        self.probability.len()
    }

    fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
        states.first().map_or(reading, |state| in_units(reading, state.unit))
    }

    /// A sum off one by at most the roundings of `K` entries, and rates within [`RATE_MAX`].
    fn validate(&self) -> Result<(), ModelError> {
        let mut sum = 0.0;
        for (k, (p, &exponent)) in self.probability.iter().zip(self.exponent).enumerate() {
            if p.value.0 > Q15::ONE.0 || exponent > EXPONENT_MAX {
                return Err(ModelError::new(Part::Probability, ErrorKind::AboveOne, 0, k));
            }
            if p.tangent.iter().any(|rate| rate.rate().abs() > RATE_MAX) {
                return Err(ModelError::new(Part::Tangent, ErrorKind::OutOfRange, 0, k));
            }
            sum += p.value() * f32::power_of_two(-i32::from(exponent));
        }
        check_sum(sum, self.probability.len() as f32 * f32::power_of_two(-15))
    }
}

#[inline(always)]
fn scale<const C: usize>(exponent: u16) -> FixedLog<C> {
    FixedLog { log2: -(i32::from(exponent) << 16), rate: [0; C], exponent: 0 }
}

impl<const K: usize, const C: usize> Emission for CategoricalQ15<K, C> {
    type Weight = Dual<Q15, C>;
    type Observation = usize;

    #[inline]
    fn row<const N: usize>(states: &[Self; N], &symbol: &usize) -> Option<Row<Dual<Q15, C>, N>> {
        // One bounds check for all states: the alphabet's size is theirs in common.
        if symbol >= K {
            return None;
        }
        let mut likelihood = [Dual { value: Q15::ZERO, tangent: [Q15::ZERO; C] }; N];
        for j in 0..N {
            likelihood[j] = states[j].probability[symbol];
        }
        let exponent = states.first().map_or(0, |state| state.exponent[symbol]);
        Some(Row { likelihood, log_scale: scale(exponent) })
    }
    by_view_in_units!();
}
