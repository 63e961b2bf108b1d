//! Folds that many processes judge.

use std::path::PathBuf;

use fishweir::data::{Dataset, SamplesView};
use fishweir::evaluate::{
    CrossValidation, CrossValidationOptions, EvaluateError, JudgedFold, cross_validate, join_folds,
    judge_folds,
};
use fishweir::files;
use fishweir::learn::{ClassifierKind, Request, Trainer};
use fishweir::parts::{FoldPart, Share};
use fishweir::report::{Written, counted};
use fishweir::sums::Digest;

use super::Arguments;
use crate::arguments::TrainingArguments;
use crate::expect::{ending, share};
use crate::output::{self, Outputs, named_after};
use crate::{Failure, remedy};

/// Folds that are judged here, or elsewhere.
#[derive(Debug, Default, clap::Args)]
pub(super) struct InParts {
    /// Judge part I of N of the folds alone, counted from 1, of all classifiers together; --folds-from joins the parts
    #[arg(long, value_name = "I/N", value_parser = share, help_heading = "Parts", conflicts_with_all = ["model", "kernel_model",
        "kernel", "gram", "reject", "events", "draw", "roc", "reliability", "folds_from"])]
    part: Option<Share>,
    /// File for the folds of --part, - for standard output [default: DATA's name with the ending .folds-I-of-N.json, in this
    /// folder]
    #[arg(short, long, value_name = "FILE.json", help_heading = "Parts", requires = "part")]
    output: Option<PathBuf>,
    /// Report on the folds in these files, which --part wrote, comma-separated; nothing is trained
    ///
    /// All other options are those of the parts.
    #[arg(long, value_name = "FILES", value_delimiter = ',', help_heading = "Parts", conflicts_with_all = ["model",
        "kernel_model", "kernel", "gram", "reject", "events"])]
    folds_from: Vec<PathBuf>,
}

impl InParts {
    /// File of a part; `None` where no part is asked for.
    pub(super) fn output(&self, data: &[PathBuf]) -> Option<PathBuf> {
        let part = self.part?;
        let ending = ending("folds", Some(part), "json");
        // The command line has one at least.
        let named = || named_after(data.first().map_or("".as_ref(), PathBuf::as_path), &ending);
        Some(self.output.clone().unwrap_or_else(named))
    }

    /// Files that are read.
    pub(super) fn inputs(&self) -> &[PathBuf] {
        &self.folds_from
    }
}

/// How the folds of classifiers are judged.
#[derive(Default)]
pub(crate) enum FoldTasks {
    /// All here.
    #[default]
    Here,
    /// A share of them.
    Part(Share, FoldPart),
    /// They were judged elsewhere, `[classifier][fold]`.
    Joined(Vec<Vec<JudgedFold>>),
}

impl FoldTasks {
    /// The tasks that the arguments ask for.
    pub(super) fn of(
        arguments: &Arguments,
        data: &Dataset,
        (kinds, training): (&[ClassifierKind], &TrainingArguments),
        folds: CrossValidationOptions,
    ) -> Result<Self, Failure> {
        let InParts { part, folds_from, .. } = &arguments.in_parts;
        if part.is_none() && folds_from.is_empty() {
            return Ok(Self::Here);
        }
        let views: Vec<SamplesView<'_>> =
            data.series().iter().map(|series| series.samples.view()).collect();
        let labels: Vec<Option<usize>> = data.series().iter().map(|series| series.label).collect();
        let dealt = data.folds(folds.folds, training.group.as_deref(), folds.seed)?;
        let dealt: Vec<Vec<usize>> = (0..dealt.len()).map(|fold| dealt.test(fold)).collect();
        let settings = format!("{:?}", (kinds, training, &arguments.cutting));
        let version = env!("CARGO_PKG_VERSION");
        let of = (version, Digest::of_sequences(&views), labels, data.classes(), dealt, settings);
        let of = Digest::of_value(&of).map_err(std::io::Error::from)?;
        let methods = kinds.iter().map(ToString::to_string).collect();
        let none = FoldPart::new(of, methods, folds.folds);
        if let Some(share) = part {
            return Ok(Self::Part(*share, none));
        }
        let read = |path: &PathBuf| -> Result<FoldPart, Failure> {
            Ok(FoldPart::parse(&path.display().to_string(), &files::read(path)?)?)
        };
        let parts = folds_from.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let joined = none.joined(parts).map_err(|(index, error)| {
            let file = folds_from[index].display();
            Failure::input(error.kind(), format!("{file}: {}", remedy::words(&error)))
        })?;
        Ok(Self::Joined(joined))
    }

    /// The cross-validation of a classifier, by its index; `None` where a share of it is judged, and kept.
    pub(super) fn validate(
        &mut self,
        index: usize,
        (trainer, request): (&Trainer<'_>, &Request),
        folds: CrossValidationOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Option<CrossValidation>, EvaluateError> {
        match self {
            Self::Here => cross_validate(trainer, request, folds, progress).map(Some),
            Self::Part(share, part) => {
                let some = part.share(*share, index);
                let judged = judge_folds(trainer, request, folds, &some, progress)?;
                for (fold, judged) in some.into_iter().zip(judged) {
                    part.add(index, fold, judged);
                }
                Ok(None)
            }
            Self::Joined(all) => {
                let judged = std::mem::take(&mut all[index]);
                join_folds(trainer.data(), request, folds, judged).map(Some)
            }
        }
    }
}

/// Writes a part, and reports it.
pub(super) fn write(
    arguments: &Arguments,
    (share, part): (Share, &FoldPart),
    outputs: &Outputs,
) -> Result<(), Failure> {
    // There is one where a part is asked for.
    let path = arguments.in_parts.output(&arguments.data).unwrap_or_default();
    output::write(&path, part.to_json()?.as_bytes())?;
    let what =
        format!("part {} of {}: {}", share.number(), share.of(), counted(part.len(), "fold"));
    outputs.print(&Written::new(what, path.display().to_string()), arguments.json)
}
