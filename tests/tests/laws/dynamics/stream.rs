//! The laws of a stream, every prefix against the dense Gaussian.

use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_tests::laws::{self, Trial};
use fishweir_tests::oracle::System;
use fishweir_tests::sample::Sampler;

use super::{dense, dynamics, parameters, sequence};

fn check<const N: usize, const D: usize>(system: &System, sampler: &mut Sampler) {
    let model = dynamics::<f64, N, D>(system);
    let samples = sequence::<D>(sampler, 9);
    let samples: Vec<_> = samples.iter().map(Option::as_ref).collect();
    let mut odd = [[f64::NAN; D], [f64::INFINITY; D], [1e200; D]];
    odd[0][..D - 1].fill(0.0);
    let refusable: Vec<&[f64; D]> = odd.iter().collect();
    let trial = Trial { samples: &samples, refusable: &refusable };
    let refused = laws::check(Kalman::of(&model), trial, |prefix, log| {
        let expected = if prefix.is_empty() { 0.0 } else { system.given(&dense(prefix)).0 };
        assert!((log - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{log}, not {expected}");
    });
    assert_eq!(refused, 3 * (samples.len() + 1));
    filtered_states_are_conditional::<N, D>(&model, system, &samples);
}

fn filtered_states_are_conditional<const N: usize, const D: usize>(
    model: &Dynamics<N, D, f64>,
    system: &System,
    samples: &[Option<&[f64; D]>],
) {
    let mut stream = Stream::new(Kalman::of(model));
    for t in 0..samples.len() {
        let predicted = stream.recursion().predicted(stream.state());
        let mut missing = samples[..=t].to_vec();
        missing[t] = None;
        match samples[t] {
            Some(x) => stream.push(x).expect("a sample"),
            None => stream.push(None).expect("a sample"),
        }
        for (belief, given) in
            [(predicted, &missing[..]), (*stream.state().belief(), &samples[..=t])]
        {
            let (_, states) = system.given(&dense(given));
            let last: Vec<usize> = (t * N..(t + 1) * N).collect();
            let states = states.part(&last);
            let covariance = belief.covariance().matrix();
            let near = |a: &f64, b: &f64| (a - b).abs() < 1e-9;
            let mut means = belief.mean().iter().zip(&states.mean);
            assert!(means.all(|(a, b)| near(a, b)), "mean at {t}");
            let entries = covariance.iter().flatten().zip(states.covariance.iter().flatten());
            assert!(entries.into_iter().all(|(a, b)| near(a, b)), "covariance at {t}");
        }
    }
}

#[test]
fn every_prefix_is_the_dense_gaussian() {
    let mut sampler = Sampler::new(3);
    for _ in 0..5 {
        check::<1, 1>(&sampler.system(1, 1), &mut sampler);
        check::<2, 3>(&sampler.system(2, 3), &mut sampler);
        check::<4, 2>(&sampler.system(4, 2), &mut sampler);
        check::<3, 3>(&sampler.system(3, 3), &mut sampler);
    }
}

/// In single precision, and with directions, it is a stream like others.
#[test]
fn other_numbers_keep_the_laws() {
    let mut sampler = Sampler::new(6);
    let system = sampler.system(3, 2);
    let samples = sequence::<2>(&mut sampler, 40);
    let odd = [[f32::NAN, 0.0], [1e30; 2]];
    let odd: Vec<&[f32; 2]> = odd.iter().collect();
    let single: Vec<_> = samples.iter().map(|x| x.map(|x| x.map(|x| x as f32))).collect();
    let single: Vec<_> = single.iter().map(Option::as_ref).collect();
    let trial = Trial { samples: &single, refusable: &odd };
    let (plain, own) = (dynamics::<f32, 3, 2>(&system), parameters::<f32, 3, 2>(&system));
    let double = dynamics::<f64, 3, 2>(&system);
    let mut beside = Stream::new(Kalman::of(&double));
    laws::check(Kalman::of(&plain), trial, |prefix, log| {
        match prefix.last() {
            Some(Some(x)) => beside.push(&x.map(f64::from)).expect("a sample"),
            Some(None) => beside.push(None).expect("a sample"),
            None => {}
        }
        let expected = beside.read();
        assert!((f64::from(log) - expected).abs() <= 1e-4 * (1.0 + expected.abs()));
    });
    let along = Dynamics::new(&own.with_directions(&[own, Parameters::ZERO])).expect("a system");
    laws::check(Kalman::of(&along), trial, |_, log| {
        assert!(log.tangent[0].is_finite());
        assert_eq!(log.tangent[1], 0.0, "along nothing");
    });
}

/// What does not vary: a state that is known, a noise that moves one number alone.
#[test]
fn singular_covariances_are_covariances() {
    let mut sampler = Sampler::new(4);
    for step in 0..8 {
        let mut system = sampler.system(3, 2);
        let row: Vec<f64> = (0..3).map(|_| sampler.normal()).collect();
        let rank_one =
            |row: &[f64]| row.iter().map(|a| row.iter().map(|b| a * b).collect()).collect();
        if step % 2 == 0 {
            system.covariance = vec![vec![0.0; 3]; 3];
        }
        system.noise = match step / 2 {
            0 => vec![vec![0.0; 3]; 3],
            1 => rank_one(&[0.0, 1.0, 0.0]),
            _ => rank_one(&row),
        };
        check::<3, 2>(&system, &mut sampler);
    }
}

#[test]
fn padding_changes_no_bit() {
    let mut sampler = Sampler::new(5);
    let system = sampler.system(3, 2);
    let small = dynamics::<f64, 3, 2>(&system);
    let wide: Parameters<f64, 5, 2> = {
        let mut wide = Parameters::ZERO;
        let own = parameters::<f64, 3, 2>(&system);
        for i in 0..3 {
            wide.initial_mean[i] = own.initial_mean[i];
            wide.initial_covariance[i][..3].copy_from_slice(&own.initial_covariance[i]);
            wide.transition[i][..3].copy_from_slice(&own.transition[i]);
            wide.state_noise[i][..3].copy_from_slice(&own.state_noise[i]);
        }
        for d in 0..2 {
            wide.observation[d][..3].copy_from_slice(&own.observation[d]);
        }
        wide.observation_noise = own.observation_noise;
        wide
    };
    let wide = Dynamics::new(&wide).expect("a padded system");
    let (small, wide) = (Kalman::of(&small), Kalman::of(&wide));
    let (mut a, mut b) = (small.initial_state(), wide.initial_state());
    for x in sequence::<2>(&mut sampler, 50) {
        match x {
            Some(x) => {
                small.step(&mut a, &x).expect("a sample");
                wide.step(&mut b, &x).expect("a sample");
            }
            None => {
                small.step_missing(&mut a);
                wide.step_missing(&mut b);
            }
        }
        assert_eq!(small.read(&a).to_bits(), wide.read(&b).to_bits());
    }
}
