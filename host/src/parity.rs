//! Parity: a device's answers compared with the host's own, bit for bit.

mod lines;

use std::time::Instant;

use fishweir_core::Profile;
use fishweir_core::classify::{Decision, ScoreOutOfRange};
use fishweir_core::wire::{Gap, Status};
use serde::Serialize;

use crate::data::{Sample, SamplesView};
use crate::deploy::{Deployed, PushError, WindowStream};
use crate::device::{
    Answer, Board, Firmware, Image, Input, ModelFile, Options, Port, Qemu, Run, converse,
};
use crate::files::{FileError, write_whole};

pub use lines::WatchedLines;

/// Streams as a device is sent them: rounded to `f32`, a reset between them.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    streams: Vec<SamplesView<'a>>,
    /// All rows one after another, `[sample][channel]`, as `f32`; zeros where missing.
    values: Vec<f32>,
    dimension: usize,
    /// `true` if the model accepts samples with missing channels.
    in_part: bool,
}

impl<'a> Recording<'a> {
    /// The first `limit` samples of streams in order; the last may be cut short.
    pub fn new(streams: impl IntoIterator<Item = SamplesView<'a>>, limit: Option<usize>) -> Self {
        let mut left = limit.unwrap_or(usize::MAX);
        let mut recording =
            Self { streams: Vec::new(), values: Vec::new(), dimension: 0, in_part: false };
        for stream in streams {
            if left == 0 {
                break;
            }
            let stream = stream.slice(0..stream.len().min(left));
            left -= stream.len();
            if let Some(rows) = stream.rows() {
                recording.dimension = rows.dimension();
                for row in rows.iter_in_part() {
                    match row {
                        Some(row) => recording.values.extend(row.iter().map(|&x| x as f32)),
                        None => recording
                            .values
                            .resize(recording.values.len() + recording.dimension, 0.0),
                    }
                }
            }
            recording.streams.push(stream);
        }
        recording
    }

    /// Sets whether the model accepts samples with missing channels; if not, such a sample is missing.
    #[must_use]
    pub fn in_part(self, in_part: bool) -> Self {
        Self { in_part, ..self }
    }

    /// Number of streams.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Number of samples, missing ones included.
    pub fn samples(&self) -> usize {
        self.streams.iter().map(SamplesView::len).sum()
    }

    /// Inputs for a device.
    pub fn inputs(&self) -> Vec<Input<'_>> {
        let mut inputs = Vec::with_capacity(self.samples() + self.streams.len());
        let mut at = 0;
        for (index, stream) in self.streams.iter().enumerate() {
            if index > 0 {
                inputs.push(Input::Reset);
            }
            for sample in stream.iter() {
                let row = &self.values[at..(at + self.dimension).min(self.values.len())];
                at += self.dimension;
                inputs.push(match if self.in_part { sample } else { sample.if_whole() } {
                    Sample::Row(_) => Input::Vector(row),
                    Sample::Symbol(symbol) => Input::Symbol(symbol),
                    Sample::Missing => Input::Missing,
                });
            }
        }
        inputs
    }
}

/// Comparison of a device's answers with the host's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parity {
    /// Samples sent, missing ones included.
    pub samples: usize,
    /// Streams they came in.
    pub streams: usize,
    /// Number of missing samples.
    pub missing: usize,
    /// Number of samples that the host refused as impossible or invalid.
    pub refused: usize,
    /// Decisions that were due: at the ends of windows, or without windows after each sample.
    pub decisions: usize,
    /// Decisions of the device for each class, `[class]`, up to the last that was decided for.
    #[serde(skip)]
    pub of_class: Vec<usize>,
    /// Number of samples after which nothing was decided: a machine's scores were out of range, or the margin is NaN.
    pub undecided: usize,
    /// Number of samples lost on the way to the device: the host takes them as missing too.
    pub lost: usize,
    /// Number of samples that the device took in, but whose answer was lost on the way back.
    pub unanswered: usize,
    /// Number of samples not compared, after a gap in which the line lost samples and answers.
    ///
    /// Which were lost is unknown, so the rest of the stream is not compared.
    pub not_compared: usize,
    /// Numbers compared: class, margin and every model's log-likelihood, or every decision value, after
    /// each sample.
    pub numbers: usize,
    /// Bits that differ among them, and a bit for each status that does.
    pub differing_bits: u64,
    /// Answers with a difference.
    pub differing_answers: usize,
    /// The first of them, in words.
    pub first_difference: Option<String>,
    /// Its stream and sample, from 1; null if nothing differs, and if no answer came at all.
    pub first_difference_at: Option<[usize; 2]>,
}

