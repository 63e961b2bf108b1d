//! An exported Rust source.

use std::path::Path;

use fishweir_core::contract::Contract;

use crate::stream::{NO_PLACES, Start, contract, known, no_teaching, teaching, windows};
use crate::{Problem, warn_of_no_contract};

/// Types that decide on no windows.
const WITHOUT_WINDOWS: [&str; 4] =
    ["ChangeDetector<", "Spotter<", "FactorClassifier<", "Discrepancy<"];

/// Returns whether the bytes are a source with a model in it.
pub(crate) fn is_source(bytes: &[u8]) -> bool {
    str::from_utf8(bytes)
        .is_ok_and(|text| text.contains("pub static MODEL: ") && text.contains("pub type Model ="))
}

pub(crate) fn items(path: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
    let remedy = "write it again by `fishweir export`";
    let text =
        String::from_utf8(bytes).map_err(|_| Problem::new(path, "is not UTF-8 text", remedy))?;
    if !is_source(text.as_bytes()) {
        return Err(Problem::new(path, "has no `Model` and no `MODEL`", remedy));
    }
    let alphabet = text.contains("pub static ALPHABET");
    let symbols = if alphabet { "ALPHABET.size()" } else { "0" };
    // What kind of model it is, its types say: names of classes may be anything.
    let types: String =
        text.split("\npub type ").skip(1).filter_map(|rest| rest.split(';').next()).collect();
    let machine = types.contains("Model = KernelMachine<");
    let other = WITHOUT_WINDOWS.iter().any(|other| types.contains(other));
    let without = match text.contains("pub const CONTRACT") {
        true => String::new(),
        false => {
            if !other {
                warn_of_no_contract(path);
            }
            contract(&Contract::NONE)
        }
    };
    let places = if text.contains("pub static CHANNEL_PLACES") { "" } else { NO_PLACES };
    let calibration = match text.contains("pub static CALIBRATION") {
        true => "Some(CALIBRATION)",
        false => "None",
    };
    // States of these begin as their model says; those of a detector are no classifier's.
    let by_model = ["ContextModel<", "MarkovString<", "ProfileHmm<", "Dynamics<"];
    let start = match types.contains("StreamClassifier<") && !machine && !other {
        true if by_model.iter().any(|model| types.contains(model)) => Start::ByModel,
        true => Start::Constant,
        false => Start::None,
    };
    let calibration = match start {
        Start::None => String::new(),
        _ => format!(
            "
/// Calibration of decisions; `None` for a model without one.
pub const fn calibration() -> Option<fishweir_core::classify::Calibration<'static, <Model as fishweir_core::classify::Classifier>::Real>> {{
    {calibration}
}}
"
        ),
    };
    let known = known(symbols, alphabet, machine);
    let teaching = match text.contains("pub static TEACHING") {
        true => teaching(
            "fishweir_core::classify::teach::TeachingBasis::numbers_of(&TEACHING)",
            "&TEACHING",
        ),
        false => no_teaching(),
    };
    Ok(text
        + &known
        + &without
        + places
        + &teaching
        + &calibration
        + &windows("&MODEL", start)
        + "
/// The model, where it lies in flash. A source's model was checked when it was exported.
///
/// # Errors
/// None.
pub fn load() -> Result<&'static Model, fishweir_core::artefact::ArtefactError> {
    Ok(&MODEL)
}

/// The model, where it lies: for those who have called [`load`] before.
pub const fn loaded() -> Option<&'static Model> {
    Some(&MODEL)
}
")
}
