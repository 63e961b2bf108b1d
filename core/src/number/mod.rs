//! Numbers: those that a model stores and those that a state holds.
//!
//! The recursions of this crate are written once. What varies is the number they run over:
//!
//! | number | the forward recursion becomes |
//! |---|---|
//! | `f32`, `f64` | the filter and the likelihood |
//! | [`Dual<T, C>`](Dual) | the tangent filter: `C` directional derivatives of the log-likelihood |
//! | `Lanes<T, L>` | `L` sequences side by side |
//! | [`Max<T>`](Max) | Viterbi's score: the best path instead of all |
//! | [`Fixed<C>`](Fixed) | filter and tangent filter in integers, for parts without an FPU |
//!
//! A model stores [`Parameter`]s, a state holds [`Number`]s. For the real and the dual numbers the two
//! are the same type, a [`RealParameter`]; lanes share one model's weights between `L` states, and a state in
//! fixed point ([`Fixed`]) is wider than the tables ([`Q15`]) of its model.
//!
//! | trait | what it is | for |
//! |---|---|---|
//! | [`Number`] | a sum and a product; a row that hands its magnitude to a [`ScaleAccumulator`](Number::ScaleAccumulator) and is read with it as a logarithm | every state |
//! | [`Scalar`] | one value and its derivatives; likelihoods so small that products vanish | all but lanes |
//! | [`Parameter`], [`RealParameter`] | what a model stores; the same over the reals | models |
//!
//! What fixed point alone needs has a default that does nothing elsewhere
//! ([`renormalise`](Number::renormalise), [`normalise`](Scalar::normalise), [`fits`](Parameter::fits), ...); its format,
//! bounds and errors are on a page of their own, [`fixed`].

#[cfg(feature = "micromath")]
pub(crate) mod approximate;
mod arithmetic;
mod array;
mod channel;
mod compensated;
mod dual;
mod exponential;
pub mod fixed;
mod lanes;
mod log_product;
mod logarithms;
mod max;
mod real;

#[cfg(feature = "micromath")]
pub use approximate::{EXP_ERROR, LN_ERROR};
pub use arithmetic::Arithmetic;
pub use array::Array2;
pub use channel::Channel;
pub use compensated::Compensated;
pub use dual::{Dual, DualLedger};
pub(crate) use fixed::log2;
pub use fixed::{
    FineQ15, Fixed, FixedLedger, FixedLog, Q15, RATE_MAX, Table, fine_exponent, quantise_fine_row,
    quantise_rates, quantise_row, rate_unit,
};
pub use lanes::Lanes;
pub use log_product::LogProduct;
pub(crate) use logarithms::is_near;
pub use logarithms::power;
pub use max::Max;
pub use real::{Real, ScaleAccumulator};

/// A sum below this power of two makes a row be rescaled (see [`Number::rescale`]).
pub const RESCALE_BELOW: i32 = -32;

/// A sum from this power of two on also makes a row be rescaled.
///
/// Rows of probabilities that sum to one but for rounding let it grow, by some `10^-7` per sample in `f32`.
pub const RESCALE_FROM: i32 = 2;

/// Products whose sum is below this power of two may have lost terms to underflow that matter to it:
/// the row is conditioned again, from a prediction that sums to one and, if it still is below, in the
/// log domain and relative to the states that can be reached.
///
/// With [`RESCALE_FROM`] it is the range of a row. Let an entry be at least `2^-r` of its row, both
/// predicted and conditioned. The predicted row sums to `2^-32` to `2^2`; where the products sum to
/// `2^-40` or more, that entry's likelihood is at least `2^(-r - 40 - 2)`, itself at least
/// `2^(-r - 32)`, its product `2^(-r - 40)`. All three are normal numbers of `f32`, from `2^-126` on,
/// for `r = 84`, and of `f64`, from `2^-1022`, for `r = 980`: not a digit of it is lost.
pub const UNDERFLOW_EXP: i32 = -40;

/// An observation with a log density below `-2^64` (six billion standard deviations away) is taken
/// for impossible: log-likelihoods and tangents of all others can be added up for ever.
pub const MIN_LOG_DENSITY_EXP: i32 = 64;

