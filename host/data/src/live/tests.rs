use proptest::prelude::*;

use super::*;
use crate::Alphabet;

fn channels(names: &[&str]) -> Kind {
    Kind::Channels(names.iter().map(|&name| name.to_owned()).collect())
}

/// All samples or messages, with their lines.
fn read_all(text: &[u8], kind: Kind) -> Vec<(u64, String)> {
    let mut reader = LiveReader::new(text, "standard input", kind);
    let mut all = Vec::new();
    loop {
        let read = match reader.read() {
            Ok(Some(sample)) => format!("{sample:?}"),
            Ok(None) => return all,
            Err(error) => error.to_string(),
        };
        all.push((reader.line(), read));
    }
}

#[test]
fn numbers_by_commas_or_blanks() {
    let read = read_all(b"1,2\n\n 3  4.5\r\n5,\n6 NA\n-7 , 8e1", channels(&["x", "y"]));
    let expected = [
        "Row([1.0, 2.0])",
        "Row([3.0, 4.5])",
        "Row([5.0, NaN])",
        "Row([6.0, NaN])",
        "Row([-7.0, 80.0])",
    ];
    assert_eq!(read.iter().map(|(_, one)| one.as_str()).collect::<Vec<_>>(), expected);
    assert_eq!(read.iter().map(|&(line, _)| line).collect::<Vec<_>>(), [1, 3, 4, 5, 6]);
}

/// As of a file: semicolons part fields, and then a comma is a decimal one; tabs and bars where a header names the channels so.
#[test]
fn fields_are_parted_as_a_header_or_a_line_has_it() {
    let wanted = ["Acc X (g)", "Acc Z, (g)"];
    let rows = ["Row([0.5, -1.25])", "Row([2.0, NaN])"];
    for text in [
        "# a, logger\nt [ms];Acc X (g);Acc Z, (g)\n0;0,5;-1,25\n20;2;",
        "Acc Z, (g)\tt\tAcc X (g)\n-1.25\t0\t0.5\n\t1\t2",
        "t|Acc X (g)|Acc Z, (g)\n0|0.5|-1.25\n1|2|NA",
        "0,5;-1,25\n2;",
    ] {
        let read = read_all(text.as_bytes(), channels(&wanted));
        assert_eq!(read.into_iter().map(|(_, one)| one).collect::<Vec<_>>(), rows, "{text}");
    }
    let other = read_all(b"# one\n# two\nt;Acc Y\n0;1", channels(&["Acc X"]));
    assert!(other[0].1.starts_with("standard input: line 3, the header"), "{}", other[0].1);
}

#[test]
fn fields_between_commas_may_be_quoted() {
    let table =
        b"\"series\",\"y\",x\n\"a, or b\",\"1.5\", \" 2 \"\n\"a\",\"NA\",\"\"\n\"1,5\",3,4\n";
    let read = read_all(table, channels(&["x", "y"]));
    let expected = ["Row([2.0, 1.5])", "Missing", "Row([4.0, 3.0])"];
    assert_eq!(read.iter().map(|(_, one)| one.as_str()).collect::<Vec<_>>(), expected);
    let read = read_all(b"\"1\",\"2\"\n\"1,2\n3,4\n", channels(&["x", "y"]));
    assert_eq!(read[0].1, "Row([1.0, 2.0])");
    assert!(read[1].1.contains("line 2, column 2 (y): the row has 1 field"), "{}", read[1].1);
    assert_eq!(read[2].1, "Row([3.0, 4.0])");
}

#[test]
fn what_is_packed_is_not_read_as_text() {
    for kind in [channels(&["x"]), Kind::Symbols(Alphabet::dna())] {
        let mut reader = LiveReader::new(&b"\x1F\x8B\x08\0"[..], "pipe", kind);
        let error = reader.advance().expect_err("packed");
        assert!(error.ends_stream() && error.to_string().contains("gzip -dc"), "{error}");
        // Whoever goes on all the same comes to an end.
        assert!((0..9).any(|_| matches!(reader.advance(), Ok(false))));
    }
}

#[test]
fn a_header_picks_channels_by_name() {
    let table = b"series,label,t,y,z,x\n0,PEN,0,1,2,3\n0,PEN,1,4,5,\n";
    let read = read_all(table, channels(&["x", "y"]));
    assert_eq!(read, [(2, "Row([3.0, 1.0])".into()), (3, "Row([NaN, 4.0])".into())]);
    let read = read_all(b"\xEF\xBB\xBFy\tx\tname\n1\t2\t\n", channels(&["x", "y"]));
    assert_eq!(read, [(2, "Row([2.0, 1.0])".into())]);
    let read = read_all(b"x y\n1 2\n", channels(&["x", "w"]));
    assert!(read[0].1.contains("no channel `w`"), "{}", read[0].1);
    let read = read_all(b"x,y,x\n1,2,3\n", channels(&["x", "y"]));
    assert!(read[0].1.contains("columns 1 and 3 are both named `x`"), "{}", read[0].1);
}

