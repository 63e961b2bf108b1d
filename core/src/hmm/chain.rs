use core::hint::black_box;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::{ErrorKind, ModelError, Part, check_distribution_within};
use crate::number::{Dual, Number, Parameter, Real, Tangent, VECTORS, array_of, power, sum_of};

/// A Markov chain over `N` states: `initial[state]`, `transition[from][to]`.
///
/// The two verbs of the forward recursion are here, written once for every number.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Chain<W, const N: usize> {
    initial: [W; N],
    transition: [[W; N]; N],
}

macro_rules! const_constructor {
    ($($t:ty),*) => {$(
        impl<const N: usize> Chain<$t, N> {
            /// A chain from its probabilities.
            ///
            /// # Errors
            /// The first probability that is negative or not finite, or row that does not sum to
            /// one.
            pub const fn new(
                initial: [$t; N],
                transition: [[$t; N]; N],
            ) -> Result<Self, ModelError> {
                const fn check<const N: usize>(
                    row: &[$t; N],
                    part: Part,
                    from: usize,
                ) -> Result<(), ModelError> {
                    let mut sum = 0.0;
                    let mut to = 0;
                    while to < N {
                        if !row[to].is_finite() {
                            return Err(ModelError::new(part, ErrorKind::NotFinite, from, to));
                        }
                        if row[to] < 0.0 {
                            return Err(ModelError::new(part, ErrorKind::Negative, from, to));
                        }
                        sum += row[to];
                        to += 1;
                    }
                    if (sum - 1.0).abs() > <$t as Real>::SUM_TOLERANCE {
                        return Err(ModelError::new(part, ErrorKind::SumNotOne, from, 0));
                    }
                    Ok(())
                }
                if let Err(error) = check(&initial, Part::Initial, 0) {
                    return Err(error);
                }
                let mut from = 0;
                while from < N {
                    if let Err(error) = check(&transition[from], Part::Transition, from) {
                        return Err(error);
                    }
                    from += 1;
                }
                Ok(Self { initial, transition })
            }
        }
    )*};
}
const_constructor!(f32, f64);

impl<W, const N: usize> Chain<W, N> {
    /// A chain from numbers already checked, as an export writes them;
    /// [`validate`](Chain::validate) checks them again.
    pub const fn from_parts(initial: [W; N], transition: [[W; N]; N]) -> Self {
        Self { initial, transition }
    }

    /// The initial distribution, `[state]`.
    pub const fn initial(&self) -> &[W; N] {
        &self.initial
    }

    /// The transition probabilities, `[from][to]`.
    pub const fn transition(&self) -> &[[W; N]; N] {
        &self.transition
    }
}

impl<W: Parameter, const N: usize> Chain<W, N> {
    /// Checks every distribution of the chain.
    ///
    /// # Errors
    /// Names the first number that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        let check = |row: &[W; N], part, from| {
            check_distribution_within(W::ROW_TOLERANCE, row.iter().map(|p| p.value()), part, from)
        };
        check(&self.initial, Part::Initial, 0)?;
        for (from, row) in self.transition.iter().enumerate() {
            check(row, Part::Transition, from)?;
        }
        for (row, weights) in core::iter::once(&self.initial).chain(&self.transition).enumerate() {
            if !W::fits(weights.iter().copied()) {
                return Err(ModelError::new(Part::Tangent, ErrorKind::OutOfRange, row, 0));
            }
            for (entry, weight) in weights.iter().enumerate() {
                if !weight.tangent().is_finite() {
                    return Err(ModelError::new(Part::Tangent, ErrorKind::NotFinite, row, entry));
                }
            }
        }
        Ok(())
    }

    /// The row before the first observation: the initial distribution.
    #[inline(always)]
    pub fn begin<X: Number<Weight = W>>(&self) -> [X; N] {
        array_of(X::ZERO, |j| X::lift(self.initial[j]))
    }

    /// One step of the chain: `p_j = sum_i a_i A_ij`. `N^2` multiply-adds.
    #[inline(always)]
    pub fn predict<X: Number<Weight = W>>(&self, filtered: &[X; N]) -> [X; N] {
        if VECTORS && X::TERM_BY_TERM {
            return self.predict_by_rows(filtered);
        }
        // Every entry is overwritten: a copy spares the call that fills with zeros.
        let mut predicted = *filtered;
        for (j, predicted) in predicted.iter_mut().enumerate() {
            // Indices that are checked without a panic: where multiplication is a call, the compiler
            // leaves this a function of its own, and cannot prove them.
            let weight = |i: usize| self.transition.get(i).and_then(|row| row.get(j));
            *predicted = if X::TERM_BY_TERM {
                sum_of::<X, N>(|i| match (filtered.get(i), weight(i)) {
                    (Some(a), Some(&weight)) => a.mul_weight(weight),
                    _ => X::ZERO,
                })
            } else {
                X::inner(filtered, |i| weight(i).copied())
            };
        }
        predicted
    }

    /// [`predict`](Self::predict), term by term the same, in the order that fills vector registers.
    #[inline(always)]
    fn predict_by_rows<X: Number<Weight = W>>(&self, filtered: &[X; N]) -> [X; N] {
        let a = &self.transition;
        sum_of_rows::<X, N, N>(|i, j| filtered[i].mul_weight(a[i][j]))
    }

    /// One step of the chain, `[state]`, for every `[other]`, which stays: `p_jm = sum_i a_im A_ij`,
    /// term by term [`predict`](Self::predict) of every column. `N^2 M` multiply-adds.
    #[inline(always)]
    pub(crate) fn predict_joint<X: Number<Weight = W>, const M: usize>(
        &self,
        joint: &[[X; M]; N],
    ) -> [[X; M]; N] {
        let mut predicted = [[X::ZERO; M]; N];
        // A loop that compilers cannot unroll: they would gather entries of several rows, at twice the time.
        for (j, predicted) in predicted.iter_mut().enumerate().take(black_box(N)) {
            if VECTORS && X::TERM_BY_TERM {
                *predicted =
                    sum_of_rows::<X, N, M>(|i, m| joint[i][m].mul_weight(self.transition[i][j]));
                continue;
            }
            let weight = |i: usize| self.transition.get(i).and_then(|row| row.get(j));
            for (m, predicted) in predicted.iter_mut().enumerate() {
                *predicted = sum_of::<X, N>(|i| {
                    match (joint.get(i).and_then(|row| row.get(m)), weight(i)) {
                        (Some(a), Some(&weight)) => a.mul_weight(weight),
                        _ => X::ZERO,
                    }
                });
            }
        }
        predicted
    }

    /// One step back: `beta_i = sum_j A_ij v_j`, where `v_j = b_j(x) beta'_j`. `N^2` multiply-adds.
    #[inline(always)]
    pub fn backward<X: Number<Weight = W>>(&self, weighted: &[X; N]) -> [X; N] {
        backward(&self.transition, weighted)
    }
}

