//! Parts of Rust sources, for linking into firmware.

use std::fmt::Write as _;

use fishweir_core::emission::Alphabet;

use super::model::{DeployedModel, States};
use crate::classifier::{Contract, DeployedConfidence, Observations, normalisation_name};
use crate::data::internals::in_one_line;
use crate::runtime::family::{DeployedEmission, Field, OF_CHANNELS, Weight};
use crate::runtime::{Family, Shape, Width};

/// An `Hmm`, with a comma after it.
pub(super) fn model_source(text: &mut String, model: &DeployedModel) {
    model_source_in_part(text, model, false);
}

/// Writes an `Hmm` whose channels may be missing, or not.
pub(super) fn model_source_in_part(text: &mut String, model: &DeployedModel, in_part: bool) {
    let rows = model.transition.iter().map(|row| weights(row));
    let emissions = model.emission.iter().map(|emission| emission_source(emission, in_part));
    chain_and_emissions(text, &weights(&model.initial), rows, emissions);
}

/// The comments that begin a source.
pub(super) fn comments(observations: &Observations, classes: &[String], notes: &str) -> String {
    let mut text = format!(
        "// A stream classifier, exported by fishweir {}. Change the model, not this file.\n\
         //\n\
         // Observes {}.\n{notes}",
        env!("CARGO_PKG_VERSION"),
        observed(observations),
    );
    for (index, class) in classes.iter().enumerate() {
        let _ = writeln!(text, "// Class {index}: {}.", one_line(class));
    }
    text
}

/// Describes the observations, for a comment.
pub(super) fn observed(observations: &Observations) -> String {
    match observations {
        Observations::Channels(names) => format!("channels {}", one_line(&names.join(", "))),
        Observations::Symbols(symbols) => {
            format!("symbols \"{}\", numbered in this order", one_line(&in_one_line(symbols)))
        }
    }
}

/// A name as a comment may hold it: line breaks, controls and marks that reorder text are escaped as
/// in a literal, for a comment ends where its line does.
pub(super) fn one_line(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '"' | '\'' => text.push(letter),
            _ => text.extend(letter.escape_debug()),
        }
    }
    text
}

/// The names of the classes and of the channels and, over symbols, their letters.
pub(super) fn labels(observations: &Observations, classes: &[String]) -> String {
    let none = Vec::new();
    let (channels, alphabet) = match observations {
        Observations::Channels(names) => (names, String::new()),
        Observations::Symbols(symbols) => (&none, alphabet_source(Alphabet::of(symbols))),
    };
    // Debug escapes what is no plain letter.
    format!(
        "/// The names of the classes, by index.\n\
         #[rustfmt::skip]\n\
         pub static CLASSES: [&str; {}] = {classes:?};\n\n\
         /// The names of the channels, by index; empty over symbols.\n\
         #[rustfmt::skip]\n\
         pub static CHANNELS: [&str; {}] = {channels:?};\n\n{alphabet}",
        classes.len(),
        channels.len()
    )
}

