//! What a device logged, as text.
//!
//! The published decoder switches on a feature of `serde_json` that changes how every file of this
//! workspace is read, so frames are taken apart here: as far as these tests look.

use std::collections::HashMap;
use std::path::Path;

use object::{Object, ObjectSymbol};

/// The messages of a log, decoded with the image that wrote it.
pub(crate) fn lines(elf: &Path, log: &[u8]) -> Vec<String> {
    let elf = std::fs::read(elf).expect("the image is there");
    let texts = texts(&elf);
    let frames = log.split(|byte| *byte == 0).filter(|frame| !frame.is_empty());
    // What a reset cut short does not decode.
    frames.filter_map(|frame| line(&texts, &rzcobs::decode(frame).ok()?)).collect()
}

/// Format strings by their index: the address of a symbol whose name is JSON.
fn texts(elf: &[u8]) -> HashMap<u16, String> {
    let elf = object::File::parse(elf).expect("an image");
    let text = |symbol: object::Symbol<'_, '_>| {
        let name: serde_json::Value = serde_json::from_str(symbol.name().ok()?).ok()?;
        let index = u16::try_from(symbol.address()).ok()?;
        Some((index, name.get("data")?.as_str()?.to_owned()))
    };
    elf.symbols().filter_map(text).collect()
}

/// A message with its strings, counts and enums in place; behind a placeholder of another kind it ends.
fn line(texts: &HashMap<u16, String>, frame: &[u8]) -> Option<String> {
    let (index, mut bytes) = frame.split_first_chunk()?;
    let mut rest = texts.get(&u16::from_le_bytes(*index))?.as_str();
    let mut line = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (kind, after) = after.split_once('}')?;
        line += before;
        rest = after;
        match kind {
            "=str" => {
                let (length, after) = bytes.split_first_chunk()?;
                let length = u32::from_le_bytes(*length) as usize;
                let (shown, after) = after.split_at_checked(length)?;
                line += &String::from_utf8_lossy(shown);
                bytes = after;
            }
            "" => {
                let (index, after) = bytes.split_first_chunk()?;
                let shown = texts.get(&u16::from_le_bytes(*index))?;
                let variant = after.first().map_or(0, |variant| usize::from(*variant));
                line += shown.split('|').nth(variant).unwrap_or(shown);
                return Some(line);
            }
            "=u8" | "=u16" | "=u32" | "=u64" => {
                let bits: usize = kind[2..].parse().ok()?;
                let (shown, after) = bytes.split_at_checked(bits / 8)?;
                let digits =
                    shown.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
                line += &digits.to_string();
                bytes = after;
            }
            _ => return Some(line),
        }
    }
    Some(line + rest)
}
