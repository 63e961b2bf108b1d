//! `fishweir page`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use fishweir::data::Kind;
use fishweir::files;
use fishweir::report::grouped;
use fishweir_web::Page;

use super::model::Model;
use super::output::{self, Outputs};
use super::{Failure, Topic, note, recognise};

pub(super) const LONG_ABOUT: &str = "\
Write a page that reads recordings, trains, judges and exports in a browser.

The page is one HTML file with this program in it, as WebAssembly. It is opened from disk, needs no network, and forbids itself every \
connection. Its files are those of the command, byte for byte. The first page of a checkout builds the program for it, which takes \
minutes; what is built is kept.

With --model the page opens with a model: it decides on files that are dropped, draws and explains the decisions, and decides on live \
samples. With --score-only the page has no training, only the model in a device's numbers: it decides on files and on live samples, and \
is small.";

const EXAMPLES: &str = "\
Examples:
  fishweir page -o fishweir.html
  fishweir page gait.csv -o gait.html     # opens with these recordings
  fishweir page --model gait.json --score-only -o gait.html    # decides, and does not train";

/// The target of the page's program.
const TARGET: &str = "wasm32-wasip1";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files or folders that the page opens with
    data: Vec<PathBuf>,
    /// Model (JSON) or artefact that the page opens with
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Leave training out: a small page that decides by the model
    #[arg(long, requires = "model")]
    score_only: bool,
    /// Page to write
    #[arg(short, long, value_name = "FILE.html", default_value = "fishweir.html")]
    output: PathBuf,
    /// Program, or for --score-only package `fishweir-scorer`, as WebAssembly for WASI preview 1 [default: beside this program, or
    /// built from the checkout that it was built from]
    #[arg(long, value_name = "FILE.wasm")]
    program: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let given = arguments.program.iter().chain(&arguments.model);
    let inputs: Vec<&Path> = arguments.data.iter().chain(given).map(PathBuf::as_path).collect();
    Outputs::check(&[&arguments.output], &inputs)?;
    let mut data = BTreeMap::new();
    for path in &arguments.data {
        collect(path, &mut data)?;
    }
    let data = told_apart(data);
    let model = arguments.model.as_deref().map(|path| carried(path, arguments.score_only));
    let model = model.transpose()?;
    let module = match &arguments.program {
        Some(path) => path.clone(),
        None => build(arguments.score_only)?,
    };
    let module = module_of(&module)?;
    let page = Page {
        program: Some(module.as_slice()).filter(|_| !arguments.score_only),
        scorer: Some(module.as_slice()).filter(|_| arguments.score_only),
        files: &data,
        model: model.as_ref().map(|(name, bytes)| (name.as_str(), bytes.as_slice())),
        report: None,
    }
    .to_html()?;
    output::write(&arguments.output, page.as_bytes())?;
    if output::is_standard(&arguments.output) {
        return Ok(());
    }
    let (file, size) = (arguments.output.display(), grouped(page.len() / 1000));
    output::print(format!("{file}: {size} kB\n").as_bytes())
}

/// Name and content of the model that a page carries: one that decides on series. A page that only scores has its artefact.
fn carried(path: &Path, score_only: bool) -> Result<(String, Vec<u8>), Failure> {
    let bytes = recognise::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match score_only {
        true => Ok((name, artefact(path, &Model::parse(path, &bytes)?)?)),
        false => Model::parse(path, &bytes).map(|_| (name, bytes)),
    }
}

/// The artefact of a model, for a page that only scores.
pub(super) fn artefact(path: &Path, model: &Model) -> Result<Vec<u8>, Failure> {
    let refused = |why: &str| {
        let what = format!("{}: {why}; leave --score-only out", path.display());
        Err(Failure::input(Topic::Unsupported, what))
    };
    if let Some(why) = model.deployed.no_artefact() {
        return refused(&why.to_string());
    }
    if matches!(model.kind()?, Kind::Symbols(_)) {
        return refused("this model is of symbols, and a page that only scores takes channels");
    }
    model.check_windows()?;
    Ok(model.deployed.to_artefact()?)
}

/// The module that only scores, where it need not be built.
pub(super) fn scorer_at_hand() -> Option<Vec<u8>> {
    let (_, module) = module_names(true);
    let built =
        || Some(built_in(&fishweir_sources::checkout()?, module)).filter(|path| path.is_file());
    module_of(&beside(module).or_else(built)?).ok()
}

/// Package and file of the page's module.
const fn module_names(score_only: bool) -> (&'static str, &'static str) {
    match score_only {
        true => ("fishweir-scorer", "fishweir_scorer.wasm"),
        false => ("fishweir-cli", "fishweir.wasm"),
    }
}

/// A module that came with this program.
fn beside(module: &str) -> Option<PathBuf> {
    let path = env::current_exe().ok()?.with_file_name(module);
    path.is_file().then_some(path)
}

/// A module where a checkout builds it.
fn built_in(root: &Path, module: &str) -> PathBuf {
    root.join("target").join(TARGET).join("web").join(module)
}

/// Reads a module of WebAssembly.
fn module_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = files::read(path)?;
    if !bytes.starts_with(b"\0asm") {
        let file = path.display();
        let what = format!("{file}: this is not WebAssembly; name a module built for {TARGET}");
        return Err(Failure::input(Topic::NoProgram, what));
    }
    Ok(bytes)
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

/// The page's module, beside this program or built; its path.
fn build(score_only: bool) -> Result<PathBuf, Failure> {
    let refused = |what: String| Failure::input(Topic::BuildFailed, what);
    let (package, module) = module_names(score_only);
    if let Some(path) = beside(module) {
        return Ok(path);
    }
    let Some(root) = fishweir_sources::checkout() else {
        return Err(refused(format!(
            "{module} is not beside this program, and its checkout is not there any more; give --program"
        )));
    };
    let built = built_in(&root, module);
    if !built.is_file() {
        note(Topic::Building, "building the program for the page: some minutes, once");
    }
    // The cargo that runs this program, if one does: it knows its own toolchain.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&root).args(["build", "--locked", "--quiet", "--profile", "web"]);
    command
        .args(["--package", package, "--target", TARGET])
        .env("CARGO_TARGET_DIR", root.join("target"));
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
    match built.is_file() {
        true => Ok(built),
        false => {
            Err(refused(format!("{}: it was not built there; name --program", built.display())))
        }
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