#[test]
fn another_series_is_told_even_by_a_bad_line() {
    let text: &[u8] = b"series,x\na,1\na,2\nb,3\nc,wrong\nc,4\n";
    let mut reader = LiveReader::new(text, "pipe", channels(&["x"]));
    let mut begins = Vec::new();
    while reader.advance().unwrap_or(true) {
        begins.push(reader.begins_series());
    }
    assert_eq!(begins, [false, false, true, true, false]);
}

#[test]
fn noise_before_a_header_ends_no_stream() {
    let read = read_all(b"hello\nready\na,b\n1,2\n", channels(&["a", "b"]));
    let found: Vec<&str> = read.iter().map(|(_, one)| one.as_str()).collect();
    assert!(found[0].contains("line 1") && found[1].contains("line 2"), "{found:?}");
    assert_eq!(found[2..], ["Row([1.0, 2.0])"]);
}

#[test]
fn times_are_known_by_other_names_and_by_their_size() {
    for (name, fields, wanted) in [
        ("Time [ms]", ["20", "40"], [Some(0.02), Some(0.04)]),
        ("seconds_elapsed", ["0.5", "1"], [Some(0.5), Some(1.0)]),
        ("timestamp", ["1700000000000", "1700000000020"], [Some(0.0), Some(0.02)]),
        ("time", ["2025-03-01T10:00:00", "2025-03-01T10:00:01"], [Some(0.0), Some(1.0)]),
        // As in a file, the first step tells milliseconds.
        ("timestamp", ["20", "40"], [None, Some(0.04)]),
    ] {
        let text = format!("{name},a\n{},1\n{},2\n", fields[0], fields[1]);
        let mut reader = LiveReader::new(text.as_bytes(), "standard input", channels(&["a"]));
        for wanted in wanted {
            assert!(reader.advance().expect("a row"), "{name}");
            assert_eq!(reader.time(), wanted, "{name}");
        }
        assert!(reader.names_unit_of_time(), "{name}");
    }
}

#[test]
fn a_column_of_times_is_named_or_there_is_none() {
    let times = |text: &str, said: &str| {
        let mut reader = LiveReader::new(text.as_bytes(), "standard input", channels(&["a"]))
            .with_time(Some(Column::of(said)));
        let mut next = || reader.advance().expect("a row").then(|| reader.time()).flatten();
        [next(), next()]
    };
    let text = "Zeit,t,a\n20,5,1\n40,6,2\n";
    assert_eq!(times(text, "Zeit"), [None, Some(0.04)]);
    assert_eq!(times(text, "Zeit [ms]"), [Some(0.02), Some(0.04)]);
    assert_eq!(times(text, "none"), [None, None]);
    // What is not there, or is a channel, is read as without it.
    assert_eq!(times(text, "Uhr"), [Some(5.0), Some(6.0)]);
    assert_eq!(times(text, "a"), [Some(5.0), Some(6.0)]);
    // Beside decimal commas the time has them, too.
    assert_eq!(times("t;a\n0,5;1,5\n1;2\n", "t"), [Some(0.5), Some(1.0)]);
}

#[test]
fn a_bad_line_is_named_and_the_next_is_read() {
    let bytes = b"1,2\n3,x\n4\n5,inf\n6,1e999\n\xFF,1\n7,-1e39\n7,8\n";
    let read = read_all(bytes, channels(&["a", "b"]));
    let found: Vec<&str> = read.iter().map(|(_, one)| one.as_str()).collect();
    assert!(
        found[1].starts_with("standard input, line 2, column 2 (b): `x` is not"),
        "{}",
        found[1]
    );
    assert!(found[2].contains("line 3, column 2 (b): the row has 1 field"), "{}", found[2]);
    assert!(found[3].contains("line 4, column 2 (b): `inf`"), "{}", found[3]);
    assert!(found[4].contains("line 5, column 2 (b): `1e999`"), "{}", found[4]);
    assert!(found[5].contains("line 6: is not UTF-8"), "{}", found[5]);
    assert!(found[6].contains("line 7, column 2 (b): `-1e39`"), "{}", found[6]);
    assert_eq!(found[7], "Row([7.0, 8.0])");
}

