//! `fishweir evaluate`.

mod kernels;

use std::path::{Path, PathBuf};

use fishweir::data::Dataset;
use fishweir::evaluate::{
    CrossValidationOptions, Figures, Judged, Latency, Roc, Units, cross_validate, evaluate,
};
use fishweir::files;
use fishweir::learn::{ClassifierKind, Trainer};
use fishweir::plot::{Curve, RocPlot};
use fishweir::report::{
    CrossValidationReport, DataSummary, GroupFigures, ModelComparison, ModelEvaluation, Validated,
};

use super::arguments::{Cutting, Reading, ScoreKernels, Training, check_output};
use super::fit::{check_group, fits_of_a_training};
use super::model::Model;
use super::{Failure, note, print, progress};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Labelled series
    data: PathBuf,
    /// Judge this fitted model (JSON or artefact) instead of cross-validating; once for each of
    /// several, which are compared with the first
    #[arg(short, long, value_name = "MODEL")]
    model: Vec<PathBuf>,
    /// Folds of the cross-validation
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// Deal series (or groups) into folds by chance, from this seed [default: in order]
    #[arg(long, value_name = "SEED")]
    fold_seed: Option<u64>,
    /// Which classifiers to cross-validate, parted by commas; they are compared with the first
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES",
        default_values_t = [ClassifierKind::Bayes, ClassifierKind::Fisher])]
    classifier: Vec<ClassifierKind>,
    /// Cross-validate a support vector machine on a kernel by marginalisation too, whose numbers are
    /// in this file; once for each of several
    #[arg(long, value_name = "MODEL.toml", conflicts_with = "model")]
    kernel_model: Vec<PathBuf>,
    /// Draw detections against false alarms, a curve a classifier
    #[arg(long, value_name = "FILE.svg")]
    roc: Option<PathBuf>,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    training: Training,
    #[command(flatten)]
    kernels: ScoreKernels,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(roc) = &arguments.roc {
        check_output(roc, &arguments.data)?;
    }
    match arguments.model.as_slice() {
        [] => {
            let kernels = kernels::read(&arguments.kernel_model)?;
            let data = Dataset::read(&arguments.data, &kernels::reading(arguments, &kernels)?)?;
            let folds =
                CrossValidationOptions { folds: arguments.folds, seed: arguments.fold_seed };
            let mut report = cross_validation(
                &data,
                &each_once(&arguments.classifier),
                &arguments.training.with(&arguments.kernels),
                &arguments.cutting,
                folds,
            )?;
            for kernel in &kernels {
                report.classifiers.0.push(kernels::validate(arguments, &data, kernel, folds)?);
            }
            let curves = report.classifiers.0.iter().map(|one| (&one.method, one.roc.as_ref()));
            draw_roc(arguments, data.classes(), &report.data, curves)?;
            print(&report, arguments.json)
        }
        models => {
            let unused = arguments.training.with(&arguments.kernels).given();
            if !unused.is_empty() {
                let unused = unused.join(", ");
                note(format_args!("{unused} not used: what is judged is trained already"));
            }
            let judged =
                models.iter().map(|path| judge(arguments, path)).collect::<Result<Vec<_>, _>>()?;
            let evaluations = judged.iter().map(|one| &one.evaluation);
            let curves = evaluations.map(|one| (&one.model, one.roc.as_ref()));
            if let Some(first) = judged.first() {
                draw_roc(arguments, &first.classes, &first.evaluation.data, curves)?;
            }
            match <[JudgedModel; 1]>::try_from(judged) {
                Ok([one]) => print(&one.evaluation, arguments.json),
                Err(several) => print(&compare(several)?, arguments.json),
            }
        }
    }
}

/// Without those named before.
fn each_once(kinds: &[ClassifierKind]) -> Vec<ClassifierKind> {
    let mut once = Vec::new();
    for &kind in kinds {
        if !once.contains(&kind) {
            once.push(kind);
        }
    }
    once
}

