use fishweir_core::emission::{Emission, FullGaussianView, GaussianMoments, Parametrisation};
use fishweir_core::number::{Number, Real, RealParameter};
use nalgebra::{DMatrix, SymmetricEigen};
use rand_chacha::ChaCha8Rng;

use super::device::{Content, lift, tangent};
use super::moments::centre_and_spread_of_cluster;
use super::rows::{by_view, there};
use super::{
    AllBanks, Block, DeployedEmission, Distribution, DoesNotFit, Drawn, Family, Field, FieldKind,
    HostWeight, Observed, OverRows, Parts, Precision, Rates, Regularisation, Shape, Weighed,
    Weight, Width,
};
use crate::data::Values;
use crate::data::internals::is_partial;
use crate::runtime::numbers::normal;
use crate::runtime::{HmmError, check};

/// Channels that are Gaussian together, with a covariance matrix.
///
/// `z = R (x - mean)` with the lower triangular `R` of which `R' R` is the inverse covariance.
#[derive(Debug)]
pub(crate) struct FullGaussian;

const MEAN: Block = Block::new("mean", Width::Size);
const COVARIANCE: Block = Block::new("covariance", Width::Square);

/// Factor `R` of a covariance matrix, row by row; `None` for a matrix that is not positive definite.
fn factor(covariance: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut factor = covariance.to_vec();
    FullGaussianView::<f64>::factorise(&mut factor, size).ok()?;
    Some(factor)
}

/// Factors of all states; empty for a matrix that is not positive definite.
fn factors(covariance: &[Vec<f64>], size: usize) -> Vec<Vec<f64>> {
    covariance.iter().map(|matrix| factor(matrix, size).unwrap_or_default()).collect()
}

/// Variances, in units of the floors, along the principal axes, and the axes as columns; `None` where
/// the iteration does not end.
fn principal_axes(covariance: &[f64], floor: &[f64]) -> Option<SymmetricEigen<f64, nalgebra::Dyn>> {
    let size = floor.len();
    let in_floors = |row, column| covariance[row * size + column] / (floor[row] * floor[column]);
    let matrix = DMatrix::from_fn(size, size, in_floors);
    SymmetricEigen::try_new(matrix, f64::EPSILON, 100 * size)
}

/// The likeliest mean and covariance of a state of which no direction's deviation is below the floor, in
/// units of the channels' floors: neither their order nor their units matter. Clamped variances along the
/// principal axes are the likeliest that there are. `None` where there is no estimate.
fn estimate(
    mean: &[f64],
    covariance: &[f64],
    moments: GaussianMoments<'_, f64>,
    floor: &[f64],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let size = mean.len();
    let square = || vec![0.0; size * size];
    // In units of the floors, in which one floor serves all channels; `z` is the same in all units.
    let mut own = factor(covariance, size)?;
    for row in own.chunks_mut(size.max(1)) {
        row.iter_mut().zip(floor).for_each(|(entry, floor)| *entry *= floor);
    }
    let centre: Vec<f64> = mean.iter().zip(floor).map(|(mean, floor)| mean / floor).collect();
    let (mut next, mut factor, mut scratch) = (vec![0.0; size], square(), square());
    let view = FullGaussianView::from_factor(&centre, &own);
    // Far below the floor, and enough for channels of which one follows from others.
    view.maximise(moments, 1e-9, &mut next, &mut factor, &mut scratch).ok()?;
    let mut found = square();
    FullGaussianView::from_factor(&next, &factor).covariance(&mut found, &mut scratch);
    let units = vec![1.0; size];
    let axes = principal_axes(&found, &units)?;
    if axes.eigenvalues.iter().any(|&variance| variance < 1.0) {
        for (entry, found) in found.iter_mut().enumerate() {
            let (row, column) = (entry / size, entry % size);
            let part = |axis| axes.eigenvectors[(row, axis)] * axes.eigenvectors[(column, axis)];
            let along = axes.eigenvalues.iter().enumerate();
            let along = along.map(|(axis, variance)| variance.max(1.0) * part(axis));
            *found = along.sum();
        }
    }
    for (row, own) in found.chunks_mut(size.max(1)).zip(floor) {
        row.iter_mut().zip(floor).for_each(|(entry, other)| *entry *= own * other);
    }
    next.iter_mut().zip(floor).for_each(|(mean, floor)| *mean *= floor);
    Some((next, found))
}

