//! What a device that watches a stream is sent, and what it must answer.

use fishweir_core::classify::Statistic;
use fishweir_core::wire::Request;

use super::Recording;
use crate::data::Sample;
use crate::deploy::{Detector, Found, Spotter};
use crate::device::{Dialogue, Input, LinePiece};

/// Samples that are sent at once: their frames fit the buffer of a board's serial port.
const AT_ONCE: usize = 4;

/// A recording as a device is sent it, and the lines that it must answer.
#[derive(Clone, Debug, Default)]
pub struct WatchedLines {
    /// Samples, a few at a time.
    pub pieces: Vec<LinePiece>,
    /// The host's lines.
    pub expected: Vec<String>,
    /// Samples, missing ones included, or records.
    pub samples: usize,
}

/// A model in the middle of a stream, in the words of the device's lines.
trait LineStream {
    /// Takes in a sample, and gives the lines that it leads to.
    fn push(&mut self, sample: Sample<'_>) -> Vec<String>;
    /// Ends the stream, and gives the lines that that leads to.
    fn end(&mut self) -> Vec<String>;
}

impl WatchedLines {
    /// A recording for a spotter.
    #[must_use]
    pub fn of_spotter(spotter: &Spotter, recording: &Recording<'_>) -> Self {
        struct Stream<'a>(&'a Spotter, crate::deploy::SpotterStream, u32);
        impl Stream<'_> {
            fn line(&self, what: &str, Found { event, decided }: &Found) -> String {
                let class = &self.0.classes()[usize::from(event.class)];
                let (start, end, bits) = (event.start, event.end, event.log_odds.to_bits());
                format!("{what} {decided} {start} {end} {bits:08x} {class}")
            }
        }
        impl LineStream for Stream<'_> {
            fn push(&mut self, sample: Sample<'_>) -> Vec<String> {
                self.2 += 1;
                let refused = self.1.push(sample).is_err();
                let refused = refused.then(|| format!("refused {}", self.2));
                let found = self.1.decided();
                refused.into_iter().chain(found.iter().map(|one| self.line("event", one))).collect()
            }
            fn end(&mut self) -> Vec<String> {
                let word =
                    |one: &Found| if one.event.end == one.decided { "open" } else { "event" };
                let rest = self.1.undecided();
                let lines = rest.iter().map(|one| self.line(word(one), one)).collect();
                self.1.reset();
                self.2 = 0;
                lines
            }
        }
        Self::of(&mut Stream(spotter, spotter.stream(), 0), recording)
    }

    /// A recording for a detector.
    #[must_use]
    pub fn of_detector(detector: &Detector, recording: &Recording<'_>) -> Self {
        struct Stream(crate::deploy::DetectorStream, u32);
        impl LineStream for Stream {
            fn push(&mut self, sample: Sample<'_>) -> Vec<String> {
                self.1 += 1;
                let sample_number = self.1;
                let mut lines = Vec::new();
                if self.0.push(sample).is_err() {
                    lines.push(format!("refused {sample_number}"));
                }
                let reading = self.0.read();
                if let Some(alarm) = reading.alarm {
                    let bits = reading.value(alarm).unwrap_or_default().to_bits();
                    let name = match alarm {
                        Statistic::Fit => "fit".to_owned(),
                        Statistic::Drift(direction) => format!("drift {direction}"),
                    };
                    lines.push(format!("alarm {sample_number} {name} {bits:08x}"));
                    self.0.reset();
                }
                lines
            }
            fn end(&mut self) -> Vec<String> {
                self.0.reset();
                self.1 = 0;
                Vec::new()
            }
        }
        Self::of(&mut Stream(detector.stream(), 0), recording)
    }

    fn of(stream: &mut dyn LineStream, recording: &Recording<'_>) -> Self {
        let (mut all, mut dialogue, mut waiting) = (Self::default(), Dialogue::new(), 0);
        let ask = |dialogue: &mut Dialogue, all: &mut Self| {
            dialogue.ask(Request::Report);
            let (bytes, until) = (dialogue.take(), &["counts"]);
            dialogue.ask(Request::Report);
            all.pieces.push(LinePiece { bytes, until, again: dialogue.take() });
        };
        all.samples = recording.samples();
        let views = &recording.streams;
        let mut samples = views.iter().flat_map(|view| view.iter());
        for input in recording.inputs().into_iter().map(Some).chain([None]) {
            match input {
                Some(Input::Reset) | None => {
                    dialogue.ask(Request::End);
                    all.expected.extend(stream.end());
                }
                Some(input) => {
                    dialogue.push(input);
                    let sample = samples.next().unwrap_or(Sample::Missing);
                    let sample = if recording.in_part { sample } else { sample.if_whole() };
                    all.expected.extend(stream.push(sample));
                }
            }
            waiting += 1;
            if waiting == AT_ONCE || input.is_none() {
                ask(&mut dialogue, &mut all);
                waiting = 0;
            }
        }
        all
    }
}
