//! The machine of a linear classifier, on sums over windows that many processes add up.

use std::ops::Range;

use super::expected::PartError;
use super::feature_sums::{FEATURES, FeatureSums, digest};
use super::share::Share;
use crate::classifier::Classifier;
use crate::data::{Dataset, SamplesView, Widened, Window};
use crate::learn::summed::SummedMachine;
use crate::sums::Digest;
use crate::words::counted;

/// A classifier whose machine is trained on sums over windows: the normal equations of ridge regression on Fisher scores, log-odds
/// or counts. Its models stay.
pub struct MachineFile {
    classifier: Classifier,
    machine: SummedMachine,
}

impl MachineFile {
    /// The machine of a classifier.
    ///
    /// # Errors
    /// [`PartError::Unfit`]: a classifier without a machine in closed form on features that are scaled by sums.
    pub fn new(classifier: Classifier) -> Result<Self, PartError> {
        let machine = SummedMachine::of(&classifier).map_err(PartError::Unfit)?;
        Ok(Self { classifier, machine })
    }

    /// The classifier.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// Fingerprint of all that the sums depend on.
    fn digest(&self) -> Result<Digest, PartError> {
        let Classifier { method, classes, front, lags, scale, models, codebooks, .. } =
            &self.classifier;
        let weighed =
            self.classifier.outputs().iter().any(|one| one.weights.iter().any(|&w| w != 0.0));
        let normalisation = format!("{:?}", self.classifier.normalisation);
        let windowing = &self.classifier.provenance.windowing;
        let of = (method, classes, front, lags, scale, models, codebooks);
        digest(&(of, weighed, normalisation, windowing))
    }

    /// A share of the sums over the windows of a data set, in its order, whose classes are those of the classifier.
    ///
    /// Every share reads all of the data for its fingerprint, and runs the models over its own leaves. Series are taken as they
    /// are, without mirror images and copies.
    ///
    /// # Errors
    /// [`PartError`]: a window that a model makes impossible.
    ///
    /// # Panics
    /// If a series has no label, or one of another class.
    pub fn expect(&self, data: &Dataset, share: Share) -> Result<FeatureSums, PartError> {
        let Self { classifier, machine } = self;
        let front = classifier.front_end().map_err(PartError::Unfit)?;
        let windows = data.windows(classifier.provenance.windowing.as_ref());
        let windows: Vec<&Window<'_>> = windows.all().iter().collect();
        let views: Vec<SamplesView<'_>> = windows.iter().map(|window| window.samples).collect();
        let label = |window: &&Window<'_>| window.label().unwrap_or(usize::MAX);
        let labels: Vec<usize> = windows.iter().map(label).collect();
        let classes = classifier.classes.len();
        assert!(labels.iter().all(|&label| label < classes), "unknown classes");
        let rows = |range: Range<usize>| {
            let wide: Vec<Widened<'_>> = views[range.clone()]
                .iter()
                .map(|&view| front.widen(view, &classifier.lags))
                .collect();
            let wide: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
            machine.rows(&wide).map_err(|index| {
                let series = windows[range.start + index].source.id.clone();
                let (model, why) = (FEATURES.to_owned(), "a window has no score".to_owned());
                PartError::Impossible { series, model, why }
            })
        };
        let features = (self.digest()?, machine.features());
        FeatureSums::of(features, &views, (&labels, classes), share, &rows)
    }

    /// The classifier with the machine that the sums over all windows make.
    ///
    /// # Errors
    /// [`PartError`]: sums of another classifier, leaves that are missing, or windows that determine no machine.
    pub fn trained(&self, sums: &FeatureSums) -> Result<Classifier, PartError> {
        let total = sums.total(self.digest()?, self.classifier.classes.len())?;
        let rule = self.machine.rule(&total);
        let rule = rule.map_err(|error| PartError::Unfit(error.to_string()))?;
        let mut classifier = Classifier { rule, ..self.classifier.clone() };
        let note = format!("machine by parts, of {} as they are", counted(sums.windows, "window"));
        let provenance = &mut classifier.provenance;
        provenance.windows = sums.windows;
        provenance.notes.retain(|note| !note.starts_with("machine by parts"));
        provenance.notes.push(note);
        Ok(classifier)
    }
}
