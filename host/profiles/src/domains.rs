//! Domains of a sequence: envelopes from posterior probabilities, as HMMER 3 finds them.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::path::{Path, Segment};
use super::posterior::Expectations;
use super::{ProfileError, SearchProfile};
use fishweir::internals::Elementary;

/// A region opens where a symbol is in a domain with this probability,
const TRIGGER: f64 = 0.25;
/// and reaches to where it falls below this, not counting domains that begin or end there.
const REACH: f64 = 0.10;
/// A region in which this number of domains is expected to end before others begin is split,
const SEVERAL: f64 = 0.20;
/// by this number of paths drawn from their posterior.
const DRAWS: usize = 200;
/// Drawn domains are alike that share so much of the shorter one, in sequence and profile,
const OVERLAP: f64 = 0.8;
/// and begin or end within this number of diagonals.
const DIAGONALS: usize = 4;
/// Similar domains are one if this share of the paths has one of them,
const POSTERIOR: f64 = 0.25;
/// from the first to the last end that has this share of them.
const END: f64 = 0.02;
/// Fixed, so that answers can be repeated.
const SEED: u64 = 42;

/// A domain found in a sequence. Positions count from 0, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The part of the sequence in which the domain is likely to be.
    pub envelope: [usize; 2],
    /// Score in bits, were it the only domain.
    pub score: f64,
    /// The first and last match of the best path in the envelope.
    pub best: Segment,
    /// Path of the domain; its symbols count from the envelope's first.
    pub path: Path,
    /// The log-odds of the envelope, in nats, without the flanks outside it.
    log_odds: f64,
}

/// Matches of a profile in a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The score in bits: of all paths, or by the domains found where that is more.
    pub score: f64,
    /// The Forward score in bits.
    pub forward: f64,
    /// Expected number of domains.
    pub expected: f64,
    /// The domains found, in order.
    pub domains: Vec<Domain>,
}

impl SearchProfile {
    /// Searches a sequence: score and domains.
    ///
    /// Regions where the posterior probability of being in a domain is high are envelopes; one that seems to
    /// have several domains is taken apart by paths drawn from the posterior, clustered by single linkage.
    /// Thresholds are HMMER's; draws are not its draws, so that ends taken from them may differ by a few
    /// symbols.
    ///
    /// Source: Eddy, "Accelerated profile HMM searches", 2011, and the HMMER user's guide. Where a sequence
    /// has no domain above the threshold the score is Forward's.
    ///
    /// # Errors
    /// As [`expectations`](Self::expectations).
    pub fn search(&self, symbols: &[usize]) -> Result<Hit, ProfileError> {
        let length = symbols.len();
        let expected = self.expectations(symbols, length)?;
        let null = Self::null_log(length);
        let single = self.with_several(false);
        let mut domains = Vec::new();
        for region in regions(&expected) {
            let envelopes = if self.mode.several && has_several(&expected, region) {
                self.take_apart(symbols, region)?
            } else {
                vec![region]
            };
            for envelope in envelopes {
                domains.extend(single.domain(symbols, envelope)?);
            }
        }
        let bits = |log_odds: f64| (log_odds - null) / std::f64::consts::LN_2;
        let forward = bits(expected.log_odds);
        let counted: Vec<&Domain> = domains.iter().filter(|domain| domain.log_odds > 0.0).collect();
        let covered: usize = counted.iter().map(|domain| size(domain.envelope)).sum();
        let by_domains =
            counted.iter().map(|domain| domain.log_odds).sum::<f64>() + outside(length, covered);
        let score = if counted.is_empty() { forward } else { forward.max(bits(by_domains)) };
        Ok(Hit { score, forward, expected: expected.begins.iter().sum(), domains })
    }

    /// A domain in an envelope. `None` where nothing in it matches.
    fn domain(
        &self,
        symbols: &[usize],
        envelope: [usize; 2],
    ) -> Result<Option<Domain>, ProfileError> {
        let length = symbols.len();
        let part = &symbols[envelope[0]..=envelope[1]];
        let log_odds = self.forward(part, length)?;
        let path = self.best_path(part, length)?;
        let Some(mut best) = path.segments().first().copied() else { return Ok(None) };
        best.sequence = best.sequence.map(|t| t + envelope[0]);
        let whole = log_odds + outside(length, part.len()) - Self::null_log(length);
        let score = whole / std::f64::consts::LN_2;
        Ok(Some(Domain { envelope, score, best, path, log_odds }))
    }

