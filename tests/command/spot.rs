//! `fishweir spot`: events of a marked stream, beside those of windows.

use std::fmt::Write as _;

use serde_json::Value;

use crate::fixtures::{Folder, Noise, fixtures};
use crate::shared::data::marked;
use crate::{answers, json, printed, refuses};

#[test]
fn events_are_found_and_windows_are_told_beside() {
    let folder = Folder::new();
    let (train, test) = (folder.put("train.csv", marked(1)), folder.put("test.csv", marked(2)));
    let line = format!("spot {train} --test {test} --marks mark --states 2 --events");
    let report = json(&format!("{line} --json"));
    let [.., spotted, windowed] = &report["figures"].as_array().expect("figures")[..] else {
        panic!("no figures: {report}")
    };
    assert_eq!((&spotted["events"], &spotted["f1"]), (&12.into(), &1.0.into()), "{report}");
    assert!(
        windowed["what"].as_str().is_some_and(|what| what.ends_with("by windows of 15 samples"))
    );
    assert!(windowed["f1"].as_f64().is_some_and(|f1| (0.3..=1.0).contains(&f1)), "{report}");
    let events = report["events"].as_array().expect("events");
    assert_eq!(events.len(), 12);
    for event in events {
        let number = |name: &str| event[name].as_u64().expect("a number");
        assert!(number("start") < number("end") && number("end") <= number("decided"), "{event}");
        assert!(event["log_odds_per_sample"].as_f64().is_some_and(|odds| odds > 0.0), "{event}");
    }
    let said = printed(&line);
    // A first screen: the events of the test, by class, and the cost; every penalty that was tried is asked for.
    assert!(said.contains("12 of 12 events found, 12 reported; precision 1.000"), "{said}");
    for part in ["0 false reports in 1", "on a device: ", " B of RAM, ", "--verbose"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert_eq!(said.matches(", where it was chosen: ").count(), 1, "{said}");
    let all = printed(&format!("{line} --verbose"));
    assert_eq!(all.matches(", where it was chosen: ").count(), 6, "{all}");
    let by_class = report["by_class"].as_array().expect("classes");
    let events = |one: &Value| (one["what"].clone(), one["events"].clone(), one["found"].clone());
    assert_eq!(
        by_class.iter().map(events).collect::<Vec<_>>(),
        [("high".into(), 8.into(), 8.into()), ("low".into(), 4.into(), 4.into())]
    );
    assert_eq!(
        (&report["false_reports"], &report["false_reports_per_hour"]),
        (&0.into(), &Value::Null)
    );
    assert!(
        said.contains("\nseries,class,start,end,log_odds_per_sample,decided\n0,high,60,90,"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_spotted_is_refused() {
    let folder = Folder::new();
    let train = folder.put("train.csv", marked(1));
    refuses(&format!("spot {train} --marks class"), "bad-header class t");
    refuses(&format!("spot {train} --marks mark --overlap 2"), "bad-setting overlap");
    let bare = folder.put("bare.csv", marked(1).replace("high", "").replace("low", ""));
    refuses(&format!("spot {bare} --marks mark"), "wrong-classes bare.csv");
    let other = folder.put("other.csv", marked(1).replace("high", "top"));
    refuses(&format!("spot {train} --marks mark --test {other}"), "unknown-label mark top");
    refuses(&format!("spot {train}"), "missing-option --marks");
}

#[test]
fn a_spotter_is_kept_and_finds_the_same_events() {
    let folder = Folder::new();
    let (train, test) = (folder.put("train.csv", marked(1)), folder.put("test.csv", marked(2)));
    let file = folder.at("spotter.json");
    let said = printed(&format!("spot {train} --marks mark --states 2 --lag 40 -o {file}"));
    assert!(
        said.contains(&format!("\nspotter written to {file}\nnext: fishweir spot DATA --model"))
    );

    let judged = json(&format!("spot {test} --model {file} --marks mark --events --json"));
    assert_eq!((&judged["figures"][0]["f1"], &judged["penalty"]), (&1.0.into(), &Value::Null));
    let events = judged["events"].as_array().expect("events");
    // The marks, if any, are not looked at where they are not named.
    let listed = json(&format!("spot {test} --model {file} --json"));
    assert_eq!(listed["events"].as_array(), Some(events));
    let table = printed(&format!("spot {test} --model {file}"));
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("series,class,start,end,log_odds_per_sample,decided"));
    assert_eq!(lines.clone().count(), 12);
    assert!(lines.next().is_some_and(|line| line.starts_with("0,high,60,90,")), "{table}");
    for event in events {
        let number = |name: &str| event[name].as_u64().expect("a number");
        assert!(number("decided") <= number("end") + 40, "{event}");
    }

    let report = json(&format!("info {file} --json"));
    let [states, lag, flash, ram] =
        ["states", "lag", "model_bytes", "state_bytes"].map(|name| report[name].as_u64());
    assert_eq!((states, lag, flash), (Some(8), Some(40), Some(4 * (72 + 20 + 3 * 8) + 12)));
    assert!(ram.is_some_and(|bytes| (1_300..1_700).contains(&bytes)), "{report}");
    let said = printed(&format!("info {file}"));
    for part in ["spotter of events", "4 series, 12 events", "RAM, state of one stream"] {
        assert!(said.contains(part), "{said}");
    }

    let source = folder.at("spotter.rs");
    printed(&format!("export {file} --rust {source}"));
    let text = std::fs::read_to_string(&source).expect("written");
    assert!(text.contains("\npub type Model = Spotter<Gaussian<1, f32>, 8, 4, 4>;\n"), "{text}");
    assert_eq!(printed(&format!("export {file} --rust -")), text);
    for other in ["--artefact", "--number q15 --c", "--number q15 --rust"] {
        refuses(&format!("export {file} {other} {source}.x"), "unsupported f32");
    }
    answers(format!("export {file} --rust {source} --data {test}"), "idle-option --data");

    answers(format!("spot {test} --model {file} --states 3"), "idle-option --states");
    answers(format!("spot {test} --model {file} --events"), "idle-option --events");
    refuses(&format!("spot {test} --model {train}"), "is-data series");
    let classifier = fixtures().at("three.json");
    refuses(&format!("spot {test} --model {classifier}"), "wrong-model");
    refuses(&format!("spot {train} --marks mark -o {train}"), "output-is-input");
    refuses(&format!("predict {test} --model {file}"), "wrong-model");
    let text = std::fs::read_to_string(&file).expect("written").replacen("0.", "1.", 1);
    refuses(&format!("info {}", folder.put("bad.json", text)), "checksum");
}

#[test]
fn a_spotter_is_cross_validated_beside_windows_on_the_same_folds() {
    let folder = Folder::new();
    let text = marked(1);
    let train = folder.put("train.csv", &text);
    let line = format!("evaluate {train} --events --marks mark --states 2 --lag 40");
    let report = json(&format!("{line} --json"));
    let folds = report["folds"].as_array().expect("folds");
    assert_eq!(folds.len(), 4, "one a series");
    let [spotted, windows] = [0, 1].map(|which| &report["figures"][which]);
    assert_eq!([&spotted["what"], &windows["what"]], ["spotted", "windows"]);
    assert_eq!([&spotted["events"], &windows["events"]], [12, 12]);
    assert!(spotted["f1"].as_f64().is_some_and(|f1| f1 > 0.9), "{report}");
    assert!(spotted["median_delay"].as_i64().is_some_and(|delay| delay <= 40), "{report}");

    // A fold is what `spot` says of its series when the others have trained it.
    let is_of = |line: &str, series: &str| line.split(',').next() == Some(series);
    let part = |wanted: bool| -> String {
        let lines = text.split_inclusive('\n');
        lines.filter(|line| line.starts_with("series") || is_of(line, "2") == wanted).collect()
    };
    let (others, own) = (folder.put("others.csv", part(false)), folder.put("own.csv", part(true)));
    let line = format!("spot {others} --test {own} --marks mark --states 2 --lag 40 --json");
    let told = json(&line);
    let fold = folds.iter().find(|fold| fold["test"] == serde_json::json!(["2"])).expect("a fold");
    let [.., spotted, windowed] = &told["figures"].as_array().expect("figures")[..] else {
        panic!("no figures: {told}")
    };
    for (alone, which) in [(spotted, 0), (windowed, 1)] {
        for name in ["events", "reported", "found", "precision", "recall", "f1", "median_delay"] {
            assert_eq!(fold["figures"][which][name], alone[name], "{name}: {fold} {told}");
        }
    }
    assert_eq!(fold["penalty"], told["penalty"]);
    let window = format!("by windows of {} samples", fold["window"]);
    assert!(windowed["what"].as_str().is_some_and(|what| what.ends_with(&window)), "{told}");

    let grouped = text.lines().map(|line| match line.split(',').next() {
        Some("series") => format!("person,{line}\n"),
        series => format!("{},{line}\n", if series < Some("2") { "ann" } else { "bob" }),
    });
    let grouped = folder.put("grouped.csv", grouped.collect::<String>());
    let line = format!("evaluate {grouped} --events --marks mark --states 2 --group person");
    let report = json(&format!("{line} --json"));
    let tested = |fold: usize| report["folds"][fold]["test"].clone();
    assert_eq!(
        [tested(0), tested(1)],
        [serde_json::json!(["0", "1"]), serde_json::json!(["2", "3"])]
    );
    let said = printed(&line);
    for part in [
        "4 series, 12 events of 2 classes (high, low)",
        "2 folds, by person;",
        "spotted: 1",
        "windows: ",
        "\n  fold 2 ",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
}

#[test]
fn spotters_that_were_kept_are_judged_and_options_of_classifiers_refused() {
    let folder = Folder::new();
    let (train, test) = (folder.put("train.csv", marked(1)), folder.put("test.csv", marked(2)));
    let file = folder.at("spotter.json");
    printed(&format!("spot {train} --marks mark --states 2 -o {file}"));
    let line = format!("evaluate {test} --events --marks mark --model {file}");
    let judged = json(&format!("{line} --model {file} --json"));
    let alone = json(&format!("spot {test} --model {file} --marks mark --json"));
    for which in [0, 1] {
        for name in ["events", "reported", "found", "f1", "median_delay"] {
            assert_eq!(
                judged["figures"][which][name], alone["figures"][0][name],
                "{name}: {judged}"
            );
        }
    }
    assert!(printed(&line).starts_with(&format!("{file}: 12 of 12 events found")));

    answers(format!("{line} --lag 3"), "idle-option --lag");
    answers(format!("{line} --group series"), "idle-option --group");
    let line = format!("evaluate {train} --events");
    refuses(&line, "missing-required-argument --marks");
    let line = format!("{line} --marks mark");
    refuses(&format!("{line} --learner svm --lags 1"), "idle-option --lags --learner");
    answers(format!("{line} --learner svm"), "idle-option --learner");
    answers(format!("{line} --raw"), "idle-option --raw");
    refuses(&format!("{line} --classifier bayes"), "argument-conflict --classifier");
    refuses(&format!("{line} --window 20"), "argument-conflict --window");
    refuses(&format!("{line} --folds 5"), "too-few-items 4 5");
    refuses(&format!("{line} --overlap 2"), "bad-setting overlap 0");
    refuses(
        &format!("evaluate {train} --marks mark --overlap 0.5"),
        "idle-option --marks --overlap",
    );
    let only: String = marked(1)
        .split_inclusive('\n')
        .map(|line| if line.starts_with("3,") { line.to_owned() } else { line.replace("low", "") })
        .collect();
    let only = folder.put("only.csv", only);
    refuses(&format!("evaluate {only} --events --marks mark"), "class-missing low 1");
    answers(format!("spot {test} --model {file} --overlap 0.4"), "idle-option --overlap");
}

/// The same stretches cut out, and what lies between them in one recording that says nothing of labels.
fn clips_and_background(seed: u32) -> (String, String) {
    let mut clips = String::from("series,person,label,t,x\n");
    let mut noise = Noise(seed);
    let mut near = |level: f64| level + noise.next().unwrap_or(0.0);
    for clip in 0..12 {
        let (level, label) = [(3.0, "high"), (-3.0, "low")][clip % 2];
        for t in 0..20 + clip {
            let _ = writeln!(clips, "{clip},{},{label},{t},{:.3}", clip / 4, near(level));
        }
    }
    let mut background = String::from("t,x\n");
    for t in 0..900 {
        let _ = writeln!(background, "{t},{:.3}", near(0.0));
    }
    (clips, background)
}

#[test]
fn clips_and_a_background_make_a_spotter_as_marked_series_do() {
    let folder = Folder::new();
    let (clips, background) = clips_and_background(3);
    let (clips, background) = (folder.put("clips.csv", clips), folder.put("rest.csv", background));
    let (test, file) = (folder.put("test.csv", marked(2)), folder.at("spotter.json"));
    let line = format!("spot --clips {clips} --background {background} --states 2");
    let said = printed(&format!("{line} --group person -o {file}"));
    assert!(
        said.contains(" nats for entering an event, chosen in 3 folds of clips and background\n"),
        "{said}"
    );
    assert!(said.contains(" of 12 events found, "), "{said}");
    let report = json(&format!("{line} --test {test} --marks mark --events --json"));
    assert_eq!(report["parts"], "clips and background");
    let [.., spotted, windowed] = &report["figures"].as_array().expect("figures")[..] else {
        panic!("no figures: {report}")
    };
    assert_eq!((&spotted["events"], &spotted["f1"]), (&12.into(), &1.0.into()), "{report}");
    assert!(windowed["what"].as_str().is_some_and(|what| what.contains("by windows of ")));
    assert_eq!(report["events"].as_array().map(Vec::len), Some(12));

    // Everything downstream knows no difference.
    let judged = json(&format!("spot {test} --model {file} --marks mark --json"));
    assert_eq!(judged["figures"][0]["f1"], 1.0, "{judged}");
    let said = printed(&format!("info {file}"));
    assert!(
        said.contains("clips.csv, rest.csv") && said.contains("13 series, 12 events"),
        "{said}"
    );
    assert!(said.contains("3 folds of clips and background"), "{said}");
    let source = printed(&format!("export {file} --rust -"));
    assert!(
        source.contains("\npub type Model = Spotter<Gaussian<1, f32>, 8, 4, 4>;\n"),
        "{source}"
    );
    let library = folder.at("library");
    printed(&format!("export {file} --c {library}"));
}

#[test]
fn clips_that_do_not_go_with_a_background_are_refused() {
    let folder = Folder::new();
    let (text, rest) = clips_and_background(3);
    let (clips, background) = (folder.put("clips.csv", &text), folder.put("rest.csv", &rest));
    let other = folder.put("other.csv", rest.replace("t,x", "t,y"));
    refuses(&format!("spot --clips {clips} --background {other}"), "bad-header other.csv 1 x y");
    let short: String = rest.split_inclusive('\n').take(8).collect();
    let short = folder.put("short.csv", short);
    refuses(
        &format!("spot --clips {clips} --background {short}"),
        "short-background short.csv 2 4",
    );
    let bare = folder.put("bare.csv", text.replace(",low,", ",,"));
    refuses(&format!("spot --clips {bare} --background {background}"), "unlabelled");
    let line = format!("spot --clips {clips} --background {background}");
    refuses(&format!("{line} --group family"), "unknown-column family");
    answers(format!("{line} --events"), "idle-option --events");
    answers(format!("{line} --marks mark"), "idle-option --marks");
    let test = folder.put("test.csv", marked(2));
    refuses(&format!("{line} --test {test}"), "missing-option --marks");
    refuses(&format!("{line} -o {clips}"), "output-is-input");
    refuses(&format!("spot --clips {clips}"), "missing-required-argument --background");
    refuses(&format!("{line} --background-mark rest"), "missing-required-argument --marks");
    let line = format!("spot {test} --marks mark");
    refuses(&format!("{line} --background rest"), "idle-option --background-mark mark");
    answers(format!("{line} --group person"), "idle-option --group");
}
