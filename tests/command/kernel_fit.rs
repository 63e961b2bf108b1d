//! Kernel machines that do not compile, from `fit` to decisions: on Fisher scores, and on a kernel by
//! marginalisation.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{answers, fishweir, json, printed, refused};

const KINDS: [&str; 4] = ["gaussian", "polynomial", "cosine", "root-cosine"];

/// Fits, inspects, exports, judges and scores with a model; its inspection.
fn all_the_way(data: &str, fit: &str, method: &str) -> Value {
    let folder = Folder::new();
    let (model, rust) = (folder.at("model.json"), folder.at("model.rs"));
    let report = json(&format!("fit {data} -o {model} {fit} --json"));
    assert_eq!(report["classifier"], method);
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["classifier"], method);
    assert_eq!(info["stored"], report["stored"]);
    assert_eq!(info["model_bytes"], report["cost"]["model_bytes"]);
    assert_eq!(info["provenance"]["windows"], report["windows"]);
    assert_eq!(info["stored"]["trained_items"], report["windows"]);
    assert_eq!(info["routes"][0]["name"], "support vectors in flash");
    assert_eq!(info["routes"][0]["taken"], true);
    let text = printed(&format!("info {model}"));
    assert!(text.contains("trained on") && text.contains("(taken)"), "{text}");

    printed(&format!("export {model} -o {rust}"));
    let source = fs::read_to_string(&rust).expect("written");
    assert!(source.contains("pub static MODEL: Model = KernelMachine::from_parts("), "{source}");

    // Both cut windows as it was trained, and agree on every one.
    let judged = json(&format!("evaluate {data} --model {model} --json"));
    assert_eq!(judged["classifier"], method);
    assert_eq!(judged["windows"], info["provenance"]["windows"]);
    let scored = json(&format!("predict {data} --model {model} --json"));
    let decisions = scored["decisions"].as_array().expect("decisions");
    assert_eq!(judged["windows"].as_u64(), Some(decisions.len() as u64));
    let names: Vec<&str> =
        info["classes"].as_array().expect("classes").iter().filter_map(Value::as_str).collect();
    for (number, name) in names.iter().enumerate() {
        let decided = decisions.iter().filter(|one| one["class"] == *name).count() as u64;
        let column = judged["confusion"].as_array().expect("rows").iter();
        assert_eq!(column.filter_map(|row| row[number].as_u64()).sum::<u64>(), decided, "{name}");
    }
    assert!(judged["accuracy"].as_f64() > Some(0.8), "{method}: {judged}");
    info
}

#[test]
fn each_kernel_on_scores_is_fitted_inspected_exported_and_run() {
    for kind in KINDS {
        let strings = fixtures().at("strings.tsv");
        let widths = if kind == "gaussian" { "--sigma 0.5,1" } else { "" };
        let quick = format!("--classifier {kind} {QUICK} --c 0.1,1 {widths}");
        let info = all_the_way(&strings, &quick, kind);
        // Whole scores: initial, transition, symbols, a log-likelihood, of two models.
        assert_eq!(info["stored"]["entries"], 2 * (2 + 4 + 2 * 4 + 1));
        let three = fixtures().at("three.csv");
        let windows = "--window 20 --hop 10 --group subject --scaling whitened";
        let info = all_the_way(&three, &format!("{quick} {windows}"), kind);
        assert_eq!(info["outputs"], 3);
        assert_eq!(info["routes"][1]["name"], "compiled directions");
    }
}

/// What `info` says of the cosine of roots, in source and file; full whitening does not fold into its items.
#[test]
fn the_cosine_of_roots_says_what_it_is_and_what_it_takes() {
    let (folder, data) = (Folder::new(), fixtures().at("three.csv"));
    let (model, rust) = (folder.at("model.json"), folder.at("model.rs"));
    let line = |classifier: &str, scaling: &str| {
        format!(
            "fit {data} -o {model} --classifier {classifier} --window 20 {QUICK} --effort quick \
             --score-model universal --scaling {scaling} --landmarks 8"
        )
    };
    let mut flash = Vec::new();
    for (scaling, whitening) in [("diagonal", "entry by entry"), ("whitened", "in full")] {
        printed(&line("root-cosine", scaling));
        let info = json(&format!("info {model} --json"));
        let entries = info["stored"]["entries"].as_u64().expect("a number");
        // Of the score's entries, and of their length.
        assert_eq!(info["roots_per_decision"], entries + 1);
        let text = printed(&format!("info {model}"));
        let stored = format!("cosine of signed roots on Fisher scores whitened {whitening}");
        for part in
            [&*stored, "square roots per decision", "cosine of signed roots of Fisher scores"]
        {
            assert!(text.contains(part), "no {part} in:\n{text}");
        }
        printed(&format!("export {model} -o {rust}"));
        let source = fs::read_to_string(&rust).expect("written");
        assert!(source.contains("ScoreKernel::RootCosine,"), "{source}");
        assert!(fs::read_to_string(&model).expect("written").contains("\"root_cosine\""));
        flash.push(info["model_bytes"].as_u64().expect("bytes"));
        printed(&line("cosine", scaling));
        let cosine = json(&format!("info {model} --json"));
        assert_eq!(cosine["roots_per_decision"], 1);
        assert!(!printed(&format!("info {model}")).contains("signed roots"));
    }
    assert!(flash[1] > flash[0], "{flash:?}");
    printed(&format!("fit {data} -o {model} {QUICK} --effort quick --window 20"));
    assert!(!printed(&format!("info {model}")).contains("square roots"));
    answers(format!("{} --sigma 1", line("root-cosine", "diagonal")), "idle-option --sigma");
}