/// Draws the curves there are, if asked to.
fn draw_roc<'a>(
    arguments: &Arguments,
    classes: &[String],
    data: &DataSummary,
    curves: impl Iterator<Item = (&'a String, Option<&'a Roc>)>,
) -> Result<(), Failure> {
    let Some(path) = &arguments.roc else { return Ok(()) };
    let curve = |(name, roc): (&'a String, Option<&'a Roc>)| {
        roc.map(|roc| Curve { name: name.as_str(), points: &roc.points, area: roc.area })
    };
    let curves: Vec<Curve<'_>> = curves.filter_map(curve).collect();
    if curves.is_empty() {
        return Err(Failure::Input(format!(
            "{}: windows of one class only: there is no other to draw a curve against",
            data.data
        )));
    }
    let subtitle = match classes {
        [_, detected] => format!("{}\ndetected: {detected}", data.data),
        _ => format!("{}\nmean over {} classes, each against the rest", data.data, classes.len()),
    };
    let plot =
        RocPlot { title: "Detections against false alarms", subtitle: &subtitle, curves: &curves };
    Ok(files::write_whole(path, plot.to_svg().as_bytes())?)
}

/// Cross-validates classifiers one after another on the same folds.
pub(super) fn cross_validation(
    data: &Dataset,
    kinds: &[ClassifierKind],
    training: &Training,
    cutting: &Cutting,
    folds: CrossValidationOptions,
) -> Result<CrossValidationReport, Failure> {
    let (mut validated, trainer) = (Vec::new(), Trainer::new(data));
    for &kind in kinds {
        let options = training.options(kind, cutting)?;
        check_group(data, &options)?;
        let bar = progress::passes(
            format!("cross-validating {kind}"),
            folds.folds * data.classes().len() * fits_of_a_training(&options),
            &options.baum_welch,
        );
        let one = cross_validate(&trainer, &options, folds, &|| bar.inc(1));
        bar.finish_and_clear();
        validated.push(one?);
    }
    Ok(CrossValidationReport {
        data: DataSummary::of(data, None, cutting.windowing().as_ref()),
        group: training.group.clone(),
        folds: folds.folds,
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
}

fn judge(arguments: &Arguments, path: &Path) -> Result<JudgedModel, Failure> {
    let model = Model::read(path)?;
    let reading = arguments.reading.options_for(model.kind()?, Some(model.any().classes()));
    let data = Dataset::read(&arguments.data, &reading)?;
    let windowing = model.windowing(arguments.cutting.windowing());
    let group = arguments.training.group.clone();
    let groups = group.as_deref().map(|column| data.groups(column)).transpose()?;
    let (figures, judged) = evaluate(model.any(), &data, windowing.as_ref())?;
    let classes = model.any().classes();
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
    let evaluation = ModelEvaluation {
        model: path.display().to_string(),
        classifier: model.method().to_owned(),
        data: DataSummary::of(&data, None, windowing.as_ref()),
        interval: Units::of(&judged, &unit).accuracy(),
        latency: Latency::of(&judged),
        roc: Roc::of(classes.len(), &judged),
        figures,
        group,
        groups,
    };
    Ok(JudgedModel { evaluation, classes: classes.to_vec(), judged, unit })
}

/// Models beside each other on the same windows.
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
                return Err(Failure::Input(format!(
                    "{model}: its classes are {}, those of the first model {}: they cannot be compared",
                    other.classes.join(", "),
                    first.classes.join(", ")
                )));
            }
            if windows(other) != cut {
                return Err(Failure::Input(format!(
                    "{model}: it was trained on other windows than the first model: say with --window \
                     and --hop on which they are to be compared"
                )));
            }
            gains.push(Units::of(&other.judged, &other.unit).gain_over(&units));
        }
    }
    Ok(ModelComparison { models: models.into_iter().map(|one| one.evaluation).collect(), gains })
}
