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
            "there {is} {found}, and cross-validation needs at least {}, to train on one and judge on the other: \
             record more",
            counted(2, unit)
        ),
        _ => format!(
            "there {is} {found}, and {folds} need at least one each; ask for at most {} folds",
            grouped(there)
        ),
    }
}

fn missing(class: &str, items: usize) -> String {
    match items {
        1 => format!(
            "class `{class}` has only 1 series, so that the fold with it has none left to train on: record another \
             series of the class, or leave the class out"
        ),
        _ => format!(
            "all {} series with class `{class}` are in one fold, so that none is left to train on: with groups the \
             class must be in at least two of them; if it is, try more folds or another seed",
            grouped(items)
        ),
    }
}
