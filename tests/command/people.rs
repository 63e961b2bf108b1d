//! More files as people have them: dates, preambles, commas, marks, words; options that have no effect; files that are named wrongly.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, fixtures};
use crate::{fishweir, json, notes, printed, refuses};

/// Six series of forty samples, three of each class, a row by `write` per sample.
fn table(header: &str, write: impl Fn(&str, usize, usize, [f64; 2]) -> String) -> String {
    let mut text = header.to_owned();
    if !header.is_empty() {
        text.push('\n');
    }
    for number in 0..6 {
        for t in 0..40 {
            let phase = (t * (1 + number % 2) + number) as f64;
            let row = [phase.sin(), 0.5 * (0.7 * phase).cos() + 0.25];
            let _ = writeln!(text, "{}", write(["walk", "run"][number % 2], number, t, row));
        }
    }
    text
}

fn comma(number: f64) -> String {
    format!("{number:.3}").replace('.', ",")
}

fn read(path: &str) -> Value {
    json(&format!("fit {path} --dry-run --json"))
}

/// Asserts that a file is read as the six series; its findings.
#[track_caller]
fn is_read(folder: &Folder, name: &str, text: String) -> Value {
    let report = read(&folder.put(name, text));
    assert_eq!((&report["series"], &report["samples"]), (&6.into(), &240.into()), "{report}");
    assert_eq!(report["classes"], serde_json::json!([["run", 3], ["walk", 3]]), "{report}");
    assert_eq!(report["observed"].as_array().map(Vec::len), Some(2), "{report}");
    report
}

#[test]
fn tables_are_read_however_they_are_written() {
    let folder = Folder::new();
    let plain = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},{t},{x:.3},{y:.3}")
    };
    let month_first = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},03/{:02}/2025 10:00:{t:02},{x:.3},{y:.3}", 14 + number)
    };
    let report = is_read(&folder, "american.csv", table("series,label,datetime,x,y", month_first));
    assert_eq!(report["rate"], 1.0, "{report}");
    let half = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},2025-03-01 1:{number:02}:{t:02} PM,{x:.3},{y:.3}")
    };
    is_read(&folder, "pm.csv", table("series,label,time,x,y", half));
    let before = "Device: ABC\nFirmware: 1.2\n\nseries,label,t,x,y";
    is_read(&folder, "preamble.csv", table(before, plain));
    let semicolons = |class: &str, number: usize, t: usize, row: [f64; 2]| {
        plain(class, number, t, row).replace(',', ";")
    };
    is_read(&folder, "excel.csv", table("sep=;\nseries;label;t;x;y", semicolons));
    let german = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number};{class};{};{};{}", comma(t as f64 / 20.0), comma(x), comma(y))
    };
    is_read(&folder, "nameless.csv", table("", german));
    let quoted = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},{t},\"{}\",\"{}\"", comma(x), comma(y))
    };
    is_read(&folder, "quoted.csv", table("series,label,t,x,y", quoted));
    // Codes of events beside channels are no samples, and that is noted.
    let coded = |class: &str, number: usize, t: usize, row: [f64; 2]| {
        format!("{},{}", plain(class, number, t, row), t % 3)
    };
    let path = folder.put("coded.csv", table("series,label,t,x,y,event", coded));
    assert_eq!(read(&path)["observed"], serde_json::json!(["x", "y"]));
    let told = notes(&format!("fit {path} --dry-run --json"));
    assert!(told.iter().any(|note| note.is("source-found event --channels")), "{told:?}");
}

