//! `fishweir evaluate` with a classifier of records.

use super::{Arguments, figures};
use crate::options::{named, note_idle};
use crate::output::Outputs;
use crate::{Failure, Topic, document, network, recognise};

/// Evaluates classifiers of records, with the options of tables of records.
pub(super) fn judge(arguments: &Arguments, outputs: &Outputs) -> Result<(), Failure> {
    let [data] = arguments.data.as_slice() else {
        return Err(Failure::input(Topic::OneFile, "a classifier of records takes one table"));
    };
    let training = arguments.training.with(&arguments.kernels, &arguments.emitting);
    let given = [
        training.given(),
        arguments.options.given(),
        arguments.cutting.given(),
        arguments.gathering.given(),
        arguments.reading.of_series(),
        named([
            ("--roc", arguments.roc.is_some()),
            ("--reliability", arguments.reliability.is_some()),
        ]),
    ];
    note_idle(&given.concat(), "the model is a classifier of records")?;
    let (report, found) = network::judge(data, &arguments.model, arguments.reading.text())?;
    let drawn = report.classifiers.iter().zip(&found);
    let drawn = drawn.map(|(one, found)| (one.classifier.as_str(), &found.figures, found.accuracy));
    figures::draw_confusion(arguments.draw.as_deref(), "records", &report.data, drawn)?;
    arguments.page.write("evaluate", &report, |document| match arguments.model.as_slice() {
        [model] => document::add_model(document, model, &recognise::read(model)?, true),
        _ => Ok(()),
    })?;
    outputs.print(&report, arguments.json)
}
