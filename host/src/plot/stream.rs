//! Margins of the classes over time, true segments shaded, decisions and the samples themselves below.

use std::fmt::Write as _;
use std::ops::Range;

use super::lanes::{LANE, draw_lanes, draw_time};
use super::svg::{
    LEGEND_ROW, colour, draw_heading, draw_level, escape, ink, legend, open, text_width, ticks,
    tidy,
};

/// A stretch of time with its true class.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Start and end, in seconds, or in samples where there is no rate.
    pub time: Range<f64>,
    /// Class of the stretch.
    pub class: usize,
}

/// Reading of a classifier at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Time of the first sample that it is of, as of a [`Segment`].
    pub from: f64,
    /// Time of the reading: of the last.
    pub time: f64,
    /// The class decided for.
    pub class: usize,
    /// Margin of each class over the best of the others, `[class]`; negative where it does not win.
    ///
    /// Margins are subtracted before rounding, so that they agree with the decision: rounded decision values need not.
    pub leads: Vec<f32>,
}

/// A stream with its true segments and a classifier's readings.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlot<'a> {
    /// The heading.
    pub title: &'a str,
    /// Description in a line or two.
    pub subtitle: &'a str,
    /// Names of the classes.
    pub classes: &'a [String],
    /// True segments in order of time; empty where they are not known.
    pub segments: &'a [Segment],
    /// Readings in order of time.
    pub readings: &'a [Reading],
    /// Channels by name, `[channel][sample]` from time 0 on, `None` if missing; empty for symbols.
    pub traces: &'a [(String, Vec<Option<f64>>)],
    /// Samples per second; `None` for times in samples.
    pub rate: Option<f64>,
}

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 56.0;
const TOP: f64 = 122.0;
const BOTTOM: f64 = 420.0;
const STRIP: f64 = 20.0;
const STRIPS: f64 = BOTTOM + 16.0;
/// Top of the channels, below both strips.
const LANES: f64 = STRIPS + 2.0 * STRIP + 16.0;

impl StreamPlot<'_> {
    /// The figure as SVG text.
    pub fn to_svg(&self) -> String {
        let frame = Frame::of(self);
        let height = self.baseline() + 54.0;
        let (legend, rows) = legend(self.classes, (LEFT, RIGHT), height + 8.0);
        let mut svg = open(self.title, (WIDTH, height + LEGEND_ROW * rows as f64));
        svg += "<defs>";
        let (width, up) = (RIGHT - LEFT, frame.y(0.0) - TOP);
        let _ = write!(svg, "<clipPath id=\"up\"><rect x=\"{LEFT}\" y=\"{TOP}\" ");
        let _ = write!(svg, "width=\"{width}\" height=\"{up:.1}\"/></clipPath>");
        let _ = write!(svg, "<clipPath id=\"all\"><rect x=\"{LEFT}\" y=\"{TOP}\" ");
        let _ = writeln!(svg, "width=\"{width}\" height=\"{}\"/></clipPath></defs>", BOTTOM - TOP);
        draw_heading(self.title, self.subtitle, LEFT, &mut svg);
        self.draw_segments(&frame, &mut svg);
        self.draw_axes(&frame, &mut svg);
        self.draw_margins(&frame, &mut svg);
        self.draw_strips(&frame, &mut svg);
        let rate = self.rate.unwrap_or(1.0);
        let samples = (frame.time.start * rate) as usize..(frame.time.end * rate).ceil() as usize;
        let x = |sample: usize| frame.x(sample as f64 / rate);
        draw_lanes(self.traces, samples, x, (LEFT, RIGHT), LANES, &mut svg);
        svg += &legend;
        svg += "</svg>\n";
        svg
    }

    fn draw_segments(&self, frame: &Frame, svg: &mut String) {
        for Segment { time, class } in self.segments {
            let (from, to) = (frame.x(time.start), frame.x(time.end));
            let _ = writeln!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\" \
                 fill-opacity=\".13\"/>",
                to - from,
                BOTTOM - TOP,
                colour(*class),
            );
            // Names of short segments would lie over one another; the strips have them all.
            if text_width(self.name(*class)) < to - from {
                let _ = writeln!(
                    svg,
                    "<text class=\"name middle {}\" x=\"{:.1}\" y=\"{}\">{}</text>",
                    ink(*class),
                    (from + to) / 2.0,
                    TOP - 12.0,
                    escape(self.name(*class))
                );
            }
        }
    }

    fn draw_margins(&self, frame: &Frame, svg: &mut String) {
        let zero = frame.y(0.0);
        let mut leads = String::new();
        for class in 0..self.classes.len() {
            let colour = colour(class);
            // Between windows that share no sample the past was forgotten.
            for run in self.readings.chunk_by(|one, next| next.from <= one.time) {
                let [first, ..] = run else { continue };
                let height = |reading: &Reading| {
                    let lead = reading.leads.get(class).copied();
                    frame.y(lead.unwrap_or(f32::NEG_INFINITY).into())
                };
                // A decision alone is drawn over its samples: a point would not be seen.
                let from = frame.x(if run.len() == 1 { first.from } else { first.time });
                let mut path = format!("M{from:.1} {:.1}", height(first));
                for reading in run {
                    let _ = write!(path, "L{:.1} {:.1}", frame.x(reading.time), height(reading));
                }
                let _ = writeln!(
                    svg,
                    "<path class=\"below\" clip-path=\"url(#all)\" stroke=\"{colour}\" d=\"{path}\"/>"
                );
                let to = run.last().map_or(from, |last| frame.x(last.time));
                let _ = writeln!(
                    leads,
                    "<path class=\"lead\" clip-path=\"url(#up)\" stroke=\"{colour}\" \
                     fill=\"{colour}\" d=\"{path}L{to:.1} {zero:.1}L{from:.1} {zero:.1}Z\"/>"
                );
            }
        }
        *svg += &leads;
        let _ = writeln!(
            svg,
            "<line class=\"zero\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{zero:.1}\" y2=\"{zero:.1}\"/>"
        );
    }

    /// The end of all panels.
    fn baseline(&self) -> f64 {
        LANES + LANE * self.traces.len() as f64
    }

    fn draw_axes(&self, frame: &Frame, svg: &mut String) {
        for margin in ticks(&frame.margin, 5.0) {
            draw_level((LEFT, RIGHT), frame.y(margin), &tidy(margin), svg);
        }
        let unit = if self.rate.is_some() { "time, seconds" } else { "time, samples" };
        draw_time(&frame.time, |time| frame.x(time), (LEFT, RIGHT), self.baseline(), unit, svg);
        let _ = writeln!(
            svg,
            "<text class=\"middle\" transform=\"translate(16 {}) rotate(-90)\">margin over the best other class</text>",
            (TOP + BOTTOM) / 2.0
        );
    }

    /// Two strips: the true classes, and the decisions.
    fn draw_strips(&self, frame: &Frame, svg: &mut String) {
        let mut strip = |row: f64, name: &str, runs: &[Segment]| {
            let y = STRIPS + row * (STRIP + 4.0);
            let _ = writeln!(
                svg,
                "<text class=\"end\" x=\"{}\" y=\"{}\">{name}</text>",
                LEFT - 8.0,
                y + STRIP - 6.0
            );
            for Segment { time, class } in runs {
                let (from, to) = (frame.x(time.start), frame.x(time.end));
                let _ = writeln!(
                    svg,
                    "<rect x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{STRIP}\" \
                     fill=\"{}\"><title>{}</title></rect>",
                    to - from,
                    colour(*class),
                    escape(self.name(*class))
                );
            }
        };
        let rows = [("true", self.segments), ("decided", &self.decisions())];
        let known = rows.into_iter().filter(|(_, runs)| !runs.is_empty());
        known.enumerate().for_each(|(row, (name, runs))| strip(row as f64, name, runs));
    }

    /// Runs of equal decisions, each from the reading before it, or from its own first sample where that is later.
    fn decisions(&self) -> Vec<Segment> {
        let mut runs: Vec<Segment> = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for reading in self.readings {
            let class = reading.class;
            match runs.last_mut() {
                Some(run) if run.class == class && reading.from <= run.time.end => {
                    run.time.end = reading.time;
                }
                _ => runs.push(Segment { time: before.max(reading.from)..reading.time, class }),
            }
            before = reading.time;
        }
        runs
    }

    fn name(&self, class: usize) -> &str {
        self.classes.get(class).map_or("?", String::as_str)
    }
}

