use super::{Automaton, ContextModel};
use crate::emission::Categorical;
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::Real;

/// Markov strings over `K` events in `C` contexts: `p(x_1..T) = prod_t p[c(t)][x_t]`, where the
/// [`Automaton`] says what is a context and where a string begins and ends.
///
/// ```
/// use fishweir_core::context::{Automaton, ContextLikelihood, MarkovString, StringEnd, Unnormalised};
/// use fishweir_core::filter::Stream;
///
/// const fn coin() -> MarkovString<2, 2> {
///     // After each symbol it is likelier to come again.
///     let (Ok(order), Ok(weights)) = (
///         Automaton::order(1, StringEnd::Open),
///         Unnormalised::<2, 2, f32>::new([[3.0, 1.0], [1.0, 3.0]]),
///     ) else {
///         panic!("not a model") // at compile time
///     };
///     MarkovString::new(order, weights.probabilities())
/// }
/// static COIN: MarkovString<2, 2> = coin();
///
/// let mut stream = Stream::new(ContextLikelihood::of(&COIN));
/// stream.push_block(&[0, 0, 1])?;
/// assert_eq!(stream.read(), (0.75_f32 * 0.25).ln()); // the first symbol is a context only
/// # Ok::<(), fishweir_core::filter::BlockError>(())
/// ```
pub type MarkovString<const K: usize, const C: usize, W = f32> =
    ContextModel<Automaton<K, C>, Categorical<K, W>, C>;

/// Unnormalised parameters `a[context][event]` of Markov strings:
/// `p[u][sigma] = a[u][sigma] / sum_rho a[u][rho]`.
///
/// ```text
/// d log p / d a[u][sigma] = n(u sigma) / a[u][sigma] - n(u) / sum_rho a[u][rho]
/// ```
///
/// with `n(u sigma)` the times that `sigma` was predicted in context `u` and came, and
/// `n(u) = sum_sigma n(u sigma)`; an occurrence of `u` after which nothing is predicted does not count.
/// Where `a` sums to one it is the `ratio` score. At the uniform point `a = 1/K` the first term is `K`
/// times the count, and its inner products are `K^2` times the `p`-spectrum kernel's.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, example
/// 12.32.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Unnormalised<const K: usize, const C: usize, T = f32> {
    parameter: [[T; K]; C],
}

macro_rules! const_constructor {
    ($($t:ty),*) => {$(
        impl<const K: usize, const C: usize> Unnormalised<K, C, $t> {
            /// Checks the parameters, `[context][event]`.
            ///
            /// # Errors
            /// The first parameter that is negative or not finite, or context whose parameters sum to
            /// zero or out of range.
            pub const fn new(parameter: [[$t; K]; C]) -> Result<Self, ModelError> {
                let mut context = 0;
                while context < C {
                    let mut event = 0;
                    while event < K {
                        let a = parameter[context][event];
                        if !a.is_finite() {
                            let kind = ErrorKind::NotFinite;
                            return Err(ModelError::new(Part::Probability, kind, context, event));
                        }
                        if a < 0.0 {
                            let kind = ErrorKind::Negative;
                            return Err(ModelError::new(Part::Probability, kind, context, event));
                        }
                        event += 1;
                    }
                    let total = Self { parameter }.total(context);
                    if total < <$t>::MIN_POSITIVE || !total.is_finite() {
                        let kind = ErrorKind::NotPositive;
                        return Err(ModelError::new(Part::Probability, kind, context, 0));
                    }
                    context += 1;
                }
                Ok(Self { parameter })
            }

            /// The probabilities, `[context]`: the parts of a [`MarkovString`].
            pub const fn probabilities(&self) -> [Categorical<K, $t>; C] {
                let mut rows = [Categorical::from_parts([0.0; K]); C];
                let mut context = 0;
                while context < C {
                    let mut row = self.parameter[context];
                    let total = self.total(context);
                    let mut event = 0;
                    while event < K {
                        row[event] /= total;
                        event += 1;
                    }
                    rows[context] = Categorical::from_parts(row);
                    context += 1;
                }
                rows
            }

            const fn total(&self, context: usize) -> $t {
                let (mut total, mut event) = (0.0, 0);
                while event < K {
                    total += self.parameter[context][event];
                    event += 1;
                }
                total
            }
        }
    )*};
}
const_constructor!(f32, f64);

impl<T: Real, const K: usize, const C: usize> Unnormalised<K, C, T> {
    /// The parameters, `[context][event]`.
    pub const fn parameter(&self) -> &[[T; K]; C] {
        &self.parameter
    }

    /// The score with respect to the parameters, from the counts that
    /// [`ContextStatistics`](super::ContextStatistics) reads, `[context][event]`. Where a parameter is
    /// zero, so is its count, and the first term is zero.
    pub fn score(&self, counts: &[[T; K]; C]) -> [[T; K]; C] {
        let mut score = *counts;
        for (score, parameter) in score.iter_mut().zip(&self.parameter) {
            let visits = sum(score) / sum(parameter);
            for (entry, &a) in score.iter_mut().zip(parameter) {
                let own = if a > T::ZERO { *entry / a } else { T::ZERO };
                *entry = own - visits;
            }
        }
        score
    }

    /// A direction with respect to these parameters as one in the `ratio` parametrisation of the
    /// probabilities, for [`ContextModel::with_directions`].
    pub fn direction(&self, direction: &[[T; K]; C]) -> [[T; K]; C] {
        let mut ratio = *direction;
        for (ratio, parameter) in ratio.iter_mut().zip(&self.parameter) {
            let total = sum(parameter);
            for entry in ratio {
                *entry = *entry / total;
            }
        }
        ratio
    }
}

fn sum<T: Real>(row: &[T]) -> T {
    row.iter().fold(T::ZERO, |sum, &entry| sum + entry)
}
