use super::{Number, Real, Scalar, array_of};

/// A number of the semiring (max, times): the sum of two is the larger one.
///
/// The forward recursion over `Max<T>` is Viterbi's: its row holds, for each state, the probability
/// of the best path that ends there,
///
/// ```text
/// p_j = max_i a_i A_ij        a'_j = p_j b_j(x)        max_z p(z, x_1..t) = max_j a_j
/// ```
///
/// Like lanes it shares the model's own weights: no second model. A row's largest entry shrinks at
/// every step, observed or not, so a long gap needs rescaling where a sum of probabilities would not.
///
/// RAM: one real. A sum costs one comparison.
///
/// ```
/// use fishweir_core::{hmm::Chain, number::Max};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chain = Chain::<f64, 2>::new([0.5, 0.5], [[0.75, 0.25], [0.5, 0.5]])?;
/// let best: [Max<f64>; 2] = chain.predict(&chain.begin());
/// assert_eq!(best, [Max(0.375), Max(0.25)]); // where the forward filter has 0.625 and 0.375
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Max<T>(
    /// The value.
    pub T,
);

impl<T: Real> Scalar for Max<T> {
    #[inline(always)]
    fn value(self) -> T {
        self.0
    }
    #[inline]
    fn derivative(self, _: usize) -> Option<T> {
        None
    }
    #[inline]
    fn log_parts(sum: Self, ledger: &Self::ScaleAccumulator) -> [Self; 2] {
        let [high, low] = T::log_parts(sum.0, ledger);
        [Self(high), Self(low)]
    }
    #[inline]
    fn condition_reachable<const N: usize>(
        predicted: &[Self; N],
        log: impl FnMut(usize) -> T,
        _ledger: &mut Self::ScaleAccumulator,
    ) -> Option<([Self; N], T)> {
        super::logarithms::condition_reachable(predicted, log)
    }
}

impl<T: Real> Number for Max<T> {
    type Weight = T;
    type Real = T;
    type ScaleAccumulator = <T as Number>::ScaleAccumulator;
    type LogScale = T;
    type Reading = Self;

    const ZERO: Self = Self(T::ZERO);
    const ONE: Self = Self(T::ONE);
    const UNSCALED: Self::ScaleAccumulator = T::UNSCALED;

    #[inline(always)]
    fn lift(weight: T) -> Self {
        Self(weight)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
    #[inline(always)]
    fn mul_weight(self, weight: T) -> Self {
        Self(self.0 * weight)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
    #[inline(always)]
    fn is_at_least(self, power: i32) -> bool {
        self.0.is_at_least(power)
    }
    #[inline(always)]
    fn is_between(self, low: i32, high: i32) -> bool {
        self.0.is_between(low, high)
    }
    #[inline]
    fn rescale<const N: usize>(
        row: &mut [Self; N],
        sum: Self,
        ledger: &mut Self::ScaleAccumulator,
    ) {
        let mut values: [T; N] = array_of(sum.0, |j| row[j].0);
        T::rescale(&mut values, sum.0, ledger);
        *row = array_of(sum, |j| Self(values[j]));
    }
    #[inline]
    fn add_log_scale(ledger: &mut Self::ScaleAccumulator, log_scale: T) {
        T::add_log_scale(ledger, log_scale);
    }
    #[inline]
    fn log(sum: Self, ledger: &Self::ScaleAccumulator) -> Self {
        Self(T::log(sum.0, ledger))
    }
    #[inline]
    fn log_ratio(
        sum: Self,
        ledger: &Self::ScaleAccumulator,
        other: Self,
        other_ledger: &Self::ScaleAccumulator,
    ) -> Self {
        Self(T::log_ratio(sum.0, ledger, other.0, other_ledger))
    }
}
