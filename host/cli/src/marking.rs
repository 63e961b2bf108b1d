//! Series that are marked sample by sample, and how events in them are judged, as several commands take it.

use std::path::PathBuf;

use clap::Args;
use fishweir::data::{Marked, ReadOptions};
use fishweir::fit::BaumWelch;
use fishweir::spot::SpotPlan;

use super::emitting::Emitting;
use super::options::named;
use super::{Failure, Topic, tell};

/// Marks, and their comparison with the events found.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Events")]
pub(super) struct Marking {
    /// Column that marks samples, beside one of times
    #[arg(long, value_name = "COLUMN")]
    marks: Option<String>,
    /// Mark of background, in addition to empty fields
    #[arg(long, value_name = "MARK", requires = "marks")]
    background_mark: Option<String>,
    /// Smallest overlap at which an event counts as found [default: 0.5]
    #[arg(long, value_name = "FRACTION")]
    overlap: Option<f64>,
    /// Most samples after the end of an event until it is reported [default: 500]
    #[arg(long, value_name = "SAMPLES")]
    lag: Option<u32>,
}

impl Marking {
    /// Returns whether a column is named.
    pub(super) fn is_named(&self) -> bool {
        self.marks.is_some()
    }

    /// Series that are marked by the column.
    pub(super) fn read(&self, data: &[PathBuf], reading: &ReadOptions) -> Result<Marked, Failure> {
        let Some(marks) = &self.marks else {
            return Err(Failure::input(
                Topic::MissingOption,
                "name the column that marks samples: --marks",
            ));
        };
        let marked = Marked::read_all(data, marks, self.background_mark.as_deref(), reading)?;
        tell::of_data(marked.data(), reading, None)?;
        Ok(marked)
    }

    /// Checked plan of a spotter.
    pub(super) fn plan(
        &self,
        states: Option<usize>,
        emitting: &Emitting,
    ) -> Result<SpotPlan, Failure> {
        let mut baum_welch = BaumWelch::default();
        emitting.set(&mut baum_welch)?;
        baum_welch.states = states.unwrap_or(baum_welch.states);
        baum_welch.validate()?;
        let mut plan = SpotPlan { baum_welch, ..SpotPlan::default() };
        plan.overlap = self.overlap.unwrap_or(plan.overlap);
        plan.lag = self.lag.unwrap_or(plan.lag);
        plan.validate()?;
        Ok(plan)
    }

    /// Options given that only making a spotter reads.
    pub(super) fn of_training(&self) -> Vec<&'static str> {
        named([("--lag", self.lag.is_some())])
    }

    /// Options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let marks = named([
            ("--marks", self.marks.is_some()),
            ("--background-mark", self.background_mark.is_some()),
            ("--overlap", self.overlap.is_some()),
        ]);
        [marks, self.of_training()].concat()
    }
}
