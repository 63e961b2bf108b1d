//! A model file, whichever of the two forms it has.

use std::path::Path;

use fishweir::classifier::Classifier;
use fishweir::data::{Kind, Windowing};
use fishweir::deploy::{Cost, Deployed, Expansion, Machine, ModelKind, PushError};
use fishweir::device::Answer;
use fishweir::files;
use fishweir::parity::{Parity, Recording, compare, compare_stream};

use super::Failure;

/// A model's file, whichever of the classifiers is in it.
pub(super) enum Opened {
    /// What compiles to directions, or is compiled.
    Linear(Model),
    /// What does not.
    Machine(MachineModel),
}

/// A kernel machine as it was read.
pub(super) struct MachineModel {
    /// The numbers of a device.
    pub(super) machine: Machine,
    /// What it was rounded from.
    pub(super) expansion: Expansion,
    /// Bytes of the file.
    pub(super) file_bytes: usize,
}

impl Opened {
    /// Reads a fitted model, a kernel machine or an artefact: its contents tell which.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path)?;
        let file = path.display().to_string();
        let file_bytes = bytes.len();
        if Deployed::is_artefact(&bytes) {
            let deployed = Deployed::from_artefact(&file, &bytes)?;
            return Ok(Self::Linear(Model { deployed, classifier: None, file_bytes }));
        }
        Ok(match ModelKind::parse(&file, &bytes)? {
            ModelKind::Linear(classifier) => {
                let deployed = classifier.compile()?;
                Self::Linear(Model { deployed, classifier: Some(*classifier), file_bytes })
            }
            ModelKind::Machine(expansion) => {
                let machine = expansion
                    .deploy()
                    .map_err(|error| Failure::Input(format!("{file}: {error}")))?;
                Self::Machine(MachineModel { machine, expansion: *expansion, file_bytes })
            }
        })
    }
}

/// What a board can be given to run.
pub(super) trait Runnable {
    /// Rust source with its `static`.
    fn source(&self) -> String;
    /// Its artefact.
    fn artefact(&self) -> Result<Vec<u8>, Failure>;
    /// What it costs.
    fn cost(&self) -> Cost;
    /// A device's answers beside the host's.
    fn compare(
        &self,
        recording: &Recording<'_>,
        answers: &[Option<Answer>],
    ) -> Result<Parity, PushError>;
    /// What is compared beside class and margin.
    const EVIDENCE: &'static str;
}

impl Runnable for Deployed {
    fn source(&self) -> String {
        self.to_source()
    }
    fn artefact(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.to_artefact()?)
    }
    fn cost(&self) -> Cost {
        Self::cost(self)
    }
    fn compare(
        &self,
        recording: &Recording<'_>,
        answers: &[Option<Answer>],
    ) -> Result<Parity, PushError> {
        compare(self, recording, answers)
    }
    const EVIDENCE: &'static str = "log-likelihoods";
}

impl Runnable for Machine {
    fn source(&self) -> String {
        self.to_source()
    }
    fn artefact(&self) -> Result<Vec<u8>, Failure> {
        Err(Failure::Input(
            "a kernel machine is exported as Rust source, not as an artefact".into(),
        ))
    }
    fn cost(&self) -> Cost {
        Self::cost(self).into()
    }
    fn compare(
        &self,
        recording: &Recording<'_>,
        answers: &[Option<Answer>],
    ) -> Result<Parity, PushError> {
        compare_stream(self.stream(), recording, answers)
    }
    const EVIDENCE: &'static str = "decision values";
}

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
    /// Reads a fitted model or an artefact, for what takes no kernel machine.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        match Opened::read(path)? {
            Opened::Linear(model) => Ok(model),
            Opened::Machine(_) => Err(Failure::Input(format!(
                "{}: a kernel machine: info, export and run take one",
                path.display()
            ))),
        }
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
