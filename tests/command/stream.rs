//! `fishweir predict --stream`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use fishweir::classifier::{Classifier, Observations, Output, Provenance, Rule};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::classify::Normalisation;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures, labelled_strings};
use crate::{Messages, PROGRAM, as_json, fishweir, printed, refuses};

fn samples() -> Vec<String> {
    let text = std::fs::read_to_string(fixtures().at("two.csv")).expect("data");
    text.lines().skip(1).map(|line| line.splitn(5, ',').nth(4).expect("x,y").to_owned()).collect()
}

fn start(model: &str) -> Child {
    Command::new(PROGRAM)
        .args(["predict", "--stream", "--endless", "--model", &fixtures().at(model)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started")
}

#[test]
fn a_stream_decides_as_its_windows_do_in_a_file() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    let file = printed(&format!("predict {data} --model {model} --window 20"));
    let line = format!("predict --stream --endless --model {model} --every 20 --reset-every 20");
    let stream = printed(fishweir(&line).write_stdin(samples().join("\n")));
    let decisions = |text: &str, from: usize| -> Vec<String> {
        let rows = text.lines().skip(1);
        rows.map(|row| row.splitn(from + 1, ',').nth(from).expect("class").to_owned()).collect()
    };
    assert_eq!(decisions(&file, 3), decisions(&stream, 2));
    let places: Vec<&str> = stream.lines().skip(1).take(2).collect();
    assert!(places[0].starts_with("0,20,") && places[1].starts_with("20,40,"), "{places:?}");
}

/// A mark of missing values that the training was told of, or that the stream is, is one in a stream too.
#[test]
fn marks_of_the_training_are_those_of_the_stream() {
    let folder = Folder::new();
    let (data, model) = (
        folder.put("marked.csv", {
            let text = fixtures().text("two.csv");
            let mark = |(index, line): (usize, &str)| match line.rsplit_once(',') {
                Some((kept, _)) if index > 0 && index % 17 == 0 => format!("{kept},lost\n"),
                _ => format!("{line}\n"),
            };
            text.lines().enumerate().map(mark).collect::<String>()
        }),
        folder.at("m.json"),
    );
    printed(&format!("fit {data} -o {model} {QUICK} --effort quick --na lost"));
    let stream = |options: &str, rows: &str| {
        let line = format!("predict --stream --endless --model {model} --every 20 {options}");
        printed(fishweir(&line).write_stdin(rows))
    };
    let rows = samples();
    let of = |mark: &str| {
        let one = |(index, row): (usize, &String)| match index {
            5 => format!("{mark},{mark}\n"),
            _ => format!("{row}\n"),
        };
        rows.iter().enumerate().map(one).collect::<String>()
    };
    // An empty field is missing whatever marks there are.
    assert_eq!(stream("", &of("lost")), stream("", &of("")));
    assert_eq!(stream("--na gone", &of("gone")), stream("", &of("")));
}

/// As of a file: a comment before the header, or later, is no sample.
#[test]
fn a_comment_is_no_sample() {
    let line = format!("predict --stream --endless --model {}", fixtures().at("two.json"));
    let rows = samples().join("\n");
    let bare = streamed(&line, &format!("x,y\n{rows}"));
    for text in
        [format!("# logger v2\nx,y\n{rows}"), format!("\u{FEFF}# a, b\n# c\nx,y\n{rows}\n# end")]
    {
        let told = streamed(&line, &text);
        assert_eq!((told.0, &told.1), (Some(0), &bare.1));
    }
}

#[test]
fn every_decision_is_written_before_the_next_sample_is_read() {
    let mut child = start("two.fishweir");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "start,end,class,margin,value\n");
    for (number, sample) in samples().iter().take(5).enumerate() {
        writeln!(input, "{sample}").expect("written");
        line.clear();
        output.read_line(&mut line).expect("a line");
        assert!(line.starts_with(&format!("0,{},", number + 1)), "{line}");
    }
    drop(input);
    assert!(child.wait().expect("ended").success());
}

/// Exit code, decisions and messages of a stream.
fn streamed(line: &str, input: &str) -> (Option<i32>, Vec<String>, Messages) {
    let output = as_json(fishweir(line).write_stdin(input));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let decisions = text.lines().skip(1).map(str::to_owned).collect();
    (output.status.code(), decisions, Messages::of(&output.stderr))
}

