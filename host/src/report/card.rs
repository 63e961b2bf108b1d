//! A model's card: its uses, its training, its figures and its cost.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::{Boards, ContractSummary, DetectorInspection, Inspection, SpotterInspection, grouped};
use crate::classifier::Provenance;
use crate::words::{counted, grouped_to_three_digits, to_three_digits};

/// A model's card, in the sections of Hugging Face's model cards.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCard {
    /// Name of the model: its file, without folder and ending.
    pub name: String,
    /// Sections in order.
    pub sections: Vec<CardSection>,
    /// Tags for search engines.
    #[serde(skip)]
    tags: Vec<&'static str>,
    /// Measured figures, name and value, for machines.
    #[serde(skip)]
    metrics: Vec<(&'static str, f64)>,
    #[serde(skip)]
    data: String,
}

/// A section of a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CardSection {
    /// Title.
    pub title: &'static str,
    /// Paragraphs.
    pub text: Vec<String>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// Heads of a table; empty without one.
    pub heads: Vec<&'static str>,
    /// Rows of the table.
    pub rows: Vec<Vec<String>>,
    /// A listing, kept as it is.
    pub listing: String,
    /// Language of the listing.
    #[serde(skip)]
    language: &'static str,
}

/// Facts for the card of any model.
#[derive(Clone, Debug, Default)]
pub struct CardFacts<'a> {
    /// The model's file.
    pub file: &'a str,
    /// Noun phrase for the model: `classifier of series (fisher)`.
    pub what: String,
    /// Sentence on the model's answers.
    pub task: String,
    /// Names of the classes; empty of a model without classes.
    pub classes: Vec<String>,
    /// Description of the observations.
    pub observes: String,
    /// Conditions of the training.
    pub contract: Option<&'a ContractSummary>,
    /// Origin of the model.
    pub provenance: Option<&'a Provenance>,
    /// Sizes and counts of operations: name and value.
    pub costs: Vec<(String, String)>,
    /// Boards with room and pace.
    pub boards: Option<&'a Boards>,
    /// `true` if it can say that it does not know.
    pub rejects: bool,
    /// Results of an evaluation, as `evaluate --json` prints them.
    pub evaluation: Option<&'a Value>,
}

impl<'a> CardFacts<'a> {
    /// The facts of a classifier.
    #[must_use]
    pub fn of_classifier(one: &'a Inspection) -> Self {
        let observes = match (&one.channels, &one.symbols) {
            (Some(names), _) => {
                format!("{}: {}", counted(names.len(), "channel"), names.join(", "))
            }
            (None, _) => "symbols".to_owned(),
        };
        let cost = &one.cost;
        Self {
            file: &one.file,
            what: format!("{} ({})", "classifier of series", one.classifier),
            task: match one.contract.as_ref().and_then(|contract| contract.windows) {
                Some(by) => format!(
                    "It decides on windows of {} samples, a new one every {}.",
                    grouped(by.length as usize),
                    grouped(by.hop as usize)
                ),
                None => "It decides on whole series.".to_owned(),
            },
            classes: one.classes.clone(),
            observes,
            contract: one.contract.as_ref(),
            provenance: one.provenance.as_ref(),
            costs: vec![
                ("models".to_owned(), format!("{} of {} states", one.models, one.states)),
                ("flash, model".to_owned(), format!("{} B", grouped(cost.model_bytes))),
                ("RAM, state of one stream".to_owned(), format!("{} B", grouped(cost.state_bytes))),
                ("multiply-adds per sample".to_owned(), grouped(cost.multiply_adds_per_sample)),
                ("exponentials per sample".to_owned(), grouped(cost.exponentials_per_sample)),
            ],
            boards: one.boards.as_ref(),
            rejects: one.confidence.as_ref().is_some_and(|one| one.rejection.is_some()),
            evaluation: None,
        }
    }

    /// The facts of a spotter of events.
    #[must_use]
    pub fn of_spotter(one: &'a SpotterInspection) -> Self {
        let names = one.channels.as_deref().unwrap_or_default();
        Self {
            file: &one.file,
            what: "spotter of events".to_owned(),
            task: format!(
                "It reports class, beginning and end of events, at most {} samples after their end.",
                grouped(one.lag as usize)
            ),
            classes: one.classes.iter().map(|one| one.class.clone()).collect(),
            observes: format!("{}: {}", counted(names.len(), "channel"), names.join(", ")),
            contract: Some(&one.contract),
            provenance: Some(&one.provenance),
            costs: vec![
                ("states".to_owned(), grouped(one.states)),
                ("flash, model".to_owned(), format!("{} B", grouped(one.cost.model_bytes))),
                (
                    "RAM, state of one stream".to_owned(),
                    format!("{} B", grouped(one.cost.state_bytes)),
                ),
            ],
            ..Self::default()
        }
    }

