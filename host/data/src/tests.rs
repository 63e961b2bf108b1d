//! Tests of the readers through the public interface: every layout, every error.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn parse(text: &str, options: &ReadOptions) -> Result<Dataset, DataError> {
    Dataset::parse("data", text.as_bytes(), options)
}

fn read(text: &str) -> Dataset {
    parse(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn symbols_of(data: &Dataset) -> Vec<Vec<Option<u16>>> {
    let symbols = |series: &Series| series.samples.view().symbols().expect("symbols").to_vec();
    data.series().iter().map(symbols).collect()
}

fn labels_of(data: &Dataset) -> Vec<Option<&str>> {
    let name = |series: &Series| series.label.map(|label| data.classes()[label].as_str());
    data.series().iter().map(name).collect()
}

const WATCH: &str = "\
series,subject,side,label,t,ax,ay
0,7,1,PEN,0,-1.08,-0.02
0,7,1,PEN,1,,0.5
0,7,1,PEN,2.5, 1e-1 ,NA
0,7,1,PEN,3,,NA
1,10,0,ABD,0,1,2
2,9,0,,0,3,NA
2,9,0,,1,3,4
";

#[test]
fn a_series_table_keeps_order_columns_times_and_gaps() {
    for text in [WATCH.to_owned(), WATCH.replace('\n', "\r\n"), WATCH.replace(',', "\t")] {
        let data = read(&text);
        assert_eq!(data.kind(), &Kind::Channels(vec!["ax".into(), "ay".into()]));
        assert_eq!(data.classes(), ["ABD", "PEN"]);
        assert_eq!(labels_of(&data), [Some("PEN"), Some("ABD"), None]);
        assert_eq!(data.columns(), ["subject", "side"]);
        assert_eq!(data.observations(), 7);
        assert_eq!(data.missing().to_string(), "1 missing, 3 in some channels");
        let first = &data.series()[0];
        assert_eq!((first.id.as_str(), first.line), ("0", 2));
        assert_eq!(
            (&first.columns[..], &first.times[..]),
            (&["7".into(), "1".into()][..], &[0.0, 1.0, 2.5, 3.0][..])
        );
        let rows: Vec<_> = first.samples.view().rows().expect("channels").iter().collect();
        assert_eq!(rows, [Some(&[-1.08, -0.02][..]), None, None, None]);
        let rows = first.samples.view().rows().expect("channels").iter_in_part();
        let there: Vec<f64> = rows.flatten().flatten().copied().filter(|x| !x.is_nan()).collect();
        assert_eq!(
            (&there[..], &data.missing().absent[..]),
            (&[-1.08, -0.02, 0.5, 0.1][..], &[1, 2][..])
        );
        assert_eq!(
            data.groups("subject").expect("there"),
            (vec![0, 2, 1], vec!["7".into(), "9".into(), "10".into()])
        );
    }
}

#[test]
fn channels_are_picked_by_name_and_columns_may_stand_anywhere_before_t() {
    let kind = Some(Kind::Channels(vec!["ay".into()]));
    let data = parse(WATCH, &ReadOptions { kind, ..ReadOptions::default() }).expect("valid");
    assert_eq!(data.missing().observations, 3);
    let row = data.series()[0].samples.view().rows().expect("channels").row(0);
    assert_eq!(row, Some(&[-0.02][..]));

    let data = read("series,label,speaker,t,c0\na,x,george,0,1\n");
    assert_eq!((data.columns(), data.classes()), (&["speaker".into()][..], &["x".into()][..]));
    let data = read("\u{FEFF}t,\"x\"\n0,1\n\n1,2\n");
    assert_eq!((data.series()[0].id.as_str(), data.observations()), ("data", 2));
}

#[test]
fn labelled_strings_know_missing_symbols_and_repeats() {
    let data = read(
        "label\tid\tsequence\tgene\nEI\ta\tACGTACGTACGTACGTACGTN\tg1\n\
         IE\tb\tacgt-\tg1\n\tc\tACGT\tg2\n",
    );
    assert_eq!(data.kind(), &Kind::Symbols(Alphabet::dna()));
    assert_eq!(labels_of(&data), [Some("EI"), Some("IE"), None]);
    assert_eq!(symbols_of(&data)[1], [Some(0), Some(1), Some(2), Some(3), None]);
    assert_eq!(data.missing().to_string(), "2 missing (- 1, N 1)");
    assert_eq!(data.groups("gene").expect("there").0, [0, 0, 1]);

    let data = read("sequence\nabca\nhello, \"world\nabca\n");
    assert_eq!(data.series()[2].id, "3");
    assert_eq!(data.groups("sequence").expect("always").0, [0, 1, 0]);
    assert_eq!(data.kind(), &Kind::Symbols(Alphabet::new(" \",abcdehlorw").expect("distinct")));
    let data = read("label,sequence\n\"a,b\",xyz\n");
    assert_eq!(data.classes(), ["a,b"]);
}

#[test]
fn fasta_labels_come_from_words_keys_or_files() {
    let text = "; comment\n>s1 EI label=donor\nACGT ACGT\nACGT\n\n>s2 IE label=acceptor\nAAAACGT\n";
    assert_eq!(labels_of(&read(text)), [None, None]);
    let by = |fasta_label| ReadOptions { fasta_label, ..ReadOptions::default() };
    let data = parse(text, &by("2".parse().expect("any"))).expect("second words");
    assert_eq!(labels_of(&data), [Some("EI"), Some("IE")]);
    let data = parse(text, &by("label".parse().expect("any"))).expect("keys");
    assert_eq!(labels_of(&data), [Some("donor"), Some("acceptor")]);
    assert_eq!((data.series()[0].samples.view().len(), data.series()[1].line), (12, 6));

    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("writable");
        path
    };
    // Packed in spite of its name: the content decides.
    let exons = write("exons.fa", &gzip(b">a\nACGT\n>a\nACG\n"));
    let introns = write("introns.fa", b">b\nTTTT\n");
    let classes = [("intron".to_owned(), introns.clone()), ("exon".to_owned(), exons)];
    let data = Dataset::read_classes(&classes, &ReadOptions::default()).expect("two classes");
    assert_eq!(labels_of(&data), [Some("intron"), Some("exon"), Some("exon")]);
    assert_eq!(data.kind(), &Kind::Symbols(Alphabet::dna()));

    let labelled = write("labelled.tsv", b"label\tsequence\nx\tACGT\n");
    let classes = [("intron".to_owned(), introns), ("exon".to_owned(), labelled)];
    let error = Dataset::read_classes(&classes, &ReadOptions::default()).expect_err("refused");
    assert!(error.to_string().contains("as class `exon` but has labels"), "{error}");
}

#[test]
fn a_model_prescribes_classes_and_alphabet() {
    let options = ReadOptions {
        kind: Some(Kind::Symbols(Alphabet::new("TGCA").expect("distinct"))),
        classes: Some(vec!["z".into(), "a".into()]),
        ..ReadOptions::default()
    };
    let data = parse("label\tsequence\na\tAT\n\tGG\n", &options).expect("valid");
    assert_eq!((data.series()[0].label, data.series()[1].label), (Some(1), None));
    assert_eq!(symbols_of(&data), [[Some(3), Some(0)], [Some(1), Some(1)]]);
    assert_eq!(data.classes(), ["z", "a"]);
    let error = data.labels().expect_err("refused").to_string();
    assert!(error.starts_with("data, line 3: series `2` has no label; training and"), "{error}");
    assert!(error.ends_with("of FASTA a part of the header"), "{error}");
    let error = parse("label\tsequence\nz\tAT\nb\tGG\n", &options).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "data, line 3, column 1 (label): unknown label `b`; known labels: z, a"
    );
    let error = parse("label\tsequence\nz\tAT\na\tGxG\n", &options).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "data, line 3, column 2 (sequence), character 2: `x` is not in the alphabet TGCA; \
         missing symbols are written - ?"
    );
    let error = parse(WATCH, &options).expect_err("refused");
    assert_eq!(error.to_string(), "data: has real channels, and strings of symbols are needed");
}

