//! How far decisions are to be believed: learnt by `fit`, told by `predict`, judged by `evaluate`; and why they fell.

use crate::fixtures::{Folder, QUICK, fixtures, table};
use crate::{answers, json, printed, refuses};

/// A model of two of the three classes, that rejects a tenth.
fn of_two(folder: &Folder) -> (String, String) {
    let two = folder.put("two.csv", table(&["still", "moving"]));
    let model = folder.at("two.json");
    let said = printed(&format!(
        "fit {two} -o {model} --group subject --window 20 --hop 10 --reject 0.1 {QUICK} --effort quick"
    ));
    assert!(said.contains("windows held back: probabilities by the softmax of "), "{said}");
    assert!(said.contains("; rejected if the margin is below "), "{said}");
    (two, model)
}

#[test]
fn a_class_that_was_never_seen_is_doubted_by_model_and_artefact_alike() {
    let folder = Folder::new();
    let (_, model) = of_two(&folder);
    let three = folder.put("three.csv", table(&["still", "moving", "turning"]));
    let report = json(&format!("evaluate {three} --model {model} --json"));
    let believed = &report["believed"];
    assert!(believed["rejection"]["rejected"].as_f64().expect("a share") < 0.3, "{believed}");
    let unseen = &believed["rejection"]["unseen"][0];
    assert_eq!(unseen["class"], "turning");
    assert!(unseen["rejected"].as_f64().expect("a share") > 0.9, "{unseen}");
    let unknown = |report: &serde_json::Value| report["unknown"][0].clone();
    let turning = unknown(&report);
    assert_eq!(turning["class"], "turning");
    let share = |of: &str| turning[of].as_f64().expect("a count") / 18.0;
    assert_eq!(
        (share("windows"), share("rejected")),
        (1.0, unseen["rejected"].as_f64().unwrap_or(0.0))
    );
    let alone = folder.put("alone.csv", table(&["turning"]));
    let alone = unknown(&json(&format!("evaluate {alone} --model {model} --json")));
    assert_eq!(alone["windows"], 18);
    assert!(alone["rejected"].as_u64().is_some_and(|rejected| rejected <= 18), "{alone}");
    let loss = |of: &str| believed["calibration"][of].as_f64().expect("a number");
    assert!(loss("log_loss") < loss("log_loss_of_shares"), "{believed}");

    let artefact = folder.at("two.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let rows = printed(&format!("predict {three} --model {model} --window 20 --hop 10"));
    assert_eq!(printed(&format!("predict {three} --model {artefact} --window 20 --hop 10")), rows);
    let mut lines = rows.lines();
    let heads = "series,start,end,class,margin,probability,doubt,value";
    assert_eq!(lines.next(), Some(heads));
    let doubts = |wanted: bool| {
        let of_turning = |line: &&str| {
            let series: usize =
                line.split(',').next().and_then(|s| s.parse().ok()).expect("a number");
            (series % 3 == 2) == wanted
        };
        let rows: Vec<&str> = rows.lines().skip(1).filter(of_turning).collect();
        let away = rows.iter().filter(|row| !row.split(',').nth(6).expect("a field").is_empty());
        (away.count(), rows.len())
    };
    let ((known, of_known), (unknown, of_unknown)) = (doubts(false), doubts(true));
    assert!(3 * known < of_known && 10 * unknown > 9 * of_unknown, "{rows}");
    for row in lines {
        let p: f64 = row.split(',').nth(5).and_then(|p| p.parse().ok()).expect("a number");
        assert!((0.5..=1.0).contains(&p), "{row}");
    }
    let told = printed(&format!("info {model}"));
    assert!(told.contains("confidence     probabilities by the softmax of "), "{told}");
    let source = folder.at("two.rs");
    printed(&format!("export {model} --rust {source}"));
    assert!(folder.text("two.rs").contains("pub static CALIBRATION: "));
}

#[test]
fn evaluate_leaves_each_class_out() {
    let three = fixtures().at("three.csv");
    let line = format!(
        "evaluate {three} --group subject --classifier bayes --window 20 --reject 0.1 {QUICK} --effort quick"
    );
    let report = json(&format!("{line} --json"));
    let rejection = &report["classifiers"]["bayes"]["rejection"];
    assert_eq!(rejection["unseen"].as_array().map(Vec::len), Some(3), "{rejection}");
    let said = printed(&line);
    assert!(said.contains("a class never seen  windows  rejected"), "{said}");
}

#[test]
fn what_samples_gave_adds_up_to_the_margin() {
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let windows = json(&format!("predict {data} --model {model} --explain --json"));
    for window in windows.as_array().expect("a list") {
        let number = |of: &str| window[of].as_f64().expect("a number");
        let gains = window["gains"].as_array().expect("a list");
        assert_eq!(gains.len(), 20);
        let sum: f64 = gains.iter().map(|gain| gain.as_f64().expect("a number")).sum();
        let (sum, margin) = (sum + number("bias"), number("margin"));
        assert!((sum - margin).abs() < 1e-4 * (1.0 + margin), "{window}");
        assert_ne!(window["class"], window["rival"]);
    }
    let rows = printed(&format!("predict {data} --model {model} --explain"));
    let mut lines = rows.lines();
    assert_eq!(lines.next(), Some("series,start,end,class,rival,sample,gain"));
    assert!(lines.next().is_some_and(|row| row.starts_with("0,0,20,still,") && row.contains(",,")));
    assert!(lines.next().is_some_and(|row| row.split(',').nth(5) == Some("0")));
    let folder = Folder::new();
    let line = format!("predict {data} --model {model} --explain --explain-series 1 --draw");
    let table = printed(&format!("{line} {}", folder.at("why.svg")));
    assert!(table.lines().skip(1).all(|row| row.starts_with("1,")), "{table}");
    let figure = printed(&format!("{line} -"));
    assert_eq!(figure, folder.text("why.svg"));
    let class = table.lines().nth(1).and_then(|row| row.split(',').nth(3)).expect("a class");
    assert!(figure.contains(&format!(">{class}</text>")) && figure.contains(">over "), "{figure}");
    refuses(
        &format!("predict {data} --model {model} --explain --explain-series nope"),
        "unknown-series nope",
    );
    refuses(&format!("{line} {data}"), "output-is-input");
    let by_channel =
        format!("predict {data} --model {model} --explain=channels --explain-series 1");
    let (table, listed) = (printed(&by_channel), json(&format!("{by_channel} --json")));
    let parts = listed[0]["parts"].as_object().expect("parts by name");
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("series,start,end,class,rival,channel,part"));
    for (row, (name, part)) in rows.zip(parts) {
        assert!(row.starts_with("1,0,20,") && row.ends_with(&format!(",{name},{part}")), "{row}");
    }
    assert_eq!(parts.len(), 2);
}

