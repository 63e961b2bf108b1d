//! `fishweir network export`.

use std::path::{Path, PathBuf};

use fishweir::network::{AlarmPlan, DeployedSum, NetworkFile, NetworkModel};
use fishweir::report::Written;

use super::super::output::{self, Outputs};
use super::Failure;
use super::model::fisher;
use super::table::{records, refused};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A classifier, or a network for an alarm
    model: PathBuf,
    /// Rust source with a static; - for standard output
    #[arg(long, value_name = "FILE.rs")]
    rust: PathBuf,
    /// Export an alarm: one false alarm in so many events
    #[arg(long, value_name = "EVENTS")]
    mean_time: Option<f64>,
    /// Events that the alarm looks back on
    #[arg(long, value_name = "EVENTS", default_value_t = 200.0, requires = "mean_time")]
    memory: f64,
    /// Records in which nothing changes, that the network was not fitted to, to set the threshold by
    /// [default: records drawn from the network]
    #[arg(long, value_name = "DATA", requires = "mean_time")]
    normal: Option<PathBuf>,
    /// Of the records drawn
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> =
        arguments.normal.iter().chain([&arguments.model]).map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&[&arguments.rust], &inputs)?;
    let file = NetworkFile::read(&arguments.model)?;
    let at = |what: String| Failure::Input(format!("{}: {what}", arguments.model.display()));
    let mut report = Written::new(String::new(), arguments.rust.display().to_string());
    let source = match (&file.model, arguments.mean_time) {
        (NetworkModel::Network(network), Some(mean_time)) => {
            let plan = AlarmPlan { memory: arguments.memory, mean_time };
            let normal = match &arguments.normal {
                Some(path) => Some(records(path, &file.columns)?),
                None => None,
            };
            let events = normal.as_ref().map(|(_, records)| records);
            let alarm = plan.calibrate(&fisher(network), events, arguments.seed);
            let alarm = alarm.map_err(|error| match &normal {
                Some((table, _)) => refused(table, error),
                None => at(error.to_string()),
            })?;
            report.what = format!("alarm, one false in {mean_time} events");
            (report.flash, report.ram) = (Some(alarm.flash()), Some(alarm.ram()));
            report.threshold = Some(alarm.threshold);
            alarm.to_source()
        }
        (NetworkModel::Classifier(classifier), None) => {
            let deployed = DeployedSum::of(classifier).map_err(|error| at(error.to_string()))?;
            report.what = format!("classifier of {}", classifier.class().name);
            (report.flash, report.ram) = (Some(deployed.flash()), Some(deployed.ram()));
            deployed.to_source()
        }
        (NetworkModel::Network(_), None) => {
            return Err(at(
                "is a network; for an alarm name --mean-time, for a classifier fit one \
                           with --class"
                    .into(),
            ));
        }
        (NetworkModel::Classifier(_), Some(_)) => {
            return Err(at("is a classifier; an alarm is made of a network".into()));
        }
    };
    output::write(&arguments.rust, source.as_bytes())?;
    outputs.print(&report, arguments.json)
}
