//! The models of a problem's classes, or of all.

use std::sync::Arc;

use crate::data::{Dataset, Lags, SamplesView, Series, Widened, scale_of};
use crate::fit::{BaumWelch, Fit};
use crate::learn::error::TrainError;
use crate::learn::kind::ClassifierKind;
use crate::learn::training::fits::FitKey;
use crate::learn::training::set::TrainingSet;
use crate::learn::variation::Augmented;
use crate::parallel::try_each;

impl TrainingSet<'_> {
    /// A model per class, or one of all, fitted to whole series and their mirror images; none for what weighs words. Where
    /// what is held out is had in closed form they are of the series alone, so that what an image is worth is judged
    /// with the models that it is used with.
    pub(crate) fn fit_models(&self, varied: &Augmented<'_>) -> Result<Arc<Vec<Fit>>, TrainError> {
        if self.trial.request.kind == ClassifierKind::EmpiricalMap {
            return Ok(Arc::default());
        }
        let series = varied.series();
        let exact = match self.trial.in_closed_form() {
            true => series.to_vec(),
            false => varied.exact(),
        };
        let mirrored = exact.len() > series.len();
        // A mirror image is cut as its series is.
        let within = self.windows().of_all(series).any(|window| window.start > 0);
        let of_lags = |lags: &Lags| {
            let key = FitKey {
                series: series.to_vec(),
                baum_welch: self.trial.baum_welch.clone(),
                front: self.trial.request.front.clone(),
                lags: lags.clone(),
                universal: self.trial.universal(),
                mirror: mirrored.then(|| self.trial.augment.mirror.clone()),
                within,
            };
            let fit = |begun: Option<&[Fit]>| {
                self.fit_or_go_on(begun, lags, &varied.data, &exact, within)
            };
            self.shared.fits.shared(key, fit)
        };
        match self.trial.form.lags.of_models().as_slice() {
            [all] => of_lags(all),
            each => {
                let fits = try_each(each.len(), &|index| of_lags(&each[index]))?;
                Ok(Arc::new(fits.iter().flat_map(|fits| fits.iter().cloned()).collect()))
            }
        }
    }

    fn fit_or_go_on(
        &self,
        begun: Option<&[Fit]>,
        lags: &Lags,
        data: &Dataset,
        series: &[usize],
        within: bool,
    ) -> Result<Vec<Fit>, TrainError> {
        let series: Vec<&Series> = series.iter().map(|&index| &data.series()[index]).collect();
        let wide: Vec<Widened<'_>> =
            series.iter().map(|series| self.widen_by(lags, series.samples.view())).collect();
        let kind = self.seen_at(lags);
        let views: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
        let (size, scale) = (kind.size(), scale_of(&kind, &views));
        let classes = data.classes();
        let of_class = |class: usize| -> Vec<SamplesView<'_>> {
            let own = series.iter().zip(&views).filter(|(one, _)| one.label == Some(class));
            own.map(|(_, view)| *view).collect()
        };
        let universal = self.trial.universal();
        let sequences: Vec<_> = if universal {
            vec![views.clone()]
        } else {
            (0..classes.len()).map(of_class).collect()
        };
        let kinds: Vec<&[SamplesView<'_>]> = sequences.iter().map(Vec::as_slice).collect();
        let mut baum_welch = BaumWelch { rows: lags.rows(), ..self.trial.baum_welch.clone() };
        if self.trial.request.windowing.is_some() {
            baum_welch.topology = baum_welch.topology.without_positions();
        }
        let baum_welch = baum_welch.settled(&kinds, size, &scale);
        let baum_welch = baum_welch.map_err(TrainError::Topology)?;
        let of_class = |class: usize| {
            let (begun, sequences) = (begun.and_then(|begun| begun.get(class)), &sequences[class]);
            let fit = match begun {
                Some(begun) => baum_welch.go_on(begun, sequences, &scale, self.progress),
                None => baum_welch.fit(sequences, size, &scale, self.progress),
            };
            let fit = fit.map_err(|source| match universal {
                true => TrainError::Universal { source },
                false => TrainError::Fit { class: classes[class].clone(), source },
            })?;
            Ok(if within { fit.starting_anywhere() } else { fit })
        };
        try_each(sequences.len(), &of_class)
    }
}
