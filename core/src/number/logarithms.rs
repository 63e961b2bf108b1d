//! Rows of likelihoods by way of their logarithms, over the reals.

use super::{MIN_LOG_DENSITY_EXP, Number, Parameter, Real, RealParameter, Scalar, Tangent};

/// Returns whether a log density is that of a possible observation: not [too far](MIN_LOG_DENSITY_EXP), not NaN.
#[inline(always)]
pub(crate) fn is_near<T: Real>(log: T) -> bool {
    log >= -T::power_of_two(MIN_LOG_DENSITY_EXP)
}

/// `p^exponent` of a number that is not negative, with a positive exponent: zero stays zero, and the
/// powers 1, 1/2 and 2 are rounded once.
#[inline]
pub fn power<T: Real>(p: T, exponent: T) -> T {
    if exponent == T::ONE || p <= T::ZERO {
        p
    } else if exponent == T::HALF {
        p.sqrt()
    } else if exponent == T::ONE + T::ONE {
        p * p
    } else {
        (exponent * p.ln()).exp()
    }
}

/// Likelihoods relative to the largest: see [`Parameter::likelihoods`](super::Parameter::likelihoods).
#[inline(always)]
pub(super) fn likelihoods<W: RealParameter, const N: usize>(
    mut log: impl FnMut(usize) -> W,
) -> Option<([W; N], W::Real)> {
    let mut likelihood = [W::constant(Real::NEG_INFINITY); N];
    let mut log_scale = W::Real::NEG_INFINITY;
    for j in 0..N {
        likelihood[j] = log(j);
        log_scale = Real::max(log_scale, likelihood[j].value());
    }
    if !is_near(log_scale) {
        return None;
    }
    for log in &mut likelihood {
        *log = log.exp_relative_to(log_scale);
    }
    Some((likelihood, log_scale))
}

/// Products relative to the best of them: see
/// [`Scalar::condition_reachable`](super::Scalar::condition_reachable).
#[inline]
pub(super) fn condition_reachable<X, const N: usize>(
    predicted: &[X; N],
    mut log: impl FnMut(usize) -> X::Weight,
) -> Option<([X; N], X::Real)>
where
    X: Scalar<Weight: RealParameter<Real = <X as Number>::Real>>,
{
    let impossible = X::Weight::constant(X::Real::NEG_INFINITY);
    let mut joint = [impossible; N];
    let mut best = X::Real::NEG_INFINITY;
    for j in 0..N {
        // A state out of reach may be far likelier than those in reach: it takes no part.
        if predicted[j].value() > X::Real::ZERO {
            let log = log(j);
            if is_near(log.value()) {
                joint[j] = logarithm_of_product(predicted[j], log);
                best = Real::max(best, joint[j].value());
            }
        }
    }
    if best == X::Real::NEG_INFINITY {
        return None;
    }
    let mut row = *predicted;
    for j in 0..N {
        row[j] = X::lift(joint[j].exp_relative_to(best));
    }
    Some((row, best))
}

/// `log (predicted b(x))` with its tangent, of a positive value.
fn logarithm_of_product<X>(predicted: X, log_likelihood: X::Weight) -> X::Weight
where
    X: Scalar<Weight: RealParameter<Real = <X as Number>::Real>>,
{
    type RatesOf<W> = <W as Parameter>::Tangent;
    // Not by the reciprocal: that of a subnormal number overflows.
    let rates = RatesOf::<X::Weight>::from_fn(|c| {
        predicted.derivative(c).map_or(X::Real::ZERO, |rate| rate / predicted.value())
    });
    X::Weight::new(
        predicted.value().ln() + log_likelihood.value(),
        rates.plus(log_likelihood.tangent()),
    )
}
