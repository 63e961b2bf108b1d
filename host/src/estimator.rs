//! `fit`, `predict`, `predict_proba`: the names that users of scikit-learn know.
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
//! assert!(fitted.predict_proba(&wave(1.9, 0.5))?[0] > 0.5);
//! assert!(fitted.accuracy(&data)? > 0.9);
//! let trusted = Estimator::new(ClassifierKind::Fisher).rejecting(0.05).fit(&data)?;
//! assert!(trusted.rejection(&wave(9.0, 0.5))?.is_some(), "neither slow nor fast");
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! fitted.save(&folder.join("waves.json"))?;
//! # Ok::<(), fishweir::Error>(())
//! ```
//!
//! What [`learn::train`](crate::learn::train) tells beside (settings chosen, floors, restarts) is not lost:
//! [`Fitted::trained`]. Figures with intervals on data that a model never saw are those of
//! [`evaluate`](crate::evaluate).

use std::ops::Range;
use std::path::Path;

use fishweir_core::classify::RejectionReason;

use crate::Error;
use crate::classifier::{Classifier, DeployedConfidence, Observations};
use crate::data::{Dataset, Samples};
use crate::deploy::{Deployed, OpenWindow, PushError, Stream, WindowStream};
use crate::elementary::Elementary;
use crate::evaluate::{
    CrossValidationOptions, EvaluateError, Figures, UnknownClass, evaluate, learn_confidence,
    windowing_of,
};
use crate::learn::{ClassifierKind, Request, Trained, train};
use crate::parallel::{each, part_size};

/// Estimator of a classifier: the request, and the confidence to learn.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// Request of the training, at its defaults until changed.
    pub request: Request,
    /// Confidence to learn for decisions.
    pub trust: Trust,
}

/// Confidence that a cross-validation of the training series learns for decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Trust {
    /// No cross-validation.
    #[default]
    Unknown,
    /// Probability of a decision, from its margin.
    Calibrated,
    /// Probability of a decision, and thresholds of rejection: they reject at most this share of right and wrong decisions on
    /// known classes, between 0 and 1/2.
    Rejecting(f64),
}

/// A fitted classifier, and the numbers that a device would hold of it, which decide here.
#[derive(Clone, Debug)]
pub struct Fitted {
    trained: Trained,
    deployed: Deployed,
}

impl Estimator {
    /// A classifier of a kind, all else as the command has it by default.
    pub fn new(kind: ClassifierKind) -> Self {
        Self { request: Request::new(kind), trust: Trust::default() }
    }

    /// Learns a temperature beside: the scale of margins under which series that folds held back (five, or as
    /// many as there are groups) are likeliest. [`Fitted::predict_proba`] and a device tell probabilities by it.
    ///
    /// Cost: about five fits more. Source: Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural
    /// Networks (2017), section 4.2.
    #[must_use]
    pub fn calibrated(self) -> Self {
        Self { trust: Trust::Calibrated, ..self }
    }

    /// As [`calibrated`](Self::calibrated), with thresholds on margins and likelihoods: [`Fitted::rejection`].
    ///
    /// They reject at most this share of the held-out windows.
    #[must_use]
    pub fn rejecting(self, rate: f64) -> Self {
        Self { trust: Trust::Rejecting(rate), ..self }
    }

    /// Fits the classifier to all series.
    ///
    /// # Errors
    /// [`Error::Train`], [`Error::Deploy`]; [`Error::Evaluate`] if confidence is to be learnt from fewer than two folds with a
    /// label, for a classifier that keeps none, or at an invalid rate.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, Error> {
        self.fit_with(data, &|| ())
    }

    /// Fits the classifier to all series; `progress` is called after every pass of Baum-Welch.
    ///
    /// Where the request takes whole samples, one that lacks a channel is missing.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(&self, data: &Dataset, progress: &(dyn Fn() + Sync)) -> Result<Fitted, Error> {
        let whole = self.request.takes_whole_samples(data);
        if whole {
            data.check_whole_rows()?;
        }
        let whole = whole.then(|| data.whole_samples());
        let data = whole.as_ref().unwrap_or(data);
        let rate = match self.trust {
            Trust::Unknown => None,
            Trust::Calibrated => Some(None),
            Trust::Rejecting(rate) => Some(Some(rate)),
        };
        // First: what cannot be learnt is known before the rest is.
        let learn = |rate| {
            let folds = CrossValidationOptions::usual(data, self.request.group.as_deref())?;
            learn_confidence(data, &self.request, folds, rate, progress)
        };
        let confidence = rate.map(learn).transpose()?;
        let all: Vec<usize> = (0..data.series().len()).collect();
        let mut trained = train(data, &all, &self.request, progress)?;
        trained.classifier.confidence = confidence;
        let deployed = trained.classifier.deploy()?;
        Ok(Fitted { trained, deployed })
    }
}

