//! The engine of forward-only statistics: how one sample moves them.

use super::{Belief, ExpectedStatistics, Forward, Streaming};
use crate::emission::{SufficientStatistics, VectorSpace};
use crate::error::ObservationError;
use crate::hmm::Hmm;
use crate::number::{Real, sum_of};

/// One sample, as statistics need it: how the filter moved.
pub(super) struct Step<T, const N: usize> {
    /// `p(z_t-1 | x_1..t-1)`; nothing before the first sample.
    before: Option<[T; N]>,
    /// `p(z_t | x_1..t-1)`.
    predicted: [T; N],
    /// `p(z_t | x_1..t)`.
    filtered: [T; N],
    /// `b_j(x_t) / c_t`; one where `x_t` is missing.
    weight: [T; N],
    /// `log c_t`, where the statistics of zeros are asked for.
    log_scale: T,
}

impl<T: Real, const N: usize> Step<T, N> {
    /// Pushes a sample, or a missing one, to the filter.
    pub(super) fn take<E: SufficientStatistics<Real = T>>(
        forward: Forward<'_, E, N>,
        belief: &mut Belief<T, N>,
        x: Option<&E::Observation>,
        zeros: bool,
    ) -> Result<Self, ObservationError> {
        let previous = (!belief.is_new()).then(|| (forward.filtered(belief), belief.evidence()));
        let predicted = forward.predicted(belief);
        match x {
            Some(x) => forward.step(belief, x)?,
            None => forward.step_missing(belief),
        }
        let filtered = forward.filtered(belief);
        let mut step = Self {
            before: previous.map(|(filtered, _)| filtered),
            predicted,
            filtered,
            weight: [T::ONE; N],
            log_scale: T::ZERO,
        };
        let Some(x) = x else { return Ok(step) };
        for j in 0..N {
            let weight = &mut step.weight[j];
            *weight = if filtered[j] > T::ZERO { filtered[j] / predicted[j] } else { T::ZERO };
            // A state foreseen with a subnormal probability has no digits to weigh it by.
            if !weight.is_finite() {
                *weight = T::power_of_two(i32::MAX);
            }
        }
        if zeros {
            let evidence = belief.evidence();
            step.log_scale = match &previous {
                Some((_, before)) => evidence.difference(before),
                None => evidence.log(),
            };
            // What a state out of reach would have made of the sample.
            let emission = forward.hmm().emission();
            for j in 0..N {
                if predicted[j] == T::ZERO {
                    let likelihood = (emission[j].log_likelihood(x) - step.log_scale).exp();
                    let most = T::power_of_two(i32::MAX);
                    step.weight[j] = if likelihood < most { likelihood } else { most };
                }
            }
        }
        Ok(step)
    }
}

/// `tau[..][k] = E[S_t 1{z_t = k} | x_1..t]` for each statistic `S`, less what was moved out.
///
/// Parameter-major, state-minor: each statistic is a vector over the current states, which a sample
/// transforms in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments<S, T, const N: usize> {
    /// `[first state][current state]`.
    initial: [[T; N]; N],
    /// `[from][to][current state]`.
    transition: [[[T; N]; N]; N],
    /// `[state][current state]`.
    pub(super) emission: [[S; N]; N],
}

impl<T: Real, S: VectorSpace<T>, const N: usize> Moments<S, T, N> {
    pub(super) const ZERO: Self = Self {
        initial: [[T::ZERO; N]; N],
        transition: [[[T::ZERO; N]; N]; N],
        emission: [[S::ZERO; N]; N],
    };

