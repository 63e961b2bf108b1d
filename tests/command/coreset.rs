//! Windows of a stream that stand for all, by `coreset`, and records by `network representatives --online`.

use crate::fixtures::{Folder, QUICK, table};
use crate::{json, printed, refuses};

const WINDOWS: &str = "--window 20 --hop 10";

#[test]
fn a_few_windows_stand_for_all_by_evidence_and_by_scores() {
    let folder = Folder::new();
    let data = folder.put("all.csv", table(&["still", "moving"]));
    let model = folder.at("model.json");
    printed(&format!(
        "fit {data} -o {model} --group subject {WINDOWS} --teachable {QUICK} --effort quick"
    ));
    let kept = folder.at("kept.csv");
    let by_evidence =
        format!("coreset {data} --model {model} --evidence --keep 4 -o {kept} --json");
    let by_scores =
        format!("coreset {data} {WINDOWS} --one-model --keep 4 {QUICK} -o {kept} --json");
    for line in [by_evidence, by_scores] {
        let report = json(&line);
        let windows = report["windows"].as_u64().expect("a number");
        let kept_windows = report["kept"].as_array().expect("a list");
        let number = |one: &serde_json::Value, name: &str| one[name].as_u64().expect("a number");
        let weights: u64 = kept_windows.iter().map(|one| number(one, "weight")).sum();
        assert_eq!((kept_windows.len(), weights), (4, windows), "{report}");
        let indices: Vec<u64> = kept_windows.iter().map(|one| number(one, "index")).collect();
        assert!(indices.windows(2).all(|pair| pair[0] < pair[1]) && indices[3] < windows);
        let written = folder.text("kept.csv");
        assert_eq!(written.lines().next(), Some("index,id,label,weight"));
        let rows: Vec<u64> = written
            .lines()
            .skip(1)
            .map(|row| row.rsplit(',').next().expect("a cell").parse().expect("a weight"))
            .collect();
        assert_eq!(rows.iter().sum::<u64>(), windows);
        let dimension = number(&report, "dimension");
        assert_eq!(number(&report, "ram_bytes"), 4 * (4 * dimension + 12) + 8 * dimension + 8);
    }
    // More places than windows keep every one, and are as all.
    let all = json(&format!("coreset {data} --model {model} --evidence --keep 10000 --json"));
    let windows = all["windows"].as_u64().expect("a number") as usize;
    assert_eq!(all["kept"].as_array().map(Vec::len), Some(windows));
    assert!(all["discrepancy"].as_f64().expect("a number") < 1e-6);

    let plain = folder.at("plain.json");
    printed(&format!("fit {data} -o {plain} --group subject {WINDOWS} {QUICK} --effort quick"));
    refuses(&format!("coreset {data} --model {plain} --evidence"), "no-basis");
    // What is no inner product of features has no coreset by them.
    for kernel in ["ppk", "gaussian", "polynomial"] {
        let line = format!("coreset {data} {WINDOWS} {QUICK} --one-model --kernel {kernel}");
        refuses(&line, "unsupported");
    }
    refuses(
        &format!("coreset {data} {WINDOWS} --keep 18446744073709551615"),
        "invalid-value --keep",
    );
}

#[test]
fn records_are_kept_in_one_pass() {
    let folder = Folder::new();
    let mut text = "door,lamp\n".to_owned();
    for record in 0..200 {
        let door = if record % 4 == 0 { "open" } else { "shut" };
        let lamp = if record % 5 < 3 { "on" } else { "off" };
        text += &format!("{door},{lamp}\n");
    }
    let data = folder.put("house.csv", text);
    let model = folder.at("house.json");
    printed(&format!("network fit {data} -o {model}"));
    let line = format!("network representatives {data} --model {model} -k 8 --draws 20");
    let report = json(&format!("{line} --online --json"));
    let weights: Vec<u64> = serde_json::from_value(report["weights"].clone()).expect("weights");
    assert_eq!((weights.len(), weights.iter().sum::<u64>()), (8, 200));
    let of = |name: &str| report[name].as_f64().expect("a number");
    assert!(of("discrepancy") < of("random"), "{report}");
    assert!(json(&format!("{line} --json"))["weights"].is_null());
}
