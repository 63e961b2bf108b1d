//! What is no system: which part, which row.

use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::{ErrorKind, ModelError, ObservationError, Part};

const GOOD: Parameters<f64, 2, 2> = Parameters {
    initial_mean: [0.0; 2],
    initial_covariance: [[1.0, 0.5], [0.5, 1.0]],
    transition: [[0.5, 0.0], [0.25, 0.5]],
    state_noise: [[1.0, 1.0], [1.0, 1.0]],
    observation: [[1.0, 0.0], [0.0, 1.0]],
    observation_noise: [[1.0, 0.25], [0.25, 1.0]],
};

#[track_caller]
fn refused(
    change: impl FnOnce(&mut Parameters<f64, 2, 2>),
    part: Part,
    kind: ErrorKind,
    at: [usize; 2],
) {
    let mut parameters = GOOD;
    change(&mut parameters);
    let [row, entry] = at;
    assert_eq!(Dynamics::new(&parameters), Err(ModelError { part, kind, row, entry }));
}

#[test]
fn the_part_and_the_row_are_named() {
    use ErrorKind::{NotFinite, NotPositiveDefinite, NotPositiveSemidefinite, NotSymmetric};
    Dynamics::new(&GOOD).expect("a system");
    refused(|p| p.initial_mean[1] = f64::NAN, Part::Parameter("mean"), NotFinite, [0, 1]);
    refused(|p| p.transition[1][0] = f64::INFINITY, Part::Transition, NotFinite, [1, 0]);
    refused(|p| p.observation[0][1] = f64::NAN, Part::Observation, NotFinite, [0, 1]);
    let part = Part::InitialCovariance;
    refused(|p| p.initial_covariance[1][1] = f64::NAN, part, NotFinite, [1, 1]);
    refused(|p| p.initial_covariance[1][0] = 0.25, part, NotSymmetric, [1, 0]);
    refused(|p| p.initial_covariance[1][1] = 0.2, part, NotPositiveSemidefinite, [1, 1]);
    refused(|p| p.initial_covariance[0][0] = -1.0, part, NotPositiveSemidefinite, [0, 0]);
    let part = Part::StateNoise;
    refused(|p| p.state_noise[0][0] = 0.0, part, NotPositiveSemidefinite, [1, 0]);
    refused(|p| p.state_noise = [[1.0, 2.0], [2.0, 1.0]], part, NotPositiveSemidefinite, [1, 1]);
    let part = Part::ObservationNoise;
    refused(|p| p.observation_noise = [[1.0; 2]; 2], part, NotPositiveDefinite, [1, 1]);
    refused(|p| p.observation_noise = [[0.0; 2]; 2], part, NotPositiveDefinite, [0, 0]);
    refused(|p| p.observation_noise[0][1] = 0.5, part, NotSymmetric, [1, 0]);
}

/// Along what never varies there is no derivative of a covariance's factors.
#[test]
fn directions_want_a_state_that_varies() {
    let along = |parameters: &Parameters<f64, 2, 2>| {
        let mut direction = Parameters::ZERO;
        direction.transition[0][1] = 1.0;
        Dynamics::new(&parameters.with_directions(&[direction])).map(|_| ())
    };
    assert_eq!(along(&GOOD), Ok(()));
    let refused =
        |row| Err(ModelError::new(Part::Tangent, ErrorKind::NotPositiveDefinite, row, row));
    assert_eq!(along(&Parameters { initial_covariance: [[1.0; 2]; 2], ..GOOD }), refused(1));
    let still = [[0.5, 0.0], [0.25, 0.0]];
    let known = Parameters { transition: still, state_noise: [[0.0; 2]; 2], ..GOOD };
    assert_eq!(along(&known), refused(1));
}

#[test]
fn a_variance_that_overflows_is_refused_and_nothing_changes() {
    let explodes = Parameters { transition: [[4.0, 0.0], [0.0, 0.5]], ..GOOD };
    let system = Dynamics::new(&explodes).expect("a system");
    let mut stream = Stream::new(Kalman::of(&system));
    stream.push(&[1.0, 2.0]).expect("a sample");
    for _ in 0..600 {
        stream.push(None).expect("nothing to refuse");
    }
    let before = *stream.state();
    assert!(before.belief().mean().iter().all(|mean| mean.is_finite()));
    assert_eq!(stream.push(&[1.0, 2.0]), Err(ObservationError::Impossible));
    assert_eq!(*stream.state(), before);
    stream.reset();
    assert_eq!(*stream.state(), Kalman::of(&system).initial_state());
}