#[test]
fn landmarks_bound_what_is_stored() {
    let (folder, data) = (Folder::new(), fixtures().at("three.csv"));
    let model = folder.at("model.json");
    let line = |classifier: &str, landmarks: &str| {
        format!(
            "fit {data} -o {model} --classifier {classifier} --window 20 {QUICK} --effort quick \
             --landmarks {landmarks}"
        )
    };
    for learner in ["kernel-svm", "svm", "ridge"] {
        printed(&format!("{} --sigma 1 --learner {learner}", line("gaussian", "8")));
        let info = json(&format!("info {model} --json"));
        assert_eq!(info["stored"]["trained_items"], 8);
        assert!(info["stored"]["items"].as_u64().is_some_and(|items| items <= 8), "{info}");
        let text = printed(&format!("info {model}"));
        assert!(text.contains("by at most 8 landmarks"), "{text}");
        let judged = json(&format!("evaluate {data} --model {model} --json"));
        assert!(judged["accuracy"].as_f64() > Some(0.8), "{learner}: {judged}");
    }
    answers(line("fisher", "8"), "idle-option --landmarks");
    assert!(refused(&line("gaussian", "0")).is("invalid-value 0 --landmarks"));
}

#[test]
fn each_is_cross_validated_beside_the_others() {
    let data = fixtures().at("three.csv");
    let line = format!(
        "evaluate {data} --group subject --folds 3 --window 20 --hop 10 {QUICK} --effort quick --c 0.1,1 --sigma 0.5,1 \
         --classifier bayes,fisher,gaussian,polynomial,cosine,root-cosine"
    );
    let report = json(fishweir(&line).arg("--json"));
    for kind in KINDS {
        let figures = &report["classifiers"][kind];
        assert_eq!(figures["windows"], 54);
        assert!(figures["accuracy"].as_f64() > Some(0.9), "{kind}: {figures}");
        assert!(figures["gain"]["mean"].is_f64() && figures["roc"]["area"].is_f64());
        assert_eq!(figures["latency"]["median"], 20, "read at a window's end");
        for fold in figures["folds"].as_array().expect("folds") {
            let choice = &fold["choice"];
            assert_eq!(choice["sigma"].is_f64(), kind == "gaussian", "{choice}");
            let widths = if kind == "gaussian" { 2 } else { 1 };
            assert_eq!(choice["candidates"].as_array().map(Vec::len), Some(2 * 2 * widths));
        }
    }
    let text = printed(&format!("{line} --verbose"));
    for part in ["gaussian: all folds together", "sigma=", "more than bayes"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
}

#[test]
fn a_machine_decides_on_a_live_stream() {
    let (folder, data) = (Folder::new(), fixtures().at("strings.tsv"));
    let model = folder.at("model.json");
    printed(&format!("fit {data} -o {model} --classifier cosine {QUICK} --effort quick"));
    let line = format!("predict --stream --model {model} --every 10");
    let text = printed(fishweir(&line).write_stdin("ACGTACGTAC\nAAAACCCCCG\n"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "start,end,class,margin,value");
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[1].starts_with("0,10,turns,") && lines[2].starts_with("0,20,"), "{text}");
}

#[test]
fn what_does_not_go_on_a_device_is_refused_by_its_option() {
    let (folder, data) = (Folder::new(), fixtures().at("strings.tsv"));
    let model = folder.at("model.json");
    let refuse = |options: &str| {
        let line = format!("fit {data} -o {model} --classifier gaussian {options}");
        let message = refused(&line);
        assert!(!Path::new(&model).exists());
        message
    };
    assert!(refuse("--states 9").is("too-large --states"));
    for learner in ["svm", "logistic"] {
        let message = refuse(&format!("--learner {learner}"));
        assert!(message.is("needs-kernel-learner kernel-svm klr"), "{message}");
    }
    refuse("--sigma 0");
    refuse("--power 65");
    let wide: String =
        ('!'..='Z').filter(|c| c.is_alphanumeric() || "#$%&*+".contains(*c)).collect();
    let rows = (0..8).map(|n| format!("{}\ts{n}\t{wide}\n", ["a", "b"][n % 2]));
    let file =
        folder.put("wide.tsv", "label\tid\tsequence\n".to_owned() + &rows.collect::<String>());
    let line = format!("fit {file} -o {model} --classifier cosine {QUICK} --effort quick");
    let message = refused(&line);
    assert!(message.is("too-large 32 fisher"), "{message}");
}

/// Profiles of five species: genes of the two classes are those of one branch of the tree or of the other.
fn profiles() -> String {
    let mut text = "label\tid\tsequence\n".to_owned();
    for n in 0..24 {
        // chimp, fly, human, mouse, worm
        let (label, mut profile) =
            if n % 2 == 0 { ("apes", *b"10110") } else { ("others", *b"01001") };
        if n % 4 > 1 {
            profile[(n / 4) % 5] ^= 1;
        }
        let profile = std::str::from_utf8(&profile).expect("digits");
        text += &format!("{label}\tg{n}\t{profile}\n");
    }
    text
}

#[test]
fn every_kernel_by_marginalisation_is_fitted_inspected_exported_and_run() {
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels");
    let folder = Folder::new();
    let (strings, channels) = (fixtures().at("strings.tsv"), fixtures().at("two.csv"));
    let profiles = folder.put("profiles.tsv", profiles());
    let (set, fixed) = (folder.put("set.toml", SET), folder.put("fixed.toml", FIXED));
    let of = |name: &str| format!("{documented}/{name}.toml");
    let windows = "--window 20 --hop 10";
    for (data, kernel, options, method, named) in [
        (&strings, of("pair-hmm"), "", "pair-hmm", "pair hidden Markov model"),
        (&strings, of("hidden-binomial"), "", "hidden-binomial", "hidden binomial"),
        (&profiles, of("hidden-tree"), "", "hidden-tree", "hidden tree"),
        (&profiles, of("pruned-tree"), "", "pruned-tree", "pruned tree"),
        (&channels, set, windows, "marginalisation", "marginalisation over a set of models"),
        (&channels, fixed, windows, "fixed-length", "fixed-length hidden Markov model"),
    ] {
        let info =
            all_the_way(data, &format!("--kernel-model {kernel} --c 1,10,100 {options}"), method);
        assert_eq!(info["stored"]["kernel"], format!("{named}, normalised"));
        assert!(info["state_bytes"].as_u64() > Some(0), "{info}");
        assert!(info["multiply_adds_per_sample"].as_u64() > Some(0), "{info}");
    }
}

/// Two models of the channels, at rest and in motion.
const SET: &str = "
[marginalisation]
channels = [\"x\", \"y\"]
prior = [0.5, 0.5]
[[marginalisation.model]]
initial = [1.0]
transition = [[1.0]]
emission.gaussian.mean = [[0.0, 0.5]]
emission.gaussian.std = [[0.3, 0.3]]
[[marginalisation.model]]
initial = [0.5, 0.5]
transition = [[0.75, 0.25], [0.25, 0.75]]
emission.gaussian.mean = [[0.7, 1.2], [-0.7, -0.2]]
emission.gaussian.std = [[0.5, 0.5], [0.5, 0.5]]
";

const FIXED: &str = "
[fixed-length]
channels = [\"x\", \"y\"]
[fixed-length.hmm]
initial = [0.5, 0.25, 0.25]
transition = [[0.9, 0.05, 0.05], [0.05, 0.7, 0.25], [0.05, 0.25, 0.7]]
emission.gaussian.mean = [[0.0, 0.5], [0.7, 1.2], [-0.7, -0.2]]
emission.gaussian.std = [[0.3, 0.3], [0.5, 0.5], [0.5, 0.5]]
";

#[test]
fn a_machine_by_marginalisation_is_fitted_and_deploys() {
    let (folder, data) = (Folder::new(), fixtures().at("strings.tsv"));
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels");
    let kernel = format!("{documented}/fixed-length-symbols.toml");
    let info = all_the_way(&data, &format!("--kernel-model {kernel} --c 1,10,100"), "fixed-length");
    assert_eq!(info["stored"]["entries"], 25);
    let routes = info["routes"].as_array().expect("routes");
    assert_eq!(routes.len(), 1);
    assert!(routes[0]["why"].as_str().expect("why").contains("marginalisation"));

    // A missing symbol cannot be stored: that string is left out, and this is said.
    let text = fs::read_to_string(&data).expect("read");
    let model = folder.at("gap.json");
    let gap = folder.put("gap.tsv", text.trim_end()[..text.len() - 2].to_owned() + "N\n");
    let line = format!("fit {gap} -o {model} --kernel-model {kernel} --c 1 --json");
    assert_eq!(json(&line)["windows"], 11);
    let info = printed(&format!("info {model}"));
    assert!(info.contains("no missing symbol: 1"), "{info}");

    // What else goes wrong.
    let refuse = |options: &str| {
        let line = format!("fit {data} -o {} {options}", folder.at("no.json"));
        refused(&line)
    };
    // Of channels, and strings of letters.
    let message = refuse(&format!("--kernel-model {documented}/fixed-length.toml"));
    assert!(message.is("wrong-observations"), "{message}");
    let ragged = folder.put("ragged.tsv", text + "runs\tshort\tACGT\n");
    let line = format!("fit {ragged} -o {} --kernel-model {kernel}", folder.at("no.json"));
    let message = refused(&line);
    assert!(message.is("wrong-length 14 4 25"), "{message}");
    refuse(&format!("--kernel-model {kernel} --classifier gaussian"));
}
