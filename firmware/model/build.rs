//! Chooses the model that firmware is built around: an exported source, an artefact, or one of `models/`.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A Rust source with `MODEL` and its type `Model`, as `fishweir export` writes it.
const SOURCE: &str = "FISHWEIR_MODEL";
/// A binary artefact.
const ARTEFACT: &str = "FISHWEIR_ARTEFACT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let firmware = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(problem) = write_model(&firmware, &out) {
        println!("cargo::error={problem}");
    }
}

/// Writes `model.rs`.
fn write_model(root: &Path, out: &Path) -> Result<(), String> {
    let named = |variable: &str| {
        println!("cargo::rerun-if-env-changed={variable}");
        env::var_os(variable).map(|path| root.join(path))
    };
    let (path, variable) = match (named(SOURCE), named(ARTEFACT)) {
        (Some(_), Some(_)) => {
            return Err(format!("{SOURCE} and {ARTEFACT} are both set: unset one of them"));
        }
        (None, Some(artefact)) => (artefact, ARTEFACT),
        (Some(source), None) => (source, SOURCE),
        (None, None) => (root.join(default_model()), "default model"),
    };
    let items = fishweir_build::items(&path, out, "model");
    let items = items.map_err(|problem| format!("{variable}: {problem}"))?;
    let to = out.join("model.rs");
    fs::write(&to, items).map_err(|error| format!("{}: {error}", to.display()))
}

/// Returns whether a feature is on.
fn on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}

/// The default model of a build, of the kind that the application takes.
fn default_model() -> &'static str {
    if on("detect-change") {
        "models/detector.rs"
    } else if on("events") {
        "models/events.rs"
    } else if on("spot-events") {
        "models/spotter.rs"
    } else if on("watch-sensor") {
        "models/motion.rs"
    } else {
        "models/default.rs"
    }
}
