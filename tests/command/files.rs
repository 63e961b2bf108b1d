//! Files as people have them: whatever they call their columns and however they lie, they are read, or refused by what they are.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, QUICK};
use crate::{failed, json, notes, printed, refuses};

/// Series of two channels at 100 Hz; a class, its number, its rows.
fn recordings() -> Vec<(&'static str, usize, Vec<[f64; 2]>)> {
    let one = |number: usize| {
        let class = ["walk", "run"][number % 2];
        let row = |t: usize| {
            let phase = (t * (1 + number % 2) + number) as f64;
            [phase.sin(), 0.5 * (0.7 * phase).cos() + 0.001 * number as f64]
        };
        (class, number, (0..40).map(row).collect())
    };
    (0..6).map(one).collect()
}

/// A table of all, a row by `write` per sample.
fn table(header: &str, write: impl Fn(&str, usize, usize, [f64; 2]) -> String) -> String {
    let mut text = format!("{header}\n");
    for (class, number, rows) in recordings() {
        for (t, row) in rows.into_iter().enumerate() {
            let _ = writeln!(text, "{}", write(class, number, t, row));
        }
    }
    text
}

/// How a file is read, as `--dry-run` prints it.
fn read(path: &str, options: &str) -> Value {
    json(&format!("fit {path} {options} --dry-run --json"))
}

/// Asserts that a file is read as six series of two channels, three of each class.
#[track_caller]
fn is_read(path: &str, options: &str) -> Value {
    let report = read(path, options);
    assert_eq!((&report["series"], &report["samples"]), (&6.into(), &240.into()), "{report}");
    assert_eq!(report["classes"], serde_json::json!([["run", 3], ["walk", 3]]), "{report}");
    assert_eq!(report["observed"].as_array().map(Vec::len), Some(2), "{report}");
    report
}

#[test]
fn tables_are_read_as_programs_write_them() {
    let folder = Folder::new();
    let comma = |number: f64| number.to_string().replace('.', ",");
    let index = std::cell::Cell::new(0);
    let files = [
        (
            "german.csv",
            table("\u{FEFF}Recording;activity;Time (s);Acc X;Acc Y", |class, number, t, [x, y]| {
                format!("{number};{class};{};{};{}", comma(t as f64 / 100.0), comma(x), comma(y))
            }),
        ),
        (
            "index.csv",
            table(",series,label,t,x,y", |class, number, t, [x, y]| {
                index.set(index.get() + 1);
                format!("{},{number},{class},{},{x},{y}", index.get() - 1, t as f64 / 100.0)
            }),
        ),
        (
            "iso.csv",
            table("timestamp,x,y,activity", |class, number, t, [x, y]| {
                format!("2025-03-01T10:{number:02}:00.{:03},{x},{y},{class}", 10 * t)
            }),
        ),
        (
            "epoch.tsv",
            table("id\ttime\tx\ty\ttarget", |class, number, t, [x, y]| {
                format!(
                    "{number}\t{}\t{x}\t{y}\t{class}",
                    1_700_000_000_000 + 60_000 * number + 10 * t
                )
            }),
        ),
        (
            "plain.csv",
            table("7,idle,0.0,0.5,0.5", |class, number, t, [x, y]| {
                format!("{number},{class},{},{x},{y}", t as f64 / 100.0)
            })
            .lines()
            .skip(1)
            .map(|line| format!("{line}\n"))
            .collect(),
        ),
    ];
    for (name, text) in files {
        let path = folder.put(name, &text);
        let report = is_read(&path, "");
        assert!((report["rate"].as_f64().expect("a rate") - 100.0).abs() < 1e-6, "{report}");
        assert_eq!(report["first"][0]["samples"], 40, "{report}");
        let said = notes(&format!("fit {path} --dry-run"));
        assert!(said.iter().any(|note| note.is("source-found")), "{name}: {said:?}");
    }
    // In the layout's own names nothing is found, so nothing is said.
    let own = table("series,label,t,x,y", |class, number, t, [x, y]| {
        format!("{number},{class},{},{x},{y}", t as f64 / 100.0)
    });
    let own = folder.put("own.csv", own);
    is_read(&own, "");
    assert!(notes(&format!("fit {own} --dry-run")).is_empty());
    // One command from a file of somebody else to a model.
    let german = folder.at("german.csv");
    printed(&format!("fit {german} -o {} {QUICK} --effort quick", folder.at("model.json")));
}

