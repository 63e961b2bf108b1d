//! Options of every command.

use std::path::PathBuf;

use clap::ColorChoice;

use super::failure::{self, MessageFormat};
use super::{Failure, Topic};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Settings {
    /// Read options from a recipe: a TOML file with the names of long options; the command line wins
    #[arg(long, global = true, value_name = "FILE.toml")]
    pub(super) config: Option<PathBuf>,
    /// Print the command's options as a recipe, and stop
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) print_config: bool,
    /// Write no notes and no progress, only errors
    #[arg(short, long, global = true, hide_short_help = true)]
    quiet: bool,
    /// Report everything: every fold, candidate, classifier and choice; --json always does
    #[arg(short, long, global = true, hide_short_help = true)]
    verbose: bool,
    /// Threads that compute [default: one per processor]
    #[arg(long, global = true, hide_short_help = true, value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Colours in help and messages
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "WHEN",
        value_enum,
        default_value_t
    )]
    color: ColorChoice,
    /// Format of errors and notes on standard error; --json implies json
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "FORMAT",
        value_enum,
        default_value_t
    )]
    message_format: MessageFormat,
}

impl Settings {
    /// Sets what holds for the whole program.
    pub(super) fn apply(&self) -> Result<(), Failure> {
        failure::set_quiet(self.quiet);
        failure::set_verbose(self.verbose);
        let Some(threads) = self.threads else { return Ok(()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| {
            Failure::input(Topic::NoThreads, format!("--threads {threads}: {error}; take fewer"))
        })
    }
}
