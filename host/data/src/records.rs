//! Records of a delimited text, one at a time: their fields, and the lines where they begin.

use std::io;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::source::Separator;

/// A text that is read record by record.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    /// The text, if all of it is UTF-8.
    text: Option<&'a str>,
    separator: Separator,
    comments: bool,
    /// The bytes that end a field: separators and line ends.
    ends_field: [bool; 256],
    /// Eight times each of them, where they are three.
    ends: Option<[u64; 3]>,
    /// `true` if quotes around fields that are separated by tabs are left out.
    unquotes: bool,
    /// Reader of a text with quotes, in which a field may hold separators and line ends.
    quoted: Option<Quoted<'a>>,
    /// Start and end of the fields of the record, in a text without quotes.
    fields: Vec<(usize, usize)>,
    /// The line of the record.
    line: u64,
    /// Offset of the next record, and its line number.
    next: (usize, u64),
}

struct Quoted<'a> {
    reader: Reader<&'a [u8]>,
    record: ByteRecord,
}

impl<'a> Records<'a> {
    /// A text whose fields are parted so; lines that begin with `#` may be comments.
    pub(super) fn new(bytes: &'a [u8], separator: Separator, comments: bool) -> Self {
        Self::from_line(bytes, separator, comments, 1)
    }

    /// A text that begins at a line of its file.
    pub(super) fn from_line(
        bytes: &'a [u8],
        separator: Separator,
        comments: bool,
        line: u64,
    ) -> Self {
        let quoted = match separator {
            Separator::Byte(byte) if byte != b'\t' && bytes.contains(&b'"') => {
                let reader = ReaderBuilder::new()
                    .delimiter(byte)
                    .has_headers(false)
                    .comment(comments.then_some(b'#'))
                    // Ragged rows are ours to report: csv would not name the column.
                    .flexible(true)
                    .from_reader(bytes);
                Some(Quoted { reader, record: ByteRecord::new() })
            }
            _ => None,
        };
        let text = std::str::from_utf8(bytes).ok();
        let mut ends_field = [false; 256];
        for byte in 0..=u8::MAX {
            ends_field[usize::from(byte)] = match separator {
                Separator::Byte(by) => [by, b'\n', b'\r'].contains(&byte),
                Separator::Blanks => byte.is_ascii_whitespace(),
            };
        }
        let ends = match separator {
            Separator::Byte(by) => Some([by, b'\n', b'\r'].map(|one| u64::from_ne_bytes([one; 8]))),
            Separator::Blanks => None,
        };
        let unquotes = separator == Separator::Byte(b'\t') && bytes.contains(&b'"');
        let (fields, next) = (Vec::new(), (0, line));
        Self {
            bytes,
            text,
            separator,
            comments,
            ends_field,
            ends,
            unquotes,
            quoted,
            fields,
            line,
            next,
        }
    }

