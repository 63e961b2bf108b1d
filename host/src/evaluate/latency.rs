use serde::Serialize;

use super::Judged;

/// Number of samples of a window after which its decision was final: from then on it was the one at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Median over the windows decided rightly.
    pub median: usize,
    /// 90th percentile.
    pub ninetieth: usize,
}

impl Latency {
    /// Latencies of judged windows; `None` if no decision was right.
    pub fn of<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Option<Self> {
        let right = judged.into_iter().filter(|one| one.decision == Some(one.label));
        let mut settled: Vec<usize> = right.map(|one| one.settled).collect();
        settled.sort_unstable();
        let last = settled.len().checked_sub(1)?;
        let quantile = |ninths: usize| settled[(last * ninths).div_ceil(10)];
        Some(Self { median: quantile(5), ninetieth: quantile(9) })
    }
}
