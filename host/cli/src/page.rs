//! `fishweir page`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    /// Files that the page opens with
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
    let mut given = Vec::new();
    for path in &arguments.data {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        given.push((name, files::read(path)?));
    }
    let built = match &arguments.program {
        Some(path) => path.clone(),
        None => build()?,
    };
    let program = files::read(&built)?;
    if !program.starts_with(b"\0asm") {
        let what = format!(
            "{}: this is no WebAssembly; name a program built for {TARGET}",
            built.display()
        );
        return Err(Failure::input(Topic::NotAModel, what));
    }
    let page = Page { program: &program, files: &given }.to_html()?;
    output::write(&arguments.output, page.as_bytes())?;
    if output::is_standard(&arguments.output) {
        return Ok(());
    }
    let size = grouped(page.len() / 1000);
    output::print(
        format!(
            "{}: {size} kB
",
            arguments.output.display()
        )
        .as_bytes(),
    )
}

/// Builds the program for the page; its path.
fn build() -> Result<PathBuf, Failure> {
    let refused = |what: String| Failure::input(Topic::BuildFailed, what);
    let Some(root) = fishweir_sources::checkout() else {
        return Err(refused("the checkout of this program is gone; name --program".into()));
    };
    let built = root.join("target").join(TARGET).join("web/fishweir.wasm");
    let is_first = !built.is_file();
    if is_first {
        note(Topic::Building, "building the program for the page: some minutes, once");
    }
    let mut command = Command::new("cargo");
    command.current_dir(&root).args([
        "build",
        "--locked",
        "--quiet",
        "--profile",
        "web",
        "--package",
        "fishweir-cli",
    ]);
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
