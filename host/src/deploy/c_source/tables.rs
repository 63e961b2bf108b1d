//! The tables of a C source: the numbers of models, wrappers and outputs.

use std::fmt::Write as _;

use fishweir_core::classify::{CODEWORDS, Normalisation, TAPS};

use super::Written;
use super::literals::{float, table};
use crate::deploy::model::States;
use crate::runtime::Observed;
use crate::runtime::family::{DeployedEmission, Weight};

impl Written<'_> {
    /// Every table, and the macros that choose among the recursions.
    pub(super) fn tables(&self) -> String {
        let common = self.common;
        let mut text = String::from("\n");
        let hidden = self.bank.states == States::Hidden;
        let factor = match common.normalisation {
            Normalisation::PER_SAMPLE => Some("(1.0f / (samples))"),
            Normalisation::PER_ROOT_SAMPLE => Some("(1.0f / root_of(samples))"),
            _ => None,
        };
        let _ = write!(
            text,
            "/* 1 if a stream begins with a prediction, whose sum need not be one. */\n\
             #define BEGINS_RAISED {}\n",
            u8::from(hidden),
        );
        if let Some(factor) = factor {
            let _ =
                writeln!(text, "/* Factor on the evidence. */\n#define FACTOR(samples) {factor}");
        }
        if let States::Order(order) = self.bank.states {
            let _ = writeln!(text, "/* Symbols of a context. */\n#define ORDER {order}");
        }
        self.chains(&mut text);
        self.emissions(&mut text);
        self.lags(&mut text);
        self.codebooks(&mut text);
        let (models, outputs) = (self.bank.models.len(), common.outputs());
        let weights = floats(common.weights.iter().flatten());
        text += &table("float", "WEIGHT", &[outputs, models], &weights);
        text += &table("float", "BIAS", &[outputs], &floats(&common.biases));
        if let Some(confidence) = &common.confidence {
            let limits = !confidence.likelihoods.is_empty();
            let _ = write!(
                text,
                "#define CALIBRATION_SCALE {}\n#define LEAST_MARGIN {}\n#define LIKELIHOOD_LIMITS {}\n",
                float(confidence.scale),
                float(confidence.least_margin),
                u8::from(limits),
            );
            if limits {
                let limits = floats(confidence.likelihoods.as_flattened());
                text += &table("float", "LIKELIHOOD_LIMIT", &[limits.len() / 2, 2], &limits);
            }
        }
        text
    }

    fn chains(&self, text: &mut String) {
        if self.bank.states != States::Hidden {
            return;
        }
        let (models, states) = (&self.bank.models, self.bank.rows());
        let initial = models.iter().flat_map(|model| &model.initial).map(number);
        let initial: Vec<String> = initial.collect();
        *text += &table("number", "INITIAL", &[models.len(), states], &initial);
        let transition = models.iter().flat_map(|model| model.transition.iter().flatten());
        let transition: Vec<String> = transition.map(number).collect();
        *text += &table("number", "TRANSITION", &[models.len(), states, states], &transition);
    }

    fn emissions(&self, text: &mut String) {
        let (models, rows, directions) =
            (self.bank.models.len(), self.bank.rows(), self.bank.directions);
        let all = || self.bank.models.iter().flat_map(|model| &model.emission);
        if self.bank.emission().family.observes() == Observed::Symbol {
            let entries: Vec<String> = all().flat_map(|one| one.weights(0)).map(number).collect();
            let sizes = [models, rows, self.common.size()];
            *text += &table("number", "PROBABILITY", &sizes, &entries);
            return;
        }
        let seen = self.seen();
        let _ = writeln!(text, "/* Numbers of a row that a model reads. */\n#define SEEN {seen}");
        for (name, field) in [("MEAN", 0), ("RATE", 1)] {
            let entries = floats(all().flat_map(|one| one.reals(field)));
            *text += &table("float", name, &[models, rows, seen], &entries);
        }
        let constant: Vec<String> = all().flat_map(|one| one.weights(2)).map(number).collect();
        *text += &table("number", "CONSTANT", &[models, rows], &constant);
        let rates = |one: &DeployedEmission, field| floats(one.rates(field).iter().flatten());
        for (name, field) in [("LINEAR", 3), ("QUADRATIC", 4)] {
            if directions > 0 {
                let entries: Vec<String> = all().flat_map(|one| rates(one, field)).collect();
                *text += &table("float", name, &[models, rows, seen, directions], &entries);
            }
        }
    }

    fn lags(&self, text: &mut String) {
        let (lags, channels) = (&self.common.lags, self.common.channels());
        if lags.is_empty() {
            return;
        }
        let entries: Vec<String> = lags.as_slice().iter().map(u32::to_string).collect();
        *text += &table("uint16_t", "LAGS", &[entries.len()], &entries);
        let models = self.bank.models.len();
        let columns = (0..models).flat_map(|model| self.common.columns(model).unwrap_or_default());
        let columns: Vec<String> = columns.map(|column| column.to_string()).collect();
        let _ = write!(
            text,
            "/* Numbers of a row, and whether each model reads columns of its own. */\n\
             #define WIDENED {}\n#define COLUMNS {}\n",
            lags.width(channels),
            u8::from(!columns.is_empty()),
        );
        if !columns.is_empty() {
            *text += &table("uint16_t", "COLUMN", &[models, self.seen()], &columns);
        }
    }

    fn codebooks(&self, text: &mut String) {
        let Some(codebooks) = &self.common.codebooks else { return };
        let books = codebooks.books().in_numbers::<f32>();
        let (count, outputs) = (books.len(), self.common.outputs());
        let levels = codebooks.books().levels();
        let _ = writeln!(text, "/* Levels of each code vector. */\n#define LEVELS {levels}");
        let dilation: Vec<String> = books.iter().map(|book| book.dilation.to_string()).collect();
        *text += &table("uint16_t", "DILATION", &[count], &dilation);
        let scale = floats(books.iter().flat_map(|book| &book.scale));
        *text += &table("float", "CODE_SCALE", &[count, self.common.channels()], &scale);
        let vectors = books.iter().flat_map(|book| book.vectors.as_flattened());
        let vectors: Vec<String> = vectors.map(i8::to_string).collect();
        *text += &table("int8_t", "CODE_VECTOR", &[count, TAPS, CODEWORDS], &vectors);
        let weighed = codebooks.weighed();
        let weights = floats(weighed.words.iter().flatten());
        *text += &table("float", "CODE_WEIGHT", &[count, CODEWORDS, outputs], &weights);
        if levels > 0 {
            let level = floats(books.iter().flat_map(|book| &book.levels));
            *text += &table("float", "CODE_LEVEL", &[count, CODEWORDS, levels], &level);
            let above = floats(weighed.above.iter().flatten());
            *text += &table("float", "LEVEL_WEIGHT", &[count, CODEWORDS, levels, outputs], &above);
        }
    }
}

/// The literals of some numbers.
fn floats<'a>(numbers: impl IntoIterator<Item = &'a f32>) -> Vec<String> {
    numbers.into_iter().map(|&x| float(x)).collect()
}

/// A number with its rates, as a structure of C.
fn number(weight: &Weight) -> String {
    let rates = weight.tangent.iter().map(|&rate| format!(", {}", float(rate)));
    format!("{{{{{}{}}}}}", float(weight.value), rates.collect::<String>())
}
