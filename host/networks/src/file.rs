//! Files of networks and of classifiers of records.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{BifError, Network, NetworkClassifier, read_bif, write_bif};
use crate::records::Schema;
use fishweir::classifier::{ClassifierError, Provenance};
use fishweir::files::{self, FileError};
use fishweir::internals::{seal, unseal};

/// Model that was fitted to records, and how later tables are read for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkFile {
    /// The columns.
    pub columns: Schema,
    /// The fitted model.
    pub model: NetworkModel,
    /// Records of the training, and version of the program; `None` for a network in BIF, and for a file that an earlier program
    /// wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// A network, or a classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkModel {
    /// A network over all columns.
    Network(Network),
    /// A classifier of one of them.
    Classifier(NetworkClassifier),
}

/// Reason why a file is not a network.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum NetworkFileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is no text.
    #[error("{file}: is neither JSON nor a network in BIF: it is not UTF-8 text")]
    NotUtf8 {
        /// The file.
        file: String,
    },
    /// The file is no network in BIF.
    #[error(transparent)]
    Bif(#[from] BifError),
    /// Fault of the envelope, which all models share, or of its content.
    #[error(transparent)]
    Sealed(#[from] ClassifierError),
    /// A model of something else than records.
    #[error("{file}: is a model of sequences, not of records")]
    #[strum(serialize = "wrong-model")]
    OfSequences {
        /// The file.
        file: String,
    },
    /// The file is JSON without an envelope, as an earlier program wrote it, and no model.
    #[error("{file}, line {line}, column {column}: {what}")]
    #[strum(serialize = "bad-json")]
    Json {
        /// The file.
        file: String,
        /// Line, from 1, at which the fault ends.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Fault of the text.
        what: String,
    },
    /// The columns differ from those of the model.
    #[error("{file}: {what}")]
    #[strum(serialize = "bad-columns")]
    Columns {
        /// The file.
        file: String,
        /// Fault of the columns.
        what: String,
    },
}

fishweir::kinds!(NetworkFileError,
    Self::File(error) => error,
    Self::Sealed(error) => error,
    Self::Bif(error) => error,
);

impl NetworkFile {
    /// Reads a file: JSON if it begins like it, else BIF. The JSON has the envelope of all models: a format and a checksum.
    ///
    /// # Errors
    /// [`NetworkFileError`] naming file, line and column.
    pub fn read(path: &Path) -> Result<Self, NetworkFileError> {
        Self::parse(&path.display().to_string(), &files::read(path)?)
    }

    /// Parses a file from memory; `file` is for messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, NetworkFileError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| NetworkFileError::NotUtf8 { file: file.to_owned() })?;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        if !text.trim_start().starts_with('{') {
            return Ok(Self::of_network(read_bif(file, text)?));
        }
        let found = Self::of_json(file, text)?;
        let wrong = |what: String| NetworkFileError::Columns { file: file.to_owned(), what };
        found.columns.validate().map_err(wrong)?;
        let mut of_model = found.network().variables().to_vec();
        if let NetworkModel::Classifier(classifier) = &found.model
            && !classifier.outputs().is_empty()
        {
            of_model.insert(classifier.column().min(of_model.len()), classifier.class().clone());
        }
        if of_model != found.columns.variables() {
            return Err(wrong("its columns are not the nodes of its network".into()));
        }
        Ok(found)
    }

    /// Parses JSON with an envelope, or without one.
    fn of_json(file: &str, text: &str) -> Result<Self, NetworkFileError> {
        if is_sealed(text) {
            let content = unseal(file, text.as_bytes())?;
            let keys: BTreeMap<String, IgnoredAny> = content.parse()?;
            if !keys.contains_key("columns") {
                return Err(NetworkFileError::OfSequences { file: file.to_owned() });
            }
            return Ok(content.parse()?);
        }
        serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let what = error.to_string();
            let place = format!(" at line {line} column {column}");
            let what = what.strip_suffix(&place).unwrap_or(&what).to_owned();
            NetworkFileError::Json { file: file.to_owned(), line, column, what }
        })
    }

    /// A network whose states are written as they are named.
    pub fn of_network(network: Network) -> Self {
        let columns = Schema::of_variables(network.variables());
        Self { columns, model: NetworkModel::Network(network), provenance: None }
    }

    /// The network: over all columns, or over the attributes of a linear machine.
    pub fn network(&self) -> &Network {
        match &self.model {
            NetworkModel::Network(network) => network,
            NetworkModel::Classifier(classifier) => classifier.network(),
        }
    }

    /// The file for a path: BIF of the network alone where it ends in `.bif`, else all of it as JSON.
    ///
    /// # Errors
    /// A number that JSON does not hold.
    pub fn bytes_for(&self, path: &Path) -> Result<Vec<u8>, ClassifierError> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bif")) {
            return Ok(write_bif(self.network()).into_bytes());
        }
        Ok(seal(self)?.into_bytes())
    }
}

/// Returns whether the first name in a JSON text is that of the envelope.
fn is_sealed(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('{').trim_start();
    text.starts_with("\"fishweir_model\"")
}
