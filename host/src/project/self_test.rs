//! The samples that travel with a project, and the bits of the host's decisions on them.

use std::fmt::Write as _;

use fishweir_core::classify::Prediction;

use super::{ProjectBoard, ProjectModel};
use crate::classifier::DeployedConfidence;
use crate::data::{Samples, SamplesView};

/// Samples of one recording whose decisions are compared, at the most, but for those that a front end's second row takes,
/// and but for the first recording, of which a whole window and a hop are.
const LONGEST: usize = 64;
/// Longest self-test of the first recording, and of any front end.
const LONGEST_OF_ALL: usize = 1024;
/// Recordings, at the most.
const MOST: usize = 8;
/// Recordings whose decisions are compared: the start of a program is not to take long.
const MOST_COMPARED: usize = 4;
/// Divisor of a board's flash for the share of recordings, and their most bytes.
const SHARE_OF_FLASH: usize = 8;
const BYTES: usize = 64 << 10;

const BELIEVED: &str = "margin and probability; the reason for rejecting it, or zero";
const BITS: &str = "(decision.class, decision.margin.to_bits())";
const BITS_BELIEVED: &str = "\
let (class, margin) = (decision.decision.class, decision.decision.margin.to_bits());
    let rejection = decision.rejection.map_or(0, |rejection| rejection as u8);
    (class, margin, decision.probability.to_bits(), rejection)";

/// Bytes of a board's flash that recordings may take.
pub(super) fn flash_for_recordings(board: &ProjectBoard) -> usize {
    let [flash, _] = board.memories();
    usize::min(flash / SHARE_OF_FLASH, BYTES)
}

fn longest(model: ProjectModel<'_>) -> usize {
    LONGEST.max(model.second_row().min(LONGEST_OF_ALL))
}

/// Samples whose decisions are compared, at the most.
pub(super) fn most_compared(model: ProjectModel<'_>) -> usize {
    MOST_COMPARED * longest(model).max(first(model))
}

/// Samples of the first recording: a window ends in it, and the next.
fn first(model: ProjectModel<'_>) -> usize {
    let windows = model.windows();
    let samples = windows.map_or(0, |windows| windows.length.saturating_add(windows.hop) as usize);
    if samples <= LONGEST_OF_ALL { samples } else { 0 }
}

/// A recording to play: whose samples, and of which class.
pub(super) type Recording<'a> = (SamplesView<'a>, Option<usize>);

/// A whole window, or series where there are no windows, of each label before a second of any: as many as a part of the
/// flash holds; of the first a hop more. One that is longer than that is cut, and its class is not judged by what is left.
pub(super) fn chosen<'a>(
    model: ProjectModel<'_>,
    board: &ProjectBoard,
    series: impl IntoIterator<Item = Recording<'a>>,
) -> Vec<Recording<'a>> {
    let mut left = flash_for_recordings(board) / model.form().bytes();
    let window = model.windows().map_or(usize::MAX, |windows| windows.length as usize);
    let (mut seen, mut labels, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (samples, label) in series.into_iter().filter(|(samples, _)| !samples.is_empty()) {
        let to_first = seen.is_empty();
        let to = if seen.contains(&label) { &mut rest } else { &mut labels };
        seen.push(label);
        let window = if to_first { window.max(first(model)) } else { window };
        to.push((samples.slice(0..samples.len().min(window)), label));
    }
    let mut chosen = Vec::new();
    for (samples, label) in labels.into_iter().chain(rest).take(MOST) {
        match left.checked_sub(samples.len()) {
            Some(rest) => {
                left = rest;
                chosen.push((samples, label));
            }
            // Something is to be played.
            None if chosen.is_empty() => {
                let length = longest(model).min(samples.len());
                return vec![(samples.slice(0..length), None)];
            }
            None => break,
        }
    }
    chosen
}

/// Noise of the kind that the model observes: for want of recordings.
pub(super) fn noise(model: ProjectModel<'_>) -> Vec<Samples> {
    model.form().noise(longest(model))
}