/// Message for each mistake of a user: its beginning, and a part of its advice.
#[test]
fn every_mistake_is_named_by_place() {
    let table = |rows: &str| format!("series,label,t,x,y\n{rows}");
    let cases: &[(String, &str, &str)] = &[
        (String::new(), "data: is empty", "header"),
        (" \n\r\n".into(), "data: is empty", "header"),
        ("a,b\n1,2\n".into(), "data: line 1 fits no known layout", "`a,b`"),
        (table(""), "data: has a header but no data", "below"),
        ("label\tsequence\n".into(), "data: has a header but no data", "below"),
        (
            "series,label,t\n0,a,0\n".into(),
            "data: line 1, the header: has no channel",
            "after the column `t`",
        ),
        ("series,t,x,x\n0,0,1,1\n".into(), "data: line 1, the header: columns 3 and 4", "rename"),
        (table("0,a,0,1\n"), "data, line 2, column 5 (y): the row has 4 fields", "5 are expected"),
        (table("0,a,0,1,2,3\n"), "data, line 2, column 6: the row has 6 fields", "decimal points"),
        (table("0,a,0,1,2\n0,a,1,1,abc\n"), "data, line 3, column 5 (y): `abc`", "write NA"),
        (table("0,a,0,inf,2\n"), "data, line 2, column 4 (x): `inf`", "finite"),
        (table("0,a,0,1,-inf\n"), "data, line 2, column 5 (y): `-inf`", "finite"),
        (table("0,a,0,1,1e999\n"), "data, line 2, column 5 (y): `1e999`", "finite"),
        (table("0,a,0,1,1e39\n"), "data, line 2, column 5 (y): `1e39`", "3.4e38"),
        ("t\tx\n0\t0.5\n1\t0,5\n".into(), "data, line 3, column 2 (x): `0,5` has a decimal", "point"),
        ("t,x\n0,\"1,234\"\n".into(), "data, line 2, column 2 (x): `1,234` has a comma", "thousands"),
        (
            "t_ms;druck;strom\n0;3,064;1,572\n10;3,112;1,604\n".into(),
            "data, line 2, column 2 (druck): `3,064` has a comma",
            "thousands",
        ),
        (table("0,a\u{202E},0,1,2\n"), "data, line 2, column 2 (label), character 2: ", "U+202E"),
        (table("0,a\u{200B},0,1,2\n"), "data, line 2, column 2 (label), character 2: ", "U+200B"),
        ("t,x\u{2060}\n0,1\n".into(), "data, line 1, column 2, character 2: ", "U+2060"),
        ("t,so\u{AD}ft\n0,1\n".into(), "data, line 1, column 2, character 3: ", "U+00AD"),
        ("t,\u{FEFF}x\n0,1\n".into(), "data, line 1, column 2, character 1: ", "U+FEFF"),
        (table("0,\"a\nb\",0,1,2\n"), "data, line 2, column 2 (label), character 2: ", "U+000A"),
        ("t,x\u{7}\n0,1\n".into(), "data, line 1, column 2, character 2: ", "U+0007"),
        ("label\tid\tsequence\na\tb\u{200F}\tA\n".into(), "data, line 2, column 2 (id)", "U+200F"),
        (">a\u{1}b c\nA\n".into(), "data, line 1, character 3: has the unprintable character", "U+0001"),
        (
            // A single letter outside the alphabet does not make `N` a symbol.
            "sequence\nACGTNACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\
             ACGTACGTACGTACGTACGTACGTACGTE\n"
                .into(),
            "data, line 2, column 1 (sequence), character 110: `E` is not in the alphabet dna",
            "N",
        ),
        (table("0,a,,1,2\n"), "data, line 2, column 3 (t): the time ``", "number"),
        (table("0,a,0,1,2\n0,a,0,1,2\n"), "data, line 3, column 3 (t): t is 0 after 0", "must rise"),
        (
            table("0,a,5,1,2\n0,a,4,1,2\n"),
            "data, line 3, column 3 (t): t is 4 after 5",
            "series `0`",
        ),
        (
            table("0,a,0,1,2\n\n0,b,1,1,2\n"),
            "data, line 4, column 2 (label): `b`",
            "began with `a`",
        ),
        (
            table("0,a,0,1,2\n1,a,0,1,2\n0,a,1,1,2\n"),
            "data, line 4, column 1 (series): series `0`",
            "line 2",
        ),
        (table(",a,0,1,2\n"), "data, line 2, column 1 (series): is empty", "name"),
        (table("0,a,0,,\n0,a,1,NA,NA\n"), "data, line 2: `0` has no sample", "missing"),
        (
            table("0,a,0,,2\n1,a,0,,\n1,a,1,NA,1\n"),
            "data, line 2: `0` has no sample with all channels: `x` is missing",
            "remove the column",
        ),
        (
            "label\tid\tsequence\na\tb\t\n".into(),
            "data, line 2, column 3 (sequence): `b` has no sampl",
            "remove",
        ),
        ("label\tid\tsequence\na\t\tAC\n".into(), "data, line 2, column 2 (id): is empty", "name"),
        (
            "label\tsequence\na\t--\n".into(),
            "data, line 2, column 2 (sequence): `1` has no sampl",
            "missing",
        ),
        (
            "label\tsequence\na\tA\u{1}C\n".into(),
            "data, line 2, column 2 (sequence), character 2: `\\u{1}`",
            "AC",
        ),
        (">a\nACGT\n>b\n>c\nA\n".into(), "data, line 3: `b` has no sample", "remove"),
        (">a\n".into(), "data, line 1: `a` has no sample", "remove"),
    ];
    for (text, begin, advice) in cases {
        match parse(text, &ReadOptions::default()) {
            Ok(_) => panic!("accepted: {text:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    message.starts_with(begin) && message.contains(advice),
                    "{text:?}: {message}"
                );
            }
        }
    }
}

