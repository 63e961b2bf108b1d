//! Rust source with the classifier as a `static`, for linking into firmware without an FPU.

use std::fmt::Write as _;

use super::{FixedEmission, FixedPoint, FixedWeight};
use crate::classifier::Observations;
use crate::deploy::lags::{hearing, with_lags};
use crate::deploy::model::States;
use crate::deploy::source::{
    chain_and_emissions, confidence_source, contexts_and_emissions, contract_source, head,
    one_line, tail,
};

impl FixedPoint {
    /// Rust source that defines `Model`, the classifier's type over fixed point, and `MODEL`, a
    /// `static` of it, otherwise as [`Deployed::to_source`](super::super::Deployed::to_source), with the
    /// channels' units in comments and, by channel, the power of two that they are multiplied by as `CHANNEL_PLACES`.
    pub fn to_source(&self) -> String {
        let directions = self.directions();
        let hidden = self.engine.states == States::Hidden;
        let (family, imports) = match (&self.common.observations, hidden) {
            (Observations::Channels(_), _) if self.common.in_part() => {
                ("GaussianQ15", "{ChannelQ15, GaussianQ15, Marginal}")
            }
            (Observations::Channels(_), _) => ("GaussianQ15", "{ChannelQ15, GaussianQ15}"),
            (Observations::Symbols(_), true) => ("CategoricalQ15", "CategoricalQ15"),
            (Observations::Symbols(_), false) => ("CategoricalLogQ15", "CategoricalLogQ15"),
        };
        let (numbers, entry): (_, fn(&FixedWeight) -> String) =
            match (&self.common.observations, hidden) {
                (_, false) => ("", weight),
                (Observations::Channels(_), true) => ("{Dual, FineQ15, Q15}", fine_weight),
                (Observations::Symbols(_), true) => ("{Dual, Q15}", weight),
            };
        let numbers = match numbers {
            "" => String::new(),
            numbers => format!("use fishweir_core::number::{numbers};\n"),
        };
        let mut notes = String::from("// Fixed point: tables of 16 bits (Q15), integers alone.\n");
        if let Observations::Channels(names) = &self.common.observations {
            for (name, places) in names.iter().zip(&self.engine.places) {
                let name = one_line(name);
                let _ = writeln!(notes, "// Channel {name}: give it round({name} x 2^{places}).");
            }
        }
        let emission =
            format!("{family}<{}, {directions}>", self.common.lags.seen_width(self.size()));
        let in_part = self.common.in_part();
        let emission = if in_part { format!("Marginal<{emission}>") } else { emission };
        let mut text = head(
            &self.common.observations,
            &self.common.classes,
            &notes,
            &format!("use fishweir_core::emission::{imports};\n{numbers}"),
            (&emission, self.engine.states),
            [self.engine.models.len(), self.states(), self.outputs()],
        );
        for (index, model) in self.engine.models.iter().enumerate() {
            let [hears, heard] = hearing(self.common.columns(index));
            text += &hears;
            let unit = format!("{:?}", model.unit);
            let emissions = model.emission.iter().map(|emission| source(emission, &unit, in_part));
            if let Some(rule) = self.engine.states.rule() {
                contexts_and_emissions(&mut text, rule, emissions);
            } else {
                let rows = model.transition.iter().map(|row| weights(row, entry));
                chain_and_emissions(&mut text, &weights(&model.initial, entry), rows, emissions);
            }
            text += &heard;
        }
        tail(&mut text, &self.common.weights, &self.common.biases, self.common.normalisation);
        if !self.common.lags.is_empty() {
            let banked = [self.engine.models.len(), self.outputs()];
            text = with_lags(&text, &self.common.lags, self.size(), banked);
        }
        if let Some(codebooks) = &self.engine.codebooks {
            text = codebooks.beside(&text);
        }
        if matches!(self.common.observations, Observations::Channels(_)) {
            let _ = write!(
                text,
                "\n/// By channel: a sample is round(x * 2^place), an integer of 16 bits.\n\
                 #[rustfmt::skip]\n\
                 pub static CHANNEL_PLACES: [i16; {}] = {:?};\n",
                self.engine.places.len(),
                self.engine.places
            );
        }
        text + &confidence_source(self.confidence()) + &contract_source(self.contract())
    }
}

fn weight(weight: &FixedWeight) -> String {
    // A rate is its two's complement.
    let rates: Vec<String> =
        weight.rate.iter().map(|&rate| format!("Q15({})", rate as u16)).collect();
    format!("Dual {{ value: Q15({}), tangent: [{}] }}", weight.value, rates.join(", "))
}

fn fine_weight(entry: &FixedWeight) -> String {
    format!("FineQ15 {{ weight: {}, exponent: {} }}", weight(entry), entry.exponent)
}

fn weights(row: &[FixedWeight], weight: fn(&FixedWeight) -> String) -> String {
    format!("[{}]", row.iter().map(weight).collect::<Vec<_>>().join(", "))
}

fn source(emission: &FixedEmission, unit: &str, in_part: bool) -> String {
    match emission {
        FixedEmission::Categorical { probability, exponent } => {
            format!(
                "CategoricalQ15::from_parts({}, {exponent:?}, {unit})",
                weights(probability, weight)
            )
        }
        FixedEmission::Logarithms { log2, rate } => {
            format!("CategoricalLogQ15::from_parts({log2:?}, {rate:?}, {unit})")
        }
        FixedEmission::Gaussian { channels, constant, constant_rate } => {
            let fields: Vec<String> =
                channels.iter().map(|one| format!("{:?}", one.channel)).collect();
            let linear: Vec<&Vec<i16>> = channels.iter().map(|one| &one.linear).collect();
            let quadratic: Vec<&Vec<i16>> = channels.iter().map(|one| &one.quadratic).collect();
            let source = format!(
                "GaussianQ15::from_parts([{}], {constant}, {constant_rate:?}, {linear:?}, \
                 {quadratic:?}, {unit})",
                fields.join(", ")
            );
            if in_part { format!("Marginal::new({source})") } else { source }
        }
    }
}
