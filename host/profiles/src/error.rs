//! Errors in a profile, an alignment, or a sequence that is searched.

/// Reason why there is no profile, or no result of one.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ProfileError {
    /// Text that is no profile or alignment. Lines and columns (characters) count from 1.
    #[error("{file}, line {line}, column {column}: {what}")]
    #[strum(serialize = "bad-profile-text")]
    Text {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The character of the line.
        column: usize,
        /// Fault, and the expected content.
        what: String,
    },
    /// A file that is cut short, or has nothing in it.
    #[error("{file}: {what}")]
    #[strum(serialize = "bad-profile-file")]
    File {
        /// The file.
        file: String,
        /// Fault of the file.
        what: String,
    },
    /// A number that no profile has.
    #[error("profile {name}: {what}")]
    #[strum(serialize = "bad-profile")]
    Model {
        /// The profile.
        name: String,
        /// Fault of the alignment.
        what: String,
    },
    /// An alignment of which no profile can be made.
    #[error("alignment {name}: {what}")]
    #[strum(serialize = "bad-alignment")]
    Alignment {
        /// The alignment.
        name: String,
        /// Fault of the sequence.
        what: String,
    },
    /// An alignment without a match column.
    #[error(
        "alignment {name}: no column has residues in a share of {fraction} of the sequences; lower the share"
    )]
    #[strum(serialize = "no-match-column")]
    NoMatch {
        /// The alignment.
        name: String,
        /// The share of sequences that a match column asks for.
        fraction: f64,
    },
    /// A sequence with a character that is no residue.
    #[error("sequence {name}, position {position}: `{found}` is not a residue of {alphabet}")]
    #[strum(serialize = "unknown-residue")]
    Residue {
        /// The sequence.
        name: String,
        /// The position, from 1.
        position: usize,
        /// The character.
        found: char,
        /// The alphabet.
        alphabet: &'static str,
    },
    /// A sequence that the profile makes impossible, or an empty one.
    #[error("the profile gives the sequence probability zero, or the sequence is empty")]
    Impossible,
}

fishweir::kinds!(ProfileError);
