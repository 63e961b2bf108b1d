//! Summary of a model's training conditions, for `info`.

use serde::Serialize;

use super::{counted, grouped};
use crate::classifier::{Contract, Observations, Period, Target};
use crate::data::{rate_words, split_unit};

/// Conditions of the training data, which a model keeps to wherever it runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContractSummary {
    /// The windows of a decision; null where whole series are decided.
    pub windows: Option<WindowsSummary>,
    /// The sample period in seconds, and the relative error that the model bears; null where it is unknown.
    pub period: Option<Period>,
    /// Each channel in training; empty over symbols, and if unknown.
    pub channels: Vec<ChannelSummary>,
    /// Target of a regression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// The windows of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WindowsSummary {
    /// Samples in a window.
    pub length: u32,
    /// Samples from one window to the next.
    pub hop: u32,
    /// States: the windows that are open at a time.
    pub states: usize,
    /// The most missing samples in a row that a window bears.
    pub longest_gap: u32,
}

/// A channel in training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelSummary {
    /// Name of the channel.
    pub name: String,
    /// Unit of the channel; empty if unknown.
    pub unit: String,
    /// The mean.
    pub centre: f64,
    /// The standard deviation.
    pub spread: f64,
    /// `true` if it may be missing in a sample while others are present.
    pub missing: bool,
}

impl ContractSummary {
    /// Summarises a contract over channels of these names.
    pub fn new(contract: &Contract, observations: &Observations) -> Self {
        let windows = contract.windows().map(|windows| WindowsSummary {
            length: windows.length,
            hop: windows.hop,
            states: windows.states(),
            longest_gap: windows.longest_gap,
        });
        let names: &[String] = match observations {
            Observations::Channels(names) => names,
            Observations::Symbols(_) => &[],
        };
        let channels = names.iter().zip(&contract.channels);
        let channels = channels.map(|(name, channel)| ChannelSummary {
            // The unit is in a field of its own.
            name: split_unit(name).0.to_owned(),
            unit: channel.unit.clone(),
            centre: channel.centre,
            spread: channel.spread,
            missing: channel.missing,
        });
        let target = contract.target.clone();
        Self { windows, period: contract.period, channels: channels.collect(), target }
    }

    /// Returns a heading and a text for each line of `info`.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![(
            "windows",
            match &self.windows {
                None => "none: whole series are decided".to_owned(),
                Some(WindowsSummary { length, hop, states, .. }) => {
                    let open = match states {
                        1 => "one at a time".to_owned(),
                        states => format!(
                            "{states} open at a time, each with its own state: {states} times RAM and work"
                        ),
                    };
                    let (length, hop) =
                        (counted(*length as usize, "sample"), grouped(*hop as usize));
                    format!("{length}, one every {hop}; {open}")
                }
            },
        )];
        if let Some(WindowsSummary { longest_gap, .. }) = self.windows {
            let longest = grouped(longest_gap as usize);
            lines.push((
                "gaps",
                format!(
                    "a missing or refused sample changes no likelihood; after more than {longest} in a row a new \
                     window begins"
                ),
            ));
        }
        match self.period {
            Some(Period { seconds, tolerance }) => {
                let (rate, percent) = (rate_words(seconds), short(100.0 * tolerance));
                lines.push(("period", format!("{seconds} s ({rate}), within {percent} %")));
            }
            None if self.channels.is_empty() => {}
            None => lines.push((
                "period",
                "unknown: the training data have no times with a unit, `t` in seconds or `t [ms]`"
                    .to_owned(),
            )),
        }
        let channels = self.channels.iter().enumerate();
        lines.extend(channels.map(
            |(index, ChannelSummary { name, unit, centre, spread, missing })| {
                let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
                let missing = if *missing { "; may be missing" } else { "" };
                let text = format!(
                    "{name}: mean {}{unit}, deviation {}{missing}",
                    short(*centre),
                    short(*spread)
                );
                (if index == 0 { "in training" } else { "" }, text)
            },
        ));
        if self.channels.iter().any(|one| one.missing) {
            let (bytes, count) = (8 * self.channels.len(), self.channels.len());
            lines.push((
                "missing",
                format!(
                    "each channel has a flag for missing: a sample takes {bytes} bytes, not {}, and so does each one \
                     stored for lags; a missing Gaussian channel costs a logarithm per state",
                    4 * count
                ),
            ));
        }
        lines
    }
}

/// A number of three digits.
fn short(x: f64) -> String {
    let digits = 2 - x.abs().max(1e-9).log10().floor() as i32;
    let text = format!("{x:.*}", digits.clamp(0, 9) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
