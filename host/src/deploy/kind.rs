//! What the two kinds of classifier have in common: the trained one and its file, the deployed one,
//! and its stream.

use std::path::Path;

use fishweir_core::classify::{Decision, ScoreOutOfRange};

use super::source::EmissionType;
use super::{
    ArtefactFileError, Cost, Deployed, Expansion, ExpansionError, Machine, MachineStream,
    PushError, Route, Stream,
};
use crate::classifier::{Classifier, ClassifierError, Observations, Provenance, seal};
use crate::data::{Sample, Values};
use crate::runtime::{Family, Hmm, Shape};

/// A trained classifier in `f64`: what training gives and a model's file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelKind {
    /// What compiles to directions, or needs none.
    Linear(Box<Classifier>),
    /// A kernel machine, which does not compile.
    Machine(Box<Expansion>),
}

impl ModelKind {
    /// Which classifier it is, as commands name it: `bayes`, `fisher`, `gaussian`, ...
    #[must_use]
    pub fn method(&self) -> &str {
        match self {
            Self::Linear(classifier) => &classifier.method,
            Self::Machine(expansion) => &expansion.method,
        }
    }

    /// What it observes.
    #[must_use]
    pub fn observations(&self) -> &Observations {
        match self {
            Self::Linear(classifier) => &classifier.observations,
            Self::Machine(expansion) => &expansion.observations,
        }
    }

    /// Names of the classes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        match self {
            Self::Linear(classifier) => &classifier.classes,
            Self::Machine(expansion) => &expansion.classes,
        }
    }

    /// The bank of models, or the kernel's.
    #[must_use]
    pub fn models(&self) -> &[Hmm] {
        match self {
            Self::Linear(classifier) => &classifier.models,
            Self::Machine(expansion) => expansion.models(),
        }
    }

    /// How it was trained.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Linear(classifier) => &classifier.provenance,
            Self::Machine(expansion) => &expansion.provenance,
        }
    }

    /// The classifier that compiles, if it is one.
    #[must_use]
    pub fn linear(&self) -> Option<&Classifier> {
        match self {
            Self::Linear(classifier) => Some(classifier),
            Self::Machine(_) => None,
        }
    }

    /// The kernel machine, if it is one.
    #[must_use]
    pub fn machine(&self) -> Option<&Expansion> {
        match self {
            Self::Linear(_) => None,
            Self::Machine(expansion) => Some(expansion),
        }
    }

    /// As a device holds it, in `f32`: compiled to directions, or with its support vectors.
    ///
    /// # Errors
    /// [`ExpansionError`] naming what `f32` or a device does not hold.
    pub fn deploy(&self) -> Result<DeployedKind, ExpansionError> {
        Ok(match self {
            Self::Linear(classifier) => DeployedKind::Linear(classifier.compile()?),
            Self::Machine(expansion) => DeployedKind::Machine(expansion.deploy()?),
        })
    }

    /// Writes it as JSON with a checksum, whole or not at all.
    ///
    /// # Errors
    /// [`ClassifierError::File`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ClassifierError> {
        match self {
            Self::Linear(classifier) => classifier.save(path),
            Self::Machine(expansion) => expansion.save(path),
        }
    }

    /// What [`save`](Self::save) writes.
    ///
    /// # Errors
    /// Where a number has no place in JSON.
    pub fn to_json(&self) -> Result<String, ClassifierError> {
        match self {
            Self::Linear(classifier) => seal(classifier.as_ref()),
            Self::Machine(expansion) => seal(expansion.as_ref()),
        }
    }
}

/// A classifier as a device holds it, of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum DeployedKind {
    /// Directions, or log-likelihoods alone.
    Linear(Deployed),
    /// Support vectors.
    Machine(Machine),
}

impl DeployedKind {
    /// What both kinds can do.
    #[must_use]
    pub fn any(&self) -> &dyn DeployedClassifier {
        match self {
            Self::Linear(deployed) => deployed,
            Self::Machine(machine) => machine,
        }
    }

    /// Which classifier it is, by what was fitted; an artefact, which was not, tells only whether it
    /// uses scores.
    #[must_use]
    pub fn method<'a>(&self, fitted: Option<&'a ModelKind>) -> &'a str {
        match (fitted, self) {
            (Some(fitted), _) => fitted.method(),
            (None, Self::Linear(deployed)) if deployed.directions() == 0 => "bayes",
            (None, _) => "fisher",
        }
    }

    /// How its models' hidden states emit: the family and its sizes.
    #[must_use]
    pub fn emission(&self) -> (&'static dyn Family, Shape) {
        let EmissionType { family, shape } = match self {
            Self::Linear(deployed) => EmissionType::of(&deployed.models),
            Self::Machine(machine) => machine.emission(),
        };
        (family, shape)
    }

    /// Why it has no binary artefact, in words; `None` where it has one.
    #[must_use]
    pub fn no_artefact(&self) -> Option<String> {
        let (family, shape) = self.emission();
        match self {
            Self::Machine(_) => Some("kernel machines are exported as Rust source".to_owned()),
            Self::Linear(one) if one.order().is_some() => {
                Some("weights of words are exported as Rust source".to_owned())
            }
            Self::Linear(_) if family.artefact().is_some() => None,
            Self::Linear(_) => Some(format!("{} are exported as Rust source", family.words(shape))),
        }
    }

    /// What the numbers of its channels must be.
    #[must_use]
    pub fn values(&self) -> Values {
        match self {
            Self::Linear(deployed) => deployed.values(),
            Self::Machine(_) => Values::Reals,
        }
    }

    /// A stream before its first sample.
    #[must_use]
    pub fn stream(&self) -> Box<dyn DecisionStream + Send> {
        self.any().start()
    }

    /// What it costs on a device.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.any().cost()
    }
}