#[test]
fn options_settle_what_is_not_found() {
    let folder = Folder::new();
    let text =
        table("a|b|c|d|e", |class, number, t, [x, y]| format!("{number}|{t}|{x}|{y}|{class}"));
    let path = folder.put("odd.csv", &text);
    let columns = "--series a --time \"b [ms]\" --label e";
    let report = json(
        crate::fishweir(&format!("fit {path} --dry-run --json"))
            .args(["--series", "a", "--time", "b [ms]", "--label", "e"]),
    );
    assert_eq!(
        (&report["series"], &report["rate"]),
        (&6.into(), &1000.0.into()),
        "{columns} {report}"
    );
    // By number, and only one channel.
    let report = read(&path, "--series 1 --time 2 --label 5 --channels d");
    assert_eq!(report["observed"], serde_json::json!(["d"]), "{report}");
    refuses(&format!("fit {path} --label mood"), "bad-header mood");
    refuses(&format!("fit {path}"), "unknown-layout a, b, c, d, e --time --series");
    // Labels that change within a recording, and marks of one's own.
    let day = table("t,x,y,label", |class, number, t, [x, y]| {
        format!(
            "{},{},{y},{class}",
            number * 40 + t,
            if t == 3 { "-99".into() } else { x.to_string() }
        )
    });
    let day = folder.put("day.csv", day);
    refuses(&format!("fit {day}"), "column-changes");
    let report = is_read(&day, "--segments --na -99");
    assert_eq!(
        (&report["missing"], &report["columns"]),
        (&6.into(), &serde_json::json!(["recording"]))
    );
    let latin = b"t,Gr\xF6\xDFe,label\n0,1,a\n1,2,a\n";
    let latin = folder.put("latin.csv", latin);
    refuses(&format!("fit {latin}"), "not-utf8 --encoding");
    assert_eq!(read(&latin, "--encoding latin-1")["observed"][0], "Größe");
    let thousands = folder.put("thousands.csv", "t,x,label\n0,\"1,234\",a\n1,\"2,345\",a\n");
    refuses(&format!("fit {thousands}"), "ambiguous-comma 1,234 --decimal");
    assert_eq!(read(&thousands, "--decimal .")["first"][0]["rows"][0][1], "1234");
}

#[test]
fn labels_come_from_folders_and_names() {
    let folder = Folder::new();
    for (class, number, rows) in recordings() {
        let mut text = "timestamp,x,y\n".to_owned();
        for (t, [x, y]) in rows.iter().enumerate() {
            let _ = writeln!(text, "{},{x},{y}", 10 * t);
        }
        let values: Vec<[f64; 2]> = rows;
        let json = serde_json::json!({
            "protected": {"ver": "v1", "alg": "none"}, "signature": "00",
            "payload": {"device_type": "X", "interval_ms": 10, "sensors": [{"name": "x"}, {"name": "y"}], "values": values},
        });
        for (path, content) in [
            (format!("folders/{class}/rec{number}.csv"), text.clone()),
            (format!("names/{class}_{number}.csv"), text.clone()),
            (format!("times/2025-03-01_{class}_{number}.csv"), text),
            (format!("impulse/{class}.{number}.json"), json.to_string()),
        ] {
            let path = folder.at(path);
            fs::create_dir_all(std::path::Path::new(&path).parent().expect("a folder"))
                .expect("made");
            fs::write(path, content).expect("written");
        }
    }
    folder.put("folders/README.md", "what this is");
    is_read(&folder.at("folders"), "");
    is_read(&folder.at("names"), "");
    is_read(&folder.at("impulse"), "");
    is_read(&folder.at("folders/*/rec*.csv"), "");
    is_read(&folder.at("times"), "--name {time}_{label}_{n}.csv");
    let [one, two] = ["folders/walk/rec0.csv", "folders/run/rec1.csv"].map(|name| folder.at(name));
    assert_eq!(read(&format!("{one} {two}"), "")["series"], 2);
    refuses(
        &format!("fit {} --name {{label}}.{{n}}.txt", folder.at("names")),
        "bad-header {label}.{n}.txt",
    );
    let model = folder.at("model.json");
    printed(&format!("fit {} -o {model} {QUICK} --effort quick", folder.at("folders")));
    let report = json(&format!("evaluate {} --model {model} --json", folder.at("folders")));
    assert_eq!(report["series"], 6, "{report}");
}

#[test]
fn what_holds_no_series_is_called_what_it_is() {
    let folder = Folder::new();
    for (name, content, expected) in [
        ("a.pdf", &b"%PDF-1.7\n"[..], "other-format PDF"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "other-format HDF5"),
        ("a.mat", b"MATLAB 5.0 MAT-file", "other-format MATLAB"),
        ("a.json", b"{\"weights\": [1, 2], \"bias\": 3}", "other-format bias, weights"),
        ("f.csv", b"series,label,x_mean,x_std\n0,a,1,2\n1,b,3,4\n", "other-format features x_mean"),
        ("r.csv", b"ax,ay,mood\n1,2,good\n3,4,bad\n", "unknown-layout ax, ay, mood --time"),
    ] {
        refuses(&format!("fit {}", folder.put(name, content)), expected);
    }
}

