use super::checks::check_finite;
use super::{Classifier, Decision, ScoreOutOfRange, decide};
use crate::error::{ObservationError, Part};
use crate::filter::Streaming;
use crate::kernel::{KernelError, Validate};
use crate::number::{Array2, NumberFormat, Real, inner_product};

/// Kernel values of a stream with `M` stored items, relative to a common scale:
///
/// ```text
/// k(stored_m, x_1..t) = values[m] exp(log_scale)
/// ```
///
/// A kernel by marginalisation is as small as the probability of what came: its logarithm has a
/// place in a real, it has none.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KernelValues<T, const M: usize> {
    /// Finite, `[item]`.
    pub values: [T; M],
    /// Minus infinity where all values are zero because the kernels are.
    pub log_scale: T,
}

/// A kernel that compares a stream with `M` stored items after every sample: the input of a
/// [`KernelMachine`]. One [on scores](super::StoredScores) has no values where a score is out of
/// range.
pub trait StoredKernel<const M: usize>:
    Streaming<Reading = Result<KernelValues<Self::Real, M>, ScoreOutOfRange>> + Validate
{
    /// The real numbers of its values.
    type Real: Real;
}

/// A kernel machine whose stored items lie in flash, for kernels that do not compile to directions.
///
/// ```text
/// value_o(x_1..t) = bias_o + sum_m coefficient_om k(stored_m, x_1..t)
/// ```
///
/// A support-vector machine or kernel logistic regression with one output for two classes, whose
/// sign decides, or one a class, the largest of which does (one against the rest). The kernel is
/// [one by marginalisation](super::StoredSequences) or [one on scores](super::StoredScores); it
/// streams, and so does the machine, whose state is the kernel's.
///
/// Reading: `O M` multiply-adds, an exponential, and what the kernel's reading takes. Flash:
/// `O (M + 1)` reals and the kernel.
///
/// Its second parameter is the type of the coefficients, `[[T; M]; O]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelMachine<K, C: Array2> {
    kernel: K,
    coefficients: C,
    biases: C::PerRow<C::Entry>,
}

/// The outputs' values of a [`KernelMachine`], relative to a common scale:
/// `value_o = values[o] exp(log_scale)`.
///
/// With a bias the scale is one unless a kernel value is above one; without a bias it is the largest kernel value, so that a
/// decision on kernels of `10^-1000` is as exact as any
/// other. Either way signs and order are those of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DecisionValues<T, const O: usize> {
    /// `[output]`.
    pub values: [T; O],
    /// Zero where `values` are the outputs' as they are.
    pub log_scale: T,
}

impl<K, T: Real, const M: usize, const O: usize> KernelMachine<K, [[T; M]; O]> {
    /// Creates a machine from `coefficients[output][item]`, `biases[output]`, and checks every number.
    ///
    /// # Errors
    /// Names the first invalid number.
    pub fn new(kernel: K, coefficients: [[T; M]; O], biases: [T; O]) -> Result<Self, KernelError>
    where
        K: Validate,
    {
        let made = Self::from_parts(kernel, coefficients, biases);
        made.validate()?;
        Ok(made)
    }

    /// Creates a machine without checks, in a constant too: [`validate`](Self::validate) checks it.
    pub const fn from_parts(kernel: K, coefficients: [[T; M]; O], biases: [T; O]) -> Self {
        const { assert!(M > 0 && O > 0, "M and O must be at least 1") };
        Self { kernel, coefficients, biases }
    }

    /// Number of classes.
    pub const fn classes(&self) -> usize {
        if O == 1 { 2 } else { O }
    }

    /// The kernel and its stored items.
    pub const fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Coefficients of the kernel values, `[output][item]`.
    pub const fn coefficients(&self) -> &[[T; M]; O] {
        &self.coefficients
    }

    /// Bias of each output, `[output]`.
    pub const fn biases(&self) -> &[T; O] {
        &self.biases
    }

    /// Bytes of flash: its own, and those that its kernel borrows.
    pub fn size_bytes(&self) -> usize
    where
        K: Validate,
    {
        self.kernel.size_bytes() + size_of_val(&self.coefficients) + size_of_val(&self.biases)
    }

