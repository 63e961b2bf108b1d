//! Parts of a model that go to a device.

use std::path::{Path, PathBuf};

use clap::Args;
use fishweir_networks::{AlarmPlan, DeployedEvents, DeployedSum, NetworkFile, NetworkModel};

use super::super::options::named;
use super::Failure;
use super::model::fisher;
use super::table::{records, refused};
use crate::Topic;

/// Options for an alarm on a network.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Alarm")]
pub(crate) struct Deployment {
    /// Mean number of events between false alarms
    #[arg(long, value_name = "EVENTS")]
    pub(super) mean_time: Option<f64>,
    /// Number of recent events that the alarm is about
    #[arg(long, value_name = "EVENTS", default_value_t = 200.0, requires = "mean_time")]
    memory: f64,
    /// Normal records that the network was not fitted to; they set the threshold
    /// [default: records drawn from the network]
    #[arg(long, value_name = "DATA", requires = "mean_time")]
    pub(super) normal: Option<PathBuf>,
    /// Seed of the records drawn
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

impl Deployment {
    /// Names of the options given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        named([("--mean-time", self.mean_time.is_some()), ("--normal", self.normal.is_some())])
    }

    /// The classifier of a file, or the alarm of a network, and its description.
    pub(crate) fn of(
        &self,
        path: &Path,
        file: &NetworkFile,
    ) -> Result<(DeployedEvents, String), Failure> {
        let at = |kind: &'static str, what: String| {
            Failure::input(kind, format!("{}: {what}", path.display()))
        };
        match (&file.model, self.mean_time) {
            (NetworkModel::Network(network), Some(mean_time)) => {
                let plan = AlarmPlan { memory: self.memory, mean_time };
                let normal = match &self.normal {
                    Some(path) => Some(records(path, &file.columns)?),
                    None => None,
                };
                let events = normal.as_ref().map(|(_, records)| records);
                let alarm = plan.calibrate(&fisher(network), events, self.seed);
                let alarm = alarm.map_err(|error| match &normal {
                    Some((table, _)) => refused(table, error),
                    None => at(error.kind(), error.to_string()),
                })?;
                let what = format!("alarm, one false in {mean_time} events");
                Ok((DeployedEvents::Alarm(alarm), what))
            }
            (NetworkModel::Classifier(classifier), None) => {
                let sum = DeployedSum::of(classifier).map_err(|error| at(error.kind(), error.to_string()))?;
                let what = format!("classifier of {}", classifier.class().name);
                Ok((DeployedEvents::Sum(sum), what))
            }
            (NetworkModel::Network(_), None) => Err(at(
                Topic::WrongModel.into(),
                "is a network, which `fishweir network info` describes; for an alarm name --mean-time, for a classifier fit one with --class"
                    .into(),
            )),
            (NetworkModel::Classifier(_), Some(_)) => {
                Err(at(Topic::WrongModel.into(), "is a classifier; an alarm is made of a network".into()))
            }
        }
    }
}
