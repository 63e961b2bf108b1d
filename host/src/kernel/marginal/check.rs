//! Checks of a model's entries: each error names an entry and a remedy.

use super::error::ModelError;
use crate::data::{Alphabet, Kind};
use crate::runtime::{LARGEST_ALPHABET, STATE_SIZES, padded, padded_states};
use fishweir_core::number::array_of;

/// Largest deviation of an `f64` row of probabilities from the sum one, as in the core.
const TOLERANCE: f64 = 1e-9;

/// Checks that recursions are compiled for this number of states.
pub(super) fn states(entry: &str, states: usize) -> Result<(), ModelError> {
    match padded_states(states) {
        Some(_) => Ok(()),
        None => Err(ModelError::new(
            entry,
            format!(
                "{states} states; between 1 and {} are possible",
                STATE_SIZES[STATE_SIZES.len() - 1]
            ),
        )),
    }
}

/// Checks that recursions are compiled for this number of symbols.
pub(super) fn alphabet(alphabet: &Alphabet) -> Result<usize, ModelError> {
    let symbols = alphabet.len();
    if symbols <= LARGEST_ALPHABET {
        return Ok(symbols);
    }
    let what = format!("{symbols} symbols; at most {LARGEST_ALPHABET} are possible");
    Err(ModelError::new("alphabet", what))
}

/// A list of the length that others call for.
pub(super) fn length(entry: &str, found: usize, needed: usize) -> Result<(), ModelError> {
    if found == needed {
        return Ok(());
    }
    Err(ModelError::new(entry, format!("{found} entries, and {needed} are needed")))
}

/// A probability, or a weight that may be any.
pub(super) fn probability(entry: impl FnOnce() -> String, value: f64) -> Result<(), ModelError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ModelError::new(
        entry(),
        format!("{value} is not a probability; write a number from 0 to 1"),
    ))
}

/// A row of probabilities that sums to one with `more`.
pub(super) fn distribution(entry: &str, row: &[f64], more: f64) -> Result<(), ModelError> {
    for (index, &p) in row.iter().enumerate() {
        probability(|| format!("{entry}[{index}]"), p)?;
    }
    let sum = row.iter().sum::<f64>() + more;
    if (sum - 1.0).abs() <= TOLERANCE {
        return Ok(());
    }
    let with = if more == 0.0 { "" } else { " with what belongs to it" };
    let what = format!("sums to {sum}{with}; its probabilities must sum to 1");
    Err(ModelError::new(entry, what))
}

/// Checks the size of a matrix, and that each row with `more` added is a distribution.
pub(super) fn matrix(
    entry: &str,
    rows: &[Vec<f64>],
    size: (usize, usize),
    more: impl Fn(usize) -> f64,
) -> Result<(), ModelError> {
    length(entry, rows.len(), size.0)?;
    for (index, row) in rows.iter().enumerate() {
        let entry = format!("{entry}[{index}]");
        length(&entry, row.len(), size.1)?;
        distribution(&entry, row, more(index))?;
    }
    Ok(())
}

/// Kind of observations of a hidden Markov model, from the one of two entries that is given.
pub(super) fn observed(
    alphabet: Option<&Alphabet>,
    channels: Option<&[String]>,
) -> Result<Kind, ModelError> {
    match (alphabet, channels) {
        (Some(alphabet), None) => Ok(Kind::Symbols(alphabet.clone())),
        (None, Some(channels)) if !channels.is_empty() => Ok(Kind::Channels(channels.to_vec())),
        (None, Some(_)) => Err(ModelError::new("channels", "no channel is named")),
        (Some(_), Some(_)) => Err(ModelError::new(
            "channels",
            "it cannot be combined with `alphabet`; remove one of the two",
        )),
        (None, None) => Err(ModelError::new(
            "alphabet",
            "is missing; name the symbols (`alphabet`) or the `channels` of the model",
        )),
    }
}

/// A matrix in an array of constant size; rows past the last are `rest(row)`.
pub(super) fn filled_rows<const N: usize, const K: usize>(
    rows: &[Vec<f64>],
    rest: impl Fn(usize) -> [f64; K],
) -> [[f64; K]; N] {
    array_of([0.0; K], |index| match rows.get(index) {
        Some(row) => padded(row),
        None => rest(index),
    })
}

/// The distribution that is sure of one entry.
pub(super) fn sure<const K: usize>(entry: usize) -> [f64; K] {
    array_of(0.0, |index| f64::from(index == entry))
}
