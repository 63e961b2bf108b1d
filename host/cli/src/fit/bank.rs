//! A classifier by the most alike of a bank of models.

use clap::{Args, ValueEnum};
use fishweir::classifier::{AdaptedStart, Classifier, ComparedBy, Observations, Provenance};
use fishweir::data::{Dataset, SamplesView, Windows, scale_of};
use fishweir::kernel::parameter::STEPS;
use fishweir::learn::{Request, Trained};
use fishweir::model::{ModelFamily, NamedModel};

use crate::kernels::{FamilyName, Per, fit_each};
use crate::options::named;
use crate::values::positive;
use crate::{Failure, Topic};

/// Least variance of a channel of the stream's model, relative to that of the data.
const FLOOR: f64 = 1e-4;

/// Options of a bank of models.
#[derive(Args, Clone, Debug)]
pub(super) struct BankOptions {
    /// Classify by the class whose models are most alike to the one that the stream makes, by this kernel between models
    /// (--family hmm); --lambda is the rate of mean-map
    ///
    /// A device keeps the models, adapts one of all items to the stream, and compares it with each of them: models with
    /// categorical or gaussian emissions, of up to 8 states, 32 symbols or 3 channels.
    #[arg(long, value_enum, value_name = "KERNEL", requires = "family", help_heading = "Models")]
    compare_by: Option<Measure>,
    /// Power of the probability product, with --compare-by ppk [default: 1]
    #[arg(long, value_name = "RHO", value_parser = positive, requires = "compare_by", help_heading = "Models",
          allow_negative_numbers = true)]
    rho: Option<f64>,
    /// Transitions that models are compared over [default: 10]
    #[arg(long, value_name = "N", requires = "compare_by", help_heading = "Models",
          value_parser = clap::value_parser!(u32).range(0..=1000))]
    steps: Option<u32>,
    /// Memory of the stream's model, in samples [default: 50]
    #[arg(long, value_name = "SAMPLES", requires = "compare_by", help_heading = "Models",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    model_memory: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// The probability product kernel
    Ppk,
    /// The mean map
    MeanMap,
}

impl BankOptions {
    /// Returns whether a classifier was asked for.
    pub(super) const fn is_given(&self) -> bool {
        self.compare_by.is_some()
    }

    /// Checks the options against each other, and against the family and what its models are of.
    pub(super) fn check(
        &self,
        (family, ends, per): (FamilyName, bool, Option<Per>),
        lambda: Option<f64>,
    ) -> Result<(), Failure> {
        let refused = match (family, ends, per) {
            _ if !self.is_given() => None,
            (_, true, _) => Some("models without a final state: omit --end"),
            (_, _, Some(Per::All)) => Some("models that have classes: omit --model-per all"),
            (FamilyName::Hmm, ..) => None,
            _ => Some("hidden Markov models: take --family hmm"),
        };
        if let Some(what) = refused {
            let what = format!("--compare-by compares {what}");
            return Err(Failure::input(Topic::ConflictingOptions, what));
        }
        let of_other = match self.compare_by {
            Some(Measure::Ppk) => named([("--lambda", lambda.is_some())]),
            Some(Measure::MeanMap) => named([("--rho", self.rho.is_some())]),
            None => Vec::new(),
        };
        crate::options::note_idle(&of_other, "it is for the other kernel between models")
    }

    fn by(&self, lambda: f64) -> ComparedBy {
        match self.compare_by {
            Some(Measure::MeanMap) => ComparedBy::MeanMap { lambda },
            _ => ComparedBy::Product { rho: self.rho.unwrap_or(1.0) },
        }
    }

    /// The classifier by models that have classes, and one of all windows.
    pub(super) fn trained(
        &self,
        (data, windows): (&Dataset, &Windows<'_>),
        models: Vec<NamedModel>,
        (family, request): (&ModelFamily, &Request),
        provenance: Provenance,
    ) -> Result<Trained, Failure> {
        let of_all = fit_each(data, windows, Per::All, family)?;
        let start = of_all.into_iter().find_map(|one| one.model.hidden_markov().cloned());
        let hidden = |one: NamedModel| Some((one.class?, one.model.hidden_markov()?.clone()));
        let bank: Vec<_> = models.into_iter().filter_map(hidden).collect();
        let (Some(start), false) = (start, bank.is_empty()) else {
            let what = "the data have no labels, so no model has a class";
            return Err(Failure::input(Topic::NoClass, format!("{}: {what}", data.source())));
        };
        let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
        let scale = scale_of(data.kind(), &views);
        let least = scale.iter().copied().fold(f64::INFINITY, f64::min);
        let default = AdaptedStart::DEFAULT;
        let adapted = AdaptedStart {
            variance_floor: match least {
                least if least.is_finite() && least > 0.0 => FLOOR * least * least,
                _ => default.variance_floor,
            },
            step_size: self
                .model_memory
                .map_or(default.step_size, |memory| 1.0 / f64::from(memory)),
            ..default
        };
        let steps = self.steps.map_or(STEPS.default as usize, |steps| steps as usize);
        let observations = Observations::from(data.kind());
        let compared = (self.by(request.lambda), steps);
        let mut classifier =
            Classifier::of_bank(observations, start, bank, compared, adapted, request.windowing)?;
        classifier.provenance = provenance;
        Ok(Trained {
            classifier,
            choice: None,
            fits: Vec::new(),
            varied: String::new(),
            form: None,
        })
    }
}
