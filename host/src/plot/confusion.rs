//! Confusion matrices, each beside the recall and precision of its classes.

use std::fmt::Write as _;

use super::svg::{colour, draw_heading, escape, open, shortened, text_width, tidy};
use crate::evaluate::{Figures, Interval};
use crate::words::grouped;

/// A classifier's decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct Confusion<'a> {
    /// The heading: classifier, accuracy, number of windows.
    pub title: String,
    /// Description in a line or two.
    pub subtitle: String,
    /// The figures.
    pub figures: &'a Figures,
}

/// Matrices of several classifiers, one below the other.
///
/// Rows are true classes and columns decisions: the number of windows, and its share of the row, by which a cell is shaded. To the
/// right, along the same rows, recall and precision with their intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfusionPlot<'a> {
    /// Name of what is decided on, in the plural: windows, series, records.
    pub unit: &'a str,
    /// The classifiers.
    pub classifiers: &'a [Confusion<'a>],
}

const MARGIN: f64 = 28.0;
/// From the top of a matrix's block to the names of its columns.
const HEADING: f64 = 88.0;
const LONGEST_NAME: usize = 22;
/// Room for an axis's title.
const AXIS: f64 = 24.0;
const PANEL: f64 = 260.0;
const GAP: f64 = 34.0;
/// Room for the numbers of windows, right of the panel.
const COUNTS: f64 = 84.0;
/// From the last row to the end of a block.
const BELOW: f64 = 88.0;
/// Colour of what is right, and of recall; of what is wrong, and of precision.
const RIGHT: usize = 0;
const WRONG: usize = 1;

impl ConfusionPlot<'_> {
    /// The figure as SVG text.
    pub fn to_svg(&self) -> String {
        let blocks: Vec<Block<'_>> = self.classifiers.iter().map(Block::of).collect();
        let width = blocks.iter().map(|block| block.width).fold(0.0, f64::max);
        let height = blocks.iter().map(Block::height).sum::<f64>().max(HEADING);
        let title = self.classifiers.first().map_or("", |one| one.title.as_str());
        let mut svg = open(title, (width.round(), height.round()));
        let mut y = 0.0;
        for block in &blocks {
            let _ = writeln!(svg, "<g transform=\"translate(0 {y:.0})\">");
            block.draw(self.unit, &mut svg);
            svg += "</g>\n";
            y += block.height();
        }
        svg += "</svg>\n";
        svg
    }
}

/// Places of a matrix and its panel.
struct Block<'a> {
    of: &'a Confusion<'a>,
    names: Vec<String>,
    /// Side of a cell.
    side: f64,
    /// Left edge and top of the matrix.
    left: f64,
    top: f64,
    /// `true` if names of columns are upright.
    upright: bool,
    /// `true` if there is a column of windows without a decision.
    undecided: bool,
    width: f64,
}

impl<'a> Block<'a> {
    fn of(of: &'a Confusion<'a>) -> Self {
        let classes = &of.figures.classes;
        let names: Vec<String> = classes.iter().map(|name| shortened(name, LONGEST_NAME)).collect();
        let widest = names.iter().map(|name| text_width(name)).fold(text_width("none"), f64::max);
        let undecided = of.figures.undecided > 0;
        let side = (560.0 / classes.len().max(1) as f64).clamp(38.0, 70.0);
        let upright = widest > side - 6.0;
        let left = MARGIN + AXIS + widest + 10.0;
        // Room for the legend, too.
        let top = HEADING + if upright { widest.max(40.0) } else { 40.0 } + 10.0;
        let heading = 1.4 * text_width(&of.title);
        let lines = of.subtitle.lines().map(text_width).fold(heading, f64::max);
        let mut block = Self { of, names, side, left, top, upright, undecided, width: 0.0 };
        block.width = (block.panel() + PANEL + COUNTS).max(MARGIN + lines) + MARGIN;
        block
    }

    /// Left edge of the panel.
    fn panel(&self) -> f64 {
        self.left + self.side * (self.names.len() + usize::from(self.undecided)) as f64 + GAP
    }

