//! The models under test, one of each family and shape, and what is drawn at random for them.

use fishweir_tests::checks;
use std::convert::Infallible;

use fishweir_core::emission::{
    Autoregressive, Bernoulli, Categorical, FullGaussian, Gaussian, Marginal, Mixture,
    Parametrisation, Poisson, Sample, Spread, SufficientStatistics, VectorSpace,
};
use fishweir_core::filter::{ExpectedStatistics, Forward, Statistics, Stream, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::rand_core::TryRng;
use fishweir_core::score::StatisticsOf;

/// Every parametrisation.
pub(crate) const PARAMETRISATIONS: [Parametrisation; 4] = [
    Parametrisation::RATIO,
    Parametrisation::SOFTMAX,
    Parametrisation::RATIO.with_spread(Spread::LogStandardDeviation),
    Parametrisation::SOFTMAX.with_spread(Spread::Variance),
];

/// A reproducible source of bits (SplitMix64).
pub(crate) struct Bits(pub(crate) u64);

impl TryRng for Bits {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ok(z ^ (z >> 31))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

impl Bits {
    /// Uniform on `[low, high)`.
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let Ok(word) = self.try_next_u64();
        low + (high - low) * (word >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A value with entries in `[-1, 1)`.
    pub(crate) fn direction<S: VectorSpace<f64>>(&mut self) -> S {
        let mut direction = S::ZERO;
        direction.for_each_mut(|entry| *entry = self.uniform(-1.0, 1.0));
        direction
    }
}

pub(crate) const ERGODIC: [[f64; 3]; 3] = [[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.1, 0.3, 0.6]];
pub(crate) const LEFT_TO_RIGHT: [[f64; 3]; 3] = [[0.6, 0.4, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.0]];

fn with<E: SufficientStatistics<Real = f64>>(
    initial: [f64; 3],
    transition: [[f64; 3]; 3],
    emission: [E; 3],
) -> Hmm<E, 3> {
    Hmm::new(Chain::<f64, 3>::new(initial, transition).expect("a chain"), emission)
}

fn ergodic<E: SufficientStatistics<Real = f64>>(emission: [E; 3]) -> Hmm<E, 3> {
    with([0.5, 0.3, 0.2], ERGODIC, emission)
}

fn left_to_right<E: SufficientStatistics<Real = f64>>(emission: [E; 3]) -> Hmm<E, 3> {
    with([1.0, 0.0, 0.0], LEFT_TO_RIGHT, emission)
}

pub(crate) fn categorical() -> [Categorical<4, f64>; 3] {
    [[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.1, 0.7], [0.25, 0.5, 0.125, 0.125]]
        .map(|p| Categorical::<4, f64>::new(p).expect("a distribution"))
}

pub(crate) fn gaussian() -> [Gaussian<2, f64>; 3] {
    [([0.0, 1.0], [1.0, 0.25]), ([2.0, -1.0], [0.5, 2.0]), ([-1.5, 0.5], [0.1, 1.0])]
        .map(|(mean, variance)| Gaussian::<2, f64>::new(mean, variance).expect("a distribution"))
}

/// Two channels, each predicted from its own two samples before.
pub(crate) fn autoregressive() -> [Autoregressive<6, 2, 2, f64>; 3] {
    let coefficient =
        [[[1.2, 0.0], [-0.5, 0.25]], [[0.0, 0.7], [0.0, 0.0]], [[-0.6, 2.0], [0.2, -1.0]]];
    std::array::from_fn(|i| {
        Autoregressive::new(gaussian()[i], [0.5, -2.0], coefficient[i]).expect("a distribution")
    })
}

pub(crate) fn full() -> [FullGaussian<3, f64>; 3] {
    [
        ([0.0, 1.0, -1.0], [[1.0, 0.5, 0.2], [0.5, 0.75, -0.25], [0.2, -0.25, 2.0]]),
        ([2.0, 0.0, 1.0], [[0.5, 0.0, 0.1], [0.0, 1.5, 0.5], [0.1, 0.5, 0.5]]),
        ([-1.0, -1.0, 0.0], [[2.0, -1.5, 0.0], [-1.5, 1.5, 0.25], [0.0, 0.25, 1.0]]),
    ]
    .map(|(mean, covariance)| FullGaussian::new(mean, covariance).expect("a distribution"))
}

pub(crate) fn poisson() -> [Poisson<2, f64>; 3] {
    [[0.5, 20.0], [4.0, 1.0], [40.0, 0.125]].map(|rate| Poisson::new(rate).expect("rates"))
}

pub(crate) fn bernoulli() -> [Bernoulli<3, f64>; 3] {
    [[0.5, 0.1, 0.9], [0.25, 0.75, 0.5], [0.01, 0.6, 0.3]]
        .map(|p| Bernoulli::<3, f64>::new(p).expect("probabilities"))
}

/// Each state's mixture of a state's distribution and the next one's.
pub(crate) fn mixed<E: SufficientStatistics<Real = f64>>(of: [E; 3]) -> [Mixture<E, 2>; 3] {
    std::array::from_fn(|i| {
        let weight = [0.625, 0.375];
        Mixture::new(weight, [of[i], of[(i + 1) % 3]]).expect("a mixture")
    })
}

/// What is done with every model.
pub(crate) trait Visit {
    fn visit<E, const N: usize>(&mut self, name: &str, hmm: &Hmm<E, N>)
    where
        E: super::displace::Displace + Sample;
}

/// Shows every model to a visitor.
pub(crate) fn visit_all(visitor: &mut impl Visit) {
    visitor.visit("categorical", &ergodic(categorical()));
    visitor.visit("categorical, left to right", &left_to_right(categorical()));
    visitor.visit("gaussian", &ergodic(gaussian()));
    visitor.visit("gaussian, left to right", &left_to_right(gaussian()));
    visitor.visit("full gaussian", &ergodic(full()));
    visitor.visit("autoregressive", &ergodic(autoregressive()));
    visitor.visit("autoregressive, left to right", &left_to_right(autoregressive()));
    visitor.visit("poisson", &ergodic(poisson()));
    visitor.visit("bernoulli", &ergodic(bernoulli()));
    visitor.visit("bernoulli, left to right", &left_to_right(bernoulli()));
    visitor.visit("mixture of categorical", &ergodic(mixed(categorical())));
    visitor.visit("mixture of gaussian", &ergodic(mixed(gaussian())));
    visitor.visit("mixture of autoregressive", &ergodic(mixed(autoregressive())));
    visitor.visit("mixture of full gaussian", &left_to_right(mixed(full())));
    visitor.visit("mixture of poisson", &ergodic(mixed(poisson())));
    visitor.visit("mixture of bernoulli", &ergodic(mixed(bernoulli())));
    visitor.visit("mixture of mixtures", &ergodic(mixed(mixed(gaussian()))));
    visitor.visit("gaussian in part", &ergodic(gaussian().map(Marginal::new)));
    visitor.visit("gaussian in part, left to right", &left_to_right(gaussian().map(Marginal::new)));
    visitor.visit("full gaussian in part", &ergodic(full().map(Marginal::new)));
    visitor.visit("autoregressive in part", &ergodic(autoregressive().map(Marginal::new)));
    visitor.visit("poisson in part", &ergodic(poisson().map(Marginal::new)));
    visitor.visit("bernoulli in part", &ergodic(bernoulli().map(Marginal::new)));
    visitor.visit("mixture of gaussian in part", &ergodic(mixed(gaussian().map(Marginal::new))));
    visitor.visit("mixture of full gaussian in part", &ergodic(mixed(full().map(Marginal::new))));
    visitor.visit("mixture of poisson in part", &ergodic(mixed(poisson().map(Marginal::new))));
}

/// Observations that the model's states have made in turn, one of them missing: all states have
/// emissions without zeros, so a model of any topology can make them in this order.
pub(crate) fn sequence<E, const N: usize>(
    hmm: &Hmm<E, N>,
    length: usize,
) -> Vec<Option<E::Observation>>
where
    E: Sample + super::displace::Displace,
{
    let mut bits = Bits(length as u64);
    (0..length)
        .map(|t| {
            let state = (t * N / length).min(N - 1);
            (t != length / 2).then(|| {
                let x = hmm.emission()[state].sample(&mut bits);
                E::in_part(x, &mut bits)
            })
        })
        .collect()
}

/// A recursion after a sequence.
pub(crate) fn after<R: Streaming>(recursion: R, sequence: &[Option<R::Observation>]) -> Stream<R>
where
    R::Observation: Sized,
{
    checks::after(recursion, sequence.iter().map(Option::as_ref))
}

/// `log p` of a sequence.
pub(crate) fn log_likelihood<E, const N: usize>(
    hmm: &Hmm<E, N>,
    sequence: &[Option<E::Observation>],
) -> f64
where
    E: SufficientStatistics<Real = f64, Observation: Sized>,
{
    after(Forward::of(hmm), sequence).read()
}

/// Expected statistics of a sequence, those of zeros included.
pub(crate) fn statistics<E, const N: usize>(
    hmm: &Hmm<E, N>,
    sequence: &[Option<E::Observation>],
) -> StatisticsOf<E, N>
where
    E: SufficientStatistics<Real = f64, Observation: Sized>,
{
    let expected: ExpectedStatistics<_, _, N> =
        after(Statistics::of(hmm).with_boundary_scores(), sequence).read();
    expected
}

/// Asserts that two numbers agree to within `tolerance` of the larger, or of `scale`.
#[track_caller]
pub(crate) fn assert_close(found: f64, wanted: f64, scale: f64, tolerance: f64, what: &str) {
    let size = found.abs().max(wanted.abs()).max(scale);
    assert!((found - wanted).abs() <= tolerance * size, "{what}: {found} where {wanted} belongs");
}