/// `self_test.rs`, and how many samples are in it, and of these with a decision.
pub(super) fn source(
    model: ProjectModel<'_>,
    recordings: &[Recording<'_>],
) -> (String, usize, usize) {
    let form = model.form();
    let confidence = model.confidence().map(DeployedConfidence::of_core);
    let mut tables = String::new();
    let (mut stream, mut names) = (model.window_stream(), Vec::new());
    let (mut count, mut compared) = (0, 0);
    for (index, (samples, label)) in recordings.iter().enumerate() {
        stream.reset();
        let (mut rows, mut decisions) = (String::new(), String::new());
        let most = match index {
            0 => longest(model).max(first(model)),
            1..MOST_COMPARED => longest(model),
            _ => 0,
        };
        let to_compare = most.min(samples.len());
        for (t, sample) in samples.iter().enumerate() {
            let _ = writeln!(rows, "    {},", form.text(sample));
            if t >= to_compare {
                continue;
            }
            // As the program does: a refused sample is missing.
            let _ = stream.push(form.taken(sample));
            let window = stream.open().map(|window| window.stream);
            let believed =
                window.zip(confidence.as_ref()).and_then(|(one, sure)| one.believed(sure));
            let decision = match (believed, window.map(|window| window.decision())) {
                (Some(Prediction { decision, probability, rejection }), _) => format!(
                    "Some(({}, {:#010x}, {:#010x}, {}))",
                    decision.class,
                    decision.margin.to_bits(),
                    probability.to_bits(),
                    rejection.map_or(0, |rejection| rejection as u8)
                ),
                (None, Some(Ok(decision))) => {
                    format!("Some(({}, {:#010x}))", decision.class, decision.margin.to_bits())
                }
                (None, _) => "None".into(),
            };
            let _ = writeln!(decisions, "    {decision},");
        }
        let length = samples.len();
        let _ = write!(
            tables,
            "\n#[rustfmt::skip]\nstatic SAMPLES_{index}: [Option<Sample>; {length}] = [\n{rows}];\n\n\
             #[rustfmt::skip]\nstatic DECISIONS_{index}: [Option<Bits>; {to_compare}] = [\n{decisions}];\n"
        );
        names.push(format!(
            "\n    Recording {{ label: {label:?}, samples: &SAMPLES_{index}, decisions: &DECISIONS_{index} }},"
        ));
        count += length;
        compared += to_compare;
    }
    let text = include_str!("template/self_test.rs")
        .replace("{{sample}}", &form.type_name())
        .replace("{{decided}}", decided(model))
        .replace("{{of}}", if confidence.is_some() { BELIEVED } else { "the margin" })
        .replace(
            "{{bits}}",
            if confidence.is_some() { "(usize, u32, u32, u8)" } else { "(usize, u32)" },
        )
        .replace("{{bits_of}}", if confidence.is_some() { BITS_BELIEVED } else { BITS })
        .replace("{{streams}}", &(names.concat() + "\n"))
        .replace("{{count}}", &names.len().to_string());
    (text + &tables, count, compared)
}

/// The core's type of a decision.
fn decided(model: ProjectModel<'_>) -> &'static str {
    if model.confidence().is_some() { "Prediction" } else { "Decision" }
}

/// The core's names that reading a decision takes.
fn used(model: ProjectModel<'_>) -> &'static str {
    if model.confidence().is_some() { "AdditiveClassifier, Prediction" } else { "Decision" }
}

/// `stream.rs`: when a decision is due; of a model without windows after every `every` samples.
pub(super) fn stream(model: ProjectModel<'_>, every: u64) -> String {
    // A machine's scores may leave the range of its numbers: reading is a result then.
    let read = match model.confidence() {
        Some(_) => "Some(AdditiveClassifier::predict(&MODEL, state, &crate::model::CALIBRATION))",
        None if model.may_not_read() => "MODEL.read(state).ok()",
        None => "Some(MODEL.read(state))",
    };
    include_str!("template/stream.rs")
        .replace(
            "{{{decided}}, WindowClassifier}",
            &format!("{{{}, WindowClassifier}}", used(model)),
        )
        .replace("{{decided}}", decided(model))
        .replace("{{every}}", &every.to_string())
        .replace("{{read}}", read)
}
