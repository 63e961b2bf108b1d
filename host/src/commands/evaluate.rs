//! `fishweir evaluate`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::data::Dataset;
use fishweir::evaluate::{CrossValidationOptions, Figures, cross_validate, evaluate};
use fishweir::learn::ClassifierKind;
use fishweir::report::{
    CrossValidationReport, DataSummary, GroupFigures, ModelEvaluation, Validated,
};

use super::arguments::{Cutting, Reading, Training};
use super::fit::{check_group, fits_of_a_training};
use super::model::Model;
use super::{Failure, note, print, progress};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Labelled series
    data: PathBuf,
    /// Judge this fitted model (JSON or artefact) instead of cross-validating
    #[arg(short, long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Folds of the cross-validation
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// Deal series (or groups) into folds by chance, from this seed [default: in order]
    #[arg(long, value_name = "SEED")]
    fold_seed: Option<u64>,
    /// Which classifiers to cross-validate
    #[arg(long, value_enum, default_value_t = Which::Both)]
    classifier: Which,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    training: Training,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    Bayes,
    Fisher,
    Both,
}

impl Which {
    fn kinds(self) -> &'static [ClassifierKind] {
        match self {
            Self::Bayes => &[ClassifierKind::Bayes],
            Self::Fisher => &[ClassifierKind::Fisher],
            Self::Both => &[ClassifierKind::Bayes, ClassifierKind::Fisher],
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.model {
        Some(model) => print(&judge(arguments, model)?, arguments.json),
        None => {
            let data = Dataset::read(&arguments.data, &arguments.reading.options())?;
            let folds =
                CrossValidationOptions { folds: arguments.folds, seed: arguments.fold_seed };
            let report = cross_validation(
                &data,
                arguments.classifier.kinds(),
                &arguments.training,
                &arguments.cutting,
                folds,
            )?;
            print(&report, arguments.json)
        }
    }
}

/// Cross-validates classifiers one after another on the same folds.
pub(super) fn cross_validation(
    data: &Dataset,
    kinds: &[ClassifierKind],
    training: &Training,
    cutting: &Cutting,
    folds: CrossValidationOptions,
) -> Result<CrossValidationReport, Failure> {
    let mut validated = Vec::new();
    for &kind in kinds {
        let options = training.options(kind, cutting)?;
        check_group(data, &options)?;
        let bar = progress::passes(
            format!("cross-validating {kind}"),
            folds.folds * data.classes().len() * fits_of_a_training(&options),
            &options.baum_welch,
        );
        let one = cross_validate(data, &options, folds, &|| bar.inc(1));
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

fn judge(arguments: &Arguments, path: &Path) -> Result<ModelEvaluation, Failure> {
    let unused = arguments.training.given();
    if !unused.is_empty() {
        note(format_args!("{} not used: the model is trained already", unused.join(", ")));
    }
    let model = Model::open(path)?;
    let reading = arguments.reading.options_for(model.kind()?, Some(model.deployed.classes()));
    let data = Dataset::read(&arguments.data, &reading)?;
    let windowing = model.windowing(arguments.cutting.windowing());
    let group = arguments.training.group.clone();
    let groups = group.as_deref().map(|column| data.groups(column)).transpose()?;
    let (figures, judged) = evaluate(&model.deployed, &data, windowing.as_ref())?;
    let classes = model.deployed.classes();
    let groups = groups.map_or_else(Vec::new, |(of_series, names)| {
        let of_group = |(number, name): (usize, String)| {
            let own = judged.iter().filter(|one| of_series[one.series] == number);
            let Figures { windows, accuracy, macro_f1, .. } = Figures::of(classes, own);
            GroupFigures { group: name, windows, accuracy, macro_f1 }
        };
        names.into_iter().enumerate().map(of_group).collect()
    });
    Ok(ModelEvaluation {
        model: path.display().to_string(),
        classifier: model.method().to_owned(),
        data: DataSummary::of(&data, None, windowing.as_ref()),
        figures,
        group,
        groups,
    })
}
