//! Writes `fishweir_model.h`: sizes and names of this model, for the preprocessor. It goes to `OUT_DIR`,
//! and beside `fishweir.h` into the folder that `FISHWEIR_INCLUDE` names.

use std::path::{Path, PathBuf};
use std::{env, fs};

use fishweir_core::artefact::{Family, StoredClassifier};
use fishweir_model::{CHANNELS, CLASSES, Model};

#[path = "src/shape.rs"]
mod shape;

use shape::{Started, WORDS};

/// A folder for the two headers.
const INCLUDE: &str = "FISHWEIR_INCLUDE";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/shape.rs");
    println!("cargo::rerun-if-env-changed={INCLUDE}");
    let folder = |variable| env::var_os(variable).map(PathBuf::from);
    let root = folder("CARGO_MANIFEST_DIR").unwrap_or_default();
    let out = folder("OUT_DIR").unwrap_or_default();
    let written = write(&out.join("fishweir_model.h"), &model_header())
        .and_then(|()| write(&out.join("words.rs"), &format!("{WORDS}")))
        .and_then(|()| folder(INCLUDE).map_or(Ok(()), |include| hand_out(&root, &include)));
    if let Err(problem) = written {
        println!("cargo::error={problem}");
    }
}

/// Puts both headers where the caller wants them.
fn hand_out(root: &Path, include: &Path) -> Result<(), String> {
    if !include.is_absolute() {
        return Err(format!("{INCLUDE} is {}: name the folder absolutely", include.display()));
    }
    fs::create_dir_all(include).map_err(|error| format!("{}: {error}", include.display()))?;
    let source = root.join("include/fishweir.h");
    println!("cargo::rerun-if-changed={}", source.display());
    let header =
        fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    for (name, text) in [("fishweir.h", header), ("fishweir_model.h", model_header())] {
        let path = include.join(name);
        write(&path, &text)?;
        // Written again when somebody deletes it.
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

fn model_header() -> String {
    let shape = Model::SHAPE;
    let (kind, other, what) = match shape.family {
        Family::Categorical => ("SYMBOLS", "CHANNELS", "symbols of the alphabet"),
        _ => ("CHANNELS", "SYMBOLS", "channels of a sample"),
    };
    let classes = if shape.outputs == 1 { 2 } else { shape.outputs };
    let names =
        |names: &[&str]| names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let channels = match CHANNELS.as_slice() {
        [] => String::new(),
        channels => format!(
            "/* Names of the channels, by index. */\n#define FISHWEIR_CHANNEL_NAMES {{{}}}\n",
            names(channels)
        ),
    };
    format!(
        "\
/* Sizes and names of one model, written with the library that holds it. */
#ifndef FISHWEIR_MODEL_H
#define FISHWEIR_MODEL_H

/* Number of {what}; the other is 0. */
#define FISHWEIR_{kind} {size}
#define FISHWEIR_{other} 0
/* Hidden states of each model. */
#define FISHWEIR_STATES {states}
/* Models in the bank: log-likelihoods of a stream. */
#define FISHWEIR_MODELS {models}
/* Classes decided between. */
#define FISHWEIR_CLASSES {classes}
/* Names of the classes, by index: static const char *const names[] = FISHWEIR_CLASS_NAMES; */
#define FISHWEIR_CLASS_NAMES {{{class_names}}}
{channels}/* Bytes of the model, in flash. */
#define FISHWEIR_MODEL_SIZE {model_size}
/* Bytes of a fishweir_stream, its alignment, and its words of eight bytes. */
#define FISHWEIR_STATE_SIZE {state_size}
#define FISHWEIR_STATE_ALIGN {state_align}
#define FISHWEIR_STATE_WORDS {WORDS}

#endif
",
        size = shape.size / (1 + u16::from(shape.lags)),
        class_names = names(&CLASSES),
        states = shape.states,
        models = shape.models,
        model_size = size_of::<Model>(),
        state_size = 8 * WORDS,
        state_align = align_of::<u64>().max(align_of::<Started>()),
    )
}

/// A string literal of C, in UTF-8: whatever is no plain letter as the octal digits of its bytes, a
/// question mark too, for two of them may begin a trigraph.
fn literal(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b' '..=b'~' if !b"\"\\?".contains(&byte) => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", name.bytes().map(byte).collect::<String>())
}

/// Leaves a file alone that says the same already: what includes it need not be compiled again.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let part = path.with_extension("part");
    fs::write(&part, text)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}
