//! Why no folds could be made.

/// Why no folds could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// One fold leaves nothing to train on.
    #[error("{folds} folds are too few: cross-validation needs at least 2")]
    TooFewFolds {
        /// Folds asked for.
        folds: usize,
    },
    /// More folds than items.
    #[error("{folds} folds need at least as many series, there are {items}; ask for fewer folds")]
    TooFewItems {
        /// Items there are.
        items: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// More folds than groups.
    #[error("{folds} folds need at least as many groups, there are {groups}; ask for fewer folds")]
    TooFewGroups {
        /// Groups there are.
        groups: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// A class that would have nothing to train on.
    #[error(
        "class `{class}` would be missing from training: its {items} series are all in fold \
         {fold}; it needs two or more series (or groups, when folds keep groups together), or try \
         fewer folds or another seed"
    )]
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
    ClassEmpty {
        /// Name of the class.
        class: String,
    },
}
