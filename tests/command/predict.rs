//! `fishweir predict` on files.

use std::collections::HashMap;

use crate::fixtures::fixtures;
use crate::{json, printed};

#[test]
fn a_row_a_window_with_the_value_of_every_class() {
    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let text = printed(&format!("predict {data} --model {model}"));
    assert_eq!(printed(&format!("score {data} --model {model}")), text);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let heads = rows.headers().expect("a header").clone();
    let expected = [
        "series",
        "start",
        "end",
        "class",
        "margin",
        "value_moving",
        "value_still",
        "value_turning",
    ];
    assert_eq!(heads.iter().collect::<Vec<_>>(), expected);
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 54);
    for row in &rows {
        let number = |index: usize| row[index].parse::<f32>().expect("a number");
        let mut values = [(number(5), "moving"), (number(6), "still"), (number(7), "turning")];
        values.sort_by(|a, b| b.0.total_cmp(&a.0));
        assert_eq!(&row[3], values[0].1);
        // The margin is subtracted before the values are rounded to what is printed.
        let rounding = f32::EPSILON * values[0].0.abs().max(values[1].0.abs());
        assert!((number(4) - (values[0].0 - values[1].0)).abs() <= rounding, "{row:?}");
        assert_eq!(number(2) - number(1), 20.0);
    }
}

#[test]
fn decisions_add_up_to_the_accuracy_of_evaluate() {
    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let scores = json(&format!("predict {data} --model {model} --json"));
    let text = std::fs::read_to_string(&data).expect("data");
    let labels: HashMap<&str, &str> = text
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[0], fields[2])
        })
        .collect();
    let decisions = scores["decisions"].as_array().expect("decisions");
    let right = decisions
        .iter()
        .filter(|one| labels[one["series"].as_str().expect("a name")] == one["class"])
        .count();
    let report = json(&format!("evaluate {data} --model {model} --json"));
    assert_eq!(report["accuracy"].as_f64(), Some(right as f64 / decisions.len() as f64));
}

#[test]
fn labels_are_not_needed_and_windows_can_be_chosen() {
    let (data, model) = (fixtures().at("unlabelled.csv"), fixtures().at("two.json"));
    let rows = |options: &str| {
        let text = printed(&format!("predict {data} --model {model} {options}"));
        assert!(text.starts_with("series,start,end,class,margin,value\n"), "{text}");
        text.lines().count() - 1
    };
    assert_eq!(rows(""), 36);
    assert_eq!(rows("--window 20"), 24);
    assert_eq!(rows("--window 7 --hop 3"), 12 * 12);
    assert_eq!(rows("--window 1000"), 12, "short series are one window each");
}

#[test]
fn model_and_artefact_decide_to_the_same_digit() {
    for (data, name) in [("three.csv", "bayes"), ("strings.tsv", "strings"), ("two.csv", "two")] {
        let data = fixtures().at(data);
        let score = |ending: &str| {
            let model = fixtures().at(format!("{name}.{ending}"));
            printed(&format!("predict {data} --model {model} --window 12 --hop 6"))
        };
        assert_eq!(score("json"), score("fishweir"), "{name}");
    }
}
