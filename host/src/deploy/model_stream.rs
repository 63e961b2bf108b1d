//! A model of a bank in the middle of a stream.

use super::block::{Block, Observation};
use super::error::PushError;

/// One model: the directions are run in blocks, each with the same values.
pub(super) struct ModelStream<T> {
    pub(super) blocks: Vec<Box<dyn Block<T> + Send>>,
    /// The columns of a row that it sees, and rows of them; `None` for all.
    columns: Option<Columns<T>>,
    /// `true` if the stream is impossible under the model: see the core's `BankState`.
    pub(super) ruled_out: bool,
}

struct Columns<T> {
    columns: Vec<usize>,
    reals: Vec<T>,
    integers: Vec<Option<i16>>,
}

impl<T: Copy + Default> ModelStream<T> {
    pub(super) const fn of(blocks: Vec<Box<dyn Block<T> + Send>>) -> Self {
        Self { blocks, columns: None, ruled_out: false }
    }

    /// Restricts the model to some columns of a row; `None` for all.
    pub(super) fn seeing(self, columns: Option<Vec<usize>>) -> Self {
        let columns =
            columns.map(|columns| Columns { columns, reals: Vec::new(), integers: Vec::new() });
        Self { columns, ..self }
    }

    /// Pushes an observation to all blocks, which run the same values, so that all of them accept or all refuse.
    pub(super) fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        let own;
        let x = match (&mut self.columns, x) {
            (Some(Columns { columns, reals, .. }), Observation::Row(row)) => {
                own = Observation::Row(some_of(columns, row, reals));
                &own
            }
            (Some(Columns { columns, integers, .. }), Observation::Integers(row)) => {
                own = Observation::Integers(some_of(columns, row, integers));
                &own
            }
            _ => x,
        };
        self.blocks.iter_mut().try_for_each(|block| block.push(x))
    }
}

/// The columns of a row, in a buffer.
fn some_of<'b, C: Copy + Default>(columns: &[usize], row: &[C], some: &'b mut Vec<C>) -> &'b [C] {
    some.resize(columns.len(), C::default());
    let some = &mut some[..columns.len()];
    for k in 0..columns.len() {
        some[k] = row[columns[k]];
    }
    some
}