/// Differences of two profiles, item by item, in words: empty if bits can be compared. `names` are those
/// of the two, as in "on the host".
pub fn profile_differences(profiles: [Profile; 2], names: [&str; 2]) -> Vec<String> {
    let items = |profile: Profile| {
        let micromath = profile.micromath.map_or("off".to_owned(), |version| version.to_string());
        [
            ("fishweir-core", profile.core.to_string()),
            ("libm", profile.libm.to_string()),
            ("micromath", micromath),
            ("numbers", profile.format.name().to_owned()),
        ]
    };
    let [first, second] = profiles.map(items);
    first
        .into_iter()
        .zip(second)
        .filter(|(first, second)| first != second)
        .map(|((item, a), (_, b))| format!("{item}: {a} {}, {b} {}", names[0], names[1]))
        .collect()
}

/// Application that an emulated board runs around a classifier.
pub const APPLICATION: &str = "classify_stream";

/// Form in which a model is built into an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Rust source.
    Source,
    /// The binary artefact, read in place.
    Artefact,
}

/// Builds the firmware with a model for a board, streams a recording to it under emulation, and compares. `progress` is given
/// the number of answers.
///
/// # Errors
/// [`crate::Error`] of the folder for the build, the artefact, the device or the recording.
pub fn emulate(
    (firmware, board): (&Firmware, &'static Board),
    model: &Deployed,
    recording: &Recording<'_>,
    form: Form,
    progress: &dyn Fn(usize),
) -> Result<(Image, Run, Parity), crate::Error> {
    let folder =
        tempfile::tempdir().map_err(|error| FileError::write(&std::env::temp_dir(), error))?;
    let elf = folder.path().join("image.elf");
    let image = match form {
        Form::Source => {
            let source = folder.path().join("model.rs");
            write_whole(&source, model.to_source().as_bytes())?;
            firmware.build(board, APPLICATION, ModelFile::Source(&source), &elf)?
        }
        Form::Artefact => {
            let artefact = folder.path().join("model.fishweir");
            write_whole(&artefact, &model.to_artefact()?)?;
            firmware.build(board, APPLICATION, ModelFile::Artefact(&artefact), &elf)?
        }
    };
    let run = Qemu::start(&image)?.run(recording.inputs(), &Options::default(), progress)?;
    let parity = compare(model, recording, &run.outcome.answers)?;
    Ok((image, run, parity))
}

/// Streams a recording to a board at a port, which runs [`APPLICATION`] around a model, and compares with a stream of the host
/// through the model: [`Deployed::window_stream`], or that of a model in fixed point. `progress` is given the number of answers.
/// [`Options::of_board`] are those of a serial port.
///
/// # Errors
/// [`crate::Error`] of the device or the recording.
pub fn on_port(
    port: &Port,
    stream: impl Into<WindowStream>,
    recording: &Recording<'_>,
    options: &Options,
    progress: &dyn Fn(usize),
) -> Result<(Run, Parity), crate::Error> {
    let started = Instant::now();
    let hang_up = || port.hang_up();
    let outcome = converse(port, port, hang_up, recording.inputs(), options, progress)?;
    let parity = compare_stream(stream, recording, &outcome.answers)?;
    Ok((Run { outcome, log: Vec::new(), elapsed: started.elapsed() }, parity))
}

/// Runs the host's stream over a recording and compares every answer of a device with it; `None` stands
/// for one that did not come.
///
/// What the device says it lost, the host takes as missing, as the device did.
///
/// # Errors
/// [`PushError::Kind`] where the recording is of another kind than the classifier observes.
pub fn compare(
    deployed: &Deployed,
    recording: &Recording<'_>,
    answers: &[Option<Answer>],
) -> Result<Parity, PushError> {
    compare_stream(deployed.window_stream(), recording, answers)
}

/// Compares the answers with any stream of the host: one in fixed point, say, or one that never ends.
///
/// # Errors
/// [`PushError::Kind`] where the recording is of another kind than the stream takes.
pub fn compare_stream(
    stream: impl Into<WindowStream>,
    recording: &Recording<'_>,
    answers: &[Option<Answer>],
) -> Result<Parity, PushError> {
    let mut stream = stream.into();
    let mut parity =
        Parity { samples: recording.samples(), streams: recording.streams(), ..Parity::default() };
    let mut answers = answers.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    for (number, samples) in recording.streams.iter().enumerate() {
        stream.reset();
        let mut lost = 0;
        // Samples without an answer, until the next answer says what became of them.
        let mut waiting = Vec::new();
        let mut left = samples.len();
        for ((t, sample), answer) in samples.iter().enumerate().zip(&mut answers) {
            left -= 1;
            parity.missing += usize::from(matches!(sample, Sample::Missing));
            let Some(answer) = answer else {
                waiting.push(sample);
                continue;
            };
            let place = [number + 1, t + 1];
            match usize::from(answer.lost.wrapping_sub(lost)) {
                0 => {
                    parity.unanswered += waiting.len();
                    for sample in waiting.drain(..) {
                        take(&mut stream, sample)?;
                    }
                }
                all if all == waiting.len() => {
                    parity.lost += all;
                    let lost = u16::try_from(all).unwrap_or(u16::MAX);
                    let filled = Gap { new_stream: false, lost }.filled(stream.windows());
                    for _ in 0..filled {
                        take(&mut stream, Sample::Missing)?;
                    }
                    waiting.clear();
                }
                some if some < waiting.len() => {
                    parity.not_compared += waiting.len() + 1 + left;
                    answers.by_ref().take(left).for_each(drop);
                    waiting.clear();
                    break;
                }
                more => {
                    parity.differ(1, Some(place), || format!("{more} samples lost there"));
                    waiting.clear();
                }
            }
            lost = answer.lost;
            let status = take(&mut stream, sample)?;
            parity.refused += usize::from(status != Status::Accepted);
            parity.compare(&stream, status, answer, place);
        }
        parity.not_compared += waiting.len();
    }
    if parity.numbers == 0 && parity.samples > 0 {
        parity.differ(1, None, || "no answers".to_owned());
    }
    Ok(parity)
}

/// The host's push, in the wire's words.
fn take(stream: &mut WindowStream, sample: Sample<'_>) -> Result<Status, PushError> {
    match stream.push(sample) {
        Ok(()) => Ok(Status::of(Ok(()))),
        Err(PushError::Observation(error)) => Ok(Status::of(Err(error))),
        Err(other) => Err(other),
    }
}

impl Parity {
    fn differ(&mut self, bits: u64, place: Option<[usize; 2]>, what: impl FnOnce() -> String) {
        self.differing_bits += bits;
        self.differing_answers += 1;
        if self.first_difference.is_none() {
            self.first_difference = Some(match place {
                Some([stream, sample]) => format!("stream {stream}, sample {sample}: {}", what()),
                None => what(),
            });
            self.first_difference_at = place;
        }
    }

    /// Counts a decision of the device.
    fn count(&mut self, class: usize) {
        self.of_class.resize(self.of_class.len().max(class + 1), 0);
        self.of_class[class] += 1;
    }

    fn compare(
        &mut self,
        stream: &WindowStream,
        status: Status,
        answer: &Answer,
        place: [usize; 2],
    ) {
        let due = stream.decided().is_some();
        self.decisions += usize::from(due);
        let window = stream.open();
        let none = Decision { class: 0, margin: 0.0 };
        let none = (none, vec![0.0; answer.log_likelihood_bits.len()]);
        let accepted = status == Status::Accepted;
        let (status, (decision, evidence)) = match window {
            None => (if accepted { Status::NoWindow } else { status }, none),
            Some(window) => {
                let read = window.stream.decision();
                match read.and_then(|decision| Ok((decision, window.stream.evidence()?))) {
                    Ok(read) => (status, read),
                    Err(ScoreOutOfRange) => {
                        self.undecided += 1;
                        (if accepted { Status::Undecided } else { status }, none)
                    }
                }
            }
        };
        // No decision, and no number whose bits mean anything: which NaN it is the processor decides.
        let no_margin = decision.margin.is_nan();
        self.undecided += usize::from(no_margin);
        let margin = match no_margin && answer.margin().is_nan() {
            true => answer.margin_bits,
            false => decision.margin.to_bits(),
        };
        let host = [decision.class as u32, margin]
            .into_iter()
            .chain(evidence.iter().copied().map(f32::to_bits));
        let device = [answer.class as u32, answer.margin_bits]
            .into_iter()
            .chain(answer.log_likelihood_bits.iter().copied());
        let mut bits = u64::from(status != answer.status);
        let mut what =
            (bits > 0).then(|| format!("status {status} on the host, {} there", answer.status));
        if due != answer.decided {
            bits += 1;
            what.get_or_insert_with(|| {
                format!("a decision is due: {due} on the host, {} there", answer.decided)
            });
        }
        let mut compared = 0;
        for (index, (host, device)) in host.zip(device).enumerate() {
            compared += 1;
            bits += u64::from((host ^ device).count_ones());
            if host != device && what.is_none() {
                let name = match index {
                    0 => "class".to_owned(),
                    1 => "margin".to_owned(),
                    entry => format!("log-likelihood or decision value {}", entry - 2),
                };
                what = Some(format!("{name} {host:#010x} on the host, {device:#010x} there"));
            }
        }
        if compared != 2 + evidence.len() {
            bits += 1;
            what.get_or_insert_with(|| "another number of models".to_owned());
        }
        if answer.decided && answer.status == Status::Accepted {
            self.count(answer.class);
        }
        self.numbers += compared;
        if let Some(what) = what {
            self.differ(bits, Some(place), || what);
        }
    }
}

#[cfg(test)]
mod tests {
    use fishweir_core::classify::Normalisation;

    use super::*;
    use crate::classifier::{Classifier, Observations, Output, Provenance, Rule};
    use crate::runtime::{Emissions, Hmm};

    #[test]
    fn a_margin_that_is_no_number_decides_nothing_and_has_no_bits() {
        let deployed = Classifier {
            method: "bayes".into(),
            observations: Observations::Symbols("ab".into()),
            classes: vec!["no".into(), "yes".into()],
            front: crate::data::Front::NONE,
            lags: crate::data::Lags::NONE,
            centre: Vec::new(),
            scale: Vec::new(),
            models: vec![Hmm {
                initial: vec![1.0],
                transition: vec![vec![1.0]],
                emission: Emissions::categorical(vec![vec![0.5, 0.5]]),
            }],
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::Linear(vec![Output {
                bias: 0.0,
                weights: vec![0.0],
                directions: Vec::new(),
                codewords: Vec::new(),
                levels: Vec::new(),
            }]),
            confidence: None,
            teaching: None,
            provenance: Provenance::default(),
        };
        let mut deployed = deployed.deploy().expect("fits in f32");
        deployed.common.biases = vec![f32::NAN];
        let mut stream = deployed.stream();
        let symbols = [Some(0), Some(1), Some(0)];
        let recording = Recording::new([SamplesView::Symbols(&symbols)], None);
        let mut answer = |margin: f32| {
            stream.push(Sample::Symbol(0)).expect("a symbol");
            let [log]: [f32; 1] = stream.log_likelihoods().try_into().expect("one model");
            Some(Answer {
                status: Status::Accepted,
                decided: true,
                lost: 0,
                class: 0,
                margin_bits: margin.to_bits(),
                log_likelihood_bits: [log.to_bits()].into(),
            })
        };
        let answers = [f32::NAN, -f32::NAN, 0.5].map(&mut answer);
        let parity = compare(&deployed, &recording, &answers).expect("symbols");
        assert_eq!((parity.undecided, parity.differing_answers), (3, 1));
        let difference = parity.first_difference.expect("a margin here, none there");
        assert!(difference.starts_with("stream 1, sample 3: margin"), "{difference}");
    }
}
