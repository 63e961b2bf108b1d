//! WAV: sound of 8, 16, 24 or 32 bits, whole or floating, any number of channels.

use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::Part;
use super::recording::part;

pub(super) static LAYOUT: Layout = Layout {
    name: "wav",
    alias: "wave",
    about: "a WAV file",
    of_symbols: false,
    recordings: None,
    is_one: |bytes| bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE"),
    read,
};

/// Coding of the samples.
struct Format {
    floating: bool,
    channels: usize,
    rate: u32,
    bits: u16,
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|&pair| u16::from_le_bytes(pair))
}

fn four(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&four| u32::from_le_bytes(four))
}

impl Format {
    fn read(chunk: &[u8]) -> Option<Self> {
        let mut code = two(chunk, 0)?;
        if code == 0xFFFE {
            // The code is at the begin of an identifier.
            code = two(chunk, 24)?;
        }
        let (channels, rate, bits) = (two(chunk, 2)?, four(chunk, 4)?, two(chunk, 14)?);
        let floating = match (code, bits) {
            (1, 8 | 16 | 24 | 32) => false,
            (3, 32 | 64) => true,
            _ => return None,
        };
        (channels > 0 && rate > 0).then_some(Self {
            floating,
            channels: channels.into(),
            rate,
            bits,
        })
    }

    /// Value between -1 and 1.
    fn sample(&self, bytes: &[u8]) -> f64 {
        match (self.floating, bytes) {
            (true, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
            (true, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            (false, &[a]) => (f64::from(a) - 128.0) / 128.0,
            (false, &[a, b]) => f64::from(i16::from_le_bytes([a, b])) / 32_768.0,
            (false, &[a, b, c]) => f64::from(i32::from_le_bytes([0, a, b, c])) / 2_147_483_648.0,
            (false, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])) / 2_147_483_648.0,
            _ => f64::NAN,
        }
    }
}

/// Reads a recording, whose samples are between -1 and 1 and whose rate is the file's.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let wrong =
        |what: &str| DataError::Header { line: 1, file: name.to_owned(), what: what.to_owned() };
    let (mut at, mut format, mut data) = (12, None, None);
    while let (Some(kind), Some(size)) = (bytes.get(at..at + 4), four(bytes, at + 4)) {
        let begin = at + 8;
        let end = begin.saturating_add(size as usize).min(bytes.len());
        let chunk = bytes.get(begin..end).unwrap_or_default();
        match kind {
            b"fmt " => {
                let read = Format::read(chunk).ok_or_else(|| {
                    wrong("is compressed sound, or of an unknown kind; write PCM of 8 to 32 bits")
                })?;
                format = Some(read);
            }
            // A recorder that was cut off wrote no length.
            b"data" => {
                let open = size == 0 || size == u32::MAX;
                data = Some(if open { bytes.get(begin..).unwrap_or_default() } else { chunk });
                if open {
                    break;
                }
            }
            _ => {}
        }
        at = end + (end - begin) % 2;
    }
    let (Some(format), Some(data)) = (format, data) else {
        return Err(wrong("is a WAV file without a format or samples; record it again"));
    };
    let width = usize::from(format.bits / 8);
    let rows: Vec<Vec<f64>> = (data.chunks_exact(width * format.channels))
        .map(|row| row.chunks_exact(width).map(|sample| format.sample(sample)).collect())
        .collect();
    let channels = match format.channels {
        1 => vec!["sound".to_owned()],
        more => (1..=more).map(|number| format!("sound{number}")).collect(),
    };
    let period = Some(1.0 / f64::from(format.rate));
    let recording = Recording { period, rows, ..Recording::default() };
    part(name, Some(&channels), channels.len(), vec![recording], options)
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, Kind, ReadOptions};

    /// A file with chunks that are passed over.
    fn wav(code: u16, channels: u16, bits: u16, data: &[u8]) -> Vec<u8> {
        let mut format = Vec::new();
        format.extend(code.to_le_bytes());
        format.extend(channels.to_le_bytes());
        format.extend(8000_u32.to_le_bytes());
        format.extend((8000 * u32::from(channels * bits / 8)).to_le_bytes());
        format.extend((channels * bits / 8).to_le_bytes());
        format.extend(bits.to_le_bytes());
        let mut file = b"RIFF\0\0\0\0WAVE".to_vec();
        for (kind, chunk) in [(b"LIST", &b"odd"[..]), (b"fmt ", &format), (b"data", data)] {
            file.extend(kind);
            file.extend((chunk.len() as u32).to_le_bytes());
            file.extend(chunk);
            file.extend(vec![0; chunk.len() % 2]);
        }
        file
    }

    fn samples(file: &[u8]) -> (Vec<String>, Vec<f64>) {
        let data = Dataset::parse("a/yes_1.wav", file, &ReadOptions::default()).expect("sound");
        assert_eq!(
            (data.series()[0].id.as_str(), data.series()[0].times[1]),
            ("yes_1", 1.0 / 8000.0)
        );
        let Kind::Channels(names) = data.kind() else { panic!("channels") };
        let rows = data.series()[0].samples.view().rows().expect("channels");
        (names.clone(), rows.iter().flatten().flatten().copied().collect())
    }

    #[test]
    fn sound_of_any_width_is_between_minus_one_and_one() {
        let one = vec!["sound".to_owned()];
        let pcm: Vec<u8> = [0_i16, 16_384, -32_768].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(samples(&wav(1, 1, 16, &pcm)), (one.clone(), vec![0.0, 0.5, -1.0]));
        assert_eq!(samples(&wav(1, 1, 8, &[128, 192, 0])), (one.clone(), vec![0.0, 0.5, -1.0]));
        assert_eq!(samples(&wav(1, 1, 24, &[0, 0, 64, 0, 0, 128])), (one.clone(), vec![0.5, -1.0]));
        let float: Vec<u8> = [0.25_f32, -0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(samples(&wav(3, 1, 32, &float)), (one, vec![0.25, -0.5]));
        let both = samples(&wav(1, 2, 16, &[0, 64, 0, 128, 0, 0, 0, 64]));
        assert_eq!(both, (vec!["sound1".into(), "sound2".into()], vec![0.5, -1.0, 0.0, 0.5]));
    }

    #[test]
    fn what_is_no_sound_is_refused() {
        for file in [wav(85, 1, 16, &[0; 4]), b"RIFF\0\0\0\0WAVE".to_vec(), wav(1, 1, 16, &[])] {
            assert!(Dataset::parse("x", &file, &ReadOptions::default()).is_err());
        }
    }
}
