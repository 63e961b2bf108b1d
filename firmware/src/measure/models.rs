//! Dense models and streams to measure with: every probability positive, no two rows alike.

use fishweir_core::dynamics::Parameters;
use fishweir_core::emission::{
    Bernoulli, Categorical, CategoricalQ15, ChannelQ15, FullGaussian, Gaussian, GaussianQ15,
    Mixture, Poisson, VectorSpace,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Dual, FineQ15, Q15, Real, Table};
use fishweir_core::profile_hmm::{Flanks, ProfileHmm, Steps};
use fishweir_core::spot::{BACKGROUND, Spotter};
use fishweir_core::{ModelError, emission::SufficientStatistics};

/// Symbols of the categorical models.
pub(super) const SYMBOLS: usize = 16;
/// Channels of the others.
pub(super) const CHANNELS: usize = 3;
/// Samples of a stream.
pub(super) const SAMPLES: usize = 1024;

/// A row of probabilities, another one for every `row`.
const fn probabilities<const L: usize>(row: usize) -> [f32; L] {
    let mut weights = [0.0; L];
    let mut sum = 0.0;
    let mut i = 0;
    while i < L {
        weights[i] = (1 + (7 * row + 5 * i + 3 * row * i) % 11) as f32;
        sum += weights[i];
        i += 1;
    }
    i = 0;
    while i < L {
        weights[i] /= sum;
        i += 1;
    }
    weights
}

const fn chain<const N: usize>() -> Chain<f32, N> {
    let mut transition = [[0.0; N]; N];
    let mut i = 0;
    while i < N {
        transition[i] = probabilities(i);
        i += 1;
    }
    Chain::from_parts(probabilities(N), transition)
}

pub(super) const fn categorical<const K: usize, const N: usize>() -> Hmm<Categorical<K>, N> {
    let mut emission = [Categorical::from_parts([0.0; K]); N];
    let mut i = 0;
    while i < N {
        emission[i] = Categorical::from_parts(probabilities(i + 1));
        i += 1;
    }
    Hmm::new(chain(), emission)
}

pub(super) static CATEGORICAL_2: Hmm<Categorical<SYMBOLS>, 2> = categorical();
pub(super) static CATEGORICAL_4: Hmm<Categorical<SYMBOLS>, 4> = categorical();
pub(super) static CATEGORICAL_8: Hmm<Categorical<SYMBOLS>, 8> = categorical();

/// Two classes of two states each, and four of the background. Its network is dense, unlike a joined one.
pub(super) static SPOTTER_8: Spotter<Categorical<SYMBOLS>, 8, 4, 4> = Spotter::from_parts(
    categorical(),
    chain(),
    [BACKGROUND, BACKGROUND, BACKGROUND, BACKGROUND, 0, 0, 1, 1],
    64,
);

/// A row of probabilities in fixed point, which sums to one, and rates of change; no two alike.
const fn table<const L: usize, const C: usize>(row: usize) -> [Dual<Q15, C>; L] {
    let probabilities = probabilities::<L>(row);
    let mut table = [Dual { value: Q15::ZERO, tangent: [Q15::ZERO; C] }; L];
    let mut left = Q15::ONE.0;
    let mut i = 0;
    while i < L {
        let units = (probabilities[i] * 32_768.0) as u16;
        table[i].value = Q15(units);
        table[i].tangent = [Q15::from_rate(110 * ((7 * i + 3 * row) % 11) as i16 - 500); C];
        left -= units;
        i += 1;
    }
    table[0].value.0 += left;
    table
}

const fn table_chain<const N: usize, const C: usize>() -> Chain<Dual<Q15, C>, N> {
    let mut transition = [table(0); N];
    let mut i = 0;
    while i < N {
        transition[i] = table(i);
        i += 1;
    }
    Chain::from_parts(table(N), transition)
}

/// Chain with exponents, two in three of them not zero.
fn fine_chain<const N: usize, const C: usize>() -> Chain<FineQ15<C>, N> {
    let chain = table_chain::<N, C>();
    let fine = |row: [Dual<Q15, C>; N]| {
        let mut fine = [<FineQ15<C> as Table<C>>::ZERO; N];
        for (i, (fine, mut weight)) in fine.iter_mut().zip(row).enumerate() {
            // The same numbers: what is below a half has a digit to spare.
            let spare = i % 3 > 0 && weight.value.0 <= Q15::ONE.0 / 2;
            weight.value.0 <<= u16::from(spare);
            weight.tangent = weight.tangent.map(|rate| Q15(rate.0 << u16::from(spare)));
            *fine = FineQ15 { weight, exponent: spare.into() };
        }
        fine
    };
    Chain::from_parts(fine(*chain.initial()), chain.transition().map(fine))
}