    /// The facts of a detector of change.
    #[must_use]
    pub fn of_detector(one: &'a DetectorInspection) -> Self {
        Self {
            file: &one.file,
            what: "detector of change".to_owned(),
            task: "It raises an alarm if samples are unlike those of its training.".to_owned(),
            observes: one.observes.clone(),
            contract: Some(&one.contract),
            provenance: Some(&one.provenance),
            costs: vec![
                ("states".to_owned(), grouped(one.states)),
                ("flash, model".to_owned(), format!("{} B", grouped(one.cost.model_bytes))),
                (
                    "RAM, state of one stream".to_owned(),
                    format!("{} B", grouped(one.cost.state_bytes)),
                ),
            ],
            ..Self::default()
        }
    }
}

impl CardSection {
    fn new(title: &'static str) -> Self {
        Self {
            title,
            text: Vec::new(),
            facts: Vec::new(),
            heads: Vec::new(),
            rows: Vec::new(),
            listing: String::new(),
            language: "toml",
        }
    }

    fn say(mut self, text: impl Into<String>) -> Self {
        self.text.push(text.into());
        self
    }

    fn fact(mut self, name: &str, value: impl Into<String>) -> Self {
        self.facts.push((name.to_owned(), value.into()));
        self
    }
}

impl ModelCard {
    /// The card of a model.
    #[must_use]
    pub fn new(facts: &CardFacts<'_>) -> Self {
        let name = std::path::Path::new(facts.file).file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let name = name.strip_suffix(".json").or_else(|| name.strip_suffix(".fishweir"));
        let name = name.map_or_else(
            || facts.file.to_owned(),
            |name| name.trim_end_matches(".model").to_owned(),
        );
        let (evaluation, metrics) = evaluation(facts);
        Self {
            name,
            sections: vec![
                details(facts),
                uses(facts),
                limits(facts),
                start(facts),
                training(facts),
                evaluation,
                environment(facts),
                specification(facts),
            ],
            tags: vec!["time-series", "hidden-markov-model", "fisher-kernel", "microcontroller"],
            metrics,
            data: facts
                .evaluation
                .and_then(|one| one["data"].as_str())
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// The card in Markdown, with the head that Hugging Face reads.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = String::from("---\nlibrary_name: fishweir\ntags:\n");
        for tag in &self.tags {
            let _ = writeln!(text, "- {tag}");
        }
        if !self.metrics.is_empty() {
            let quoted = |text: &str| Value::from(text).to_string();
            let _ = write!(
                text,
                "model-index:\n- name: {}\n  results:\n  - task:\n      type: time-series-classification\n    \
                 dataset:\n      name: {}\n      type: other\n    metrics:\n",
                quoted(&self.name),
                quoted(&self.data)
            );
            for (name, value) in &self.metrics {
                let _ = writeln!(text, "    - type: {name}\n      value: {value}");
            }
        }
        let _ = writeln!(text, "---\n\n# {}", plain(&self.name));
        for section in &self.sections {
            let _ = writeln!(text, "\n## {}\n", section.title);
            for paragraph in &section.text {
                let _ = writeln!(text, "{}\n", plain(paragraph));
            }
            for (name, value) in &section.facts {
                let _ = writeln!(text, "- **{}:** {}", plain(name), plain(value));
            }
            if !section.heads.is_empty() {
                let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
                let heads: Vec<String> =
                    section.heads.iter().map(|&head| head.to_owned()).collect();
                let rule = vec!["---".to_owned(); heads.len()];
                let _ = writeln!(text, "\n{}\n{}", row(&heads), row(&rule));
                for cells in &section.rows {
                    let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
                    let _ = writeln!(text, "{}", row(&cells));
                }
            }
            if !section.listing.is_empty() {
                // No line of it ends the listing.
                let fence = "`".repeat(3.max(longest_run(&section.listing) + 1));
                let _ = writeln!(
                    text,
                    "\n{fence}{}\n{}\n{fence}",
                    section.language,
                    section.listing.trim_end()
                );
            }
        }
        text
    }
}

/// The longest run of backticks in a text.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// Text that Markdown shows as it is, on one line, but for code between backticks.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if "\\*_{}[]<>#|~".contains(letter) {
            out.push('\\');
        }
        out.push(if letter.is_control() { ' ' } else { letter });
    }
    out
}

