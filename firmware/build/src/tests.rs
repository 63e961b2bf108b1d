use std::path::Path;
use std::{env, fs};

use super::{items, module_name};

/// An artefact of the core's own documentation.
fn coin() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../core/src/artefact/coin.fishweir");
    fs::read(path).expect("reads")
}

/// Result of a build with a file of these bytes.
fn of(name: &str, bytes: &[u8]) -> Result<String, String> {
    let folder = env::temp_dir().join(format!("fishweir-build-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, bytes).expect("writes");
    let items = items(&path, &folder, "model").map_err(|problem| problem.to_string());
    fs::remove_file(path).expect("removes");
    items
}

#[test]
fn an_artefact_becomes_its_type_and_a_stream() {
    let items = of("coin.fishweir", &coin()).expect("a sound artefact");
    assert!(
        items.contains("pub type Model = fishweir_core::classify::StreamClassifier<"),
        "{items}"
    );
    assert!(items.contains("pub const fn stream() -> Stream {"), "{items}");
}

#[test]
fn a_damaged_file_is_named_with_its_fault_and_remedy() {
    let mut changed = coin();
    changed[70] ^= 1;
    let coin = coin();
    for (name, bytes, fault) in [
        ("changed.fishweir", &changed[..], "checksum"),
        ("short.fishweir", &coin[..coin.len() - 1], "truncated"),
        ("other.fishweir", b"model.json", "artefact"),
        ("other.rs", b"fn main() {}", "Model"),
        ("binary.rs", b"\xff", "UTF-8"),
    ] {
        let error = of(name, bytes).expect_err(name);
        assert!(error.contains(name) && error.contains("fishweir export"), "{error}");
        println!("{error}");
        let (error, fault) = (error.to_lowercase(), fault.to_lowercase());
        assert!(error.split_once(name).is_some_and(|(_, rest)| rest.contains(&fault)), "{error}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = items(Path::new("/nowhere/gait.fishweir"), Path::new("/nowhere"), "gait");
    let error = error.expect_err("there is no such file").to_string();
    assert!(error.contains("/nowhere/gait.fishweir") && error.contains("build.rs"), "{error}");
}

#[test]
fn a_module_has_the_name_of_its_file() {
    let name = |path: &str| module_name(Path::new(path)).map_err(|problem| problem.to_string());
    assert_eq!(name("models/gait.fishweir").as_deref(), Ok("gait"));
    assert_eq!(name("my-gait.2.fishweir").as_deref(), Ok("my_gait_2"));
    assert!(name("2nd.fishweir").is_err_and(|error| error.contains("rename")));
    assert!(name("match.fishweir").is_err());
}
