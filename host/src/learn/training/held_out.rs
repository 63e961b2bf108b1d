//! Closed-form hold-out, and a cache of the last one: its features serve the next steps.

use std::sync::{Arc, Mutex, PoisonError};

use crate::learn::features::FeatureMap;
use crate::learn::machine::Examples;
use crate::learn::selection::choice::Decided;
use crate::learn::space::trial::Trial;

/// Windows held out in closed form, and the decisions on them.
#[derive(Clone)]
pub(crate) struct HeldOut {
    /// The series, or group, that each window is held out with.
    pub(crate) units: Vec<usize>,
    pub(crate) map: FeatureMap,
    /// Channels that change sign in their mirror images; empty without these.
    pub(crate) mirror: Vec<String>,
    /// The windows of the series, and of their mirror images where they have some.
    pub(crate) examples: Arc<Examples>,
    pub(crate) decided: Decided,
}

/// Hold-out of some series, and its trial.
pub(crate) struct HoldOut {
    trial: Trial,
    series: Vec<usize>,
    pub(crate) held_out: HeldOut,
}

impl HoldOut {
    /// Returns whether its features are those of some series by a map.
    fn features_are_of(&self, map: &FeatureMap, trial: &Trial, series: &[usize]) -> bool {
        let cut = |trial: &Trial| (trial.request.front.clone(), trial.request.windowing);
        cut(&self.trial) == cut(trial) && self.series == series && self.held_out.map == *map
    }

    /// Returns whether another trial would decide the same on its features.
    pub(crate) fn decides_by(&self, trial: &Trial) -> bool {
        let by = |trial: &Trial| {
            let request = &trial.request;
            (trial.settings.clone(), trial.learner, request.class_weight, request.group.clone())
        };
        by(&self.trial) == by(trial)
    }
}

/// Cache of the last hold-out.
#[derive(Default)]
pub(crate) struct LastHeldOut(Mutex<Option<Arc<HoldOut>>>);

impl LastHeldOut {
    /// Returns the hold-out, if its features are of these series by this map.
    pub(crate) fn of(
        &self,
        map: &FeatureMap,
        trial: &Trial,
        series: &[usize],
    ) -> Option<Arc<HoldOut>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| kept.features_are_of(map, trial, series)).cloned()
    }

    /// Caches the hold-out of some series, in place of the previous one.
    pub(crate) fn keep(&self, trial: &Trial, series: &[usize], held_out: &HeldOut) {
        let (trial, series, held_out) = (trial.clone(), series.to_vec(), held_out.clone());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::new(HoldOut { trial, series, held_out }));
    }
}
