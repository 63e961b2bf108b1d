//! Many rows at once, of several sequences side by side: bit for bit what each alone gives.

use fishweir_core::emission::AutoregressiveView;
use fishweir_core::number::{Real, RealParameter};
use multiversion::multiversion;

/// Parameters of a state's prediction.
#[derive(Clone, Copy)]
pub(super) struct Prediction<'a, T> {
    mean: &'a [T],
    rate: &'a [T],
    centre: &'a [T],
    coefficient: &'a [T],
}

impl<'a, T: Real> Prediction<'a, T> {
    pub(super) fn of<W: RealParameter<Real = T>>(view: &AutoregressiveView<'a, W>) -> Self {
        let AutoregressiveView { innovation, centre, coefficient, .. } = *view;
        Self { mean: innovation.mean, rate: innovation.rate, centre, coefficient }
    }

    /// Channel by channel: its mean, rate and centre.
    fn channels(self) -> impl Iterator<Item = (usize, T, T, T)> {
        let each = self.mean.iter().zip(self.rate).zip(self.centre);
        each.enumerate().map(|(d, ((&mean, &rate), &centre))| (d, mean, rate, centre))
    }
}

/// Samples whose squares are summed at once: they stay in registers.
const AT_ONCE: usize = 32;

/// `constant - 1/2 sum_d z_d^2` of many rows, `[channel][row]`, in the order of [`AutoregressiveView`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn log_likelihoods<T: Real>(
    of: Prediction<'_, T>,
    constant: T,
    x: &[T],
    logs: &mut [T],
) {
    let (own, rows) = (of.mean.len(), logs.len());
    for (chunk, logs) in logs.chunks_mut(AT_ONCE).enumerate() {
        let count = logs.len().min(AT_ONCE);
        let at = |channel: usize| &x[channel * rows + chunk * AT_ONCE..][..count];
        let mut square = [T::ZERO; AT_ONCE];
        for (d, mean, rate, centre) in of.channels() {
            let (mut left, x) = ([T::ZERO; AT_ONCE], at(d));
            for i in 0..count {
                left[i] = x[i] - mean;
            }
            for lag in 0..of.coefficient.len() / own {
                let (a, x) = (of.coefficient[lag * own + d], at((lag + 1) * own + d));
                for i in 0..count {
                    left[i] = left[i] - a * (x[i] - centre);
                }
            }
            for i in 0..count {
                let z = left[i] * rate;
                square[i] = square[i] + z * z;
            }
        }
        for i in 0..count {
            logs[i] = constant - T::HALF * square[i];
        }
    }
}

/// Adds weighed rows, `[channel][step][lane]` and `[step][lane]`, to a state's statistics, `[entry][lane]`: in the
/// order of [`AutoregressiveView::observe`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn add_lanes<const L: usize>(
    of: Prediction<'_, f64>,
    x: &[[f64; L]],
    weights: &[[f64; L]],
    sums: &mut [[f64; L]],
) {
    let own = of.mean.len();
    let lags = of.coefficient.len() / own;
    let [occupancy, sum, square, past, cross, product] =
        split(sums, [1, own, own, own * lags, own * lags]);
    let mut v = vec![[0.0; L]; lags];
    for (step, weights) in weights.iter().enumerate() {
        let at = |channel: usize| &x[channel * (x.len() / (own + own * lags)) + step];
        each(&mut occupancy[0], |i| weights[i]);
        for (d, mean, rate, centre) in of.channels() {
            let mut z = *at(d);
            for lane in 0..L {
                z[lane] -= mean;
            }
            for (l, v) in v.iter_mut().enumerate() {
                let (a, x) = (of.coefficient[l * own + d], at((l + 1) * own + d));
                for lane in 0..L {
                    let u = x[lane] - centre;
                    z[lane] += -(a * u);
                    v[lane] = u * rate;
                }
            }
            for lane in 0..L {
                z[lane] *= rate;
            }
            let mut weighed = z;
            for lane in 0..L {
                weighed[lane] *= weights[lane];
            }
            each(&mut sum[d], |i| weighed[i]);
            each(&mut square[d], |i| weighed[i] * z[i]);
            for (l, own_v) in v.iter().enumerate() {
                let entry = l * own + d;
                let mut weighed_v = *own_v;
                for lane in 0..L {
                    weighed_v[lane] *= weights[lane];
                }
                each(&mut past[entry], |i| weighed_v[i]);
                each(&mut cross[entry], |i| weighed[i] * own_v[i]);
                for (k, other) in v.iter().take(l + 1).enumerate() {
                    let product = &mut product[(l * lags + k) * own + d];
                    each(product, |i| weighed_v[i] * other[i]);
                }
            }
        }
    }
}

/// Adds to each lane.
#[inline(always)]
fn each<const L: usize>(to: &mut [f64; L], what: impl Fn(usize) -> f64) {
    for i in 0..L {
        to[i] += what(i);
    }
}

/// Splits a buffer into pieces of the given lengths, and the rest.
fn split<T, const N: usize, const M: usize>(all: &mut [T], lengths: [usize; N]) -> [&mut [T]; M] {
    let mut rest = all;
    std::array::from_fn(|part| {
        let length = lengths.get(part).copied().unwrap_or(rest.len());
        let (first, after) = std::mem::take(&mut rest).split_at_mut(length);
        rest = after;
        first
    })
}
