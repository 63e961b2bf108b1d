use super::Measure;
use crate::number::{Real, power};

/// `log k` of two distributions of a symbol, from their probabilities `[symbol]`:
///
/// ```text
/// log sum_k p_k^rho q_k^rho         log (e^-lambda + (1 - e^-lambda) sum_k p_k q_k)
/// ```
///
/// Work: a multiply-add and a power a symbol, and a logarithm. Sources: those of [`Measure`]; 2004,
/// section 3.2, and 2010, equation 2.
pub fn categorical_log_overlap<T: Real>(p: &[T], q: &[T], measure: Measure<T>) -> T {
    match measure {
        Measure::Product { rho } => log_sum_of_products(p, q, rho),
        // Unit vectors that differ are 2 apart.
        Measure::MeanMap { lambda } => log_mean_map(p, q, -lambda),
    }
}

/// `log k` of two distributions of yes or no in independent channels, from the probabilities of yes
/// `[channel]`: a channel's are those of two symbols, but that yes and no are 1 apart in the mean map,
/// where two symbols are 2 apart.
///
/// Work: two powers and a logarithm a channel.
pub fn bernoulli_log_overlap<T: Real>(yes: &[T], other: &[T], measure: Measure<T>) -> T {
    yes.iter().zip(other).fold(T::ZERO, |sum, (&p, &q)| {
        let (p, q) = ([p, T::ONE - p], [q, T::ONE - q]);
        sum + match measure {
            Measure::Product { rho } => log_sum_of_products(&p, &q, rho),
            Measure::MeanMap { lambda } => log_mean_map(&p, &q, -T::HALF * lambda),
        }
    })
}

/// `log sum_k (p_k q_k)^rho`, the products relative to a power of two near the largest: squares of small
/// ones do not vanish.
fn log_sum_of_products<T: Real>(p: &[T], q: &[T], rho: T) -> T {
    let products = p.iter().zip(q).map(|(&p, &q)| p * q);
    let best = products.clone().fold(T::ZERO, T::max);
    if best <= T::ZERO {
        return T::NEG_INFINITY;
    }
    let factor = T::power_of_two(-best.exponent());
    let sum = products.fold(T::ZERO, |sum, product| sum + power(product * factor, rho));
    sum.ln() - rho * T::times_ln_2(factor.exponent().into())
}

/// `log (m + (1 - m) sum_k p_k q_k)`, from `log m`.
fn log_mean_map<T: Real>(p: &[T], q: &[T], log_mismatch: T) -> T {
    let same = p.iter().zip(q).fold(T::ZERO, |sum, (&p, &q)| sum + p * q);
    if same <= T::ZERO {
        // Where `m` is too small for a number, its logarithm is not.
        return log_mismatch;
    }
    let mismatch = log_mismatch.exp();
    (mismatch + (T::ONE - mismatch) * same).ln()
}
