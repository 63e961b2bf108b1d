//! A detector of change: a model, a direction, and limits that calibration has set.

mod calibrate;
mod direction;
mod error;
mod model;
mod stream;

pub use calibrate::Calibration;
pub use error::CalibrationError;
pub use model::{ChangeLimit, DetectorCost, DetectorModel};
pub use stream::DetectorStream;

use std::fmt::Write as _;

use fishweir_core::classify::Limit;

use super::model::DeployedModel;
use super::source::{EmissionType, labels, model_source_in_part, observed, one_line};
use crate::classifier::Observations;
use crate::data::Values;
use crate::runtime::Observed;

/// A detector as a device holds it: the core's `ChangeDetector` with one direction, in `f32`, in the
/// sensor's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    observations: Observations,
    model: DeployedModel,
    /// `1 - lambda`.
    lost: f32,
    fit: Limit,
    drift: Limit,
    /// Description of how the limits were set.
    notes: Vec<String>,
    /// True if a sample may lack some of its channels.
    in_part: bool,
}

impl Detector {
    /// Observations of the model.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// Returns true if a sample may lack some of its channels; otherwise a sample that lacks one is missing.
    pub fn lacks_some(&self) -> bool {
        self.in_part
    }

    /// Hidden states of the model.
    pub fn states(&self) -> usize {
        self.model.initial.len()
    }

    /// Channels or symbols.
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// Constraints on the numbers of the channels.
    pub fn values(&self) -> Values {
        match self.model.emission.first().map(|emission| emission.family.observes()) {
            Some(Observed::Channels(values)) => values,
            _ => Values::Reals,
        }
    }

    /// Notes on how the limits were set.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Normal range of the log-likelihood.
    pub fn fit(&self) -> Limit {
        self.fit
    }

    /// Normal range along the direction.
    pub fn drift(&self) -> Limit {
        self.drift
    }

    /// The model, and the share of earlier samples that each sample loses.
    pub(super) fn parts(&self) -> (&DeployedModel, f32) {
        (&self.model, self.lost)
    }

    /// Rust source that defines `Model`, the detector's type, and `MODEL`, a `static` of it.
    ///
    /// It also defines the names of the channels as `CHANNELS`, over symbols their letters as `ALPHABET`, and an empty `CLASSES`.
    /// Every number is written so that it reads back to the same bits.
    pub fn to_source(&self) -> String {
        let emission = EmissionType::of(std::slice::from_ref(&self.model));
        let imported = emission.import_beside(&self.observations, self.in_part);
        let states = self.states();
        let emission = emission.text_in_part("Dual<f32, 1>", self.in_part);
        let mut text = format!(
            "// A detector of change, exported by fishweir {}. Calibrate again, do not change this file.\n\
             //\n\
             // Observes {}.\n",
            env!("CARGO_PKG_VERSION"),
            observed(&self.observations),
        );
        for note in &self.notes {
            let _ = writeln!(text, "// {note}");
        }
        let _ = write!(
            text,
            "\nuse fishweir_core::classify::{{ChangeDetector, Limit}};\n\
             use fishweir_core::emission::{imported};\n\
             use fishweir_core::filter::ForgettingFactor;\n\
             use fishweir_core::hmm::{{Chain, Hmm}};\n\
             use fishweir_core::number::Dual;\n\n\
             {}\
             /// A model of {states} hidden states over {}, one direction.\n\
             pub type Model = ChangeDetector<{emission}, {states}, 1>;\n\n\
             /// The detector, in flash.\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             pub static MODEL: Model = ChangeDetector::from_parts(\n",
            labels(&self.observations, &[]),
            one_line(&self.observations.to_string())
        );
        model_source_in_part(&mut text, &self.model, self.in_part);
        let limit = |Limit { mean, threshold }: Limit| {
            format!("Limit {{ mean: {mean:?}, threshold: {threshold:?} }}")
        };
        let _ = writeln!(text, "    ForgettingFactor::from_one_minus_lambda({:?}),", self.lost);
        let _ = writeln!(text, "    {},\n    [{}],\n);", limit(self.fit), limit(self.drift));
        text
    }
}