#[test]
fn a_bad_line_is_named_counted_and_missing_or_ends_a_strict_stream() {
    let line = format!("predict --stream --endless --model {}", fixtures().at("two.json"));
    let long = "1".repeat((1 << 24) + 1);
    for (bad, expected) in [
        ("0.1,abc", "not-a-number 3 2 y abc"),
        ("0.1,inf", "not-a-number 3 2 y inf"),
        ("0.1,1e39", "beyond-single 3 2 y 1e39"),
        ("0.1", "ragged-row 3 2 y"),
        ("0.1,0.2,0.3", "ragged-row 3"),
        (&long, "line-too-long 3"),
    ] {
        let input = format!("0.1,0.2\n0.2 0.1\n{bad}\n1,1\n");
        let (code, decisions, told) = streamed(&line, &input);
        assert_eq!(code, Some(1), "{told:?}");
        let [note] = &told.notes[..] else { panic!("one note, not {told:?}") };
        assert!(note.is(expected), "{note}");
        assert!(told.errors[0].is("refused-samples 1"), "{told:?}");
        let value = |row: &String| row.splitn(3, ',').nth(2).expect("a class").to_owned();
        assert_eq!(decisions.len(), 4, "a decision a line");
        let (_, missing, _) = streamed(&line, "0.1,0.2\n0.2 0.1\nNA,NA\n1,1\n");
        assert_eq!(value(&decisions[3]), value(&missing[3]), "the bad line is a missing sample");
        let (code, decisions, told) = streamed(&format!("{line} --strict"), &input);
        assert_eq!((code, decisions.len()), (Some(2), 2), "{told:?}");
        assert!(told.errors[0].is(expected) && told.notes.is_empty(), "{told:?}");
    }
    let (code, decisions, told) = streamed(&line, &"no\n".repeat(40).replacen("no", "1,1", 1));
    assert_eq!((code, decisions.len()), (Some(1), 40));
    assert_eq!(told.notes.len(), 11, "ten are told, the others counted: {told:?}");
    assert!(told.errors[0].is("refused-samples 39"), "{told:?}");
}

#[test]
fn another_series_forgets_the_past() {
    let line = format!("predict --stream --endless --model {}", fixtures().at("two.json"));
    let input = "series,x,y\na,0.1,0.2\na,1,1\nb,0.1,0.2\nb,1,1\n";
    let (code, decisions, told) = streamed(&line, input);
    assert_eq!(code, Some(0), "{told:?}");
    let values = |row: &String| row.splitn(3, ',').nth(2).expect("a class").to_owned();
    assert_eq!(values(&decisions[0]), values(&decisions[2]));
    assert_eq!(values(&decisions[1]), values(&decisions[3]));
    assert!(decisions[3].starts_with("2,4,"), "{decisions:?}");
    let (code, _, told) = streamed(&line, "x,y,x\n1,2,3\n");
    assert!(code == Some(2) && told.errors[0].is("bad-header 1 3 x"), "{told:?}");
}

#[test]
fn a_header_picks_channels_and_missing_samples_pass() {
    let line = format!("predict --stream --endless --json --model {}", fixtures().at("two.json"));
    let named = printed(fishweir(&line).write_stdin("t,y,x\n0,0.2,0.1\n1,,0.1\n2,NA,NA\n"));
    let plain = printed(fishweir(&line).write_stdin("0.1,0.2\nNA,0.1\n,\n"));
    assert_eq!(named, plain);
    let last: Value = serde_json::from_str(named.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["start"], &last["end"]), (&0.into(), &3.into()));
    assert!(named.lines().count() == 3 && last["series"].is_null());
}

#[test]
fn symbols_come_one_or_many_to_a_line() {
    let line = format!("predict --stream --model {}", fixtures().at("strings.json"));
    let text: String = labelled_strings().remove(0).1;
    let whole = printed(fishweir(&line).write_stdin(text.clone()));
    let apart: String = text.chars().map(|symbol| format!("{symbol}\n")).collect();
    assert_eq!(whole, printed(fishweir(&line).write_stdin(apart)));
    assert_eq!(whole.lines().count(), 26);
    let (code, decisions, told) = streamed(&line, "AC!T");
    assert_eq!((code, decisions.len()), (Some(1), 4), "{told:?}");
    assert!(told.notes[0].is("unknown-symbol 1 3 !"), "{told:?}");
    // Decided before the line ends.
    let mut child = start("strings.json");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped")).lines();
    for symbol in ["", "A", "C"] {
        input.write_all(symbol.as_bytes()).expect("written");
        assert!(output.next().is_some_and(|line| line.is_ok()));
    }
    drop(input);
    assert!(child.wait().expect("ended").success());
}

#[test]
fn what_a_file_may_be_a_stream_may_be_or_is_told_otherwise() {
    let line = format!("predict --stream --endless --model {}", fixtures().at("two.json"));
    let plain = printed(fishweir(&line).write_stdin("series,x,y\na,0.1,0.2\na,NA,1\n"));
    let quoted = "\"series\",\"x\",\"y\"\n\"a\",\"0.1\",\"0.2\"\na,\"NA\",\"1\"\n";
    assert_eq!(plain, printed(fishweir(&line).write_stdin(quoted)));
    let packed = {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(b"0.1,0.2\n").expect("memory");
        packed.finish().expect("memory")
    };
    for model in ["two.json", "strings.json"] {
        let line = format!("predict --stream --model {}", fixtures().at(model));
        refuses(fishweir(&line).write_stdin(packed.clone()), "gzip-stream");
    }
}

