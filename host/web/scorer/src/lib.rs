//! A deployed model behind plain exports: see the README.

mod scorer;

use std::cell::RefCell;

use scorer::Scorer;

thread_local! {
    static SCORER: RefCell<Scorer> = RefCell::default();
}

/// Does something with the scorer, which each thread has one of.
fn with<R>(act: impl FnOnce(&mut Scorer) -> R) -> R {
    SCORER.with_borrow_mut(act)
}

/// Exports of the module.
#[allow(unsafe_code)]
pub mod exports {
    use super::with;

    /// Empties the input.
    #[unsafe(no_mangle)]
    pub extern "C" fn clear() {
        with(|scorer| scorer.input.clear());
    }

    /// Adds a byte to the input: the lowest eight bits.
    #[unsafe(no_mangle)]
    pub extern "C" fn put(byte: u32) {
        with(|scorer| scorer.input.push(byte as u8));
    }

    /// Takes the input as an artefact; 1, or 0 with the reason as text.
    #[unsafe(no_mangle)]
    pub extern "C" fn load() -> u32 {
        with(|scorer| scorer.load().into())
    }

    /// Takes the input as a file of data, and decides on its windows; 1, or 0 with the reason as text.
    #[unsafe(no_mangle)]
    pub extern "C" fn decide() -> u32 {
        with(|scorer| scorer.decide().into())
    }

    /// Length of the last text in bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn text_length() -> u32 {
        with(|scorer| scorer.text.len() as u32)
    }

    /// A byte of the last text; 0 behind its end.
    #[unsafe(no_mangle)]
    pub extern "C" fn text_byte(index: u32) -> u32 {
        with(|scorer| scorer.text.as_bytes().get(index as usize).copied().unwrap_or(0).into())
    }

    /// Begins a stream.
    #[unsafe(no_mangle)]
    pub extern "C" fn begin() {
        with(super::Scorer::begin);
    }

    /// Sets a value of the next sample; NaN is a missing one.
    #[unsafe(no_mangle)]
    pub extern "C" fn set(channel: u32, value: f64) {
        with(|scorer| scorer.set(channel as usize, value));
    }

    /// Takes the sample in: the class of a window that it fills, -1 without one, -2 if it was refused.
    #[unsafe(no_mangle)]
    pub extern "C" fn push() -> i32 {
        with(super::Scorer::push)
    }

    /// Margin of the last decision; NaN if there is none.
    #[unsafe(no_mangle)]
    pub extern "C" fn margin() -> f32 {
        with(|scorer| scorer.last.0)
    }

    /// Probability of the last decision; NaN if there is none, and for a model without calibration.
    #[unsafe(no_mangle)]
    pub extern "C" fn probability() -> f32 {
        with(|scorer| scorer.last.1)
    }
}
