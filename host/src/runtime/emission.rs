//! Emission families whose sizes are known at run time: owned, with the core's arithmetic.

use fishweir_core::emission::{CategoricalView, Emission, GaussianView, Row};
use fishweir_core::number::Weight;
use fishweir_core::{ModelError, ObservationError};

/// A categorical distribution over an alphabet of run-time size; symbols are `u16`.
#[derive(Clone, Debug, PartialEq)]
pub struct CategoricalVec<W> {
    /// Probabilities, `[symbol]`.
    pub probability: Vec<W>,
}

/// A diagonal Gaussian with a run-time number of channels. Fields as in the core's `Gaussian`.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianVec<W: Weight> {
    /// Means, `[channel]`.
    pub mean: Vec<W::Real>,
    /// Reciprocal standard deviations, `[channel]`.
    pub rate: Vec<W::Real>,
    /// Log normaliser and its tangent.
    pub constant: W,
    /// Tangent of the log-likelihood linear in the standardised observation, `[channel]`.
    pub linear: Vec<W::Tangent>,
    /// Tangent quadratic in it, `[channel]`.
    pub quadratic: Vec<W::Tangent>,
}

impl<W: Weight> CategoricalVec<W> {
    fn view(&self) -> CategoricalView<'_, W> {
        CategoricalView::new(&self.probability)
    }
}

impl<W: Weight> Emission for CategoricalVec<W> {
    type Weight = W;
    type Observation = u16;
    const SCALED: bool = false;

    fn log_likelihood(&self, &symbol: &u16) -> W {
        self.view().log_likelihood(&symbol.into())
    }
    #[inline(always)]
    fn row<const N: usize>(states: &[Self; N], &symbol: &u16) -> Option<Row<W, N>> {
        CategoricalView::row(&states.each_ref().map(Self::view), &symbol.into())
    }
    fn check(&self, &symbol: &u16) -> Result<(), ObservationError> {
        self.view().check(&symbol.into())
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}

impl<W: Weight> GaussianVec<W> {
    fn view(&self) -> GaussianView<'_, W> {
        GaussianView {
            mean: &self.mean,
            rate: &self.rate,
            constant: self.constant,
            linear: &self.linear,
            quadratic: &self.quadratic,
        }
    }
}

impl<W: Weight> Emission for GaussianVec<W> {
    type Weight = W;
    type Observation = [W::Real];

    #[inline(always)]
    fn log_likelihood(&self, x: &[W::Real]) -> W {
        self.view().log_likelihood(x)
    }
    fn check(&self, x: &[W::Real]) -> Result<(), ObservationError> {
        self.view().check(x)
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}
