use fishweir_core::emission::{
    GaussianMoments, Mixture as CoreMixture, Parametrisation, log_normaliser,
};
use fishweir_core::number::array_of;
use rand_chacha::ChaCha8Rng;

use super::device::{Content, DeployedEmission, lift, weights_along};
use super::gaussian::{self, Gaussian, GaussianVec};
use super::moments::{self, Moments};
use super::{
    AllBanks, Block, Distribution, DoesNotFit, Drawn, Family, Field, FieldKind, HostWeight,
    Observed, OverRows, Parts, Precision, Rates, Regularisation, Shape, Weighed, Width, entries,
    table_towards,
};
use crate::data::Values;
use crate::data::internals::is_partial;
use crate::elementary::Elementary;
use crate::runtime::numbers::{
    choose, free_probabilities, log_dirichlet, normal, normalise_into, push_row,
};
use crate::runtime::{HmmError, check};

/// Channels of a mixture of Gaussians of diagonal covariance.
#[derive(Debug)]
pub(crate) struct Mixture;

/// Components at most: recursions are compiled for two, four and eight.
pub(crate) const MOST_COMPONENTS: usize = 8;

const WEIGHT: Block = Block::new("weight", Width::Components);
const MEAN: Block = Block::new("mean", Width::ComponentsSize);
const STD: Block = Block::new("std", Width::ComponentsSize);

/// Number of components that most rows have; of equals, the first.
///
/// An error then names the row of another length.
fn components([weight, mean, std]: [&[Vec<f64>]; 3], size: usize) -> usize {
    let of = |rows: &[Vec<f64>], each: usize| -> Vec<usize> {
        rows.iter().map(|row| row.len() / each.max(1)).collect()
    };
    let votes = [of(weight, 1), of(mean, size), of(std, size)].concat();
    let said = |one: &&usize| votes.iter().filter(|other| other == one).count();
    votes.iter().rev().max_by_key(said).copied().unwrap_or(0)
}

/// `constant - 1/2 sum_d z_d^2` of the channels that are there; `constant` has the normalisers of all.
fn marginal(x: &[f64], constant: f64, mean: &[f64], rate: &[f64]) -> f64 {
    let mut log = constant;
    for d in 0..x.len() {
        log -= match x[d].is_nan() {
            true => log_normaliser(&rate[d..d + 1]),
            false => 0.5 * ((x[d] - mean[d]) * rate[d]).powi(2),
        };
    }
    log
}