/// A table of records with numbers, some of which are missing as `mark` says.
fn records(mark: &str) -> String {
    let mut text = "temp,mode,state\n".to_owned();
    for row in 0..60 {
        let state = if row % 3 == 0 { "bad" } else { "good" };
        let temp = if row % 3 == 0 { 50.0 + row as f64 / 4.0 } else { 20.0 + row as f64 / 7.0 };
        let temp = if row % 10 == 4 { mark.to_owned() } else { temp.to_string() };
        let _ = writeln!(text, "{temp},{},{state}", if row % 2 == 0 { "on" } else { "off" });
    }
    text
}

#[test]
fn what_is_missing_in_records_is_so_however_it_is_marked() {
    let folder = Folder::new();
    let figures = |mark: &str| {
        let path = folder.put("records.csv", records(mark));
        json(&format!("network evaluate {path} --class state --classifier naive-bayes --json"))
    };
    let wanted = figures("");
    assert!(
        wanted["columns"].as_str().expect("words").contains("numbers in bins: temp"),
        "{wanted}"
    );
    for mark in ["NA", "nan", "?", "null", "None"] {
        assert_eq!(figures(mark), wanted, "{mark}");
    }
    // A word in a column of numbers is no mark: it is named, and changes no type.
    let mixed = folder.put("mixed.csv", records("warm"));
    let line = format!("network fit {mixed}");
    refuses(&line, "mixed-column 6 1 temp warm --categories");
    let report = json(&format!("{line} --categories temp --json"));
    assert!(report["columns"].as_str().expect("words").starts_with("categories"), "{report}");
    printed(&format!("{line} --na warm"));
}

#[test]
fn records_without_a_header_are_all_records() {
    let folder = Folder::new();
    let mut text = String::new();
    for row in 0..50 {
        let _ = writeln!(text, "{},{},acc", ["high", "low"][row % 2], ["2", "4", "more"][row % 3]);
    }
    let path = folder.put("cars.data", text);
    let line = format!("network fit {path} --json");
    assert_eq!(json(&line)["records"], 50);
    let said = notes(&line);
    assert!(said.iter().any(|note| note.is("source-found first line --header")), "{said:?}");
    assert_eq!(json(&format!("{line} --header"))["records"], 49);
}

#[test]
fn records_are_decided_on_one_by_one() {
    let folder = Folder::new();
    let train = folder.put("train.csv", records(""));
    let model = folder.at("model.json");
    printed(&format!("network fit {train} --class state --classifier naive-bayes -o {model}"));
    let unlabelled = folder.put("new.csv", "temp,mode\n55,on\n21,never\n22,off\n");
    refuses(&format!("network evaluate {unlabelled} --model {model}"), "unknown-category 3 never");
    refuses(
        &format!("network evaluate {unlabelled} --model {model} --unseen missing"),
        "unlabelled-records state",
    );
    let line = format!("network predict {unlabelled} --model {model}");
    let rows = |line: &str| -> Vec<String> {
        let text = printed(line);
        let of_row = |row: &str| row.split(',').take(2).collect::<Vec<_>>().join(",");
        text.lines().skip(1).map(of_row).collect()
    };
    assert_eq!(rows(&line), ["2,bad", "3,", "4,good"]);
    let said = notes(&line);
    assert!(said.iter().any(|note| note.is("skipped-records 1 3 --unseen")), "{said:?}");
    assert_eq!(rows(&format!("{line} --unseen missing")), ["2,bad", "3,good", "4,good"]);
    // Every file that the program writes is known to `info`.
    assert!(printed(&format!("info {model}")).contains("classifier of state"));
    let one = folder.put("one.csv", records("").replace("bad", "good"));
    refuses(&format!("network fit {one} --class state"), "one-class good state");
}

#[test]
fn networks_are_read_as_their_formats_allow() {
    let folder = Folder::new();
    let arff = folder.put(
        "weka.arff",
        "@relation r\n@attribute size {'\\'(-inf-2.5]\\'','\\'(2.5-inf)\\''}\n@attribute n numeric\n@attribute kind {a,b}\n@data\n\
         '\\'(-inf-2.5]\\'',1,a\n'\\'(2.5-inf)\\'',0,b\n{0 '\\'(2.5-inf)\\'', 2 b}\n",
    );
    let report = json(&format!("network fit {arff} --graph independent --json"));
    assert_eq!((&report["records"], &report["nodes"]), (&3.into(), &3.into()), "{report}");
    let text = "network n {}\nvariable a { type discrete[2] { yes no }; }\nvariable b { type discrete[2] { yes, no }; }\n\
                probability(a) { table 0.25 0.75; }\nprobability(b a) { (yes) 0.5 0.5; (no) 0.1, 0.9; }\n";
    let blanks = folder.put("blanks.bif", text);
    let report = json(&format!("network query --model {blanks} b --json"));
    let yes = report["nodes"][0]["probabilities"][0].as_f64().expect("a number");
    assert!((yes - (0.25 * 0.5 + 0.75 * 0.1)).abs() < 1e-9, "{report}");
}

