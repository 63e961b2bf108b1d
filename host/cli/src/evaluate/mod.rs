//! `fishweir evaluate`.

mod chunks;
mod events;
mod figures;
mod folds;
mod kernels;
mod notes;
mod records;
mod regression;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use fishweir::data::{Dataset, Windowing};
use fishweir::evaluate::{
    Calibration, CrossValidationOptions, Figures, Judged, Latency, RejectionFigures, Roc, Units,
    UnknownClass, Unseen, check, evaluate,
};
use fishweir::kernel::registry::Entry;
use fishweir::learn::{ClassifierKind, Space, Trainer};
use fishweir::report::{
    BelievedFigures, CrossValidationReport, DataSummary, Document, EmissionSummary, GroupFigures,
    ModelComparison, ModelEvaluation, Validated, counted,
};
pub(super) use folds::FoldTasks;
use folds::InParts;
use notes::{note_trained_on, note_unknown};

use super::arguments::{ScoreKernels, TrainingArguments};
use super::document::{self, PageReport};
use super::emitting::Emitting;
use super::kernels::KernelOptions;
use super::marking::Marking;
use super::model::Model;
use super::options::{each_once, named, note_idle, refuse_idle};
use super::out_of_core::OutOfCore;
use super::output::Outputs;
use super::reading::{Cutting, Gathering, Reading};
use super::regression::TargetOptions;
use super::training::{as_taken, most_passes, requests, warn};
use super::values::rejection_rate;
use super::{
    Failure, believing, findings, network, next, progress, read, recognise, refusals, tell,
};
use crate::Topic;
use crate::help::brief;

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "model",
    "classifier",
    "group",
    "folds",
    "window",
    "hop",
    "effort",
    "target",
    "reject",
    "label",
    "dry_run",
    "report",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir evaluate gait.csv --group subject --window 200
  fishweir evaluate gait.csv --classifier bayes,fisher,top --effort normal
  fishweir evaluate gait.csv --target force --window 200     # regression: RMSE, MAE, R2
  fishweir evaluate other.csv --model gait.json    # a fitted model on other data
  fishweir evaluate new.csv --model vote.json      # a classifier of records, by network fit";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Labelled series
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Evaluate this fitted model (JSON or artefact) instead of cross-validating
    ///
    /// Several are compared with the first.
    #[arg(short, long, value_name = "FILE")]
    model: Vec<PathBuf>,
    /// Folds of the cross-validation [default: 5, fewer where there are fewer series or groups]
    #[arg(long, value_name = "K", conflicts_with = "model")]
    folds: Option<usize>,
    /// Shuffle series (or groups) into folds with this seed [default: in order]
    #[arg(long, value_name = "SEED", conflicts_with = "model")]
    fold_seed: Option<u64>,
    /// Classifiers to cross-validate, comma-separated; the others are compared with the first
    ///
    /// `count` needs --emission categorical, gaussian or full-gaussian; kernel machines need categorical or gaussian.
    #[arg(long, value_parser = crate::names::classifier(), value_delimiter = ',', value_name = "NAMES",
        conflicts_with = "model",
        default_values_t = [ClassifierKind::Bayes, ClassifierKind::Fisher])]
    classifier: Vec<ClassifierKind>,
    /// Also cross-validate a support vector machine on a kernel by marginalisation, with the numbers in this file; may be
    /// given again
    #[arg(long, value_name = "MODEL.toml", conflicts_with = "model", help_heading = "Kernel")]
    kernel_model: Vec<PathBuf>,
    /// Also cross-validate a support vector machine on these kernels, comma-separated
    ///
    /// Kernels are normalised, and their models are fitted to the training folds alone.
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', conflicts_with = "model", help_heading = "Kernel",
        value_parser = crate::kernels::names())]
    kernel: Vec<&'static Entry>,
    /// Also cross-validate a support vector machine on this matrix of all items, written by gram or by another
    /// program (csv, npy); may be given again
    ///
    /// The matrix must not depend on the labels.
    #[arg(long, value_name = "FILE", conflicts_with = "model", help_heading = "Kernel")]
    gram: Vec<PathBuf>,
    #[command(flatten)]
    options: KernelOptions,
    /// Reject this share of windows of known classes, and report how much of a class left out of the training is rejected
    ///
    /// Thresholds of margin and likelihood reject; each class is left out in turn.
    #[arg(long, value_name = "RATE", conflicts_with = "model", value_parser = rejection_rate, help_heading = "Confidence")]
    reject: Option<f64>,
    /// Cross-validate a spotter of events instead, on series that the column --marks marks
    ///
    /// A machine on windows is judged on the same folds. With --model, evaluate spotters that spot wrote.
    #[arg(long, help_heading = "Events", requires = "marks", conflicts_with_all = ["classifier", "kernel_model", "kernel", "gram",
        "reject", "draw", "roc", "reliability", "window"])]
    events: bool,
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    marking: Marking,
    /// Draw the confusion matrix, with recall and precision of each class; - for standard output
    ///
    /// One matrix per classifier, or per model.
    #[arg(long, value_name = "FILE.svg", help_heading = "Figures")]
    draw: Option<PathBuf>,
    /// Draw detections against false alarms, one curve per classifier; - for standard output
    #[arg(long, value_name = "FILE.svg", help_heading = "Figures")]
    roc: Option<PathBuf>,
    /// Draw the accuracy against the predicted probability, in ten bins per classifier; - for standard output
    ///
    /// For a model with probabilities (fit --calibrate), or for a cross-validation.
    #[arg(long, value_name = "FILE.svg", help_heading = "Figures")]
    reliability: Option<PathBuf>,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    training: TrainingArguments,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    kernels: ScoreKernels,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    #[command(flatten)]
    out_of_core: OutOfCore,
    #[command(flatten)]
    in_parts: InParts,
    #[command(flatten)]
    page: PageReport,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let drawn = arguments.draw.iter().chain(&arguments.roc).chain(&arguments.reliability);
    let drawn: Vec<&Path> = drawn.map(PathBuf::as_path).collect();
    let models = arguments.model.iter().chain(&arguments.kernel_model).chain(&arguments.gram);
    let models = models.chain(arguments.in_parts.inputs()).map(PathBuf::as_path);
    let inputs: Vec<&Path> = models.chain(arguments.data.iter().map(PathBuf::as_path)).collect();
    let part = arguments.in_parts.output(&arguments.data);
    let written: Vec<&Path> =
        drawn.iter().copied().chain(part.as_deref()).chain(arguments.page.output()).collect();
    let outputs = Outputs::check(&written, &inputs)?;
    if arguments.events {
        if arguments.data.len() > 1 {
            return Err(Failure::input(Topic::OneFile, "--events takes one file of marked series"));
        }
        let chunks = arguments.out_of_core.given();
        refuse_idle(&chunks, "a spotter is judged on whole series, not on windows")?;
        let page = named([("--report", arguments.page.output().is_some())]);
        refuse_idle(&page, "spot writes the page of a spotter: spot --test DATA --report FILE")?;
        return events::run(arguments);
    }
    // Without it the column of marks is a channel.
    refuse_idle(&arguments.marking.given(), "samples are marked for --events")?;
    if let [path] = arguments.model.as_slice()
        && !network::is_classifier(path)
    {
        let model = Model::parse_any(path, &recognise::read(path)?)?;
        if model.deployed.target().is_some() {
            return regression::judge(arguments, (path, &model), &outputs);
        }
    }
    match arguments.target.column() {
        Some(column) if arguments.model.is_empty() => {
            return regression::run(arguments, column, &outputs);
        }
        Some(_) => refuse_idle(&["--target"], "these models decide between classes")?,
        None => note_idle(&arguments.target.of_target(), "there is no --target to estimate")?,
    }
    match arguments.model.as_slice() {
        [] => {
            let kinds = each_once(&arguments.classifier);
            // What a kernel by name takes is its own.
            let words = arguments.classifier.contains(&ClassifierKind::EmpiricalMap);
            let order = arguments.options.order.filter(|_| words);
            let told = arguments.kernels.with_order(order);
            let training = arguments.training.with(&told, &arguments.emitting);
            let kernels = kernels::read(arguments)?;
            believing::check(&kinds, arguments.reject)?;
            let training =
                training.read_by(&kinds, !kernels.is_empty(), !arguments.kernel.is_empty())?;
            let group = arguments.training.group.as_deref();
            let reading = kernels::reading(arguments, &kernels)?;
            let reading = arguments.gathering.add_to(reading, group);
            // Of a large table the sample is cross-validated, and that is noted.
            let data = match arguments.out_of_core.open(&arguments.data, &reading, None, &[])? {
                Some(table) => table.into_sample(),
                None => read::all(&arguments.data, &reading)?,
            };
            if arguments.gathering.shows(&data, arguments.json)? {
                return Ok(());
            }
            if !kernels.is_empty() {
                data.check_whole_rows()?;
            }
            findings::repeated(&data, group);
            kernels::check(arguments, &data, &kernels)?;
            let group = arguments.training.group.as_deref();
            let windowing = arguments.cutting.windowing();
            tell::windows(&data, windowing.as_ref());
            tell::unobserved(&data, windowing.as_ref());
            tell::groups(&data, group);
            let folds = match arguments.folds {
                Some(folds) => folds,
                None => tell::usual_folds(&data, group)?,
            };
            let folds = CrossValidationOptions { folds, seed: arguments.fold_seed };
            let settings = (folds, arguments.reject);
            let mut tasks = FoldTasks::of(arguments, &data, (&kinds, &training), folds)?;
            let cutting = &arguments.cutting;
            let mut report =
                cross_validation(&data, &kinds, &training, cutting, settings, &mut tasks)?;
            if let FoldTasks::Part(share, part) = &tasks {
                return folds::write(arguments, (*share, part), &outputs);
            }
            for kernel in &kernels {
                report.classifiers.0.push(kernels::validate(arguments, &data, kernel, folds)?);
            }
            figures::draw_validated(arguments, &report, data.classes())?;
            arguments.page.write("evaluate", &report, |document| {
                *document = std::mem::take(document).with_data(&data);
                document::add_validated(document, &data, &report.classifiers.0);
                Ok(())
            })?;
            let best = report.best().map(|best| best.method.as_str()).unwrap_or_default();
            let fitted = kinds.iter().any(|kind| kind.to_string() == best);
            let next = fitted.then(|| {
                let same =
                    next::same("fit", &arguments.data, &["classifier", "draw", "report", "json"]);
                format!("{same} --classifier {best} -o model.json")
            });
            outputs.print_with(&report, arguments.json, next::hint(next).as_deref())?;
            let refused = report.classifiers.0.iter().map(|one| one.pooled.refused_samples).max();
            match refused {
                None | Some(0) => Ok(()),
                Some(refused) => Err(Failure::check(
                    Topic::RefusedSamples,
                    format!(
                        "{} refused as impossible under all models of their fold, and counted as missing",
                        counted(refused, "sample")
                    ),
                )),
            }
        }
        [first, ..] if network::is_classifier(first) => {
            refuse_idle(&arguments.out_of_core.given(), "a table of records is read whole")?;
            records::judge(arguments, &outputs)
        }
        [model] if arguments.out_of_core.is_given() => {
            let page = named([("--report", arguments.page.output().is_some())]);
            refuse_idle(&page, "windows of a large table are not kept")?;
            chunks::run(arguments, model, &outputs)
        }
        models => {
            let chunks = arguments.out_of_core.given();
            refuse_idle(&chunks, "comparing several models needs all windows at once")?;
            let training = arguments.training.with(&arguments.kernels, &arguments.emitting);
            let given = [training.given(), arguments.options.given()].concat();
            note_idle(&given, "the model is trained already")?;
            let judged =
                models.iter().map(|path| judge(arguments, path)).collect::<Result<Vec<_>, _>>()?;
            let drawn = !drawn.is_empty();
            if let Some(none) = judged.iter().find(|one| drawn && one.evaluation.figures.is_none())
            {
                return Err(Failure::input(
                    Topic::NothingToDraw,
                    format!(
                        "{}: no window has a class of the model, so there is nothing to draw",
                        none.evaluation.data.data
                    ),
                ));
            }
            figures::draw_judged(arguments, &judged)?;
            let refused: Vec<_> = judged.iter().map(|one| one.refused.clone()).collect();
            match <[JudgedModel; 1]>::try_from(judged) {
                Ok([one]) => {
                    arguments.page.write("evaluate", &one.evaluation, |document| {
                        let path = Path::new(&one.evaluation.model);
                        document::add_model(document, path, &recognise::read(path)?, true)?;
                        *document = std::mem::take(document).with_data(&one.data);
                        one.add_to(document);
                        Ok(())
                    })?;
                    let next = next::with_model(&one.evaluation.model);
                    outputs.print_with(&one.evaluation, arguments.json, next.as_deref())
                }
                Err(several) => {
                    let next = next::hint(None);
                    let mut drawn = Document::default();
                    if let Some(first) = several.first() {
                        drawn = drawn.with_data(&first.data);
                    }
                    several.iter().for_each(|one| one.add_to(&mut drawn));
                    let report = compare(several)?;
                    arguments.page.write("evaluate", &report, |document| {
                        document.take_figures_of(drawn);
                        Ok(())
                    })?;
                    outputs.print_with(&report, arguments.json, next.as_deref())
                }
            }?;
            refused
                .into_iter()
                .flatten()
                .next()
                .map_or(Ok(()), |what| Err(Failure::check(Topic::RefusedSamples, what)))
        }
    }
}

