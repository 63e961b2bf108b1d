use super::Affinity;
use crate::emission::{Emission, PoissonView};
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Real, power};

/// Expected counts, of the two together, up to which the mean map of counts is summed.
pub const MOST_COUNTS: u32 = 1 << 24;

/// Rates up to which powers of densities are summed: counts are of 32 bits.
const LARGEST_RATE: i32 = 31;

/// Largest number of terms of a sum on one side of its largest.
const MOST_TERMS: usize = 1 << 16;

/// `log k` of two distributions of independent counts, from their rates `[channel]`: a sum over channels of
///
/// ```text
/// product    -rho (sqrt l - sqrt l')^2 + log sum_x Poisson(x; sqrt(l l'))^(2 rho)      the sum is 1 at rho = 1/2
/// mean map   log sum_d w_d exp(-lambda/2 d^2) - log sum_d w_d
/// ```
///
/// where `w_d` is proportional to the probability that the counts differ by `d` (Skellam's distribution).
///
/// The first sum goes outward from its largest term; where that is far wider than one count, in steps of a
/// third of its standard deviation, which by Poisson's summation formula changes it by less than `10^-30`.
/// The second goes inward from where nothing is left: ratios of neighbouring `w_d` are a continued
/// fraction of positive terms,
///
/// ```text
/// w_d / w_(d-1) = l / (d + R_(d+1)),   w_-d / w_-(d-1) = l' / (d + R_(d+1)),   R_d = l l' / (d + R_(d+1))
/// ```
///
/// and both sums are nested products of them. No term of either has a sign, so nothing cancels. Work a
/// channel: none but two square roots at `rho` 1/2; else some hundred terms; for the mean map a division
/// and an exponential for each of `|l - l'| + 10 sqrt(l + l') + 30` differences.
///
/// # Errors
/// [`ErrorKind::NotInRange`]: of a rate, where the geometric mean of two is above `2^31` and `rho` is not 1/2, or
/// the sum of two above [`MOST_COUNTS`] in the mean map; of the kernel's parameter, where `rho` is so small
/// that the sum does not end within `2^16` terms.
pub fn poisson_log_overlap<T: Real>(
    rate: &[T],
    other: &[T],
    measure: Affinity<T>,
) -> Result<T, ModelError> {
    let mut log = T::ZERO;
    for (channel, (&own, &other)) in rate.iter().zip(other).enumerate() {
        let not_in_range = |part| ModelError::new(part, ErrorKind::NotInRange, 0, channel);
        log = log
            + match measure {
                Affinity::Product { rho } => {
                    let (a, b) = (own.sqrt(), other.sqrt());
                    -rho * ((a - b) * (a - b))
                        + log_sum_of_powers(a * b, rho + rho).map_err(not_in_range)?
                }
                Affinity::MeanMap { lambda } => {
                    if own + other > T::from_u32(MOST_COUNTS) {
                        return Err(not_in_range(Part::Parameter("rate")));
                    }
                    log_mean_map(own, other, lambda)
                }
            };
    }
    Ok(log)
}

