//! A model of any of the kernels, and its file.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::aligned::{FixedLengthModel, HiddenBinomialModel};
use super::error::{MarginalError, ModelError};
use super::pair::PairHmmModel;
use super::rows::{LogRows, Row, Rows};
use super::set::FiniteSetModel;
use super::tree::{Hidden, Pruning, TreeKernelModel};
use crate::data::{Kind, SamplesView};
use crate::files;
use crate::kernel::{LogCrossGram, LogGram};
use crate::runtime::Hmm;

/// A kernel by marginalisation, with the numbers of its hidden models.
///
/// See the [room's own page](super) for its file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MarginalModel {
    /// Kernel over a finite set of models.
    Marginalisation(FiniteSetModel),
    /// Kernel over independent hidden states.
    HiddenBinomial(HiddenBinomialModel),
    /// Kernel over the state paths of a hidden Markov model.
    FixedLength(FixedLengthModel),
    /// Kernel over the trajectories of a pair hidden Markov model.
    PairHmm(PairHmmModel),
    /// Kernel over the labellings of a tree's inner nodes.
    HiddenTree(TreeKernelModel),
    /// Kernel of hidden trees, summed over all pruned trees.
    PrunedTree(TreeKernelModel),
}

/// A file: one table, which the kernel names.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    marginalisation: Option<FiniteSetModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hidden_binomial: Option<HiddenBinomialModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fixed_length: Option<FixedLengthModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pair_hmm: Option<PairHmmModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hidden_tree: Option<TreeKernelModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pruned_tree: Option<TreeKernelModel>,
}

impl MarginalModel {
    /// The kernels, as files and commands name them.
    pub const NAMES: [&'static str; 6] = [
        "marginalisation",
        "hidden-binomial",
        "fixed-length",
        "pair-hmm",
        "hidden-tree",
        "pruned-tree",
    ];

    /// Reads a model's file, and that of the tree if it names one, from the same folder.
    ///
    /// # Errors
    /// [`MarginalError`] naming the file and the line, or the entry.
    pub fn read(path: &Path) -> Result<Self, MarginalError> {
        let name = path.display().to_string();
        let text = text_of(&name, files::read(path)?)?;
        let mut model = Self::parsed(&name, &text)?;
        if let Self::HiddenTree(tree) | Self::PrunedTree(tree) = &mut model
            && let Some(beside) = &tree.newick_file
        {
            let wrong = |what: String| MarginalError::Entry {
                file: name.clone(),
                error: ModelError::new("newick_file", what),
            };
            if tree.newick.is_some() {
                return Err(wrong(
                    "it cannot be combined with `newick`; remove one of the two".into(),
                ));
            }
            let path = path.parent().unwrap_or(Path::new("")).join(beside);
            let file = path.display().to_string();
            let text = text_of(&file, files::read(&path)?)?;
            tree.newick = Some(text.parse().map_err(|error| wrong(format!("{file}: {error}")))?);
            tree.newick_file = None;
        }
        model.checked(&name)
    }

    /// A model from its file's text; a tree must be in it.
    ///
    /// # Errors
    /// [`MarginalError`] naming the file and the line, or the entry.
    pub fn parse(file: &str, text: &str) -> Result<Self, MarginalError> {
        Self::parsed(file, text)?.checked(file)
    }

