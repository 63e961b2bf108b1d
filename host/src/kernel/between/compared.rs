use fishweir_core::kernel::{
    Affinity, Covariance, Normal, bernoulli_log_overlap, categorical_log_overlap,
    gaussian_log_overlap, mixture_log_overlap, poisson_log_overlap,
};
use fishweir_core::number::power;
use fishweir_core::{ErrorKind, ModelError, Part};

use super::BetweenError;
use crate::runtime::Distribution;

/// A measure whose parameter is in range.
///
/// # Errors
/// [`BetweenError::Parameter`].
pub(super) fn checked(measure: Affinity<f64>) -> Result<Affinity<f64>, BetweenError> {
    let parameter = |name, value, range| BetweenError::Parameter { name, value, range };
    measure.validate().map_err(|_| match measure {
        Affinity::Product { rho } => parameter("rho", rho, "above 0 and finite"),
        Affinity::MeanMap { lambda } => parameter("lambda", lambda, "0 or above, and finite"),
    })?;
    Ok(measure)
}

/// A distribution with precomputed values for every comparison by one measure.
#[derive(Clone, Debug)]
pub(super) enum ComparedDistribution {
    /// Probabilities, for the product kernel already raised to its power.
    Symbols(Vec<f64>),
    YesNo(Vec<f64>),
    Counts(Vec<f64>),
    Reals(Real),
    Mixture {
        weight: Vec<f64>,
        component: Vec<ComparedDistribution>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Real {
    mean: Vec<f64>,
    /// Variances, or the matrix.
    covariance: Vec<f64>,
    full: bool,
    log_determinant: f64,
}

impl Real {
    fn normal(&self) -> Normal<'_, f64> {
        let kind = if self.full { Covariance::Full } else { Covariance::Diagonal };
        Normal::from_parts(&self.mean, kind(&self.covariance), self.log_determinant)
    }
}

impl ComparedDistribution {
    /// Prepares a distribution.
    ///
    /// # Errors
    /// A part of it that is wrong.
    pub(super) fn of(
        distribution: &Distribution,
        measure: Affinity<f64>,
    ) -> Result<Self, BetweenError> {
        distribution.validate().map_err(|error| wrong("distribution", &error))?;
        Self::of_valid(distribution, measure)
    }

    fn of_valid(distribution: &Distribution, measure: Affinity<f64>) -> Result<Self, BetweenError> {
        Ok(match distribution {
            Distribution::Categorical(p) => {
                Self::Symbols(p.iter().map(|&p| power(p, measure.exponent())).collect())
            }
            Distribution::Bernoulli(p) => Self::YesNo(p.clone()),
            Distribution::Poisson(rate) => Self::Counts(rate.clone()),
            Distribution::Gaussian { mean, variance } => {
                let log_determinant = *Normal::diagonal(mean, variance).log_determinant();
                let (mean, covariance) = (mean.clone(), variance.clone());
                Self::Reals(Real { mean, covariance, full: false, log_determinant })
            }
            Distribution::FullGaussian { mean, covariance } => {
                let mut scratch = vec![0.0; covariance.len()];
                let normal = Normal::full(mean, covariance, &mut scratch).map_err(refused)?;
                let log_determinant = *normal.log_determinant();
                let (mean, covariance) = (mean.clone(), covariance.clone());
                Self::Reals(Real { mean, covariance, full: true, log_determinant })
            }
            Distribution::Mixture { weight, component } => {
                let component = component.iter().map(|one| Self::of_valid(one, measure));
                let component = component.collect::<Result<_, _>>()?;
                Self::Mixture { weight: weight.clone(), component }
            }
        })
    }

