//! Reports as pages, and model cards.

use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, fixtures};
use crate::{json, printed, refuses};

fn read(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("written")).expect("JSON")
}

/// A report has what the command prints as JSON, and the windows behind its figures.
#[test]
fn a_report_has_the_results_and_what_they_are_of() {
    let folder = Folder::new();
    let data = fixtures().at("three.csv");
    let (model, report) = (folder.at("three.json"), folder.at("report.json"));
    printed(&format!("fit {data} --effort quick -o {model} --report {report}"));
    let fitted = read(&report);
    assert_eq!(fitted["command"], "fit");
    assert_eq!(fitted["results"]["model"], model.as_str());
    assert_eq!(fitted["model"], read(&model), "the model's own file");
    let classes = fitted["inspection"]["classes"].as_array().expect("classes");
    assert_eq!(classes.len(), 3);
    let decided = json(&format!("predict {data} --model {model} --json"));
    let decided = decided["decisions"].as_array().expect("decisions");
    let drawn = fitted["decisions"].as_array().expect("decisions");
    let classes = |all: &[Value]| all.iter().map(|one| one["class"].clone()).collect::<Vec<_>>();
    assert_eq!(classes(drawn), classes(decided));

    let printed_too = json(&format!("evaluate {data} --classifier bayes --report {report} --json"));
    let judged = read(&report);
    assert_eq!(judged["results"], printed_too);
    let windows = judged["judged"][0]["windows"].as_array().expect("windows");
    let figures = &printed_too["classifiers"]["bayes"];
    assert_eq!(Some(windows.len() as u64), figures["windows"].as_u64());
    let right = windows.iter().filter(|one| one[2] == one[3]).count() as f64;
    assert_eq!(figures["accuracy"], right / windows.len() as f64);

    // As a page it has no program, at most what decides by its model, and text where a name could be markup.
    let page = folder.at("report.html");
    printed(&format!("evaluate {data} --model {model} --report {page}"));
    let text = fs::read_to_string(&page).expect("written");
    assert!(text.contains("id=\"program\"></script>") && text.len() < 1_000_000, "{}", text.len());
}

#[test]
fn a_report_is_an_output_like_others() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("three.json"));
    refuses(&format!("fit {data} -o {model} --report {model}"), format!("same-output {model}"));
    refuses(&format!("evaluate {data} --report {data}"), format!("output-is-input {data}"));
}

/// The card has the model's training and what was measured; of an artefact less is known.
#[test]
fn a_card_has_the_sections_and_figures() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let figures =
        folder.put("figures.json", printed(&format!("evaluate {data} --model {model} --json")));
    let card = printed(&format!("card {model} --evaluation {figures}"));
    let titles: Vec<&str> = card.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(
        titles,
        [
            "Model Details",
            "Uses",
            "Bias, Risks, and Limitations",
            "How to Get Started with the Model",
            "Training Details",
            "Evaluation",
            "Environmental Impact",
            "Technical Specifications",
        ]
    );
    let provenance = &json(&format!("info {model} --json"))["provenance"];
    assert!(card.contains(provenance["data"].as_str().expect("a name")), "{card}");
    assert!(card.starts_with("---\nlibrary_name: fishweir\n") && card.contains("- type: accuracy"));
    let artefact = folder.at("three.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    assert!(printed(&format!("card {artefact}")).contains("does not keep its training"));
    let other = folder.put("other.json", "{\"series\": 3}");
    refuses(&format!("card {model} --evaluation {other}"), format!("unfit-file {other} accuracy"));
}
