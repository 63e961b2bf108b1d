//! The files in a zip archive: stored or deflated, as programs write them.

use std::io::Read;

use flate2::read::DeflateDecoder;

/// Largest number of bytes of a file in an archive.
const LONGEST: u64 = 1 << 31;

/// Names of the files.
///
/// # Errors
/// What is wrong with the archive.
pub(super) fn names(bytes: &[u8]) -> Result<Vec<String>, String> {
    let names = std::cell::RefCell::new(Vec::new());
    files(bytes, |name| {
        names.borrow_mut().push(name.to_owned());
        false
    })?;
    Ok(names.into_inner())
}

/// Names and contents, in the order of the archive's directory; of the files whose names are wanted.
///
/// # Errors
/// What is wrong with the archive.
pub(super) fn files(
    bytes: &[u8],
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    const END: &[u8] = b"PK\x05\x06";
    // A comment of up to 65 535 bytes may follow the end's record.
    let from = bytes.len().saturating_sub(22 + 65_535);
    let tail = &bytes[from..];
    let end = tail.windows(4).rposition(|one| one == END).ok_or("ends too early")? + from;
    let (count, start) = (two(bytes, end + 10)?, four(bytes, end + 16)?);
    let (mut at, mut files) = (start as usize, Vec::new());
    for _ in 0..count {
        if bytes.get(at..at.saturating_add(4)) != Some(b"PK\x01\x02") {
            return Err("has a damaged directory".into());
        }
        let (flags, method) = (two(bytes, at + 8)?, two(bytes, at + 10)?);
        let (packed, size) = (four(bytes, at + 20)? as usize, four(bytes, at + 24)?);
        let lengths = [two(bytes, at + 28)?, two(bytes, at + 30)?, two(bytes, at + 32)?];
        let [name, extra, comment] = lengths.map(usize::from);
        let local = four(bytes, at + 42)? as usize;
        let text = part(bytes, at + 46, name)?;
        let text = String::from_utf8_lossy(text).into_owned();
        at += 46 + name + extra + comment;
        if text.ends_with('/') || !wanted(&text) {
            continue;
        }
        if flags & 1 != 0 {
            return Err(format!("has `{text}` encrypted; unpack it first"));
        }
        let skipped = usize::from(two(bytes, local + 26)?) + usize::from(two(bytes, local + 28)?);
        let content = part(bytes, local + 30 + skipped, packed)?;
        let mut plain = Vec::new();
        match method {
            0 => plain.extend_from_slice(content),
            8 => {
                let limit = u64::from(size).min(LONGEST);
                let unpacked = DeflateDecoder::new(content).take(limit + 1).read_to_end(&mut plain);
                if unpacked.is_err() || plain.len() as u64 != u64::from(size) {
                    return Err(format!("has `{text}` damaged"));
                }
            }
            _ => {
                return Err(format!(
                    "has `{text}`, which is not compressed by deflate; unpack it first"
                ));
            }
        }
        files.push((text, plain));
    }
    Ok(files)
}

fn part(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], String> {
    let end = at.checked_add(length).ok_or("has a damaged directory")?;
    bytes.get(at..end).ok_or_else(|| "ends too early".into())
}

fn two(bytes: &[u8], at: usize) -> Result<u16, String> {
    Ok(part(bytes, at, 2)?.first_chunk().map_or(0, |&pair| u16::from_le_bytes(pair)))
}

fn four(bytes: &[u8], at: usize) -> Result<u32, String> {
    Ok(part(bytes, at, 4)?.first_chunk().map_or(0, |&four| u32::from_le_bytes(four)))
}

/// An archive of stored files, for tests.
#[cfg(test)]
pub(super) fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let at = bytes.len() as u32;
        let size = (content.len() as u32).to_le_bytes();
        let length = (name.len() as u16).to_le_bytes();
        bytes.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
        [&size, &size].into_iter().for_each(|size| bytes.extend(size));
        bytes.extend(length);
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(*content);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
        [&size, &size].into_iter().for_each(|size| directory.extend(size));
        directory.extend(length);
        directory.extend([0; 12]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, size) = (bytes.len() as u32, directory.len() as u32);
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = (files.len() as u16).to_le_bytes();
    [&count, &count].into_iter().for_each(|count| bytes.extend(count));
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_files_are_unpacked() {
        let bytes = stored(&[("a.txt", b"one"), ("b/c.csv", b"two")]);
        let found = files(&bytes, |name| name.ends_with(".csv")).expect("sound");
        assert_eq!(found, [("b/c.csv".to_owned(), b"two".to_vec())]);
        for cut in 0..bytes.len() {
            let _ = files(&bytes[..cut], |_| true);
        }
        // Written by zip: `hello` deflated.
        let mut packed = stored(&[("h", b"\xcb\x48\xcd\xc9\xc9\x07\x00")]);
        let at = packed.windows(4).position(|one| one == b"PK\x01\x02").expect("there");
        packed[at + 10] = 8;
        packed[at + 24] = 5;
        assert_eq!(files(&packed, |_| true).expect("sound")[0].1, b"hello");
        packed[at + 24] = 6;
        assert!(files(&packed, |_| true).expect_err("damaged").contains("damaged"));
    }
}