/// The source up to the first model: its layout is the same for every number type.
pub(super) fn head(
    observations: &Observations,
    classes: &[String],
    notes: &str,
    imports: &str,
    (emission, known): (&str, States),
    [models, states, outputs]: [usize; 3],
) -> String {
    let mut text = comments(observations, classes, notes);
    let alphabet = matches!(observations, Observations::Symbols(_));
    // In order, as `cargo fmt` has them: emission, hmm, number.
    let (emissions, numbers) = imports.split_at(imports.find('\n').map_or(0, |end| end + 1));
    let emissions = match alphabet {
        true if !emissions.contains('{') => {
            emissions.replace("emission::", "emission::{Alphabet, ").replace(';', "};")
        }
        true => emissions.replace('{', "{Alphabet, "),
        false => emissions.to_owned(),
    };
    let mut contexts = String::new();
    let (model, uses, states) = match known {
        States::Order(order) => {
            let automaton = format!("Automaton<{}, {states}>", observations.size());
            contexts = format!(
                "/// The last symbols, by their number.\n\
                 const CONTEXTS: {automaton} = match Automaton::order({order}, StringEnd::Open) {{\n    \
                 Ok(contexts) => contexts,\n    Err(_) => panic!(\"too many contexts\"),\n}};\n\n"
            );
            let uses = "use fishweir_core::context::{Automaton, ContextModel, StringEnd};\n";
            let model = format!("ContextModel<{automaton}, {emission}, {states}>");
            (model, format!("{uses}{emissions}"), format!("{states} contexts of {order} symbols"))
        }
        States::Steps => {
            let uses = format!("use fishweir_core::context::{{ContextModel, Steps}};\n{emissions}");
            let model = format!("ContextModel<Steps, {emission}, {states}>");
            (model, uses, format!("{states} positions"))
        }
        States::Hidden => {
            let uses = format!("{emissions}use fishweir_core::hmm::{{Chain, Hmm}};\n");
            (format!("Hmm<{emission}, {states}>"), uses, format!("{states} hidden states"))
        }
    };
    let _ = write!(
        text,
        "\nuse fishweir_core::classify::{{Normalisation, StreamClassifier}};\n\
         {uses}\
         {numbers}\n\
         {}{contexts}\
         /// {models} models of {states} over {over}, {outputs} outputs.\n\
         pub type Model = StreamClassifier<{model}, {models}, {outputs}>;\n\n\
         /// The classifier, in flash.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
         pub static MODEL: Model = StreamClassifier::from_parts(\n    [\n",
        labels(observations, classes),
        over = one_line(&observations.to_string()),
    );
    text
}

/// A model's source, from those of its rows.
pub(super) fn chain_and_emissions(
    text: &mut String,
    initial: &str,
    transition: impl Iterator<Item = String>,
    emission: impl Iterator<Item = String>,
) {
    let _ = writeln!(text, "        Hmm::new(\n            Chain::from_parts(");
    let _ = writeln!(text, "                {initial},");
    let _ = writeln!(text, "                [");
    for row in transition {
        let _ = writeln!(text, "                    {row},");
    }
    let _ = writeln!(text, "                ],\n            ),");
    emission_rows(text, emission);
}

/// The source of a model whose states are known, from the rule and the emissions of its rows.
pub(super) fn contexts_and_emissions(
    text: &mut String,
    rule: &str,
    emission: impl Iterator<Item = String>,
) {
    let _ = writeln!(text, "        ContextModel::new(\n            {rule},");
    emission_rows(text, emission);
}

/// The emissions that end a model's source.
fn emission_rows(text: &mut String, emission: impl Iterator<Item = String>) {
    let _ = writeln!(text, "            [");
    for emission in emission {
        let _ = writeln!(text, "                {emission},");
    }
    let _ = writeln!(text, "            ],\n        ),");
}

/// The source after the last model.
pub(super) fn tail(
    text: &mut String,
    weights: &[Vec<f32>],
    biases: &[f32],
    normalisation: fishweir_core::classify::Normalisation,
) {
    let _ = writeln!(text, "    ],\n    [");
    for row in weights {
        let _ = writeln!(text, "        {},", reals(row));
    }
    let normalisation = normalisation_name(normalisation).to_uppercase();
    let _ = writeln!(text, "    ],\n    {},", reals(biases));
    let _ = writeln!(text, "    Normalisation::{normalisation},\n);");
}

/// Source of the calibration; empty if none was learnt.
pub(super) fn confidence_source(confidence: Option<&DeployedConfidence>) -> String {
    let Some(DeployedConfidence { scale, least_margin, likelihoods }) = confidence else {
        return String::new();
    };
    let limits: Vec<String> = likelihoods.iter().map(|limits| reals(limits)).collect();
    format!(
        "\n/// How far decisions are to be believed: probabilities, and what to doubt.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
         pub static CALIBRATION: fishweir_core::classify::Calibration<'static> = fishweir_core::classify::Calibration {{\n    \
         scale: {scale:?},\n    least_margin: {least_margin:?},\n    likelihoods: &[{}],\n}};\n",
        limits.join(", ")
    )
}

/// Source of the contract; empty if it is unknown.
pub(super) fn contract_source(contract: Option<&Contract>) -> String {
    let Some(contract) = contract else { return String::new() };
    let rust = contract.with_core(|contract| contract.rust().to_string());
    format!(
        "\n/// Contract of the training data.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
         pub const CONTRACT: fishweir_core::contract::Contract<'static> = {rust};\n"
    )
}

/// The basis that classes can be taught by, as bytes.
pub(super) fn teaching_source(basis: Option<&[u8]>) -> String {
    let Some(basis) = basis else { return String::new() };
    let lines: Vec<String> = basis.chunks(24).map(|line| format!("    {line:?}")).collect();
    let lines = lines.join(",\n").replace(['[', ']'], "");
    let length = basis.len();
    format!(
        "\n/// Basis that classes can be taught by: see `fishweir_core::classify::teach`.\n\
         #[rustfmt::skip]\n\
         pub static TEACHING: [u8; {length}] = [\n{lines},\n];\n"
    )
}

fn alphabet_source(alphabet: Alphabet<'_>) -> String {
    format!(
        "/// The {} of the symbols in order, those of a missing one, and whether lower case is \
         read as\n/// upper case.\n\
         #[rustfmt::skip]\n\
         pub static ALPHABET: Alphabet<'static> = Alphabet::new({:?}, {:?}, {});\n\n",
        if alphabet.is_of_words() { "words" } else { "letters" },
        alphabet.symbols(),
        alphabet.missing(),
        alphabet.folds_case()
    )
}

/// A row of numbers that read back to the same bits.
pub(super) fn reals(row: &[f32]) -> String {
    // Debug prints the shortest text that reads back to the same number.
    format!("{row:?}")
}

fn weight(weight: &Weight) -> String {
    if weight.tangent.is_empty() {
        real(weight.value)
    } else {
        format!("Dual {{ value: {}, tangent: {:?} }}", real(weight.value), weight.tangent)
    }
}

pub(super) fn weights(row: &[Weight]) -> String {
    format!("[{}]", row.iter().map(weight).collect::<Vec<_>>().join(", "))
}

/// Rates along each direction; `()` without directions.
fn tangent(rates: &[f32]) -> String {
    if rates.is_empty() { "()".into() } else { reals(rates) }
}

/// A number that reads back to the same bits.
pub(super) fn real(x: f32) -> String {
    if x == f32::NEG_INFINITY { "f32::NEG_INFINITY".into() } else { format!("{x:?}") }
}

/// A state's emission. Where channels may be missing, each distribution over them is a `Marginal`.
pub(super) fn emission_source(emission: &DeployedEmission, in_part: bool) -> String {
    let name = emission.family.core_types().last().unwrap_or(&"");
    let fields = emission.fields.iter().zip(emission.family.fields()).map(|(field, kind)| {
        let entries: Vec<String> = match field {
            Field::Reals(reals) => reals.iter().map(|&x| real(x)).collect(),
            Field::Weights(weights) => weights.iter().map(weight).collect(),
            Field::Rates(rates) => rates.iter().map(|rates| tangent(rates)).collect(),
            Field::Emissions(emissions) => {
                emissions.iter().map(|emission| emission_source(emission, in_part)).collect()
            }
        };
        let list = |entries: &[String]| format!("[{}]", entries.join(", "));
        match kind.width {
            Width::One => entries.concat(),
            Width::Square | Width::Past => {
                let row = if kind.width == Width::Past {
                    emission.shape.own()
                } else {
                    emission.shape.size
                };
                list(&entries.chunks(row).map(list).collect::<Vec<_>>())
            }
            _ => list(&entries),
        }
    });
    let source = format!("{name}::from_parts({})", fields.collect::<Vec<_>>().join(", "));
    match in_part && emission.family.core_types().len() == 1 {
        true => format!("{MARGINAL}::new({source})"),
        false => source,
    }
}

/// The core's distribution over channels that may be missing.
const MARGINAL: &str = "Marginal";

/// The core's type of the emissions of a bank.
pub(super) struct EmissionType {
    pub(super) family: &'static dyn Family,
    pub(super) shape: Shape,
}

impl EmissionType {
    pub(super) fn of<T>(models: &[DeployedModel<T>]) -> Self {
        let first = models.first().and_then(|model| model.emission.first());
        let (family, shape) =
            first.map_or((OF_CHANNELS, Shape::default()), |first| (first.family, first.shape));
        Self { family, shape }
    }

    /// Imports from the emissions of the core, including what [`labels`] needs.
    pub(super) fn import_beside(&self, observations: &Observations, in_part: bool) -> String {
        let import = self.import_in_part(in_part);
        match observations {
            Observations::Channels(_) => import,
            Observations::Symbols(_) => {
                format!("{{Alphabet, {}}}", import.trim_matches(['{', '}']))
            }
        }
    }

    /// Imports from the emissions of the core, for channels that may be missing, or not.
    pub(super) fn import_in_part(&self, in_part: bool) -> String {
        // Types of other crates are written by their paths.
        let names = self.family.core_types().iter().copied();
        let mut names: Vec<&str> = names.filter(|name| !name.contains("::")).collect();
        if in_part {
            names.push(MARGINAL);
            names.sort_unstable();
        }
        match names.as_slice() {
            [name] => (*name).to_owned(),
            names => format!("{{{}}}", names.join(", ")),
        }
    }

    /// The type over a number.
    pub(super) fn text(&self, number: &str) -> String {
        self.family.core_type(self.shape, number)
    }

    /// The type over a number, for channels that may be missing, or not.
    pub(super) fn text_in_part(&self, number: &str, in_part: bool) -> String {
        let text = self.text(number);
        let (Some(base), true) = (self.family.core_types().first(), in_part) else { return text };
        let Some(start) = text.find(&format!("{base}<")) else { return text };
        // Up to the bracket that closes the distribution's own.
        let mut open = 0;
        let end = text[start..].char_indices().find_map(|(at, letter)| {
            open += match letter {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
            (letter == '>' && open == 0).then_some(start + at + 1)
        });
        let end = end.unwrap_or(text.len());
        format!("{}{MARGINAL}<{}>{}", &text[..start], &text[start..end], &text[end..])
    }
}
