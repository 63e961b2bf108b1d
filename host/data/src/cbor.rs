//! Conversion of CBOR (RFC 8949) to the values of JSON, as far as recorders use it.

use serde_json::{Map, Number, Value};

/// Largest depth of nested lists and maps.
const DEEPEST: usize = 64;

/// The value of bytes.
///
/// # Errors
/// The byte where it ceases to be one, and why.
pub(super) fn value(bytes: &[u8]) -> Result<Value, (usize, &'static str)> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.value(0).map_err(|what| (reader.at, what))?;
    match reader.at == bytes.len() {
        true => Ok(value),
        false => Err((reader.at, "something follows the end")),
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// Length of an item of indefinite length, which ends with a break.
const OPEN: u64 = u64::MAX;

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Result<&[u8], &'static str> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or("it ends too early")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The kind of an item, from 0 to 7, how its number is written, and its number.
    fn head(&mut self) -> Result<(u8, u8, u64), &'static str> {
        let first = self.take(1)?[0];
        let (kind, how) = (first >> 5, first & 31);
        let number = match how {
            0..=23 => how.into(),
            24..=27 => {
                let bytes = self.take(1 << (how - 24))?;
                bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
            }
            31 => OPEN,
            _ => return Err("an item of an unknown kind"),
        };
        Ok((kind, how, number))
    }

    /// Returns whether a break is next, and skips it.
    fn ends(&mut self) -> bool {
        let ends = self.bytes.get(self.at) == Some(&0xFF);
        self.at += usize::from(ends);
        ends
    }

    fn text(&mut self, kind: u8, number: u64) -> Result<String, &'static str> {
        let mut text = Vec::new();
        if number == OPEN {
            while !self.ends() {
                match self.head()? {
                    (part, _, length) if part == kind && length != OPEN => {
                        text.extend_from_slice(self.take(length as usize)?);
                    }
                    _ => return Err("a text with parts that are no texts"),
                }
            }
        } else {
            text.extend_from_slice(self.take(usize::try_from(number).unwrap_or(usize::MAX))?);
        }
        match kind {
            3 => String::from_utf8(text).map_err(|_| "a text that is not UTF-8"),
            // Bytes have no place in JSON: in hexadecimal digits.
            _ => Ok(text.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, &'static str> {
        if depth > DEEPEST {
            return Err("lists lie too deep in one another");
        }
        let (kind, how, number) = self.head()?;
        let real = |value: f64| Number::from_f64(value).map_or(Value::Null, Value::Number);
        Ok(match kind {
            0 if number != OPEN => Value::from(number),
            1 if number != OPEN => real(-1.0 - number as f64),
            2 | 3 => Value::String(self.text(kind, number)?),
            4 => {
                let mut list = Vec::new();
                while (list.len() as u64) < number && !(number == OPEN && self.ends()) {
                    list.push(self.value(depth + 1)?);
                }
                Value::Array(list)
            }
            5 => {
                let (mut map, mut count) = (Map::new(), 0);
                while count < number && !(number == OPEN && self.ends()) {
                    let key = match self.value(depth + 1)? {
                        Value::String(key) => key,
                        other => other.to_string(),
                    };
                    map.insert(key, self.value(depth + 1)?);
                    count += 1;
                }
                Value::Object(map)
            }
            // A tag says what the value is that follows.
            6 if number != OPEN => self.value(depth + 1)?,
            7 => match how {
                20 => Value::Bool(false),
                21 => Value::Bool(true),
                22 | 23 => Value::Null,
                25 => real(half(number as u16)),
                26 => real(f32::from_bits(number as u32).into()),
                27 => real(f64::from_bits(number)),
                _ => return Err("an item of an unknown kind"),
            },
            _ => return Err("an item of an unknown kind"),
        })
    }
}

/// A number of 16 bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples in appendix A of RFC 8949 are read.
    #[test]
    fn examples_of_the_standard_are_read() {
        for (bytes, wanted) in [
            (&b"\x18\x64"[..], "100"),
            (b"\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00", "1000000000000"),
            (b"\x39\x03\xe7", "-1000.0"),
            (b"\xf9\x3e\x00", "1.5"),
            (b"\xf9\x00\x01", "5.960464477539063e-8"),
            (b"\xfa\x47\xc3\x50\x00", "100000.0"),
            (b"\xfb\xc0\x10\x66\x66\x66\x66\x66\x66", "-4.1"),
            (b"\xf9\x7c\x00", "null"),
            (b"\xc1\x1a\x51\x4b\x67\xb0", "1363896240"),
            (b"\x44\x01\x02\x03\x04", "\"01020304\""),
            (b"\x7f\x65strea\x64ming\xff", "\"streaming\""),
            (b"\x9f\x01\x82\x02\x03\x9f\x04\x05\xff\xff", "[1,[2,3],[4,5]]"),
            (b"\xbf\x63Fun\xf5\x63Amt\x21\xff", "{\"Amt\":-2.0,\"Fun\":true}"),
        ] {
            assert_eq!(value(bytes).map(|value| value.to_string()), Ok(wanted.to_owned()));
        }
        for bytes in [
            &b""[..],
            b"\x9f",
            b"\x01\x01",
            b"\xff",
            b"\x1c",
            b"\x61\xff",
            b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(value(bytes).is_err(), "{bytes:?}");
        }
        assert!(value(&[0x81; 1000]).is_err());
    }
}
