//! Entries of a model's tables: a number and its rates, with or without an exponent of its own.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::functions::exp2_of_negative;
use super::{EXPONENT, Fixed, FixedLog, Q15, by_high_and_low};
use crate::number::{Dual, NumberFormat, Parameter, Real, array_of};

/// The largest rate of change in absolute value, and absolute sum of a row's rates, as an integer:
/// what the proof that nothing overflows asks for.
pub const RATE_MAX: i32 = 16_128;

/// A number of a table with an exponent of its own, common to it and its rates: `weight 2^-exponent`.
///
/// A chain of sticky states has entries near one beside others of `10^-5`, and what a rare transition
/// adds to a score is its rate over its probability. The exponent is as large as both allow.
///
/// Flash: `2 (2 + C)` bytes. Work, beyond that of [`Dual<Q15, C>`](Dual): a shift a product.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct FineQ15<const C: usize> {
    /// The number and its rates.
    pub weight: Dual<Q15, C>,
    /// Exponent of two by which the rates are finer; at most [`EXPONENT_MAX`](Self::EXPONENT_MAX).
    pub exponent: u16,
}

impl<const C: usize> FineQ15<C> {
    /// The largest exponent: a row keeps nothing finer than `2^-30`.
    pub const EXPONENT_MAX: u16 = 15;
}

/// A parameter that [`Fixed<C, Self>`](Fixed) can be weighed with.
pub trait Table<const C: usize>:
    Parameter<
        Real = f32,
        Tangent = [f32; C],
        Number = Fixed<C, Self>,
        Log = FixedLog<C>,
        LogScale = FixedLog<C>,
    >
{
    /// `true` if products with likelihoods keep all digits of a prediction's rates.
    const FINE: bool;
    /// Number of samples after which the tangents are rescaled.
    const RESCALE_EVERY: u32;
    /// Zero; no direction moves it.
    const ZERO: Self;
    /// `weight 2^-exponent`; `weight` in a table without exponents.
    fn scaled(weight: Dual<Q15, C>, exponent: u16) -> Self;
    /// The number and its rates, without their exponent.
    fn weight(self) -> Dual<Q15, C>;
    /// Exponent of the rates, less than 16.
    fn exponent(self) -> u32;
}

impl<const C: usize> Table<C> for Dual<Q15, C> {
    const FINE: bool = false;
    const RESCALE_EVERY: u32 = 16;
    const ZERO: Self = Dual { value: Q15::ZERO, tangent: [Q15::ZERO; C] };
    #[inline(always)]
    fn scaled(weight: Dual<Q15, C>, _exponent: u16) -> Self {
        weight
    }
    #[inline(always)]
    fn weight(self) -> Dual<Q15, C> {
        self
    }
    #[inline(always)]
    fn exponent(self) -> u32 {
        0
    }
}

impl<const C: usize> Table<C> for FineQ15<C> {
    const FINE: bool = true;
    const RESCALE_EVERY: u32 = 8;
    const ZERO: Self = Self { weight: <Dual<Q15, C> as Table<C>>::ZERO, exponent: 0 };
    #[inline(always)]
    fn scaled(weight: Dual<Q15, C>, exponent: u16) -> Self {
        Self { weight, exponent }
    }
    #[inline(always)]
    fn weight(self) -> Dual<Q15, C> {
        self.weight
    }
    #[inline(always)]
    fn exponent(self) -> u32 {
        u32::from(self.exponent) & 15
    }
}

impl<const C: usize> Parameter for Dual<Q15, C> {
    type Real = f32;
    type Tangent = [f32; C];
    type Number = Fixed<C>;
    type Log = FixedLog<C>;
    type LogScale = FixedLog<C>;
    const FORMAT: NumberFormat = NumberFormat::Q15;
    const IMPOSSIBLE: FixedLog<C> = FixedLog::IMPOSSIBLE;

    fn value(self) -> f32 {
        f32::from(self.value.0) * f32::power_of_two(-15)
    }
    fn tangent(self) -> [f32; C] {
        array_of(0.0, |c| self.tangent[c].rate() as f32 * f32::power_of_two(-14))
    }
    #[inline]
    fn likelihoods<const N: usize>(
        log: impl FnMut(usize) -> FixedLog<C>,
    ) -> Option<([Self; N], FixedLog<C>)> {
        likelihoods(log)
    }
    fn fits(row: impl Iterator<Item = Self>) -> bool {
        fits(row)
    }
}