#[test]
fn rows_of_several_series_that_take_turns_are_cut_to_segments() {
    let folder = Folder::new();
    let mut text = "time,device,x,activity\n".to_owned();
    for t in 0..80 {
        for device in 0..2 {
            let label = ["rest", "walk"][(t / 20 + device) % 2];
            let _ = writeln!(text, "{:.2},d{device},{}.5,{label}", 0.02 * t as f64, t % 7);
        }
    }
    let path = folder.put("turns.csv", text);
    let report = json(&format!("fit {path} --segments --dry-run --json"));
    assert_eq!((&report["series"], &report["samples"]), (&8.into(), &160.into()), "{report}");
    assert_eq!(report["classes"], serde_json::json!([["rest", 4], ["walk", 4]]), "{report}");
}

#[test]
fn what_is_wrong_deep_in_a_file_is_named_with_its_line() {
    let folder = Folder::new();
    let dates = |bad: usize| {
        table("series,label,timestamp,x,y", |class, number, t, [x, y]| {
            let time = match 40 * number + t == bad {
                true => "soon".to_owned(),
                false => format!("2025-03-01T10:{number:02}:00.{:03}", 20 * t),
            };
            format!("{number},{class},{time},{x:.3},{y:.3}")
        })
    };
    let path = folder.put("dates.csv", dates(150));
    refuses(&format!("fit {path}"), "time-not-a-number 152 soon timestamp");
    let units = table("series,label,t,x,y\n-,-,s,g,g", |class, number, t, [x, y]| {
        format!("{number},{class},{t},{x:.3},{y:.3}")
    });
    assert_eq!(is_read(&folder, "units.csv", units)["rate"], 1.0);
    let units = table("series,label,t,x,y\n,,s,in words,", |class, number, t, [x, y]| {
        format!("{number},{class},{t},{x:.3},{y:.3}")
    });
    let path = folder.put("words.csv", units);
    refuses(&format!("fit {path}"), "bad-layout 2 s t");
    for bad in [5, 150] {
        let ragged =
            table("series label t x y", |class, number, t, [x, y]| match 40 * number + t == bad {
                true => format!("{number} {class} {t} {x:.3}"),
                false => format!("{number} {class} {t} {x:.3} {y:.3}"),
            });
        let path = folder.put("ragged.txt", ragged);
        refuses(&format!("fit {path}"), format!("ragged-row {} 4 5", bad + 2));
    }
    // The day or the month may be first, and nothing says which.
    let text = "series,label,datetime,x\n0,a,03/04/2025 10:00:00,1\n0,a,04/04/2025 10:00:00,2\n";
    let path = folder.put("either.csv", text);
    refuses(&format!("fit {path}"), "bad-layout 03/04/2025 2025-03-14");
}

fn strings(separator: &str) -> String {
    let mut text = "label,id,sequence\n".to_owned();
    for number in 0..12 {
        let words =
            if number % 2 == 0 { ["open", "close", "idle"] } else { ["open", "error", "idle"] };
        let events: Vec<&str> = (0..12).map(|at| words[(at * at + number) % 3]).collect();
        let _ = writeln!(text, "{},s{number},{}", ["a", "b"][number % 2], events.join(separator));
    }
    text
}

#[test]
fn words_are_found_between_dots_and_slashes() {
    let folder = Folder::new();
    let wanted = read(&folder.put("blanks.csv", strings(" ")));
    for separator in [".", "/"] {
        let path = folder.put("marks.csv", strings(separator));
        let report = read(&path);
        assert_eq!(report["observed"], wanted["observed"], "{separator}: {report}");
        let told = notes(&format!("fit {path} --dry-run --json"));
        assert!(told.iter().any(|note| note.is("source-found") && note.names("`")), "{told:?}");
    }
    // Gaps of aligned letters are no separators.
    let gaps =
        "label,id,sequence\na,0,ACG.TTA.GG\na,1,AC..TTACGG\nb,2,TTG.ACC.AG\nb,3,TT..ACCTAG\n";
    let report = read(&folder.put("gaps.csv", gaps));
    assert!(report["observed"].to_string().len() < 40, "{report}");
}

