//! Models without hidden states: which family, its options, and what it is fitted to.

use std::path::PathBuf;

use clap::ValueEnum;
use fishweir::context::{ContextModelError, ContextSet, Family};
use fishweir::data::{Dataset, Kind, SamplesView, Window};
use fishweir::fit::BaumWelch;
use fishweir::kernel::Scored;
use fishweir::learn::TrainOptions;

use super::{Arguments, Name, place};
use crate::commands::Failure;
use crate::commands::arguments::{named, not_negative, refuse_idle};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FamilyName {
    /// Hidden Markov models
    Hmm,
    /// Strings whose last symbols are the context of the next
    Markov,
    /// Strings of one length whose positions are independent
    Positions,
    /// Independent samples of a Gaussian
    Gaussian,
    /// Independent samples of a mixture of Gaussians
    Mixture,
}

/// A model with the name of its class; the one of all items has none.
pub(super) type Named = (Option<String>, Box<dyn Scored>);

/// What the families take.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Models")]
pub(super) struct Choice {
    /// Which models are fitted; all but hmm to the items themselves
    #[arg(long, value_enum, default_value_t = FamilyName::Hmm)]
    pub(super) family: FamilyName,
    /// Strings end by an event of their own (markov)
    #[arg(long)]
    pub(super) end: bool,
    /// Strings begin with start markers, and every symbol is predicted (markov)
    #[arg(long)]
    padded: bool,
    /// Contexts of several lengths, one a line; the empty one is among them (markov)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["padded", "min_count", "order"])]
    contexts: Option<PathBuf>,
    /// Contexts of up to --order symbols, those that something follows so often in the items (markov)
    #[arg(long, value_name = "N", conflicts_with = "padded", requires = "order")]
    min_count: Option<usize>,
    /// Every symbol as likely as any other, whatever the items say (markov, positions)
    #[arg(long, conflicts_with = "pseudo_count")]
    uniform: bool,
    /// Added to every count of a symbol (markov, positions) [default: 0.5]
    #[arg(long, value_name = "A", value_parser = not_negative, allow_negative_numbers = true)]
    pseudo_count: Option<f64>,
    /// Gaussians of a mixture, 1 to 64 (mixture) [default: 2]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u8).range(1..=64))]
    components: Option<u8>,
}

use FamilyName::{Gaussian, Hmm, Markov, Mixture, Positions};

impl FamilyName {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The families that take an option of training; all those named by
    /// [`Training::given`](crate::commands::arguments::Training::given).
    fn training(option: &str) -> &'static [Self] {
        match option {
            "--score-model" => &[Hmm, Markov, Positions, Gaussian, Mixture],
            "--std-floor" => &[Hmm, Gaussian, Mixture],
            "--restarts" | "--seed" | "--iterations" | "--tolerance" => &[Hmm, Mixture],
            _ => &[Hmm],
        }
    }
}

impl Choice {
    /// Refuses options that the family has no use for.
    pub(super) fn check(&self, arguments: &Arguments) -> Result<(), Failure> {
        let counts = matches!(arguments.kernel, Name::Count | Name::EmpiricalMap);
        let own: [(&str, bool, &[FamilyName]); 10] = [
            ("--end", self.end, &[Markov]),
            ("--padded", self.padded, &[Markov]),
            ("--contexts", self.contexts.is_some(), &[Markov]),
            ("--min-count", self.min_count.is_some(), &[Markov]),
            ("--order", arguments.order.is_some() && !counts, &[Markov]),
            ("--uniform", self.uniform, &[Markov, Positions]),
            ("--pseudo-count", self.pseudo_count.is_some(), &[Markov, Positions]),
            ("--components", self.components.is_some(), &[Mixture]),
            ("--model", arguments.model.is_some(), &[Hmm]),
            ("--group", arguments.training.group.is_some(), &[Hmm]),
        ];
        let training = arguments.training.given().into_iter();
        let training = training.map(|option| (option, true, FamilyName::training(option)));
        let takes = |families: &[FamilyName]| families.contains(&self.family);
        let refused = own.into_iter().chain(training).find(|(_, given, by)| *given && !takes(by));
        if let Some((option, _, families)) = refused {
            let families: Vec<String> = families.iter().map(|family| family.name()).collect();
            return Err(Failure::Input(format!(
                "--family {} takes no {option}; it is for --family {}",
                self.family.name(),
                families.join(", ")
            )));
        }
        let on_scores = matches!(
            arguments.kernel,
            Name::Practical | Name::Invariant | Name::Gaussian | Name::Polynomial | Name::Top
        );
        if self.family != Hmm && arguments.kernel == Name::EmpiricalMap {
            let why = "the kernel is of the samples, and takes no model";
            return refuse_idle(&["--family"], why);
        }
        if self.family != Hmm && !on_scores {
            return Err(Failure::Input(format!(
                "--kernel {} sums over hidden states, and --family {} has none; take a kernel on \
                 scores: practical, invariant, gaussian, polynomial or top",
                arguments.kernel.name(),
                self.family.name()
            )));
        }
        let length = named([("--length", self.end && arguments.length.is_some())]);
        refuse_idle(&length, "strings that end are of every length")
    }

