//! Class models, none of them fitted twice, and what was last held out of series by them.

use std::sync::{Arc, Mutex, PoisonError};

use super::augment::Mirror;
use super::choosing::HeldOut;
use super::error::TrainError;
use super::features::FeatureMap;
use super::options::TrainOptions;
use crate::data::{Dataset, Front, Lags};
use crate::fit::{BaumWelch, Fit};
use crate::runtime::Hmm;

/// The models fitted so far to series of a data set.
pub(super) struct Fits<'a> {
    data: &'a Dataset,
    fitted: Mutex<Vec<(FitKey, Arc<Vec<Fit>>)>>,
    kept: Mutex<Option<Arc<Kept>>>,
}

/// What was held out of some series as they are.
pub(super) struct Kept {
    options: TrainOptions,
    series: Vec<usize>,
    pub(super) held_out: HeldOut,
}

impl Kept {
    /// Whether its features are those of some series by a map.
    fn features_are_of(&self, map: &FeatureMap, options: &TrainOptions, series: &[usize]) -> bool {
        let cut = |options: &TrainOptions| (options.front.clone(), options.windowing);
        cut(&self.options) == cut(options) && self.series == series && self.held_out.map == *map
    }

    /// Whether other options would decide the same on its features.
    pub(super) fn decides_by(&self, options: &TrainOptions) -> bool {
        let settings = |options: &TrainOptions| {
            let TrainOptions { scalings, c, class_weight, group, baum_welch, .. } = options;
            // By the number of states whitening is tried or not.
            let weights = options.codebook_weights().to_vec();
            (scalings.clone(), weights, c.clone(), *class_weight, group.clone(), baum_welch.states)
        };
        settings(&self.options) == settings(options)
    }
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

impl FitKey {
    /// Whether a fit of this key is one of the other, or the beginning of one.
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
    /// None yet.
    pub(super) fn new(data: &'a Dataset) -> Self {
        Self { data, fitted: Mutex::default(), kept: Mutex::default() }
    }

    pub(super) fn data(&self) -> &'a Dataset {
        self.data
    }

    /// What was held out of some series, where its features are by this map, and it is the last that was kept.
    pub(super) fn kept(
        &self,
        map: &FeatureMap,
        options: &TrainOptions,
        series: &[usize],
    ) -> Option<Arc<Kept>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| kept.features_are_of(map, options, series)).cloned()
    }

    /// Keeps what was held out of some series as they are, in place of what was kept.
    pub(super) fn keep(&self, options: &TrainOptions, series: &[usize], held_out: &HeldOut) {
        let (options, series, held_out) = (options.clone(), series.to_vec(), held_out.clone());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::new(Kept { options, series, held_out }));
    }

    /// How many models there are.
    pub(super) fn count(&self) -> usize {
        let fitted = self.fitted.lock().unwrap_or_else(PoisonError::into_inner);
        fitted.iter().map(|(_, fits)| fits.len()).sum()
    }

    /// The models of a key, fitted where nobody has yet; `fit` is given those that were after fewer iterations, to
    /// go on from.
    pub(super) fn shared(
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

pub(super) fn models_of(fits: &[Fit]) -> Vec<Hmm> {
    fits.iter().map(|fit| fit.model.clone()).collect()
}
