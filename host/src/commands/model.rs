//! A model file, whichever of the two forms it has.

use std::path::Path;

use fishweir::classifier::Classifier;
use fishweir::data::{Kind, Windowing};
use fishweir::deploy::Deployed;
use fishweir::files;

use super::Failure;

/// A model as it was read.
pub(super) struct Model {
    /// The numbers of a device.
    pub(super) deployed: Deployed,
    /// What it was compiled from; `None` for an artefact.
    pub(super) classifier: Option<Classifier>,
    /// Bytes of the file.
    pub(super) file_bytes: usize,
}

impl Model {
    /// Reads a fitted model or an artefact: its first bytes tell which.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path)?;
        let file = path.display().to_string();
        let file_bytes = bytes.len();
        if Deployed::is_artefact(&bytes) {
            let deployed = Deployed::from_artefact(&file, &bytes)?;
            return Ok(Self { deployed, classifier: None, file_bytes });
        }
        let classifier = Classifier::parse(&file, &bytes)?;
        let deployed = classifier.compile()?;
        Ok(Self { deployed, classifier: Some(classifier), file_bytes })
    }

    /// What it observes, as readers of data want it.
    pub(super) fn kind(&self) -> Result<Kind, Failure> {
        Ok(self.deployed.observations().kind()?)
    }

    /// The windowing asked for, or else the one it was trained with.
    pub(super) fn windowing(&self, asked: Option<Windowing>) -> Option<Windowing> {
        asked.or_else(|| self.classifier.as_ref()?.provenance.windowing)
    }

    /// `bayes` or `fisher`.
    pub(super) fn method(&self) -> &str {
        match &self.classifier {
            Some(classifier) => &classifier.method,
            None if self.deployed.directions() == 0 => "bayes",
            None => "fisher",
        }
    }
}