#[test]
fn options_of_tables_of_samples_are_noted_on_strings() {
    let folder = Folder::new();
    let path = folder.put("strings.csv", strings(" "));
    let told =
        notes(&format!("fit {path} --time t --decimal , --segments --channels x --dry-run --json"));
    for option in ["--time", "--decimal", "--segments", "--channels"] {
        assert!(told.iter().any(|note| note.is(&format!("source-found {option}"))), "{told:?}");
    }
}

#[test]
fn a_misspelt_file_is_answered_with_the_nearest_name() {
    let folder = Folder::new();
    folder.put("rally.csv", "series,label,t,x\n0,a,0,1\n");
    refuses(fishweir("fit ally.csv").current_dir(&folder), "unreadable-file ally.csv rally.csv");
    refuses(fishweir("fit nothing.csv").current_dir(&folder), "unreadable-file nothing.csv");
}

#[test]
fn marks_of_what_is_missing_may_begin_with_hyphens() {
    let folder = Folder::new();
    let text = table("series,label,t,x,y", |class, number, t, [x, _]| {
        let y = ["-9999", "--", "0.5"][t % 3];
        format!("{number},{class},{t},{x:.3},{y}")
    });
    let path = folder.put("marks.csv", text);
    let report = json(&format!("fit {path} --na -9999,-- --dry-run --json"));
    assert_eq!(report["samples"], 240, "{report}");
}

#[test]
fn predictions_and_matrices_are_of_several_files() {
    let folder = Folder::new();
    let path = |name: &str| fixtures().at(name);
    let data = fs::read_to_string(path("two.csv")).expect("a fixture");
    let (first, second) = (folder.put("a.csv", &data), folder.put("b.csv", &data));
    let model = path("two.json");
    let alone = printed(&format!("predict {first} --model {model}")).lines().count();
    let both = printed(&format!("predict {first} {second} --model {model}")).lines().count();
    assert_eq!(both, 2 * alone - 1);
    let output = folder.at("gram.csv");
    let items = |files: &str| {
        json(&format!("gram {files} --model {model} -o {output} --json"))["items"].as_u64()
    };
    let one = items(&first).expect("a count");
    assert_eq!(items(&format!("{first} {second}")), Some(2 * one));
}

#[test]
fn a_clock_is_judged_at_the_rate_of_the_training() {
    let folder = Folder::new();
    let text = table("series,label,t [s],x,y", |class, number, t, [x, y]| {
        format!("{number},{class},{:.2},{x:.3},{y:.3}", 0.02 * t as f64)
    });
    let (data, model) = (folder.put("gait.csv", text), folder.at("gait.json"));
    notes(&format!("fit {data} --classifier bayes --states 1 -o {model}"));
    let told = json(&format!("info {model} --clock 64 --json"));
    let asked = json(&format!("info {model} --clock 64 --rate 50 --json"));
    assert_eq!(told["pace"], asked["pace"]);
    assert!(told["pace"].is_object(), "{told}");
}

