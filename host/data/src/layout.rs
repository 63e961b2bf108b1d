//! Layouts of files, how they are read, and recordings that a layout of another crate returns.

use std::convert::Infallible;
use std::str::FromStr;

use super::clock::Period;
use super::dataset::Kind;
use super::error::DataError;
use super::part::Part;
use super::resample::Resample;
use super::source::Source;
use super::values::Values;

/// A layout of files: its name, its recognition, and its reader.
#[derive(Debug)]
pub struct Layout {
    /// Name in options.
    pub name: &'static str,
    /// Another name, which is also an ending of files.
    pub alias: &'static str,
    /// Description in a few words.
    pub about: &'static str,
    /// `true` if an observation is a symbol; otherwise it is a row of channels.
    pub of_symbols: bool,
    /// Reads recordings, for a layout of another crate; it comes before `read`.
    pub(super) recordings: Option<ReadRecordings>,
    /// Returns whether a text looks like this layout.
    pub(super) is_one: fn(&[u8]) -> bool,
    /// Reads a text; the name is for messages.
    pub(super) read: fn(&str, &[u8], &ReadOptions) -> Result<Part, DataError>,
}

/// A recording as it lies in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Name of the recording; empty if it is the file's.
    pub id: String,
    /// Class of the recording.
    pub label: Option<String>,
    /// Seconds from one sample to the next, where they are known.
    pub period: Option<f64>,
    /// The time of the first sample, in seconds.
    pub start: f64,
    /// `[time][channel]`, not finite where missing.
    pub rows: Vec<Vec<f64>>,
}

/// The recordings of a file, all of the same channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recordings {
    /// The names of the channels, which may end with units: `ax [g]`. `None`: `x1`, `x2`, ...
    pub channels: Option<Vec<String>>,
    /// One series each.
    pub recordings: Vec<Recording>,
}

/// Function of another crate that reads the bytes of a file of a layout; an error describes the fault.
pub type ReadRecordings = fn(&[u8]) -> Result<Recordings, String>;

impl Layout {
    /// A layout of another crate: its files hold recordings. It is read where [`ReadOptions::layout`] names it.
    ///
    /// ```
    /// use fishweir_data::{Dataset, Layout, ReadOptions, Recording, Recordings};
    ///
    /// static BYTES: Layout = Layout::of_recordings("bytes", "one channel, a byte per sample", |bytes| {
    ///     let rows = bytes.iter().map(|&byte| vec![f64::from(byte)]).collect();
    ///     let recording = Recording { label: Some("low".into()), rows, ..Recording::default() };
    ///     Ok(Recordings { channels: Some(vec!["level".into()]), recordings: vec![recording] })
    /// });
    ///
    /// # fn main() -> Result<(), fishweir_data::DataError> {
    /// let options = ReadOptions { layout: Some(&BYTES), ..ReadOptions::default() };
    /// let data = Dataset::parse("a.bytes", b"\x01\x02\x03", &options)?;
    /// assert_eq!((data.classes(), data.observations()), (&["low".to_owned()][..], 3));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub const fn of_recordings(
        name: &'static str,
        about: &'static str,
        read: ReadRecordings,
    ) -> Self {
        Self {
            name,
            alias: name,
            about,
            of_symbols: false,
            recordings: Some(read),
            is_one: |_| false,
            read: |name, _, _| Ok(Part::new(name)),
        }
    }
}

/// Names of layouts are unique.
impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Place of the label in a FASTA header, `>id word2 word3 key=value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FastaLabel {
    /// Nowhere: the sequences are unlabelled, or each file is one class
    /// ([`Dataset::read_classes`](super::Dataset::read_classes)).
    #[default]
    None,
    /// The value of `key=`.
    Key(String),
    /// The word of that number, from 1: the second is the first after the name.
    Word(usize),
}

impl FromStr for FastaLabel {
    type Err = Infallible;

    /// A number is a [`FastaLabel::Word`], anything else a [`FastaLabel::Key`].
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Key(text.to_owned()), Self::Word))
    }
}

/// Options of reading; the default infers all that it can.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The layout; `None` detects it from the content.
    pub layout: Option<&'static Layout>,
    /// Required kind of observation.
    ///
    /// Channels are then picked by name, in this order, and converted to the units in their names; others are left out; symbols
    /// must be of this alphabet. For a fitted model pass the model's. `None`: all channels, or the alphabet found.
    pub kind: Option<Kind>,
    /// The classes in the order of a fitted model; another label is an error. `None`: the labels
    /// found, sorted.
    pub classes: Option<Vec<String>>,
    /// Place of the label in FASTA headers.
    pub fasta_label: FastaLabel,
    /// Constraint on the numbers of channels: for models of counts, or of yes and no.
    pub values: Values,
    /// Required sample period of the data, if they give one: for a fitted model pass the model's.
    pub period: Option<Period>,
    /// Options for the source; the others are inferred.
    pub source: Source,
    /// The rate that the series are resampled to, before `period` is looked at.
    pub resample: Option<Resample>,
    /// True if strings with symbols outside the alphabet, and series without observations, are skipped and counted instead of
    /// refused.
    pub skips: bool,
}
