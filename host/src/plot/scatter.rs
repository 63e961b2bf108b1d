//! Points in a plane, coloured by class.

use std::fmt::Write as _;
use std::ops::Range;

use super::svg::{colour, draw_heading, draw_level, escape, open, shortened, ticks, tidy};

/// Points of several classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPlot<'a> {
    /// The heading.
    pub title: &'a str,
    /// Description in a line or two.
    pub subtitle: &'a str,
    /// Titles of the axes: across, up.
    pub axes: [&'a str; 2],
    /// The points, across and up.
    pub points: &'a [[f64; 2]],
    /// Name of each point, shown when the pointer is over it.
    pub names: &'a [String],
    /// The class of each point, an index into `classes`; `None` for a point without one.
    pub labels: &'a [Option<usize>],
    /// Names of the classes.
    pub classes: &'a [String],
}

const SIDE: f64 = 520.0;
const LEFT: f64 = 84.0;
const TOP: f64 = 96.0;
const LEGEND: f64 = 190.0;
const WIDTH: f64 = LEFT + SIDE + LEGEND;
const BELOW: f64 = 58.0;
/// Distance between lines of the legend.
const LINE: f64 = 22.0;

/// A range of data on a side of the figure.
struct Axis {
    range: Range<f64>,
}

impl Axis {
    /// A little more than the points take up.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        if !(low.is_finite() && high.is_finite()) {
            return Self { range: -1.0..1.0 };
        }
        let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
        Self { range: low - margin..high + margin }
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.range.start) / (self.range.end - self.range.start)
    }

    fn across(&self, value: f64) -> f64 {
        LEFT + self.share(value) * SIDE
    }

    fn up(&self, value: f64) -> f64 {
        TOP + (1.0 - self.share(value)) * SIDE
    }
}

impl ScatterPlot<'_> {
    /// The figure as SVG text.
    pub fn to_svg(&self) -> String {
        let legend = self.classes.len() + usize::from(self.labels.contains(&None));
        let height = (TOP + SIDE).max(TOP + LINE * legend as f64) + BELOW;
        let mut svg = open(self.title, (WIDTH, height));
        draw_heading(self.title, self.subtitle, LEFT, &mut svg);
        let across = Axis::of(self.points.iter().map(|point| point[0]));
        let up = Axis::of(self.points.iter().map(|point| point[1]));
        self.draw_axes(&across, &up, &mut svg);
        for (index, point) in self.points.iter().enumerate() {
            let label = self.labels.get(index).copied().flatten();
            let (x, y) = (across.across(point[0]), up.up(point[1]));
            let _ = write!(svg, "<g fill=\"{}\" fill-opacity=\".75\">", fill(label));
            mark(label, x, y, &mut svg);
            let name = self.names.get(index).map_or("", String::as_str);
            let class = label.and_then(|label| self.classes.get(label));
            let class = class.map_or_else(String::new, |class| format!(", {class}"));
            let _ = writeln!(svg, "<title>{}</title></g>", escape(&format!("{name}{class}")));
        }
        self.draw_legend(&mut svg);
        svg += "</svg>\n";
        svg
    }

    fn draw_axes(&self, across: &Axis, up: &Axis, svg: &mut String) {
        let (left, right, top, bottom) = (LEFT, LEFT + SIDE, TOP, TOP + SIDE);
        for value in ticks(&across.range, 6.0) {
            let x = across.across(value);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>\n\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{}\">{}</text>",
                bottom + 20.0,
                number(value, &across.range)
            );
        }
        for value in ticks(&up.range, 6.0) {
            draw_level((left, right), up.up(value), &number(value, &up.range), svg);
        }
        let _ = writeln!(
            svg,
            "<text class=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n\
             <text class=\"middle\" transform=\"translate(22 {}) rotate(-90)\">{}</text>",
            left + SIDE / 2.0,
            bottom + 42.0,
            escape(self.axes[0]),
            top + SIDE / 2.0,
            escape(self.axes[1])
        );
    }

    fn draw_legend(&self, svg: &mut String) {
        let x = LEFT + SIDE + 24.0;
        let none = self.labels.contains(&None).then_some((None, "no label"));
        let classes = self.classes.iter().enumerate();
        let classes = classes.map(|(class, name)| (Some(class), name.as_str()));
        for (line, (label, name)) in classes.chain(none).enumerate() {
            let y = TOP + 12.0 + LINE * line as f64;
            let colour = fill(label);
            let _ = write!(svg, "<g fill=\"{colour}\">");
            mark(label, x, y - 4.5, svg);
            let _ = writeln!(
                svg,
                "</g>\n<text x=\"{}\" y=\"{y}\">{}</text>",
                x + 14.0,
                escape(&shortened(name, 20))
            );
        }
    }
}

fn fill(label: Option<usize>) -> &'static str {
    label.map_or("#8b949e", colour)
}

/// A mark whose shape distinguishes classes that share a colour.
fn mark(label: Option<usize>, x: f64, y: f64, svg: &mut String) {
    let round = label.unwrap_or(0) / 10;
    let _ = match round % 3 {
        0 => write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.2\"/>"),
        1 => write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7.6\" height=\"7.6\"/>",
            x - 3.8,
            y - 3.8
        ),
        _ => write!(
            svg,
            "<path d=\"M{x:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
            y - 5.0,
            x + 4.8,
            y + 3.6,
            x - 4.8,
            y + 3.6
        ),
    };
}

/// A number at an axis, in powers of ten if the range is far from one.
fn number(value: f64, range: &Range<f64>) -> String {
    let widest = range.start.abs().max(range.end.abs());
    if (0.01..10_000.0).contains(&widest) {
        tidy(value)
    } else {
        format!("{value:.1e}").replace('-', "\u{2212}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_and_class_is_drawn() {
        let names = ["a<b", "c", "d"].map(str::to_owned);
        let plot = ScatterPlot {
            title: "t",
            subtitle: "s",
            axes: ["one", "two"],
            points: &[[0.0, 1.0], [2.0, -1.0], [1.0, 1.0]],
            names: &names,
            labels: &[Some(0), None, Some(1)],
            classes: &["x".into(), "y".into()],
        };
        let svg = plot.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        // Three points, two classes, and what has none.
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.contains("<title>a&lt;b, x</title>") && svg.contains(">no label<"));
    }

    #[test]
    fn one_point_or_none_is_a_figure_too() {
        for points in [&[[3.0, 3.0]][..], &[]] {
            let plot = ScatterPlot {
                title: "t",
                subtitle: "",
                axes: ["", ""],
                points,
                names: &[],
                labels: &[],
                classes: &[],
            };
            assert!(!plot.to_svg().contains("NaN"));
        }
    }
}
