//! A fitted model judged on a table, a chunk at a time.

use std::path::Path;

use fishweir::evaluate::{Tally, UnknownClass, evaluate};
use fishweir::report::{EmissionSummary, ModelEvaluation};

use super::notes::{note_trained_on, note_unknown};
use super::{Arguments, unjudged};
use crate::model::Model;
use crate::options::{named, note_idle, refuse_idle};
use crate::output::Outputs;
use crate::reading::Reading;
use crate::{Failure, Topic, next, out_of_core, refusals, tell, usual};

pub(super) fn run(arguments: &Arguments, path: &Path, outputs: &Outputs) -> Result<(), Failure> {
    let training = arguments.training.with(&arguments.kernels, &arguments.emitting);
    let given = [training.given(), arguments.options.given()].concat();
    let all = named([
        ("--group", arguments.training.group.is_some()),
        ("--draw", arguments.draw.is_some()),
        ("--roc", arguments.roc.is_some()),
        ("--reliability", arguments.reliability.is_some()),
    ]);
    refuse_idle(&all, "it needs all windows at once, and --out-of-core reads them in chunks")?;
    note_idle(&given, "the model is trained already")?;
    let model = Model::read(path)?;
    let (deployed, contract) = (&model.deployed, model.contract());
    let classes = deployed.classes();
    let given = (&arguments.reading, &arguments.gathering);
    let fit = |reading: &Reading| reading.options_of(&model, None);
    let table = usual::read(model.recipe(), given, &arguments.data, fit, |options| {
        arguments.out_of_core.open(&arguments.data, &options, contract.as_ref(), classes)
    })?;
    // The caller asks for a table.
    let Some(table) = table else { return Ok(()) };
    let sample = table.sample();
    if arguments.gathering.shows(sample, arguments.json)? {
        return Ok(());
    }
    note_trained_on(path, &model, sample);
    let windowing = model.windowing(arguments.cutting.windowing());
    let windowing = windowing.as_ref();
    tell::windows(sample, windowing);
    tell::unobserved(sample, windowing);
    let (mut tally, mut unknown) = (Tally::new(classes.len()), Vec::<UnknownClass>::new());
    let mut first: Option<String> = None;
    for chunk in table.chunks()? {
        let data = chunk?;
        if contract.as_ref().is_some_and(|contract| !contract.lacks_some()) {
            data.check_whole_rows()?;
        }
        let strangers = UnknownClass::all(deployed, &data, windowing);
        let left_out = strangers.iter().map(|one| one.series).sum::<usize>();
        for one in &strangers {
            match unknown.iter_mut().find(|known| known.class == one.class) {
                Some(known) => known.add(one),
                None => unknown.push(one.clone()),
            }
        }
        if left_out == data.series().len() {
            continue;
        }
        let (data, _) = data.of_classes(classes)?;
        if data.windows(windowing).all().is_empty() {
            continue;
        }
        let (_, judged) = evaluate(deployed, &data, windowing)?;
        if let (None, Some(one)) = (&first, judged.iter().find(|one| one.refused > 0)) {
            let windows = data.windows(windowing);
            let window = windows.of(one.series).iter().find(|window| window.start == one.start);
            first = window.map(|window| refusals::first_refused(deployed, &data, window));
        }
        let unit: Vec<usize> = judged.iter().map(|one| one.series).collect();
        tally.add(&judged, &unit);
    }
    unknown.sort_by(|one, other| one.class.cmp(&other.class));
    note_unknown(path, &unknown);
    let evaluation = unjudged(arguments, path, &model, sample, windowing, unknown);
    let figures = (tally.windows() > 0).then(|| tally.figures(classes));
    let count = figures.as_ref().map_or(0, |figures| figures.refused_samples);
    let calibrated = deployed.confidence().is_some();
    let left_out: &[&str] = match calibrated {
        true => &["the area under the ROC curve", "calibration and rejection"],
        false => &["the area under the ROC curve"],
    };
    let evaluation = ModelEvaluation {
        data: evaluation.data.of_table(table.counts()),
        emission: EmissionSummary::of_deployed(deployed),
        interval: tally.accuracy(),
        latency: tally.latency(),
        figures,
        out_of_core: Some(out_of_core::summary(&table, left_out)),
        ..evaluation
    };
    let next = next::with_model(&evaluation.model);
    outputs.print_with(&evaluation, arguments.json, next.as_deref())?;
    first.map_or(Ok(()), |first| {
        Err(Failure::check(Topic::RefusedSamples, refusals::refused_from(count, &first)))
    })
}
