//! Directional derivatives, of every parameter, against finite differences.

use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
use fishweir_core::filter::Stream;
use fishweir_core::number::Scalar;
use fishweir_tests::checks::after;
use fishweir_tests::oracle::derivative;
use fishweir_tests::sample::Sampler;

use super::{parameters, sequence};

const N: usize = 3;
const D: usize = 2;

type Numbers = Parameters<f64, N, D>;

/// A direction that leaves covariances symmetric.
pub(super) fn direction(sampler: &mut Sampler) -> Numbers {
    fn symmetric<const S: usize>(sampler: &mut Sampler) -> [[f64; S]; S] {
        let half: [[f64; S]; S] =
            std::array::from_fn(|_| std::array::from_fn(|_| 0.05 * sampler.normal()));
        std::array::from_fn(|i| std::array::from_fn(|j| half[i][j] + half[j][i]))
    }
    Parameters {
        initial_mean: std::array::from_fn(|_| sampler.normal()),
        initial_covariance: symmetric(sampler),
        transition: std::array::from_fn(|_| std::array::from_fn(|_| 0.3 * sampler.normal())),
        state_noise: symmetric(sampler),
        observation: std::array::from_fn(|_| std::array::from_fn(|_| sampler.normal())),
        observation_noise: symmetric(sampler),
    }
}

pub(super) fn moved(from: &Numbers, along: &Numbers, step: f64) -> Numbers {
    fn add<const R: usize, const C: usize>(
        a: &[[f64; C]; R],
        b: &[[f64; C]; R],
        step: f64,
    ) -> [[f64; C]; R] {
        std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + step * b[i][j]))
    }
    Parameters {
        initial_mean: add(&[from.initial_mean], &[along.initial_mean], step)[0],
        initial_covariance: add(&from.initial_covariance, &along.initial_covariance, step),
        transition: add(&from.transition, &along.transition, step),
        state_noise: add(&from.state_noise, &along.state_noise, step),
        observation: add(&from.observation, &along.observation, step),
        observation_noise: add(&from.observation_noise, &along.observation_noise, step),
    }
}

#[test]
fn a_derivative_is_that_of_finite_differences_at_every_prefix() {
    let mut sampler = Sampler::new(11);
    for _ in 0..4 {
        let own: Numbers = parameters(&sampler.system(N, D));
        let directions = [direction(&mut sampler), direction(&mut sampler)];
        let tangent =
            Dynamics::new(&own.with_directions(&directions)).expect("a system with directions");
        let plain = Dynamics::new(&own).expect("a system");
        let samples = sequence::<D>(&mut sampler, 40);
        let mut stream = Stream::new(Kalman::of(&tangent));
        let mut value = Stream::new(Kalman::of(&plain));
        for t in 0..samples.len() {
            match &samples[t] {
                Some(x) => {
                    stream.push(x).expect("a sample");
                    value.push(x).expect("a sample");
                }
                None => {
                    stream.push(None).expect("nothing to refuse");
                    value.push(None).expect("nothing to refuse");
                }
            }
            assert!(
                (stream.read().value - value.read()).abs() < 1e-11 * (1.0 + value.read().abs())
            );
            if t % 7 != 0 {
                continue;
            }
            for (c, along) in directions.iter().enumerate() {
                let log = |step: f64| {
                    let model = Dynamics::new(&moved(&own, along, step)).expect("a system nearby");
                    after(Kalman::of(&model), samples[..=t].iter().copied()).read()
                };
                let expected = derivative(log, 1e-3);
                let got = stream.read().derivative(c).expect("a direction");
                let near = (got - expected).abs() <= 1e-6 * (1.0 + expected.abs());
                assert!(near, "after {t}: {got} where differences say {expected}");
            }
        }
    }
}