/// What can be asked of a classifier in the numbers of a device, whichever kind it is.
pub trait DeployedClassifier: Sync {
    /// What it observes.
    fn observations(&self) -> &Observations;
    /// Names of the classes.
    fn classes(&self) -> &[String];
    /// Number of outputs: one for two classes, else one a class.
    fn outputs(&self) -> usize;
    /// A stream before its first sample: the arithmetic of the device, and its bits.
    fn start(&self) -> Box<dyn DecisionStream + Send>;
    /// Rust source with a `static` of it.
    fn to_source(&self) -> String;
    /// Its binary artefact; `None` for a kind that has none.
    ///
    /// # Errors
    /// What does not fit in an artefact.
    fn to_artefact(&self) -> Option<Result<Vec<u8>, ArtefactFileError>>;
    /// What it costs on a device.
    fn cost(&self) -> Cost;
    /// The ways there are to evaluate it, the one taken first.
    fn routes(&self) -> Vec<Route>;
    /// What [`DecisionStream::evidence`] is, in words.
    fn evidence_name(&self) -> &'static str;
    /// Whether a decision costs no more than samples do, so that one a sample may be asked for.
    /// Reading a kernel machine takes a kernel value an item.
    fn decides_at_every_sample(&self) -> bool;
}

/// A running classifier: samples go in, decisions come out.
pub trait DecisionStream {
    /// Takes in one sample.
    ///
    /// # Errors
    /// [`PushError`]; the stream is then as before.
    fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError>;
    /// Forgets the past.
    fn reset(&mut self);
    /// Samples taken in, missing ones included.
    fn samples(&self) -> u64;
    /// The decision so far; a machine's margin is in the scale of its kernel values.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`], of a machine on scores.
    fn decision(&self) -> Result<Decision, ScoreOutOfRange>;
    /// What the decision is made of, `[output]`: of two classes' one, the sign; else the largest.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    fn decision_values(&self) -> Result<Vec<f32>, ScoreOutOfRange>;
    /// By how much each class leads the best of the others, `[class]`; negative where it does not.
    /// Subtracted before rounding where values may be large.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    fn leads(&self) -> Result<Vec<f32>, ScoreOutOfRange>;
    /// What a device's answer carries beside the decision: log-likelihoods, `[model]`, or where there
    /// are none to show decision values, `[output]`.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    fn evidence(&self) -> Result<Vec<f32>, ScoreOutOfRange>;
}

macro_rules! of_either_kind {
    ($($kind:ty, $artefact:expr, $evidence_name:literal, $every:literal;
       $stream:ty, $decision:expr, $values:expr, $leads:expr, $evidence:expr;)*) => {$(
        impl DeployedClassifier for $kind {
            fn observations(&self) -> &Observations {
                Self::observations(self)
            }
            fn classes(&self) -> &[String] {
                Self::classes(self)
            }
            fn outputs(&self) -> usize {
                Self::outputs(self)
            }
            fn start(&self) -> Box<dyn DecisionStream + Send> {
                Box::new(self.stream())
            }
            fn to_source(&self) -> String {
                Self::to_source(self)
            }
            fn to_artefact(&self) -> Option<Result<Vec<u8>, ArtefactFileError>> {
                $artefact(self)
            }
            fn cost(&self) -> Cost {
                Self::cost(self)
            }
            fn routes(&self) -> Vec<Route> {
                Self::routes(self)
            }
            fn evidence_name(&self) -> &'static str {
                $evidence_name
            }
            fn decides_at_every_sample(&self) -> bool {
                $every
            }
        }

        impl DecisionStream for $stream {
            fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
                Self::push(self, sample)
            }
            fn reset(&mut self) {
                Self::reset(self);
            }
            fn samples(&self) -> u64 {
                Self::samples(self)
            }
            fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
                $decision(self)
            }
            fn decision_values(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
                $values(self)
            }
            fn leads(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
                $leads(self)
            }
            fn evidence(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
                $evidence(self)
            }
        }
    )*};
}
of_either_kind! {
    Deployed, |deployed: &Deployed| match deployed.to_artefact() {
        Err(ArtefactFileError::Family(_) | ArtefactFileError::Words) => None,
        artefact => Some(artefact),
    }, "log-likelihoods", true;
    Stream, |stream: &Stream| Ok(stream.decision()), |stream: &Stream| Ok(stream.decision_values()),
    |stream: &Stream| Ok(stream.leads()), |stream: &Stream| Ok(stream.log_likelihoods());
    Machine, |_: &Machine| None, "decision values", false;
    MachineStream, MachineStream::decision, MachineStream::unscaled_values, MachineStream::leads,
    |stream: &MachineStream| Ok(stream.decision_values()?.0);
}

impl<S: DecisionStream + ?Sized> DecisionStream for Box<S> {
    fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        (**self).push(sample)
    }
    fn reset(&mut self) {
        (**self).reset();
    }
    fn samples(&self) -> u64 {
        (**self).samples()
    }
    fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        (**self).decision()
    }
    fn decision_values(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
        (**self).decision_values()
    }
    fn leads(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
        (**self).leads()
    }
    fn evidence(&self) -> Result<Vec<f32>, ScoreOutOfRange> {
        (**self).evidence()
    }
}
