//! Images of applications.

use std::env;
use std::path::Path;

#[path = "../memory.rs"]
mod memory;

/// The file of the public key whose holder may update the model of the image `field`.
const KEY: &str = "FISHWEIR_UPDATE_KEY";
/// The feature that does without.
const ANYONE: &str = "insecure-updates-by-anyone";

fn main() {
    println!("cargo::rerun-if-changed=../memory.rs");
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let _board = memory::link_image(&firmware);
    if let Err(problem) = trust(&firmware) {
        println!("cargo::error={problem}");
    }
}

/// Passes the path of its key to the image `field`. An image that trusts anyone needs an explicit word.
fn trust(firmware: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-env-changed={KEY}");
    let on = |feature: &str| {
        env::var_os(format!("CARGO_FEATURE_{}", feature.replace('-', "_").to_uppercase())).is_some()
    };
    if !on("field") || on(ANYONE) {
        return Ok(());
    }
    let file = env::var_os(KEY).ok_or_else(|| {
        format!(
            "the image `field` takes signed updates and has no key: make one by `fishweir keygen update.key` and name the \
             public key, {KEY}=/path/to/update.pub; only the feature {ANYONE} takes updates without a signature"
        )
    })?;
    let file = firmware.join(file);
    println!("cargo::rerun-if-changed={}", file.display());
    let text = std::fs::read_to_string(&file)
        .map_err(|error| format!("{KEY}: {}: {error}", file.display()))?;
    let digits = text.trim();
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(format!(
            "{KEY}: {} is no public key of `fishweir keygen`: it has 64 hexadecimal digits",
            file.display()
        ));
    }
    let file = std::path::absolute(&file).map_err(|error| error.to_string())?;
    println!("cargo::rustc-env=FISHWEIR_UPDATE_KEY_FILE={}", file.display());
    Ok(())
}
