//! Counts at every rate: likelihoods, derivatives and draws.

use std::f64::consts::TAU;

use fishweir_core::emission::{
    CountStatistics, Emission, Parametrisation, Poisson, Regularisation, Sample,
    SufficientStatistics, VectorSpace,
};
use fishweir_core::number::Real;

use super::models::Bits;

const RATES: [f64; 15] =
    [1e-30, 1e-9, 0.01, 0.5, 1.0, 3.0, 10.5, 20.0, 137.25, 1e3, 1e5, 1e6, 1e8, 2.7e8, 4.2e9];

/// Counts near a rate, in its tails, and far from it.
fn counts(rate: f64) -> Vec<u32> {
    let deviations = [-9.0, -3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0, 9.0];
    let near = deviations.map(|z| rate + z * rate.sqrt());
    let factors = [0.01, 0.1, 0.3, 0.34, 0.5, 0.9, 1.1, 1.5, 2.0, 2.9, 3.1, 10.0, 1e3, 1e9];
    let mut counts = vec![0, 1, 2, 12, 13, 15, 16, 255, 256, 257, 1 << 24, (1 << 24) + 1, u32::MAX];
    counts.extend(near.into_iter().chain(factors.map(|f| f * rate)).map(|x| x as u32));
    counts
}

/// `log x! - (x log x - x)`: by the product, or Stirling's series, of which the next term is below a
/// rounding.
fn saddle(x: f64) -> f64 {
    if x < 30.0 {
        let log_factorial = (1..=x as u32).map(f64::from).product::<f64>().ln();
        return log_factorial - (x * x.ln() - x);
    }
    let inverse = 1.0 / x;
    let series = inverse / 12.0 - inverse.powi(3) / 360.0 + inverse.powi(5) / 1260.0
        - inverse.powi(7) / 1680.0;
    0.5 * (TAU * x).ln() + series
}

/// `log P(x)`, of which `ln_1p` keeps the digits where count and rate are near.
fn log_density(x: u32, rate: f64) -> f64 {
    let x = f64::from(x);
    if x == 0.0 {
        return -rate;
    }
    let log_ratio = if x < 1e6 * rate { -((rate - x) / x).ln_1p() } else { x.ln() - rate.ln() };
    -(x * log_ratio - (x - rate)) - saddle(x)
}

/// Asserts that a number is right to within a fraction of itself.
#[track_caller]
fn assert_right(got: impl Real, wanted: f64, tolerance: f64, x: u32, rate: impl Real) {
    let near = (got.to_f64() - wanted).abs() <= tolerance * wanted.abs();
    assert!(near, "{x} at {rate:?}: {got:?} where {wanted} is right");
}

fn likelihoods_are_right<T: Real>(tolerance: f64) {
    for rate in RATES.map(T::from_f64) {
        let poisson = Poisson::<1, T>::new([rate]).expect("a rate");
        for x in counts(rate.to_f64()) {
            let wanted = log_density(x, rate.to_f64());
            assert_right(poisson.log_likelihood(&[x]), wanted, tolerance, x, rate);
        }
    }
}

#[test]
fn likelihoods_are_right_at_every_rate() {
    likelihoods_are_right::<f64>(1e-11);
    likelihoods_are_right::<f32>(1e-5);
}

/// Small counts are taken by another formula than large ones: all of them, at rates around theirs, alone
/// and in sums over channels.
#[test]
fn likelihoods_of_small_counts_are_right() {
    for rate in (1..400).map(|n| 0.1 * n as f32) {
        let poisson = Poisson::<6>::new([rate; 6]).expect("rates");
        for x in 0..20 {
            let wanted = 6.0 * log_density(x, rate.into());
            assert_right(poisson.log_likelihood(&[x; 6]), wanted, 1e-5, x, rate);
        }
    }
}

/// A rate of zero makes no count certain, and any other impossible.
#[test]
fn a_rate_of_zero_counts_nothing() {
    let never = Poisson::<1>::new([0.0]).expect("a rate");
    assert_eq!(never.log_likelihood(&[0]), 0.0);
    for x in [1, 15, 16, u32::MAX] {
        assert_eq!(never.log_likelihood(&[x]), f32::NEG_INFINITY, "{x}");
    }
}

/// What tells states apart is a difference of log-likelihoods that are nearly the same.
#[test]
fn states_of_large_rates_are_told_apart() {
    let rates = [1e6_f32, 1.000_5e6, 0.999e6];
    let states = rates.map(|rate| Poisson::<1>::new([rate]).expect("a rate"));
    for x in [998_000, 999_500, 1_000_000, 1_000_250, 1_002_000] {
        let row = Poisson::row(&states, &[x]).expect("a count").likelihood;
        let logs = rates.map(|rate| log_density(x, rate.into()));
        let best = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        for (got, log) in row.into_iter().zip(logs) {
            let wanted = (log - best).exp();
            assert!((f64::from(got) - wanted).abs() <= 1e-5 * wanted, "{x}: {got} {wanted}");
        }
    }
}

