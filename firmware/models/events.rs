// A door and a lamp: the classifier of records that is built in when none is named. Small enough to check by
// hand: somebody is there where the door is open, and the more surely where the lamp is bright.

use fishweir_core::network::{FactorClassifier, FactorLayout};

/// The type of [`MODEL`]: two columns, one output.
pub type Model = FactorClassifier<'static, f32, 1>;

/// The names of the columns, by index.
pub static COLUMNS: [&str; 2] = ["door", "lamp"];
/// The names of their states, by column and index.
pub static STATES: [&[&str]; 2] = [&["shut", "open"], &["off", "dim, warm", "bright"]];
/// The names of the classes, by index.
pub static CLASSES: [&str; 2] = ["nobody", "somebody"];

const TERMS: FactorLayout<'static> = match FactorLayout::new(&[2, 3], &[1, 1], &[0, 1]) {
    Ok(terms) => terms,
    Err(_) => panic!("no terms"),
};

/// Classifier of presence. 30 B of flash, 8 B of state.
pub static MODEL: Model = match FactorClassifier::new(TERMS, [&[-1.0, 1.0, -0.5, 0.25, 2.0]], [0.0]) {
    Ok(model) => model,
    Err(_) => panic!("no classifier"),
};
