//! Brings the model into the build.

use std::path::{Path, PathBuf};
use std::{env, fs};

use fishweir_core::artefact::{Family, Header, Shape, Topology};
use fishweir_core::contract::Contract;
use fishweir_core::emission::Alphabet;

/// A Rust source that defines `MODEL` and its type `Model`, as `fishweir export` writes it.
const SOURCE: &str = "FISHWEIR_MODEL";
/// A binary artefact.
const ARTEFACT: &str = "FISHWEIR_ARTEFACT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let firmware = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(problem) = bring_model(&firmware, &out) {
        println!("cargo::error={problem}");
    }
}

/// Writes `model.rs`: the type `Model`, its contract, `load`, `loaded` and `windows`.
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
    write(&out.join("model.rs"), (model + WINDOWS).as_bytes())
}

/// What follows from a contract.
const WINDOWS: &str = "
/// States that the windows of its contract take.
pub const WINDOW_STATES: usize = CONTRACT.states();

/// The model on the windows of its contract.
pub type ModelWindows =
    fishweir_core::classify::WindowClassifier<'static, &'static Model, WINDOW_STATES>;

/// The model on the windows of its contract, from where it lies in flash.
pub const fn windows(model: &'static Model) -> ModelWindows {
    ModelWindows::from_parts(model, &CONTRACT)
}

// What `from_parts` takes for granted.
const _: () = assert!(match CONTRACT.windows {
    Some(windows) => windows.check().is_ok(),
    None => true,
});
";

/// The contract of a model, as a constant.
fn contract(contract: &Contract<'_>) -> String {
    format!(
        "
/// What the model was trained on.
pub const CONTRACT: fishweir_core::contract::Contract<'static> = {};
",
        contract.rust()
    )
}

/// Whether a feature is on.
fn on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}

/// The model of a build that names none, of the kind that the application takes.
fn default_model() -> &'static str {
    if on("detect-change") {
        "models/detector.rs"
    } else if on("events") {
        "models/events.rs"
    } else if on("spot-events") {
        "models/spotter.rs"
    } else if on("watch-sensor") {
        "models/motion.rs"
    } else {
        "models/default.rs"
    }
}

fn exported(source: &Path, what: &str) -> Result<String, String> {
    let text = String::from_utf8(read(source, what)?)
        .map_err(|_| format!("{what}: {} is not UTF-8 text", source.display()))?;
    let symbols = match text.contains("pub static ALPHABET") {
        true => "ALPHABET.symbols().chars().count()",
        false => "0",
    };
    let known = known(symbols, text.contains("pub type Model = KernelMachine<"));
    let without = match text.contains("pub const CONTRACT") {
        true => String::new(),
        false => {
            // Detectors and spotters decide on no windows.
            let others = ["ChangeDetector<", "Spotter<", "FactorClassifier<"];
            if !others.iter().any(|other| text.contains(other)) {
                println!(
                    "cargo::warning={what}: {} does not say which windows its model was trained on, and an image \
                     decides on a stream that never ends: export it again",
                    source.display()
                );
            }
            contract(&Contract::NONE)
        }
    };
    let places = match text.contains("pub static CHANNEL_PLACES") {
        true => "",
        false => NO_PLACES,
    };
    Ok(text
        + &known
        + &without
        + places
        + "
/// The model, where it lies in flash. A source's model was checked when it was exported.
///
/// # Errors
/// None.
pub fn load() -> Result<&'static Model, fishweir_core::artefact::ArtefactError> {
    Ok(&MODEL)
}

/// The model, where it lies: for those who have called [`load`] before.
pub fn loaded() -> Option<&'static Model> {
    Some(&MODEL)
}
")
}

/// Of a model that takes reals, or symbols.
const NO_PLACES: &str = "
/// By channel, the power of two that a sample is multiplied by; only of fixed point.
pub static CHANNEL_PLACES: [i16; 0] = [];
";

/// What no type tells: how many symbols there are, and whether it is a kernel machine.
fn known(symbols: &str, machine: bool) -> String {
    format!(
        "
/// Symbols of the alphabet; 0 over channels.
pub fn symbols() -> usize {{
    {symbols}
}}

/// Whether the model is a kernel machine.
pub const MACHINE: bool = {machine};
"
    )
}

