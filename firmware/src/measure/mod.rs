//! Cost of recursions: instructions per sample, bytes of code and state, deepest stack.
//!
//! A thousand samples are pushed between two readings of the board's counter, and the loop around
//! them is measured by itself. The state lives in RAM, the loop is a function of its own, and the
//! model's numbers are not known to the optimiser. In such a block a small model may stay in
//! registers; rows that say "called" push each sample by a call, as an interrupt handler would.
//!
//! Three images send such rows: [`recursions`], all of them on a board with some memory; [`costs`], the filter over sizes,
//! emissions and number types, and [`kernels`], kernels by marginalisation, on every board.

mod bench;
pub mod bits;
mod costs;
mod durations;
mod kept;
mod kernels;
mod machines;
mod models;
pub mod record;
mod recursions;

pub use bench::Failure;
pub use costs::costs;
pub use kernels::kernels;
pub use recursions::recursions;
