//! The channels of a stream, one below the other, and the axis of time that they share with what is drawn of them.

use std::fmt::Write as _;
use std::ops::Range;

use super::svg::{escape, short_names, ticks, tidy};
use crate::data::split_unit;
use crate::data::{Kind, Sample, SamplesView};

/// Height of a channel's lane.
pub(super) const LANE: f64 = 44.0;

/// Channels of a stream by name, `[channel][sample]`, `None` if missing; none for symbols.
pub fn traces(kind: &Kind, samples: SamplesView<'_>) -> Vec<(String, Vec<Option<f64>>)> {
    let Kind::Channels(names) = kind else { return Vec::new() };
    let trace = |(channel, name): (usize, &String)| {
        let value = |sample: Sample<'_>| match sample {
            Sample::Row(row) => row.get(channel).copied().filter(|value| !value.is_nan()),
            Sample::Symbol(_) | Sample::Missing => None,
        };
        (name.clone(), samples.iter().map(value).collect())
    };
    names.iter().enumerate().map(trace).collect()
}

/// Width of a column in which many samples are drawn by their extremes.
const COLUMN: f64 = 1.5;

/// Samples in a column up to which all are drawn.
const MOST_IN_COLUMN: usize = 2;

/// The path of values of samples from `start` on, between places `x` and `y`: it breaks where there is none.
pub(super) fn line(
    values: &[Option<f64>],
    start: usize,
    x: impl Fn(usize) -> f64,
    y: impl Fn(f64) -> f64,
) -> String {
    let numbered: Vec<(usize, Option<f64>)> = (start..).zip(values.iter().copied()).collect();
    let mut path = String::new();
    let mut verb = 'M';
    // Of many samples in a column the extremes are seen.
    let column = |sample: usize| (x(sample) / COLUMN).floor() as i64;
    for run in numbered.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let extremes = [lowest(run), highest(run)];
        for (sample, value) in run {
            let Some(height) = value.map(&y) else {
                verb = 'M';
                continue;
            };
            if run.len() <= MOST_IN_COLUMN || extremes.contains(value) {
                let _ = write!(path, "{verb}{:.1} {height:.1}", x(*sample));
                verb = 'L';
            }
        }
    }
    path
}

/// Draws channels between the edges of a panel, each over its own range, which is written at its right end; `x` is the
/// place of a sample. Lines break where samples are missing.
pub(super) fn draw_lanes(
    traces: &[(String, Vec<Option<f64>>)],
    samples: Range<usize>,
    x: impl Fn(usize) -> f64,
    (left, right): (f64, f64),
    top: f64,
    svg: &mut String,
) {
    let names = short_names(traces.iter().map(|(name, _)| split_unit(name).0), 8);
    for (lane, (_, values)) in traces.iter().enumerate() {
        let Range { start, end } = samples;
        let values = values.get(start..end.min(values.len())).unwrap_or_default();
        let (top, seen) = (top + lane as f64 * LANE, values.iter().flatten());
        let least = seen.clone().copied().fold(f64::INFINITY, f64::min);
        let most = seen.copied().fold(f64::NEG_INFINITY, f64::max);
        let span = (most - least).max(1e-300);
        let place = |value: f64| top + LANE - 4.0 - (value - least) / span * (LANE - 8.0);
        let path = line(values, start, &x, place);
        let _ = writeln!(
            svg,
            "<path class=\"trace\" d=\"{path}\"/>\n<text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            top + LANE / 2.0 + 4.5,
            escape(&names[lane])
        );
        for (value, y) in [(most, top + 13.0), (least, top + LANE - 3.0)] {
            if value.is_finite() {
                let text = tidy_short(value);
                let _ = writeln!(
                    svg,
                    "<text class=\"small\" x=\"{}\" y=\"{y:.1}\">{text}</text>",
                    right + 6.0
                );
            }
        }
    }
}

/// The least of the samples that are there.
fn lowest(run: &[(usize, Option<f64>)]) -> Option<f64> {
    run.iter().filter_map(|one| one.1).min_by(f64::total_cmp)
}

/// The largest of the samples that are there.
fn highest(run: &[(usize, Option<f64>)]) -> Option<f64> {
    run.iter().filter_map(|one| one.1).max_by(f64::total_cmp)
}

/// A number of few letters.
fn tidy_short(value: f64) -> String {
    match value.abs() {
        0.0 | 0.01..10_000.0 => {
            let digits = usize::from(value.abs() < 100.0) + usize::from(value.abs() < 1.0);
            tidy(format!("{value:.digits$}").parse().unwrap_or(value))
        }
        _ => format!("{value:.0e}").replace('-', "\u{2212}"),
    }
}

/// Draws the axis of time below a panel, in seconds or in samples.
pub(super) fn draw_time(
    time: &Range<f64>,
    x: impl Fn(f64) -> f64,
    (left, right): (f64, f64),
    y: f64,
    unit: &str,
    svg: &mut String,
) {
    for time in ticks(time, 10.0) {
        let x = x(time);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y:.1}\" y2=\"{:.1}\"/>\n\
             <text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            y + 6.0,
            y + 21.0,
            tidy(time)
        );
    }
    let _ = writeln!(
        svg,
        "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{unit}</text>",
        f64::midpoint(left, right),
        y + 40.0
    );
}
