//! Events or alarms along a stream: a value over time with its limits, the true and the found ones, and the samples themselves.

use std::fmt::Write as _;
use std::ops::Range;

use super::lanes::{LANE, draw_lanes, draw_time, line};
use super::svg::{LEGEND_ROW, colour, draw_heading, draw_level, escape, legend, open, ticks, tidy};

/// A run of samples with its class.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The samples, from the beginning of the stream.
    pub samples: Range<usize>,
    /// Class of the run, for its colour.
    pub class: usize,
    /// Value of the run; drawn as a bar over it, of a single sample as a point.
    pub value: Option<f64>,
}

/// A stream with what was found in it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPlot<'a> {
    /// The heading.
    pub title: &'a str,
    /// Description in a line or two.
    pub subtitle: &'a str,
    /// Names of the classes, or of the statistics.
    pub classes: &'a [String],
    /// Name of the values, with their unit.
    pub axis: &'a str,
    /// Values that decide, drawn across the panel, with their names.
    pub limits: &'a [(f64, &'a str)],
    /// Value of a class at each sample, `[sample]`, `None` where it has none.
    pub lines: &'a [(usize, Vec<Option<f64>>)],
    /// Strips of runs below the panel, each with its name.
    pub strips: &'a [(&'a str, Vec<Span>)],
    /// Channels by name, `[channel][sample]`, `None` if missing; empty for symbols.
    pub traces: &'a [(String, Vec<Option<f64>>)],
    /// Number of samples.
    pub samples: usize,
    /// Samples per second; `None` for a time axis in samples.
    pub rate: Option<f64>,
}

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 72.0;
/// Line of the first row of the legend.
const LEGEND: f64 = 98.0;
const PANEL: f64 = 220.0;
const STRIP: f64 = 20.0;
/// Width at least of a run in a strip.
const THINNEST: f64 = 2.0;
/// Largest value of the axis, in multiples of the largest limit: an alarm may be a thousand times as far.
const FARTHEST: f64 = 4.0;

impl EventPlot<'_> {
    /// The figure as SVG text. Values beyond the axis lie on its edge.
    pub fn to_svg(&self) -> String {
        let (legend, rows) = legend(self.classes, (LEFT, RIGHT), LEGEND);
        let frame = Frame::of(self, LEGEND + LEGEND_ROW * rows as f64);
        let strips = frame.panel.end + 16.0;
        let lanes = strips + (STRIP + 4.0) * self.strips.len() as f64 + 12.0;
        let baseline = lanes + LANE * self.traces.len() as f64;
        let mut svg = open(self.title, (WIDTH, baseline + 54.0));
        draw_heading(self.title, self.subtitle, LEFT, &mut svg);
        svg += &legend;
        self.draw_panel(&frame, &mut svg);
        self.draw_strips(&frame, strips, &mut svg);
        let x = |sample: usize| frame.x(sample as f64);
        draw_lanes(self.traces, 0..self.samples, x, (LEFT, RIGHT), lanes, &mut svg);
        let rate = self.rate.unwrap_or(1.0);
        let unit = if self.rate.is_some() { "time, seconds" } else { "time, samples" };
        let time = 0.0..self.samples as f64 / rate;
        draw_time(&time, |time| frame.x(time * rate), (LEFT, RIGHT), baseline, unit, &mut svg);
        svg += "</svg>\n";
        svg
    }

    fn draw_panel(&self, frame: &Frame, svg: &mut String) {
        for value in ticks(&frame.values, 5.0) {
            draw_level((LEFT, RIGHT), frame.y(value), &tidy(value), svg);
        }
        let _ = writeln!(
            svg,
            "<text class=\"middle\" transform=\"translate(16 {:.1}) rotate(-90)\">{}</text>",
            f64::midpoint(frame.panel.start, frame.panel.end),
            escape(self.axis)
        );
        for span in self.strips.iter().flat_map(|(_, spans)| spans) {
            let Some(value) = span.value.filter(|_| span.samples.len() > 1) else { continue };
            let (from, width) = frame.place(&span.samples);
            let (zero, y) = (frame.y(0.0), frame.y(value));
            let _ = writeln!(
                svg,
                "<rect class=\"lead\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
                 fill=\"{2}\" stroke=\"{2}\"><title>{3}: {4}</title></rect>",
                y.min(zero),
                (y - zero).abs(),
                colour(span.class),
                escape(self.name(span.class)),
                tidy(value)
            );
        }
        for (class, values) in self.lines {
            let path =
                line(values, 0, |sample| frame.x(sample as f64 + 1.0), |value| frame.y(value));
            let colour = colour(*class);
            let _ = writeln!(
                svg,
                "<path fill=\"none\" stroke-width=\"1.4\" stroke-linejoin=\"round\" stroke=\"{colour}\" d=\"{path}\"/>"
            );
        }
        for &(limit, name) in self.limits {
            let y = frame.y(limit);
            let _ = writeln!(
                svg,
                "<line class=\"zero\" stroke-dasharray=\"5 4\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n\
                 <text class=\"small strong\" x=\"{}\" y=\"{:.1}\">{}</text>",
                RIGHT + 6.0,
                y + 4.0,
                escape(name)
            );
        }
        // Last, so that nothing covers a point.
        for span in self.strips.iter().flat_map(|(_, spans)| spans) {
            let Some(value) = span.value.filter(|_| span.samples.len() == 1) else { continue };
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"><title>{}: {}</title></circle>",
                frame.x(span.samples.end as f64),
                frame.y(value),
                colour(span.class),
                escape(self.name(span.class)),
                tidy(value)
            );
        }
    }

    fn draw_strips(&self, frame: &Frame, top: f64, svg: &mut String) {
        for (row, (name, spans)) in self.strips.iter().enumerate() {
            let y = top + row as f64 * (STRIP + 4.0);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>\n\
                 <text class=\"end\" x=\"{1}\" y=\"{2:.1}\">{3}</text>",
                y + STRIP,
                LEFT - 8.0,
                y + STRIP - 6.0,
                escape(name)
            );
            for span in spans {
                let (from, width) = frame.place(&span.samples);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{STRIP}\" fill=\"{}\">\
                     <title>{}</title></rect>",
                    colour(span.class),
                    escape(self.name(span.class))
                );
            }
        }
    }

    fn name(&self, class: usize) -> &str {
        self.classes.get(class).map_or("?", String::as_str)
    }
}

