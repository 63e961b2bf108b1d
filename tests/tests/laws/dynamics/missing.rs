//! Channels that are missing: the filter of those that are there is the dense Gaussian without the others.

use fishweir_core::dynamics::{Dynamics, Kalman};
use fishweir_core::emission::Marginal;
use fishweir_core::filter::Stream;
use fishweir_core::number::{Dual, Scalar};
use fishweir_tests::laws::{self, Trial};
use fishweir_tests::oracle::{System, derivative};
use fishweir_tests::sample::Sampler;

use super::tangents::{direction, moved};
use super::{dynamics, parameters};

/// Samples of which every other lacks some channels, and one lacks all.
fn in_part<const D: usize>(sampler: &mut Sampler, length: usize) -> Vec<[Option<f64>; D]> {
    let sample = |t: usize| {
        std::array::from_fn(|d| {
            let x = 2.0 * sampler.normal();
            let is_there = t.is_multiple_of(2) || t != 3 && (t / 2 + d).is_multiple_of(2);
            is_there.then_some(x)
        })
    };
    (0..length).map(sample).collect()
}

fn check<const N: usize, const D: usize>(system: &System, sampler: &mut Sampler) {
    let model = dynamics::<f64, N, D>(system);
    let samples = in_part::<D>(sampler, 9);
    let pushed: Vec<Option<&[Option<f64>; D]>> = samples.iter().map(Some).collect();
    let odd = [[Some(f64::INFINITY); D], [Some(1e200); D]];
    let refusable: Vec<&[Option<f64>; D]> = odd.iter().collect();
    let trial = Trial { samples: &pushed, refusable: &refusable };
    let recursion = Marginal::new(Kalman::of(&model));
    laws::check(recursion, trial, |prefix, log| {
        let parts: Vec<Vec<Option<f64>>> =
            prefix.iter().map(|x| x.map_or(vec![None; D], |x| x.to_vec())).collect();
        let expected = if prefix.is_empty() { 0.0 } else { system.given_in_part(&parts).0 };
        assert!((log - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{log}, not {expected}");
    });
    // With every channel, and without any, it has the bits of the filter of whole samples.
    let (mut whole, mut marginal) = (Stream::new(Kalman::of(&model)), Stream::new(recursion));
    for (t, x) in samples.iter().enumerate() {
        let x: [f64; D] = x.map(|x| x.unwrap_or(0.5));
        match t % 3 {
            0 => {
                whole.push(None).expect("a missing sample");
                marginal.push(&[None; D]).expect("a missing sample");
            }
            _ => {
                whole.push(&x).expect("a sample");
                marginal.push(&x.map(Some)).expect("a sample");
            }
        }
        assert_eq!(whole.state(), marginal.state());
    }
}

#[test]
fn missing_channels_are_integrated_out() {
    let mut sampler = Sampler::new(41);
    for _ in 0..5 {
        check::<1, 2>(&sampler.system(1, 2), &mut sampler);
        check::<2, 3>(&sampler.system(2, 3), &mut sampler);
        check::<3, 5>(&sampler.system(3, 5), &mut sampler);
    }
}

#[test]
fn a_derivative_with_missing_channels_is_that_of_finite_differences() {
    let mut sampler = Sampler::new(43);
    for _ in 0..4 {
        let own = parameters::<f64, 3, 2>(&sampler.system(3, 2));
        let along = direction(&mut sampler);
        let tangent: Dynamics<3, 2, Dual<f64, 1>> =
            Dynamics::new(&own.with_directions(&[along])).expect("a system with a direction");
        let samples = in_part::<2>(&mut sampler, 8);
        let log = |step: f64| {
            let system = Dynamics::new(&moved(&own, &along, step)).expect("a system");
            let mut stream = Stream::new(Marginal::new(Kalman::of(&system)));
            samples.iter().for_each(|x| stream.push(x).expect("a sample"));
            stream.read()
        };
        let mut stream = Stream::new(Marginal::new(Kalman::of(&tangent)));
        samples.iter().for_each(|x| stream.push(x).expect("a sample"));
        let (found, wanted) =
            (stream.read().derivative(0).unwrap_or_default(), derivative(log, 1e-3));
        assert!((found - wanted).abs() < 1e-5 * (1.0 + wanted.abs()), "{found}, not {wanted}");
    }
}
