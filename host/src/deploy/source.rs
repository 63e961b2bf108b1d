//! Rust source with the classifier as a `static`, for linking into firmware.

use std::fmt::Write as _;

use fishweir_core::emission::Alphabet;

use super::{Deployed, DeployedEmission, DeployedModel, Weight};
use crate::classifier::{Observations, normalisation_name};

impl Deployed {
    /// Rust source that defines `Model`, the classifier's type, and `MODEL`, a `static` of it; the
    /// names of the classes as `CLASSES`; and over symbols their letters as `ALPHABET`. Every number
    /// is written so that it reads back to the same bits.
    #[must_use]
    pub fn to_source(&self) -> String {
        let directions = self.directions();
        let real = if directions == 0 { "f32".into() } else { format!("Dual<f32, {directions}>") };
        let (family, what) = match &self.observations {
            Observations::Channels(names) => ("Gaussian", format!("channels {}", names.join(", "))),
            Observations::Symbols(symbols) => {
                ("Categorical", format!("symbols {symbols:?}, numbered in this order"))
            }
        };
        let alphabet = match &self.observations {
            Observations::Channels(_) => None,
            Observations::Symbols(symbols) => Some(Alphabet::of(symbols)),
        };
        let families = if alphabet.is_some() { "{Alphabet, Categorical}" } else { family };
        let numbers = if directions == 0 {
            String::new()
        } else {
            "use fishweir_core::number::Dual;\n".into()
        };
        let mut text = format!(
            "// A stream classifier, exported by fishweir {}. Change the model, not this file.\n\
             //\n\
             // Observes {what}.\n",
            env!("CARGO_PKG_VERSION"),
        );
        for (index, class) in self.classes.iter().enumerate() {
            let _ = writeln!(text, "// Class {index}: {class}.");
        }
        let _ = write!(
            text,
            "\nuse fishweir_core::classify::{{Normalisation, StreamClassifier}};\n\
             use fishweir_core::emission::{families};\n\
             use fishweir_core::hmm::{{Chain, Hmm}};\n\
             {numbers}\n\
             /// The names of the classes, by index.\n\
             #[rustfmt::skip]\n\
             pub static CLASSES: [&str; {}] = {:?};\n\n\
             {}\
             /// {} models of {} hidden states over {}, {} outputs.\n\
             pub type Model = StreamClassifier<{family}<{}, {real}>, {}, {}, {}>;\n\n\
             /// The classifier, in flash.\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             pub static MODEL: Model = StreamClassifier::new(\n    [\n",
            self.classes.len(),
            self.classes,
            alphabet.map(alphabet_source).unwrap_or_default(),
            self.models(),
            self.states(),
            self.observations,
            self.outputs(),
            self.size(),
            self.states(),
            self.models(),
            self.outputs(),
        );
        for model in &self.models {
            model_source(&mut text, model);
        }
        let _ = writeln!(text, "    ],\n    [");
        for row in &self.weights {
            let _ = writeln!(text, "        {},", reals(row));
        }
        let normalisation = normalisation_name(self.normalisation).to_uppercase();
        let _ = writeln!(text, "    ],\n    {},", reals(&self.biases));
        let _ = writeln!(text, "    Normalisation::{normalisation},\n);");
        text
    }
}

/// An `Hmm`, with a comma after it.
pub(super) fn model_source(text: &mut String, model: &DeployedModel) {
    let _ = writeln!(text, "        Hmm::new(\n            Chain::from_parts(");
    let _ = writeln!(text, "                {},", weights(&model.initial));
    let _ = writeln!(text, "                [");
    for row in &model.transition {
        let _ = writeln!(text, "                    {},", weights(row));
    }
    let _ = writeln!(text, "                ],\n            ),\n            [");
    for emission in &model.emission {
        let _ = writeln!(text, "                {},", emission_source(emission));
    }
    let _ = writeln!(text, "            ],\n        ),");
}

fn alphabet_source(alphabet: Alphabet<'_>) -> String {
    format!(
        "/// The letters of the symbols in order, those of a missing one, and whether lower case is \
         read as\n/// upper case.\n\
         #[rustfmt::skip]\n\
         pub static ALPHABET: Alphabet<'static> = Alphabet::new({:?}, {:?}, {});\n\n",
        alphabet.symbols(),
        alphabet.missing(),
        alphabet.folds_case()
    )
}

fn reals(row: &[f32]) -> String {
    // Debug prints the shortest text that reads back to the same number.
    format!("{row:?}")
}

fn weight(weight: &Weight) -> String {
    if weight.tangent.is_empty() {
        format!("{:?}", weight.value)
    } else {
        format!("Dual {{ value: {:?}, tangent: {:?} }}", weight.value, weight.tangent)
    }
}

fn weights(row: &[Weight]) -> String {
    format!("[{}]", row.iter().map(weight).collect::<Vec<_>>().join(", "))
}

/// Tangents by channel: `()` each where there is none.
fn tangents(rows: &[Vec<f32>]) -> String {
    let rows: Vec<String> =
        rows.iter().map(|row| if row.is_empty() { "()".into() } else { reals(row) }).collect();
    format!("[{}]", rows.join(", "))
}

fn emission_source(emission: &DeployedEmission) -> String {
    match emission {
        DeployedEmission::Categorical(row) => format!("Categorical::from_parts({})", weights(row)),
        DeployedEmission::Gaussian { mean, rate, constant, linear, quadratic } => format!(
            "Gaussian::from_parts({}, {}, {}, {}, {})",
            reals(mean),
            reals(rate),
            weight(constant),
            tangents(linear),
            tangents(quadratic)
        ),
    }
}
