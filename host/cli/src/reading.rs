//! Options for reading and cutting data, for several commands.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValue;
use fishweir::classifier::{Contract, Observations};
use fishweir::data::{
    Alphabet, Column, Dataset, Encoding, FastaLabel, Kind, LAYOUTS, Layout, Marks, NamePattern,
    ReadOptions, Resample, Separator, ShortSeries, Source, Values, Windowing,
};

use fishweir::report::SourceReport;

use super::Failure;
use super::model::Model;
use super::options::{named, refuse_idle};
use super::rate::check_rate;
use super::values::{positive, registered};

/// Options for reading a file of data.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(super) struct Reading {
    /// Layout of DATA [default: by its content]
    #[arg(long, value_name = "LAYOUT", value_parser = registered(LAYOUTS, |one| {
        PossibleValue::new(one.name).alias(one.alias).help(one.about)
    }))]
    format: Option<&'static Layout>,
    /// Symbols of strings: dna, rna, binary, protein, or the symbols in order [default: as found]
    #[arg(long, value_name = "SYMBOLS", value_parser = Alphabet::from_str)]
    alphabet: Option<Alphabet>,
    /// Symbols of strings are words, not letters: with a list these in its order, without one those found [default: found from the data]
    #[arg(long, value_name = "WORD,WORD,...", num_args = 0..=1, require_equals = true, default_missing_value = "",
        value_parser = words, conflicts_with = "alphabet")]
    words: Option<Words>,
    /// Column of the event in a table with one event per line [default: event, symbol, code, word or command, where it
    /// holds words and no other column is a channel]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    event_column: Option<Column>,
    /// Place of the label in FASTA headers: KEY for `KEY=label`, or the number of a word
    #[arg(long, value_name = "KEY|NUMBER", value_parser = fasta_label)]
    fasta_label: Option<FastaLabel>,
    /// Resample series of channels by their times to HZ samples per second; without HZ to the model's rate, or to
    /// the lowest rate of the data [default: not resampled]
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = "", value_parser = resample)]
    resample: Option<Resample>,
    /// Column of the label, by name or number; `none` if no column has labels [default: label, class, activity and
    /// the like]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    label: Option<Column>,
    /// Column of the times, by name or number, with its unit if the file does not have it, as `timestamp [ms]`;
    /// `none` if no column has times [default: t, time, timestamp and the like]
    #[arg(id = "time-column", long = "time", value_name = "COLUMN", value_parser = column)]
    time: Option<Column>,
    /// Begin a new series at each change of the label
    #[arg(long)]
    segments: bool,
    /// Decimal mark of numbers, . or , [default: found from the data]
    #[arg(long, value_name = "MARK", value_parser = decimal)]
    decimal: Option<char>,
    #[command(flatten)]
    text: TextOptions,
}

/// Options for words as symbols.
#[derive(Clone, Debug)]
enum Words {
    /// Words that are found.
    Found,
    /// Words of this alphabet.
    Named(Alphabet),
}

/// Options for the format of a table, of samples or records.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(super) struct TextOptions {
    /// Character that separates the fields of a line, or tab, space [default: found from the data]
    #[arg(long, value_name = "CHARACTER", value_parser = Separator::parse)]
    sep: Option<Separator>,
    /// Marks of missing values, separated by commas, in place of the default ones; an empty field is always missing [default: NA, N/A,
    /// NaN, ?, null, None]
    #[arg(long, value_name = "MARKS", value_delimiter = ',', allow_hyphen_values = true)]
    na: Option<Vec<String>>,
    /// The first line is data, not a header
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// The first line is the header, although it looks like data
    #[arg(long)]
    header: bool,
    /// Encoding of texts: utf-8, utf-16, latin-1 [default: utf-16 if the text begins as such, else utf-8]
    #[arg(long, value_name = "NAME", value_parser = Encoding::from_str)]
    encoding: Option<Encoding>,
}

