use fishweir_core::emission::{
    Emission, GaussianMoments, GaussianView, Parametrisation, log_normaliser,
};
use fishweir_core::number::{Number, Real, RealParameter};
use multiversion::multiversion;
use rand_chacha::ChaCha8Rng;

use super::device::{Content, lift, tangent};
use super::moments::{
    self, Moments, add, add_partial, centre_and_spread_of_cluster, estimate, pooled,
};
use super::rows::{by_view, there, with_lanes};
use super::{
    AllBanks, Block, DeployedEmission, Distribution, DoesNotFit, Drawn, Family, Field, FieldKind,
    HostWeight, Observed, OverRows, Parts, Precision, Rates, Regularisation, Shape, Weighed,
    Weight, Width, table_towards,
};
use crate::data::internals::is_partial;
use crate::data::{Sample, Values};
use crate::elementary::Elementary;
use crate::runtime::numbers::normal;
use crate::runtime::{HmmError, check};

/// Channels that are Gaussian, independent given the state.
#[derive(Debug)]
pub(crate) struct Gaussian;

const MEAN: Block = Block::new("mean", Width::Size);

impl Family for Gaussian {
    fn name(&self) -> &'static str {
        "gaussian"
    }
    fn about(&self) -> &'static str {
        "channels of real numbers, each by itself"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Reals)
    }
    fn parts(&self) -> &'static [Block] {
        const { &[MEAN, Block::new("std", Width::Size)] }
    }
    /// About the model's means, of `z = (x - mean) / std`: moments keep their precision at any offset.
    fn statistics(&self) -> &'static [Block] {
        const {
            &[
                Block::new("occupancy", Width::One),
                Block::new("first", Width::Size),
                Block::new("second", Width::Size),
            ]
        }
    }
    fn statistics_name(&self) -> Option<&'static str> {
        Some("moments")
    }
    fn score(&self) -> &'static [Block] {
        const { &[MEAN, Block::new("log_std", Width::Size)] }
    }
    fn in_units(&self, block: &Block) -> bool {
        *block == MEAN
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [mean, std] = parts.rows();
        check::gaussians(mean, std, states, shape.size)
    }

    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        // A cluster of a point or two says nothing of a spread.
        let (mean, spread) = centre_and_spread_of_cluster(rows, centre, scale, 2);
        vec![mean, spread.iter().zip(held.floor).map(|(std, floor)| std.max(*floor)).collect()]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let [mean, std] = parts.rows();
        let ([occupancy, first, second], absent) = into.rows_and_absent();
        let rate: Vec<Vec<f64>> =
            std.iter().map(|std| std.iter().map(|std| 1.0 / std).collect()).collect();
        for (x, posterior) in samples {
            let partial = is_partial(x);
            for j in 0..mean.len().min(posterior.len()) {
                let (weight, of) = (posterior[j], (mean[j].as_slice(), rate[j].as_slice()));
                let to = (first[j].as_mut_slice(), second[j].as_mut_slice());
                occupancy[j][0] += weight;
                if partial {
                    add_partial(x, weight, of, to, |d| absent.add(j, d, x.len(), weight));
                } else {
                    add(x, weight, of, to);
                }
            }
        }
    }

    fn collect_lanes(
        &self,
        parts: &Parts,
        lanes: usize,
        x: &[f64],
        weights: &[f64],
        sums: &mut [f64],
    ) {
        let [mean, std] = parts.rows();
        let (samples, entries) = (weights.len() / mean.len(), sums.len() / mean.len());
        for j in 0..mean.len() {
            let (mean, std) = (&mean[j], &std[j]);
            let (weights, sums) =
                (&weights[j * samples..][..samples], &mut sums[j * entries..][..entries]);
            with_lanes!(lanes, (x, weights, sums) => add_lanes(mean, std, x, weights, sums));
        }
    }

    fn count(&self, parts: &Parts, sample: Sample<'_>, state: usize, into: &mut Parts) {
        let Sample::Row(x) = sample else { return };
        if is_partial(x) {
            let mut posterior = vec![0.0; parts.states()];
            posterior[state] = 1.0;
            return self.collect(parts, &[(x, &posterior)], into);
        }
        let [mean, std] = parts.rows();
        let [occupancy, first, second] = into.rows_mut();
        occupancy[state][0] += 1.0;
        for (channel, x) in x.iter().enumerate() {
            let z = (x - mean[state][channel]) / std[state][channel];
            first[state][channel] += z;
            second[state][channel] += z * z;
        }
    }

    fn moments(&self, parts: &Parts, statistics: &Parts) -> Option<Vec<[f64; 2]>> {
        let (parts, statistics): ([_; 2], [_; 3]) = (parts.rows(), statistics.rows());
        let channels = parts[0].first().map_or(0, Vec::len);
        Some((0..channels).map(|d| pooled(parts, statistics, d)).collect())
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let [mean, std] = parts.rows_mut();
        let [occupancy, first, second] = statistics.rows();
        for (state, occupancy) in occupancy.iter().map(|row| row[0]).enumerate() {
            let sums = (occupancy, first[state].as_slice(), second[state].as_slice());
            let absent = statistics.absent(state);
            estimate((&mut mean[state], &mut std[state]), sums, absent, held.floor);
        }
    }

    fn has_floor(&self) -> bool {
        true
    }
    fn floored(&self, parts: &Parts, floor: &[f64]) -> Vec<usize> {
        let [_, std] = parts.rows();
        let held = |(channel, floor): (usize, &f64)| {
            std.iter().filter(|std| std[channel] <= floor * (1.0 + 1e-9)).count()
        };
        floor.iter().enumerate().map(held).collect()
    }

    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let [mean, std] = parts.rows();
        let variance = std.get(state)?.iter().map(|std| std * std).collect();
        Some(Distribution::Gaussian { mean: mean.get(state)?.clone(), variance })
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let [mean, std] = parts.rows();
        let channels = mean[state].iter().zip(&std[state]);
        Drawn::Row(channels.map(|(mean, std)| mean + std * normal(rng)).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        parametrisation: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let [mean, std] = parts.rows();
        let [occupancy, first, second] = statistics.rows();
        let states = mean.iter().zip(std).zip(occupancy).zip(first.iter().zip(second));
        for (((mean, std), occupancy), (sum, square)) in states {
            let own = GaussianMoments { occupancy: occupancy[0], sum, square };
            let (means, spreads) = moments::score((mean, std), own, parametrisation.spread);
            score.extend(means.into_iter().chain(spreads));
        }
    }

    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([from_mean, from_std], [to_mean, to_std]) = (from.rows(), to.rows());
        let mean = table_towards(from_mean, to_mean, |from, to| to - from)?;
        let log_std =
            table_towards(from_std, to_std, |from, to| to.portable_ln() - from.portable_ln())?;
        Some(Parts::new(self.score(), [mean, log_std]))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["Gaussian"]
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 5] = [
            FieldKind::new(Content::Reals, Width::Size),
            FieldKind::new(Content::Reals, Width::Size),
            FieldKind::new(Content::Weights, Width::One),
            FieldKind::new(Content::Rates, Width::Size),
            FieldKind::new(Content::Rates, Width::Size),
        ];
        &FIELDS
    }

    fn deploy(
        &self,
        parts: &Parts,
        state: usize,
        along: &[Rates<'_>],
        precision: &Precision,
    ) -> Result<Vec<Field<f64>>, DoesNotFit> {
        let [mean, std] = parts.rows();
        let along: Vec<Moments<'_>> = along
            .iter()
            .map(|along| match *along {
                Rates::Score(parts) => {
                    let [mean, log_std] = parts.rows();
                    Moments::of_score(&mean[state], &log_std[state], &std[state])
                }
                Rates::Statistics(parts) => {
                    let [occupancy, first, second] = parts.rows();
                    Moments {
                        constant: occupancy[state][0],
                        linear: first[state].clone(),
                        quadratic: &second[state],
                    }
                }
            })
            .collect();
        fields(&mean[state], &std[state], &along, precision)
    }

    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        (shape.size * (2 + 2 * directions), 1)
    }
    fn work_of_missing(&self, shape: Shape, _: usize) -> (usize, usize) {
        (0, shape.size.saturating_sub(1))
    }
    fn rows(&self, _: Shape) -> Option<&'static dyn AllBanks> {
        Some(&Self)
    }
}

