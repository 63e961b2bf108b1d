//! A stream may never end: a million samples in single precision against double precision, with the same
//! numbers in both models.

use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::number::{Real, Scalar};

use crate::Draws;

const SAMPLES: usize = 1_000_000;

/// A slow oscillation and a random walk, of dyadic numbers: the same in `f32` and `f64`. The walk starts
/// from next to nothing known, and channels are far finer than it.
fn parameters<T: Real>() -> Parameters<T, 4, 3> {
    let of = |x: f64| T::from_f64(x);
    let row = |row: [f64; 4]| row.map(of);
    Parameters {
        initial_mean: row([0.0; 4]),
        initial_covariance: [
            row([65536.0, 0.0, 0.0, 0.0]),
            row([0.0, 65536.0, 0.0, 0.0]),
            row([0.0, 0.0, 65536.0, 0.0]),
            row([0.0, 0.0, 0.0, 0.0]),
        ],
        transition: [
            row([0.984375, 0.125, 0.0, 0.0]),
            row([-0.125, 0.984375, 0.0, 0.0]),
            row([0.0, 0.0, 1.0, 1.0]),
            row([0.0, 0.0, 0.0, 0.96875]),
        ],
        state_noise: [
            row([0.0078125, 0.0, 0.0, 0.0]),
            row([0.0, 0.0078125, 0.0, 0.0]),
            row([0.0; 4]),
            row([0.0, 0.0, 0.0, 0.0009765625]),
        ],
        observation: [
            row([1.0, 0.0, 1.0, 0.0]),
            row([0.0, 1.0, 1.0, 0.0]),
            row([1.0, 1.0, -1.0, 0.5]),
        ],
        observation_noise: [[0.25, 0.125, 0.0], [0.125, 0.25, 0.0], [0.0, 0.0, 0.00390625]]
            .map(|row| row.map(of)),
    }
}

/// Samples that both precisions hold.
fn samples() -> impl Iterator<Item = Option<[f32; 3]>> {
    let mut draws = Draws::new(31);
    let (mut level, mut slope) = (0.0, 0.0);
    (0..SAMPLES).map(move |t| {
        slope = 0.9 * slope + 0.01 * draws.normal();
        level = 0.999 * level + slope;
        let angle = 0.126 * t as f64;
        let state = [angle.cos(), angle.sin(), level];
        let x = [state[0] + state[2], state[1] + state[2], state[0] + state[1] - state[2]];
        let x = x.map(|x| (x + 0.3 * draws.normal()) as f32);
        if t % 100 < 97 { Some(x) } else { None }
    })
}

/// A sample, in whatever precision, or that it is missing.
fn push<T: Real, R: Streaming<Observation = [T; 3]>>(stream: &mut Stream<R>, x: Option<[f32; 3]>) {
    let x = x.map(|x| x.map(|x| T::from_f64(x.into())));
    stream.push(&x).expect("a sample");
}

#[test]
fn a_million_samples_in_single_precision_are_those_in_double() {
    let (single, double) = (
        Dynamics::new(&parameters::<f32>()).expect("a system"),
        Dynamics::new(&parameters::<f64>()).expect("a system"),
    );
    let mut single = Stream::new(Kalman::of(&single));
    let mut double = Stream::new(Kalman::of(&double));
    for (t, x) in samples().enumerate() {
        push(&mut single, x);
        push(&mut double, x);
        if !(t + 1).is_multiple_of(99_991) && t > 100 {
            continue;
        }
        let near = |a: f32, b: f64, tolerance: f64| {
            let near = (f64::from(a) - b).abs() <= tolerance * (1.0 + b.abs());
            assert!(near, "after {t}: {a}, where double precision says {b}");
        };
        near(single.read(), double.read(), 1e-3);
        let (a, b) = (single.state().belief(), double.state().belief());
        let (p, q) = (a.covariance().matrix(), b.covariance().matrix());
        for i in 0..4 {
            near(a.mean()[i], b.mean()[i], 1e-2);
            assert!(a.covariance().factors()[i][i] >= 0.0);
            for j in 0..4 {
                let scale = (q[i][i] * q[j][j]).sqrt();
                let gap = (f64::from(p[i][j]) - q[i][j]).abs();
                assert!(
                    gap <= 1e-3 * scale,
                    "after {t}: [{i}][{j}] is {} not {}",
                    p[i][j],
                    q[i][j]
                );
            }
        }
    }
}

/// The derivative, too: along a change of the dynamics, of the noises and of what is seen.
#[test]
fn a_derivative_stays_that_of_double_precision() {
    fn along<T: Real>() -> Dynamics<4, 3, fishweir_core::number::Dual<T, 1>> {
        let mut own = parameters::<T>();
        // Every row must vary from the start.
        own.initial_covariance[3][3] = T::from_f64(0.0625);
        let mut direction = Parameters::ZERO;
        for i in 0..4 {
            direction.transition[i][i] = T::from_f64(-0.25);
            direction.transition[i][3 - i] = T::from_f64(0.125);
        }
        direction.state_noise[3][3] = T::from_f64(0.0009765625);
        direction.observation_noise[2][2] = T::from_f64(0.001953125);
        direction.observation[0][1] = T::from_f64(0.5);
        Dynamics::new(&own.with_directions(&[direction])).expect("a system")
    }
    let (single, double) = (along::<f32>(), along::<f64>());
    let mut single = Stream::new(Kalman::of(&single));
    let mut double = Stream::new(Kalman::of(&double));
    for (t, x) in samples().take(SAMPLES / 5).enumerate() {
        push(&mut single, x);
        push(&mut double, x);
        if (t + 1).is_multiple_of(19_997) {
            let (a, b) = (single.read().derivative(0), double.read().derivative(0));
            let (a, b) = (f64::from(a.expect("a direction")), b.expect("a direction"));
            assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs()), "after {t}: {a}, not {b}");
        }
    }
}
