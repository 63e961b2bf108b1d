//! A conversation with `classify_stream`: samples out, answers in.

use std::io::{BufWriter, Read, Write};
use std::sync::mpsc;
use std::thread;

use fishweir_core::Profile;
use fishweir_core::classify::teach::ClassName;
use fishweir_core::wire::{
    AnswerHead, F32, Fault, FaultKind, Head, Info, Report, Request, SampleIndex, SampleKind, Saved,
    Status, TeachAction, TeachRequest, TeachState, TeachStatus, TeachStep, VERSION,
};
use zerocopy::{FromBytes, IntoBytes};

use super::line::{Line, LineEvent, send};
use super::pace::{Pace, Repeats};
use super::{DeviceError, Options};

/// Input that the host sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<'a> {
    /// A sample in raw sensor units, `[channel]`.
    Vector(&'a [f32]),
    /// A symbol.
    Symbol(u16),
    /// A sample that was not observed.
    Missing,
    /// The next stream begins. Not answered.
    Reset,
    /// A step about taught classes, and the class that it is about. Not answered by an [`Answer`] but in
    /// [`Outcome::taught`]; sent once.
    Teach(TeachAction, Option<ClassName>),
    /// Save the adapted model. Not answered by an [`Answer`]; sent once, so that noise may swallow it.
    Save,
}

/// State of the taught classes, as a device answers a step about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaughtState {
    /// Outcome of the step, or of the last window that was to be shown; `None` for one that this version does not know.
    pub status: Option<TeachStatus>,
    /// Number of taught classes.
    pub classes: usize,
    /// Windows that the class of the step was shown.
    pub windows: u16,
    /// Number of records saved; 0 if none was.
    pub saved: u32,
}

impl From<&TeachState> for TaughtState {
    fn from(state: &TeachState) -> Self {
        Self {
            status: TeachStatus::from_byte(state.status),
            classes: state.classes.into(),
            windows: state.windows.get(),
            saved: state.saved.get(),
        }
    }
}

/// The bytes of a step about taught classes.
pub(super) fn teach_request(
    place: SampleIndex,
    action: TeachAction,
    name: Option<ClassName>,
) -> Vec<u8> {
    let name = name.map_or([0; _], |name| *name.as_bytes());
    let step = TeachStep { action: action as u8, name };
    TeachRequest { head: place.head(Request::Teach.tag()), step }.as_bytes().to_vec()
}

/// Description that the device sends of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Vectors or symbols.
    pub sample_kind: SampleKind,
    /// Values in a sample.
    pub sample_length: usize,
    /// Models in the bank.
    pub models: usize,
    /// Classes.
    pub classes: usize,
    /// Bytes of the model, in flash.
    pub model_bytes: usize,
    /// Bytes of the state, in RAM.
    pub state_bytes: usize,
    /// Ticks of the board's counter per second; `None` without a counter.
    pub ticks_per_second: Option<u32>,
    /// Profile of the device: if it differs from the host's, bits cannot be compared.
    pub profile: Profile,
}

/// The device's answer to a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Outcome of the sample.
    pub status: Status,
    /// `true` if a decision is due: the sample filled a window, or the model decides on streams without windows.
    pub decided: bool,
    /// Samples of this stream, up to here, that never reached the device (modulo `2^16`).
    pub lost: u16,
    /// The class decided for.
    pub class: usize,
    /// Bits of the margin.
    pub margin_bits: u32,
    /// Bits of the log-likelihoods, `[model]`.
    pub log_likelihood_bits: Box<[u32]>,
}

impl Answer {
    /// The margin.
    pub fn margin(&self) -> f32 {
        f32::from_bits(self.margin_bits)
    }

    /// The log-likelihood of the window so far, `[model]`.
    pub fn log_likelihoods(&self) -> impl Iterator<Item = f32> {
        self.log_likelihood_bits.iter().map(|&bits| f32::from_bits(bits))
    }
}

