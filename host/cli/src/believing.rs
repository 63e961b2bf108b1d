//! Options for calibration and rejection, learnt on held-out data, for `fit` and `evaluate`.

use clap::Args;
use fishweir::classifier::Confidence;
use fishweir::data::{DataError, Dataset, FoldError};
use fishweir::evaluate::{
    CrossValidation, CrossValidationOptions, EvaluateError, RejectionFigures, learn_confidence,
    leave_classes_out,
};
use fishweir::learn::{ClassifierKind, Request};
use fishweir::report::counted;

use super::training::most_passes;
use super::values::rejection_rate;
use super::{Failure, Topic, progress, tell};

/// Options for calibration and rejection, which a model keeps with its decisions.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Confidence")]
pub(super) struct Believing {
    /// Keep in the model a temperature that makes probabilities of its decision values
    ///
    /// Five folds of the data choose it. predict and the device then report probabilities.
    #[arg(long)]
    calibrate: bool,
    /// Calibrate, and flag decisions as doubtful so that this share of held-out windows is rejected
    ///
    /// The model keeps thresholds of margin and likelihood: a close call, or a window unlike the data, is doubtful.
    #[arg(long, value_name = "RATE", value_parser = rejection_rate)]
    reject: Option<f64>,
}

impl Believing {
    /// Names of the options that were given.
    pub(super) fn given(self) -> Vec<&'static str> {
        super::options::named([
            ("--calibrate", self.calibrate),
            ("--reject", self.reject.is_some()),
        ])
    }

    /// Learns the calibration; `None` if it was not requested.
    pub(super) fn learn(
        self,
        data: &Dataset,
        request: &Request,
    ) -> Result<Option<Confidence>, Failure> {
        if self.given().is_empty() {
            return Ok(None);
        }
        let folds = tell::usual_folds(data, request.group.as_deref())?;
        let bar = progress::passes(
            "cross-validating".into(),
            folds.saturating_mul(most_passes(data, request)),
        );
        let validation = CrossValidationOptions { folds, seed: None };
        let learnt = learn_confidence(data, request, validation, self.reject, &|| bar.inc(1));
        bar.finish_and_clear();
        learnt.map(Some).map_err(|error| match error {
            EvaluateError::KeepsNoConfidence(_) => keeps_none(&self.given().join(", "), &error),
            EvaluateError::Data(DataError::Folds { file, reason }) => {
                let given = self.given().join(", ");
                let why = not_held_back(&reason, request.group.is_some());
                Failure::input(
                    Topic::NotHeldBack,
                    format!(
                        "{file}: {given} needs series that are held out from training, and {why}"
                    ),
                )
            }
            error => Failure::of(data, error),
        })
    }
}

fn keeps_none(given: &str, error: &EvaluateError) -> Failure {
    Failure::input(error.kind(), format!("{given}: {error}"))
}

/// Refuses, before anything is cross-validated, what `fit` refuses: rejection by a classifier without confidence.
pub(super) fn check(kinds: &[ClassifierKind], rate: Option<f64>) -> Result<(), Failure> {
    match kinds.iter().find(|kind| rate.is_some() && !kind.compiles()) {
        Some(&kind) => Err(keeps_none("--reject", &EvaluateError::KeepsNoConfidence(kind))),
        None => Ok(()),
    }
}

/// Describes why no data can be held out, in terms of the options of `fit`.
fn not_held_back(reason: &FoldError, grouped: bool) -> String {
    match reason {
        FoldError::ClassMissing { class, items, .. } => format!(
            "class `{class}` has {} in only one fold; add a series of it, or leave the class out: it needs {}",
            counted(*items, "series"),
            counted(2, if grouped { "group" } else { "series" })
        ),
        other => other.to_string(),
    }
}

/// Cross-validates the rejection of a classifier: on windows of known classes, and on those of each class left out.
pub(super) fn reject(
    data: &Dataset,
    request: &Request,
    folds: CrossValidationOptions,
    validated: &mut CrossValidation,
    rate: f64,
) -> Result<(), Failure> {
    let Some(figures) = RejectionFigures::of(&validated.judged(), data.classes().len(), rate)
    else {
        return Ok(());
    };
    let bar = progress::passes(
        format!("leaving classes out of {}", request.kind),
        data.classes().len().saturating_mul(most_passes(data, request)),
    );
    let unseen = leave_classes_out(data, request, folds, rate, &|| bar.inc(1));
    bar.finish_and_clear();
    let unseen = unseen.map_err(|error| Failure::of(data, error))?;
    validated.rejection = Some(RejectionFigures { unseen, ..figures });
    Ok(())
}
