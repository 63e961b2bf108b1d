//! The detector in the middle of a stream, and the alarms that it raises. After an alarm it begins anew.

use fishweir_core::classify::Statistic;
use fishweir_core::filter;

use crate::model::{MODEL, Model};
use crate::self_test::Sample;

/// 0 for a change along the direction, 1 for a stream that the model no longer explains; the number of the sample, twice; bits of
/// the statistic.
pub type Bits = [u32; 4];

/// An alarm.
pub struct Found {
    statistic: Statistic,
    /// Samples of the stream.
    sample: u32,
    value: f32,
}

impl Found {
    /// Kind of the alarm, as `fishweir detect` names it.
    pub fn name(&self) -> &'static str {
        match self.statistic {
            Statistic::Drift(_) => "change",
            Statistic::Fit => "unlikely",
        }
    }

    /// Number of the sample, counted from 1, twice.
    pub fn place(&self) -> [u32; 2] {
        [self.sample; 2]
    }

    /// The statistic, in nats.
    pub fn value(&self) -> f32 {
        self.value
    }

    /// Bits that are compared with the host's.
    pub fn bits(&self) -> Bits {
        let statistic = u32::from(self.statistic == Statistic::Fit);
        [statistic, self.sample, self.sample, self.value.to_bits()]
    }
}

/// A stream: all of the RAM that it takes.
pub struct Stream {
    detector: filter::Stream<&'static Model>,
    samples: u32,
}

/// A stream before its first sample.
pub fn new() -> Stream {
    Stream { detector: filter::Stream::new(&MODEL), samples: 0 }
}

impl Stream {
    /// Takes in one sample, `None` for a missing one. A refused sample is missing: time passes.
    pub fn push(&mut self, sample: Option<&Sample>) {
        let _ = self.detector.push(sample);
        self.samples = self.samples.wrapping_add(1);
    }

    /// Starts a new stream.
    pub fn reset(&mut self) {
        self.detector.reset();
        self.samples = 0;
    }

    /// Gives the alarm that the last sample has raised: to be asked once after each.
    pub fn found(&mut self, mut each: impl FnMut(Found)) {
        let reading = self.detector.read();
        let Some(statistic) = reading.alarm else { return };
        let value = reading.value(statistic).unwrap_or_default();
        self.detector.reset();
        each(Found { statistic, sample: self.samples, value });
    }

    /// Gives nothing: an alarm is raised by a sample.
    pub fn at_end(&mut self, _each: impl FnMut(Found)) {}

    /// Bits of both statistics.
    pub fn reading(&self) -> [u32; 2] {
        let reading = self.detector.read();
        let [drift] = reading.drift;
        [reading.fit.to_bits(), drift.to_bits()]
    }
}