/// Cost of the run on the device. Ticks are the classifier's work alone, without the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// Samples pushed.
    pub samples: u64,
    /// Ticks spent on them.
    pub sample_ticks: u64,
    /// Missing samples pushed: those sent as such, and those that stand for lost ones.
    pub missing: u64,
    /// Ticks spent on them.
    pub missing_ticks: u64,
    /// Samples that never reached the device.
    pub lost: u64,
    /// Samples that reached it twice; they were pushed once.
    pub repeated: u64,
    /// Frames that reached it damaged.
    pub corrupt: u64,
    /// Deepest stack, in bytes, the state included; `None` where not measured.
    pub stack_bytes: Option<u32>,
}

/// All that was learnt from a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Description of the device.
    pub info: DeviceInfo,
    /// One for every [`Input::Vector`], [`Input::Symbol`] and [`Input::Missing`], in order; `None` where
    /// the sample was lost on the way there, or its answer on the way back.
    pub answers: Vec<Option<Answer>>,
    /// Frames that came back damaged.
    pub corrupt: u64,
    /// Answers of the device to each [`Input::Save`]: the number of models it has saved, 0 if it failed to.
    pub saved: Vec<u32>,
    /// Answers of the device to each [`Input::Teach`].
    pub taught: Vec<TaughtState>,
    /// Cost of the run.
    pub report: DeviceReport,
}

/// Asks the device for its description, sends it all inputs, collects its answers, and stops it, if it
/// [is to end](Options::ends_device).
///
/// Reads and writes on two threads, so that the inputs run ahead of the answers as far as the link lets
/// them; if [`Options::ahead`] limits them, in turn on one thread. `reader` waits at most [`Options::retry`] for a byte: what is asked once, before and after the
/// stream, is then asked again, ever more rarely. Samples are never sent again; what the line loses is
/// counted. `hang_up` breaks the link: it is called when one side fails, so that the other ends too.
/// `progress` receives the number of samples that are answered or lost, after each answer.
///
/// # Errors
/// When the link fails or is silent for longer than [`Options::patience`], when the device reports a
/// fault or sends what the format does not have, or when an input does not fit the model.
pub fn converse<'a>(
    reader: impl Read,
    writer: impl Write + Send,
    hang_up: impl Fn() + Sync,
    inputs: impl IntoIterator<Item = Input<'a>, IntoIter: Send>,
    options: &Options,
    progress: impl FnMut(usize),
) -> Result<Outcome, DeviceError> {
    let mut line = Line::new(reader, options);
    let mut writer = BufWriter::new(writer);
    let (info, place) = ask_info(&mut line, &mut writer)?;
    line.expect_records_of(size_of::<AnswerHead>() + info.models * size_of::<F32>());
    let (told, places) = mpsc::channel();
    let mut sender =
        Sender { writer, info: &info, place: place.next_stream(), samples: 0, told: Some(told) };
    let mut listener = Listener {
        line,
        models: info.models,
        places,
        in_turn: options.ahead.is_some(),
        last: None,
        answers: Vec::new(),
        saved: Vec::new(),
        taught: Vec::new(),
        progress,
    };
    let inputs = inputs.into_iter();
    let report = match options.ahead {
        Some(ahead) => {
            let pace = Pace::new(ahead.get(), options);
            let heard = take_turns((&mut sender, &mut listener), inputs, pace)?;
            listener.finish(sender, heard, options.ends_device)
        }
        None => thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let sent = sender.send_all(inputs);
                if sent.is_err() {
                    hang_up();
                }
                (sender, sent)
            });
            let heard = listener.until_silent_or_report(|| sending.is_finished());
            if heard.is_err() {
                hang_up();
            }
            // Only a panic in the caller's iterator can make the join fail.
            let (sender, sent) =
                sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (sent, heard) {
                // What the sender refused to send broke the link on purpose.
                (Err(error @ DeviceError::SampleShape { .. }), _) | (_, Err(error)) => Err(error),
                (Err(error), Ok(_)) => Err(error),
                (Ok(()), Ok(report)) => listener.finish(sender, report, options.ends_device),
            }
        }),
    }?;
    Ok(Outcome {
        corrupt: listener.line.corrupt(),
        answers: listener.answers,
        saved: listener.saved,
        taught: listener.taught,
        info,
        report,
    })
}

