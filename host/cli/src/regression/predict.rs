//! Estimates of `fishweir predict`.

use fishweir::deploy::Deployed;
use serde::Serialize;

/// The estimate for a run of samples.
#[derive(Debug, Serialize)]
pub(crate) struct Estimated<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) series: Option<&'a str>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Null where the scores went out of range, or no sample was taken in.
    estimate: Option<f32>,
    /// Ends of the interval; null without one.
    low: Option<f32>,
    high: Option<f32>,
}

/// Names of the columns after those of the place.
pub(crate) const HEADS: [&str; 3] = ["estimate", "low", "high"];

impl<'a> Estimated<'a> {
    /// The estimate that a decision value is, for a model with a target.
    pub(crate) fn of(
        deployed: &Deployed,
        (series, start, end): (Option<&'a str>, u64, u64),
        value: Option<f32>,
    ) -> Option<Self> {
        let interval = deployed.target()?.interval;
        let half_width = interval.map(|interval| interval.half_width as f32);
        let ends = value.zip(half_width);
        Some(Self {
            series,
            start,
            end,
            estimate: value,
            low: ends.map(|(value, half)| value - half),
            high: ends.map(|(value, half)| value + half),
        })
    }

    /// The fields after those of the place.
    pub(crate) fn fields(&self) -> [String; 3] {
        let number = |number: Option<f32>| number.map_or_else(String::new, |x| x.to_string());
        [self.estimate, self.low, self.high].map(number)
    }
}
