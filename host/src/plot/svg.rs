//! Common parts of the figures.

use std::fmt::Write as _;
use std::ops::Range;

use crate::words::printable;

// Each is 3 : 1 or nearly against white and against black, and as far from the others as 17 (CIE 1976) for eyes of every
// kind, of the first seven 26 (trichromats, and protanopia, deuteranopia and tritanopia by G. M. Machado et al., A
// physiologically-based model for simulation of color vision deficiency, IEEE TVCG 15, 2009).
const PALETTE: [&str; 10] = [
    "#2f7de1", "#e08a00", "#785a69", "#781eff", "#b42d1e", "#96a578", "#d287c3", "#a52d96",
    "#00873c", "#ff4b5a",
];

// The same for text, which takes 4.5 : 1: darker on white, lighter on black.
const INK_ON_WHITE: [&str; 10] = [
    "#2a70ca", "#9d6100", "#785a69", "#781eff", "#b42d1e", "#697354", "#935e88", "#a52d96",
    "#00823a", "#c73a46",
];
const INK_ON_BLACK: [&str; 10] = [
    "#4087e3", "#e08a00", "#98828d", "#a366ff", "#ca6c62", "#96a578", "#d287c3", "#be68b3",
    "#299a5b", "#ff4b5a",
];

const STYLE: &str = "\
text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Helvetica,Arial,sans-serif;\
font-size:13px;fill:#4d555e}\
.page{fill:#fff}\
.title{font-size:19px;font-weight:600;fill:#24292f}\
.strong{fill:#24292f}\
.name{font-size:14px;font-weight:700}\
.middle{text-anchor:middle}.end{text-anchor:end}\
.grid{stroke:#8b949e;stroke-opacity:.3}\
.zero{stroke:#57606a;stroke-width:1.2}\
.below{fill:none;stroke-width:1.1;stroke-opacity:.5;stroke-linejoin:round}\
.trace{fill:none;stroke:#57606a;stroke-width:1;stroke-linejoin:round}\
.small{font-size:11px}\
.lead{stroke-width:2;fill-opacity:.38;stroke-linejoin:round}";

const DARK_STYLE: &str = "\
text{fill:#a9b3be}.page{fill:#0d1117}.title,.strong{fill:#e6edf3}.zero,.trace{stroke:#9da7b3}";

/// The beginning of a figure of a width and height, on a page of its own: a light one or a dark one, as the reader prefers.
pub fn open(title: &str, (width, height): (f64, f64)) -> String {
    let inks = |inks: [&str; 10]| {
        let one = |(class, ink): (usize, &&str)| format!(".ink{class}{{fill:{ink}}}");
        inks.iter().enumerate().map(one).collect::<String>()
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\n<style>{STYLE}{}\n@media (prefers-color-scheme: dark){{{DARK_STYLE}{}}}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
        escape(title),
        inks(INK_ON_WHITE),
        inks(INK_ON_BLACK),
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

/// The style of a text in the colour of a class.
pub fn ink(class: usize) -> String {
    format!("ink{}", class % PALETTE.len())
}

/// Width that a text of the usual size takes at most, about.
pub(super) fn text_width(text: &str) -> f64 {
    7.6 * text.chars().count() as f64
}

/// A name of at most `most` letters, longer ones without their middle.
pub(super) fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let (first, last) = (most / 2, (most - 1) / 2);
    let parts = [&letters[..first], &['\u{2026}'], &letters[letters.len() - last..]];
    parts.concat().into_iter().collect()
}

/// Names of at most `most` letters, of which no two that differ become equal: these end in their number.
pub(super) fn short_names<'n>(names: impl Iterator<Item = &'n str>, most: usize) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let mut short: Vec<String> = names.iter().map(|name| shortened(name, most)).collect();
    for place in 0..names.len() {
        let same =
            |other: &usize| *other != place && shortened(names[*other], most) == short[place];
        if names[place].chars().count() > most && (0..names.len()).any(|other| same(&other)) {
            let number = (place + 1).to_string();
            let kept = most.saturating_sub(number.len() + 1);
            short[place] =
                names[place].chars().take(kept).collect::<String>() + "\u{2026}" + &number;
        }
    }
    short
}

/// Height of a row of a legend.
pub(super) const LEGEND_ROW: f64 = 20.0;

/// Letters of a name in a legend.
const LEGEND_LETTERS: usize = 28;

/// The names of classes beside their colours, in rows from a line `y` on, and the number of rows.
pub(super) fn legend(classes: &[String], (left, right): (f64, f64), y: f64) -> (String, usize) {
    let (mut svg, mut x, mut row) = (String::new(), left, 0);
    for (class, name) in classes.iter().enumerate() {
        let name = shortened(name, LEGEND_LETTERS);
        let width = text_width(&name) + 34.0;
        if x > left && x + width > right {
            (x, row) = (left, row + 1);
        }
        let y = y + LEGEND_ROW * row as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n\
             <text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            y - 11.0,
            colour(class),
            x + 18.0,
            escape(&name)
        );
        x += width;
    }
    (svg, row + 1)
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
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("climb", 5), "climb");
        assert_eq!(shortened("climbing", 5), "cl\u{2026}ng");
        let long = ["vibration x", "vibration x'", "current"];
        assert_eq!(
            short_names(long.into_iter(), 8),
            ["vibr\u{2026}n x", "vibr\u{2026} x'", "current"]
        );
        let alike = ["acceleration of x g", "acceleration at x g"];
        assert_eq!(short_names(alike.into_iter(), 8), ["accele\u{2026}1", "accele\u{2026}2"]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(&(-1.2..1.9), 5.0), [-1.0, 0.0, 1.0]);
        assert_eq!(ticks(&(0.0..240.0), 10.0).last(), Some(&200.0));
    }
}
