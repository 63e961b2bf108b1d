//! The samples that travel with a project, and the bits of the host's decisions on them.

use std::fmt::Write as _;

use fishweir_core::classify::Believed;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::ProjectModel;
use crate::classifier::{DeployedConfidence, Observations};
use crate::data::{Rows, Sample, Samples, SamplesView, Values};

/// Samples of one stream, at the most, but for those that a front end's second row takes.
const LONGEST: usize = 64;
/// The same of any front end.
const LONGEST_OF_ALL: usize = 1024;
/// Streams, at the most.
const MOST: usize = 4;

const BELIEVED: &str = "margin and probability; why it is to be doubted, or zero";
const BITS: &str = "(decision.class, decision.margin.to_bits())";
const BITS_BELIEVED: &str = "\
let (class, margin) = (decision.decision.class, decision.decision.margin.to_bits());
    let doubt = decision.doubt.map_or(0, |doubt| doubt as u8);
    (class, margin, decision.probability.to_bits(), doubt)";

fn longest(model: ProjectModel<'_>) -> usize {
    LONGEST.max(model.second_row().min(LONGEST_OF_ALL))
}

/// The first samples of some streams: one of each label before a second of any.
pub(super) fn chosen<'a>(
    model: ProjectModel<'_>,
    series: impl IntoIterator<Item = (SamplesView<'a>, Option<usize>)>,
) -> Vec<SamplesView<'a>> {
    let longest = longest(model);
    let (mut seen, mut first, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (samples, label) in series.into_iter().filter(|(samples, _)| !samples.is_empty()) {
        let to = if seen.contains(&label) { &mut rest } else { &mut first };
        seen.push(label);
        to.push(samples.slice(0..samples.len().min(longest)));
    }
    first.extend(rest);
    first.truncate(MOST);
    first
}

/// Noise of the kind that the model observes: for want of recordings.
pub(super) fn noise(model: ProjectModel<'_>) -> Vec<Samples> {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (size, longest) = (model.observations().size(), longest(model));
    let kind = Kind::of(model);
    let number = |random: &mut ChaCha8Rng| match kind {
        Kind::Counts => f64::from(random.random_range(0..5_u8)),
        Kind::Answers => f64::from(random.random_range(0..2_u8)),
        _ => random.random_range(-2.0..2.0),
    };
    let stream = |_| match kind {
        Kind::Symbols => Samples::Symbols(
            (0..longest).map(|_| Some(random.random_range(0..size.max(1)) as u16)).collect(),
        ),
        _ => {
            let mut rows = Rows::new(size);
            for _ in 0..longest {
                let row: Vec<f64> = (0..size).map(|_| number(random)).collect();
                rows.push(Some(&row));
            }
            Samples::Channels(rows)
        }
    };
    (0..2).map(stream).collect()
}

/// What a sample is to the core.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reals,
    Counts,
    Answers,
    Symbols,
    /// Channels in fixed point.
    Integers,
}

impl Kind {
    fn of(model: ProjectModel<'_>) -> Self {
        match (model.observations(), model.values()) {
            (Observations::Symbols(_), _) => Self::Symbols,
            _ if matches!(model, ProjectModel::Q15(_)) => Self::Integers,
            (_, Values::Reals) => Self::Reals,
            (_, Values::Only(support)) if (support.holds)(2.0) => Self::Counts,
            _ => Self::Answers,
        }
    }

    /// The core's type, of so many channels.
    fn name(self, channels: usize) -> String {
        match self {
            Self::Reals => format!("[f32; {channels}]"),
            Self::Counts => format!("[u32; {channels}]"),
            Self::Answers => format!("[bool; {channels}]"),
            Self::Symbols => "usize".into(),
            Self::Integers => format!("[i16; {channels}]"),
        }
    }

    /// A row as a value of it, or nothing where integers of 16 bits do not hold it.
    fn row(self, row: &[f64], model: ProjectModel<'_>) -> Option<String> {
        if let ProjectModel::Q15(fixed) = model {
            return fixed.integers(row).ok().map(|row| format!("{row:?}"));
        }
        let number = |x: &f64| match self {
            Self::Counts => format!("{}", *x as u32),
            Self::Answers => format!("{}", *x != 0.0),
            _ => format!("{:?}", *x as f32),
        };
        Some(format!("[{}]", row.iter().map(number).collect::<Vec<_>>().join(", ")))
    }
}

/// `self_test.rs`, and how many samples are in it.
pub(super) fn source(model: ProjectModel<'_>, streams: &[SamplesView<'_>]) -> (String, usize) {
    let kind = Kind::of(model);
    // A machine's scores may leave the range of its numbers: reading is a result then.
    let confidence = model.confidence().map(DeployedConfidence::of_core);
    let read = match confidence {
        None if model.may_not_read() => "stream.read().ok()",
        None => "Some(stream.read())",
        Some(_) => "Some(stream.recursion().believed(stream.state(), &model::CONFIDENCE))",
    };
    let mut tables = String::new();
    let (mut stream, mut names, mut count) = (model.stream(), Vec::new(), 0);
    for (index, samples) in streams.iter().enumerate() {
        stream.reset();
        let _ = writeln!(
            tables,
            "\n#[rustfmt::skip]\nstatic STREAM_{index}: [Step; {}] = [",
            samples.len()
        );
        for sample in samples.iter() {
            // As the program does: what is refused is missing.
            let _ = stream.push(sample);
            let text = match sample {
                Sample::Row(row) => match kind.row(row, model) {
                    Some(row) => format!("Some({row})"),
                    None => "None".into(),
                },
                Sample::Symbol(symbol) => format!("Some({symbol})"),
                Sample::Missing => "None".into(),
            };
            let believed = confidence.as_ref().and_then(|confidence| stream.believed(confidence));
            let decision = match (believed, stream.decision()) {
                (Some(Believed { decision, probability, doubt }), _) => format!(
                    "Some(({}, {:#010x}, {:#010x}, {}))",
                    decision.class,
                    decision.margin.to_bits(),
                    probability.to_bits(),
                    doubt.map_or(0, |doubt| doubt as u8)
                ),
                (None, Ok(decision)) => {
                    format!("Some(({}, {:#010x}))", decision.class, decision.margin.to_bits())
                }
                (None, Err(_)) => "None".into(),
            };
            let _ = writeln!(tables, "    Step {{ sample: {text}, decision: {decision} }},");
        }
        tables += "];\n";
        names.push(format!("&STREAM_{index}"));
        count += samples.len();
    }
    let text = include_str!("template/self_test.rs")
        .replace("{{sample}}", &kind.name(model.observations().size()))
        .replace("{{read}}", read)
        .replace("{{decided}}", if confidence.is_some() { "Believed" } else { "Decision" })
        .replace("{{of}}", if confidence.is_some() { BELIEVED } else { "the margin" })
        .replace(
            "{{bits}}",
            if confidence.is_some() { "(usize, u32, u32, u8)" } else { "(usize, u32)" },
        )
        .replace("{{bits_of}}", if confidence.is_some() { BITS_BELIEVED } else { BITS })
        .replace("{{streams}}", &names.join(", "))
        .replace("{{count}}", &names.len().to_string());
    (text + &tables, count)
}
