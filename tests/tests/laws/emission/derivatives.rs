//! Tangents and scores are derivatives of the log-likelihood, in every parametrisation.

use fishweir_core::emission::{Emission, Row, Sample, VectorSpace};
use fishweir_core::filter::Forward;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Scalar;
use fishweir_core::score::{Score, ScoreOf};

use super::displace::{Displace, moved};
use super::models::{
    Bits, PARAMETRISATIONS, Visit, after, assert_close, log_likelihood, sequence, statistics,
    visit_all,
};

/// Fourth-order central difference of `f` at zero.
fn difference(f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 5e-4;
    (8.0 * (f(STEP) - f(-STEP)) - (f(2.0 * STEP) - f(-2.0 * STEP))) / (12.0 * STEP)
}

struct Tangents;

impl Visit for Tangents {
    fn visit<E: Displace + Sample, const N: usize>(&mut self, name: &str, hmm: &Hmm<E, N>) {
        let mut bits = Bits(1);
        for coordinates in PARAMETRISATIONS {
            let emission = &hmm.emission()[0];
            let directions: [E::Score; 2] = std::array::from_fn(|_| bits.direction());
            let along = [emission.with_directions(&directions, coordinates)];
            along[0].validate().expect("directions leave a distribution one");
            for _ in 0..8 {
                let x = E::in_part(emission.sample(&mut bits), &mut bits);
                let log = along[0].log_likelihood(&x);
                let Row { likelihood: [relative], log_scale } =
                    E::WithDirections::<2>::row(&along, &x).expect("an observation");
                assert_close(log.value, emission.log_likelihood(&x), 1.0, 1e-14, name);
                assert_close(relative.value.ln() + log_scale, log.value, 1.0, 1e-13, name);
                for (c, direction) in directions.iter().enumerate() {
                    let wanted = difference(|step| {
                        emission.displaced(direction, step, coordinates).log_likelihood(&x)
                    });
                    assert_close(log.tangent[c], wanted, 1.0, 1e-8, name);
                    // The row's tangent is of the likelihood, not of its logarithm.
                    let rate = relative.tangent[c] / relative.value;
                    assert_close(rate, log.tangent[c], 1.0, 1e-12, name);
                }
            }
        }
    }
}

#[test]
fn tangents_are_differences() {
    visit_all(&mut Tangents);
}

struct Scores;

impl Visit for Scores {
    /// Coordinate by coordinate. Steps from a probability of zero go both ways only as logits;
    /// `zeros.rs` steps from them as ratios, one way.
    fn visit<E: Displace + Sample, const N: usize>(&mut self, name: &str, hmm: &Hmm<E, N>) {
        let x = sequence(hmm, 9);
        let expected = statistics(hmm, &x);
        for coordinates in PARAMETRISATIONS {
            let score: ScoreOf<E, N> = Score::of(hmm, &expected, coordinates);
            let mut flat = vec![0.0; ScoreOf::<E, N>::LENGTH];
            assert_eq!(score.write_to(&mut flat), flat.len());
            for (entry, &found) in flat.iter().enumerate() {
                let mut unit = vec![0.0; flat.len()];
                unit[entry] = 1.0;
                let unit = ScoreOf::<E, N>::read_from(&unit).expect("as many as there are");
                if below_zero(hmm, &unit) {
                    continue;
                }
                let at = |step| log_likelihood(&moved(hmm, &unit, step, coordinates), &x);
                let what = format!("{name}, {coordinates:?}, entry {entry}");
                assert_close(found, difference(at), 1.0, 2e-7, &what);
            }
        }
    }
}

/// Whether a direction moves a probability of zero.
fn below_zero<E: Displace, const N: usize>(hmm: &Hmm<E, N>, w: &ScoreOf<E, N>) -> bool {
    let moves = |p: &f64, w: &f64| *p == 0.0 && *w != 0.0;
    let rows = hmm.chain().transition().iter().flatten().zip(w.transition.iter().flatten());
    rows.chain(hmm.chain().initial().iter().zip(&w.initial)).any(|(p, w)| moves(p, w))
}

#[test]
fn scores_are_differences() {
    visit_all(&mut Scores);
}

struct Directions;

impl Visit for Directions {
    fn visit<E: Displace + Sample, const N: usize>(&mut self, name: &str, hmm: &Hmm<E, N>) {
        let mut bits = Bits(2);
        let x = sequence(hmm, 40);
        let expected = statistics(hmm, &x);
        for from in PARAMETRISATIONS {
            let score = Score::of(hmm, &expected, from);
            let directions: [ScoreOf<E, N>; 3] = std::array::from_fn(|_| bits.direction());
            let tangents = after(Forward::of(&hmm.with_directions(&directions, from)), &x).read();
            for (c, direction) in directions.iter().enumerate() {
                let found = score.dot(direction);
                assert_close(found, tangents.tangent[c], 1.0, 1e-10, name);
                assert_eq!(tangents.derivative(c), Some(tangents.tangent[c]));
                for to in PARAMETRISATIONS {
                    // A step of a probability of zero has no logit; all else converts both ways.
                    let Ok(converted) = direction.convert_direction(hmm, from, to) else {
                        assert!(name.contains("left") || name.contains("full"), "{name}");
                        continue;
                    };
                    let same = Score::of(hmm, &expected, to).dot(&converted);
                    assert_close(same, found, 1.0, 1e-9, name);
                }
            }
            for to in PARAMETRISATIONS {
                let Ok(converted) = score.convert_score(hmm, from, to) else { continue };
                let mut gap = converted;
                gap.add_scaled(-1.0, &Score::of(hmm, &expected, to));
                gap.for_each(|gap| assert_close(gap, 0.0, 1.0, 1e-9, name));
            }
        }
    }
}

#[test]
fn a_score_times_a_direction_is_the_tangent_filter() {
    visit_all(&mut Directions);
}
