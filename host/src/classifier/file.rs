//! The files of fitted models: JSON in an envelope with a format and a checksum.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Classifier;
use crate::files::FileError;

/// Reason why a classifier's file was refused.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ClassifierError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not JSON, or not of this form.
    #[error("{file}: not a fishweir model: {why}")]
    #[strum(serialize = "not-a-model")]
    Format {
        /// The file.
        file: String,
        /// Error of the parser, with line and column.
        why: String,
    },
    /// Written by a version that this one does not read.
    #[error("{file}: model file of format {found}, this program reads {FORMAT}; fit it again")]
    #[strum(serialize = "unknown-version")]
    Version {
        /// The file.
        file: String,
        /// Format of the file.
        found: u32,
    },
    /// The checksum differs.
    #[error("{file}: the model file is damaged (its checksum differs); fit or copy it again")]
    Checksum {
        /// The file.
        file: String,
    },
    /// The parts do not fit each other.
    #[error("{file}: {why}")]
    #[strum(serialize = "inconsistent-model")]
    Inconsistent {
        /// The file.
        file: String,
        /// Part, and its fault.
        why: String,
    },
}

crate::kinds!(ClassifierError,
    Self::File(error) => error,
);

/// The format of model files.
const FORMAT: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<C> {
    fishweir_model: u32,
    crc32: u32,
    classifier: C,
}

/// The content of its file.
///
/// # Errors
/// Where a number has no place in JSON.
pub fn seal<C: Serialize>(classifier: &C) -> Result<String, ClassifierError> {
    let format = |error: serde_json::Error| not_a_model("the model", &error);
    let text = serde_json::to_string(classifier).map_err(format)?;
    let crc32 = crc32fast::hash(text.as_bytes());
    let classifier = RawValue::from_string(text).map_err(format)?;
    let envelope = Envelope { fishweir_model: FORMAT, crc32, classifier };
    let mut text = serde_json::to_string(&envelope).map_err(format)?;
    text.push('\n');
    Ok(text)
}

/// The classifier in a file, as JSON, and where it begins there.
pub struct Content<'a> {
    /// Name of the file, for messages.
    file: &'a str,
    text: &'a str,
    /// Lines before its own first one.
    lines: usize,
    /// Bytes before it on that line.
    columns: usize,
}

impl<'a> Content<'a> {
    /// Parses the contents; an error names its place in the file.
    ///
    /// # Errors
    /// [`ClassifierError::Format`] with line and column.
    pub fn parse<T: Deserialize<'a>>(&self) -> Result<T, ClassifierError> {
        serde_json::from_str(self.text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = error.to_string();
            let why = match text.strip_suffix(&format!(" at line {line} column {column}")) {
                Some(what) => {
                    let before = if line == 1 { self.columns } else { 0 };
                    format!("{what} at line {} column {}", line + self.lines, column + before)
                }
                None => text,
            };
            ClassifierError::Format { file: self.file.to_owned(), why }
        })
    }
}

