//! The library: what it computes is the core's at any size; training, kernels, files, the test runner.

mod batch;
mod between;
mod dynamics;
mod gram;
mod learn;
mod marginal;
mod parsers;
mod routes;
mod runner;
