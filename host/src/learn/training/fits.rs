//! Class models, each fitted once.

use std::sync::{Arc, Mutex, PoisonError};

use crate::data::{Dataset, Front, Lags};
use crate::fit::{BaumWelch, Fit};
use crate::learn::error::TrainError;
use crate::learn::variation::Mirror;
use crate::runtime::Hmm;

/// The models fitted so far to series of a data set.
pub(crate) struct Fits<'a> {
    data: &'a Dataset,
    fitted: Mutex<Vec<(FitKey, Arc<Vec<Fit>>)>>,
}

/// Settings on which class models depend, given the data.
#[derive(Clone, PartialEq)]
pub(crate) struct FitKey {
    /// The series; the mirror images among them follow from the mirrored channels.
    pub(crate) series: Vec<usize>,
    pub(crate) baum_welch: BaumWelch,
    pub(crate) front: Front,
    pub(crate) lags: Lags,
    /// `true` if one model is of all classes.
    pub(crate) universal: bool,
    /// The signs of the mirror images among them.
    pub(crate) mirror: Option<Mirror>,
    /// `true` if windows begin within the series.
    pub(crate) within: bool,
}

impl FitKey {
    /// Returns whether a fit of this key is one of the other, or its beginning.
    fn goes_on_to(&self, other: &Self) -> bool {
        let baum_welch =
            BaumWelch { iterations: self.baum_welch.iterations, ..other.baum_welch.clone() };
        let fewer = self.baum_welch.iterations < other.baum_welch.iterations
            // Of several restarts one is left; models that begin anywhere are not what Baum-Welch left.
            && (self.baum_welch.restarts, self.within) == (1, false);
        (fewer && *self == Self { baum_welch, ..other.clone() }) || self == other
    }
}

impl<'a> Fits<'a> {
    /// Creates an empty cache.
    pub(crate) fn new(data: &'a Dataset) -> Self {
        Self { data, fitted: Mutex::default() }
    }

    pub(crate) fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Number of models.
    pub(crate) fn count(&self) -> usize {
        let fitted = self.fitted.lock().unwrap_or_else(PoisonError::into_inner);
        fitted.iter().map(|(_, fits)| fits.len()).sum()
    }

    /// The models of a key, fitted where nobody has yet; `fit` is given those that were after fewer iterations, to
    /// go on from.
    pub(crate) fn shared(
        &self,
        key: FitKey,
        fit: impl FnOnce(Option<&[Fit]>) -> Result<Vec<Fit>, TrainError>,
    ) -> Result<Arc<Vec<Fit>>, TrainError> {
        let fitted = || self.fitted.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = {
            let fitted = fitted();
            let alike = fitted.iter().filter(|(of, _)| of.goes_on_to(&key));
            alike.max_by_key(|(of, _)| of.baum_welch.iterations).cloned()
        };
        if let Some((of, fits)) = &begun
            && *of == key
        {
            return Ok(Arc::clone(fits));
        }
        let fits = Arc::new(fit(begun.as_ref().map(|(_, fits)| fits.as_slice()))?);
        fitted().push((key, Arc::clone(&fits)));
        Ok(fits)
    }
}

pub(crate) fn models_of(fits: &[Fit]) -> Vec<Hmm> {
    fits.iter().map(|fit| fit.model.clone()).collect()
}
