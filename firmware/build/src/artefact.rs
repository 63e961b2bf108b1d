//! An artefact: its type from its header, its bytes in a `static`.

use std::path::Path;

use fishweir_core::artefact::{HEADER_LENGTH, Header, Shape, Topology};
use fishweir_core::classify::teach::TeachingBasis;
use fishweir_core::contract::Contract;
use fishweir_core::emission::{Alphabet, Family};

use crate::stream::{NO_PLACES, Start, contract, known, no_teaching, teaching, windows};
use crate::{Problem, warn_of_no_contract, write};

pub(crate) fn items(path: &Path, bytes: &[u8], out: &Path, name: &str) -> Result<String, Problem> {
    let damaged = |why: &dyn std::fmt::Display| Problem::damaged(path, why);
    let header = Header::parse(bytes).map_err(|error| damaged(&error))?;
    let shape = header.shape();
    let mut model = type_of(shape).map_err(|why| Problem::damaged(path, why))?;
    let found = header.contract(bytes).map_err(|error| damaged(&error))?;
    if found.is_none() {
        warn_of_no_contract(path);
    }
    let contract = contract(&found.unwrap_or(Contract::NONE));
    let labels = header.labels(bytes).map_err(|error| damaged(&error))?;
    let mut labels: Vec<&str> = labels.collect();
    let behind = !shape.front.is_none();
    let front = match labels.pop_if(|_| behind) {
        Some(line) => {
            let channels = labels.len().saturating_sub(shape.classes());
            front_of(line, channels).ok_or_else(|| damaged(&"its front end's line is not valid"))?
        }
        None => String::from("()"),
    };
    let file = format!("/{name}.artefact");
    let mut types = String::new();
    if behind || shape.lags > 0 {
        types += &format!("/// Front end of the samples.\ntype Front = {front};\n\n");
    }
    if shape.lags > 0 {
        types += &longest_lag(&model, shape.lags, &file);
        model = with_lags(shape);
    }
    if shape.codebooks > 0 {
        model = with_codebooks(&model, shape);
    }
    if behind {
        model = format!("fishweir_core::front::Preprocessed<Front, {model}>");
    }
    let labels = labels_of(shape, &labels);
    let symbols = if over_symbols(shape) { shape.size } else { 0 };
    let known = known(&symbols.to_string(), labels.contains("pub static ALPHABET"), false);
    // In whole words, which are aligned.
    let mut words = bytes.to_vec();
    words.resize(bytes.len().next_multiple_of(size_of::<u64>()), 0);
    write(&out.join(file.trim_start_matches('/')), &words)?;
    let payload = header.payload(bytes).map_or(0, <[u8]>::len);
    let start = match shape.topology {
        Topology::CHAIN | Topology::PER_LAG => Start::Constant,
        _ => Start::ByModel,
    };
    let windows = windows("MODEL", start);
    let teaching = teaching_of(bytes, header.teaching_bytes(bytes));
    let front_code = shape.front.code();
    let (length, whole, count) = (bytes.len(), words.len(), words.len() / size_of::<u64>());
    Ok(format!(
        "\
/// The classifier's type, from the artefact's header.
pub type Model = {model};

{types}{labels}{known}{contract}{NO_PLACES}{teaching}
const PAIRS: usize = fishweir_core::artefact::calibration_pairs({payload}, size_of::<Model>(), CLASSES.len());
const REST: usize = {whole} - {HEADER_LENGTH} - size_of::<Model>() - 8 * PAIRS;

/// The artefact in whole words.
static ARTEFACT: [u64; {count}] = fishweir_core::artefact::transmute_bytes!(
    *include_bytes!(concat!(env!(\"OUT_DIR\"), {file:?}))
);

const EMBEDDED: &fishweir_core::artefact::Embedded<Model, PAIRS, REST> =
    fishweir_core::artefact::transmute_words!(&ARTEFACT);

/// The classifier, where it lies in flash.
pub const MODEL: &Model = EMBEDDED.classifier();

// The type says of itself what the header says.
const _: () = assert!(
    <Model as fishweir_core::artefact::StoredClassifier>::SHAPE.front.code() == {front_code},
    \"the front end is not that of the artefact: export it again\"
);

/// Calibration of decisions; `None` for a model without one.
pub const fn calibration() -> Option<fishweir_core::classify::Calibration<'static, f32>> {{
    EMBEDDED.calibration()
}}

/// The model, read in place and checked: one pass over the artefact.
///
/// # Errors
/// What is wrong with the artefact.
pub fn load() -> Result<&'static Model, fishweir_core::artefact::ArtefactError> {{
    let bytes = fishweir_core::artefact::AsBytes::as_bytes(&ARTEFACT);
    // What the compiler has seen in the file says nothing about what the flash holds: without this it
    // decides checks beforehand.
    fishweir_core::artefact::read(core::hint::black_box(bytes.get(..{length}).unwrap_or(&[])))
}}

/// The model, where it lies and unchecked: for those who have called [`load`] before.
pub const fn loaded() -> Option<&'static Model> {{
    Some(MODEL)
}}
{windows}"
    ))
}