/// `log sum_x Poisson(x; rate)^exponent`.
fn log_sum_of_powers<T: Real>(rate: T, exponent: T) -> Result<T, Part> {
    if exponent == T::ONE || rate <= T::ZERO {
        return Ok(T::ZERO);
    }
    if rate > T::power_of_two(LARGEST_RATE) {
        return Err(Part::Parameter("rate"));
    }
    let log_rate = rate.ln();
    let log_probability = |x: u32| {
        let law = PoissonView { rate: &[rate], log_rate: &[log_rate] };
        exponent * law.log_likelihood(&[x])
    };
    let mode = rate.to_integer() as u32;
    let best = log_probability(mode);
    let mut sum = T::ONE;
    // Ten standard deviations away from the end at zero, and six counts to one of them.
    let deviation = (rate / exponent).sqrt();
    let wide = rate * exponent > T::from_u32(100) && deviation > T::from_u32(6);
    let stride = if wide { (deviation / T::from_u32(3)).to_integer() as u32 } else { 1 };
    if stride > 1 {
        for up in [true, false] {
            for step in 1..64 {
                let reach = stride.saturating_mul(step);
                let at = if up { mode.checked_add(reach) } else { mode.checked_sub(reach) };
                let Some(x) = at else { break };
                sum = sum + (log_probability(x) - best).exp();
            }
        }
        return Ok(best + (sum * T::from_u32(stride)).ln());
    }
    let mut term = T::ONE;
    let mut x = T::from_u32(mode);
    for step in 0.. {
        x = x + T::ONE;
        term = term * power(rate / x, exponent);
        let more = sum + term;
        if more == sum {
            break;
        }
        if step == MOST_TERMS {
            return Err(Part::Kernel);
        }
        sum = more;
    }
    (x, term) = (T::from_u32(mode), T::ONE);
    while x > T::ZERO {
        term = term * power(x / rate, exponent);
        x = x - T::ONE;
        let more = sum + term;
        if more == sum {
            break;
        }
        sum = more;
    }
    Ok(best + sum.ln())
}

/// `1 + r_1 (1 + r_2 (1 + ...))`, built from within: a sum of products of ratios, with a power of two of
/// its own.
#[derive(Clone, Copy)]
struct Nested<T> {
    sum: T,
    unit: T,
    exponent: i64,
}

impl<T: Real> Nested<T> {
    const ONE: Self = Self { sum: T::ONE, unit: T::ONE, exponent: 0 };

    /// `1 + ratio (what there is)`.
    fn within(self, ratio: T) -> Self {
        const POWER: i32 = 60;
        let Self { mut sum, mut unit, mut exponent } = self;
        sum = unit + ratio * sum;
        if sum > T::power_of_two(POWER) {
            let factor = T::power_of_two(-POWER);
            (sum, unit, exponent) = (sum * factor, unit * factor, exponent + i64::from(POWER));
        }
        Self { sum, unit, exponent }
    }

    fn log(self) -> T {
        T::times_ln_2(self.exponent) + self.sum.ln()
    }
}

/// `log (e^a + e^b - 1)`, of which `a` and `b` are not negative.
fn log_of_both<T: Real>(a: T, b: T) -> T {
    let (more, less) = if a > b { (a, b) } else { (b, a) };
    more + (T::ONE + ((less - more).exp() - (-more).exp())).ln()
}

/// `log E exp(-lambda/2 (x - y)^2)` of counts with these rates.
fn log_mean_map<T: Real>(rate: T, other: T, lambda: T) -> T {
    let (sum, product) = (rate + other, rate * other);
    if lambda <= T::ZERO || sum <= T::ZERO {
        return T::ZERO;
    }
    let reach = (rate - other).abs() + T::from_u32(10) * sum.sqrt() + T::from_u32(30);
    let (mut up, mut down) = (Nested::ONE, Nested::ONE);
    let (mut near_up, mut near_down) = (up, down);
    let mut fraction = T::ZERO;
    // Steps are integers: above 2^24 single precision has no d - 1.
    for step in (1..=reach.to_integer() as u32).rev() {
        let d = T::from_u32(step);
        let denominator = d + fraction;
        let (rise, fall) = (rate / denominator, other / denominator);
        fraction = product / denominator;
        // exp(-lambda/2 d^2) over that of d - 1.
        let nearer = (lambda * (T::HALF - d)).exp();
        (up, down) = (up.within(rise), down.within(fall));
        near_up = near_up.within(rise * nearer);
        near_down = near_down.within(fall * nearer);
    }
    log_of_both(near_up.log(), near_down.log()) - log_of_both(up.log(), down.log())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_map_of_as_many_counts_as_may_be_ends() {
        let most = MOST_COUNTS as f32;
        let log = poisson_log_overlap(&[most], &[0.0], Affinity::MeanMap { lambda: 1.0 });
        assert!(log.is_ok_and(|log| log < -1e6), "{log:?}");
    }
}
