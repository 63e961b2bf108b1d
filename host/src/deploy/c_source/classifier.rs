//! C source of a classifier: what is around its models.

use std::fmt::Write as _;

use fishweir_core::classify::{Normalisation, TAPS};
use fishweir_core::contract::{ChannelRange, Partial};

use super::codebooks::{Written, code_tables};
use super::literals::{define, float, floats, list, string, string_list, table};
use super::models::Models;
use super::recursion::Recursion;
use super::{CNames, CSource, CSourceError, END, Part};
use crate::deploy::codebooks::DeployedCodebooks;
use crate::deploy::common::Common;
use crate::deploy::deployed::Deployed;
use crate::deploy::engine::Engine;
use crate::deploy::fixed::FixedPoint;

impl Deployed {
    /// Portable C source of the classifier, with its header.
    ///
    /// The interface is the C library's: the same functions, the same statuses, and the decision's probability and rejection
    /// where the classifier has a calibration. Every number reads back to the same bits where the compiler rounds decimals
    /// to the nearest.
    ///
    /// # Errors
    /// [`CSourceError`] naming the part that is not written in C.
    pub fn to_c_source(&self, names: CNames<'_>) -> Result<CSource, CSourceError> {
        let without = |what: &str| Err(CSourceError::Without(what.to_owned()));
        let bank = match &self.engine {
            Engine::Bank(bank) => bank,
            Engine::Systems(_) => return without("a classifier of linear dynamical systems"),
            Engine::Strings(_) => return without("a classifier of Markov strings"),
            Engine::Profile(_) => return without("a profile"),
            Engine::Machine(_) => return without("a kernel machine"),
        };
        if !self.common.front.is_empty() {
            return without("a front end");
        }
        let models = Models {
            observations: &self.common.observations,
            models: &bank.models,
            states: bank.states,
            directions: bank.directions,
            seen: self.common.lags.seen_width(self.common.channels()),
            in_part: self.common.in_part(),
            background: None,
        };
        models.check()?;
        let (common, mut codes) = (&self.common, String::new());
        if let Some(codebooks) = &common.codebooks {
            let books = codebooks.books().in_numbers::<f32>();
            let numbers: Written<f32> = ("float", |&one| float(one));
            code_tables(&mut codes, &books, codebooks.weighed(), numbers, numbers);
        }
        let depth = common.codebooks.as_ref().map_or(0, DeployedCodebooks::largest);
        InC { common, models: &models, codes, depth }.with_header(names)
    }
}

impl FixedPoint {
    /// Portable C source of the classifier in fixed point, with its header: [`Deployed::to_c_source`] in integers, and
    /// samples as integers, or as floats that are rounded.
    ///
    /// # Errors
    /// [`CSourceError`] of the header's name.
    pub fn to_c_source(&self, names: CNames<'_>) -> Result<CSource, CSourceError> {
        let mut codes = String::new();
        self.code_tables(&mut codes);
        let books = self.engine.codebooks.iter().flat_map(|codebooks| &codebooks.books);
        let depth = books.map(|book| book.dilation).max().unwrap_or(0);
        InC { common: &self.common, models: self, codes, depth }.with_header(names)
    }
}

/// A classifier of models.
struct InC<'a> {
    common: &'a Common,
    models: &'a dyn Recursion,
    /// The tables of codebooks; empty without them.
    codes: String,
    /// The largest dilation of a codebook.
    depth: u32,
}

