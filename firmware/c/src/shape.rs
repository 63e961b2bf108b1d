//! What the caller's memory holds, and the sizes that the header states. `build.rs` compiles this file
//! too: it asks the model's own type for its sizes, as the building machine lays it out, and the
//! library checks that the target lays it out the same.

use fishweir_core::filter::Recursion;
use fishweir_model::Model;

/// What the past left.
pub(crate) type State = <Model as Recursion>::State;

/// What a `fishweir_stream` holds.
#[repr(C)]
pub(crate) struct Started {
    pub(crate) state: State,
    /// `MARK` in a stream that was started: zeroed or forgotten memory is recognised.
    pub(crate) mark: u32,
}

/// Words of eight bytes in a `fishweir_stream`.
pub(crate) const WORDS: usize = size_of::<Started>().div_ceil(size_of::<u64>());
