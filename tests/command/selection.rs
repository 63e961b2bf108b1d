//! What was tried, what won and by how much: printed by `fit`, kept in the model's file, told by `info`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::fixtures::{Folder, fixtures};
use crate::{answers, fishweir, json, printed, refused, refuses};

/// Quick fits, whose states are left to choose.
const FEW: &str = "--restarts 1 --iterations 8";

fn list<'v>(of: &'v Value, what: &str) -> &'v [Value] {
    of[what].as_array().map_or(&[], Vec::as_slice)
}

/// More effort on strings tries chains, prices each as the device has it, and says who leads by how much.
#[test]
fn strings_have_their_chains_tried_and_the_file_keeps_the_last_stage() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("strings.tsv"), folder.at("m.json"));
    let line = format!("fit {data} -o {model} {FEW} --effort normal");
    let text = printed(&format!("{line} --verbose"));
    for part in ["models tried", "left to right", "fits; it ", "flash B", "stage 2 *"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    let fit = json(fishweir(&line).arg("--json"));
    let tried = list(&fit["form"], "candidates");
    let topologies: Vec<&str> = tried.iter().filter_map(|one| one["topology"].as_str()).collect();
    assert!(topologies.contains(&"ergodic") && topologies.contains(&"left_to_right"), "{fit}");
    let states = |wanted: u64| tried.iter().any(|one| one["states"] == wanted);
    assert!(states(2) && states(4) && states(8), "{fit}");
    let won: Vec<&Value> = tried.iter().filter(|one| one["won"] == true).collect();
    let [won] = won[..] else { panic!("one has won: {fit}") };
    assert_eq!((&won["topology"], &won["states"]), (&fit["form"]["topology"], &fit["states"]));
    assert_eq!(won["price"]["flash"], fit["cost"]["model_bytes"]);
    assert_eq!(won["price"]["ram"], fit["cost"]["state_bytes"]);
    assert_eq!(won["price"]["operations"], fit["cost"]["multiply_adds_per_sample"]);
    assert!(fit["form"]["fits"].as_u64() >= Some(6 * 2 * 2), "of six forms two classes: {fit}");
    assert!(fit["form"]["lead"]["standard_error"].is_number(), "{fit}");
    // The file has what the report has, of the last stage.
    let info = json(&format!("info {model} --json"));
    let kept = &info["provenance"]["selection"];
    assert_eq!(kept["machine"], fit["choice"]);
    assert_eq!(kept["learner"], "svm");
    for same in ["states", "topology", "normalisation", "lead", "fits"] {
        assert_eq!(kept["form"][same], fit["form"][same], "{same}");
    }
    let last = tried.iter().filter_map(|one| one["stage"].as_u64()).max();
    let of_last: Vec<&Value> = tried.iter().filter(|one| one["stage"].as_u64() == last).collect();
    assert_eq!(list(&kept["form"], "candidates").iter().collect::<Vec<_>>(), of_last);
    let told = printed(&format!("info {model}"));
    for part in ["  chosen  ", "evidence per", "models tried", "inner accuracy", "fits; it "] {
        assert!(told.contains(part), "no {part} in:\n{told}");
    }
    assert!(std::fs::metadata(&model).expect("a file").len() < 20_000, "a file as before");
}

