use crate::emission::marginal::{channel, channels};
use crate::emission::{Emission, GaussianQ15, Marginalise};
use crate::number::{Dual, FixedLog};

impl<const D: usize, const C: usize> Marginalise for GaussianQ15<D, C> {
    channels!(any i16, D);

    #[inline]
    fn log_marginal(&self, x: &[Option<i16>; D]) -> FixedLog<C> {
        match Self::complete(x) {
            Some(x) => self.log_likelihood(&x),
            None => self.view().log_marginal(|d| channel(x, d)),
        }
    }

    #[inline]
    fn marginal_in_units<const N: usize>(
        states: [&Self; N],
        reading: Dual<f32, C>,
    ) -> Dual<f32, C> {
        // Units are the same in all states.
        states.first().map_or(reading, |state| Self::in_units(&[**state], reading))
    }
}
