//! Expected counts, as a sum.

use fishweir::sums::Summand;

/// Expected counts in the cells of a network, and the log-likelihood of what they are of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpectedCounts {
    pub(super) counts: Vec<f64>,
    pub(super) log_likelihood: f64,
}

impl ExpectedCounts {
    pub(super) fn zero(cells: usize) -> Self {
        Self { counts: vec![0.0; cells], log_likelihood: 0.0 }
    }
}

impl Summand for ExpectedCounts {
    fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, one)| *sum += one);
        self.log_likelihood += other.log_likelihood;
    }
}