#[test]
fn a_table_on_standard_output_is_quiet_where_that_is_asked_for() {
    let folder = Folder::new();
    let data = folder.put("a.csv", "series,label,t,x\n0,a,0,1\n0,a,1,2\n");
    let output = fishweir(&format!("convert {data} --quiet")).output().expect("runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(output.stdout.starts_with(b"series,"), "{output:?}");
}

#[test]
fn a_string_that_cannot_be_read_is_left_out_of_predictions_and_counted() {
    let folder = Folder::new();
    let (data, model) = (folder.put("logs.csv", strings(" ")), folder.at("logs.json"));
    notes(&format!("fit {data} --classifier bayes --states 1 -o {model}"));
    let odd = strings(" ").replacen("open", "explode", 1);
    let odd = folder.put("odd.csv", odd);
    let told = notes(&format!("predict {odd} --model {model}"));
    let expected = "skipped-records 2 explode 1 12";
    assert!(told.iter().any(|note| note.is(expected)), "{told:?}");
    assert_eq!(printed(&format!("predict {odd} --model {model} --quiet")).lines().count(), 12);
    let report = json(&format!("predict {odd} --model {model} --json"));
    assert_eq!(report["skipped"], 1, "{report}");
    // So is an empty string, which has no line of its decision.
    let sound = strings(" ");
    let empty = sound.lines().map(|line| match line.rsplit_once(',') {
        Some((before, _)) if before.ends_with("3") => format!("{before},\n"),
        _ => format!("{line}\n"),
    });
    let empty = folder.put("empty.csv", empty.collect::<String>());
    let report = json(&format!("predict {empty} --model {model} --json"));
    assert!(report["skipped"].as_u64() > Some(0), "{report}");
    // One string of dotted words is read by the model's dictionary.
    let one = folder.put("one.csv", strings(".").lines().take(2).collect::<Vec<_>>().join("\n"));
    assert_eq!(printed(&format!("predict {one} --model {model} --quiet")).lines().count(), 2);
    // Figures are of all or of none.
    refuses(&format!("evaluate {odd} --model {model}"), "unknown-symbol explode");
}

#[test]
fn tables_of_spreadsheets_loggers_and_other_programs_are_read() {
    let folder = Folder::new();
    let german = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number};{class};{t};{};{}", comma(x), comma(y))
    };
    let text = table("Aufnahme;Klasse;Zeit;X;Y\n;;[ms];[m/s²];g", german);
    let report = is_read(&folder, "german.csv", text);
    assert_eq!(report["observed"], serde_json::json!(["X [m/s²]", "Y [g]"]), "{report}");
    assert_eq!(report["rate"], 1000.0, "{report}");
    let quoted = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("\"{}\" \"{number}\" \"{class}\" {t} {x:.3} {y:.3}", 40 * number + t + 1)
    };
    is_read(&folder, "r.txt", table("\"series\" \"label\" \"t\" \"x\" \"y\"", quoted));
    let tabs = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("\"{number}\"\t\"{class}\"\t{t}\t{x:.3}\t{y:.3}")
    };
    is_read(&folder, "r.tsv", table("\"series\"\t\"label\"\t\"t\"\t\"x\"\t\"y\"", tabs));
    let plain = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},{t},{x:.3},{y:.3}")
    };
    let header = "series,label,t,x,y";
    let text = table(header, plain);
    is_read(&folder, "comment.csv", text.clone() + "# stopped, battery low\n");
    is_read(&folder, "joined.csv", text.replace("\n3,run,0,", &format!("\n{header}\n3,run,0,")));
    is_read(&folder, "blank.csv", text.replace("\n3,run,0,", "\n,,,,\n3,run,0,"));
    is_read(&folder, "tail.csv", text.replace('\n', ",,\n"));
    let report = is_read(&folder, "cell.csv", text.replacen(",x,", ",\"x\n(g)\",", 1));
    assert_eq!(report["observed"][0], "x (g)", "{report}");
    let short = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},{:02}:{:02}.5,{x:.3},{y:.3}", (50 + t) / 60, (50 + t) % 60)
    };
    assert_eq!(is_read(&folder, "short.csv", table("series,label,time,x,y", short))["rate"], 1.0);
    is_read(&folder, "minus.csv", text.replace('-', "\u{2212}"));
    let swiss = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number};{class};{t};{x:.3};1'{:07.3}", 500.0 + y)
    };
    is_read(&folder, "swiss.csv", table("series;label;t;x;y", swiss));
    let counted = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{t},{x:.3},{y:.3},{number},{class}")
    };
    is_read(&folder, "counted.csv", table("sample,x,y,trial,class", counted));
    let noted = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{class},\"left,\nagain\",{t},{x:.3},{y:.3},{}", x > 0.0)
    };
    let notes = folder.put("notes.csv", table("series,label,note,t,x,y,moves", noted));
    assert_eq!(json(&format!("fit {notes} --channels x,y --dry-run --json"))["samples"], 240);
    refuses(&format!("fit {notes}"), "hidden-character 2 note --channels");
    let saved = "# t x y\n0.0e+00 1.0e+00 2.0e+00\n1.0e+00 2.0e+00 3.0e+00\n";
    let report = read(&folder.put("saved.txt", saved));
    assert_eq!(report["observed"], serde_json::json!(["x", "y"]), "{report}");
}

