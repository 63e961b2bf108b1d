use rand_core::Rng;

use super::Emission;
use crate::number::{Number, Parameter, Real};

/// An emission family from which observations can be drawn.
///
/// Draws are computed from the generator's bits with [`Real`]'s arithmetic alone, in a fixed order:
/// the same generator draws the same bits on every machine.
///
/// ```
/// use fishweir_core::emission::{Categorical, Sample};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let die = Categorical::<3, f64>::new([0.5, 0.0, 0.5])?;
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let drawn: Vec<usize> = (0..100).map(|_| die.sample(&mut rng)).collect();
/// assert!(drawn.contains(&0) && drawn.contains(&2) && !drawn.contains(&1));
/// # Ok(()) }
/// ```
pub trait Sample: Emission<Observation: Sized> {
    /// Draws one observation.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Self::Observation;
}

/// An index drawn with the given probabilities.
pub(crate) fn choose<W: Parameter, R: Rng + ?Sized>(probability: &[W], rng: &mut R) -> usize {
    choose_part(probability, W::Real::ONE, rng)
}

/// An index drawn in proportion to weights that sum to `whole`, by inversion. One of weight zero is
/// never drawn; others to within the resolution of [`uniform`].
pub(crate) fn choose_part<W: Parameter, R: Rng + ?Sized>(
    weight: &[W],
    whole: W::Real,
    rng: &mut R,
) -> usize {
    let mut left = uniform::<W::Real, R>(rng) * whole;
    let mut last = 0;
    for (k, part) in weight.iter().map(|w| w.value()).enumerate() {
        if left < part {
            return k;
        }
        if part > W::Real::ZERO {
            last = k;
        }
        left = left - part;
    }
    // Rounding may leave a little over.
    last
}

/// Uniform on `[0, 1)`: a multiple of `2^-24` in `f32`, of `2^-53` in `f64`.
pub(crate) fn uniform<T: Real, R: Rng + ?Sized>(rng: &mut R) -> T {
    if size_of::<T>() < size_of::<f64>() {
        T::from_count(u64::from(rng.next_u32() >> 8)) * T::power_of_two(-24)
    } else {
        T::from_count(rng.next_u64() >> 11) * T::power_of_two(-53)
    }
}

/// Two independent standard normal numbers (Marsaglia's polar method): on average 2.55 uniform
/// numbers, one logarithm and one square root. No sine, so no more of libm than a model needs.
pub(crate) fn normal_pair<T: Real, R: Rng + ?Sized>(rng: &mut R) -> [T; 2] {
    loop {
        let u = T::from_f64(2.0) * uniform::<T, R>(rng) - T::ONE;
        let v = T::from_f64(2.0) * uniform::<T, R>(rng) - T::ONE;
        let square = u * u + v * v;
        if square > T::ZERO && square < T::ONE {
            let factor = (-T::from_f64(2.0) * square.ln() / square).sqrt();
            return [u * factor, v * factor];
        }
    }
}