    /// Kind of the space, and its size.
    pub(super) fn space(&self) -> (&'static str, usize) {
        match self {
            Self::Symbols(p) => ("symbols", p.len()),
            Self::YesNo(p) => ("channels of yes or no", p.len()),
            Self::Counts(rate) => ("channels of counts", rate.len()),
            Self::Reals(real) => ("real channels", real.mean.len()),
            Self::Mixture { component, .. } => {
                component.first().map_or(("components", 0), Self::space)
            }
        }
    }

    /// `log k` of two distributions over one space, prepared for the measure. `scratch` is of the caller,
    /// for many pairs.
    ///
    /// # Errors
    /// What a family cannot compare.
    pub(super) fn log_overlap(
        &self,
        other: &Self,
        measure: Affinity<f64>,
        scratch: &mut Vec<f64>,
    ) -> Result<f64, BetweenError> {
        match (self, other) {
            (Self::Reals(own), Self::Reals(others)) => {
                let size = own.mean.len();
                if (own.full || others.full) && scratch.len() < size * size + size {
                    scratch.resize(size * size + size, 0.0);
                }
                let (own, others) = (own.normal(), others.normal());
                gaussian_log_overlap(&own, &others, measure, scratch).map_err(refused)
            }
            (Self::Symbols(p), Self::Symbols(q)) => Ok(match measure {
                Affinity::Product { .. } => {
                    categorical_log_overlap(p, q, Affinity::Product { rho: 1.0 })
                }
                measure @ Affinity::MeanMap { .. } => categorical_log_overlap(p, q, measure),
            }),
            (Self::YesNo(p), Self::YesNo(q)) => Ok(bernoulli_log_overlap(p, q, measure)),
            (Self::Counts(rate), Self::Counts(other)) => {
                poisson_log_overlap(rate, other, measure).map_err(refused)
            }
            (Self::Mixture { .. }, _) | (_, Self::Mixture { .. }) => {
                let ((own, a), (others, b)) = (self.components(), other.components());
                mixture_log_overlap(own, others, measure, |i, j| {
                    a[i].log_overlap(&b[j], measure, scratch)
                })
            }
            // Of two spaces: refused before.
            _ => Ok(f64::NEG_INFINITY),
        }
    }

    fn components(&self) -> (&[f64], &[Self]) {
        match self {
            Self::Mixture { weight, component } => (weight, component),
            one => (&[1.0], std::slice::from_ref(one)),
        }
    }
}

/// Checks that two distributions are over the same space.
///
/// # Errors
/// [`BetweenError::Shapes`] of two sizes, [`BetweenError::Model`] of two kinds.
pub(super) fn same_space(
    one: &ComparedDistribution,
    other: &ComparedDistribution,
) -> Result<(), BetweenError> {
    let ((what, first), (others, second)) = (one.space(), other.space());
    if what != others {
        let why =
            format!("one is over {what}, the other over {others}: compare models over the same");
        return Err(BetweenError::Model { part: "distributions".into(), why });
    }
    if first != second {
        return Err(BetweenError::Shapes { what, first, second });
    }
    Ok(())
}

/// Converts the fault of a model to an error of its kernel.
pub(super) fn wrong(part: &str, error: &dyn std::error::Error) -> BetweenError {
    BetweenError::Model { part: part.into(), why: error.to_string() }
}

/// Converts an error of the core.
pub(super) fn refused(error: ModelError) -> BetweenError {
    match error {
        ModelError { part: Part::Parameter("covariance"), entry: row, .. } => {
            BetweenError::Singular { part: "covariance".into(), row }
        }
        ModelError {
            part: Part::Parameter("rate"), kind: ErrorKind::NotInRange, entry, ..
        } => BetweenError::Model {
            part: format!("rate [{entry}]"),
            why: "too large a rate to sum over its counts; count in larger units".into(),
        },
        ModelError { part: Part::Kernel, kind: ErrorKind::NotInRange, .. } => BetweenError::Model {
            part: "rho".into(),
            why: "too small for counts, whose sum would not end; take 0.01 or more".into(),
        },
        error => wrong("distribution", &error),
    }
}
