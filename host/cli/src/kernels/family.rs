//! Families of models that kernels read, and how to fit them.

use std::path::PathBuf;

use clap::ValueEnum;
use fishweir::data::{Dataset, Kind};
use fishweir::fit::{BaumWelch, SwitchingEm, SystemEm};
use fishweir::learn::Request;
use fishweir::model::{ContextSet, ContextTreeWeighting, ModelFamily, SegmentEm};

use super::Asked;
use crate::arguments::TrainingArguments;
use crate::options::{named, note_idle};
use crate::values::not_negative;
use crate::{Failure, Topic};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FamilyName {
    /// Hidden Markov models
    Hmm,
    /// Hidden Markov models whose states have durations of their own (hidden semi-Markov models)
    Hsmm,
    /// Strings in which each symbol depends on the symbols before it
    Markov,
    /// Strings whose contexts are a Bayes mixture over all suffix trees of up to --order symbols
    ContextTree,
    /// Strings of one length whose positions are independent
    Positions,
    /// Independent samples of a Gaussian
    Gaussian,
    /// Independent samples of a mixture of Gaussians
    Mixture,
    /// Independent samples of a kernel density estimate: a Gaussian around each sample of the item
    Kde,
    /// Linear dynamical systems: hidden states are vectors
    Lds,
    /// Linear dynamical systems that switch at random between modes (--components)
    Switching,
}

/// Choice of a family, and its settings.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Models")]
pub(super) struct Choice {
    /// Family of the fitted models; all but hmm are fitted to the items themselves
    #[arg(long, value_enum, default_value_t = FamilyName::Hmm)]
    pub(super) family: FamilyName,
    #[command(flatten)]
    pub(super) told: FamilyOptions,
}

/// Options of the families.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Models")]
pub(crate) struct FamilyOptions {
    /// Model the end of a string as an event with its own probability (markov), or as a final state (hmm, hsmm)
    #[arg(long)]
    pub(crate) end: bool,
    /// Strings begin with start markers, and every symbol is predicted (markov)
    #[arg(long)]
    padded: bool,
    /// File of contexts that may differ in length, one per line; an empty line is the empty context (markov)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["padded", "min_count", "order"])]
    contexts: Option<PathBuf>,
    /// Use the contexts of up to --order symbols that occur at least N times in the items (markov)
    #[arg(long, value_name = "N", conflicts_with = "padded", requires = "order")]
    min_count: Option<usize>,
    /// Give every symbol the same probability instead of fitting the model to the items (markov, positions)
    #[arg(long, conflicts_with = "pseudo_count")]
    uniform: bool,
    /// Longest duration of a state, for a table of durations instead of a negative binomial distribution (hsmm)
    #[arg(long, value_name = "SAMPLES")]
    longest_duration: Option<usize>,
    /// Number added to every count of a symbol (markov, context-tree, positions) [default: 0.5]
    #[arg(long, value_name = "A", value_parser = not_negative, allow_negative_numbers = true)]
    pseudo_count: Option<f64>,
}

use FamilyName::{
    ContextTree, Gaussian, Hmm, Hsmm, Kde, Lds, Markov, Mixture, Positions, Switching,
};

impl FamilyName {
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The families that take an option of training; all those named by
    /// [`TrainingArguments::given`](crate::arguments::TrainingArguments::given).
    fn training(option: &str) -> &'static [Self] {
        match option {
            "--score-model" => {
                &[Hmm, Hsmm, Markov, ContextTree, Positions, Gaussian, Mixture, Kde, Lds, Switching]
            }
            "--std-floor" => &[Hmm, Hsmm, Gaussian, Mixture, Kde, Lds, Switching],
            "--states" => &[Hmm, Hsmm, Lds, Switching],
            "--components" => &[Hmm, Hsmm, Mixture, Switching],
            "--iterations" | "--tolerance" => &[Hmm, Hsmm, Mixture, Lds, Switching],
            "--restarts" | "--seed" => &[Hmm, Hsmm, Mixture, Switching],
            // Of classifiers.
            "--effort" | "--front" | "--lags" | "--max-flash" | "--max-ram"
            | "--max-operations" => &[],
            "--emission" | "--topology" => &[Hmm, Hsmm],
            _ => &[Hmm],
        }
    }
}

impl Choice {
    /// The options given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let mut given = named([("--family", self.family != Hmm)]);
        given.extend(self.told.names());
        given
    }

    /// Notes options that the family has no use for. `order` is whether one is given that the kernel
    /// does not read.
    pub(super) fn check(&self, asked: &Asked<'_>, order: bool) -> Result<(), Failure> {
        let others = [
            ("--order", order, &[Markov, ContextTree][..]),
            ("--model", asked.model.is_some(), &[Hmm]),
            ("--group", asked.by_group() && !asked.beside_classifiers, &[Hmm]),
        ];
        self.told.check("--family", self.family, &others, &asked.given_to_train())?;
        let length = named([("--length", self.ends() && asked.options.length.is_some())]);
        note_idle(&length, "with --end strings have any length")
    }

    /// Returns whether the models are hidden Markov models as classifiers have them: without durations or a final state.
    pub(super) fn is_plain(&self) -> bool {
        self.family == Hmm && !self.told.end
    }

    /// Returns whether strings end by an event of their own.
    pub(super) fn ends(&self) -> bool {
        self.told.end && matches!(self.family, Markov | Hmm | Hsmm)
    }

    /// Describes the models, apart from their number.
    pub(super) fn words(&self, components: usize) -> String {
        match self.family {
            Hmm => String::new(),
            Hsmm => " (hidden semi-Markov models)".into(),
            Markov => " (Markov strings)".into(),
            ContextTree => " (a mixture of context trees)".into(),
            Positions => " (independent positions)".into(),
            Gaussian => " (a Gaussian)".into(),
            Mixture => format!(" (a mixture of {components} Gaussians)"),
            Kde => " (a kernel density estimate)".into(),
            Lds => " (a linear dynamical system)".into(),
            Switching => format!(" (a linear dynamical system of {components} modes)"),
        }
    }
}