impl TextOptions {
    /// Options for a source of text.
    pub(super) fn source(&self) -> Source {
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Source {
            separator: self.sep,
            missing: self.na.clone().map_or_else(Marks::default, Marks::new),
            encoding: self.encoding,
            header,
            ..Source::default()
        }
    }

    /// Options given.
    fn given(&self) -> Vec<&'static str> {
        named([
            ("--sep", self.sep.is_some()),
            ("--na", self.na.is_some()),
            ("--no-header", self.no_header),
            ("--header", self.header),
            ("--encoding", self.encoding.is_some()),
        ])
    }
}

/// Columns of series and channels.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(super) struct Placing {
    /// Column that names the series, by name or number; `none` if all rows are one series [default: series,
    /// recording, id and the like]
    #[arg(id = "series-column", long = "series", value_name = "COLUMN", value_parser = column)]
    series: Option<Column>,
    /// Columns of the channels, by name or number, separated by commas [default: all that have no other purpose]
    #[arg(id = "channel-columns", long = "channels", value_name = "COLUMNS", value_delimiter = ',',
        value_parser = column, conflicts_with = "event_column")]
    channels: Vec<Column>,
}

impl Placing {
    /// Channels by name.
    pub(super) fn channels(&self) -> Vec<String> {
        let name = |column: &Column| match column {
            Column::Name(name) => Some(name.clone()),
            Column::None => None,
        };
        self.channels.iter().filter_map(name).collect()
    }

    /// Options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        named([("--series", self.series.is_some()), ("--channels", !self.channels.is_empty())])
    }
}

/// Places of series, channels and labels, in data for training or evaluation.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(super) struct Gathering {
    #[command(flatten)]
    placing: Placing,
    /// Pattern of the label in names of files: {label}.{number}.csv, {time}_{label}.csv, {label}/{number}.csv [default: folders,
    /// or the beginning of names]
    #[arg(id = "name-pattern", long = "name", value_name = "PATTERN", value_parser = NamePattern::parse)]
    name: Option<NamePattern>,
    /// Table start,end,label in seconds that labels parts of the recordings; each part is a series
    #[arg(long, value_name = "FILE")]
    annotations: Option<PathBuf>,
    /// Print how the data are read, with their first rows, and stop
    #[arg(long)]
    dry_run: bool,
}

impl Gathering {
    /// These options, and for those that were not given others.
    pub(super) fn or(&self, other: &Self) -> Self {
        let (own, placing) = (self.clone(), &other.placing);
        let channels = match own.placing.channels.is_empty() {
            true => placing.channels.clone(),
            false => own.placing.channels,
        };
        let series = own.placing.series.or_else(|| placing.series.clone());
        Self {
            placing: Placing { series, channels },
            name: own.name.or_else(|| other.name.clone()),
            ..own
        }
    }
}

impl From<Placing> for Gathering {
    fn from(placing: Placing) -> Self {
        Self { placing, ..Self::default() }
    }
}

impl Gathering {
    /// Adds these options to those of reading; a column of groups applies to whole series.
    pub(super) fn add_to(&self, options: ReadOptions, group: Option<&str>) -> ReadOptions {
        let group = group.filter(|group| !["series", "id", "sequence"].contains(group));
        let source = Source {
            series: self.placing.series.clone(),
            channels: self.placing.channels.clone(),
            names: self.name.clone(),
            annotations: self.annotations.clone(),
            columns: group.map(Column::of).into_iter().collect(),
            ..options.source
        };
        ReadOptions { source, ..options }
    }

    /// Prints data as they were read, where that is all that is asked for.
    pub(super) fn shows(&self, data: &Dataset, json: bool) -> Result<bool, Failure> {
        if self.dry_run {
            crate::output::print_report(&SourceReport::new(data), json)?;
        }
        Ok(self.dry_run)
    }

    /// Options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let own = named([
            ("--name", self.name.is_some()),
            ("--annotations", self.annotations.is_some()),
            ("--dry-run", self.dry_run),
        ]);
        [self.placing.given(), own].concat()
    }
}

