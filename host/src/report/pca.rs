use std::fmt;

use serde::Serialize;

use super::counted;
use crate::kernel::KernelPca;

/// Result of `pca`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PcaReport {
    /// Name of the file of data, or of a matrix.
    pub data: String,
    /// Items.
    pub items: usize,
    /// The kernel, in words.
    pub kernel: String,
    /// The share of the variance along each component, falling.
    pub explained: Vec<f64>,
    /// The figure's file.
    pub figure: String,
    /// The coordinates' file, where one was asked for.
    pub table: Option<String>,
}

impl PcaReport {
    /// The shares of components.
    pub fn shares(pca: &KernelPca) -> Vec<f64> {
        pca.shares().collect()
    }
}

impl fmt::Display for PcaReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.data, counted(self.items, "item"))?;
        writeln!(f, "kernel: {}", self.kernel)?;
        let mut sum = 0.0;
        for (number, share) in (1..).zip(&self.explained) {
            sum += share;
            let (share, sum) = (100.0 * share, 100.0 * sum);
            writeln!(f, "component {number}: {share:5.1} % of the variance, {sum:5.1} % so far")?;
        }
        if let Some(table) = &self.table {
            writeln!(f, "coordinates written to {table}")?;
        }
        writeln!(f, "figure written to {}", self.figure)
    }
}
