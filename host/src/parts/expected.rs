//! Expected statistics over some leaves of a data set, and their file.

use std::iter;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::batch::Expectations;
use crate::classifier::{ClassifierError, has_a_file};
use crate::data::SamplesView;
use crate::fit::{ExpectationStep, FitError, FittedMoments};
use crate::runtime::{Family, Hmm, Shape, padded_states};
use crate::sums::{Digest, LEAF, Marked, Summand, Sums, SumsError};

/// Reason why parts make no whole, or no part is made.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum PartError {
    /// Sums of other models.
    #[error(
        "the part was computed with other models ({found}, not {expected}); compute it again with these"
    )]
    OtherModels {
        /// Fingerprint of the part's models.
        found: Digest,
        /// Fingerprint of the models wanted.
        expected: Digest,
    },
    /// Sums over another data set.
    #[error(
        "model {model}: the part was computed from other data ({found}, not {expected}); compute all parts from the \
         same data"
    )]
    #[strum(serialize = "other-data")]
    OtherData {
        /// Name of the model.
        model: String,
        /// Fingerprint of the part's data.
        found: Digest,
        /// Fingerprint of the data wanted.
        expected: Digest,
    },
    /// Leaves that are there already, or missing.
    #[error("model {model}: {source}")]
    Leaves {
        /// Name of the model.
        model: String,
        /// The leaves.
        source: SumsError,
    },
    /// A series that a model makes impossible.
    #[error(
        "series {series} is impossible under model {model}: {why}; leave it out, or start from models with a larger floor"
    )]
    #[strum(serialize = "impossible")]
    Impossible {
        /// Name of the series.
        series: String,
        /// Name of the model.
        model: String,
        /// Place and reason.
        why: String,
    },
    /// Models that cannot be improved by sums.
    #[error("{0}")]
    #[strum(serialize = "unfit-models")]
    Unfit(String),
    /// A model that is not fitted.
    #[error("model {model}: {source}")]
    Fit {
        /// Name of the model.
        model: String,
        /// Reason.
        source: FitError,
    },
    /// A file.
    #[error(transparent)]
    File(#[from] ClassifierError),
}

crate::kinds!(PartError,
    Self::Leaves { source, .. } => source,
    Self::Fit { source, .. } => source,
    Self::File(error) => error,
);

/// Expected statistics of the models of a file over some leaves of their sequences: a part of a pass of Baum-Welch.
///
/// Its file is JSON with a checksum. It holds sums of leaves alone, of 64 sequences and more, never a sample; what they
/// reveal is said in the book.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedSums {
    /// Sequences of a leaf.
    leaf: usize,
    /// Fingerprint of the models, and of how they see samples.
    pub(super) models: Digest,
    /// `true` if sequences are cut into windows that begin anywhere.
    pub(super) anywhere: bool,
    /// One entry per model.
    pub(super) sums: Vec<ModelSums>,
}

/// Expected statistics of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct ModelSums {
    /// Name of the model.
    pub(super) name: String,
    /// Fingerprint of all its sequences.
    pub(super) data: Digest,
    /// Number of all its sequences.
    pub(super) sequences: usize,
    /// Moments of all its sequences.
    pub(super) moments: FittedMoments,
    pub(super) family: &'static dyn Family,
    pub(super) states: usize,
    pub(super) shape: Shape,
    /// Sums over the leaves.
    pub(super) sums: Sums<Marked<Expectations>>,
}

/// The form of [`ModelSums`] in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    name: String,
    data: Digest,
    sequences: usize,
    moments: FittedMoments,
    family: &'static dyn Family,
    states: usize,
    size: usize,
    components: usize,
    nodes: Vec<StoredNode>,
}

/// A node of the tree.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNode {
    /// First leaf.
    first: usize,
    /// Logarithm of the number of leaves, base 2.
    level: u32,
    /// Fingerprint of their data.
    data: Digest,
    /// [`Expectations::numbers`].
    numbers: Vec<f64>,
    /// Weights of missing channels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    absent: Vec<Vec<f64>>,
}

has_a_file!(ExpectedSums);

impl ExpectedSums {
    /// Sums of models of a fingerprint.
    pub(super) fn new(models: Digest, anywhere: bool, sums: Vec<ModelSums>) -> Self {
        Self { leaf: LEAF, models, anywhere, sums }
    }

