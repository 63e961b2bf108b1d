//! The model on the windows that it was trained on, and when a decision is due.

use fishweir_core::classify::{{{decided}}, WindowClassifier};
use fishweir_core::filter::{self, Streaming};

use crate::model::{CONTRACT, MODEL, Model};

/// Samples between two decisions of a model that decides on whole series.
const EVERY: usize = {{every}};

/// The model, in flash, and its windows.
pub type Windows = WindowClassifier<'static, &'static Model, { CONTRACT.states() }>;

/// A stream: all of the RAM that it takes.
pub type Stream = filter::Stream<Windows>;

/// The model on the windows of its contract.
pub const fn windows() -> Windows {
    Windows::from_parts(&MODEL, &CONTRACT)
}

/// A stream before its first sample.
pub fn new() -> Stream {
    Stream::new(windows())
}

/// The decision that is due after the last sample: at the end of each window, or on a whole series after every few
/// samples.
pub fn due(stream: &Stream, samples: usize) -> Option<{{decided}}> {
    let due = CONTRACT.windows.is_some() || samples % EVERY == 0;
    if due { stream.decided().and_then(read) } else { None }
}

/// The decision at the end of a series: on one that is shorter than a window, or on the last samples of a whole series.
pub fn at_end(stream: &Stream, samples: usize) -> Option<{{decided}}> {
    let rest = match CONTRACT.windows {
        Some(windows) => samples < windows.length as usize,
        None => samples % EVERY != 0,
    };
    if rest { so_far(stream) } else { None }
}

/// Returns the decision of the oldest open window, full or not: the self-test compares it.
pub fn open(stream: &Stream) -> Option<{{decided}}> {
    stream.open().and_then(read)
}

/// The decision of the oldest open window, where a partly filled one may decide.
pub fn so_far(stream: &Stream) -> Option<{{decided}}> {
    stream.so_far().and_then(read)
}

fn read(state: &<Model as Streaming>::State) -> Option<{{decided}}> {
    {{read}}
}
