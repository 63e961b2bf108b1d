//! Brings the model into the build, and tells the linker about the board's memory.

use std::path::{Path, PathBuf};
use std::{env, fs};

use fishweir_core::artefact::{Family, Header, Shape};
use fishweir_core::emission::Alphabet;

/// Boards: the feature, the folder with `memory.x`, the target.
const BOARDS: [Board; 5] = [
    Board::new("microbit", "src/boards/microbit", "thumbv6m-none-eabi"),
    Board::new("lm3s6965evb", "src/boards/lm3s6965evb", "thumbv7m-none-eabi"),
    Board::new("mps2-an386", "src/boards/mps2_an386", "thumbv7em-none-eabihf"),
    Board::new("mps2-an505", "src/boards/mps2_an505", "thumbv8m.main-none-eabihf"),
    Board::new("riscv-virt", "src/boards/riscv_virt", "riscv32imac-unknown-none-elf"),
];

struct Board {
    feature: &'static str,
    folder: &'static str,
    target: &'static str,
}

impl Board {
    const fn new(feature: &'static str, folder: &'static str, target: &'static str) -> Self {
        Self { feature, folder, target }
    }
}

/// A Rust source that defines `MODEL` and its type `Model`, as `fishweir export` writes it.
const SOURCE: &str = "FISHWEIR_MODEL";
/// A binary artefact.
const ARTEFACT: &str = "FISHWEIR_ARTEFACT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let outcome = bring_model(&root, &out).and_then(|()| {
        if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "none") {
            link(&root)?;
        }
        Ok(())
    });
    if let Err(problem) = outcome {
        println!("cargo::error={problem}");
    }
}

/// Whether a feature is on.
fn on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}

/// Hands the memory of the chosen board to the linker.
fn link(root: &Path) -> Result<(), String> {
    let board = board()?;
    let folder = root.join(board.folder);
    println!("cargo::rerun-if-changed={}", folder.join("memory.x").display());
    let search = format!("-L{}", folder.display());
    let mut arguments = vec![search.as_str(), "--nmagic", "-Tlink.x"];
    if on("defmt") {
        arguments.push("-Tdefmt.x");
    }
    if on("measure") {
        // Who calls whom, for the size of the code: in the ELF file only, not in flash.
        arguments.push("--emit-relocs");
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}

/// The one board that is on.
fn board() -> Result<&'static Board, String> {
    let names = || BOARDS.map(|board| board.feature).join(", ");
    let chosen: Vec<&Board> = BOARDS.iter().filter(|board| on(board.feature)).collect();
    let target = env::var("TARGET").unwrap_or_default();
    match chosen[..] {
        [board] if board.target == target => Ok(board),
        [Board { feature, target: its, .. }] => {
            Err(format!("the board {feature} has the target {its}, not {target}: --target {its}"))
        }
        // The linker alone needs a memory: any with room will do.
        [] if !on("image") => Ok(if target.starts_with("riscv") { &BOARDS[4] } else { &BOARDS[2] }),
        [] => Err(format!("an image needs a board: --features with one of {}", names())),
        _ => Err(format!(
            "an image takes one board, not {}: --no-default-features, then --features with one of {}",
            chosen.iter().map(|board| board.feature).collect::<Vec<_>>().join(" and "),
            names()
        )),
    }
}

/// Writes `model.rs`: the type `Model`, and `load`.
fn bring_model(root: &Path, out: &Path) -> Result<(), String> {
    let named = |variable: &str| {
        println!("cargo::rerun-if-env-changed={variable}");
        env::var_os(variable).map(|path| root.join(path))
    };
    let model = match (named(SOURCE), named(ARTEFACT)) {
        (Some(_), Some(_)) => {
            return Err(format!("{SOURCE} and {ARTEFACT} are both set: unset one of them"));
        }
        (None, Some(artefact)) => in_place(&artefact, out)?,
        (Some(source), None) => exported(&source, SOURCE)?,
        (None, None) => exported(&root.join(default_model()), "default model")?,
    };
    write(&out.join("model.rs"), model.as_bytes())
}

