//! Every learner on every kind of feature compiles: what a stream decides is what the expansion in
//! kernels decides on the host.

mod bank;
mod codebooks;
mod features;
mod field;
mod fronts;
mod leaks;
mod names;
mod on_scores;
mod steps;
mod streams;
mod training;
mod windows;

use fishweir::fit::Topology;
use fishweir::learn::{ClassifierKind, Request};
use fishweir_tests::checks::assert_near as assert_close;

/// Models of two states that are fitted in no time.
fn options(kind: ClassifierKind) -> Request {
    let mut options = Request::minimal(kind);
    options.baum_welch.states = 2;
    options.baum_welch.topology = Topology::Ergodic;
    options.baum_welch.iterations = 10;
    options.inner_folds = 2;
    options
}
