//! Golden vectors of an independent oracle, and the runner that reads them.

mod runner;
mod vectors;
