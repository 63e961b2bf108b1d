//! Passes of Baum-Welch by the counts that devices send.

use super::expected::{ExpectedSums, ModelSums, PartError};
use super::models::{ModelFile, Named};
use crate::deploy::device_checksum;
use crate::fit::{BaumWelch, FittedMoments};
use crate::sums::{Digest, LEAF, Sums};

impl ModelFile {
    /// Number of states of each model on a device: those of the largest.
    fn device_states(named: &[Named<'_>]) -> usize {
        named.iter().map(|one| one.model.states()).max().unwrap_or_default()
    }

    /// Checksums of the models as devices hold them, by which their counts name them.
    ///
    /// # Errors
    /// [`PartError::Unfit`] of a model that `f32` does not hold.
    pub fn device_checksums(&self) -> Result<Vec<u32>, PartError> {
        let named = self.named()?;
        let states = Self::device_states(&named);
        let checksum = |one: &Named<'_>| {
            let found = device_checksum(one.model, states);
            found.map_err(|error| PartError::Unfit(format!("model {}: {error}", one.name)))
        };
        named.iter().map(checksum).collect()
    }

    /// Sums of each model over the recordings that devices counted under it, `[model][recording][entry]`, in the order of all
    /// devices. What each counts is in [`of_counts`](ExpectedSums::of_counts).
    ///
    /// Nobody here has the samples: fingerprints are those of the counts, and the moments that bound estimates follow from the
    /// counts too.
    ///
    /// # Errors
    /// [`PartError::Unfit`]: counts of another shape, or of a family that devices do not count.
    pub fn sums_of_counts(&self, counts: &[Vec<Vec<f32>>]) -> Result<ExpectedSums, PartError> {
        let named = self.named()?;
        let states = Self::device_states(&named);
        let mut sums = Vec::with_capacity(named.len());
        for (index, one) in named.iter().enumerate() {
            let counts = counts.get(index).map_or(&[][..], Vec::as_slice);
            sums.push(sums_of(one, counts, states)?);
        }
        Ok(ExpectedSums::new(self.digest_of_counts()?, false, sums))
    }

    /// The models that [sums of counts](Self::sums_of_counts) make likeliest; a model that nothing was counted under stays.
    ///
    /// # Errors
    /// As [`maximised`](Self::maximised).
    pub fn maximised_by_counts(
        &self,
        sums: &ExpectedSums,
        options: &BaumWelch,
    ) -> Result<Self, PartError> {
        sums.check_models(self.digest_of_counts()?)?;
        self.next(sums, options)
    }

    /// Fingerprint of the models in the numbers of devices.
    fn digest_of_counts(&self) -> Result<Digest, PartError> {
        digest_of(&("f32", self.digest()?))
    }
}

fn digest_of(value: &impl serde::Serialize) -> Result<Digest, PartError> {
    Digest::of_value(value).map_err(|error| PartError::Unfit(error.to_string()))
}

/// Sums of one model, which devices hold with some states more, over all recordings.
fn sums_of(named: &Named<'_>, counts: &[Vec<f32>], states: usize) -> Result<ModelSums, PartError> {
    let unfit = |what: &str| PartError::Unfit(format!("model {}: {what}", named.name));
    let own = |counts: &Vec<f32>| {
        let found = without_padding(counts, states, named.model.states());
        found.ok_or_else(|| unfit("the counts have the sizes of another model"))
    };
    let counts = counts.iter().map(own).collect::<Result<Vec<_>, _>>()?;
    let mut marks = Sums::new();
    for (leaf, some) in counts.chunks(LEAF).enumerate() {
        let bits: Vec<Vec<u32>> =
            some.iter().map(|one| one.iter().map(|count| count.to_bits()).collect()).collect();
        marks
            .insert(leaf, 0, digest_of(&bits)?)
            .map_err(|source| PartError::Leaves { model: named.name.to_owned(), source })?;
    }
    let data = marks.clone().total(counts.len().div_ceil(LEAF)).ok().flatten();
    let data = data.unwrap_or_else(|| Digest::of_sequences(&[]));
    let whole = (data, counts.len(), FittedMoments::default());
    let mut sums = ModelSums::of_counts((named.name, named.model), (0, &counts), &marks, whole)?;
    let moments = FittedMoments::of_expected(named.model, &sums.total_for(named.model)?);
    sums.moments =
        moments.ok_or_else(|| unfit("devices count gaussian and categorical emissions"))?;
    Ok(sums)
}

/// The counts of a model with `states` states, of which a device holds `padded`; `None` of another number of counts.
fn without_padding(counts: &[f32], padded: usize, states: usize) -> Option<Vec<f32>> {
    let (chain, emission) = counts.split_at_checked(1 + padded * (1 + padded))?;
    let rows = emission.len().checked_div(padded)?;
    if rows * padded != emission.len() || states > padded {
        return None;
    }
    let (initial, pairs) = chain[1..].split_at(padded);
    let pairs = pairs.chunks(padded).take(states).flat_map(|row| &row[..states]);
    let own = chain[..1].iter().chain(&initial[..states]).chain(pairs);
    Some(own.chain(&emission[..states * rows]).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_out_of_reach_are_left_out() {
        let counts: Vec<f32> = (0..1 + 3 + 9 + 6).map(|k| k as f32).collect();
        assert_eq!(without_padding(&counts, 3, 3), Some(counts.clone()));
        let own = [0.0, 1.0, 2.0, 4.0, 5.0, 7.0, 8.0, 13.0, 14.0, 15.0, 16.0];
        assert_eq!(without_padding(&counts, 3, 2), Some(own.to_vec()));
        for (length, padded, states) in [(12, 3, 3), (18, 3, 3), (18, 2, 2), (1, 0, 0)] {
            assert_eq!(without_padding(&counts[..length], padded, states), None);
        }
    }
}
