//! Front ends at the command line: part of the model, and refused by name where they cannot go.

use std::fs;

use crate::fixtures::{Folder, fixtures};
use crate::{answers, fishweir, json, printed, refused, refuses};

const QUICK: &str = "--states 2 --iterations 3 --c 1 --scaling practical --std-floor 0.3 --copies 0 \
                     --mirror none --effort quick";

/// An artefact says of itself and of data what its model does.
#[track_caller]
fn scores_alike_as_an_artefact(folder: &Folder, data: &str, model: &str) {
    let artefact = folder.at("alike.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let (of_model, of_artefact) =
        (json(&format!("info {model} --json")), json(&format!("info {artefact} --json")));
    for key in ["front", "channels", "model_bytes", "state_bytes", "multiply_adds_per_sample"] {
        assert_eq!(of_artefact[key], of_model[key], "{key}");
    }
    assert_eq!(of_artefact["file_bytes"], of_model["artefact_bytes"]);
    let scored = |of: &str| printed(&format!("predict {data} --model {of} --window 20 --hop 10"));
    assert_eq!(scored(&artefact), scored(model));
}

#[test]
fn front_ends_are_part_of_the_model() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (fixtures().at("three.csv"), at("m.json"));
    let fit = |options: &str, model: &str| {
        json(fishweir(&format!("fit {data} -o {model} {options} {QUICK}")).arg("--json"))
    };
    let plain = fit("--lags none", &at("plain.json"));
    let behind = fit("--front decimate=2 --lags none", &model);
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["front"], serde_json::json!(["decimate=2"]));
    assert!(printed(&format!("info {model}")).contains("means of 2 samples"));
    // Sums and counts.
    let channels = info["channels"].as_array().expect("channels").len() as u64;
    let ram = |report: &serde_json::Value| report["cost"]["state_bytes"].as_u64().expect("bytes");
    assert_eq!(ram(&behind) - ram(&plain), (4 * channels + 8).next_multiple_of(8));
    // A file of a model without any has none of it.
    let text = fs::read_to_string(at("plain.json")).expect("a model");
    assert!(!text.contains("front"), "{text}");
    let source = at("m.rs");
    printed(&format!("export {model} --rust {source}"));
    let rust = fs::read_to_string(&source).expect("a source");
    assert!(
        rust.contains("Preprocessed<Front, Inner>") && rust.contains("Decimate::new(2)"),
        "{rust}"
    );
    json(&format!("evaluate {data} --model {model} --json"));
    scores_alike_as_an_artefact(&folder, &data, &model);
    // Before the first row nothing is decided, and nothing is to be explained.
    let early = printed(&format!("predict {data} --model {model} --window 1 --explain"));
    assert_eq!(early.lines().count(), 1, "{early}");
    for (line, why) in [
        (
            format!("export {model} --rust {} --number q15 --data {data}", at("q.rs")),
            "fixed-point-front",
        ),
        (
            format!("fit {data} -o {} --front decimate=1 {QUICK}", at("n")),
            "invalid-value 2 65536 --front",
        ),
        (
            format!("fit {data} -o {} --front halve=2 {QUICK}", at("n")),
            "invalid-value halve=2 --front",
        ),
        (format!("fit {data} -o {} --front magnitude=q+r {QUICK}", at("n")), "unknown-channel q"),
        (
            format!("fit {data} -o {} --front bands=128/64/8@100 {QUICK}", at("n")),
            "not-one-channel bands=128/64/8@100",
        ),
        (
            format!("fit {data} -o {} --front decimate=60000 {QUICK}", at("n")),
            "short-front --front",
        ),
        (
            format!("fit {data} -o {} --front decimate=2 --classifier cosine", at("n")),
            "idle-option --front",
        ),
        (format!("gram {data} -o {} --front decimate=2", at("n")), "idle-option --front"),
    ] {
        refuses(&line, why);
    }
}

/// Words are learnt, kept, told, and looked up in the source; what they cannot go with is refused by name.
#[test]
fn symbols_are_learnt_with_the_model() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (fixtures().at("three.csv"), at("m.json"));
    let quick = QUICK.replace(" --std-floor 0.3", "");
    json(&format!("fit {data} -o {model} --front decimate=2,symbols=6 {quick} --json"));
    let info = json(&format!("info {model} --json"));
    let front = info["front"].as_array().expect("stages");
    assert_eq!(front[0], "decimate=2");
    let words = front[1].as_str().and_then(|text| text.strip_prefix("symbols=")).expect("words");
    let channels = info["channels"].as_array().expect("channels").len();
    assert_eq!(words.split(';').count(), 7, "{words}");
    assert!(words.split(';').all(|row| row.split('/').count() == channels), "{words}");
    assert_eq!(info["exponentials_per_sample"], 0, "{info}");
    let said = printed(&format!("info {model}"));
    assert!(said.contains("means of 2 samples, then the nearest of 6 words"), "{said}");
    let source = at("m.rs");
    printed(&format!("export {model} --rust {source}"));
    let rust = fs::read_to_string(&source).expect("a source");
    let quantiser = format!("VectorQuantiser<{channels}, 6>");
    assert!(rust.contains(&quantiser) && rust.contains("Hmm<Categorical<6, "), "{rust}");
    scores_alike_as_an_artefact(&folder, &data, &model);
    let judged = json(&format!("evaluate {data} --model {model} --json"));
    assert!(judged.to_string().contains("accuracy"), "{judged}");
    // Words that are given are those of the file.
    let given = at("given.json");
    json(&format!("fit {data} -o {given} --front decimate=2,symbols={words} {quick} --json"));
    assert_eq!(json(&format!("info {given} --json"))["front"], info["front"]);
    // In cross-validation each training part has words of its own.
    json(&format!(
        "evaluate {data} --front symbols=4 --emission categorical --classifier bayes --folds 2 --states 2 \
         --iterations 3 --json"
    ));
    let n = at("n");
    for (line, why) in [
        (format!("fit {data} -o {n} --front symbols=65 {quick}"), "invalid-value 2 64 --front"),
        (format!("fit {data} -o {n} --front symbols=1;2 {quick}"), "invalid-value 2 64 --front"),
        (
            format!("fit {data} -o {n} --front symbols=4,decimate=2 {quick}"),
            "after-symbols decimate=2",
        ),
        (format!("fit {data} -o {n} --front symbols=4 {QUICK}"), "idle-option --std-floor"),
        (
            format!("fit {data} -o {n} --front symbols=4 --emission gaussian {quick}"),
            "wrong-emissions gaussian",
        ),
    ] {
        answers(&line, why);
    }
    let lags = format!("fit {data} -o {n} --front symbols=4 --lags 1 {quick}");
    refuses(&lags, "idle-option --lags");
    // A file whose words are gone is none.
    let text = fs::read_to_string(&model).expect("a model");
    let bare = folder.put("bare.json", text.replace(&format!("symbols={words}"), "symbols=6"));
    refused(&format!("info {bare}"));
}
