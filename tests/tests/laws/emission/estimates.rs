//! Maximisation: it raises the likelihood, solves the likelihood equations, and holds to what it was
//! told.

use fishweir_core::emission::{
    Autoregressive, Bernoulli, Categorical, Emission, FullGaussian, Gaussian, Marginal, Mixture,
    Parametrisation, Regularisation, Sample, SufficientStatistics, VectorSpace,
};
use fishweir_core::hmm::Hmm;
use fishweir_core::{ErrorKind, ModelError, Part};

use super::displace::Displace;
use super::models::{
    Bits, Visit, assert_close, autoregressive, bernoulli, categorical, full, gaussian,
    log_likelihood, mixed, poisson, sequence, statistics, visit_all,
};

struct Climb;

impl Visit for Climb {
    fn visit<E: Displace + Sample, const N: usize>(&mut self, name: &str, hmm: &Hmm<E, N>) {
        let x = sequence(hmm, 120);
        let floor = Regularisation { variance_floor: 1e-3, pseudo_count: 0.0 };
        let (mut current, mut reached) = (*hmm, log_likelihood(hmm, &x));
        let first = reached;
        for _ in 0..10 {
            current = current.maximise(&statistics(&current, &x), &floor).expect("an estimate");
            current.validate().expect("an estimate is a model");
            let next = log_likelihood(&current, &x);
            assert!(next >= reached - 1e-10 * reached.abs(), "{name}: {next} after {reached}");
            reached = next;
        }
        assert!(reached > first + 0.1, "{name}: from {first} to {reached}");
    }
}

#[test]
fn every_step_of_baum_welch_raises_the_likelihood() {
    visit_all(&mut Climb);
}

/// Statistics of observations, each with weight one.
fn collected<E>(by: &E, observations: &[E::Observation]) -> E::Statistics
where
    E: SufficientStatistics<Real = f64, Observation: Sized>,
{
    let mut statistics = E::Statistics::ZERO;
    for x in observations {
        by.observe(x, 1.0, &mut statistics);
    }
    statistics
}

/// One distribution's estimate from a sample of another solves the likelihood equations.
fn solves<E: Displace + Sample>(start: &E, source: &E) {
    let mut bits = Bits(4);
    let draw = |_| {
        let x = source.sample(&mut bits);
        E::in_part(x, &mut bits)
    };
    let sample: Vec<_> = (0..200).map(draw).collect();
    let estimate =
        start.maximise(&collected(start, &sample), &Regularisation::NONE).expect("an estimate");
    let at_estimate = collected(&estimate, &sample);
    let score = estimate.score(&at_estimate, Parametrisation::SOFTMAX);
    score.for_each(|entry| assert_close(entry, 0.0, 200.0, 1e-11, "score at the estimate"));

    // The same statistics, carried from the start to the estimate.
    let mut carried = collected(start, &sample);
    estimate.adopt(start, &mut carried);
    carried.add_scaled(-1.0, &at_estimate);
    carried.for_each(|gap| assert_close(gap, 0.0, 200.0, 1e-11, "adopted statistics"));
}

#[test]
fn estimates_solve_the_likelihood_equations() {
    solves(&categorical()[0], &categorical()[2]);
    solves(&gaussian()[0], &gaussian()[1]);
    solves(&full()[0], &full()[1]);
    solves(&full()[2], &full()[0]);
    solves(&autoregressive()[0], &autoregressive()[2]);
    solves(&autoregressive()[2], &autoregressive()[1]);
    solves(&poisson()[0], &poisson()[1]);
    solves(&bernoulli()[0], &bernoulli()[1]);
    solves(&Marginal::new(gaussian()[0]), &Marginal::new(gaussian()[1]));
    solves(&Marginal::new(autoregressive()[0]), &Marginal::new(autoregressive()[2]));
    solves(&Marginal::new(poisson()[0]), &Marginal::new(poisson()[1]));
    solves(&Marginal::new(bernoulli()[0]), &Marginal::new(bernoulli()[1]));
}

