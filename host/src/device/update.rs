//! An update of the model of a device in the field, piece by piece.

use std::io::{Read, Write};

use fishweir_core::update::{HEADER_LENGTH, Update};
use fishweir_core::wire::{
    Fault, Head, Request, SampleIndex, UPDATE_CHUNK, UpdateChunk, UpdateOffer, UpdatePiece,
    UpdateProgress, UpdateStatus,
};
use zerocopy::IntoBytes;

use super::line::{Line, LineEvent, send};
use super::pace::Repeats;
use super::session::{fault, read};
use super::{DeviceError, Options};

/// Message that the sender waits for an answer to.
#[derive(Clone, Copy, PartialEq)]
enum Awaited {
    Offer,
    Chunk(usize),
}

/// Sends an update to a device that runs the application `field`, and says where it stands then:
/// [`Received`](UpdateStatus::Received), or further where the device had it before. The new model begins with the
/// next stream.
///
/// One piece at a time, sent again when nothing comes for [`Options::retry`]. A transfer that was broken off, by
/// this program or by a reset of the device, goes on where it was. `progress` receives the number of bytes that the device has.
///
/// # Errors
/// When the bytes are no update, when the device refuses it, and when the link fails or is silent for longer than
/// [`Options::patience`].
pub fn send_update(
    reader: impl Read,
    mut writer: impl Write,
    update: &[u8],
    options: &Options,
    mut progress: impl FnMut(usize),
) -> Result<UpdateStatus, DeviceError> {
    let whole = Update::read(update).map_err(DeviceError::NotAnUpdate)?;
    let transfer = whole.header.checksum();
    let mut line = Line::new(reader, options);
    let mut awaited = Awaited::Offer;
    let mut ask = |awaited| {
        let sent = match awaited {
            Awaited::Offer => send(&mut writer, offer(update).as_bytes()),
            Awaited::Chunk(offset) => send(&mut writer, piece(update, transfer, offset).as_bytes()),
        };
        sent.and_then(|()| writer.flush())
    };
    ask(awaited)?;
    let mut repeats = Repeats::default();
    loop {
        let heard = match line.hear(0)? {
            LineEvent::Record(head, rest) if head.tag == UpdateProgress::TAG => {
                read::<UpdateProgress>(head, &rest, 0)?
            }
            LineEvent::Record(head, rest) if head.tag == Fault::TAG => {
                return Err(fault(&read(head, &rest, 0)?, 0));
            }
            // The rest of what it said before.
            LineEvent::Record(..) => continue,
            LineEvent::Silence => {
                if repeats.due() {
                    ask(awaited)?;
                }
                continue;
            }
            LineEvent::End => return Err(DeviceError::Stopped { answers: 0 }),
        };
        let Some(status) = UpdateStatus::from_byte(heard.status) else {
            let what = format!("update status {:#04x}", heard.status);
            return Err(DeviceError::BadRecord { answers: 0, what });
        };
        let wanted = heard.wanted.get() as usize;
        let next = match (status, awaited) {
            // Answers to what was sent twice say nothing new.
            (UpdateStatus::Receiving, Awaited::Chunk(sent)) if wanted <= sent => continue,
            (UpdateStatus::Receiving, _) if heard.transfer.get() != transfer => continue,
            (UpdateStatus::Receiving, _) => {
                progress(wanted);
                Awaited::Chunk(wanted)
            }
            (UpdateStatus::Idle, Awaited::Offer) => continue,
            // It was reset in the middle.
            (UpdateStatus::Idle, Awaited::Chunk(_)) => Awaited::Offer,
            (refused, _) if refused.is_refusal() => {
                return Err(DeviceError::UpdateRefused { why: refused });
            }
            (there, _) => {
                progress(update.len());
                return Ok(there);
            }
        };
        awaited = next;
        repeats = Repeats::default();
        ask(awaited)?;
    }
}

fn offer(update: &[u8]) -> UpdateOffer {
    let header = update.first_chunk::<HEADER_LENGTH>().copied().unwrap_or([0; HEADER_LENGTH]);
    UpdateOffer { head: head(Request::Offer), header }
}

fn piece(update: &[u8], transfer: u32, offset: usize) -> UpdateChunk {
    let mut data = [0xFF; UPDATE_CHUNK];
    let rest = update.get(offset..).unwrap_or_default();
    data.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
    let piece = UpdatePiece { transfer: transfer.into(), offset: (offset as u32).into(), data };
    UpdateChunk { head: head(Request::Chunk), piece }
}

/// Updates stand outside the streams.
fn head(request: Request) -> Head {
    SampleIndex::default().head(request.tag())
}

#[cfg(test)]
mod tests;