/// Sends samples as far ahead of their answers as the pace allows, and the request for the report after the last answer.
fn take_turns<'a, R: Read, W: Write, P: FnMut(usize)>(
    (sender, listener): (&mut Sender<'_, W>, &mut Listener<'_, R, P>),
    mut inputs: impl Iterator<Item = Input<'a>>,
    mut pace: Pace,
) -> Result<Option<DeviceReport>, DeviceError> {
    let mut is_over = false;
    loop {
        while !is_over && pace.has_room(sender.samples) {
            match inputs.next() {
                Some(input) => sender.send(input)?,
                None => is_over = true,
            }
            sender.writer.flush()?;
            pace.begin();
        }
        if is_over && pace.is_settled(sender.samples) {
            sender.ask(Request::Report)?;
            return listener.until_silent_or_report(|| true);
        }
        if let Heard::Report(report) = listener.hear()? {
            return Ok(Some(report));
        }
        pace.settle(listener.answers.len(), sender.samples);
    }
}

/// Asks until it is answered.
fn ask_info<R: Read>(
    line: &mut Line<'_, R>,
    writer: &mut impl Write,
) -> Result<(DeviceInfo, SampleIndex), DeviceError> {
    let ask = |writer: &mut _| -> Result<(), DeviceError> {
        let request = SampleIndex::default().head(Request::Info.tag());
        Ok(send(writer, request.as_bytes()).and_then(|()| Write::flush(writer))?)
    };
    ask(writer)?;
    let mut repeats = Repeats::default();
    loop {
        match line.hear(0)? {
            LineEvent::Record(head, rest) if head.tag == Info::TAG => {
                // The version first: what follows it is another's.
                match rest.first() {
                    Some(&found) if found != VERSION => return Err(DeviceError::Version { found }),
                    _ => {}
                }
                let info: Info = read(head, &rest, 0)?;
                return Ok((DeviceInfo::new(&info)?, head.sample_index()));
            }
            LineEvent::Record(head, rest) if head.tag == Fault::TAG => {
                return Err(fault(&read(head, &rest, 0)?, 0));
            }
            // The rest of what it said to a host before this one.
            LineEvent::Record(..) => {}
            LineEvent::Silence if repeats.due() => ask(writer)?,
            LineEvent::Silence => {}
            LineEvent::End => return Err(DeviceError::Stopped { answers: 0 }),
        }
    }
}

impl DeviceInfo {
    fn new(info: &Info) -> Result<Self, DeviceError> {
        let sample_kind = SampleKind::from_byte(info.sample_kind)
            .ok_or_else(|| bad(0, format!("sample kind {:#04x}", info.sample_kind)))?;
        Ok(Self {
            sample_kind,
            sample_length: info.sample_length.get().into(),
            models: info.models.get().into(),
            classes: info.classes.get().into(),
            model_bytes: info.model_bytes.get() as usize,
            state_bytes: info.state_bytes.get() as usize,
            ticks_per_second: nonzero(info.ticks_per_second.get()),
            profile: Profile::from_bytes(info.profile)
                .ok_or_else(|| bad(0, format!("numeric profile {:02x?}", info.profile)))?,
        })
    }
}

impl From<&Report> for DeviceReport {
    fn from(report: &Report) -> Self {
        Self {
            samples: report.samples.get(),
            sample_ticks: report.sample_ticks.get(),
            missing: report.missing.get(),
            missing_ticks: report.missing_ticks.get(),
            lost: report.lost.get(),
            repeated: report.repeated.get(),
            corrupt: report.corrupt.get(),
            stack_bytes: nonzero(report.stack_bytes.get()),
        }
    }
}

/// Sender of the inputs.
struct Sender<'i, W: Write> {
    writer: BufWriter<W>,
    info: &'i DeviceInfo,
    /// Position of the next sample.
    place: SampleIndex,
    samples: usize,
    /// The listener hears the position of each sample before it is sent; `None` after the last.
    told: Option<mpsc::Sender<SampleIndex>>,
}

