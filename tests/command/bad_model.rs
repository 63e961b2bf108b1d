//! Damaged models, given to every command that reads one.

use std::fs;
use std::path::Path;

use crate::fixtures::fixtures;
use crate::{fishweir, refused};

/// Every command that reads a model refuses this one, names it, and leaves nothing behind.
fn all_refuse(model: &Path, expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let written = folder.path().join("x.rs");
    let (data, written_name) = (fixtures().at("two.csv"), written.display());
    let model = model.display();
    for line in [
        format!("info {model}"),
        format!("export {model} -o {written_name}"),
        format!("evaluate {data} --model {model}"),
        format!("score {data} --model {model}"),
        format!("score --stream --model {model}"),
        format!("run {model} {data}"),
    ] {
        let message = refused(&mut fishweir(&line), 2);
        assert!(message.contains(&model.to_string()), "{line}: {message}");
        assert!(message.contains(expected), "{line}: {message}");
    }
    assert!(!written.exists());
}

#[test]
fn a_missing_model_is_named() {
    all_refuse(Path::new("/no/such/model.json"), "cannot read");
}

#[test]
fn what_is_no_model_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.json");
    for (bytes, expected) in [
        (&b""[..], "not a fishweir model"),
        (b"{}", "not a fishweir model"),
        (b"{\"fishweir_model\":1}", "not a fishweir model"),
        (b"\xFF\xFE\x00", "not a fishweir model"),
        (b"FISHWEIR", "truncated"),
    ] {
        fs::write(&file, bytes).expect("written");
        all_refuse(&file, expected);
    }
    fs::copy(fixtures().path("two.csv"), &file).expect("copied");
    all_refuse(&file, "not a fishweir model");
}

#[test]
fn a_model_of_another_version_says_so() {
    let text = fs::read_to_string(fixtures().path("two.json")).expect("a model");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.json");
    fs::write(&file, text.replace("\"fishweir_model\":1", "\"fishweir_model\":7"))
        .expect("written");
    all_refuse(&file, "format 7");
}

#[test]
fn every_truncation_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["two.json", "strings.json", "two.fishweir", "strings.fishweir"] {
        let bytes = fs::read(fixtures().path(name)).expect("a model");
        let file = folder.path().join(name);
        for part in 0..12 {
            // Up to the last byte but one: a line end ends JSON, and nothing else.
            let length = (bytes.len() - 2) * part / 11;
            fs::write(&file, &bytes[..length]).expect("written");
            let message = refused(&mut fishweir(&format!("info {}", file.display())), 2);
            assert!(message.contains(name), "{message}");
        }
        fs::write(&file, &bytes[..bytes.len() / 2]).expect("written");
        all_refuse(&file, "");
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["three.json", "three.fishweir"] {
        let good = fs::read(fixtures().path(name)).expect("a model");
        let file = folder.path().join(name);
        // A bit of each of so many bytes, the first and the last among them.
        let places = 60;
        for place in 0..places {
            let mut bytes = good.clone();
            bytes[(good.len() - 1) * place / (places - 1)] ^= 1 << (place % 8);
            fs::write(&file, &bytes).expect("written");
            let message = refused(&mut fishweir(&format!("info {}", file.display())), 2);
            assert!(message.contains(name), "{message}");
        }
        let mut bytes = good.clone();
        bytes[good.len() / 2] ^= 4;
        fs::write(&file, &bytes).expect("written");
        all_refuse(&file, "");
    }
}
