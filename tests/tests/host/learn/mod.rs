//! Learners are held to the conditions that make a solution one.

mod baum_welch;
mod beforehand;
mod choices;
mod chunked;
mod copies;
mod families;
mod features;
mod fitting;
mod laplace;
mod logistic;
mod machines;
mod outside;
mod ridge;
mod searches;
mod topologies;

use fishweir::kernel::Gram;
use fishweir_tests::checks::{assert_near as assert_close, cases};
use fishweir_tests::sample::Sampler;

/// Labelled rows of features; `apart` moves the classes apart in the first.
struct Items {
    rows: Vec<Vec<f64>>,
    positive: Vec<bool>,
}

impl Items {
    fn draw(s: &mut Sampler, items: usize, features: usize, apart: f64) -> Self {
        let positive: Vec<bool> = (0..items).map(|_| s.normal() < 0.2).collect();
        let row = |&positive: &bool| {
            let shift = if positive { apart } else { 0.0 };
            (0..features).map(|k| s.normal() + if k == 0 { shift } else { 0.0 }).collect()
        };
        Self { rows: positive.iter().map(row).collect(), positive }
    }

    fn gram(&self) -> Gram {
        Gram::of_features(&self.rows)
    }
}