    /// `tau_k = keep sum_i tau_i A_ik b_k / c + gain s(i, k) f_i A_ik b_k / c` for each statistic.
    ///
    /// With `zeros`, where a probability is exactly zero it collects the limit of statistic over
    /// probability, which may grow without bound; it stops short of the largest number.
    #[inline]
    pub(super) fn advance<E: SufficientStatistics<Real = T, Statistics = S>>(
        &mut self,
        hmm: &Hmm<E, N>,
        step: &Step<T, N>,
        x: Option<&E::Observation>,
        [keep, gain]: [T; 2],
        zeros: bool,
    ) {
        if let Some(before) = &step.before {
            self.pass_on(hmm, step, before, [keep, gain], zeros);
        } else {
            let initial = hmm.chain().initial();
            for i in 0..N {
                let counted = initial[i] > T::ZERO;
                let limit = if zeros { step.weight[i] } else { T::ZERO };
                self.initial[i][i] = gain * if counted { step.filtered[i] } else { limit };
            }
        }
        let Some(x) = x else { return };
        for j in 0..N {
            let (emission, column) = (&hmm.emission()[j], &mut self.emission[j][j]);
            emission.observe(x, gain * step.filtered[j], column);
            if zeros {
                let prior = gain * step.predicted[j];
                emission.observe_zeros(x, prior, step.log_scale, column);
            }
        }
    }

    fn pass_on<E: SufficientStatistics<Real = T, Statistics = S>>(
        &mut self,
        hmm: &Hmm<E, N>,
        step: &Step<T, N>,
        before: &[T; N],
        [keep, gain]: [T; 2],
        zeros: bool,
    ) {
        let transition = hmm.chain().transition();
        // keep A_ik b_k / c, transposed: row by row as a statistic's vector takes it.
        let mut kernel = [[T::ZERO; N]; N];
        for k in 0..N {
            for i in 0..N {
                kernel[k][i] = transition[i][k] * (keep * step.weight[k]);
            }
        }
        let mut pass = |vector: &mut [T; N]| {
            let old = *vector;
            for k in 0..N {
                vector[k] = sum_of::<T, N>(|i| old[i] * kernel[k][i]);
                if zeros {
                    hold(&mut vector[k]);
                }
            }
        };
        for i in 0..N {
            pass(&mut self.initial[i]);
        }
        for i in 0..N {
            for j in 0..N {
                let (columns, probability) = (&mut self.transition[i][j], transition[i][j]);
                if probability > T::ZERO {
                    pass(columns);
                    let pair = before[i] * (probability * step.weight[j]);
                    columns[j] = columns[j] + gain * pair;
                } else if zeros {
                    pass(columns);
                    columns[j] = columns[j] + gain * (before[i] * step.weight[j]);
                    hold(&mut columns[j]);
                }
            }
        }
        for i in 0..N {
            S::across(&mut self.emission[i], &mut pass);
        }
    }

    /// The statistics: summed over the current state.
    pub(super) fn sum(&self) -> ExpectedStatistics<S, T, N> {
        let mut total: ExpectedStatistics<S, T, N> = ExpectedStatistics::ZERO;
        let sum = |columns: &[T; N]| sum_of::<T, N>(|k| columns[k]);
        for i in 0..N {
            total.initial[i] = sum(&self.initial[i]);
            for j in 0..N {
                total.transition[i][j] = sum(&self.transition[i][j]);
                total.emission[i].add_scaled(T::ONE, &self.emission[i][j]);
            }
        }
        total
    }

    /// Takes out statistics that do not depend on the current state, `tau_k - S f_k`.
    pub(super) fn take_out(&mut self, total: &ExpectedStatistics<S, T, N>, filtered: &[T; N]) {
        let take = |columns: &mut [T; N], total: T| {
            for k in 0..N {
                columns[k] = columns[k] - total * filtered[k];
            }
        };
        for i in 0..N {
            take(&mut self.initial[i], total.initial[i]);
            for j in 0..N {
                take(&mut self.transition[i][j], total.transition[i][j]);
                self.emission[i][j].add_scaled(-filtered[j], &total.emission[i]);
            }
        }
    }
}

/// Keeps a limit of zeros where it stops: within `2^63` of zero in `f32`, `2^511` in `f64`.
#[inline(always)]
pub(super) fn hold<T: Real>(entry: &mut T) {
    let bound = T::power_of_two(T::power_of_two(i32::MAX).exponent() / 2);
    // Written so that a NaN, of two infinities, becomes the bound.
    let below = *entry <= bound;
    if !below {
        *entry = bound;
    } else if *entry < -bound {
        *entry = -bound;
    }
}
