//! Build-script support for firmware: turns a model file into a Rust module.
//!
//! ```no_run
//! // build.rs
//! fishweir_build::model("gait.fishweir");
//! ```
//!
//! The program then says `fishweir_core::include_model!("gait");` and has the module `gait`: `gait::stream()` returns a
//! [`DecisionStream`](fishweir_core::classify::DecisionStream), which takes samples and returns named decisions. The
//! macro's page lists what else is in the module.
//!
//! | file | what becomes of it |
//! |---|---|
//! | `gait.fishweir`, by `fishweir export --format artefact` | its bytes, aligned, in a `static`; the classifier is read in place |
//! | `gait.rs`, by `fishweir export --format rust` | the source, and a `stream()` if its model is a bank of models |
//!
//! A model behind a front end of cepstra needs the feature `microfft` of `fishweir-core`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod artefact;
mod problem;
mod source;
mod stream;

pub use problem::Problem;

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{env, fs};

/// Turns a model file into a module of the program, for `fishweir_core::include_model!`.
///
/// The path starts at the package's folder. The module has the file's name without its ending; a character that no Rust
/// name may have becomes `_`. Cargo runs the build script again when the file changes.
///
/// A file that is missing, damaged or of another kind fails the build.
pub fn model(path: impl AsRef<Path>) {
    static BEGUN: Once = Once::new();
    println!("cargo::rerun-if-changed=build.rs");
    // What an earlier build script wrote for another file is no model of this one.
    BEGUN
        .call_once(|| env::var_os("OUT_DIR").iter().for_each(|out| remove_modules(Path::new(out))));
    if let Err(problem) = write_module(path.as_ref()) {
        println!("cargo::error={problem}");
    }
}

/// Removes the modules of a folder.
fn remove_modules(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_module = path.extension().is_some_and(|ending| ending == "rs")
            && fs::read(&path).is_ok_and(|bytes| bytes.starts_with(FIRST.as_bytes()));
        if is_module {
            // What stays is written anew, or fails there.
            let _ = fs::remove_file(path);
        }
    }
}

/// First words of a module.
const FIRST: &str = "/// The model of `";

fn write_module(path: &Path) -> Result<(), Problem> {
    let folder = |variable: &'static str| {
        let of_cargo = || Problem::new(path, "Cargo does not run this", "call it in build.rs");
        env::var_os(variable).map(PathBuf::from).ok_or_else(of_cargo)
    };
    let (root, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    let path = root.join(path);
    let name = module_name(&path)?;
    let items = items(&path, &out, &name)?;
    let module = format!(
        "{FIRST}{}`.\n\
         #[allow(dead_code, missing_docs, unreachable_pub, unused_imports, clippy::all)]\n\
         pub mod {name} {{\n{items}}}\n",
        path.file_name().unwrap_or_default().display().to_string().escape_debug(),
    );
    write(&out.join(format!("{name}.rs")), module.as_bytes())
}

/// Returns the content of a model file's module, for build scripts that write the module themselves. The bytes of an
/// artefact are written to `name` with the ending `.artefact` in the folder `out`, which is `OUT_DIR`.
///
/// # Errors
/// What is wrong with the file, and the remedy.
pub fn items(path: &Path, out: &Path, name: &str) -> Result<String, Problem> {
    println!("cargo::rerun-if-changed={}", path.display());
    let bytes = fs::read(path).map_err(|error| {
        Problem::new(path, error, "write it by `fishweir export`, or correct the path in build.rs")
    })?;
    // A source is known by its ending, or by what is in it where its name has none.
    let is_source = match path.extension() {
        Some(ending) => ending == "rs",
        None => source::is_source(&bytes),
    };
    match is_source {
        true => source::items(path, bytes),
        false => artefact::items(path, &bytes, out, name),
    }
}

/// The name of a file as that of a module.
fn module_name(path: &Path) -> Result<String, Problem> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = stem.chars().map(letter).collect();
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
        "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
        "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
        "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_", "",
    ];
    if KEYWORDS.contains(&name.as_str()) || name.starts_with(|first: char| first.is_ascii_digit()) {
        let why = format!("`{stem}` is no name of a Rust module");
        return Err(Problem::new(path, why, "rename the file"));
    }
    Ok(name)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let remedy = "make room or give write access";
    fs::write(path, bytes).map_err(|error| Problem::new(path, error, remedy))
}

/// Warns of a model without a contract.
fn warn_of_no_contract(path: &Path) {
    println!(
        "cargo::warning={} does not say which windows its model was trained on, and its stream never ends: export it \
         again",
        path.display()
    );
}

#[cfg(test)]
mod tests;
