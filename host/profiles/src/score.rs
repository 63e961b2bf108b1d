//! Fisher scores of a profile: the gradient of a sequence's log-odds with respect to its probabilities.

use fishweir_core::emission::{Probabilities, score_row};

use super::model::{ROWS, to};
use super::posterior::Expectations;
use super::search::local_total;
use super::{Mode, Profile};

/// A gradient in the shape of a [`Profile`]. Insertions emit as the null model and have no gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileScore {
    /// `[position][residue]`.
    pub matched: Vec<Vec<f64>>,
    /// `[0..=K][7]`: what leaves `I_0`, `I_K`, `M_K` and `D_0` is not searched with, and has none.
    pub transition: Vec<[f64; 7]>,
}

impl Profile {
    /// Expected counts of residues in match states, `[position][residue]`: a code for several residues
    /// counts as its share of each.
    pub fn residue_counts(&self, expected: &Expectations) -> Vec<Vec<f64>> {
        let positions = self.len();
        let mut counts = vec![vec![0.0; self.residues.len()]; positions];
        for symbol in 0..self.residues.symbols() {
            for (residue, share) in self.residues.shares(symbol) {
                for (k, counts) in counts.iter_mut().enumerate() {
                    counts[residue] += share * expected.matched[symbol * positions + k];
                }
            }
        }
        counts
    }

    /// Derivatives of the log-odds by the logarithm of each transition: expected counts, and what a
    /// transition does to where domains begin.
    pub fn transition_counts(&self, expected: &Expectations, mode: Mode) -> Vec<[f64; 7]> {
        let mut counts = vec![[0.0; 7]; self.len() + 1];
        let last = self.len();
        for (row, steps) in counts.iter_mut().skip(1).zip(&expected.steps).take(last - 1) {
            *row = [
                steps.match_match,
                steps.match_insert,
                steps.match_delete,
                steps.insert_match,
                steps.insert_insert,
                steps.delete_match,
                steps.delete_delete,
            ];
        }
        if mode.local {
            self.count_local_entries(expected, &mut counts);
        } else {
            self.count_glocal_entries(expected, &mut counts);
        }
        counts
    }

    /// Counts local entries, by the derivative of `enter_k = occ_k / sum_i occ_i (K - i + 1)`, back through the occupancies.
    fn count_local_entries(&self, expected: &Expectations, counts: &mut [[f64; 7]]) {
        let occupancy = self.occupancy();
        let entered: f64 = expected.steps.iter().map(|steps| steps.enter).sum();
        let per_part = entered / local_total(&occupancy);
        let positions = self.len();
        let mut rate = 0.0;
        for k in (0..positions).rev() {
            rate += expected.steps[k].enter / occupancy[k] - per_part * (positions - k) as f64;
            let (row, counts) = (&self.transition[k], &mut counts[k]);
            // The occupancy of the position before; before the first all are in the begin state.
            let before = k.checked_sub(1).map_or(1.0, |before| occupancy[before]);
            for way in [to::MATCH_MATCH, to::MATCH_INSERT] {
                counts[way] += row[way] * rate * before;
            }
            if k > 0 {
                counts[to::DELETE_MATCH] += row[to::DELETE_MATCH] * rate * (1.0 - before);
                rate *= row[to::MATCH_MATCH] + row[to::MATCH_INSERT] - row[to::DELETE_MATCH];
            }
        }
    }

    /// Every entry is a product of the deletions before it.
    fn count_glocal_entries(&self, expected: &Expectations, counts: &mut [[f64; 7]]) {
        let begin = &self.transition[0];
        let on = begin[to::MATCH_MATCH] + begin[to::MATCH_INSERT];
        for way in [to::MATCH_MATCH, to::MATCH_INSERT] {
            counts[0][way] += expected.steps[0].enter * begin[way] / on;
        }
        let mut later = 0.0;
        for k in (1..self.len()).rev() {
            counts[k][to::DELETE_DELETE] += later;
            counts[k][to::DELETE_MATCH] += expected.steps[k].enter;
            later += expected.steps[k].enter;
        }
        counts[0][to::MATCH_DELETE] += later;
    }

    /// The score of a sequence, of which these are the expected counts in a mode.
    ///
    /// ```text
    /// ratio    d log-odds / d a_j at a = p, p_j = a_j / sum a       n_j / p_j - n
    /// softmax  by logits                                            n_j - p_j n
    /// ```
    ///
    /// Source: Jaakkola, Diekhans and Haussler, "A discriminative framework for detecting remote protein
    /// homologies", 2000.
    pub fn score(
        &self,
        expected: &Expectations,
        mode: Mode,
        parametrisation: Probabilities,
    ) -> ProfileScore {
        let row = |probability: &[f64], counts: &[f64]| {
            let mut score = vec![0.0; counts.len()];
            score_row(probability, counts, parametrisation, &mut score);
            score
        };
        let counts = self.residue_counts(expected);
        let matched = self.matched.iter().zip(&counts).map(|(p, counts)| row(p, counts)).collect();
        let mut transition = self.transition_counts(expected, mode);
        for (counts, probability) in transition.iter_mut().zip(&self.transition) {
            for range in ROWS {
                let score = row(&probability[range.clone()], &counts[range.clone()]);
                counts[range].copy_from_slice(&score);
            }
        }
        ProfileScore { matched, transition }
    }
}
