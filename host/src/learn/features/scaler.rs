//! The scaling of features, fitted to the training windows.

use std::ops::{Range, RangeInclusive};

use fishweir_core::emission::Parametrisation;

use crate::classifier::Scaling;
use crate::kernel::{Information, InformationError, Whitening};
use crate::learn::features::{FeatureKind, FeatureMap};
use crate::learn::solver::expansion::{KernelLearnError, Linear};
use crate::learn::solver::matrix::Matrix;
use crate::parallel::each_mut;
use crate::sums::Products;

/// The ridge, as a share of an information's mean diagonal.
const RIDGE: f64 = 1e-3;

/// Sequences drawn where an information is sampled, and the seed of the first.
const DRAWS: usize = 2_000;
const SEED: u64 = 1;

/// Scaling of features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// Scores.
    pub scaling: Scaling,
    /// Factor on numbers of codewords, and of levels exceeded, after scaling as for scores.
    pub codebook_weight: f64,
}

impl Scales {
    /// Valid weights of codebooks: far from one, held-out values are dominated by rounding.
    pub const CODEBOOK_WEIGHTS: RangeInclusive<f64> = 0.01..=100.0;
}

impl From<Scaling> for Scales {
    /// Blocks that are as large as each other.
    fn from(scaling: Scaling) -> Self {
        Self { scaling, codebook_weight: 1.0 }
    }
}

/// An affine map of the features, fitted to some rows: whitening block by block, then
/// `(x - offset) factor` for every entry. Being affine, it folds into a machine's weights and bias.
pub struct FeatureScaler {
    whitening: Vec<(Range<usize>, Whitening)>,
    standard: Vec<Standard>,
}

/// A feature becomes `(x - offset) factor`.
#[derive(Clone, Copy, Debug)]
struct Standard {
    offset: f64,
    factor: f64,
}

impl Standard {
    fn of(self, x: f64) -> f64 {
        (x - self.offset) * self.factor
    }
}

impl FeatureScaler {
    /// Fitted to rows of features of a map, and to the lengths of the sequences they are of.
    ///
    /// # Errors
    /// [`KernelLearnError`] where there is no information matrix of the kind asked for: an entry is not
    /// finite, or an exact one would be over too many sequences, or over several lengths.
    pub fn of(
        rows: &Matrix,
        lengths: &[usize],
        map: &FeatureMap,
        scales: impl Into<Scales>,
    ) -> Result<Self, KernelLearnError> {
        Ok(Self::mapped(rows, lengths, map, scales.into())?.0)
    }

    /// Fits a scaler, and maps the rows.
    pub(crate) fn mapped(
        rows: &Matrix,
        lengths: &[usize],
        map: &FeatureMap,
        scales: Scales,
    ) -> Result<(Self, Matrix), KernelLearnError> {
        let mut mapped = rows.clone();
        if matches!(scales.scaling, Scaling::Practical | Scaling::Diagonal) {
            let standard = standards(&moments_of(rows), map, scales);
            let metric = Self { whitening: Vec::new(), standard };
            metric.apply(&mut mapped);
            return Ok((metric, mapped));
        }
        let mut whitening = Vec::new();
        for (model, block) in map.blocks().into_iter().enumerate() {
            let information = match scales.scaling {
                Scaling::Sampled => sampled(map, model, lengths)?,
                Scaling::Exact => exact(map, model, lengths)?,
                _ => {
                    let part =
                        |row: &[f32]| row[block.clone()].iter().copied().map(f64::from).collect();
                    Information::empirical(&rows.rows().map(part).collect::<Vec<_>>())?
                }
            };
            whitening.push((block, invert(&information)?));
        }
        let whitened = Self { whitening, standard: Vec::new() };
        let mut all: Vec<&mut [f32]> = mapped.rows_mut().collect();
        each_mut(&mut all, &|_, row| {
            let white = whitened.whiten(row.iter().copied().map(f64::from).collect());
            row.iter_mut().zip(white).for_each(|(x, white)| *x = white as f32);
        });
        let standard = standards(&moments_of(&mapped), map, scales);
        for row in mapped.rows_mut() {
            for (x, standard) in row.iter_mut().zip(&standard) {
                *x = standard.of(f64::from(*x)) as f32;
            }
        }
        Ok((Self { standard, ..whitened }, mapped))
    }

    /// Fits a scaler to the sums of rows alone, and returns the sums of mapped rows. A whitening is of the empirical information.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn of_sums(
        sums: &Products,
        map: &FeatureMap,
        scales: Scales,
    ) -> Result<(Self, Products), KernelLearnError> {
        let mut whitening = Vec::new();
        if scales.scaling == Scaling::Whitened {
            for block in map.blocks() {
                let information = Information::of_sums(sums, block.clone())?;
                whitening.push((block, invert(&information)?));
            }
        }
        let whitened = Self { whitening, standard: Vec::new() };
        let mapped = match whitened.whitening.is_empty() {
            true => sums.clone(),
            false => sums.mapped(&|row| whitened.whiten(row)),
        };
        let standard = standards(&mapped.moments(), map, scales);
        let pairs: Vec<(f64, f64)> = standard.iter().map(|one| (one.offset, one.factor)).collect();
        Ok((Self { standard, ..whitened }, mapped.standardised(&pairs)))
    }

    fn whiten(&self, mut row: Vec<f64>) -> Vec<f64> {
        for (block, whitening) in &self.whitening {
            let white = whitening.apply(&row[block.clone()]);
            row[block.clone()].copy_from_slice(&white);
        }
        row
    }

    /// The mapped features of a row.
    pub fn map(&self, row: &[f64]) -> Vec<f64> {
        let white = self.whiten(row.to_vec());
        white.iter().zip(&self.standard).map(|(&x, standard)| standard.of(x)).collect()
    }

    /// Maps every row in place.
    pub(crate) fn apply(&self, rows: &mut Matrix) {
        for row in rows.rows_mut() {
            let whole: Vec<f64> = row.iter().copied().map(f64::from).collect();
            row.iter_mut().zip(self.map(&whole)).for_each(|(x, mapped)| *x = mapped as f32);
        }
    }

    /// The machine on unmapped features that is the same as one on mapped features: factors go into
    /// the weights, offsets into the bias, and then the whitening into the weights.
    pub fn pull(&self, machine: &Linear) -> Linear {
        let (mut bias, mut weights) = (machine.bias, Vec::new());
        for (&weight, standard) in machine.weights.iter().zip(&self.standard) {
            let weight = weight * standard.factor;
            bias -= weight * standard.offset;
            weights.push(weight);
        }
        for (block, whitening) in &self.whitening {
            let pulled = whitening.pull(&weights[block.clone()]);
            weights[block.clone()].copy_from_slice(&pulled);
        }
        Linear { weights, bias }
    }
}

