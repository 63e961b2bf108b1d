//! Tables that are read a chunk at a time: the same decisions, figures and models, in memory that does not grow.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, Noise, fixtures};
use crate::{json, notes, printed, refused, refuses};

/// Series of two classes and two channels, of 8 to 20 samples each.
fn table(series: usize) -> String {
    let mut noise = Noise(5);
    let mut draw = || noise.next().unwrap_or(0.0);
    let mut text = "series,label,t,x,y\n".to_owned();
    for id in 0..series {
        let slow = draw() > 0.0;
        let mut level = if draw() > 0.0 { 1.0 } else { -1.0 };
        for t in 0..8 + id % 13 {
            if draw() > if slow { 0.8 } else { 0.2 } {
                level = -level;
            }
            let label = if slow { "slow" } else { "fast" };
            let (x, y) = (level + draw(), 0.5 * level + draw());
            let _ = writeln!(text, "{id},{label},{t},{x:.3},{y:.3}");
        }
    }
    text
}

/// More than two chunks of 1 MB.
const SERIES: usize = 8_000;

/// A folder with a table of several chunks and a Bayes classifier of another.
fn folder() -> (Folder, String, String) {
    let folder = Folder::new();
    let (data, few) = (folder.put("data.csv", table(SERIES)), folder.put("few.csv", table(300)));
    assert!(fs::metadata(&data).expect("a file").len() > 2_200_000);
    let model = folder.at("model.json");
    printed(&format!("fit {few} --classifier bayes --states 2 --restarts 1 -o {model}"));
    (folder, data, model)
}

#[test]
fn decisions_and_figures_are_those_of_the_whole() {
    let (folder, data, model) = folder();
    let line = format!("predict {data} --model {model}");
    let whole = printed(&line);
    assert_eq!(whole.lines().count(), 1 + SERIES);
    assert_eq!(printed(&format!("{line} --out-of-core")), whole);
    let whole = json(&format!("{line} --json"));
    let mut chunked = json(&format!("{line} --json --out-of-core=100"));
    let how = chunked.as_object_mut().expect("an object").remove("out_of_core").expect("said");
    assert_eq!((&chunked, &how["sampled"]), (&whole, &Value::from(100)));
    if cfg!(target_os = "linux") {
        assert!(how["peak_bytes"].as_u64() > Some(1_000_000), "{how}");
    }

    let line = format!("evaluate {data} --model {model} --json");
    let (whole, chunked) = (json(&line), json(&format!("{line} --out-of-core=100")));
    for (key, value) in whole.as_object().expect("an object") {
        match key.as_str() {
            "roc" => assert!(chunked[key].is_null()),
            // Of the sample.
            "rate" => {}
            _ => assert_eq!(chunked[key], *value, "{key}"),
        }
    }
    assert!(chunked["out_of_core"]["left_out"][0].as_str().is_some(), "{chunked}");
    // Classes that the model does not know.
    let other = folder.put("other.csv", table(SERIES).replace(",slow,", ",new,"));
    let line = format!("evaluate {other} --model {model} --json");
    let (whole, chunked) = (json(&line), json(&format!("{line} --out-of-core")));
    assert_eq!(chunked["unknown"], whole["unknown"]);
    assert_eq!(chunked["confusion"], whole["confusion"]);
}

/// The classifier in a file, without its recipe.
fn classifier(folder: &Folder, name: &str) -> Value {
    let mut text: Value = serde_json::from_str(&folder.text(name)).expect("JSON");
    let mut own = text["classifier"].take();
    own["provenance"]["recipe"] = Value::Null;
    own
}

#[test]
fn a_fit_is_that_of_the_whole_or_chosen_by_a_sample() {
    let (folder, data, _) = folder();
    let fit = |kind: &str, name: &str, options: &str| {
        let model = folder.at(name);
        let quick = "--states 2 --restarts 1 --lags none --score-model universal --learner ridge";
        let quick = if kind == "bayes" { "--states 2 --restarts 1" } else { quick };
        json(&format!("fit {data} --classifier {kind} {quick} -o {model} --json {options}"))
    };
    for kind in ["bayes", "fisher"] {
        let whole = fit(kind, "whole.json", "");
        // The sample is the whole.
        let all = fit(kind, "all.json", "--out-of-core=8000");
        assert_eq!(all["fits"], whole["fits"]);
        assert_eq!(classifier(&folder, "all.json"), classifier(&folder, "whole.json"));
        let some = fit(kind, "some.json", "--out-of-core=500");
        assert_eq!(some["out_of_core"]["sampled"], 500);
        for key in ["series", "samples", "windows", "missing", "classes"] {
            assert_eq!(some[key], whole[key], "{key}");
        }
        let likelihood =
            |report: &Value| report["fits"][0]["log_likelihood"].as_f64().expect("a number");
        // Converged from elsewhere.
        let (one, other) = (likelihood(&some), likelihood(&whole));
        assert!((one - other).abs() < 1e-3 * other.abs(), "{kind}: {one} {other}");
        let (one, other) = (classifier(&folder, "some.json"), classifier(&folder, "whole.json"));
        assert_ne!(one, other);
        assert_eq!(one["provenance"]["series"], SERIES);
        assert_eq!(one["provenance"]["checksum"], other["provenance"]["checksum"]);
        assert!(one["provenance"]["notes"].to_string().contains("sample of 500"));
        let right = |name: &str| {
            let report = json(&format!("evaluate {data} --model {} --json", folder.at(name)));
            report["accuracy"].as_f64().expect("a number")
        };
        let (one, other) = (right("some.json"), right("whole.json"));
        assert!((one - other).abs() < 0.005 && one > 0.8, "{kind}: {one} {other}");
    }
}

