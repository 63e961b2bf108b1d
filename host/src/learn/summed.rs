//! The machine of a linear classifier, trained on sums over windows.

use crate::classifier::{Classifier, Rule, Scaling};
use crate::data::SamplesView;
use crate::learn::features::scaler::{FeatureScaler, Scales};
use crate::learn::features::{FeatureMap, Features};
use crate::learn::kind::ClassifierKind;
use crate::learn::machine::Path;
use crate::learn::solver::expansion::KernelLearnError;
use crate::learn::solver::learner;
use crate::learn::solver::learner::Learner;
use crate::learn::solver::ridge::{RIDGE_AT_MOST, solved};
use crate::sums::Products;

/// The machine of a classifier in closed form: its features, scaling and cost of errors, for other windows.
///
/// Features are in the units of the classifier, and their scaling is of the windows that are summed.
pub(crate) struct SummedMachine {
    map: FeatureMap,
    scales: Scales,
    c: f64,
}

impl SummedMachine {
    /// The machine of a classifier; an error says why it is not trained on sums.
    pub(crate) fn of(classifier: &Classifier) -> Result<Self, String> {
        let refused =
            |why: &str| Err(format!("its machine cannot be trained from sums over windows: {why}"));
        let features = match classifier.method.as_str() {
            method if method == ClassifierKind::Fisher.name() => Features::Scores,
            method if method == ClassifierKind::Top.name() => Features::LogOdds,
            method if method == ClassifierKind::Count.name() => Features::Counts,
            other => {
                return refused(&format!(
                    "the method is {other}, and this is for fisher, top and count"
                ));
            }
        };
        let selection = classifier.provenance.selection.as_ref();
        let learner_of = selection.and_then(|selection| selection.learner.as_deref());
        if !learner_of.and_then(learner).is_some_and(Learner::in_closed_form) {
            return refused("fit it with the learner ridge");
        }
        let Some(choice) = selection.and_then(|selection| selection.machine.as_ref()) else {
            return refused("its file does not have the settings");
        };
        let (scaling, c) = (choice.setting.scaling, choice.setting.c);
        let Some(scaling) = scaling else { return refused("its features are not scaled") };
        if matches!(scaling, Scaling::Sampled | Scaling::Exact) {
            return refused("fit it with the scaling practical, diagonal or whitened");
        }
        if classifier.confidence.is_some() {
            return refused("its calibration was learnt with the machine; fit it without");
        }
        let weights = classifier.outputs().iter().flat_map(|output| &output.weights);
        let with_likelihood = weights.copied().any(|weight| weight != 0.0);
        let models = classifier.models.clone();
        let normalisation = classifier.normalisation;
        let channels = classifier.front_end()?.width(classifier.observations.size());
        let map = FeatureMap::new(
            features,
            models,
            classifier.scale.clone(),
            with_likelihood,
            normalisation,
        )
        .behind(&classifier.lags, channels)
        .beside(classifier.codebooks.clone());
        if map.len() > RIDGE_AT_MOST {
            return refused(&format!("{} features; {RIDGE_AT_MOST} are taken", map.len()));
        }
        let scales = Scales { scaling, codebook_weight: choice.setting.codebook_weight };
        Ok(Self { map, scales, c })
    }

    /// Number of features.
    pub(crate) fn features(&self) -> usize {
        self.map.len()
    }

    /// Features of some windows, as models see them, rounded as those of a training are; an error is the index of a window that a
    /// model makes impossible.
    pub(crate) fn rows(&self, windows: &[SamplesView<'_>]) -> Result<Vec<Vec<f64>>, usize> {
        let mut features = self.map.extract(windows);
        if let Some(impossible) = features.iter().position(Option::is_none) {
            return Err(impossible);
        }
        features.iter_mut().flatten().flatten().for_each(|x| *x = f64::from(*x as f32));
        Ok(features.into_iter().flatten().collect())
    }

    /// The rule of the machine on the sums over all windows.
    pub(crate) fn rule(&self, total: &Products) -> Result<Rule, KernelLearnError> {
        let (metric, scaled) = FeatureScaler::of_sums(total, &self.map, self.scales)?;
        let machines = solved(&scaled, self.c)?;
        Ok(Rule::Linear(Path::of_machines(metric, machines).outputs(&self.map)))
    }
}
