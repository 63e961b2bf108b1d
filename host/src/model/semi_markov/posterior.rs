//! Forward, backward and best segments over the core's duration recursion.

use fishweir_core::ObservationError;
use fishweir_core::semi_markov::SegmentChain;
use fishweir_core::smooth::SequenceError;

use crate::elementary::Elementary;

/// A state that cannot be reached may fit far better than all that can. Its likelihood relative to theirs, and what follows it, are cut
/// here: a number that is infinite, times nothing, is no number.
const FARTHEST_LOG: f64 = 600.0;
const FARTHEST: f64 = 1e300;

/// Tables of a model for sequences of some length, as the core takes them.
pub(super) struct Tables {
    pub(super) initial: Vec<f64>,
    pub(super) transition: Vec<f64>,
    pub(super) hazard: Vec<f64>,
    /// Probabilities that the string ends after a segment, `[state]`; empty without a final state.
    pub(super) end: Vec<f64>,
    pub(super) longest: usize,
}

/// Filter of a sequence at every prefix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentPrefixes {
    /// `log p(x_1..t)`, `[time]`; minus infinity from an impossible sample on.
    pub log_likelihood: Vec<f64>,
    /// The same of sequences that end with this sample, and a segment with it.
    pub log_if_ended: Vec<f64>,
    /// `p(z_t = i | x_1..t)`, `[time][state]`; shorter where a sample is impossible.
    pub filter: Vec<Vec<f64>>,
    /// Probability that the sequence, or without a final state the segment, ends with this sample, `[time]`, as long as `filter`.
    pub end_probability: Vec<f64>,
}

/// Expectations of the segments of a sequence, given all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentPosterior {
    /// `log p(x)`.
    pub log_likelihood: f64,
    /// `p(z_t = i | x)`, `[time][state]`.
    pub states: Vec<Vec<f64>>,
    /// The same over the likelihood of the sample in that state: the derivative of `log p(x)` with respect to it.
    pub rates: Vec<Vec<f64>>,
    /// Probability that a segment ends with a sample, `[time]`.
    pub segment_end: Vec<f64>,
    /// Probabilities of the last segment's state and how long it has lasted, `[state][elapsed - 1]`; zero with a final state, where the last
    /// segment has ended.
    pub elapsed: Vec<Vec<f64>>,
    /// Expected segments that ended, by state and duration, `[state][duration - 1]`; without a final state before the last sample.
    pub ended: Vec<Vec<f64>>,
    /// Expected segments, `[state]`; unfinished ones count.
    pub segments: Vec<f64>,
    /// Derivatives of `log p(x)` with respect to the initial probabilities, `[state]`.
    pub initial_rates: Vec<f64>,
    /// With respect to the transition probabilities, `[from][to]`.
    pub transition_rates: Vec<Vec<f64>>,
    /// With respect to the probabilities of the end, `[state]`; empty without a final state.
    pub end_rates: Vec<f64>,
}

/// A forward pass: filter, and what a backward pass needs.
pub(super) struct Pass {
    pub(super) prefixes: SegmentPrefixes,
    /// Weights before each sample, `[time][cell]`, scaled so that those after the sample sum to one.
    predicted: Vec<Vec<f64>>,
    /// Likelihoods relative to `scale`, `[time][state]`.
    likelihood: Vec<Vec<f64>>,
    scale: Vec<f64>,
    /// Sums by which weights were scaled, `[time]`.
    sum: Vec<f64>,
    /// The sample that is impossible, or after which the string cannot end.
    impossible: Option<usize>,
}

