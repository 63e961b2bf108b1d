//! Evaluation: decisions on labelled windows, cross-validation, and the figures that sum them up.

use rayon::prelude::*;
use serde::Serialize;

use crate::classifier::Classifier;
use crate::data::{Dataset, Window, Windowing};
use crate::deploy::{CompileError, Deployed, Stream};
use crate::learn::{Choice, TrainError, TrainOptions, train};

/// The decision on one window.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Index of its series.
    pub series: usize,
    /// Its first sample's place in the series.
    pub start: usize,
    /// Its class.
    pub label: usize,
    /// The class decided for; `None` where every sample was refused.
    pub decision: Option<usize>,
    /// By how much it leads.
    pub margin: f32,
    /// Samples that the models refused; they were skipped, as a device would.
    pub refused: usize,
}

/// Why an evaluation came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// Training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A classifier does not fit in `f32`.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The data could not be used.
    #[error(transparent)]
    Data(#[from] crate::data::DataError),
    /// No labelled window.
    #[error("{0}: no window to evaluate on; shorten the window or keep short series")]
    NoWindows(String),
}

/// Figures of a classifier on labelled windows.
///
/// Classes without a window and never decided for count in no average.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Windows judged.
    pub windows: usize,
    /// Share of windows decided rightly.
    pub accuracy: f64,
    /// Mean over the classes of F1, the harmonic mean of precision and recall.
    pub macro_f1: f64,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Windows by class and decision, `[class][decision]`.
    pub confusion: Vec<Vec<usize>>,
    /// Figures of each class.
    pub per_class: Vec<ClassFigures>,
    /// Samples that the models refused and that were skipped.
    pub refused_samples: usize,
    /// Windows without a single sample taken in: judged wrong.
    pub undecided: usize,
}

/// Figures of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Its name.
    pub class: String,
    /// Its windows.
    pub windows: usize,
    /// Of the windows decided for it, the share that are its own.
    pub precision: f64,
    /// Of its own windows, the share decided for it.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

/// Judges windows by a deployed classifier, in the very `f32` arithmetic of the device.
#[must_use]
pub fn judge(deployed: &Deployed, windows: &[Window<'_>]) -> Vec<Judged> {
    windows
        .par_chunks(16)
        .map_init(
            || deployed.stream(),
            |stream, windows| {
                windows.iter().map(|window| judge_one(stream, window)).collect::<Vec<_>>()
            },
        )
        .flatten_iter()
        .collect()
}

fn judge_one(stream: &mut Stream, window: &Window<'_>) -> Judged {
    stream.reset();
    let mut refused = 0;
    for sample in window.samples.iter() {
        refused += usize::from(stream.push(sample).is_err());
    }
    let taken = stream.samples() > 0;
    let decision = stream.decision();
    Judged {
        series: window.series,
        start: window.start,
        label: window.label().unwrap_or(usize::MAX),
        decision: taken.then_some(decision.class),
        margin: decision.margin,
        refused,
    }
}

impl Figures {
    /// The figures of judged windows; windows without a label are left out.
    #[must_use]
    pub fn of<'a>(classes: &[String], judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let count = classes.len();
        let mut confusion = vec![vec![0; count]; count];
        let (mut windows, mut undecided, mut refused_samples) = (0, 0, 0);
        let mut of_class = vec![0; count];
        for one in judged.into_iter().filter(|one| one.label < count) {
            windows += 1;
            refused_samples += one.refused;
            of_class[one.label] += 1;
            match one.decision {
                Some(decision) if decision < count => confusion[one.label][decision] += 1,
                _ => undecided += 1,
            }
        }
        let ratio = |part: usize, whole: usize| {
            if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
        };
        let right: usize = (0..count).map(|class| confusion[class][class]).sum();
        let decided = |class: usize| confusion.iter().map(|row| row[class]).sum::<usize>();
        let per_class: Vec<ClassFigures> = classes
            .iter()
            .enumerate()
            .map(|(class, name)| ClassFigures {
                class: name.clone(),
                windows: of_class[class],
                precision: ratio(confusion[class][class], decided(class)),
                recall: ratio(confusion[class][class], of_class[class]),
                f1: ratio(2 * confusion[class][class], of_class[class] + decided(class)),
            })
            .collect();
        let seen: Vec<f64> = (0..count)
            .filter(|&class| of_class[class] + decided(class) > 0)
            .map(|class| per_class[class].f1)
            .collect();
        Self {
            windows,
            accuracy: ratio(right, windows),
            macro_f1: seen.iter().sum::<f64>() / seen.len().max(1) as f64,
            classes: classes.to_vec(),
            confusion,
            per_class,
            refused_samples,
            undecided,
        }
    }
}

