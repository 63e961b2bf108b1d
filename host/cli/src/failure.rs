//! Errors and notes: each has a kind that stays when words change, and is written for people or as JSON.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::styling::{AnsiColor, Style};
use clap::error::ErrorKind as UsageKind;
use clap::{ColorChoice, ValueEnum};
use fishweir::StableKind;
use fishweir::data::Dataset;
use fishweir::report::{ReportFormat, printable};
use serde::Serialize;

use super::remedy::words;

/// The kinds of the program's own failures and notes; those of the library have kinds of theirs.
#[derive(Clone, Copy, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Topic {
    // Usage.
    ConflictingOptions,
    IdleCopies,
    IdleOption,
    FewItems,
    MissingOption,
    NeedsKernelModel,
    NeedsLags,
    BadSyntax,
    NothingToWrite,
    OneValue,
    OtherRate,
    OutOfRange,
    OutputIsInput,
    SameOutput,
    SleepAboveCurrent,
    UnknownOption,
    Unsupported,
    VectorsLeftOver,
    WindowsOrNumbers,
    // Files and folders.
    BuildFailed,
    FolderInUse,
    KeyExists,
    EmptyFile,
    IsData,
    IsFolder,
    IsModel,
    IsRegression,
    IsSource,
    NeedsClassifier,
    NoContract,
    NoRandomness,
    NoRecipe,
    NoThreads,
    NotAModel,
    NotUtf8,
    OneFile,
    OtherKernel,
    Truncated,
    UnfitEnding,
    UnfitFile,
    UnreadableFolder,
    UnwritableFolder,
    WrongModel,
    // Data and models.
    DifferentLengths,
    FrontedModels,
    ImpossibleEvidence,
    IsUpdate,
    KernelMachine,
    KernelOutOfRange,
    LeftOutChannels,
    NoClass,
    NoMemory,
    NoProgram,
    BadKey,
    NoProject,
    NoRoom,
    NotFinite,
    NotHeldBack,
    NothingToDraw,
    OneClass,
    OtherClasses,
    OtherData,
    OtherItems,
    OtherWindows,
    TooManyItems,
    TooManyStates,
    UnknownChannel,
    UnknownClass,
    UnknownColumn,
    UnknownSeries,
    UnknownState,
    UnsignedUpdate,
    WrongObservations,
    // Checks.
    BitsDiffer,
    LostSamples,
    OtherModel,
    ProfilesDiffer,
    RefusedSamples,
    // Notes.
    AsTrained,
    NotAsTrained,
    AlphabetGuessed,
    AssumedRate,
    Building,
    CoarseChannel,
    ConstantChannel,
    DisparateChannel,
    FewFolds,
    FewSeries,
    FigureWritten,
    FirstFloor,
    FurtherLeaps,
    FurtherRefusals,
    Gaps,
    IrregularTimes,
    LeftOver,
    LongStrings,
    LongTraining,
    MaybeGroup,
    MaybeMilliseconds,
    MaybeTime,
    MixedUnits,
    NoConfidenceInC,
    NoSamples,
    NoTime,
    NoTimes,
    NotSemidefinite,
    NothingFound,
    OtherScale,
    RepeatedSeries,
    OutOfCore,
    RoundedTimes,
    ShortSeries,
    SimilarLabels,
    SeriesInParts,
    SingleSamples,
    SlowBoard,
    KeptFiles,
    NoRejection,
    TightRoom,
    TimeLeaps,
    TrainingData,
    UngroupedColumn,
    SkippedRecords,
    SourceFound,
    UnitsConverted,
    UnitsNotCompared,
    UnknownRate,
    Unobserved,
    PartialSamples,
    UnobservedChannel,
    UnseenCategories,
    WildSample,
}

/// A kind and the words for it.
#[derive(Debug, Serialize)]
pub(super) struct Message {
    pub(super) kind: &'static str,
    #[serde(rename = "message")]
    pub(super) text: String,
}

impl Message {
    pub(super) fn new(kind: impl Into<&'static str>, text: impl ToString) -> Self {
        Self { kind: kind.into(), text: text.to_string() }
    }
}

/// Reason why a command ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// A check came out wrong: exit code 1.
    Check(Message),
    /// Usage or input: exit code 2.
    Input(Message),
    /// Nobody reads standard output any more: a quiet end, as in `fishweir predict ... | head`.
    HungUp,
}

impl<E: Error + StableKind + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(one) = cause {
            if one.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
            {
                return Self::HungUp;
            }
            cause = one.source();
        }
        Self::input(error.kind(), words(&error))
    }
}

impl Failure {
    pub(super) fn check(kind: impl Into<&'static str>, text: impl ToString) -> Self {
        Self::Check(Message::new(kind, text))
    }

    pub(super) fn input(kind: impl Into<&'static str>, text: impl ToString) -> Self {
        Self::Input(Message::new(kind, text))
    }

    /// Returns the failure of an option that the program of a page leaves out, which is small.
    #[cfg(target_family = "wasm")]
    pub(super) fn not_in_a_page(option: &str) -> Self {
        Self::input(
            Topic::Unsupported,
            format!("{option}: a page does not do this; the program does"),
        )
    }

