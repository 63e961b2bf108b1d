//! A model's file, whichever classifier is in it.

use std::path::Path;

use fishweir::classifier::Classifier;
use fishweir::data::{Kind, Windowing};
use fishweir::deploy::Deployed;
use fishweir::evaluate::windowing_of;
use fishweir::files;
use fishweir::model::ModelSet;
use fishweir_core::Profile;
use fishweir_core::artefact::Header;

use super::Failure;

/// A model as it was read.
pub(super) struct Model {
    /// The numbers of a device.
    pub(super) deployed: Deployed,
    /// The classifier that they were made from; `None` for an artefact, and for a set of models.
    pub(super) fitted: Option<Classifier>,
    /// What computed where an artefact was written; `None` for a fitted model.
    pub(super) profile: Option<Profile>,
    /// Bytes of the file.
    pub(super) file_bytes: usize,
}

impl Model {
    /// Reads a fitted model, a set of linear dynamical systems one a class, or an artefact: its contents tell
    /// which.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path)?;
        let file = path.display().to_string();
        let file_bytes = bytes.len();
        if Deployed::is_artefact(&bytes) {
            let deployed = Deployed::from_artefact(&file, &bytes)?;
            let profile = Header::parse(&bytes).ok().map(|header| header.profile());
            return Ok(Self { deployed, fitted: None, profile, file_bytes });
        }
        let fitted = match Classifier::parse(&file, &bytes) {
            Ok(fitted) => fitted,
            Err(error) => {
                // A bank of models that decide by themselves is no classifier's file.
                let Ok(set) = ModelSet::parse(&file, &bytes) else { return Err(error.into()) };
                let deployed = Deployed::of_systems(&set)
                    .map_err(|error| Failure::Input(format!("{file}: {error}")))?;
                return Ok(Self { deployed, fitted: None, profile: None, file_bytes });
            }
        };
        let deployed =
            fitted.deploy().map_err(|error| Failure::Input(format!("{file}: {error}")))?;
        Ok(Self { deployed, fitted: Some(fitted), profile: None, file_bytes })
    }

    /// What it observes, as readers of data want it.
    pub(super) fn kind(&self) -> Result<Kind, Failure> {
        Ok(self.deployed.observations().kind()?)
    }

    /// The windowing asked for, or else the one it was trained with.
    pub(super) fn windowing(&self, asked: Option<Windowing>) -> Option<Windowing> {
        self.fitted.as_ref().map_or(asked, |fitted| windowing_of(fitted, asked))
    }

    /// Which classifier: `bayes`, `fisher`, `gaussian`, ...
    pub(super) fn method(&self) -> &str {
        self.deployed.method(self.fitted.as_ref())
    }
}
