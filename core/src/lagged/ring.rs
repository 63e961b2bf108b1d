use crate::number::{Channel, shorter};

/// Writes a row over another.
#[allow(clippy::manual_memcpy, reason = "a call, and one that may panic, for a few channels")]
#[inline(always)]
fn put<T: Channel>(to: &mut [T], x: &[T]) {
    for d in 0..shorter(to.len(), x.len()) {
        to[d] = x[d];
    }
}

/// Position in the ring of past rows of a [`LagFeatures`](super::LagFeatures).
///
/// The rows themselves are in a buffer of the longest lag's length, which the caller owns: an array on a
/// device, vectors on the host. Before the first row nothing is past; the first one fills the whole ring,
/// so that what lies before a stream's beginning is as its first sample was.
///
/// RAM: 8 bytes beside the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RingIndex {
    /// The oldest row, which the next one takes the place of.
    oldest: u32,
    /// Rows since the beginning, counted up to the ring's length.
    rows: u32,
}

impl RingIndex {
    /// Index before the first row.
    pub const NEW: Self = Self { oldest: 0, rows: 0 };

    /// The slot of the row that came `lag` rows before the next one, of `depth` slots; `lag` is 1 to `depth`.
    #[inline]
    pub(crate) const fn back(self, lag: u32, depth: u32) -> usize {
        let behind = self.oldest.wrapping_sub(lag);
        (if self.oldest >= lag { behind } else { behind.wrapping_add(depth) }) as usize
    }

    /// The row that came `lag` rows before the next one, of a ring that one has come to.
    #[inline]
    pub(crate) fn row_back<T>(self, ring: &[impl AsRef<[T]>], lag: u32) -> Option<&[T]> {
        let begun = self.rows > 0;
        let slot = begun.then(|| ring.get(self.back(lag, ring.len() as u32))).flatten();
        slot.map(AsRef::as_ref)
    }

    /// Returns whether a ring of `depth` rows is full.
    #[inline]
    pub const fn is_full(self, depth: usize) -> bool {
        self.rows as usize >= depth
    }

    /// Writes a row and its differences from the rows `lags` samples before it:
    /// `row = (x, x - x[t - lags[0]], x - x[t - lags[1]], ...)`, channel by channel within each; or, where
    /// the `past` itself is wanted, `row = (x, x[t - lags[0]], x[t - lags[1]], ...)`.
    ///
    /// `ring` are its rows, as many as the longest lag. Cost: a subtraction a channel and lag.
    #[inline]
    pub fn write_row<T: Channel>(
        self,
        lags: &[u32],
        past: bool,
        ring: &[impl AsRef<[T]>],
        x: &[T],
        row: &mut [T],
    ) {
        let (now, mut rest) = row.split_at_mut(shorter(row.len(), x.len()));
        put(now, x);
        for &lag in lags {
            let before = self.row_back(ring, lag).unwrap_or(x);
            let channels = shorter(shorter(rest.len(), x.len()), before.len());
            let (there, after) = rest.split_at_mut(channels);
            for d in 0..channels {
                there[d] = if past { before[d] } else { x[d].difference(before[d]) };
            }
            rest = after;
        }
    }

    /// Takes a row into the ring.
    #[inline]
    pub fn take<T: Channel>(&mut self, past: &mut [impl AsMut<[T]>], x: &[T]) {
        if self.rows > 0 {
            if let Some(slot) = past.get_mut(self.oldest as usize) {
                put(slot.as_mut(), x);
            }
        } else {
            for slot in past.iter_mut() {
                put(slot.as_mut(), x);
            }
        }
        self.step(past.len());
    }

    /// Lets a row pass that was not observed: the last one that was stands for it. Before the first
    /// nothing happens.
    #[inline]
    pub fn take_missing<T: Channel>(&mut self, past: &mut [impl AsRef<[T]> + AsMut<[T]>]) {
        if self.rows == 0 {
            return;
        }
        let last = self.back(1, past.len() as u32);
        let mut channel = 0;
        while let Some(&x) = past.get(last).and_then(|slot| slot.as_ref().get(channel)) {
            let slot = past.get_mut(self.oldest as usize);
            if let Some(to) = slot.and_then(|slot| slot.as_mut().get_mut(channel)) {
                *to = x;
            }
            channel += 1;
        }
        self.step(past.len());
    }

    #[inline]
    fn step(&mut self, depth: usize) {
        let next = self.oldest.wrapping_add(1);
        self.oldest = if (next as usize) < depth { next } else { 0 };
        if !self.is_full(depth) {
            self.rows = self.rows.wrapping_add(1);
        }
    }
}
