//! Fixed point for parts without an FPU: 16-bit tables, 32-bit states, block exponents.
//!
//! The forward recursion over [`Fixed<C>`](Fixed) is the filter and, with `C > 0`, the tangent
//! filter, in integers: every product is of 16 by 16 bits and fits 32, the one multiplication that
//! the smallest cores have. A model over it is a model over [`Dual<Q15, C>`](Dual) or, where every
//! entry of a chain has an exponent of its own, over [`FineQ15<C>`](FineQ15). Logarithms are read in
//! soft floating point; no sample needs one.
//!
//! | what | bits | stands for |
//! |---|---|---|
//! | probability ([`Q15`]) | 16, unsigned | `v 2^-15`; a row of the chain sums to `2^15` exactly |
//! | rate of change ([`Q15`]) | 16, signed | `v 2^-14` of the direction's unit, a power of two that the emissions name |
//! | both, with an exponent `x <= 15` ([`FineQ15`]) | 16 each, and 16 | `2^-x` of that; a row of the chain sums to one within `2^-16` |
//! | state, value | 16 of a 32-bit word | `a 2^-16 2^exponent`; a row sums to `2^15` to `2^16` |
//! | state, tangent | 16 of 32, signed | `t 2^-15 2^e 2^exponent`; `e`, 5 bits, is common to a row |
//! | log-likelihood, ledger | 64 | `v 2^-16`, to base 2 |
//! | derivative accumulated | 64 | `v 2^-16` units |
//!
//! The block exponent of the values is moved into the ledger at every sample; that of the tangents,
//! `e`, grows where a row's tangents would overflow and falls again, and every
//! [sixteenth](Number::RESCALE_EVERY) sample, every eighth over [`FineQ15`], moves the derivative out
//! of the row.
//!
//! Exponents are what rare transitions ask for: what one adds to a derivative is its rate over its
//! probability, two small numbers of a table of which neither had a digit to lose. They cost a shift a
//! product, which models over channels pay, beside densities, and those over symbols do not.
//!
//! **Nothing overflows.** Let `S = sum_i a_i <= 2^16 + N/2` and `L = sum_i |t_i| < 2^15`, as
//! [`renormalise`](Number::renormalise) leaves them, and `N <= 64`. Probabilities are at most `2^15`; the rates of a
//! row of the chain are at most [`RATE_MAX`] `< 2^14` in absolute sum, those of emissions in absolute
//! value. Then
//!
//! ```text
//! P_j = sum_i a_i A_ij                         <= S 2^15              < 2^32
//! D_j = sum_i t_i A_ij + sum_i a_i dA_ij / 2^e <= L 2^15 + S RATE_MAX < 2^31, also summed over j
//! ```
//!
//! and the products with the emissions, of `P` and `D` or their leading digits, are bounded alike: by
//! high and low halves each product fits. With exponents every product is shifted down before it is
//! added, `A_ij 2^15` and `dA_ij` above are what is left, and a row's sum is at most `2^15 + 1/2`. Where
//! tangents outgrow `2^30` times the largest rate (no state having forgotten any other for a billion
//! samples) they are held there.
//!
//! Where states are known, [a model of contexts](crate::context) multiplies nothing: logarithms and their
//! rates, of [`CategoricalLogQ15`](crate::emission::CategoricalLogQ15) or of
//! [`GaussianQ15`](crate::emission::GaussianQ15), are added to the ledger, which is exact.
//!
//! Observations are integers of 16 bits. [Differences at lags](crate::lagged) are taken between them
//! ([`Channel`](super::Channel)): exact where 16 bits hold them, and held at their end beyond. Codebooks multiply and add
//! them in 32 bits: [`Coding`](crate::classify::Coding) has the proof that nothing overflows.
//!
//! **Error.** Absolute, relative to the row's sum:
//!
//! | step | error |
//! |---|---|
//! | a table's probability | `2^-15`, less for rare symbols: each has an exponent of its own |
//! | the same in a [`FineQ15`] | `2^-16-x`, with the `x` that it and its rates leave; `2^-15` for a row's likeliest entry |
//! | an entry of the predicted row | `2^-26` |
//! | an entry of the filtered row | `2^-17` to `2^-16` |
//! | a tangent | `2^-16` to `2^-15` of the row's absolute sum, or of one unit where that is larger |
//!
//! These are errors of a row. What they do to `p(x | past)` depends on how surprising the sample is,
//! `r = max_j b_j(x) / p(x | past)`: its relative error is at most `d = r (c e + N 2^-15 + b)`, with `e`
//! the row's error in absolute sum, `c` the chain's coefficient of ergodicity (half the largest absolute
//! sum between two rows) and `b` the likelihoods' error; the row's is then `2 d / (1 - d) + N 2^-15`. So
//! a model that waits for rare events of probability near `2^-15` loses digits there. A state less than
//! `2^-17` times as probable as all together is taken for one that cannot be, until it is entered
//! anew. Besides, keeping a row changes its sum, and so `log p`, by at most `N 2^-16` per sample, and
//! a chain of [`FineQ15`] by `2^-16` more. The tests hold `log p` to this bound at every prefix, over
//! random models and against `f64`. Derivatives have no bound that is had before the samples are seen: what
//! a rounding does to one depends on what is still to come. Along samples it is had, by the exact backward
//! row, and the host's export prints it for the windows of a data set. Measured, after `T` samples, over a
//! thousand drawn models with rates of logits up to two, they are within `0.004 + T / 1000` over
//! symbols, and over channels within `0.002 + T / 1000 + |log p| / 500`.

