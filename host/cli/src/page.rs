//! `fishweir page`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use fishweir::files;
use fishweir::report::grouped;
use fishweir_web::Page;

use super::output::{self, Outputs};
use super::{Failure, Topic, note};

pub(super) const LONG_ABOUT: &str = "\
Write a page that reads recordings, trains, judges and exports in a browser.

The page is one HTML file with this program in it, as WebAssembly. It is opened from disk, needs no network, and forbids itself every \
connection. Its files are those of the command, byte for byte. The first page of a checkout builds the program for it, which takes \
minutes; what is built is kept.";

const EXAMPLES: &str = "\
Examples:
  fishweir page -o fishweir.html
  fishweir page gait.csv -o gait.html     # opens with these recordings";

/// The target of the page's program.
const TARGET: &str = "wasm32-wasip1";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files or folders that the page opens with
    data: Vec<PathBuf>,
    /// Page to write
    #[arg(short, long, value_name = "FILE.html", default_value = "fishweir.html")]
    output: PathBuf,
    /// Program as WebAssembly for WASI preview 1 [default: built from the checkout that this program was built from]
    #[arg(long, value_name = "FILE.wasm")]
    program: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> =
        arguments.data.iter().chain(&arguments.program).map(PathBuf::as_path).collect();
    Outputs::check(&[&arguments.output], &inputs)?;
    let mut given = BTreeMap::new();
    for path in &arguments.data {
        collect(path, &mut given)?;
    }
    let built = match &arguments.program {
        Some(path) => path.clone(),
        None => build()?,
    };
    let program = files::read(&built)?;
    if !program.starts_with(b"\0asm") {
        let file = built.display();
        let what = format!("{file}: this is not WebAssembly; name a program built for {TARGET}");
        return Err(Failure::input(Topic::NoProgram, what));
    }
    let given = told_apart(given);
    let page = Page { program: &program, files: &given }.to_html()?;
    output::write(&arguments.output, page.as_bytes())?;
    if output::is_standard(&arguments.output) {
        return Ok(());
    }
    let (file, size) = (arguments.output.display(), grouped(page.len() / 1000));
    output::print(format!("{file}: {size} kB\n").as_bytes())
}

/// A file, or all files of a folder, by the parts of their paths.
fn collect(path: &Path, into: &mut BTreeMap<Vec<String>, Vec<u8>>) -> Result<(), Failure> {
    if path.is_dir() {
        let unreadable = |error: std::io::Error| {
            Failure::input(Topic::UnreadableFolder, format!("{}: {error}", path.display()))
        };
        for entry in fs::read_dir(path).map_err(unreadable)? {
            collect(&entry.map_err(unreadable)?.path(), into)?;
        }
        return Ok(());
    }
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    into.insert(parts.collect(), files::read(path)?);
    Ok(())
}

/// Files with what tells their paths apart: without the folders that all are in.
fn told_apart(files: BTreeMap<Vec<String>, Vec<u8>>) -> Vec<(String, Vec<u8>)> {
    let common = |a: &[String], b: &[String]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let mut paths = files.keys().map(|path| &path[..path.len().saturating_sub(1)]);
    let first = paths.next().unwrap_or_default();
    let shared = paths.fold(first.len(), |least, path| least.min(common(first, path)));
    files.into_iter().map(|(path, bytes)| (path[shared..].join("/"), bytes)).collect()
}

/// Builds the program for the page; its path.
fn build() -> Result<PathBuf, Failure> {
    let refused = |what: String| Failure::input(Topic::BuildFailed, what);
    let Some(root) = fishweir_sources::checkout() else {
        return Err(refused(
            "the checkout of this program is not there any more; give --program".into(),
        ));
    };
    let built = root.join("target").join(TARGET).join("web/fishweir.wasm");
    let is_first = !built.is_file();
    if is_first {
        note(Topic::Building, "building the program for the page: some minutes, once");
    }
    // The cargo that runs this program, if one does: it knows its own toolchain.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let build = ["build", "--locked", "--quiet", "--profile", "web", "--package", "fishweir-cli"];
    command.current_dir(&root).args(build);
    command.args(["--target", TARGET]).env("CARGO_TARGET_DIR", root.join("target"));
    command.env("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", "-C target-feature=+simd128");
    let done = command
        .output()
        .map_err(|error| refused(format!("cargo: {error}; install Rust, or name --program")))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let hint = match said.contains("may not be installed") {
            true => format!("; add the target: rustup target add {TARGET}"),
            false => String::new(),
        };
        return Err(refused(format!(
            "the program for the page does not build{hint}:\n{}",
            said.trim()
        )));
    }
    match fs::exists(&built) {
        Ok(true) => Ok(built),
        _ => Err(refused(format!("{}: it was not built there; name --program", built.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_stay_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut found = BTreeMap::new();
        for class in ["run", "walk"] {
            fs::create_dir(folder.path().join(class)).expect("made");
            fs::write(folder.path().join(class).join("1.csv"), class).expect("written");
        }
        collect(folder.path(), &mut found).expect("read");
        let names = |found| told_apart(found).into_iter().map(|(name, _)| name);
        assert!(names(found.clone()).eq(["run/1.csv", "walk/1.csv"]));
        found.pop_first();
        assert!(names(found).eq(["1.csv"]));
        assert!(told_apart(BTreeMap::new()).is_empty());
    }
}
