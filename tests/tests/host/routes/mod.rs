//! Every learner on every kind of feature compiles: what a stream decides is what the expansion in
//! kernels decides on the host.

mod bank;
mod features;
mod leaks;
mod names;
mod on_scores;
mod steps;
mod streams;
mod training;

use fishweir::fit::Topology;
use fishweir::learn::{ClassifierKind, TrainOptions};

/// Models of two states that are fitted in no time.
fn options(kind: ClassifierKind) -> TrainOptions {
    let mut options = TrainOptions::new(kind);
    options.baum_welch.states = 2;
    options.baum_welch.topology = Topology::Ergodic;
    options.baum_welch.iterations = 10;
    options.inner_folds = 2;
    options
}

#[track_caller]
fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
    let allowed = tolerance * (1.0 + b.abs());
    assert!((a - b).abs() <= allowed, "{what}: {a} and {b}, allowed {allowed:.1e}");
}
