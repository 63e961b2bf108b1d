//! Oracles and laws.

pub mod build;
pub mod call_graph;
pub mod checks;
pub mod cost_table;
pub mod device_table;
pub mod golden;
pub mod laws;
pub mod on_board;
pub mod oracle;
pub mod parsers;
pub mod quick;
pub mod rounding;
pub mod sample;

/// The examples of the README, run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
