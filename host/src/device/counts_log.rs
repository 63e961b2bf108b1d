//! Expected counts of recordings in the bytes that a device sent, read from a file.

use std::collections::BTreeMap;

use fishweir_core::wire::{CHECKSUM_LENGTH, CountsHead, Receiver};

use super::counts::{CountsAssembly, piece_of};

/// Reason why the bytes that a device sent are not the counts of its recordings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum CountsError {
    /// No record of counts.
    #[error(
        "no record of expected counts begins in its {0} bytes; give everything that a device with the feature \
         `counts` sent, as it came"
    )]
    #[strum(serialize = "no-counts")]
    NoRecord(usize),
    /// A recording of which counts are missing.
    #[error(
        "stream {stream} of {length} samples: piece {piece} of {pieces} of its counts is missing; ask the device for it again, and append the answer"
    )]
    #[strum(serialize = "missing-counts")]
    Incomplete {
        /// Number of the stream on the wire.
        stream: u8,
        /// Samples of the recording, modulo `2^16`.
        length: u16,
        /// The missing piece, from 1.
        piece: usize,
        /// Number of pieces.
        pieces: usize,
    },
    /// A stream that comes again with other counts.
    #[error(
        "stream {0} occurs twice with different counts; write each conversation with a device to its own file"
    )]
    #[strum(serialize = "repeated-stream")]
    Contradiction(u8),
}

crate::kinds!(CountsError);

/// The counts in all that a device sent in one conversation, whatever else is among it.
///
/// The order of recordings is that of their streams. Damaged, repeated and late records change nothing: a frame with a wrong
/// checksum is dropped; of a stream the counts of its last sample are kept; the number of a stream, modulo 256 on the wire, is
/// followed as long as no record is late by 128 streams.
#[derive(Clone, Debug, PartialEq)]
pub struct CountsLog {
    /// Checksum of the model, and number of the stream.
    streams: BTreeMap<(u32, i64), CountsAssembly>,
}

/// Longest record that is read: all of counts are shorter.
const RECORD: usize = 256;

impl CountsLog {
    /// Parses bytes as they came from a device.
    ///
    /// # Errors
    /// [`CountsError`]: no record of counts, or a stream with two answers.
    pub fn parse(bytes: &[u8]) -> Result<Self, CountsError> {
        let (mut receiver, mut record) = (Receiver::new(), [0; RECORD + CHECKSUM_LENGTH]);
        let mut own = Self { streams: BTreeMap::new() };
        let mut last: Option<(u8, i64)> = None;
        for &byte in bytes {
            let length = receiver.push(byte, &mut record);
            if let Some(record) = length.and_then(|length| record.get(..length)) {
                own.take(record, &mut last)?;
            }
        }
        if own.streams.is_empty() {
            return Err(CountsError::NoRecord(bytes.len()));
        }
        Ok(own)
    }

    /// Takes a record; `last` is the newest stream, as on the wire and counted on.
    fn take(&mut self, record: &[u8], last: &mut Option<(u8, i64)>) -> Result<(), CountsError> {
        let Some((head, counts)) = piece_of(record) else { return Ok(()) };
        let (index, model) = (head.head.sample_index(), head.model.get());
        let (newest, number) = last.get_or_insert((index.stream, 0));
        let ahead = index.stream.wrapping_sub(*newest).cast_signed();
        let own = *number + i64::from(ahead);
        if ahead > 0 {
            (*newest, *number) = (index.stream, own);
        }
        let fresh = || CountsAssembly::new(index, model);
        let stream = self.streams.entry((model, own)).or_insert_with(fresh);
        if stream.end != index {
            let behind = stream.end.time.wrapping_sub(index.time);
            if behind <= u16::MAX / 2 {
                return Ok(());
            }
            if ahead < 0 && stream.next().is_none() {
                return Err(CountsError::Contradiction(index.stream));
            }
            *stream = fresh();
        }
        if !stream.take(record) && contradicts(stream, &head, &counts) {
            return Err(CountsError::Contradiction(index.stream));
        }
        Ok(())
    }

    /// Returns whether another log has the same counts of the same streams.
    pub fn is_same(&self, other: &Self) -> bool {
        self.streams == other.streams
    }

    /// Checksums of the models that the counts are under, rising.
    pub fn models(&self) -> Vec<u32> {
        let mut models: Vec<u32> = self.streams.keys().map(|&(model, _)| model).collect();
        models.dedup();
        models
    }

    /// Streams under a model of which the device lacks samples: their recordings are left out.
    pub fn lacking(&self, model: u32) -> Vec<u8> {
        self.of(model).filter(|stream| stream.lacks).map(|stream| stream.end.stream).collect()
    }

