//! Construction of a profile from an alignment: match columns, weights, counts, priors.

use super::alignment::is_gap;
use super::model::{Note, ROWS, to};
use super::prior::ProfilePrior;
use super::{Alignment, Profile, ProfileError, Residues};
use fishweir::internals::Elementary;

/// Effective number of sequences of an alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effective {
    /// The number at which match states have this mean relative entropy, in bits, against the background, or all sequences if
    /// even they have less.
    ///
    /// Short profiles get more, so that they can be found at all.
    Entropy(f64),
    /// A fixed number.
    Count(f64),
    /// The number of its sequences.
    All,
}

/// Options that turn an alignment into a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Build {
    /// A column is a match column where at least this share of the weight has residues. Marks of the
    /// alignment (`RF`) take no part.
    pub match_fraction: f64,
    /// The prior; `None` for that of the alphabet.
    pub prior: Option<ProfilePrior>,
    /// Effective number of sequences of the alignment.
    pub effective: Effective,
}

impl Default for Build {
    /// Half, the alphabet's prior, and HMMER 3's entropies: 0.59 bits for amino acids.
    fn default() -> Self {
        Self { match_fraction: 0.5, prior: None, effective: Effective::Entropy(0.59) }
    }
}

/// Position-based weights, which sum to the number of sequences.
///
/// ```text
/// w_s ~ 1/l_s sum_c 1 / (kinds of residue in column c  x  sequences with s's residue there)
/// ```
///
/// with `l_s` the number of residues of `s`. Source: Henikoff and Henikoff, "Position-based sequence
/// weights", 1994.
pub fn position_weights(alignment: &Alignment) -> Vec<f64> {
    weights_of(alignment, alignment.residues())
}

/// [`position_weights`] of rows of an alphabet that is known.
pub(super) fn weights_of(alignment: &Alignment, residues: &Residues) -> Vec<f64> {
    let symbol = |row: &[char], column: usize| {
        residues.symbol(row[column]).filter(|&symbol| symbol < residues.len())
    };
    let mut weights = vec![0.0; alignment.rows.len()];
    let mut lengths = vec![0.0_f64; alignment.rows.len()];
    for column in 0..alignment.columns() {
        let mut counts = vec![0.0; residues.len()];
        for row in &alignment.rows {
            if let Some(symbol) = symbol(row, column) {
                counts[symbol] += 1.0;
            }
        }
        let kinds = counts.iter().filter(|count| **count > 0.0).count() as f64;
        for (row, (weight, length)) in
            alignment.rows.iter().zip(weights.iter_mut().zip(&mut lengths))
        {
            if let Some(symbol) = symbol(row, column) {
                *weight += 1.0 / (kinds * counts[symbol]);
                *length += 1.0;
            }
        }
    }
    for (weight, length) in weights.iter_mut().zip(&lengths) {
        *weight /= length.max(1.0);
    }
    let total: f64 = weights.iter().sum();
    let scale = if total > 0.0 { weights.len() as f64 / total } else { 0.0 };
    weights.iter().map(|weight| weight * scale).collect()
}

/// Position of a sequence in the core model's states.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Match(usize),
    Insert(usize),
    Delete(usize),
}

/// Weighted counts in the shape of a profile.
pub(super) struct Counts {
    pub(super) matched: Vec<Vec<f64>>,
    pub(super) inserted: Vec<Vec<f64>>,
    pub(super) transition: Vec<[f64; 7]>,
}

/// Probabilities in the shape of a profile, and for how many sequences the counts stood.
pub(super) struct Estimate {
    pub(super) matched: Vec<Vec<f64>>,
    pub(super) inserted: Vec<Vec<f64>>,
    pub(super) transition: Vec<[f64; 7]>,
    pub(super) effective: f64,
}

impl Build {
    /// The profile of an alignment.
    ///
    /// Sequences are weighted by [`position_weights`], residues and transitions of the match columns counted,
    /// counts scaled to the effective number of sequences, and probabilities are the means of their
    /// posteriors. A residue inserted beside a deletion is taken for the match that was deleted: profiles
    /// have no way between the two.
    ///
    /// # Errors
    /// A character that is no residue, or an alignment without a match column.
    pub fn profile(&self, alignment: &Alignment) -> Result<Profile, ProfileError> {
        self.profile_of(alignment, alignment.residues())
    }

