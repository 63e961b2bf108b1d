//! Sums of rows of features over some leaves of a data set, and their file.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::expected::PartError;
use super::share::Share;
use crate::classifier::{has_a_file, unseal};
use crate::data::SamplesView;
use crate::kernel::{Information, InformationError};
use crate::sums::{Digest, LEAF, Marked, Products, Sums, SumsError, sum_leaves};

/// Sums of rows of features, and of their products, over some leaves of the windows of a data set: normal equations of ridge
/// regression, or the empirical information of scores.
///
/// Its file is JSON with a checksum. It holds sums of leaves of 64 windows and more, never a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSums {
    /// Windows of a leaf.
    leaf: usize,
    /// Fingerprint of all that features depend on but the windows: models, settings.
    features_of: Digest,
    /// Fingerprint of all windows.
    data: Digest,
    /// Number of all windows.
    pub(super) windows: usize,
    /// Number of features.
    features: usize,
    /// Number of classes; 1 where features have none.
    classes: usize,
    #[serde(with = "nodes")]
    sums: Sums<Marked<Products>>,
}

has_a_file!(FeatureSums);

/// The nodes of a tree in a file.
mod nodes {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Digest, Marked, Products, Sums};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Node {
        /// First leaf.
        first: usize,
        /// Logarithm of the number of leaves, base 2.
        level: u32,
        /// Fingerprint of their windows.
        data: Digest,
        sum: Products,
    }

    pub(super) fn serialize<S: Serializer>(
        sums: &Sums<Marked<Products>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(sums.nodes().map(|(first, level, node)| Node {
            first,
            level,
            data: node.digest,
            sum: node.sum.clone(),
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Sums<Marked<Products>>, D::Error> {
        let mut sums = Sums::new();
        for Node { first, level, data, sum } in Vec::<Node>::deserialize(deserializer)? {
            let marked = Marked { digest: data, sum };
            sums.insert(first, level, marked).map_err(D::Error::custom)?;
        }
        Ok(sums)
    }
}

impl FeatureSums {
    /// Returns whether bytes are the file of such sums, by the names of its fields.
    pub fn is_one(bytes: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(rename = "features_of")]
            _features_of: Digest,
        }
        unseal("", bytes).is_ok_and(|content| content.parse::<Fields>().is_ok())
    }

    /// A share of the sums over windows that have a class each, numbered below `classes`.
    ///
    /// `rows` are the features of some windows, by their numbers; features are the same if `features_of` is.
    ///
    /// # Errors
    /// Those of `rows`, and [`PartError`].
    pub fn of<E: From<PartError> + Send>(
        (features_of, features): (Digest, usize),
        windows: &[SamplesView<'_>],
        (labels, classes): (&[usize], usize),
        share: Share,
        rows: &(dyn Fn(Range<usize>) -> Result<Vec<Vec<f64>>, E> + Sync),
    ) -> Result<Self, E> {
        let of_leaf = |leaf: usize| leaf * LEAF..windows.len().min((leaf + 1) * LEAF);
        let mark = |leaf: usize| {
            let range = of_leaf(leaf);
            digest(&(Digest::of_sequences(&windows[range.clone()]), &labels[range]))
        };
        let leaves = windows.len().div_ceil(LEAF);
        let data = sum_leaves(0..leaves, &mark)?.total(leaves).ok().flatten();
        let summed = |leaf: usize| {
            let rows = rows(of_leaf(leaf))?;
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let sum = Products::of_rows(&rows, (&labels[of_leaf(leaf)], classes), features);
            Ok::<_, E>(Marked { digest: mark(leaf)?, sum })
        };
        Ok(Self {
            leaf: LEAF,
            features_of,
            data: data.unwrap_or_else(|| Digest::of_sequences(&[])),
            windows: windows.len(),
            features,
            classes,
            sums: sum_leaves(share.range(leaves), &summed)?,
        })
    }

    /// The sum over all windows of features with a fingerprint and as many classes.
    ///
    /// # Errors
    /// [`PartError`]: sums of other features, leaves that are missing or of other data.
    pub(super) fn total(&self, expected: Digest, classes: usize) -> Result<Products, PartError> {
        let found = self.features_of;
        if found != expected || self.classes != classes {
            return Err(PartError::OtherModels { found, expected });
        }
        let total = self.sums.clone().total(self.leaves()).map_err(of_leaves)?;
        let total = total.ok_or_else(|| PartError::Unfit("no window is summed".to_owned()))?;
        match total.digest == self.data {
            true => Ok(total.sum),
            false => Err(self.of_other_data(total.digest)),
        }
    }

    /// The empirical information of models whose scores stand side by side, `parameters` each.
    ///
    /// # Errors
    /// [`PartError`]: sums of other features, leaves that are missing or of other data, other numbers of parameters.
    pub fn information(
        &self,
        features_of: Digest,
        parameters: &[usize],
    ) -> Result<Vec<Information>, PartError> {
        if parameters.iter().sum::<usize>() != self.features {
            let (found, expected) = (self.features_of, features_of);
            return Err(PartError::OtherModels { found, expected });
        }
        let total = self.total(features_of, 1)?;
        let mut from = 0;
        let of_model = |&count: &usize| {
            from += count;
            let found = Information::of_sums(&total, from - count..from);
            found.map_err(|error: InformationError| PartError::Unfit(error.to_string()))
        };
        parameters.iter().map(of_model).collect()
    }

    /// Adds another part.
    ///
    /// # Errors
    /// [`PartError`]: it is of another classifier or other data, or has leaves that are there already. Nothing is added then.
    pub fn merge(&mut self, other: Self) -> Result<(), PartError> {
        let sizes = |of: &Self| (of.features, of.classes);
        if other.features_of != self.features_of || sizes(&other) != sizes(self) {
            let (found, expected) = (other.features_of, self.features_of);
            return Err(PartError::OtherModels { found, expected });
        }
        if (other.data, other.windows) != (self.data, self.windows) {
            return Err(self.of_other_data(other.data));
        }
        self.sums.merge(other.sums).map_err(of_leaves)
    }

    /// Number of leaves of all windows.
    pub fn leaves(&self) -> usize {
        self.windows.div_ceil(LEAF)
    }

    /// Number of leaves summed.
    pub fn summed(&self) -> usize {
        self.sums.leaves()
    }

    /// Number of windows of the whole data set.
    pub fn windows(&self) -> usize {
        self.windows
    }

    fn of_other_data(&self, found: Digest) -> PartError {
        PartError::OtherData { model: FEATURES.to_owned(), found, expected: self.data }
    }

    fn check(&self) -> Result<(), String> {
        if self.leaf != LEAF {
            let own = self.leaf;
            return Err(format!(
                "its leaves have {own} windows, and those of this program {LEAF}; compute the part again"
            ));
        }
        let fits = |sum: &Products| sum.fits(self.features, self.classes);
        let inside = |first: usize, level: u32| first + (1 << level) <= self.leaves();
        match self.sums.nodes().all(|(first, level, node)| inside(first, level) && fits(&node.sum))
        {
            true => Ok(()),
            false => Err("sums of other sizes, or of leaves that its data do not have".to_owned()),
        }
    }
}

/// Fingerprint of a value.
pub(super) fn digest(value: &impl Serialize) -> Result<Digest, PartError> {
    Digest::of_value(value).map_err(|error| PartError::Unfit(error.to_string()))
}

/// Name of features in messages, where other sums have that of a model.
pub(super) const FEATURES: &str = "(features)";

fn of_leaves(source: SumsError) -> PartError {
    PartError::Leaves { model: FEATURES.to_owned(), source }
}
