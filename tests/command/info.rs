//! `fishweir info`.

use crate::fixtures::fixtures;
use crate::{json, printed, refuses};

#[test]
fn a_model_and_its_artefact_cost_the_same() {
    for name in ["two", "three", "bayes", "strings"] {
        let info = |ending: &str| {
            let file = fixtures().at(format!("{name}.{ending}"));
            json(&format!("info {file} --json"))
        };
        let (model, artefact) = (info("json"), info("fishweir"));
        for key in [
            "classifier",
            "routes",
            "classes",
            "channels",
            "symbols",
            "models",
            "states",
            "outputs",
            "directions",
            "normalisation",
            "state_bytes",
            "model_bytes",
            "multiply_adds_per_sample",
            "exponentials_per_sample",
            "artefact_bytes",
        ] {
            assert_eq!(model[key], artefact[key], "{name}: {key}");
        }
        let file = std::fs::metadata(fixtures().at(format!("{name}.fishweir"))).expect("there");
        assert_eq!(model["artefact_bytes"], file.len());
        assert_eq!(artefact["file_bytes"], file.len());
        assert!(model["provenance"].is_object() && artefact["provenance"].is_null());
    }
}

#[test]
fn costs_follow_from_the_shape() {
    let info = |name: &str| json(&format!("info {} --json", fixtures().at(name)));
    // Three models of two states over two channels, three directions: M (1+2C)(N^2+N) + M N D (2+2C).
    let three = info("three.json");
    assert_eq!(three["multiply_adds_per_sample"], 3 * (7 * 6 + 2 * 2 * 8));
    assert_eq!(three["exponentials_per_sample"], 3 * 2);
    assert_eq!(three["directions"], 3);
    // Symbols need no exponential.
    assert_eq!(info("strings.json")["exponentials_per_sample"], 0);
    assert_eq!(info("bayes.json")["directions"], 0);
}

#[test]
fn people_are_told_what_it_is_and_what_it_costs() {
    let text = printed(&format!("info {}", fixtures().at("two.json")));
    for part in [
        "fisher",
        "compiled directions (taken)",
        "no training window on the device",
        "moving, still",
        "(x, y)",
        "flash",
        "RAM",
        "multiply-adds",
        "two.csv",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
}

#[test]
fn whether_it_keeps_up_is_told_from_the_least_to_the_most() {
    let model = fixtures().at("three.json");
    refuses(
        &format!("info {model} --rate 50 --clock 16 --current 4 --sleep 5"),
        "--sleep draws more",
    );
    let line = format!("info {model} --rate 50 --clock 16 --current 4 --sleep 0.01");
    let pace = json(&format!("{line} --json"))["pace"].clone();
    let cores = pace["cores"].as_array().expect("a list").clone();
    assert_eq!(cores.len(), 5);
    for core in &cores {
        let pair = |key: &str| [0, 1].map(|end| core[key][end].as_f64().expect("a number"));
        let ([few, many], [idle, busy]) = (pair("instructions"), pair("busy"));
        assert!(few < many && idle < busy, "{core}");
        assert!((busy - 2.0 * many * 50.0 / 16e6).abs() < 1e-12, "{core}");
        let [least, most] = pair("charge");
        assert!(24.0 * 0.01 <= least && least < most && most <= 24.0 * 4.0, "{core}");
    }
    let said = printed(&line);
    assert!(said.contains("Cortex-M4F") && said.contains("mAh a day"), "{said}");
    let slow = printed(&format!("info {model} --rate 1000000 --clock 1"));
    assert!(slow.lines().filter(|line| line.ends_with(" no")).count() == 5, "{slow}");
    refuses(&format!("info {model} --rate 50"), "--clock");
    refuses(&format!("info {model} --rate 50 --clock 0"), "--clock");
}