fn in_place(artefact: &Path, out: &Path) -> Result<String, String> {
    let refused =
        |why: &dyn std::fmt::Display| format!("{ARTEFACT}: {}: {why}", artefact.display());
    let bytes = read(artefact, ARTEFACT)?;
    let header = Header::parse(&bytes).map_err(|error| refused(&error))?;
    let model = type_of(header.shape()).map_err(|why| refused(&why))?;
    let found = header.contract(&bytes).map_err(|error| refused(&error))?;
    if found.is_none() {
        println!(
            "cargo::warning={ARTEFACT}: {} does not say which windows its model was trained on, and an image decides on \
             a stream that never ends: export it again",
            artefact.display()
        );
    }
    let contract = contract(&found.unwrap_or(Contract::NONE));
    let labels = header.labels(&bytes).map_err(|error| refused(&error))?;
    let mut labels: Vec<&str> = labels.collect();
    let behind = !header.shape().front.is_none();
    let front = match labels.pop_if(|_| behind) {
        Some(line) => {
            let channels = labels.len().saturating_sub(header.shape().classes());
            front_of(line, channels).ok_or_else(|| refused(&"its front end's line is none"))?
        }
        None => String::from("()"),
    };
    let mut types = String::new();
    if behind || header.shape().lags > 0 {
        types += &format!("/// What samples go through first.\ntype Front = {front};\n\n");
    }
    let mut model = model;
    if header.shape().lags > 0 {
        types += &longest_lag(&model, header.shape().lags);
        model = behind_lags(header.shape());
    }
    if header.shape().codebooks > 0 {
        model = beside_codebooks(&model, header.shape());
    }
    if behind {
        model = format!("fishweir_core::front::Preprocessed<Front, {model}>");
    }
    let labels = labels_of(header.shape(), &labels);
    let symbols = if over_symbols(header.shape()) { header.shape().size } else { 0 };
    let known = known(&symbols.to_string(), false);
    write(&out.join("model.fishweir"), &bytes)?;
    Ok(format!(
        "\
/// The classifier's type, from the artefact's header.
pub type Model = {model};

{types}{labels}{known}{contract}{NO_PLACES}
static ARTEFACT: &[u8] =
    fishweir_core::include_artefact!(concat!(env!(\"OUT_DIR\"), \"/model.fishweir\"));

/// The model, read in place and checked: one pass over the artefact.
///
/// # Errors
/// What is wrong with the artefact.
pub fn load() -> Result<&'static Model, fishweir_core::artefact::ArtefactError> {{
    // What the compiler has seen in the file says nothing about what the flash holds: without this it
    // decides checks beforehand.
    fishweir_core::artefact::read(core::hint::black_box(ARTEFACT))
}}

/// The model, where it lies and unchecked: for those who have called [`load`] before.
pub fn loaded() -> Option<&'static Model> {{
    let payload = ARTEFACT.get(fishweir_core::artefact::HEADER_LENGTH..)?;
    zerocopy::FromBytes::ref_from_bytes(payload.get(..size_of::<Model>())?).ok()
}}
"
    ))
}

