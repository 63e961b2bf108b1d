//! Fields that every deployed classifier has, with any engine.

use fishweir_core::classify::Normalisation;
use fishweir_core::contract::Windows;
use fishweir_core::number::Real;
use fishweir_core::{ErrorKind, ModelError, Part};

use super::codebooks::DeployedCodebooks;
use super::cost::ring_of;
use super::stream::{Evidence, Stream};
use crate::classifier::{Contract, DeployedConfidence, Observations};
use crate::data::Lags;
use crate::data::internals::FrontEnd;

/// Fields of a deployed classifier other than its engine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Common<T = f32> {
    pub(crate) observations: Observations,
    pub(crate) classes: Vec<String>,
    /// Front end that turns samples into rows.
    pub(crate) front: FrontEnd,
    /// Lags at which differences of the channels are further channels of the models.
    pub(crate) lags: Lags,
    /// Codebooks, and the weights of their codewords.
    pub(crate) codebooks: Option<DeployedCodebooks<T>>,
    /// `[output][model]`, or of a kernel `[output][item]`.
    pub(crate) weights: Vec<Vec<T>>,
    /// `[output]`.
    pub(crate) biases: Vec<T>,
    pub(crate) normalisation: Normalisation,
    /// Calibration of decisions, if one was learnt.
    pub(crate) confidence: Option<DeployedConfidence>,
    /// Bytes of the basis that classes can be taught by, if it was learnt.
    pub(crate) teaching: Option<Vec<u8>>,
    /// Contract of the training; `None` for an artefact of a version without contracts.
    pub(crate) contract: Option<Contract>,
}

impl<T> Common<T> {
    /// Returns weights and biases, without front end, lags, codebooks, normalisation and confidence.
    pub(super) fn new(
        observations: Observations,
        classes: Vec<String>,
        (weights, biases): (Vec<Vec<T>>, Vec<T>),
        contract: Contract,
    ) -> Self {
        Self {
            observations,
            classes,
            front: FrontEnd::default(),
            lags: Lags::NONE,
            codebooks: None,
            weights,
            biases,
            normalisation: Normalisation::NONE,
            confidence: None,
            teaching: None,
            contract: Some(contract),
        }
    }

    /// Returns the same fields with other weights and biases, without codebooks.
    pub(super) fn weighed_by<S>(&self, (weights, biases): (Vec<Vec<S>>, Vec<S>)) -> Common<S> {
        Common {
            observations: self.observations.clone(),
            classes: self.classes.clone(),
            front: self.front.clone(),
            lags: self.lags.clone(),
            codebooks: None,
            weights,
            biases,
            normalisation: self.normalisation,
            confidence: self.confidence.clone(),
            teaching: None,
            contract: self.contract.clone(),
        }
    }

    /// The windows that it decides on; `None` on whole series.
    pub(super) fn windows(&self) -> Option<Windows> {
        self.contract.as_ref().and_then(Contract::windows)
    }

    /// Returns whether channels may be missing while others are present.
    pub(super) fn in_part(&self) -> bool {
        self.contract.as_ref().is_some_and(Contract::lacks_some)
    }

    /// Bytes of a stored channel, with a flag if it may be missing.
    pub(super) fn channel_bytes(&self) -> usize {
        if self.in_part() { 8 } else { 4 }
    }

    /// Channels or symbols.
    pub(super) fn size(&self) -> usize {
        self.observations.size()
    }

    /// Number of outputs: one for two classes, else one per class.
    pub(super) fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// Channels of the rows that the front end makes.
    pub(super) fn channels(&self) -> usize {
        self.front.width(self.size())
    }

    /// The columns of a row that a model sees; `None` for all of them.
    pub(super) fn columns(&self, model: usize) -> Option<Vec<usize>> {
        self.lags.columns(model, self.channels())
    }

    /// Bytes of past samples with their alignment, and differences per sample.
    pub(super) fn ring(&self) -> (usize, usize) {
        ring_of(self.channels(), &self.lags, self.channel_bytes())
    }
}

impl<T: Real> Common<T> {
    /// Returns a stream that weighs this evidence.
    pub(super) fn stream(&self, evidence: Evidence<T>) -> Stream<T> {
        let outputs = (self.weights.clone(), self.biases.clone(), self.normalisation);
        Stream::of(evidence, outputs, &self.observations).in_part(self.in_part())
    }
}

impl Common {
    /// Appends the fields of the core's `StreamClassifier` after its models, the lags of `LagFeatures`, and the codebooks
    /// of `WithCodebooks`.
    pub(super) fn memory(&self, bytes: &mut Vec<u8>) {
        let weights = self.weights.iter().flatten().chain(&self.biases);
        bytes.extend(weights.flat_map(|x| x.to_le_bytes()));
        bytes.extend_from_slice(&self.normalisation.code().to_le_bytes());
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.extend(self.lags.as_slice().iter().flat_map(|lag| lag.to_le_bytes()));
        bytes.extend(self.codebooks.iter().flat_map(DeployedCodebooks::bytes));
    }

    /// Bytes of the calibration in flash.
    pub(super) fn confidence_bytes(&self) -> usize {
        self.confidence.as_ref().map_or(0, |confidence| 4 * confidence.reals().count())
    }

    /// Checks weights and biases.
    pub(super) fn validate_outputs(&self) -> Result<(), ModelError> {
        let tables = self.weights.iter().map(|row| (Part::LikelihoodWeight, row.as_slice()));
        for (row, (part, values)) in
            tables.chain([(Part::Bias, self.biases.as_slice())]).enumerate()
        {
            if let Some(entry) = values.iter().position(|value| !value.is_finite()) {
                return Err(ModelError::new(part, ErrorKind::NotFinite, row, entry));
            }
        }
        Ok(())
    }

    /// Checks every number by the core's own checks.
    pub(super) fn validate(&self) -> Result<(), ModelError> {
        self.validate_outputs()?;
        let mut codebooks = self.codebooks.iter();
        codebooks.try_for_each(|books| books.validate(books.largest()))?;
        self.confidence.as_ref().map_or(Ok(()), |confidence| confidence.of_core().validate())
    }
}