/// Numbers of jittered copies are held against each other, printed, kept and told; of one there is nothing to choose.
#[test]
fn numbers_of_copies_are_chosen_of_those_that_are_given() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("m.json"));
    let line = format!("fit {data} -o {model} {FEW}");
    let text = printed(&format!("{line} --copies 1,0 --verbose"));
    for part in ["copies of each series  accuracy", "\n  1 ", "\n  0 ", "unless another is better"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    let fit = json(&format!("{line} --copies 1,0 --json"));
    let tried = list(&fit["copies"], "candidates");
    assert_eq!(tried.iter().map(|one| &one["copies"]).collect::<Vec<_>>(), [1, 0], "{fit}");
    assert!(tried[0].get("lead").is_none() && tried[1]["lead"]["standard_error"].is_number());
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["provenance"]["selection"]["copies"], fit["copies"]);
    let told = printed(&format!("info {model}"));
    let chosen = format!("copies of each series: {}", fit["copies"]["copies"]);
    assert!(told.contains(&chosen) && told.contains("copies of each series  accuracy"), "{told}");
    assert!(json(&format!("{line} --copies 1 --json"))["copies"].is_null());
    refuses(&format!("{line} --copies 1,x"), "invalid-value x --copies");
    // Of a class with one series nothing can be held back.
    let mut text = String::from("series,label,t,x\n");
    for t in 0..90 {
        let _ = writeln!(text, "{},{},{},{}", t / 30, ["a", "a", "b"][t / 30], t % 30, t * t % 7);
    }
    let line = format!("fit {} -o {model} {FEW} --score-model all", folder.put("few.csv", text));
    let told = printed(&format!("{line} --copies 1,0"));
    assert!(told.contains("copies of each series: 1, as there are too few series"), "{told}");
    let fit = json(&format!("{line} --copies 1,0 --json"));
    assert_eq!(
        (&fit["copies"]["copies"], list(&fit["copies"], "candidates").len()),
        (&1.into(), 0)
    );
    let folds = format!("evaluate {data} {FEW} --classifier fisher --folds 2 --copies 1,0");
    assert!(
        printed(&format!("{folds} --verbose")).contains("\n  copies of each training series: ")
    );
    let judged = json(&format!("{folds} --json"));
    let folds = list(&judged["classifiers"]["fisher"], "folds");
    assert!(
        folds.len() == 2 && folds.iter().all(|fold| list(&fold["copies"], "candidates").len() == 2)
    );
}

/// A limit steers among chains; where none is left it is refused with what the least takes.
#[test]
fn limits_steer_among_chains() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("strings.tsv"), folder.at("m.json"));
    let line = format!("fit {data} -o {model} {FEW} --classifier bayes --effort normal");
    let most = 200;
    let fit = json(&format!("{line} --max-flash {most} --json"));
    assert!(fit["cost"]["model_bytes"].as_u64().is_some_and(|bytes| bytes <= most), "{fit}");
    assert!(fit["form"]["left_out"].as_u64() >= Some(3), "{fit}");
    let why = refused(&format!("{line} --max-flash 50"));
    assert!(why.is("over-limit --max-flash 50"), "{why}");
}

/// Without a choice of forms the file says what was taken, the floor among it, and what the machine was chosen from.
#[test]
fn what_is_taken_untried_is_kept_too() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("m.json"));
    printed(&format!("fit {data} -o {model} {FEW} --group subject"));
    let info = json(&format!("info {model} --json"));
    let kept = &info["provenance"]["selection"];
    assert_eq!(
        (&kept["form"]["std_floor"], &kept["form"]["topology"]),
        (&0.03.into(), &"ergodic".into())
    );
    assert!(list(&kept["form"], "candidates").is_empty(), "{kept}");
    // Three scalings, one of them with another weight of codebooks too, six costs.
    assert_eq!(list(&kept["machine"], "candidates").len(), 24, "{kept}");
    assert!(kept["machine"]["lead"]["accuracy"].is_number(), "{kept}");
    let told = printed(&format!("info {model}"));
    assert!(told.contains("floor 0.03") && told.contains("inner accuracy"), "{told}");
}

/// Bayes on channels is tried at several states and floors; where there is no more to try, that is noted.
#[test]
fn more_effort_tries_more_or_is_noted() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("two.csv"), folder.at("m.json"));
    let line = format!("fit {data} -o {model} {FEW}");
    let bayes = json(&format!("{line} --classifier bayes --effort normal --json"));
    let tried = list(&bayes["form"], "candidates");
    let mut pairs: Vec<(String, String)> =
        tried.iter().map(|one| (one["states"].to_string(), one["std_floor"].to_string())).collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 6, "three numbers of states and two floors: {bayes}");
    let idle = |of: &str| format!("idle-option --effort {of}");
    let cosine = format!("{line} --classifier cosine --effort normal");
    answers(&cosine, idle("cosine"));
    let strings = fixtures().at("strings.tsv");
    let words = format!("{strings} --classifier empirical-mean-map --effort normal");
    answers(format!("fit -o {model} {words}"), idle("empirical-mean-map"));
    answers(format!("evaluate {words}"), idle("empirical-mean-map"));
    let told = format!("{strings} -o {model} --states 2 --effort normal {FEW}");
    answers(format!("fit {told}"), idle("fisher"));
}