impl Fitted {
    /// Names of the classes, in the order of [`leads`](Self::leads).
    pub fn classes(&self) -> &[String] {
        &self.trained.classifier.classes
    }

    /// The class of a series, taken as one window; [`predict_windows`](Self::predict_windows) takes a longer one. Samples that the classifier refuses are missing, as
    /// [`accuracy`](Self::accuracy) and a device do; where nothing is left, priors or biases alone decide.
    ///
    /// Cost: the stream's, a sample ([`deployed`](Self::deployed)`().cost()`).
    ///
    /// # Errors
    /// [`Error::Push`] of other observations than the classifier's, [`Error::Range`]; [`Error::Evaluate`] of a series that is
    /// longer than the windows of the training.
    pub fn predict(&self, samples: &Samples) -> Result<&str, Error> {
        Ok(&self.classes()[self.pushed(samples)?.decision()?.class])
    }

    /// The class of each window of a series, with the places of its first sample and of the sample after its last: what a
    /// stream and a device decide. A series that is shorter than a window is one window; without windows each series is.
    ///
    /// Cost: the stream's, per sample.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_windows(&self, samples: &Samples) -> Result<Vec<(Range<u64>, &str)>, Error> {
        let mut stream = self.stream();
        let mut windows = Vec::new();
        let class = |window: OpenWindow<'_>| {
            let class = self.classes()[window.stream.decision()?.class].as_str();
            Ok::<_, Error>((window.start..window.end, class))
        };
        for sample in samples.view().iter() {
            if let Err(error @ PushError::Kind) = stream.push(sample) {
                return Err(error.into());
            }
            if self.deployed.windows().is_some() {
                windows.extend(stream.decided().map(class).transpose()?);
            }
        }
        let rest = match self.deployed.windows() {
            Some(_) => stream.short(),
            None => stream.decided(),
        };
        windows.extend(rest.map(class).transpose()?);
        Ok(windows)
    }

    /// A stream that decides on the windows of the training, sample by sample, in the device's arithmetic.
    #[must_use]
    pub fn stream(&self) -> WindowStream {
        self.deployed.window_stream()
    }

    /// Returns the margin of each class over the best of the others, `[class]`; the largest decides.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn leads(&self, samples: &Samples) -> Result<Vec<f32>, Error> {
        Ok(self.pushed(samples)?.leads()?)
    }

    /// The probability of each class, `[class]`.
    ///
    /// Of a Bayes classifier it is the posterior under the fitted models and the priors that training
    /// counted, from log-likelihoods subtracted before they are rounded. Of any other the logistic function
    /// of each output's value, one class against the rest, made to sum to one:
    ///
    /// ```text
    /// p_c = s(v_c) / sum_k s(v_k),    s(v) = 1 / (1 + exp(-v));    of two classes s(v) and s(-v)
    /// ```
    ///
    /// What logistic regression ([`LOGISTIC`](crate::learn::LOGISTIC)) maximised is the likelihood of
    /// just these, under its class weights. Margins of support vector machines are no log-odds: theirs are an
    /// order of trust, not frequencies.
    ///
    /// Where a temperature was learnt ([`Estimator::calibrated`]) it is that, `exp(scale v_c)` over their sum,
    /// whatever the classifier.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_proba(&self, samples: &Samples) -> Result<Vec<f64>, Error> {
        self.probabilities(&self.pushed(samples)?)
    }

    /// Returns the probability of each class after the samples of a stream, as [`predict_proba`](Self::predict_proba).
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn probabilities(&self, stream: &Stream) -> Result<Vec<f64>, Error> {
        let learnt = self.deployed.confidence().map(|learnt| f64::from(learnt.of_core().scale));
        let posterior = self.trained.classifier.is_bayes().then_some(1.0);
        if let Some(scale) = learnt.or(posterior) {
            let behind = stream.leads()?.into_iter().map(|lead| scale * f64::from(lead.min(0.0)));
            return Ok(shares(behind.collect()));
        }
        let values: Vec<f64> = stream.decision_values()?.into_iter().map(f64::from).collect();
        Ok(shares(match values[..] {
            [value] => vec![log_logistic(-value), log_logistic(value)],
            _ => values.into_iter().map(log_logistic).collect(),
        }))
    }

    /// Returns the reason for rejecting the decision on a series; `None` if it is accepted, or if no thresholds were learnt
    /// ([`Estimator::rejecting`]).
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn rejection(&self, samples: &Samples) -> Result<Option<RejectionReason>, Error> {
        Ok(self.doubt(&self.pushed(samples)?))
    }

    /// Returns the reason for rejecting the decision after the samples of a stream, as [`rejection`](Self::rejection).
    pub fn doubt(&self, stream: &Stream) -> Option<RejectionReason> {
        let confidence = self.deployed.confidence().map(DeployedConfidence::of_core);
        confidence.and_then(|confidence| stream.believed(&confidence)?.rejection)
    }

    /// Reads a result off the stream of each of `count` series, over threads: `series` makes the samples of one, and `read` is
    /// also given how many of them were refused, which are missing.
    ///
    /// # Errors
    /// Those of `series` and `read`, and as [`predict`](Self::predict), with the number of the series.
    pub fn each<R: Send, E: From<Error> + Send>(
        &self,
        count: usize,
        series: &(dyn Fn(usize) -> Result<Samples, E> + Sync),
        read: &(dyn Fn(&Stream, usize) -> Result<R, E> + Sync),
    ) -> Result<Vec<R>, (usize, E)> {
        let size = part_size(count);
        let part = |part: usize| {
            let mut stream = self.deployed.stream();
            let mut one = |index: usize| {
                stream.reset();
                let refused = self.push_all(&mut stream, &series(index)?)?;
                read(&stream, refused)
            };
            let last = count.min((part + 1) * size);
            (part * size..last).map(|index| one(index).map_err(|e| (index, e))).collect()
        };
        let parts: Vec<Result<Vec<R>, (usize, E)>> = each(count.div_ceil(size), &part);
        Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Returns the accuracy on series, or on their windows if the training had some.
    ///
    /// Classes are matched by name; series of unknown classes are left out ([`unknown`](Self::unknown)).
    ///
    /// # Errors
    /// [`Error::Evaluate`]; [`Error::Data`] where the classifier knows no class of the data, and of data at another rate than
    /// that of the training.
    pub fn accuracy(&self, data: &Dataset) -> Result<f64, Error> {
        Ok(self.figures(data)?.accuracy)
    }

    /// Accuracy, macro-F1, confusion.
    ///
    /// # Errors
    /// As [`accuracy`](Self::accuracy).
    pub fn figures(&self, data: &Dataset) -> Result<Figures, Error> {
        self.check_observes(data)?;
        let (data, _) = data.clone().of_classes(self.classes())?;
        let windowing = windowing_of(&self.trained.classifier, None);
        Ok(evaluate(&self.deployed, &data, windowing.as_ref())?.0)
    }

    /// Returns the decisions on each class of the data that the classifier does not know.
    ///
    /// If thresholds were learnt ([`Estimator::rejecting`]), it also returns the share rejected.
    ///
    /// # Errors
    /// [`Error::Evaluate`] of other observations than the classifier's, [`Error::Data`] of another rate.
    pub fn unknown(&self, data: &Dataset) -> Result<Vec<UnknownClass>, Error> {
        self.check_observes(data)?;
        let windowing = windowing_of(&self.trained.classifier, None);
        Ok(UnknownClass::all(&self.deployed, data, windowing.as_ref()))
    }

    fn check_observes(&self, data: &Dataset) -> Result<(), Error> {
        let (found, wanted) = (Observations::from(data.kind()), self.deployed.observations());
        if found != *wanted {
            let (file, found) = (data.source().to_owned(), found.to_string());
            let wanted = wanted.to_string();
            return Err(EvaluateError::Observes { file, found, wanted }.into());
        }
        if let Some(contract) = self.deployed.contract() {
            contract.check_rate(data)?;
        }
        Ok(())
    }

    /// Writes the model file that the command reads.
    ///
    /// # Errors
    /// [`Error::Classifier`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        Ok(self.trained.classifier.save(path)?)
    }

    /// The numbers of the device: stream, cost, Rust source, artefact.
    pub fn deployed(&self) -> &Deployed {
        &self.deployed
    }

    /// Result of the training.
    pub fn trained(&self) -> &Trained {
        &self.trained
    }

    fn pushed(&self, samples: &Samples) -> Result<Stream, Error> {
        let mut stream = self.deployed.stream();
        self.push_all(&mut stream, samples)?;
        Ok(stream)
    }

    /// Pushes a series that is one window, and counts the refused samples.
    fn push_all(&self, stream: &mut Stream, samples: &Samples) -> Result<usize, Error> {
        let length = samples.view().len();
        if let Some(windows) = self.deployed.windows()
            && length > windows.length as usize
        {
            let window = windows.length as usize;
            return Err(EvaluateError::LongerThanWindow { length, window }.into());
        }
        let mut refused = 0;
        for sample in samples.view().iter() {
            match stream.push(sample) {
                Err(error @ PushError::Kind) => return Err(error.into()),
                Err(_) => refused += 1,
                Ok(()) => {}
            }
        }
        Ok(refused)
    }
}

