//! Regressions: `fit --target`, `evaluate`, `predict`, `info`, `export`, and who refuses them.

use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::fixtures::{Folder, Noise, fixtures};
use crate::{fishweir, json, notes, printed, refuses};

/// Windows of twenty samples, two of them per series.
const WINDOWS: &str = "--window 20 --hop 20";
const QUICK: &str = "--states 2 --iterations 4 --lags none --codebooks 0";

/// Three subjects, each with eight series of forty samples: the swing of two channels is to be estimated, and is missing in
/// a few samples.
fn swings() -> String {
    let mut text = "series,subject,t,x,y,swing [mm]\n".to_owned();
    let mut noise = Noise(3);
    for series in 0..24 {
        let swing = 1.0 + f64::from(series * 7 % 24) * 0.25;
        for t in 0..40 {
            let mut near = |value: f64| value + 0.05 * noise.next().unwrap_or(0.0);
            let phase = 0.9 * f64::from(t);
            let (x, y) = (near(swing * phase.sin()), near(swing * phase.cos()));
            let subject = ["ann", "bob", "cat"][series as usize % 3];
            let target = if t == 3 { String::new() } else { format!("{swing}") };
            let _ = writeln!(text, "{series},{subject},{t},{x:.4},{y:.4},{target}");
        }
    }
    text
}

struct Made {
    folder: Folder,
    data: String,
    model: String,
    artefact: String,
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = Folder::new();
        let data = folder.put("swings.csv", swings());
        let (model, artefact) = (folder.at("swing.json"), folder.at("swing.fishweir"));
        printed(&format!("fit {data} --target swing --group subject {WINDOWS} {QUICK} -o {model}"));
        printed(&format!("export {model} --artefact {artefact} --rust {}", folder.at("s.rs")));
        Made { folder, data, model, artefact }
    })
}

#[test]
fn a_fit_reports_errors_and_an_interval() {
    let Made { folder, data, .. } = made();
    let model = folder.at("reported.json");
    let report = json(&format!(
        "fit {data} --target swing --group subject {WINDOWS} {QUICK} --coverage 0.8 -o {model} --json"
    ));
    assert_eq!(report["target"]["name"], "swing");
    assert_eq!(report["target"]["unit"], "mm");
    let validation = &report["validation"];
    let number = |of: &serde_json::Value| of.as_f64().expect("a number");
    let (own, mean) = (&validation["figures"], &validation["baseline"]);
    assert!(number(&own["rmse"]) < 0.5 * number(&mean["rmse"]), "{validation}");
    assert!(number(&own["r2"]) > 0.8, "{validation}");
    let coverage = number(&own["coverage"]);
    assert!((0.6..=1.0).contains(&coverage), "{validation}");
    assert_eq!(report["groups"].as_array().map(Vec::len), Some(3));
    assert_eq!(number(&report["target"]["interval"]["coverage"]), 0.8);
}

#[test]
fn model_and_artefact_estimate_alike() {
    let Made { data, model, artefact, .. } = made();
    let text = printed(&format!("predict {data} --model {model}"));
    assert_eq!(printed(&format!("predict {data} --model {artefact}")), text);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let heads = rows.headers().expect("a header").iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(heads, ["series", "start", "end", "estimate", "low", "high"]);
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 48);
    for row in &rows {
        let number = |index: usize| row[index].parse::<f32>().expect("a number");
        assert!(number(4) < number(3) && number(3) < number(5), "{row:?}");
    }
    // Without the target, and as a stream, they are the same.
    let x_and_y: String = swings()
        .lines()
        .map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let line = format!("predict --stream --model {model} --json");
    let streamed = printed(fishweir(&line).write_stdin(x_and_y));
    let first = rows[0][3].parse::<f32>().expect("a number");
    let line = streamed.lines().next().expect("a decision");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["estimate"].as_f64().map(|x| x as f32), Some(first));
}

#[test]
fn a_model_is_judged_on_data_with_its_target() {
    let Made { data, model, artefact, .. } = made();
    let own = json(&format!("evaluate {data} --model {model} --group subject --json"));
    assert_eq!(own["figures"]["windows"], 48);
    assert!(own["figures"]["r2"].as_f64().expect("a number") > 0.9, "{own}");
    assert_eq!(own["groups"].as_array().map(Vec::len), Some(3));
    let again = json(&format!("evaluate {data} --model {artefact} --json"));
    assert_eq!(again["figures"], own["figures"]);
    // The training's mean is in the model's file alone.
    assert!(again["baseline"].is_null() && own["baseline"]["rmse"].is_number());
    // Data of the training are noted; a channel that the model observes is no target of it.
    let told = notes(&format!("evaluate {data} --model {model}"));
    assert!(told.iter().any(|note| note.is("training-data")), "{told:?}");
    refuses(&format!("evaluate {data} --model {model} --target x"), "conflicting-options x");
}

