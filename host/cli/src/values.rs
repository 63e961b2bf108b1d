//! Values that options take: numbers, each with its range, and names of what is registered.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::learn::Scales;
use fishweir::project::check_rate;

/// For options that name one of some entries; `value` has the names, and a word on each.
pub(super) fn registered<T: Copy + Send + Sync + 'static>(
    entries: &'static [T],
    value: fn(T) -> PossibleValue,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(entries.iter().map(move |&entry| value(entry))).try_map(move |name| {
        let named = entries.iter().find(|&&entry| value(entry).matches(&name, false));
        named.copied().ok_or("no such name")
    })
}

/// A number of a range, in words; neither NaN nor infinite.
fn number(text: &str, good: impl Fn(f64) -> bool, range: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && good(value) => Ok(value),
        _ => Err(format!("must be a number, {range}")),
    }
}

/// For options that take any number.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    number(text, |_| true, "finite")
}

/// For options that take a number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0, "finite and positive")
}

/// For weights of codebooks.
pub(super) fn codebook_weight(text: &str) -> Result<f64, String> {
    number(text, |value| Scales::CODEBOOK_WEIGHTS.contains(&value), "from 0.01 to 100")
}

/// For samples a second, where a device is asked for: of the range that a project can have.
pub(super) fn hertz(text: &str) -> Result<f64, String> {
    let rate = positive(text)?;
    check_rate(rate).map(|()| rate).map_err(|error| error.to_string())
}

/// For floors: far below a millionth nothing is held, and estimates break down.
pub(super) fn floor(text: &str) -> Result<f64, String> {
    let sensible = |value| (1e-6..=1e6).contains(&value);
    number(text, sensible, "finite and positive, from 0.000001 to 1000000")
}

/// For options that take zero too.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 0.0, "finite and not negative")
}

/// For rates, of which an infinite one is the limit.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(rate) if rate >= 0.0 => Ok(rate),
        _ => Err("is a number that is not negative, or inf".into()),
    }
}

/// For the share of known windows that may be rejected: none of them needs no threshold, and half leaves nothing.
pub(super) fn rejection_rate(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value < 0.5, "above 0 and below 0.5")
}

/// For options that take a share of a whole.
pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "from 0 to 1")
}
