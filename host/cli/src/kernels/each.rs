//! Fitted models by name: one an item, one a class, or one of all.

use clap::ValueEnum;
use fishweir::data::{Dataset, SamplesView, Window, Windows, scale_of};
use fishweir::model::{ContextModelError, ModelFamily, NamedModel};
use rayon::prelude::*;

use super::{id, place};
use crate::Failure;
use crate::Topic;
use crate::remedy::words;

/// Items that a model is fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Per {
    /// Each series, or each window
    Item,
    /// All items of a class
    Class,
    /// All items, with or without labels
    All,
}

impl Per {
    /// The items that each model is fitted to, with its name and class.
    fn parts<'w, 'd>(
        self,
        data: &Dataset,
        windows: &'w Windows<'d>,
    ) -> Vec<(String, Option<String>, Vec<&'w Window<'d>>)> {
        let class =
            |label: Option<usize>| label.and_then(|label| data.classes().get(label)).cloned();
        match self {
            Self::Item => {
                let of = |item: &'w Window<'d>| (id(item), class(item.label()), vec![item]);
                windows.all().iter().map(of).collect()
            }
            Self::Class => {
                let of = |(number, name): (usize, &String)| {
                    let items = windows.all().iter();
                    let items = items.filter(|item| item.label() == Some(number)).collect();
                    (name.clone(), Some(name.clone()), items)
                };
                data.classes().iter().enumerate().map(of).collect()
            }
            Self::All => vec![("all".into(), None, windows.all().iter().collect())],
        }
    }
}

/// Fits models of a family, in parallel. What a model is fitted to is all that it sees.
pub(crate) fn fit_each(
    data: &Dataset,
    windows: &Windows<'_>,
    per: Per,
    family: &ModelFamily,
) -> Result<Vec<NamedModel>, Failure> {
    let parts = per.parts(data, windows);
    if parts.is_empty() {
        return Err(Failure::input(
            Topic::NoClass,
            format!(
                "{}: the data have no labels, so there is no model per class; give --model-per item or all",
                data.source()
            ),
        ));
    }
    let fitted = parts.into_par_iter().map(|(name, class, items)| {
        let views: Vec<SamplesView<'_>> = items.iter().map(|item| item.samples).collect();
        match family.fit(data.kind(), &views, &scale_of(data.kind(), &views)) {
            Ok(model) => Ok(NamedModel { name, class, model }),
            Err(error) => Err(refused(&error, class.as_deref(), data, &items)),
        }
    });
    // The first that fails, whichever thread is done first.
    fitted.collect::<Vec<_>>().into_iter().collect()
}

/// Error of a fit, with the item or the class concerned.
pub(super) fn refused(
    error: &ContextModelError,
    class: Option<&str>,
    data: &Dataset,
    items: &[&Window<'_>],
) -> Failure {
    let item = error.sequence().and_then(|sequence| items.get(sequence));
    let only = || if let [only] = items { Some(only) } else { None };
    let said = words(error);
    Failure::input(
        error.kind(),
        match (item.or_else(only), class) {
            (Some(item), _) => format!("{}: {said}", place(data, item)),
            (None, Some(class)) => format!("{}, class {class}: {said}", data.source()),
            (None, None) => format!("{}: {said}", data.source()),
        },
    )
}
