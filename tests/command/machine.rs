//! Kernel machines, which do not compile to directions: what commands say of one, and refuse.

use std::path::Path;

use fishweir::kernel::ScoreKernel;

use fishweir::classifier::{
    Classifier, Expansion, ExpansionKernel, Observations, Rule, WhiteningRows,
};

use crate::fixtures::{Folder, fixtures};
use crate::{json, printed, refused};

/// A Gaussian kernel on the scores of the fitted models of two classes, against three items.
fn machine() -> (Folder, String) {
    let two = Classifier::load(fixtures().at("two.json").as_ref()).expect("a model");
    let (states, channels) = (two.models[0].states(), two.models[0].size());
    let entries = two.models.len() * states * (1 + states + 2 * channels);
    let item = |seed: usize| (0..entries).map(|k| ((seed + 3 * k) % 7) as f64 - 3.0).collect();
    let machine = Classifier {
        method: "gaussian".into(),
        scale: vec![1.0; channels],
        rule: Rule::Expansion(Expansion {
            kernel: ExpansionKernel::Scores {
                likelihood: false,
                centre: vec![0.0; entries],
                whitening: WhiteningRows::Diagonal(vec![1.0; entries]),
                kernel: ScoreKernel::Gaussian { gamma: 0.125 },
                items: (0..4).map(item).collect(),
            },
            coefficients: vec![vec![0.5, 0.0, -1.0, 0.5]],
            biases: vec![0.25],
        }),
        ..two
    };
    let folder = Folder::new();
    let path = folder.at("machine.json");
    machine.save(path.as_ref()).expect("writes");
    (folder, path)
}

#[test]
fn both_routes_are_costed_and_the_one_taken_is_said() {
    let (_folder, path) = machine();
    let info = json(&format!("info {path} --json"));
    let stored = &info["stored"];
    assert_eq!((&stored["items"], &stored["trained_items"]), (&3.into(), &4.into()));
    assert_eq!(info["classifier"], "gaussian");
    assert!(info["artefact_bytes"].is_null() && info["provenance"]["windows"].is_u64());
    let routes = info["routes"].as_array().expect("routes");
    assert_eq!(routes.len(), 2);
    let number = |route: usize, key: &str| routes[route][key].as_u64().expect("a number");
    assert_eq!((&routes[0]["taken"], &routes[1]["taken"]), (&true.into(), &false.into()));
    assert_eq!(routes[0]["state_bytes"], info["state_bytes"]);
    for key in ["state_bytes", "multiply_adds_per_sample", "multiply_adds_per_decision"] {
        assert!(number(0, key) > number(1, key), "{key}: {routes:?}");
    }
    let text = printed(&format!("info {path}"));
    for part in
        ["support vectors in flash (taken)", "compiled directions", "not linear", "Gaussian"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    // A linear classifier took the other one.
    let two = fixtures().at("two.json");
    let text = printed(&format!("info {two}"));
    for part in ["compiled directions (taken)", "support vectors in flash", "B per item"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    // What the other route would cost is what a classifier that takes it costs.
    let linear = json(&format!("info {two} --json"));
    for key in ["state_bytes", "model_bytes", "multiply_adds_per_sample"] {
        assert_eq!(routes[1][key], linear[key], "{key}");
        assert_eq!(linear["routes"][0][key], linear[key], "{key}");
    }
    assert_eq!(routes[1]["multiply_adds_per_decision"], linear["multiply_adds_per_decision"]);
}

#[test]
fn it_is_exported_as_source_alone() {
    let (folder, path) = machine();
    let (model, rust) = (path, folder.at("machine.rs"));
    printed(&format!("export {model} --rust {rust}"));
    let source = std::fs::read_to_string(&rust).expect("written");
    for part in
        ["pub static MODEL: Model", "StoredScores", "ScoreKernel::Gaussian { gamma: 0.125 }"]
    {
        assert!(source.contains(part), "no {part} in:\n{source}");
    }
    let artefact = folder.at("machine.fishweir");
    let message = refused(&format!("export {model} -o {artefact}"));
    assert!(message.is("unsupported --rust") && !Path::new(&artefact).exists(), "{message}");
    let fixed = format!("export {model} --rust {rust} --number q15");
    assert!(refused(&fixed).is("kernel-machine"));
}

#[test]
fn what_does_not_fit_is_named() {
    let (folder, path) = machine();
    let mut machine = Classifier::load(path.as_ref()).expect("a machine");
    let bad = folder.at("bad.json");
    let refuse = |machine: &Classifier| {
        machine.save(bad.as_ref()).expect("writes");
        refused(&format!("info {bad}"))
    };
    let with_biases = |machine: &mut Classifier, biases: Vec<f64>| match &mut machine.rule {
        Rule::Expansion(expansion) => expansion.biases = biases,
        _ => panic!("a machine"),
    };
    with_biases(&mut machine, vec![0.25, 0.0]);
    assert!(refuse(&machine).is("inconsistent-model coefficients 1 2"));
    with_biases(&mut machine, vec![f64::MAX]);
    assert!(refuse(&machine).is("not-finite biases 0"));
    machine.observations = Observations::Symbols("AB".into());
    assert!(refuse(&machine).is("inconsistent-model channels provenance"));
    machine.provenance.channels.clear();
    assert!(refuse(&machine).is("bad-models 0"));
}
