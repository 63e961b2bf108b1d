//! Help of the commands that compare items and train no machine: a line or two per option, in groups by
//! the part that reads them, and names of kernels and families below.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, ValueEnum};
use fishweir::kernel::registry::KERNELS;
use fishweir::runtime::FAMILIES;

use super::family::FamilyName;

const KERNEL: &str = "Kernel";
const SCORES: &str = "Fisher scores";
const MODELS: &str = "Models";
const FITTING: &str = "Fitting";

/// Options with the group each is in, and shorter words where the commands that train have many.
const SHOWN: &[(&str, &str, Option<&str>)] = &[
    ("kernel", KERNEL, Some("Name of the kernel; --help lists them")),
    ("normalise", KERNEL, None),
    ("sigma", KERNEL, None),
    ("power", KERNEL, None),
    ("lambda", KERNEL, Some("Rate of exp(-lambda/2 |x - y|^2) (mean maps) [default: 1]")),
    ("order", KERNEL, None),
    ("spectrum", KERNEL, None),
    (
        "parametrisation",
        SCORES,
        Some(
            "Parameters that scores are derivatives by: ratio (probabilities as ratios, variances) or softmax \
             (logits, log standard deviations) [default: softmax]",
        ),
    ),
    (
        "information",
        SCORES,
        Some(
            "Information matrix that whitens scores: exact or sampled (of the models), empirical or diagonal (of \
             the data) [default: sampled for invariant, else none]",
        ),
    ),
    ("information_from", SCORES, None),
    ("ridge", SCORES, None),
    ("length", SCORES, None),
    ("draws", SCORES, None),
    ("draw_seed", SCORES, None),
    ("model", MODELS, None),
    ("kernel_model", MODELS, None),
    ("one_model", MODELS, None),
    (
        "score_model",
        MODELS,
        Some("Whose model gives scores or counts: a class, or all [default: all]"),
    ),
    ("family", MODELS, Some("Family of the fitted models; --help lists them")),
    ("states", MODELS, Some("Hidden states [default: 4]; numbers of an lds's state [default: 2]")),
    (
        "emission",
        MODELS,
        Some("Emission family of hidden states: {families} [default: categorical or gaussian]"),
    ),
    (
        "components",
        MODELS,
        Some(
            "Gaussians per state, 1 to 8 (mixture), or of a model without states, 1 to 64; modes of a switching \
             system [default: 2]",
        ),
    ),
    (
        "topology",
        MODELS,
        Some(
            "Transitions: automatic, ergodic, left-to-right, positions [default: automatic; ergodic with \
             --states]",
        ),
    ),
    (
        "restarts",
        FITTING,
        Some("Initialisations of Baum-Welch; the likeliest fit is kept [default: 1]"),
    ),
    ("seed", FITTING, Some("Seed of the first initialisation; the others count up [default: 1]")),
    ("iterations", FITTING, Some("Limit of Baum-Welch passes [default: 100]")),
    (
        "tolerance",
        FITTING,
        Some("Baum-Welch stops when a pass gains less, in nats per sample [default: 0.00001]"),
    ),
    (
        "std_floor",
        FITTING,
        Some(
            "Least standard deviation, as a share of the channel's; several are compared by how well \
             classes are separated [default: 0.3,0.03]",
        ),
    ),
    ("group", FITTING, Some("Of several --std-floor: column whose values stay in one fold")),
    (
        "mirror",
        FITTING,
        Some("Of several --std-floor: channels that change sign in a mirror image, or none"),
    ),
    (
        "class_weight",
        FITTING,
        Some("Weights of the classes when one of several --std-floor is chosen [default: even]"),
    ),
];

/// Options of machines: they are refused with a reason, and not shown.
const HIDDEN: [&str; 10] = [
    "copies",
    "vectors",
    "axial",
    "rotation",
    "gain",
    "learner",
    "normalisation",
    "scaling",
    "c",
    "no_likelihood",
];

/// An option as these commands show it.
pub(crate) fn shown(option: Arg) -> Arg {
    let id = option.get_id().as_str();
    if HIDDEN.contains(&id) {
        return option.hide(true);
    }
    let Some((_, group, words)) = SHOWN.iter().find(|(shown, ..)| *shown == id) else {
        return option;
    };
    let option = option.help_heading(*group);
    let valued = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    let option = if valued { option.hide_possible_values(true) } else { option };
    match words {
        Some(words) => option.help(words.replace("{families}", &families())),
        None => option,
    }
}

/// Names of the emission families that kernels compare: those without a past.
fn families() -> String {
    let without = FAMILIES.iter().filter(|family| !family.has_past());
    without.map(|family| family.name()).collect::<Vec<_>>().join(", ")
}

/// Names of kernels and of families, with a line about each.
pub(crate) fn names() -> String {
    let mut text = "Kernels (--kernel):\n".to_owned();
    for entry in KERNELS {
        let _ = writeln!(text, "  {:<20}{}", entry.name, entry.about);
    }
    text.push_str("\nFamilies of models (--family):\n");
    for value in FamilyName::value_variants().iter().filter_map(ValueEnum::to_possible_value) {
        let about = value.get_help().map_or_else(String::new, ToString::to_string);
        let _ = writeln!(text, "  {:<20}{about}", value.get_name());
    }
    text
}
