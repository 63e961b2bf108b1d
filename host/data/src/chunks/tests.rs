use std::fmt::Write as _;
use std::io::Write as _;

use super::*;
use crate::{Column, Series, Source};

/// Series of 1 to 40 samples, every tenth name quoted, one series longer than any chunk but the largest.
fn text(order: fn(usize) -> usize) -> String {
    let mut text = "series,subject,label,t,x,y\n".to_owned();
    for series in 0..300 {
        let name = match series % 10 {
            9 => format!("\"{}, of ten\"", order(series)),
            _ => order(series).to_string(),
        };
        let label = ["walk", "run", ""][series % 3];
        let length = if series == 77 { 900 } else { 1 + series * 7 % 40 };
        for t in 0..length {
            let y = if (series + t) % 5 == 0 { "NA".to_owned() } else { format!("{t}.5") };
            let _ = writeln!(text, "{name},s{},{label},{t},0.{series},{y}", series % 7);
        }
        text.push_str(if series % 50 == 0 { "# a comment\n\n" } else { "" });
    }
    text
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a folder");
    file.write_all(bytes).expect("room");
    file
}

/// All series of all chunks, with their labels by name.
fn chunked(table: &LargeTable) -> (Vec<Series>, usize) {
    let (mut all, mut chunks) = (Vec::new(), 0);
    for data in table.chunks().expect("there") {
        let data = data.expect("sound");
        assert_eq!(data.checksum(), table.sample().checksum());
        all.extend_from_slice(data.series());
        chunks += 1;
    }
    (all, chunks)
}

#[test]
fn chunks_are_the_whole_wherever_they_end() {
    let options = ReadOptions::default();
    let rising = text(|series| series);
    let others = text(|series| series * 7 % 307);
    for text in [
        rising.clone(),
        rising.replace('\n', "\r\n"),
        others,
        rising.replace(", of", " of").replace(',', "\t"),
    ] {
        let file = file(text.as_bytes());
        let whole = Dataset::read(file.path(), &options).expect("sound");
        let mut counts = Vec::new();
        for chunk in [64, 333, 1000, 20_000, CHUNK] {
            let table = LargeTable::open_by(file.path(), &options, 1_000, chunk).expect("sound");
            let (series, chunks) = chunked(&table);
            assert!(series == whole.series(), "chunks of {chunk} bytes");
            assert_eq!(table.sample().series(), whole.series());
            assert_eq!(table.sample().classes(), whole.classes());
            assert_eq!(table.sample().checksum(), whole.checksum());
            let TableCounts { series, samples, missing, of_class, .. } = table.counts();
            assert_eq!((*series, *samples), (300, whole.observations()));
            assert_eq!(*missing, whole.missing().observations);
            assert_eq!(of_class[&Some("run".to_owned())], 100);
            let some = LargeTable::open_by(file.path(), &options, 40, chunk).expect("sound");
            assert_eq!(some.sample().series().len(), 40);
            let is_there = |one: &Series| whole.series().contains(one);
            assert!(some.sample().series().iter().all(is_there));
            counts.push(chunks);
        }
        assert!(counts[0] > 100 && counts.last() == Some(&1), "{counts:?}");
    }
}

#[test]
fn a_packed_table_is_read_in_chunks() {
    let text = text(|series| series);
    let mut packed = Vec::new();
    for half in [&text[..5_000], &text[5_000..]] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(half.as_bytes()).expect("memory");
        packed.extend(gzip.finish().expect("memory"));
    }
    let file = file(&packed);
    let table = LargeTable::open_by(file.path(), &ReadOptions::default(), 10, 777);
    let table = table.expect("sound");
    let whole = Dataset::read(file.path(), &ReadOptions::default()).expect("sound");
    assert!(chunked(&table).0 == whole.series());
    std::fs::write(file.path(), &packed[..packed.len() / 2]).expect("room");
    let ended = LargeTable::open_by(file.path(), &ReadOptions::default(), 10, 777);
    assert!(matches!(ended, Err(DataError::Gzip { .. })), "{ended:?}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_table_of_parquet_is_read_in_chunks() {
    let file = file(include_bytes!("parquet/snappy.parquet"));
    let whole = Dataset::read(file.path(), &ReadOptions::default()).expect("sound");
    for chunk in [16, 100, CHUNK] {
        let table = LargeTable::open_by(file.path(), &ReadOptions::default(), 10, chunk);
        assert_eq!(chunked(&table.expect("sound")).0, whole.series());
    }
}

