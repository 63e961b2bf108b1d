//! Portable C source of a classifier: C99, which is C++11 too, of one model, for any compiler.
//!
//! ```text
//! NAME.h   sizes and names of the model, the stream's state, the interface of the C library
//! NAME.c   arithmetic -> tables -> emissions -> filter -> states -> wrappers -> outputs -> windows -> interface
//! ```
//!
//! The text of the recursions is fixed: the files of `text/`, of which a model takes those that it needs. They are the
//! core's operations in the core's order, so that the bits of a decision are the same. What differs from model to model are
//! macros and tables.

mod header;
mod literals;
mod tables;

use super::bank::Bank;
use super::codebooks::DeployedCodebooks;
use super::common::Common;
use super::deployed::Deployed;
use super::engine::Engine;
use super::model::States;
use crate::classifier::Observations;
use fishweir_core::classify::Normalisation;

/// The names in a C source.
#[derive(Clone, Copy, Debug)]
pub struct CNames<'a> {
    /// Prefix of functions, types and, in capitals, macros; a C library's prefix is one.
    pub prefix: &'a str,
    /// The header's file name, as the source includes it.
    pub header: &'a str,
}

/// A classifier as C source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CSource {
    /// The header.
    pub header: String,
    /// The source.
    pub source: String,
}

/// Reason why a classifier has no C source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum CSourceError {
    /// A part that is not written in C, in words.
    #[error("{0} has no portable C source yet")]
    #[strum(serialize = "no-c-source")]
    Without(String),
    /// A header's name that an `#include` cannot hold.
    #[error(
        "`{0}`: the name of a C header has letters, digits, `.`, `_`, `-`, `+` and spaces alone"
    )]
    HeaderName(String),
}

crate::kinds!(CSourceError);

/// A bank with the fields around it, which is what is written.
struct Written<'a> {
    common: &'a Common,
    bank: &'a Bank,
}

impl Deployed {
    /// Portable C source of the classifier, with its header: see the [module](self).
    ///
    /// The interface is the C library's: the same functions, the same statuses, and the decision's probability and rejection
    /// where the classifier has a calibration. Every number reads back to the same bits where the compiler rounds decimals
    /// to the nearest.
    ///
    /// # Errors
    /// [`CSourceError`] naming the part that is not written in C.
    pub fn to_c_source(&self, names: CNames<'_>) -> Result<CSource, CSourceError> {
        let fits = |c: char| c.is_alphanumeric() || "._-+ ".contains(c);
        if names.header.is_empty() || !names.header.chars().all(fits) {
            return Err(CSourceError::HeaderName(names.header.to_owned()));
        }
        let without = |what: &str| Err(CSourceError::Without(what.to_owned()));
        let bank = match &self.engine {
            Engine::Bank(bank) => bank,
            Engine::Systems(_) => return without("a classifier of linear dynamical systems"),
            Engine::Profile(_) => return without("a profile"),
            Engine::Machine(_) => return without("a kernel machine"),
        };
        if !self.common.front.is_empty() {
            return without("a front end");
        }
        let emission = bank.emission();
        if !["categorical", "gaussian"].contains(&emission.family.name()) {
            let what = format!("a model with {}", emission.family.words(emission.shape));
            return Err(CSourceError::Without(what));
        }
        let written = Written { common: &self.common, bank };
        Ok(CSource {
            header: prefixed(&written.header(), names.prefix),
            source: prefixed(&written.source(names.header), names.prefix),
        })
    }
}

/// The text with a prefix of its own in the place of `fishweir`, as the C library's headers have it.
fn prefixed(text: &str, prefix: &str) -> String {
    text.replace("fishweir_", &format!("{prefix}_"))
        .replace("FISHWEIR_", &format!("{}_", prefix.to_ascii_uppercase()))
}

impl Written<'_> {
    /// The source, in the library's own names.
    fn source(&self, header: &str) -> String {
        let lags = !self.common.lags.is_empty();
        let symbols = matches!(self.common.observations, Observations::Symbols(_));
        let calibrated = self.common.confidence.is_some();
        let parts = [
            Some(include_str!("text/number.c")),
            Some(if symbols {
                include_str!("text/categorical.c")
            } else {
                include_str!("text/gaussian.c")
            }),
            Some(include_str!("text/filter.c")),
            (self.bank.states != States::Hidden).then_some(include_str!("text/known.c")),
            Some(match self.bank.states {
                States::Hidden => include_str!("text/hidden.c"),
                States::Steps => include_str!("text/positions.c"),
                States::Order(_) => include_str!("text/contexts.c"),
            }),
            (lags || self.common.codebooks.is_some()).then_some(include_str!("text/ring.c")),
            lags.then_some(include_str!("text/lags.c")),
            self.common.codebooks.is_some().then_some(include_str!("text/codebooks.c")),
            Some(include_str!("text/bank.c")),
            (self.common.normalisation == Normalisation::PER_ROOT_SAMPLE)
                .then_some(include_str!("text/root.c")),
            Some(include_str!("text/outputs.c")),
            calibrated.then_some(include_str!("text/predict.c")),
            Some(include_str!("text/windows.c")),
            Some(include_str!("text/interface.c")),
            Some(if symbols {
                include_str!("text/push_symbol.c")
            } else {
                include_str!("text/push_channels.c")
            }),
            calibrated.then_some(include_str!("text/predict_interface.c")),
        ];
        let mut text = format!("{}#include \"{header}\"\n\n", self.comment());
        for (index, part) in parts.into_iter().flatten().enumerate() {
            text += part;
            if index == 0 {
                text += &self.tables();
            }
        }
        text
    }

    /// Channels of the rows that models see.
    fn seen(&self) -> usize {
        self.common.lags.seen_width(self.common.channels())
    }

    /// Samples that are kept for the codebooks.
    fn code_depth(&self) -> usize {
        let largest = self.common.codebooks.as_ref().map_or(0, DeployedCodebooks::largest);
        largest as usize * fishweir_core::classify::TAPS
    }
}
