//! Samples from a pipe, one line after another.

use std::collections::VecDeque;
use std::io::{BufRead, Read};

use super::alphabet::{Alphabet, Decoded};
use super::assemble::unknown_symbol;
use super::dataset::Kind;
use super::error::{DataError, Place};
use super::table::{finite, is_missing, shorten};

/// The longest line, in bytes: a stream without line ends must not fill the memory.
const LONGEST_LINE: u64 = 1 << 24;

/// One observation of a live stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample<'a> {
    /// A row of real channels, in the order of the model's.
    Row(&'a [f64]),
    /// A symbol, by its index in the alphabet.
    Symbol(u16),
    /// A missing observation.
    Missing,
}

/// Reads a stream of samples as they arrive: it never waits for a line beyond the one it returns.
///
/// - **Channels**: a line is one sample, its numbers parted by commas or, in a line without comma,
///   by blanks. `NA` or a field left empty between commas makes the sample missing. The first line
///   may be a header that names the channels among other columns, in any order, as in a series
///   table; the channels are then picked by name. Fields are not quoted.
/// - **Symbols**: each character of a line is one sample, so symbols may come one per line or many.
///
/// Blank lines are passed over.
#[derive(Debug)]
pub struct LiveReader<R> {
    reader: R,
    name: String,
    kind: Kind,
    header: Option<Header>,
    begun: bool,
    line: u64,
    buffer: Vec<u8>,
    row: Vec<f64>,
    symbols: VecDeque<Option<u16>>,
}

/// The columns of a stream that begins with their names.
#[derive(Debug)]
struct Header {
    names: Vec<String>,
    delimiter: char,
    /// Column of each channel.
    channels: Vec<usize>,
}

/// What a line holds.
enum Line {
    Blank,
    Row,
    Missing,
    Symbols,
}

impl<R: BufRead> LiveReader<R> {
    /// A reader of samples of a kind; `name` is for messages.
    pub fn new(reader: R, name: impl Into<String>, kind: Kind) -> Self {
        Self {
            reader,
            name: name.into(),
            kind,
            header: None,
            begun: false,
            line: 0,
            buffer: Vec::new(),
            row: Vec::new(),
            symbols: VecDeque::new(),
        }
    }