impl<W: Write> Sender<'_, W> {
    /// Sends all inputs, and asks for the report.
    fn send_all<'a>(&mut self, inputs: impl Iterator<Item = Input<'a>>) -> Result<(), DeviceError> {
        for input in inputs {
            self.send(input)?;
        }
        self.told = None;
        self.ask(Request::Report)
    }

    fn send(&mut self, input: Input<'_>) -> Result<(), DeviceError> {
        let tag = match input {
            Input::Reset => {
                self.place = self.place.next_stream();
                return Ok(());
            }
            Input::Save => return self.ask(Request::Save),
            Input::Teach(action, name) => {
                let record = teach_request(self.place, action, name);
                return Ok(send(&mut self.writer, &record)?);
            }
            Input::Missing => Request::Missing,
            Input::Vector(_) | Input::Symbol(_) => Request::Sample,
        };
        let mut record = self.place.head(tag.tag()).as_bytes().to_vec();
        match (input, self.info.sample_kind) {
            (Input::Vector(values), SampleKind::Vector)
                if values.len() == self.info.sample_length =>
            {
                record.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            (Input::Symbol(symbol), SampleKind::Symbol) => {
                record.extend_from_slice(&symbol.to_le_bytes());
            }
            (Input::Vector(values), _) => {
                return Err(self.refused(format!("a vector of {} channels", values.len())));
            }
            (Input::Symbol(_), _) => return Err(self.refused(String::from("a symbol"))),
            _ => {}
        }
        // A listener that has gone has its own error to tell.
        let _ = self.told.as_ref().map(|told| told.send(self.place));
        send(&mut self.writer, &record)?;
        self.samples += 1;
        self.place = self.place.next();
        Ok(())
    }

    fn ask(&mut self, request: Request) -> Result<(), DeviceError> {
        send(&mut self.writer, self.place.head(request.tag()).as_bytes())?;
        Ok(self.writer.flush()?)
    }

    fn refused(&self, found: String) -> DeviceError {
        DeviceError::SampleShape {
            index: self.samples,
            found,
            kind: self.info.sample_kind,
            length: self.info.sample_length,
        }
    }
}

/// Receiver of the answers.
struct Listener<'o, R, P> {
    line: Line<'o, R>,
    models: usize,
    /// Positions of samples sent that are neither answered nor known to be lost.
    places: mpsc::Receiver<SampleIndex>,
    /// `true` if samples are sent by the thread that listens.
    in_turn: bool,
    /// Position of the last answer.
    last: Option<SampleIndex>,
    answers: Vec<Option<Answer>>,
    saved: Vec<u32>,
    taught: Vec<TaughtState>,
    progress: P,
}

/// Event that a listener heard.
enum Heard {
    /// The device's report.
    Report(DeviceReport),
    /// Another record.
    Record,
    Silence,
}