impl Family for FullGaussian {
    fn name(&self) -> &'static str {
        "full-gaussian"
    }
    fn about(&self) -> &'static str {
        "channels of real numbers, with a covariance matrix"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Reals)
    }
    fn parts(&self) -> &'static [Block] {
        &[MEAN, COVARIANCE]
    }
    /// Statistics of `z`: sums, and its products on and left of the diagonal.
    fn statistics(&self) -> &'static [Block] {
        const {
            &[
                Block::new("occupancy", Width::One),
                Block::new("first", Width::Size),
                Block::new("products", Width::Square),
            ]
        }
    }
    fn statistics_name(&self) -> Option<&'static str> {
        Some("products")
    }
    /// The logarithm of the covariance matrix: see the core's `Spread`.
    fn score(&self) -> &'static [Block] {
        const { &[MEAN, Block::new("log_std", Width::Square)] }
    }
    fn in_units(&self, block: &Block) -> bool {
        *block == MEAN
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [mean, covariance] = parts.rows();
        check::numbers(MEAN.name, mean, (states, shape.size), check::FINITE)?;
        let entries = shape.size * shape.size;
        check::numbers(COVARIANCE.name, covariance, (states, entries), check::FINITE)?;
        let broken = covariance.iter().position(|matrix| factor(matrix, shape.size).is_none());
        broken.map_or(Ok(()), |state| {
            let wanted = "a symmetric and positive definite matrix";
            Err(HmmError::Range { part: format!("{}[{state}]", COVARIANCE.name), wanted })
        })
    }

    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let size = scale.len();
        let (mean, spread) = centre_and_spread_of_cluster(rows, centre, scale, size);
        let mut covariance = vec![0.0; size * size];
        for (channel, (spread, floor)) in spread.iter().zip(held.floor).enumerate() {
            covariance[channel * size + channel] = spread.max(*floor).powi(2);
        }
        let mut parts = Parts::new(self.parts(), [vec![mean], vec![covariance]]);
        // A cluster of a few points says nothing of what channels have to do with each other.
        if rows.len() > size {
            let mut statistics = Parts::zero(self.statistics(), 1, Shape { size, components: 1 });
            let weighed: Vec<Weighed<'_>> = rows.iter().map(|row| (*row, &[1.0][..])).collect();
            self.collect(&parts, &weighed, &mut statistics);
            self.maximise(&mut parts, &statistics, held);
        }
        let [mean, covariance] = parts.rows();
        vec![mean.concat(), covariance.concat()]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let size = self.shape(parts).size;
        let [mean, covariance] = parts.rows();
        let [occupancy, first, products] = into.rows_mut();
        let factors = factors(covariance, size);
        let (mut z, mut basis) = (vec![0.0; size], vec![0.0; size * size]);
        for (state, (mean, factor)) in mean.iter().zip(&factors).enumerate() {
            let view = FullGaussianView::from_factor(mean, factor);
            for (x, posterior) in samples {
                let (occupancy, first) = (&mut occupancy[state][0], &mut first[state]);
                if is_partial(x) {
                    let to = (occupancy, first.as_mut_slice(), products[state].as_mut_slice());
                    let scratch = (z.as_mut_slice(), basis.as_mut_slice());
                    view.observe_partial(|d| there(x, d), posterior[state], to, scratch);
                    continue;
                }
                view.observe(x, posterior[state], occupancy, first, &mut products[state], &mut z);
            }
        }
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let ([mean, covariance], [occupancy, first, products]) =
            (parts.rows_mut(), statistics.rows());
        for (state, (mean, covariance)) in mean.iter_mut().zip(covariance).enumerate() {
            let occupancy = occupancy[state][0];
            if occupancy < 1e-8 {
                continue;
            }
            let moments =
                GaussianMoments { occupancy, sum: &first[state], square: &products[state] };
            if let Some(next) = estimate(mean, covariance, moments, held.floor) {
                (*mean, *covariance) = next;
            }
        }
    }

    fn has_floor(&self) -> bool {
        true
    }

    /// Channels that have a part in a direction that is held.
    fn floored(&self, parts: &Parts, floor: &[f64]) -> Vec<usize> {
        let [_, covariance] = parts.rows();
        let mut states = vec![0; floor.len()];
        for axes in covariance.iter().filter_map(|covariance| principal_axes(covariance, floor)) {
            let held = |axis: &usize| axes.eigenvalues[*axis] <= 1.0 + 1e-6;
            let axes_held: Vec<usize> = (0..floor.len()).filter(held).collect();
            for (channel, states) in states.iter_mut().enumerate() {
                // Held axes are as good as any others that span the same directions: their sum is not.
                let part = |&axis: &usize| axes.eigenvectors[(channel, axis)].powi(2);
                *states += usize::from(axes_held.iter().map(part).sum::<f64>() > 0.01);
            }
        }
        states
    }

    fn free_parameters(&self, parts: &Parts) -> usize {
        let size = self.shape(parts).size;
        parts.states() * (size + size * (size + 1) / 2)
    }

    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let [mean, covariance] = parts.rows();
        let (mean, covariance) = (mean.get(state)?.clone(), covariance.get(state)?.clone());
        Some(Distribution::FullGaussian { mean, covariance })
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let [mean, covariance] = parts.rows();
        let size = mean[state].len();
        let factor = factor(&covariance[state], size).unwrap_or_default();
        // R (x - mean) = z, row by row.
        let mut centred: Vec<f64> = Vec::with_capacity(size);
        for row in factor.chunks(size.max(1)) {
            let known: f64 = row.iter().zip(&centred).map(|(factor, x)| factor * x).sum();
            centred.push((normal(rng) - known) / row[centred.len()]);
        }
        Drawn::Row(mean[state].iter().zip(&centred).map(|(mean, x)| mean + x).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        parametrisation: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let size = self.shape(parts).size;
        let [mean, covariance] = parts.rows();
        let [occupancy, first, products] = statistics.rows();
        let factors = factors(covariance, size);
        let mut scratch = vec![0.0; size * size];
        for (state, (mean, factor)) in mean.iter().zip(&factors).enumerate() {
            let occupancy = occupancy[state][0];
            let moments =
                GaussianMoments { occupancy, sum: &first[state], square: &products[state] };
            let from = score.len();
            score.resize(from + size + size * size, 0.0);
            let (means, spreads) = score[from..].split_at_mut(size);
            let view = FullGaussianView::from_factor(mean, factor);
            view.score(moments, parametrisation.spread, means, spreads, &mut scratch);
        }
    }

    fn possible(&self, parts: &Parts) -> Vec<bool> {
        let size = self.shape(parts).size;
        let products = (0..size * size).map(|entry| entry % size <= entry / size);
        let of_state: Vec<bool> = std::iter::repeat_n(true, 1 + size).chain(products).collect();
        of_state.repeat(parts.states())
    }

    /// Means alone: a difference of covariance matrices is no rate of their logarithm.
    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([from_mean, from], [to_mean, to]) = (from.rows(), to.rows());
        let mean = super::table_towards(from_mean, to_mean, |from, to| to - from)?;
        let same = super::table_towards(from, to, |_, _| 0.0)?;
        Some(Parts::new(self.score(), [mean, same]))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["FullGaussian"]
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 5] = [
            FieldKind::new(Content::Reals, Width::Size),
            FieldKind::new(Content::Reals, Width::Square),
            FieldKind::new(Content::Weights, Width::One),
            FieldKind::new(Content::Rates, Width::Size),
            FieldKind::new(Content::Rates, Width::Square),
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
        let [mean, covariance] = parts.rows();
        let (mean, size) = (&mean[state], mean[state].len());
        let exact = factor(&covariance[state], size).unwrap_or_default();
        // The normaliser is that of the rounded factor, so that the device's density is one.
        let mut rounded: Vec<f64> = exact.iter().map(|&x| (precision.round)(x)).collect();
        let diagonal = rounded.iter_mut().zip(&exact).step_by(size + 1);
        for (channel, (entry, exact)) in diagonal.enumerate() {
            *entry = precision.narrow("factor of the covariance", channel, *exact)?;
        }
        let value = FullGaussianView::from_factor(mean, &rounded).constant;
        // d log b = constant + z . (linear + quadratic z)
        let mut constant = Vec::new();
        let (mut linear, mut quadratic) = (vec![Vec::new(); size], vec![Vec::new(); size * size]);
        for along in along {
            match *along {
                Rates::Score(parts) => {
                    let [moved, log_std] = parts.rows();
                    let (moved, log_std) = (&moved[state], &log_std[state]);
                    let at = |row: usize, column: usize| log_std[row * size + column];
                    constant.push(-(0..size).map(|d| at(d, d)).sum::<f64>());
                    for (d, (linear, row)) in
                        linear.iter_mut().zip(exact.chunks(size.max(1))).enumerate()
                    {
                        linear.push(row.iter().zip(moved).map(|(r, rate)| r * rate).sum());
                        for e in 0..size {
                            quadratic[d * size + e].push(match e {
                                _ if e == d => at(d, d),
                                _ if e < d => at(d, e) + at(e, d),
                                _ => 0.0,
                            });
                        }
                    }
                }
                Rates::Statistics(parts) => {
                    let [occupancy, first, products] = parts.rows();
                    constant.push(occupancy[state][0]);
                    linear.iter_mut().zip(&first[state]).for_each(|(to, &x)| to.push(x));
                    for (entry, (to, &x)) in quadratic.iter_mut().zip(&products[state]).enumerate()
                    {
                        to.push(if entry % size <= entry / size { x } else { 0.0 });
                    }
                }
            }
        }
        Ok(vec![
            Field::Reals(mean.clone()),
            Field::Reals(rounded),
            Field::Weights(vec![Weight { value, tangent: constant }]),
            Field::Rates(linear),
            Field::Rates(quadratic),
        ])
    }

    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        let triangle = shape.size * (shape.size + 1) / 2;
        ((triangle + shape.size) * (1 + directions), 1)
    }
    /// Each missing channel's column is freed of those before it, twice, and a direction sees the covariance of what is
    /// missing.
    fn work_of_missing(&self, shape: Shape, directions: usize) -> (usize, usize) {
        let (size, missing) = (shape.size, shape.size.saturating_sub(1));
        let columns = 2 * missing * missing * size + 4 * missing * size;
        let covariance = missing * size * (size + 1) / 2;
        (columns + if directions > 0 { covariance } else { 0 }, missing)
    }
    fn rows(&self, _: Shape) -> Option<&'static dyn AllBanks> {
        Some(&Self)
    }
}