#[test]
fn alignments_and_sequences_are_searched_as_far_as_they_go() {
    let folder = Folder::new();
    let rows: String = (0..12)
        .map(|row| format!("s{row} ACGTACGTACGTACGTAC{}TACGT\n", if row == 0 { 'R' } else { 'G' }))
        .collect();
    let alignment = format!("# STOCKHOLM 1.0\n{rows}//\n");
    let path = folder.put("a.sto", &alignment);
    let profile = folder.at("a.hmm");
    let line = format!("profile fit {path} -o {profile}");
    let said = notes(&line);
    assert!(said.iter().any(|note| note.is("alphabet-guessed DNA --alphabet")), "{said:?}");
    assert!(folder.text("a.hmm").contains("ALPH  DNA"));
    printed(&format!("{line} --alphabet protein"));
    assert!(folder.text("a.hmm").contains("ALPH  amino"));
    let twice = folder.put("twice.sto", alignment.replacen("s1 ", "s0 ", 1));
    refuses(&format!("profile fit {twice}"), "bad-profile-text 3 s0");
    let second = folder.put("second.sto", format!("{alignment}{alignment}"));
    refuses(&format!("profile fit {second}"), "bad-profile-text //");
    let stop = folder.put("stop.afa", ">A\nMKTAYI*KQR\n>B\nMKTAYIAKQR\n");
    refuses(&format!("profile fit {stop}"), "unknown-residue A 7");
    // One record that is no sequence of the profile's keeps no other from being searched.
    printed(&line);
    let reads = folder
        .put("reads.fa", ">x\nACGTACGTACGTACGTACGTACGT\n>p\nMKLV*\n>y\nacgtacgtacgtacgtacgtacgt\n");
    let line = format!("profile score --model {profile} {reads}");
    let table = printed(&line);
    let found: Vec<&str> = table.lines().skip(1).filter_map(|row| row.split('\t').nth(1)).collect();
    assert_eq!(found.len(), 2, "{table}");
    let said = notes(&line);
    assert!(said.iter().any(|note| note.is("skipped-records 1 3 p")), "{said:?}");
}

#[test]
fn words_are_counted_unless_cosines_are_asked_for() {
    let folder = Folder::new();
    let strings = folder.put("s.tsv", "label\tid\tsequence\na\tx\tABABA\na\ty\tABB\n");
    let line = format!("gram {strings} --kernel spectrum --order 1 -o -");
    let diagonal = |line: &str| -> Vec<f64> {
        let text = printed(line);
        let rows = text.lines().skip(1).enumerate();
        let entry = |(at, row): (usize, &str)| row.split(',').nth(at + 2)?.parse().ok();
        rows.filter_map(entry).collect()
    };
    // Three and two; one and two.
    assert_eq!(diagonal(&line), [13.0, 5.0]);
    assert_eq!(diagonal(&format!("{line} --normalise")), [1.0, 1.0]);
}

#[test]
fn strings_of_words_are_told_to_be_read_by_letter() {
    let folder = Folder::new();
    let codes = "label,id,sequence\na,x,10 11 12\na,y,11 10 12\nb,z,12 12 11\nb,w,12 12 10\n";
    let path = folder.put("codes.csv", codes);
    let said = notes(&format!("fit {path} --dry-run"));
    assert!(said.iter().any(|note| note.is("source-found 10, 11, 12 --alphabet")), "{said:?}");
    let path = folder.put("letters.csv", codes.replace(' ', ""));
    assert!(notes(&format!("fit {path} --dry-run")).is_empty());
}

#[test]
fn copies_of_a_recording_are_noted() {
    let folder = Folder::new();
    let mut text = "series,label,t,x,y\n".to_owned();
    for (class, number, rows) in recordings() {
        for name in [number, number + 10] {
            for (t, [x, y]) in rows.iter().enumerate() {
                let _ = writeln!(text, "{name},{class},{t},{x},{y}");
            }
        }
    }
    let path = folder.put("copies.csv", text);
    let line = format!("evaluate {path} --classifier bayes --folds 2 {QUICK} --effort quick");
    let told = notes(&line);
    assert!(told.iter().any(|note| note.is("repeated-series 6 --group")), "{told:?}");
    let told = notes(&format!("{line} --group sequence"));
    assert!(!told.iter().any(|note| note.is("repeated-series")), "{told:?}");
    let _ = failed(&format!("evaluate {path} --events --marks label {path}"), 2);
}