    /// Counts of each recording under a model, `[recording][entry]`, but of those that are [lacking](Self::lacking).
    ///
    /// # Errors
    /// [`CountsError::Incomplete`].
    pub fn recordings(&self, model: u32) -> Result<Vec<Vec<f32>>, CountsError> {
        let whole = |stream: &CountsAssembly| {
            stream.counts().ok_or_else(|| CountsError::Incomplete {
                stream: stream.end.stream,
                length: stream.end.time,
                piece: stream.next().unwrap_or_default() + 1,
                pieces: stream.pieces.len(),
            })
        };
        self.of(model).filter(|stream| !stream.lacks).map(whole).collect()
    }

    fn of(&self, model: u32) -> impl Iterator<Item = &CountsAssembly> {
        self.streams.range((model, i64::MIN)..=(model, i64::MAX)).map(|(_, stream)| stream)
    }
}

/// Returns whether a piece of a stream differs from what came before in its place.
fn contradicts(stream: &CountsAssembly, head: &CountsHead, counts: &[f32]) -> bool {
    let bits = |counts: &[f32]| counts.iter().map(|count| count.to_bits()).collect::<Vec<u32>>();
    let there = stream.pieces.get(usize::from(head.piece.get())).and_then(Option::as_ref);
    let same = there.is_some_and(|there| bits(there) == bits(counts));
    !same || stream.pieces.len() != usize::from(head.pieces.get())
}

#[cfg(test)]
mod tests {
    use fishweir_core::wire::{Head, SampleIndex, encode, longest};
    use zerocopy::IntoBytes;

    use super::*;

    /// Frames of the counts of a stream: three pieces, the last of three counts.
    fn frames((stream, time): (u8, u16), lost: u16, model: u32) -> Vec<Vec<u8>> {
        let piece = |piece: u16| {
            let head: Head = SampleIndex { stream, time }.head(CountsHead::TAG);
            let (pieces, lost) = (3.into(), lost.into());
            let head = CountsHead { head, piece: piece.into(), pieces, lost, model: model.into() };
            let count = if piece == 2 { 3 } else { 8 };
            let number = |k: u16| 1000.0 * f32::from(stream) + f32::from(time + 8 * piece + k);
            let counts: Vec<u8> = (0..count).flat_map(|k| number(k).to_le_bytes()).collect();
            let record = [head.as_bytes(), &counts].concat();
            let mut frame = vec![0; longest(record.len())];
            let length = encode(&record, &mut frame).expect("room enough");
            frame.truncate(length);
            frame
        };
        (0..3).map(piece).collect()
    }

    fn log(frames: &[Vec<u8>]) -> Result<CountsLog, CountsError> {
        CountsLog::parse(&frames.concat())
    }

    #[test]
    fn damaged_repeated_and_late_records_change_nothing() {
        let streams: Vec<Vec<Vec<u8>>> =
            (0..300_u16).map(|k| frames(((k + 7) as u8, 20 + k % 5), 0, 9)).collect();
        let sent = streams.concat();
        let wanted = log(&sent).expect("counts").recordings(9).expect("whole");
        assert_eq!((wanted.len(), wanted[0].len(), wanted[299][0]), (300, 19, 50024.0));
        let mut noisy = b"booting\n\0".to_vec();
        for (at, stream) in streams.iter().enumerate() {
            // Counts of its first samples, which are asked for on the way.
            noisy.extend(frames(((at + 7) as u8, 3), 0, 9)[0].clone());
            let mut damaged = stream[1].clone();
            damaged[6] ^= 0x24;
            noisy.extend(damaged);
            noisy.extend([&stream[2][..], &stream[0], &stream[2], &stream[1]].concat());
            // Another model's, and one that is late.
            noisy.extend(frames(((at + 7) as u8, 20), 0, 8)[0].clone());
            noisy.extend(streams[at.saturating_sub(100)].concat());
            noisy.extend(frames(((at.saturating_sub(50) + 7) as u8, 2), 0, 9)[1].clone());
        }
        let found = CountsLog::parse(&noisy).expect("counts");
        assert_eq!(found.recordings(9), Ok(wanted));
        assert_eq!(found.models(), [8, 9]);
        assert!(matches!(found.recordings(8), Err(CountsError::Incomplete { piece: 2, .. })));
    }

    #[test]
    fn what_is_no_whole_is_named() {
        assert_eq!(log(&[]), Err(CountsError::NoRecord(0)));
        assert_eq!(CountsLog::parse(b"{\"classifier\":1}\n"), Err(CountsError::NoRecord(17)));
        let one = frames((1, 20), 0, 9);
        let cut = log(&one[..2]).expect("counts").recordings(9).expect_err("a piece lacks");
        assert!(cut.to_string().contains("stream 1 of 20 samples: piece 3 of 3"), "{cut}");
        let lost = log(&[frames((1, 20), 2, 9), frames((2, 20), 0, 9)].concat()).expect("counts");
        assert_eq!((lost.lacking(9), lost.recordings(9).map(|all| all.len())), (vec![1], Ok(1)));
        // A device that began anew.
        let again = [one.clone(), frames((2, 20), 0, 9), frames((1, 31), 0, 9)].concat();
        assert_eq!(log(&again), Err(CountsError::Contradiction(1)));
    }
}
