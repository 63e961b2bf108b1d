//! The header of a C source: sizes and names for the preprocessor, as the C library's header has them.

use std::fmt::Write as _;

use fishweir_core::contract::{ChannelRange, Partial};

use super::Written;
use super::literals::{float, in_comment, string};
use crate::classifier::Observations;
use crate::deploy::model::States;
use crate::deploy::source::observed;

impl Written<'_> {
    /// The comment that begins both files.
    pub(super) fn comment(&self) -> String {
        let mut text = format!(
            "/* A stream classifier, exported by fishweir {}. Change the model, not this file.\n *\n * Observes {}.\n",
            env!("CARGO_PKG_VERSION"),
            in_comment(&observed(&self.common.observations)),
        );
        for (index, class) in self.common.classes.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(text, " * Class {index}: {}.", in_comment(class));
        }
        text + " *\n * Nothing allocates, nothing is global: a stream is used by one thread at a time. Decisions have the bits of\n \
                * the host's if every operation is rounded to float: compile without -ffast-math. */\n"
    }

    /// The header, in the library's own names.
    pub(super) fn header(&self) -> String {
        let push = match self.common.observations {
            Observations::Channels(_) => include_str!("text/push_channels.h"),
            Observations::Symbols(_) => include_str!("text/push_symbol.h"),
        };
        let calibrated = self.common.confidence.is_some();
        let predict = if calibrated { include_str!("text/predict.h") } else { "" };
        let text = include_str!("text/stream.h").replace("@PUSH@\n", push);
        self.comment() + &text.replace("@PREDICT@\n", predict).replace("@SIZES@\n", &self.sizes())
    }

    fn sizes(&self) -> String {
        let common = self.common;
        let mut text = String::new();
        let mut define = |comment: &str, lines: &[(&str, String)]| {
            let _ = writeln!(text, "/* {comment} */");
            for (name, value) in lines {
                let _ = writeln!(text, "#define FISHWEIR_{name} {value}");
            }
        };
        let number = |number: usize| number.to_string();
        let names = |names: &[String]| list(names.iter().map(|name| string(name)));
        let (channels, symbols) = match &common.observations {
            Observations::Channels(names) => (names.len(), 0),
            Observations::Symbols(_) => (0, common.size()),
        };
        let sizes = [("CHANNELS", number(channels)), ("SYMBOLS", number(symbols))];
        define("Channels of a sample, or symbols of the alphabet; the other is 0.", &sizes);
        define(
            "Models, each with a log-likelihood, and classes.",
            &[
                ("MODELS", number(self.bank.models.len())),
                ("CLASSES", number(common.classes.len())),
            ],
        );
        define(
            "Other kinds of model than this one have these.",
            &[
                ("STATISTICS", number(0)),
                ("EVENTS", number(0)),
                ("KERNEL_MACHINE", number(0)),
                ("FIXED_POINT", number(0)),
            ],
        );
        define(
            "Names by index: static const char *const names[] = FISHWEIR_CLASS_NAMES;",
            &[("CLASS_NAMES", names(&common.classes))],
        );
        if let Observations::Channels(all) = &common.observations {
            define("Names of the channels.", &[("CHANNEL_NAMES", names(all))]);
        }
        let contract = common.contract.clone().unwrap_or_default();
        contract.with_core(|contract| {
            let ranges: Vec<ChannelRange<'_>> = contract.channels.iter().collect();
            if !ranges.is_empty() {
                define(
                    "By channel: its unit (\"\" where it is unknown), and its mean and standard deviation in training.",
                    &[
                        ("CHANNEL_UNITS", list(ranges.iter().map(|range| string(range.unit)))),
                        ("CHANNEL_CENTRES", list(ranges.iter().map(|range| float(range.centre)))),
                        ("CHANNEL_SPREADS", list(ranges.iter().map(|range| float(range.spread)))),
                    ],
                );
            }
            let windows = contract.windows;
            let partial = windows.is_none_or(|windows| windows.partial != Partial::Never);
            define(
                "Samples in a window, after which a decision is due, and samples from the beginning of one to that of the\n \
                 * next; 0: the model has no windows, and decides on the stream so far.",
                &[
                    ("WINDOW_LENGTH", number(windows.map_or(0, |windows| windows.length as usize))),
                    ("WINDOW_HOP", number(windows.map_or(0, |windows| windows.hop as usize))),
                ],
            );
            define(
                "The most missing samples in a row that a window bears; 0 without windows.",
                &[("LONGEST_GAP", number(windows.map_or(0, |windows| windows.longest_gap as usize)))],
            );
            define(
                "1 if fishweir_decide_so_far() decides on a window that is partly filled.",
                &[("PARTIAL_WINDOWS", number(usize::from(partial)))],
            );
            define(
                "Windows that are open at a time, a state for each in a stream.",
                &[("WINDOW_STATES", number(contract.states()))],
            );
            define(
                "Nanoseconds from one sample to the next, and the relative error that the model bears; 0: unknown.",
                &[
                    ("PERIOD_NS", format!("{}ULL", contract.period.map_or(0, |period| period.nanoseconds))),
                    ("PERIOD_TOLERANCE", float(contract.period.map_or(0.0, |period| period.tolerance))),
                ],
            );
        });
        define(
            "1 if channels may be missing, and if fishweir_predict() has probabilities.",
            &[
                ("MISSING_CHANNELS", number(usize::from(common.in_part()))),
                ("CALIBRATED", number(usize::from(common.confidence.is_some()))),
            ],
        );
        let hidden = self.bank.states == States::Hidden;
        define(
            "Private: sizes of the state.",
            &[
                ("STATES", number(self.bank.rows())),
                ("KNOWN_STATES", number(usize::from(!hidden))),
                ("ROW", number(if hidden { self.bank.rows() } else { 1 })),
                ("DIRECTIONS", number(self.bank.directions)),
                ("OUTPUTS", number(common.outputs())),
                ("LAG_DEPTH", number(common.lags.as_slice().last().map_or(0, |&lag| lag as usize))),
                ("CODE_DEPTH", number(self.code_depth())),
            ],
        );
        text
    }
}

fn list(entries: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}
