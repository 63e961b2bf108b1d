//! Densities: what they are by definition, and that other forms of the same model agree.

use fishweir_core::emission::{
    Bernoulli, BernoulliView, Emission, FullGaussian, FullGaussianView, Gaussian, GaussianMoments,
    Mixture, Parametrisation, Poisson, Regularisation, Row, Sample, SufficientStatistics,
    VectorSpace,
};
use fishweir_core::filter::{Forward, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::score::ScoreOf;

use super::models::{Bits, assert_close, bernoulli, full, gaussian, mixed, poisson};

#[test]
fn probabilities_sum_to_one() {
    for bernoulli in bernoulli() {
        let all = (0..8_u32).map(|x| [x & 1, x >> 1 & 1, x >> 2].map(|bit| bit == 1));
        let total: f64 = all.map(|x| bernoulli.log_likelihood(&x).exp()).sum();
        assert_close(total, 1.0, 1.0, 1e-14, "Bernoulli");
    }
    for poisson in mixed(poisson()) {
        let grid = (0..150).flat_map(|x| (0..150).map(move |y| [x, y]));
        let total: f64 = grid.map(|x| poisson.log_likelihood(&x).exp()).sum();
        assert_close(total, 1.0, 1.0, 1e-12, "mixture of Poissons");
    }
}

#[test]
fn full_gaussians_have_the_textbook_density() {
    // Of [[a, b], [b, c]]: determinant and inverse by hand.
    let (a, b, c) = (2.0_f64, -0.75, 0.5);
    let gaussian = FullGaussian::new([1.0, -1.0], [[a, b], [b, c]]).expect("a distribution");
    let determinant = a * c - b * b;
    for (x, y) in [(0.0, 0.0), (3.0, -2.0), (-40.0, 25.0)] {
        let (u, v) = (x - 1.0, y + 1.0);
        let form = (c * u * u - 2.0 * b * u * v + a * v * v) / determinant;
        let wanted = -0.5 * form - 0.5 * determinant.ln() - std::f64::consts::TAU.ln();
        assert_close(gaussian.log_likelihood(&[x, y]), wanted, 1.0, 1e-13, "density");
    }
    let covariance = gaussian.covariance();
    for (found, wanted) in covariance.as_flattened().iter().zip([a, b, b, c]) {
        assert_close(*found, wanted, 1.0, 1e-14, "covariance");
    }
}

#[test]
fn factorials_are_exact_to_rounding() {
    let double = Poisson::<1, f64>::new([1.0]).expect("rates");
    let single = Poisson::<1, f32>::new([1.0]).expect("rates");
    let mut log_factorial = 0.0_f64;
    for x in 0..3000_u32 {
        log_factorial += f64::from(x.max(1)).ln();
        let wanted = -1.0 - log_factorial;
        assert_close(double.log_likelihood(&[x]), wanted, 1.0, 1e-13, "f64");
        assert_close(f64::from(single.log_likelihood(&[x])), wanted, 1.0, 5e-7, "f32");
    }
}

#[test]
fn a_rate_of_zero_makes_counts_impossible() {
    let quiet = Poisson::<2, f64>::new([0.0, 1.0]).expect("rates");
    assert_eq!(quiet.log_likelihood(&[0, 1]), -1.0);
    assert_eq!(quiet.log_likelihood(&[1, 1]), f64::NEG_INFINITY);
    let mut statistics = VectorSpace::ZERO;
    quiet.observe(&[0, 3], 1.0, &mut statistics);
    assert_eq!(quiet.score(&statistics, Parametrisation::SOFTMAX), [0.0, 2.0]);
    let along = quiet.with_directions(&[[5.0, 1.0]], Parametrisation::SOFTMAX);
    assert_eq!(along.log_likelihood(&[0, 3]).tangent, [2.0]);
    assert_eq!(along.validate(), Ok(()));

    let chain = Chain::<f64, 1>::new([1.0], [[1.0]]).expect("a chain");
    let hmm = Hmm::new(chain, [quiet]);
    let mut stream = Stream::new(Forward::of(&hmm));
    assert!(stream.push(&[2, 0]).is_err());
    assert!(stream.push(&[0, 2]).is_ok());
}

#[test]
fn what_one_state_cannot_make_another_may() {
    let poisson = |rate| Poisson::<1, f64>::new([rate]).expect("rates");
    let pair = |a, b| Mixture::new([0.5, 0.5], [poisson(a), poisson(b)]).expect("a mixture");
    let states = [pair(0.0, 0.0), pair(2.0, 3.0)];
    let row = Mixture::row(&states, &[4]).expect("the second state makes it");
    assert_eq!(row.likelihood[0], 0.0);
    let found = row.likelihood[1].ln() + row.log_scale;
    assert_close(found, states[1].log_likelihood(&[4]), 1.0, 1e-14, "row");
    assert_eq!(Mixture::row(&[states[0]; 2], &[4]), None);
    assert_eq!(states[0].log_likelihood(&[4]), f64::NEG_INFINITY);
    assert_eq!(states[0].responsibilities(&[4]), None);
}

#[test]
fn a_diagonal_covariance_is_a_full_one() {
    let mut bits = Bits(7);
    for diagonal in gaussian() {
        let full = FullGaussian::from(diagonal);
        for _ in 0..20 {
            let x: [f64; 2] = [bits.uniform(-9.0, 9.0), bits.uniform(-9.0, 9.0)];
            assert_close(
                full.log_likelihood(&x),
                diagonal.log_likelihood(&x),
                1.0,
                1e-14,
                "log-likelihood",
            );
            let (mut a, mut b) = (VectorSpace::ZERO, VectorSpace::ZERO);
            diagonal.observe(&x, 0.5, &mut a);
            full.observe(&x, 0.5, &mut b);
            for at in [Parametrisation::RATIO, Parametrisation::SOFTMAX] {
                let (a, b) = (diagonal.score(&a, at), full.score(&b, at));
                for d in 0..2 {
                    assert_close(b.mean[d], a.mean[d], 1.0, 1e-13, "mean");
                    assert_close(b.spread[d][d], a.spread[d], 1.0, 1e-13, "spread");
                }
            }
        }
    }
}

#[test]
fn a_mixture_of_mixtures_is_a_mixture() {
    let [a, b, c] = full();
    let nested = Mixture::new(
        [0.25, 0.75],
        [
            Mixture::new([0.5, 0.5], [a, b]).expect("a mixture"),
            Mixture::new([0.125, 0.875], [c, b]).expect("a mixture"),
        ],
    )
    .expect("a mixture");
    let flat = Mixture::new([0.125, 0.78125, 0.09375], [a, b, c]).expect("a mixture");
    let mut bits = Bits(8);
    for _ in 0..50 {
        let x = std::array::from_fn(|_| bits.uniform(-6.0, 6.0));
        let (found, wanted) = (nested.log_likelihood(&x), flat.log_likelihood(&x));
        assert_close(found, wanted, 1.0, 1e-13, "nested");
        let Row { likelihood: [relative], log_scale } =
            Mixture::row(&[nested], &x).expect("an observation");
        assert_close(relative.ln() + log_scale, wanted, 1.0, 1e-13, "row");
    }
}

#[test]
fn far_from_every_component_is_improbable_not_impossible() {
    let gaussian = |mean| Gaussian::<1, f32>::new([mean], [0.01]).expect("a variance");
    let pair = |a, b| Mixture::new([0.5, 0.5], [gaussian(a), gaussian(b)]).expect("a mixture");
    let chain = Chain::<f32, 2>::new([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]).expect("a chain");
    // Only the first state can be reached; the second is exp(40 000) times likelier.
    let hmm = Hmm::new(chain, [pair(0.0, 1.0), pair(29.0, 31.0)]);
    let mut stream = Stream::new(Forward::of(&hmm));
    for _ in 0..3 {
        stream.push(&[30.0]).expect("improbable is possible");
    }
    let wanted = 3.0 * f64::from(pair(0.0, 1.0).log_likelihood(&[30.0]));
    assert_close(f64::from(stream.read()), wanted, 1.0, 1e-6, "log-likelihood");
}

#[test]
fn many_yes_or_no_channels_do_not_vanish() {
    // A likelihood of 10^-120 in f32: the product of 60 channels underflows.
    let rare = Bernoulli::<60, f32>::new([0.01; 60]).expect("probabilities");
    let chain = Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain");
    let hmm = Hmm::new(chain, [rare]);
    let mut direction = ScoreOf::<Bernoulli<60>, 1>::ZERO;
    direction.emission[0] = [1.0; 60];
    let along = hmm.with_directions(&[direction], Parametrisation::SOFTMAX);
    let (mut plain, mut tangent) =
        (Stream::new(Forward::of(&hmm)), Stream::new(Forward::of(&along)));
    for _ in 0..4 {
        plain.push(&[true; 60]).expect("improbable is possible");
        tangent.push(&[true; 60]).expect("improbable is possible");
    }
    let wanted = 240.0 * 0.01_f64.ln();
    assert_close(f64::from(plain.read()), wanted, 1.0, 1e-6, "log-likelihood");
    assert_close(f64::from(tangent.read().value), wanted, 1.0, 1e-6, "log-likelihood");
    assert_close(f64::from(tangent.read().tangent[0]), 240.0 * 0.99, 1.0, 1e-5, "derivative");
}

#[test]
fn views_are_their_owners() {
    let mut bits = Bits(9);
    let (owner, other) = (full()[0], full()[1]);
    let view = owner.view();
    let rebuilt = FullGaussianView::from_factor(view.mean, view.factor);
    assert_eq!((rebuilt.mean, rebuilt.factor), (view.mean, view.factor));
    assert_eq!(rebuilt.constant, view.constant);
    assert_eq!(view.validate(), Ok(()));
    let mut flat = [0.0; 9];
    flat.copy_from_slice(owner.covariance().as_flattened());
    FullGaussianView::factorise(&mut flat, 3).expect("a covariance");
    for (found, wanted) in flat.iter().zip(view.factor) {
        assert_close(*found, *wanted, 1.0, 1e-12, "factor");
    }
    let mut owned = VectorSpace::ZERO;
    let (mut occupancy, mut sum, mut square, mut z) = (0.0, [0.0; 3], [0.0; 9], [0.0; 3]);
    for _ in 0..30 {
        let x = other.sample(&mut bits);
        assert_eq!(view.log_likelihood(&x), owner.log_likelihood(&x));
        owner.observe(&x, 0.5, &mut owned);
        view.observe(&x, 0.5, &mut occupancy, &mut sum, &mut square, &mut z);
    }
    let moments = GaussianMoments { occupancy, sum: &sum, square: &square };
    for (found, wanted) in square.iter().zip(owned.view().square) {
        assert_close(*found, *wanted, 1.0, 1e-14, "products");
    }
    let (mut mean, mut factor, mut scratch) = ([0.0; 3], [0.0; 9], [0.0; 9]);
    view.maximise(moments, 0.0, &mut mean, &mut factor, &mut scratch).expect("an estimate");
    let estimate = owner.maximise(&owned, &Regularisation::NONE).expect("an estimate");
    for (found, wanted) in mean.iter().zip(estimate.mean()) {
        assert_close(*found, *wanted, 1.0, 1e-13, "mean");
    }
    for (found, wanted) in factor.iter().zip(estimate.factor().as_flattened()) {
        assert_close(*found, *wanted, 1.0, 1e-12, "factor");
    }

    let owner = poisson()[0];
    assert_eq!(owner.view().log_likelihood(&[3, 17]), owner.log_likelihood(&[3, 17]));
    let owner = bernoulli()[0];
    let x = [true, false, true];
    assert_eq!(owner.view().log_likelihood(&x), owner.log_likelihood(&x));
    let row = BernoulliView::row(&[owner.view()], x.as_slice());
    assert_eq!(row, Bernoulli::row(&[owner], &x));
}

#[test]
fn entries_are_visited_in_order_once() {
    fn round_trip<S: VectorSpace<f64>>() {
        let flat: Vec<f64> = (1..=S::LENGTH).map(|k| k as f64).collect();
        let value = S::read_from(&flat).expect("as many as there are");
        let mut visited = Vec::new();
        value.for_each(|entry| visited.push(entry));
        assert_eq!(visited, flat);
        assert_eq!(value.dot(&value), flat.iter().map(|x| x * x).sum::<f64>());
        assert_eq!(S::read_from(&flat[1..]), None);
        let mut columns = [S::ZERO, value, S::ZERO];
        S::across(&mut columns, &mut |[a, b, c]| (*a, *c) = (-*b, 2.0 * *b));
        let mut sum = columns[0];
        columns[1..].iter().for_each(|column| sum.add_scaled(1.0, column));
        let mut twice = value;
        twice.scale(2.0);
        assert_eq!(sum, twice);
    }
    type Nested = Mixture<Mixture<FullGaussian<3, f64>, 2>, 3>;
    round_trip::<<Nested as SufficientStatistics>::Statistics>();
    round_trip::<<Nested as SufficientStatistics>::Score>();
    round_trip::<<Poisson<4, f64> as SufficientStatistics>::Statistics>();
    round_trip::<[[f64; 3]; 2]>();
}