/// Map from times and margins to places.
struct Frame {
    time: Range<f64>,
    margin: Range<f64>,
}

impl Frame {
    fn of(plot: &StreamPlot<'_>) -> Self {
        let samples = plot.traces.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let ends = [
            plot.segments.last().map(|one| one.time.end),
            plot.readings.last().map(|one| one.time),
        ];
        let last = samples as f64 / plot.rate.unwrap_or(1.0);
        let time = 0.0..ends.into_iter().flatten().fold(last, f64::max);
        let (mut leads, mut others) = (Vec::new(), Vec::new());
        for reading in plot.readings {
            // A lead over what is ruled out is infinite, and sets no scale.
            for margin in
                reading.leads.iter().map(|&lead| f64::from(lead)).filter(|m| m.is_finite())
            {
                if margin >= 0.0 { leads.push(margin) } else { others.push(margin) }
            }
        }
        leads.sort_by(f64::total_cmp);
        others.sort_by(f64::total_cmp);
        let highest = leads.last().copied().unwrap_or(1.0).max(1e-9) * 1.06;
        // The losers' tail would take all the room: it is cut.
        let lowest = others.get(others.len() / 12).copied().unwrap_or(-1.0);
        Self { time, margin: lowest.max(-1.6 * highest).min(-0.2 * highest)..highest }
    }

    fn x(&self, time: f64) -> f64 {
        let span = (self.time.end - self.time.start).max(1e-9);
        LEFT + (time - self.time.start) / span * (RIGHT - LEFT)
    }

    fn y(&self, margin: f64) -> f64 {
        let share = (margin - self.margin.start) / (self.margin.end - self.margin.start);
        // Far outside is as good as further outside, and shorter to write.
        BOTTOM - share.clamp(-0.5, 1.5) * (BOTTOM - TOP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_names_its_classes_and_is_closed() {
        let classes = ["a<b".to_owned(), "c".to_owned()];
        let segments = [Segment { time: 0.0..2.0, class: 0 }, Segment { time: 2.0..4.0, class: 1 }];
        let reading =
            |time, class, lead| Reading { from: 1.0, time, class, leads: vec![lead, -lead] };
        // The last by less than rounding leaves, and the second with the other ruled out.
        let readings = [reading(1.0, 0, 1.0), reading(2.0, 0, f32::INFINITY), reading(3.0, 1, 0.0)];
        let plot = StreamPlot {
            title: "t",
            subtitle: "s",
            classes: &classes,
            segments: &segments,
            readings: &readings,
            traces: &[("x".to_owned(), vec![Some(1.0), None, Some(2.0), Some(1.0), Some(1.0)])],
            rate: Some(1.0),
        };
        let runs = plot.decisions();
        assert_eq!(
            runs,
            [Segment { time: 1.0..2.0, class: 0 }, Segment { time: 2.0..3.0, class: 1 }]
        );
        let svg = plot.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