    fn bottom(&self) -> f64 {
        self.top + self.side * self.names.len() as f64
    }

    fn height(&self) -> f64 {
        self.bottom() + BELOW
    }

    fn draw(&self, unit: &str, svg: &mut String) {
        draw_heading(&self.of.title, &self.of.subtitle, MARGIN, svg);
        self.draw_names(svg);
        for row in 0..self.names.len() {
            self.draw_row(row, unit, svg);
        }
        self.draw_titles(unit, svg);
        self.draw_panel(unit, svg);
    }

    fn draw_names(&self, svg: &mut String) {
        let full = self.of.figures.classes.iter().map(String::as_str);
        let undecided = self.undecided.then_some(("none", "no decision"));
        let columns = self.names.iter().map(String::as_str).zip(full.clone()).chain(undecided);
        for (column, (name, full)) in columns.enumerate() {
            let x = self.left + (column as f64 + 0.5) * self.side;
            let place = match self.upright {
                true => format!(
                    "transform=\"translate({:.1} {:.1}) rotate(-90)\"",
                    x + 4.5,
                    self.top - 8.0
                ),
                false => {
                    format!("class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\"", self.top - 8.0)
                }
            };
            let _ = writeln!(
                svg,
                "<text {place}>{}<title>{}</title></text>",
                escape(name),
                escape(full)
            );
        }
        for (row, (name, full)) in self.names.iter().zip(full).enumerate() {
            let _ = writeln!(
                svg,
                "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
                self.left - 8.0,
                self.middle(row) + 4.5,
                escape(name),
                escape(full)
            );
        }
    }

    fn middle(&self, row: usize) -> f64 {
        self.top + (row as f64 + 0.5) * self.side
    }

    fn draw_row(&self, row: usize, unit: &str, svg: &mut String) {
        let Figures { classes, confusion, per_class, .. } = self.of.figures;
        let counts = &confusion[row];
        let windows = per_class[row].windows;
        let undecided = windows - counts.iter().sum::<usize>();
        let most = confusion.iter().flatten().max().copied().unwrap_or(0);
        let letters = grouped(most).chars().count() as f64;
        let large = (0.9 * self.side / (0.58 * letters)).clamp(7.0, 14.0);
        let small = large.min(0.26 * self.side).min(11.0);
        let columns = counts.iter().copied().chain(self.undecided.then_some(undecided));
        for (column, count) in columns.enumerate() {
            let (x, y) = (self.left + column as f64 * self.side, self.middle(row));
            let share = count as f64 / windows.max(1) as f64;
            let fill = colour(if row == column { RIGHT } else { WRONG });
            let decided = classes.get(column).map_or("no decision", String::as_str);
            let told = format!("{} {unit} of {}, decided {decided}", grouped(count), classes[row]);
            let _ = writeln!(
                svg,
                "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" \
                 fill-opacity=\"{}\"/><rect class=\"grid\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                 fill=\"none\"/>",
                escape(&told),
                y - 0.5 * self.side,
                self.side,
                self.side,
                tidy(0.7 * share).replace('\u{2212}', "-"),
                y - 0.5 * self.side,
                self.side,
                self.side,
            );
            if count > 0 {
                let x = x + 0.5 * self.side;
                let _ = writeln!(
                    svg,
                    "<text class=\"strong middle\" style=\"font-size:{large:.1}px\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>\
                     <text class=\"strong middle\" style=\"font-size:{small:.1}px\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                    y - 1.0,
                    grouped(count),
                    y + small + 1.5,
                    percent(share),
                );
            }
            svg.push_str("</g>\n");
        }
    }

    fn draw_titles(&self, unit: &str, svg: &mut String) {
        let (x, y) = (self.left, self.bottom());
        let across = self.panel() - GAP;
        let _ = writeln!(
            svg,
            "<text class=\"middle\" transform=\"translate({:.1} {:.1}) rotate(-90)\">true class</text>\n\
             <text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">decided class</text>\n\
             <text x=\"{MARGIN}\" y=\"{:.1}\">In a cell: number of {unit}, and share of the row. <tspan class=\"ink{RIGHT} name\">\
             right</tspan>, <tspan class=\"ink{WRONG} name\">wrong</tspan></text>",
            MARGIN + 10.0,
            f64::midpoint(self.top, y),
            f64::midpoint(x, across),
            y + 22.0,
            y + 66.0,
        );
    }

