//! Portable C source of a model: C99, which is C++11 too, for any compiler.
//!
//! ```text
//! NAME.h   sizes and names of the model, the stream's state, the interface of the C library
//! NAME.c   arithmetic -> tables -> emissions -> filter -> states -> classifier, detector or spotter -> interface
//! ```
//!
//! The text of the recursions is fixed: the files of `text/`, of which a model takes those that it needs. They are the
//! core's operations in the core's order, so that the bits of a decision are the same. What differs from model to model are
//! macros and tables. Fixed point has files of its own (`_q15`) for numbers, emissions and readings; filter, windows, lags,
//! codebooks and decisions are the same text.

mod classifier;
mod codebooks;
mod detector;
mod fixed;
mod literals;
mod models;
mod package;
mod recursion;
mod spotter;

/// The names in a C source.
#[derive(Clone, Copy, Debug)]
pub struct CNames<'a> {
    /// Prefix of functions, types and, in capitals, macros; a C library's prefix is one.
    pub prefix: &'a str,
    /// The header's file name, as the source includes it.
    pub header: &'a str,
}

/// A model as C source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CSource {
    /// The header.
    pub header: String,
    /// The source.
    pub source: String,
}

/// Reason why a model has no C source.
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

/// A part of a source, or of a header: a fixed text, or one that is the model's.
type Part<'a> = std::borrow::Cow<'a, str>;

impl CNames<'_> {
    /// Checks the header's name.
    fn check(&self) -> Result<(), CSourceError> {
        let fits = |c: char| c.is_alphanumeric() || "._-+ ".contains(c);
        match !self.header.is_empty() && self.header.chars().all(fits) {
            true => Ok(()),
            false => Err(CSourceError::HeaderName(self.header.to_owned())),
        }
    }

    /// Joins the parts of header and source under a comment, in names with the prefix, as the C library's headers have it.
    fn join(&self, comment: &str, header: &[Part<'_>], source: &[Part<'_>]) -> CSource {
        let capitals = self.prefix.to_ascii_uppercase();
        let prefixed = |text: String| {
            text.replace("fishweir_", &format!("{}_", self.prefix))
                .replace("FISHWEIR_", &format!("{capitals}_"))
        };
        let include = format!("#include \"{}\"\n\n", self.header);
        CSource {
            header: prefixed(comment.to_owned() + &header.concat()),
            source: prefixed(comment.to_owned()) + &include + &prefixed(source.concat()),
        }
    }
}

/// The end of every header.
const END: Part<'static> = Part::Borrowed(include_str!("text/end.h"));