#[test]
fn what_systems_leave_in_folders_is_left_out() {
    let folder = Folder::new();
    for (class, file) in [("up", "a"), ("up", "b"), ("down", "c"), ("down", "d")] {
        fs::create_dir_all(folder.at(format!("rec/{class}"))).expect("a folder");
        folder.put(format!("rec/{class}/{file}.csv"), "t,x\n0,1\n1,2\n");
    }
    folder.put("rec/Thumbs.db", "\u{1}");
    folder.put("rec/up/desktop.ini", "[.ShellClassInfo]\n");
    let report = read(&folder.at("rec"));
    assert_eq!(report["classes"], serde_json::json!([["down", 2], ["up", 2]]), "{report}");
}

#[test]
fn a_number_that_loggers_write_for_nothing_is_noted() {
    let folder = Folder::new();
    let logged = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        let x = if t % 9 == 4 { -999.0 } else { x };
        format!("{number},{class},{t},{x},{y}")
    };
    let data = folder.put("logged.csv", table("series,label,t,x,y", logged));
    let told = notes(&format!("fit {data} --dry-run"));
    assert!(told.iter().any(|note| note.is("wild-sample x -999 24 --na=-999")), "{told:?}");
    assert_eq!(json(&format!("fit {data} --dry-run --json --na=-999"))["missing"], 24);
}

#[test]
fn every_command_on_data_takes_several_files() {
    let folder = Folder::new();
    let quiet = |class: &str, number: usize, t: usize, [x, y]: [f64; 2]| {
        format!("{number},{t},{:.3},{:.3},{class}", 0.1 * x, 0.1 * y)
    };
    let text = table("series,t,x,y,mark", quiet);
    let lines: Vec<&str> = text.lines().collect();
    let part = |name: &str, rows: &[&str]| {
        folder.put(name, format!("{}\n{}\n", lines[0], rows.join("\n")))
    };
    fs::create_dir_all(folder.at("parts")).expect("a folder");
    let (a, b) = (part("parts/a.csv", &lines[1..121]), part("parts/b.csv", &lines[121..]));
    let spotter = folder.at("spotter.json");
    let found = json(&format!(
        "spot {a} {b} --marks mark --background-mark walk --states 1 -o {spotter} --json"
    ));
    assert_eq!(found["classes"], serde_json::json!(["run"]), "{found}");
    let parts = folder.at("parts");
    let listed = json(&format!("spot {parts} --model {spotter} --json"));
    assert!(listed["events"].as_array().is_some(), "{listed}");
    let detector = folder.at("detector.json");
    notes(&format!(
        "detect {a} {b} --channels x,y --mean-time 6 --memory 4 --states 1 -o {detector}"
    ));
    let alarms = json(&format!("detect {parts} --model {detector} --json"));
    assert_eq!(alarms["samples"], 240, "{alarms}");
}

#[test]
fn numbers_of_records_have_decimal_commas_too() {
    let folder = Folder::new();
    let mut text = "Farbe;Länge\n".to_owned();
    for number in 0..40 {
        let _ = writeln!(text, "{};{}", ["rot", "blau"][number % 2], comma(number as f64 / 8.0));
    }
    let (data, model) = (folder.put("records.csv", text), folder.at("records.json"));
    let printed = printed(&format!("network fit {data} -o {model}"));
    assert!(printed.contains("numbers in bins: Länge"), "{printed}");
}