/// Largest number of samples between two rescalings of a row, so that tangents stay centred.
pub const RESCALE_EVERY: u32 = 32;

/// `true` if the target computes with several numbers at once.
///
/// Loops that fill its registers sum the same terms in another order.
pub(crate) const VECTORS: bool = cfg!(any(target_feature = "sse2", target_feature = "neon"));

/// Lends a state to `f`, which is called out of line.
///
/// A state whose address is taken lives in memory. Where it would fit vector registers that costs a
/// store and loads at every sample, so there a copy is lent.
#[inline(always)]
pub(crate) fn with_local_copy<S: Clone, R>(state: &mut S, f: impl FnOnce(&mut S) -> R) -> R {
    if !VECTORS {
        return f(state);
    }
    let mut copy = state.clone();
    let result = f(&mut copy);
    *state = copy;
    result
}

/// The format of the numbers that a model stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum NumberFormat {
    /// `f32`.
    F32 = 1,
    /// `f64`.
    F64 = 2,
    /// Fixed point: [`Q15`].
    Q15 = 3,
}

impl NumberFormat {
    /// The format of a byte; `None` where there is no such format.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::F32),
            2 => Some(Self::F64),
            3 => Some(Self::Q15),
            _ => None,
        }
    }

    /// Name of the format, as in options and headers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Q15 => "q15",
        }
    }
}

/// Parameter of a model: a value and, with directions attached, its tangent, in any format.
pub trait Parameter: Copy + PartialEq + core::fmt::Debug + 'static {
    /// The real numbers in which it is read.
    type Real: Real;
    /// Rates of change along the directions: `()` without directions, `[T; C]` with `C`.
    type Tangent: Tangent<Self::Real>;
    /// The number that a state over this parameter holds.
    type Number: Scalar<
            Weight = Self,
            Real = Self::Real,
            LogScale = Self::LogScale,
            Reading: Scalar<Real = Self::Real, Weight: RealParameter<Real = Self::Real>>,
        >;
    /// A log-likelihood and its rates of change, in the format's own arithmetic.
    type Log: Copy + PartialEq + core::fmt::Debug;
    /// Scale that a row of likelihoods is relative to.
    type LogScale: Copy + PartialEq + core::fmt::Debug;
    /// The format.
    const FORMAT: NumberFormat;
    /// Logarithm of an impossible event, whose rates of change are zero.
    const IMPOSSIBLE: Self::Log;
    /// Largest deviation of a row's sum from one by rounding.
    const ROW_TOLERANCE: Self::Real = <Self::Real as Real>::SUM_TOLERANCE;

    /// The value.
    fn value(self) -> Self::Real;
    /// The rates of change.
    fn tangent(self) -> Self::Tangent;
    /// Likelihoods relative to the largest, from their logarithms, and that scale.
    /// `None` where the largest is that of an observation [too far](MIN_LOG_DENSITY_EXP) from every state, or
    /// of none.
    fn likelihoods<const N: usize>(
        log: impl FnMut(usize) -> Self::Log,
    ) -> Option<([Self; N], Self::LogScale)>;
    /// Returns whether the rates of change of a row of a chain fit the format. Floating point accepts all.
    fn fits(_row: impl Iterator<Item = Self>) -> bool {
        true
    }
}

/// A parameter over the reals: its logarithm is of its own kind.
pub trait RealParameter: Parameter<Log = Self, LogScale = <Self as Parameter>::Real> {
    /// A value and its tangent.
    fn new(value: Self::Real, tangent: Self::Tangent) -> Self;

    /// A value that no direction moves.
    #[inline(always)]
    fn constant(value: Self::Real) -> Self {
        Self::new(value, Self::Tangent::ZERO)
    }

    /// `exp(self - reference)`: from a log-likelihood to a likelihood relative to `reference`.
    ///
    /// `d exp(l) = exp(l) dl`; where the value vanishes so does its tangent, even one that is not
    /// finite.
    #[inline]
    fn exp_relative_to(self, reference: Self::Real) -> Self {
        let value = (self.value() - reference).exp();
        if Self::Tangent::DIRECTIONS > 0 && value == Self::Real::ZERO {
            return Self::constant(value);
        }
        Self::new(value, self.tangent().scale(value))
    }
}