impl FamilyOptions {
    /// Names of the options that were given.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.given().into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }

    /// The options, and whether each is given.
    fn given(&self) -> [(&'static str, bool); 7] {
        [
            ("--end", self.end),
            ("--padded", self.padded),
            ("--contexts", self.contexts.is_some()),
            ("--min-count", self.min_count.is_some()),
            ("--longest-duration", self.longest_duration.is_some()),
            ("--uniform", self.uniform),
            ("--pseudo-count", self.pseudo_count.is_some()),
        ]
    }

    /// Notes options that a family has no use for: of these, of others with the families that take
    /// them, and of training.
    pub(crate) fn check(
        &self,
        option: &str,
        family: FamilyName,
        others: &[(&'static str, bool, &'static [FamilyName])],
        training: &[&'static str],
    ) -> Result<(), Failure> {
        let by = |option: &str| -> &'static [FamilyName] {
            match option {
                "--uniform" => &[Markov, Positions],
                "--pseudo-count" => &[Markov, ContextTree, Positions],
                "--end" => &[Markov, Hmm, Hsmm],
                "--longest-duration" => &[Hsmm],
                _ => &[Markov],
            }
        };
        let own = self.given().map(|(name, given)| (name, given, by(name)));
        let training = training.iter().map(|&name| (name, true, FamilyName::training(name)));
        let all = own.into_iter().chain(others.iter().copied()).chain(training);
        for (name, _, families) in all.filter(|(_, given, by)| *given && !by.contains(&family)) {
            let families: Vec<String> = families.iter().map(|family| family.name()).collect();
            let of = match families.as_slice() {
                [] => "classifiers".to_owned(),
                some => format!("{option} {}", some.join(", ")),
            };
            note_idle(
                &[name],
                format_args!("not used by {option} {}, only by {of}", family.name()),
            )?;
        }
        Ok(())
    }

    /// A family and how it is fitted.
    pub(crate) fn family(
        &self,
        family: FamilyName,
        order: Option<u8>,
        training: &TrainingArguments,
        request: &Request,
        data: &Dataset,
    ) -> Result<ModelFamily, Failure> {
        let fit = &request.baum_welch;
        let components = training.components().unwrap_or(2);
        let (uniform, pseudo_count) =
            (self.uniform, self.pseudo_count.unwrap_or(fit.symbol_pseudocount));
        let density =
            |states| ModelFamily::Density(BaumWelch { states, emission: None, ..fit.clone() });
        let system = || {
            let own = SystemEm::default();
            SystemEm {
                states: training.states().unwrap_or(own.states),
                iterations: fit.iterations,
                tolerance: fit.tolerance,
                std_floor: training.std_floor.first().copied().unwrap_or(own.std_floor),
            }
        };
        Ok(match family {
            Hmm if !self.end => ModelFamily::HiddenMarkov(fit.clone()),
            Hmm | Hsmm => ModelFamily::SemiMarkov(SegmentEm {
                start: fit.clone(),
                durations: family == Hsmm,
                longest: self.longest_duration,
                end: self.end,
            }),
            ContextTree => ModelFamily::ContextTree(ContextTreeWeighting {
                depth: order.unwrap_or(4).into(),
                alpha: pseudo_count,
                stop: 0.5,
            }),
            Markov => {
                let order = order.unwrap_or(1).into();
                let contexts = match (&self.contexts, self.min_count, data.kind()) {
                    (Some(path), _, Kind::Symbols(alphabet)) => ContextSet::read(path, alphabet)?,
                    (_, Some(at_least), _) => ContextSet::Frequent { longest: order, at_least },
                    _ if self.padded => ContextSet::Padded(order),
                    _ => ContextSet::Order(order),
                };
                ModelFamily::Markov { contexts, end: self.end, uniform, pseudo_count }
            }
            Positions => ModelFamily::Positions { uniform, pseudo_count },
            Gaussian => density(1),
            Kde => ModelFamily::KernelDensity {
                least: training.std_floor.first().copied().unwrap_or(0.01),
            },
            Lds => ModelFamily::LinearSystem(system()),
            Switching => ModelFamily::SwitchingSystem(SwitchingEm {
                modes: components,
                system: system(),
                restarts: fit.restarts,
                seed: fit.seed,
                ..SwitchingEm::default()
            }),
            Mixture if (1..=64).contains(&components) => density(components),
            Mixture => {
                let what = format!("--components {components}: a mixture has 1 to 64 Gaussians");
                return Err(Failure::input(Topic::OutOfRange, what));
            }
        })
    }
}
