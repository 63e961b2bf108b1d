//! Groups of channels whose likelihoods are had for many samples at once.

use std::borrow::Cow;

use fishweir_core::filter::Beliefs;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Lanes, MIN_LOG_DENSITY_EXP, Real};
use multiversion::multiversion;

use super::group::{Group, Rows};
use super::side_by_side::Together;
use crate::data::RowsView;
use crate::runtime::{HostReal, RowState};

/// Steps whose likelihoods are made at once: they stay in the near caches.
pub(super) const BLOCK: usize = 32;

/// Channels of a family that [gives](RowState::log_likelihoods) likelihoods of many samples at once.
pub(super) struct Channels<'a, T: Clone, const L: usize> {
    sequences: Vec<Sequence<'a, T>>,
    pub(super) channels: usize,
    steps: usize,
    laid: Cow<'a, LaidChannels<T, L>>,
    /// The channels of some steps, `[channel][step][lane]`.
    x: Vec<T>,
    /// The states' likelihoods there, `[state][step][lane]`, relative to `log_scale`, `[step][lane]`.
    likelihood: Vec<T>,
    log_scale: Vec<T>,
}

/// Channels side by side, for any model.
#[derive(Clone)]
struct LaidChannels<T, const L: usize> {
    /// `true` for each step at which a lane has its first sample, or a missing one.
    careful: Vec<bool>,
    /// `[channel][step][lane]`; zeros where a lane has none.
    x: Vec<T>,
}

/// A lane's samples.
struct Sequence<'a, T: Clone> {
    /// `[time][channel]`; zeros of a missing one.
    values: Cow<'a, [T]>,
    rows: RowsView<'a>,
    /// `true` if any sample is missing.
    gaps: bool,
    dropped: bool,
}

impl<'a, T: HostReal, const L: usize> Channels<'a, T, L> {
    /// Sequences that go together, side by side; `None` of other channels than the model's, or of a family that gives
    /// likelihoods one by one, or where a row lacks channels.
    pub(super) fn new<const N: usize>(
        hmm: &Hmm<RowState<T>, N>,
        channels: usize,
        together: &'a Together,
        sequences: &[RowsView<'a>],
    ) -> Option<Self> {
        let asked =
            RowState::log_likelihoods(hmm.emission(), &vec![T::ZERO; channels], &mut [T::ZERO; N]);
        let unfit = |rows: &RowsView<'_>| rows.dimension() != channels || rows.has_partial_rows();
        if !asked || sequences.iter().any(unfit) {
            return None;
        }
        let steps = sequences.iter().map(RowsView::len).max().unwrap_or(0);
        let sequence = |rows: &RowsView<'a>| {
            let (values, gaps) = (T::of_many(rows.values()), rows.has_gaps());
            Sequence { values, rows: *rows, gaps, dropped: false }
        };
        let sequences: Vec<Sequence<'a, T>> = sequences.iter().map(sequence).collect();
        let lay = || LaidChannels::new(channels, steps, &sequences);
        let laid = together.laid(|_| true, lay);
        let size = BLOCK * L;
        let (x, likelihood) = (vec![T::ZERO; channels * size], vec![T::ZERO; N * size]);
        let log_scale = vec![T::ZERO; size];
        Some(Self { sequences, channels, steps, laid, x, likelihood, log_scale })
    }

    /// Observation of a lane: `None` before its first sample, and after it was ended.
    fn at(&self, step: usize, lane: usize) -> Option<Option<&[T]>> {
        let sequence = self.sequences.get(lane).filter(|lane| !lane.dropped)?;
        let time = (step + sequence.rows.len()).checked_sub(self.steps)?;
        let row = &sequence.values[time * self.channels..][..self.channels];
        Some(sequence.rows.row(time).map(|_| row))
    }

    /// Lays out the channels of `count` steps from `step` on, `[channel][step][lane]`.
    pub(super) fn lay(&self, step: usize, count: usize, x: &mut [T]) {
        let all = self.laid.x.chunks_exact((self.steps * L).max(1));
        for (x, all) in x.chunks_exact_mut((count * L).max(1)).zip(all) {
            x.copy_from_slice(&all[step * L..][..count * L]);
        }
    }