fn scores_are_right<T: Real>(tolerance: f64) {
    for rate in RATES.map(T::from_f64) {
        let poisson = Poisson::<2, T>::new([rate, T::ONE]).expect("rates");
        let along = poisson.with_directions(&[[T::HALF, T::ZERO]], Parametrisation::SOFTMAX);
        for x in counts(rate.to_f64()) {
            let wanted = f64::from(x) - rate.to_f64();
            let mut statistics = CountStatistics::ZERO;
            poisson.observe(&[x, 1], T::ONE, &mut statistics);
            let [score, _] = poisson.score(&statistics, Parametrisation::SOFTMAX);
            let [rate_of_change] = along.log_likelihood(&[x, 1]).tangent;
            for got in [score, rate_of_change + rate_of_change] {
                assert_right(got, wanted, tolerance, x, rate);
            }
        }
    }
}

#[test]
fn scores_are_right_at_every_rate() {
    scores_are_right::<f64>(1e-14);
    scores_are_right::<f32>(2e-7);
}

#[test]
fn statistics_are_carried_over_to_another_rate() {
    let [old, new] = [30.0, 32.5].map(|rate| Poisson::<1, f64>::new([rate]).expect("a rate"));
    let (mut carried, mut own) = (CountStatistics::ZERO, CountStatistics::ZERO);
    for x in [28, 31, 40, 0] {
        old.observe(&[x], 0.5, &mut carried);
        new.observe(&[x], 0.5, &mut own);
    }
    new.adopt(&old, &mut carried);
    assert_eq!(carried, own);
    let none = Regularisation { variance_floor: 1.0, pseudo_count: 0.0 };
    let estimate = new.maximise(&carried, &none).expect("a rate");
    assert!((estimate.rate()[0] - 24.75).abs() < 1e-14);
}

#[test]
fn no_counts_at_all_are_a_rate_of_zero_or_next_to_it() {
    let busy = Poisson::<1>::new([20.3]).expect("a rate");
    let mut statistics = CountStatistics::ZERO;
    for _ in 0..1000 {
        busy.observe(&[0], 0.3, &mut statistics);
    }
    let none = Regularisation { variance_floor: 1.0, pseudo_count: 0.0 };
    let estimate = busy.maximise(&statistics, &none).expect("a rate");
    assert!(estimate.rate()[0] < 1e-3, "{:?}", estimate.rate());
}

/// Mean, variance and tails of draws, at rates that are multiplied, rejected and past `u32`.
fn draws_are_right<T: Real>() {
    const DRAWS: u32 = 20_000;
    for rate in [0.3, 15.9, 16.1, 60.0, 1e3, 1e6, 2.7e8, 4.2e9].map(T::from_f64) {
        let poisson = Poisson::<1, T>::new([rate]).expect("a rate");
        let (rate, mut bits) = (rate.to_f64(), Bits(9));
        // Under a normal distribution a third is past one deviation, a 22nd past two.
        let (mut sum, mut square, mut past) = (0.0, 0.0, [0.0; 2]);
        for _ in 0..DRAWS {
            let [x] = poisson.sample(&mut bits);
            let z = (f64::from(x) - rate) / rate.sqrt();
            (sum, square) = (sum + z, square + z * z);
            past[0] += f64::from(u8::from(z.abs() > 1.0));
            past[1] += f64::from(u8::from(z.abs() > 2.0));
        }
        let draws = f64::from(DRAWS);
        let (mean, variance) = (sum / draws, square / draws);
        assert!(mean.abs() < 5.0 / draws.sqrt(), "{rate}: {mean}");
        let spread = ((2.0 + 1.0 / rate) / draws).sqrt();
        assert!((variance - 1.0).abs() < 5.0 * spread, "{rate}: {variance}");
        if rate > 1e5 {
            for (past, wanted) in past.into_iter().zip([0.317_31, 0.045_5]) {
                let error = (wanted * (1.0 - wanted) / draws).sqrt();
                assert!((past / draws - wanted).abs() < 5.0 * error, "{rate}: {past}");
            }
        }
    }
    for rate in [1e10, 1e30] {
        let poisson = Poisson::<1, T>::new([T::from_f64(rate)]).expect("a rate");
        assert_eq!(poisson.sample(&mut Bits(1)), [u32::MAX]);
    }
}

#[test]
fn draws_end_and_are_right_at_every_rate() {
    draws_are_right::<f32>();
    draws_are_right::<f64>();
}

/// Each count as often as its probability says.
#[test]
fn each_count_is_drawn_as_often_as_it_should_be() {
    const DRAWS: u32 = 100_000;
    for rate in [8.0_f32, 18.0, 40.0] {
        let poisson = Poisson::<1>::new([rate]).expect("a rate");
        let (mut seen, mut bits) = ([0_u32; 128], Bits(4));
        for _ in 0..DRAWS {
            let [x] = poisson.sample(&mut bits);
            seen[x as usize] += 1;
        }
        for (x, seen) in (0..).zip(seen) {
            let wanted = log_density(x, rate.into()).exp() * f64::from(DRAWS);
            let error = (f64::from(seen) - wanted).abs();
            assert!(error <= 5.0 * wanted.sqrt() + 3.0, "{x} of {rate}: {seen} {wanted}");
        }
    }
}
