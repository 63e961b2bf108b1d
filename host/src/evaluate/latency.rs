use std::collections::BTreeMap;

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

/// Numbers of right decisions by the samples after which they were final.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settled(BTreeMap<usize, usize>);

impl Settled {
    pub(super) fn add(&mut self, one: &Judged) {
        if one.decision == Some(one.label) {
            *self.0.entry(one.settled).or_default() += 1;
        }
    }

    pub(super) fn latency(&self) -> Option<Latency> {
        let last = self.0.values().sum::<usize>().checked_sub(1)?;
        let quantile = |ninths: usize| {
            let (wanted, mut before) = ((last * ninths).div_ceil(10), 0);
            let found = self.0.iter().find(|(_, count)| {
                before += **count;
                before > wanted
            });
            found.map_or(0, |(&samples, _)| samples)
        };
        Some(Latency { median: quantile(5), ninetieth: quantile(9) })
    }
}

impl Latency {
    /// Latencies of judged windows; `None` if no decision was right.
    pub fn of<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Option<Self> {
        let mut settled = Settled::default();
        judged.into_iter().for_each(|one| settled.add(one));
        settled.latency()
    }
}
