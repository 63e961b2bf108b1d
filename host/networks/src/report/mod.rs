//! Reports on networks: each a table for people and, under the same keys, JSON.

#[cfg(feature = "device")]
mod events;
mod network;

#[cfg(feature = "device")]
pub use events::EventsComparison;
pub use network::{
    ComparisonReport, NetworkEvaluationReport, NetworkFitReport, NetworkInspection, NodeReport,
    QueryReport, RepresentativesReport,
};