impl<R: Read, P: FnMut(usize)> Listener<'_, R, P> {
    /// Listens until the report comes, or until nothing comes though everything is sent.
    fn until_silent_or_report(
        &mut self,
        all_sent: impl Fn() -> bool,
    ) -> Result<Option<DeviceReport>, DeviceError> {
        loop {
            match self.hear()? {
                Heard::Report(report) => return Ok(Some(report)),
                Heard::Silence if all_sent() => return Ok(None),
                Heard::Silence | Heard::Record => {}
            }
        }
    }

    /// Takes in the next record.
    fn hear(&mut self) -> Result<Heard, DeviceError> {
        let answers = self.answers.len();
        let (head, rest) = match self.line.hear(answers)? {
            LineEvent::Record(head, rest) => (head, rest),
            LineEvent::Silence => return Ok(Heard::Silence),
            LineEvent::End => return Err(DeviceError::Stopped { answers }),
        };
        match head.tag {
            Report::TAG => {
                let report: Report = read(head, &rest, answers)?;
                return Ok(Heard::Report(DeviceReport::from(&report)));
            }
            // Noise that doubles a whole frame: the answer has been heard.
            AnswerHead::TAG if self.last == Some(head.sample_index()) => {}
            AnswerHead::TAG => {
                let answer = self.answer(head, &rest)?;
                self.unanswered_before(head.sample_index())?;
                self.answers.push(Some(answer));
                self.last = Some(head.sample_index());
                (self.progress)(self.answers.len());
            }
            Saved::TAG => {
                let saved: Saved = read(head, &rest, answers)?;
                self.saved.push(saved.number.get());
            }
            TeachState::TAG => {
                let state: TeachState = read(head, &rest, answers)?;
                self.taught.push(TaughtState::from(&state));
            }
            Fault::TAG => return Err(fault(&read(head, &rest, answers)?, answers)),
            // Asked for more than once.
            Info::TAG => {}
            tag => return Err(bad(answers, format!("tag {tag:#04x}"))),
        }
        Ok(Heard::Record)
    }

    /// Asks for the report again if need be; then ends the device, if it is to end.
    fn finish<W: Write>(
        &mut self,
        mut sender: Sender<'_, W>,
        mut report: Option<DeviceReport>,
        ends_device: bool,
    ) -> Result<DeviceReport, DeviceError> {
        let mut repeats = Repeats::default();
        let report = loop {
            match report {
                Some(report) => break report,
                None if repeats.due() => sender.ask(Request::Report)?,
                None => {}
            }
            report = self.until_silent_or_report(|| true)?;
        };
        self.answers.extend(self.places.try_iter().map(|_| None));
        for _ in 0..if ends_device { GOODBYES } else { 0 } {
            // It may have ended already.
            let gone = sender.ask(Request::Stop).is_err();
            loop {
                match self.line.hear(self.answers.len()) {
                    Ok(LineEvent::Record(..)) => {}
                    Ok(LineEvent::Silence) if !gone => break,
                    Ok(LineEvent::Silence | LineEvent::End) => return Ok(report),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(report)
    }

    fn answer(&self, head: Head, rest: &[u8]) -> Result<Answer, DeviceError> {
        let refused = || bad(self.answers.len(), String::from("an answer of another length"));
        let (fixed, logs) = rest
            .split_at_checked(size_of::<AnswerHead>() - size_of::<Head>())
            .ok_or_else(refused)?;
        let fixed: AnswerHead = read(head, fixed, self.answers.len())?;
        let logs = <[F32]>::ref_from_bytes(logs).map_err(|_| refused())?;
        if logs.len() != self.models {
            return Err(refused());
        }
        Ok(Answer {
            status: Status::from_byte(fixed.status)
                .ok_or_else(|| bad(self.answers.len(), format!("status {:#04x}", fixed.status)))?,
            decided: fixed.decided > 0,
            lost: fixed.lost.get(),
            class: fixed.class.get().into(),
            margin_bits: fixed.margin.get().to_bits(),
            log_likelihood_bits: logs.iter().map(|log| log.get().to_bits()).collect(),
        })
    }

    /// Samples sent before the one at `place` will not be answered any more.
    fn unanswered_before(&mut self, place: SampleIndex) -> Result<(), DeviceError> {
        // A position is told before its sample is sent. On one thread nothing is told while this waits.
        let next = |places: &mpsc::Receiver<SampleIndex>, patience| match self.in_turn {
            true => places.try_recv().ok(),
            false => places.recv_timeout(patience).ok(),
        };
        while let Some(sent) = next(&self.places, self.line.patience()) {
            if sent == place {
                return Ok(());
            }
            self.answers.push(None);
        }
        Err(bad(self.answers.len(), String::from("an answer to a sample that was not sent")))
    }
}

/// Number of times that a device is asked to stop which does not end the stream. One behind a real serial port cannot.
const GOODBYES: usize = 8;

/// A record of fixed length.
pub(super) fn read<T: FromBytes>(
    head: Head,
    rest: &[u8],
    answers: usize,
) -> Result<T, DeviceError> {
    T::read_from_bytes(&[head.as_bytes(), rest].concat())
        .map_err(|_| bad(answers, format!("record {:#04x} of another length", head.tag)))
}

pub(super) fn fault(fault: &Fault, answers: usize) -> DeviceError {
    let tag = fault.tag;
    let what = match FaultKind::from_byte(fault.kind) {
        Some(FaultKind::UnknownRequest) => format!("it does not serve requests {tag:#04x}"),
        Some(FaultKind::Transport) => String::from("its transport failed"),
        Some(FaultKind::Length) => format!("a request {tag:#04x} of another length than it has"),
        None => return bad(answers, format!("fault of kind {}", fault.kind)),
    };
    DeviceError::Fault { answers, what }
}

pub(super) fn bad(answers: usize, what: String) -> DeviceError {
    DeviceError::BadRecord { answers, what }
}

/// Value on the wire, where zero says that it is not measured.
fn nonzero(value: u32) -> Option<u32> {
    (value != 0).then_some(value)
}

#[cfg(test)]
mod tests;
