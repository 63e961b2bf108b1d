//! Images of applications.

use std::path::Path;

#[path = "../memory.rs"]
mod memory;

fn main() {
    println!("cargo::rerun-if-changed=../memory.rs");
    memory::link_image(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
}