/// A column that is named on the command line.
fn column(text: &str) -> Result<Column, String> {
    match text.trim() {
        "" => Err("name a column, or its number".into()),
        name => Ok(Column::of(name)),
    }
}

fn words(text: &str) -> Result<Words, String> {
    if text.is_empty() {
        return Ok(Words::Found);
    }
    let words = text.split(',').map(|word| word.trim().to_owned()).collect();
    Alphabet::from_words(words).map(Words::Named).map_err(|error| error.to_string())
}

fn decimal(text: &str) -> Result<char, String> {
    match text {
        "." | "point" => Ok('.'),
        "," | "comma" => Ok(','),
        other => Err(format!("`{other}` is no decimal mark; write . or ,")),
    }
}

impl Reading {
    /// These options, and for those of the file's form that were not given others.
    pub(super) fn or(&self, other: &Self) -> Self {
        let (own, text) = (self.clone(), &other.text);
        let is_headed = own.text.header || own.text.no_header;
        Self {
            format: own.format.or(other.format),
            event_column: own.event_column.or_else(|| other.event_column.clone()),
            label: own.label.or_else(|| other.label.clone()),
            time: own.time.or_else(|| other.time.clone()),
            segments: own.segments || other.segments,
            decimal: own.decimal.or(other.decimal),
            text: TextOptions {
                sep: own.text.sep.or(text.sep),
                na: own.text.na.or_else(|| text.na.clone()),
                no_header: own.text.no_header || !is_headed && text.no_header,
                header: own.text.header || !is_headed && text.header,
                encoding: own.text.encoding.or(text.encoding),
            },
            ..own
        }
    }

    /// Options that find out kind and classes from the file.
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions {
            layout: self.format,
            kind: self.symbols().map(Kind::Symbols),
            classes: None,
            fasta_label: self.fasta_label.clone().unwrap_or_default(),
            resample: self.resample,
            source: self.source(),
            ..ReadOptions::default()
        }
    }

    /// The alphabet that is named.
    fn symbols(&self) -> Option<Alphabet> {
        match &self.words {
            Some(Words::Named(alphabet)) => Some(alphabet.clone()),
            _ => self.alphabet.clone(),
        }
    }

    /// Options for the source.
    fn source(&self) -> Source {
        Source {
            events: self.event_column.clone(),
            words: matches!(self.words, Some(Words::Found)),
            label: self.label.clone(),
            time: self.time.clone(),
            segments: self.segments,
            decimal: self.decimal,
            ..self.text.source()
        }
    }

    /// Options that require the observations of a fitted model; its classes too if `classes` are given.
    pub(super) fn options_for(
        &self,
        kind: Kind,
        classes: Option<&[String]>,
    ) -> Result<ReadOptions, Failure> {
        let symbols =
            named([("--alphabet", self.alphabet.is_some()), ("--words", self.words.is_some())]);
        refuse_idle(&symbols, "the model has its own")?;
        let classes = classes.map(<[_]>::to_vec);
        Ok(ReadOptions { kind: Some(kind), classes, ..self.options() })
    }

    /// Options of reading for a deployed model, with the values that its channels take.
    pub(super) fn options_of(
        &self,
        model: &Model,
        classes: Option<&[String]>,
    ) -> Result<ReadOptions, Failure> {
        let deployed = &model.deployed;
        let of_model = (deployed.observations(), deployed.values(), deployed.contract());
        let mut options = self.options_that_fit(of_model, classes)?;
        // Data to estimate may have the target, too.
        options.source.target = deployed.target().map(|target| Column::of(&target.name));
        Ok(options)
    }

    /// Options that require a model's observations, the values that its channels take, and its rate; its classes too if
    /// `classes` are given.
    pub(super) fn options_that_fit(
        &self,
        (observations, values, contract): (&Observations, Values, Option<&Contract>),
        classes: Option<&[String]>,
    ) -> Result<ReadOptions, Failure> {
        let options = ReadOptions { values, ..self.options_for(observations.kind()?, classes)? };
        self.at_rate_of(contract, options)
    }

    /// Options that want the rate of a contract, or resample to it.
    pub(super) fn at_rate_of(
        &self,
        contract: Option<&Contract>,
        options: ReadOptions,
    ) -> Result<ReadOptions, Failure> {
        let Some(period) = contract.and_then(|contract| contract.period) else {
            return Ok(options);
        };
        if let Some(Resample::To(rate)) = self.resample {
            check_rate("--resample", rate, period)?;
        }
        let resample = self.resample.map(|_| Resample::To(period.rate()));
        Ok(ReadOptions { period: Some(period), resample, ..options })
    }

    /// Options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        [self.of_series(), self.text.given()].concat()
    }

    /// Options of a text table, shared with tables of records.
    pub(super) fn text(&self) -> &TextOptions {
        &self.text
    }

    /// Names of the options given that apply to series only.
    pub(super) fn of_series(&self) -> Vec<&'static str> {
        named([
            ("--format", self.format.is_some()),
            ("--alphabet", self.alphabet.is_some()),
            ("--words", self.words.is_some()),
            ("--event-column", self.event_column.is_some()),
            ("--fasta-label", self.fasta_label.is_some()),
            ("--resample", self.resample.is_some()),
            ("--label", self.label.is_some()),
            ("--time", self.time.is_some()),
            ("--segments", self.segments),
            ("--decimal", self.decimal.is_some()),
        ])
    }
}