    /// Builds a profile over a known alphabet: a few sequences alone may look as if they were of another.
    ///
    /// # Errors
    /// As [`profile`](Self::profile).
    pub fn profile_of(
        &self,
        alignment: &Alignment,
        residues: &'static Residues,
    ) -> Result<Profile, ProfileError> {
        let weights = weights_of(alignment, residues);
        let total: f64 = weights.iter().sum();
        let columns: Vec<usize> = (0..alignment.columns())
            .filter(|&column| {
                let rows = alignment.rows.iter().zip(&weights);
                let filled: f64 =
                    rows.filter(|(row, _)| !is_gap(row[column])).map(|(_, weight)| weight).sum();
                filled > 0.0 && filled >= self.match_fraction * total
            })
            .collect();
        if columns.is_empty() {
            let (name, fraction) = (alignment.name.clone(), self.match_fraction);
            return Err(ProfileError::NoMatch { name, fraction });
        }
        let counts = count(alignment, residues, &weights, &columns)?;
        let sequences = alignment.rows.len() as f64;
        let Estimate { matched, inserted, transition, effective } =
            self.estimate(&counts, residues, sequences);
        let notes = columns
            .iter()
            .zip(&matched)
            .map(|(&column, row)| note(alignment, residues, column, row));
        let about = |tag: &str| {
            let found = alignment.about.iter().find(|(known, _)| known == tag);
            found.map(|(_, value)| value.clone())
        };
        let mut header = Vec::new();
        for (tag, value) in [("ACC", about("AC")), ("DESC", about("DE"))] {
            header.extend(value.map(|value| (tag.to_owned(), value)));
        }
        header.push(("NSEQ".to_owned(), alignment.rows.len().to_string()));
        header.push(("EFFN".to_owned(), format!("{effective:.6}")));
        let mut profile = Profile {
            residues,
            name: alignment.name.clone(),
            header,
            notes: notes.collect(),
            matched,
            inserted,
            transition,
            composition: None,
        };
        profile.composition = Some(profile.mean_composition());
        profile.validate()?;
        Ok(profile)
    }

    /// Estimates probabilities from weighted counts of `sequences` sequences: means of their posteriors.
    pub(super) fn estimate(
        &self,
        counts: &Counts,
        residues: &Residues,
        sequences: f64,
    ) -> Estimate {
        let prior = self.prior.clone().unwrap_or_else(|| ProfilePrior::of(residues));
        let effective = match self.effective {
            Effective::All => sequences,
            Effective::Count(count) => count,
            Effective::Entropy(bits) => effective_count(counts, &prior, residues, bits, sequences),
        };
        let last = counts.matched.len();
        let scale = effective / sequences;
        let mean = |prior: &super::prior::Dirichlets, counts: &[f64]| {
            prior.mean(&counts.iter().map(|count| count * scale).collect::<Vec<_>>())
        };
        let matched: Vec<Vec<f64>> =
            counts.matched.iter().map(|row| mean(&prior.matched, row)).collect();
        let inserted = counts.inserted.iter().map(|row| mean(&prior.inserted, row)).collect();
        let mut transition: Vec<[f64; 7]> = Vec::with_capacity(counts.transition.len());
        for (k, counts) in counts.transition.iter().enumerate() {
            let mut row = [0.0; 7];
            for (range, prior) in ROWS.into_iter().zip(&prior.transition) {
                row[range.clone()].copy_from_slice(&mean(prior, &counts[range]));
            }
            if k == last {
                // From the last position there is nowhere to delete.
                let on = row[to::MATCH_MATCH] + row[to::MATCH_INSERT];
                row[to::MATCH_MATCH] /= on;
                row[to::MATCH_INSERT] /= on;
                row[to::MATCH_DELETE] = 0.0;
            }
            if k == 0 || k == last {
                (row[to::DELETE_MATCH], row[to::DELETE_DELETE]) = (1.0, 0.0);
            }
            transition.push(row);
        }
        Estimate { matched, inserted, transition, effective }
    }
}

/// Annotation of a match column: the likeliest residue, upper case if it is likely.
fn note(alignment: &Alignment, residues: &Residues, column: usize, row: &[f64]) -> Note {
    let likeliest = residues.symbols.chars().zip(row).max_by(|a, b| a.1.total_cmp(b.1));
    let clear = if residues.len() > 4 { 0.5 } else { 0.9 };
    let consensus =
        likeliest.map_or(
            '-',
            |(residue, &p)| {
                if p >= clear { residue } else { residue.to_ascii_lowercase() }
            },
        );
    let mark = |tag: &str| {
        let mark = alignment.marks(tag).and_then(|marks| marks.get(column).copied());
        mark.unwrap_or('-')
    };
    Note { column: Some(column + 1), marks: [consensus, mark("RF"), mark("MM"), mark("SS_cons")] }
}