#[test]
fn what_needs_the_whole_is_refused_by_name() {
    let (folder, data, model) = folder();
    refuses(
        &format!("predict {data} {data} --model {model} --out-of-core"),
        "one-file --out-of-core",
    );
    let line = format!("evaluate {data} --model {model} --out-of-core");
    refuses(&format!("{line} --group series"), "idle-option --group");
    refuses(&format!("{line} --roc {}", folder.at("roc.svg")), "idle-option --roc");
    let out = folder.at("out.json");
    let fit = format!("fit {data} --out-of-core=200 --states 2 --restarts 1 -o {out}");
    refuses(&format!("{fit} --classifier gaussian"), "in-chunks gaussian");
    refuses(&format!("{fit} --family hmm"), "idle-option --out-of-core");
    let strings = fixtures().at("strings.tsv");
    let strings = format!("fit {strings} --classifier bayes --out-of-core -o {out}");
    refuses(&strings, "not-in-chunks strings.tsv strings");
    let back = folder.put("back.csv", format!("{}0,slow,0,1,1\n", table(9)));
    let told = refused(&format!("fit {back} --classifier bayes --out-of-core -o {out}"));
    assert_eq!(told, refused(&format!("fit {back} --classifier bayes -o {out}")));
    let fold = notes(&format!("evaluate {data} --classifier bayes --states 2 --out-of-core=200"));
    assert!(fold.iter().any(|note| note.is("out-of-core 200 8 000")), "{fold:?}");
}

/// A table of Parquet larger than a chunk: fitted to, evaluated and decided on as the text that it stands for.
#[cfg(feature = "parquet")]
#[test]
fn parquet_is_read_in_chunks() {
    let (folder, data, model) = folder();
    let text = folder.text("data.csv");
    let lines: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let ids: Vec<String> = lines.iter().map(|line| line[0].to_owned()).collect();
    let labels: Vec<Option<&str>> = lines.iter().map(|line| Some(line[1])).collect();
    let number = |text: &&str| text.parse().expect("a number");
    let rows: Vec<Vec<f64>> =
        lines.iter().map(|line| line[2..].iter().map(number).collect()).collect();
    let names = ["t", "x", "y"].map(str::to_owned);
    let bytes = fishweir::data::internals::parquet_table((&ids, &labels), &names, &rows);
    let parquet = folder.put("data.parquet", bytes.expect("a table"));
    for options in ["", "--out-of-core", "--out-of-core=100"] {
        let line =
            |data: &str| printed(&format!("predict {data} --model {model} --series id {options}"));
        let own = line(&parquet);
        let wanted = printed(&format!("predict {data} --model {model}"));
        assert!(own.lines().skip(1).eq(wanted.lines().skip(1)), "{options}");
    }
    let figures = |data: &str, series: &str| {
        let line = format!("evaluate {data} --model {model} --json --out-of-core=100 {series}");
        json(&line)["confusion"].clone()
    };
    assert_eq!(figures(&parquet, "--series id"), figures(&data, ""));
    for sample in [500, 8_000] {
        let fit = |data: &str, name: &str, series: &str| {
            let options = "--classifier bayes --states 2 --restarts 1 --iterations 5";
            let out = folder.at(name);
            printed(&format!("fit {data} {options} --out-of-core={sample} {series} -o {out}"));
            classifier(&folder, name)["models"].clone()
        };
        let (own, wanted) = (fit(&parquet, "own.json", "--series id"), fit(&data, "text.json", ""));
        assert_eq!(own, wanted, "{sample}");
    }
}

/// Ten times the series in no more memory. Skipped where the system does not tell the peak.
#[test]
fn memory_does_not_grow_with_the_table() {
    let folder = Folder::new();
    let (few, many) = (table(20_000), table(200_000));
    let (few, many) = (folder.put("few.csv", few), folder.put("many.csv", many));
    let model = folder.at("model.json");
    let peaks = |line: &dyn Fn(&str) -> String| {
        [&few, &many].map(|data| {
            let report = json(&line(data));
            report["out_of_core"]["peak_bytes"].as_f64()
        })
    };
    let fit = |data: &str| {
        format!(
            "fit {data} --classifier bayes --states 2 --restarts 1 --iterations 3 --out-of-core=1000 --json -o {model}"
        )
    };
    let evaluate =
        |data: &str| format!("evaluate {data} --model {model} --out-of-core=1000 --json");
    for (what, line) in [("fit", &fit as &dyn Fn(&str) -> String), ("evaluate", &evaluate)] {
        let [Some(few), Some(many)] = peaks(line) else { return };
        assert!(many < 1.1 * few, "{what}: {few} bytes, {many} of ten times the series");
    }
}