#[test]
fn what_keeps_no_confidence_is_refused_by_its_option() {
    let (folder, two) = (Folder::new(), fixtures().at("two.csv"));
    let model = folder.at("m.json");
    let line = format!("fit {two} -o {model} {QUICK} --effort quick");
    let told = "keeps-no-confidence --reject gaussian";
    refuses(&format!("{line} --classifier gaussian --reject 0.1"), told);
    refuses(&format!("evaluate {two} --classifier bayes,gaussian --reject 0.1"), told);
    answers(format!("{line} --family hmm --calibrate"), "idle-option --calibrate");
    for rate in ["0", "0.5", "nan", "much"] {
        refuses(&format!("{line} --reject {rate}"), "invalid-value 0 0.5 --reject");
    }
    // In words of what `fit` takes.
    let text = std::fs::read_to_string(&two).expect("data");
    let alone: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains(",moving,") || line.starts_with("1,"))
        .collect();
    let alone = folder.put("alone.csv", alone);
    let told = "not-held-back alone.csv --calibrate moving 1 2";
    refuses(&format!("fit {alone} -o {model} {QUICK} --effort quick --calibrate"), told);
    let one = folder.put("one.csv", text.replace(",bob,", ",ann,").replace(",cat,", ",ann,"));
    refuses(
        &format!("fit {one} -o {model} {QUICK} --effort quick --group subject --calibrate"),
        "not-held-back --calibrate 1 2",
    );
    let evaluated = format!("evaluate {two} --model {} --reject 0.1", fixtures().at("two.json"));
    refuses(&evaluated, "argument-conflict --model");
    refuses(
        &format!("predict --stream --model {} --explain", fixtures().at("two.json")),
        "argument-conflict --explain",
    );
    printed(&format!("{line} --classifier gaussian --window 20 --sigma 1"));
    refuses(&format!("predict {two} --model {model} --explain"), "kernel-machine");
    let strings = fixtures().at("strings.tsv");
    printed(&format!("fit {strings} -o {model} {QUICK} --effort quick"));
    refuses(&format!("predict {strings} --model {model} --explain=channels"), "left-out-channels");
    let line = format!("fit {two} -o {model} {QUICK} --effort quick --window 20");
    printed(&format!("{line} --codebooks 1 --lags 1 --score-model each-lag"));
    refuses(
        &format!("predict {two} --model {model} --explain=channels"),
        "left-out-channels --explain=channels --codebooks 0",
    );
}
