//! Spotters, judged by the events that they find in marked series.

use std::fmt;
use std::path::Path;

use fishweir::report::{EventFigures, SpotValidationReport};
use serde::Serialize;

use super::Arguments;
use crate::options::{named, note_idle};
use crate::{Failure, progress, spot, tell};

/// Cross-validates the spotter of `spot`, or judges a stored one.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let training = arguments.training.with(&arguments.kernels, &arguments.emitting);
    let mut given = [training.given(), arguments.options.given()].concat();
    if arguments.model.is_empty() {
        given.retain(|name| !["--states", "--emission", "--components"].contains(name));
        note_idle(&given, "the training of a spotter does not use it")?;
        return validate(arguments);
    }
    given.extend(arguments.marking.of_training());
    given.extend(named([("--group", arguments.training.group.is_some())]));
    note_idle(&given, "the model is trained already")?;
    let judged = arguments.model.iter().map(|model| judge(arguments, model));
    crate::output::print_report(
        &JudgedSpotters { figures: judged.collect::<Result<_, _>>()? },
        arguments.json,
    )
}

fn validate(arguments: &Arguments) -> Result<(), Failure> {
    let plan = arguments.marking.plan(arguments.training.states(), &arguments.emitting)?;
    let mut reading = arguments.reading.options();
    reading.values = arguments.emitting.values();
    let marked = arguments.marking.read(&arguments.data, &reading)?;
    let (data, group) = (marked.data(), arguments.training.group.as_deref());
    tell::groups(data, group);
    let folds = match arguments.folds {
        Some(folds) => folds,
        None => tell::usual_folds(data, group)?,
    };
    let folds = marked.folds(folds, group, arguments.fold_seed)?;
    // A spotter takes a fit of each class and the background a fold of its own and one more; windows one again.
    let fits = folds.len() * (4 * (marked.classes().len() + 1) + marked.classes().len() + 1);
    let bar = progress::fits("cross-validating a spotter".into(), fits, &plan.baum_welch);
    let validated = plan.cross_validate(&marked, &folds, &|| bar.inc(1));
    bar.finish_and_clear();
    let validated = validated.map_err(|error| Failure::of(data, error))?;
    let report = SpotValidationReport::new(&marked, arguments.training.group.clone(), &validated);
    crate::output::print_report(&report, arguments.json)
}

fn judge(arguments: &Arguments, model: &Path) -> Result<EventFigures, Failure> {
    let kept = spot::KeptSpotter::read(model)?;
    let given = (&arguments.reading, &arguments.gathering);
    let (marked, judged, _) = kept.judged(&arguments.data, given, &arguments.marking)?;
    tell::against(marked.data(), Some(&kept.contract()), &[]);
    Ok(EventFigures::of(model.display().to_string(), &judged.figures))
}

/// Spotters on the same series.
#[derive(Serialize)]
struct JudgedSpotters {
    figures: Vec<EventFigures>,
}

impl fmt::Display for JudgedSpotters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.figures.iter().try_for_each(|one| writeln!(f, "{one}"))
    }
}
