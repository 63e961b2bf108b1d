//! Passes the board's needs to the linker.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
{{memory}}
    for argument in [{{link}}] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}