    /// Returns the failure of an operation on data, whose file begins the message.
    pub(super) fn of(data: &Dataset, error: impl Into<Self>) -> Self {
        match error.into() {
            Self::Input(Message { kind, text }) if !text.starts_with(data.source()) => {
                Self::input(kind, format!("{}: {text}", data.source()))
            }
            other => other,
        }
    }
}

/// Format of errors and notes on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum MessageFormat {
    /// A line of words
    #[default]
    Human,
    /// A line of JSON with a stable kind and the words
    Json,
}

static AS_JSON: AtomicBool = AtomicBool::new(false);
static COLOURED: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Takes the look of messages from a command line, which may be one that is refused: --message-format, else --json, and
/// --color, which is returned.
pub(super) fn look(line: &[OsString]) -> ColorChoice {
    let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
    let line = &line[..end];
    let last = |option: &str| {
        let value = |(index, word): (usize, &OsString)| match word.to_str()?.strip_prefix(option)? {
            "" => line.get(index + 1)?.to_str().map(str::to_owned),
            rest => rest.strip_prefix('=').map(str::to_owned),
        };
        line.iter().enumerate().filter_map(value).next_back()
    };
    let json = match last("--message-format") {
        Some(format) => format == "json",
        None => line.iter().any(|word| word == "--json"),
    };
    let color = last("--color").and_then(|when| ColorChoice::from_str(&when, false).ok());
    let color = color.unwrap_or_default();
    let coloured = match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
        }
    };
    AS_JSON.store(json, Ordering::Relaxed);
    COLOURED.store(coloured, Ordering::Relaxed);
    color
}

/// Leaves out notes and progress from now on, or not.
pub(super) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Returns whether all is to be reported.
pub(super) fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Reports all from now on, or not.
pub(super) fn set_verbose(verbose: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Format of reports: JSON if asked for, else a summary, or all of it.
pub(super) fn report_format(json: bool) -> ReportFormat {
    match (json, VERBOSE.load(Ordering::Relaxed)) {
        (true, _) => ReportFormat::Json,
        (false, true) => ReportFormat::Full,
        (false, false) => ReportFormat::Summary,
    }
}

/// Returns whether notes and progress are left out.
pub(super) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a message on standard error. Nothing is left to do where that is gone too.
fn tell(what: &'static str, message: &Message) {
    let mut err = io::stderr().lock();
    let _ = if AS_JSON.load(Ordering::Relaxed) {
        let line = serde_json::to_string(&std::collections::BTreeMap::from([(what, message)]));
        line.map_err(io::Error::from).and_then(|line| writeln!(err, "{line}"))
    } else {
        let style = match (COLOURED.load(Ordering::Relaxed), what) {
            (false, _) => Style::new(),
            (true, "error") => AnsiColor::Red.on_default().bold(),
            (true, _) => AnsiColor::Yellow.on_default().bold(),
        };
        writeln!(err, "{style}{what}{style:#}: {}", printable(&message.text))
    };
}

/// Writes why a command ended.
pub(super) fn error(message: &Message) {
    tell("error", message);
}

/// Writes a note: the program goes on.
pub(super) fn note(kind: impl Into<&'static str>, text: impl Display) {
    if !is_quiet() {
        tell("note", &Message::new(kind, text));
    }
}

/// Writes a note unless the same one was written before, so that several readings of one file give it once.
pub(super) fn note_once(kind: impl Into<&'static str>, text: impl Display) {
    static WRITTEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let text = text.to_string();
    // Poisoned by nothing: whoever holds it does not panic.
    if WRITTEN.lock().is_ok_and(|mut written| written.insert(text.clone())) {
        note(kind, text);
    }
}

/// Writes clap's message on a command line, or the help that was requested, and ends the program.
pub(super) fn usage(said: &clap::Error) -> ! {
    if AS_JSON.load(Ordering::Relaxed) && said.use_stderr() {
        let text = said.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        error(&Message::new(usage_kind(said.kind()), text));
        std::process::exit(said.exit_code());
    }
    said.exit()
}

/// The kind of clap's error.
pub(super) fn usage_kind(kind: UsageKind) -> &'static str {
    match kind {
        UsageKind::InvalidValue | UsageKind::ValueValidation => "invalid-value",
        UsageKind::UnknownArgument => "unknown-argument",
        UsageKind::InvalidSubcommand => "invalid-subcommand",
        UsageKind::NoEquals => "no-equals",
        UsageKind::TooManyValues => "too-many-values",
        UsageKind::TooFewValues => "too-few-values",
        UsageKind::WrongNumberOfValues => "wrong-number-of-values",
        UsageKind::ArgumentConflict => "argument-conflict",
        UsageKind::MissingRequiredArgument => "missing-required-argument",
        UsageKind::MissingSubcommand | UsageKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "missing-subcommand"
        }
        UsageKind::InvalidUtf8 => "invalid-utf8",
        _ => "usage",
    }
}
