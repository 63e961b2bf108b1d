//! Samples that lack channels: evaluated, fitted, scored, streamed, shown.

use std::fs;

use crate::fixtures::Folder;
use crate::{fishweir, json, notes, printed, refuses};

/// Standard normal numbers, the same ones always (a generator of Park and Miller, and Box and Muller).
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Series of 40 samples whose classes differ in `x` alone, by 0.2 deviations each way; `y` is noise.
fn series(count: usize, mut there: impl FnMut(&mut Normal, usize) -> bool) -> String {
    let (mut normal, mut text) = (Normal(20_261_127), String::from("series,label,t,x,y\n"));
    for one in 0..count {
        let (class, shift) = [("low", -0.2), ("high", 0.2)][one % 2];
        for t in 0..40 {
            let (x, y) = (normal.next() + shift, normal.next());
            let y = if there(&mut normal, t) { format!("{y:.4}") } else { String::new() };
            text += &format!("s{one},{class},{t},{x:.4},{y}\n");
        }
    }
    text
}

fn accuracy(folder: &Folder, text: &str, options: &str, classifier: &str) -> f64 {
    let data = folder.at("series.csv");
    fs::write(&data, text).expect("writes");
    let report = json(fishweir(&format!("evaluate {data} {options}")).arg("--json"));
    report["classifiers"][classifier]["accuracy"].as_f64().expect("an accuracy")
}

/// A second channel of noise costs nothing, however seldom it is there.
#[test]
fn a_channel_that_is_seldom_there_costs_nothing() {
    let folder = Folder::new();
    let simple = "--classifier bayes --states 1";
    let whole = accuracy(&folder, &series(200, |_, _| true), simple, "bayes");
    assert!(whole > 0.85, "{whole}");
    let tenth = accuracy(&folder, &series(200, |_, t| t % 10 == 0), simple, "bayes");
    let random = accuracy(&folder, &series(200, |s, _| s.uniform() < 0.1), simple, "bayes");
    let never_whole =
        accuracy(&folder, &series(200, |s, t| t == 0 && s.uniform() < 0.2), simple, "bayes");
    for (found, how) in [(tenth, "tenth"), (random, "random"), (never_whole, "seldom")] {
        assert!((found - whole).abs() < 0.03, "{how}: {found} where {whole} belongs");
    }
}

#[test]
fn a_model_hears_what_its_contract_lets_be_missing() {
    let folder = Folder::new();
    let (data, whole) = (folder.at("parts.csv"), folder.at("whole.csv"));
    fs::write(&data, series(20, |_, t| t % 10 == 0)).expect("writes");
    fs::write(&whole, series(20, |_, _| true)).expect("writes");
    let fit = |data: &str, model: &str| {
        let (model, artefact) = (folder.at(model), folder.at(format!("{model}.fishweir")));
        let line = format!("fit {data} --classifier bayes --states 1 -o {model}");
        let told = notes(&line);
        notes(&format!("export {model} --artefact {artefact}"));
        (model, artefact, told)
    };
    let (model, artefact, told) = fit(&data, "parts.json");
    let [note] = told.iter().filter(|note| note.is("unobserved-channel")).collect::<Vec<_>>()[..]
    else {
        panic!("{told:?}")
    };
    assert!(note.is("unobserved-channel y 720 90") && !note.names("x"), "{note}");
    let info = json(fishweir(&format!("info {model}")).arg("--json"));
    let channels = &info["contract"]["channels"];
    assert_eq!(
        (&channels[0]["missing"], &channels[1]["missing"]),
        (&false.into(), &true.into()),
        "{info}"
    );
    let (whole_model, _, told) = fit(&whole, "whole.json");
    assert!(!told.iter().any(|note| note.is("unobserved-channel")), "{told:?}");
    let info = json(fishweir(&format!("info {whole_model}")).arg("--json"));
    assert_eq!(info["contract"]["channels"][1]["missing"], false, "{info}");

    // A stream in which `y` is never there is decided by `x`; in pieces as in a file, by the artefact as by the model.
    let rows = |y: &str| -> String {
        (0..40).map(|t| format!("{},{y}\n", 0.5 + f64::from(t % 3))).collect()
    };
    let decided = |model: &str, text: String| -> Vec<String> {
        let line = format!("predict --stream --endless --model {model}");
        let out = fishweir(&line).write_stdin(text).output().expect("runs");
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).expect("text").lines().map(str::to_owned).collect()
    };
    let there = decided(&model, rows(""));
    assert_eq!(there, decided(&artefact, rows("")));
    for missing in ["NA", "NaN"] {
        assert_eq!(there, decided(&model, rows(missing)), "{missing}");
    }
    assert!(there.last().is_some_and(|line| line.contains("high")), "{there:?}");
    // Trained on whole samples, the model hears nothing of the same stream.
    let told = notes(
        fishweir(&format!("predict --stream --endless --model {whole_model}"))
            .write_stdin(rows("")),
    );
    assert!(told.iter().any(|note| note.is("unobserved")), "{told:?}");
    let dead = folder.at("dead.csv");
    fs::write(
        &dead,
        format!("t,x,y\n{}", (0..40).map(|t| format!("{t},1,\n")).collect::<String>()),
    )
    .expect("writes");
    refuses(&format!("predict {dead} --model {whole_model}"), "no-whole-row y");
    notes(&format!("predict {dead} --model {model}"));
    refuses(&format!("fit {data} --classifier fisher --codebooks 4 -o {model}"), "partial-samples");
    refuses(&format!("fit {data} --classifier gaussian -o {model}"), "partial-samples");
}