#[test]
fn mistakes_that_options_reveal() {
    let refused =
        |text: &str, options: ReadOptions| parse(text, &options).expect_err("refused").to_string();
    let dna = || Some(Kind::Symbols(Alphabet::dna()));
    let options = ReadOptions { kind: dna(), ..ReadOptions::default() };
    let message = refused(">a\nACGT\nAC\n AJ\n", options);
    assert!(
        message.starts_with("data, line 4, character 3: `J` is not in the alphabet dna"),
        "{message}"
    );

    let options = ReadOptions { fasta_label: FastaLabel::Word(2), ..ReadOptions::default() };
    let message = refused(">a x\nACGT\n>b\nAC\n", options);
    assert!(message.starts_with("data, line 3: the header has no label"), "{message}");

    let options = ReadOptions { layout: layout("fasta"), ..ReadOptions::default() };
    let message = refused("ACGT\n", options);
    assert!(message.starts_with("data, line 1: expected `>`"), "{message}");

    let options = ReadOptions { layout: layout("strings"), ..ReadOptions::default() };
    let message = refused(WATCH, options);
    assert!(message.starts_with("data: line 1, the header: has no column `sequence`"), "{message}");

    let kind = Some(Kind::Channels(vec!["az".into()]));
    let message = refused(WATCH, ReadOptions { kind: kind.clone(), ..ReadOptions::default() });
    assert!(message.contains("has no channel `az`, which is needed; it has ax, ay"), "{message}");
    let message = refused(">a\nAC\n", ReadOptions { kind, ..ReadOptions::default() });
    assert_eq!(message, "data: has strings of symbols, and real channels are needed");

    let message = read(WATCH).groups("gene").expect_err("refused").to_string();
    assert!(message.ends_with("it has: series, sequence, subject, side"), "{message}");
    assert!(layout("xml").is_none());
}

