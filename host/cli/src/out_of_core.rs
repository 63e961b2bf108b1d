//! Tables that memory need not hold.

use std::path::{Path, PathBuf};

use clap::Args;
use fishweir::classifier::Contract;
use fishweir::data::{LargeTable, ReadOptions};
use fishweir::report::{OutOfCoreSummary, counted, grouped};

use super::{Failure, Topic, note, progress, read, recognise};

/// The option to read a table a chunk at a time.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(super) struct OutOfCore {
    /// Read the table a chunk of whole series at a time, in memory that does not grow with it; choices and notes are by a
    /// random sample of SERIES series [default sample: 4096]
    ///
    /// DATA is one table of channels, CSV or Parquet, gzipped or not, whose rows are sorted by a column of series. It is read
    /// once more for each pass.
    #[arg(id = "out_of_core", long = "out-of-core", value_name = "SERIES", num_args = 0..=1, require_equals = true,
        default_missing_value = "4096", value_parser = clap::value_parser!(u32).range(2..))]
    sample: Option<u32>,
}

impl OutOfCore {
    /// The option, if it is given.
    pub(super) fn given(self) -> Vec<&'static str> {
        super::options::named([("--out-of-core", self.is_given())])
    }

    /// Returns whether tables are read so.
    pub(super) fn is_given(self) -> bool {
        self.sample.is_some()
    }

    /// Opens the table, with notes on its sample; `None` where it is to be read whole.
    pub(super) fn open(
        self,
        paths: &[PathBuf],
        options: &ReadOptions,
        contract: Option<&Contract>,
        classes: &[String],
    ) -> Result<Option<LargeTable>, Failure> {
        let Some(sample) = self.sample else { return Ok(None) };
        let [path] = paths else {
            return Err(Failure::input(Topic::OneFile, "--out-of-core takes one table"));
        };
        let bar = progress::reading(paths);
        let table = LargeTable::open(path, options, usize::try_from(sample).unwrap_or(usize::MAX));
        bar.finish_and_clear();
        let table = table.map_err(|error| recognise::no_data(path, error))?;
        let (all, some) = (table.counts().series, table.sample().series().len());
        if some < all {
            note(
                Topic::OutOfCore,
                format_args!(
                    "{}: notes on the data are about a random sample of {} of {}",
                    path.display(),
                    grouped(some),
                    counted(all, "series")
                ),
            );
        }
        read::check(table.sample(), options, contract, classes)?;
        Ok(Some(table))
    }
}

/// Summary for a report.
pub(super) fn summary(table: &LargeTable, left_out: &[&str]) -> OutOfCoreSummary {
    OutOfCoreSummary {
        sampled: table.sample().series().len(),
        peak_bytes: peak_bytes(),
        left_out: left_out.iter().map(|&one| one.to_owned()).collect(),
    }
}

/// The most memory that this process has held, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}
