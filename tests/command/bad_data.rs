//! Bad data, given to every command that reads data.

use std::fs;
use std::path::Path;

use crate::fixtures::{Folder, fixtures};
use crate::{fishweir, refused, refuses};

/// Names and contents of files, and what must be said of each.
fn bad_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let head = "series,subject,label,t,x,y\n";
    let with = |rows: &str| format!("{head}{rows}").into_bytes();
    let mut cut = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0];
    cut.extend([1, 2]);
    vec![
        ("empty.csv", Vec::new(), "is empty"),
        ("blank.csv", b"\n \n".to_vec(), "is empty"),
        ("header.csv", head.into(), "no data below it"),
        ("ragged.csv", with("0,a,still,0,1,2\n0,a,still,1,1\n"), "line 3, column 6 (y): the row"),
        ("long.csv", with("0,a,still,0,1,2,3\n"), "line 2, column 7: the row has 7 fields"),
        ("nan.csv", with("0,a,still,0,1,2\n0,a,still,1,NaN,2\n"), "line 3, column 5 (x): `NaN`"),
        ("infinite.csv", with("0,a,still,0,1,inf\n"), "line 2, column 6 (y): `inf`"),
        ("joiner.csv", with("0,a,sti\u{200D}ll,0,1,2\n"), "line 2, column 3 (label), character 4"),
        ("word.csv", with("0,a,still,0,one,2\n"), "line 2, column 5 (x): `one`"),
        (
            "column.csv",
            with("0,a,still,0,1,NA\n0,a,still,1,2,NA\n"),
            "line 2: `0` has no row with all its channels: `y` is missing in each",
        ),
        ("missing.csv", with("0,a,still,0,,\n0,a,still,1,NA,NA\n"), "has no observation"),
        ("order.csv", with("0,a,still,1,1,2\n0,a,still,0,1,2\n"), "line 3, column 4 (t): t is 0"),
        ("label.csv", with("0,a,still,0,1,2\n0,a,moving,1,1,2\n"), "line 3, column 3 (label)"),
        ("split.csv", with("0,a,still,0,1,2\n1,a,still,0,1,2\n0,a,still,1,1,2\n"), "line 4"),
        ("bytes.csv", [head.as_bytes(), b"0,a,\xFF,0,1,2\n"].concat(), "line 2"),
        ("cut.gz", cut, "is gzip"),
        ("noise.bin", b"what is this".to_vec(), "no known layout"),
    ]
}

/// Runs every command that reads data on a file, which all must refuse with a message.
fn all_refuse(file: &str, expected: &str, model: &str) {
    let folder = Folder::new();
    let output = folder.at("m.json");
    let model = fixtures().at(model);
    for line in [
        format!("fit {file} -o {output}"),
        format!("evaluate {file}"),
        format!("evaluate {file} --model {model}"),
        format!("score {file} --model {model}"),
        format!("gram {file} -o {output}"),
        format!("gram {file} --model {model} -o {output}"),
        format!("run {model} {file}"),
    ] {
        let mut command = fishweir(&line);
        let message = refused(&mut command);
        assert!(message.contains(file), "{line}: {message}");
        assert!(message.contains(expected), "{line}: {message}");
        assert!(command.output().expect("started").stdout.is_empty(), "{line}");
    }
    assert!(!Path::new(&output).exists());
}

#[test]
fn a_missing_file_is_named() {
    all_refuse("/no/such/data.csv", "cannot be read", "two.json");
}

#[test]
fn a_bad_table_is_named_by_file_line_and_column() {
    let folder = Folder::new();
    for (name, bytes, expected) in bad_files() {
        let file = folder.put(name, bytes);
        all_refuse(&file, expected, "two.json");
    }
}

/// What stands in the name of a file does nothing to the terminal, and JSON has its own way to write it.
#[cfg(unix)]
#[test]
fn control_characters_in_the_name_of_a_file_are_escaped() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (at("\u{1B}]0;x\u{7}.csv"), at("\u{1B}[31m.json"));
    fs::copy(fixtures().at("two.csv"), &data).expect("copied");
    fs::copy(fixtures().at("two.json"), &model).expect("copied");
    let evaluate = |data: &str, json: &str| {
        let mut command = fishweir(&format!("evaluate --window 30 {json}"));
        command.arg(data).arg("--model").arg(&model).output().expect("started")
    };
    let (good, bad) = (evaluate(&data, ""), evaluate(&at("\u{9B}2J.csv"), ""));
    assert_eq!((good.status.code(), bad.status.code()), (Some(0), Some(2)));
    for (text, shown) in [
        (&good.stdout, "\\u{1b}]0;x\\u{7}.csv"),
        (&good.stdout, "\\u{1b}[31m.json"),
        (&bad.stderr, "\\u{9b}2J.csv: cannot be read"),
    ] {
        let text = String::from_utf8_lossy(text);
        assert!(text.contains(shown), "no {shown} in: {text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    let report = evaluate(&data, "--json").stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["data"].as_str(), Some(&*data));
}

#[test]
fn bad_strings_are_named_by_file_and_line() {
    let folder = Folder::new();
    for (name, text, expected) in [
        ("empty.tsv", "label\tid\tsequence\nruns\ta\tACGT\nturns\tb\t\n", "line 3"),
        ("gap.tsv", "label\tid\tsequence\nruns\ta\tACGT\nturns\tb\t---\n", "no observation"),
        ("ragged.tsv", "label\tid\tsequence\nruns\ta\n", "line 2"),
        ("empty.fasta", ">a\nACGT\n>b\n", "line 3"),
        ("headless.fasta", ";comment\nACGT\n", "line 2"),
    ] {
        let file = folder.put(name, text);
        all_refuse(&file, expected, "strings.json");
    }
}

#[test]
fn data_of_another_kind_than_the_models_is_refused() {
    let (table, strings) = (fixtures().at("two.csv"), fixtures().at("strings.tsv"));
    for (data, model) in [(&table, "strings.json"), (&strings, "two.json")] {
        let model = fixtures().at(model);
        for line in [
            format!("evaluate {data} --model {model}"),
            format!("score {data} --model {model}"),
            format!("run {model} {data}"),
        ] {
            refuses(&line, "are needed");
        }
    }
}

#[test]
fn a_channel_that_the_model_needs_is_named() {
    let folder = Folder::new();
    let file = folder.put("other.csv", "series,label,t,x,z\n0,still,0,1,2\n");
    let line = format!("score {file} --model {}", fixtures().at("two.json"));
    refuses(&line, "`y`");
}
