//! `fishweir run`: the firmware is built and emulated. QEMU and the target must be there.

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::shared::data::event_log;
use crate::{json, printed};

#[test]
fn the_emulated_device_agrees_to_the_last_bit() {
    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let report = json(&format!("run {data} --model {model} --limit 300 --json"));
    assert_eq!(report["differing_bits"], 0);
    assert_eq!(report["samples"], 300);
    assert_eq!(report["streams"], 8, "series of forty samples, the last cut short");
    // Class, margin and three log-likelihoods per sample.
    assert_eq!(report["numbers"], 300 * 5);
    assert_eq!(report["device_model_bytes"], report["model_bytes"]);
    assert_eq!(report["device_state_bytes"], report["state_bytes"]);
    assert!(report["instructions_per_sample"].as_f64().expect("measured") > 100.0);
    assert!(report["rodata_bytes"].as_u64() > report["model_bytes"].as_u64());
}

#[test]
fn an_artefact_is_read_in_place_and_agrees_too() {
    let (data, model) = (fixtures().at("strings.fasta"), fixtures().at("strings.fishweir"));
    let report = json(&format!("run {data} --model {model} --artefact --json"));
    assert_eq!(report["differing_bits"], 0);
    assert_eq!(report["form"], "artefact");
    assert_eq!(report["samples"], 300);
}

/// Events by name: the dictionary goes along, the device takes their numbers.
#[test]
fn named_events_agree_to_the_last_bit() {
    let folder = Folder::new();
    let (log, model) = (folder.put("log.csv", event_log("event")), folder.at("model.json"));
    printed(&format!("fit {log} --classifier fisher {QUICK} --effort quick -o {model}"));
    for form in ["", "--artefact"] {
        let report = json(&format!("run {log} --model {model} {form} --json"));
        assert_eq!((&report["differing_bits"], &report["samples"]), (&0.into(), &480.into()));
    }
}

#[test]
fn another_board_agrees_to_the_last_bit() {
    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let report = json(&format!("run {data} --model {model} --board microbit --limit 50 --json"));
    assert_eq!(report["differing_bits"], 0);
    assert_eq!(report["board"], "microbit (Cortex-M0)");
    // It has no floating point: a multiplication is a hundred instructions.
    assert!(report["instructions_per_sample"].as_f64().expect("measured") > 10_000.0);
}

#[test]
fn a_kernel_machine_just_fitted_agrees_to_the_last_bit() {
    let folder = Folder::new();
    let model = folder.at("gaussian.json");
    let data = fixtures().at("three.csv");
    let fit = format!(
        "fit {data} -o {model} --classifier gaussian --window 20 {QUICK} --effort quick --sigma 1"
    );
    printed(&fit);
    let line = format!("run {data} --model {model} --board mps2-an386 --limit 300 --json");
    let report = json(&line);
    assert_eq!(report["differing_bits"], 0);
    assert_eq!(report["evidence"], "decision values");
    // Class, margin and three decision values per sample.
    assert_eq!(report["numbers"], 300 * 5);
    assert_eq!(report["device_state_bytes"], report["state_bytes"]);
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["model_bytes"], report["model_bytes"]);
}