    /// What is said of the models beside their number.
    pub(super) fn words(&self) -> String {
        match self.family {
            Hmm => String::new(),
            Markov => " (Markov strings)".into(),
            Positions => " (independent positions)".into(),
            Gaussian => " (a Gaussian)".into(),
            Mixture => format!(" (a mixture of {} Gaussians)", self.components()),
        }
    }

    fn components(&self) -> usize {
        self.components.unwrap_or(2).into()
    }

    /// The family and how it is fitted; `None` of hidden Markov models.
    fn family(
        &self,
        arguments: &Arguments,
        options: &TrainOptions,
        data: &Dataset,
    ) -> Result<Option<Family>, Failure> {
        let fit = &options.baum_welch;
        let (uniform, pseudo_count) =
            (self.uniform, self.pseudo_count.unwrap_or(fit.symbol_pseudocount));
        let density = |states| Family::Density(BaumWelch { states, ..fit.clone() });
        Ok(Some(match self.family {
            Hmm => return Ok(None),
            Markov => {
                let order = arguments.order.unwrap_or(1).into();
                let contexts = match (&self.contexts, self.min_count, data.kind()) {
                    (Some(path), _, Kind::Symbols(alphabet)) => ContextSet::read(path, alphabet)?,
                    (_, Some(at_least), _) => ContextSet::Frequent { longest: order, at_least },
                    _ if self.padded => ContextSet::Padded(order),
                    _ => ContextSet::Order(order),
                };
                Family::Markov { contexts, end: self.end, uniform, pseudo_count }
            }
            Positions => Family::Positions { uniform, pseudo_count },
            Gaussian => density(1),
            Mixture => density(self.components()),
        }))
    }

    /// A model a class with its name, or one of all items; `None` of hidden Markov models, which are
    /// not fitted here.
    pub(super) fn fitted(
        &self,
        arguments: &Arguments,
        options: &TrainOptions,
        data: &Dataset,
    ) -> Result<Option<Vec<Named>>, Failure> {
        let Some(family) = self.family(arguments, options, data)? else { return Ok(None) };
        let windows = data.windows(options.windowing.as_ref());
        let one = |class: Option<usize>| {
            let items: Vec<&Window<'_>> = windows
                .all()
                .iter()
                .filter(|window| class.is_none() || window.label() == class)
                .collect();
            let views: Vec<SamplesView<'_>> = items.iter().map(|item| item.samples).collect();
            let name = class.and_then(|class| data.classes().get(class)).cloned();
            match family.fit(data, &views) {
                Ok(model) => Ok((name, model)),
                Err(error) => Err(refused(&error, name.as_deref(), data, &items)),
            }
        };
        if arguments.one_model || data.classes().is_empty() {
            return Ok(Some(vec![one(None)?]));
        }
        (0..data.classes().len()).map(|class| one(Some(class))).collect::<Result<_, _>>().map(Some)
    }
}

/// Why nothing was fitted, with the item or the class that it is about.
fn refused(
    error: &ContextModelError,
    class: Option<&str>,
    data: &Dataset,
    items: &[&Window<'_>],
) -> Failure {
    let item = error.sequence().and_then(|sequence| items.get(sequence));
    Failure::Input(match (item, class) {
        (Some(item), _) => format!("{}: {error}", place(data, item)),
        (None, Some(class)) => format!("{}, class {class}: {error}", data.source()),
        (None, None) => format!("{}: {error}", data.source()),
    })
}