    /// Computes likelihoods of some steps from `step` on, and returns the number of steps before a lane needs care.
    fn fill<const N: usize>(
        &mut self,
        states: &[RowState<T>; N],
        step: usize,
        count: usize,
    ) -> usize {
        let size = count * L;
        let mut x = std::mem::take(&mut self.x);
        self.lay(step, count, &mut x[..self.channels * size]);
        let (x_there, likelihood) = (&x[..self.channels * size], &mut self.likelihood[..N * size]);
        RowState::log_likelihoods(states, x_there, likelihood);
        relative(likelihood, &mut self.log_scale[..size]);
        self.x = x;
        for (lane, sequence) in self.sequences.iter().enumerate() {
            let start = self.steps - sequence.rows.len();
            let idle = if sequence.dropped { count } else { start.saturating_sub(step).min(count) };
            idle_lane::<T, L>(likelihood, &mut self.log_scale[..size], lane, idle);
        }
        (self.sequences.len()..L).for_each(|lane| {
            idle_lane::<T, L>(likelihood, &mut self.log_scale[..size], lane, count)
        });
        let near = |scale: &T| *scale >= -T::power_of_two(MIN_LOG_DENSITY_EXP);
        let far = self.log_scale[..size].iter().position(|scale| !near(scale));
        far.map_or(count, |index| index / L)
    }
}

impl<T: Real, const L: usize> LaidChannels<T, L> {
    fn new(channels: usize, steps: usize, sequences: &[Sequence<'_, T>]) -> Self {
        let mut careful = vec![false; steps];
        for Sequence { rows, gaps, .. } in sequences {
            let first = steps - rows.len();
            if let Some(first) = careful.get_mut(first).filter(|_| !rows.is_empty()) {
                *first = true;
            }
            if *gaps {
                for (careful, row) in careful[first..].iter_mut().zip(rows.iter()) {
                    *careful |= row.is_none();
                }
            }
        }
        let mut x = vec![T::ZERO; channels * steps * L];
        // A block of a channel of all lanes after the other: its steps stay in the nearest cache. By rows a lane's
        // channels would lie a power of two apart there, and drive each other out.
        for step in (0..steps).step_by(BLOCK) {
            let count = BLOCK.min(steps - step);
            for (channel, x) in x.chunks_exact_mut(steps * L).enumerate() {
                let x = &mut x[step * L..][..count * L];
                for (lane, sequence) in sequences.iter().enumerate() {
                    let start = steps - sequence.rows.len();
                    let skipped = start.saturating_sub(step).min(count);
                    let from = (step + skipped).saturating_sub(start) * channels + channel;
                    let (values, mut at) = (&sequence.values[..], from);
                    for step in x.as_chunks_mut::<L>().0.get_mut(skipped..).unwrap_or_default() {
                        if let Some(&value) = values.get(at) {
                            step[lane] = value;
                        }
                        at += channels;
                    }
                }
            }
        }
        Self { careful, x }
    }
}

/// Sets the likelihoods of a lane to one for the given steps.
fn idle_lane<T: Real, const L: usize>(
    likelihood: &mut [T],
    log_scale: &mut [T],
    lane: usize,
    steps: usize,
) {
    if steps == 0 {
        return;
    }
    let size = log_scale.len();
    for state in 0..likelihood.len() / size {
        let (state, _) = likelihood[state * size..][..size].as_chunks_mut::<L>();
        for step in &mut state[..steps] {
            step[lane] = T::ONE;
        }
    }
    for step in &mut log_scale.as_chunks_mut::<L>().0[..steps] {
        step[lane] = T::ZERO;
    }
}

/// Makes logarithms, `[state][sample]`, likelihoods relative to the largest of a sample, of which the
/// logarithm goes to `log_scale`, `[sample]`: what `Emission::row` makes of each, bit for bit.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn relative<T: Real>(logs: &mut [T], log_scale: &mut [T]) {
    log_scale.fill(T::NEG_INFINITY);
    let size = log_scale.len();
    for state in 0..logs.len() / size {
        let logs = &logs[state * size..][..size];
        for i in 0..size {
            log_scale[i] = Real::max(log_scale[i], logs[i]);
        }
    }
    for state in 0..logs.len() / size {
        let logs = &mut logs[state * size..][..size];
        for i in 0..size {
            logs[i] = (logs[i] - log_scale[i]).exp_unbranched();
        }
    }
}