/// The fields of the core's `Gaussian`.
pub(super) fn fields(
    mean: &[f64],
    std: &[f64],
    along: &[Moments<'_>],
    precision: &Precision,
) -> Result<Vec<Field<f64>>, DoesNotFit> {
    // A device holds rates; whoever reads of one that does not fit knows deviations.
    // The normaliser is that of the rounded rates, so that the device's density is one.
    let mut rates = vec![0.0; std.len()];
    for channel in 0..std.len() {
        let rate = precision.narrow("std", channel, 1.0 / std[channel]);
        rates[channel] = rate.map_err(|refused| DoesNotFit { value: std[channel], ..refused })?;
    }
    let constant = Weight {
        value: log_normaliser(&rates),
        tangent: along.iter().map(|along| along.constant).collect(),
    };
    let by_channel = |of: &dyn Fn(&Moments<'_>, usize) -> f64| {
        // Made for every pass of a training, mostly without directions: then nothing is allocated but the list.
        let mut channels = Vec::with_capacity(mean.len());
        for d in 0..mean.len() {
            let mut rates = if along.is_empty() { Vec::new() } else { vec![0.0; along.len()] };
            for k in 0..along.len() {
                rates[k] = of(&along[k], d);
            }
            channels.push(rates);
        }
        channels
    };
    Ok(vec![
        Field::Reals(mean.to_vec()),
        Field::Reals(rates),
        Field::Weights(vec![constant]),
        Field::Rates(by_channel(&|along, d| along.linear[d])),
        Field::Rates(by_channel(&|along, d| along.quadratic[d])),
    ])
}

impl<T> DeployedEmission<T> {
    /// The fields of the core's `Gaussian`, of that family.
    pub(crate) fn gaussian(&self) -> Option<GaussianFields<'_, T>> {
        if self.family.name() == Gaussian.name() { self.begins_gaussian() } else { None }
    }

    /// The fields of the core's `Gaussian` that others begin with.
    pub(super) fn begins_gaussian(&self) -> Option<GaussianFields<'_, T>> {
        Some(GaussianFields {
            mean: self.reals(0),
            rate: self.reals(1),
            constant: self.weights(2).first()?,
            linear: self.rates(3),
            quadratic: self.rates(4),
        })
    }
}