/// The model of a build that names none, of the kind that the application takes.
fn default_model() -> &'static str {
    if on("detect-change") {
        "models/detector.rs"
    } else if on("watch-sensor") {
        "models/motion.rs"
    } else {
        "models/default.rs"
    }
}

fn exported(source: &Path, what: &str) -> Result<String, String> {
    let text = String::from_utf8(read(source, what)?)
        .map_err(|_| format!("{what}: {} is not UTF-8 text", source.display()))?;
    Ok(text
        + "
/// The model, where it lies in flash. A source's model was checked when it was exported.
///
/// # Errors
/// None.
pub fn load() -> Result<&'static Model, fishweir_core::artefact::ArtefactError> {
    Ok(&MODEL)
}
")
}

fn in_place(artefact: &Path, out: &Path) -> Result<String, String> {
    let refused =
        |why: &dyn std::fmt::Display| format!("{ARTEFACT}: {}: {why}", artefact.display());
    let bytes = read(artefact, ARTEFACT)?;
    let header = Header::parse(&bytes).map_err(|error| refused(&error))?;
    let model = type_of(header.shape()).map_err(|why| refused(&why))?;
    let labels = header.labels(&bytes).map_err(|error| refused(&error))?;
    let labels = labels_of(header.shape(), &labels.collect::<Vec<_>>());
    write(&out.join("model.fishweir"), &bytes)?;
    Ok(format!(
        "\
/// The classifier's type, from the artefact's header.
pub type Model = {model};

{labels}
/// Reads in place need the alignment of a real.
#[repr(C, align(8))]
struct Aligned<B: ?Sized>(B);

static ARTEFACT: &Aligned<[u8]> =
    &Aligned(*include_bytes!(concat!(env!(\"OUT_DIR\"), \"/model.fishweir\")));

/// The model, read in place and checked: one pass over the artefact.
///
/// # Errors
/// What is wrong with the artefact.
pub fn load() -> Result<&'static Model, fishweir_core::artefact::ArtefactError> {{
    fishweir_core::artefact::read(&ARTEFACT.0)
}}
"
    ))
}

/// The statics that an exported source has beside the model: the names of the classes, and over symbols
/// their letters, which are the line after.
fn labels_of(shape: Shape, lines: &[&str]) -> String {
    let classes = if shape.outputs == 1 { 2 } else { usize::from(shape.outputs) };
    let (classes, observed) = lines.split_at_checked(classes).unwrap_or((lines, &[]));
    let mut text = format!(
        "/// The names of the classes, by index.\npub static CLASSES: [&str; {}] = {classes:?};\n",
        classes.len()
    );
    if let (Family::CATEGORICAL, [symbols]) = (shape.family, observed) {
        let alphabet = Alphabet::of(symbols);
        text += &format!(
            "/// The letters of the symbols.\n\
             pub static ALPHABET: fishweir_core::emission::Alphabet<'static> = \
             fishweir_core::emission::Alphabet::new({:?}, {:?}, {});\n",
            alphabet.symbols(),
            alphabet.missing(),
            alphabet.folds_case()
        );
    }
    text
}

fn type_of(shape: Shape) -> Result<String, &'static str> {
    let Shape { real_bytes, family, states, size, models, outputs, directions } = shape;
    if real_bytes != 4 {
        return Err("holds 8-byte reals, devices take f32: export it as f32");
    }
    let family = match family {
        Family::CATEGORICAL => "Categorical",
        Family::GAUSSIAN => "Gaussian",
        _ => return Err("holds an emission family that this firmware does not know"),
    };
    let weight = match directions {
        0 => String::from("f32"),
        _ => format!("fishweir_core::number::Dual<f32, {directions}>"),
    };
    Ok(format!(
        "fishweir_core::classify::StreamClassifier<\
         fishweir_core::emission::{family}<{size}, {weight}>, {states}, {models}, {outputs}>"
    ))
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read(path).map_err(|error| format!("{what}: {}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