fn count(
    alignment: &Alignment,
    residues: &Residues,
    weights: &[f64],
    columns: &[usize],
) -> Result<Counts, ProfileError> {
    let (positions, width) = (columns.len(), residues.len());
    let mut counts = Counts {
        matched: vec![vec![0.0; width]; positions],
        inserted: vec![vec![0.0; width]; positions + 1],
        transition: vec![[0.0; 7]; positions + 1],
    };
    for ((name, row), &weight) in alignment.names.iter().zip(&alignment.rows).zip(weights) {
        let mut places: Vec<(Place, Option<char>)> = Vec::with_capacity(row.len());
        let mut next = 0;
        for (column, &found) in row.iter().enumerate() {
            let is_match = columns.get(next) == Some(&column);
            let residue = Some(found).filter(|&found| !is_gap(found));
            match (is_match, residue) {
                (true, Some(_)) => places.push((Place::Match(next), residue)),
                (true, None) => places.push((Place::Delete(next), None)),
                (false, Some(_)) => places.push((Place::Insert(next), residue)),
                (false, None) => {}
            }
            next += usize::from(is_match);
        }
        doctor(&mut places);
        let mut from = (0, 0);
        for &(place, residue) in &places {
            let shares = match residue {
                None => Vec::new(),
                Some(residue) => match residues.symbol(residue) {
                    Some(symbol) => residues.shares(symbol),
                    None => {
                        let is_residue = |found: &char| !is_gap(*found);
                        let residues_of_row = || row.iter().copied().filter(is_residue);
                        let position = residues_of_row().position(|found| found == residue);
                        return Err(ProfileError::Residue {
                            name: name.clone(),
                            position: position.unwrap_or_default() + 1,
                            found: residue,
                            alphabet: residues.name,
                        });
                    }
                },
            };
            let (way, to, emitted) = match place {
                Place::Match(k) => ([0, 3, 5][from.0], (0, k + 1), Some(&mut counts.matched[k])),
                Place::Insert(k) => ([1, 4, 5][from.0], (1, k), Some(&mut counts.inserted[k])),
                Place::Delete(k) => ([2, 3, 6][from.0], (2, k + 1), None),
            };
            counts.transition[from.1][way] += weight;
            if let Some(row) = emitted {
                for (entry, share) in shares {
                    row[entry] += weight * share;
                }
            }
            from = to;
        }
        counts.transition[from.1][[0, 3, 5][from.0]] += weight;
    }
    Ok(counts)
}

/// Makes a match of an insertion next to a deletion.
fn doctor(places: &mut Vec<(Place, Option<char>)>) {
    let mut at = 0;
    while let Some(&[(a, first), (b, second)]) = places.get(at..at + 2) {
        let merged = match (a, b) {
            (Place::Delete(k), Place::Insert(_)) => Some((k, second)),
            (Place::Insert(_), Place::Delete(k)) => Some((k, first)),
            _ => None,
        };
        match merged {
            Some((k, residue)) => {
                places.splice(at..at + 2, [(Place::Match(k), residue)]);
                at = at.saturating_sub(1);
            }
            None => at += 1,
        }
    }
}

/// The number of sequences at which match states have a mean relative entropy of `bits` bits.
fn effective_count(
    counts: &Counts,
    prior: &ProfilePrior,
    residues: &Residues,
    bits: f64,
    sequences: f64,
) -> f64 {
    let positions = counts.matched.len() as f64;
    // What a short profile needs to stand out of a database: 45 bits, less the choice of its part.
    let parts = (2.0 / (positions * (positions + 1.0))).portable_log2();
    let target = bits.max((45.0 - parts) / positions);
    let entropy = |effective: f64| {
        let mut sum = 0.0;
        for row in &counts.matched {
            let scaled: Vec<f64> = row.iter().map(|count| count * effective / sequences).collect();
            let mean = prior.matched.mean(&scaled);
            let terms = mean.iter().zip(residues.background);
            sum += terms.map(|(p, f)| p * (p / f).portable_log2()).sum::<f64>();
        }
        sum / positions
    };
    if entropy(sequences) <= target {
        return sequences;
    }
    let (mut low, mut high) = (0.0, sequences);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if entropy(middle) > target { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}