/// A classifier that was read from a file: nothing is known of its fits.
impl TryFrom<Classifier> for Fitted {
    type Error = Error;

    fn try_from(classifier: Classifier) -> Result<Self, Error> {
        let deployed = classifier.deploy()?;
        let (choice, fits, form) = (None, Vec::new(), None);
        let trained = Trained { classifier, choice, fits, varied: String::new(), form };
        Ok(Self { trained, deployed })
    }
}

/// `log ( 1 / (1 + exp(-x)) )`.
fn log_logistic(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).portable_exp().portable_ln_1p()
}

/// Exponentials of logarithms that are not all minus infinity, as shares of their sum.
fn shares(logs: Vec<f64>) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).portable_exp()).sum();
    logs.into_iter().map(|log| (log - most).portable_exp() / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind;
    use crate::kernel::ScoreKernelKind;

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
        let right = fitted.accuracy(&waves(&[("slow", 0.3)], "x")).expect("scored");
        assert!(right > 0.9, "{right}");
        let leads = fitted.leads(&both.series()[0].samples).expect("decided");
        assert!(leads[1] > 0.0 && leads[0] < 0.0, "{leads:?}");
        let some = waves(&[("slow", 0.3), ("odd", 1.0)], "x");
        assert_eq!(fitted.accuracy(&some).expect("scored"), right);
        assert!(fitted.unknown(&both).expect("judged").is_empty());
        let none = waves(&[("odd", 1.0)], "x");
        let strange = fitted.accuracy(&none).expect_err("no such class").to_string();
        assert!(strange.starts_with("memory, series `0`: unknown label `odd`"), "{strange}");
        for data in [some, none] {
            let unknown = fitted.unknown(&data).expect("judged");
            let [odd] = unknown.as_slice() else { panic!("one class, not {unknown:?}") };
            assert_eq!((odd.class.as_str(), odd.series, odd.windows), ("odd", 12, 12));
            let decided: usize = odd.decided.iter().map(|one| one.1).sum();
            assert_eq!((decided + odd.undecided, odd.rejected), (12, None));
        }
        let other = fitted.accuracy(&waves(&[("slow", 0.3)], "y"));
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

    #[test]
    fn trust_is_learnt_from_what_was_held_back() {
        let data = waves(&[("slow", 0.3), ("fast", 1.9)], "x");
        let bayes = || Estimator::new(ClassifierKind::Bayes);
        let plain = bayes().fit(&data).expect("fitted");
        let sure = bayes().calibrated().fit(&data).expect("fitted");
        let wary = bayes().rejecting(0.1).fit(&data).expect("fitted");
        let one = &data.series()[0].samples;
        let scale = sure.trained().classifier.confidence.as_ref().expect("learnt").scale;
        let log_odds = |fitted: &Fitted| {
            let p = fitted.predict_proba(one).expect("decided");
            (p[1] / p[0]).ln()
        };
        let (told, wanted) = (log_odds(&sure), scale * log_odds(&plain));
        assert!((told - wanted).abs() < 1e-6 * wanted.abs(), "{told} where {wanted} is right");
        let doubted = |fitted: &Fitted, of: &Dataset| {
            let rejection = |series: &crate::data::Series| fitted.rejection(&series.samples);
            of.series().iter().filter(|one| rejection(one).expect("decided").is_some()).count()
        };
        let strange = waves(&[("slow", 5.0)], "x");
        assert_eq!([doubted(&plain, &strange), doubted(&sure, &strange)], [0, 0], "not asked for");
        assert_eq!(doubted(&wary, &strange), strange.series().len());
        let odd = wary.unknown(&waves(&[("odd", 5.0)], "x")).expect("judged");
        assert_eq!(odd[0].rejected, Some(odd[0].windows));
        assert!(doubted(&wary, &data) <= 4, "of {}", data.series().len());
        let never = bayes().rejecting(0.7).fit(&data).expect_err("more than half");
        assert!(matches!(never, Error::Evaluate(EvaluateError::Rate(0.7))), "{never}");
        let kernel =
            Estimator::new(ClassifierKind::OnScores(ScoreKernelKind::Gaussian)).calibrated();
        let machine = kernel.fit(&data).expect_err("a kernel machine").to_string();
        assert!(machine.starts_with("a model of gaussian is a kernel machine"), "{machine}");
    }

    #[test]
    fn probabilities_are_posteriors_or_logistic() {
        let three = waves(&[("slow", 0.3), ("fast", 1.9), ("mid", 0.9)], "x");
        let two = waves(&[("slow", 0.3), ("fast", 1.9)], "x");
        for (data, kind) in [
            (&three, ClassifierKind::Bayes),
            (&two, ClassifierKind::Bayes),
            (&three, ClassifierKind::Fisher),
            (&two, ClassifierKind::Fisher),
        ] {
            let fitted = Estimator::new(kind).fit(data).expect("fitted");
            for series in data.series() {
                let p = fitted.predict_proba(&series.samples).expect("decided");
                assert_eq!(p.len(), data.classes().len());
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{kind}: {p:?}");
                let best = (0..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).expect("a class");
                assert_eq!(
                    fitted.classes()[best],
                    fitted.predict(&series.samples).expect("decided")
                );
                let stream = fitted.pushed(&series.samples).expect("pushed");
                let values = stream.decision_values().expect("in range");
                let logistic = |v: f32| 1.0 / (1.0 + (-f64::from(v)).exp());
                let wanted: Vec<f64> = match (&values[..], kind) {
                    (&[value], _) => vec![logistic(-value), logistic(value)],
                    (_, ClassifierKind::Bayes) => {
                        let most = values.iter().copied().fold(f32::MIN, f32::max);
                        values.iter().map(|value| f64::from(value - most).exp()).collect()
                    }
                    _ => values.iter().map(|&value| logistic(value)).collect(),
                };
                let sum: f64 = wanted.iter().sum();
                for (p, wanted) in p.iter().zip(&wanted) {
                    assert!(
                        (p - wanted / sum).abs() < 1e-4,
                        "{kind}: {p} where {wanted} / {sum} is right"
                    );
                }
            }
        }
        let far = shares(vec![log_logistic(-1e4), log_logistic(-2e4)]);
        assert_eq!(far, [1.0, 0.0], "no class is likely, one is less unlikely");
    }
}
