//! Class models, none of them fitted twice.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::augment::{Augmented, Mirror};
use super::error::TrainError;
use super::kind::ClassifierKind;
use super::problem::Problem;
use crate::data::{Dataset, Front, Lags, SamplesView, Series, Widened, scale_of};
use crate::fit::{BaumWelch, Fit};
use crate::runtime::Hmm;

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
        Self { data, fitted: Mutex::default() }
    }

    pub(super) fn data(&self) -> &'a Dataset {
        self.data
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

impl Problem<'_> {
    /// A model a class, or one of all, fitted to whole series and their mirror images; none for what weighs words.
    pub(super) fn fit_models(&self, varied: &Augmented<'_>) -> Result<Arc<Vec<Fit>>, TrainError> {
        if self.options.kind == ClassifierKind::EmpiricalMap {
            return Ok(Arc::default());
        }
        let (series, exact) = (varied.series(), varied.exact());
        let mirrored = exact.len() > series.len();
        // A mirror image is cut as its series is.
        let within = self.windows().of_all(series).any(|window| window.start > 0);
        let key = FitKey {
            series: series.to_vec(),
            baum_welch: self.options.baum_welch.clone(),
            front: self.options.front.clone(),
            lags: self.options.lags.clone(),
            universal: self.options.universal(),
            mirror: mirrored.then(|| self.options.augment.mirror.clone()),
            within,
        };
        self.fits.shared(key, |begun| self.fit_or_go_on(begun, &varied.data, &exact, within))
    }

    fn fit_or_go_on(
        &self,
        begun: Option<&[Fit]>,
        data: &Dataset,
        series: &[usize],
        within: bool,
    ) -> Result<Vec<Fit>, TrainError> {
        let series: Vec<&Series> = series.iter().map(|&index| &data.series()[index]).collect();
        let wide: Vec<Widened<'_>> =
            series.iter().map(|series| self.widen(series.samples.view())).collect();
        let kind = self.seen();
        let views: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
        let (size, scale) = (kind.size(), scale_of(&kind, &views));
        let classes = data.classes();
        let of_class = |class: usize| -> Vec<SamplesView<'_>> {
            let own = series.iter().zip(&views).filter(|(one, _)| one.label == Some(class));
            own.map(|(_, view)| *view).collect()
        };
        let universal = self.options.universal();
        let sequences: Vec<_> = if universal {
            vec![views.clone()]
        } else {
            (0..classes.len()).map(of_class).collect()
        };
        let kinds: Vec<&[SamplesView<'_>]> = sequences.iter().map(Vec::as_slice).collect();
        let baum_welch =
            BaumWelch { rows: self.options.lags.rows(), ..self.options.baum_welch.clone() };
        let baum_welch = baum_welch.settled(&kinds, size, &scale);
        let baum_welch = baum_welch.map_err(TrainError::Topology)?;
        sequences
            .par_iter()
            .enumerate()
            .map(|(class, sequences)| {
                let begun = begun.and_then(|begun| begun.get(class));
                let fit = match begun {
                    Some(begun) => baum_welch.go_on(begun, sequences, &scale, self.progress),
                    None => baum_welch.fit(sequences, size, &scale, self.progress),
                };
                let fit = fit.map_err(|source| match universal {
                    true => TrainError::Universal { source },
                    false => TrainError::Fit { class: classes[class].clone(), source },
                })?;
                Ok(if within { fit.starting_anywhere() } else { fit })
            })
            .collect()
    }
}
