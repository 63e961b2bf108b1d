//! Figure of each sample's contribution to the decisions along a series.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use super::lanes::{LANE, draw_lanes, draw_time};
use super::svg::{colour, draw_heading, draw_level, escape, ink, open, ticks, tidy};

/// A decision on a window, and the contributions of its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece<'a> {
    /// The first sample, from the beginning of the series.
    pub start: usize,
    /// The class decided for, for its colour.
    pub class: usize,
    /// Name of the class.
    pub name: &'a str,
    /// The name of the class that comes next.
    pub rival: &'a str,
    /// Margin of the class before the first sample.
    pub bias: f64,
    /// Contribution of each sample, `[sample]`.
    pub gains: &'a [f64],
}

/// Decisions along a series, below its observations.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplanationPlot<'a> {
    /// The heading.
    pub title: &'a str,
    /// Description in a line or two.
    pub subtitle: &'a str,
    /// Channels by name, `[channel][sample]`, `None` if missing; empty for symbols.
    pub traces: &'a [(String, Vec<Option<f64>>)],
    /// Samples per second; `None` for a time axis in samples.
    pub rate: Option<f64>,
    /// Decisions in order of time.
    pub pieces: &'a [Piece<'a>],
}

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 56.0;
const TOP: f64 = 122.0;
const BETWEEN: f64 = 26.0;
const PANEL: f64 = 150.0;
/// About the width of a letter.
const LETTER: f64 = 8.5;
/// Steps of shading.
const SHADES: u32 = 10;

impl ExplanationPlot<'_> {
    /// The figure as SVG text: a lane a channel, shaded where a sample spoke for (the class's colour) or against
    /// (grey) what was decided, by its gain; below, the lead as it grew from the bias to the margin.
    pub fn to_svg(&self) -> String {
        let frame = Frame::of(self);
        let mut svg = open(self.title, (WIDTH, frame.panel.end + 62.0));
        draw_heading(self.title, self.subtitle, LEFT, &mut svg);
        self.draw_gains(&frame, &mut svg);
        let (samples, edges) = (frame.samples.clone(), (LEFT, RIGHT));
        draw_lanes(self.traces, samples, |sample| frame.x(sample), edges, TOP, &mut svg);
        self.draw_axes(&frame, &mut svg);
        self.draw_leads(&frame, &mut svg);
        svg += "</svg>\n";
        svg
    }

    fn draw_gains(&self, frame: &Frame, svg: &mut String) {
        for (index, piece) in self.pieces.iter().enumerate() {
            let colour = colour(piece.class);
            // Of symbols there is no lane to shade.
            let lanes = LANE * self.traces.len() as f64;
            let high = if self.traces.is_empty() { frame.panel.end - TOP } else { lanes };
            // A path for each shade.
            let mut shades = BTreeMap::<(bool, u32), String>::new();
            let (mut sample, shade) = (piece.start, |gain: &f64| frame.shade(*gain));
            for run in piece.gains.chunk_by(|a, b| shade(a) == shade(b)) {
                let (from, to) = (frame.x(sample), frame.x(sample + run.len()));
                sample += run.len();
                let path = shades.entry(shade(&run[0])).or_default();
                let _ = write!(path, "M{from:.1} {TOP}H{to:.1}v{high}H{from:.1}z");
            }
            for ((with, strength), path) in shades {
                let fill = if with { colour } else { "#6e7781" };
                let opacity = 0.6 * f64::from(strength) / f64::from(SHADES);
                if strength > 0 {
                    let _ = writeln!(
                        svg,
                        "<path fill=\"{fill}\" fill-opacity=\"{opacity:.2}\" d=\"{path}\"/>"
                    );
                }
            }
            let (from, to) = (frame.x(piece.start), frame.x(piece.start + piece.gains.len()));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{from:.1}\" x2=\"{from:.1}\" y1=\"{TOP}\" y2=\"{}\"/>",
                frame.panel.end
            );
            let next = self.pieces.get(index + 1).map(|next| frame.x(next.start) - from);
            let room = next.map_or(to - from, |next| next.min(to - from));
            let middle = f64::midpoint(from, to);
            let over = format!("over {}", piece.rival);
            let named = format!("class=\"name middle {}\"", ink(piece.class));
            let lines = [(piece.name, named.as_str(), 24.0), (&over, "class=\"middle\"", 8.0)];
            for (text, style, above) in lines {
                // Names of short windows, or of those that overlap, would lie over one another.
                if text.chars().count() as f64 * LETTER < room {
                    let _ = writeln!(
                        svg,
                        "<text {style} x=\"{middle:.1}\" y=\"{}\">{}</text>",
                        TOP - above,
                        escape(text)
                    );
                }
            }
        }
    }

    fn draw_axes(&self, frame: &Frame, svg: &mut String) {
        for lead in ticks(&frame.lead, 4.0) {
            draw_level((LEFT, RIGHT), frame.y(lead), &tidy(lead), svg);
        }
        let (zero, bottom) = (frame.y(0.0), frame.panel.end);
        let (from, to) = (frame.samples.start as f64, frame.samples.end as f64);
        let place = |at: f64| LEFT + (at - from) / (to - from) * (RIGHT - LEFT);
        match self.rate {
            Some(rate) => {
                let place = |time: f64| place(time * rate);
                let time = from / rate..to / rate;
                draw_time(&time, place, (LEFT, RIGHT), bottom, "time, seconds", svg);
            }
            None => draw_time(&(from..to), place, (LEFT, RIGHT), bottom, "time, samples", svg),
        }
        let _ = writeln!(
            svg,
            "<line class=\"zero\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{zero:.1}\" y2=\"{zero:.1}\"/>\n\
             <text class=\"middle\" transform=\"translate(16 {:.1}) rotate(-90)\">lead over the next</text>",
            f64::midpoint(frame.panel.start, bottom)
        );
    }

    fn draw_leads(&self, frame: &Frame, svg: &mut String) {
        for piece in self.pieces {
            let (colour, mut path) = (colour(piece.class), String::new());
            for (sample, lead) in (piece.start..).zip(running(piece)) {
                let verb = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{verb}{:.1} {:.1}", frame.x(sample), frame.y(lead));
            }
            let _ = writeln!(
                svg,
                "<path class=\"lead\" fill=\"none\" stroke=\"{colour}\" d=\"{path}\"/>"
            );
        }
    }
}

