//! A stand-in for a sensor: plays the recordings of the self-test. Replace it by your sensor's driver, which gives
//! samples as the model was trained: the same channels and units, at {{rate}}. A driver needs neither `Stream` nor `End`:
//! windows follow one another by themselves.

use crate::self_test::{RECORDINGS, Sample};

/// Next item of the sensor.
pub enum Next {
    /// A new stream begins, independent of earlier samples. Only recordings have a class.
    Stream {
        #[allow(dead_code)]
        label: Option<usize>,
    },
    /// A sample.
    Sample(Sample),
    /// The time of a sample has passed without one.
    Missing,
    /// The stream ends.
    End,
}

/// The sensor.
pub struct Sensor {
    recording: usize,
    /// Samples of it that are done; `None` before it has begun.
    done: Option<usize>,
}

impl Sensor {
    /// A sensor before its first sample.
    pub fn new() -> Self {
        Self { recording: 0, done: None }
    }

    /// Returns the next item; `None` at the end of the recordings.
    pub fn next(&mut self) -> Option<Next> {
        let recording = RECORDINGS.get(self.recording)?;
        let Some(done) = self.done else {
            self.done = Some(0);
            return Some(Next::Stream { label: recording.label });
        };
        let Some(sample) = recording.samples.get(done) else {
            (self.recording, self.done) = (self.recording + 1, None);
            return Some(Next::End);
        };
        self.done = Some(done + 1);
        Some(sample.map_or(Next::Missing, Next::Sample))
    }
}