/// Where the basis lies that classes can be taught by.
fn teaching_of(bytes: &[u8], basis: Option<&[u8]>) -> String {
    let Some(basis) = basis else { return no_teaching() };
    let from = basis.as_ptr() as usize - bytes.as_ptr() as usize;
    let (to, numbers) = (from + basis.len(), TeachingBasis::numbers_of(basis));
    teaching(
        &numbers.to_string(),
        &format!(
            "fishweir_core::artefact::AsBytes::as_bytes(&ARTEFACT).get({from}..{to}).unwrap_or(&[])"
        ),
    )
}

/// The statics that an exported source has beside the model: the names of the classes, those of the
/// channels, which are the lines after, and over symbols their letters, which are the line after, or their words, a line each.
fn labels_of(shape: Shape, lines: &[&str]) -> String {
    let (classes, observed) = lines.split_at_checked(shape.classes()).unwrap_or((lines, &[]));
    let channels = if over_symbols(shape) { &[] } else { observed };
    let mut text = format!(
        "/// The names of the classes, by index.\npub static CLASSES: [&str; {}] = {classes:?};\n\
         /// The names of the channels, by index.\npub static CHANNELS: [&str; {}] = {channels:?};\n",
        classes.len(),
        channels.len()
    );
    if over_symbols(shape) && !observed.is_empty() {
        let symbols = observed.join("\n");
        let alphabet = Alphabet::of(&symbols);
        text += &format!(
            "/// The letters, or words, of the symbols.\n\
             pub static ALPHABET: fishweir_core::emission::Alphabet<'static> = \
             fishweir_core::emission::Alphabet::new({:?}, {:?}, {});\n",
            alphabet.symbols(),
            alphabet.missing(),
            alphabet.folds_case()
        );
    }
    text
}

/// Returns whether samples are symbols themselves, not channels from which a front end makes symbols.
fn over_symbols(shape: Shape) -> bool {
    shape.family == Family::Categorical && shape.front.is_none()
}

/// Returns the type of a front end over `channels` channels, from the line with its settings.
///
/// The header's number shows, when the artefact is read, whether it is that of the artefact.
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
                (format!("Slopes<{channels}, {before}>"), left)
            }
            ("bands", &[window, _, bands, ..]) => {
                (format!("Cepstra<{}, {bands}, 0>", window / 2), bands)
            }
            ("cepstra", &[window, _, bands, left, ..]) => {
                (format!("Cepstra<{}, {bands}, {left}>", window / 2), left)
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
        _ if family.has_past() => format!("{size}, {channels}, {lags}"),
        _ => size.to_string(),
    };
    let emission = format!("fishweir_core::emission::{}<{sizes}, {weight}>", family.name());
    let emission = match shape.in_part {
        true => format!("fishweir_core::emission::Marginal<{emission}>"),
        false => emission,
    };
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
fn longest_lag(rows: &str, lags: u8, file: &str) -> String {
    let last = 4 * (u32::from(lags) - 1);
    format!(
        "\
/// Recursion over rows.
type Rows = {rows};

/// The longest lag.
const LONGEST: usize = {{
    let bytes = include_bytes!(concat!(env!(\"OUT_DIR\"), {file:?}));
    let before = size_of::<Front>().next_multiple_of(align_of::<Rows>());
    let at = fishweir_core::artefact::HEADER_LENGTH + before + size_of::<Rows>() + {last};
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}};

"
    )
}

/// Returns the type of a classifier whose rows hold the past, or differences from it.
fn with_lags(shape: Shape) -> String {
    let lags = shape.lags;
    let (channels, past) = (channels(shape), shape.family.has_past());
    format!(
        "fishweir_core::lagged::LagFeatures<Rows, fishweir_core::lagged::Lookback<{channels}, LONGEST, {past}>, {lags}>"
    )
}

/// Returns the type of a classifier with codebooks.
fn with_codebooks(model: &str, shape: Shape) -> String {
    let Shape { codebooks, outputs, levels, .. } = shape;
    let depth = fishweir_core::classify::TAPS * usize::from(shape.dilation);
    let channels = channels(shape);
    format!(
        "fishweir_core::classify::WithCodebooks<{model}, fishweir_core::classify::Codebooks<[[f32; {channels}]; {codebooks}], {outputs}, {levels}>, {depth}>"
    )
}

/// Number of the sensor's own channels.
fn channels(shape: Shape) -> u16 {
    shape.size / (1 + u16::from(shape.lags))
}
