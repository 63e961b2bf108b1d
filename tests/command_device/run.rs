//! `fishweir run`: the firmware is built and emulated. QEMU and the target must be there.

use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::shared::data::event_log;
use crate::{fishweir, json, printed};

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

/// A board at a port: QEMU's, through a terminal.
#[cfg(unix)]
#[test]
fn a_board_at_a_port_agrees_to_the_last_bit_and_losses_are_counted() {
    use fishweir::device::{Board, Firmware, ModelFile, Qemu};

    use crate::terminal::with_emulated;

    let (data, model) = (fixtures().at("three.csv"), fixtures().at("three.json"));
    let folder = Folder::new();
    let source = folder.at("three.rs");
    printed(&format!("export {model} --rust {source}"));
    let board = Board::named(Board::default_name()).expect("a board");
    let image = Firmware::in_repository()
        .and_then(|firmware| {
            let (source, elf) =
                (ModelFile::Source(source.as_ref()), folder.path().join("image.elf"));
            firmware.build(board, "classify_stream", source, &elf)
        })
        .expect("builds");
    let qemu = Qemu::start(&image).expect("QEMU starts");
    // The board goes on from run to run.
    let run = |every: u64, model: &str| {
        with_emulated(&qemu, every, |port| {
            let line = format!(
                "run {data} --model {model} --limit 100 --port {port} --patience 20 --json"
            );
            fishweir(&line).output().expect("starts")
        })
    };
    let report = |output: &std::process::Output| -> Value {
        serde_json::from_slice(&output.stdout).expect("a report")
    };
    let clean = run(0, &model);
    assert!(clean.status.success(), "{}", String::from_utf8_lossy(&clean.stderr));
    let told = report(&clean);
    assert_eq!((&told["differing_bits"], &told["samples"]), (&0.into(), &100.into()));
    assert_eq!((&told["numbers"], &told["lost"]), (&(100 * 5).into(), &0.into()));
    assert_eq!((&told["form"], &told["flash_bytes"]), (&"image".into(), &Value::Null));
    assert!(told["ticks_per_sample"].as_f64() > Some(1.0), "{told}");
    assert!(told["stack_bytes"].as_u64() > told["device_state_bytes"].as_u64(), "{told}");

    let noisy = run(1500, &model);
    assert_eq!(noisy.status.code(), Some(1), "{}", String::from_utf8_lossy(&noisy.stderr));
    let told = report(&noisy);
    assert_eq!(told["differing_bits"], 0, "{told}");
    let gone = |key: &str| told[key].as_u64().expect("a count");
    assert!(gone("lost") + gone("unanswered") + gone("not_compared") > 0, "{told}");
    assert!(gone("numbers") > 50 * 5, "{told}");

    let other = run(0, &fixtures().at("bayes.json"));
    assert_eq!(other.status.code(), Some(1));
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(said.contains("another model"), "{said}");
}