/// The core's distribution at a run-time size.
pub(crate) struct FullGaussianVec<W: RealParameter> {
    mean: Vec<W::Real>,
    factor: Vec<W::Real>,
    constant: W,
    linear: Vec<W::Tangent>,
    quadratic: Vec<W::Tangent>,
}

impl<W: RealParameter> FullGaussianVec<W> {
    fn log_marginal(&self, x: &[W::Real]) -> W {
        let size = self.mean.len();
        let (mut z, mut basis) = (vec![W::Real::ZERO; size], vec![W::Real::ZERO; size * size]);
        self.view().log_marginal(|d| there(x, d), &mut z, &mut basis)
    }

    fn view(&self) -> FullGaussianView<'_, W> {
        FullGaussianView {
            mean: &self.mean,
            factor: &self.factor,
            constant: self.constant,
            linear: &self.linear,
            quadratic: &self.quadratic,
        }
    }
}

by_view!(FullGaussianVec);

impl OverRows for FullGaussian {
    type State<W: HostWeight> = FullGaussianVec<W>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        Shape { size, .. }: Shape,
    ) -> FullGaussianVec<W> {
        let rates = |rates: &[Vec<W::Real>]| {
            rates.iter().map(|rates| tangent::<_, W>(rates, first)).collect()
        };
        match emission {
            Some(emission) => FullGaussianVec {
                mean: emission.reals(0).to_vec(),
                factor: emission.reals(1).to_vec(),
                constant: lift(emission.weights(2).first(), first),
                linear: rates(emission.rates(3)),
                quadratic: rates(emission.rates(4)),
            },
            // Out of reach.
            None => FullGaussianVec {
                mean: vec![W::Real::ZERO; size],
                factor: vec![W::Real::ZERO; size * size],
                constant: W::constant(W::Real::NEG_INFINITY),
                linear: vec![tangent::<_, W>(&[], 0); size],
                quadratic: vec![tangent::<_, W>(&[], 0); size * size],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state that observes rows, of which the second channel nearly follows from the first.
    fn fitted(order: [usize; 2], units: [f64; 2], floor: f64) -> (Parts, Vec<usize>) {
        let row = |t: u32| {
            let x = f64::from(t * 7 % 20) - 9.5;
            let own = [x * units[0], (x + 0.1 * (f64::from(t * 3 % 11) - 5.0)) * units[1]];
            order.map(|channel| own[channel])
        };
        let rows: Vec<[f64; 2]> = (0..220).map(row).collect();
        let rows: Vec<&[f64]> = rows.iter().map(|row| row.as_slice()).collect();
        let floor = order.map(|channel| floor * units[channel]);
        let held = Regularisation {
            pseudocount: 0.0,
            floor: &floor,
            centre: &[0.0; 2],
            samples: 220.0,
            components: 1,
            rows: 1,
        };
        let blocks = FullGaussian.of_cluster(&rows, &[0.0; 2], &[1.0; 2], &held);
        let parts =
            Parts::new(FullGaussian.parts(), [vec![blocks[0].clone()], vec![blocks[1].clone()]]);
        let floored = FullGaussian.floored(&parts, &floor);
        (parts, floored)
    }

    #[test]
    fn a_floor_knows_neither_order_nor_units_and_is_said() {
        let covariance = |parts: &Parts| parts.get("covariance").expect("there")[0].clone();
        let (free, none) = fitted([0, 1], [1.0, 1.0], 0.01);
        assert_eq!(none, [0, 0]);
        let (held, both) = fitted([0, 1], [1.0, 1.0], 1.0);
        assert_eq!(both, [1, 1], "the difference of the channels is held");
        let (free, held) = (covariance(&free), covariance(&held));
        let between = |c: &[f64]| c[0] - 2.0 * c[1] + c[3];
        assert!(between(&free) < 0.2 && between(&held) > 1.9, "{free:?} {held:?}");
        let (swapped, _) = fitted([1, 0], [1.0, 1.0], 1.0);
        let swapped = covariance(&swapped);
        let (scaled, said) = fitted([0, 1], [1000.0, 0.5], 1.0);
        let scaled = covariance(&scaled);
        assert_eq!(said, [1, 1]);
        for (entry, unit) in [1e6, 500.0, 500.0, 0.25].into_iter().enumerate() {
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs();
            assert!(near(swapped[3 - entry], held[entry]), "{swapped:?} {held:?}");
            assert!(near(scaled[entry], unit * held[entry]), "{scaled:?} {held:?}");
        }
    }
}
