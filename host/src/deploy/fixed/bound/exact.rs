//! Likelihoods of samples under the exact model.

use fishweir_core::emission::Emission;

use crate::data::Sample;
use crate::deploy::block::Build;
use crate::runtime::family::DeployedEmission;
use crate::runtime::{CategoricalVec, HostWeight, RowState};

/// One state's emission, with the directions from a first one on.
pub(super) enum State<W: HostWeight> {
    Symbols(CategoricalVec<W>),
    Channels(RowState<W>),
}

impl<W: HostWeight<Real = f64>> State<W> {
    pub(super) fn of(emission: &DeployedEmission<f64>, first: usize) -> Option<Self> {
        let emission = std::slice::from_ref(emission);
        match Build::states::<1>(emission, first) {
            Some([channels]) => Some(Self::Channels(channels)),
            None => Build::states::<1>(emission, first).map(|[symbols]| Self::Symbols(symbols)),
        }
    }

    /// The log-likelihood of a sample and its rates of change; that of no sample for a sample of another kind.
    pub(super) fn log(&self, sample: &Sample<'_>) -> W {
        match (self, sample) {
            (Self::Symbols(state), Sample::Symbol(symbol)) => state.log_likelihood(symbol),
            (Self::Channels(state), Sample::Row(x)) => state.log_likelihood(x),
            _ => W::constant(f64::NEG_INFINITY),
        }
    }
}
