//! Records of categories out of the bytes of a line.

use fishweir_core::network::MISSING;

/// Names of a model's columns and states.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// The columns of a record.
    pub columns: &'n [&'n str],
    /// The states of each.
    pub states: &'n [&'n [&'n str]],
    /// Names of the classes; empty for an alarm.
    pub classes: &'n [&'n str],
}

/// Bytes of the longest name of a state, one at least: the room that a [`Line`] needs.
pub const fn longest(states: &[&[&str]]) -> usize {
    let (mut longest, mut column) = (1, 0);
    while column < states.len() {
        let mut state = 0;
        while state < states[column].len() {
            let length = states[column][state].len();
            longest = if length > longest { length } else { longest };
            state += 1;
        }
        column += 1;
    }
    longest
}

/// Reason why a record was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// The column, from 0, has no state of the name in its field.
    State(usize),
    /// The record has this number of fields, not one per column.
    Fields(usize),
    /// The network gives it no probability.
    Impossible,
    /// Bytes of it were lost.
    Damaged,
}

/// A record that comes byte by byte, and the room for it.
#[derive(Debug)]
pub struct Line<'b> {
    pub(super) names: Names<'b>,
    /// A state per column.
    event: &'b mut [u16],
    /// The name in hand.
    field: &'b mut [u8],
    progress: Progress,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    begun: bool,
    /// Fields that have ended.
    fields: usize,
    /// The first of them that names no state.
    wrong: Option<usize>,
    damaged: bool,
    /// Bytes of the name in hand.
    length: usize,
    /// `true` if a name is longer than any in the model.
    long: bool,
    quoted: bool,
    /// The byte before was a quote that may have ended the name.
    closed: bool,
}

impl<'b> Line<'b> {
    /// An empty line: `event` with an entry per column, `field` with [`longest`] bytes.
    pub const fn new(names: Names<'b>, event: &'b mut [u16], field: &'b mut [u8]) -> Self {
        let progress = Progress {
            begun: false,
            fields: 0,
            wrong: None,
            damaged: false,
            length: 0,
            long: false,
            quoted: false,
            closed: false,
        };
        Self { names, event, field, progress }
    }

    /// The next byte.
    pub fn take(&mut self, byte: u8) {
        self.progress.begun = true;
        let Progress { quoted, closed, .. } = self.progress;
        self.progress.closed = false;
        match byte {
            b'"' => {
                if closed {
                    self.append(byte);
                }
                self.progress.quoted = !quoted;
                self.progress.closed = quoted;
            }
            b',' if !quoted => self.end_field(),
            byte => self.append(byte),
        }
    }

    /// Bytes of it were lost.
    pub fn damage(&mut self) {
        self.progress.damaged = true;
    }

    /// Returns whether nothing has come.
    pub fn is_empty(&self) -> bool {
        !self.progress.begun && !self.progress.damaged
    }

    /// The record: a state per column. The next byte begins another.
    ///
    /// # Errors
    /// [`Refusal`]: what is wrong with it first.
    pub fn end(&mut self) -> Result<&[u16], Refusal> {
        self.end_field();
        let Progress { fields, wrong, damaged, .. } = core::mem::take(&mut self.progress);
        match wrong {
            _ if damaged => Err(Refusal::Damaged),
            _ if fields != self.event.len() => Err(Refusal::Fields(fields)),
            Some(field) => Err(Refusal::State(field)),
            None => Ok(self.event),
        }
    }

    fn append(&mut self, byte: u8) {
        let length = self.progress.length;
        match self.field.get_mut(length) {
            _ if length == 0 && byte == b' ' => {}
            Some(slot) => {
                *slot = byte;
                self.progress.length = length + 1;
            }
            None => self.progress.long |= byte != b' ',
        }
    }

    fn end_field(&mut self) {
        let Progress { fields, length, long, .. } = self.progress;
        let text = self.field.get(..length).unwrap_or_default().trim_ascii_end();
        let text = if text.is_empty() { b"?" } else { text };
        let states = self.names.states.get(fields).copied().unwrap_or_default();
        // Missing may be a state of its own.
        let state = match states.iter().position(|name| name.as_bytes() == text) {
            _ if long => None,
            Some(state) => u16::try_from(state).ok(),
            None => (text == b"?").then_some(MISSING),
        };
        match (self.event.get_mut(fields), state) {
            (Some(slot), Some(state)) => *slot = state,
            (Some(_), None) => _ = self.progress.wrong.get_or_insert(fields),
            (None, _) => {}
        }
        let Progress { begun, wrong, damaged, .. } = self.progress;
        let fields = fields.saturating_add(1);
        self.progress = Progress { begun, fields, wrong, damaged, ..Progress::default() };
    }
}