/// Map from samples and values to places.
struct Frame {
    samples: f64,
    values: Range<f64>,
    panel: Range<f64>,
}

impl Frame {
    fn of(plot: &EventPlot<'_>, top: f64) -> Self {
        let spans = plot.strips.iter().flat_map(|(_, spans)| spans).filter_map(|span| span.value);
        let values = plot.lines.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let limits = plot.limits.iter().map(|limit| limit.0);
        let farthest =
            FARTHEST * limits.clone().fold(0.0, |most: f64, limit| most.max(limit.abs()));
        let most = if farthest > 0.0 { farthest } else { f64::MAX };
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for value in spans.chain(values).chain(limits).filter(|value| value.is_finite()) {
            (low, high) = (low.min(value.max(-most)), high.max(value.min(most)));
        }
        let room = 0.06 * (high - low).max(1e-9);
        Self {
            samples: plot.samples.max(1) as f64,
            values: if low < 0.0 { low - room } else { low }..high + room,
            panel: top..top + PANEL,
        }
    }

    fn x(&self, sample: f64) -> f64 {
        LEFT + sample / self.samples * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        let Range { start, end } = self.values;
        let share = (value.clamp(start, end) - start) / (end - start);
        self.panel.end - share * PANEL
    }

    /// Left edge and width of samples.
    fn place(&self, samples: &Range<usize>) -> (f64, f64) {
        let (from, to) = (self.x(samples.start as f64), self.x(samples.end as f64));
        (from, (to - from).max(THINNEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_lies_on_the_panel_and_below_the_legend() {
        let classes: Vec<String> =
            (0..40).map(|class| format!("a class of a long name {class}")).collect();
        let span = |samples: Range<usize>, class, value| Span { samples, class, value };
        let strips = [
            ("true", vec![span(2..6, 0, None)]),
            ("found", vec![span(2..5, 0, Some(1e9)), span(7..8, 39, Some(f64::INFINITY))]),
        ];
        let plot = EventPlot {
            title: "t",
            subtitle: "s",
            classes: &classes,
            axis: "multiples of <the limit>",
            limits: &[(1.0, "limit"), (-1.0, "limit")],
            lines: &[(0, vec![Some(-7.0), None, Some(0.5), Some(f64::NEG_INFINITY)])],
            strips: &strips,
            traces: &[("x".to_owned(), vec![Some(1.0); 10])],
            samples: 10,
            rate: None,
        };
        let svg = plot.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        // The words over a point have its value; no place is infinite.
        let places = svg.replace(": inf</title>", "</title>");
        assert!(!places.contains("NaN") && !places.contains("inf"));
        assert!(svg.contains("&lt;the limit&gt;"));
        let (_, rows) = legend(&classes, (LEFT, RIGHT), LEGEND);
        let frame = Frame::of(&plot, LEGEND + LEGEND_ROW * rows as f64);
        assert!(rows > 4 && frame.panel.start > LEGEND + LEGEND_ROW * (rows - 1) as f64);
        for value in [1e9, -7.0, f64::INFINITY] {
            assert!((frame.panel.start..=frame.panel.end).contains(&frame.y(value)), "{value}");
        }
        assert_eq!(svg.matches("<circle").count(), 1);
        assert_eq!(svg.matches("class=\"lead\"").count(), 1);
    }

    #[test]
    fn nothing_found_is_a_figure_too() {
        let plot = EventPlot {
            title: "t",
            subtitle: "s",
            classes: &[],
            axis: "a",
            limits: &[],
            lines: &[],
            strips: &[("found", Vec::new())],
            traces: &[],
            samples: 0,
            rate: Some(50.0),
        };
        assert!(!plot.to_svg().contains("NaN"));
    }
}
