//! `fit`, `predict`, `score`: the names that users of scikit-learn know.
//!
//! ```
//! use fishweir::data::{Dataset, Kind, Samples};
//! use fishweir::estimator::Estimator;
//! use fishweir::learn::ClassifierKind;
//!
//! let wave = |rate: f64, shift: f64| -> Samples {
//!     (0..30).map(|t| [(rate * f64::from(t) + shift).sin()]).collect()
//! };
//! let shifts = (0..12).map(f64::from);
//! let series = shifts.flat_map(|s| [("slow", wave(0.3, s)), ("fast", wave(1.9, s))]);
//! let data = Dataset::labelled(Kind::Channels(vec!["x".into()]), series)?;
//!
//! let fitted = Estimator::new(ClassifierKind::Fisher).fit(&data)?;
//! assert_eq!(fitted.predict(&wave(1.9, 0.5))?, "fast");
//! assert!(fitted.score(&data)? > 0.9);
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! fitted.save(&folder.join("waves.json"))?;
//! # Ok::<(), fishweir::Error>(())
//! ```
//!
//! What [`learn::train`](crate::learn::train) tells beside (settings chosen, floors, restarts) is not lost:
//! [`Fitted::trained`]. Figures with intervals on data that a model never saw are those of
//! [`evaluate`](crate::evaluate).

use std::path::Path;

use crate::Error;
use crate::classifier::Observations;
use crate::data::{Dataset, Samples};
use crate::deploy::{Deployed, PushError, Stream};
use crate::evaluate::{EvaluateError, Figures, evaluate, windowing_of};
use crate::learn::{ClassifierKind, TrainOptions, Trained, train};

/// How a classifier is to be fitted.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// All options, at their defaults until changed.
    pub options: TrainOptions,
}

/// A fitted classifier, and the numbers that a device would hold of it: what decides here.
#[derive(Clone, Debug)]
pub struct Fitted {
    trained: Trained,
    deployed: Deployed,
}

impl Estimator {
    /// A classifier of a kind, all else by default.
    #[must_use]
    pub fn new(kind: ClassifierKind) -> Self {
        Self { options: TrainOptions::new(kind) }
    }

    /// Fits the classifier to all series.
    ///
    /// # Errors
    /// [`Error::Train`], [`Error::Deploy`].
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, Error> {
        let all: Vec<usize> = (0..data.series().len()).collect();
        let trained = train(data, &all, &self.options, &|| ())?;
        let deployed = trained.classifier.deploy()?;
        Ok(Fitted { trained, deployed })
    }
}

impl Fitted {
    /// Names of the classes, in the order of [`leads`](Self::leads).
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.trained.classifier.classes
    }

    /// The class of a series, taken as one window. Samples that the classifier refuses are skipped, as
    /// [`score`](Self::score) and a device do; where nothing is left, priors or biases alone decide.
    ///
    /// Cost: the stream's, a sample ([`deployed`](Self::deployed)`().cost()`).
    ///
    /// # Errors
    /// [`Error::Push`] of other observations than the classifier's, [`Error::Range`].
    pub fn predict(&self, samples: &Samples) -> Result<&str, Error> {
        Ok(&self.classes()[self.pushed(samples)?.decision()?.class])
    }

    /// By how much each class leads the best of the others, `[class]`; the largest decides.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn leads(&self, samples: &Samples) -> Result<Vec<f32>, Error> {
        Ok(self.pushed(samples)?.leads()?)
    }

    /// The share of series, or of their windows where the training had some, that are decided right.
    /// Classes are told by name.
    ///
    /// # Errors
    /// [`Error::Evaluate`]; [`Error::Data`] of a class that the classifier does not know.
    pub fn score(&self, data: &Dataset) -> Result<f64, Error> {
        Ok(self.figures(data)?.accuracy)
    }

    /// Accuracy, macro-F1, confusion.
    ///
    /// # Errors
    /// As [`score`](Self::score).
    pub fn figures(&self, data: &Dataset) -> Result<Figures, Error> {
        let (found, wanted) = (Observations::from(data.kind()), self.deployed.observations());
        if found != *wanted {
            let (file, found) = (data.source().to_owned(), found.to_string());
            let wanted = wanted.to_string();
            return Err(EvaluateError::Observes { file, found, wanted }.into());
        }
        let data = &data.clone().with_classes(self.classes())?;
        let windowing = windowing_of(&self.trained.classifier, None);
        Ok(evaluate(&self.deployed, data, windowing.as_ref())?.0)
    }

    /// Writes the model file that the command reads.
    ///
    /// # Errors
    /// [`Error::Classifier`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        Ok(self.trained.classifier.save(path)?)
    }

    /// The numbers of the device: stream, cost, Rust source, artefact.
    #[must_use]
    pub fn deployed(&self) -> &Deployed {
        &self.deployed
    }

    /// How the fit came about.
    #[must_use]
    pub fn trained(&self) -> &Trained {
        &self.trained
    }

    fn pushed(&self, samples: &Samples) -> Result<Stream, Error> {
        let mut stream = self.deployed.stream();
        for sample in samples.view().iter() {
            if let Err(error @ PushError::Kind) = stream.push(sample) {
                return Err(error.into());
            }
        }
        Ok(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind;

    fn waves(classes: &[(&str, f64)], channel: &str) -> Dataset {
        let wave = |rate: f64, shift: f64| {
            (0..30).map(|t| [(rate * f64::from(t) + shift).sin()]).collect()
        };
        let series = (0..12).flat_map(|s| {
            classes.iter().map(move |&(class, rate)| (class, wave(rate, f64::from(s))))
        });
        Dataset::labelled(Kind::Channels(vec![channel.into()]), series).expect("sound")
    }

    #[test]
    fn classes_are_told_by_name_and_channels_too() {
        let both = waves(&[("slow", 0.3), ("fast", 1.9)], "x");
        let fitted = Estimator::new(ClassifierKind::Bayes).fit(&both).expect("fitted");
        assert_eq!(fitted.classes(), ["fast", "slow"]);
        let right = fitted.score(&waves(&[("slow", 0.3)], "x")).expect("scored");
        assert!(right > 0.9, "{right}");
        let leads = fitted.leads(&both.series()[0].samples).expect("decided");
        assert!(leads[1] > 0.0 && leads[0] < 0.0, "{leads:?}");
        let strange = fitted.score(&waves(&[("slow", 0.3), ("odd", 1.0)], "x"));
        let strange = strange.expect_err("no such class").to_string();
        assert!(strange.starts_with("memory, series `1`: label `odd`"), "{strange}");
        let other = fitted.score(&waves(&[("slow", 0.3)], "y"));
        assert!(matches!(other, Err(Error::Evaluate(EvaluateError::Observes { .. }))), "{other:?}");
    }

    #[test]
    fn a_saved_classifier_is_the_same() {
        let data = waves(&[("slow", 0.3), ("fast", 1.9)], "x");
        let fitted = Estimator::new(ClassifierKind::Bayes).fit(&data).expect("fitted");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fitted.save(file.path()).expect("written");
        let loaded = crate::classifier::Classifier::load(file.path()).expect("read");
        assert_eq!(fitted.trained().classifier, loaded);
    }
}
