//! A profile as it is fitted and stored: probabilities of a family's positions.

use super::{ProfileError, Residues};

/// Indices of a position's transitions.
pub mod to {
    /// `M_k -> M_k+1`.
    pub const MATCH_MATCH: usize = 0;
    /// `M_k -> I_k`.
    pub const MATCH_INSERT: usize = 1;
    /// `M_k -> D_k+1`.
    pub const MATCH_DELETE: usize = 2;
    /// `I_k -> M_k+1`.
    pub const INSERT_MATCH: usize = 3;
    /// `I_k -> I_k`.
    pub const INSERT_INSERT: usize = 4;
    /// `D_k -> M_k+1`.
    pub const DELETE_MATCH: usize = 5;
    /// `D_k -> D_k+1`.
    pub const DELETE_DELETE: usize = 6;
}

/// The distributions among a position's transitions.
pub(super) const ROWS: [std::ops::Range<usize>; 3] = [0..3, 3..5, 5..7];

/// Largest deviation of a distribution's sum from one: files have five decimals of logarithms.
const TOLERANCE: f64 = 1e-3;

/// Annotation of a position of the profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// Column in the alignment, from 1.
    pub column: Option<usize>,
    /// Consensus residue, reference annotation, mask, consensus structure: `-` if absent.
    pub marks: [char; 4],
}

impl Note {
    /// Nothing noted.
    pub const NONE: Self = Self { column: None, marks: ['-'; 4] };
}

/// A profile of `K` positions: the core model of Plan 7, from `B = M_0` to `E = M_K+1`.
///
/// | what | index | probability |
/// |---|---|---|
/// | `matched` | `[position][residue]`, `K` rows | `p(residue | M_k)` |
/// | `inserted` | `[0..=K][residue]` | `p(residue | I_k)` |
/// | `transition` | `[0..=K][7]`, in the order of [`to`] | of leaving `M_k`, `I_k`, `D_k` |
///
/// Position `k` of the text books is `matched[k - 1]`, `inserted[k]`, `transition[k]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Alphabet of the profile.
    pub residues: &'static Residues,
    /// Name of the profile.
    pub name: String,
    /// The other lines of a file's header, tag and text, in order: accession, description, counts,
    /// thresholds, statistics.
    pub header: Vec<(String, String)>,
    /// Emissions of match states.
    pub matched: Vec<Vec<f64>>,
    /// Emissions of insert states.
    pub inserted: Vec<Vec<f64>>,
    /// Transitions.
    pub transition: Vec<[f64; 7]>,
    /// The family's mean composition, if it is known, `[residue]`.
    pub composition: Option<Vec<f64>>,
    /// Annotation of each position, `K` of them.
    pub notes: Vec<Note>,
}

impl Profile {
    /// Number of positions `K`.
    pub fn len(&self) -> usize {
        self.matched.len()
    }

    /// Returns whether there is no position: never true of a profile that was [checked](Self::validate).
    pub fn is_empty(&self) -> bool {
        self.matched.is_empty()
    }

    /// The text of a header's line.
    pub fn header(&self, tag: &str) -> Option<&str> {
        self.header.iter().find(|(known, _)| known == tag).map(|(_, text)| text.as_str())
    }

    /// Location and slope of the Forward score's exponential tail, `tau` (bits) and `lambda` (per bit), where
    /// the profile has been calibrated: `P(score > s) = exp(-lambda (s - tau))`.
    pub fn forward_tail(&self) -> Option<(f64, f64)> {
        let stats = self.header.iter().filter(|(tag, _)| tag == "STATS");
        stats.map(|(_, text)| text.split_whitespace().collect::<Vec<_>>()).find_map(|words| {
            match words.as_slice() {
                ["LOCAL", "FORWARD", tau, lambda] => {
                    Some((tau.parse().ok()?, lambda.parse().ok()?))
                }
                _ => None,
            }
        })
    }

    /// Probability that a sequence of the family uses `M_k`, `[position]`.
    pub fn occupancy(&self) -> Vec<f64> {
        let mut occupancy: Vec<f64> = Vec::with_capacity(self.len());
        for row in self.transition.iter().take(self.len()) {
            let on = row[to::MATCH_MATCH] + row[to::MATCH_INSERT];
            occupancy.push(match occupancy.last() {
                None => on,
                Some(before) => before * on + (1.0 - before) * row[to::DELETE_MATCH],
            });
        }
        occupancy
    }

    /// The mean composition of the profile's emissions: by occupancies, inserts with their mean length.
    pub fn mean_composition(&self) -> Vec<f64> {
        let occupied = [1.0].into_iter().chain(self.occupancy());
        let mut mean = vec![0.0; self.residues.len()];
        for (k, occupied) in occupied.enumerate() {
            let row = &self.transition[k];
            let length = occupied * row[to::MATCH_INSERT] / row[to::INSERT_MATCH].max(1e-9);
            for (residue, mean) in mean.iter_mut().enumerate() {
                let matched = k.checked_sub(1).map_or(0.0, |k| occupied * self.matched[k][residue]);
                *mean += matched + length * self.inserted[k][residue];
            }
        }
        let total: f64 = mean.iter().sum();
        mean.iter().map(|entry| entry / total).collect()
    }

    /// Checks sizes, and that every distribution is one, to three decimals.
    ///
    /// # Errors
    /// Names the first part that is wrong.
    pub fn validate(&self) -> Result<(), ProfileError> {
        let wrong = |what: String| Err(ProfileError::Model { name: self.name.clone(), what });
        let positions = self.len();
        if positions == 0 {
            return wrong("has no position".into());
        }
        let sizes = [self.inserted.len(), self.transition.len(), self.notes.len() + 1];
        if sizes.into_iter().any(|size| size != positions + 1) {
            return wrong(format!("has parts whose length is not {positions} positions"));
        }
        let is_distribution = |row: &[f64], width: usize| {
            row.len() == width
                && row.iter().all(|p| (0.0..=1.0 + TOLERANCE).contains(p))
                && (row.iter().sum::<f64>() - 1.0).abs() <= TOLERANCE
        };
        let emissions = [("match", 1, &self.matched), ("insert", 0, &self.inserted)];
        for (what, first, rows) in emissions {
            for (k, row) in (first..).zip(rows) {
                if !is_distribution(row, self.residues.len()) {
                    return wrong(format!("{what} emissions of position {k} do not sum to one"));
                }
            }
        }
        for (k, row) in self.transition.iter().enumerate() {
            for (from, range) in ["match", "insert", "delete"].into_iter().zip(ROWS) {
                let row = &row[range];
                if !is_distribution(row, row.len()) {
                    return wrong(format!(
                        "transitions of position {k}'s {from} state do not sum to one"
                    ));
                }
            }
        }
        Ok(())
    }
}
