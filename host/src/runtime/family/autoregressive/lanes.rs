//! Many rows at once, of several sequences side by side: bit for bit what each alone gives.

use fishweir_core::emission::AutoregressiveView;
use fishweir_core::number::{Real, RealParameter};
use multiversion::multiversion;

/// What a state predicts by.
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
pub(super) fn log_likelihoods<T: Real>(of: Prediction<'_, T>, constant: T, x: &[T], logs: &mut [T]) {
    let (own, rows) = (of.mean.len(), logs.len());
    for (chunk, logs) in logs.chunks_mut(AT_ONCE).enumerate() {
        let at = |channel: usize| x[channel * rows + chunk * AT_ONCE..].iter().take(logs.len());
        let mut square = [T::ZERO; AT_ONCE];
        for (d, mean, rate, centre) in of.channels() {
            let mut left = [T::ZERO; AT_ONCE];
            left.iter_mut().zip(at(d)).for_each(|(left, &x)| *left = x - mean);
            let coefficients = of.coefficient.iter().skip(d).step_by(own);
            for (past, &a) in (d..).step_by(own).skip(1).zip(coefficients) {
                for (left, &x) in left.iter_mut().zip(at(past)) {
                    *left = *left - a * (x - centre);
                }
            }
            for (square, &left) in square.iter_mut().zip(&left) {
                let z = left * rate;
                *square = *square + z * z;
            }
        }
        for (log, square) in logs.iter_mut().zip(square) {
            *log = constant - T::HALF * square;
        }
    }
}

/// Adds weighed rows, `[channel][step][lane]` and `[step][lane]`, to a state's statistics, `[entry][lane]`: in the
/// order of [`AutoregressiveView::observe`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn add_lanes(
    of: Prediction<'_, f64>,
    lanes: usize,
    x: &[f64],
    weights: &[f64],
    sums: &mut [f64],
) {
    let (own, lags) = (of.mean.len(), of.coefficient.len() / of.mean.len());
    let [occupancy, sum, square, past, cross, product] =
        split(sums, [1, own, own, own * lags, own * lags].map(|entries| entries * lanes));
    let (mut z, mut weighed) = (vec![0.0; lanes], vec![0.0; lanes]);
    let mut v = vec![0.0; lags * lanes];
    for (step, weights) in weights.chunks_exact(lanes).enumerate() {
        let at = |channel: usize| &x[channel * (x.len() / (own + own * lags)) + step * lanes..];
        add(occupancy, weights.iter().copied());
        for (d, mean, rate, centre) in of.channels() {
            z.iter_mut().zip(at(d)).for_each(|(z, x)| *z = x - mean);
            for (l, v) in v.chunks_exact_mut(lanes).enumerate() {
                let a = of.coefficient[l * own + d];
                for ((z, v), x) in z.iter_mut().zip(v).zip(at((l + 1) * own + d)) {
                    let u = x - centre;
                    *z -= a * u;
                    *v = u * rate;
                }
            }
            z.iter_mut().for_each(|z| *z *= rate);
            weighed.iter_mut().zip(weights.iter().zip(&z)).for_each(|(to, (w, z))| *to = w * z);
            let entry = |index: usize| index * lanes..(index + 1) * lanes;
            add(&mut sum[entry(d)], weighed.iter().copied());
            add(&mut square[entry(d)], weighed.iter().zip(&z).map(|(w, z)| w * z));
            for (l, own_v) in v.chunks_exact(lanes).enumerate() {
                let at = entry(l * own + d);
                add(&mut past[at.clone()], weights.iter().zip(own_v).map(|(w, v)| w * v));
                add(&mut cross[at], weighed.iter().zip(own_v).map(|(w, v)| w * v));
                for (k, other) in v.chunks_exact(lanes).take(l + 1).enumerate() {
                    let both = weights.iter().zip(own_v).zip(other).map(|((w, v), o)| w * v * o);
                    add(&mut product[entry((l * lags + k) * own + d)], both);
                }
            }
        }
    }
}

fn add(to: &mut [f64], what: impl Iterator<Item = f64>) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
}

/// The first so many, the next, and what is left.
fn split<const N: usize, const M: usize>(mut all: &mut [f64], lengths: [usize; N]) -> [&mut [f64]; M] {
    std::array::from_fn(|part| {
        let length = lengths.get(part).copied().unwrap_or(all.len());
        let (first, rest) = std::mem::take(&mut all).split_at_mut(length);
        all = rest;
        first
    })
}
