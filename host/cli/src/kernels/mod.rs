//! Kernels by name, as several commands take them: their options, the models they read, and the matrix of a data set's items.

mod check;
mod each;
mod evidence;
mod family;
pub(super) mod help;
mod information;
mod marginal;
mod of_data;
mod refused;
mod source;

pub(super) use source::class_models;

use std::path::Path;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::data::{Dataset, SamplesView, Windows};
use fishweir::dynamics::MOST_STATES;
use fishweir::fit::{FitError, SystemEm};
use fishweir::kernel::between::{BetweenError, PairError};
use fishweir::kernel::marginal::MarginalModel;
use fishweir::kernel::parameter::{KernelParameter, NumberParameter, ORDER, Settings};
use fishweir::kernel::registry::{Compares, Computed, Entry, KERNELS, OfItems, OfModels, kernel};
use fishweir::kernel::{Expected, Information, Metric};
use fishweir::learn::{ClassifierKind, LagChoice, ModelChoice, Request};
use fishweir::model::{FittedModel, Hmm, ModelFamily};
use fishweir_core::emission::Parametrisation;

use super::arguments::TrainingArguments;
use super::model::Model;
use super::numbers::Numbers;
use super::options::named;
use super::reading::Cutting;
use super::values::not_negative;
use super::{Failure, note, tell};
use crate::Topic;
use crate::remedy::words;
pub(super) use each::{Per, fit_each};
pub(super) use evidence::WindowFeatures;
use family::Choice;
pub(super) use family::{FamilyName, FamilyOptions};
pub(super) use of_data::{Compared, Described, OfData};
use refused::{Refused, name, place};
pub(super) use refused::{id, item_refused};

/// Options of a kernel and its models.
#[derive(Debug, clap::Args)]
pub(super) struct KernelOptions {
    /// Fit one model to all series, with or without labels
    #[arg(long, conflicts_with = "model", help_heading = "Models")]
    pub(super) one_model: bool,
    #[command(flatten)]
    choice: Choice,
    /// Coordinates of the gradients that are scores
    /// [default: softmax]
    #[arg(long, value_enum, help_heading = "Kernel")]
    parametrisation: Option<Coordinates>,
    /// Information that whitens scores; also for kernels that are not linear in scores
    /// [default: sampled for invariant, else none]
    #[arg(long, value_enum, help_heading = "Kernel")]
    information: Option<Whose>,
    /// Number added to the information's diagonal; 0 leaves out directions without information [default: 0]
    #[arg(long, value_name = "R", help_heading = "Kernel", value_parser = not_negative,
          allow_negative_numbers = true)]
    ridge: Option<f64>,
    /// Length of the enumerated sequences (--information exact) [default: that of all items]
    #[arg(long, value_name = "SAMPLES", help_heading = "Kernel")]
    length: Option<usize>,
    /// Number of sequences that are sampled from the model (--information sampled) [default: 2000]
    #[arg(long, value_name = "N", help_heading = "Kernel", value_parser = draws)]
    draws: Option<usize>,
    /// Seed for sequences that are drawn from the model (--information sampled) [default: 1]
    #[arg(long, value_name = "SEED", help_heading = "Kernel")]
    draw_seed: Option<u64>,
    /// Number of symbols in a context (markov) or in a counted word (count: 1 or 2) [default: 1]; number of samples
    /// in a window, minus one (empirical-mean-map) [default: 0]
    #[arg(long, value_name = "K", help_heading = "Models")]
    pub(super) order: Option<u8>,
    #[command(flatten, next_help_heading = "Kernel")]
    numbers: Numbers<false>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Coordinates {
    /// Probabilities as ratios, variances
    Ratio,
    /// Logits, log standard deviations
    Softmax,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// The model's, over all sequences of a length
    Exact,
    /// The model's, over sequences drawn from it
    Sampled,
    /// The data's
    Empirical,
    /// The diagonal of the data's
    Diagonal,
}

/// Notes information of so few items that whitening makes every pair of them equally unlike.
fn note_few_items(information: &[Information], items: usize) {
    let few = |one: &Information| {
        items <= one.parameters() && one.axes().is_ok_and(|axes| axes.rank() >= items)
    };
    if information.iter().any(few) {
        note(
            Topic::FewItems,
            format_args!(
                "{items} items give information in {items} directions: whitened by it, all pairs of them are equally unlike. \
                 Give more items, --ridge, or --information sampled"
            ),
        );
    }
}

