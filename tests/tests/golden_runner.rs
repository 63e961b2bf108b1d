//! The golden runner itself: that it can fail, and at what.

use fishweir_tests::golden::{Precision, check_directory, check_text};
use serde_json::{Value, json};

const INFERENCE: &str = include_str!("../golden/06_hmm_inference.json");

/// One file of one case, changed.
fn failures_of(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut file: Value = serde_json::from_str(INFERENCE).expect("a golden file");
    let second = file["cases"][1].clone();
    file["cases"] = json!([second]);
    change(&mut file);
    check_text("changed", &file.to_string(), Precision::Double).failures
}

fn case(file: &mut Value) -> &mut Value {
    &mut file["cases"][0]
}

#[test]
fn unchanged_it_passes() {
    assert_eq!(failures_of(|_| ()), Vec::<String>::new());
}

/// Every number that the file expects, moved by ten tolerances, is noticed: one at a time.
#[test]
fn every_perturbed_number_fails() {
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(at.to_owned()),
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    pointers(value, &format!("{at}/{index}"), found);
                }
            }
            Value::Object(map) => {
                for (key, value) in map {
                    pointers(value, &format!("{at}/{key}"), found);
                }
            }
            _ => {}
        }
    }
    let file: Value = serde_json::from_str(INFERENCE).expect("a golden file");
    let mut found = Vec::new();
    pointers(&file["cases"][1]["expected"], "", &mut found);
    assert!(found.len() > 30, "{} numbers", found.len());
    for pointer in found {
        let failures = failures_of(|file| {
            let number = case(file)["expected"].pointer_mut(&pointer).expect("a number");
            let value = number.as_f64().expect("a number");
            let moved = if number.is_u64() {
                json!(value as u64 + 1)
            } else {
                json!(value + 10.0 * (1e-11 + 1e-10 * value.abs()))
            };
            *number = moved;
        });
        assert_eq!(failures.len(), 1, "{pointer}: {failures:?}");
    }
}

#[test]
fn what_it_does_not_know_fails() {
    let unknown = [
        failures_of(|file| file["system"] = json!("99_something_else")),
        failures_of(|file| file["extra"] = json!(1)),
        failures_of(|file| file["cases"] = json!([])),
        failures_of(|file| case(file)["extra"] = json!(1)),
        failures_of(|file| case(file)["inputs"]["extra"] = json!(1)),
        failures_of(|file| case(file)["inputs"]["hmm"]["extra"] = json!(1)),
        failures_of(|file| case(file)["inputs"]["hmm"]["emission_type"] = json!("cauchy")),
        failures_of(|file| case(file)["expected"]["extra"] = json!(1)),
        failures_of(|file| case(file)["expected"] = json!({})),
        failures_of(|file| case(file)["expected"] = json!({"info_only": 1})),
        failures_of(|file| case(file)["rtol"] = json!(-1.0)),
        failures_of(|file| case(file)["expected"]["log_likelihood"] = json!("NaN")),
        failures_of(|file| case(file)["expected"]["log_likelihood"] = Value::Null),
        failures_of(|file| case(file)["expected"]["log_likelihood"] = json!("-inf")),
        failures_of(|file| case(file)["expected"]["gamma"] = Value::Null),
        failures_of(|file| case(file)["expected"]["gamma"][0] = json!([0.5])),
        failures_of(|file| case(file)["expected"]["filter_at"] = json!([[0.5, 0.5]])),
    ];
    for (index, failures) in unknown.iter().enumerate() {
        assert_eq!(failures.len(), 1, "change {index}: {failures:?}");
    }
    let not_json = check_text("text", "not json", Precision::Double);
    assert_eq!(not_json.failures.len(), 1);
}

#[test]
fn a_model_past_the_compiled_sizes_is_named() {
    let failures = failures_of(|file| {
        let states = 17;
        let uniform = vec![1.0 / f64::from(states); states as usize];
        let rows = vec![uniform.clone(); states as usize];
        let hmm = &mut case(file)["inputs"]["hmm"];
        hmm["initial"] = json!(uniform);
        hmm["transition"] = json!(rows);
        hmm["emission"] = json!(vec![[0.5, 0.5]; states as usize]);
    });
    assert!(failures[0].contains("17 states"), "{failures:?}");
}

#[test]
fn a_trap_catches_the_wrong_value_and_spares_the_right() {
    let wrong_value = |file: &mut Value| {
        let value = case(file)["expected"]["log_likelihood"].clone();
        case(file)["expected"]["wrong_log_likelihood"] = value;
    };
    assert_eq!(failures_of(wrong_value).len(), 1);
    let another = |file: &mut Value| {
        case(file)["expected"]["wrong_log_likelihood"] = json!(-1.0);
        case(file)["expected"]["info_anything"] = json!("for the reader");
    };
    assert_eq!(failures_of(another), Vec::<String>::new());
}

#[test]
fn impossible_sequences_must_be_reported_as_such() {
    let mut file: Value = serde_json::from_str(INFERENCE).expect("a golden file");
    let cases = file["cases"].as_array_mut().expect("cases");
    cases.retain(|case| case["name"] == "cat_zero_at_end");
    let check = |change: fn(&mut Value)| {
        let mut changed = file.clone();
        change(&mut changed["cases"][0]["expected"]);
        check_text("changed", &changed.to_string(), Precision::Double).failures.len()
    };
    assert_eq!(check(|_| ()), 0);
    assert_eq!(check(|expected| expected["log_likelihood"] = json!(-1e300)), 1);
    assert_eq!(check(|expected| expected["gamma"] = json!([[0.5, 0.5]])), 1);
    assert_eq!(check(|expected| expected["filter"][3] = json!([0.5, 0.5])), 1);
    assert_eq!(check(|expected| expected["log_c"][3] = Value::Null), 1);
}

#[test]
fn directories_without_vectors_or_with_strangers_fail() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(check_directory(directory.path(), Precision::Double).is_err());
    std::fs::write(directory.path().join("README.md"), "prose").expect("written");
    assert!(check_directory(directory.path(), Precision::Double).is_err());
    std::fs::write(directory.path().join("stranger.txt"), "no vectors").expect("written");
    let reports = check_directory(directory.path(), Precision::Double).expect("reports");
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].failures.len(), 1);
    assert!(check_directory(&directory.path().join("absent"), Precision::Double).is_err());
}
