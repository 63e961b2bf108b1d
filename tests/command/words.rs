//! Weights of words of symbols: the empirical mean map as a classifier.

use crate::fixtures::{Folder, fixtures};
use crate::{answers, json, printed};

#[test]
fn words_are_weighed_without_a_model() {
    let folder = Folder::new();
    let (model, source) = (folder.at("words.json"), folder.at("words.rs"));
    let data = fixtures().at("strings.tsv");
    let words = "--classifier empirical-mean-map --order 1";
    let report = printed(&format!("fit {data} {words} -o {model}"));
    assert!(report.contains("words and no model, 2 classes"), "{report}");

    let info = json(&format!("info {model} --json"));
    assert_eq!(
        (&info["order"], &info["states"], &info["models"]),
        (&1.into(), &4.into(), &1.into())
    );
    assert!(info["artefact_bytes"].is_null());
    // A state of one number with its rate, whatever the order: three multiply-adds.
    assert_eq!(info["multiply_adds_per_sample"], 3);
    let longer = folder.at("longer.json");
    printed(&format!(
        "fit {data} --classifier empirical-mean-map --order 4 --lambda 2 -o {longer}"
    ));
    let info = json(&format!("info {longer} --json"));
    assert_eq!((&info["states"], &info["multiply_adds_per_sample"]), (&256.into(), &3.into()));
    let text = printed(&format!("info {longer}"));
    for part in [
        "mixed counts of words along 1 direction, context by context",
        "1 of 256 contexts",
        "lambda 2",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }

    printed(&format!("export {model} --rust {source}"));
    let text = std::fs::read_to_string(&source).expect("a source");
    assert!(text.contains("Automaton::order(1, StringEnd::Open)"), "{text}");
    let judged = json(&format!("evaluate {data} --model {model} --json"));
    assert!(judged["accuracy"].as_f64().expect("a share") > 0.9, "{judged}");
    let beside = "--folds 3 --kernel empirical-mean-map --lambda inf --json";
    let report = json(&format!("evaluate {data} {words} {beside}"));
    for name in ["empirical-mean-map", "kernel empirical-mean-map"] {
        let accuracy = report["classifiers"][name]["accuracy"].as_f64();
        assert!(accuracy.expect(name) > 0.8, "{name}: {accuracy:?}");
    }

    let three = fixtures().at("three.csv");
    for (line, wanted) in [
        (format!("fit {three} {words}"), "not-symbols"),
        (format!("fit {data} {words} --states 3"), "idle-option --states"),
        (format!("fit {data} --classifier empirical-mean-map --order 9"), "too-many-words 10"),
        (
            format!(
                "export {model} --artefact {folder}/w.fishweir",
                folder = folder.path().display()
            ),
            "unsupported --rust",
        ),
    ] {
        answers(&line, wanted);
    }
    // In fixed point they are sums of logarithms, whatever the order.
    for model in [&model, &longer] {
        printed(&format!("export {model} --number q15 --rust {source} --data {data}"));
    }
}