/// A sample's standard error falls with the root of its size: more are not worth the wait.
fn draws(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count @ 2..=1_000_000) => Ok(count),
        _ => Err("is a number from 2 to 1000000".into()),
    }
}

/// Items whose eigenvalues are computed unasked, in a second or two.
pub(super) const SPECTRUM_UNASKED: usize = 1_000;

/// Names of kernels.
pub(super) fn names() -> impl TypedValueParser<Value = &'static Entry> {
    let names = KERNELS.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about));
    PossibleValuesParser::new(names)
        .try_map(|name| kernel(&name).ok_or_else(|| "no such kernel".to_owned()))
}

/// Kernel as requested, with all its options.
pub(super) struct Asked<'a> {
    pub(super) entry: &'static Entry,
    pub(super) options: &'a KernelOptions,
    /// Options of training, with the parameters of kernels and emissions.
    pub(super) training: TrainingArguments,
    pub(super) cutting: &'a Cutting,
    /// A fitted model's file whose class models are taken.
    pub(super) model: Option<&'a Path>,
    /// A file of information that was added up elsewhere.
    pub(super) information_from: Option<&'a Path>,
    /// The file with the numbers of a kernel by marginalisation.
    pub(super) numbers: Option<&'a Path>,
    /// Numbers that classifiers take too.
    pub(super) shared: Vec<(&'static NumberParameter, f64)>,
    /// `true` if options of training also serve classifiers.
    pub(super) beside_classifiers: bool,
    /// `true` if a classifier takes --order.
    pub(super) order_read: bool,
    /// All kernels that are requested: an option of one of them is no mistake.
    pub(super) asked: &'a [&'static Entry],
}

/// Input of a kernel other than the data.
pub(super) enum Reads {
    /// The numbers of its file.
    Numbers(Box<MarginalModel>),
    /// Models that were fitted before.
    Models(Box<Model>, Vec<FittedModel>),
    /// Models that are fitted to the data.
    Fitted,
}

/// A matrix, and the kernel in words.
pub(super) struct Matrix {
    pub(super) computed: Computed,
    pub(super) words: String,
}

impl KernelOptions {
    /// The options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let mut given = self.choice.given();
        given.extend(named([
            ("--one-model", self.one_model),
            ("--parametrisation", self.parametrisation.is_some()),
            ("--information", self.information.is_some()),
            ("--ridge", self.ridge.is_some()),
            ("--length", self.length.is_some()),
            ("--draws", self.draws.is_some()),
            ("--draw-seed", self.draw_seed.is_some()),
            ("--order", self.order.is_some()),
        ]));
        given.extend(self.numbers.options());
        given
    }
}

