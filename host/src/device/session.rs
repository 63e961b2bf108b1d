//! A conversation with `classify_stream`: samples out, answers in.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::thread;

use zerocopy::byteorder::little_endian::U32;
use zerocopy::{FromBytes, IntoBytes};

use super::protocol::{
    AnswerHead, Fault, FaultKind, Info, Report, Request, SampleKind, Status, VERSION,
};
use super::{DeviceError, Options};

/// What the host sends.
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
}

/// What the device says of itself.
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
    /// Ticks of the board's counter in a second; `None` where it has none.
    pub ticks_per_second: Option<u32>,
}

/// The device's answer to a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What became of the sample.
    pub status: Status,
    /// The class decided for.
    pub class: usize,
    /// Bits of the margin.
    pub margin_bits: u32,
    /// Bits of the log-likelihoods, `[model]`.
    pub log_likelihood_bits: Box<[u32]>,
}

impl Answer {
    /// The margin.
    #[must_use]
    pub fn margin(&self) -> f32 {
        f32::from_bits(self.margin_bits)
    }

    /// The log-likelihood of the stream so far, `[model]`.
    pub fn log_likelihoods(&self) -> impl Iterator<Item = f32> {
        self.log_likelihood_bits.iter().map(|&bits| f32::from_bits(bits))
    }
}

/// What the run has cost on the device. Ticks are the classifier's work alone, without the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// Samples pushed.
    pub samples: u64,
    /// Ticks spent on them.
    pub sample_ticks: u64,
    /// Missing samples pushed.
    pub missing: u64,
    /// Ticks spent on them.
    pub missing_ticks: u64,
    /// Deepest stack, in bytes, the state included; `None` where not measured.
    pub stack_bytes: Option<u32>,
}

/// All that was learnt from a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What runs there.
    pub info: DeviceInfo,
    /// One answer for every [`Input::Vector`], [`Input::Symbol`] and [`Input::Missing`], in order.
    pub answers: Vec<Answer>,
    /// What it cost.
    pub report: DeviceReport,
}

/// Asks what runs on the device, sends it all inputs, collects its answers, and stops it.
///
/// Reads and writes on two threads, so that the inputs run ahead of the answers as far as the link
/// lets them. `hang_up` breaks the link: it is called when one side fails, so that the other ends too.
/// `progress` is told the number of answers after each.
///
/// # Errors
/// When the link fails or is silent for longer than the reader's timeout, when the device reports a
/// fault or sends what the format does not have, or when an input does not fit the model.
pub fn converse<'a>(
    reader: impl Read,
    writer: impl Write + Send,
    hang_up: impl Fn() + Sync,
    inputs: impl IntoIterator<Item = Input<'a>, IntoIter: Send>,
    options: &Options,
    mut progress: impl FnMut(usize),
) -> Result<Outcome, DeviceError> {
    let mut records = Records { reader: BufReader::new(reader), answers: 0, options };
    let mut writer = BufWriter::new(writer);
    writer.write_all(&[Request::Info.tag()]).and_then(|()| writer.flush())?;
    let info = records.info()?;
    let inputs = inputs.into_iter();
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let sent = send(&mut writer, inputs, &info);
            if sent.is_err() {
                hang_up();
            }
            sent
        });
        let received = records.until_report(&info, &mut progress);
        if received.is_err() {
            hang_up();
        }
        // Only a panic in the caller's iterator can make the join fail.
        let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (sent, received) {
            (Ok(samples), Ok((answers, report))) if samples == answers.len() => {
                Ok(Outcome { info: info.clone(), answers, report })
            }
            (Ok(samples), Ok((answers, _))) => {
                Err(DeviceError::Count { answers: answers.len(), samples })
            }
            // What the sender refused to send broke the link on purpose.
            (Err(error @ DeviceError::SampleShape { .. }), _) | (_, Err(error)) => Err(error),
            (Err(error), Ok(_)) => Err(error),
        }
    })
}

/// Sends all inputs and the wish to stop; says how many answers are due.
fn send<'a>(
    writer: &mut impl Write,
    inputs: impl Iterator<Item = Input<'a>>,
    info: &DeviceInfo,
) -> Result<usize, DeviceError> {
    let mut samples = 0;
    for input in inputs {
        let refused = |found: String| DeviceError::SampleShape {
            index: samples,
            found,
            kind: info.sample_kind,
            length: info.sample_length,
        };
        match (input, info.sample_kind) {
            (Input::Vector(values), SampleKind::Vector) if values.len() == info.sample_length => {
                writer.write_all(&[Request::Sample.tag()])?;
                for value in values {
                    writer.write_all(&value.to_le_bytes())?;
                }
            }
            (Input::Symbol(symbol), SampleKind::Symbol) => {
                writer.write_all(&[Request::Sample.tag()])?;
                writer.write_all(&symbol.to_le_bytes())?;
            }
            (Input::Missing, _) => writer.write_all(&[Request::Missing.tag()])?,
            (Input::Reset, _) => {
                writer.write_all(&[Request::Reset.tag()])?;
                continue;
            }
            (Input::Vector(values), _) => {
                return Err(refused(format!("a vector of {} channels", values.len())));
            }
            (Input::Symbol(_), _) => return Err(refused(String::from("a symbol"))),
        }
        samples += 1;
    }
    writer.write_all(&[Request::Quit.tag()])?;
    writer.flush()?;
    Ok(samples)
}

