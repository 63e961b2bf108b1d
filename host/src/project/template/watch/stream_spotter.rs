//! The spotter in the middle of a stream, and the events that it finds.

use fishweir_core::filter;
use fishweir_core::spot::Event;

use crate::model::{CLASSES, MODEL, Model};
use crate::self_test::Sample;

/// Class, first sample, sample after the last, bits of the log-odds.
pub type Bits = [u32; 4];

/// An event.
pub struct Found(Event);

impl Found {
    /// Name of the class.
    pub fn name(&self) -> &'static str {
        CLASSES.get(usize::from(self.0.class)).copied().unwrap_or("?")
    }

    /// First sample, counted from 0, and the sample after the last.
    pub fn place(&self) -> [u32; 2] {
        [self.0.start as u32, self.0.end as u32]
    }

    /// Log-odds of all samples of the event, in nats.
    pub fn value(&self) -> f32 {
        self.0.log_odds
    }

    /// Bits that are compared with the host's.
    pub fn bits(&self) -> Bits {
        let [start, end] = self.place();
        [self.0.class.into(), start, end, self.0.log_odds.to_bits()]
    }
}

/// A stream: all of the RAM that it takes.
pub struct Stream(filter::Stream<&'static Model>);

/// A stream before its first sample.
pub fn new() -> Stream {
    Stream(filter::Stream::new(&MODEL))
}

impl Stream {
    /// Takes in one sample, `None` for a missing one. A refused sample is missing: time passes.
    pub fn push(&mut self, sample: Option<&Sample>) {
        let _ = self.0.push(sample);
    }

    /// Starts a new stream.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Gives the events that the last sample has decided.
    pub fn found(&mut self, mut each: impl FnMut(Found)) {
        self.0.state().spotted().events.iter().for_each(|&event| each(Found(event)));
    }

    /// Gives the events that the end of a stream leaves undecided, the open one last.
    pub fn at_end(&mut self, mut each: impl FnMut(Found)) {
        let rest = MODEL.undecided(self.0.state());
        rest.events.iter().copied().chain(rest.open).for_each(|event| each(Found(event)));
    }

    /// Samples so far, and events decided before survivors agreed.
    pub fn reading(&self) -> [u32; 2] {
        [self.0.state().samples() as u32, self.0.state().forced() as u32]
    }
}
