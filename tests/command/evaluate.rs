//! `fishweir evaluate`.

use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures, table};
use crate::{Messages, Run as _, fishweir, json, notes, printed, refused, refuses};

/// Figures that belong together, whoever wrote them.
fn check_figures(figures: &Value, windows: u64) {
    assert_eq!(figures["windows"], windows);
    let confusion: Vec<Vec<u64>> =
        serde_json::from_value(figures["confusion"].clone()).expect("a matrix of counts");
    let classes = figures["classes"].as_array().expect("names").len();
    assert_eq!(confusion.len(), classes);
    assert_eq!(confusion.iter().flatten().sum::<u64>(), windows);
    let right: u64 = (0..classes).map(|class| confusion[class][class]).sum();
    assert_eq!(figures["accuracy"].as_f64(), Some(right as f64 / windows as f64));
    let per_class = figures["per_class"].as_array().expect("figures");
    assert_eq!(per_class.len(), classes);
    let f1: f64 = per_class.iter().filter_map(|one| one["f1"].as_f64()).sum();
    let macro_f1 = figures["macro_f1"].as_f64().expect("a number");
    assert!((macro_f1 - f1 / classes as f64).abs() < 1e-12);
}

#[test]
fn cross_validation_keeps_groups_whole_and_reports_both_classifiers() {
    let data = fixtures().at("three.csv");
    let line = format!(
        "evaluate {data} --group subject --folds 3 --window 20 --hop 10 {QUICK} --effort quick"
    );
    let report = json(fishweir(&line).arg("--json"));
    assert_eq!(report["folds"], 3);
    for classifier in ["bayes", "fisher"] {
        let figures = &report["classifiers"][classifier];
        check_figures(figures, 54);
        assert!(figures["accuracy"].as_f64().expect("a number") > 0.9, "{classifier}: {figures}");
        let folds = figures["folds"].as_array().expect("folds");
        let mut groups: Vec<&str> = folds
            .iter()
            .flat_map(|fold| fold["groups"].as_array().expect("groups"))
            .filter_map(Value::as_str)
            .collect();
        groups.sort_unstable();
        assert_eq!(groups, ["ann", "bob", "cat"]);
    }
    let (short, text) = (printed(&line), printed(&format!("{line} --verbose")));
    for part in ["accuracy", "bayes", "fisher", "turning", "precision", "on a device", "next: "] {
        assert!(short.contains(part) && text.contains(part), "no {part} in:\n{short}\n{text}");
    }
    for part in ["macro-F1", "fold 3", "bayes: all folds together", "fisher: all folds together"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    assert!(short.lines().count() <= 23 && !short.contains("fold 3"), "a screen:\n{short}");
    let class = &report["classifiers"]["fisher"]["per_class"][0];
    let (low, mean, high) = interval(&class["recall_interval"]);
    assert!(low <= mean && mean <= high && Some(mean) == class["recall"].as_f64(), "{class}");
}

/// An interval as a report has it.
fn interval(value: &Value) -> (f64, f64, f64) {
    let end = |name: &str| value[name].as_f64().unwrap_or_else(|| panic!("no {name} in {value}"));
    (end("low"), end("mean"), end("high"))
}

#[test]
fn classifiers_are_compared_with_the_first_on_the_same_folds() {
    let data = fixtures().at("strings.tsv");
    let line = format!(
        "evaluate {data} --classifier fisher,bayes,fisher --folds 4 {QUICK} --effort quick"
    );
    let report = json(fishweir(&line).arg("--json"));
    let (first, second) = (&report["classifiers"]["fisher"], &report["classifiers"]["bayes"]);
    assert!(first["gain"].is_null(), "the first gains nothing over itself");
    let accuracy = |figures: &Value| figures["accuracy"].as_f64().expect("one");
    let (low, mean, high) = interval(&second["gain"]);
    assert!((mean - (accuracy(second) - accuracy(first))).abs() < 1e-12);
    assert!(
        low < mean && mean < high,
        "that they never differed does not say that they never will"
    );
    for figures in [first, second] {
        let (low, mean, high) = interval(&figures["interval"]);
        assert_eq!(mean, accuracy(figures), "the figure that is reported");
        assert!(low <= mean && mean <= high && high - low > 0.1, "of twelve series");
        let areas = figures["folds"].as_array().expect("folds").iter();
        let areas: Vec<f64> = areas.filter_map(|fold| fold["roc_area"].as_f64()).collect();
        let by_fold = figures["roc_area_by_fold"].as_f64().expect("an area");
        assert!((by_fold - areas.iter().sum::<f64>() / areas.len() as f64).abs() < 1e-12);
        let area = figures["roc"]["area"].as_f64().expect("an area");
        assert!(area > 0.5 && area <= 1.0, "{area}");
        let latency = |part: &str| figures["latency"][part].as_u64().expect("samples");
        assert!((1..=25).contains(&latency("median")));
        assert!(latency("median") <= latency("ninetieth"));
    }
    let text = printed(&format!("{line} --verbose"));
    for part in [
        "more than fisher",
        "95 % intervals: Wilson",
        "Student's for gains",
        "ROC area",
        "by fold",
        "decided after",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
}

#[test]
fn a_class_without_a_window_is_told_and_has_no_figures() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("bayes.json"));
    let said = printed(&format!("evaluate {data} --model {model} --verbose"));
    let row = said.lines().find(|line| line.starts_with("  turning ")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["turning", ".", ".", ".", ".", ".", ".", ".", ".", "0"], "{said}");
    // Not even a summary hides it.
    let said = printed(&format!("evaluate {data} --model {model}"));
    assert!(said.contains("\n  turning: no window here; it is in no average\n"), "{said}");
}

