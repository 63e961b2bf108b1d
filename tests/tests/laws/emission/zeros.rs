//! Probabilities of exactly zero: they stay, and their `ratio` score is what leaving them would gain.

use fishweir_core::emission::{
    Categorical, Emission, Gaussian, Mixture, Parametrisation, Regularisation, Sample,
    SufficientStatistics, VectorSpace,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::score::{Score, ScoreOf};
use fishweir_core::{ErrorKind, ModelError, Part};

use super::displace::{Displace, moved};
use super::models::{LEFT_TO_RIGHT, assert_close, log_likelihood, statistics};

const RATIO: Parametrisation = Parametrisation::RATIO;
const SOFTMAX: Parametrisation = Parametrisation::SOFTMAX;

/// Difference of `f` at zero, of third order, from steps forward.
fn one_sided(f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 2e-4;
    let [f0, f1, f2, f3] = [0.0, 1.0, 2.0, 3.0].map(|k| f(k * STEP));
    (-11.0 * f0 + 18.0 * f1 - 9.0 * f2 + 2.0 * f3) / (6.0 * STEP)
}

fn sparse_categorical() -> Hmm<Categorical<3, f64>, 3> {
    let rows = [[0.75, 0.25, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]];
    Hmm::new(
        Chain::<f64, 3>::new([1.0, 0.0, 0.0], LEFT_TO_RIGHT).expect("a chain"),
        rows.map(|p| Categorical::<3, f64>::new(p).expect("a distribution")),
    )
}

fn check_every_entry<E, const N: usize>(hmm: &Hmm<E, N>, x: &[Option<E::Observation>])
where
    E: Displace<Observation: Sized>,
{
    let expected = statistics(hmm, x);
    let score: ScoreOf<E, N> = Score::of(hmm, &expected, RATIO);
    let mut flat = vec![0.0; ScoreOf::<E, N>::LENGTH];
    score.write_to(&mut flat);
    for (entry, &found) in flat.iter().enumerate() {
        let mut unit = vec![0.0; flat.len()];
        unit[entry] = 1.0;
        let unit = ScoreOf::<E, N>::read_from(&unit).expect("as many as there are");
        let wanted = one_sided(|step| log_likelihood(&moved(hmm, &unit, step, RATIO), x));
        assert_close(found, wanted, 1.0, 2e-6, &format!("entry {entry}"));
    }
}

#[test]
fn ratio_scores_of_zeros_are_the_limits() {
    let x: Vec<Option<usize>> = [0, 1, 0, 1, 2, 1, 2, 0, 2].map(Some).to_vec();
    check_every_entry(&sparse_categorical(), &x);

    let [a, b, c] = *sparse_categorical().emission();
    let mixture = |weight, pair| Mixture::new(weight, pair).expect("a mixture");
    let mixtures =
        [mixture([1.0, 0.0], [a, b]), mixture([0.5, 0.5], [b, c]), mixture([0.0, 1.0], [a, c])];
    check_every_entry(&Hmm::new(*sparse_categorical().chain(), mixtures), &x);
}

#[test]
fn ratio_scores_of_unused_gaussian_components_are_the_limits() {
    let gaussian = |mean| Gaussian::<1, f64>::new([mean], [0.5]).expect("a distribution");
    let mixture = |weight, m| Mixture::new(weight, m).expect("a mixture");
    let hmm = Hmm::new(
        Chain::<f64, 2>::new([0.5, 0.5], [[0.75, 0.25], [0.0, 1.0]]).expect("a chain"),
        [
            mixture([1.0, 0.0, 0.0], [0.0, 1.0, -1.0].map(gaussian)),
            mixture([0.0, 0.25, 0.75], [0.5, 2.0, 1.5].map(gaussian)),
        ],
    );
    let x: Vec<_> = [0.2, -0.4, 0.9, 1.1, 2.5, 0.1, 1.7].map(|x| Some([x])).to_vec();
    check_every_entry(&hmm, &x);
}

#[test]
fn softmax_leaves_zeros_alone() {
    let hmm = sparse_categorical();
    let x: Vec<Option<usize>> = [0, 1, 0, 1, 2, 1, 2, 0, 2].map(Some).to_vec();
    let score = Score::of(&hmm, &statistics(&hmm, &x), SOFTMAX);
    assert_eq!((score.initial[1], score.transition[0][2], score.emission[1][0]), (0.0, 0.0, 0.0));
    let mut everywhere = ScoreOf::<Categorical<3, f64>, 3>::ZERO;
    everywhere.for_each_mut(|entry| *entry = 1.5);
    everywhere.transition[0][2] = -3.0;
    let along = hmm.with_directions(&[everywhere], SOFTMAX);
    assert_eq!(along.chain().transition()[0][2].tangent, [0.0]);
    assert_eq!(along.emission()[1].probability()[0].tangent, [0.0]);
}

#[test]
fn conversions_that_lose_a_zero_say_which() {
    let hmm = sparse_categorical();
    let x: Vec<Option<usize>> = [0, 1, 2].map(Some).to_vec();
    let score = Score::of(&hmm, &statistics(&hmm, &x), SOFTMAX);
    let refused = score.convert_score(&hmm, SOFTMAX, RATIO);
    assert_eq!(refused, Err(ModelError::new(Part::Initial, ErrorKind::NotPositive, 0, 1)));

    let mut direction = ScoreOf::<Categorical<3, f64>, 3>::ZERO;
    assert_eq!(direction.convert_direction(&hmm, RATIO, SOFTMAX), Ok(direction));
    direction.emission[2][1] = 1.0;
    let refused = direction.convert_direction(&hmm, RATIO, SOFTMAX);
    assert_eq!(refused, Err(ModelError::new(Part::Probability, ErrorKind::NotPositive, 2, 1)));
    direction.transition[1][0] = 1.0;
    let refused = direction.convert_direction(&hmm, RATIO, SOFTMAX);
    assert_eq!(refused, Err(ModelError::new(Part::Transition, ErrorKind::NotPositive, 1, 0)));
}

#[test]
fn estimates_keep_zeros_whatever_was_asked_for() {
    let hmm = sparse_categorical();
    let x: Vec<Option<usize>> = [0, 1, 0, 1, 2, 1, 2, 0, 2].map(Some).to_vec();
    let priors = Regularisation { variance_floor: 0.0, pseudo_count: 0.5 };
    let next = hmm.maximise(&statistics(&hmm, &x), &priors).expect("an estimate");
    let zeros = |hmm: &Hmm<Categorical<3, f64>, 3>| {
        let mut zeros: Vec<bool> = hmm.chain().initial().iter().map(|p| *p == 0.0).collect();
        zeros.extend(hmm.chain().transition().iter().flatten().map(|p| *p == 0.0));
        zeros.extend(hmm.emission().iter().flat_map(|e| e.probability()).map(|p| *p == 0.0));
        zeros
    };
    assert_eq!(zeros(&next), zeros(&hmm));
}

#[test]
fn a_component_that_has_no_weight_changes_nothing() {
    let gaussian = |mean| Gaussian::<1, f32>::new([mean], [1e-4]).expect("a distribution");
    // The observation lies on the component that is not there, far from the one that is.
    let mixture = Mixture::new([1.0, 0.0], [gaussian(0.0), gaussian(5.0)]).expect("a mixture");
    let x = [5.0];
    assert_eq!(mixture.log_likelihood(&x), gaussian(0.0).log_likelihood(&x));
    assert_eq!(mixture.responsibilities(&x), Some([1.0, 0.0]));
    let mut collected = <Mixture<Gaussian<1, f32>, 2> as SufficientStatistics>::Statistics::ZERO;
    mixture.observe(&x, 1.0, &mut collected);
    assert_eq!(collected.weight, [1.0, 0.0]);
    collected.for_each(|entry| assert!(entry.is_finite()));
    // Its limit is astronomical, and a number.
    mixture.observe_zeros(&x, 1.0, mixture.log_likelihood(&x), &mut collected);
    assert!(collected.weight[1] > 1e18 && collected.weight[1].is_finite());
    mixture.score(&collected, RATIO).for_each(|entry| assert!(!entry.is_nan()));
}

#[test]
fn draws_avoid_what_cannot_be() {
    let hmm = sparse_categorical();
    let mut bits = super::models::Bits(3);
    for _ in 0..500 {
        assert_ne!(hmm.emission()[0].sample(&mut bits), 2);
    }
}