/// A channel that is missing now and then costs no codebooks, and no kernel machine: then the sample is missing. One that is
/// missing often costs the codebooks, by name.
#[test]
fn what_takes_whole_samples_takes_those_that_are() {
    let folder = Folder::new();
    let (few, often) = (folder.at("few.csv"), folder.at("often.csv"));
    fs::write(&few, series(20, |_, t| t % 20 != 3)).expect("writes");
    fs::write(&often, series(20, |_, t| t % 2 == 0)).expect("writes");
    let fit = |data: &str, options: &str| {
        let model = folder.at("m.json");
        let told = notes(&format!("fit {data} {options} -o {model}"));
        let text = fs::read_to_string(&model).expect("a model");
        let kept: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let coded = !kept["classifier"]["codebooks"].is_null();
        let partial = told.iter().filter(|note| note.is("partial-samples")).count();
        (partial, coded, text.contains("\"missing\":true"))
    };
    assert_eq!(fit(&few, "--classifier bayes --states 1"), (0, false, true));
    assert_eq!(fit(&few, "--lags 1,2 --score-model each-lag --codebooks 1"), (1, true, false));
    assert_eq!(fit(&few, "--classifier gaussian --states 1").0, 1);
    assert_eq!(fit(&few, "--codebooks 0").0, 0);
    assert_eq!(fit(&few, "").0, 1);
    assert_eq!(fit(&often, "").0, 1);
    let judged = notes(&format!("evaluate {few} --folds 2 --classifier bayes,gaussian --states 1"));
    assert_eq!(judged.iter().filter(|note| note.is("partial-samples")).count(), 1);
}

/// A channel that a series never has gave nothing to the decision on it, and keeps its place in a table.
#[test]
fn what_is_never_there_explains_nothing() {
    let folder = Folder::new();
    let (data, model) =
        (folder.put("tenth.csv", series(20, |_, t| t % 10 == 0)), folder.at("m.json"));
    printed(&format!("fit {data} --classifier bayes --states 1 -o {model}"));
    let never = folder.put("never.csv", series(4, |_, _| false));
    let explained = printed(&format!("predict {never} --model {model} --explain=channels"));
    let parts: Vec<(bool, f64)> = explained
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            Some((*fields.get(5)? == "y", fields.last()?.parse().ok()?))
        })
        .collect();
    assert_eq!(parts.len(), 8, "{explained}");
    assert!(parts.iter().all(|&(of_y, part)| of_y == (part.abs() < 1e-3)), "{explained}");
    let table = printed(&format!("convert {data} -o -"));
    assert_eq!(table.lines().filter(|line| line.ends_with(',')).count(), 20 * 36, "x alone");
}

/// Two sensors that are never there together, of which each shows the events.
fn marked() -> String {
    let (mut normal, mut text) = (Normal(4_711), String::from("series,t,x,y,mark\n"));
    for one in 0..6 {
        for t in 0..300 {
            let (level, mark) = match t {
                60..100 => (3.0, "up"),
                180..220 => (-3.0, "down"),
                _ => (0.0, ""),
            };
            let value = format!("{:.4}", normal.next() + level);
            let (x, y) = if t % 2 == 0 { (value.as_str(), "") } else { ("", value.as_str()) };
            text += &format!("s{one},{t},{x},{y},{mark}\n");
        }
    }
    text
}

#[test]
fn spotters_and_detectors_leave_out_what_is_missing() {
    let folder = Folder::new();
    let (data, model) = (folder.put("marked.csv", marked()), folder.at("spotter.json"));
    let rust = folder.at("spotter.rs");
    let quick = "--states 1 --lag 100";
    let report = json(&format!("spot {data} --marks mark {quick} -o {model} --json"));
    let best = report["figures"].as_array().into_iter().flatten();
    let best = best.filter_map(|one| one["f1"].as_f64()).fold(0.0, f64::max);
    assert!(best > 0.9, "{report}");
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["contract"]["channels"][0]["missing"], true, "{info}");
    assert!(info["logarithms_per_partial_sample"].as_u64() > Some(0), "{info}");
    notes(&format!("export {model} --rust {rust}"));
    assert!(folder.text("spotter.rs").contains("Marginal<Gaussian<2"));

    let normal: String = marked()
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').take(4).collect();
            fields.join(",") + "\n"
        })
        .collect();
    let normal = folder.put("normal.csv", normal);
    let detector = folder.at("detector.rs");
    notes(&format!("detect {normal} --states 2 --memory 20 --mean-time 50 --rust {detector}"));
    assert!(folder.text("detector.rs").contains("Marginal<Gaussian<2"));
}

/// The Kalman filter takes in what is there: classes that one channel tells apart are told apart, however seldom the other is.
#[test]
fn linear_systems_take_in_the_channels_that_are_there() {
    let folder = Folder::new();
    let data = folder.put("tenth.csv", series(60, |_, t| t % 10 == 0));
    let model = folder.at("systems.json");
    notes(&format!("fit {data} --family lds --states 1 --model-per class -o {model}"));
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["contract"]["channels"][1]["missing"], true, "{info}");
    assert!(info["logarithms_per_partial_sample"].as_u64() > Some(0), "{info}");
    let report = json(&format!("evaluate {data} --model {model} --json"));
    assert!(report["accuracy"].as_f64() > Some(0.8), "{report}");
}