/// A classifier's cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossValidation {
    /// `bayes` or `fisher`.
    pub method: String,
    /// Figures over all folds' windows together.
    pub pooled: Figures,
    /// The folds one by one.
    pub folds: Vec<FoldFigures>,
}

/// One fold of a cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldFigures {
    /// Groups tested on, where a group column was named.
    pub groups: Vec<String>,
    /// Series tested on.
    pub series: usize,
    /// Windows tested on.
    pub windows: usize,
    /// Accuracy.
    pub accuracy: f64,
    /// Macro-F1.
    pub macro_f1: f64,
    /// What was chosen within the training folds.
    pub choice: Option<Choice>,
}

/// How to cross-validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossValidationOptions {
    /// Folds.
    pub folds: usize,
    /// Seed of the folds; `None` deals in order.
    pub seed: Option<u64>,
}

/// Cross-validates a classifier: in every fold it is trained on the other folds alone, compiled to
/// `f32`, and judges windows as a device would. Groups never straddle folds.
///
/// # Errors
/// [`EvaluateError`].
pub fn cross_validate(
    data: &Dataset,
    options: &TrainOptions,
    validation: CrossValidationOptions,
    progress: &(dyn Fn() + Sync),
) -> Result<CrossValidation, EvaluateError> {
    let group = options.group.as_deref();
    let folds = data.folds(validation.folds, group, validation.seed)?;
    let groups = group.map(|column| data.groups(column)).transpose()?;
    let windows = data.windows(options.windowing.as_ref());
    let mut all = Vec::new();
    let mut by_fold = Vec::new();
    for fold in 0..folds.len() {
        let trained = train(data, &folds.train(fold), options, progress)?;
        let test = folds.test(fold);
        let cut: Vec<Window<'_>> = windows.of_all(&test).copied().collect();
        let judged = judge(&trained.classifier.compile()?, &cut);
        let figures = Figures::of(data.classes(), &judged);
        let mut names: Vec<usize> = groups
            .iter()
            .flat_map(|(of_series, _)| test.iter().map(|&series| of_series[series]))
            .collect();
        names.sort_unstable();
        names.dedup();
        by_fold.push(FoldFigures {
            groups: groups
                .iter()
                .flat_map(|(_, all)| names.iter().map(|&name| all[name].clone()))
                .collect(),
            series: test.len(),
            windows: judged.len(),
            accuracy: figures.accuracy,
            macro_f1: figures.macro_f1,
            choice: trained.choice,
        });
        all.extend(judged);
    }
    if all.is_empty() {
        return Err(EvaluateError::NoWindows(data.source().to_owned()));
    }
    Ok(CrossValidation {
        method: options.kind.to_string(),
        pooled: Figures::of(data.classes(), &all),
        folds: by_fold,
    })
}

/// Evaluates a trained classifier on a labelled data set read with its classes and observations.
///
/// # Errors
/// [`EvaluateError::NoWindows`], or [`EvaluateError::Data`] for the first series without a label.
pub fn evaluate(
    deployed: &Deployed,
    data: &Dataset,
    windowing: Option<&Windowing>,
) -> Result<(Figures, Vec<Judged>), EvaluateError> {
    data.labels()?;
    let windows = data.windows(windowing);
    let judged = judge(deployed, windows.all());
    if judged.is_empty() {
        return Err(EvaluateError::NoWindows(data.source().to_owned()));
    }
    Ok((Figures::of(deployed.classes(), &judged), judged))
}

/// The windowing that a classifier was trained with, unless another is asked for.
#[must_use]
pub fn windowing_of(classifier: &Classifier, asked: Option<Windowing>) -> Option<Windowing> {
    asked.or(classifier.provenance.windowing)
}
