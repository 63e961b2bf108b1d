//! The square of two shares, from 0 to 1, in which several figures are drawn.

use std::fmt::Write as _;

use super::svg::{colour, escape, ink, shortened, ticks, tidy};

const SIDE: f64 = 520.0;
/// Left edge of the heading and of the square.
pub(super) const LEFT: f64 = 72.0;
const TOP: f64 = 96.0;
/// Distance between lines of the legend.
const LINE: f64 = 22.0;

/// The figure's width and height, with a legend of some lines below the square.
pub(super) fn size(lines: usize) -> (f64, f64) {
    (LEFT + SIDE + 28.0, TOP + SIDE + 66.0 + LINE * lines as f64)
}

/// Draws a legend below the square, where no point is: a name in its colour and a figure for each line.
pub(super) fn draw_legend<'a>(lines: impl Iterator<Item = (&'a str, String)>, svg: &mut String) {
    for (index, (name, figure)) in lines.enumerate() {
        let y = TOP + SIDE + 70.0 + LINE * index as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"16\" height=\"10\" fill=\"{}\"/>\n\
             <text x=\"{}\" y=\"{y}\"><tspan class=\"{} name\">{}</tspan> {figure}</text>",
            y - 10.0,
            colour(index),
            LEFT + 24.0,
            ink(index),
            escape(&shortened(name, 40)),
        );
    }
}

/// Horizontal position of a share.
pub(super) fn x(share: f64) -> f64 {
    LEFT + share * SIDE
}

/// Vertical position of a share.
pub(super) fn y(share: f64) -> f64 {
    TOP + (1.0 - share) * SIDE
}

/// A grid, the titles of both axes, and the diagonal if it has a meaning.
pub(super) fn draw_axes((across, up): (&str, &str), diagonal: bool, svg: &mut String) {
    let (left, right, bottom, top) = (x(0.0), x(1.0), y(0.0), y(1.0));
    for share in ticks(&(0.0..1.0), 5.0) {
        let (across, up) = (x(share), y(share));
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{up:.1}\" y2=\"{up:.1}\"/>\n\
             <line class=\"grid\" x1=\"{across:.1}\" x2=\"{across:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>\n\
             <text class=\"end\" x=\"{}\" y=\"{:.1}\">{share}</text>\n\
             <text class=\"middle\" x=\"{across:.1}\" y=\"{}\">{share}</text>",
            left - 8.0,
            up + 4.5,
            bottom + 20.0,
            share = tidy(share),
        );
    }
    if diagonal {
        let _ = writeln!(
            svg,
            "<line class=\"zero\" x1=\"{left}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{top}\" \
             stroke-dasharray=\"3 5\"/>"
        );
    }
    let _ = writeln!(
        svg,
        "<text class=\"middle\" x=\"{}\" y=\"{}\">{across}</text>\n\
         <text class=\"middle\" transform=\"translate(22 {}) rotate(-90)\">{up}</text>",
        (left + right) / 2.0,
        bottom + 42.0,
        (top + bottom) / 2.0
    );
}
