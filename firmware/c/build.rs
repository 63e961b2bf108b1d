//! Writes the model's header, `fishweir_model.h` or of another prefix `PREFIX_model.h`: sizes and names of this model,
//! for the preprocessor. It goes to `OUT_DIR`, as `model.h`, and beside the library's header into the folder that
//! `FISHWEIR_INCLUDE` names.

use std::path::{Path, PathBuf};
use std::{env, fs};

use fishweir_core::contract::{ChannelRange, Contract, Partial};
use fishweir_core::number::NumberFormat;
use fishweir_core::wire::SampleKind;
use fishweir_device::classifier::WireSample;
use fishweir_model::{CHANNEL_PLACES, CHANNELS, CLASSES, CONTRACT, MACHINE, Model, WINDOW_STATES};

#[path = "src/shape.rs"]
mod shape;

use shape::{Sizes, Started, WORDS};

/// A folder for the two headers.
const INCLUDE: &str = "FISHWEIR_INCLUDE";
/// Prefix of the library's names, in place of [`USUAL`].
const PREFIX: &str = "FISHWEIR_PREFIX";
const USUAL: &str = "fishweir";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/shape.rs");
    println!("cargo::rerun-if-env-changed={INCLUDE}");
    println!("cargo::rerun-if-env-changed={PREFIX}");
    let folder = |variable| env::var_os(variable).map(PathBuf::from);
    let root = folder("CARGO_MANIFEST_DIR").unwrap_or_default();
    let out = folder("OUT_DIR").unwrap_or_default();
    let written = prefix().and_then(|prefix| {
        println!("cargo::rustc-env={PREFIX}={prefix}");
        let header = model_header(&prefix)?;
        write(&out.join("model.h"), &header)?;
        write(&out.join("words.rs"), &format!("{WORDS}"))?;
        folder(INCLUDE).map_or(Ok(()), |include| hand_out(&root, &include, &prefix, header))
    });
    if let Err(problem) = written {
        println!("cargo::error={problem}");
    }
}

/// Returns the prefix of names: part of an identifier of C.
fn prefix() -> Result<String, String> {
    let prefix = env::var(PREFIX).unwrap_or_else(|_| USUAL.to_owned());
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match prefix.starts_with(|first: char| first.is_ascii_lowercase()) && prefix.bytes().all(fits) {
        true => Ok(prefix),
        false => {
            Err(format!("{PREFIX} is `{prefix}`: a small letter, then small letters, digits, _"))
        }
    }
}

