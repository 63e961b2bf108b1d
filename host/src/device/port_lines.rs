//! Conversations at a serial port with applications that answer in lines of text.

use std::io::{ErrorKind, Write};
use std::time::Instant;

use fishweir_core::wire::Request;

use super::{DeviceError, Dialogue, FramedLines, Options, Port};

/// What is sent at once to a device, and the first word of each line that ends its answer.
///
/// A serial port of a board has little buffer: the next piece waits for that line.
#[derive(Clone, Debug)]
pub struct LinePiece {
    /// Bytes of frames.
    pub bytes: Vec<u8>,
    /// First words, one of which begins the last line of the answer.
    pub until: &'static [&'static str],
    /// Question that is asked where no answer comes: bytes of a frame.
    pub again: Vec<u8>,
}

/// Talks with a device at a port and returns its lines after the greeting, `None` for one that the line damaged or lost. The
/// device is told to end what an earlier host has begun, and at the end that this one leaves. `progress` is given the number of pieces
/// that are answered.
///
/// # Errors
/// [`DeviceError`]: a device that is silent for longer than [`Options::patience`], or a port that fails.
pub fn exchange_at_port(
    port: &Port,
    pieces: &[LinePiece],
    options: &Options,
    progress: &dyn Fn(usize),
) -> Result<Vec<Option<String>>, DeviceError> {
    let question = |request: Request| {
        let mut dialogue = Dialogue::new();
        dialogue.ask(request);
        dialogue.take()
    };
    let mut lines = FramedLines::new(port);
    let info = question(Request::Info);
    let begins = [question(Request::Stop), info.clone()].concat();
    { port }.write_all(&begins)?;
    until((port, &mut lines), (&["ready"], &info), (options, 0))?;
    // Of a board that has just begun more greetings follow, one per question.
    rest(&mut lines, 0)?;
    let mut told = Vec::new();
    for (done, piece) in pieces.iter().enumerate() {
        { port }.write_all(&piece.bytes)?;
        let wanted = (piece.until, &*piece.again);
        told.extend(until((port, &mut lines), wanted, (options, done))?);
        progress(done + 1);
    }
    // A question that was asked because the device was slow has had its answer in place of a later one.
    told.extend(rest(&mut lines, pieces.len())?);
    { port }.write_all(&question(Request::Stop))?;
    Ok(told)
}

/// Silences after which nothing more is expected.
const SILENCES: usize = 2;

/// Reads lines until the device is silent; `answers` is the number of pieces that are answered so far.
fn rest(
    lines: &mut FramedLines<&Port>,
    answers: usize,
) -> Result<Vec<Option<String>>, DeviceError> {
    let (mut heard, mut silences) = (Vec::new(), 0);
    while silences < SILENCES {
        match lines.next() {
            None => return Err(DeviceError::Stopped { answers }),
            Some(Err(error)) if error.kind() == ErrorKind::TimedOut => silences += 1,
            Some(line) => {
                heard.push(line?);
                silences = 0;
            }
        }
    }
    Ok(heard)
}

/// Reads lines until one begins with one of these words; asks when the device is silent. Last come the limits of patience, and
/// the pieces that are answered so far.
fn until(
    (port, lines): (&Port, &mut FramedLines<&Port>),
    (words, again): (&[&str], &[u8]),
    (options, answers): (&Options, usize),
) -> Result<Vec<Option<String>>, DeviceError> {
    let (mut heard, since) = (Vec::new(), Instant::now());
    loop {
        let line = match lines.next() {
            None => return Err(DeviceError::Stopped { answers }),
            Some(Err(error)) if error.kind() == ErrorKind::TimedOut => {
                if since.elapsed() >= options.patience {
                    let seconds = options.patience.as_secs();
                    return Err(DeviceError::Silent { seconds, answers });
                }
                { port }.write_all(again)?;
                continue;
            }
            Some(line) => line?,
        };
        let word = line.as_deref().and_then(|line| line.split(' ').next());
        let ends = word.is_some_and(|word| words.contains(&word));
        heard.push(line);
        if ends {
            return Ok(heard);
        }
    }
}