mod functions;
mod ledger;
mod quantise;
mod table;

pub(crate) use functions::log2;
pub use ledger::FixedLedger;
pub use quantise::{fine_exponent, quantise_fine_row, quantise_rates, quantise_row, rate_unit};
pub use table::{FineQ15, RATE_MAX, Table};

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Dual, Number, Real, Scalar, sum_of};

/// A number of a table: a probability, unsigned, as `v 2^-15`, or a rate of change, as two's
/// complement, as `v 2^-14` of a unit.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Q15(pub u16);

impl Q15 {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The probability one.
    pub const ONE: Self = Self(1 << 15);

    /// A rate of change.
    pub const fn from_rate(rate: i16) -> Self {
        Self(rate as u16)
    }

    #[inline(always)]
    const fn probability(self) -> u32 {
        self.0 as u32
    }

    /// The number as a rate, `2^14` to the unit.
    #[inline(always)]
    pub const fn rate(self) -> i32 {
        self.0 as i16 as i32
    }
}

/// Bits of a word below its mantissa: the tangents' exponent.
const EXPONENT_BITS: u32 = 5;
const EXPONENT: u32 = (1 << EXPONENT_BITS) - 1;
/// The largest exponent that is used.
const EXPONENT_MAX: u32 = 30;
/// Additional bits of the entries of a wide row (predictions, products) over those of a stored one.
const WIDE: u32 = 10;
/// A row whose sum is below this, as a word, has lost digits: it is conditioned again, relative to
/// the states in reach. A wide row sums to one at `2^31`.
const VANISHED: u32 = 1 << 20;

/// The tangents' absolute sum stays below `2^15`; this allows for the roundings of 64 entries, and
/// does not depend on their number: states added as padding change no bit.
const TANGENTS: u32 = (1 << 15) - 128;

/// A number of the fixed-point recursion: a mantissa, and `C` tangents with a common exponent. It is
/// weighed with tables of `W`, whose numbers may have [exponents](FineQ15).
///
/// RAM: `4 (1 + C)` bytes. Formats and errors: see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fixed<const C: usize, W = Dual<Q15, C>> {
    /// The mantissa above, the exponent of the tangents below.
    word: u32,
    tangent: [i32; C],
    table: PhantomData<W>,
}

/// A logarithm to base 2, `v 2^-16`, and its rates of change, `v 2^-14` of the directions' units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixedLog<const C: usize> {
    /// The logarithm to base 2, `v 2^-16`.
    pub log2: i32,
    /// Rates of change of the natural logarithm.
    pub rate: [i32; C],
    /// Exponent of a row's tangents, if this is the scale of a row.
    pub exponent: u32,
}

impl<const C: usize> FixedLog<C> {
    /// Logarithm of an impossible event.
    pub const IMPOSSIBLE: Self = Self { log2: i32::MIN, rate: [0; C], exponent: 0 };
}