impl Asked<'_> {
    fn by_group(&self) -> bool {
        self.training.group.is_some()
    }

    /// Request of the fits.
    pub(super) fn request(&self) -> Result<Request, Failure> {
        let training = match self.options.choice.family {
            FamilyName::Hmm | FamilyName::Hsmm => self.training.clone(),
            _ => self.training.without_emission(),
        };
        let mut request = training.request(ClassifierKind::Bayes, self.cutting)?;
        let emission = request.baum_welch.emission.filter(|family| family.has_past());
        if let Some(family) = emission {
            return Err(FitError::NoPast { family: family.name() }.into());
        }
        if request.models == ModelChoice::EachLag {
            let what = "--score-model each-lag models differences of samples, which kernels do not use: give \
                        universal";
            return Err(Failure::input(Topic::ConflictingOptions, what));
        }
        // Kernels see items as they are, and what lies between models has no place for differences.
        if request.lags == LagChoice::Choose {
            request.lags = LagChoice::Usual;
        }
        Ok(request)
    }

    fn components(&self) -> usize {
        self.training.components().unwrap_or(2)
    }

    fn family(&self, request: &Request, data: &Dataset) -> Result<ModelFamily, Failure> {
        let choice = &self.options.choice;
        choice.told.family(choice.family, self.options.order, &self.training, request, data)
    }

    /// Information that whitens scores, if any.
    fn whitened(&self) -> Option<Whose> {
        match (self.entry.name, self.options.information) {
            ("invariant", None) => Some(Whose::Sampled),
            (_, given) => {
                given.filter(|_| self.entry.takes.contains(&KernelParameter::Information))
            }
        }
    }

    /// Refuses options that do not fit together, and reads the kernel's inputs other than the data.
    pub(super) fn read(&self) -> Result<Reads, Failure> {
        self.check()?;
        if let Some(numbers) = marginal::read(self.entry, self.numbers)? {
            return Ok(Reads::Numbers(Box::new(numbers)));
        }
        let Some(path) = self.model else { return Ok(Reads::Fitted) };
        let model = Model::read(path)?;
        let fitted = model.classifier().map_err(|what| {
            Failure::input(
                Topic::NeedsClassifier,
                format!("{}: {what}; give a fitted classifier (JSON)", path.display()),
            )
        })?;
        if !(fitted.lags.is_empty() && fitted.front.is_empty()) {
            return Err(Failure::input(
                Topic::FrontedModels,
                format!(
                    "{}: its models observe differences at lags or rows of a front end, and kernels compare samples: \
                     fit with --score-model all, without --lags and --front",
                    path.display()
                ),
            ));
        }
        let models = class_models(&fitted.classes, &fitted.models);
        let models = source::picked(models, &self.request()?.scores())?;
        Ok(Reads::Models(Box::new(model), models))
    }

    /// Returns whether the kernel reads each item by itself: one matrix then serves all folds.
    pub(super) fn fits_nothing_shared(&self) -> bool {
        matches!(self.entry.compares, Compares::Sequences(_) | Compares::Models(..))
    }

    /// The kernel of all windows; models of several items are fitted to the training series alone.
    pub(super) fn matrix(
        &self,
        reads: &Reads,
        data: &Dataset,
        windows: &Windows<'_>,
        series: &[usize],
        normalise: bool,
    ) -> Result<Matrix, Failure> {
        let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
        let placed = |refused| name(refused, data, windows);
        let settings = self.settings(&views).map_err(placed)?;
        if let Compares::Sequences(compute) = self.entry.compares {
            let gram = compute(&settings, &views).map_err(|error| placed(error.into()))?;
            let gram = if normalise { gram.normalised() } else { gram };
            let computed = Computed { gram, features: None, information: Vec::new() };
            return Ok(Matrix { computed, words: (self.entry.words)(&settings) });
        }
        if let Compares::Models(compute, _) = self.entry.compares {
            let family = self.family(&self.request()?, data)?;
            let of_systems = match &family {
                ModelFamily::LinearSystem(system) => Some(system),
                ModelFamily::SwitchingSystem(switching) => Some(&switching.system),
                _ => None,
            };
            if let Some(SystemEm { states, .. }) = of_systems {
                // Two systems stand side by side, each with its mean.
                let most = MOST_STATES / 2 - 1;
                if *states > most {
                    return Err(Failure::input(
                        Topic::TooManyStates,
                        format!("--states {states}: kernels compare systems of {most} at most"),
                    ));
                }
            }
            tell::room_for(data, &family)?;
            let models = fit_each(data, windows, Per::Item, &family)?;
            let models: Vec<FittedModel> = models.into_iter().map(|one| one.model).collect();
            let names = |item: usize| place(data, &windows.all()[item]);
            return self.between(compute, &settings, &models, normalise, names);
        }
        if let Reads::Numbers(model) = reads {
            return marginal::compute(model, &views, normalise).map_err(placed);
        }
        let (of_items, words) = self.described(reads, data, windows, series)?;
        let mut computed = of_items.computed();
        // Kernels by marginalisation are normalised before they underflow.
        if normalise {
            computed.gram = computed.gram.normalised();
        }
        Ok(Matrix { computed, words })
    }

    /// The settings of a kernel of all windows, if what an option computes of some does not depend on the others.
    fn in_parts(
        &self,
        option: &str,
        views: &[SamplesView<'_>],
        data: &Dataset,
        windows: &Windows<'_>,
    ) -> Result<Settings, Failure> {
        let of_all = matches!(self.whitened(), Some(Whose::Empirical | Whose::Diagonal));
        if of_all && self.information_from.is_none() {
            return Err(Failure::input(
                Topic::ConflictingOptions,
                format!(
                    "{option}: --information empirical and diagonal need all items; give the merged sums as \
                     --information-from, or take sampled or exact"
                ),
            ));
        }
        self.settings(views).map_err(|refused| name(refused, data, windows))
    }

    /// What a kernel of shared models computes of all windows, and the kernel in words; models are fitted to the training
    /// series alone.
    pub(super) fn described(
        &self,
        reads: &Reads,
        data: &Dataset,
        windows: &Windows<'_>,
        series: &[usize],
    ) -> Result<(OfItems, String), Failure> {
        let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
        let placed = |refused| name(refused, data, windows);
        let mut settings = self.settings(&views).map_err(placed)?;
        let fitted;
        let models: &[FittedModel] = match reads {
            Reads::Models(_, models) => models,
            Reads::Fitted | Reads::Numbers(_) => {
                fitted = self.fitted(data, series, &self.request()?)?;
                &fitted
            }
        };
        settings.information = self.information(models, &settings)?;
        let informing = windows.all().iter().enumerate();
        let informing: Vec<usize> = informing
            .filter(|(_, one)| series.contains(&one.series))
            .map(|(item, _)| item)
            .collect();
        let found = self.compute(&settings, models, &views, &informing).map_err(placed)?;
        if self.whitened() == Some(Whose::Empirical)
            && self.options.ridge.unwrap_or(0.0) == 0.0
            && let OfItems::Features(featured) = &found
        {
            note_few_items(&featured.information, informing.len());
        }
        Ok((found, self.words(&settings, models)))
    }

    /// The kernel of fitted models, whose names are for messages; cosines in logarithms.
    pub(super) fn between(
        &self,
        compute: OfModels,
        settings: &Settings,
        models: &[FittedModel],
        normalise: bool,
        names: impl Fn(usize) -> String,
    ) -> Result<Matrix, Failure> {
        let logs = compute(settings, models).map_err(|error| pair_failure(error, names))?;
        let lost = |log: &f64| log.is_finite() && !(log.exp() > 0.0 && log.exp().is_finite());
        if !normalise && let Some(log) = logs.diagonal().find(lost) {
            return Err(Failure::input(
                Topic::KernelOutOfRange,
                format!(
                    "the kernel of a model with itself is exp({log:.1}), out of range in 64 bits: give --normalise"
                ),
            ));
        }
        let gram = if normalise { logs.normalised() } else { logs.kernels() };
        let first = models.first().map(|model| model.any().noun());
        let kind = first.map_or_else(String::new, |noun| format!(", a {noun} an item"));
        let words = format!("{}{kind}", (self.entry.words)(settings));
        let computed = Computed { gram, features: None, information: Vec::new() };
        Ok(Matrix { computed, words })
    }

    fn compute(
        &self,
        settings: &Settings,
        models: &[FittedModel],
        views: &[SamplesView<'_>],
        informing: &[usize],
    ) -> Result<OfItems, Refused> {
        match self.entry.compares {
            Compares::Scores(compute) => {
                let models: Vec<&dyn fishweir::model::Model> =
                    models.iter().map(FittedModel::any).collect();
                Ok(OfItems::Features(compute(settings, &models, views, informing)?))
            }
            Compares::States(compute) => {
                let models: Option<Vec<Hmm>> =
                    models.iter().map(|model| model.hidden_markov().cloned()).collect();
                let models =
                    models.ok_or_else(|| Refused::Usage(Topic::Unsupported, self.no_states()))?;
                Ok(compute(settings, &models, views)?)
            }
            // None of these reads shared models: they were answered before.
            Compares::Sequences(_) | Compares::Models(..) | Compares::Marginal => {
                Err(Refused::Usage(Topic::Unsupported, format!("--kernel {}", self.entry.name)))
            }
        }
    }

    /// Message that models without hidden states do not suit the kernel.
    fn no_states(&self) -> String {
        let on_scores =
            KERNELS.iter().filter(|entry| matches!(entry.compares, Compares::Scores(_)));
        let names: Vec<&str> = on_scores.map(|entry| entry.name).collect();
        format!(
            "--kernel {} sums over hidden states, and --family {} has none; take a kernel on scores: {}",
            self.entry.name,
            self.options.choice.family.name(),
            names.join(", ")
        )
    }

    fn settings(&self, views: &[SamplesView<'_>]) -> Result<Settings, Refused> {
        let takes = |setting| self.entry.takes.contains(&setting);
        let coordinates = self.options.parametrisation;
        let parametrisation = match coordinates.filter(|_| takes(KernelParameter::Parametrisation))
        {
            Some(Coordinates::Ratio) => Parametrisation::RATIO,
            None | Some(Coordinates::Softmax) => Parametrisation::SOFTMAX,
        };
        let mut settings = Settings::new(parametrisation, self.metric(views)?);
        for &(number, value) in self.options.numbers.given().iter().chain(&self.shared) {
            if takes(KernelParameter::Number(number)) {
                settings = settings.with(number, value);
            }
        }
        Ok(match self.options.order {
            Some(order) => settings.with(&ORDER, f64::from(order)),
            None => settings,
        })
    }

    /// Metric of the scores.
    fn metric(&self, views: &[SamplesView<'_>]) -> Result<Metric, Refused> {
        let options = self.options;
        let Some(whose) = self.whitened() else { return Ok(Metric::Practical) };
        let expected = match whose {
            // Strings that end are of every length.
            Whose::Exact if options.choice.ends() => Expected::Exact { length: 0 },
            Whose::Exact => Expected::Exact {
                length: match options.length {
                    Some(length) => length,
                    None => common_length(views)?,
                },
            },
            Whose::Sampled => Expected::Sampled {
                count: options.draws.unwrap_or(2000),
                seed: options.draw_seed.unwrap_or(1),
            },
            Whose::Empirical | Whose::Diagonal => Expected::Empirical,
        };
        let ridge = options.ridge.unwrap_or(0.0);
        Ok(Metric::Information { expected, diagonal: whose == Whose::Diagonal, ridge })
    }

    /// The kernel in words.
    fn words(&self, settings: &Settings, models: &[FittedModel]) -> String {
        let kernel = (self.entry.words)(settings);
        let count = match models.len() {
            1 => String::new(),
            count => format!(" of {count} models"),
        };
        if matches!(self.entry.compares, Compares::States(_)) {
            return format!("{kernel}{count}");
        }
        let coordinates = match self.options.parametrisation {
            Some(Coordinates::Ratio) => "ratio",
            None | Some(Coordinates::Softmax) => "softmax",
        };
        let family = self.options.choice.words(self.components());
        let whitened = whitened(settings.metric, self.options.choice.ends());
        format!("{kernel} {coordinates} scores{count}{family}{whitened}")
    }
}

/// Describes the information that whitens scores.
fn whitened(metric: Metric, ends: bool) -> String {
    let Metric::Information { expected, diagonal, ridge } = metric else { return String::new() };
    let of = match expected {
        Expected::Exact { .. } if ends => "the exact information".to_owned(),
        Expected::Exact { length } => format!("the exact information at length {length}"),
        Expected::Sampled { .. } => "the model's information, sampled".to_owned(),
        Expected::Empirical if diagonal => "the diagonal of the data's information".to_owned(),
        Expected::Empirical => "the data's information".to_owned(),
    };
    let ridged = if ridge > 0.0 { format!(" plus {ridge}") } else { String::new() };
    format!(", whitened by {of}{ridged}")
}

fn common_length(sequences: &[SamplesView<'_>]) -> Result<usize, Refused> {
    let length = sequences.first().map_or(0, SamplesView::len);
    match sequences.iter().all(|samples| samples.len() == length) {
        true => Ok(length),
        false => Err(Refused::Usage(
            Topic::DifferentLengths,
            "the items differ in length: give a --length for the exact information, or --information sampled"
                .into(),
        )),
    }
}

/// The failure of a pair of models, whose names are for messages.
pub(super) fn pair_failure(
    PairError { row, column, why }: PairError,
    names: impl Fn(usize) -> String,
) -> Failure {
    Failure::input(
        why.kind(),
        match (&why, words(&why)) {
            (BetweenError::Parameter { .. }, said) => said,
            (_, said) if row == column => format!("{}: {said}", names(row)),
            (_, said) => format!("{} and {}: {said}", names(row), names(column)),
        },
    )
}
