//! `fit`, `predict`, `score`: the names that users of scikit-learn know.
//!
//! ```
//! use fishweir::data::{Dataset, Kind, Samples};
//! use fishweir::estimator::Estimator;
//! use fishweir::learn::{ClassifierKind, TrainOptions};
//!
//! let wave = |rate: f64, shift: f64| -> Samples {
//!     (0..30).map(|t| [(rate * f64::from(t) + shift).sin()]).collect()
//! };
//! let shifts = (0..12).map(f64::from);
//! let series = shifts.flat_map(|s| [("slow", wave(0.3, s)), ("fast", wave(1.9, s))]);
//! let data = Dataset::labelled(Kind::Channels(vec!["x".into()]), series)?;
//!
//! let fitted = Estimator(TrainOptions::new(ClassifierKind::Fisher)).fit(&data)?;
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
use crate::data::{Dataset, Samples};
use crate::deploy::{DecisionStream, DeployedKind};
use crate::evaluate::{Figures, evaluate, windowing_of};
use crate::learn::{TrainOptions, Trained, train};

/// How a classifier is to be fitted.
#[derive(Clone, Debug)]
pub struct Estimator(pub TrainOptions);

/// A fitted classifier, and the numbers that a device would hold of it: what decides here.
#[derive(Clone, Debug)]
pub struct Fitted {
    trained: Trained,
    deployed: DeployedKind,
}

impl Estimator {
    /// Fits the classifier to all series.
    ///
    /// # Errors
    /// [`Error::Train`], [`Error::Deploy`].
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, Error> {
        let all: Vec<usize> = (0..data.series().len()).collect();
        let trained = train(data, &all, &self.0, &|| ())?;
        let deployed = trained.classifier.deploy()?;
        Ok(Fitted { trained, deployed })
    }
}

impl Fitted {
    /// Names of the classes, in the order of [`decision_function`](Self::decision_function).
    #[must_use]
    pub fn classes(&self) -> &[String] {
        self.trained.classifier.classes()
    }

    /// The class of a series, taken as one window.
    ///
    /// # Errors
    /// [`Error::Push`] of a sample that is refused, [`Error::Range`].
    pub fn predict(&self, samples: &Samples) -> Result<&str, Error> {
        Ok(&self.classes()[self.pushed(samples)?.decision()?.class])
    }

    /// By how much each class leads the best of the others, `[class]`; the largest decides.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn decision_function(&self, samples: &Samples) -> Result<Vec<f32>, Error> {
        Ok(self.pushed(samples)?.leads()?)
    }

    /// The share of series, or of their windows where the training had some, that are decided right.
    ///
    /// # Errors
    /// [`Error::Evaluate`].
    pub fn score(&self, data: &Dataset) -> Result<f64, Error> {
        Ok(self.figures(data)?.accuracy)
    }

    /// Accuracy, macro-F1, confusion.
    ///
    /// # Errors
    /// [`Error::Evaluate`].
    pub fn figures(&self, data: &Dataset) -> Result<Figures, Error> {
        let windowing = windowing_of(&self.trained.classifier, None);
        Ok(evaluate(self.deployed.any(), data, windowing.as_ref())?.0)
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
    pub fn deployed(&self) -> &DeployedKind {
        &self.deployed
    }

    /// How the fit came about.
    #[must_use]
    pub fn trained(&self) -> &Trained {
        &self.trained
    }

    fn pushed(&self, samples: &Samples) -> Result<Box<dyn DecisionStream + Send>, Error> {
        let mut stream = self.deployed.stream();
        for sample in samples.view().iter() {
            stream.push(sample)?;
        }
        Ok(stream)
    }
}