#[test]
fn moments_are_read_in_the_sensors_units() {
    let mut bits = Bits(5);
    let (source, observer) = (full()[0], full()[1]);
    let sample: Vec<[f64; 3]> = (0..50).map(|_| source.sample(&mut bits)).collect();
    let statistics = collected(&observer, &sample);
    let (sum, products) = (observer.sum_x(&statistics), observer.sum_xx(&statistics));
    let diagonal = Gaussian::<3, f64>::new([1.0, -2.0, 3.0], [0.5, 4.0, 2.0]).expect("variances");
    let moments = collected(&diagonal, &sample);
    let (sums, squares) = (diagonal.sum_x(&moments), diagonal.sum_xx(&moments));
    for d in 0..3 {
        let wanted: f64 = sample.iter().map(|x| x[d]).sum();
        assert_close(sum[d], wanted, 1.0, 1e-12, "sum");
        assert_close(sums[d], wanted, 1.0, 1e-12, "sum, diagonal");
        for e in 0..3 {
            let wanted: f64 = sample.iter().map(|x| x[d] * x[e]).sum();
            assert_close(products[d][e], wanted, 1.0, 1e-12, "products");
            if d == e {
                assert_close(squares[d], wanted, 1.0, 1e-12, "squares");
            }
        }
    }
}

#[test]
fn nothing_observed_leaves_the_distribution() {
    fn stays<E: SufficientStatistics<Real = f64> + PartialEq + std::fmt::Debug>(one: E) {
        let estimate = one.maximise(&E::Statistics::ZERO, &Regularisation::NONE);
        assert_eq!(estimate, Ok(one));
    }
    stays(categorical()[0]);
    stays(gaussian()[0]);
    stays(full()[0]);
    stays(autoregressive()[0]);
    stays(poisson()[0]);
    stays(bernoulli()[0]);
    stays(mixed(gaussian())[0]);
}

#[test]
fn a_variance_that_collapses_is_refused_or_held_at_the_floor() {
    let none = Regularisation::NONE;
    let floor = Regularisation { variance_floor: 0.01, ..none };
    let start = gaussian()[0];
    let statistics = collected(&start, &[[1.5, 2.0], [1.5, 3.0]]);
    let refused = Err(ModelError::new(Part::Parameter("variance"), ErrorKind::NotPositive, 0, 0));
    assert_eq!(start.maximise(&statistics, &none), refused);
    let held = start.maximise(&statistics, &floor).expect("the floor is an estimate");
    assert_close(held.variance()[0], 0.01, 0.0, 1e-12, "floor");
    assert_close(held.variance()[1], 0.25, 0.0, 1e-12, "above the floor");

    // Two points in three dimensions: no variance is left of the second channel given the first.
    let start = full()[0];
    let statistics = collected(&start, &[[1.0, 1.0, 0.0], [3.0, 0.0, 4.0]]);
    let refused =
        Err(ModelError::new(Part::Parameter("covariance"), ErrorKind::NotPositiveDefinite, 0, 1));
    assert_eq!(start.maximise(&statistics, &none), refused);
    let held = start.maximise(&statistics, &floor).expect("the floor is an estimate");
    let pivot = |d: usize| held.factor()[d][d].powi(-2);
    assert_close(pivot(0), 1.0, 0.0, 1e-12, "above the floor");
    assert_close(pivot(1), 0.01, 0.0, 1e-12, "floor");
    assert_close(pivot(2), 0.01, 0.0, 1e-12, "floor");

    let broken = Mixture::new([0.5, 0.5], [gaussian()[0], gaussian()[1]]).expect("a mixture");
    let mut statistics = collected(&broken, &[[0.0, 1.0], [2.0, -1.0], [0.5, 0.0]]);
    statistics.component[1].square = [1.0, f64::NAN];
    let found = broken.maximise(&statistics, &none).map_err(|error| (error.part, error.entry));
    // Component 1 of two channels: entry 2 is its first, 3 its second.
    assert!(matches!(found, Err((Part::Parameter("variance"), 2 | 3))), "{found:?}");
}

#[test]
fn statistics_are_carried_to_another_centre() {
    let mut bits = Bits(8);
    let (before, source) = (autoregressive()[0], autoregressive()[2]);
    let after = Autoregressive::new(gaussian()[1], [-1.0, 3.0], *source.coefficient());
    let after = after.expect("a distribution");
    let sample: Vec<_> = (0..50).map(|_| source.sample(&mut bits)).collect();
    let mut carried = collected(&before, &sample);
    after.adopt(&before, &mut carried);
    carried.add_scaled(-1.0, &collected(&after, &sample));
    carried.for_each(|gap| assert_close(gap, 0.0, 200.0, 1e-11, "adopted statistics"));
}

