use super::{Fixed, FixedLog, Table};
use crate::number::{Dual, Number, Real};

/// What has been moved out of a row in fixed point: a logarithm to base 2 and the derivative earned,
/// both `v 2^-16`, both exact sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixedLedger<const C: usize> {
    log2: i64,
    pub(super) earned: [i64; C],
}

impl<const C: usize> FixedLedger<C> {
    pub(super) const SETTLED: Self = Self { log2: 0, earned: [0; C] };

    /// Takes a power of two.
    #[inline(always)]
    pub(super) fn shift(&mut self, power: i32) {
        self.log2 += i64::from(power << 16);
    }

    #[inline(always)]
    pub(super) fn earn(&mut self, scale: &FixedLog<C>) {
        self.log2 += i64::from(scale.log2);
        for (earned, &rate) in self.earned.iter_mut().zip(&scale.rate) {
            *earned += i64::from(rate) << 2;
        }
    }

    /// The natural logarithm of a row's sum and what was moved out of it, less that of another.
    pub(super) fn read<W: Table<C>>(
        &self,
        sum: &Fixed<C, W>,
        other: Option<(&Fixed<C, W>, &Self)>,
    ) -> Dual<f32, C> {
        let (unit, none) = (Fixed::UNIT, Self::SETTLED);
        let (other, other_ledger) = other.unwrap_or((&unit, &none));
        let log2 = self.log2 - other_ledger.log2;
        // What is large is a whole number of bits; the rest is small and keeps its digits.
        let (whole, part) = split(log2);
        let ratio = sum.mantissa() as f32 / other.mantissa() as f32;
        // Not `ratio.ln()`: where some crate of a build links std, that is std's, with other bits.
        let small = part * core::f32::consts::LN_2 + Real::ln(ratio);
        let in_row = |row: &Fixed<C, W>, c: usize| {
            let scale = f32::power_of_two(row.exponent() as i32 + 1);
            row.tangent[c] as f32 * scale / row.mantissa() as f32
        };
        let mut tangent = [0.0; C];
        for (c, tangent) in tangent.iter_mut().enumerate() {
            let (whole, part) = split(self.earned[c] - other_ledger.earned[c]);
            *tangent = whole as f32 + (part + (in_row(sum, c) - in_row(other, c)));
        }
        Dual { value: f32::times_ln_2(whole) + small, tangent }
    }
}

/// A sum `v 2^-16` as an integer and what is left, which is exact.
fn split(sum: i64) -> (i64, f32) {
    (sum >> 16, (sum & 0xffff) as f32 * f32::power_of_two(-16))
}
