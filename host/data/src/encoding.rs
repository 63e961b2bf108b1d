//! Texts in other encodings than UTF-8.

use std::borrow::Cow;
use std::str::FromStr;

use super::error::DataError;

/// Encoding of a text's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8: one to four bytes per character.
    Utf8,
    /// UTF-16: two or four bytes, in the order of the byte order mark, by default the low byte first.
    Utf16,
    /// Windows-1252, for western European text: one byte per character; it contains ISO 8859-1.
    Windows1252,
}

/// The characters of the bytes 0x80 to 0x9F in Windows-1252.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "utf8" => Ok(Self::Utf8),
            "utf16" | "utf16le" | "utf16be" => Ok(Self::Utf16),
            "latin1" | "iso88591" | "iso885915" | "windows1252" | "cp1252" | "ansi" => {
                Ok(Self::Windows1252)
            }
            _ => Err(format!("`{text}` is not known; write utf-8, utf-16 or latin-1")),
        }
    }
}

impl Encoding {
    /// The byte order mark of UTF-8.
    pub(super) const MARK: &[u8] = b"\xEF\xBB\xBF";

    /// Returns whether a text begins as one of UTF-16 does.
    pub(super) fn is_wide(bytes: &[u8]) -> bool {
        bytes.starts_with(b"\xFF\xFE")
            || bytes.starts_with(b"\xFE\xFF")
            || unmarked(bytes).is_some()
    }

    /// A text as UTF-8 and without a byte order mark. Without an encoding it is UTF-8, or UTF-16 where it begins with the
    /// mark of that; bytes that are no UTF-8 stay, for readers name the line.
    ///
    /// # Errors
    /// [`DataError::Encoding`] of a text that is not so encoded.
    pub(super) fn decode<'t>(
        encoding: Option<Self>,
        name: &str,
        bytes: Cow<'t, [u8]>,
    ) -> Result<Cow<'t, [u8]>, DataError> {
        let wide = Self::is_wide(&bytes);
        let text = match encoding {
            None if wide => utf16(name, &bytes)?,
            Some(Self::Utf16) => utf16(name, &bytes)?,
            Some(Self::Windows1252) => {
                let one = |&byte: &u8| match byte {
                    0x80..=0x9F => WINDOWS[usize::from(byte - 0x80)],
                    other => char::from(other),
                };
                bytes.iter().map(one).collect()
            }
            None | Some(Self::Utf8) => {
                return Ok(match bytes {
                    Cow::Borrowed(text) => {
                        Cow::Borrowed(text.strip_prefix(Self::MARK).unwrap_or(text))
                    }
                    Cow::Owned(text) if text.starts_with(Self::MARK) => {
                        Cow::Owned(text[Self::MARK.len()..].to_vec())
                    }
                    text => text,
                });
            }
        };
        Ok(Cow::Owned(text.into_bytes()))
    }
}

/// Returns whether a text of two bytes per character, without a mark, has the high byte first; `None` of another text.
fn unmarked(bytes: &[u8]) -> Option<bool> {
    let (pairs, _) = bytes.get(..16)?.as_chunks::<2>();
    let all = |zero: usize| pairs.iter().all(|pair| pair[zero] == 0 && pair[1 - zero] >= b'\t');
    all(0).then_some(true).or_else(|| all(1).then_some(false))
}

fn utf16(name: &str, bytes: &[u8]) -> Result<String, DataError> {
    let high_first = bytes.starts_with(b"\xFE\xFF") || unmarked(bytes) == Some(true);
    let body = bytes.strip_prefix(b"\xFF\xFE").or_else(|| bytes.strip_prefix(b"\xFE\xFF"));
    let (pairs, rest) = body.unwrap_or(bytes).as_chunks::<2>();
    let units = pairs.iter().map(|&pair| match high_first {
        true => u16::from_be_bytes(pair),
        false => u16::from_le_bytes(pair),
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(DataError::Encoding { file: name.to_owned(), encoding: "UTF-16" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Option<Encoding>, bytes: &[u8]) -> Vec<u8> {
        Encoding::decode(encoding, "x", Cow::Borrowed(bytes)).expect("sound").into_owned()
    }

    #[test]
    fn one_text_is_read_in_every_encoding() {
        let text = "Größe;m/s²\n";
        let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
        assert_eq!(decoded(None, &marked), text.as_bytes());
        let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(None, &[b"\xFF\xFE", low.as_slice()].concat()), text.as_bytes());
        assert_eq!(decoded(None, &[b"\xFE\xFF", high.as_slice()].concat()), text.as_bytes());
        assert_eq!(decoded(Some(Encoding::Utf16), &low), text.as_bytes());
        let table = "series,label,t,x\n";
        let low: Vec<u8> = table.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let high: Vec<u8> = table.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!((decoded(None, &low), decoded(None, &high)), (table.into(), table.into()));
        let latin: Vec<u8> = text.chars().map(|one| u32::from(one) as u8).collect();
        assert_eq!(decoded(Some(Encoding::Windows1252), &latin), text.as_bytes());
        assert_eq!(decoded(Some(Encoding::Windows1252), b"\x80"), "€".as_bytes());
        assert!(Encoding::decode(Some(Encoding::Utf16), "x", Cow::Borrowed(b"abc")).is_err());
    }
}
