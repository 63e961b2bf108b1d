//! `fishweir export`.

use std::fs;

use crate::fixtures::fixtures;
use crate::{fishweir, json, refused};

#[test]
fn rust_and_artefact_by_option_or_by_ending() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    for model in ["two.json", "three.json", "bayes.json", "strings.json"] {
        let model = fixtures().at(model);
        let line =
            format!("export {model} --rust {} --artefact {} --json", at("a.rs"), at("a.fishweir"));
        let report = json(&mut fishweir(&line));
        let files = report["files"].as_array().expect("files");
        for file in files {
            let bytes = fs::metadata(file["file"].as_str().expect("a name")).expect("there").len();
            assert_eq!(file["bytes"], bytes);
        }
        assert_eq!(files.len(), 2);
        let line = format!("export {model} -o {} -o {}", at("b.rs"), at("b.fishweir"));
        fishweir(&line).assert().success();
        let read = |name: &str| fs::read(at(name)).expect("written");
        assert_eq!(read("a.rs"), read("b.rs"));
        assert_eq!(read("a.fishweir"), read("b.fishweir"));
        assert!(read("a.fishweir").starts_with(b"FISHWEIR"));
        let source = String::from_utf8(read("a.rs")).expect("UTF-8");
        assert!(source.contains("pub static MODEL: Model"), "{source}");
        // What was read back is what was written.
        let line = format!("export {} -o {} -o {}", at("a.fishweir"), at("c.rs"), at("c.fishweir"));
        fishweir(&line).assert().success();
        assert_eq!((read("a.rs"), read("a.fishweir")), (read("c.rs"), read("c.fishweir")));
    }
}

#[test]
fn an_export_to_nowhere_or_of_no_known_kind_is_refused() {
    let model = fixtures().at("two.json");
    for (options, expected) in [
        ("", "nothing to write"),
        ("-o model.txt", "neither Rust source"),
        ("--rust /no/such/folder/m.rs", "folder does not exist"),
    ] {
        let message = refused(&mut fishweir(&format!("export {model} {options}")), 2);
        assert!(message.contains(expected), "{options}: {message}");
    }
    let message = refused(&mut fishweir(&format!("export {model} --artefact {model}")), 2);
    assert!(message.contains("is the input itself"), "{message}");
}
