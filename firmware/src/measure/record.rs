//! Record that the image `measure` sends: one per row of the table, of whole numbers only, so that no formatting is linked.
//!
//! The host compiles this file too.

/// Cost of one recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// Name of the measured recursion: UTF-8, padded with zeros. All zero in the record that ends the table.
    pub name: [u8; NAME_LENGTH],
    /// Ticks of the board's counter in a second.
    pub ticks_per_second: u32,
    /// Samples pushed.
    pub samples: u32,
    /// Ticks that they took.
    pub ticks: u32,
    /// Ticks that the loop around them takes by itself.
    pub empty_ticks: u32,
    /// Bytes of the model.
    pub model_bytes: u32,
    /// Bytes of the state.
    pub state_bytes: u32,
    /// Deepest stack below the caller that keeps the state, readings included, in bytes.
    pub stack_bytes: u32,
    /// Address of the code that pushes; 0 if it is not one function.
    pub code: u32,
    /// Digest of the readings, where the host computes it too: see `bits`.
    pub digest: u32,
}

/// The name of a row that is a wait.
pub const DELAY: &str = "a delay of 1 ms";

/// Bytes of a name.
pub const NAME_LENGTH: usize = 44;
/// Bytes of a record.
pub const LENGTH: usize = NAME_LENGTH + 9 * 4;

impl Measurement {
    /// Ends the table.
    pub const END: Self = Self {
        name: [0; NAME_LENGTH],
        ticks_per_second: 0,
        samples: 0,
        ticks: 0,
        empty_ticks: 0,
        model_bytes: 0,
        state_bytes: 0,
        stack_bytes: 0,
        code: 0,
        digest: 0,
    };

    /// The record on the wire: the name, then the numbers, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (name, numbers) = bytes.split_at_mut(NAME_LENGTH);
        name.copy_from_slice(&self.name);
        let values = [
            self.ticks_per_second,
            self.samples,
            self.ticks,
            self.empty_ticks,
            self.model_bytes,
            self.state_bytes,
            self.stack_bytes,
            self.code,
            self.digest,
        ];
        for (slot, value) in numbers.chunks_exact_mut(4).zip(values) {
            slot.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// The record with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; LENGTH]) -> Self {
        let mut record = Self::END;
        let (name, numbers) = bytes.split_at(NAME_LENGTH);
        record.name.copy_from_slice(name);
        let slots = [
            &mut record.ticks_per_second,
            &mut record.samples,
            &mut record.ticks,
            &mut record.empty_ticks,
            &mut record.model_bytes,
            &mut record.state_bytes,
            &mut record.stack_bytes,
            &mut record.code,
            &mut record.digest,
        ];
        for (slot, bytes) in slots.into_iter().zip(numbers.chunks_exact(4)) {
            *slot = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        }
        record
    }
}