#[test]
fn cross_validation_of_several_regressions() {
    let data = &made().data;
    let report = json(&format!(
        "evaluate {data} --target swing --group subject {WINDOWS} {QUICK} --classifier fisher,gaussian \
         --target-value last --landmarks 12 --folds 3 --json"
    ));
    let all = report["regressions"].as_array().expect("regressions");
    assert_eq!(all.len(), 2);
    for one in all {
        let rmse = |of: &str| one[of]["rmse"].as_f64().expect("a number");
        assert!(rmse("figures") < rmse("baseline"), "{one}");
        assert_eq!(one["folds"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn one_recording_is_held_out_in_parts_and_windows_without_a_target_are_counted() {
    let folder = Folder::new();
    let mut text = "t,x,y,force\n".to_owned();
    for t in 0..400 {
        let (slow, fast) = (f64::from(t) * 0.02, f64::from(t) * 0.8);
        let force = 2.0 + slow.sin();
        // The first two windows have no target.
        let target = if t < 40 { "NA".to_owned() } else { format!("{force:.3}") };
        let _ = writeln!(text, "{t},{:.4},{:.4},{target}", force * fast.sin(), force * fast.cos());
    }
    let (data, model) = (folder.put("one.csv", text), folder.at("one.json"));
    let line = format!("fit {data} --target force {WINDOWS} {QUICK} --coverage 0.7 -o {model}");
    assert!(notes(&line).iter().any(|note| note.is("series-in-parts one.csv 5")));
    let report = json(&format!("{line} --json"));
    assert_eq!(report["validation"]["omitted"]["without_target"], 2);
    assert_eq!(report["validation"]["figures"]["windows"], 18);
}

#[test]
fn whole_series_have_numbers_for_labels() {
    let folder = Folder::new();
    let mut text = "@problemName Rates\n@targetLabel true\n@data\n".to_owned();
    let mut table = "series,label,t,x\n".to_owned();
    for series in 0..16 {
        let rate = 0.2 + 0.05 * f64::from(series);
        let samples: Vec<f64> = (0..30).map(|t| (rate * f64::from(t)).sin()).collect();
        let row: Vec<String> = samples.iter().map(|x| format!("{x:.4}")).collect();
        let _ = writeln!(text, "{}:{rate:.3}", row.join(","));
        for (t, x) in row.iter().enumerate() {
            let _ = writeln!(table, "{},{rate:.3},{t},{x}", series + 1);
        }
    }
    let (ts, csv) = (folder.put("rates.ts", text), folder.put("rates.csv", table));
    let figures = |data: &str| {
        let line =
            format!("evaluate {data} --target label --folds 4 {QUICK} --coverage 0.5 --json");
        json(&line)["regressions"][0]["figures"].clone()
    };
    assert_eq!(figures(&ts), figures(&csv));
    refuses(&format!("evaluate {ts}"), "bad-layout rates.ts --target label");
}

#[test]
fn what_no_regression_has_is_refused() {
    let Made { folder, data, model, artefact } = made();
    let out = folder.at("none.json");
    let fit = |rest: &str| format!("fit {data} {WINDOWS} -o {out} {rest}");
    refuses(&fit("--target pressure"), "unknown-target swings.csv pressure x, y, swing");
    refuses(&fit("--target subject"), "not-a-number swings.csv subject ann");
    refuses(&fit("--target swing --classifier bayes"), "no-regression bayes fisher");
    refuses(&fit("--target swing --learner svm"), "no-regression svm ridge --learner");
    refuses(&fit("--target swing --calibrate"), "idle-option --calibrate");
    refuses(&fit("--target swing --coverage 0.999"), "too-few-for-coverage 0.999 999 --coverage");
    refuses(&fit("--target swing --coverage 1"), "invalid-value --coverage");
    let noted = notes(&fit("--coverage 0.5 --family hmm --states 2 --iterations 1"));
    assert!(noted.iter().any(|note| note.is("idle-option --coverage")), "{noted:?}");
    for model in [model, artefact] {
        let project = folder.at("project");
        refuses(&format!("new {project} --board microbit --model {model}"), "is-regression swing");
        refuses(&format!("teach {data} --model {model}"), "is-regression swing");
        refuses(&format!("card {model}"), "is-regression swing");
        refuses(&format!("export {model} --c {}", folder.at("c")), "unsupported --c --c-source");
        refuses(&format!("predict {data} --model {model} --explain"), "idle-option --explain");
    }
    let two = fixtures().at("two.json");
    refuses(&format!("evaluate {data} --model {two} --target swing"), "idle-option --target");
    let unlabelled = folder.put("xy.csv", "series,t,x,y\n1,0,1,2\n1,1,2,3\n");
    refuses(&format!("evaluate {unlabelled} --model {model}"), "unknown-target xy.csv swing");
}

#[test]
fn info_and_c_name_the_target() {
    let Made { folder, model, .. } = made();
    let report = json(&format!("info {model} --json"));
    assert_eq!(report["contract"]["target"]["name"], "swing");
    assert_eq!(report["outputs"], 1);
    assert!(printed(&format!("info {model}")).contains("swing [mm], the mean of a window"));
    printed(&format!("export {model} --c-source {}", folder.at("swing.c")));
    let header = folder.text("swing.h");
    assert!(header.contains("FISHWEIR_TARGET_NAME \"swing\""), "{header}");
    assert!(folder.text("s.rs").contains("name: \"swing\", unit: \"mm\", of: Mean"));
    // Read by a program that knows no regressions, the file is none of a classifier.
    let bytes = std::fs::read(model).expect("a model");
    assert!(fishweir::classifier::Classifier::parse("m", &bytes).is_err());
}