/// [`categorical`] in fixed point, with directions.
pub(super) const fn categorical_q15<const K: usize, const N: usize, const C: usize>()
-> Hmm<CategoricalQ15<K, C>, N> {
    let mut emission = [CategoricalQ15::from_parts(table(0), [0; K], [0; C]); N];
    let mut i = 0;
    while i < N {
        emission[i] = CategoricalQ15::from_parts(table(i + 1), [0; K], [0; C]);
        i += 1;
    }
    Hmm::new(table_chain(), emission)
}

/// [`gaussian`] in fixed point, 1024 units to one, with directions.
pub(super) fn gaussian_q15<const D: usize, const C: usize>()
-> Result<Hmm<GaussianQ15<D, C>, 4>, ModelError> {
    let state = |at: f64| -> Result<GaussianQ15<D, C>, ModelError> {
        let (means, variances) = ([at, 0.5 - at, 0.2], [1.0, 0.5 + at, 2.0]);
        let mut channel = [ChannelQ15::default(); D];
        for (d, channel) in channel.iter_mut().enumerate() {
            let (mean, variance) = (means[d % 3], variances[d % 3]);
            *channel =
                ChannelQ15::new(1024.0 * mean, 1024.0 * f64::from(Real::sqrt(variance as f32)), d)?;
        }
        let constant = -(D as i32) * (3 << 15);
        let (linear, quadratic) = ([[700; C]; D], [[-500; C]; D]);
        Ok(GaussianQ15::from_parts(channel, constant, [900; C], linear, quadratic, [0; C]))
    };
    Ok(Hmm::new(fine_chain(), [state(0.0)?, state(0.3)?, state(0.6)?, state(0.9)?]))
}

/// A model of four states from the emission of each.
fn four<E: SufficientStatistics<Real = f32>>(
    emission: impl Fn(f32) -> Result<E, ModelError>,
) -> Result<Hmm<E, 4>, ModelError> {
    Ok(Hmm::new(chain(), [emission(0.0)?, emission(0.3)?, emission(0.6)?, emission(0.9)?]))
}

fn component<const D: usize>(at: f32) -> Result<Gaussian<D>, ModelError> {
    let (means, variances) = ([at, 0.5 - at, 0.2], [1.0, 0.5 + at, 2.0]);
    Gaussian::new(
        core::array::from_fn(|d| means[d % 3]),
        core::array::from_fn(|d| variances[d % 3]),
    )
}

/// A linear dynamical system without a zero: two slow rotations, each seen by all channels.
pub(super) const fn system() -> Parameters<f32, 4, CHANNELS> {
    Parameters {
        initial_mean: [0.5, -0.25, 0.125, 0.75],
        initial_covariance: [
            [1.0, 0.1, 0.2, 0.1],
            [0.1, 1.0, 0.1, 0.2],
            [0.2, 0.1, 1.0, 0.1],
            [0.1, 0.2, 0.1, 1.0],
        ],
        transition: [
            [0.9, 0.1, 0.05, 0.01],
            [-0.1, 0.9, 0.01, 0.05],
            [0.02, 0.01, 0.8, 0.2],
            [0.01, 0.03, -0.2, 0.8],
        ],
        state_noise: [
            [0.1, 0.01, 0.02, 0.01],
            [0.01, 0.2, 0.01, 0.01],
            [0.02, 0.01, 0.15, 0.03],
            [0.01, 0.01, 0.03, 0.1],
        ],
        observation: [[1.0, 0.5, 0.2, -0.3], [0.1, 1.0, 0.4, 0.6], [-0.2, 0.3, 1.0, 0.7]],
        observation_noise: [[0.5, 0.1, 0.02], [0.1, 0.4, 0.05], [0.02, 0.05, 0.3]],
    }
}

/// A direction in transition and observation.
pub(super) const fn system_direction() -> Parameters<f32, 4, CHANNELS> {
    let mut direction = Parameters::ZERO;
    direction.transition = [[0.5, -0.25, 0.125, 0.25]; 4];
    direction.observation = [[0.25, 0.5, -0.5, 0.125]; CHANNELS];
    direction
}

pub(super) fn gaussian<const D: usize>() -> Result<Hmm<Gaussian<D>, 4>, ModelError> {
    four(component)
}

pub(super) fn full_gaussian() -> Result<Hmm<FullGaussian<CHANNELS>, 4>, ModelError> {
    let covariance = [[1.0, 0.2, 0.1], [0.2, 1.5, 0.3], [0.1, 0.3, 2.0]];
    four(|at| FullGaussian::new([at, 0.5 - at, 0.2], covariance))
}

pub(super) fn mixture() -> Result<Hmm<Mixture<Gaussian<CHANNELS>, 2>, 4>, ModelError> {
    four(|at| Mixture::new([0.25, 0.75], [component(at)?, component(1.0 - at)?]))
}

pub(super) fn poisson() -> Result<Hmm<Poisson<CHANNELS>, 4>, ModelError> {
    four(|at| Poisson::new([1.0 + at, 2.0 - at, 0.5]))
}