/// Rates of change of one value along the directions of a tangent filter.
pub trait Tangent<T>: Copy + PartialEq + core::fmt::Debug + 'static {
    /// Number of directions.
    const DIRECTIONS: usize;
    /// No change.
    const ZERO: Self;
    /// Sum, direction by direction.
    fn plus(self, other: Self) -> Self;
    /// Multiple, direction by direction.
    fn scale(self, factor: T) -> Self;
    /// The rate along one direction; `None` past the last.
    fn get(&self, direction: usize) -> Option<T>;
    /// A tangent from its rates.
    fn from_fn(rate: impl FnMut(usize) -> T) -> Self;
    /// Returns whether every rate is finite.
    fn is_finite(&self) -> bool
    where
        T: Real,
    {
        (0..Self::DIRECTIONS).all(|c| self.get(c).is_some_and(Real::is_finite))
    }
}

impl<T: Real> Tangent<T> for () {
    const DIRECTIONS: usize = 0;
    const ZERO: Self = ();
    #[inline(always)]
    fn plus(self, (): Self) -> Self {}
    #[inline(always)]
    fn scale(self, _: T) -> Self {}
    #[inline(always)]
    fn get(&self, _: usize) -> Option<T> {
        None
    }
    #[inline(always)]
    fn from_fn(_: impl FnMut(usize) -> T) -> Self {}
}

impl<T: Real, const C: usize> Tangent<T> for [T; C] {
    const DIRECTIONS: usize = C;
    const ZERO: Self = [T::ZERO; C];
    #[inline]
    fn plus(self, other: Self) -> Self {
        array_of(T::ZERO, |c| self[c] + other[c])
    }
    #[inline]
    fn scale(self, factor: T) -> Self {
        array_of(T::ZERO, |c| self[c] * factor)
    }
    #[inline]
    fn get(&self, direction: usize) -> Option<T> {
        self.as_slice().get(direction).copied()
    }
    #[inline]
    fn from_fn(rate: impl FnMut(usize) -> T) -> Self {
        array_of(T::ZERO, rate)
    }
}

