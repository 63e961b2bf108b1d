//! Cost of recursions: instructions per sample, bytes of code and state, deepest stack.
//!
//! A thousand samples are pushed between two readings of the board's counter, and the loop around
//! them is measured by itself. The state lives in RAM, the loop is a function of its own, and the
//! model's numbers are not known to the optimiser. In such a block a small model may stay in
//! registers; rows that say "called" push each sample by a call, as an interrupt handler would.
//!
//! Two images send such rows: [`recursions`], all of them on a board with some memory, and [`costs`],
//! the filter over sizes, emissions and number types, on every board.

mod bench;
pub mod bits;
mod costs;
mod machines;
mod models;
pub mod record;
mod recursions;

pub use bench::Failure;
pub use costs::costs;
pub use recursions::recursions;