#[test]
fn files_that_are_no_text_are_refused() {
    let refused = |bytes: &[u8]| {
        Dataset::parse("data", bytes, &ReadOptions::default()).expect_err("refused").to_string()
    };
    assert!(refused(b"\xFFt\0,\0").starts_with("data, line 1: is not UTF-8"));
    assert!(refused(b"\xFF\xFEt\0,").contains("UTF-16"));
    let message = refused(b"series,label,t,x\n0,a\xE4,0,1\n");
    assert!(message.starts_with("data, line 2, column 2 (label): is not UTF-8"), "{message}");
    assert!(refused(b">a\nA\n>\xE4\nA").starts_with("data, line 3: is not UTF-8"));

    let mut packed = gzip(WATCH.as_bytes());
    assert_eq!(
        Dataset::parse("data", &packed, &ReadOptions::default()).expect("valid"),
        read(WATCH)
    );
    // By RFC 1952 gzip ends in the same checksum, and the length.
    let of_content = packed[packed.len() - 8..].first_chunk().copied().map(u32::from_le_bytes);
    assert_eq!(read(WATCH).checksum(), of_content);
    assert!(refused(&packed[..packed.len() - 9]).contains("is gzip, but ends too early"));
    assert!(refused(&packed[..3]).contains("is gzip, but ends too early"));
    let behind = |more: &[u8]| [packed.as_slice(), more].concat();
    let message = refused(&behind(b"abc"));
    assert!(message.contains("but 3 bytes behind its end belong to no gzip"), "{message}");
    for padded in [behind(&[0; 9]), behind(&gzip(b"3,1,1,PEN,0,1,2\n"))] {
        let data = Dataset::parse("data", &padded, &ReadOptions::default()).expect("valid");
        assert!(data.series().len() >= 3);
    }
    let middle = packed.len() / 2;
    packed[middle] ^= 0x55;
    assert!(refused(&packed).contains("is gzip, but "));
    assert!(refused(&gzip(b"")).contains("is empty"));

    let message = Dataset::read("no/such/file.csv", &ReadOptions::default())
        .expect_err("refused")
        .to_string();
    assert!(message.starts_with("no/such/file.csv: cannot be read: "), "{message}");
}