/// The lead before each sample and after the last; flat where a model was ruled out for good.
fn running(piece: &Piece<'_>) -> impl Iterator<Item = f64> {
    let gains = piece.gains.iter().map(|&gain| if gain.is_finite() { gain } else { 0.0 });
    let mut lead = piece.bias;
    std::iter::once(lead).chain(gains.map(move |gain| {
        lead += gain;
        lead
    }))
}

/// Map from samples and margins to places.
struct Frame {
    samples: Range<usize>,
    lead: Range<f64>,
    panel: Range<f64>,
    /// The gain that is shaded most.
    most: f64,
}

impl Frame {
    fn of(plot: &ExplanationPlot<'_>) -> Self {
        let first = plot.pieces.first().map_or(0, |piece| piece.start);
        let last = plot.pieces.iter().map(|piece| piece.start + piece.gains.len()).max();
        let leads = || plot.pieces.iter().flat_map(running);
        let (least, most) = (leads().fold(0.0, f64::min), leads().fold(0.0, f64::max));
        let room = 0.06 * (most - least).max(1e-9);
        let gains = plot.pieces.iter().flat_map(|piece| piece.gains);
        let mut gains: Vec<f64> = gains.map(|gain| gain.abs()).filter(|g| g.is_finite()).collect();
        gains.sort_unstable_by(f64::total_cmp);
        // A few samples that say nearly all would leave the others white.
        let strong = gains.get(gains.len() * 19 / 20).copied().unwrap_or(1.0);
        let start = TOP + plot.traces.len() as f64 * LANE + BETWEEN;
        Self {
            samples: first..last.unwrap_or(first + 1).max(first + 1),
            lead: least - room..most + room,
            panel: start..start + PANEL,
            most: strong.max(1e-300),
        }
    }

    /// Returns whether a gain supports the decision, and its strength, at most [`SHADES`].
    fn shade(&self, gain: f64) -> (bool, u32) {
        let share = (gain.abs() / self.most).min(1.0);
        (gain > 0.0, (share * f64::from(SHADES)).round() as u32)
    }

    fn x(&self, sample: usize) -> f64 {
        let span = (self.samples.end - self.samples.start) as f64;
        LEFT + (sample as f64 - self.samples.start as f64) / span * (RIGHT - LEFT)
    }

    fn y(&self, lead: f64) -> f64 {
        let share = (lead - self.lead.start) / (self.lead.end - self.lead.start);
        self.panel.end - share * (self.panel.end - self.panel.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_runs_from_bias_to_margin() {
        let piece = |gains| Piece { start: 2, class: 1, name: "a<b", rival: "c", bias: 0.5, gains };
        let lead: Vec<f64> = running(&piece(&[1.0, -0.25])).collect();
        assert_eq!(lead, [0.5, 1.5, 1.25]);
        for gains in [&[1.0, -0.25][..], &[f64::INFINITY, 0.0], &[0.0], &[]] {
            let traces = [("x".to_owned(), vec![Some(1.0), None, Some(1.0), Some(2.0)])];
            let pieces = [piece(gains)];
            let plot = ExplanationPlot {
                title: "t",
                subtitle: "s",
                traces: &traces[..gains.len().min(1)],
                rate: None,
                pieces: &pieces,
            };
            assert_eq!(running(&pieces[0]).count(), gains.len() + 1);
            let svg = plot.to_svg();
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("a&lt;b") != gains.is_empty() && !svg.contains("a<b"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
