//! An option for each number that kernels take, as the registry lists them.

use std::sync::LazyLock;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use fishweir::kernel::parameter::{
    KernelParameter, LAMBDA, NumberParameter, NumberRange, ORDER, POWER, SIGMA,
};
use fishweir::kernel::registry::KERNELS;

/// Classifiers or families of models take these too: each command has its own option for them.
const SHARED: [NumberParameter; 4] = [ORDER, SIGMA, POWER, LAMBDA];

/// The numbers given.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(Vec<(&'static NumberParameter, f64)>);

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

/// Numbers that classifiers take too, as a command's own options give them.
pub(crate) fn shared(
    sigma: Option<f64>,
    power: Option<u32>,
    lambda: Option<f64>,
) -> Vec<(&'static NumberParameter, f64)> {
    let given = [(&SIGMA, sigma), (&POWER, power.map(f64::from)), (&LAMBDA, lambda)];
    given.into_iter().filter_map(|(number, value)| Some((number, value?))).collect()
}

/// Parses a value of a parameter.
fn value(number: &NumberParameter, text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if number.range.contains(value) => Ok(value),
        _ => Err(format!("must be {}", number.range.describe())),
    }
}

impl Numbers {
    /// The options given.
    pub(super) fn options(&self) -> impl Iterator<Item = &'static str> {
        let given = |number| self.0.iter().any(|(given, _)| *given == number);
        OPTIONS.iter().filter(move |(number, _)| given(*number)).map(|(_, option)| option.as_str())
    }

    /// The numbers given, with their parameters.
    pub(super) fn given(&self) -> &[(&'static NumberParameter, f64)] {
        &self.0
    }
}

impl clap::Args for Numbers {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, &(number, _)| {
            let option = Arg::new(number.name).long(number.name).help(number.about);
            let option = option.help_heading("Kernel");
            command.arg(match number.range {
                NumberRange::Switch => option.action(ArgAction::SetTrue),
                _ => option
                    .value_name(number.symbol)
                    .allow_negative_numbers(true)
                    .value_parser(|text: &str| value(number, text)),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Numbers {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut numbers = Self::default();
        numbers.update_from_arg_matches(matches)?;
        Ok(numbers)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = OPTIONS
            .iter()
            .filter_map(|&(number, _)| {
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
