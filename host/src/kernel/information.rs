//! The Fisher information of a model: exact, sampled or empirical.

use std::convert::Infallible;
use std::ops::Range;

use fishweir_core::emission::Parametrisation;
use nalgebra::{DMatrix, SymmetricEigen};

use super::{Gram, GramError};
use crate::data::{Samples, SamplesView};
use crate::elementary::Elementary;
use crate::model::{NoScore, Scored, digits, scores};
use crate::sums::{Products, sum_items};

/// Sequences that are scored at a time.
const BATCH: usize = 1024;

/// Steps of QR at most, an eigenvalue; it takes some two.
const STEPS: usize = 30;

/// Largest number of sequences that are enumerated.
pub const ENUMERATED_AT_MOST: u64 = 1 << 20;

/// Largest number of sequences times the squared number of parameters: some minutes of outer products.
const ENUMERATED_PRODUCTS: u64 = 1 << 37;

/// Parameters of a model at most: the matrix takes 72 MB, and its axes some 3e11 multiply-adds.
pub const PARAMETERS_AT_MOST: usize = 3_000;

/// Eigenvalues of the information below this fraction of the largest count as zero.
pub const RELATIVE_CUT: f64 = 1e-10;

/// The Fisher information `I = E[ g g' ]` of scores `g`, uncentred.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, definition
/// 12.26, with the expectation under the model; Jaakkola and Haussler, "Exploiting generative
/// models in discriminative classifiers", 1998, section 4. RAM: `8 P^2` bytes for `P` parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Information {
    matrix: Gram,
    /// Number of sequences that the expectation was taken over; 0 for a closed form.
    pub sequences: usize,
    /// Root of the expected squared Frobenius distance to the model's own information, where it was
    /// sampled; `None` for an expectation that is exact, or not the model's.
    pub standard_error: Option<f64>,
}

