//! Errors in a file of data.

use std::io;

use super::fold_error::FoldError;
use super::place::Place;
use crate::words::rate_words;
use crate::words::{counted, grouped};

/// Reason why data could not be read. Every message names the place and the remedy.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum DataError {
    /// The file does not exist or cannot be read.
    #[error("{file}: cannot be read: {source}")]
    #[strum(serialize = "unreadable-file")]
    Io {
        /// The file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file begins like gzip and is damaged or cut short.
    #[error("{file}: is gzip, but {what}; fetch or compress the file again")]
    #[strum(serialize = "damaged-gzip")]
    Gzip {
        /// The file.
        file: String,
        /// Fault of the file.
        what: String,
    },
    /// A live stream that begins like gzip.
    #[error(
        "{file}: is gzip, and a stream must be plain text; decompress it first, as by gzip -dc"
    )]
    #[strum(serialize = "gzip-stream")]
    Packed {
        /// The stream.
        file: String,
    },
    /// A part of FASTA headers in a file without such headers.
    #[error("{file}: is not FASTA, so no header has a label; omit the FASTA label")]
    #[strum(serialize = "not-fasta")]
    NoFasta {
        /// The file.
        file: String,
    },
    /// Nothing in the file.
    #[error("{file}: is empty; expected a header line and data (or FASTA)")]
    #[strum(serialize = "empty-file")]
    Empty {
        /// The file.
        file: String,
    },
    /// A header and nothing below it.
    #[error("{file}: has a header but no data below it")]
    HeaderOnly {
        /// The file.
        file: String,
    },
    /// No series to work on.
    #[error("{file}: has no series")]
    NoSeries {
        /// The file.
        file: String,
    },
    /// Bytes that are no UTF-8.
    #[error("{place}: is not UTF-8 text; write it as UTF-8, or name its encoding, such as latin-1")]
    NotUtf8 {
        /// Place of the fault.
        place: Box<Place>,
    },
    /// The first line fits no known layout.
    #[error(
        "{file}: line 1 fits no known layout: {}; found `{found}`",
        lacks.as_deref().unwrap_or("a table begins with the names of its columns, as series,label,t,x,y, and strings with \
            label,id,sequence, or `>` as FASTA")
    )]
    UnknownLayout {
        /// The file.
        file: String,
        /// The beginning of the first line.
        found: String,
        /// Reason why a table is not one of series.
        lacks: Option<String>,
    },
    /// The header lacks a column that its layout needs.
    #[error("{file}: line {line}, the header: {what}")]
    #[strum(serialize = "bad-header")]
    Header {
        /// The file.
        file: String,
        /// The line of the header, from 1; 1 of a file without lines.
        line: u64,
        /// Fault and remedy.
        what: String,
    },
    /// Too few or too many fields.
    #[error(
        "{place}: the row has {}, and {} are expected, one for each column of the header or channel of the model; {}",
        counted(*found, "field"),
        grouped(*expected),
        if found > expected { "numbers have decimal points, no commas" } else { "complete or delete it" }
    )]
    #[strum(serialize = "ragged-row")]
    Ragged {
        /// Place of the first column that is missing or superfluous.
        place: Box<Place>,
        /// Fields in the row.
        found: usize,
        /// Fields of the header, or the model's channels without a header.
        expected: usize,
    },
    /// A field that should be a finite number.
    #[error("{place}: `{text}` is not a finite number; {}", as_number(text))]
    NotANumber {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
    },
    /// A word in a table of series without times, where all columns are channels that have no other name.
    #[error(
        "{place}: `{text}` is not a finite number; {}. Without a column `t`, all columns but `series` and `label` \
         are channels: put a column that describes the series before a column `t` with times or numbers of samples \
         (series,<columns>,label,t,<channels>)",
        as_number(text)
    )]
    NotAChannel {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
    },
    /// A number that the model's emissions give no density.
    #[error(
        "{place}: `{text}` is {unlike}; for a missing value leave the field empty, or write NA"
    )]
    NotInSupport {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
        /// Description of the numbers that are required, and the emissions that require them.
        unlike: &'static str,
    },
    /// A number that has no place in the arithmetic of a device.
    #[error(
        "{place}: `{text}` is beyond the range of single precision, in which devices compute (3.4e38); write the \
         channel in a larger unit, or NA for a missing value"
    )]
    BeyondSingle {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
    },
    /// A number with a comma where its point should be.
    #[error("{place}: `{text}` has a decimal comma; write a point")]
    DecimalComma {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
    },
    /// A number with a comma that may be its decimal mark, or stand between thousands.
    #[error(
        "{place}: `{text}` has a comma, which may be a decimal mark or a separator of thousands; give the decimal \
         mark, or write digits and a point only"
    )]
    AmbiguousComma {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
    },
    /// A text in another encoding than given.
    #[error("{file}: is not {encoding} text; omit the encoding, or give the right one")]
    #[strum(serialize = "wrong-encoding")]
    Encoding {
        /// The file.
        file: String,
        /// The encoding.
        encoding: &'static str,
    },
    /// A file that holds no data that are read, or data in another form.
    #[error("{file}: this is {what}; {remedy}")]
    OtherFormat {
        /// The file.
        file: String,
        /// Format of the file.
        what: String,
        /// Remedy.
        remedy: String,
    },
    /// A word in a column of many numbers.
    #[error(
        "{place}: `{text}` is not a number, and {} of the column are: for a missing value write NA, or declare the \
         column as categories",
        counted(*numbers, "other field")
    )]
    MixedColumn {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
        /// Fields of the column that are numbers.
        numbers: usize,
    },
    /// A character in a name that does not show in print, has no width, or turns the direction of what
    /// follows.
    #[error("{place}: has the unprintable character {code}; remove it")]
    #[strum(serialize = "hidden-character")]
    Hidden {
        /// Place of the fault.
        place: Box<Place>,
        /// Code point of the character: `U+202E`.
        code: String,
    },
    /// More data than memory holds.
    #[error(
        "{file}: reading it takes about {} MB of memory, more than there is; split it into several files",
        grouped(bytes.div_ceil(1_000_000))
    )]
    TooLarge {
        /// The file.
        file: String,
        /// An estimate.
        bytes: usize,
    },
    /// A file that is not read a chunk at a time.
    #[error("{file}: is not read in chunks: {what}")]
    #[strum(serialize = "not-in-chunks")]
    NoChunks {
        /// The file.
        file: String,
        /// Reason and remedy.
        what: String,
    },
    /// A field that may not be empty.
    #[error("{place}: is empty; a {what} is needed here")]
    EmptyField {
        /// Place of the fault.
        place: Box<Place>,
        /// Expected content.
        what: &'static str,
    },
    /// The time does not increase.
    #[error(
        "{place}: t is {t} after {previous} in series `{series}`; {}", match t == previous {
            true => "the times of a series must rise: write when each sample was taken, or omit `t`",
            false => "samples of a series must be in order, and each series needs its own name in the column of \
                      series",
        }
    )]
    TimeOrder {
        /// Place of the fault.
        place: Box<Place>,
        /// The time read.
        t: f64,
        /// The one before.
        previous: f64,
        /// Name of the series.
        series: String,
    },
    /// A series that comes back after another one.
    #[error(
        "{place}: series `{series}` began on line {first} and ended before this line; keep the lines of a series \
         together, in order of time, or give this one another name"
    )]
    SeriesSplit {
        /// Place of the fault.
        place: Box<Place>,
        /// Name of the series.
        series: String,
        /// The line where it first began.
        first: u64,
    },
    /// A label that changes within a series.
    #[error(
        "{place}: `{found}`, but series `{series}` began with `{expected}`; a series has one label: begin a new series \
         where it changes, or name another column of labels or of series"
    )]
    ColumnChanges {
        /// Place of the fault.
        place: Box<Place>,
        /// Name of the series.
        series: String,
        /// Value read.
        found: String,
        /// Value the series began with.
        expected: String,
    },
    /// A column of words, beside that of labels, that changes within a series.
    #[error(
        "{place}: `{found}`, but series `{series}` began with `{expected}`; beside labels and channels a column says \
         something of a whole series: name the channels, which leaves this column out, or the column of series"
    )]
    WordsChange {
        /// Place of the fault.
        place: Box<Place>,
        /// Name of the series.
        series: String,
        /// Value read.
        found: String,
        /// Value the series began with.
        expected: String,
    },
    /// A column of words that changes within a series of a table without labels.
    #[error(
        "{place}: no column of labels was found: name it, or the channels if nothing is labelled. Columns of words are {}; this \
         one changes within series `{series}`, from `{expected}` to `{found}`",
        .columns.join(", ")
    )]
    MaybeLabel {
        /// Names of the columns of words.
        columns: Vec<String>,
        /// Place of the fault.
        place: Box<Place>,
        /// Name of the series.
        series: String,
        /// Value read.
        found: String,
        /// Value the series began with.
        expected: String,
    },
    /// A series or string without any observation that is there.
    #[error(
        "{place}: `{series}` has no sample, or only missing ones; remove it or add its samples"
    )]
    EmptySeries {
        /// Place of the fault.
        place: Box<Place>,
        /// Name of the series.
        series: String,
    },
    /// A series in which some channel is missing in every row.
    #[error(
        "{place}: `{series}` has no sample with all channels: {missing} is missing in each; fill it in, or remove \
         the column or the series"
    )]
    NoWholeRow {
        /// Place of the fault.
        place: Box<Place>,
        /// Name of the series.
        series: String,
        /// The channels that have no number anywhere, or that it is not always the same one.
        missing: String,
    },
    /// A character or word that is neither a symbol of the alphabet nor stands for a missing one.
    #[error(
        "{place}: `{symbol}` is not in the alphabet {alphabet}; missing symbols are written \
         {missing}"
    )]
    UnknownSymbol {
        /// Place of the fault.
        place: Box<Place>,
        /// The character or word.
        symbol: String,
        /// The alphabet.
        alphabet: String,
        /// Characters or words that stand for a missing symbol.
        missing: String,
    },
    /// A label that the given classes do not have.
    #[error("{place}: unknown label `{label}`; known labels: {classes}")]
    UnknownLabel {
        /// Place of the fault.
        place: Box<Place>,
        /// The label.
        label: String,
        /// The classes, separated by commas.
        classes: String,
    },
    /// A file that should not bring labels of its own does.
    #[error(
        "{file}: was given as class `{class}` but has labels; remove its column of labels, or the class"
    )]
    LabelledTwice {
        /// The file.
        file: String,
        /// The class given.
        class: String,
    },
    /// Files given together that do not fit.
    #[error("{file}: does not match {other}: {what}")]
    #[strum(serialize = "file-mismatch")]
    Mismatch {
        /// The file.
        file: String,
        /// The first file.
        other: String,
        /// Difference.
        what: String,
    },
    /// Recordings of a background that are too short for the clips between which they lie.
    #[error(
        "{file}: a fold has only {} of background to put between {}; record more background (with groups, of each \
         group)",
        counted(*samples, "sample"),
        counted(*clips, "clip")
    )]
    #[strum(serialize = "short-background")]
    Background {
        /// The file.
        file: String,
        /// Samples there are.
        samples: usize,
        /// Clips of the fold.
        clips: usize,
    },
    /// An invalid alphabet.
    #[error("alphabet `{text}`: {what}")]
    #[strum(serialize = "bad-alphabet")]
    Alphabet {
        /// Text that was given.
        text: String,
        /// Fault of the alphabet.
        what: String,
    },
    /// Words that are no symbols of a dictionary.
    #[error("{file}: the words of the strings: {what}")]
    #[strum(serialize = "bad-words")]
    Words {
        /// The file.
        file: String,
        /// Fault and remedy.
        what: String,
    },
    /// A series without a label where one is needed.
    #[error(
        "{file}, line {line}: series `{id}` has no label; training and evaluation need one for \
         every series: a column `label`, or of FASTA a part of the header"
    )]
    Unlabelled {
        /// The file.
        file: String,
        /// Line where the series begins.
        line: u64,
        /// Name of the series.
        id: String,
    },
    /// No such column.
    #[error("{file}: has no column `{column}` to group by; it has: {available}")]
    #[strum(serialize = "unknown-column")]
    NoColumn {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
        /// Columns there are.
        available: String,
    },
    /// No such column to estimate.
    #[error(
        "{file}: has no numbers to estimate in a column `{column}`; it has: {available}, and `label` for the labels of \
         series"
    )]
    #[strum(serialize = "unknown-target")]
    NoTarget {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
        /// Columns there are.
        available: String,
    },
    /// A data set whose only channel is to be estimated.
    #[error(
        "{file}: `{column}` is the only channel, and nothing is left to estimate it from; add a channel"
    )]
    #[strum(serialize = "only-target")]
    OnlyTarget {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
    },
    /// A column to group by without content.
    #[error(
        "{file}: the column `{column}` to group by is empty in every row; fill it in, or group by \
         another"
    )]
    EmptyColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A series made in memory that does not fit its data set.
    #[error("series {index} (`{id}`): {what}")]
    #[strum(serialize = "inconsistent-series")]
    Inconsistent {
        /// Index of the series, from 0.
        index: usize,
        /// Name of the series.
        id: String,
        /// Fault of the series.
        what: String,
    },
    /// A file of another kind than needed.
    #[error("{file}: has {found}, and {expected} are needed")]
    #[strum(serialize = "wrong-observations")]
    WrongKind {
        /// The file.
        file: String,
        /// Observations of the data.
        found: String,
        /// Observations that are needed.
        expected: String,
    },
    /// A time that is no number.
    #[error(
        "{place}: the time `{text}` is neither a finite number nor a date like the others; write the number of the \
         sample or its time in seconds"
    )]
    TimeNotANumber {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
    },
    /// Series of several sample periods.
    #[error(
        "{file}: series `{}` has {} by its times, and series `{}` {}; resample them to one rate, or evaluate each \
         rate separately",
        series[0],
        rate_words(seconds[0]),
        series[1],
        rate_words(seconds[1])
    )]
    MixedRates {
        /// The file.
        file: String,
        /// Two of the series.
        series: [String; 2],
        /// Periods of the two.
        seconds: [f64; 2],
    },
    /// Samples at another rate than a model's.
    #[error(
        "{file}: by the column `t` the samples come at {}, and the model was trained at {}; resample them to its \
         rate, or name the unit of the time if it is not seconds: `t [ms]`",
        rate_words(*found),
        rate_words(*wanted)
    )]
    OtherRate {
        /// The file, or the stream.
        file: String,
        /// The sample period found.
        found: f64,
        /// The sample period wanted.
        wanted: f64,
    },
    /// Data that cannot be resampled.
    #[error("{file}: cannot be resampled: {why}")]
    NotResampled {
        /// The file.
        file: String,
        /// Reason.
        why: &'static str,
    },
    /// A channel in a unit that does not convert into the one that is wanted.
    #[error(
        "{file}: the channel `{found}` is in another unit than `{wanted}`, and there is no conversion; convert the column"
    )]
    OtherUnit {
        /// The file, or the stream.
        file: String,
        /// The channel, with its unit.
        found: String,
        /// The one that is wanted.
        wanted: String,
    },
    /// No folds for cross-validation.
    #[error("{file}: {reason}")]
    Folds {
        /// The file.
        file: String,
        /// Reason.
        reason: FoldError,
    },
    /// A line of a live stream that does not end.
    #[error("{place}: the line is longer than {limit} bytes; write one sample per line")]
    LineTooLong {
        /// Place of the fault.
        place: Box<Place>,
        /// The longest line allowed.
        limit: u64,
    },
    /// A field of a table of records that is not a state of its column.
    #[error("{place}: `{text}` is not a state of {column}; it has {states}")]
    UnknownCategory {
        /// Place of the fault.
        place: Box<Place>,
        /// The field.
        text: String,
        /// The column.
        column: String,
        /// States of the column, separated by commas.
        states: String,
    },
    /// A column that the model does not have.
    #[error("{place}: the model has no `{column}`; it has {known}. Remove the column")]
    #[strum(serialize = "unknown-column")]
    ExtraColumn {
        /// Place of the fault.
        place: Box<Place>,
        /// The column.
        column: String,
        /// The model's columns, separated by commas.
        known: String,
    },
    /// A text that is not of its layout.
    #[error("{place}: {what}")]
    #[strum(serialize = "bad-layout")]
    Layout {
        /// Place of the fault.
        place: Box<Place>,
        /// Fault and remedy.
        what: String,
    },
}

crate::kinds!(DataError, Self::Folds { reason: error, .. } => error);

impl DataError {
    /// Returns whether the error ends a live stream; otherwise it concerns one sample.
    pub fn ends_stream(&self) -> bool {
        matches!(
            self,
            Self::Io { .. } | Self::Header { .. } | Self::OtherUnit { .. } | Self::Packed { .. }
        )
    }
}

/// The error for a file of one kind where the other is needed.
pub(super) fn wrong_kind(file: &str, found: &str, expected: &str) -> DataError {
    let file = file.to_owned();
    DataError::WrongKind { file, found: found.to_owned(), expected: expected.to_owned() }
}

/// The remedy of a field that is no number.
fn as_number(text: &str) -> &'static str {
    match text.to_ascii_lowercase().as_str() {
        "true" | "false" => "write 1 and 0",
        other if other.bytes().any(|byte| byte.is_ascii_digit()) => {
            "write decimal numbers, as 0.5, and a unit in the header alone"
        }
        _ => "for a missing value leave the field empty or write NA",
    }
}
