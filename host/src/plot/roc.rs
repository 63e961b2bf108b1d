//! Shares against shares, a curve a classifier: detections against false alarms, tasks against a score.

use std::fmt::Write as _;

use super::square::{LEFT, draw_axes, draw_legend, size, x, y};
use super::svg::{colour, draw_heading, open};

/// One classifier's curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<'a> {
    /// Name of the classifier.
    pub name: &'a str,
    /// `(false alarms, detected)`, shares, rising.
    pub points: &'a [(f64, f64)],
    /// The area below; of tasks the mean score.
    pub area: f64,
}

/// Quantities along the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// False alarms across, detections up; by chance the two are equal.
    Windows,
    /// A score across, up the share of the tasks that reach it.
    Tasks(&'static str),
}

/// Receiver operating characteristics of several classifiers, or how many of several tasks reach a score.
#[derive(Clone, Debug, PartialEq)]
pub struct RocPlot<'a> {
    /// Quantities along the axes.
    pub shares: Shares,
    /// The heading.
    pub title: &'a str,
    /// Description in a line or two.
    pub subtitle: &'a str,
    /// The curves.
    pub curves: &'a [Curve<'a>],
}

impl RocPlot<'_> {
    /// The figure as SVG text.
    pub fn to_svg(&self) -> String {
        let mut svg = open(self.title, size(self.curves.len()));
        draw_heading(self.title, self.subtitle, LEFT, &mut svg);
        let axes = match self.shares {
            Shares::Windows => (
                "false alarms, share of the other windows",
                "detected, share of the class\u{2019}s windows",
            ),
            Shares::Tasks(score) => (score, "share of the tasks that reach it"),
        };
        draw_axes(axes, self.shares == Shares::Windows, &mut svg);
        for (index, curve) in self.curves.iter().enumerate() {
            draw_curve(index, curve, &mut svg);
        }
        let figure = if self.shares == Shares::Windows { "area" } else { "mean" };
        let lines =
            self.curves.iter().map(|curve| (curve.name, format!("{figure} {:.3}", curve.area)));
        draw_legend(lines, &mut svg);
        svg += "</svg>\n";
        svg
    }
}

fn draw_curve(index: usize, curve: &Curve<'_>, svg: &mut String) {
    let mut path = String::new();
    for &(false_alarms, detected) in curve.points {
        let verb = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{verb}{:.1} {:.1}", x(false_alarms), y(detected));
    }
    let _ = writeln!(
        svg,
        "<path fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke=\"{}\" d=\"{path}\"/>",
        colour(index)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() {
        let points = [(0.0, 0.0), (0.2, 0.9), (1.0, 1.0)];
        let curve = |name| Curve { name, points: &points, area: 0.85 };
        let curves = [curve("a<b"), curve("c")];
        let svg = RocPlot { shares: Shares::Windows, title: "t", subtitle: "s", curves: &curves };
        let svg = svg.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(svg.contains("a&lt;b") && svg.contains("area 0.850"));
    }
}
