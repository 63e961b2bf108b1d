//! Differences at lags, and a model for each.

use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{answers, fishweir, json, printed, refused, refuses};

/// Differences at lags go with the model: into its file, its price, its exports, and whoever judges by it.
#[test]
fn differences_at_lags_are_part_of_the_model() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (fixtures().at("three.csv"), at("m.json"));
    let line = format!("fit {data} -o {model} --lags 1,4 {QUICK} --effort quick");
    let fit = json(fishweir(&line).arg("--json"));
    assert_eq!(fit["form"]["lags"], serde_json::json!([1, 4]));
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["lags"], serde_json::json!([1, 4]));
    assert!(printed(&format!("info {model}")).contains("differences at lags 1,4"));
    // Four samples of each channel, a place, and the same without.
    let channels = info["channels"].as_array().expect("channels").len();
    let plain = at("plain.json");
    let line = format!("fit {data} -o {plain} --lags none {QUICK} --effort quick");
    let without = json(fishweir(&line).arg("--json"));
    let ram = |report: &Value| report["cost"]["state_bytes"].as_u64().expect("bytes") as usize;
    assert_eq!(ram(&fit) - ram(&without), (16 * channels + 8).next_multiple_of(8));
    // The artefact decides as the file does.
    let (artefact, source) = (at("m.fishweir"), at("m.rs"));
    printed(&format!("export {model} -o {artefact} -o {source}"));
    let rust = fs::read_to_string(&source).expect("a source");
    assert!(
        rust.contains("fishweir_core::lagged::LagFeatures<") && rust.contains(", [1, 4]);"),
        "{rust}"
    );
    let judged = |of: &str| {
        let line = format!("evaluate {data} --model {of} --window 20 --hop 10 --json");
        json(&line)["accuracy"].clone()
    };
    assert_eq!(judged(&artefact), judged(&model));
    let refused_at = |options: &str| {
        let line = format!("fit {data} -o {} {options} {QUICK} --effort quick", at("no.json"));
        refused(&line)
    };
    let lags = refused_at("--lags 4,1");
    assert!(lags.is("invalid-value 1 --lags"), "{lags}");
    let machine = refused_at("--classifier cosine --lags 1");
    assert!(machine.is("idle-option --lags"), "{machine}");
    let dear = refused_at("--max-ram 100");
    assert!(dear.is("over-limit --max-ram 100"), "{dear}");
    // Where one lag alone keeps within the limits, it is taken.
    let most = ram(&without) + 8 * channels;
    let line = format!(
        "fit {data} -o {model} --lags choose --max-ram {most} {QUICK} --effort quick --json"
    );
    assert!(ram(&json(&line)) <= most);
}

/// A model for each lag is told, priced and exported as what it is, and decides alike wherever it is.
#[test]
fn a_model_for_each_lag_is_told_and_exported() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (fixtures().at("three.csv"), at("m.json"));
    let line = format!(
        "fit {data} -o {model} --lags 1,4 --score-model each-lag --learner ridge {QUICK} --effort quick"
    );
    let table = printed(&format!("{line} --verbose"));
    for part in ["a model of", "for each lag and all of", "all, lag 1", "all, lag 4"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["lags"], serde_json::json!({ "each_lag": [1, 4] }));
    assert_eq!(info["models"], 2);
    let (artefact, source) = (at("m.fishweir"), at("m.rs"));
    printed(&format!("export {model} -o {artefact} -o {source}"));
    let rust = fs::read_to_string(&source).expect("a source");
    assert!(rust.contains("StreamClassifier<ChannelSubset<Hmm<"), "{rust}");
    // The same price, to the byte, of what was read back.
    let read_back = json(&format!("info {artefact} --json"));
    for what in ["model_bytes", "state_bytes", "multiply_adds_per_sample", "lags"] {
        assert!(!info[what].is_null(), "{what}: {info}");
        assert_eq!(read_back[what], info[what], "{what}");
    }
    let judged = |of: &str| {
        let line = format!("evaluate {data} --model {of} --window 20 --hop 10 --json");
        json(&line)["accuracy"].clone()
    };
    assert_eq!(judged(&artefact), judged(&model));
    let needs = format!("fit {data} -o {} --classifier top --score-model each-lag", at("no.json"));
    answers(&needs, "idle-option --score-model");
    let past =
        format!("fit {data} -o {} --emission autoregressive --score-model each-lag", at("no.json"));
    refuses(&past, "conflicting-options");
    let none = format!("fit {data} -o {} --lags none --score-model each-lag", at("no.json"));
    refuses(&none, "needs-lags");
    // Beside others, a classifier of class models has none to see.
    let both = format!(
        "evaluate {data} --classifier bayes,fisher --score-model each-lag {QUICK} --effort quick --json"
    );
    assert!(json(&both)["classifiers"]["fisher"]["accuracy"].is_number());
}

