//! How data are read and cut, as several commands take it.

use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValue;
use fishweir::classifier::Contract;
use fishweir::data::{
    Alphabet, FastaLabel, Kind, LAYOUTS, Layout, ReadOptions, Resample, ShortSeries, Windowing,
};

use super::Failure;
use super::model::Model;
use super::options::{named, refuse_idle};
use super::rate::check_rate;
use super::values::{positive, registered};

/// How a file of data is read.
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
    /// Where FASTA headers have their label: KEY for `KEY=label`, or the number of a word
    #[arg(long, value_name = "KEY|NUMBER", value_parser = fasta_label)]
    fasta_label: Option<FastaLabel>,
    /// Resample series of channels by their times to HZ samples per second [default: the model's rate, or the lowest of
    /// the data]
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = "", value_parser = resample)]
    resample: Option<Resample>,
}

impl Reading {
    /// Options that find out kind and classes from the file.
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions {
            layout: self.format,
            kind: self.alphabet.clone().map(Kind::Symbols),
            classes: None,
            fasta_label: self.fasta_label.clone().unwrap_or_default(),
            resample: self.resample,
            ..ReadOptions::default()
        }
    }

    /// Options that want what a fitted model observes; its classes too where `classes` are given.
    pub(super) fn options_for(
        &self,
        kind: Kind,
        classes: Option<&[String]>,
    ) -> Result<ReadOptions, Failure> {
        let alphabet = named([("--alphabet", self.alphabet.is_some())]);
        refuse_idle(&alphabet, "the model has its own")?;
        let classes = classes.map(<[_]>::to_vec);
        Ok(ReadOptions { kind: Some(kind), classes, ..self.options() })
    }

    /// The same of a model that is deployed, with the values that its channels take.
    pub(super) fn options_of(
        &self,
        model: &Model,
        classes: Option<&[String]>,
    ) -> Result<ReadOptions, Failure> {
        let values = model.deployed.values();
        let options = ReadOptions { values, ..self.options_for(model.kind()?, classes)? };
        self.at_rate_of(model.deployed.contract(), options)
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
        named([
            ("--format", self.format.is_some()),
            ("--alphabet", self.alphabet.is_some()),
            ("--fasta-label", self.fasta_label.is_some()),
            ("--resample", self.resample.is_some()),
        ])
    }
}

/// What data may be, in words.
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

/// How series are cut.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Windows")]
pub(super) struct Cutting {
    /// Cut series into windows of so many samples [default: whole series, or as the model was
    /// trained]
    #[arg(long, value_name = "SAMPLES")]
    window: Option<NonZeroUsize>,
    /// From the start of one window to that of the next [default: the window's length]
    #[arg(long, value_name = "SAMPLES", requires = "window")]
    hop: Option<NonZeroUsize>,
}

impl Cutting {
    /// Windows of a length and hop.
    pub(super) fn of(window: NonZeroUsize, hop: NonZeroUsize) -> Self {
        Self { window: Some(window), hop: Some(hop) }
    }

    /// That a stream can decide on such windows.
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
