//! Distributions of durations, as hazards, and their derivatives.

use crate::elementary::Elementary;

/// Durations after which nothing of a negative binomial distribution is left, at most.
const FARTHEST: usize = 1 << 16;

/// The hazards of a table of durations, `P(d = u) / P(d >= u)`; one past the last possible duration.
pub(super) fn hazards(table: &[f64]) -> Vec<f64> {
    let mut rates = vec![1.0; table.len()];
    let mut left = 0.0;
    for u in (0..table.len()).rev() {
        left += table[u];
        if left > 0.0 {
            rates[u] = table[u] / left;
        }
    }
    rates
}

/// A negative binomial distribution of `d - 1`: `d - 1` failures before `shape` successes.
///
/// ```text
/// P(d) = Gamma(d - 1 + r) / (Gamma(r) (d - 1)!) p^r (1 - p)^(d - 1)
/// ```
#[derive(Clone, Copy)]
pub(super) struct NegativeBinomial {
    pub(super) shape: f64,
    pub(super) success: f64,
}

/// Terms of a distribution's durations from one on, `[d - 1]`.
pub(super) struct Terms {
    /// `P(d = u) / P(d >= u)`.
    pub(super) hazard: Vec<f64>,
    /// Derivatives of `log P(d = u)` with respect to shape and success.
    pub(super) at: [Vec<f64>; 2],
    /// Derivatives of `log P(d >= u)`.
    pub(super) from: [Vec<f64>; 2],
}

impl NegativeBinomial {
    /// Durations up to which terms are needed for those of `longest` to be exact: the rest has no weight.
    pub(super) fn reach(&self, longest: usize) -> usize {
        if self.success >= 1.0 {
            return longest.max(1);
        }
        let decay = -(-self.success).portable_ln_1p();
        let more = (60.0 + 4.0 * self.shape) / decay;
        longest + (more.ceil() as usize).clamp(1, FARTHEST)
    }

    /// Terms of durations up to `longest`.
    pub(super) fn terms(&self, longest: usize) -> Terms {
        let Self { shape: r, success: p } = *self;
        let reach = self.reach(longest);
        let (mut by_shape, mut by_success) = (vec![0.0; reach], vec![0.0; reach]);
        let mut sum = p.portable_ln();
        for d in 0..reach {
            by_shape[d] = sum;
            // At certain success there is one duration; of those that are impossible then no derivative is asked.
            by_success[d] = match (d, p < 1.0) {
                (0, _) => r / p,
                (_, true) => r / p - d as f64 / (1.0 - p),
                (_, false) => 0.0,
            };
            sum += (r + d as f64).recip();
        }
        let mut hazard = vec![1.0; reach];
        let mut from = [by_shape.clone(), by_success.clone()];
        // P(d >= u) / P(d = u), from the longest on.
        let mut rest = 1.0;
        for d in (0..reach.saturating_sub(1)).rev() {
            let ratio = (d as f64 + r) / (d as f64 + 1.0) * (1.0 - p);
            rest = 1.0 + ratio * rest;
            hazard[d] = 1.0 / rest;
            for (rates, at) in from.iter_mut().zip([&by_shape, &by_success]) {
                rates[d] = hazard[d] * at[d] + (1.0 - hazard[d]) * rates[d + 1];
            }
        }
        hazard.truncate(longest);
        Terms { hazard, at: [by_shape, by_success], from }
    }

    /// The distribution that makes expected durations likeliest: `ended[d - 1]` that end, and `lasting[u - 1]` that have lasted so long.
    ///
    /// The success follows from the shape and the mean; the shape's derivative is bisected.
    pub(super) fn maximise(&self, ended: &[f64], lasting: &[f64]) -> Self {
        let reach = self.reach(ended.len());
        let hazard = self.terms(reach).hazard;
        // What lasts is spread over the durations that it may come to have.
        let (mut counts, mut open) = (vec![0.0; reach], 0.0);
        for d in 0..reach {
            open += lasting.get(d).copied().unwrap_or(0.0);
            let here = if d + 1 == reach { open } else { open * hazard[d] };
            counts[d] = here + ended.get(d).copied().unwrap_or(0.0);
            open -= here;
        }
        let (mut total, mut failures) = (0.0, 0.0);
        for (d, count) in counts.iter().enumerate() {
            total += count;
            failures += d as f64 * count;
        }
        if total < 1e-300 {
            return *self;
        }
        let mean = failures / total;
        if mean < 1e-12 {
            return Self { success: 1.0, ..*self };
        }
        let slope = |r: f64| {
            let (mut sum, mut slope) = (0.0, total * (r / (r + mean)).portable_ln());
            for (d, count) in counts.iter().enumerate() {
                slope += count * sum;
                sum += (r + d as f64).recip();
            }
            slope
        };
        let (mut low, mut high) = (1e-3_f64, 1e3_f64);
        for _ in 0..60 {
            let middle = (low * high).sqrt();
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        let shape = (low * high).sqrt();
        Self { shape, success: shape / (shape + mean) }
    }
}