    /// The next sample, `None` at the end of the stream.
    ///
    /// # Errors
    /// [`DataError`] naming line and column of a bad sample. That line is consumed: the next call
    /// goes on behind it.
    pub fn read(&mut self) -> Result<Option<Sample<'_>>, DataError> {
        loop {
            if let Some(symbol) = self.symbols.pop_front() {
                return Ok(Some(symbol.map_or(Sample::Missing, Sample::Symbol)));
            }
            if !self.fetch()? {
                return Ok(None);
            }
            match self.take_line()? {
                Line::Blank | Line::Symbols => {}
                Line::Missing => return Ok(Some(Sample::Missing)),
                Line::Row => return Ok(Some(Sample::Row(&self.row))),
            }
        }
    }

    /// The line of the last sample, from 1; 0 before the first.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Gets a line into the buffer; false at the end.
    fn fetch(&mut self) -> Result<bool, DataError> {
        self.buffer.clear();
        let result = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.buffer);
        let length = result.map_err(|source| DataError::Io { file: self.name.clone(), source })?;
        if length == 0 {
            return Ok(false);
        }
        self.line += 1;
        if length as u64 == LONGEST_LINE && self.buffer.last() != Some(&b'\n') {
            return Err(DataError::LineTooLong { place: self.place(None), limit: LONGEST_LINE });
        }
        Ok(true)
    }

    /// Reads the samples of the line in the buffer.
    fn take_line(&mut self) -> Result<Line, DataError> {
        // Out of the way of the borrow checker, and back for its memory.
        let buffer = std::mem::take(&mut self.buffer);
        let result = match std::str::from_utf8(&buffer) {
            Err(_) => Err(DataError::NotUtf8 { place: self.place(None) }),
            Ok(text) => {
                let text = if self.line == 1 { text.trim_start_matches('\u{FEFF}') } else { text };
                self.take_text(text.trim_end_matches(['\r', '\n']))
            }
        };
        self.buffer = buffer;
        result
    }

    fn take_text(&mut self, text: &str) -> Result<Line, DataError> {
        if text.trim().is_empty() {
            return Ok(Line::Blank);
        }
        let first = !std::mem::replace(&mut self.begun, true);
        match &self.kind {
            Kind::Symbols(alphabet) => {
                self.symbols = decode(text, alphabet, &|character| self.place_in_line(character))?;
                Ok(Line::Symbols)
            }
            Kind::Channels(names) => {
                if first && is_header(text) {
                    self.header = Some(
                        Header::of(text, names)
                            .map_err(|what| DataError::Header { file: self.name.clone(), what })?,
                    );
                    return Ok(Line::Blank);
                }
                self.take_row(text)
            }
        }
    }

    fn take_row(&mut self, text: &str) -> Result<Line, DataError> {
        let fields = split(text, self.header.as_ref().map(|header| header.delimiter));
        let width = self.width();
        if fields.len() != width {
            let column = Some(fields.len().min(width));
            return Err(DataError::Ragged {
                place: self.place(column),
                found: fields.len(),
                expected: width,
            });
        }
        self.row.clear();
        let mut missing = false;
        for channel in 0..self.kind.dimension().unwrap_or_default() {
            let column = self.header.as_ref().map_or(channel, |header| header.channels[channel]);
            match fields[column] {
                field if is_missing(field) => missing = true,
                field => self.row.push(finite(field).ok_or_else(|| DataError::NotANumber {
                    place: self.place(Some(column)),
                    text: shorten(field),
                })?),
            }
        }
        Ok(if missing { Line::Missing } else { Line::Row })
    }

    /// Fields in a line.
    fn width(&self) -> usize {
        match &self.header {
            Some(header) => header.names.len(),
            None => self.kind.dimension().unwrap_or_default(),
        }
    }

    fn place(&self, column: Option<usize>) -> Box<Place> {
        let names = match (&self.header, &self.kind) {
            (Some(header), _) => header.names.as_slice(),
            (None, Kind::Channels(names)) => names,
            (None, Kind::Symbols(_)) => &[],
        };
        let named = |column| (column + 1, names.get(column).cloned().unwrap_or_default());
        let (file, line) = (self.name.clone(), self.line);
        Box::new(Place { file, line, column: column.map(named), character: None })
    }

    fn place_in_line(&self, character: usize) -> Box<Place> {
        Box::new(Place { character: Some(character), ..*self.place(None) })
    }
}

impl Header {
    fn of(text: &str, wanted: &[String]) -> Result<Self, String> {
        let delimiter = [',', '\t'].into_iter().find(|&one| text.contains(one)).unwrap_or(' ');
        let names: Vec<String> =
            split(text, Some(delimiter)).into_iter().map(str::to_owned).collect();
        let find = |name: &String| {
            names.iter().position(|one| one == name).ok_or_else(|| {
                let found = shorten(&names.join(", "));
                format!("has no channel `{name}`, which the model needs; it has {found}")
            })
        };
        let channels = wanted.iter().map(find).collect::<Result<_, _>>()?;
        Ok(Self { names, delimiter, channels })
    }
}

/// The fields of a line, by a delimiter or by what the line looks like.
fn split(text: &str, delimiter: Option<char>) -> Vec<&str> {
    match delimiter.or_else(|| text.contains(',').then_some(',')) {
        None | Some(' ') => text.split_whitespace().collect(),
        Some(delimiter) => text.split(delimiter).map(str::trim).collect(),
    }
}

/// Whether a first line is one of names: none of its fields is a number, not even a forbidden one.
fn is_header(text: &str) -> bool {
    let fields = split(text, None);
    let is_value = |field: &str| is_missing(field) || field.parse::<f64>().is_ok();
    !fields.into_iter().any(is_value)
}

