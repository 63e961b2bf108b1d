//! Says whether the sources of the core and of the firmware are beside this package. In a checkout they are, and the
//! program takes them along; from a registry it finds the core by version.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(checkout)");
    println!("cargo::rerun-if-changed=build.rs");
    let beside = |file: &str| {
        let path = Path::new("../..").join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        path.is_file()
    };
    if beside("core/Cargo.toml") && beside("firmware/Cargo.toml") {
        println!("cargo::rustc-cfg=checkout");
    }
}