    /// Goes to the next record; false at the end. Empty lines are skipped.
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        if let Some(Quoted { reader, record }) = &mut self.quoted {
            let more = reader.read_byte_record(record)?;
            if more {
                // csv's own count stops before blank lines and within CRLF.
                let begin = record.position().map_or(0, |position| position.byte());
                self.skip_to(usize::try_from(begin).unwrap_or(usize::MAX));
                self.line = self.next.1;
            }
            return Ok(more);
        }
        loop {
            self.skip_to(self.next.0);
            if self.next.0 >= self.bytes.len() {
                return Ok(false);
            }
            self.line = self.next.1;
            self.next.0 = self.split(self.next.0);
            if !self.fields.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Goes to a place, and over line ends and comments there; lines are counted.
    fn skip_to(&mut self, place: usize) {
        let (mut at, mut line) = self.next;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\n' => line += 1,
                b'\r' if self.bytes.get(at + 1) != Some(&b'\n') => line += 1,
                b'\r' => {}
                b'#' if self.comments && at >= place => {
                    let rest = &self.bytes[at..];
                    at += rest.iter().position(|byte| b"\n\r".contains(byte)).unwrap_or(rest.len());
                    continue;
                }
                _ if at >= place => break,
                _ => {}
            }
            at += 1;
        }
        self.next = (at, line);
    }

    /// Finds the fields of the line that begins at a place; where it ends.
    fn split(&mut self, begin: usize) -> usize {
        self.fields.clear();
        let blanks = self.separator == Separator::Blanks;
        let bytes = self.bytes;
        let (mut field, mut at) = (begin, begin);
        // Eight bytes at a time, as far as they go.
        let words = self.ends.map_or([].as_chunks::<8>(), |_| bytes[begin..].as_chunks::<8>()).0;
        for word in words {
            let word = u64::from_le_bytes(*word);
            let mut found = self.ends.iter().flatten().fold(0, |all, end| all | zeros(word ^ end));
            while found != 0 {
                let end = at + found.trailing_zeros() as usize / 8;
                self.fields.push((field, end));
                if matches!(bytes[end], b'\n' | b'\r') {
                    return end;
                }
                field = end + 1;
                found &= found - 1;
            }
            at += 8;
        }
        loop {
            while at < bytes.len() && !self.ends_field[usize::from(bytes[at])] {
                at += 1;
            }
            if !blanks || at > field {
                self.fields.push((field, at));
            }
            if at >= bytes.len() || matches!(bytes[at], b'\n' | b'\r') {
                return at;
            }
            at += 1;
            field = at;
        }
    }

    /// Start and end of a field, without quotes around it.
    #[inline]
    fn span(&self, index: usize) -> (usize, usize) {
        let (begin, end) = self.fields.get(index).copied().unwrap_or_default();
        match &self.bytes[begin..end] {
            [b'"', .., b'"'] if self.unquotes => (begin + 1, end - 1),
            _ => (begin, end),
        }
    }

    /// The bytes of a field; empty if there is no such field.
    #[inline]
    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        if let Some(quoted) = &self.quoted {
            return quoted.record.get(index).unwrap_or_default();
        }
        let (begin, end) = self.span(index);
        self.bytes.get(begin..end).unwrap_or_default()
    }

    /// Returns whether a quote in the last record is never closed, so that lines became one field.
    pub(super) fn is_unclosed(&self) -> bool {
        let Some(Quoted { reader, record }) = &self.quoted else { return false };
        let place = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).min(self.bytes.len());
        let (begin, end) =
            (record.position().map_or(0, csv::Position::byte), reader.position().byte());
        let read = &self.bytes[place(begin)..place(end)];
        let has_lines = |field: &[u8]| field.contains(&b'\n') || field.contains(&b'\r');
        place(end) == self.bytes.len()
            && read.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
            && record.iter().any(has_lines)
    }

    /// The offset where the record begins.
    pub(super) fn begin(&self) -> usize {
        match self.quoted {
            // Behind blank lines and comments, which csv's own position is not.
            Some(_) => self.next.0,
            None => self.fields.first().map_or(0, |field| field.0),
        }
    }

    /// The line where the record begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.quoted.as_ref().map_or(self.fields.len(), |quoted| quoted.record.len())
    }

    /// Returns a field; empty if there is no such field.
    ///
    /// # Errors
    /// If it is not UTF-8.
    #[inline]
    pub(super) fn field(&self, index: usize) -> Result<&str, std::str::Utf8Error> {
        if let Some(quoted) = &self.quoted {
            return std::str::from_utf8(quoted.record.get(index).unwrap_or_default());
        }
        let (begin, end) = self.span(index);
        match self.text {
            Some(text) => Ok(text.get(begin..end).unwrap_or_default()),
            None => std::str::from_utf8(self.bytes.get(begin..end).unwrap_or_default()),
        }
    }
}

/// The highest bit of each byte that is zero.
#[inline]
fn zeros(word: u64) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    !(((word & LOW) + LOW) | word | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_at_separators_wherever_they_stand() {
        for length in 0..20 {
            for place in 0..=length {
                let mut line = vec![b'a'; length];
                line.insert(place, b',');
                let text = [&b"x,\x80"[..], &line, b",\r", &line].join(&b'\n');
                let mut records = Records::new(&text, Separator::Byte(b','), false);
                let wanted: Vec<&[u8]> = vec![&line[..place], &line[place + 1..]];
                let mut rows = Vec::new();
                while records.advance().expect("in memory") {
                    let row = (0..records.len()).map(|field| records.bytes(field).to_vec());
                    rows.push((records.line(), row.collect::<Vec<_>>()));
                }
                assert_eq!(rows[0], (1, vec![b"x".to_vec(), vec![0x80]]));
                assert_eq!(rows[1], (2, wanted.iter().map(|one| one.to_vec()).collect::<Vec<_>>()));
                assert_eq!(rows[2].1, [b"", b""]);
                assert_eq!((rows[3].0, &rows[3].1), (4, &rows[1].1));
            }
        }
    }
}
