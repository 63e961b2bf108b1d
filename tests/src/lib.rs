//! Oracles and laws.

pub mod build;
pub mod golden;
pub mod laws;
pub mod oracle;
pub mod rounding;
pub mod sample;
