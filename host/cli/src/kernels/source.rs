//! The models that a kernel reads: given, or fitted to a part of the data.

use fishweir::data::{Dataset, SamplesView, Window, centre_and_scale};
use fishweir::learn::{Request, ScoreModels, fit_one};
use fishweir::model::{FittedModel, Hmm};

use super::Asked;
use super::each::refused;
use crate::training::fit;
use crate::{Failure, Topic, progress, tell};

/// Models by the names of their classes; the one of all data has none.
type ClassModels = Vec<(Option<String>, FittedModel)>;

impl Asked<'_> {
    /// A model per class, or one of all, fitted to some series; the one picked, or all.
    pub(super) fn fitted(
        &self,
        data: &Dataset,
        series: &[usize],
        request: &Request,
    ) -> Result<Vec<FittedModel>, Failure> {
        let universal = request.scores() == ScoreModels::Universal;
        let one = self.options.one_model || universal || data.classes().is_empty();
        let models = if !self.options.choice.is_plain() {
            self.of_items(data, series, request, one)?
        } else if one {
            tell::room_to_fit(data, request.baum_welch.states)?;
            let bar = progress::fits("fitting".into(), 1, &request.baum_welch);
            let fit = fit_one(data, series, &request.baum_welch, &|| bar.inc(1));
            bar.finish_and_clear();
            vec![(None, fit.map_err(|error| Failure::of(data, error))?.model.into())]
        } else {
            tell::room_to_fit(data, request.baum_welch.states)?;
            if let [only] = data.classes() {
                return Err(Failure::input(
                    Topic::OneClass,
                    format!(
                        "{}: there is only one class, {only}: give --one-model, for one model of all series",
                        data.source()
                    ),
                ));
            }
            let trained = fit(data, series, request)?;
            class_models(data.classes(), &trained.classifier.models)
        };
        picked(models, &request.scores())
    }

    /// Fits models to the windows of some series.
    fn of_items(
        &self,
        data: &Dataset,
        series: &[usize],
        request: &Request,
        one: bool,
    ) -> Result<ClassModels, Failure> {
        let family = self.family(request, data)?;
        tell::room_for(data, &family)?;
        let (_, scale) = centre_and_scale(data, series);
        let windows = data.windows(request.windowing.as_ref());
        let of_class = |class: Option<usize>| {
            let of = windows.of_all(series);
            let items: Vec<&Window<'_>> =
                of.filter(|window| class.is_none() || window.label() == class).collect();
            let views: Vec<SamplesView<'_>> = items.iter().map(|item| item.samples).collect();
            let name = class.and_then(|class| data.classes().get(class)).cloned();
            match family.fit(data.kind(), &views, &scale) {
                Ok(model) => Ok((name, model)),
                Err(error) => Err(refused(&error, name.as_deref(), data, &items)),
            }
        };
        if one {
            return Ok(vec![of_class(None)?]);
        }
        (0..data.classes().len()).map(|class| of_class(Some(class))).collect()
    }
}

/// Models with the names of their classes, where there is one per class.
pub(crate) fn class_models(classes: &[String], models: &[Hmm]) -> ClassModels {
    // A classifier may have been trained on the scores of one class alone.
    let of_classes = classes.len() == models.len();
    let name = |class: usize| classes.get(class).filter(|_| of_classes).cloned();
    models.iter().enumerate().map(|(class, model)| (name(class), model.clone().into())).collect()
}

/// The model of a class, or all.
pub(super) fn picked(
    models: ClassModels,
    scores: &ScoreModels,
) -> Result<Vec<FittedModel>, Failure> {
    let class = match scores {
        ScoreModels::Universal if models.len() > 1 => {
            return Err(Failure::input(
                Topic::NoClass,
                "--score-model universal: the file has one model per class, not one of all",
            ));
        }
        ScoreModels::All | ScoreModels::Universal => {
            return Ok(models.into_iter().map(|(_, model)| model).collect());
        }
        ScoreModels::Class(class) => class,
    };
    let names: Vec<String> = models.iter().filter_map(|(name, _)| name.clone()).collect();
    match models.into_iter().find(|(name, _)| name.as_ref() == Some(class)) {
        Some((_, model)) => Ok(vec![model]),
        None if names.is_empty() => Err(Failure::input(
            Topic::NoClass,
            format!("--score-model {class}: the file has no models of classes"),
        )),
        None => Err(Failure::input(
            Topic::UnknownClass,
            format!("--score-model {class}: there is no such class, only {}", names.join(", ")),
        )),
    }
}
