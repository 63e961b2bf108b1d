//! The figure of a stream: its margins and decisions over its samples, drawn when it has ended.

use std::path::Path;

use fishweir::data::{Kind, Sample};
use fishweir::deploy::Stream;
use fishweir::plot::{Reading, Segment, StreamPlot};
use fishweir::report::{counted, grouped};

use crate::{Failure, output};

/// Samples that a figure has at most; a stream may never end.
const MOST_DRAWN: usize = 200_000;

/// What a stream has brought so far.
pub(super) struct Drawn<'a> {
    classes: &'a [String],
    /// `[channel][sample]`.
    traces: Vec<(String, Vec<Option<f64>>)>,
    rate: Option<f64>,
    samples: usize,
    /// Stretches of one true class, where the stream names it.
    segments: Vec<Segment>,
    readings: Vec<Reading>,
}

impl<'a> Drawn<'a> {
    /// A stream before its first sample.
    pub(super) fn new(classes: &'a [String], kind: &Kind, rate: Option<f64>) -> Self {
        let names = match kind {
            Kind::Channels(names) => names.as_slice(),
            Kind::Symbols(_) => &[],
        };
        let traces = names.iter().map(|name| (name.clone(), Vec::new())).collect();
        Self { classes, traces, rate, samples: 0, segments: Vec::new(), readings: Vec::new() }
    }

    fn time(&self, sample: usize) -> f64 {
        sample as f64 / self.rate.unwrap_or(1.0)
    }

    /// Takes in a sample, and its true class where that is known.
    pub(super) fn take(&mut self, sample: Sample<'_>, label: Option<&str>) {
        let at = self.samples;
        self.samples += 1;
        if at >= MOST_DRAWN {
            return;
        }
        for (channel, (_, values)) in self.traces.iter_mut().enumerate() {
            values.push(match sample {
                Sample::Row(row) => row.get(channel).copied().filter(|value| !value.is_nan()),
                Sample::Symbol(_) | Sample::Missing => None,
            });
        }
        let class = label.and_then(|label| self.classes.iter().position(|class| class == label));
        let Some(class) = class else { return };
        let time = self.time(at)..self.time(at + 1);
        match self.segments.last_mut() {
            Some(last) if last.class == class && last.time.end == time.start => {
                last.time.end = time.end;
            }
            _ => self.segments.push(Segment { time, class }),
        }
    }

    /// Takes in the decision on samples `start` to `end`, where there is one.
    pub(super) fn decide(&mut self, stream: &Stream, start: u64, end: u64) {
        let within = usize::try_from(end).is_ok_and(|end| end <= MOST_DRAWN);
        let (Ok(decision), Ok(leads)) = (stream.decision(), stream.leads()) else { return };
        if within && stream.samples() > 0 {
            let [from, time] = [start, end].map(|at| self.time(at as usize));
            self.readings.push(Reading { from, time, class: decision.class, leads });
        }
    }

    /// Draws what there was.
    pub(super) fn draw(&self, path: &Path, model: &Path) -> Result<(), Failure> {
        let beyond = self.samples > MOST_DRAWN;
        let part = if beyond {
            format!(", the first {} drawn", grouped(MOST_DRAWN))
        } else {
            String::new()
        };
        let subtitle = format!(
            "{}{part}; {} by {}",
            counted(self.samples, "sample"),
            counted(self.readings.len(), "decision"),
            model.display()
        );
        let plot = StreamPlot {
            title: "Decisions on the stream",
            subtitle: &subtitle,
            classes: self.classes,
            segments: &self.segments,
            readings: &self.readings,
            traces: &self.traces,
            rate: self.rate,
        };
        output::draw(path, &plot.to_svg())
    }
}
