//! Rows of Gram matrices, which are computed in parallel.

use std::borrow::Borrow;
use std::ops::Range;

use fishweir_core::ObservationError;
use fishweir_core::emission::Emission;
use fishweir_core::filter::{Stream, Streaming};

use super::error::{ItemError, MarginalError};
use crate::data::SamplesView;
use crate::parallel::each;

/// One sequence that streams against a run of stored ones.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Index of the stream.
    pub(super) stream: usize,
    /// Indices of the stored sequences.
    pub(super) stored: Range<usize>,
}

/// `log k` of planned rows, or the item that is not taken.
pub(super) type LogRows = Result<Vec<Vec<f64>>, MarginalError>;

/// A kernel that compares one stream with stored sequences, row by row.
pub(super) trait Rows {
    /// `log k` of each planned row; each is computed alone, so the order of the work changes no bit.
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows;
}

/// Computes planned rows, one a task. The last ones first: they are the longest of a triangle.
pub(super) fn in_parallel<I: Sync>(
    items: &[I],
    plan: &[Row],
    row: impl Fn(&I, &[I]) -> Result<Vec<f64>, ItemError> + Sync,
) -> LogRows {
    let rows = each(plan.len(), &|task| {
        let Row { stream, stored } = &plan[plan.len() - 1 - task];
        row(&items[*stream], &items[stored.clone()])
            .map_err(|error| MarginalError::Item { item: *stream, error })
    });
    rows.into_iter().rev().collect()
}

/// Items as a kernel takes them, or the first that it does not take.
pub(super) fn prepare<'a, I>(
    items: &[SamplesView<'a>],
    one: impl Fn(SamplesView<'a>) -> Result<I, ItemError>,
) -> Result<Vec<I>, MarginalError> {
    let prepared = items.iter().enumerate();
    prepared
        .map(|(item, &view)| one(view).map_err(|error| MarginalError::Item { item, error }))
        .collect()
}

/// The symbols of an item, all below a bound.
pub(super) fn symbols(view: SamplesView<'_>, alphabet: usize) -> Result<&[Option<u16>], ItemError> {
    let symbols =
        view.symbols().ok_or(ItemError::Kind { found: "channels", expected: "symbols" })?;
    let unknown = symbols.iter().position(|x| x.is_some_and(|x| usize::from(x) >= alphabet));
    match unknown {
        Some(position) => {
            Err(ItemError::Sample { position, error: ObservationError::UnknownSymbol })
        }
        None => Ok(symbols),
    }
}

/// The samples of an item as a core model of symbols takes them.
pub(super) fn symbols_of<'a, E: Emission<Observation = u16>>(
    view: SamplesView<'a>,
    states: &[E],
) -> Result<Vec<Option<&'a u16>>, ItemError> {
    let symbols =
        view.symbols().ok_or(ItemError::Kind { found: "channels", expected: "symbols" })?;
    checked(symbols.iter().map(Option::as_ref), states)
}

/// The samples of an item as a core model of channels takes them.
pub(super) fn channels_of<'a, E: Emission<Observation = [f64]>>(
    view: SamplesView<'a>,
    states: &[E],
    expected: usize,
) -> Result<Vec<Option<&'a [f64]>>, ItemError> {
    let rows = view.rows().ok_or(ItemError::Kind { found: "symbols", expected: "channels" })?;
    if rows.dimension() != expected {
        return Err(ItemError::Channels { found: rows.dimension(), expected });
    }
    checked(rows.iter(), states)
}

fn checked<'a, E: Emission>(
    samples: impl Iterator<Item = Option<&'a E::Observation>>,
    states: &[E],
) -> Result<Vec<Option<&'a E::Observation>>, ItemError> {
    let checked = samples.enumerate().map(|(position, x)| {
        if let Some(x) = x {
            for state in states {
                state.check(x).map_err(|error| ItemError::Sample { position, error })?;
            }
        }
        Ok(x)
    });
    checked.collect()
}

/// Reading of a recursion after all samples.
pub(super) fn after<R: Streaming, X: Borrow<R::Observation>>(
    recursion: R,
    samples: impl Iterator<Item = Option<X>>,
) -> Result<R::Reading, ItemError> {
    let mut stream = Stream::new(recursion);
    for (position, x) in samples.enumerate() {
        let pushed = stream.push(x.as_ref().map(Borrow::borrow));
        pushed.map_err(|error| ItemError::Sample { position, error })?;
    }
    Ok(stream.read())
}

/// [`after`] symbols.
pub(super) fn after_symbols<R: Streaming<Observation = usize>>(
    recursion: R,
    symbols: &[Option<u16>],
) -> Result<R::Reading, ItemError> {
    after(recursion, symbols.iter().map(|x| x.map(usize::from)))
}

/// Stored sequences of a block that one stream runs against at once.
const BLOCK: usize = 4;

/// `log k` of a stream against stored sequences, in blocks; a block that is not full repeats its first sequence.
pub(super) fn by_blocks<S>(
    stored: &[&[S]],
    block: impl Fn([&[S]; BLOCK]) -> Result<[f64; BLOCK], ItemError>,
) -> Result<Vec<f64>, ItemError> {
    let mut row = Vec::with_capacity(stored.len());
    for some in stored.chunks(BLOCK) {
        let logs = block(std::array::from_fn(|m| *some.get(m).unwrap_or(&some[0])))?;
        row.extend_from_slice(&logs[..some.len()]);
    }
    Ok(row)
}

/// Checks that all items have one length.
pub(super) fn one_length(
    items: &[SamplesView<'_>],
    needed: Option<(usize, &'static str)>,
) -> Result<(), MarginalError> {
    let Some(first) = items.first() else { return Ok(()) };
    let (expected, why) = needed.unwrap_or((first.len(), "as many as item 0 has"));
    let other = items.iter().position(|item| item.len() != expected);
    match other {
        Some(item) => {
            let error = ItemError::Length { found: items[item].len(), expected, why };
            Err(MarginalError::Item { item, error })
        }
        None => Ok(()),
    }
}
