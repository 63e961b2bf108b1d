//! `fishweir export`.

use std::fs;

use crate::fixtures::{Noise, fixtures};
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
    assert!(message.contains("is an input itself"), "{message}");
}

#[test]
fn fixed_point_is_measured_before_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("q15.rs").display().to_string();
    let (model, data) = (fixtures().at("two.json"), fixtures().at("two.csv"));
    let line = format!("export {model} --rust {file} --number q15 --data {data}");
    let report = json(&mut fishweir(&format!("{line} --json")));
    assert_eq!(report["number"], "q15");
    assert!(report["deviation"]["windows"].as_u64().expect("a count") > 0);
    assert!(report["deviation"]["equal_decisions"].as_f64().expect("a share") >= 0.995);
    let source = fs::read_to_string(&file).expect("written");
    assert!(source.contains("GaussianQ15"), "{source}");
    fs::remove_file(&file).expect("there");

    // More equality than there is, over many windows of one sample: refused, and nothing is written.
    let noise = folder.path().join("noise.csv");
    let mut values = Noise(5);
    let mut text = "series,t,x,y\n".to_owned();
    for series in 0..20_000 {
        let mut next = || 0.8 * values.next().unwrap_or(0.0);
        text += &format!("{series},0,{:.3},{:.3}\n", next(), 0.5 + next());
    }
    fs::write(&noise, text).expect("written");
    let strict = format!("export {model} --rust {file} --number q15 --equal 1 --data");
    let message = refused(&mut fishweir(&format!("{strict} {}", noise.display())), 1);
    assert!(message.contains("fixed point decides as f64 does on"), "{message}");
    assert!(!folder.path().join("q15.rs").exists());
    let message = refused(&mut fishweir(&format!("{line} -o {file}.fishweir")), 2);
    assert!(message.contains("not as an artefact"), "{message}");
    let nowhere = format!("export {model} --rust {file} --number q15 --data /no/such.csv");
    let message = refused(&mut fishweir(&nowhere), 2);
    assert!(message.contains("name it with --data"), "{message}");
}
