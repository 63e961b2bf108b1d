//! Rates that options name.

use fishweir::data::{Period, rate_words};

use super::{Failure, Topic};

/// Refuses a rate that an option names and that is another than the one a model was trained at.
pub(super) fn check_rate(option: &str, rate: f64, period: Period) -> Result<(), Failure> {
    if period.admits(1.0 / rate) {
        return Ok(());
    }
    let remedy = match option {
        "--resample" => "write --resample alone",
        _ => "leave it out",
    };
    Err(Failure::input(
        Topic::OtherRate,
        format!(
            "{option} {rate}: the model was trained at {}; {remedy}, or fit the model again with --resample {rate}",
            rate_words(period.seconds)
        ),
    ))
}
