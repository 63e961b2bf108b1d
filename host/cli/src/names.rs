//! Names on the command line for the library's choices, with a word on each.

use clap::builder::{PossibleValue, TypedValueParser};
use fishweir::fit::Topology;
use fishweir::learn::{ClassWeight, ClassifierKind, Effort};

use super::values::registered;

/// A value, its name and a word on it.
type Named<T> = (T, &'static str, &'static str);

fn parser<T: Copy + Send + Sync + 'static>(
    entries: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    registered(entries, |(_, name, about)| PossibleValue::new(name).help(about))
        .map(|(value, ..)| value)
}

pub(super) fn classifier() -> impl TypedValueParser<Value = ClassifierKind> {
    registered(ClassifierKind::ALL, |kind| PossibleValue::new(kind.name()).help(kind.about()))
}

pub(super) fn effort() -> impl TypedValueParser<Value = Effort> {
    const EFFORTS: [Named<Effort>; 3] = [
        (
            Effort::Quick,
            "quick",
            "fisher on Gaussian channels: one model per lag of all classes, with codebooks; where that is not possible, two \
             floors of standard deviations; strings of about one length, 64 symbols at most: one state per position \
             against an ergodic chain",
        ),
        (
            Effort::Normal,
            "normal",
            "fisher on Gaussian channels: the same at two floors, against one model per class where the error leaves room; \
             other classifiers of channels: 2, 4 and 8 states at two floors; strings: 4 and 8 states, also from left to \
             right; jittered copies where channels form vectors; normalisation where lengths differ",
        ),
        (
            Effort::Thorough,
            "thorough",
            "Also 16 states, differences at lags, prediction from the past, no codebooks, more floors",
        ),
    ];
    parser(&EFFORTS)
}

pub(super) fn topology() -> impl TypedValueParser<Value = Topology> {
    const TOPOLOGIES: [Named<Topology>; 4] = [
        (
            Topology::Automatic,
            "automatic",
            "One state per position for strings of about one length where that is better in inner folds, or likelier; \
             else ergodic",
        ),
        (Topology::Ergodic, "ergodic", "From every state to every other"),
        (
            Topology::LeftToRight,
            "left-to-right",
            "From the first state on, each stays or goes to the next",
        ),
        (
            Topology::Positions,
            "positions",
            "The state is the position: for windows aligned on a site",
        ),
    ];
    parser(&TOPOLOGIES)
}

pub(super) fn class_weight() -> impl TypedValueParser<Value = ClassWeight> {
    const WEIGHTS: [Named<ClassWeight>; 2] = [
        (ClassWeight::Even, "even", "Every window weighs the same"),
        (ClassWeight::Balanced, "balanced", "Both sides of a machine weigh the same"),
    ];
    parser(&WEIGHTS)
}