impl Tables {
    fn chain(&self) -> SegmentChain<'_, f64> {
        SegmentChain::from_parts(&self.initial, &self.transition, &self.hazard, self.longest)
    }

    fn states(&self) -> usize {
        self.initial.len()
    }

    /// Weight of a last cell.
    fn last(&self, cell: usize) -> f64 {
        self.end.get(cell / self.longest).map_or(1.0, |end| self.hazard[cell] * end)
    }

    /// Runs the filter over log-likelihoods of samples, `[time][state]`; a missing one has none.
    pub(super) fn forward(&self, logs: &[Option<Vec<f64>>]) -> Pass {
        let (states, chain) = (self.states(), self.chain());
        let mut cells = vec![0.0; self.hazard.len()];
        let (mut leaving, mut row) = (vec![0.0; states], vec![0.0; states]);
        let mut pass = Pass {
            prefixes: SegmentPrefixes::default(),
            predicted: Vec::with_capacity(logs.len()),
            likelihood: Vec::with_capacity(logs.len()),
            scale: Vec::with_capacity(logs.len()),
            sum: Vec::with_capacity(logs.len()),
            impossible: None,
        };
        let mut total = 0.0;
        for (time, logs) in logs.iter().enumerate() {
            if time == 0 {
                chain.begin(&mut cells);
            } else {
                chain.advance(&mut cells, &mut leaving);
            }
            chain.states_of(&cells, &mut row);
            let mut best = f64::NEG_INFINITY;
            for state in 0..states {
                if row[state] > 0.0 {
                    best = best.max(logs.as_ref().map_or(0.0, |logs| logs[state]));
                }
            }
            if best == f64::NEG_INFINITY {
                pass.impossible = Some(time);
                break;
            }
            let mut likelihood = vec![1.0; states];
            if let Some(logs) = logs {
                for state in 0..states {
                    likelihood[state] = (logs[state] - best).min(FARTHEST_LOG).portable_exp();
                }
            }
            let mut before = cells.clone();
            let sum = chain.weigh(&mut cells, &likelihood);
            for cell in 0..cells.len() {
                cells[cell] /= sum;
                before[cell] /= sum;
            }
            pass.predicted.push(before);
            pass.likelihood.push(likelihood);
            pass.scale.push(best);
            pass.sum.push(sum);
            total += best + sum.portable_ln();
            chain.states_of(&cells, &mut row);
            chain.leaving(&cells, &mut leaving);
            let mut ended = 0.0;
            for state in 0..states {
                ended += leaving[state] * if self.end.is_empty() { 1.0 } else { self.end[state] };
            }
            pass.prefixes.log_likelihood.push(total);
            pass.prefixes.log_if_ended.push(total + ended.portable_ln());
            pass.prefixes.filter.push(row.clone());
            pass.prefixes.end_probability.push(ended);
        }
        pass.prefixes.log_likelihood.resize(logs.len(), f64::NEG_INFINITY);
        pass.prefixes.log_if_ended.resize(logs.len(), f64::NEG_INFINITY);
        if !self.end.is_empty() && pass.prefixes.end_probability.last() == Some(&0.0) {
            pass.impossible = pass.impossible.or(Some(logs.len() - 1));
        }
        pass
    }

    /// Runs back over a filter of at least one sample.
    pub(super) fn backward(&self, pass: &Pass) -> Result<SegmentPosterior, SequenceError> {
        if let Some(time) = pass.impossible {
            return Err(SequenceError::Observation { time, error: ObservationError::Impossible });
        }
        let (states, longest, length) = (self.states(), self.longest, pass.scale.len());
        let cells = states * longest;
        let mut found = SegmentPosterior {
            log_likelihood: pass.prefixes.log_likelihood.last().copied().unwrap_or(0.0),
            states: vec![vec![0.0; states]; length],
            rates: vec![vec![0.0; states]; length],
            segment_end: vec![0.0; length],
            elapsed: vec![vec![0.0; longest]; states],
            ended: vec![vec![0.0; longest]; states],
            segments: vec![0.0; states],
            initial_rates: vec![0.0; states],
            transition_rates: vec![vec![0.0; states]; states],
            end_rates: vec![0.0; self.end.len()],
        };
        // What follows each cell, and the same with the sample's likelihood.
        let (mut after, mut seen) = (vec![1.0; cells], vec![0.0; cells]);
        let mut entering = vec![0.0; states];
        for time in (0..length).rev() {
            let (predicted, likelihood) = (&pass.predicted[time], &pass.likelihood[time]);
            if time + 1 == length {
                let weight = |cell: usize| predicted[cell] * likelihood[cell / longest];
                let mut sum = 0.0;
                for cell in 0..cells {
                    sum += weight(cell) * self.last(cell);
                }
                if !self.end.is_empty() {
                    found.log_likelihood += sum.portable_ln();
                }
                for cell in 0..cells {
                    after[cell] = self.last(cell) / sum;
                    let p = weight(cell) * after[cell];
                    let last = match self.end.is_empty() {
                        true => &mut found.elapsed,
                        false => &mut found.ended,
                    };
                    last[cell / longest][cell % longest] += p;
                    found.segment_end[time] +=
                        if self.end.is_empty() { p * self.hazard[cell] } else { p };
                    if let Some(rate) = found.end_rates.get_mut(cell / longest) {
                        *rate += weight(cell) * self.hazard[cell] / sum;
                    }
                }
            } else {
                // `seen` is that of the next sample.
                for from in 0..states {
                    entering[from] = 0.0;
                    for to in 0..states {
                        entering[from] += self.transition[from * states + to] * seen[to * longest];
                    }
                }
                for state in 0..states {
                    let mut leaves = 0.0;
                    for u in 0..longest {
                        let cell = state * longest + u;
                        let (h, weight) = (self.hazard[cell], predicted[cell] * likelihood[state]);
                        let on = seen[if u + 1 < longest { cell + 1 } else { cell }];
                        after[cell] =
                            h * entering[state] + if h < 1.0 { (1.0 - h) * on } else { 0.0 };
                        let ends = weight * h * entering[state];
                        found.ended[state][u] += ends;
                        found.segment_end[time] += ends;
                        leaves += weight * h;
                    }
                    for to in 0..states {
                        found.transition_rates[state][to] += leaves * seen[to * longest];
                    }
                }
            }
            for state in 0..states {
                for cell in state * longest..(state + 1) * longest {
                    let rate = predicted[cell] * after[cell];
                    found.rates[time][state] += rate;
                    found.states[time][state] += rate * likelihood[state];
                    let own = after[cell] * likelihood[state] / pass.sum[time];
                    seen[cell] = own.min(FARTHEST);
                }
                let first = state * longest;
                found.segments[state] += predicted[first] * after[first] * likelihood[state];
                if time == 0 {
                    found.initial_rates[state] = seen[first];
                }
            }
            found.rates[time]
                .iter_mut()
                .for_each(|rate| *rate *= (-pass.scale[time]).portable_exp());
        }
        Ok(found)
    }

    /// The best segmentation, `[state, start, length]` of each segment, and its log-probability.
    pub(super) fn best(&self, logs: &[Option<Vec<f64>>]) -> Option<(Vec<[usize; 3]>, f64)> {
        let (states, longest) = (self.states(), self.longest);
        let logs_of = |numbers: &[f64], complement: bool| {
            let mut found = numbers.to_vec();
            for p in &mut found {
                *p = if complement { 1.0 - *p } else { *p }.portable_ln();
            }
            found
        };
        let transition = logs_of(&self.transition, false);
        let (ends, stays) = (logs_of(&self.hazard, false), logs_of(&self.hazard, true));
        let mut best = vec![f64::NEG_INFINITY; states * longest];
        // The segment before one that starts at a time in a state: its state, and how long it lasted.
        let mut before = vec![(0, 0); states * logs.len()];
        let mut leaving = vec![(f64::NEG_INFINITY, 0); states];
        for (time, logs) in logs.iter().enumerate() {
            if time > 0 {
                for (state, out) in leaving.iter_mut().enumerate() {
                    *out = (f64::NEG_INFINITY, 0);
                    for u in 0..longest {
                        let log = best[state * longest + u] + ends[state * longest + u];
                        if log > out.0 {
                            *out = (log, u + 1);
                        }
                    }
                }
            }
            for state in 0..states {
                for u in (1..longest).rev() {
                    let cell = state * longest + u;
                    best[cell] = best[cell - 1] + stays[cell - 1];
                }
                let first = &mut best[state * longest];
                *first =
                    if time == 0 { self.initial[state].portable_ln() } else { f64::NEG_INFINITY };
                for (from, &(log, lasted)) in leaving.iter().enumerate() {
                    if time == 0 {
                        break;
                    }
                    let log = log + transition[from * states + state];
                    if log > *first {
                        *first = log;
                        before[time * states + state] = (from, lasted);
                    }
                }
                let log = logs.as_ref().map_or(0.0, |logs| logs[state]);
                for cell in &mut best[state * longest..(state + 1) * longest] {
                    *cell += log;
                }
            }
        }
        let (mut cell, mut log) = (0, f64::NEG_INFINITY);
        for (index, own) in best.iter().enumerate() {
            let own = own + self.last(index).portable_ln();
            if own > log {
                (cell, log) = (index, own);
            }
        }
        if log == f64::NEG_INFINITY {
            return None;
        }
        let (mut state, mut lasted, mut until) = (cell / longest, cell % longest + 1, logs.len());
        let mut segments = Vec::new();
        loop {
            let start = until.checked_sub(lasted)?;
            segments.push([state, start, lasted]);
            if start == 0 {
                break;
            }
            (state, lasted) = before[start * states + state];
            until = start;
        }
        segments.reverse();
        Some((segments, log))
    }
}