    /// Recall and precision along the rows.
    fn draw_panel(&self, unit: &str, svg: &mut String) {
        let (left, top, bottom) = (self.panel(), self.top, self.bottom());
        let x = |share: f64| left + share * PANEL;
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let x = x(share);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>\n\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                bottom + 20.0,
                tidy(share),
            );
        }
        let intervals = self.of.figures.per_class.iter().any(|one| one.recall_interval.is_some());
        let _ = writeln!(
            svg,
            "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">share of the {unit}{}</text>\n\
             <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{unit}</text>",
            x(0.5),
            bottom + 40.0,
            if intervals { ", with 95 % intervals" } else { "" },
            x(1.0) + COUNTS - 8.0,
            top - 8.0,
        );
        let legend = [("recall", RIGHT, 0.02), ("precision", WRONG, 0.4)];
        for (name, class, at) in legend {
            draw_mark(class, x(at), top - 12.5, svg);
            let _ = writeln!(
                svg,
                "<text class=\"ink{class} name\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                x(at) + 10.0,
                top - 8.0
            );
        }
        for (row, one) in self.of.figures.per_class.iter().enumerate() {
            let apart = 0.16 * self.side;
            let decided = self.of.figures.confusion.iter().any(|of_class| of_class[row] > 0);
            let shares = [
                (one.recall, one.recall_interval, RIGHT, -apart, one.windows > 0),
                (one.precision, one.precision_interval, WRONG, apart, decided),
            ];
            for (share, interval, class, below, there) in shares {
                let y = self.middle(row) + below;
                if let Some(Interval { low, high, .. }) = interval.filter(|_| there) {
                    let _ = writeln!(
                        svg,
                        "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{}\" stroke-width=\"2\"/>",
                        x(low),
                        x(high),
                        colour(class)
                    );
                }
                if there {
                    draw_mark(class, x(share), y, svg);
                }
            }
            let _ = writeln!(
                svg,
                "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x(1.0) + COUNTS - 8.0,
                self.middle(row) + 4.5,
                grouped(one.windows)
            );
        }
    }
}

/// A round mark of recall, a square one of precision.
fn draw_mark(class: usize, x: f64, y: f64, svg: &mut String) {
    let fill = colour(class);
    let _ = match class {
        RIGHT => writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{fill}\"/>"),
        _ => writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"{fill}\"/>",
            x - 4.0,
            y - 4.0
        ),
    };
}

/// A share of a row in per cent, escaped; few of many are not none, and nearly all are not all.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 1.0 {
        "&lt;1 %".to_owned()
    } else if percent > 99.0 && percent < 100.0 {
        "&gt;99 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Judged;

    #[test]
    fn every_class_count_and_window_without_a_decision_is_drawn() {
        let classes = ["a<b".to_owned(), "a very long name of some class".to_owned()];
        let one = |series, label, decision| Judged {
            series,
            start: 0,
            label,
            decision,
            margin: 0.0,
            leads: Vec::new(),
            likelihood: None,
            settled: 0,
            refused: 0,
        };
        let judged = [one(0, 0, Some(0)), one(1, 0, Some(1)), one(2, 1, Some(1)), one(3, 1, None)];
        let figures = Figures::of(&classes, &judged).with_intervals(&judged, &[0, 1, 2, 3]);
        let of = Confusion { title: "t".into(), subtitle: "s".into(), figures: &figures };
        let svg = ConfusionPlot { unit: "windows", classifiers: &[of] }.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
        assert!(
            svg.contains("a very long\u{2026}some class<title>a very long name of some class<")
        );
        assert!(svg.contains("1 windows of a&lt;b, decided a very long name of some class"));
        assert_eq!(svg.matches(">50 %</text>").count(), 4);
        assert!(svg.contains(">none<title>no decision</title>"));
    }
}