fn details(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("Model Details")
        .say(format!("A {} for microcontrollers, by fishweir. {}", facts.what, facts.task))
        .fact("observes", facts.observes.clone());
    if !facts.classes.is_empty() {
        section = section.fact("classes", facts.classes.join(", "));
    }
    if let Some(provenance) = facts.provenance {
        section = section.fact("written by", format!("fishweir {}", provenance.version));
    }
    section.fact("file", facts.file)
}

fn uses(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("Uses");
    let under = "The model is for data that are measured as its training data were";
    match facts.contract {
        Some(contract) => {
            section = section.say(format!(
                "{under}: the same channels in the same units, at the same rate. fishweir converts units and rates that \
                 a file names, and refuses others."
            ));
            section.facts.extend(contract.period.map(|period| {
                let rate = grouped_to_three_digits(period.rate());
                ("samples per second".to_owned(), rate)
            }));
            section.heads = vec!["channel", "unit", "mean in training", "deviation in training"];
            section.rows = contract
                .channels
                .iter()
                .map(|one| {
                    let unit = if one.unit.is_empty() { "unknown" } else { &one.unit };
                    let numbers = [one.centre, one.spread].map(to_three_digits);
                    [one.name.clone(), unit.to_owned()].into_iter().chain(numbers).collect()
                })
                .collect();
            if section.rows.is_empty() {
                section.heads.clear();
            }
        }
        None => section = section.say(format!("{under}. This file does not say how they were.")),
    }
    section.say(
        "Out of scope: decisions on which health or safety depends, unless the whole device was validated for that.",
    )
}

fn limits(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("Bias, Risks, and Limitations");
    if facts.classes.len() > 1 {
        section = section.say(match facts.rejects {
            true => "Decisions that are unlike the training are rejected; some of them pass nevertheless.",
            false => {
                "Every window is decided for one of the classes, also one that shows none of them. `fit --reject` \
                 makes a model that rejects such windows."
            }
        });
    }
    let provenance = facts.provenance;
    if let Some(provenance) = provenance.filter(|one| one.series > 0) {
        section = section.say(format!(
            "It was trained on {}. People, devices and places that are not among them may be decided worse. Cross-validate \
             with `--group`, so that no person or device is in training and test.",
            counted(provenance.series, "series")
        ));
    }
    if let Some(contract) = facts.contract
        && contract.channels.iter().any(|one| one.unit.is_empty())
    {
        section = section.say(
            "Channels without a unit cannot be checked: samples on another scale are decided all the same.",
        );
    }
    if section.text.is_empty() {
        section = section.say("The file does not keep what its training data were.");
    }
    section
}

fn start(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("How to Get Started with the Model");
    section.language = "sh";
    let words = facts.file;
    let spotter = facts.what.starts_with("spotter");
    section.listing = match (facts.classes.is_empty(), spotter) {
        (_, true) => {
            format!("fishweir spot DATA --model {words}\nfishweir export {words} --rust model.rs")
        }
        (true, _) => format!("fishweir info {words}\nfishweir export {words} --rust model.rs"),
        _ => format!(
            "fishweir predict DATA --model {words}\nfishweir new project --board nrf52840-dk --model {words}\n\
             fishweir page --model {words}"
        ),
    };
    section
}

fn training(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("Training Details");
    let Some(provenance) = facts.provenance else {
        return section
            .say("This file does not keep its training: it is an artefact, or from elsewhere.");
    };
    section = section
        .fact("training data", provenance.named())
        .fact("series", grouped(provenance.series));
    if provenance.windows > 0 {
        section = section.fact("windows", grouped(provenance.windows));
    }
    if let Some(by) = &provenance.windowing {
        let (length, hop) = (grouped(by.length.get()), grouped(by.hop.get()));
        section = section.fact("window", format!("{length} samples, a new one every {hop}"));
    }
    if provenance.resampled {
        section = section.fact("resampled", "yes");
    }
    for note in &provenance.notes {
        section = section.fact("note", note.clone());
    }
    if let Some(recipe) = &provenance.recipe {
        section = section.say(
            "The recipe below fits the same model again: `fishweir fit DATA --config recipe.toml`.",
        );
        section.listing.clone_from(recipe);
    }
    section
}

/// The figures of an evaluation: the classifier's own, or those of the only or the last one in a cross-validation.
fn figures(results: &Value) -> Option<(Option<&str>, &Value)> {
    if results.get("accuracy").is_some_and(Value::is_number) {
        return Some((None, results));
    }
    match results.get("classifiers")? {
        Value::Object(all) => all.iter().next_back().map(|(name, one)| (Some(name.as_str()), one)),
        Value::Array(all) => {
            let one = all.last()?;
            Some((one.get("classifier").and_then(Value::as_str), one))
        }
        _ => None,
    }
}

