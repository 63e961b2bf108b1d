//! The core's laws: streams against batches, enumeration, the log domain and finite differences.

mod context;
mod dynamics;
mod emission;
mod filter;
mod fixed;
mod format;
mod kernels;
mod network;
mod profile_hmm;
mod semi_markov;
mod smooth;
mod spot;
mod theorems;
mod windows;
mod wire;