/// Reason why there is no information matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum InformationError {
    /// Sequences of channels are not enumerated.
    #[error("sequences over channels cannot be enumerated; sample the information instead")]
    NotSymbols,
    /// Too many sequences to enumerate.
    #[error(
        "{symbols} symbols have more than {ENUMERATED_AT_MOST} sequences of length {length}; \
         sample the information instead"
    )]
    #[strum(serialize = "too-many-sequences")]
    TooMany {
        /// Symbols.
        symbols: usize,
        /// Length asked for.
        length: usize,
    },
    /// Too many outer products to sum.
    #[error(
        "an exact information matrix of {parameters} parameters over {sequences} sequences takes too long; sample it \
         instead"
    )]
    #[strum(serialize = "too-many-products")]
    TooLong {
        /// Sequences to enumerate.
        sequences: usize,
        /// Parameters of the model.
        parameters: usize,
    },
    /// The matrix is too large.
    #[error(
        "an information matrix of {0} parameters is too large (at most {PARAMETERS_AT_MOST}); take a smaller model \
         (fewer states, a lower order), or the practical kernel, which needs none"
    )]
    #[strum(serialize = "too-many-parameters")]
    TooLarge(usize),
    /// Sequences of several lengths have no one set of all sequences like them.
    #[error(
        "the sequences have {least} to {most} symbols; an exact information matrix needs one length"
    )]
    #[strum(serialize = "different-lengths")]
    Lengths {
        /// The shortest.
        least: usize,
        /// The longest.
        most: usize,
    },
    /// An expectation over nothing.
    #[error("an information matrix needs at least {0}")]
    #[strum(serialize = "no-data")]
    Nothing(&'static str),
    /// A ridge that is negative or no number.
    #[error("the ridge {0} is not positive; give a positive number")]
    #[strum(serialize = "bad-setting")]
    Ridge(f64),
    /// A sequence has no score.
    #[error(transparent)]
    NoScore(#[from] NoScore),
    /// A score overflowed.
    #[error("the information matrix: {0}")]
    Matrix(#[from] GramError),
}

crate::kinds!(InformationError,
    Self::NoScore(error) => error,
    Self::Matrix(error) => error,
);

impl Information {
    /// The model's own expectation over all sequences of a length: in closed form where the model has
    /// [one](Scored::information), else by enumeration. Work: `K^length` scores for `K` symbols, and
    /// their outer products.
    ///
    /// # Errors
    /// [`InformationError`] for more than [`PARAMETERS_AT_MOST`] parameters and, where there is no closed
    /// form, for channels and for more than [`ENUMERATED_AT_MOST`] sequences.
    pub fn exact(
        model: &dyn Scored,
        length: usize,
        parametrisation: Parametrisation,
    ) -> Result<Self, InformationError> {
        check_parameters(model.parameters())?;
        if let Some(matrix) = model.information(length, parametrisation) {
            let matrix = Gram::from_fn(matrix.len(), |a, b| matrix[a][b]);
            return Ok(Self { matrix, sequences: 0, standard_error: None });
        }
        let symbols = model.symbols().ok_or(InformationError::NotSymbols)?;
        let too_many = || InformationError::TooMany { symbols, length };
        let count = u32::try_from(length)
            .ok()
            .and_then(|length| (symbols as u64).checked_pow(length))
            .filter(|&count| count <= ENUMERATED_AT_MOST)
            .ok_or_else(too_many)? as usize;
        let parameters = model.parameters();
        if (count * parameters * parameters) as u64 > ENUMERATED_PRODUCTS {
            return Err(InformationError::TooLong { sequences: count, parameters });
        }
        let mut moment = Moment::new(model.parameters());
        let sequence = |n| digits(n, symbols, length).into_iter().map(Some).collect();
        for from in (0..count).step_by(BATCH) {
            let sequences: Vec<Vec<Option<u16>>> =
                (from..count.min(from + BATCH)).map(sequence).collect();
            let views: Vec<_> = sequences.iter().map(|s| SamplesView::Symbols(s)).collect();
            // A sequence without a score is one without a probability.
            let possible = model.scores(&views, parametrisation).into_iter().flatten();
            let weighed = possible.map(|found| {
                let root = (0.5 * found.log_likelihood).portable_exp();
                found.score.iter().map(|g| root * g).collect()
            });
            moment.add(&weighed.collect::<Vec<Vec<f64>>>());
        }
        Ok(Self { matrix: moment.mean(1.0), sequences: count, standard_error: None })
    }

    /// The model's own expectation from `count` sequences drawn from it, of lengths taken evenly from
    /// those given, first to last; the same seed gives the same.
    ///
    /// The [standard error](Self::standard_error) is the root of
    /// `( mean |g|^4 - |I|^2 ) / (count - 1)`, in the Frobenius norm.
    ///
    /// # Errors
    /// [`InformationError`] where fewer than two sequences, or no length, are asked for, or for more than
    /// [`PARAMETERS_AT_MOST`] parameters.
    pub fn sampled(
        model: &dyn Scored,
        lengths: &[usize],
        count: usize,
        seed: u64,
        parametrisation: Parametrisation,
    ) -> Result<Self, InformationError> {
        if lengths.is_empty() {
            return Err(InformationError::Nothing("one length"));
        }
        if count < 2 {
            return Err(InformationError::Nothing("two sequences to sample"));
        }
        check_parameters(model.parameters())?;
        let mut moment = Moment::new(model.parameters());
        let mut fourth = 0.0;
        let length =
            |n: usize| lengths[(n as u128 * lengths.len() as u128 / count as u128) as usize];
        for from in (0..count).step_by(BATCH) {
            let draw = |n: usize| model.draw(length(n), seed.wrapping_add(n as u64));
            let drawn: Vec<Samples> = (from..count.min(from + BATCH)).map(draw).collect();
            let views: Vec<_> = drawn.iter().map(Samples::view).collect();
            let rows = score_rows(model, &views, parametrisation)?;
            fourth += rows.iter().map(|g| square(g).powi(2)).sum::<f64>();
            moment.add(&rows);
        }
        let matrix = moment.mean(count as f64);
        let norm: f64 = matrix.rows().map(square).sum();
        let variance = (fourth / count as f64 - norm).max(0.0) / (count - 1) as f64;
        Ok(Self { matrix, sequences: count, standard_error: Some(variance.sqrt()) })
    }

    /// The average over scores of given sequences, `[sequence][parameter]`: not the model's own
    /// expectation, but that of the data.
    ///
    /// # Errors
    /// [`InformationError::Nothing`] without a sequence; [`InformationError::TooLarge`].
    ///
    /// # Panics
    /// If scores differ in length: a mistake of the caller, not of a file.
    pub fn empirical(scores: &[Vec<f64>]) -> Result<Self, InformationError> {
        let first = scores.first().ok_or(InformationError::Nothing("one sequence"))?;
        check_parameters(first.len())?;
        let (parameters, labels) = (first.len(), vec![0; scores.len()]);
        let of = |range: Range<usize>| {
            let rows: Vec<&[f64]> = scores[range.clone()].iter().map(Vec::as_slice).collect();
            Ok::<_, Infallible>(Products::of_rows(&rows, (&labels[range], 1), parameters))
        };
        let Ok(sums) = sum_items(scores.len(), &of);
        Self::of_sums(&sums.ok_or(InformationError::Nothing("one sequence"))?, 0..parameters)
    }

    /// The average over scores whose sums are there, some of the features.
    ///
    /// # Errors
    /// [`InformationError::Nothing`] without a sequence; [`InformationError::TooLarge`].
    pub(crate) fn of_sums(
        sums: &Products,
        features: Range<usize>,
    ) -> Result<Self, InformationError> {
        let (count, from) = (sums.count(), features.start);
        if count == 0.0 {
            return Err(InformationError::Nothing("one sequence"));
        }
        check_parameters(features.len())?;
        let entry = |i: usize, j: usize| sums.product(from + i, from + j) / count;
        let matrix = Gram::from_fn(features.len(), entry);
        Ok(Self { matrix, sequences: count as usize, standard_error: None })
    }

    /// The matrix, `[parameter][parameter]`.
    pub fn matrix(&self) -> &Gram {
        &self.matrix
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.matrix.len()
    }

    /// The principal axes. Some `10 P^3` multiply-adds and `16 P^2` bytes in addition to the result.
    ///
    /// # Errors
    /// [`InformationError::Matrix`] where an entry is not finite.
    pub fn axes(&self) -> Result<Axes, InformationError> {
        self.matrix.check()?;
        let side = self.parameters();
        if side == 0 {
            return Ok(Axes { values: Vec::new(), directions: Vec::new() });
        }
        let matrix = DMatrix::from_fn(side, side, |i, j| self.matrix.get(i, j));
        let eigen = SymmetricEigen::try_new(matrix, f64::EPSILON, STEPS * side)
            .ok_or(GramError::Eigenvalues)?;
        let mut order: Vec<usize> = (0..side).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        Ok(Axes {
            values: order.iter().map(|&axis| eigen.eigenvalues[axis]).collect(),
            directions: order
                .iter()
                .map(|&axis| eigen.eigenvectors.column(axis).iter().copied().collect())
                .collect(),
        })
    }
}

fn check_parameters(parameters: usize) -> Result<(), InformationError> {
    if parameters <= PARAMETERS_AT_MOST {
        Ok(())
    } else {
        Err(InformationError::TooLarge(parameters))
    }
}

/// The principal axes of an information matrix: orthonormal directions, rising information.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    /// Information along each axis, rising.
    pub values: Vec<f64>,
    /// The axes, `[axis][parameter]`.
    pub directions: Vec<Vec<f64>>,
}

impl Axes {
    /// The axes that carry information: `[axis]` above [`RELATIVE_CUT`] of the largest. A row of
    /// probabilities has a direction without any: its sum is one whatever the parameters say.
    pub fn informative(&self) -> impl Iterator<Item = (f64, &Vec<f64>)> {
        let largest = self.values.last().copied().unwrap_or(0.0);
        let axes = self.values.iter().copied().zip(&self.directions);
        axes.filter(move |(value, _)| *value > RELATIVE_CUT * largest && *value > 0.0)
    }

    /// Number of axes that carry information.
    pub fn rank(&self) -> usize {
        self.informative().count()
    }

    /// Ratio of the largest information to the smallest nonzero one; `None` if all are zero.
    pub fn condition_number(&self) -> Option<f64> {
        let smallest = self.informative().next()?.0;
        Some(self.values.last()? / smallest)
    }
}

/// The score rows of sequences that all must have one.
pub(crate) fn score_rows(
    model: &dyn Scored,
    sequences: &[SamplesView<'_>],
    parametrisation: Parametrisation,
) -> Result<Vec<Vec<f64>>, NoScore> {
    Ok(scores(model, sequences, parametrisation)?.into_iter().map(|found| found.score).collect())
}

fn square(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum()
}

/// A sum of outer products.
struct Moment {
    parameters: usize,
    sum: Vec<f64>,
}

impl Moment {
    fn new(parameters: usize) -> Self {
        Self { parameters, sum: vec![0.0; parameters * parameters] }
    }

    fn add(&mut self, rows: &[Vec<f64>]) {
        let columns: Vec<Vec<f64>> =
            (0..self.parameters).map(|p| rows.iter().map(|row| row[p]).collect()).collect();
        let products = Gram::of_features(&columns);
        for (sum, product) in self.sum.iter_mut().zip(products.rows().flatten()) {
            *sum += product;
        }
    }

    fn mean(&self, count: f64) -> Gram {
        Gram::from_fn(self.parameters, |a, b| self.sum[a * self.parameters + b] / count)
    }
}