/// Cross-validates classifiers one after another on the same folds; those of which a share is judged are not in the report.
pub(super) fn cross_validation(
    data: &Dataset,
    kinds: &[ClassifierKind],
    training: &TrainingArguments,
    cutting: &Cutting,
    (folds, rejection): (CrossValidationOptions, Option<f64>),
    tasks: &mut FoldTasks,
) -> Result<CrossValidationReport, Failure> {
    let mut validated = Vec::new();
    let (training, all) = requests(training, kinds, cutting, data)?;
    // Some classifiers take whole samples alone: windows and folds are the same.
    let taken = all.iter().map(|request| as_taken(data, request)).collect::<Result<Vec<_>, _>>()?;
    let whole = taken.iter().find(|one| matches!(one, Cow::Owned(_))).map(AsRef::as_ref);
    let (of_parts, of_whole) = (Trainer::new(data), whole.map(Trainer::new));
    let trainer = |index: usize| match (&taken[index], &of_whole) {
        (Cow::Owned(_), Some(trainer)) => trainer,
        _ => &of_parts,
    };
    for (index, request) in all.iter().enumerate() {
        check(trainer(index), request, folds).map_err(|error| Failure::of(data, error))?;
    }
    if let Some(request) = all.first() {
        let series: Vec<usize> = (0..data.series().len()).collect();
        let space = Space::of(&taken[0], &series, request);
        warn(&space.map_err(|error| Failure::of(data, error))?, folds.folds);
    }
    let varied: Vec<String> = all.iter().map(|request| request.varied(data.kind())).collect();
    let varied = match varied.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => first.clone(),
        _ => {
            let each = kinds.iter().zip(&varied).map(|(kind, varied)| format!("{kind}: {varied}"));
            each.collect::<Vec<_>>().join(" | ")
        }
    };
    for (index, (&kind, request)) in kinds.iter().zip(&all).enumerate() {
        let trainer = trainer(index);
        let data = trainer.data();
        let bar = progress::passes(
            format!("cross-validating {kind}"),
            folds.folds.saturating_mul(most_passes(data, request)),
        );
        let one = tasks.validate(index, (trainer, request), folds, &|| bar.inc(1));
        bar.finish_and_clear();
        let one = one.map_err(|error| Failure::of(data, error))?;
        let Some(mut one) = one else { continue };
        if let Some(rate) = rejection {
            believing::reject(data, request, folds, &mut one, rate)?;
        }
        validated.push(one);
    }
    Ok(CrossValidationReport {
        data: DataSummary::of(data, None, cutting.windowing().as_ref()),
        group: training.group.clone(),
        folds: folds.folds,
        varied,
        emission: training.emission(data)?,
        classifiers: Validated(validated),
    })
}

