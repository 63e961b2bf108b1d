//! Models alone, without a classifier on them.

use std::collections::BTreeSet;
use std::path::Path;

use fishweir::classifier::{Observations, Provenance};
use fishweir::data::ReadOptions;
use fishweir::learn::ClassifierKind;
use fishweir::model::{ModelSet, NamedModel};
use fishweir::report::{DataSummary, ModelsReport};

use super::Arguments;
use crate::kernels::{FamilyName, Per, fit_each};
use crate::options::{named, note_idle};
use crate::output::{self, Outputs};
use crate::recipe::Recipe;
use crate::{Failure, Topic, read, tell};

/// Fits models of a family and writes their file.
pub(super) fn run(
    arguments: &Arguments,
    family: FamilyName,
    (output, outputs): (&Path, &Outputs),
    recipe: Recipe,
) -> Result<(), Failure> {
    let all = arguments.training.with(&arguments.kernels, &arguments.emitting);
    let given = all.given();
    // What machines, copies and choices take.
    let mut read = vec![
        "--emission",
        "--components",
        "--states",
        "--topology",
        "--restarts",
        "--seed",
        "--iterations",
        "--tolerance",
        "--std-floor",
    ];
    if arguments.bank.is_given() {
        read.push("--lambda");
    }
    let (of_models, others): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|name| read.contains(name));
    let group = named([("--group", arguments.training.group.is_some())]);
    note_idle(&group, "models are fitted without a classifier")?;
    let all = all.less(&others, "models are fitted without a classifier")?;
    let order = [(
        "--order",
        arguments.order.is_some(),
        &[FamilyName::Markov, FamilyName::ContextTree][..],
    )];
    arguments.told.check("--family", family, &order, &of_models)?;
    let training = match family {
        FamilyName::Hmm | FamilyName::Hsmm => all.clone(),
        _ => all.without_emission(),
    };
    if training.std_floor.len() > 1 {
        return Err(Failure::input(
            Topic::OneValue,
            "--std-floor takes one number here: without a classifier there is no choice among several",
        ));
    }
    let of = (family, arguments.told.end, arguments.model_per);
    arguments.bank.check(of, arguments.kernels.lambda())?;
    let request = training.request(ClassifierKind::Bayes, &arguments.cutting)?;
    let values = arguments.emitting.values();
    let reading = ReadOptions { values, ..arguments.reading.options() };
    let reading = arguments.gathering.add_to(reading, None);
    let data = read::all(&arguments.data, &reading)?;
    if arguments.gathering.shows(&data, arguments.json)? {
        return Ok(());
    }
    let windowing = request.windowing.as_ref();
    tell::windows(&data, windowing);
    let per = arguments.model_per.unwrap_or(match data.classes() {
        [] => Per::All,
        _ => Per::Class,
    });
    let family = arguments.told.family(family, arguments.order, &all, &request, &data)?;
    tell::room_for(&data, &family)?;
    let windows = data.windows(windowing);
    let series: Vec<usize> = (0..data.series().len()).collect();
    let models = named_apart(fit_each(&data, &windows, per, &family)?);
    let provenance = Provenance {
        windows: windows.all().len(),
        windowing: request.windowing,
        recipe,
        ..Provenance::of(&data, &series)
    };
    if arguments.bank.is_given() {
        let of = (&family, &request);
        let trained = arguments.bank.trained((&data, &windows), models, of, provenance)?;
        let deployed = trained.classifier.deploy().map_err(|error| Failure::of(&data, error))?;
        output::write(output, trained.classifier.to_json()?.as_bytes())?;
        let model = output.display().to_string();
        let report = super::report(&data, &series, &request, &trained, &deployed, model);
        return outputs.print(&report, arguments.json);
    }
    let set = ModelSet { observations: Observations::from(data.kind()), models, provenance };
    output::write(output, set.to_json()?.as_bytes())?;
    let summary = DataSummary::of(&data, None, windowing);
    let report = ModelsReport::of(summary, &set, output.display().to_string());
    outputs.print(&report, arguments.json)
}

/// Strings may share a name, models of a file may not: the second `x` is `x#2`.
fn named_apart(mut models: Vec<NamedModel>) -> Vec<NamedModel> {
    let given: BTreeSet<String> = models.iter().map(|model| model.name.clone()).collect();
    let mut taken = BTreeSet::new();
    for model in &mut models {
        if !taken.insert(model.name.clone()) {
            let mut others = (2..).map(|number: usize| format!("{}#{number}", model.name));
            let free = |name: &String| !given.contains(name) && taken.insert(name.clone());
            model.name = others.find(free).unwrap_or_default();
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use fishweir::model::MarkovModel;

    use super::*;

    #[test]
    fn models_of_one_name_are_numbered() {
        let coin = || MarkovModel::new(2, false, vec![vec![]], vec![vec![0.5, 0.5]]);
        let named = |name: &&str| NamedModel {
            name: (*name).into(),
            class: None,
            model: coin().expect("a model").into(),
        };
        let models = named_apart(["x", "y", "x", "x#2", "x"].iter().map(named).collect());
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["x", "y", "x#3", "x#2", "x#4"]);
    }
}
