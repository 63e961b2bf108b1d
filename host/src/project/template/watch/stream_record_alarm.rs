//! The alarm on a stream of records. After an alarm it begins anew.

use fishweir_core::filter;
use fishweir_core::network::DiscrepancyReading;

use crate::model::{COLUMNS, MODEL, Model};
use crate::self_test::Sample;

/// Column with the largest share; the number of the record, twice; bits of the statistic.
pub type Bits = [u32; 4];

/// An alarm.
pub struct Found {
    reading: DiscrepancyReading,
    record: u32,
}

impl Found {
    /// Name of the column with the largest share of the statistic.
    pub fn name(&self) -> &'static str {
        COLUMNS.get(self.reading.node).copied().unwrap_or("?")
    }

    /// Number of the record, counted from 1, twice.
    pub fn place(&self) -> [u32; 2] {
        [self.record; 2]
    }

    /// Distance of the recent records from the network.
    pub fn value(&self) -> f32 {
        self.reading.statistic
    }

    /// Bits that are compared with the host's.
    pub fn bits(&self) -> Bits {
        [self.reading.node as u32, self.record, self.record, self.reading.statistic.to_bits()]
    }
}

/// A stream: all of the RAM that it takes.
pub struct Stream {
    alarm: filter::Stream<&'static Model>,
    /// `true` if the last record was possible.
    is_taken: bool,
    /// Bits of the statistic at the last possible record, and of the largest share of it.
    reading: [u32; 2],
    records: u32,
}

/// A stream before its first record.
pub fn new() -> Stream {
    Stream { alarm: filter::Stream::new(&MODEL), is_taken: false, reading: [0; 2], records: 0 }
}

impl Stream {
    /// Takes in one record: the index of a state per column. A refused record is missing.
    pub fn push(&mut self, record: Option<&Sample>) {
        let pushed = self.alarm.push(record.map(|record| &record[..]));
        self.is_taken = record.is_some() && pushed.is_ok();
        self.records = self.records.wrapping_add(1);
    }

    /// Starts a new stream.
    pub fn reset(&mut self) {
        self.alarm.reset();
        self.reading = [0; 2];
        self.records = 0;
    }

    /// Gives the alarm that the last record has raised: to be asked once after each.
    pub fn found(&mut self, mut each: impl FnMut(Found)) {
        if !self.is_taken {
            return;
        }
        let reading = self.alarm.read();
        self.reading = [reading.statistic, reading.share].map(f32::to_bits);
        if reading.alarm {
            self.alarm.reset();
            each(Found { reading, record: self.records });
        }
    }

    /// Gives nothing: an alarm is raised by a record.
    pub fn at_end(&mut self, _each: impl FnMut(Found)) {}

    /// Bits of the statistic at the last possible record, and of the largest share of it.
    pub fn reading(&self) -> [u32; 2] {
        self.reading
    }
}
