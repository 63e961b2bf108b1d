//! Options that remedy what the library refuses. The library speaks of fields and values; here the program adds which of
//! its options set them, and nowhere else.

use std::error::Error;

use fishweir::StableKind;
use fishweir::deploy::DeployError;
use fishweir::evaluate::EvaluateError;
use fishweir::fit::FitError;
use fishweir::kernel::between::BetweenError;
use fishweir::kernel::{InformationError, KernelError};
use fishweir::learn::{KernelLearnError, Resource, TrainError};
use fishweir::project::ProjectError;
use fishweir::spot::WindowedEventsError;

/// Text of an error, and in brackets the options concerned.
pub(super) fn words<E: Error + StableKind + 'static>(error: &E) -> String {
    let text = error.to_string();
    let options = options(error, error.kind(), &text);
    match options.is_empty() {
        true => text,
        false => format!("{text} ({})", options.join(", ")),
    }
}

/// The options by an error's type, else by its kind.
fn options(error: &(dyn Error + 'static), kind: &str, text: &str) -> Vec<&'static str> {
    if let Some(error) = training(error) {
        let options = of_training(error);
        if !options.is_empty() {
            return options;
        }
    }
    if let Some(DeployError::NotOnePerClass(_)) = error.downcast_ref() {
        return vec!["--model-per class"];
    }
    if let Some(BetweenError::Model { why, .. }) = error.downcast_ref()
        && why.contains("order 0")
    {
        return vec!["--order 0"];
    }
    if let Some(ProjectError::Name { .. }) = error.downcast_ref() {
        return vec!["--name"];
    }
    if let Some(ProjectError::NeedsTasks { .. }) = error.downcast_ref() {
        return vec!["--async"];
    }
    let information = match error.downcast_ref() {
        Some(KernelError::Information(error)) => Some(error),
        _ => match training(error) {
            Some(TrainError::Machine(KernelLearnError::Whitening(error))) => Some(error),
            _ => error.downcast_ref(),
        },
    };
    if let Some(InformationError::NotSymbols) = information {
        return vec!["--scaling sampled", "or of gram --information sampled"];
    }
    of_kind(kind, text)
}

/// The error of a training, which others may hold.
fn training<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e TrainError> {
    if let Some(EvaluateError::Train(error)) = error.downcast_ref::<EvaluateError>() {
        return Some(error);
    }
    if let Some(WindowedEventsError::Train(error)) = error.downcast_ref::<WindowedEventsError>() {
        return Some(error);
    }
    error.downcast_ref()
}

/// The options concerned in a refused training.
fn of_training(error: &TrainError) -> Vec<&'static str> {
    match error {
        TrainError::Fit { source: FitError::Model(_), .. }
        | TrainError::Universal { source: FitError::Model(_) } => vec!["--std-floor", "--states"],
        TrainError::Emission { .. } | TrainError::NotSymbols(_) => vec!["--classifier"],
        TrainError::TooManyWords { .. } => vec!["--order"],
        TrainError::ImpossibleWindow { .. } => vec!["--std-floor"],
        TrainError::TooManyFeatures { .. } => {
            vec!["--order", "--copies", "--states", "--codebooks", "--hop", "--classifier bayes"]
        }
        TrainError::NeedsKernelLearner(..) => {
            vec!["--learner", "--landmarks", "--classifier fisher"]
        }
        TrainError::NotDeployed { source: DeployError::Parameter(_), .. } => {
            vec!["--sigma", "--power"]
        }
        TrainError::NotDeployed { source: DeployError::Size { .. }, .. } => {
            vec!["--states", "--classifier fisher"]
        }
        TrainError::TooManyStored(..) => {
            vec!["--hop", "--copies", "--mirror", "--landmarks", "--learner svm"]
        }
        TrainError::TooManyWindows(..) => vec!["--learner", "--hop", "--copies"],
        TrainError::PartialSamples { .. } => vec!["--codebooks", "--classifier", "--learner"],
        TrainError::FrontOf => vec!["--front"],
        TrainError::NoRegression(..) => vec!["--classifier", "--learner"],
        TrainError::TooFewForCoverage { .. } => vec!["--coverage"],
        TrainError::NoTargets(_) => vec!["--target", "--window"],
        TrainError::InChunks { what, .. } if what.contains("sample of") => vec!["--out-of-core"],
        TrainError::InChunks { .. } => vec!["--classifier", "--learner", "--copies", "--mirror"],
        TrainError::ShortFront { .. } => vec!["--window", "--front"],
        TrainError::Codebooks => vec!["--codebooks", "--classifier fisher"],
        TrainError::ShortCodebooks(_) => vec!["--codebooks", "--window"],
        TrainError::Lags(_) => vec!["--lags", "--score-model each-lag"],
        TrainError::LongLags { windowed: true, .. } => vec!["--lags", "--window"],
        TrainError::LongLags { windowed: false, .. } => vec!["--lags"],
        TrainError::TooDear { what, .. } => {
            let limit = match what {
                Resource::Flash => "--max-flash",
                Resource::Ram => "--max-ram",
                Resource::Operations => "--max-operations",
            };
            vec![limit, "--states", "--lags", "--codebooks", "--levels", "--landmarks"]
        }
        _ => Vec::new(),
    }
}

/// The options of a kind of error.
fn of_kind(kind: &str, text: &str) -> Vec<&'static str> {
    match kind {
        "not-fasta" => vec!["--fasta-label"],
        "no-basis" => vec!["fit --teachable"],
        "bad-words" => vec!["--words", "--alphabet"],
        "bad-header" if text.contains("column of events") => vec!["--event-column"],
        "bad-header" if text.contains("has no channel") => vec!["--channels", "--event-column"],
        "wrong-observations" if text.ends_with("strings of symbols are needed") => {
            vec!["--event-column"]
        }
        "unlabelled" => vec!["--label", "--name", "--fasta-label"],
        "mixed-column" => vec!["--categories"],
        "column-changes" => vec!["--segments", "--label", "--series"],
        "words-change" => vec!["--channels", "--series"],
        "maybe-label" => vec!["--label", "--channels"],
        "ambiguous-comma" | "decimal-comma" => vec!["--decimal"],
        "not-a-number" if text.ends_with("write NA") && !text.starts_with("standard input") => {
            vec!["--na"]
        }
        // A note of several lines.
        "hidden-character" if text.contains("U+000A") => vec!["--channels"],
        "wrong-encoding" | "not-utf8" => vec!["--encoding"],
        "mixed-rates" | "other-rate" => vec!["--resample"],
        "too-large" if text.contains("reading it") => vec!["--out-of-core"],
        "short-background" => vec!["--group"],
        "no-background" => vec!["--background-mark"],
        "unknown-layout" => vec!["--format", "--time", "--series", "--no-header"],
        "bad-layout" if text.contains("is for regression") => vec!["--target label"],
        "unknown-target" | "only-target" => vec!["--target"],
        "bad-layout" if text.contains("UCR archive") => vec!["--format ucr"],
        "front-of-symbols" | "fixed-point-front" => vec!["--front"],
        "spread-out-of-range" => vec!["--std-floor"],
        "decisions-differ" => vec!["--equal"],
        "wrong-emissions" | "no-past" => vec!["--emission"],
        "short-past" => vec!["--lags"],
        "too-short" => vec!["--order"],
        "too-many-copies" => vec!["--copies"],
        "wild-copy" => vec!["--gain", "--rotation", "--copies"],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use fishweir::data::DataError;
    use fishweir::learn::ClassifierKind;

    use super::*;

    #[test]
    fn an_error_names_its_options_whoever_holds_it() {
        let dear = || TrainError::TooDear { takes: 101, most: 100, what: Resource::Ram };
        let alone = words(&dear());
        assert!(alone.contains("(--max-ram, --states"), "{alone}");
        assert_eq!(words(&EvaluateError::Train(dear())), alone);
        assert_eq!(words(&WindowedEventsError::Train(dear())), alone);
        let observed = TrainError::Observed(FitError::NoPast { family: "autoregressive" });
        assert!(words(&observed).ends_with("(--emission)"), "{observed}");
        let no_symbols = KernelError::Information(InformationError::NotSymbols);
        assert!(words(&no_symbols).contains("--scaling sampled"), "{no_symbols}");
        let symbols = TrainError::NotSymbols(ClassifierKind::Count);
        assert!(words(&symbols).ends_with("(--classifier)"), "{symbols}");
    }

    /// The words in a source that look like options, comments aside.
    fn options_in(source: &str) -> Vec<String> {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let of_line = |line: &str| {
            let part = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
            let words = line.split(|one| !part(one)).map(|word| word.trim_end_matches('-'));
            let long = words.filter(|word| {
                word.strip_prefix("--")
                    .is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
            });
            long.map(|word| word[2..].to_owned()).collect::<Vec<_>>()
        };
        code.flat_map(of_line).collect()
    }

    fn long_options(command: &clap::Command, known: &mut BTreeSet<String>) {
        for argument in command.get_arguments() {
            known.extend(argument.get_long().map(str::to_owned));
            known.extend(argument.get_all_aliases().into_iter().flatten().map(str::to_owned));
        }
        command.get_subcommands().for_each(|command| long_options(command, known));
    }

    #[test]
    fn every_option_that_a_message_names_is_one_of_the_programs() {
        // Those of cargo, which messages and sources name too.
        let cargo = [
            "bin",
            "features",
            "filter-platform",
            "format-version",
            "locked",
            "package",
            "profile",
            "release",
            "target",
        ];
        let mut known: BTreeSet<String> =
            cargo.into_iter().chain(["help", "version"]).map(str::to_owned).collect();
        long_options(&<crate::CommandLine as clap::CommandFactory>::command(), &mut known);
        let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let source = fs::read_to_string(&path).expect("text");
                for option in options_in(&source) {
                    seen += 1;
                    assert!(known.contains(&option), "{path:?} names --{option}");
                }
            }
        }
        assert!(seen > 300, "{seen} options in all");
    }

    #[test]
    fn an_error_without_options_is_as_the_library_has_it() {
        let empty = DataError::Empty { file: "a.csv".into() };
        assert_eq!(words(&empty), empty.to_string());
    }
}