    /// Checks every number: the kernel's, coefficients and biases.
    ///
    /// # Errors
    /// The first invalid number.
    pub fn validate(&self) -> Result<(), KernelError>
    where
        K: Validate,
    {
        self.kernel.validate()?;
        check_finite(self.coefficients.iter().map(|row| &row[..]), Part::Coefficient)?;
        Ok(check_finite([&self.biases[..]], Part::Bias)?)
    }

    /// The outputs' values, `[output]`: see the type.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`], of a kernel on scores.
    pub fn decision_values(&self, state: &K::State) -> Result<DecisionValues<T, O>, ScoreOutOfRange>
    where
        K: StoredKernel<M, Real = T>,
    {
        let kernels = self.kernel.read(state)?;
        let rows = self.coefficients.iter().map(|row| &row[..]);
        let mut values = [T::ZERO; O];
        let log_scale =
            expand_kernels(rows, &self.biases, &kernels.values, kernels.log_scale, &mut values);
        Ok(DecisionValues { values, log_scale })
    }
}

impl<K, T, const M: usize, const O: usize> Streaming for KernelMachine<K, [[T; M]; O]>
where
    T: Real,
    K: StoredKernel<M, Real = T>,
{
    type Observation = K::Observation;
    type State = K::State;
    /// The margin is one of [`DecisionValues`], in their scale.
    type Reading = Result<Decision<T>, ScoreOutOfRange>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        self.kernel.initial_state()
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &Self::Observation) -> Result<(), ObservationError> {
        self.kernel.step(state, x)
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.kernel.step_missing(state);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        Ok(decide(&self.decision_values(state)?.values))
    }
}

impl<K, T, const M: usize, const O: usize> Classifier for KernelMachine<K, [[T; M]; O]>
where
    T: Real,
    K: StoredKernel<M, Real = T>,
{
    type Real = T;
    /// Decision values, `[output]`.
    type Evidence = [T; O];
    const FORMAT: NumberFormat = T::FORMAT;

    fn decision(&self, state: &Self::State) -> Result<Decision<T>, ScoreOutOfRange> {
        self.read(state)
    }
    fn evidence(&self, state: &Self::State) -> Result<[T; O], ScoreOutOfRange> {
        Ok(self.decision_values(state)?.values)
    }
    fn classes(&self) -> usize {
        Self::classes(self)
    }
    fn size_bytes(&self) -> usize {
        self.size_bytes()
    }
}

/// The outputs' values of kernels `kernels[item] exp(log_scale)`, over slices: device and host both
/// end here. Writes `values[output]` and returns their log scale, as [`DecisionValues`] has them.
///
/// `coefficients` yields a row `[item]` for each output.
#[inline]
#[doc(hidden)]
pub fn expand_kernels<'c, T: Real>(
    coefficients: impl IntoIterator<Item = &'c [T]>,
    biases: &[T],
    kernels: &[T],
    log_scale: T,
    values: &mut [T],
) -> T {
    let biased = biases.iter().any(|&bias| bias != T::ZERO);
    let (unit, factor, left) = if !biased {
        (T::ONE, T::ONE, log_scale)
    } else if log_scale > T::ZERO {
        ((-log_scale).exp(), T::ONE, log_scale)
    } else {
        (T::ONE, log_scale.exp(), T::ZERO)
    };
    for ((value, row), &bias) in values.iter_mut().zip(coefficients).zip(biases) {
        *value = bias * unit + factor * inner_product(row, kernels);
    }
    left
}

/// Converts logarithms of kernels to values relative to the largest, in place; returns its logarithm.
///
/// Minus infinity, and values of zero, where all kernels are zero. One exponential a kernel.
#[inline]
pub(super) fn relative_to_largest<T: Real>(logs: &mut [T]) -> T {
    let largest = logs.iter().fold(T::NEG_INFINITY, |largest, &log| Real::max(largest, log));
    for log in logs {
        // The difference of two infinities is no number.
        *log = if *log > T::NEG_INFINITY { (*log - largest).exp() } else { T::ZERO };
    }
    largest
}