fn evaluation(facts: &CardFacts<'_>) -> (CardSection, Vec<(&'static str, f64)>) {
    let section = CardSection::new("Evaluation");
    let found = facts.evaluation.and_then(|results| Some((results, figures(results)?)));
    let Some((results, (name, one))) = found else {
        let none = "This card has no figures. `fishweir evaluate DATA --json` computes them, and \
                    `fishweir card MODEL --evaluation FILE` adds them.";
        return (section.say(none), Vec::new());
    };
    let share =
        |value: &Value| value.as_f64().map_or_else(|| "none".to_owned(), |x| format!("{x:.3}"));
    let count =
        |value: &Value| value.as_u64().map_or_else(|| "none".to_owned(), |n| grouped(n as usize));
    let mut section = section;
    if let Some(data) = results.get("data").and_then(Value::as_str) {
        section = section.fact("test data", data);
        let name = std::path::Path::new(data).file_name().unwrap_or_default().to_string_lossy();
        if results.get("folds").is_none() && facts.provenance.is_some_and(|one| one.data == name) {
            section = section.say(
                "The test data have the name of the training data. If they are the same, accuracy on other data is lower.",
            );
        }
    }
    section = match results.get("folds").and_then(Value::as_u64) {
        Some(folds) => {
            let by = match results.get("group").and_then(Value::as_str) {
                Some(column) => format!("{folds} folds; series of one {column} stay in one fold"),
                None => format!("{folds} folds of series"),
            };
            section.fact("cross-validated in", by)
        }
        None => section,
    };
    if let Some(name) = name {
        section = section.fact("classifier", name);
    }
    let judged = one.get("windows").or_else(|| one.get("records")).unwrap_or(&Value::Null);
    section = section.fact("judged", count(judged)).fact("accuracy", share(&one["accuracy"]));
    if let (Some(low), Some(high)) =
        (one["interval"]["low"].as_f64(), one["interval"]["high"].as_f64())
    {
        section = section.fact("95 % interval", format!("{low:.3} to {high:.3}"));
    }
    section = section.fact("macro-F1", share(&one["macro_f1"]));
    section.heads = vec!["class", "windows", "recall", "precision", "F1"];
    let classes = one["per_class"].as_array().map_or(&[][..], Vec::as_slice);
    let row = |class: &Value| {
        let name = class["class"].as_str().unwrap_or_default().to_owned();
        let shares = ["recall", "precision", "f1"].map(|key| share(&class[key]));
        [name, count(&class["windows"])].into_iter().chain(shares).collect()
    };
    section.rows = classes.iter().map(row).collect();
    let number = |key: &str| one[key].as_f64();
    let metrics = [("accuracy", number("accuracy")), ("f1", number("macro_f1"))];
    (section, metrics.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

fn environment(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("Environmental Impact").say(
        "Training takes seconds to minutes of one computer. In use the charge of the device counts, without sensor and \
         radio, where the maker of the part publishes its current.",
    );
    let drawn = facts.boards.iter().flat_map(|all| &all.boards);
    let drawn = drawn.filter_map(|one| Some((one, one.pace?.charge?)));
    section.rows = drawn
        .map(|(one, charge)| {
            let range = charge.map(to_three_digits).join(" to ");
            vec![one.board.to_owned(), one.number.to_owned(), range]
        })
        .collect();
    if !section.rows.is_empty() {
        section.heads = vec!["board", "numbers", "mAh per day"];
    }
    section
}

fn specification(facts: &CardFacts<'_>) -> CardSection {
    let mut section = CardSection::new("Technical Specifications").say(
        "On a device the model computes in 32 bits what the host computes, to the last bit: `fishweir run` compares.",
    );
    section.facts.extend(facts.costs.iter().cloned());
    let paced = facts.boards.iter().flat_map(|all| &all.boards);
    section.rows = paced
        .map(|one| {
            let kilobytes = |range: [usize; 2]| {
                range.map(|bytes| to_three_digits(bytes as f64 / 1000.0)).join(" to ")
            };
            let busy = one.pace.map_or_else(
                || "not measured".to_owned(),
                |pace| {
                    format!(
                        "{} %",
                        pace.busy.map(|share| grouped_to_three_digits(100.0 * share)).join(" to ")
                    )
                },
            );
            vec![
                format!("{} ({})", one.board, one.part),
                one.number.to_owned(),
                one.holds.word().to_owned(),
                kilobytes(one.room.flash),
                kilobytes(one.room.ram),
                busy,
            ]
        })
        .collect();
    if !section.rows.is_empty() {
        section.heads =
            vec!["board", "numbers", "has room", "flash, kB", "RAM, kB", "processor busy"];
    }
    section
}
