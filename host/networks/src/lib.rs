//! Bayesian networks over categorical variables: logs, machine states, survey rows, door sensors.
//!
//! | what | file |
//! |---|---|
//! | [`Network`]: nodes, tables, likelihood, sampling; [`Shape`]: the graph and the places of entries | `model.rs`, `shape.rs` |
//! | [`read_bif`], [`write_bif`]: the Bayesian Interchange Format | `bif/` |
//! | [`Inference`]: posteriors, the most probable record; [`joint`]; [`JunctionTree`]: products of any factors | `junction.rs`, `triangulate.rs`, `factors.rs` |
//! | [`NetworkFisher`]: the Fisher kernel, its features as tables | `fisher.rs` |
//! | set kernel, maximum mean discrepancy, two-sample test, representatives | `sets.rs` |
//! | [`NetworkProduct`]: the probability product kernel between networks | `product.rs` |
//! | [`NetworkClassifier`]: Bayes' rule, and linear machines on features of the Fisher and the TOP kernel | `classifier.rs`, `linear.rs` |
//! | [`NetworkEvaluation`]: cross-validation of such a classifier | `evaluate.rs` |
//! | [`DeployedSum`], [`DeployedAlarm`]: a classifier and an alarm as a device holds them; [`DeployedEvents`]: either, and what its application says; [`KeptRecords`]: a coreset | `device/` |
//! | [`NetworkFile`]: what is kept of a fit | `file.rs` |
//! | [`learn`]: tables and graphs from records | `learn/` |
//! | [`records`]: records of categories, read from tables | `records/` |
//! | [`report`], [`plot`]: tables, JSON and figures for people and programs | `report/`, `plot/` |
//! | [`Error`]: one error for programs that do not distinguish its sources | `any_error.rs` |
//!
//! ```
//! use fishweir_networks::records::Records;
//! use fishweir_networks::{NetworkFisher, Width, read_bif};
//!
//! let text = "variable A { type discrete [2] { no, yes }; }
//!             variable B { type discrete [2] { no, yes }; }
//!             probability (A) { table 0.7, 0.3; }
//!             probability (B | A) { (no) 0.4, 0.6; (yes) 0.4, 0.6; }";
//! let fisher = NetworkFisher::new(read_bif("two.bif", text)?, Width::default(), 1);
//! let gram = fisher.gram(&Records::of_rows(2, [[0, 0], [1, 1]]))?;
//! assert!((gram.get(0, 0) - 18.0 / 7.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod any_error;
mod bif;
mod classifier;
mod device;
mod error;
mod evaluate;
mod factors;
mod file;
mod fisher;
mod junction;
pub mod learn;
mod linear;
mod model;
pub mod plot;
mod product;
pub mod records;
pub mod report;
mod sets;
mod shape;
mod triangulate;

pub use any_error::Error;
pub use bif::{BifError, read_bif, write_bif};
pub use classifier::{ClassifierPlan, Method, NetworkClassifier, TrainedNetwork};
pub use device::{AlarmPlan, DeployedAlarm, DeployedEvents, DeployedSum, EventCost, KeptRecords};
pub use error::{CELLS_AT_MOST, NetworkError};
pub use evaluate::{NetworkEvaluateError, NetworkEvaluation};
pub use factors::Factor;
pub use file::{NetworkFile, NetworkFileError, NetworkModel};
pub use fisher::NetworkFisher;
pub use junction::{Calibrated, Inference, JunctionTree, Posterior, Width, joint};
pub use model::Network;
pub use product::{NetworkProduct, ObservedNetwork, Power};
pub use sets::{MeanFeature, Representatives, SampleTest, random_subsets};
pub use shape::Shape;
