//! Named events as symbols: words of strings, and tables of one event per line.

use serde_json::Value;

use crate::fixtures::{Folder, QUICK};
use crate::shared::data::{event_log, machines};
use crate::{fishweir, json, notes, printed, refuses};

/// Logs of machines, a string per machine.
fn event_strings() -> String {
    let rows = machines().into_iter().enumerate();
    let rows = rows.map(|(id, (label, events))| format!("{label},m{id},{}\n", events.join(" ")));
    "label,id,sequence\n".to_owned() + &rows.collect::<String>()
}

/// What a dry run says of data, but for the file's name.
fn understood(line: &str) -> [Value; 3] {
    let report = json(&format!("fit {line} --dry-run --json"));
    ["observed", "classes", "samples"].map(|key| report[key].clone())
}

#[test]
fn events_are_symbols_from_the_log_to_the_stream() {
    let folder = Folder::new();
    let strings = folder.put("strings.csv", event_strings());
    let log = folder.put("log.csv", event_log("event"));
    let [observed, classes, samples] = understood(&strings);
    assert_eq!(observed, serde_json::json!(["close", "error", "idle", "open"]));
    assert_eq!(understood(&log), [observed, classes, samples]);
    for path in [&strings, &log] {
        let said = notes(&format!("fit {path} --dry-run"));
        assert!(said.iter().any(|note| note.is("source-found error, --words")), "{said:?}");
    }
    // A table of strings is written of either, and read again.
    let table = folder.at("table.csv");
    printed(&format!("convert {log} -o {table}"));
    assert_eq!(understood(&table), understood(&log));

    let (model, artefact) = (folder.at("model.json"), folder.at("model.fishweir"));
    let fit = format!("--classifier fisher {QUICK} --effort quick");
    printed(&format!("fit {log} {fit} -o {model}"));
    let judged = json(&format!("evaluate {log} {fit} --folds 4 --json"));
    let accuracy = judged["classifiers"]["fisher"]["accuracy"].as_f64();
    assert!(accuracy.expect("a share") > 0.9, "{judged}");
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["symbols"], "close\nerror\nidle\nopen");
    assert!(printed(&format!("info {model}")).contains("4 symbols (close error idle open)"));
    printed(&format!("export {model} --artefact {artefact}"));
    assert_eq!(json(&format!("info {artefact} --json"))["symbols"], info["symbols"]);

    // The same decisions of the log, the strings, the artefact and the stream, however its words are parted.
    let decisions = |line: String| -> Vec<String> {
        let class = |row: &str| row.split(',').nth(3).map(str::to_owned);
        printed(line.as_str()).lines().skip(1).filter_map(class).collect()
    };
    let wanted = decisions(format!("predict {log} --model {model}"));
    assert!(wanted.contains(&"worn".to_owned()) && wanted.contains(&"healthy".to_owned()));
    for line in [format!("{strings} --model {model}"), format!("{log} --model {artefact}")] {
        assert_eq!(decisions(format!("predict {line}")), wanted, "{line}");
    }
    let text = event_strings();
    let events = text.lines().nth(1).and_then(|row| row.split(',').nth(2)).expect("a string");
    let length = events.split(' ').count();
    let line = format!("predict --stream --endless --model {model} --every {length}");
    for parted in ["\n", ",", " ", "; ", "\r\n"] {
        let stream = printed(fishweir(&line).write_stdin(events.replace(' ', parted)));
        let class = stream.lines().nth(1).and_then(|row| row.split(',').nth(2));
        assert_eq!(class, Some(wanted[0].as_str()), "{parted:?}: {stream}");
    }
    printed(&format!("gram {strings} --kernel spectrum --order 1 -o -"));
    printed(&format!("export {model} --rust {}", folder.at("model.rs")));
    assert!(folder.text("model.rs").contains(r#"Alphabet::new("close\nerror\nidle\nopen", "#));
}

#[test]
fn what_is_no_symbol_is_refused_by_place_and_options_say_otherwise() {
    let folder = Folder::new();
    let strings = folder.put("strings.csv", event_strings());
    let said = notes(&format!("fit {strings} --alphabet {} --dry-run", "acdehilnoprsw_"));
    assert!(!said.iter().any(|note| note.is("source-found")), "{said:?}");
    let words = format!("fit {strings} --words=close,error,idle,open,stop --dry-run --json");
    assert_eq!(json(&words)["observed"][4], "stop");
    refuses(&words.replace("idle,", ""), "unknown-symbol strings.csv 2 idle");
    refuses(&words.replace("stop", "open"), "invalid-value open twice");
    // Many words, or such as hardly come back, are no dictionary; unless they are said to be.
    let row =
        |n: usize| format!("a,{n},{}\n", (n..n + 9).map(|n| format!("w{n} ")).collect::<String>());
    let many: String = (0..200).map(|n| row(9 * n)).collect();
    let many = folder.put("many.csv", "label,id,sequence\n".to_owned() + &many);
    refuses(&format!("fit {many} --dry-run"), "bad-words many.csv --words");
    assert_eq!(understood(&format!("{many} --words"))[0].as_array().map(Vec::len), Some(1800));
    let one = folder.put("one.csv", "label,id,sequence\na,x,open open\nb,y,open open\n");
    refuses(&format!("fit {one} --dry-run"), "bad-words one.csv open");
    let long = "label,id,sequence\na,x,open close\nb,y,open ".to_owned() + &"x".repeat(65) + "\n";
    refuses(&format!("fit {} --dry-run", folder.put("long.csv", long)), "bad-layout 3 sequence 64");

    // Codes of one digit are words: `12` is never two of them. A quote that is never closed eats no lines.
    let digits = "label,id,sequence\na,x,1 2 3 1 2\na,y,1 2 3\nb,z,3 2 1 3\nb,w,3 2 1\n";
    let (digits, of_digits) = (folder.put("digits.csv", digits), folder.at("digits.json"));
    printed(&format!("fit {digits} --classifier bayes {QUICK} --effort quick -o {of_digits}"));
    let longer = folder.put("longer.csv", "label,id,sequence\na,x,1 2 12\n");
    refuses(&format!("predict {longer} --model {of_digits}"), "unknown-symbol longer.csv 12");
    let open = "label,id,sequence\na,x,open close\nb,y,\"idle open\na,z,close idle\n";
    refuses(&format!("convert {}", folder.put("open.csv", open)), "bad-layout open.csv 3");

    // Letters with blanks between them are letters; numbers are codes, by size.
    let letters = "label,id,sequence\na,x,A C G T A C G T\na,y,A C - T\n";
    let letters = folder.put("letters.csv", letters);
    assert_eq!(
        understood(&letters),
        understood(&folder.put("plain.csv", folder.text("letters.csv").replace(' ', "")))
    );
    let codes = event_log("code").replace("open", "12").replace("close", "7");
    let codes = folder.put("codes.csv", codes.replace("idle", "3").replace("error", "-1"));
    let named = understood(&format!("{codes} --event-column code"));
    assert_eq!(named[0], serde_json::json!(["-1", "3", "7", "12"]));
    assert_eq!(understood(&codes)[0], serde_json::json!(["code"]), "channels");
    refuses(&format!("fit {codes} --event-column none --dry-run"), "bad-header codes.csv");

    let (model, log) = (folder.at("model.json"), folder.put("log.csv", event_log("event")));
    printed(&format!("fit {log} --classifier bayes {QUICK} --effort quick -o {model}"));
    let other = folder.put("other.csv", event_log("event").replacen("idle", "stuck", 1));
    refuses(&format!("evaluate {other} --model {model}"), "unknown-symbol other.csv event stuck");
    let told = notes(&format!("predict {other} --model {model}"));
    assert!(told.iter().any(|note| note.is("skipped-records other.csv event stuck 1")), "{told:?}");
    refuses(&format!("predict {log} --model {model} --words"), "idle-option --words");
    let codes = format!("predict {codes} --model {model}");
    refuses(&codes, "wrong-observations codes.csv --event-column");
    let stream = format!("predict --stream --endless --model {model} --strict");
    refuses(
        fishweir(&stream).write_stdin("open idle\nopen stuck idle"),
        "unknown-symbol 2 6 stuck",
    );
}