/// Whatever a command writes there: nobody reads it, and that is no error.
#[test]
fn standard_output_that_nobody_reads_ends_a_command_quietly() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    for line in [
        format!("predict {data} --model {model}"),
        format!("predict {data} --model {model} --json"),
        format!("predict --stream --model {model}"),
        format!("predict --stream --model {model} --json"),
        format!("info {model}"),
        format!("info {model} --json"),
        format!("evaluate {data} --model {model}"),
        format!("evaluate {data} --model {model} --json"),
        format!("evaluate {data} --model {model} --roc -"),
        format!("export {model} --rust -"),
        format!("export {model} --artefact -"),
        format!("gram {data} --model {model} -o -"),
        format!("fit {data} -o - --classifier bayes {QUICK} --effort quick"),
        "predict --help".to_owned(),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = Command::new(PROGRAM)
            .args(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        // The other end may have hung up already.
        let _ = child.stdin.take().expect("piped").write_all(b"1,2\n2,1\n");
        let output = child.wait_with_output().expect("ended");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {message}");
        assert!(!message.contains("error"), "{line}: {message}");
    }
}

#[test]
fn no_sample_no_decision_and_no_error() {
    let line = format!("predict --stream --endless --model {}", fixtures().at("two.json"));
    assert_eq!(printed(fishweir(&line).write_stdin("")).lines().count(), 1);
}

#[test]
fn an_impossible_sample_is_reported_and_missing() {
    // `a` and then `b` for ever, or the other way round: `aa` is impossible.
    let model = |first: f64| Hmm {
        initial: vec![first, 1.0 - first],
        transition: vec![vec![0.0, 1.0], vec![1.0, 0.0]],
        emission: Emissions::categorical(vec![vec![1.0, 0.0], vec![0.0, 1.0]]),
    };
    let classifier = Classifier {
        method: "bayes".into(),
        observations: Observations::Symbols("ab".into()),
        classes: vec!["even".into(), "odd".into()],
        front: fishweir::data::Front::NONE,
        lags: fishweir::data::Lags::NONE,
        centre: Vec::new(),
        scale: Vec::new(),
        models: vec![model(0.9), model(0.2)],
        codebooks: None,
        normalisation: Normalisation::NONE,
        rule: Rule::Linear(vec![Output {
            bias: 0.0,
            weights: vec![-1.0, 1.0],
            directions: Vec::new(),
            codewords: Vec::new(),
            levels: Vec::new(),
        }]),
        confidence: None,
        teaching: None,
        provenance: Provenance::default(),
    };
    let folder = Folder::new();
    let path = folder.at("strict.json");
    classifier.save(path.as_ref()).expect("saved");
    let line = format!("predict --stream --model {path}");
    let output = as_json(fishweir(&line).write_stdin("a\nb\nb\nb\n"));
    let messages = Messages::of(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages:?}");
    assert!(messages.notes[0].is("impossible 3"), "{messages:?}");
    assert!(messages.errors[0].is("refused-samples 1"), "{messages:?}");
    let rows = String::from_utf8(output.stdout).expect("UTF-8");
    let after: Vec<&str> = rows.lines().map(|row| row.splitn(3, ',').nth(2).expect("")).collect();
    assert_eq!(after.len(), 5);
    assert_eq!(after[2], after[3], "the sample that was refused is no evidence");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = start("two.json");
    let mut input = child.stdin.take().expect("piped");
    drop(child.stdout.take());
    for sample in samples() {
        // The other end may have hung up already.
        if writeln!(input, "{sample}").is_err() {
            break;
        }
    }
    drop(input);
    let mut message = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut message).expect("UTF-8");
    assert!(child.wait().expect("ended").success(), "{message}");
    assert_eq!(message, "");
}

#[test]
fn a_model_of_windows_decides_at_their_ends_alone() {
    let line = format!("predict --stream --model {} --every 20", fixtures().at("two.json"));
    refuses(fishweir(&line).write_stdin(""), "windows-or-numbers --every --endless");
}

/// Times of another name and without a unit are those of a stream too: another rate than the training's is refused.
#[test]
fn times_are_found_by_the_names_of_tables() {
    let folder = Folder::new();
    let wave = |t: u32, pace: f64| (pace * f64::from(t)).sin() + f64::from(t % 7) / 10.0;
    let mut table = String::from("series,label,t [ms],x\n");
    for (series, pace) in [("a", 0.3), ("b", 1.9), ("c", 0.3), ("d", 1.9)] {
        let label = if pace < 1.0 { "slow" } else { "fast" };
        for t in 0..120 {
            table += &format!("{series},{label},{},{:.3}\n", 20 * t, wave(t, pace));
        }
    }
    let (data, model) = (folder.put("waves.csv", table), folder.at("waves.json"));
    printed(&format!("fit {data} -o {model} --window 40 {QUICK} --effort quick"));
    let told = |step: u32| {
        let rows = (0..120).map(|t| format!("{},{:.3}\n", step * t, wave(t, 0.3)));
        let text = String::from("Timestamp,x\n") + &rows.collect::<String>();
        streamed(&format!("predict --stream --model {model}"), &text)
    };
    let (code, _, messages) = told(20);
    assert!(
        code == Some(0) && messages.notes.iter().all(|note| !note.is("no-times")),
        "{messages:?}"
    );
    let (code, _, messages) = told(40);
    assert!(
        code == Some(2) && messages.errors.iter().any(|one| one.is("other-rate")),
        "{messages:?}"
    );
}