/// Sums over `N` rows, each as `sum_of` makes it, in the order that fills vector registers.
#[inline(always)]
fn sum_of_rows<X: Number, const N: usize, const M: usize>(
    term: impl Fn(usize, usize) -> X,
) -> [X; M] {
    let mut sums = [X::ZERO; M];
    let mut i = 0;
    while i < N {
        for j in 0..M {
            let block = match N - i {
                1 => term(i, j),
                2 => term(i, j).plus(term(i + 1, j)),
                3 => term(i, j).plus(term(i + 1, j)).plus(term(i + 2, j)),
                _ => {
                    let pairs = term(i, j).plus(term(i + 1, j));
                    pairs.plus(term(i + 2, j).plus(term(i + 3, j)))
                }
            };
            sums[j] = if i == 0 { block } else { sums[j].plus(block) };
        }
        i += 4;
    }
    sums
}

/// `beta_i = sum_j A_ij v_j`: what a chain's step back and a tree's edge have in common.
#[inline(always)]
pub(crate) fn backward<X: Number, const N: usize>(
    transition: &[[X::Weight; N]; N],
    weighted: &[X; N],
) -> [X; N] {
    let mut beta = [X::ZERO; N];
    for i in 0..N {
        let row = &transition[i];
        beta[i] = sum_of::<X, N>(|j| weighted[j].mul_weight(row[j]));
    }
    beta
}

impl<T: Real, const N: usize> Chain<T, N> {
    /// Every probability raised to a power above zero, for the product kernel between models
    /// ([`kernel::ModelPairKernel`](crate::kernel::ModelPairKernel)). Rows no longer sum to one, and must not be
    /// [validated](Self::validate); zeros stay zeros.
    #[must_use]
    pub fn powered(&self, exponent: T) -> Self {
        let row = |row: &[T; N]| array_of(exponent, |j| power(row[j], exponent));
        let initial = row(&self.initial);
        Self { initial, transition: array_of(initial, |i| row(&self.transition[i])) }
    }

    /// Checks that all entries are finite and not negative; rows may have any sum.
    ///
    /// # Errors
    /// Names the first invalid entry.
    pub(crate) fn check_entries(&self) -> Result<(), ModelError> {
        let rows = core::iter::once((Part::Initial, 0, &self.initial));
        let transition = self.transition.iter().enumerate();
        let rows = rows.chain(transition.map(|(from, row)| (Part::Transition, from, row)));
        for (part, from, row) in rows {
            for (to, &entry) in row.iter().enumerate() {
                if !entry.is_finite() {
                    return Err(ModelError::new(part, ErrorKind::NotFinite, from, to));
                }
                if entry < T::ZERO {
                    return Err(ModelError::new(part, ErrorKind::Negative, from, to));
                }
            }
        }
        Ok(())
    }

    /// Attaches `C` directions, given as rates of change of the logits of each row, `initial` as
    /// `[direction][state]` and `transition` as `[direction][from][to]`:
    /// `dA_ij = A_ij (w_ij - sum_k A_ik w_ik)`. A probability of zero stays zero.
    pub fn along_logits<const C: usize>(
        &self,
        initial: &[[T; N]; C],
        transition: &[[[T; N]; N]; C],
    ) -> Chain<Dual<T, C>, N> {
        let attach = |row: &[T; N], direction: &dyn Fn(usize, usize) -> T| {
            let mean: [T; C] = core::array::from_fn(|c| {
                row.iter().enumerate().fold(T::ZERO, |sum, (j, &p)| sum + p * direction(c, j))
            });
            core::array::from_fn(|j| Dual {
                value: row[j],
                tangent: core::array::from_fn(|c| row[j] * (direction(c, j) - mean[c])),
            })
        };
        Chain {
            initial: attach(&self.initial, &|c, j| initial[c][j]),
            transition: core::array::from_fn(|i| {
                attach(&self.transition[i], &|c, j| transition[c][i][j])
            }),
        }
    }
}
