//! Expected counts of recordings, collected from a device that runs `adapt` with the feature `counts`.

use std::io::{Read, Write};

use fishweir_core::wire::{
    COUNTS_PIECE, CountsHead, CountsRequest, F32, Fault, Head, Request, SampleIndex,
};
use zerocopy::{FromBytes, IntoBytes};

use super::line::{Line, LineEvent, send};
use super::pace::Repeats;
use super::session::{bad, fault, read};
use super::{DeviceError, Options};

/// Samples that are sent before the host makes sure that the device has them.
const AT_ONCE: usize = 64;

/// Times that a recording is sent at most: each time the line lost some of its samples.
const MOST_TIMES: usize = 8;

/// The counts of one stream, put together from the pieces that a device sends.
///
/// Pieces of another stream, of another model, of a stream that is longer or shorter, and pieces that came before change nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct CountsAssembly {
    /// Index after the last sample of the stream.
    pub(super) end: SampleIndex,
    /// Checksum of the model.
    model: u32,
    /// Pieces by index; none before the first one came.
    pub(super) pieces: Vec<Option<Vec<f32>>>,
    /// `true` if the device lacks samples of the stream.
    pub(super) lacks: bool,
}

impl CountsAssembly {
    /// Creates an assembly of the counts of a stream that ends at an index, under the model with a
    /// [checksum](fishweir_core::artefact::model_checksum).
    pub fn new(end: SampleIndex, model: u32) -> Self {
        Self { end, model, pieces: Vec::new(), lacks: false }
    }

    /// Takes a record, and returns whether it was a new piece of these counts.
    pub fn take(&mut self, record: &[u8]) -> bool {
        let Some((head, counts)) = piece_of(record) else { return false };
        let (piece, pieces) = (usize::from(head.piece.get()), usize::from(head.pieces.get()));
        let of_these = head.head.sample_index() == self.end && head.model.get() == self.model;
        let fits = self.pieces.is_empty() || self.pieces.len() == pieces;
        if !(of_these && fits) {
            return false;
        }
        self.lacks |= head.lost.get() > 0;
        self.pieces.resize(pieces, None);
        let slot = &mut self.pieces[piece];
        if slot.is_some() {
            return false;
        }
        *slot = Some(counts);
        true
    }

    /// Index of the next piece to ask for; `None` if all are there.
    pub(super) fn next(&self) -> Option<usize> {
        match self.pieces.is_empty() {
            true => Some(0),
            false => self.pieces.iter().position(Option::is_none),
        }
    }

    /// The counts: the log-likelihood, and the entries of
    /// [`ExpectedStatistics`](fishweir_core::filter::ExpectedStatistics) in order. `None` until all are there, and of a stream of
    /// which the device lacks samples.
    pub fn counts(&self) -> Option<Vec<f32>> {
        if self.next().is_some() || self.lacks {
            return None;
        }
        Some(self.pieces.iter().flatten().flatten().copied().collect())
    }
}

/// A record of counts: its head, and the counts of its piece; `None` of another record, and of one that is cut.
pub(super) fn piece_of(record: &[u8]) -> Option<(CountsHead, Vec<f32>)> {
    let (head, counts) = CountsHead::read_from_prefix(record).ok()?;
    let (piece, pieces) = (head.piece.get(), head.pieces.get());
    let whole =
        counts.len() == COUNTS_PIECE * size_of::<F32>() || piece.checked_add(1) == Some(pieces);
    let (counts, rest) = counts.as_chunks::<4>();
    let fits = head.head.tag == CountsHead::TAG && piece < pieces && rest.is_empty();
    let counts: Vec<f32> = counts.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    (whole && fits && !counts.is_empty()).then_some((head, counts))
}

/// Sends recordings to a device, each as a stream of its own, and collects the counts of each: nothing else leaves the device.
///
/// A recording is the wire's form of each of its samples, `[sample][byte]`. One of which samples were lost is sent again, as another
/// stream. The device is stopped at the end.
///
/// # Errors
/// [`DeviceError`]: when the link fails or is silent for longer than [`Options::patience`], and when the device reports a fault: it
/// counts nothing, or has another model.
pub fn collect_counts(
    reader: impl Read,
    mut writer: impl Write,
    recordings: &[Vec<Vec<u8>>],
    model: u32,
    options: &Options,
) -> Result<Vec<Vec<f32>>, DeviceError> {
    let mut line = Line::new(reader, options);
    let mut stream = SampleIndex::default();
    let mut all = Vec::with_capacity(recordings.len());
    for samples in recordings {
        let mut times = 0;
        loop {
            stream = stream.next_stream();
            let counted =
                of_recording(&mut line, &mut writer, (stream, model), samples, all.len())?;
            if let Some(counts) = counted {
                all.push(counts);
                break;
            }
            times += 1;
            if times == MOST_TIMES {
                let what = format!("samples of recording {} were lost {times} times", all.len());
                return Err(bad(all.len(), what));
            }
        }
    }
    send(&mut writer, stream.next_stream().head(Request::Stop.tag()).as_bytes())?;
    writer.flush()?;
    Ok(all)
}

