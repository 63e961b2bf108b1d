mod lanes;

use fishweir_core::emission::{
    AutoregressiveMoments, AutoregressiveView, Emission, GaussianMoments, GaussianView,
    Parametrisation,
};
use fishweir_core::number::{Number, RealParameter};
use lanes::{Prediction, add_lanes, log_likelihoods};
use rand_chacha::ChaCha8Rng;

use super::device::{Content, tangent};
use super::gaussian::{GaussianVec, fields};
use super::moments::{Moments, centre_and_spread_of_cluster, estimate, score};
use super::rows::{by_view, there, with_lanes};
use super::{
    AllBanks, Block, DeployedEmission, DoesNotFit, Drawn, Family, Field, FieldKind, HostWeight,
    Observed, OverRows, Parts, Precision, Rates, Regularisation, Shape, Weighed, Width,
    table_towards,
};
use crate::data::Values;
use crate::data::internals::is_partial;
use crate::elementary::Elementary;
use crate::runtime::numbers::normal;
use crate::runtime::{HmmError, check};

/// Channels that are Gaussian about a linear prediction, each from its own past: rows are a sample and those
/// before it.
#[derive(Debug)]
pub(crate) struct Autoregressive;

const MEAN: Block = Block::new("mean", Width::Own);
const STD: Block = Block::new("std", Width::Own);
const CENTRE: Block = Block::new("centre", Width::Own);
const COEFFICIENT: Block = Block::new("coefficient", Width::Past);

/// One of these for each state.
type OfStates<'a> = [&'a [Vec<f64>]; 4];

/// Numbers that a state's view borrows in addition to its parameters.
struct Borrowed {
    rate: Vec<Vec<f64>>,
    none: Vec<()>,
}

impl Borrowed {
    fn of([_, std, _, coefficient]: OfStates<'_>) -> Self {
        let rate = std.iter().map(|row| row.iter().map(|std| 1.0 / std).collect()).collect();
        let longest = std.first().map_or(0, Vec::len) + coefficient.first().map_or(0, Vec::len);
        Self { rate, none: vec![(); longest] }
    }

    /// The core's distribution of a state; nothing here reads its normaliser.
    fn view<'a>(
        &'a self,
        [mean, _, centre, coefficient]: OfStates<'a>,
        state: usize,
    ) -> AutoregressiveView<'a, f64> {
        let (linear, slope) = self.none.split_at(mean[state].len());
        let innovation = GaussianView {
            mean: &mean[state],
            rate: &self.rate[state],
            constant: 0.0,
            linear,
            quadratic: linear,
        };
        let (centre, coefficient) = (&centre[state], &coefficient[state]);
        AutoregressiveView { innovation, centre, coefficient, slope }
    }
}

/// A state's statistics, to be changed.
fn moments<'a>(
    blocks: &'a mut [&mut [Vec<f64>]; 6],
    state: usize,
) -> AutoregressiveMoments<'a, f64> {
    let [occupancy, sum, square, past, cross, product] = blocks;
    AutoregressiveMoments {
        occupancy: &mut occupancy[state][0],
        sum: &mut sum[state],
        square: &mut square[state],
        past: &mut past[state],
        cross: &mut cross[state],
        product: &mut product[state],
    }
}

/// Makes each channel's averages those of the samples in which it and its past were there. One that never was stays as
/// expected: its estimate is what it was.
fn leave_out(sums: &mut AutoregressiveMoments<'_, f64>, absent: &[f64], own: usize, lags: usize) {
    for (d, &absent) in absent.iter().enumerate() {
        let count = *sums.occupancy - absent;
        if absent <= 0.0 || count < 1e-8 {
            continue;
        }
        let factor = *sums.occupancy / count;
        sums.square[d] = (sums.square[d] - absent) * factor;
        sums.sum[d] *= factor;
        for l in 0..lags {
            sums.past[l * own + d] *= factor;
            sums.cross[l * own + d] *= factor;
            for k in 0..lags {
                sums.product[(l * lags + k) * own + d] *= factor;
            }
        }
    }
}

