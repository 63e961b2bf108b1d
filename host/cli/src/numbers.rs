//! An option for each number that kernels take, as the registry lists them.

use std::sync::LazyLock;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use fishweir::kernel::parameter::{
    KernelParameter, LAMBDA, NumberParameter, NumberRange, ORDER, SIGMA,
};
use fishweir::kernel::registry::KERNELS;
use fishweir::learn::ClassifierKind;

/// Classifiers or families of models take these too: each command has its own option for them.
const SHARED: [NumberParameter; 3] = [ORDER, SIGMA, LAMBDA];

/// The numbers given: those that kernel machines on scores take too, or those of the other kernels.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers<const ON_SCORES: bool>(Vec<(&'static NumberParameter, f64)>);

/// All that kernels take but for those of commands, each once, with its option.
static OPTIONS: LazyLock<Vec<(&NumberParameter, String)>> = LazyLock::new(|| {
    let mut all: Vec<(&NumberParameter, String)> = Vec::new();
    for parameter in KERNELS.iter().flat_map(|entry| entry.takes) {
        if let KernelParameter::Number(number) = *parameter
            && !SHARED.contains(number)
            && all.iter().all(|(other, _)| *other != number)
        {
            all.push((number, format!("--{}", number.name)));
        }
    }
    all
});

/// Options of one side.
fn options(on_scores: bool) -> impl Iterator<Item = (&'static NumberParameter, &'static str)> {
    let all = OPTIONS.iter().map(|(number, option)| (*number, option.as_str()));
    all.filter(move |(number, _)| {
        ClassifierKind::ALL.iter().any(|kind| kind.takes(number)) == on_scores
    })
}

/// The number of an option.
pub(super) fn number(option: &str) -> Option<&'static NumberParameter> {
    OPTIONS.iter().find(|(_, known)| known == option).map(|(number, _)| *number)
}

/// Parses a value of a parameter.
fn value(number: &NumberParameter, text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if number.range.contains(value) => Ok(value),
        _ => Err(format!("must be {}", number.range.describe())),
    }
}

impl<const ON_SCORES: bool> Numbers<ON_SCORES> {
    /// The options given.
    pub(super) fn options(&self) -> impl Iterator<Item = &'static str> {
        let given = |number| self.0.iter().any(|(given, _)| *given == number);
        options(ON_SCORES).filter(move |&(number, _)| given(number)).map(|(_, option)| option)
    }

    /// The numbers given, with their parameters.
    pub(super) fn given(&self) -> &[(&'static NumberParameter, f64)] {
        &self.0
    }

    /// Drops the named options.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        let dropped = |known| names.iter().any(|name| number(name) == Some(known));
        self.0.retain(|(number, _)| !dropped(number));
        self
    }
}

impl<const ON_SCORES: bool> clap::Args for Numbers<ON_SCORES> {
    fn augment_args(command: Command) -> Command {
        options(ON_SCORES).fold(command, |command, (number, _)| {
            let option = Arg::new(number.name).long(number.name).help(number.about);
            command.arg(match number.range {
                NumberRange::Switch => option.action(ArgAction::SetTrue),
                _ => option
                    .value_name(number.symbol)
                    .allow_negative_numbers(true)
                    .value_parser(move |text: &str| value(number, text)),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const ON_SCORES: bool> FromArgMatches for Numbers<ON_SCORES> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut numbers = Self::default();
        numbers.update_from_arg_matches(matches)?;
        Ok(numbers)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = options(ON_SCORES)
            .filter_map(|(number, _)| {
                let value = match number.range {
                    NumberRange::Switch => matches.get_flag(number.name).then_some(1.0),
                    _ => matches.get_one::<f64>(number.name).copied(),
                };
                value.map(|value| (number, value))
            })
            .collect();
        Ok(())
    }
}
