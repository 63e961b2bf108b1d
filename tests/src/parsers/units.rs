//! Units in headers, and times: what must hold of what is read off them.

use std::io::Cursor;

use fishweir::data::{
    Conversion, DataError, Dataset, Kind, LiveReader, Period, ReadOptions, Resample, Sample,
    conversions_in_words, split_unit, uncompared_in_words,
};

use super::names_the_file;

const FILE: &str = "fuzzed.csv";

/// Names of channels with units, one a line: the first is found, the second wanted. Conversions go back and forth, and a
/// table and a stream of this header match alike.
pub fn units(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let [found, wanted] = [lines.next(), lines.next()].map(Option::unwrap_or_default);
    let [(name, from), (_, to)] = [found, wanted].map(split_unit);
    assert!(found.contains(name) && found.contains(from));
    assert!(!name.is_empty() || found.trim().is_empty());
    let (there, back) = (Conversion::between(from, to), Conversion::between(to, from));
    assert_eq!(there.is_some(), back.is_some());
    if let (Some(there), Some(back)) = (there, back) {
        assert!(there.factor > 0.0 && there.factor.is_finite() && there.offset.is_finite());
        for x in [0.0_f64, 1.0, -273.15, 1e6] {
            let scale = x.abs() + there.offset.abs() * back.factor + 1.0;
            assert!((back.of(there.of(x)) - x).abs() <= 1e-9 * scale, "{from} to {to}: {x}");
        }
        assert!(!there.to_string().is_empty());
    }
    header(found, wanted);
}

/// A table and a stream of one channel under some header.
fn header(found: &str, wanted: &str) {
    let text = format!("t,{found}\n0,1\n1,2.5\n");
    let kind = Kind::Channels(vec![wanted.to_owned()]);
    let options = ReadOptions { kind: Some(kind.clone()), ..ReadOptions::default() };
    let data = Dataset::parse(FILE, text.as_bytes(), &options);
    let mut live = LiveReader::new(Cursor::new(text.as_bytes()), FILE, kind);
    let data = match data {
        Ok(data) => data,
        Err(error) => return names_the_file(&error, FILE),
    };
    // What the two lay out otherwise, such as labels and quotes, is none of this.
    let Ok(Some(Sample::Row(row))) = live.read() else { return };
    let row = row.to_vec();
    let view = data.series()[0].samples.view();
    if let Some(Sample::Row(first)) = view.iter().next() {
        assert_eq!((row.as_slice(), live.unit_matches()), (first, data.unit_matches()));
    }
    for words in [conversions_in_words, uncompared_in_words] {
        assert!(words(data.unit_matches()).is_none_or(|words| !words.contains('\n')));
    }
}

/// The header of a column of times, and times, one a line: read by a table and by a stream alike, of a positive rate, and
/// resampled to as many samples as the time is long.
pub fn times(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let rows: String =
        lines.take(200).enumerate().map(|(n, t)| format!("{t},{}\n", n % 7)).collect();
    let text = format!("{head},x\n{rows}");
    let data = match Dataset::parse(FILE, text.as_bytes(), &ReadOptions::default()) {
        Ok(data) => data,
        Err(error) => return names_the_file(&error, FILE),
    };
    let all: Vec<usize> = (0..data.series().len()).collect();
    let period = Period::of(&data, &all);
    if let Some(period) = period {
        assert!(period.seconds > 0.0 && period.admits(period.seconds), "{period:?}");
        assert!(matches!(data.check_rate(period), Ok(()) | Err(DataError::MixedRates { .. })));
    }
    assert!(data.irregular().is_none_or(|found| (0.0..=1.0).contains(&found.share)));
    streamed(&text, &data);
    let Ok(slow) = data.resampled(Resample::Lowest) else { return };
    for (slow, one) in slow.series().iter().zip(data.series()) {
        assert_eq!(slow.times.len(), slow.samples.view().len());
        assert!(slow.times.windows(2).all(|pair| pair[1] > pair[0]));
        // At the rate that it had, or a lower one, with lost samples filled in up to 64 at a time.
        assert!(slow.times.len() <= 65 * one.times.len());
    }
}

/// A stream of the same text has the same times.
fn streamed(text: &str, data: &Dataset) {
    let mut live = LiveReader::new(Cursor::new(text.as_bytes()), FILE, data.kind().clone());
    for (t, _) in data.series()[0].times.iter().zip(0..) {
        match live.advance() {
            Ok(true) if live.has_times() => assert_eq!(live.time(), Some(*t)),
            // A quoted field over two lines, or a first line of numbers, is no stream's.
            _ => return,
        }
        if live.begins_series() {
            return;
        }
    }
}