impl InC<'_> {
    fn with_header(&self, names: CNames<'_>) -> Result<CSource, CSourceError> {
        names.check()?;
        let classes = self.common.classes.iter().enumerate();
        let classes: Vec<String> =
            classes.map(|(index, class)| format!("Class {index}: {class}.")).collect();
        let comment = self.models.sizes().comment("A classifier of streams", &classes);
        Ok(names.join(&comment, &self.header(), &self.source()))
    }

    fn header(&self) -> Vec<Part<'static>> {
        let begin = include_str!("text/begin.h").replace("@SIZES@\n", &self.sizes());
        let calibrated = self.common.confidence.is_some();
        let [push, _] = self.models.push();
        vec![
            begin.into(),
            self.models.belief(),
            include_str!("text/classifier.h").into(),
            include_str!("text/calls.h").into(),
            push,
            include_str!("text/push_missing.h").into(),
            include_str!("text/decide.h").into(),
            if calibrated { include_str!("text/predict.h") } else { "" }.into(),
            END,
        ]
    }

    fn source(&self) -> Vec<Part<'static>> {
        let (lags, codebooks) = (!self.common.lags.is_empty(), !self.codes.is_empty());
        let rooted = self.common.normalisation == Normalisation::PER_ROOT_SAMPLE;
        let calibrated = self.common.confidence.is_some();
        let mut parts = self.models.recursion();
        parts.push(self.tables().into());
        let [evidence, coding] = self.models.reading();
        parts.extend([include_str!("text/sums.c").into(), evidence]);
        if codebooks {
            parts.push(coding);
        }
        let some = [
            (lags || codebooks, include_str!("text/ring.c")),
            (lags, include_str!("text/lags.c")),
            (codebooks, include_str!("text/codebooks.c")),
            (true, include_str!("text/bank.c")),
            (rooted, include_str!("text/root.c")),
            (true, include_str!("text/outputs.c")),
            (calibrated, include_str!("text/predict.c")),
            (true, include_str!("text/windows.c")),
            (true, include_str!("text/interface.c")),
        ];
        parts.extend(some.into_iter().filter(|part| part.0).map(|part| part.1.into()));
        let [_, push] = self.models.push();
        parts.push(push);
        parts.push(include_str!("text/decide_interface.c").into());
        if calibrated {
            parts.push(include_str!("text/predict_interface.c").into());
        }
        parts
    }

    /// Macros of the header, as the C library's header has them.
    fn sizes(&self) -> String {
        let common = self.common;
        let number = |number: usize| number.to_string();
        let classes = &common.classes;
        let (mut text, places) = (self.models.sizes().macros(), self.models.places());
        text += &define(
            "1 if samples are integers and the model is in fixed point.",
            &[("FIXED_POINT", number(usize::from(places.is_some())))],
        );
        if let Some(places) = places.filter(|places| !places.is_empty()) {
            text += &define(
                "By channel: a sample is round(x 2^place), an integer of 16 bits.",
                &[("CHANNEL_PLACES", list(places.iter().map(i16::to_string)))],
            );
        }
        text += &define(
            "Models, each with a log-likelihood, and classes.",
            &[("MODELS", number(self.models.count())), ("CLASSES", number(classes.len()))],
        );
        text += &define(
            "Names by index: static const char *const names[] = FISHWEIR_CLASS_NAMES;",
            &[("CLASS_NAMES", string_list(classes))],
        );
        text += &define(
            "1 if fishweir_predict() has probabilities.",
            &[("CALIBRATED", number(usize::from(common.confidence.is_some())))],
        );
        text += &self.contract();
        let depth = common.lags.as_slice().last().map_or(0, |&lag| lag as usize);
        let sizes = [
            ("OUTPUTS", number(common.outputs())),
            ("LAG_DEPTH", number(depth)),
            ("CODE_DEPTH", number(self.depth as usize * TAPS)),
        ];
        text + &define("Private: sizes of a window's state.", &sizes)
    }

    /// Macros of the contract: channels in training, windows, period.
    fn contract(&self) -> String {
        let contract = self.common.contract.clone().unwrap_or_default();
        contract.with_core(|contract| {
            let (mut text, number) = (String::new(), |number: u32| number.to_string());
            let ranges: Vec<ChannelRange<'_>> = contract.channels.iter().collect();
            if !ranges.is_empty() {
                let of = |of: &dyn Fn(&ChannelRange<'_>) -> String| list(ranges.iter().map(of));
                text += &define(
                    "By channel: its unit (\"\" where it is unknown), and its mean and standard deviation in training.",
                    &[
                        ("CHANNEL_UNITS", of(&|range| string(range.unit))),
                        ("CHANNEL_CENTRES", of(&|range| float(range.centre))),
                        ("CHANNEL_SPREADS", of(&|range| float(range.spread))),
                    ],
                );
            }
            let windows = contract.windows;
            let partial = windows.is_none_or(|windows| windows.partial != Partial::Never);
            text += &define(
                "Samples in a window, after which a decision is due, and samples from the beginning of one to that of the\n \
                 * next; 0: the model has no windows, and decides on the stream so far.",
                &[
                    ("WINDOW_LENGTH", number(windows.map_or(0, |windows| windows.length))),
                    ("WINDOW_HOP", number(windows.map_or(0, |windows| windows.hop))),
                ],
            );
            text += &define(
                "The most missing samples in a row that a window bears; 0 without windows.",
                &[("LONGEST_GAP", number(windows.map_or(0, |windows| windows.longest_gap)))],
            );
            text += &define(
                "1 if fishweir_decide_so_far() decides on a window that is partly filled.",
                &[("PARTIAL_WINDOWS", number(u32::from(partial)))],
            );
            text += &define(
                "Windows that are open at a time, a state for each in a stream.",
                &[("WINDOW_STATES", contract.states().to_string())],
            );
            if let Some(target) = contract.target {
                text += &define(
                    "The model estimates a number: fishweir_decide() gives its sign as the class (0: negative) and its magnitude as\n \
                     * the margin. Its name and unit, half the width of the interval around it, and the share of true values that this covers.",
                    &[
                        ("TARGET_NAME", string(target.name)),
                        ("TARGET_UNIT", string(target.unit)),
                        ("TARGET_HALF_WIDTH", float(target.half_width)),
                        ("TARGET_COVERAGE", float(target.coverage)),
                        ("ESTIMATE(decision)", "((decision).class_index ? (decision).margin : -(decision).margin)".into()),
                    ],
                );
            }
            let period = contract.period;
            let tolerance = period.map_or(0.0, |period| period.tolerance);
            text + &define(
                "Nanoseconds from one sample to the next, and the relative error that the model bears; 0: unknown.",
                &[
                    ("PERIOD_NS", format!("{}ULL", period.map_or(0, |period| period.nanoseconds))),
                    ("PERIOD_TOLERANCE", float(tolerance)),
                ],
            )
        })
    }

    /// The tables of wrappers and outputs, and the macros that choose among recursions.
    fn tables(&self) -> String {
        let common = self.common;
        let mut text = String::from("\n");
        let factor = match common.normalisation {
            Normalisation::PER_SAMPLE => Some("(1.0f / (samples))"),
            Normalisation::PER_ROOT_SAMPLE => Some("(1.0f / root_of(samples))"),
            _ => None,
        };
        if let Some(factor) = factor {
            let _ =
                writeln!(text, "/* Factor on the evidence. */\n#define FACTOR(samples) {factor}");
        }
        self.lags(&mut text);
        text += &self.codes;
        let (models, outputs) = (self.models.count(), common.outputs());
        let weights = floats(common.weights.iter().flatten());
        text += &table("float", "WEIGHT", &[outputs, models], &weights);
        text += &table("float", "BIAS", &[outputs], &floats(&common.biases));
        if let Some(confidence) = &common.confidence {
            let limits = floats(confidence.likelihoods.as_flattened());
            let _ = write!(
                text,
                "#define CALIBRATION_SCALE {}\n#define LEAST_MARGIN {}\n#define LIKELIHOOD_LIMITS {}\n",
                float(confidence.scale),
                float(confidence.least_margin),
                u8::from(!limits.is_empty()),
            );
            if !limits.is_empty() {
                text += &table("float", "LIKELIHOOD_LIMIT", &[limits.len() / 2, 2], &limits);
            }
        }
        text
    }

    fn lags(&self, text: &mut String) {
        let (lags, channels) = (&self.common.lags, self.common.channels());
        if lags.is_empty() {
            return;
        }
        let entries: Vec<String> = lags.as_slice().iter().map(u32::to_string).collect();
        *text += &table("uint16_t", "LAGS", &[entries.len()], &entries);
        let models = self.models.count();
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
            *text += &table("uint16_t", "COLUMN", &[models, self.models.sizes().seen], &columns);
        }
    }
}