/// Number type of a recursion: the entries of a row over the states.
///
/// A row and its [`ScaleAccumulator`](Number::ScaleAccumulator) together stand for `row x 2^exponent x exp(log)`, and
/// for dual numbers `x (1 + accumulated e)`: [`rescale`](Number::rescale) moves magnitude and derivative
/// out of the row into the ledger, so that the row keeps its precision however long the stream.
pub trait Number: Copy + PartialEq + core::fmt::Debug + 'static {
    /// Parameter type of the model for this number.
    type Weight: Parameter<Real = Self::Real>;
    /// The real numbers underneath.
    type Real: Real;
    /// Scale moved out of a row.
    type ScaleAccumulator: Copy + PartialEq + core::fmt::Debug;
    /// Log scale of a likelihood row: one number, or one per lane.
    type LogScale: Copy;
    /// Type of logarithms that are read: the number itself, where it can hold one.
    type Reading: Copy + PartialEq + core::fmt::Debug;

    /// `true` if the number carries a derivative, which rescaling keeps centred.
    const CENTRED: bool = false;
    /// Number of samples after which a row with a derivative is rescaled.
    const RESCALE_EVERY: u32 = RESCALE_EVERY;
    /// Zero.
    const ZERO: Self;
    /// One; no direction moves it.
    const ONE: Self;
    /// The ledger of an unscaled row.
    const UNSCALED: Self::ScaleAccumulator;

    /// A model's number as a state's.
    fn lift(weight: Self::Weight) -> Self;
    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Product with a model's number.
    fn mul_weight(self, weight: Self::Weight) -> Self;
    /// Product.
    fn times(self, other: Self) -> Self;
    /// `true` if [`inner`](Self::inner) is `sum_of` products, each rounded.
    const TERM_BY_TERM: bool = true;
    /// `sum_i row_i weight_i`, in the order of `sum_of`; where there is no weight, no term. A number
    /// that rounds every product may round once instead.
    #[inline(always)]
    fn inner<const N: usize>(
        row: &[Self; N],
        weight: impl Fn(usize) -> Option<Self::Weight>,
    ) -> Self {
        sum_of::<Self, N>(|i| match (row.get(i), weight(i)) {
            (Some(entry), Some(weight)) => entry.mul_weight(weight),
            _ => Self::ZERO,
        })
    }
    /// A row of products, whose sum is `sum`, as a state keeps it. Floating point keeps it as it is;
    /// a format with a block exponent moves that into the ledger.
    #[inline(always)]
    fn renormalise<const N: usize>(
        row: [Self; N],
        _sum: Self,
        _ledger: &mut Self::ScaleAccumulator,
    ) -> [Self; N] {
        row
    }
    /// Returns whether the value (in every lane) is at least `2^power`; `false` for NaN.
    fn is_at_least(self, power: i32) -> bool;
    /// Returns whether the value (in every lane) is at least `2^low` and less than `2^high`; `false` for
    /// NaN. Both in the normal range, `low < high`.
    fn is_between(self, low: i32, high: i32) -> bool;
    /// Moves the magnitude of `row`, whose sum is `sum`, into the ledger: afterwards the sum's value
    /// is in `[1, 2)` and, for dual numbers, its tangent is zero.
    ///
    /// The power of two is exact: values keep their bits.
    fn rescale<const N: usize>(row: &mut [Self; N], sum: Self, ledger: &mut Self::ScaleAccumulator);
    /// Adds a likelihood row's log scale to the ledger.
    fn add_log_scale(ledger: &mut Self::ScaleAccumulator, log_scale: Self::LogScale);
    /// `log(sum)` of the whole row with what the ledger holds; for dual numbers with its tangent.
    fn log(sum: Self, ledger: &Self::ScaleAccumulator) -> Self::Reading;
    /// `log(sum / other)` of two whole rows, for dual numbers with its tangent: what they have in
    /// common cancels in the ledgers, before it is rounded to one number.
    fn log_ratio(
        sum: Self,
        ledger: &Self::ScaleAccumulator,
        other: Self,
        other_ledger: &Self::ScaleAccumulator,
    ) -> Self::Reading;
}

/// A number that has one value: any but lanes.
pub trait Scalar: Number {
    /// The value, without its rates of change.
    fn value(self) -> Self::Real;
    /// The rate of change along one direction; `None` past the last.
    fn derivative(self, direction: usize) -> Option<Self::Real>;
    /// [`log`](Number::log) as the nearest number and what that drops, for sums of many: to some `2^-44`
    /// of itself in `f32`.
    fn log_parts(sum: Self, ledger: &Self::ScaleAccumulator) -> [Self::Reading; 2];
    /// Adds the log-likelihood of a sample whose state is known to the ledger, where the format adds
    /// logarithms up exactly and so needs no product. `None` where it multiplies, as floating point does,
    /// whose logarithms are dear; `Some(false)`, and nothing has changed, where the sample is impossible.
    #[inline(always)]
    fn add_log(
        _ledger: &mut Self::ScaleAccumulator,
        _log: impl FnOnce() -> <Self::Weight as Parameter>::Log,
    ) -> Option<bool> {
        None
    }
    /// A row of likelihoods as numbers, and their scale.
    #[inline(always)]
    fn lift_row<const N: usize>(
        likelihood: [Self::Weight; N],
        _scale: &Self::LogScale,
    ) -> [Self; N] {
        let mut row = [Self::ZERO; N];
        for j in 0..N {
            row[j] = Self::lift(likelihood[j]);
        }
        row
    }
    /// Rescales a predicted row to a sum near one, before likelihoods as small as its sum make products vanish.
    ///
    /// A format with a block exponent keeps the sum there.
    #[inline]
    fn normalise<const N: usize>(predicted: &mut [Self; N], ledger: &mut Self::ScaleAccumulator) {
        let sum = sum_of::<Self, N>(|j| predicted[j]);
        Self::rescale(predicted, sum, ledger);
    }
    /// The products `predicted_j b_j`, from logarithms of the likelihoods `b_j` and relative to the
    /// best of the states that can be reached, as a state keeps them; and what they are relative to.
    /// `None`, and an unchanged ledger, where none can be. Asks only for states in reach.
    fn condition_reachable<const N: usize>(
        predicted: &[Self; N],
        log: impl FnMut(usize) -> <Self::Weight as Parameter>::Log,
        ledger: &mut Self::ScaleAccumulator,
    ) -> Option<([Self; N], Self::LogScale)>;
}

