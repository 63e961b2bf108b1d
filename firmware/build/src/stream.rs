//! Parts of a module that are common to all models: contract, windows and stream.

use fishweir_core::contract::Contract;

/// Way in which a module creates the states of its stream.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// State in a constant.
    Constant,
    /// State at run time, by the model.
    ByModel,
    /// No state: the model's readings are no decisions between classes with probabilities.
    None,
}

/// The contract, as a constant.
pub(crate) fn contract(contract: &Contract<'_>) -> String {
    format!(
        "
/// Contract of the model's training data.
pub const CONTRACT: fishweir_core::contract::Contract<'static> = {};
",
        contract.rust()
    )
}

/// Returns the types that follow from a contract, and the stream of `model`, an expression of a reference to it.
pub(crate) fn windows(model: &str, start: Start) -> String {
    let (keyword, body) = match start {
        Start::Constant => {
            ("const fn", format!("Stream::from_parts({model}, &CONTRACT, &CLASSES, calibration())"))
        }
        Start::ByModel => (
            "fn",
            format!(
                "match Stream::new({model}, &CONTRACT, &CLASSES, calibration()) {{\n        \
                 Ok(stream) => stream,\n        \
                 Err(_) => unreachable!(\"the build has checked the contract\"),\n    }}"
            ),
        ),
        Start::None => return format!("{WINDOWS}{NO_PREDICTION}"),
    };
    format!(
        "{WINDOWS}
/// A stream of the model: samples in, named decisions out.
pub type Stream = fishweir_core::classify::DecisionStream<'static, Model, WINDOW_STATES>;

/// Returns a stream before its first sample.
pub {keyword} stream() -> Stream {{
    {body}
}}

/// The decision of a state with its probability; `None` of a model without calibration.
pub fn prediction(
    model: &Model,
    state: &<Model as fishweir_core::filter::Streaming>::State,
) -> Option<fishweir_core::classify::Prediction<<Model as fishweir_core::classify::Classifier>::Real>> {{
    let calibration = calibration()?;
    Some(fishweir_core::classify::AdditiveClassifier::predict(model, state, &calibration))
}}
"
    )
}

const NO_PREDICTION: &str = "
/// Nothing: the model's answers have no probabilities.
pub fn prediction<S>(_: &Model, _: &S) -> Option<fishweir_core::classify::Prediction> {
    None
}
";

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

/// Channel places of a model over reals or symbols.
pub(crate) const NO_PLACES: &str = "
/// Power of two that a sample is multiplied by, per channel; only in fixed point.
pub static CHANNEL_PLACES: [i16; 0] = [];
";

/// Items of a model that classes can be taught to: how many numbers of evidence it has, and the expression of its basis.
pub(crate) fn teaching(numbers: &str, basis: &str) -> String {
    format!(
        "
/// Numbers of evidence that classes can be taught by; 0 for a model that cannot be taught.
pub const TEACHING_NUMBERS: usize = {numbers};

/// The basis that classes can be taught by; empty for a model that cannot be taught.
pub fn teaching() -> &'static [u8] {{
    {basis}
}}
"
    )
}

/// Items of a model that cannot be taught.
pub(crate) fn no_teaching() -> String {
    teaching("0", "&[]")
}

/// Facts that no type states: the number of symbols, and whether the model is a kernel machine.
pub(crate) fn known(symbols: &str, alphabet: bool, machine: bool) -> String {
    let alphabet = if alphabet { "Some(&ALPHABET)" } else { "None" };
    format!(
        "
/// Symbols of the alphabet; 0 over channels.
pub fn symbols() -> usize {{
    {symbols}
}}

/// Letters or words of the symbols; `None` where they are unknown, and over channels.
pub fn alphabet() -> Option<&'static fishweir_core::emission::Alphabet<'static>> {{
    {alphabet}
}}

/// `true` if the model is a kernel machine.
pub const MACHINE: bool = {machine};
"
    )
}
