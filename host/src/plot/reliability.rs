//! Reliability diagram: the confidence of decisions against the share of them that was right.

use std::fmt::Write as _;

use super::square::{LEFT, draw_axes, draw_legend, size, x, y};
use super::svg::{colour, draw_heading, ink, open};

/// Decisions about as confident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Number of windows.
    pub windows: usize,
    /// The mean probability of the decisions.
    pub confidence: f64,
    /// The share decided rightly.
    pub right: f64,
}

/// One classifier's bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability<'a> {
    /// Name of the classifier.
    pub name: &'a str,
    /// Bins, in rising order of confidence.
    pub bins: Vec<Bin>,
    /// Expected calibration error.
    pub error: f64,
}

/// Bins of confidence of several classifiers (A. Niculescu-Mizil and R. Caruana, Predicting good probabilities with supervised
/// learning, ICML 2005, figure 1): calibrated probabilities lie on the diagonal. A bin is a point whose area grows with its share
/// of the windows, labelled with their number, and a line to the diagonal.
#[derive(Clone, Debug, PartialEq)]
pub struct ReliabilityPlot<'a> {
    /// The heading.
    pub title: &'a str,
    /// Description in a line or two.
    pub subtitle: &'a str,
    /// The classifiers.
    pub classifiers: &'a [Reliability<'a>],
}

/// Radii of a point of no window, and of all.
const SMALLEST: f64 = 3.0;
const LARGEST: f64 = 17.0;

impl ReliabilityPlot<'_> {
    /// The figure as SVG text.
    pub fn to_svg(&self) -> String {
        let mut svg = open(self.title, size(self.classifiers.len()));
        draw_heading(self.title, self.subtitle, LEFT, &mut svg);
        let axes =
            ("confidence: the mean probability of what was decided", "right, share of the windows");
        draw_axes(axes, true, &mut svg);
        for (index, one) in self.classifiers.iter().enumerate() {
            draw_bins(index, one, &mut svg);
        }
        let lines = self.classifiers.iter().map(|one| {
            let windows: usize = one.bins.iter().map(|bin| bin.windows).sum();
            let figure = format!("calibration error {:.3} over {windows} windows", one.error);
            (one.name, figure)
        });
        draw_legend(lines, &mut svg);
        svg += "</svg>\n";
        svg
    }
}

fn draw_bins(index: usize, one: &Reliability<'_>, svg: &mut String) {
    let all: usize = one.bins.iter().map(|bin| bin.windows).sum();
    for bin in &one.bins {
        let share = bin.windows as f64 / all.max(1) as f64;
        let radius = SMALLEST + (LARGEST - SMALLEST) * share.sqrt();
        let (across, up) = (x(bin.confidence), y(bin.right));
        let (fill, ink) = (colour(index), ink(index));
        // Left of the point or right of it, so that two classifiers keep apart; below where the frame leaves no room.
        let (class, aside, line) = match (index.is_multiple_of(2), bin.confidence) {
            (true, 0.1..) => ("end", across - radius - 4.0, up + 4.5),
            (false, ..0.92) | (true, _) => ("", across + radius + 4.0, up + 4.5),
            (false, _) => ("middle", across, up + radius + 14.0),
        };
        let _ = writeln!(
            svg,
            "<line x1=\"{across:.1}\" x2=\"{across:.1}\" y1=\"{:.1}\" y2=\"{up:.1}\" stroke=\"{fill}\" \
             stroke-width=\"1.4\" stroke-opacity=\".7\"/>\n\
             <circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" fill-opacity=\".38\" \
             stroke=\"{fill}\" stroke-width=\"1.4\"/>\n\
             <text class=\"{class} {ink}\" x=\"{aside:.1}\" y=\"{line:.1}\">{}</text>",
            y(bin.confidence),
            bin.windows
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bin_is_drawn_where_it_lies_with_its_windows() {
        let bins = vec![
            Bin { windows: 25, confidence: 0.5, right: 0.25 },
            Bin { windows: 75, confidence: 1.0, right: 1.0 },
        ];
        let one = Reliability { name: "a<b", bins, error: 0.0625 };
        let plot = ReliabilityPlot { title: "t", subtitle: "s", classifiers: &[one] };
        let svg = plot.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a&lt;b</tspan> calibration error 0.062 over 100"), "{svg}");
        // A quarter of the windows has half the radius beyond the least; from the diagonal down to its share.
        let at = format!("cx=\"{:.1}\" cy=\"{:.1}\" r=\"10.0\"", x(0.5), y(0.25));
        assert!(svg.contains(&at), "{svg}");
        let gap = format!("y1=\"{:.1}\" y2=\"{:.1}\"", y(0.5), y(0.25));
        assert!(svg.contains(&gap) && svg.contains(">25</text>") && svg.contains(">75</text>"));
    }
}