/// The smaller of two lengths: `Ord::min` stays a call in other code units.
#[doc(hidden)]
#[inline(always)]
#[doc(hidden)]
pub const fn shorter(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// An array entry by entry, in a plain loop: `core::array::from_fn` and `map` stay calls in other code units.
#[doc(hidden)]
#[inline(always)]
pub fn array_of<T: Copy, const N: usize>(filler: T, mut entry: impl FnMut(usize) -> T) -> [T; N] {
    let mut array = [filler; N];
    for i in 0..N {
        array[i] = entry(i);
    }
    array
}

/// [`array_of`] for what is computed seldom: on small processors a loop that stays one, for unrolled it is a tenth more code.
#[inline(always)]
pub(crate) fn seldom_array_of<T: Copy, const N: usize>(
    filler: T,
    entry: impl FnMut(usize) -> T,
) -> [T; N] {
    if VECTORS { array_of(filler, entry) } else { core::array::from_fn(entry) }
}

/// Sum of `N` terms in the crate's fixed order: pairs of pairs, block of four by block of four.
///
/// The order is part of the promise that host and device agree bit for bit, and terms that are zero
/// (states added as padding) do not change the result. Pairing also shortens the chain of dependent
/// additions from `N` to about `N / 4 + 2`.
#[inline(always)]
#[doc(hidden)]
pub fn sum_of<X: Number, const N: usize>(term: impl Fn(usize) -> X) -> X {
    if N == 0 {
        return X::ZERO;
    }
    let mut sum = sum_of_block(&term, 0, N);
    let mut i = 4;
    while i < N {
        sum = sum.plus(sum_of_block(&term, i, N - i));
        i += 4;
    }
    sum
}

/// Sum of four terms from `i` on, or of those left. A function of its own because a closure is not
/// always inlined, and then leaves its bounds checks behind.
#[inline(always)]
fn sum_of_block<X: Number>(term: &impl Fn(usize) -> X, i: usize, left: usize) -> X {
    match left {
        1 => term(i),
        2 => term(i).plus(term(i + 1)),
        3 => term(i).plus(term(i + 1)).plus(term(i + 2)),
        _ => term(i).plus(term(i + 1)).plus(term(i + 2).plus(term(i + 3))),
    }
}

/// `sum_k a_k b_k` over slices, past the shorter of which there is nothing. In a fixed order, another
/// than `sum_of`'s: four sums side by side, then theirs, then what is left over.
#[inline]
pub fn inner_product<T: Real>(a: &[T], b: &[T]) -> T {
    sum_over(a, b, |a, b| a * b)
}

/// `sum_k (a_k - b_k)^2`, in the order of [`inner_product`].
#[inline]
pub fn squared_distance<T: Real>(a: &[T], b: &[T]) -> T {
    sum_over(a, b, |a, b| {
        let difference = a - b;
        difference * difference
    })
}

#[inline(always)]
fn sum_over<T: Real>(a: &[T], b: &[T], term: impl Fn(T, T) -> T) -> T {
    let length = shorter(a.len(), b.len());
    let (a, b) = (a.get(..length).unwrap_or(a), b.get(..length).unwrap_or(b));
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [T::ZERO; 4];
    let blocks = shorter(a.len(), b.len());
    for block in 0..blocks {
        let (a, b) = (&a[block], &b[block]);
        for k in 0..4 {
            sums[k] = sums[k] + term(a[k], b[k]);
        }
    }
    let mut rest = T::ZERO;
    let left = shorter(rest_a.len(), rest_b.len());
    for k in 0..left {
        rest = rest + term(rest_a[k], rest_b[k]);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest
}
