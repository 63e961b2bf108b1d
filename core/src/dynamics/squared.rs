use crate::number::{Arithmetic, Number, Parameter, RESCALE_BELOW, RESCALE_FROM, Real};
use crate::number::{is_near, with_local_copy};

/// The square of a density, as a product of those of Gaussians:
///
/// ```text
/// p^2 = product over channels of precision exp(-precision error^2), times what the units are
/// ```
///
/// Determinants are multiplied as they are, with an exponent of their own: the square has no root to be
/// drawn, and no logarithm is taken before somebody reads.
///
/// RAM: `1 + C` reals and a ledger, 24 B in `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SquaredDensity<X: Number> {
    product: X,
    ledger: X::ScaleAccumulator,
}

/// Precisions below this power of two are of variances that have overflowed, or are about to.
const LEAST_PRECISION: i32 = -64;

impl<X: Arithmetic> SquaredDensity<X> {
    /// Density of no observation: one.
    pub const ONE: Self = Self { product: X::ONE, ledger: X::UNSCALED };

    /// Multiplies with the precision of one channel, at most one. Returns `false`, and changes nothing, for one
    /// that is no number or below `2^-64`.
    #[inline(always)]
    pub fn weigh(&mut self, precision: X) -> bool {
        if !precision.is_at_least(LEAST_PRECISION) {
            return false;
        }
        self.product = self.product.times(precision);
        if !self.product.is_between(RESCALE_BELOW, RESCALE_FROM) {
            with_local_copy(self, Self::rescale);
        }
        true
    }

    /// Multiplies with an exponential. Returns `false`, and changes nothing, if it is
    /// [too far](crate::number::MIN_LOG_DENSITY_EXP) from one, or NaN.
    #[inline(always)]
    pub fn add_log_scale(&mut self, log: X) -> bool {
        let value = Parameter::value(log);
        if !is_near(value) {
            return false;
        }
        if X::CENTRED {
            self.product = self.product.times(X::new(<X as Parameter>::Real::ONE, log.tangent()));
            self.rescale();
        }
        X::add_log_scale(&mut self.ledger, value);
        true
    }

    #[cold]
    #[inline(never)]
    fn rescale(&mut self) {
        let mut row = [self.product];
        X::rescale(&mut row, self.product, &mut self.ledger);
        [self.product] = row;
    }

    /// The logarithm of the density, with its tangent over dual numbers. One logarithm.
    #[inline]
    pub fn log(&self) -> X {
        X::log(self.product, &self.ledger).scaled(Real::from_f64(0.5))
    }

    /// [`log`](Self::log) as the nearest number and what that drops.
    #[inline]
    pub fn log_parts(&self) -> [X; 2] {
        // Halves are exact.
        let [high, low] = X::log_parts(self.product, &self.ledger);
        let half = Real::from_f64(0.5);
        [high.scaled(half), low.scaled(half)]
    }
}