/// The symbols of a line; blanks are passed over where they are no symbols.
fn decode(
    text: &str,
    alphabet: &Alphabet,
    place: &dyn Fn(usize) -> Box<Place>,
) -> Result<VecDeque<Option<u16>>, DataError> {
    let mut symbols = VecDeque::new();
    for (number, character) in (1..).zip(text.chars()) {
        match alphabet.decode(character) {
            Decoded::Symbol(symbol) => symbols.push_back(Some(symbol)),
            Decoded::Missing => symbols.push_back(None),
            Decoded::Unknown if character.is_whitespace() => {}
            Decoded::Unknown => return Err(unknown_symbol(place(number), character, alphabet)),
        }
    }
    Ok(symbols)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn channels(names: &[&str]) -> Kind {
        Kind::Channels(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// All samples or messages, with their lines.
    fn read_all(text: &[u8], kind: Kind) -> Vec<(u64, String)> {
        let mut reader = LiveReader::new(text, "standard input", kind);
        let mut all = Vec::new();
        loop {
            let read = match reader.read() {
                Ok(Some(sample)) => format!("{sample:?}"),
                Ok(None) => return all,
                Err(error) => error.to_string(),
            };
            all.push((reader.line(), read));
        }
    }

    #[test]
    fn numbers_by_commas_or_blanks() {
        let read = read_all(b"1,2\n\n 3  4.5\r\n5,\n6 NA\n-7 , 8e1", channels(&["x", "y"]));
        let expected =
            ["Row([1.0, 2.0])", "Row([3.0, 4.5])", "Missing", "Missing", "Row([-7.0, 80.0])"];
        assert_eq!(read.iter().map(|(_, one)| one.as_str()).collect::<Vec<_>>(), expected);
        assert_eq!(read.iter().map(|&(line, _)| line).collect::<Vec<_>>(), [1, 3, 4, 5, 6]);
    }

    #[test]
    fn a_header_picks_channels_by_name() {
        let table = b"series,label,t,y,z,x\n0,PEN,0,1,2,3\n0,PEN,1,4,5,\n";
        let read = read_all(table, channels(&["x", "y"]));
        assert_eq!(read, [(2, "Row([3.0, 1.0])".into()), (3, "Missing".into())]);
        let read = read_all(b"\xEF\xBB\xBFy\tx\tname\n1\t2\t\n", channels(&["x", "y"]));
        assert_eq!(read, [(2, "Row([2.0, 1.0])".into())]);
        let read = read_all(b"x y\n1 2\n", channels(&["x", "w"]));
        assert!(read[0].1.contains("no channel `w`"), "{}", read[0].1);
    }

    #[test]
    fn a_bad_line_is_named_and_the_next_is_read() {
        let read = read_all(b"1,2\n3,x\n4\n5,nan\n6,1e999\n\xFF,1\n7,8\n", channels(&["a", "b"]));
        let found: Vec<&str> = read.iter().map(|(_, one)| one.as_str()).collect();
        assert!(
            found[1].starts_with("standard input, line 2, column 2 (b): `x` is not"),
            "{}",
            found[1]
        );
        assert!(found[2].contains("line 3, column 2 (b): the row has 1 fields"), "{}", found[2]);
        assert!(found[3].contains("line 4, column 2 (b): `nan`"), "{}", found[3]);
        assert!(found[4].contains("line 5, column 2 (b): `1e999`"), "{}", found[4]);
        assert!(found[5].contains("line 6: is not UTF-8"), "{}", found[5]);
        assert_eq!(found[6], "Row([7.0, 8.0])");
    }

    #[test]
    fn symbols_one_or_many_to_a_line() {
        let read = read_all(b"A\nc\nGN\n\nTXA!\nT", Kind::Symbols(Alphabet::dna()));
        let found: Vec<&str> = read.iter().map(|(_, one)| one.as_str()).collect();
        assert_eq!(found[..4], ["Symbol(0)", "Symbol(1)", "Symbol(2)", "Missing"]);
        assert!(
            found[4].starts_with("standard input, line 5, character 4: `!` is not in"),
            "{}",
            found[4]
        );
        assert_eq!(found[5..], ["Symbol(3)"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let endless = std::io::BufReader::new(std::io::repeat(b'1'));
        let mut reader = LiveReader::new(endless, "pipe", channels(&["x"]));
        let message = reader.read().expect_err("too long").to_string();
        assert!(message.contains("longer than"), "{message}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, text in "[0-9a-zA-Z ,.\t\n-]{0,80}") {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                read_all(bytes, channels(&["a"]));
                read_all(bytes, channels(&["a", "t"]));
                read_all(bytes, Kind::Symbols(Alphabet::dna()));
            }
        }
    }
}
