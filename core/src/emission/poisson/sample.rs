use rand_core::Rng;

use super::{Count, Poisson};
use crate::emission::Sample;
use crate::emission::sample::uniform;
use crate::number::{Real, RealParameter};

/// Rates up to this are drawn by multiplication.
const BY_MULTIPLICATION: f64 = 16.0;

/// A small rate's counts by multiplying uniform numbers until the product falls below `exp(-rate)`
/// (Knuth): `rate + 1` of them. A larger one's by transformed rejection, in time that does not grow with
/// the rate: on average less than 1.2 pairs of uniform numbers, and seldom logarithms. What would be
/// past `u32::MAX` is drawn as that.
///
/// Source: Hormann, The transformed rejection method for generating Poisson random variables, 1993,
/// algorithm PTRS.
impl<const D: usize, W: RealParameter> Sample for Poisson<D, W> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> [u32; D] {
        let (view, mut x) = (self.view(), [0; D]);
        for (x, (&rate, log_rate)) in x.iter_mut().zip(view.rate.iter().zip(view.log_rate)) {
            *x = if rate <= W::Real::from_f64(BY_MULTIPLICATION) {
                by_multiplication(rate, rng)
            } else {
                by_rejection(rate, log_rate.value(), rng)
            };
        }
        x
    }
}

fn by_multiplication<T: Real, R: Rng + ?Sized>(rate: T, rng: &mut R) -> u32 {
    let bound = (-rate).exp();
    let mut product = uniform::<T, R>(rng);
    let mut x = 0;
    while product > bound {
        x += 1;
        product = product * uniform::<T, R>(rng);
    }
    x
}

fn by_rejection<T: Real, R: Rng + ?Sized>(rate: T, log_rate: T, rng: &mut R) -> u32 {
    let number = T::from_f64;
    let b = number(0.931) + number(2.53) * rate.sqrt();
    let a = number(0.02483) * b - number(0.059);
    let inverse_alpha = number(1.1239) + number(1.1328) / (b - number(3.4));
    let accepted_below = number(0.9277) - number(3.6224) / (b - number(2.0));
    // The count is drawn as what it exceeds a whole number by, whose digits suffice.
    let whole = rate.to_f64() as i64;
    let fraction = number(rate.to_f64() - whole as f64) + number(0.43);
    loop {
        let u = uniform::<T, R>(rng) - T::HALF;
        let v = uniform::<T, R>(rng);
        let left = T::HALF - u.abs();
        if left < number(0.013) && v >= left {
            continue;
        }
        let step = (((a + a) / left + b) * u + fraction).to_f64();
        let below = i64::from((step as i64) as f64 > step);
        let count = whole.saturating_add((step as i64).saturating_sub(below));
        if count < 0 {
            continue;
        }
        let Ok(x) = u32::try_from(count) else { return u32::MAX };
        if left >= number(0.07) && v <= accepted_below {
            return x;
        }
        let count = Count::of(x);
        let density = count.log_likelihood(rate, log_rate) + count.common;
        if (v * inverse_alpha / (a / (left * left) + b)).ln() <= density {
            return x;
        }
    }
}