/// Describes the layouts that data may have.
pub(super) fn data(what: &str) -> String {
    let layouts: Vec<&str> = LAYOUTS.iter().map(|layout| layout.about).collect();
    format!("{what}: {}; gzipped or not", layouts.join(", or "))
}

/// A rate; of no text the usual one.
fn resample(text: &str) -> Result<Resample, String> {
    match text {
        "" => Ok(Resample::Lowest),
        text => positive(text).map(Resample::To).map_err(|error| {
            format!(
                "{error}: samples per second; for the usual rate end the command line with --resample, behind the names of \
                 files"
            )
        }),
    }
}

fn fasta_label(text: &str) -> Result<FastaLabel, String> {
    match (text.parse(), text.trim_end_matches('=')) {
        (Ok(0), _) => Err("words count from 1".into()),
        (Ok(number), _) => Ok(FastaLabel::Word(number)),
        (_, "") => Err("name a key or the number of a word".into()),
        (_, key) => Ok(FastaLabel::Key(key.to_owned())),
    }
}

/// Options for cutting series into windows.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Windows")]
pub(super) struct Cutting {
    /// Length of the windows that series are cut into, in samples [default: whole series, or the model's windows]
    #[arg(long, value_name = "SAMPLES", value_parser = samples)]
    window: Option<NonZeroUsize>,
    /// Samples from the start of one window to that of the next [default: the window's length]
    #[arg(long, value_name = "SAMPLES", value_parser = samples, requires = "window")]
    hop: Option<NonZeroUsize>,
}

/// Takes a number of samples.
fn samples(text: &str) -> Result<NonZeroUsize, String> {
    let needed = |_| "a positive number of samples is needed: 4 s at 50 Hz are 200".to_owned();
    text.parse().map_err(needed)
}

impl Cutting {
    /// Windows of a length and hop.
    pub(super) fn of(window: NonZeroUsize, hop: NonZeroUsize) -> Self {
        Self { window: Some(window), hop: Some(hop) }
    }

    /// Options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        named([("--window", self.window.is_some()), ("--hop", self.hop.is_some())])
    }

    /// Checks that a stream can decide on such windows.
    ///
    /// # Errors
    /// Which of the two is out of range.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let contract = Contract { windowing: self.windowing(), ..Contract::default() };
        let checked = contract.windows().map_or(Ok(()), |windows| windows.check());
        checked.map_err(|error| Failure::input(error.kind(), format!("--window, --hop: {error}")))
    }

    pub(super) fn windowing(&self) -> Option<Windowing> {
        self.window.map(|length| Windowing {
            length,
            hop: self.hop.unwrap_or(length),
            short: ShortSeries::default(),
        })
    }
}
