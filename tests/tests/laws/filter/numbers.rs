//! What numbers promise beyond what one recursion asks of them.

use fishweir_core::number::{
    Dual, Lanes, MIN_LOG_DENSITY_EXP, Max, Number, Parameter, RealParameter, Scalar,
    ScaleAccumulator, inner_product, squared_distance,
};

/// Whatever is done to lanes is what is done to each alone, bit for bit.
#[test]
fn lanes_are_their_numbers() {
    const LANES: usize = 3;
    type Wide = Lanes<f64, LANES>;
    type Row = [[f64; LANES]; 2];
    let (row, other): (Row, Row) =
        ([[0.3, 7e-20, 5.0], [0.1, 3e-21, 0.7]], [[0.6, 0.2, 1e-3], [2.0, 0.5, 0.25]]);
    let scales = [-1.25, 0.0, 300.5];
    let rescaled = |row: Row| {
        let mut lanes = row.map(Lanes);
        let mut ledger: [ScaleAccumulator<f64>; LANES] = Wide::UNSCALED;
        let sum = lanes[0].plus(lanes[1]);
        Wide::rescale(&mut lanes, sum, &mut ledger);
        Wide::add_log_scale(&mut ledger, scales);
        (lanes, ledger)
    };
    let alone = |row: Row, lane: usize| {
        let mut numbers = row.map(|entry| entry[lane]);
        let mut ledger = f64::UNSCALED;
        let sum = numbers[0] + numbers[1];
        f64::rescale(&mut numbers, sum, &mut ledger);
        f64::add_log_scale(&mut ledger, scales[lane]);
        (numbers, ledger)
    };
    let ((lanes, ledger), (rest, rest_ledger)) = (rescaled(row), rescaled(other));
    let (sum, rest_sum) = (lanes[0].plus(lanes[1]), rest[0].plus(rest[1]));
    let log = Wide::log(sum, &ledger);
    let ratio = Wide::log_ratio(sum, &ledger, rest_sum, &rest_ledger);
    for lane in 0..LANES {
        let ((numbers, own), (others, others_own)) = (alone(row, lane), alone(other, lane));
        assert_eq!(lanes.map(|entry| entry.0[lane]), numbers);
        let (total, others) = (numbers[0] + numbers[1], others[0] + others[1]);
        assert!((1.0..2.0).contains(&total), "{total}");
        assert_eq!(log.0[lane], <f64 as Number>::log(total, &own));
        assert_eq!(ratio.0[lane], f64::log_ratio(total, &own, others, &others_own));
        assert_eq!(lanes[0].times(rest[0]).0[lane], numbers[0] * rest[0].0[lane]);
        assert_eq!(lanes[0].mul_weight(0.3).0[lane], numbers[0] * 0.3);
        assert_eq!(Wide::lift(0.3).0[lane], 0.3);
    }
    // Every lane is asked.
    let lanes = |low: f64, high: f64| Lanes([low, 1.0, high]);
    for (low, high, least, between) in
        [(0.5, 1.5, true, true), (0.25, 1.5, false, false), (0.5, 2.0, true, false)]
    {
        assert_eq!(lanes(low, high).is_at_least(-1), least, "{low} to {high}");
        assert_eq!(lanes(low, high).is_between(-1, 1), between, "{low} to {high}");
    }
}

#[test]
fn bounds_are_as_they_are_said_to_be() {
    // At least the lower, less than the upper.
    for (x, between) in
        [(0.5, true), (1.999, true), (2.0, false), (0.499, false), (f64::NAN, false)]
    {
        assert_eq!(x.is_between(-1, 1), between, "{x}");
        assert_eq!((x as f32).is_between(-1, 1), between, "{x}");
    }
    assert!(0.5_f64.is_at_least(-1) && 0.5_f32.is_at_least(-1) && !f64::NAN.is_at_least(-1));
    // The farthest observation is still one.
    let farthest = -2.0_f64.powi(MIN_LOG_DENSITY_EXP);
    assert_eq!(f64::likelihoods::<1>(|_| farthest), Some(([1.0], farthest)));
    assert_eq!(f64::likelihoods::<1>(|_| farthest * (1.0 + f64::EPSILON)), None);
    assert_eq!(f64::likelihoods::<1>(|_| f64::NAN), None);
}

#[test]
fn a_likelihood_that_vanishes_has_no_rate() {
    let log = Dual::<f64, 2> { value: -1e6, tangent: [f64::INFINITY, -1.0] };
    assert_eq!(log.exp_relative_to(0.0), Dual { value: 0.0, tangent: [0.0; 2] });
    let near = Dual::<f64, 2> { value: 3.0, tangent: [0.5, -1.0] };
    assert_eq!(near.exp_relative_to(3.0), Dual { value: 1.0, tangent: [0.5, -1.0] });
}

#[test]
fn numbers_without_directions_have_no_derivative() {
    assert_eq!((1.0_f32.derivative(0), 1.0_f64.derivative(0)), (None, None));
    assert_eq!(Max(1.0_f64).derivative(0), None);
    let dual = Dual { value: 1.0, tangent: [2.0, 3.0] };
    assert_eq!([0, 1, 2].map(|direction| dual.derivative(direction)), [Some(2.0), Some(3.0), None]);
}

#[test]
fn sums_over_slices_end_with_the_shorter() {
    let long: Vec<f64> = (1..=11).map(f64::from).collect();
    for length in 0..=long.len() {
        let ones = vec![1.0; length];
        let sum: f64 = long[..length].iter().sum();
        let squares: f64 = long[..length].iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
        assert_eq!([inner_product(&long, &ones), inner_product(&ones, &long)], [sum; 2]);
        assert_eq!([squared_distance(&long, &ones), squared_distance(&ones, &long)], [squares; 2]);
    }
}