/// The counts of one recording; `None` if samples of it were lost.
fn of_recording(
    line: &mut Line<'_, impl Read>,
    writer: &mut impl Write,
    (mut place, model): (SampleIndex, u32),
    samples: &[Vec<u8>],
    done: usize,
) -> Result<Option<Vec<f32>>, DeviceError> {
    for some in samples.chunks(AT_ONCE) {
        for sample in some {
            let head = place.head(Request::Sample.tag());
            send(writer, &[head.as_bytes(), sample.as_slice()].concat())?;
            place = place.next();
        }
        // Answers fill the line: hear them before more is sent.
        let mut heard = CountsAssembly::new(place, model);
        if !until(line, writer, &mut heard, done, |heard| !heard.pieces.is_empty())? {
            return Ok(None);
        }
    }
    let mut counts = CountsAssembly::new(place, model);
    until(line, writer, &mut counts, done, |counts| counts.next().is_none())?;
    Ok(counts.counts())
}

/// Asks for pieces until there are enough of them; `false` if the device lacks samples of the stream.
fn until(
    line: &mut Line<'_, impl Read>,
    writer: &mut impl Write,
    counts: &mut CountsAssembly,
    done: usize,
    enough: impl Fn(&CountsAssembly) -> bool,
) -> Result<bool, DeviceError> {
    let mut repeats = Repeats::default();
    let mut asks = true;
    while !enough(counts) {
        if asks && let Some(piece) = counts.next() {
            let head = counts.end.head(Request::Counts.tag());
            // There are 2^16 pieces at most.
            let request = CountsRequest { head, piece: (piece as u16).into() };
            send(writer, request.as_bytes())?;
            writer.flush()?;
        }
        asks = false;
        match line.hear(done)? {
            LineEvent::Record(head, rest) if head.tag == Fault::TAG => {
                return Err(fault(&read(head, &rest, done)?, done));
            }
            LineEvent::Record(head, rest) if head.tag == CountsHead::TAG => {
                asks = counts.take(&[head.as_bytes(), rest.as_slice()].concat());
                check_model(head, &rest, counts, done)?;
            }
            // Answers to samples.
            LineEvent::Record(..) => {}
            LineEvent::Silence => asks = repeats.due(),
            LineEvent::End => return Err(DeviceError::Stopped { answers: done }),
        }
    }
    Ok(!counts.lacks)
}

/// Refuses counts of these samples under another model.
fn check_model(
    head: Head,
    rest: &[u8],
    counts: &CountsAssembly,
    done: usize,
) -> Result<(), DeviceError> {
    let whole = [head.as_bytes(), rest].concat();
    match CountsHead::read_from_prefix(&whole) {
        Ok((found, _))
            if found.head.sample_index() == counts.end && found.model.get() != counts.model =>
        {
            let (found, wanted) = (found.model.get(), counts.model);
            let what =
                format!("counts under the model {found:08x} where {wanted:08x} is asked for");
            Err(bad(done, what))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use fishweir_core::wire::Head;

    use super::*;

    fn piece(place: SampleIndex, (piece, pieces): (u16, u16), lost: u16, model: u32) -> Vec<u8> {
        let head: Head = place.head(CountsHead::TAG);
        let (piece, pieces, lost) = (piece.into(), pieces.into(), lost.into());
        let head = CountsHead { head, piece, pieces, lost, model: model.into() };
        let count = if piece.get() + 1 == pieces.get() { 3 } else { COUNTS_PIECE };
        let number = |k: usize| (100 * usize::from(piece.get()) + k) as f32;
        let counts = (0..count).flat_map(|k| number(k).to_le_bytes());
        head.as_bytes().iter().copied().chain(counts).collect()
    }

    #[test]
    fn repeated_late_and_damaged_pieces_change_nothing() {
        let end = SampleIndex { stream: 3, time: 40 };
        let mut counts = CountsAssembly::new(end, 7);
        let late = SampleIndex { stream: 2, time: 40 };
        let short = SampleIndex { stream: 3, time: 39 };
        let of = |place, which| piece(place, which, 0, 7);
        assert!(counts.take(&of(end, (1, 3))));
        for other in [
            of(end, (1, 3)),
            of(late, (0, 3)),
            of(short, (0, 3)),
            of(end, (0, 2)),
            of(end, (3, 3)),
            piece(end, (0, 3), 0, 8),
            of(end, (0, 3))[..12].to_vec(),
            of(end, (0, 3))[..40].to_vec(),
            Vec::new(),
        ] {
            let before = counts.clone();
            assert!(!counts.take(&other));
            assert_eq!(counts, before);
        }
        assert_eq!((counts.next(), counts.counts()), (Some(0), None));
        assert!(counts.take(&of(end, (2, 3))) && counts.take(&of(end, (0, 3))));
        let all = counts.counts().expect("whole");
        assert_eq!((all.len(), all[8], all[18]), (19, 100.0, 202.0));

        let mut lacking = CountsAssembly::new(end, 7);
        assert!(lacking.take(&piece(end, (0, 1), 2, 7)));
        assert_eq!(lacking.counts(), None);
    }
}