#[test]
fn detections_against_false_alarms_are_drawn() {
    let folder = Folder::new();
    let file = folder.at("roc.svg");
    let (data, draw) = (fixtures().at("two.csv"), file.clone());
    printed(&format!("evaluate {data} {QUICK} --effort quick --roc {draw}"));
    let svg = fs::read_to_string(&file).expect("drawn");
    assert_eq!(svg.matches("<path").count(), 2, "a curve a classifier");
    assert!(svg.contains(">bayes") && svg.contains(">fisher"));
    let one = folder.put("one.csv", table(&["still"]));
    let model = fixtures().at("three.json");
    let line = format!("evaluate {one} --model {model} --roc {draw}");
    refuses(&line, "nothing-to-draw");
}

#[test]
fn confidence_against_the_share_that_was_right_is_drawn() {
    let folder = Folder::new();
    let (file, model) = (folder.at("believed.svg"), folder.at("m.json"));
    let data = fixtures().at("two.csv");
    let line = format!(
        "evaluate {data} --window 20 --hop 20 {QUICK} --effort quick --reliability {file} --json"
    );
    let output = line.as_str().run();
    let said = Messages::of(&output.stderr);
    assert!(said.notes.iter().any(|note| note.is(&format!("figure-written {file}"))), "{said:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let all = report["classifiers"].as_object().expect("classifiers").values();
    let bins = all.filter_map(|one| one["calibration"]["reliability"].as_array()).map(Vec::len);
    let bins: usize = bins.sum();
    let svg = fs::read_to_string(&file).expect("drawn");
    assert_eq!((svg.matches("<circle").count(), bins > 1), (bins, true), "a point a bin");
    assert!(
        svg.contains(">bayes</tspan> calibration error ")
            && svg.contains(">fisher</tspan> calibration error ")
    );
    // A model that keeps probabilities is drawn by those, and one that keeps none is refused.
    printed(&format!("fit {data} -o {model} --window 20 --calibrate {QUICK} --effort quick"));
    printed(&format!("evaluate {data} --model {model} --reliability {file}"));
    assert!(
        fs::read_to_string(&file).expect("drawn").contains("m.json</tspan> calibration error ")
    );
    let without = fixtures().at("two.json");
    refuses(
        &format!("evaluate {data} --model {without} --reliability {file}"),
        "nothing-to-draw --reliability --calibrate",
    );
}

#[test]
fn fitted_models_are_compared_on_the_same_windows() {
    let at = |name: &str| fixtures().at(name);
    let models = |second: &str| {
        format!("evaluate {} --model {} --model {second}", at("three.csv"), at("three.json"))
    };
    refuses(&models(&at("bayes.json")), "other-windows bayes.json");
    let line = format!("{} --window 20 --hop 10 --group subject", models(&at("bayes.json")));
    let report = json(fishweir(&line).arg("--json"));
    let evaluations = report["models"].as_array().expect("models");
    assert_eq!(evaluations.len(), 2);
    evaluations.iter().for_each(|one| check_figures(one, 54));
    let accuracy = |model: usize| evaluations[model]["accuracy"].as_f64().expect("one");
    let (low, mean, high) = interval(&report["gains"][0]);
    assert!((mean - (accuracy(1) - accuracy(0))).abs() < 1e-12);
    assert!(low <= mean && mean <= high);
    assert!(printed(&line).contains("Student's for gains, with each subject"));
    let line = format!(
        "evaluate {} --model {} --model {}",
        at("two.csv"),
        at("three.json"),
        at("two.json")
    );
    refuses(&line, "other-classes two.json moving still");
}

#[test]
fn kernels_by_marginalisation_stand_beside_the_classifiers() {
    let kernel = |name: &str| {
        let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels");
        format!("--kernel-model {documented}/{name}.toml")
    };
    let data = fixtures().at("strings.tsv");
    let line = format!(
        "evaluate {data} --classifier bayes --folds 3 {QUICK} --effort quick {}",
        kernel("pair-hmm")
    );
    let report = json(fishweir(&line).arg("--json"));
    let figures = &report["classifiers"]["pair-hmm"];
    check_figures(figures, 12);
    assert!(figures["gain"]["mean"].is_f64(), "compared with bayes: {figures}");
    assert_eq!(figures["latency"]["median"].as_u64(), Some(25), "it takes the whole string");
    let message = refused(&format!(
        "evaluate {data} --classifier bayes {QUICK} --effort quick {}",
        kernel("hidden-tree")
    ));
    assert!(message.is("unknown-symbol 2 3 sequence"), "{message}");
    assert!(message.is("unknown-symbol binary"), "{message}");
}

/// Trainings that would take minutes are not begun.
#[test]
fn what_no_machine_takes_is_refused_before_the_others_are_trained() {
    let folder = Folder::new();
    let mut text = "label\tid\tsequence\n".to_owned();
    for n in 0..5_300 {
        text += &format!("{}\ts{n}\tACGTACGT\n", ["a", "b"][n % 2]);
    }
    let many = folder.put("many.tsv", &text);
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/fixed-length-symbols.toml")
        .to_owned();
    let long = "--restarts 50 --iterations 1000 --states 8";
    let line = format!("evaluate {many} {long} --kernel-model {kernel}");
    refuses(&line, "too-many-windows 5300");
    let line = format!("evaluate {many} {long} --folds 50 --classifier bayes,cosine");
    refuses(&line, "too-many-windows 5194 cosine");
    let text = text.lines().take(40).collect::<Vec<_>>().join("\n") + "\na\todd\tACGTA\n";
    fs::write(&many, text).expect("written");
    let line = format!("evaluate {many} {long} --kernel-model {kernel}");
    refuses(&line, "wrong-length 41 odd");
}

#[test]
fn two_kernels_of_one_kind_have_two_names() {
    let folder = Folder::new();
    let documented =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/fixed-length-symbols.toml")
            .to_owned();
    let other = folder.at("other.toml");
    fs::copy(&documented, &other).expect("copied");
    let (data, other) = (fixtures().at("strings.tsv"), other);
    let line = format!(
        "evaluate {data} --classifier bayes {QUICK} --effort quick --kernel-model {documented} --kernel-model {other} \
         --kernel-model {documented}"
    );
    let text = printed(fishweir(&line).arg("--json"));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let names = [format!("fixed-length {documented}"), format!("fixed-length {other}")];
    for name in &names {
        check_figures(&report["classifiers"][name.as_str()], 12);
        assert_eq!(text.matches(&format!("\"{name}\": {{")).count(), 1, "{text}");
    }
}

#[test]
fn one_classifier_is_validated_alone() {
    let line = format!(
        "evaluate {} --classifier bayes {QUICK} --effort quick --json",
        fixtures().at("two.csv")
    );
    let report = json(&line);
    assert!(report["classifiers"]["fisher"].is_null());
    check_figures(&report["classifiers"]["bayes"], 12);
    assert_eq!(report["classifiers"]["bayes"]["folds"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_model_and_its_artefact_are_judged_alike_with_the_windows_it_was_trained_with() {
    let data = fixtures().at("three.csv");
    let judge = |model: &str, options: &str| {
        let model = fixtures().at(model);
        json(&format!("evaluate {data} --model {model} {options} --json"))
    };
    let fitted = judge("three.json", "");
    check_figures(&fitted, 54);
    assert_eq!((&fitted["window"], &fitted["hop"]), (&20.into(), &10.into()));
    let artefact = judge("three.fishweir", "--window 20 --hop 10");
    assert_eq!(fitted["confusion"], artefact["confusion"]);
    assert_eq!(artefact["classifier"], "fisher");
    // A window without a hop: end to end.
    check_figures(&judge("three.json", "--window 20"), 36);
    // An artefact says the windows of its training.
    check_figures(&judge("three.fishweir", ""), 54);
    check_figures(&judge("bayes.json", ""), 18);
}

#[test]
fn a_group_column_splits_the_figures_of_a_model() {
    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let report = json(&format!("evaluate {data} --model {model} --group subject --json"));
    let groups = report["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 3);
    assert!(groups.iter().all(|group| group["windows"] == 18));
}

#[test]
fn a_file_with_one_class_of_the_models_is_evaluated_and_strangers_are_told_of_by_themselves() {
    let folder = Folder::new();
    let file = folder.put("one.csv", table(&["still"]));
    let model = fixtures().at("three.json");
    let line = format!("evaluate {file} --model {model}");
    let report = json(fishweir(&line).arg("--json"));
    check_figures_of_one_class(&report);
    check_strangers(&report, &[]);
    fs::write(&file, table(&["still", "flying"])).expect("written");
    let report = json(fishweir(&line).arg("--json"));
    check_figures_of_one_class(&report);
    check_strangers(&report, &["flying"]);
    let output = fishweir(&line).output().expect("runs");
    let told = notes(&line);
    assert!(told.iter().any(|note| note.is("unknown-class flying")), "{told:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let row = text.lines().find(|line| line.trim_start().starts_with("flying"));
    assert!(row.is_some_and(|row| row.ends_with(" 18")), "{text}");

    // Nothing to be right about, but something to tell.
    fs::write(&file, table(&["falling", "flying"])).expect("written");
    let report = json(fishweir(&line).arg("--json"));
    check_strangers(&report, &["falling", "flying"]);
    assert!(report["accuracy"].is_null() && report["interval"].is_null(), "{report}");
    let text = printed(&line);
    assert!(text.contains("classes that the model does not know"), "{text}");
    assert!(!text.contains("accuracy"), "{text}");
    let artefact = format!("evaluate {file} --model {}", fixtures().at("three.fishweir"));
    let told = notes(&artefact);
    assert!(told.iter().all(|note| note.kind != "no-contract"), "{told:?}");
    let scores = json(&format!("predict {file} --model {model} --json"));
    assert_eq!(scores["unknown"], report["unknown"]);
    let both = format!("{line} --model {}", fixtures().at("three.fishweir"));
    let both = json(fishweir(&both).args(["--window", "20", "--hop", "10", "--json"]));
    for model in both["models"].as_array().expect("two") {
        assert_eq!(model["unknown"], report["unknown"]);
    }
}

/// Each of eighteen windows of six series, decided somehow.
fn check_strangers(report: &Value, classes: &[&str]) {
    let unknown = report["unknown"].as_array().expect("a list");
    let names: Vec<_> = unknown.iter().map(|one| one["class"].as_str().expect("a name")).collect();
    assert_eq!(names, classes);
    for one in unknown {
        assert_eq!((&one["series"], &one["windows"]), (&6.into(), &18.into()), "{one}");
        let decided = one["decided"].as_object().expect("by class");
        let names: Vec<_> = decided.keys().map(String::as_str).collect();
        assert_eq!(names, ["moving", "still", "turning"]);
        let count = |value: &Value| value.as_u64().expect("a count");
        assert_eq!(
            decided.values().map(count).sum::<u64>() + count(&one["undecided"]),
            18,
            "{one}"
        );
        assert!(one["rejected"].is_null(), "{one}");
    }
}

fn check_figures_of_one_class(report: &Value) {
    assert_eq!(report["windows"], 18);
    let row = &report["per_class"].as_array().expect("classes")[1];
    assert_eq!(row["class"], "still");
    assert_eq!(row["recall"], report["accuracy"]);
}

#[test]
fn folds_that_cannot_be_made_are_refused() {
    let data = fixtures().at("two.csv");
    for (options, expected) in [
        ("--folds 1", "too-few-folds 1"),
        ("--folds 4 --group subject", "too-few-groups 3"),
        ("--folds 100", "too-few-items 12"),
        ("--group nobody", "unknown-column nobody"),
    ] {
        let line = format!("evaluate {data} {options} {QUICK} --effort quick");
        refuses(&line, expected);
    }
    let folder = Folder::new();
    let text = table(&["still", "moving"]);
    let text = ["ann", "bob", "cat"].iter().fold(text, |text, name| text.replace(name, ""));
    let empty = folder.put("empty.csv", text);
    let model = fixtures().at("two.json");
    for options in [QUICK.to_owned(), format!("--model {model}")] {
        let line = format!("evaluate {empty} --group subject {options}");
        let message = refused(&line);
        let expected = "empty-column empty.csv subject";
        assert!(message.is(expected), "{message}");
    }
}
