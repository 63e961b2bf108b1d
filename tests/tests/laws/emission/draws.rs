//! Draws come from the distribution whose score they are scored with: a score's mean is zero.

use fishweir_core::emission::{Parametrisation, Sample, VectorSpace};
use fishweir_core::hmm::Hmm;

use super::displace::Displace;
use super::models::{Bits, Visit, visit_all};

struct Centred;

impl Visit for Centred {
    fn visit<E: Displace + Sample, const N: usize>(&mut self, name: &str, hmm: &Hmm<E, N>) {
        const DRAWS: usize = 4000;
        let mut bits = Bits(6);
        for emission in hmm.emission() {
            let length = E::Score::LENGTH;
            let (mut sum, mut square) = (vec![0.0; length], vec![0.0; length]);
            for _ in 0..DRAWS {
                let mut statistics = E::Statistics::ZERO;
                let x = E::in_part(emission.sample(&mut bits), &mut bits);
                emission.observe(&x, 1.0, &mut statistics);
                let mut flat = vec![0.0; length];
                emission.score(&statistics, Parametrisation::SOFTMAX).write_to(&mut flat);
                for ((sum, square), score) in sum.iter_mut().zip(&mut square).zip(flat) {
                    *sum += score;
                    *square += score * score;
                }
            }
            for (entry, (sum, square)) in sum.iter().zip(&square).enumerate() {
                // Five standard errors: one false alarm in some 10^4 runs of this seed's kind.
                assert!(sum.abs() <= 5.0 * square.sqrt(), "{name}, entry {entry}: {sum}");
                assert!(*square > 0.0, "{name}, entry {entry} never moved");
            }
        }
    }
}

#[test]
fn scores_of_draws_have_mean_zero() {
    visit_all(&mut Centred);
}