impl Autoregressive {
    /// One state about the sequences' centre that has seen some rows.
    fn fitted(&self, rows: &[&[f64]], held: &Regularisation<'_>) -> Parts {
        let own = held.centre.len() / held.rows.max(1);
        let (centre, none) = (&held.centre[..own], vec![0.0; own]);
        let (mean, spread) = centre_and_spread_of_cluster(rows, centre, &none, 0);
        let spread = spread.iter().map(|&std| if std > 0.0 { std } else { 1.0 }).collect();
        let (centre, past) = held.centre.split_at(own);
        let blocks = [mean, spread, centre.to_vec(), vec![0.0; past.len()]];
        let mut parts = Parts::new(self.parts(), blocks.map(|block| vec![block]));
        // Of fewer rows than these a prediction says nothing.
        if rows.len() > 2 * held.rows {
            let shape = Shape { size: held.centre.len(), components: held.rows };
            let mut statistics = Parts::zero(self.statistics(), 1, shape);
            let weighed: Vec<Weighed<'_>> = rows.iter().map(|row| (*row, &[1.0][..])).collect();
            self.collect(&parts, &weighed, &mut statistics);
            self.maximise(&mut parts, &statistics, held);
        }
        parts
    }
}

impl Family for Autoregressive {
    fn name(&self) -> &'static str {
        "autoregressive"
    }
    fn about(&self) -> &'static str {
        "channels of real numbers, each predicted from its own past at chosen lags"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Reals)
    }
    fn has_past(&self) -> bool {
        true
    }
    fn parts(&self) -> &'static [Block] {
        const { &[MEAN, STD, CENTRE, COEFFICIENT] }
    }
    /// Statistics of the core's `AutoregressiveStatistics`.
    fn statistics(&self) -> &'static [Block] {
        const {
            &[
                Block::new("occupancy", Width::One),
                Block::new("first", Width::Own),
                Block::new("second", Width::Own),
                Block::new("past", Width::Past),
                Block::new("cross", Width::Past),
                Block::new("products", Width::PastLags),
            ]
        }
    }
    fn score(&self) -> &'static [Block] {
        const { &[MEAN, Block::new("log_std", Width::Own), COEFFICIENT] }
    }
    fn in_units(&self, block: &Block) -> bool {
        *block == MEAN
    }
    fn shape(&self, parts: &Parts) -> Shape {
        let [mean, _, _, coefficient] = parts.rows();
        let width = |rows: &[Vec<f64>]| rows.first().map_or(0, Vec::len);
        let (own, past) = (width(mean), width(coefficient));
        Shape { size: own + past, components: 1 + past.checked_div(own).unwrap_or(0) }
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [mean, std, centre, coefficient] = parts.rows();
        let own = shape.own();
        check::gaussians(mean, std, states, own)?;
        check::numbers(CENTRE.name, centre, (states, own), check::FINITE)?;
        let past = shape.size - own;
        check::numbers(COEFFICIENT.name, coefficient, (states, past), check::FINITE)
    }

    /// Standard deviations of what one prediction of all rows leaves: floors are fractions of these, for what a
    /// smooth channel leaves is a small part of how it moves.
    fn spread(&self, rows: &[&[f64]], own: Vec<f64>, held: &Regularisation<'_>) -> Vec<f64> {
        let parts = self.fitted(rows, held);
        let [_, std] = parts.rows();
        // What never moves has no deviation, whatever was taken for one.
        let left: Vec<f64> = std.iter().flatten().zip(&own).map(|(a, &b)| a.min(b)).collect();
        let channels = left.len();
        left.into_iter().chain(own.into_iter().skip(channels)).collect()
    }

    /// Averages over stretches of the score of one prediction of all rows, with the level: states differ in what
    /// they do over some samples, and a row of itself shows little of that.
    fn points(
        &self,
        rows: &[&[f64]],
        step: usize,
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let parts = self.fitted(rows, held);
        let (all, own) = (parts.rows(), self.shape(&parts).own());
        let borrowed = Borrowed::of(all);
        let view = borrowed.view(all, 0);
        let points: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let mut point = Vec::with_capacity(own * (2 + held.rows));
                for d in 0..own {
                    let z = view.innovation(row, d);
                    // Of a state that predicts nothing a channel leaves what moves it.
                    point.extend([(row[d] - view.centre[d]) / scale[d], z, z * z - 1.0]);
                    point.extend((0..view.lags()).map(|l| z * view.past(row, l, d) / scale[d]));
                }
                point
            })
            .collect();
        let reach = 2 * held.rows;
        let stretch = |at: usize| {
            let around = &points[at.saturating_sub(reach)..(at + reach + 1).min(points.len())];
            // What is missing says nothing.
            let mean = |entry: usize| {
                let there = || around.iter().map(|point| point[entry]).filter(|x| !x.is_nan());
                match there().count() {
                    0 => 0.0,
                    count => there().sum::<f64>() / count as f64,
                }
            };
            (0..points[at].len()).map(mean).collect()
        };
        (0..points.len()).step_by(step).map(stretch).collect()
    }

    fn of_cluster(
        &self,
        rows: &[&[f64]],
        _: &[f64],
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let parts = self.fitted(rows, held);
        let [mean, std, centre, coefficient] = parts.rows().map(<[Vec<f64>]>::concat);
        // A cluster of a few points says nothing of a spread.
        let few = rows.len() <= 2 * held.rows;
        let wide = |(std, (scale, floor)): (&f64, (&f64, &f64))| {
            if few { *scale } else { *std }.max(*floor)
        };
        let std = std.iter().zip(scale.iter().zip(held.floor)).map(wide).collect();
        vec![mean, std, centre, coefficient]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let all = parts.rows();
        let borrowed = Borrowed::of(all);
        let (mut blocks, absent) = into.rows_and_absent();
        for state in 0..parts.states() {
            let (view, mut to) = (borrowed.view(all, state), moments(&mut blocks, state));
            for (x, posterior) in samples {
                let weight = posterior[state];
                if !is_partial(x) {
                    view.observe(x, weight, &mut to);
                    continue;
                }
                *to.occupancy += weight;
                for d in 0..view.centre.len() {
                    if view.innovation_of_some(&|d| there(x, d), d).is_some() {
                        view.observe_channel(x, weight, d, &mut to);
                    } else {
                        to.square[d] += weight;
                        absent.add(state, d, view.centre.len(), weight);
                    }
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
        let all = parts.rows();
        let borrowed = Borrowed::of(all);
        let states = parts.states();
        let (samples, entries) = (weights.len() / states, sums.len() / states);
        let each = weights.chunks_exact(samples).zip(sums.chunks_exact_mut(entries));
        for (state, (weights, sums)) in each.enumerate() {
            let of = Prediction::of(&borrowed.view(all, state));
            with_lanes!(lanes, (x, weights, sums) => add_lanes(of, x, weights, sums));
        }
    }

    /// Coefficients by weighted least squares, as the core's, and then means and deviations of what they leave.
    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let (own, lags) = (self.shape(parts).own(), self.shape(parts).components.saturating_sub(1));
        let (before, mut statistics) = (parts.clone(), statistics.clone());
        let borrowed = Borrowed::of(before.rows());
        let (mut matrix, mut step) = (vec![0.0; lags * lags], vec![0.0; lags]);
        let counts: Vec<Vec<f64>> =
            (0..before.states()).map(|state| statistics.absent(state).to_vec()).collect();
        let mut blocks = statistics.rows_mut();
        let [mean, std, _, coefficient] = parts.rows_mut();
        for state in 0..before.states() {
            let mut sums = moments(&mut blocks, state);
            leave_out(&mut sums, &counts[state], own, lags);
            if *sums.occupancy < 1e-8 {
                continue;
            }
            let room = (matrix.as_mut_slice(), step.as_mut_slice());
            borrowed.view(before.rows(), state).regress(&mut sums, &mut coefficient[state], room);
            let left = (*sums.occupancy, &*sums.sum, &*sums.square);
            estimate((&mut mean[state], &mut std[state]), left, &[], &held.floor[..own]);
        }
    }

    fn has_floor(&self) -> bool {
        true
    }
    fn floored(&self, parts: &Parts, floor: &[f64]) -> Vec<usize> {
        super::gaussian::Gaussian.floored(parts, &floor[..self.shape(parts).own()])
    }

    /// The centre is not a free parameter.
    fn free_parameters(&self, parts: &Parts) -> usize {
        let shape = self.shape(parts);
        parts.states() * (shape.size + shape.own())
    }

    /// The sensor's channels, of a past at the centre.
    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        self.draw_after(parts, state, &[], rng)
    }

    fn draw_after(&self, parts: &Parts, state: usize, past: &[f64], rng: &mut ChaCha8Rng) -> Drawn {
        let [mean, std, centre, coefficient] = parts.rows().map(|rows| &rows[state]);
        let own = mean.len();
        let one = |d: usize| {
            let told = past.iter().zip(coefficient).skip(d).step_by(own);
            let told: f64 = told.map(|(x, a)| a * (x - centre[d])).sum();
            mean[d] + told + std[d] * normal(rng)
        };
        Drawn::Row((0..own).map(one).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        parametrisation: Parametrisation,
        to: &mut Vec<f64>,
    ) {
        let [mean, std] = parts.rows();
        let [occupancy, first, second, _, cross] = statistics.rows();
        for state in 0..parts.states() {
            let (sum, square) = (&first[state], &second[state]);
            let moments = GaussianMoments { occupancy: occupancy[state][0], sum, square };
            let of = (mean[state].as_slice(), std[state].as_slice());
            let (means, spreads) = score(of, moments, parametrisation.spread);
            to.extend(means.into_iter().chain(spreads).chain(cross[state].iter().copied()));
        }
    }

    /// The mean of the other is that at this one's centre.
    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([means, stds, centres, from], [to_means, to_stds, to_centres, to]) =
            (from.rows(), to.rows());
        let mut mean = table_towards(means, to_means, |from, to| to - from)?;
        let log_std =
            table_towards(stds, to_stds, |from, to| to.portable_ln() - from.portable_ln())?;
        let coefficient = table_towards(from, to, |from, to| to - from)?;
        for (state, mean) in mean.iter_mut().enumerate() {
            for (entry, a) in to[state].iter().enumerate() {
                let d = entry % mean.len();
                mean[d] += a * (centres[state][d] - to_centres[state][d]);
            }
        }
        Some(Parts::new(self.score(), [mean, log_std, coefficient]))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["Autoregressive"]
    }
    fn core_type(&self, shape: Shape, number: &str) -> String {
        let lags = shape.components.saturating_sub(1);
        format!("Autoregressive<{}, {}, {lags}, {number}>", shape.size, shape.own())
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 8] = [
            FieldKind::new(Content::Reals, Width::Own),
            FieldKind::new(Content::Reals, Width::Own),
            FieldKind::new(Content::Weights, Width::One),
            FieldKind::new(Content::Rates, Width::Own),
            FieldKind::new(Content::Rates, Width::Own),
            FieldKind::new(Content::Reals, Width::Own),
            FieldKind::new(Content::Reals, Width::Past),
            FieldKind::new(Content::Rates, Width::Past),
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
        let [mean, std, centre, coefficient] = parts.rows().map(|rows| &rows[state]);
        let along: Vec<[&[Vec<f64>]; 3]> = along.iter().map(|along| along.parts().rows()).collect();
        let gaussian: Vec<Moments<'_>> = along
            .iter()
            .map(|[mean, log_std, _]| Moments::of_score(&mean[state], &log_std[state], std))
            .collect();
        let slope = |entry: usize| {
            let rate = 1.0 / std[entry % std.len()];
            along.iter().map(|[_, _, moved]| moved[state][entry] * rate).collect()
        };
        let mut fields = fields(mean, std, &gaussian, precision)?;
        fields.push(Field::Reals(centre.clone()));
        fields.push(Field::Reals(coefficient.clone()));
        fields.push(Field::Rates((0..coefficient.len()).map(slope).collect()));
        Ok(fields)
    }

    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        let own = shape.own();
        (own * (2 + 2 * directions) + (shape.size - own) * (2 + directions), 1)
    }
    /// Work if the past is missing: each channel may be left out.
    fn work_of_missing(&self, shape: Shape, _: usize) -> (usize, usize) {
        (0, shape.own())
    }
    fn rows(&self, _: Shape) -> Option<&'static dyn AllBanks> {
        Some(&Self)
    }
}

