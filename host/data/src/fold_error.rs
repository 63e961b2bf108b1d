//! Errors of folds that cannot be made.

use crate::words::{counted, grouped};

/// Reason why no folds could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum FoldError {
    /// One fold leaves nothing to train on.
    #[error("{folds} folds are too few: cross-validation needs at least 2")]
    TooFewFolds {
        /// Folds asked for.
        folds: usize,
    },
    /// More folds than items.
    #[error("{}", too_few(*folds, *items, "series"))]
    TooFewItems {
        /// Items there are.
        items: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// More folds than groups.
    #[error("{}", too_few(*folds, *groups, "group"))]
    TooFewGroups {
        /// Groups there are.
        groups: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// A class that would have nothing to train on.
    #[error("{}", missing(class, *items))]
    ClassMissing {
        /// Name of the class.
        class: String,
        /// Items of that class.
        items: usize,
        /// The fold that has them all, from 0.
        fold: usize,
    },
    /// A class without any item.
    #[error("class `{class}` has no series; leave it out or add series of it")]
    #[strum(serialize = "empty-class")]
    ClassEmpty {
        /// Name of the class.
        class: String,
    },
}

crate::kinds!(FoldError);

fn too_few(folds: usize, there: usize, unit: &str) -> String {
    let is = if there == 1 { "is" } else { "are" };
    let (found, folds) = (counted(there, unit), counted(folds, "fold"));
    match there {
        0 | 1 => format!(
            "there {is} {found}, and cross-validation takes {} at least, to train on one and judge the other: record more",
            counted(2, unit)
        ),
        _ => format!(
            "there {is} {found}, and {folds} take one each at least; ask for {} folds or fewer",
            grouped(there)
        ),
    }
}

fn missing(class: &str, items: usize) -> String {
    match items {
        1 => format!(
            "class `{class}` is in 1 series alone, and whatever fold holds it, none of the class is left to train on: \
             record another series of it, or leave it out"
        ),
        _ => format!(
            "the {} series with class `{class}` are all in one fold, and none is left to train on: where groups stay \
             together, the class must be in two of them; if it is, try more folds or another seed",
            grouped(items)
        ),
    }
}
