//! A stand-in for a sensor: plays the streams of the self-test. Replace it by your sensor's driver, which gives
//! samples as the model was trained: the same channels, units and rate.

use crate::self_test::{STREAMS, Sample};

/// What the sensor has.
pub enum Next {
    /// A new stream begins: what came before says nothing about it.
    Stream,
    /// A sample.
    Sample(Sample),
    /// The time of a sample has passed without one.
    Missing,
}

/// The sensor.
pub struct Sensor {
    stream: usize,
    /// Samples of it that are done; none before it has begun.
    done: Option<usize>,
}

impl Sensor {
    /// A sensor before its first sample.
    pub fn new() -> Self {
        Self { stream: 0, done: None }
    }

    /// What comes next; nothing at the end of the recordings.
    pub fn next(&mut self) -> Option<Next> {
        loop {
            let stream = STREAMS.get(self.stream)?;
            let Some(done) = self.done else {
                self.done = Some(0);
                return Some(Next::Stream);
            };
            if let Some(step) = stream.get(done) {
                self.done = Some(done + 1);
                return Some(step.sample.map_or(Next::Missing, Next::Sample));
            }
            (self.stream, self.done) = (self.stream + 1, None);
        }
    }
}