/// A past that never moves, or that another one tells, leaves coefficients where they were; the mean takes what
/// there is to tell.
#[test]
fn a_past_that_tells_nothing_moves_no_coefficient() {
    let start = autoregressive()[0];
    let rows = |past: fn(f64) -> [f64; 2]| -> Vec<[f64; 6]> {
        let row = |t: u32| {
            let (x, noise) = (f64::from(t * 7 % 20) - 9.5, f64::from(t * 3 % 11) - 5.0);
            let [first, second] = past(x);
            [0.5 * x + 0.1 * noise, noise, first, x * x / 10.0, second, x]
        };
        (0..220).map(row).collect()
    };
    let likelihood = |of: &Autoregressive<6, 2, 2, f64>, rows: &[[f64; 6]]| -> f64 {
        rows.iter().map(|row| of.log_likelihood(row)).sum()
    };
    let still = rows(|_| [3.0, -1.0]);
    let estimate = start.maximise(&collected(&start, &still), &Regularisation::NONE);
    let estimate = estimate.expect("an estimate");
    for lag in 0..2 {
        let (own, before) = (estimate.coefficient()[lag][0], start.coefficient()[lag][0]);
        assert_close(own, before, 1.0, 1e-5, "a past that never moves");
    }
    assert!(likelihood(&estimate, &still) > likelihood(&start, &still));
    // Twice the same past: only the sum of its coefficients is told.
    let twice = rows(|x| [x, x]);
    let estimate = start.maximise(&collected(&start, &twice), &Regularisation::NONE);
    let estimate = estimate.expect("an estimate");
    let [first, second] = estimate.coefficient().map(|row| row[0]);
    assert_close(first + second, 0.5, 1.0, 1e-2, "the sum is told");
    assert!(likelihood(&estimate, &twice) > likelihood(&start, &twice));
    // A step is whole where nothing is held: a second one finds nothing.
    let again = estimate.maximise(&collected(&estimate, &twice), &Regularisation::NONE);
    let gain = likelihood(&again.expect("an estimate"), &twice) - likelihood(&estimate, &twice);
    assert!((-1e-9..1e-3).contains(&gain), "{gain}");
}

#[test]
fn pseudo_counts_pull_towards_even_odds() {
    let even = Regularisation { variance_floor: 0.0, pseudo_count: 1.0 };
    let start = Categorical::<3, f64>::new([0.5, 0.5, 0.0]).expect("a distribution");
    let estimate = start.maximise(&[3.0, 0.0, 0.0], &even).expect("an estimate");
    assert_eq!(estimate.probability(), &[0.8, 0.2, 0.0]);
    let start = Bernoulli::<2, f64>::new([0.5, 1.0]).expect("probabilities");
    let estimate = start.maximise(&collected(&start, &[[true, true]; 2]), &even);
    assert_eq!(estimate.expect("an estimate").probability(), &[0.75, 1.0]);
}

#[test]
fn single_precision_keeps_its_digits_far_from_zero() {
    // Mean 1000, standard deviation 0.01: sums of squares of raw values would lose all of it.
    let start = Gaussian::<1, f32>::new([1000.0], [1e-4]).expect("a variance");
    let full = FullGaussian::<1, f32>::from(start);
    let (mut moments, mut products) = (VectorSpace::ZERO, VectorSpace::ZERO);
    let sample: Vec<f32> = (0..4000).map(|t| 1000.0 + (t % 16) as f32 / 512.0).collect();
    for &x in &sample {
        start.observe(&[x], 1.0, &mut moments);
        full.observe(&[x], 1.0, &mut products);
    }
    let mean = sample.iter().map(|&x| f64::from(x)).sum::<f64>() / 4000.0;
    let variance = sample.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / 4000.0;
    let none = Regularisation::NONE;
    let estimate = start.maximise(&moments, &none).expect("an estimate");
    assert_close(f64::from(estimate.variance()[0]), variance, 0.0, 1e-4, "diagonal");
    let estimate = full.maximise(&products, &none).expect("an estimate");
    assert_close(f64::from(estimate.covariance()[0][0]), variance, 0.0, 1e-4, "full");
}
