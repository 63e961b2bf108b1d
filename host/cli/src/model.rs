//! A model's file, whichever classifier is in it.

use std::path::{Path, PathBuf};

use fishweir::classifier::{Classifier, Contract, Provenance, Regressor};
use fishweir::data::{Kind, Windowing};
use fishweir::deploy::{DeployError, Deployed, DetectorModel, SpotterModel};
use fishweir::model::ModelSet;
use fishweir::report::grouped;
use fishweir_core::Profile;
use fishweir_core::artefact::Header;
use fishweir_core::update::{SIGNATURE_LENGTH, Update, UpdateError, UpdateHeader};
use fishweir_profiles::ProfileClassifier;

use super::rate::check_rate;
use super::recognise;
use super::regression;
use super::remedy::words;
use super::{Failure, Message, Topic, note};

/// The model of a command that takes nothing else: an argument, or `--model` as everywhere.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct ModelArgument {
    /// Model file
    #[arg(value_name = "MODEL")]
    argument: Option<PathBuf>,
    /// File of the model
    #[arg(id = "model", short, long = "model", value_name = "FILE")]
    option: Option<PathBuf>,
}

impl ModelArgument {
    /// The model's file.
    pub(super) fn path(&self) -> &Path {
        let path = self.argument.as_deref().or(self.option.as_deref());
        // The command line has one of both.
        path.unwrap_or(Path::new(""))
    }
}

/// A model as it was read.
pub(super) struct Model {
    /// The numbers of a device.
    pub(super) deployed: Deployed,
    /// Origin of the numbers.
    pub(super) origin: Origin,
    /// Bytes of the file.
    pub(super) file_bytes: usize,
}

/// Origin of a device's numbers.
pub(super) enum Origin {
    /// A trained classifier.
    Classifier(Box<Classifier>),
    /// A trained regression.
    Regressor(Box<Regressor>),
    /// A set of linear dynamical systems, trained so.
    Systems(Provenance),
    /// A classifier of one profile, and how it was trained; a profile alone was not.
    Profile(Option<Provenance>),
    /// An artefact, and what computed where it was written.
    Artefact(Option<Profile>),
}

/// Message that a file is an update, not a model.
fn update_told(bytes: &[u8]) -> Message {
    match Update::read(bytes) {
        Ok(update) => Message::new(
            Topic::IsUpdate,
            format!(
                "this is an update of a device's model, version {}, for `send`; name the model or artefact that it \
                 was exported from",
                update.header.version()
            ),
        ),
        Err(error @ UpdateError::Truncated) => {
            let header = bytes.first_chunk().and_then(|head| UpdateHeader::parse(head).ok());
            let length = header.and_then(|header| header.length());
            let unsigned = header.is_some_and(|header| header.is_signed())
                && length == Some(bytes.len() + SIGNATURE_LENGTH);
            if unsigned {
                return Message::new(
                    Topic::UnsignedUpdate,
                    format!(
                        "this is an update of a device's model without its {SIGNATURE_LENGTH} bytes of signature; \
                        `fishweir send --key FILE` signs it"
                    ),
                );
            }
            let (here, of) = (grouped(bytes.len()), length.map(grouped));
            let of = of.map_or_else(String::new, |length| format!(" of {length}"));
            Message::new(
                error.kind(),
                format!(
                    "this is an update of a device's model, truncated to {here}{of} bytes; export it again"
                ),
            )
        }
        Err(error) => Message::new(
            error.kind(),
            format!("this is an invalid update of a device's model: {error}"),
        ),
    }
}