impl Family for Mixture {
    fn name(&self) -> &'static str {
        "mixture"
    }
    fn about(&self) -> &'static str {
        "channels of real numbers, by a mixture of Gaussians"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Reals)
    }
    fn parts(&self) -> &'static [Block] {
        &[WEIGHT, MEAN, STD]
    }
    /// Statistics of a Gaussian for each component.
    fn statistics(&self) -> &'static [Block] {
        const {
            &[
                Block::new("counts", Width::Components),
                Block::new("first", Width::ComponentsSize),
                Block::new("second", Width::ComponentsSize),
            ]
        }
    }
    fn score(&self) -> &'static [Block] {
        const {
            &[
                Block::new("logits", Width::Components),
                MEAN,
                Block::new("log_std", Width::ComponentsSize),
            ]
        }
    }
    fn in_units(&self, block: &Block) -> bool {
        *block == MEAN
    }
    fn shape(&self, parts: &Parts) -> Shape {
        let [weight, mean] = parts.rows();
        let width = |rows: &[Vec<f64>]| rows.first().map_or(0, Vec::len);
        let components = width(weight).max(1);
        Shape { size: width(mean) / components, components }
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [weight, mean, std] = parts.rows();
        let components = components([weight, mean, std], shape.size);
        if !(1..=MOST_COMPONENTS).contains(&components) {
            let wanted = "of 1 to 8 components";
            return Err(HmmError::Range { part: WEIGHT.name.into(), wanted });
        }
        check::distributions(WEIGHT.name, weight, states, components)?;
        check::gaussians(mean, std, states, components * shape.size)
    }

    /// Splits the cluster along the channel that spreads most, into parts of equally many rows.
    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let (_, spread) = moments::centre_and_spread_of_cluster(rows, centre, scale, 0);
        let relative = spread.iter().zip(scale).map(|(spread, scale)| spread / scale);
        let widest = relative.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |one| one.0);
        let mut sorted = rows.to_vec();
        sorted.sort_by(|a, b| a[widest].total_cmp(&b[widest]));
        let of = held.components.clamp(1, MOST_COMPONENTS);
        let (mut weight, mut mean, mut std) = (Vec::new(), Vec::new(), Vec::new());
        for component in 0..of {
            let at = |share: usize| sorted.len() * share / of;
            let own = &sorted[at(component)..at(component + 1)];
            let parts = Gaussian.of_cluster(own, centre, scale, held);
            weight.push((of as f64).recip());
            mean.extend(&parts[0]);
            std.extend(&parts[1]);
        }
        vec![weight, mean, std]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let Shape { size, components } = self.shape(parts);
        let [weight, mean, std] = parts.rows();
        let ([counts, first, second], absent) = into.rows_and_absent();
        for (state, weights) in weight.iter().enumerate() {
            let rate: Vec<f64> = std[state].iter().map(|std| 1.0 / std).collect();
            let (means, rates) = (mean[state].chunks(size), rate.chunks(size));
            let laws: Vec<(f64, &[f64], &[f64])> = weights
                .iter()
                .zip(means.zip(rates))
                .map(|(weight, (mean, rate))| {
                    (weight.portable_ln() + log_normaliser(rate), mean, rate)
                })
                .collect();
            let mut share = vec![0.0; components];
            for (x, posterior) in samples {
                if posterior[state] == 0.0 {
                    continue;
                }
                let partial = is_partial(x);
                for (share, &(constant, mean, rate)) in share.iter_mut().zip(&laws) {
                    if partial {
                        *share = marginal(x, constant, mean, rate);
                        continue;
                    }
                    let z = x.iter().zip(mean).zip(rate).map(|((x, mean), rate)| (x - mean) * rate);
                    *share = constant - 0.5 * z.map(|z| z * z).sum::<f64>();
                }
                let best = share.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                share.iter_mut().for_each(|log| *log = (*log - best).portable_exp());
                let whole: f64 = share.iter().sum();
                let sums = first[state].chunks_mut(size).zip(second[state].chunks_mut(size));
                let each = counts[state].iter_mut().zip(sums).zip(share.iter().zip(&laws));
                for (m, ((count, (first, second)), (share, &(_, mean, rate)))) in each.enumerate() {
                    let weight = posterior[state] * share / whole;
                    *count += weight;
                    if partial {
                        let lacks = |d| absent.add(state, m * size + d, components * size, weight);
                        moments::add_partial(x, weight, (mean, rate), (first, second), lacks);
                        continue;
                    }
                    moments::add(x, weight, (mean, rate), (first, second));
                }
            }
        }
    }

    fn occupancy(&self, statistics: &Parts) -> Vec<f64> {
        let [counts] = statistics.rows();
        counts.iter().map(|row| row.iter().sum()).collect()
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let size = self.shape(parts).size;
        let ([weight, mean, std], [counts, first, second]) = (parts.rows_mut(), statistics.rows());
        for (state, counts) in counts.iter().enumerate() {
            if counts.iter().sum::<f64>() < 1e-8 {
                continue;
            }
            normalise_into(&mut weight[state], counts, held.pseudocount);
            let laws = mean[state].chunks_mut(size).zip(std[state].chunks_mut(size));
            let sums = first[state].chunks(size).zip(second[state].chunks(size));
            let absent = statistics.absent(state);
            for (m, ((law, sums), &count)) in laws.zip(sums).zip(counts).enumerate() {
                let absent = absent.get(m * size..).unwrap_or_default();
                moments::estimate(law, (count, sums.0, sums.1), absent, held.floor);
            }
        }
    }

    /// Logarithm of the Dirichlet density of the weights that pseudocounts imply.
    fn log_prior(&self, parts: &Parts, held: &Regularisation<'_>) -> f64 {
        let [weight] = parts.rows();
        log_dirichlet(held.pseudocount, weight)
    }

    fn has_floor(&self) -> bool {
        true
    }
    fn floored(&self, parts: &Parts, floor: &[f64]) -> Vec<usize> {
        let [_, _, std] = parts.rows();
        let size = floor.len();
        let held = |(channel, floor): (usize, &f64)| {
            let state = |row: &&Vec<f64>| {
                row.iter().skip(channel).step_by(size).any(|std| *std <= floor * (1.0 + 1e-9))
            };
            std.iter().filter(state).count()
        };
        floor.iter().enumerate().map(held).collect()
    }

    fn free_parameters(&self, parts: &Parts) -> usize {
        let [weight, mean, std] = parts.rows();
        let weights: usize = weight.iter().map(|row| free_probabilities(row)).sum();
        weights + mean.iter().chain(std).map(Vec::len).sum::<usize>()
    }

    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let size = self.shape(parts).size.max(1);
        let [weight, mean, std] = parts.rows();
        let laws = mean.get(state)?.chunks(size).zip(std.get(state)?.chunks(size));
        let component = |(mean, std): (&[f64], &[f64])| Distribution::Gaussian {
            mean: mean.to_vec(),
            variance: std.iter().map(|std| std * std).collect(),
        };
        let component = laws.map(component).collect();
        Some(Distribution::Mixture { weight: weight.get(state)?.clone(), component })
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let size = self.shape(parts).size;
        let [weight, mean, std] = parts.rows();
        let from = size * choose(&weight[state], rng);
        let channels = mean[state][from..].iter().zip(&std[state][from..]).take(size);
        Drawn::Row(channels.map(|(mean, std)| mean + std * normal(rng)).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        parametrisation: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let size = self.shape(parts).size;
        let ([weight, mean, std], [counts, first, second]) = (parts.rows(), statistics.rows());
        for (state, (weight, counts)) in weight.iter().zip(counts).enumerate() {
            push_row(weight, counts, parametrisation, score);
            let (mut means, mut spreads) = (Vec::new(), Vec::new());
            let laws = mean[state].chunks(size).zip(std[state].chunks(size));
            let sums = first[state].chunks(size).zip(second[state].chunks(size));
            for ((law, (sum, square)), &occupancy) in laws.zip(sums).zip(counts) {
                let own = GaussianMoments { occupancy, sum, square };
                let (mean, spread) = moments::score(law, own, parametrisation.spread);
                means.extend(mean);
                spreads.extend(spread);
            }
            score.extend(means.into_iter().chain(spreads));
        }
    }

    fn moving(&self, parts: &Parts) -> Vec<bool> {
        let shape = self.shape(parts);
        let [weight] = parts.rows();
        let rest = entries(self.score(), shape) - shape.components;
        let of_state = |weight: &Vec<f64>| {
            let weights: Vec<bool> = weight.iter().map(|&p| p > 0.0 && p < 1.0).collect();
            weights.into_iter().chain(std::iter::repeat_n(true, rest))
        };
        weight.iter().flat_map(of_state).collect()
    }

    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([weight, mean, std], [to_weight, to_mean, to_std]) = (from.rows(), to.rows());
        Some(Parts::new(
            self.score(),
            [
                table_towards(weight, to_weight, super::logit)?,
                table_towards(mean, to_mean, |from, to| to - from)?,
                table_towards(std, to_std, |from, to| to.portable_ln() - from.portable_ln())?,
            ],
        ))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["Gaussian", "Mixture"]
    }
    fn core_type(&self, shape: Shape, number: &str) -> String {
        let component = Gaussian.core_type(shape, number);
        format!("Mixture<{component}, {}>", shape.components)
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 2] = [
            FieldKind::new(Content::Weights, Width::Components),
            FieldKind::new(Content::Emissions(&Gaussian), Width::Components),
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
        let shape @ Shape { size, components } = self.shape(parts);
        let [weight, mean, std] = parts.rows();
        let directions: Vec<[&[f64]; 3]> = along
            .iter()
            .map(|along| {
                let rows: [&[Vec<f64>]; 3] = along.parts().rows();
                rows.map(|rows| rows[state].as_slice())
            })
            .collect();
        let logits: Vec<(bool, &[f64])> = directions.iter().map(|rows| (false, rows[0])).collect();
        let weights = weights_along(&weight[state], &logits);
        let component = |component: usize| {
            let at = component * size..(component + 1) * size;
            let (mean, std) = (&mean[state][at.clone()], &std[state][at.clone()]);
            let moved = |rows: &[&'_ [f64]; 3]| {
                (rows[1][at.clone()].to_vec(), rows[2][at.clone()].to_vec())
            };
            let moved: Vec<(Vec<f64>, Vec<f64>)> = directions.iter().map(moved).collect();
            let along: Vec<Moments<'_>> =
                moved.iter().map(|(mean, log_std)| Moments::of_score(mean, log_std, std)).collect();
            let fields = gaussian::fields(mean, std, &along, precision)?;
            Ok(DeployedEmission { family: &Gaussian, shape, fields })
        };
        let components = (0..components).map(component).collect::<Result<_, _>>()?;
        Ok(vec![Field::Weights(weights), Field::Emissions(components)])
    }

    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        let (of_one, _) = Gaussian.work(shape, directions);
        (shape.components * (of_one + 1 + 2 * directions), shape.components + 1)
    }
    fn work_of_missing(&self, shape: Shape, directions: usize) -> (usize, usize) {
        let (multiply_adds, logarithms) = Gaussian.work_of_missing(shape, directions);
        (shape.components * multiply_adds, shape.components * logarithms)
    }
    fn rows(&self, shape: Shape) -> Option<&'static dyn AllBanks> {
        Some(match shape.components {
            0..=2 => &Of::<2>,
            3..=4 => &Of::<4>,
            _ => &Of::<MOST_COMPONENTS>,
        })
    }
}

/// Mixtures padded to `M` components. Those added have no weight and equal the first, so that no
/// bit changes.
struct Of<const M: usize>;

impl<const M: usize> OverRows for Of<M> {
    type State<W: HostWeight> = CoreMixture<GaussianVec<W>, M>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> CoreMixture<GaussianVec<W>, M> {
        let Some(emission) = emission else {
            // Out of reach: no component is there.
            return CoreMixture::from_parts(
                [lift(None, first); M],
                std::array::from_fn(|_| GaussianVec::of(None, first, shape.size)),
            );
        };
        let components = emission.emissions(1);
        CoreMixture::from_parts(
            array_of(lift(None, first), |m| lift(emission.weights(0).get(m), first)),
            std::array::from_fn(|m| {
                let own = components.get(m).or(components.first());
                GaussianVec::of(own, first, shape.size)
            }),
        )
    }
}
