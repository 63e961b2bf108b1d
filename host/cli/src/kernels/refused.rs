//! Errors of kernels, with the place in the data of the item concerned.

use fishweir::data::{Dataset, Window, Windows};
use fishweir::kernel::KernelError;
use fishweir::kernel::marginal::MarginalError;

use crate::remedy::words;
use crate::{Failure, Topic};

/// Reason why no kernel was computed.
pub(super) enum Refused {
    Usage(Topic, String),
    Kernel(KernelError),
    Marginal(MarginalError),
}

impl From<KernelError> for Refused {
    fn from(error: KernelError) -> Self {
        Self::Kernel(error)
    }
}

/// Converts the error of a kernel by marginalisation, with the place of the item in the file.
pub(crate) fn item_refused(error: MarginalError, data: &Dataset, windows: &Windows<'_>) -> Failure {
    name(Refused::Marginal(error), data, windows)
}

/// Puts the place in the file of an item that has no kernel in front of why.
pub(super) fn name(refused: Refused, data: &Dataset, windows: &Windows<'_>) -> Failure {
    let (index, kind, error, advice) = match refused {
        Refused::Usage(topic, what) => return Failure::input(topic, what),
        Refused::Marginal(MarginalError::Item { item, error }) => {
            (Some(item), error.kind(), error.to_string(), "")
        }
        Refused::Marginal(error) => return Failure::input(error.kind(), error),
        Refused::Kernel(error) => {
            let advice = match error {
                KernelError::NoScore(_) => "; fit the model with it, or leave it out",
                _ => "",
            };
            (error.sequence(), error.kind(), words(&error), advice)
        }
    };
    Failure::input(
        kind,
        match index.and_then(|index| windows.all().get(index)) {
            Some(window) => format!("{}: {error}{advice}", place(data, window)),
            None => error,
        },
    )
}

/// Describes the place of an item.
pub(super) fn place(data: &Dataset, item: &Window<'_>) -> String {
    format!("{}, line {}, item {}", data.source(), item.source.line, id(item))
}

/// An item's name: its series', and where it begins if that is not at the start.
pub(crate) fn id(window: &Window<'_>) -> String {
    match window.start {
        0 => window.source.id.clone(),
        start => format!("{}@{start}", window.source.id),
    }
}