pub(super) fn bernoulli() -> Result<Hmm<Bernoulli<CHANNELS>, 4>, ModelError> {
    four(|at| Bernoulli::<CHANNELS>::new([0.05 + at, 0.95 - at, 0.5]))
}

/// A direction with no entry zero.
pub(super) fn direction<S: VectorSpace<f32>>() -> S {
    let mut direction = S::ZERO;
    let mut k = 0_u16;
    direction.for_each_mut(|entry| {
        *entry = 0.1 * (f32::from(k * 7 % 11) - 4.5);
        k += 1;
    });
    direction
}

const fn bits() -> [u32; SAMPLES] {
    let mut bits = [0; SAMPLES];
    let mut state = 1_u32;
    let mut t = 0;
    while t < SAMPLES {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bits[t] = state >> 8;
        t += 1;
    }
    bits
}

/// Symbols below `K`, all alike probable.
pub(super) const fn symbols<const K: usize>() -> [usize; SAMPLES] {
    let (bits, mut stream) = (bits(), [0; SAMPLES]);
    let mut t = 0;
    while t < SAMPLES {
        stream[t] = (bits[t] >> 12) as usize % K;
        t += 1;
    }
    stream
}

/// A profile of `K` positions over `A` symbols whose weights are of a type, made of numbers.
macro_rules! profile {
    ($name:ident, $weight:ty, |$value:ident| $made:expr) => {
        pub(super) const fn $name<const K: usize, const A: usize>() -> ProfileHmm<$weight, K, A> {
            const fn weight($value: f32) -> $weight {
                $made
            }
            const fn weights<const L: usize>(values: [f32; L]) -> [$weight; L] {
                let mut weights = [weight(0.0); L];
                let mut i = 0;
                while i < L {
                    weights[i] = weight(values[i]);
                    i += 1;
                }
                weights
            }
            let mut odds = [[weight(0.0); K]; A];
            let mut symbol = 0;
            while symbol < A {
                let mut position = 0;
                while position < K {
                    let step = (7 * symbol + 5 * position + 3 * symbol * position) % 11;
                    odds[symbol][position] = weight((1 + step) as f32 / 6.0);
                    position += 1;
                }
                symbol += 1;
            }
            let steps = [0.1, 0.9, 0.06, 0.04, 0.6, 0.4, 0.7, 0.3, 1.0];
            let flanks = [0.95, 0.05, 0.5, 0.5, 1.0, 1.0];
            let steps = [Steps::from_array(weights(steps)); K];
            ProfileHmm::from_parts(odds, steps, Flanks::from_array(weights(flanks)))
        }
    };
}
profile!(profile, f32, |value| value);
// Along one direction, in which every weight changes.
profile!(profile_along, Dual<f32, 1>, |value| Dual { value, tangent: [0.125] });

pub(super) static SYMBOL_STREAM: [usize; SAMPLES] = symbols::<SYMBOLS>();

/// Vectors between -2 and 2. At most six channels: there are 24 bits.
pub(super) const fn vectors<const D: usize>() -> [[f32; D]; SAMPLES] {
    let (bits, mut stream) = (bits(), [[0.0; D]; SAMPLES]);
    let mut t = 0;
    while t < SAMPLES {
        let mut d = 0;
        while d < D {
            stream[t][d] = ((bits[t] >> (2 * d)) % 4096) as f32 / 1024.0 - 2.0;
            d += 1;
        }
        t += 1;
    }
    stream
}

/// [`vectors`] in fixed point, 1024 units to one.
pub(super) const fn integers<const D: usize>() -> [[i16; D]; SAMPLES] {
    let (bits, mut stream) = (bits(), [[0; D]; SAMPLES]);
    let mut t = 0;
    while t < SAMPLES {
        let mut d = 0;
        while d < D {
            stream[t][d] = ((bits[t] >> (2 * d)) % 4096) as i16 - 2048;
            d += 1;
        }
        t += 1;
    }
    stream
}

pub(super) static VECTOR_STREAM: [[f32; CHANNELS]; SAMPLES] = vectors();

/// Counts from 0 to 3.
pub(super) static COUNT_STREAM: [[u32; CHANNELS]; SAMPLES] = {
    let (bits, mut stream) = (bits(), [[0; CHANNELS]; SAMPLES]);
    let mut t = 0;
    while t < SAMPLES {
        stream[t] = [bits[t] >> 16 & 3, bits[t] >> 12 & 3, bits[t] >> 8 & 3];
        t += 1;
    }
    stream
};

/// Yes or no.
pub(super) static BOOL_STREAM: [[bool; CHANNELS]; SAMPLES] = {
    let (bits, mut stream) = (bits(), [[false; CHANNELS]; SAMPLES]);
    let mut t = 0;
    while t < SAMPLES {
        stream[t] = [bits[t] >> 16 & 1 == 1, bits[t] >> 12 & 1 == 1, bits[t] >> 8 & 1 == 1];
        t += 1;
    }
    stream
};
