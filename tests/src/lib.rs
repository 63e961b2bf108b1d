//! Oracles and laws.

pub mod build;
pub mod golden;
pub mod oracle;
pub mod rounding;
pub mod sample;