impl<const C: usize, W> Fixed<C, W> {
    #[inline(always)]
    const fn from_parts(word: u32, tangent: [i32; C]) -> Self {
        Self { word, tangent, table: PhantomData }
    }

    #[inline(always)]
    const fn exponent(&self) -> u32 {
        self.word & EXPONENT
    }

    /// The exponent `e` of the tangents, common to a row: they are whole multiples of `2^(e-15)`.
    pub const fn tangent_exponent(&self) -> u32 {
        self.exponent()
    }

    #[inline(always)]
    const fn mantissa(&self) -> u32 {
        self.word >> EXPONENT_BITS
    }
}

impl<const C: usize, W: Table<C>> Scalar for Fixed<C, W> {
    fn value(self) -> f32 {
        self.mantissa() as f32 * f32::power_of_two(-16)
    }
    fn derivative(self, direction: usize) -> Option<f32> {
        let scale = f32::power_of_two(self.exponent() as i32 - 15);
        self.tangent.get(direction).map(|&tangent| tangent as f32 * scale)
    }

    fn log_parts(sum: Self, ledger: &FixedLedger<C>) -> [Dual<f32, C>; 2] {
        ledger.read_parts(&sum)
    }

    #[inline(always)]
    fn add_log(ledger: &mut FixedLedger<C>, log: impl FnOnce() -> FixedLog<C>) -> Option<bool> {
        let log = log();
        let possible = log.log2 != i32::MIN;
        if possible {
            ledger.add_log_scale(&log);
        }
        Some(possible)
    }

    #[inline(always)]
    fn lift_row<const N: usize>(likelihood: [W; N], scale: &FixedLog<C>) -> [Self; N] {
        let mut row = [Self::ZERO; N];
        for j in 0..N {
            row[j] = Self::lift(likelihood[j]);
            row[j].word |= scale.exponent;
        }
        row
    }

    #[inline(always)]
    fn normalise<const N: usize>(_predicted: &mut [Self; N], _ledger: &mut FixedLedger<C>) {}

    fn condition_reachable<const N: usize>(
        predicted: &[Self; N],
        mut log: impl FnMut(usize) -> FixedLog<C>,
        ledger: &mut FixedLedger<C>,
    ) -> Option<([Self; N], FixedLog<C>)> {
        let (likelihood, scale) = W::likelihoods::<N>(|j| {
            let reached = predicted.get(j).is_some_and(|entry| entry.mantissa() > 0);
            if reached { log(j) } else { FixedLog::IMPOSSIBLE }
        })?;
        let mut row = *predicted;
        let likelihood = Self::lift_row(likelihood, &scale);
        for j in 0..N {
            row[j] = row[j].times(likelihood[j]);
        }
        // At least one product is as large as its prediction: the sum is not zero.
        let mut sum = sum_of::<Self, N>(|j| row[j]);
        let up = (VANISHED / (sum.word & !EXPONENT).max(1)).checked_ilog2().map_or(0, |up| up + 1);
        // Relative to a smaller sum the tangents are larger.
        let exponent = (sum.exponent() + up).min(EXPONENT_MAX);
        for entry in row.iter_mut().chain([&mut sum]) {
            entry.word = ((entry.word & !EXPONENT) << up) | exponent;
        }
        ledger.shift(-(up as i32));
        Some((Self::renormalise(row, sum, ledger), scale))
    }
}

impl<const C: usize, W: Table<C>> Number for Fixed<C, W> {
    type Weight = W;
    type Real = f32;
    type ScaleAccumulator = FixedLedger<C>;
    type LogScale = FixedLog<C>;
    type Reading = Dual<f32, C>;

    const CENTRED: bool = C > 0;
    const TERM_BY_TERM: bool = false;
    const RESCALE_EVERY: u32 = W::RESCALE_EVERY;
    const ZERO: Self = Self::from_parts(0, [0; C]);
    const ONE: Self = Self::from_parts(1 << (16 + EXPONENT_BITS), [0; C]);
    const UNSCALED: FixedLedger<C> = FixedLedger::UNSCALED;

