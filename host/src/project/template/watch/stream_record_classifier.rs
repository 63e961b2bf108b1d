//! The classifier of records, and its decision on each.

use fishweir_core::classify::Decision;
use fishweir_core::filter;

use crate::model::{CLASSES, MODEL, Model};
use crate::self_test::Sample;

/// Class; the number of the record, twice; bits of the margin.
pub type Bits = [u32; 4];

/// A decision on a record.
pub struct Found {
    decision: Decision,
    record: u32,
}

impl Found {
    /// Name of the class.
    pub fn name(&self) -> &'static str {
        CLASSES.get(self.decision.class).copied().unwrap_or("?")
    }

    /// Number of the record, counted from 1, twice.
    pub fn place(&self) -> [u32; 2] {
        [self.record; 2]
    }

    /// Margin over the runner-up.
    pub fn value(&self) -> f32 {
        self.decision.margin
    }

    /// Bits that are compared with the host's.
    pub fn bits(&self) -> Bits {
        [self.decision.class as u32, self.record, self.record, self.decision.margin.to_bits()]
    }
}

/// A stream: all of the RAM that it takes.
pub struct Stream {
    classifier: filter::Stream<&'static Model>,
    /// `true` if the last record was possible.
    is_taken: bool,
    records: u32,
}

/// A stream before its first record.
pub fn new() -> Stream {
    Stream { classifier: filter::Stream::new(&MODEL), is_taken: false, records: 0 }
}

impl Stream {
    /// Takes in one record: the index of a state per column.
    pub fn push(&mut self, record: Option<&Sample>) {
        self.classifier.reset();
        let pushed = self.classifier.push(record.map(|record| &record[..]));
        self.is_taken = record.is_some() && pushed.is_ok();
        self.records = self.records.wrapping_add(1);
    }

    /// Counts records from 1 again.
    pub fn reset(&mut self) {
        self.records = 0;
    }

    /// Gives the decision on the last record; nothing for one that was refused.
    pub fn found(&mut self, mut each: impl FnMut(Found)) {
        if self.is_taken {
            each(Found { decision: self.classifier.read(), record: self.records });
        }
    }

    /// Gives nothing: each record is decided on alone.
    pub fn at_end(&mut self, _each: impl FnMut(Found)) {}

    /// Nothing is left of a record.
    pub fn reading(&self) -> [u32; 2] {
        [0; 2]
    }
}
