//! Rust source with a spotter as a `static`, for linking into firmware.

use std::fmt::Write as _;

use fishweir_core::spot::BACKGROUND;

use super::super::source::{
    EmissionType, labels, model_source_in_part, observed, one_line, weights,
};
use super::{BACKGROUND_STATES, PENDING, Spotter};

impl Spotter {
    /// Rust source that defines `Model`, the spotter's type, and `MODEL`, a `static` of it; the names of the
    /// classes as `CLASSES` and of the channels as `CHANNELS`, and over symbols their letters as `ALPHABET`. Every number
    /// is written so that it reads back to the same bits, every name so that it is one line of text.
    pub fn to_source(&self) -> String {
        let emission = EmissionType::of(std::slice::from_ref(&self.network));
        let imported = emission.import_beside(&self.observations, self.in_part);
        let states = self.states();
        let mut text = format!(
            "// A spotter of events, exported by fishweir {}. Train again, do not change this file.\n\
             //\n\
             // Observes {}.\n",
            env!("CARGO_PKG_VERSION"),
            observed(&self.observations),
        );
        for (index, class) in self.classes.iter().enumerate() {
            let _ = writeln!(text, "// Class {index}: {}.", one_line(class));
        }
        let _ = write!(
            text,
            "\nuse fishweir_core::emission::{imported};\n\
             use fishweir_core::hmm::{{Chain, Hmm}};\n\
             use fishweir_core::spot::{{BACKGROUND, Spotter}};\n\n\
             {}\
             /// A network of {states} states over {}; {BACKGROUND_STATES} of them are the background's.\n\
             pub type Model = Spotter<{}, {states}, {BACKGROUND_STATES}, {PENDING}>;\n\n\
             /// The spotter, in flash.\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             pub static MODEL: Model = Spotter::from_parts(\n",
            labels(&self.observations, &self.classes),
            one_line(&self.observations.to_string()),
            emission.text_in_part("f32", self.in_part),
        );
        model_source_in_part(&mut text, &self.network, self.in_part);
        let _ = writeln!(
            text,
            "        Chain::from_parts(\n            {},",
            weights(&self.background.initial)
        );
        let _ = writeln!(text, "            [");
        for row in &self.background.transition {
            let _ = writeln!(text, "                {},", weights(row));
        }
        let class = |&class: &u8| match class {
            BACKGROUND => "BACKGROUND".to_owned(),
            class => class.to_string(),
        };
        let classes: Vec<String> = self.class.iter().map(class).collect();
        let _ = writeln!(text, "            ],\n        ),\n        [{}],", classes.join(", "));
        let _ = writeln!(text, "        {},\n);", self.lag);
        text
    }
}