impl<T: HostReal, const N: usize, const L: usize> Group<T, RowState<T>, N, 1, L>
    for Channels<'_, T, L>
{
    fn steps(&self) -> usize {
        self.steps
    }

    fn length(&self, lane: usize) -> usize {
        self.sequences.get(lane).filter(|lane| !lane.dropped).map_or(0, |lane| lane.rows.len())
    }

    fn sample(&self, step: usize, lane: usize) -> Option<Option<&[T]>> {
        self.at(step, lane)
    }

    fn advance<const KEEP: bool>(
        &mut self,
        hmm: &Hmm<RowState<T>, N>,
        step: usize,
        state: &mut [Beliefs<T, N, L>; 1],
        rows: &mut Rows<T, N, 1, L>,
    ) -> usize {
        let mut taken = 0;
        loop {
            let rest = &self.laid.careful[step + taken..];
            let rest = &rest[..rest.len().min(BLOCK)];
            let count = rest.iter().position(|&careful| careful).unwrap_or(rest.len());
            if count == 0 {
                return taken;
            }
            let near = self.fill(hmm.emission(), step + taken, count);
            let blocks = (self.likelihood.as_slice(), self.log_scale.as_slice());
            let kept = if KEEP { &mut rows[step + taken..] } else { &mut [] };
            let advanced = advance::<T, N, L, KEEP>(hmm, (count, near), blocks, state, kept);
            taken += advanced;
            if advanced < count {
                return taken;
            }
        }
    }

    fn drop_lane(&mut self, lane: usize) {
        self.sequences[lane].dropped = true;
    }
}

/// Steps on likelihoods, `[state][step][lane]`, of `count` steps, of which `near` may be taken; their
/// logarithms' scales are `[step][lane]`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn advance<T: HostReal, const N: usize, const L: usize, const KEEP: bool>(
    hmm: &Hmm<RowState<T>, N>,
    (count, near): (usize, usize),
    (likelihood, log_scale): (&[T], &[T]),
    state: &mut [Beliefs<T, N, L>; 1],
    rows: &mut Rows<T, N, 1, L>,
) -> usize {
    let likelihood = likelihood.as_chunks::<L>().0;
    let row = |step: usize, _| {
        let mut row = [Lanes([T::ONE; L]); N];
        for state in 0..N {
            row[state].0 = likelihood[state * count + step];
        }
        row
    };
    let taken = Beliefs::steps(state, hmm.chain(), near, row, |step, _, row| {
        if KEEP {
            rows[step][0] = *row;
        }
    });
    for log_scale in &log_scale.as_chunks::<L>().0[..taken] {
        state[0].add_log_scale(log_scale);
    }
    taken
}

impl<const L: usize> Channels<'_, f64, L> {
    /// Sets the weights of invalid observations to zero, for `size` samples from `step` on, `[state][step][lane]`.
    pub(super) fn forget(&self, step: usize, weights: &mut [f64], size: usize) {
        for lane in 0..L {
            let whole = |lane: &Sequence<'_, _>| {
                !lane.gaps && !lane.dropped && self.steps - lane.rows.len() <= step
            };
            if self.sequences.get(lane).is_some_and(whole) {
                continue;
            }
            for index in 0..size / L {
                if self.at(step + index, lane).flatten().is_none() {
                    let mut at = index * L + lane;
                    while at < weights.len() {
                        weights[at] = 0.0;
                        at += size;
                    }
                }
            }
        }
    }
}
