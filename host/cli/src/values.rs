//! Values that options take: numbers, each with its range, and names of registered entries.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::learn::Scales;
use fishweir::project::check_rate;

/// Parser of options that name one of some entries; `value` has the names, and a word on each.
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

/// Parser of any finite number.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    number(text, |_| true, "finite")
}

/// Parser of a number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0, "finite and positive")
}

/// Parser of weights of codebooks.
pub(super) fn codebook_weight(text: &str) -> Result<f64, String> {
    number(text, |value| Scales::CODEBOOK_WEIGHTS.contains(&value), "from 0.01 to 100")
}

/// Parser of samples per second for a device: in the range that a project can have.
pub(super) fn hertz(text: &str) -> Result<f64, String> {
    let rate = positive(text)?;
    check_rate(rate).map(|()| rate).map_err(|error| error.to_string())
}

/// Parser of floors: far below a millionth they have no effect, and estimates break down.
pub(super) fn floor(text: &str) -> Result<f64, String> {
    let sensible = |value| (1e-6..=1e6).contains(&value);
    number(text, sensible, "finite and positive, from 0.000001 to 1000000")
}

/// Parser of a number that is not negative.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 0.0, "finite and not negative")
}

/// Parser of rates, of which an infinite one is the limit.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(rate) if rate >= 0.0 => Ok(rate),
        _ => Err("must be a number of 0 or more, or inf".into()),
    }
}

/// Parser of the share of known windows that may be rejected: above 0, which needs no threshold, and below one half.
pub(super) fn rejection_rate(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value < 0.5, "above 0 and below 0.5")
}

/// Parser of the share of true values that an interval covers.
pub(super) fn coverage(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value < 1.0, "above 0 and below 1")
}

/// Parser of a share of a whole.
pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "from 0 to 1")
}
