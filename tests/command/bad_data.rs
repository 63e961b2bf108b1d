//! Bad data, given to every command that reads data.

use std::fs;
use std::path::Path;

use crate::fixtures::{Folder, fixtures};
use crate::{fishweir, notes, refused, refuses};

/// Names and contents of files, and what must be said of each.
fn bad_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let head = "series,subject,label,t,x,y\n";
    let with = |rows: &str| format!("{head}{rows}").into_bytes();
    let mut cut = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0];
    cut.extend([1, 2]);
    vec![
        ("empty.csv", Vec::new(), "empty-file"),
        ("blank.csv", b"\n \n".to_vec(), "empty-file"),
        ("header.csv", head.into(), "header-only"),
        ("ragged.csv", with("0,a,still,0,1,2\n0,a,still,1,1\n"), "ragged-row 3 6 y"),
        ("long.csv", with("0,a,still,0,1,2,3\n"), "ragged-row 2 7"),
        ("dash.csv", with("0,a,still,0,1,2\n0,a,still,1,-,2\n"), "not-a-number 3 5 x -"),
        ("infinite.csv", with("0,a,still,0,1,inf\n"), "not-a-number 2 6 y inf"),
        ("joiner.csv", with("0,a,sti\u{200D}ll,0,1,2\n"), "hidden-character 2 3 label 4"),
        ("word.csv", with("0,a,still,0,one,2\n"), "not-a-number 2 5 x one"),
        ("column.csv", with("0,a,still,0,1,NA\n0,a,still,1,2,NA\n"), "no-whole-row 2 0 y"),
        ("missing.csv", with("0,a,still,0,,\n0,a,still,1,NA,NA\n"), "empty-series"),
        ("order.csv", with("0,a,still,1,1,2\n0,a,still,0,1,2\n"), "time-order 3 4 t 0"),
        ("label.csv", with("0,a,still,0,1,2\n0,a,moving,1,1,2\n"), "column-changes 3 label"),
        (
            "split.csv",
            with("0,a,still,0,1,2\n1,a,still,0,1,2\n0,a,still,1,1,2\n"),
            "series-split 4",
        ),
        ("bytes.csv", [head.as_bytes(), b"0,a,\xFF,0,1,2\n"].concat(), "not-utf8 2"),
        ("cut.gz", cut, "damaged-gzip"),
        ("noise.bin", b"what is this".to_vec(), "unknown-layout"),
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
        format!("predict {file} --model {model}"),
        format!("gram {file} -o {output}"),
        format!("gram {file} --model {model} -o {output}"),
        format!("run {file} --model {model}"),
    ] {
        let mut command = fishweir(&line);
        let message = refused(&mut command);
        assert!(message.names(file), "{line}: {message}");
        assert!(message.is(expected), "{line}: {message}");
        assert!(command.output().expect("started").stdout.is_empty(), "{line}");
    }
    assert!(!Path::new(&output).exists());
}

#[test]
fn a_missing_file_is_named() {
    all_refuse("/no/such/data.csv", "unreadable-file", "two.json");
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
        (&bad.stderr, "\\u{9b}2J.csv"),
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
        ("ragged.tsv", "label\tid\tsequence\nruns\ta\n", "ragged-row 2"),
        ("headless.fasta", ";comment\nACGT\n", "bad-layout 2"),
    ] {
        let file = folder.put(name, text);
        all_refuse(&file, expected, "strings.json");
    }
    // A string without a symbol is no training, and no figure; predictions and matrices go on without it.
    let (model, matrix) = (fixtures().at("strings.json"), folder.at("gram.csv"));
    for (name, text) in [
        ("gap.tsv", "label\tid\tsequence\nruns\ta\tACGT\nturns\tb\t---\n"),
        ("empty.tsv", "label\tid\tsequence\nruns\ta\tACGT\nturns\tb\t\n"),
        ("empty.fasta", ">a\nACGT\n>b\n"),
    ] {
        let file = folder.put(name, text);
        for line in [format!("fit {file} --dry-run"), format!("evaluate {file} --model {model}")] {
            refuses(&line, format!("empty-series {name} 3"));
        }
        for line in [
            format!("predict {file} --model {model}"),
            format!("gram {file} --model {model} -o {matrix}"),
        ] {
            let told = notes(&line);
            let expected = format!("skipped-records {name} 3 b 1 2");
            assert!(told.iter().any(|note| note.is(&expected)), "{line}: {told:?}");
        }
    }
}

#[test]
fn data_of_another_kind_than_the_models_is_refused() {
    let (table, strings) = (fixtures().at("two.csv"), fixtures().at("strings.tsv"));
    for (data, model) in [(&table, "strings.json"), (&strings, "two.json")] {
        let model = fixtures().at(model);
        for line in [
            format!("evaluate {data} --model {model}"),
            format!("predict {data} --model {model}"),
            format!("run {data} --model {model}"),
        ] {
            refuses(&line, "wrong-observations");
        }
    }
}

#[test]
fn a_channel_that_the_model_needs_is_named() {
    let folder = Folder::new();
    let file = folder.put("other.csv", "series,label,t,x,z\n0,still,0,1,2\n");
    let line = format!("predict {file} --model {}", fixtures().at("two.json"));
    refuses(&line, "bad-header y");
}