    /// An entry of a wide row.
    #[inline(always)]
    fn lift(entry: W) -> Self {
        let (weight, finer) = (entry.weight(), entry.exponent());
        let mut tangent = [0; C];
        for c in 0..C {
            tangent[c] = (weight.tangent[c].rate() << 11) >> finer;
        }
        let value = (weight.value.probability() << 16) >> finer;
        Self::from_parts(value & !EXPONENT, tangent)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let mut tangent = self.tangent;
        for c in 0..C {
            tangent[c] = tangent[c].wrapping_add(other.tangent[c]);
        }
        let sum = (self.word & !EXPONENT).wrapping_add(other.word & !EXPONENT);
        Self::from_parts(sum | self.exponent(), tangent)
    }
    #[inline(always)]
    fn mul_weight(self, weight: W) -> Self {
        Self::inner(&[self], |_| Some(weight))
    }

    /// A wide entry from a kept row: rounded once.
    #[inline(always)]
    fn inner<const N: usize>(row: &[Self; N], weight: impl Fn(usize) -> Option<W>) -> Self {
        const { assert!(N <= 64, "fixed point is proven for up to 64 states") };
        let exponent = row.first().map_or(0, |entry| entry.exponent());
        let (mut value, mut carried, mut moved) = (0_u32, [0_i32; C], [0_i32; C]);
        for (i, entry) in row.iter().enumerate() {
            let table = weight(i).unwrap_or(W::ZERO);
            let (weight, finer) = (table.weight(), table.exponent());
            let (a, p) = (entry.mantissa(), weight.value.probability());
            value = value.wrapping_add(a.wrapping_mul(p) >> finer);
            for c in 0..C {
                let carries = entry.tangent[c].wrapping_mul(p as i32) >> finer;
                carried[c] = carried[c].wrapping_add(carries);
                let moves = (a as i32).wrapping_mul(weight.tangent[c].rate()) >> finer;
                moved[c] = moved[c].wrapping_add(moves);
            }
        }
        let mut tangent = [0; C];
        for c in 0..C {
            tangent[c] = carried[c].wrapping_add(moved[c] >> exponent) >> EXPONENT_BITS;
        }
        Self::from_parts((value & !EXPONENT) | exponent, tangent)
    }