impl<const C: usize> Parameter for FineQ15<C> {
    type Real = f32;
    type Tangent = [f32; C];
    type Number = Fixed<C, Self>;
    type Log = FixedLog<C>;
    type LogScale = FixedLog<C>;
    const FORMAT: NumberFormat = NumberFormat::Q15;
    const IMPOSSIBLE: FixedLog<C> = FixedLog::IMPOSSIBLE;
    /// Half a unit of an entry without an exponent, and the rounding of the sum in `f32`.
    const ROW_TOLERANCE: f32 = 1.1 / 65_536.0;

    fn value(self) -> f32 {
        self.weight.value() * f32::power_of_two(-(self.exponent() as i32))
    }
    fn tangent(self) -> [f32; C] {
        let scale = f32::power_of_two(-(self.exponent() as i32));
        let rates = self.weight.tangent();
        array_of(0.0, |c| rates[c] * scale)
    }
    #[inline]
    fn likelihoods<const N: usize>(
        log: impl FnMut(usize) -> FixedLog<C>,
    ) -> Option<([Self; N], FixedLog<C>)> {
        let (row, scale) = likelihoods::<N, C>(log)?;
        Some((array_of(Self::ZERO, |j| Self { weight: row[j], exponent: 0 }), scale))
    }
    fn fits(mut row: impl Iterator<Item = Self>) -> bool {
        let mut within = true;
        let rows = row.by_ref().inspect(|weight| within &= weight.exponent <= Self::EXPONENT_MAX);
        fits(rows) && within
    }
}

/// Likelihoods relative to the likeliest. Rates are taken relative to its own, which the scale
/// carries: near it they are small, however far the observation.
#[inline]
fn likelihoods<const N: usize, const C: usize>(
    mut log: impl FnMut(usize) -> FixedLog<C>,
) -> Option<([Dual<Q15, C>; N], FixedLog<C>)> {
    let mut logs = [FixedLog::IMPOSSIBLE; N];
    let mut best = FixedLog::IMPOSSIBLE;
    for j in 0..N {
        logs[j] = log(j);
        if logs[j].log2 > best.log2 {
            best = logs[j];
        }
    }
    if best.log2 == i32::MIN {
        return None;
    }
    let mut values = [0; N];
    let mut largest = 0;
    for j in 0..N {
        let (log, value) = (&mut logs[j], &mut values[j]);
        *value = exp2_of_negative(best.log2.wrapping_sub(log.log2) as u32);
        for c in 0..C {
            let relative = log.rate[c].saturating_sub(best.rate[c]).clamp(-(1 << 30), 1 << 30);
            log.rate[c] = by_high_and_low(relative, *value as i32);
            largest |= log.rate[c].unsigned_abs();
        }
    }
    let mut exponent = 0;
    while largest >> exponent > RATE_MAX as u32 {
        exponent += 1;
    }
    let mut row = [Dual { value: Q15::ZERO, tangent: [Q15::ZERO; C] }; N];
    for j in 0..N {
        row[j].value = Q15(values[j] as u16);
        for c in 0..C {
            let rate = logs[j].rate[c] >> (exponent & EXPONENT);
            row[j].tangent[c] = Q15::from_rate(rate as i16);
        }
    }
    Some((row, FixedLog { exponent, ..best }))
}

/// Returns whether the sums of a row's absolute rates along each direction, and of each mantissa by itself, are at most
/// [`RATE_MAX`], rounded up.
fn fits<const C: usize, W: Table<C>>(mut row: impl Iterator<Item = W>) -> bool {
    let mut sums = [0; C];
    row.all(|entry| {
        let (weight, exponent) = (entry.weight(), entry.exponent());
        sums.iter_mut().zip(weight.tangent).all(|(sum, rate)| {
            let absolute = rate.rate().abs();
            *sum += (absolute + (1 << exponent) - 1) >> exponent;
            absolute <= RATE_MAX && *sum <= RATE_MAX
        })
    })
}
