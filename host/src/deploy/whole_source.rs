//! Rust source with the classifier as a `static`, for linking into firmware.

use super::deployed::Deployed;
use super::lags::with_lags;
use super::source::{confidence_source, contract_source, one_line, reals, teaching_source};
use crate::data::Mel;
use crate::data::internals::{FrontEnd, PlacedStage};

impl Deployed {
    /// Rust source that defines `Model`, the classifier's type, and `MODEL`, a `static` of it; the
    /// names of the classes as `CLASSES` and of the channels as `CHANNELS`; and over symbols their
    /// letters as `ALPHABET`; and how far decisions are to be believed as `CALIBRATION`, where that was learnt; and what it
    /// was trained on as `CONTRACT`, a constant. Every number is written so that it reads back to the same bits, and
    /// every name so that it is one line of text whatever is in it.
    pub fn to_source(&self) -> String {
        let common = &self.common;
        let mut text = self.engine.evaluator().source(common);
        if !common.lags.is_empty() {
            let sizes = [self.models(), self.outputs()];
            text = with_lags(&text, &common.lags, common.channels(), sizes);
        }
        if let Some(codebooks) = &common.codebooks {
            text = codebooks.beside(&text);
        }
        if !common.front.is_empty() {
            text = with_front(&common.front, self.size(), &text);
        }
        let teaching = teaching_source(self.teaching());
        text + &confidence_source(self.confidence()) + &contract_source(self.contract()) + &teaching
    }
}

/// A source whose classifier reads rows that a front end makes of samples.
fn with_front(front: &FrontEnd, mut channels: usize, text: &str) -> String {
    let (mut types, mut values) = (String::new(), String::new());
    for stage in front.stages() {
        let (one, value) = stage_source(stage, channels);
        channels = stage.width();
        (types, values) = match types.is_empty() {
            true => (one, value),
            false => (
                format!("fishweir_core::front::Pipe<{types}, {one}>"),
                format!("fishweir_core::front::Pipe::new({values}, {value})"),
            ),
        };
    }
    let types = format!(
        "/// Front end of the samples: {}.\n\
             pub type Front = {types};\n\n\
             /// The classifier with its front end.\n\
             pub type Model = fishweir_core::front::Preprocessed<Front, Inner>;\n\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             const FRONT: Front = {values};\n\n\
             /// The classifier, in flash.",
        one_line(&front.front().words()),
    );
    let text = text
        .replacen("pub type Model = ", "pub type Inner = ", 1)
        .replacen("MODEL: Model = Model::from_parts(", "MODEL: Model = Inner::from_parts(", 1)
        .replacen("MODEL: Model = ", "MODEL: Model = Model::new(FRONT, ", 1)
        .replacen("/// The classifier, in flash.", &types, 1);
    // What a source ends with.
    format!("{}));\n", text.strip_suffix(");\n").unwrap_or(&text))
}

/// Returns the type and the value of a stage over `channels` channels.
fn stage_source(stage: &PlacedStage, channels: usize) -> (String, String) {
    let (name, sizes, new, settings) = match stage {
        PlacedStage::Decimate { every, .. } => {
            ("Decimate", channels.to_string(), "new", every.to_string())
        }
        PlacedStage::Magnitude { group } => {
            ("Magnitude", format!("{channels}, {}", stage.width()), "new", format!("{group:?}"))
        }
        PlacedStage::Slopes { samples, .. } => {
            ("Slopes", format!("{channels}, {}", samples - 1), "new", String::new())
        }
        PlacedStage::Cepstra(one) => {
            let Mel { window, hop, bands, cepstra, .. } = one.mel;
            let sizes = format!("{}, {bands}, {cepstra}", window / 2);
            let pairs: Vec<String> = one.window.chunks(2).map(reals).collect();
            let rows: Vec<String> = one.cosines.iter().map(|row| reals(row)).collect();
            let settings = format!(
                "\n    {hop},\n    [{}],\n    {},\n    [{}],\n    {:?},\n",
                pairs.join(", "),
                reals(&one.rises),
                rows.join(", "),
                one.segments,
            );
            ("Cepstra", sizes, "from_parts", settings)
        }
        PlacedStage::Symbols(quantiser) => {
            let words: Vec<String> = quantiser.words().iter().map(|word| reals(word)).collect();
            let settings = format!(
                "\n    {},\n    [\n        {},\n    ],\n",
                reals(quantiser.weights()),
                words.join(",\n        ")
            );
            ("VectorQuantiser", format!("{channels}, {}", stage.width()), "from_parts", settings)
        }
    };
    (
        format!("fishweir_core::front::{name}<{sizes}>"),
        format!("fishweir_core::front::{name}::{new}({settings})"),
    )
}