    /// Product of a wide entry and a likelihood, a wide entry.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let likelihood = other.word >> 16;
        let (high, low) = (self.word >> 15, self.mantissa() & 0x3ff);
        let value = high.wrapping_mul(likelihood).wrapping_add(low.wrapping_mul(likelihood) >> 10);
        let exponent = self.exponent().max(other.exponent());
        let mut tangent = [0; C];
        for c in 0..C {
            let (own, likelihood, rate) =
                (self.tangent[c], likelihood as i32, other.tangent[c] >> 11);
            let down = (exponent - self.exponent(), exponent - other.exponent());
            tangent[c] = if W::FINE {
                // What is improbable before a sample may be all there is after it.
                let low_rate = ((low << EXPONENT_BITS) as i32).wrapping_mul(rate) >> 15;
                let moved =
                    (high as i32).wrapping_mul(rate).wrapping_add(low_rate) >> EXPONENT_BITS;
                (by_high_and_low(own, likelihood) >> down.0).wrapping_add(moved >> down.1)
            } else {
                let carried = (own.wrapping_add(1 << 10) >> 11).wrapping_mul(likelihood) >> down.0;
                let moved = ((high as i32).wrapping_mul(rate) >> 1) >> down.1;
                carried.wrapping_add(moved) >> 4
            };
        }
        Self::from_parts((value & !EXPONENT) | exponent, tangent)
    }
    /// Returns whether the sum of a wide row has kept its digits; the power has no effect.
    #[inline(always)]
    fn is_at_least(self, _power: i32) -> bool {
        self.word >= VANISHED
    }
    /// Returns whether the sum of a wide row has kept its digits; the powers have no effect.
    #[inline(always)]
    fn is_between(self, _low: i32, _high: i32) -> bool {
        self.word >= VANISHED
    }

    /// Converts a wide row to a stored one: the sum in `[2^15, 2^16)`, the tangents' absolute sum below `2^15`.
    #[inline(always)]
    fn renormalise<const N: usize>(
        mut row: [Self; N],
        sum: Self,
        ledger: &mut FixedLedger<C>,
    ) -> [Self; N] {
        let (mut down, mut top) = (WIDE + 1, sum.word);
        while (top as i32) > 0 && down > 0 {
            top <<= 1;
            down -= 1;
        }
        let exponent = sum.exponent();
        let lower = u32::from(exponent > 0 && down > 0);
        let (mut kept, mut shift) = (exponent - lower, down - lower);
        if C > 0 {
            let mut largest = absolute_sum(&row) >> shift;
            while largest >= TANGENTS {
                largest >>= 1;
                shift += 1;
                kept += 1;
            }
            kept = kept.min(EXPONENT_MAX);
        }
        let (half, tangent_half) =
            ((1_u32 << down >> 1) << EXPONENT_BITS, 1_i32 << (shift & 31) >> 1);
        for entry in &mut row {
            let value = entry.word.wrapping_add(half) >> (down + EXPONENT_BITS);
            entry.word = (value << EXPONENT_BITS) | kept;
            for tangent in &mut entry.tangent {
                *tangent = tangent.wrapping_add(tangent_half) >> (shift & 31);
            }
        }
        ledger.shift(down as i32 - WIDE as i32);
        row
    }

    /// Moves `g`, near `sum'/sum`, out of every entry of a kept row, `(a + a' e)(1 - g e)`, and adds
    /// exactly that to the ledger: what is near in it stays in the row. No division.
    #[inline]
    fn rescale<const N: usize>(row: &mut [Self; N], sum: Self, ledger: &mut FixedLedger<C>) {
        let exponent = sum.exponent();
        // 2^30 / sum, to a tenth, by the tangent line's cousin 2.914 - 2 z over [1/2, 1].
        let reciprocal = 47_743 - (sum.mantissa() >> 1) as i32;
        for c in 0..C {
            let rate = sum.tangent[c].wrapping_mul(reciprocal) >> 16;
            for entry in row.iter_mut() {
                let moved = rate.wrapping_mul(entry.mantissa() as i32).wrapping_add(1 << 13) >> 14;
                entry.tangent[c] = entry.tangent[c].wrapping_sub(moved);
            }
            ledger.accumulated[c] += i64::from(rate) << (exponent + 3);
        }
        if absolute_sum(row) >= TANGENTS {
            let kept = (exponent + 1).min(EXPONENT_MAX);
            for entry in row.iter_mut() {
                entry.word = (entry.word & !EXPONENT) | kept;
                for tangent in &mut entry.tangent {
                    *tangent = (*tangent + 1) >> 1;
                }
            }
        }
    }
    #[inline(always)]
    fn add_log_scale(ledger: &mut FixedLedger<C>, scale: FixedLog<C>) {
        ledger.add_log_scale(&scale);
    }
    /// Logarithm in soft floating point: two conversions, a logarithm, and with directions
    /// directions.
    fn log(sum: Self, ledger: &FixedLedger<C>) -> Dual<f32, C> {
        ledger.read(&sum, None)
    }
    fn log_ratio(
        sum: Self,
        ledger: &FixedLedger<C>,
        other: Self,
        other_ledger: &FixedLedger<C>,
    ) -> Dual<f32, C> {
        ledger.read(&sum, Some((&other, other_ledger)))
    }
}

/// `x factor / 2^15`, of a `factor` up to `2^15`: from two products that fit.
#[inline(always)]
const fn by_high_and_low(x: i32, factor: i32) -> i32 {
    let (high, low) = (x >> 15, x & 0x7fff);
    high.wrapping_mul(factor).wrapping_add(low.wrapping_mul(factor) >> 15)
}

/// The largest over the directions of `sum_i |t_i|`, less at most `N`.
#[inline(always)]
fn absolute_sum<const N: usize, const C: usize, W>(row: &[Fixed<C, W>; N]) -> u32 {
    let mut largest = 0;
    for c in 0..C {
        let mut sum = 0_u32;
        for entry in row {
            let tangent = entry.tangent[c];
            sum = sum.wrapping_add((tangent ^ (tangent >> 31)) as u32);
        }
        largest = largest.max(sum);
    }
    largest
}
