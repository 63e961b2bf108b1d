//! Figures: of a stream, and of what classifiers trade off.
//!
//! Written as SVG by hand: they style themselves for light and dark pages, and need neither fonts nor
//! drawing libraries.

mod roc;
mod stream;
mod svg;

pub use roc::{Curve, RocPlot};
pub use stream::{Reading, Segment, StreamPlot};