    /// Sums of one model over sequences that begin at leaf `first` of a data set, whose fingerprint and number of sequences are
    /// `whole`. `marks` are the [fingerprints](crate::sums::digests_of) of the leaves. The estimates are not this library's, so
    /// moments are left out.
    ///
    /// # Errors
    /// [`PartError`]: the model makes a sequence impossible, or marks are of other leaves.
    pub fn of_model(
        (name, model): (&str, &Hmm),
        (first, sequences): (usize, &[SamplesView<'_>]),
        marks: &Sums<Digest>,
        (data, count): (Digest, usize),
    ) -> Result<Self, PartError> {
        let moments = FittedMoments::default();
        let all = first..first + sequences.len().div_ceil(LEAF);
        let step = ExpectationStep::from_leaf(first, sequences);
        let sums = ModelSums::new((name, model), (&step, all), marks, (data, count, moments))?;
        Ok(Self::new(digest_of(model)?, false, vec![sums]))
    }

    /// Sums of one model over sequences that begin at leaf `first` of a data set, by the counts that a device found of each in
    /// single precision: its log-likelihood and the entries of [`ExpectedStatistics`](fishweir_core::filter::ExpectedStatistics) in
    /// order. `marks` and `whole` are as in [`of_model`](Self::of_model), and the sums go with those of other devices, but not with
    /// those of [`of_model`](Self::of_model), which are of double precision.
    ///
    /// # Errors
    /// [`PartError`]: counts of another model, or marks of other leaves.
    pub fn of_counts(
        (name, model): (&str, &Hmm),
        (first, counts): (usize, &[Vec<f32>]),
        marks: &Sums<Digest>,
        (data, count, moments): (Digest, usize, FittedMoments),
    ) -> Result<Self, PartError> {
        let whole = (data, count, moments);
        let sums = ModelSums::of_counts((name, model), (first, counts), marks, whole)?;
        Ok(Self::new(digest_of_counts(model)?, false, vec![sums]))
    }

    /// The sum over all leaves of the one model that the [counts of devices](Self::of_counts) are of, and the moments of its
    /// sequences.
    ///
    /// # Errors
    /// As [`total_of`](Self::total_of).
    pub fn total_of_counts(&self, model: &Hmm) -> Result<(Expectations, FittedMoments), PartError> {
        self.check_models(digest_of_counts(model)?)?;
        let one = self.alone()?;
        Ok((one.total_for(model)?, one.moments.clone()))
    }

    fn alone(&self) -> Result<&ModelSums, PartError> {
        match self.sums.as_slice() {
            [one] => Ok(one),
            _ => Err(PartError::Unfit("the sums are of several models".to_owned())),
        }
    }

    /// The sum over all leaves of the one model that the sums are of.
    ///
    /// # Errors
    /// [`PartError`]: the sums are of another model, leaves are missing or of other data.
    pub fn total_of(&self, model: &Hmm) -> Result<Expectations, PartError> {
        self.check_models(digest_of(model)?)?;
        self.alone()?.total_for(model)
    }

    /// Adds another part.
    ///
    /// # Errors
    /// [`PartError`]: it is of other models or other data, or has leaves that are there already. Nothing is added then.
    pub fn merge(&mut self, other: Self) -> Result<(), PartError> {
        self.check_models(other.models)?;
        if other.sums.len() != self.sums.len() || other.anywhere != self.anywhere {
            let (found, expected) = (other.models, self.models);
            return Err(PartError::OtherModels { found, expected });
        }
        for (own, other) in self.sums.iter().zip(&other.sums) {
            own.check_apart(other)?;
        }
        for (own, other) in self.sums.iter_mut().zip(other.sums) {
            own.sums.merge(other.sums).map_err(|source| own.error(source))?;
        }
        Ok(())
    }

    /// Checks that the sums are of models with a fingerprint.
    ///
    /// # Errors
    /// [`PartError::OtherModels`].
    pub(super) fn check_models(&self, expected: Digest) -> Result<(), PartError> {
        match self.models == expected {
            true => Ok(()),
            false => Err(PartError::OtherModels { found: self.models, expected }),
        }
    }

    /// The sums, one entry per model.
    pub fn of_models(&self) -> &[ModelSums] {
        &self.sums
    }

    /// Checks that every leaf of every model is there.
    ///
    /// # Errors
    /// [`PartError::Leaves`] with the first leaves that are missing.
    pub fn check_whole(&self) -> Result<(), PartError> {
        self.sums.iter().try_for_each(ModelSums::check_whole)
    }

    fn check(&self) -> Result<(), String> {
        match self.leaf {
            LEAF => Ok(()),
            other => Err(format!(
                "its leaves have {other} sequences, and those of this program {LEAF}; compute the part again"
            )),
        }
    }
}

/// Fingerprint of a model alone.
fn digest_of(model: &Hmm) -> Result<Digest, PartError> {
    Digest::of_value(model).map_err(|error| PartError::Unfit(error.to_string()))
}

/// Fingerprint of a model whose counts are of devices.
fn digest_of_counts(model: &Hmm) -> Result<Digest, PartError> {
    let digest = Digest::of_value(&("f32", model));
    digest.map_err(|error| PartError::Unfit(error.to_string()))
}

impl ModelSums {
    /// Sums of a model over some leaves; `marks` are the fingerprints of these leaves alone.
    pub(super) fn new(
        (name, model): (&str, &Hmm),
        (step, some): (&ExpectationStep<'_>, Range<usize>),
        marks: &Sums<Digest>,
        (data, sequences, moments): (Digest, usize, FittedMoments),
    ) -> Result<Self, PartError> {
        let failed = |source| PartError::Fit { model: name.to_owned(), source };
        let expected = step.sums(model, some).map_err(failed)?;
        Self::marked((name, model), expected, marks, (data, sequences, moments))
    }

    /// Sums of a model over leaves from `first` on, by the counts of each of their sequences.
    pub(super) fn of_counts(
        (name, model): (&str, &Hmm),
        (first, counts): (usize, &[Vec<f32>]),
        marks: &Sums<Digest>,
        whole: (Digest, usize, FittedMoments),
    ) -> Result<Self, PartError> {
        let mut sums = Sums::new();
        for (leaf, counts) in (first..).zip(counts.chunks(LEAF)) {
            let mut sum = Expectations::zero(model);
            for counts in counts {
                let mut one = Expectations::zero(model);
                let numbers: Vec<f64> = counts.iter().map(|&count| count.into()).collect();
                if !one.fill(&numbers) || numbers.iter().any(|number| !number.is_finite()) {
                    let what = "counts of another model, or out of range";
                    return Err(PartError::Unfit(format!("model {name}: {what}")));
                }
                sum.add(&one);
            }
            sums.insert(leaf, 0, sum)
                .map_err(|source| PartError::Leaves { model: name.to_owned(), source })?;
        }
        Self::marked((name, model), sums, marks, whole)
    }

    /// Sums of a model with the fingerprints of their leaves.
    fn marked(
        (name, model): (&str, &Hmm),
        expected: Sums<Expectations>,
        marks: &Sums<Digest>,
        (data, sequences, moments): (Digest, usize, FittedMoments),
    ) -> Result<Self, PartError> {
        let name = name.to_owned();
        let mut sums = Sums::new();
        let nodes = expected.into_nodes().zip(marks.nodes().map(Some).chain(iter::repeat(None)));
        for ((first, level, sum), mark) in nodes {
            let digest = match mark {
                Some((at, of, digest)) if (at, of) == (first, level) => *digest,
                _ => return Err(PartError::Unfit("the marks are of other leaves".to_owned())),
            };
            sums.insert(first, level, Marked { digest, sum })
                .map_err(|source| PartError::Leaves { model: name.clone(), source })?;
        }
        let (family, shape) = (model.emission.family(), model.emission.shape());
        let states = model.states();
        Ok(Self { name, data, sequences, moments, family, states, shape, sums })
    }

    /// Name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of sequences of the whole data set that the model is of.
    pub fn sequences(&self) -> usize {
        self.sequences
    }

    /// Number of leaves of the whole data set.
    pub fn leaves(&self) -> usize {
        self.sequences.div_ceil(LEAF)
    }

    /// Number of leaves summed.
    pub fn summed(&self) -> usize {
        self.sums.leaves()
    }

    /// The sum over all leaves; `None` without a sequence.
    ///
    /// # Errors
    /// [`PartError`]: leaves are missing, or the leaves are of other data.
    pub fn total(&self) -> Result<Option<Expectations>, PartError> {
        self.check_whole()?;
        let total = self.sums.clone().total(self.leaves());
        match total.map_err(|source| self.error(source))? {
            None => Ok(None),
            Some(total) if total.digest == self.data => Ok(Some(total.sum)),
            Some(total) => Err(PartError::OtherData {
                model: self.name.clone(),
                found: total.digest,
                expected: self.data,
            }),
        }
    }

    /// The sum over all leaves, in the shape of its model.
    ///
    /// # Errors
    /// As [`total`](Self::total), and for sums of another shape.
    pub(super) fn total_for(&self, model: &Hmm) -> Result<Expectations, PartError> {
        let (family, shape) = (model.emission.family(), model.emission.shape());
        let own = (self.family.name(), self.states, self.shape);
        if own != (family.name(), model.states(), shape) {
            let what = format!("model {}: the sums have the sizes of another model", self.name);
            return Err(PartError::Unfit(what));
        }
        Ok(self.total()?.unwrap_or_else(|| Expectations::zero(model)))
    }

    fn check_whole(&self) -> Result<(), PartError> {
        self.sums.check_whole(self.leaves()).map_err(|source| self.error(source))
    }

    fn error(&self, source: SumsError) -> PartError {
        PartError::Leaves { model: self.name.clone(), source }
    }

    /// Checks that another part is of other leaves of the same data.
    fn check_apart(&self, other: &Self) -> Result<(), PartError> {
        let data = |of: &Self| (of.data, of.sequences);
        if data(self) != data(other) || self.moments != other.moments {
            let (found, expected) = (other.data, self.data);
            return Err(PartError::OtherData { model: self.name.clone(), found, expected });
        }
        self.sums.check_apart(&other.sums).map_err(|source| self.error(source))
    }
}

impl From<ModelSums> for Stored {
    fn from(own: ModelSums) -> Self {
        let node = |(first, level, node): (usize, u32, &Marked<Expectations>)| StoredNode {
            first,
            level,
            data: node.digest,
            numbers: node.sum.numbers(),
            absent: node.sum.emission.all_absent().to_vec(),
        };
        Self {
            nodes: own.sums.nodes().map(node).collect(),
            name: own.name,
            data: own.data,
            sequences: own.sequences,
            moments: own.moments,
            family: own.family,
            states: own.states,
            size: own.shape.size,
            components: own.shape.components,
        }
    }
}

impl TryFrom<Stored> for ModelSums {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { name, family, states, .. } = stored;
        let shape = Shape { size: stored.size, components: stored.components };
        let refused = |what: &str| Err(format!("model {name}: {what}"));
        let most = stored.nodes.first().map_or(0, |node| node.numbers.len());
        if padded_states(states).is_none() {
            return refused("as many states as no model has");
        }
        // Before anything of that size is made.
        let fits = |node: &StoredNode| {
            let is_small = shape.size.max(shape.components) <= most;
            is_small && node.numbers.len() == Expectations::count_of(family, states, shape)
        };
        if !stored.nodes.iter().all(fits) {
            return refused("numbers of another model");
        }
        if !(stored.moments.fits(0) || stored.moments.fits(shape.size)) {
            return refused("moments of other channels");
        }
        let leaves = stored.sequences.div_ceil(LEAF);
        let mut sums = Sums::new();
        for node in stored.nodes {
            let mut sum = Expectations::zero_of(family, states, shape);
            let rows = |row: &Vec<f64>| row.len() <= most && row.iter().all(|x| x.is_finite());
            sum.fill(&node.numbers);
            if node.absent.len() > states || !node.absent.iter().all(rows) {
                return refused("missing channels of another model");
            }
            sum.emission.set_absent(node.absent);
            let end = (node.level < usize::BITS).then(|| node.first.checked_add(1 << node.level));
            if end.flatten().is_none_or(|end| end > leaves) {
                return refused("leaves that its data do not have");
            }
            let marked = Marked { digest: node.data, sum };
            sums.insert(node.first, node.level, marked)
                .map_err(|error| format!("model {name}: {error}"))?;
        }
        let (data, sequences, moments) = (stored.data, stored.sequences, stored.moments);
        Ok(Self { name, data, sequences, moments, family, states, shape, sums })
    }
}
