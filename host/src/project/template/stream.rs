//! The model on the windows that it was trained on, and when a decision is due.

use fishweir_core::classify::{{{decided}}, WindowClassifier};
use fishweir_core::filter::{Recursion, Running};

use crate::model::{CONTRACT, MODEL, Model};

/// Windows that are open at a time, each with a state of its own.
const STATES: usize = match CONTRACT.windows {
    Some(windows) => windows.states(),
    None => 1,
};

/// A stream: all of the RAM that it takes. The model stays in flash.
pub type Stream = Running<WindowClassifier<'static, &'static Model, STATES>>;

/// A stream before its first sample.
pub fn new() -> Stream {
    Running::new(WindowClassifier::from_parts(&MODEL, &CONTRACT))
}

/// The decision that is due after the last sample: {{due}}.
pub fn due(stream: &Stream, samples: usize) -> Option<{{decided}}> {
    {{due_source}}
}

/// The decision at the end of a series: of one that {{ends}}.
pub fn at_end(stream: &Stream, samples: usize) -> Option<{{decided}}> {
    {{end_source}}
}

/// The decision of the oldest open window, full or not.
pub fn so_far(stream: &Stream) -> Option<{{decided}}> {
    stream.so_far().and_then(read)
}

fn read(state: &<Model as Recursion>::State) -> Option<{{decided}}> {
    {{read}}
}
