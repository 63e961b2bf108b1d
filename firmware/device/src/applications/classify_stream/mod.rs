//! Classifies a stream: raw samples in, after each a decision with everything needed to check it.
//!
//! A [session](crate::session) over a serial line, a byte at a time: a driver's buffer of a frame or two keeps what
//! arrives during a push.

use core::slice;

use embedded_io::{Read, Write};
use fishweir_core::wire::Report;

use crate::classifier::ClassifierStream;
use crate::meter::Meter;
use crate::session::{Action, Session};

#[cfg(test)]
mod tests;

/// Answers requests until the host sends `X` or the stream ends, and reports the cost of the pushes.
///
/// # Errors
/// When the transport fails for good, after telling the host with a [`Fault`](fishweir_core::wire::Fault).
pub fn classify_stream<S, C, M, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    meter: &M,
) -> Result<Report, S::Error>
where
    S: Read + Write,
    C: ClassifierStream<MODELS>,
    M: Meter,
{
    let mut session = Session::new(classifier, meter);
    if let Err(error) = converse(serial, &mut session) {
        // The host hears of it if it still can; what failed first is what counts.
        let _ = serial.write_all(session.failed());
        let _ = serial.flush();
        return Err(error);
    }
    Ok(session.end())
}

fn converse<S, C, M, const MODELS: usize>(
    serial: &mut S,
    session: &mut Session<'_, C, M, MODELS>,
) -> Result<(), S::Error>
where
    S: Read + Write,
    C: ClassifierStream<MODELS>,
    M: Meter,
{
    let mut byte = 0;
    loop {
        let heard = match serial.read(slice::from_mut(&mut byte)) {
            Ok(0) => return Ok(()),
            read => read.map(|_| byte),
        };
        match session.on_byte(heard)? {
            Action::Read => {}
            Action::Write(frame) => serial.write_all(frame)?,
            Action::Close => return serial.flush(),
        }
    }
}

/// [`classify_stream`] over a line that others run beside: the same bytes out. It waits for the line and for nothing
/// else: a push is not interrupted. Dropped midway, it has ended the conversation, in the middle of an answer maybe; the
/// next one begins with a stream of its own.
///
/// # Errors
/// As [`classify_stream`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn classify_stream_async<S, C, M, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    meter: &M,
) -> Result<Report, S::Error>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    C: ClassifierStream<MODELS>,
    M: Meter,
{
    let mut session = Session::new(classifier, meter);
    if let Err(error) = converse_async(serial, &mut session).await {
        let _ = serial.write_all(session.failed()).await;
        let _ = serial.flush().await;
        return Err(error);
    }
    Ok(session.end())
}

#[cfg(any(feature = "async", test))]
async fn converse_async<S, C, M, const MODELS: usize>(
    serial: &mut S,
    session: &mut Session<'_, C, M, MODELS>,
) -> Result<(), S::Error>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    C: ClassifierStream<MODELS>,
    M: Meter,
{
    let mut byte = 0;
    loop {
        let heard = match serial.read(slice::from_mut(&mut byte)).await {
            Ok(0) => return Ok(()),
            read => read.map(|_| byte),
        };
        match session.on_byte(heard)? {
            Action::Read => {}
            Action::Write(frame) => serial.write_all(frame).await?,
            Action::Close => return serial.flush().await,
        }
    }
}
