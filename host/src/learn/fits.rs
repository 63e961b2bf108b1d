//! Class models, none of them fitted twice.

use std::sync::{Arc, Mutex, PoisonError};

use super::augment::Mirror;
use super::error::TrainError;
use crate::data::{Dataset, Front, Lags};
use crate::fit::{BaumWelch, Fit};

/// The models fitted so far to series of a data set.
pub(super) struct Fits<'a> {
    data: &'a Dataset,
    fitted: Mutex<Vec<(FitKey, Arc<Vec<Fit>>)>>,
}

/// What class models depend on, given the data.
#[derive(Clone, PartialEq)]
pub(super) struct FitKey {
    /// The series; what they are mirrored in says which images are among them.
    pub(super) series: Vec<usize>,
    pub(super) baum_welch: BaumWelch,
    pub(super) front: Front,
    pub(super) lags: Lags,
    /// Whether one model is of all classes.
    pub(super) universal: bool,
    /// The signs of the mirror images among them.
    pub(super) mirror: Option<Mirror>,
    /// Whether windows begin within them.
    pub(super) within: bool,
}

impl<'a> Fits<'a> {
    /// None yet.
    pub(super) fn new(data: &'a Dataset) -> Self {
        Self { data, fitted: Mutex::default() }
    }

    pub(super) fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The models of a key, fitted where nobody has yet.
    pub(super) fn shared(
        &self,
        key: FitKey,
        fit: impl FnOnce() -> Result<Vec<Fit>, TrainError>,
    ) -> Result<Arc<Vec<Fit>>, TrainError> {
        let known = |fitted: &[(FitKey, Arc<Vec<Fit>>)]| {
            fitted.iter().find(|(of, _)| *of == key).map(|(_, fits)| Arc::clone(fits))
        };
        let fitted = || self.fitted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fits) = known(&fitted()) {
            return Ok(fits);
        }
        let fits = Arc::new(fit()?);
        fitted().push((key, Arc::clone(&fits)));
        Ok(fits)
    }
}
