mod poisson;

use rand_core::Rng;

use super::{Bernoulli, Categorical, Emission, FullGaussian, Gaussian, Mixture};
use crate::matrix::solve;
use crate::number::{Number, Parameter, Real, Weight};

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

/// A symbol by inversion: one uniform number, at most `K` subtractions.
impl<const K: usize, W: Weight> Sample for Categorical<K, W> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        choose(self.probability(), rng)
    }
}

/// `x_d = mean_d + z_d / rate_d` with independent standard normal `z_d`.
impl<const D: usize, W: Weight> Sample for Gaussian<D, W> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> [W::Real; D] {
        let mut x = *self.mean();
        let pairs = x.chunks_mut(2).zip(self.rate().chunks(2));
        for (x, rate) in pairs {
            let normal: [W::Real; 2] = normal_pair(rng);
            for ((x, &rate), normal) in x.iter_mut().zip(rate).zip(normal) {
                *x = *x + normal / rate;
            }
        }
        x
    }
}

/// `x = mean + S z` with independent standard normal `z`.
impl<const D: usize, W: Weight> Sample for FullGaussian<D, W> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> [W::Real; D] {
        let mut x = [W::Real::ZERO; D];
        for pair in x.chunks_mut(2) {
            let normal: [W::Real; 2] = normal_pair(rng);
            for (x, normal) in pair.iter_mut().zip(normal) {
                *x = normal;
            }
        }
        solve(self.factor().as_flattened(), D, &mut x);
        for (x, &mean) in x.iter_mut().zip(self.mean()) {
            *x = *x + mean;
        }
        x
    }
}

/// A uniform number a channel.
impl<const D: usize, W: Weight> Sample for Bernoulli<D, W> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> [bool; D] {
        let mut x = [false; D];
        for (x, p) in x.iter_mut().zip(self.view().yes) {
            *x = uniform::<W::Real, R>(rng) < p.value();
        }
        x
    }
}

/// A component drawn with the weights, and an observation from it.
impl<E: Sample<Weight: Weight>, const M: usize> Sample for Mixture<E, M> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> E::Observation {
        // `choose` names one of the M components; the first stands in to prove that to the compiler.
        let m = choose(self.weight(), rng);
        const { assert!(M > 0, "a mixture needs a component") };
        self.component().get(m).unwrap_or(&self.component()[0]).sample(rng)
    }
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
