//! Common parts of the figures.

use std::fmt::Write as _;
use std::ops::Range;

use crate::words::printable;

// Mid tones that most eyes distinguish, colour-blind ones included, on white and on black.
const PALETTE: [&str; 10] = [
    "#4c8bf5", "#f28e2b", "#2fa36b", "#e05263", "#9b6bd6", "#c9a227", "#22a7b8", "#d765a8",
    "#8c6d4f", "#7f8a99",
];

const STYLE: &str = "\
text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Helvetica,Arial,sans-serif;\
font-size:13px;fill:#57606a}\
.title{font-size:19px;font-weight:600;fill:#24292f}\
.name{font-size:14px;font-weight:700}\
.middle{text-anchor:middle}.end{text-anchor:end}\
.grid{stroke:#8b949e;stroke-opacity:.25}\
.zero{stroke:#57606a;stroke-width:1.2}\
.below{fill:none;stroke-width:1.1;stroke-opacity:.45;stroke-linejoin:round}\
.lead{stroke-width:2;fill-opacity:.38;stroke-linejoin:round}\
@media(prefers-color-scheme:dark){\
text{fill:#9da7b3}.title{fill:#e6edf3}.zero{stroke:#9da7b3}}";

/// The beginning of a figure of a width and height.
pub fn open(title: &str, (width, height): (f64, f64)) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n",
        escape(title)
    )
}

/// A title and two lines below it.
pub fn draw_heading(title: &str, subtitle: &str, x: f64, svg: &mut String) {
    let _ = writeln!(svg, "<text class=\"title\" x=\"{x}\" y=\"30\">{}</text>", escape(title));
    for (line, y) in subtitle.lines().zip([53, 72]) {
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape(line));
    }
}

/// A line of a grid across a panel, with its value at the left end.
pub(super) fn draw_level((left, right): (f64, f64), y: f64, text: &str, svg: &mut String) {
    let _ = writeln!(
        svg,
        "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n\
         <text class=\"end\" x=\"{}\" y=\"{:.1}\">{text}</text>",
        left - 8.0,
        y + 4.5,
    );
}

/// Round numbers within a range, about `about` of them.
pub(super) fn ticks(range: &Range<f64>, about: f64) -> Vec<f64> {
    let raw = (range.end - range.start).max(1e-9) / about;
    let power = 10.0_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|one| one * power);
    let step = step.into_iter().find(|&step| step >= raw).unwrap_or(raw);
    let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
    (first..=last).map(|number| number as f64 * step).collect()
}

pub(super) fn tidy(number: f64) -> String {
    let text = format!("{:.3}", number + 0.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.replace('-', "\u{2212}")
}

/// The colour of a class.
pub fn colour(class: usize) -> &'static str {
    PALETTE[class % PALETTE.len()]
}

/// Text as XML has it, which has no word for control characters.
pub fn escape(text: &str) -> String {
    let text = printable(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(&(-1.2..1.9), 5.0), [-1.0, 0.0, 1.0]);
        assert_eq!(ticks(&(0.0..240.0), 10.0).last(), Some(&200.0));
    }
}
