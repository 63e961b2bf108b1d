//! Bytes of a file, and the text in them.

use std::borrow::Cow;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::encoding::Encoding;
use super::error::DataError;

/// The name of standard input in messages.
const STANDARD: &str = "standard input";

/// A file's name for messages, and its bytes.
///
/// # Errors
/// [`DataError::Io`] of a file that cannot be read.
pub fn load(path: &Path) -> Result<(String, Vec<u8>), DataError> {
    let file = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => Ok((file, bytes)),
        Err(source) => Err(DataError::Io { file, source }),
    }
}

/// The bytes of a file, or of standard input, and its name for messages.
pub(super) fn load_or_standard(path: &Path) -> Result<(String, Vec<u8>), DataError> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let file = STANDARD.to_owned();
        return match std::io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => Ok((file, bytes)),
            Err(source) => Err(DataError::Io { file, source }),
        };
    }
    load(path)
}

/// The text of a file, which is not empty: unpacked, in UTF-8, and without a byte order mark. A table of Parquet is the
/// text that it stands for.
///
/// # Errors
/// [`DataError`] of a damaged gzip or Parquet file, or an empty one.
pub fn unpacked<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, DataError> {
    unpacked_as(name, bytes, None)
}

/// Decodes a text whose encoding is known.
///
/// # Errors
/// As [`unpacked`]; of a text that is not so encoded.
pub fn unpacked_as<'a>(
    name: &str,
    bytes: &'a [u8],
    encoding: Option<Encoding>,
) -> Result<Cow<'a, [u8]>, DataError> {
    let plain = gunzip(name, bytes)?;
    #[cfg(feature = "parquet")]
    if plain.starts_with(super::parquet::MAGIC) {
        let text = super::parquet::text(&plain);
        let text =
            text.map_err(|what| DataError::Header { line: 1, file: name.to_owned(), what })?;
        return Ok(Cow::Owned(text.into_bytes()));
    }
    let text = Encoding::decode(encoding, name, plain)?;
    if text.trim_ascii().is_empty() {
        return Err(DataError::Empty { file: name.to_owned() });
    }
    Ok(text)
}

/// The content itself, unpacked if it begins like gzip.
fn gunzip<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, DataError> {
    const MAGIC: [u8; 2] = [0x1F, 0x8B];
    if !bytes.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let wrong = |what: String| DataError::Gzip { file: name.to_owned(), what };
    let (mut plain, mut rest) = (Vec::new(), bytes);
    while rest.starts_with(&MAGIC) {
        let mut member = GzDecoder::new(rest);
        member.read_to_end(&mut plain).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => wrong("ends too early".to_owned()),
            ErrorKind::OutOfMemory => {
                DataError::TooLarge { file: name.to_owned(), bytes: 2 * plain.len() }
            }
            _ => wrong(format!("is damaged: {error}")),
        })?;
        rest = member.into_inner();
    }
    // Zeros fill up blocks, and gzip itself passes over them.
    if rest.iter().any(|&byte| byte != 0) {
        return Err(wrong(format!("{} bytes behind its end belong to no gzip", rest.len())));
    }
    Ok(Cow::Owned(plain))
}
