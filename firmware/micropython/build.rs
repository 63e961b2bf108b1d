//! Tells the linker how a module lies in memory.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=module.ld");
    let script = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = Path::new(&script).join("module.ld");
    for argument in [
        "-pie",
        "--no-dynamic-linker",
        "--gc-sections",
        "-z",
        "norelro",
        "--orphan-handling=place",
        "-T",
        &script.to_string_lossy(),
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
