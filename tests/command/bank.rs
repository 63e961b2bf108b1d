//! A bank of models, from `fit --compare-by` to decisions and source.

use crate::fixtures::{Folder, QUICK, table};
use crate::{json, printed, refuses};

const WINDOWS: &str = "--window 20 --hop 10";

#[test]
fn the_class_of_the_most_alike_model_is_decided_priced_and_exported() {
    let folder = Folder::new();
    let data = folder.put("all.csv", table(&["still", "moving"]));
    let model = folder.at("bank.json");
    for (options, models) in [
        ("--compare-by ppk", 2),
        ("--compare-by mean-map --lambda 0.5 --steps 3 --model-memory 20", 2),
    ] {
        let line = format!("fit {data} {WINDOWS} --family hmm {options} -o {model} {QUICK}");
        let report = json(&format!("{line} --json"));
        assert_eq!(report["classifier"], "model-bank", "{options}");
        let info = json(&format!("info {model} --json"));
        assert_eq!(
            (&info["classifier"], &info["stored"]["items"]),
            (&report["classifier"], &models.into())
        );
        assert_eq!(info["model_bytes"], report["cost"]["model_bytes"]);
        let judged = json(&format!("evaluate {data} --model {model} --json"));
        assert!(judged["accuracy"].as_f64() > Some(0.8), "{options}: {judged}");
        let rust = folder.at("bank.rs");
        printed(&format!("export {model} -o {rust}"));
        assert!(folder.text("bank.rs").contains("StoredModels"));
    }
    for options in ["--family gaussian", "--family hmm --end", "--family hmm --model-per all"] {
        let line = format!("fit {data} {options} --compare-by ppk -o {model}");
        refuses(&line, "conflicting-options");
    }
}
