use super::{Fixed, FixedLog, Table};
use crate::number::{Compensated, Dual, Number, Real, Scalar};

/// Ledger of a row in fixed point: a logarithm to base 2 and the accumulated derivative, both `v 2^-16`, both exact sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixedLedger<const C: usize> {
    log2: i64,
    pub(super) accumulated: [i64; C],
}

impl<const C: usize> FixedLedger<C> {
    pub(super) const UNSCALED: Self = Self { log2: 0, accumulated: [0; C] };

    /// Takes a power of two.
    #[inline(always)]
    pub(super) fn shift(&mut self, power: i32) {
        self.log2 += i64::from(power << 16);
    }

    #[inline(always)]
    pub(super) fn add_log_scale(&mut self, scale: &FixedLog<C>) {
        self.log2 += i64::from(scale.log2);
        for (accumulated, &rate) in self.accumulated.iter_mut().zip(&scale.rate) {
            *accumulated += i64::from(rate) << 2;
        }
    }

    /// The natural logarithm of a row's sum with its scale, less that of another.
    pub(super) fn read<W: Table<C>>(
        &self,
        sum: &Fixed<C, W>,
        other: Option<(&Fixed<C, W>, &Self)>,
    ) -> Dual<f32, C> {
        let (unit, none) = (Fixed::ONE, Self::UNSCALED);
        let (other, other_ledger) = other.unwrap_or((&unit, &none));
        let log2 = self.log2 - other_ledger.log2;
        // What is large is a whole number of bits; the rest is small and keeps its digits.
        let (whole, part) = split(log2);
        let ratio = sum.mantissa() as f32 / other.mantissa() as f32;
        // Not `ratio.ln()`: where some crate of a build links std, that is std's, with other bits.
        let small = part * core::f32::consts::LN_2 + Real::ln(ratio);
        let mut tangent = [0.0; C];
        for (c, tangent) in tangent.iter_mut().enumerate() {
            let (whole, part) = split(self.accumulated[c] - other_ledger.accumulated[c]);
            *tangent = whole as f32 + (part + (rate_in_row(sum, c) - rate_in_row(other, c)));
        }
        Dual { value: f32::times_ln_2(whole) + small, tangent }
    }

    /// Reads the logarithm of one row as the nearest number and the remainder of rounding.
    pub(super) fn read_parts<W: Table<C>>(&self, sum: &Fixed<C, W>) -> [Dual<f32, C>; 2] {
        let (whole, part) = split(self.log2);
        let mut log = Compensated::<f32>::of_exponent(whole);
        log.add(part * core::f32::consts::LN_2 + Real::ln(sum.value()));
        let (value, rest) = log.parts();
        let mut parts =
            [Dual { value, tangent: [0.0; C] }, Dual { value: rest, tangent: [0.0; C] }];
        let [high, low] = &mut parts;
        for (c, (high, low)) in high.tangent.iter_mut().zip(&mut low.tangent).enumerate() {
            let (whole, part) = split(self.accumulated[c]);
            let mut rate = Compensated::of_integer(whole);
            rate.add(part + rate_in_row(sum, c));
            (*high, *low) = rate.parts();
        }
        parts
    }
}

/// The part of a derivative that is still in the row.
fn rate_in_row<const C: usize, W: Table<C>>(row: &Fixed<C, W>, c: usize) -> f32 {
    let scale = f32::power_of_two(row.exponent() as i32 + 1);
    row.tangent[c] as f32 * scale / row.mantissa() as f32
}

/// Splits a sum `v 2^-16` into an integer and the exact remainder.
fn split(sum: i64) -> (i64, f32) {
    (sum >> 16, (sum & 0xffff) as f32 * f32::power_of_two(-16))
}