/// By its name alone it is what is taken by default, to the byte, and where that is a model per class it is none.
#[test]
fn a_model_for_each_lag_that_is_asked_for_is_the_default() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, usual) = (fixtures().at("three.csv"), at("usual.json"));
    let fit = |model: &str, options: &str| {
        let line = format!("fit {data} -o {model} {options} {QUICK} --json");
        json(&line)["form"].clone()
    };
    // All but the recipe, in which they differ, and the checksum over it.
    let read = |model: &str| {
        let text = fs::read_to_string(model).expect("a model");
        let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for (parent, name) in [("", "crc32"), ("/classifier/provenance", "recipe")] {
            let parent = file.pointer_mut(parent).and_then(|one| one.as_object_mut());
            assert!(parent.expect("an object").remove(name).is_some(), "{name}");
        }
        file
    };
    let form = fit(&usual, "");
    let lags = form["lags"]["each_lag"].as_array().expect("a model for each lag").len();
    assert!(lags > 2 && form["codebooks"] == 4 && form["levels"] == 2, "{form}");
    let named = at("named.json");
    for options in ["", " --learner ridge", " --effort quick --codebooks 4 --levels 2"] {
        assert_eq!(fit(&named, &format!("--score-model each-lag{options}")), form, "{options}");
        assert_eq!(read(&named), read(&usual), "{options}");
    }
    // What is said otherwise is taken, and the rest is as before.
    let less = fit(&named, "--score-model each-lag --codebooks 0");
    assert_eq!((&less["lags"], &less["codebooks"]), (&form["lags"], &0.into()));
    assert_eq!(fit(&usual, "--codebooks 0"), less);
    assert_eq!(read(&named), read(&usual));
    let given = fit(&named, "--score-model each-lag --lags 1,4");
    assert_eq!(
        (&given["lags"]["each_lag"], &given["codebooks"]),
        (&serde_json::json!([1, 4]), &0.into())
    );
    let svm =
        json(&format!("fit {data} -o {named} --score-model each-lag --learner svm {QUICK} --json"));
    assert_eq!(svm["form"]["lags"], form["lags"]);
    // Eight samples have no room for a codebook: by default a model per class, by name lags as far as they reach.
    let short = "--window 8 --hop 8";
    assert_eq!(fit(&usual, short)["lags"], serde_json::json!([]));
    let named = fit(&named, &format!("{short} --score-model each-lag"));
    assert_eq!(
        (&named["lags"], &named["codebooks"]),
        (&serde_json::json!({ "each_lag": [1, 2] }), &0.into())
    );
    let strings = fixtures().at("strings.tsv");
    refuses(
        &format!("fit {strings} -o {} --score-model each-lag {QUICK}", at("no.json")),
        "no-lags",
    );
}

#[test]
fn lags_that_no_series_is_long_enough_for_are_refused() {
    let folder = Folder::new();
    let rows = |series: &str, label: &str, samples: usize| -> String {
        (0..samples).map(|t| format!("{series},{label},{t},{}\n", t * 7919 % 101)).collect()
    };
    let table = [
        "series,label,t,x\n".to_owned(),
        rows("a", "up", 30),
        rows("b", "up", 40),
        rows("c", "down", 32),
        rows("d", "down", 30),
    ];
    let (data, model) = (folder.put("data.csv", table.concat()), folder.at("m.json"));
    let line = format!("fit {data} -o {model} {QUICK} --effort quick");
    refuses(&format!("{line} --lags 1,40"), "long-lags data.csv 1 40 b --lags");
    refuses(&format!("{line} --lags 20 --window 20"), "long-lags 20 a --lags --window");
    refuses(&format!("{line} --score-model each-lag --lags 64"), "long-lags 64");
    refuses(&format!("{line} --emission autoregressive --lags 1,50"), "long-lags 1 50 b");
    refuses(&format!("{line} --front decimate=4 --lags 10"), "long-lags 10");
    // In folds it is those that are trained on.
    refuses(
        &format!("evaluate {data} --lags 35 --classifier fisher --folds 2 {QUICK} --effort quick"),
        "long-lags c 32",
    );
    let told = printed(&format!("{line} --lags 39"));
    assert!(told.contains("and differences at lag 39: a model"), "{told}");
}