#[test]
fn a_fault_is_named_as_in_a_file_that_is_read_whole() {
    let sound = text(|series| series * 7 % 307);
    let lines: Vec<&str> = sound.lines().collect();
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    let faults = [
        with(4_000, "2,s1,run,one,1,2"),
        with(4_001, "2,s1,run,1"),
        with(4_002, "5000,s1,run,1,one,2"),
        with(4_003, "5000,s1,run,1,1e60,2"),
        with(lines.len() - 1, "0,s0,walk,0,1,2"),
        with(lines.len() - 1, "9999,s0,walk,0,NA,NA"),
        format!("{sound}0,s0,walk,0,1,2"),
        format!("{sound}4000,s0,walk,1,1,2\n4000,s0,walk,1,1,2\n"),
        format!("{sound}4000,s0,walk,1,1,2\n4000,s0,run,2,1,2\n"),
        format!("{sound}\"4000,s0,walk,1,1,2\n4001,s0,walk,1,1,2\n"),
    ];
    for (index, fault) in faults.iter().enumerate() {
        let file = file(fault.as_bytes());
        let whole = Dataset::read(file.path(), &ReadOptions::default());
        let whole = whole.expect_err("has a fault").to_string();
        for chunk in [100, 5_000, CHUNK] {
            let table = LargeTable::open_by(file.path(), &ReadOptions::default(), 10, chunk);
            assert_eq!(table.expect_err("has a fault").to_string(), whole, "{index}");
        }
    }
}

#[test]
fn what_needs_the_whole_is_refused() {
    let refused = |text: &str, options: &ReadOptions| {
        let file = file(text.as_bytes());
        match LargeTable::open_by(file.path(), options, 10, CHUNK) {
            Err(DataError::NoChunks { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    let options = ReadOptions::default();
    let turns: String =
        (0..200).map(|row| format!("{},{},{row}.5\n", ["a", "b"][row % 2], row / 2)).collect();
    assert!(refused(&format!("series,t,x\n{turns}"), &options).contains("interleaved"));
    assert!(refused("t,x\n0,1\n1,2\n2,3\n", &options).contains("no column"));
    assert!(refused("label,sequence\na,ACGT\nb,ACGA\n", &options).contains("strings of symbols"));
    let own = |source: Source| ReadOptions { source, ..ReadOptions::default() };
    let sound = text(|series| series);
    let segments = own(Source { segments: true, ..Source::default() });
    assert!(refused(&sound, &segments).contains("label changes"));
    let none = own(Source { series: Some(Column::None), ..Source::default() });
    assert!(refused(&sound, &none).contains("no column"));
    let lowest = ReadOptions { resample: Some(Resample::Lowest), ..options };
    assert!(refused(&sound, &lowest).contains("rate"));
}

#[test]
fn a_file_that_changes_between_readings_is_found_out() {
    let text = text(|series| series);
    let file = file(text.as_bytes());
    let table = LargeTable::open_by(file.path(), &ReadOptions::default(), 10, 1_000);
    let table = table.expect("sound");
    std::fs::write(file.path(), text.replace("0.299", "0.298")).expect("room");
    let last = table.chunks().expect("there").last();
    assert!(matches!(last, Some(Err(DataError::NoChunks { .. }))), "{last:?}");
}
