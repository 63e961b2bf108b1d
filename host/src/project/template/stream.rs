//! The model on the windows that it was trained on, and when a decision is due.

use fishweir_core::classify::{{{decided}}, WindowClassifier};
use fishweir_core::filter::{Recursion, Running};

use crate::model::{CONTRACT, MODEL, Model};

/// Windows that are open at a time, each with a state of its own.
const STATES: usize = match CONTRACT.windows {
    Some(windows) => windows.states(),
    None => 1,
};

/// The model, in flash, and its windows.
pub type Windows = WindowClassifier<'static, &'static Model, STATES>;

/// A stream: all of the RAM that it takes.
pub type Stream = Running<Windows>;

/// The model on the windows of its contract.
pub const fn windows() -> Windows {
    Windows::from_parts(&MODEL, &CONTRACT)
}

/// A stream before its first sample.
pub fn new() -> Stream {
    Running::new(windows())
}

/// The decision that is due after the last sample: {{due}}.
pub fn due(stream: &Stream, samples: usize) -> Option<{{decided}}> {
    {{due_source}}
}

/// The decision at the end of a series: of one that {{ends}}.
pub fn at_end(stream: &Stream, samples: usize) -> Option<{{decided}}> {
    {{end_source}}
}

/// What the oldest open window says, full or not: what the self-test compares.
pub fn open(stream: &Stream) -> Option<{{decided}}> {
    stream.open().and_then(read)
}

/// The decision of the oldest open window, where a partly filled one may decide.
pub fn so_far(stream: &Stream) -> Option<{{decided}}> {
    stream.so_far().and_then(read)
}

fn read(state: &<Model as Recursion>::State) -> Option<{{decided}}> {
    {{read}}
}
