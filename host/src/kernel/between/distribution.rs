use fishweir_core::kernel::Affinity;

use super::compared::{ComparedDistribution, checked, same_space};
use super::{BetweenError, ModelKernel, PairError};
use crate::kernel::LogGram;
use crate::parallel::each;
use crate::runtime::Distribution;

/// The kernel between single distributions: Gaussians, discrete distributions, mixtures, kernel density
/// estimates ([`Distribution::kernel_density`]).
///
/// Of mixtures it is the sum over pairs of components, each pair with the product of their weights to the
/// power `rho`: for `rho` other than one the kernel of component and observation together.
///
/// Sources: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, sections 3 and 4.1; Mehta and
/// Gray, "Generative and Latent Mean Map Kernels", 2010, section 2. Time: that of a pair of components,
/// for every pair; of Gaussians of `D` channels `3 D` or `D^3 / 6` multiply-adds.
///
/// ```
/// use fishweir::kernel::between::{DistributionKernel, ModelKernel};
/// use fishweir::runtime::Distribution;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let species = [
///     Distribution::kernel_density(&[vec![0.0, 1.0], vec![0.5, 1.5]], 0.25),
///     Distribution::kernel_density(&[vec![0.25, 1.25]], 0.25),
///     Distribution::kernel_density(&[vec![9.0, 1.0]], 0.25),
/// ];
/// let gram = DistributionKernel::mean_map(1.0)?.log_gram(&species)?.normalised();
/// assert!(gram.get(0, 1) > 0.9 && gram.get(0, 2) < 1e-6);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionKernel {
    measure: Affinity<f64>,
}

impl DistributionKernel {
    /// The kernel by a measure.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where the measure's parameter is out of range.
    pub fn new(measure: Affinity<f64>) -> Result<Self, BetweenError> {
        Ok(Self { measure: checked(measure)? })
    }

    /// The probability product kernel.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where `rho` is not above zero and finite.
    pub fn product(rho: f64) -> Result<Self, BetweenError> {
        Self::new(Affinity::Product { rho })
    }

    /// The mean map of `exp(-lambda/2 |x - y|^2)`.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where `lambda` is negative or not finite.
    pub fn mean_map(lambda: f64) -> Result<Self, BetweenError> {
        Self::new(Affinity::MeanMap { lambda })
    }

    fn value(
        &self,
        a: &ComparedDistribution,
        b: &ComparedDistribution,
    ) -> Result<f64, BetweenError> {
        same_space(a, b)?;
        a.log_overlap(b, self.measure, &mut Vec::new())
    }
}

impl ModelKernel for DistributionKernel {
    type Model = Distribution;

    fn log_value(&self, a: &Distribution, b: &Distribution) -> Result<f64, BetweenError> {
        self.value(
            &ComparedDistribution::of(a, self.measure)?,
            &ComparedDistribution::of(b, self.measure)?,
        )
    }

    fn log_gram(&self, models: &[Distribution]) -> Result<LogGram, PairError> {
        let prepared = each(models.len(), &|model| {
            let own = ComparedDistribution::of(&models[model], self.measure);
            own.map_err(|why| PairError { row: model, column: model, why })
        });
        let prepared = prepared.into_iter().collect::<Result<Vec<_>, _>>()?;
        LogGram::try_from_fn(prepared.len(), |row, column| {
            let value = self.value(&prepared[row], &prepared[column]);
            value.map_err(|why| PairError { row, column, why })
        })
    }
}