#[test]
fn symbols_one_or_many_to_a_line_each_as_it_comes() {
    let kind = || Kind::Symbols(Alphabet::dna());
    let read = read_all(b"\xEF\xBB\xBFA\nc\nGN\n\n TXA!\xC3\xC3\xA4\xFFT\r\nT\xE2\x82", kind());
    let found: Vec<&str> = read.iter().map(|(_, one)| one.as_str()).collect();
    assert_eq!(found[..4], ["Symbol(0)", "Symbol(1)", "Symbol(2)", "Missing"]);
    assert_eq!(found[4..7], ["Symbol(3)", "Missing", "Symbol(0)"]);
    for (message, begin) in found[7..11].iter().zip([
        "standard input, line 5, character 5: `!` is not in",
        "standard input, line 5, character 6: is not UTF-8",
        "standard input, line 5, character 7: `\u{e4}` is not in",
        "standard input, line 5, character 8: is not UTF-8",
    ]) {
        assert!(message.starts_with(begin), "{message}");
    }
    assert_eq!(found[11..13], ["Symbol(3)", "Symbol(3)"]);
    assert!(found[13].contains("line 6, character 2: is not UTF-8"), "{}", found[13]);
    assert_eq!((found.len(), read[12].0), (14, 6));
}

#[test]
fn words_end_at_what_parts_them() {
    let kind = || Kind::Symbols(Alphabet::new("open\nclose\nidle").expect("three words"));
    let text = b"\xEF\xBB\xBFopen\n\nclose,idle; NA|open\r\nopen stuck\tclose\n\xFFidle \xC3\xA4";
    let read = read_all(text, kind());
    let found: Vec<&str> = read.iter().map(|(_, one)| one.as_str()).collect();
    let wanted = ["Symbol(0)", "Symbol(1)", "Symbol(2)", "Missing", "Symbol(0)", "Symbol(0)"];
    assert_eq!(found[..6], wanted);
    assert!(found[6].starts_with("standard input, line 4, character 6: `stuck` is not in"));
    assert!(found[6].contains("close idle") && found[6].contains("NA"), "{}", found[6]);
    assert_eq!(found[7], "Symbol(1)");
    // The rest of a damaged word is lost with it.
    assert!(found[8].contains("line 5, character 1: is not UTF-8"), "{}", found[8]);
    assert!(found[9].contains("line 5, character 7: `\u{e4}`"), "{}", found[9]);
    assert_eq!(found.len(), 10);
    // A word needs no more than what ends it, and takes no more memory than the longest.
    let reader = std::io::BufReader::new(Hesitant(b"open "));
    let mut reader = LiveReader::new(reader, "pipe", kind());
    assert_eq!(reader.read().expect("valid"), Some(Sample::Symbol(0)));
    let long = std::io::BufReader::new(std::io::repeat(b'x').take(1 << 20));
    let message = LiveReader::new(long, "pipe", kind()).read().expect_err("unknown").to_string();
    assert!(message.contains("character 1: `xxx") && message.len() < 300, "{message}");
}

/// Hands out one byte at a time, and fails a test that asks for one too many.
struct Hesitant<'b>(&'b [u8]);

impl Read for Hesitant<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let (first, rest) = self.0.split_first().expect("waits for what is not needed");
        (into[0], self.0) = (*first, rest);
        Ok(1)
    }
}

#[test]
fn a_symbol_needs_no_line_end() {
    let reader = std::io::BufReader::new(Hesitant(b"A\n\xC3\xA4T"));
    let alphabet = Alphabet::new("A\u{e4}T").expect("distinct");
    let mut reader = LiveReader::new(reader, "pipe", Kind::Symbols(alphabet));
    for symbol in 0..3 {
        assert_eq!(reader.read().expect("valid"), Some(Sample::Symbol(symbol)));
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let long = std::io::repeat(b'1').take(3 * LONGEST_LINE + 5).chain(&b"\n2\n"[..]);
    let mut reader = LiveReader::new(std::io::BufReader::new(long), "pipe", channels(&["x"]));
    let message = reader.read().expect_err("too long").to_string();
    assert!(message.contains("line 1: the line is longer than"), "{message}");
    assert_eq!(reader.read().expect("valid"), Some(Sample::Row(&[2.0])));
    assert_eq!(reader.line(), 2);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, text in "[0-9a-zA-Z ,.\t\n-]{0,80}") {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            read_all(bytes, channels(&["a"]));
            read_all(bytes, channels(&["a", "t"]));
            read_all(bytes, Kind::Symbols(Alphabet::dna()));
            read_all(bytes, Kind::Symbols(Alphabet::new("a\nb").expect("two words")));
        }
    }
}