/// A fitted model's evaluation, and the windows behind it.
struct JudgedModel {
    evaluation: ModelEvaluation,
    classes: Vec<String>,
    judged: Vec<Judged>,
    /// The unit that each window belongs to: its group where a column was named, else its series.
    unit: Vec<usize>,
    /// Report of the samples that the models refused, if any.
    refused: Option<String>,
    /// The series, those of classes that the model knows.
    data: Dataset,
}

impl JudgedModel {
    fn add_to(&self, document: &mut Document) {
        let (name, roc) = (&self.evaluation.model, self.evaluation.roc.as_ref());
        document.judge(name, &self.classes, roc, self.judged.iter());
    }
}

fn judge(arguments: &Arguments, path: &Path) -> Result<JudgedModel, Failure> {
    let model = Model::read(path)?;
    let given = (&arguments.reading, &arguments.gathering);
    let data = read::as_trained(&arguments.data, given, &model, |options| options)?;
    note_trained_on(path, &model, &data);
    let windowing = model.windowing(arguments.cutting.windowing());
    let unknown = UnknownClass::all(&model.deployed, &data, windowing.as_ref());
    note_unknown(path, &unknown);
    if unknown.iter().map(|one| one.series).sum::<usize>() == data.series().len() {
        tell::windows(&data, windowing.as_ref());
        tell::unobserved(&data, windowing.as_ref());
        return Ok(JudgedModel {
            evaluation: unjudged(arguments, path, &model, &data, windowing.as_ref(), unknown),
            classes: model.deployed.classes().to_vec(),
            judged: Vec::new(),
            unit: Vec::new(),
            refused: None,
            data,
        });
    }
    let (data, _) = data.of_classes(model.deployed.classes())?;
    let group = arguments.training.group.as_deref();
    let groups = group.map(|column| data.groups(column)).transpose()?;
    tell::windows(&data, windowing.as_ref());
    tell::unobserved(&data, windowing.as_ref());
    let (figures, judged) = evaluate(&model.deployed, &data, windowing.as_ref())?;
    let windows = data.windows(windowing.as_ref());
    let first = judged.iter().find(|one| one.refused > 0);
    let first = first.and_then(|one| windows.of(one.series).iter().find(|w| w.start == one.start));
    let refused = refusals::refused(
        &model.deployed,
        &data,
        judged.iter().map(|one| one.refused).sum(),
        first,
    );
    let classes = model.deployed.classes();
    let unit = judged
        .iter()
        .map(|one| groups.as_ref().map_or(one.series, |(of_series, _)| of_series[one.series]))
        .collect::<Vec<_>>();
    let groups = groups.map_or_else(Vec::new, |(_, names)| {
        let of_group = |(number, name): (usize, String)| {
            let own = judged.iter().zip(&unit).filter(|(_, unit)| **unit == number);
            let Figures { windows, accuracy, macro_f1, .. } =
                Figures::of(classes, own.map(|(one, _)| one));
            GroupFigures { group: name, windows, accuracy, macro_f1 }
        };
        names.into_iter().enumerate().map(of_group).collect()
    });
    let believed = believed(&model, &judged, &unknown);
    let evaluation = ModelEvaluation {
        interval: Units::of(&judged, &unit).accuracy(),
        latency: Latency::of(&judged),
        roc: Roc::of(classes.len(), &judged),
        figures: Some(figures.with_intervals(&judged, &unit)),
        believed,
        groups,
        ..unjudged(arguments, path, &model, &data, windowing.as_ref(), unknown)
    };
    Ok(JudgedModel { evaluation, classes: classes.to_vec(), judged, unit, refused, data })
}