/// Puts both headers where the caller wants them, in names that begin with `prefix`.
fn hand_out(root: &Path, include: &Path, prefix: &str, of_model: String) -> Result<(), String> {
    if !include.is_absolute() {
        return Err(format!("{INCLUDE} is {}: name the folder absolutely", include.display()));
    }
    fs::create_dir_all(include).map_err(|error| format!("{}: {error}", include.display()))?;
    let source = root.join("include/fishweir.h");
    println!("cargo::rerun-if-changed={}", source.display());
    let header =
        fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    let header = header
        .replace("fishweir_", &format!("{prefix}_"))
        .replace("FISHWEIR_", &format!("{}_", prefix.to_ascii_uppercase()));
    for (ending, text) in [(".h", header), ("_model.h", of_model)] {
        let path = include.join(format!("{prefix}{ending}"));
        write(&path, &text)?;
        // Written again when somebody deletes it.
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

fn model_header(prefix: &str) -> Result<String, String> {
    type Observation = <Model as fishweir_core::filter::Streaming>::Observation;
    let macros = prefix.to_ascii_uppercase();
    let model = fishweir_model::load().map_err(|error| error.to_string())?;
    let (kind, other, what, size) = match Observation::KIND {
        SampleKind::Symbol => {
            ("SYMBOLS", "CHANNELS", "symbols of the alphabet", fishweir_model::symbols())
        }
        _ => ("CHANNELS", "SYMBOLS", "channels of a sample", Observation::LENGTH),
    };
    let names =
        |names: &[&str]| names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    // An initialiser of nothing would be none.
    let channels = match CHANNELS.as_slice() {
        [] => String::new(),
        channels => format!(
            "/* Names of the channels, by index. */\n#define {macros}_CHANNEL_NAMES {{{}}}\n",
            names(channels)
        ),
    };
    let classes = match CLASSES.as_slice() {
        [] => String::new(),
        classes => format!(
            "/* Names of the classes, by index: static const char *const names[] = {macros}_CLASS_NAMES; */\n\
             #define {macros}_CLASS_NAMES {{{}}}\n",
            names(classes)
        ),
    };
    // Of fixed point, which takes integers.
    let places = match CHANNEL_PLACES.as_slice() {
        [] => String::new(),
        places => format!(
            "/* By channel: a sample is round(x * 2^place), an integer of 16 bits. */\n\
             #define {macros}_CHANNEL_PLACES {{{}}}\n",
            places.iter().map(i16::to_string).collect::<Vec<_>>().join(", ")
        ),
    };
    let Contract { windows, period, channels: ranges, .. } = CONTRACT;
    let ranges: Vec<ChannelRange<'_>> = ranges.iter().collect();
    let range_of =
        |of: fn(&ChannelRange<'_>) -> String| ranges.iter().map(of).collect::<Vec<_>>().join(", ");
    let ranges = match ranges.as_slice() {
        [] => String::new(),
        _ => format!(
            "/* By channel: its unit (\"\" where it is unknown), and its mean and standard deviation in training. */\n\
             #define {macros}_CHANNEL_UNITS {{{}}}\n\
             #define {macros}_CHANNEL_CENTRES {{{}}}\n\
             #define {macros}_CHANNEL_SPREADS {{{}}}\n",
            range_of(|range| literal(range.unit)),
            range_of(|range| float(range.centre)),
            range_of(|range| float(range.spread)),
        ),
    };
    Ok(format!(
        "\
/* Sizes and names of one model, written with the library that holds it. */
#ifndef {macros}_MODEL_H
#define {macros}_MODEL_H

/* Number of {what}; the other is 0. */
#define {macros}_{kind} {size}
#define {macros}_{other} 0
/* Of a classifier: log-likelihoods of a stream, one a model of the bank, or decision values of a kernel machine; else 0. */
#define {macros}_MODELS {models}
/* Of a change detector: the fit, and the drift along each direction; else 0. */
#define {macros}_STATISTICS {statistics}
/* Of a spotter: room for the events of one call; else 0. */
#define {macros}_EVENTS {events}
/* 1 if it is a kernel machine, and if it is in fixed point. */
#define {macros}_KERNEL_MACHINE {machine}
#define {macros}_FIXED_POINT {fixed}
/* Classes; none of a change detector. */
#define {macros}_CLASSES {count}
{classes}{channels}{places}{ranges}/* Samples in a window, after which a decision is due, and samples from the beginning of one window to that of the
 * next. 0: the model has no windows, and decides on the stream so far. */
#define {macros}_WINDOW_LENGTH {length}
#define {macros}_WINDOW_HOP {hop}
/* The most missing samples in a row that a window bears; 0 without windows. */
#define {macros}_LONGEST_GAP {longest_gap}
/* 1 if {prefix}_decide_so_far() decides on a window that is partly filled. */
#define {macros}_PARTIAL_WINDOWS {partial}
/* Windows that are open at a time, a state for each in a {prefix}_stream; 1 without windows. */
#define {macros}_WINDOW_STATES {WINDOW_STATES}
/* Nanoseconds from one sample to the next, and the relative error that the model bears; 0: unknown. */
#define {macros}_PERIOD_NS {period_ns}ULL
#define {macros}_PERIOD_TOLERANCE {tolerance}
/* Bytes of the model, in flash. */
#define {macros}_MODEL_SIZE {model_size}
/* Bytes of a {prefix}_stream, its alignment, and its words of eight bytes. */
#define {macros}_STATE_SIZE {state_size}
#define {macros}_STATE_ALIGN {state_align}
#define {macros}_STATE_WORDS {WORDS}

#endif
",
        models = <Model as Sizes<_>>::MODELS.unwrap_or(0),
        statistics = <Model as Sizes<_>>::STATISTICS.unwrap_or(0),
        events = <Model as Sizes<_>>::EVENTS.unwrap_or(0),
        machine = u8::from(MACHINE),
        fixed = u8::from(<Model as Sizes<_>>::FORMAT != NumberFormat::F32),
        count = CLASSES.len(),
        length = windows.map_or(0, |windows| windows.length),
        hop = windows.map_or(0, |windows| windows.hop),
        longest_gap = windows.map_or(0, |windows| windows.longest_gap),
        partial = u8::from(windows.is_none_or(|windows| windows.partial != Partial::Never)),
        period_ns = period.map_or(0, |period| period.nanoseconds),
        tolerance = float(period.map_or(0.0, |period| period.tolerance)),
        model_size = model.bytes(),
        state_size = 8 * WORDS,
        state_align = align_of::<u64>().max(align_of::<Started>()),
    ))
}

/// A literal of C that reads back to the same bits.
fn float(value: f32) -> String {
    format!("{value:?}f")
}

/// A string literal of C, in UTF-8: all but plain letters as the octal digits of their bytes, a
/// question mark too, for two of them may begin a trigraph.
fn literal(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b' '..=b'~' if !b"\"\\?".contains(&byte) => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", name.bytes().map(byte).collect::<String>())
}

/// Writes a file, unless it has the same content: files that include it need not be compiled again then.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let part = path.with_extension("part");
    fs::write(&part, text)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}