/// The core's distribution at run-time sizes.
pub(crate) struct AutoregressiveVec<W: RealParameter> {
    innovation: GaussianVec<W>,
    centre: Vec<W::Real>,
    coefficient: Vec<W::Real>,
    slope: Vec<W::Tangent>,
}

impl<W: RealParameter> AutoregressiveVec<W> {
    fn log_marginal(&self, x: &[W::Real]) -> W {
        self.view().log_marginal(|d| there(x, d))
    }

    fn view(&self) -> AutoregressiveView<'_, W> {
        AutoregressiveView {
            innovation: self.innovation.view(),
            centre: &self.centre,
            coefficient: &self.coefficient,
            slope: &self.slope,
        }
    }
}

by_view!(AutoregressiveVec);

impl OverRows for Autoregressive {
    type State<W: HostWeight> = AutoregressiveVec<W>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> AutoregressiveVec<W> {
        let (own, past) = (shape.own(), shape.size - shape.own());
        let slopes: &[Vec<W::Real>] = emission.map_or(&[], |emission| emission.rates(7));
        let slope =
            |entry: usize| tangent::<_, W>(slopes.get(entry).map_or(&[][..], Vec::as_slice), first);
        let reals = |field: usize, count: usize| {
            emission.map_or_else(|| vec![W::Real::ZERO; count], |own| own.reals(field).to_vec())
        };
        AutoregressiveVec {
            innovation: GaussianVec::of(emission, first, own),
            centre: reals(5, own),
            coefficient: reals(6, past),
            slope: (0..past).map(slope).collect(),
        }
    }

    fn log_likelihoods<W: HostWeight>(
        state: &AutoregressiveVec<W>,
        x: &[W::Real],
        logs: &mut [W::Real],
    ) -> bool {
        let view = state.view();
        log_likelihoods(Prediction::of(&view), view.innovation.constant.value(), x, logs);
        true
    }
}