/// A model's own information, of sequences as long as those given.
fn sampled(
    map: &FeatureMap,
    model: usize,
    lengths: &[usize],
) -> Result<Information, InformationError> {
    Information::sampled(&map.scored(model), lengths, DRAWS, SEED, Parametrisation::SOFTMAX)
}

/// Information over all sequences of the one given length.
fn exact(
    map: &FeatureMap,
    model: usize,
    lengths: &[usize],
) -> Result<Information, InformationError> {
    let (Some(&least), Some(&most)) = (lengths.iter().min(), lengths.iter().max()) else {
        return Err(InformationError::Nothing("one length"));
    };
    if least != most {
        return Err(InformationError::Lengths { least, most });
    }
    Information::exact(&map.scored(model), least, Parametrisation::SOFTMAX)
}

/// The root of the inverse of an information and its ridge.
fn invert(information: &Information) -> Result<Whitening, InformationError> {
    let size = information.parameters().max(1) as f64;
    let mean = information.matrix().diagonal().sum::<f64>() / size;
    // Where nothing moves there is nothing to whiten: any positive ridge will do.
    let ridge = if mean > 0.0 { RIDGE * mean } else { 1.0 };
    Whitening::ridge(&information.axes()?, ridge)
}

/// Mean and mean square of each column.
fn moments_of(rows: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let count = rows.rows().len().max(1) as f64;
    let columns = rows.columns();
    let (mut mean, mut square) = (vec![0.0; columns], vec![0.0; columns]);
    for row in rows.rows() {
        for ((mean, square), &x) in mean.iter_mut().zip(&mut square).zip(row) {
            let x = f64::from(x);
            *mean += x / count;
            *square += x * x / count;
        }
    }
    (mean, square)
}

/// Scale of each feature, so that the scores' block and the log-likelihoods' block both have a
/// mean square norm of one, and one grid of C serves every size of model.
///
/// Scores are multiplied by one number (practical, or whitened already) or divided by the root of their
/// mean square, the diagonal of the empirical information; they are not centred, for under the model
/// their mean is zero. Log-likelihoods, which have no natural zero, are centred each and scaled alike; numbers of
/// codewords, and of levels that are exceeded, are centred, and scaled as scores are, each in a block of their
/// own, times their weight.
fn standards(
    (mean, square): &(Vec<f64>, Vec<f64>),
    map: &FeatureMap,
    Scales { scaling, codebook_weight }: Scales,
) -> Vec<Standard> {
    let columns = mean.len();
    let kinds = map.kinds();
    let of = |wanted: FeatureKind| {
        (0..columns).filter({
            let kinds = &kinds;
            move |&k| kinds[k] == wanted
        })
    };
    let scores = of(FeatureKind::Score).count().max(1) as f64;
    let variance = |k: usize| square[k] - mean[k] * mean[k];
    let score_norm: f64 = of(FeatureKind::Score).map(|k| square[k]).sum();
    let likelihood_norm: f64 = of(FeatureKind::Likelihood).map(variance).sum();
    let blocks = [FeatureKind::Codeword, FeatureKind::Level];
    let counted =
        blocks.map(|kind| (of(kind).count().max(1) as f64, of(kind).map(variance).sum::<f64>()));
    // A feature that never moves is no evidence: its factor is zero.
    let reciprocal_root = |x: f64| if x > 1e-24 { x.sqrt().recip() } else { 0.0 };
    (0..columns)
        .map(|k| match (kinds[k], scaling) {
            (FeatureKind::Likelihood, _) => {
                Standard { offset: mean[k], factor: reciprocal_root(likelihood_norm) }
            }
            (FeatureKind::Score, Scaling::Diagonal) => {
                Standard { offset: 0.0, factor: reciprocal_root(square[k] * scores) }
            }
            (FeatureKind::Score, _) => {
                Standard { offset: 0.0, factor: reciprocal_root(score_norm) }
            }
            // The score of drawn codewords is their number less its mean, which the series have as well.
            (kind @ (FeatureKind::Codeword | FeatureKind::Level), _) => {
                let (count, norm) = counted[usize::from(kind == FeatureKind::Level)];
                let square = match scaling {
                    Scaling::Diagonal => variance(k) * count,
                    _ => norm,
                };
                Standard { offset: mean[k], factor: codebook_weight * reciprocal_root(square) }
            }
        })
        .collect()
}
