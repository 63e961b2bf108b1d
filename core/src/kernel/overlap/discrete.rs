use super::Affinity;
use crate::number::{Real, power};

/// `log k` of two distributions of a symbol, from their probabilities `[symbol]`:
///
/// ```text
/// log sum_k p_k^rho q_k^rho         log (e^-lambda + (1 - e^-lambda) sum_k p_k q_k)
/// ```
///
/// Work: a multiply-add and a power per symbol, and a logarithm. Sources: those of [`Affinity`]; 2004,
/// section 3.2, and 2010, equation 2.
pub fn categorical_log_overlap<T: Real>(p: &[T], q: &[T], measure: Affinity<T>) -> T {
    match measure {
        Affinity::Product { rho } => log_sum_of_products(p, q, rho),
        // Unit vectors that differ are 2 apart.
        Affinity::MeanMap { lambda } => log_mean_map(p, q, -lambda),
    }
}

/// `log k` of two distributions of yes or no in independent channels, from the probabilities of yes
/// `[channel]`: a channel's are those of two symbols, but that yes and no are 1 apart in the mean map,
/// where two symbols are 2 apart.
///
/// Work: two powers and a logarithm per channel.
pub fn bernoulli_log_overlap<T: Real>(yes: &[T], other: &[T], measure: Affinity<T>) -> T {
    yes.iter().zip(other).fold(T::ZERO, |sum, (&p, &q)| {
        let (p, q) = ([p, T::ONE - p], [q, T::ONE - q]);
        sum + match measure {
            Affinity::Product { rho } => log_sum_of_products(&p, &q, rho),
            Affinity::MeanMap { lambda } => log_mean_map(&p, &q, -T::HALF * lambda),
        }
    })
}

/// `log sum_k (p_k q_k)^rho`. Half of the range of exponents lifts either factor, so that no product of
/// normal numbers vanishes, and none overflows; the lifted ones are relative to a power of two near the
/// largest, so that no square does either.
fn log_sum_of_products<T: Real>(p: &[T], q: &[T], rho: T) -> T {
    let lift = -T::power_of_two(i32::MIN).exponent() / 2;
    let by = T::power_of_two(lift);
    let products = p.iter().zip(q).map(|(&p, &q)| (p * by) * (q * by));
    let best = products.clone().fold(T::ZERO, T::max);
    if best <= T::ZERO {
        return T::NEG_INFINITY;
    }
    let factor = T::power_of_two(-best.exponent());
    let sum = products.fold(T::ZERO, |sum, product| sum + power(product * factor, rho));
    sum.ln() - rho * T::times_ln_2((factor.exponent() + 2 * lift).into())
}

/// `log (m + (1 - m) sum_k p_k q_k)`, from `log m`.
fn log_mean_map<T: Real>(p: &[T], q: &[T], log_mismatch: T) -> T {
    let log_same = log_sum_of_products(p, q, T::ONE);
    if log_same == T::NEG_INFINITY {
        // Where `m` is too small for a number, its logarithm is not.
        return log_mismatch;
    }
    let larger = log_same.max(log_mismatch);
    if larger < -T::power_of_two(6) {
        // Either may be too small for a number; `1 - m` is one.
        let smaller = if larger == log_same { log_mismatch } else { log_same };
        return larger + (T::ONE + (smaller - larger).exp()).ln();
    }
    let mismatch = log_mismatch.exp();
    let same = p.iter().zip(q).fold(T::ZERO, |sum, (&p, &q)| sum + p * q);
    (mismatch + (T::ONE - mismatch) * same).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_too_small_for_a_number_have_their_logarithms() {
        let (p, q) = ([1.0, 1e-30, 0.0_f32], [0.0, 1e-30, 1.0_f32]);
        let wide = |x: [f32; 3]| x.map(f64::from);
        for measure in [
            Affinity::Product { rho: 0.5 },
            Affinity::Product { rho: 1.0 },
            Affinity::Product { rho: 2.0 },
            Affinity::MeanMap { lambda: 3.0 },
            Affinity::MeanMap { lambda: 137.0 },
            Affinity::MeanMap { lambda: 138.5 },
            Affinity::MeanMap { lambda: 300.0 },
        ] {
            let in_double = match measure {
                Affinity::Product { rho } => Affinity::Product { rho: f64::from(rho) },
                Affinity::MeanMap { lambda } => Affinity::MeanMap { lambda: f64::from(lambda) },
            };
            let (narrow, right) = (
                categorical_log_overlap(&p, &q, measure),
                categorical_log_overlap(&wide(p), &wide(q), in_double),
            );
            #[cfg(not(feature = "micromath"))]
            let bound = 1e-6 * right.abs();
            // One exponential inside a logarithm.
            #[cfg(feature = "micromath")]
            let bound = f64::from(crate::number::approximate::EXP_ERROR)
                + f64::from(crate::number::approximate::LN_ERROR);
            assert!((f64::from(narrow) - right).abs() < bound, "{measure:?}: {narrow}, {right}");
        }
        // The least products are e^-138.2 in all, as `m` is near: half of either.
        let even = categorical_log_overlap(
            &p,
            &q,
            Affinity::MeanMap { lambda: 60.0 * core::f32::consts::LN_10 },
        );
        assert!(
            (even + 60.0 * core::f32::consts::LN_10 - core::f32::consts::LN_2).abs() < 1e-4,
            "{even}"
        );
    }
}
