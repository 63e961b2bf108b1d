//! Which data and which models.

use fishweir::data::{Dataset, Windowing};
use fishweir::kernel::Scored;
use fishweir::kernel::marginal::MarginalModel;
use fishweir::learn::{ClassifierKind, ScoreModels, TrainOptions, fit_one};
use fishweir::runtime::Hmm;

use super::{Arguments, Name, check, check_items, marginal};
use crate::commands::fit::fit;
use crate::commands::model::Model;
use crate::commands::{Failure, progress, tell};

/// What a kernel is computed of.
pub(super) struct Source {
    pub(super) data: Dataset,
    pub(super) models: Models,
    pub(super) windowing: Option<Windowing>,
}

/// The models of a kernel.
pub(super) enum Models {
    /// With hidden states.
    Hidden(Vec<Hmm>),
    /// Without.
    Seen(Vec<Box<dyn Scored>>),
    /// The one of a kernel by marginalisation.
    Marginal(Box<MarginalModel>),
    /// Of a kernel on the samples themselves.
    None,
}

impl Source {
    /// Reads the data, and reads the models or fits them.
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Failure> {
        if let Some(model) = marginal::model(arguments)? {
            let kind = model.kind().map_err(|error| Failure::Input(error.to_string()))?;
            let data = tell::read(&arguments.data, &arguments.reading.options_for(kind, None)?)?;
            let windowing = arguments.cutting.windowing();
            check_items(&data, windowing.as_ref())?;
            return Ok(Self { data, models: Models::Marginal(Box::new(model)), windowing });
        }
        if arguments.kernel == Name::EmpiricalMap {
            let data = tell::read(&arguments.data, &arguments.reading.options())?;
            let windowing = arguments.cutting.windowing();
            check_items(&data, windowing.as_ref())?;
            return Ok(Self { data, models: Models::None, windowing });
        }
        let options = arguments.training.options(ClassifierKind::Bayes, &arguments.cutting)?;
        let Some(path) = &arguments.model else {
            let data = tell::read(&arguments.data, &arguments.reading.options())?;
            check_items(&data, options.windowing.as_ref())?;
            check::fitted(arguments, &data)?;
            let models = match arguments.choice.fitted(arguments, &options, &data)? {
                Some(seen) => Models::Seen(picked(seen, &options.scores)?),
                None => {
                    tell::room_to_fit(&data, options.baum_welch.states)?;
                    Models::Hidden(picked(fitted(&data, arguments, &options)?, &options.scores)?)
                }
            };
            return Ok(Self { data, models, windowing: options.windowing });
        };
        let model = Model::read(path)?;
        let reading = arguments.reading.options_of(&model, None)?;
        let windowing = model.windowing(arguments.cutting.windowing());
        let fitted = model.fitted.ok_or_else(|| {
            let path = path.display();
            Failure::Input(format!("{path}: is an artefact, in single precision; give its JSON"))
        })?;
        let models = named(fitted.classes(), fitted.models().to_vec());
        let models = picked(models, &options.scores)?;
        let data = tell::read(&arguments.data, &reading)?;
        check_items(&data, windowing.as_ref())?;
        let states = models.iter().map(Hmm::states).max();
        tell::room_to_score(&data, windowing.as_ref(), states.unwrap_or_default())?;
        let models = Models::Hidden(models);
        Ok(Self { data, models, windowing })
    }
}

/// Models by the names of their classes; the one of all data has none.
type Named = Vec<(Option<String>, Hmm)>;

fn named(classes: &[String], models: Vec<Hmm>) -> Named {
    // A classifier may have been trained on the scores of one class alone.
    let of_classes = classes.len() == models.len();
    let name = |class: usize| classes.get(class).filter(|_| of_classes).cloned();
    models.into_iter().enumerate().map(|(class, model)| (name(class), model)).collect()
}

fn fitted(data: &Dataset, arguments: &Arguments, options: &TrainOptions) -> Result<Named, Failure> {
    if arguments.one_model || data.classes().is_empty() {
        let bar = progress::passes("fitting".into(), 1, &options.baum_welch);
        let fit = fit_one(data, &options.baum_welch, &|| bar.inc(1));
        bar.finish_and_clear();
        let fit = fit.map_err(|error| Failure::of(data, error))?;
        return Ok(vec![(None, fit.model)]);
    }
    if let [only] = data.classes() {
        return Err(Failure::Input(format!(
            "{}: one class only, {only}: take --one-model, for a model of all series",
            data.source()
        )));
    }
    let all: Vec<usize> = (0..data.series().len()).collect();
    let trained = fit(data, &all, options)?;
    Ok(named(data.classes(), trained.classifier.models().to_vec()))
}

fn picked<M>(models: Vec<(Option<String>, M)>, scores: &ScoreModels) -> Result<Vec<M>, Failure> {
    let ScoreModels::Class(class) = scores else {
        return Ok(models.into_iter().map(|(_, model)| model).collect());
    };
    let names: Vec<String> = models.iter().filter_map(|(name, _)| name.clone()).collect();
    match models.into_iter().find(|(name, _)| name.as_ref() == Some(class)) {
        Some((_, model)) => Ok(vec![model]),
        None if names.is_empty() => {
            Err(Failure::Input(format!("--score-model {class}: the models are not of classes")))
        }
        None => Err(Failure::Input(format!(
            "--score-model {class}: there is no such class, only {}",
            names.join(", ")
        ))),
    }
}
