//! Figures: of decisions by class, of a stream, of events in it, of what each sample gave to a decision, of what classifiers
//! trade off, of how far they are to be believed, of items in a plane.
//!
//! Written as SVG by hand: they style themselves for light and dark pages, and need neither fonts nor
//! drawing libraries.

mod confusion;
mod events;
mod explanation;
mod lanes;
mod reliability;
mod roc;
mod scatter;
mod square;
mod stream;
pub(crate) mod svg;

pub use confusion::{Confusion, ConfusionPlot};
pub use events::{EventPlot, Span};
pub use explanation::{ExplanationPlot, Piece};
pub use lanes::traces;
pub use reliability::{Bin, Reliability, ReliabilityPlot};
pub use roc::{Curve, RocPlot, Shares};
pub use scatter::ScatterPlot;
pub use stream::{Reading, Segment, StreamPlot};
