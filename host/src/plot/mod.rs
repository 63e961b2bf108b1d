//! Figures: of a stream, of what each sample gave to a decision, of what classifiers trade off, of how far they are to be
//! believed, of items in a plane, of a network's graph.
//!
//! Written as SVG by hand: they style themselves for light and dark pages, and need neither fonts nor
//! drawing libraries.

mod explanation;
mod layers;
mod network;
mod reliability;
mod roc;
mod scatter;
mod square;
mod stream;
mod svg;

pub use explanation::{ExplanationPlot, Piece};
pub use network::NetworkPlot;
pub use reliability::{Bin, Reliability, ReliabilityPlot};
pub use roc::{Curve, RocPlot, Shares};
pub use scatter::ScatterPlot;
pub use stream::{Reading, Segment, StreamPlot};