/// The device's side of the conversation.
struct Records<'a, R> {
    reader: BufReader<R>,
    answers: usize,
    options: &'a Options,
}

impl<R: Read> Records<'_, R> {
    fn info(&mut self) -> Result<DeviceInfo, DeviceError> {
        match self.first()? {
            Info::TAG => {}
            Fault::TAG => return Err(self.fault()?),
            other => return Err(self.bad(format!("first byte {other:#04x} where `I` was due"))),
        }
        let info: Info = self.rest(Info::TAG)?;
        if info.version != VERSION {
            return Err(DeviceError::Version { found: info.version });
        }
        let sample_kind = SampleKind::from_byte(info.sample_kind)
            .ok_or_else(|| self.bad(format!("sample kind {:#04x}", info.sample_kind)))?;
        Ok(DeviceInfo {
            sample_kind,
            sample_length: info.sample_length.get().into(),
            models: info.models.get().into(),
            classes: info.classes.get().into(),
            model_bytes: info.model_bytes.get() as usize,
            state_bytes: info.state_bytes.get() as usize,
            ticks_per_second: nonzero(info.ticks_per_second.get()),
        })
    }

    /// Answers, and the report that ends them.
    fn until_report(
        &mut self,
        info: &DeviceInfo,
        progress: &mut impl FnMut(usize),
    ) -> Result<(Vec<Answer>, DeviceReport), DeviceError> {
        let mut answers = Vec::new();
        loop {
            match self.first()? {
                Report::TAG => {
                    let report: Report = self.rest(Report::TAG)?;
                    return Ok((
                        answers,
                        DeviceReport {
                            samples: report.samples.get(),
                            sample_ticks: report.sample_ticks.get(),
                            missing: report.missing.get(),
                            missing_ticks: report.missing_ticks.get(),
                            stack_bytes: nonzero(report.stack_bytes.get()),
                        },
                    ));
                }
                Fault::TAG => return Err(self.fault()?),
                byte => {
                    let status = Status::from_byte(byte)
                        .ok_or_else(|| self.bad(format!("first byte {byte:#04x}")))?;
                    let head: AnswerHead = self.rest(byte)?;
                    let mut bits = vec![U32::ZERO; info.models];
                    self.fill(bits.as_mut_bytes())?;
                    answers.push(Answer {
                        status,
                        class: head.class.get().into(),
                        margin_bits: head.margin_bits.get(),
                        log_likelihood_bits: bits.iter().map(|bits| bits.get()).collect(),
                    });
                    self.answers = answers.len();
                    progress(self.answers);
                }
            }
        }
    }

    fn fault(&mut self) -> Result<DeviceError, DeviceError> {
        let fault: Fault = self.rest(Fault::TAG)?;
        let what = match FaultKind::from_byte(fault.kind) {
            Some(FaultKind::UnknownRequest) => {
                format!("unknown request {:#04x}: the two ends are out of step", fault.byte)
            }
            Some(FaultKind::Receiver) => String::from("its receiver lost a byte"),
            None => return Ok(self.bad(format!("fault of kind {}", fault.kind))),
        };
        Ok(DeviceError::Fault { answers: self.answers, what })
    }

    /// The first byte of a record.
    fn first(&mut self) -> Result<u8, DeviceError> {
        let mut byte = 0;
        self.fill(byte.as_mut_bytes())?;
        Ok(byte)
    }

    /// The record whose first byte has been read.
    fn rest<T: FromBytes + IntoBytes>(&mut self, first: u8) -> Result<T, DeviceError> {
        let mut record = T::new_zeroed();
        if let [tag, rest @ ..] = record.as_mut_bytes() {
            *tag = first;
            self.fill(rest)?;
        }
        Ok(record)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.reader.read_exact(bytes).map_err(|error: io::Error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                DeviceError::Stopped { answers: self.answers }
            }
            ErrorKind::WouldBlock | ErrorKind::TimedOut => DeviceError::Silent {
                seconds: self.options.patience.as_secs(),
                answers: self.answers,
            },
            _ => DeviceError::Link(error),
        })
    }

    fn bad(&self, what: String) -> DeviceError {
        DeviceError::BadRecord { answers: self.answers, what }
    }
}

/// On the wire, zero says that something is not measured.
fn nonzero(value: u32) -> Option<u32> {
    (value != 0).then_some(value)
}

#[cfg(test)]
mod tests;