/// The statics that an exported source has beside the model: the names of the classes, those of the
/// channels, which are the lines after, and over symbols their letters, which are the line after.
fn labels_of(shape: Shape, lines: &[&str]) -> String {
    let (classes, observed) = lines.split_at_checked(shape.classes()).unwrap_or((lines, &[]));
    let channels = if over_symbols(shape) { &[] } else { observed };
    let mut text = format!(
        "/// The names of the classes, by index.\npub static CLASSES: [&str; {}] = {classes:?};\n\
         /// The names of the channels, by index.\npub static CHANNELS: [&str; {}] = {channels:?};\n",
        classes.len(),
        channels.len()
    );
    if let (true, [symbols]) = (over_symbols(shape), observed) {
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

/// Whether samples are symbols; those that a front end makes of channels are none.
fn over_symbols(shape: Shape) -> bool {
    shape.family == Family::Categorical && shape.front.is_none()
}

/// The type of a front end over so many channels, from the line with its settings. Whether it is that of the artefact,
/// the header's number says when it is read.
fn front_of(line: &str, mut channels: usize) -> Option<String> {
    let mut front = None;
    for stage in line.split(',') {
        let (name, settings) = stage.split_once('=')?;
        let numbers: Vec<usize> =
            settings.split(['/', '@']).map_while(|number| number.parse().ok()).collect();
        let (stage, left) = match (name, numbers.as_slice()) {
            ("decimate", _) => (format!("Decimate<{channels}>"), channels),
            ("magnitude", _) => {
                let left = (1 + channels).checked_sub(settings.split('+').count())?;
                (format!("Magnitude<{channels}, {left}>"), left)
            }
            ("slopes", &[samples]) => {
                let (left, before) = (channels.checked_mul(2)?, samples.checked_sub(1)?);
                (format!("Slopes<{channels}, {left}, {before}>"), left)
            }
            ("bands", &[window, _, bands, ..]) => {
                (format!("Cepstra<{window}, {}, {bands}, 0, {bands}>", window / 2), bands)
            }
            ("cepstra", &[window, _, bands, left, ..]) => {
                (format!("Cepstra<{window}, {}, {bands}, {left}, {left}>", window / 2), left)
            }
            ("symbols", &[words]) => (format!("VectorQuantiser<{channels}, {words}>"), words),
            _ => return None,
        };
        let stage = format!("fishweir_core::front::{stage}");
        front = Some(match front {
            Some(before) => format!("fishweir_core::front::Pipe<{before}, {stage}>"),
            None => stage,
        });
        channels = left;
    }
    front
}

fn type_of(shape: Shape) -> Result<String, &'static str> {
    let Shape { real_bytes, family, topology, states, size, models, outputs, directions, .. } =
        shape;
    let lags = shape.lags;
    if real_bytes != 4 {
        return Err("holds 8-byte reals, devices take f32: export it as f32");
    }
    let weight = match directions {
        0 => String::from("f32"),
        _ => format!("fishweir_core::number::Dual<f32, {directions}>"),
    };
    let channels = channels(shape);
    let sizes = match topology {
        Topology::PER_LAG => (2 * channels).to_string(),
        _ if family.regresses() => format!("{size}, {channels}, {lags}"),
        _ => size.to_string(),
    };
    let emission = format!("fishweir_core::emission::{}<{sizes}, {weight}>", family.name());
    let model = match topology {
        Topology::CHAIN => format!("fishweir_core::hmm::Hmm<{emission}, {states}>"),
        Topology::PER_LAG => format!(
            "fishweir_core::classify::ChannelSubset<fishweir_core::hmm::Hmm<{emission}, {states}>, {size}, {}>",
            2 * channels
        ),
        Topology::STEPS => format!(
            "fishweir_core::context::ContextModel<fishweir_core::context::Steps, {emission}, {states}>"
        ),
        Topology::PROFILE => {
            format!("fishweir_core::profile_hmm::ProfileHmm<{weight}, {states}, {size}>")
        }
        _ => return Err("holds a kind of model that this firmware does not know"),
    };
    Ok(format!("fishweir_core::classify::StreamClassifier<{model}, {models}, {outputs}>"))
}

/// The type of a classifier that sees rows, and its longest lag, which is the last word of those behind it.
fn longest_lag(rows: &str, lags: u8) -> String {
    let last = 4 * (u32::from(lags) - 1);
    format!(
        "\
/// What sees rows.
type Rows = {rows};

/// The longest lag.
const LONGEST: usize = {{
    let bytes = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/model.fishweir\"));
    let before = size_of::<Front>().next_multiple_of(align_of::<Rows>());
    let at = fishweir_core::artefact::HEADER_LENGTH + before + size_of::<Rows>() + {last};
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}};

"
    )
}

/// The type of a classifier that has the past, or differences from it, beside a sample.
fn behind_lags(shape: Shape) -> String {
    let Shape { size, lags, .. } = shape;
    let (channels, past) = (channels(shape), shape.family.regresses());
    format!("fishweir_core::lagged::LagFeatures<Rows, {channels}, {size}, {lags}, LONGEST, {past}>")
}

/// The type of a classifier that has codebooks beside it.
fn beside_codebooks(model: &str, shape: Shape) -> String {
    let Shape { codebooks, outputs, levels, .. } = shape;
    let depth = fishweir_core::classify::TAPS * usize::from(shape.dilation);
    let channels = channels(shape);
    format!(
        "fishweir_core::classify::WithCodebooks<{model}, f32, {channels}, {codebooks}, {depth}, {outputs}, {levels}>"
    )
}

/// The sensor's own, of what is over channels.
fn channels(shape: Shape) -> u16 {
    shape.size / (1 + u16::from(shape.lags))
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read(path).map_err(|error| format!("{what}: {}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
