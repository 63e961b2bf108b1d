//! The file of a kernel machine, and how it is told from a classifier's.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Expansion;
use crate::classifier::{Classifier, ClassifierError, save, unseal};
use crate::deploy::ModelKind;

/// A machine's file has a kernel, and no other's has.
#[derive(Deserialize)]
struct Kind {
    kernel: Option<IgnoredAny>,
}

impl ModelKind {
    /// Reads a model's file from memory; `file` is for messages.
    ///
    /// # Errors
    /// [`ClassifierError`] naming the file and what is wrong.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, ClassifierError> {
        let content = unseal(file, bytes)?;
        let kind: Kind = content.parse()?;
        if kind.kernel.is_none() {
            return Ok(Self::Linear(Box::new(Classifier::from_content(&content)?)));
        }
        Ok(Self::Machine(content.parse()?))
    }
}

impl Expansion {
    /// Writes the machine as JSON with a checksum, whole or not at all.
    ///
    /// # Errors
    /// [`ClassifierError::File`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ClassifierError> {
        save(path, self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::expansion::ExpansionKernel;
    use super::*;
    use crate::classifier::{Observations, Provenance};
    use crate::runtime::{Emissions, Hmm};

    #[test]
    fn a_machine_is_read_as_it_was_written_and_told_from_a_classifier() {
        let coin = Hmm {
            initial: vec![1.0],
            transition: vec![vec![1.0]],
            emission: Emissions::categorical(vec![vec![0.1, 0.9]]),
        };
        let kernel = ExpansionKernel::FixedLength {
            model: coin,
            items: vec![vec![0, 1], vec![1, 1]],
            normalised: true,
            log_scale: 0.0,
        };
        let expansion = Expansion {
            method: "fixed-length".into(),
            observations: Observations::Symbols("HT".into()),
            classes: vec!["a".into(), "b".into()],
            kernel,
            coefficients: vec![vec![0.1, -1.0 / 3.0]],
            biases: vec![1e-300],
            provenance: Provenance { windows: 2, ..Provenance::default() },
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("machine.json");
        expansion.save(&path).expect("writes");
        let mut bytes = std::fs::read(&path).expect("reads");
        let read = ModelKind::parse("machine.json", &bytes).expect("a machine");
        assert_eq!(read, ModelKind::Machine(Box::new(expansion)));
        let refused = Classifier::parse("machine.json", &bytes).expect_err("no classifier");
        assert!(matches!(refused, ClassifierError::Format { .. }), "{refused}");
        let at = bytes.windows(4).position(|bytes| bytes == b"0.33").expect("a third");
        bytes[at + 2] = b'4';
        let refused = ModelKind::parse("machine.json", &bytes).expect_err("damaged");
        assert!(matches!(refused, ClassifierError::Checksum { .. }), "{refused}");
    }
}
