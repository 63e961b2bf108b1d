//! The library: what it computes is the core's at any size; training, kernels, files, networks of categories, the
//! test runner.

mod batch;
mod between;
mod confidence;
mod dynamics;
mod earlier;
mod gram;
mod learn;
mod marginal;
mod network;
mod parsers;
mod profile;
mod profile_training;
mod regress;
mod routes;
mod runner;
mod semi_markov;
mod spotting;
mod typed;
mod words;