/// The classifier in a file of the right format and checksum; `file` is for messages.
///
/// # Errors
/// [`ClassifierError`] naming the file: not JSON, of another format, or damaged.
pub fn unseal<'a>(file: &'a str, bytes: &'a [u8]) -> Result<Content<'a>, ClassifierError> {
    let envelope: Envelope<&RawValue> =
        serde_json::from_slice(bytes).map_err(|error| not_a_model(file, &error))?;
    if envelope.fishweir_model != FORMAT {
        let found = envelope.fishweir_model;
        return Err(ClassifierError::Version { file: file.to_owned(), found });
    }
    let text = envelope.classifier.get();
    if crc32fast::hash(text.as_bytes()) != envelope.crc32 {
        return Err(ClassifierError::Checksum { file: file.to_owned() });
    }
    // It is a part of the file's bytes.
    let at = (text.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
    let before = bytes.get(..at).unwrap_or_default();
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let columns = before.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
    Ok(Content { file, text, lines, columns })
}

/// Converts an error of the parser.
fn not_a_model(file: &str, error: &serde_json::Error) -> ClassifierError {
    ClassifierError::Format { file: file.to_owned(), why: error.to_string() }
}

/// The file of a type that has a `check` of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! has_a_file {
    ($type:ty) => {
        impl $type {
            /// Writes it as JSON with a checksum, whole or not at all.
            ///
            /// # Errors
            /// `ClassifierError::File` if the file cannot be written.
            pub fn save(
                &self,
                path: &std::path::Path,
            ) -> Result<(), $crate::classifier::ClassifierError> {
                Ok($crate::files::write_whole(path, self.to_json()?.as_bytes())?)
            }

            /// Returns the text that [`save`](Self::save) writes.
            ///
            /// # Errors
            /// Where a number has no place in JSON.
            pub fn to_json(&self) -> Result<String, $crate::classifier::ClassifierError> {
                $crate::internals::seal(self)
            }

            /// Reads the file and checks it: format, checksum, shapes and numbers.
            ///
            /// # Errors
            /// `ClassifierError` naming the file and what is wrong.
            pub fn load(
                path: &std::path::Path,
            ) -> Result<Self, $crate::classifier::ClassifierError> {
                Self::parse(&path.display().to_string(), &$crate::files::read(path)?)
            }

            /// Parses bytes in memory as [`load`](Self::load) parses a file; `file` is for messages.
            ///
            /// # Errors
            /// As [`load`](Self::load).
            pub fn parse(
                file: &str,
                bytes: &[u8],
            ) -> Result<Self, $crate::classifier::ClassifierError> {
                let found: Self = $crate::internals::unseal(file, bytes)?.parse()?;
                found.check().map_err(|why| {
                    let file = file.to_owned();
                    $crate::classifier::ClassifierError::Inconsistent { file, why }
                })?;
                Ok(found)
            }
        }
    };
}
pub(crate) use has_a_file;

has_a_file!(Classifier);

#[cfg(test)]
mod tests {
    use fishweir_core::classify::Normalisation;

    use super::*;
    use crate::classifier::{Expansion, ExpansionKernel, Observations, Provenance, Rule};
    use crate::runtime::{Emissions, Hmm};

    #[test]
    fn a_machine_is_read_as_it_was_written() {
        let machine = Classifier {
            method: "fixed-length".into(),
            observations: Observations::Symbols("HT".into()),
            classes: vec!["a".into(), "b".into()],
            front: crate::data::Front::NONE,
            lags: crate::data::Lags::NONE,
            centre: Vec::new(),
            scale: Vec::new(),
            models: vec![Hmm {
                initial: vec![1.0],
                transition: vec![vec![1.0]],
                emission: Emissions::categorical(vec![vec![0.1, 0.9]]),
            }],
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::Expansion(Expansion {
                kernel: ExpansionKernel::FixedLength {
                    items: vec![vec![0, 1], vec![1, 1]],
                    normalised: true,
                    log_scale: 0.0,
                },
                coefficients: vec![vec![0.1, -1.0 / 3.0]],
                biases: vec![1e-300],
            }),
            confidence: None,
            teaching: None,
            provenance: Provenance { windows: 2, ..Provenance::default() },
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("machine.json");
        machine.save(&path).expect("writes");
        assert_eq!(Classifier::load(&path).expect("a machine"), machine);
        // As files are that say nothing of what was tried.
        assert!(!std::fs::read_to_string(&path).expect("reads").contains("selection"));
        let mut bytes = std::fs::read(&path).expect("reads");
        let at = bytes.windows(4).position(|bytes| bytes == b"0.33").expect("a third");
        bytes[at + 2] = b'4';
        let refused = Classifier::parse("machine.json", &bytes).expect_err("damaged");
        assert!(matches!(refused, ClassifierError::Checksum { .. }), "{refused}");
    }
}