    fn parsed(file: &str, text: &str) -> Result<Self, MarginalError> {
        let read: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let (line, column) = place(text, at);
            let what = error.message().to_owned();
            MarginalError::Syntax { file: file.to_owned(), line, column, what }
        })?;
        let mut models = [
            read.marginalisation.map(Self::Marginalisation),
            read.hidden_binomial.map(Self::HiddenBinomial),
            read.fixed_length.map(Self::FixedLength),
            read.pair_hmm.map(Self::PairHmm),
            read.hidden_tree.map(Self::HiddenTree),
            read.pruned_tree.map(Self::PrunedTree),
        ]
        .into_iter()
        .flatten();
        match (models.next(), models.next()) {
            (Some(model), None) => Ok(model),
            (first, _) => {
                let (line, column) = (1, 1);
                let found = if first.is_some() { "several kernels" } else { "no kernel" };
                let names = Self::NAMES.map(|name| format!("[{name}]")).join(", ");
                let what = format!("{found}; write one of the tables {names}");
                Err(MarginalError::Syntax { file: file.to_owned(), line, column, what })
            }
        }
    }

    fn checked(self, file: &str) -> Result<Self, MarginalError> {
        match self.validate() {
            Ok(()) => Ok(self),
            Err(error) => Err(MarginalError::Entry {
                file: file.to_owned(),
                error: error.within(self.name()),
            }),
        }
    }

    /// The model as its file's text, which [`parse`](Self::parse) reads back to the bit.
    ///
    /// # Errors
    /// [`ModelError`] for a number that no file can hold.
    pub fn to_toml(&self) -> Result<String, ModelError> {
        let mut file = File::default();
        match self.clone() {
            Self::Marginalisation(model) => file.marginalisation = Some(model),
            Self::HiddenBinomial(model) => file.hidden_binomial = Some(model),
            Self::FixedLength(model) => file.fixed_length = Some(model),
            Self::PairHmm(model) => file.pair_hmm = Some(model),
            Self::HiddenTree(model) => file.hidden_tree = Some(model),
            Self::PrunedTree(model) => file.pruned_tree = Some(model),
        }
        toml::to_string(&file).map_err(|error| ModelError::new(self.name(), error.to_string()))
    }

    /// The kernel's name: one of [`NAMES`](Self::NAMES).
    pub fn name(&self) -> &'static str {
        let index = match self {
            Self::Marginalisation(_) => 0,
            Self::HiddenBinomial(_) => 1,
            Self::FixedLength(_) => 2,
            Self::PairHmm(_) => 3,
            Self::HiddenTree(_) => 4,
            Self::PrunedTree(_) => 5,
        };
        Self::NAMES[index]
    }

    /// Number of states of the hidden model; of a set of models, of the largest.
    pub fn states(&self) -> usize {
        match self {
            Self::Marginalisation(model) => model.model.iter().map(Hmm::states).max().unwrap_or(0),
            Self::FixedLength(model) => model.hmm.states(),
            Self::HiddenBinomial(HiddenBinomialModel { shared, position, .. }) => {
                let states = shared.iter().chain(position).map(|state| state.prior.len());
                states.max().unwrap_or(0)
            }
            Self::PairHmm(model) => model.initial.len(),
            Self::HiddenTree(model) | Self::PrunedTree(model) => model.alphabet.len(),
        }
    }

    /// Kind of observations of the sequences.
    ///
    /// # Errors
    /// A model that does not say so.
    pub fn kind(&self) -> Result<Kind, ModelError> {
        match self {
            Self::Marginalisation(model) => model.kind(),
            Self::FixedLength(model) => model.kind(),
            Self::HiddenBinomial(HiddenBinomialModel { alphabet, .. })
            | Self::PairHmm(PairHmmModel { alphabet, .. })
            | Self::HiddenTree(TreeKernelModel { alphabet, .. })
            | Self::PrunedTree(TreeKernelModel { alphabet, .. }) => {
                Ok(Kind::Symbols(alphabet.clone()))
            }
        }
    }

    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// The first entry that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        match self {
            Self::Marginalisation(model) => model.validate(),
            Self::HiddenBinomial(model) => model.validate(),
            Self::FixedLength(model) => model.validate(),
            Self::PairHmm(model) => model.validate(),
            Self::HiddenTree(model) | Self::PrunedTree(model) => model.validate(),
        }
    }

    /// `log k` of all pairs, each computed once; rows in parallel. The same bits on any number of
    /// threads.
    ///
    /// # Errors
    /// An invalid model, or the first item that it does not take.
    pub fn log_gram(&self, items: &[SamplesView<'_>]) -> Result<LogGram, MarginalError> {
        let plan: Vec<Row> = (0..items.len()).map(|i| row(i, 0..i + 1)).collect();
        Ok(LogGram::of_lower(self.log_rows(items, &plan)?))
    }

    /// `log k` of a stream with a stored sequence.
    ///
    /// # Errors
    /// An invalid model, or the item that it does not take: 0 is the stored one, 1 the stream.
    pub fn log_kernel(
        &self,
        stored: SamplesView<'_>,
        streamed: SamplesView<'_>,
    ) -> Result<f64, MarginalError> {
        let rows = self.log_rows(&[stored, streamed], &[row(1, 0..1)])?;
        Ok(rows.into_iter().flatten().next().unwrap_or(f64::NEG_INFINITY))
    }

    /// `log k` of new items with stored ones, and of each with itself.
    ///
    /// # Errors
    /// An invalid model, or the first item that it does not take: numbered in its own list.
    pub fn log_cross_gram(
        &self,
        new: &[SamplesView<'_>],
        stored: &[SamplesView<'_>],
    ) -> Result<LogCrossGram, MarginalError> {
        let items = [new, stored].concat();
        let mut plan: Vec<Row> = (0..items.len()).map(|i| row(i, i..i + 1)).collect();
        plan.extend((0..new.len()).map(|i| row(i, new.len()..items.len())));
        let rows = self.log_rows(&items, &plan).map_err(|error| match error {
            MarginalError::Item { item, error } => {
                MarginalError::Item { item: item.checked_sub(new.len()).unwrap_or(item), error }
            }
            other => other,
        })?;
        let mut rows = rows.into_iter();
        let mut diagonal = |count| rows.by_ref().take(count).flatten().collect();
        let (of_new, of_stored) = (diagonal(new.len()), diagonal(stored.len()));
        Ok(LogCrossGram::new(of_new, of_stored, rows.collect()))
    }

    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        self.validate()?;
        match self {
            Self::Marginalisation(model) => model.log_rows(items, plan),
            Self::HiddenBinomial(model) => model.log_rows(items, plan),
            Self::FixedLength(model) => model.log_rows(items, plan),
            Self::PairHmm(model) => model.log_rows(items, plan),
            Self::HiddenTree(model) => Hidden(model).log_rows(items, plan),
            Self::PrunedTree(model) => Pruning(model).log_rows(items, plan),
        }
    }
}

/// A model within another file: its own file's text.
pub(crate) mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de, ser};

    use super::MarginalModel;

    pub(crate) fn serialize<S: Serializer>(
        model: &MarginalModel,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&model.to_toml().map_err(ser::Error::custom)?)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Box<MarginalModel>, D::Error> {
        let text = String::deserialize(deserializer)?;
        MarginalModel::parse("kernel model", &text).map(Box::new).map_err(de::Error::custom)
    }
}

fn row(stream: usize, stored: Range<usize>) -> Row {
    Row { stream, stored }
}

fn text_of(file: &str, bytes: Vec<u8>) -> Result<String, MarginalError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let (line, column) = place(&before, before.len());
        let what = "is not UTF-8; save the file as UTF-8 text".to_owned();
        MarginalError::Syntax { file: file.to_owned(), line, column, what }
    })
}

/// Line and column, from 1, of a byte.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