impl Model {
    /// Reads a fitted model, a set of linear dynamical systems one a class, a classifier of a profile, a profile in
    /// HMMER3/f text, or an artefact: its contents tell which.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(path, &recognise::read(path)?)
    }

    /// Parses the contents of a file; a regression is refused.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Failure> {
        let model = Self::parse_any(path, bytes)?;
        regression::refuse(&path.display().to_string(), &model.deployed)?;
        Ok(model)
    }

    /// Parses the contents of a file, of a regression too.
    pub(super) fn parse_any(path: &Path, bytes: &[u8]) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let refused = |what: &str| Failure::input(Topic::WrongModel, format!("{file}: {what}"));
        let named =
            |error: DeployError| Failure::input(error.kind(), format!("{file}: {}", words(&error)));
        let (deployed, origin) = if Deployed::is_artefact(bytes) {
            let profile = Header::parse(bytes).ok().map(|header| header.profile());
            (Deployed::from_artefact(&file, bytes)?, Origin::Artefact(profile))
        } else if Regressor::is_one(bytes) {
            let fitted = Regressor::parse(&file, bytes)?;
            (fitted.deploy().map_err(named)?, Origin::Regressor(Box::new(fitted)))
        } else if ModelSet::is_one(bytes) {
            let set = ModelSet::parse(&file, bytes)?;
            (Deployed::of_set(&set).map_err(named)?, Origin::Systems(set.provenance))
        } else if ProfileClassifier::is_one(bytes) {
            let fitted = ProfileClassifier::parse(&file, bytes)?;
            (fitted.deploy().map_err(named)?, Origin::Profile(Some(fitted.provenance)))
        } else if fishweir_profiles::Profile::is_one(bytes) {
            let found = fishweir_profiles::Profile::parse(&file, &String::from_utf8_lossy(bytes))?;
            let alone = ProfileClassifier::alone(&found);
            (alone.deploy().map_err(named)?, Origin::Profile(None))
        } else if SpotterModel::is_one(bytes) {
            let what = "this is a spotter of events: spot DATA --model, info and export take it";
            return Err(refused(what));
        } else if DetectorModel::is_one(bytes) {
            let what = "this is a detector of change: detect DATA --model, info and export take it";
            return Err(refused(what));
        } else if UpdateHeader::begins(bytes) {
            let Message { kind, text } = update_told(bytes);
            return Err(Failure::input(kind, format!("{file}: {text}")));
        } else {
            let fitted = Classifier::parse(&file, bytes)
                .map_err(|error| recognise::refused(&file, bytes, &error))?;
            (fitted.deploy().map_err(named)?, Origin::Classifier(Box::new(fitted)))
        };
        Ok(Self { deployed, origin, file_bytes: bytes.len() })
    }

    /// The classifier that it was made from.
    pub(super) fn fitted(&self) -> Option<&Classifier> {
        match &self.origin {
            Origin::Classifier(fitted) => Some(fitted),
            Origin::Regressor(fitted) => Some(&fitted.estimator),
            _ => None,
        }
    }

    /// Returns the classifier; otherwise describes the model that it is.
    pub(super) fn classifier(&self) -> Result<&Classifier, &'static str> {
        match &self.origin {
            Origin::Classifier(fitted) => Ok(fitted),
            Origin::Regressor(_) => Err("this is a regression"),
            Origin::Systems(_) => Err("these are models without a classifier"),
            Origin::Profile(_) => Err("this is a profile, or a classifier of one"),
            Origin::Artefact(_) => Err("this is an artefact, in f32 already"),
        }
    }

    /// Provenance of the training; `None` for an artefact, which does not have it.
    pub(super) fn provenance(&self) -> Option<&Provenance> {
        match &self.origin {
            Origin::Classifier(fitted) => Some(&fitted.provenance),
            Origin::Regressor(fitted) => Some(&fitted.estimator.provenance),
            Origin::Systems(provenance) => Some(provenance),
            Origin::Profile(provenance) => provenance.as_ref(),
            Origin::Artefact(_) => None,
        }
    }

    /// Refuses windows that no stream decides on, before a stream or a device is made of them.
    pub(super) fn check_windows(&self) -> Result<(), Failure> {
        self.deployed.check_windows().map_err(|error| {
            Failure::input(
                error.kind(),
                format!("{error}; or give --endless, to decide after every sample"),
            )
        })
    }

    /// Recipe of the training, if the file has one.
    pub(super) fn recipe(&self) -> Option<&str> {
        self.provenance()?.recipe.as_deref()
    }

    /// Samples per second: those asked for, or else those of the training.
    ///
    /// # Errors
    /// Where the two are not the same.
    pub(super) fn rate(&self, asked: Option<f64>) -> Result<Option<f64>, Failure> {
        let period = self.deployed.contract().and_then(|contract| contract.period);
        if let (Some(rate), Some(period)) = (asked, period) {
            check_rate("--rate", rate, period)?;
        }
        Ok(asked.or(period.map(|period| period.rate())))
    }

    /// Contract of the training, including the parts that no device keeps, if the file has them.
    pub(super) fn contract(&self) -> Option<Contract> {
        let carried = self.deployed.contract();
        let Some(mut contract) = self.provenance().map(Provenance::contract) else {
            return carried.cloned();
        };
        let channels = carried.map_or(&[][..], |carried| carried.channels.as_slice());
        contract.target = carried.and_then(|carried| carried.target.clone());
        for (one, carried) in contract.channels.iter_mut().zip(channels) {
            one.missing = carried.missing;
        }
        Some(contract)
    }

    /// Kind of data that the model observes, for readers of data.
    pub(super) fn kind(&self) -> Result<Kind, Failure> {
        Ok(self.deployed.observations().kind()?)
    }

    /// The windowing asked for, or else that of the model's contract.
    pub(super) fn windowing(&self, asked: Option<Windowing>) -> Option<Windowing> {
        if asked.is_none() && self.deployed.contract().is_none() {
            note(
                Topic::NoContract,
                "an earlier fishweir wrote this artefact, without the windows of its training, so whole series are \
                 decided; give --window, or export the artefact again from its model",
            );
        }
        asked.or_else(|| self.deployed.contract()?.windowing)
    }

    /// Name of the classifier: `bayes`, `fisher`, `gaussian`, ...
    pub(super) fn method(&self) -> &str {
        self.deployed.method(self.fitted())
    }
}