/// An evaluation without judged windows, for data all of whose classes are unknown to the model.
fn unjudged(
    arguments: &Arguments,
    path: &Path,
    model: &Model,
    data: &Dataset,
    windowing: Option<&Windowing>,
    unknown: Vec<UnknownClass>,
) -> ModelEvaluation {
    ModelEvaluation {
        model: path.display().to_string(),
        classifier: model.method().to_owned(),
        emission: EmissionSummary::of_deployed(&model.deployed),
        data: DataSummary::of(data, None, windowing),
        figures: None,
        unknown,
        interval: None,
        latency: None,
        roc: None,
        believed: None,
        cost: model.deployed.device_cost(),
        group: arguments.training.group.clone(),
        groups: Vec::new(),
        out_of_core: None,
    }
}

/// Summary of the calibration of a model, if it has one, and of its rejections of unknown classes.
fn believed(model: &Model, judged: &[Judged], unknown: &[UnknownClass]) -> Option<BelievedFigures> {
    let confidence = model.deployed.confidence()?.of_core();
    let kept = model.fitted().and_then(|fitted| fitted.confidence.as_ref());
    let rate = kept.and_then(|kept| kept.rejection.as_ref()).map(|rejection| rejection.rate);
    let rejection = RejectionFigures::by(&confidence, rate, judged);
    let rejection = rejection.filter(|_| confidence.rejects());
    let unseen = unknown.iter().filter_map(Unseen::of).collect();
    let classes = model.deployed.classes().len();
    Some(BelievedFigures {
        calibration: Calibration::by(f64::from(confidence.scale), judged, classes),
        rejection: rejection.map(|figures| RejectionFigures { unseen, ..figures }),
    })
}

/// Compares models on the same windows.
fn compare(models: Vec<JudgedModel>) -> Result<ModelComparison, Failure> {
    let windows = |one: &JudgedModel| -> Vec<(usize, usize)> {
        one.judged.iter().map(|window| (window.series, window.start)).collect()
    };
    let mut gains = Vec::new();
    if let Some((first, others)) = models.split_first() {
        let (cut, units) = (windows(first), Units::of(&first.judged, &first.unit));
        for other in others {
            let model = &other.evaluation.model;
            if other.classes != first.classes {
                return Err(Failure::input(
                    Topic::OtherClasses,
                    format!(
                        "{model}: it has the classes {}, the first model {}: models are compared on the same classes",
                        other.classes.join(", "),
                        first.classes.join(", ")
                    ),
                ));
            }
            if windows(other) != cut {
                return Err(Failure::input(
                    Topic::OtherWindows,
                    format!(
                        "{model}: it was trained on other windows than the first model: give the --window and --hop \
                        to compare them on"
                    ),
                ));
            }
            gains.push(Units::of(&other.judged, &other.unit).gain_over(&units));
        }
    }
    Ok(ModelComparison { models: models.into_iter().map(|one| one.evaluation).collect(), gains })
}