    /// The envelopes in a region with several domains.
    fn take_apart(
        &self,
        symbols: &[usize],
        [first, last]: [usize; 2],
    ) -> Result<Vec<[usize; 2]>, ProfileError> {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let part = &symbols[first..=last];
        let paths = self.draw_paths(part, symbols.len(), DRAWS, &mut random)?;
        let drawn: Vec<(usize, Segment)> = (paths.iter().enumerate())
            .flat_map(|(draw, path)| path.segments().into_iter().map(move |one| (draw, one)))
            .collect();
        let mut found: Vec<(f64, [usize; 2])> = clusters(&drawn)
            .iter()
            .filter_map(|cluster| consensus(cluster))
            .map(|(share, ends)| (share, ends.map(|end| end + first)))
            .collect();
        found.sort_by_key(|&(_, ends)| ends);
        let dominated = |at: usize| {
            let (share, ends) = found[at];
            found.iter().enumerate().any(|(other, &(its, theirs))| {
                let shorter = size(ends).min(size(theirs)) as f64;
                let stronger = its > share || (its == share && other > at);
                other != at && stronger && overlap(ends, theirs) as f64 >= OVERLAP * shorter
            })
        };
        let kept = (0..found.len()).filter(|&at| !dominated(at));
        Ok(kept.map(|at| found[at].1).collect())
    }
}

fn size([first, last]: [usize; 2]) -> usize {
    last + 1 - first
}

/// Number of positions that two intervals share.
fn overlap(a: [usize; 2], b: [usize; 2]) -> usize {
    (a[1].min(b[1]) + 1).saturating_sub(a[0].max(b[0]))
}

/// Log-probability of the flanks of a sequence, without `covered` symbols.
fn outside(length: usize, covered: usize) -> f64 {
    let (rest, length) = (length.saturating_sub(covered) as f64, length as f64);
    rest * (length / (length + 3.0)).portable_ln()
}

/// Runs of symbols that are likely to be in domains.
fn regions(expected: &Expectations) -> Vec<[usize; 2]> {
    let mut regions = Vec::new();
    let (mut start, mut triggered) = (None, false);
    for (t, &inside) in expected.in_domain.iter().enumerate() {
        if triggered {
            if inside - expected.ends[t] < REACH {
                regions.extend(start.take().map(|start| [start, t]));
                triggered = false;
            }
        } else {
            if inside - expected.begins[t] < REACH {
                start = Some(t);
            }
            start.get_or_insert(t);
            triggered = inside >= TRIGGER;
        }
    }
    regions
}

/// Returns whether at some symbol of a region domains have ended before it and others begin after.
fn has_several(expected: &Expectations, [first, last]: [usize; 2]) -> bool {
    let mut after: f64 = expected.begins[first..=last].iter().sum();
    let mut before = 0.0;
    (first..=last).any(|t| {
        before += expected.ends[t];
        let several = before.min(after) >= SEVERAL;
        after -= expected.begins[t];
        several
    })
}

/// Returns whether two drawn domains count as one.
fn are_alike(a: &Segment, b: &Segment) -> bool {
    let share =
        |a: [usize; 2], b: [usize; 2], shared: f64| shared / size(a).min(size(b)) as f64 >= OVERLAP;
    // Of the profile's positions one shared is not counted, as HMMER has it.
    let in_profile = overlap(a.profile, b.profile) as f64 - 1.0;
    let diagonal = |end: usize| {
        (a.sequence[end] + b.profile[end]).abs_diff(b.sequence[end] + a.profile[end]) <= DIAGONALS
    };
    share(a.sequence, b.sequence, overlap(a.sequence, b.sequence) as f64)
        && share(a.profile, b.profile, in_profile)
        && (diagonal(0) || diagonal(1))
}

/// Drawn domains by single linkage.
fn clusters(drawn: &[(usize, Segment)]) -> Vec<Vec<(usize, Segment)>> {
    let mut left = drawn.to_vec();
    let mut clusters = Vec::new();
    while let Some(seed) = left.pop() {
        let mut cluster = vec![seed];
        let mut looked_at = 0;
        while let Some(&(_, one)) = cluster.get(looked_at) {
            let (alike, rest) = left.into_iter().partition(|(_, other)| are_alike(&one, other));
            let alike: Vec<_> = alike;
            cluster.extend(alike);
            left = rest;
            looked_at += 1;
        }
        cluster.sort_by_key(|&(draw, _)| draw);
        clusters.push(cluster);
    }
    clusters
}

/// The share of the draws that a cluster has, and its ends; `None` where it is seldom.
fn consensus(cluster: &[(usize, Segment)]) -> Option<(f64, [usize; 2])> {
    let draws = cluster.chunk_by(|a, b| a.0 == b.0).count();
    let share = draws as f64 / DRAWS as f64;
    if share < POSTERIOR {
        return None;
    }
    let enough = (draws as f64 * END).ceil() as usize;
    let end = |which: usize| {
        let mut ends: Vec<usize> = cluster.iter().map(|(_, one)| one.sequence[which]).collect();
        ends.sort_unstable();
        let runs = || ends.chunk_by(|a, b| a == b);
        let frequent = |run: &&[usize]| run.len() >= enough;
        let found = if which == 0 { runs().find(frequent) } else { runs().rev().find(frequent) };
        found.or_else(|| runs().max_by_key(|run| run.len())).and_then(|run| run.first().copied())
    };
    Some((share, [end(0)?, end(1)?]))
}