#[test]
fn series_made_in_memory_are_checked() {
    let series = |label, symbol| Series {
        id: "a".into(),
        label,
        columns: Vec::new(),
        times: Vec::new(),
        samples: Samples::Symbols(vec![None, Some(symbol)]),
        line: 0,
    };
    let make = |series| {
        let kind = Kind::Symbols(Alphabet::binary());
        Dataset::new("memory", kind, vec!["x".into()], Vec::new(), series)
    };
    assert_eq!(make(vec![series(Some(0), 1)]).expect("valid").missing().observations, 1);
    for (bad, expected) in [
        (vec![], "has no series"),
        (vec![series(None, 0), series(None, 2)], "series 1 (`a`): symbol 2 in an alphabet of 2"),
        (vec![series(Some(1), 0)], "class 1 where there are 1"),
        (vec![Series { columns: vec!["b".into()], ..series(None, 0) }], "1 extra columns where 0"),
        (vec![Series { times: vec![0.0], ..series(None, 0) }], "1 times for 2 observations"),
        (vec![Series { samples: Samples::Symbols(vec![]), ..series(None, 0) }], "no observation"),
        (vec![Series { samples: Samples::Channels(Rows::new(1)), ..series(None, 0) }], "no observ"),
    ] {
        let message = make(bad).expect_err("refused").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_bundled_recordings_are_whole() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/ts-watch-exercises/all.csv.gz");
    let data =
        Dataset::read(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((data.series().len(), data.observations()), (98, 166_825));
    assert_eq!(data.missing().observations, 0);
    assert_eq!(data.classes(), ["ABD", "ER", "FEL", "IR", "PEN", "ROW", "TRAP"]);
    let (subjects, names) = data.groups("subject").expect("has subjects");
    assert_eq!(names, ["1", "2", "3", "4", "7", "8", "9"]);
    for (subject, class) in (0..7).flat_map(|subject| (0..7).map(move |class| (subject, class))) {
        let of_both = |series: usize| {
            subjects[series] == subject && data.series()[series].label == Some(class)
        };
        assert_eq!((0..98).filter(|&series| of_both(series)).count(), 2, "one for each arm");
    }
    let folds = data.folds(5, Some("subject"), None).expect("seven subjects");
    let sizes: Vec<_> = (0..5).map(|fold| folds.test(fold).len()).collect();
    assert_eq!(sizes, [28, 28, 14, 14, 14]);
}

/// Bytes that resemble data, so that the tests get past the first line.
fn almost_data() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        Just("NA".to_owned()),
        Just("nan".to_owned()),
        Just("\"".to_owned()),
        Just("0".to_owned()),
        "[0-9]{1,3}",
        "[ACGTN-]{0,6}",
        "\\PC{0,3}"
    ];
    let row = prop::collection::vec(field, 0..6).prop_map(|fields| fields.join(","));
    let header = prop_oneof![
        Just("series,label,t,x,y"),
        Just("t,x"),
        Just("series,x,y"),
        Just("label,0,1"),
        Just("@classLabel true a\n@data"),
        Just("label,id,sequence"),
        Just("sequence"),
        Just(">a label=b"),
        Just("")
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n>s b\n")];
    (header, prop::collection::vec(row, 0..6), end, any::<bool>(), any::<bool>()).prop_map(
        |(header, rows, end, tabs, packed)| {
            let text = format!("{header}{end}{}", rows.join(end));
            let text = if tabs { text.replace(',', "\t") } else { text };
            if packed { gzip(text.as_bytes()) } else { text.into_bytes() }
        },
    )
}

/// Some way to read.
fn some_options() -> impl Strategy<Value = ReadOptions> {
    let layout = prop::option::of(prop::sample::select(LAYOUTS));
    let kind = prop::option::of(prop_oneof![
        Just(Kind::Symbols(Alphabet::dna())),
        Just(Kind::Channels(vec!["x".into()]))
    ]);
    let label = prop_oneof![
        Just(FastaLabel::None),
        Just(FastaLabel::Word(2)),
        Just(FastaLabel::Key("label".into()))
    ];
    (layout, kind, label).prop_map(|(layout, kind, fasta_label)| ReadOptions {
        layout,
        kind,
        fasta_label,
        values: Values::Reals,
        classes: None,
        ..ReadOptions::default()
    })
}

/// Rows of two channels, some missing, the last one not.
fn rows() -> impl Strategy<Value = Vec<Option<[f64; 2]>>> {
    let row = || [-1e38..1e38, -1.0..1.0];
    (prop::collection::vec(prop::option::of(row()), 0..5), row())
        .prop_map(|(rows, last)| rows.into_iter().chain([Some(last)]).collect())
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in prop_oneof![any::<Vec<u8>>(), almost_data()],
        options in some_options(),
    ) {
        match Dataset::parse("data", &bytes, &options) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(data) => {
                prop_assert!(data.series().iter().all(|one| one.samples.view().observed() > 0));
                let labels = data.series().iter().filter_map(|one| one.label);
                prop_assert_eq!(labels.collect::<BTreeSet<_>>().len(), data.classes().len());
            }
        }
    }

    #[test]
    fn a_damaged_gzip_file_never_panics(at in 0..120_usize, bit in 0..8_u8, keep in 0..200_usize) {
        let mut bytes = gzip(WATCH.as_bytes());
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        bytes.truncate(keep.max(1));
        let _ = Dataset::parse("data", &bytes, &ReadOptions::default());
    }

    #[test]
    fn a_table_written_is_the_table_read(
        series in prop::collection::vec(rows(), 1..5),
    ) {
        let mut text = "series,label,t,x,y\n".to_owned();
        for (number, rows) in series.iter().enumerate() {
            for (t, row) in rows.iter().enumerate() {
                let values = row.map_or(",NA".to_owned(), |[x, y]| format!("{x},{y}"));
                text.push_str(&format!("{number},c{},{t},{values}\n", number % 2));
            }
        }
        let data = read(&text);
        prop_assert_eq!(data.series().len(), series.len());
        for (read, written) in data.series().iter().zip(&series) {
            let read: Vec<_> = read.samples.view().rows().expect("channels").iter().collect();
            let written = written.iter().map(|row| row.as_ref().map(<[f64; 2]>::as_slice));
            prop_assert_eq!(read, written.collect::<Vec<_>>());
        }
    }
}