/// See [`DeployedEmission::gaussian`].
pub(crate) struct GaussianFields<'a, T> {
    /// `[channel]`.
    pub(crate) mean: &'a [T],
    /// `[channel]`.
    pub(crate) rate: &'a [T],
    pub(crate) constant: &'a Weight<T>,
    /// `[channel][output]`.
    pub(crate) linear: &'a [Vec<T>],
    /// `[channel][output]`.
    pub(crate) quadratic: &'a [Vec<T>],
}

/// A diagonal Gaussian with a run-time number of channels. Fields as in the core's `Gaussian`.
pub(crate) struct GaussianVec<W: RealParameter> {
    mean: Vec<W::Real>,
    rate: Vec<W::Real>,
    constant: W,
    linear: Vec<W::Tangent>,
    quadratic: Vec<W::Tangent>,
}

impl<W: RealParameter> GaussianVec<W> {
    pub(super) fn of(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        size: usize,
    ) -> Self {
        let rates = |rates: &[Vec<W::Real>]| {
            rates.iter().map(|rates| tangent::<_, W>(rates, first)).collect()
        };
        match emission.and_then(DeployedEmission::begins_gaussian) {
            Some(fields) => Self {
                mean: fields.mean.to_vec(),
                rate: fields.rate.to_vec(),
                constant: lift(Some(fields.constant), first),
                linear: rates(fields.linear),
                quadratic: rates(fields.quadratic),
            },
            None => Self {
                mean: vec![W::Real::ZERO; size],
                rate: vec![W::Real::ZERO; size],
                constant: W::constant(W::Real::NEG_INFINITY),
                linear: vec![tangent::<_, W>(&[], 0); size],
                quadratic: vec![tangent::<_, W>(&[], 0); size],
            },
        }
    }

    fn log_marginal(&self, x: &[W::Real]) -> W {
        self.view().log_marginal(|d| there(x, d))
    }

    pub(super) fn view(&self) -> GaussianView<'_, W> {
        GaussianView {
            mean: &self.mean,
            rate: &self.rate,
            constant: self.constant,
            linear: &self.linear,
            quadratic: &self.quadratic,
        }
    }
}

by_view!(GaussianVec);

impl OverRows for Gaussian {
    type State<W: HostWeight> = GaussianVec<W>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> GaussianVec<W> {
        GaussianVec::of(emission, first, shape.size)
    }

    fn log_likelihoods<W: HostWeight>(
        state: &GaussianVec<W>,
        x: &[W::Real],
        logs: &mut [W::Real],
    ) -> bool {
        let GaussianView { mean, rate, constant, .. } = state.view();
        log_likelihoods(mean, rate, constant.value(), x, logs);
        true
    }
}

/// `constant - 1/2 sum_d z_d^2` of many samples, `[channel][sample]`, in the order of [`GaussianView`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn log_likelihoods<T: Real>(mean: &[T], rate: &[T], constant: T, x: &[T], logs: &mut [T]) {
    logs.fill(T::ZERO);
    let samples = logs.len();
    for d in 0..mean.len().min(rate.len()).min(x.len() / samples) {
        let (mean, rate, x) = (mean[d], rate[d], &x[d * samples..][..samples]);
        for i in 0..samples {
            let z = (x[i] - mean) * rate;
            logs[i] = logs[i] + z * z;
        }
    }
    for log in logs {
        *log = constant - T::HALF * *log;
    }
}

/// Adds weighed samples, `[channel][step][lane]` and `[step][lane]`, to a state's moments, `[moment][lane]`:
/// in the order of [`add`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_lanes<const L: usize>(
    mean: &[f64],
    std: &[f64],
    x: &[[f64; L]],
    weights: &[[f64; L]],
    sums: &mut [[f64; L]],
) {
    let Some((occupancy, moments)) = sums.split_first_mut() else { return };
    let steps = weights.len();
    for step in 0..steps {
        for lane in 0..L {
            occupancy[lane] += weights[step][lane];
        }
    }
    let (first, second) = moments.split_at_mut(moments.len() / 2);
    for d in 0..mean.len() {
        let (mean, rate, x) = (mean[d], 1.0 / std[d], &x[d * steps..][..steps]);
        // In registers, over all steps.
        let (mut sum, mut square) = (first[d], second[d]);
        for step in 0..steps {
            let (x, weights) = (&x[step], &weights[step]);
            for lane in 0..L {
                let z = (x[lane] - mean) * rate;
                let weighed = weights[lane] * z;
                sum[lane] += weighed;
                square[lane] += weighed * z;
            }
        }
        (first[d], second[d]) = (sum, square);
    }
}
