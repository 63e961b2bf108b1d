//! Bytes as text in a page of UTF-8: compressed by LZMA, then seven bits to a character.

use std::io::{self, Write};

use lzma_rust2::{LzmaOptions, LzmaWriter};

/// The most that a match goes back: all of any module.
const DICTIONARY: u32 = 1 << 24;

/// Characters that HTML changes, or that begin a tag.
const UNSAFE: [u8; 3] = [0, b'\r', b'<'];

/// Bytes as text: their compressed length, a colon, and seven bits to a character.
///
/// A character that must not stand there stands with the next seven bits in one of two bytes, from U+0100 on. So text takes 8/7 of the
/// compressed bytes, where base64 takes 4/3.
pub(crate) fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut options = LzmaOptions::with_preset(9);
    // Code of WebAssembly has no words of four bytes.
    (options.dict_size, options.lc, options.lp, options.pb) = (DICTIONARY, 4, 0, 0);
    options.nice_len = LzmaOptions::NICE_LEN_MAX;
    let mut packed = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64))?;
    packed.write_all(bytes)?;
    Ok(in_sevens(&packed.finish()?))
}

fn in_sevens(bytes: &[u8]) -> String {
    let mut text = format!("{}:", bytes.len());
    let count = (8 * bytes.len()).div_ceil(7);
    let seven = |index: usize| {
        let (byte, bit) = (7 * index / 8, 7 * index % 8);
        let at = |place: usize| u16::from(bytes.get(place).copied().unwrap_or(0));
        ((at(byte) << 8 | at(byte + 1)) >> (9 - bit) & 127) as u8
    };
    let mut index = 0;
    while index < count {
        let value = seven(index);
        match UNSAFE.iter().position(|&other| other == value) {
            None => text.push(char::from(value)),
            Some(which) => {
                index += 1;
                let code = 0x100 + 128 * which as u32 + u32::from(seven(index));
                text.extend(char::from_u32(code));
            }
        }
        index += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inverse, as the page's `unpack.js` has it.
    fn bytes_of(text: &str) -> Vec<u8> {
        let (length, text) = text.split_once(':').expect("a length");
        let mut bits = Vec::new();
        let mut put = |value: u32| bits.extend((0..7).rev().map(|bit| value >> bit & 1));
        for letter in text.chars() {
            match u32::from(letter) {
                code @ ..128 => put(code),
                code => {
                    put(UNSAFE[(code as usize - 0x100) / 128].into());
                    put((code - 0x100) % 128);
                }
            }
        }
        let byte = |bits: &[u32]| bits.iter().fold(0, |byte, bit| byte << 1 | bit) as u8;
        let bytes = bits.chunks(8).map(byte);
        bytes.take(length.parse().expect("a number")).collect()
    }

    #[test]
    fn all_bytes_pass_and_nothing_that_html_changes_is_written() {
        for length in [0, 1, 2, 6, 7, 8, 300] {
            for factor in [0, 1, 37, 255] {
                let bytes: Vec<u8> = (0..length).map(|i| (i * factor % 256) as u8).collect();
                let text = in_sevens(&bytes);
                assert_eq!(bytes_of(&text), bytes);
                assert!(text.bytes().all(|byte| !UNSAFE.contains(&byte)), "{text:?}");
            }
        }
    }
}
