//! The bodies of the targets, compiled with the fuzzer's counters.

#[path = "../../src/parsers/mod.rs"]
pub mod parsers;
