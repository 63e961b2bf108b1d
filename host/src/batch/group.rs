//! Groups of sequences, step by step: aligned at their ends, so that they end together.

use fishweir_core::emission::{Emission, Row};
use fishweir_core::number::{Lanes, Real};

use super::LANES;
use crate::runtime::CategoricalVec;

/// What the lanes of a group observe. Step `steps - 1` is every sequence's last sample.
pub(super) trait Group<T: Real, E: Emission<Weight = T>, const N: usize> {
    /// The longest sequence's samples.
    fn steps(&self) -> usize;

    /// Samples of a lane's sequence; none past the last.
    fn length(&self, lane: usize) -> usize;

    /// What a lane observes: `None` before its first sample, `Some(None)` where one is missing.
    fn sample(&self, step: usize, lane: usize) -> Option<Option<&E::Observation>>;

    /// Likelihoods of one step, `[state][lane]`, and their log scales; `false` where a lane needs care.
    ///
    /// Lanes without a sample have likelihoods of one.
    fn likelihood(
        &self,
        states: &[E; N],
        step: usize,
        likelihood: &mut [Lanes<T, LANES>; N],
        log_scale: &mut [T; LANES],
    ) -> bool;

    /// Ends a lane: it observes nothing more.
    fn drop_lane(&mut self, lane: usize);

    /// The step of a lane's first sample.
    fn start(&self, lane: usize) -> usize {
        self.steps() - self.length(lane)
    }
}

/// Which sequences go together: those of similar length, in groups that fill the lanes.
///
/// Longest first. A group whose samples would leave most lanes empty is given one by one.
pub(super) fn arrange(states: usize, lengths: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    /// With more states, one sequence fills the vector units, and lanes would leave the caches.
    const MOST_STATES: usize = 32;
    /// So many full lanes are worth the work of all.
    const WORTH: usize = 4;
    let lengths: Vec<usize> = lengths.collect();
    if states > MOST_STATES {
        return (0..lengths.len()).map(|index| vec![index]).collect();
    }
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
    let mut groups = Vec::new();
    for group in order.chunks(LANES) {
        let samples: usize = group.iter().map(|&index| lengths[index]).sum();
        if samples >= WORTH * lengths[group[0]] {
            groups.push(group.to_vec());
        } else {
            groups.extend(group.iter().map(|&index| vec![index]));
        }
    }
    groups
}

/// Symbols of an alphabet that fits a byte: likelihoods are looked up for all lanes at once.
pub(super) struct Symbols<'a, T> {
    sequences: Vec<&'a [Option<u16>]>,
    /// `[step][lane]`; [`NONE`](Self::NONE) where there is none.
    symbols: Vec<[u8; LANES]>,
    /// Whether a lane has its first sample there, a missing one or an unknown symbol.
    careful: Vec<bool>,
    table: &'a Table<T>,
}

/// Likelihoods, `[state][symbol]`, of every byte: an index that needs no check.
pub(super) struct Table<T>(Vec<[T; 256]>);

impl<T: Real> Table<T> {
    /// The table of a model; `None` where the alphabet does not fit.
    pub(super) fn of<const N: usize>(states: &[CategoricalVec<T>; N]) -> Option<Self> {
        let row = |state: &CategoricalVec<T>| {
            let mut row = [T::ONE; 256];
            let known = state.probability.len();
            (known <= usize::from(Symbols::<T>::NONE)).then(|| {
                row[..known].copy_from_slice(&state.probability);
                row
            })
        };
        states.iter().map(row).collect::<Option<_>>().map(Self)
    }
}

impl<'a, T: Real> Symbols<'a, T> {
    const NONE: u8 = u8::MAX;

    /// Lays sequences side by side. `size` is the alphabet's.
    pub(super) fn new(sequences: Vec<&'a [Option<u16>]>, table: &'a Table<T>, size: usize) -> Self {
        let steps = sequences.iter().map(|symbols| symbols.len()).max().unwrap_or(0);
        let mut symbols = vec![[Self::NONE; LANES]; steps];
        let mut careful = vec![false; steps];
        let byte = |symbol: Option<u16>| match symbol {
            Some(symbol) if usize::from(symbol) < size => symbol as u8,
            _ => Self::NONE,
        };
        for (lane, sequence) in sequences.iter().enumerate() {
            let start = steps - sequence.len();
            let mut plain = true;
            for (slot, &symbol) in symbols[start..].iter_mut().zip(*sequence) {
                slot[lane] = byte(symbol);
                plain &= slot[lane] != Self::NONE;
            }
            if !plain {
                for (careful, &symbol) in careful[start..].iter_mut().zip(*sequence) {
                    *careful |= byte(symbol) == Self::NONE;
                }
            }
            if let Some(first) = careful.get_mut(start) {
                *first = true;
            }
        }
        Self { sequences, symbols, careful, table }
    }
}

impl<T: Real, const N: usize> Group<T, CategoricalVec<T>, N> for Symbols<'_, T> {
    fn steps(&self) -> usize {
        self.symbols.len()
    }

    fn length(&self, lane: usize) -> usize {
        self.sequences.get(lane).map_or(0, |symbols| symbols.len())
    }

    fn sample(&self, step: usize, lane: usize) -> Option<Option<&u16>> {
        let symbols = self.sequences.get(lane)?;
        let time = (step + symbols.len()).checked_sub(self.symbols.len())?;
        symbols.get(time).map(Option::as_ref)
    }

    #[inline(always)]
    fn likelihood(
        &self,
        _: &[CategoricalVec<T>; N],
        step: usize,
        likelihood: &mut [Lanes<T, LANES>; N],
        _: &mut [T; LANES],
    ) -> bool {
        let symbols = &self.symbols[step];
        for (lanes, table) in likelihood.iter_mut().zip(&self.table.0) {
            for l in 0..LANES {
                lanes.0[l] = table[usize::from(symbols[l])];
            }
        }
        !self.careful[step]
    }

    fn drop_lane(&mut self, lane: usize) {
        for step in &mut self.symbols {
            step[lane] = Self::NONE;
        }
        self.sequences[lane] = &[];
    }
}

/// Samples of any family: rows of likelihoods are had lane by lane.
pub(super) struct Any<'a, X: ?Sized> {
    /// `[lane][time]`.
    sequences: Vec<Vec<Option<&'a X>>>,
    steps: usize,
}

impl<'a, X: ?Sized> Any<'a, X> {
    /// Lays sequences side by side.
    pub(super) fn new(sequences: Vec<Vec<Option<&'a X>>>) -> Self {
        let steps = sequences.iter().map(Vec::len).max().unwrap_or(0);
        Self { sequences, steps }
    }
}

impl<T: Real, X: ?Sized, E, const N: usize> Group<T, E, N> for Any<'_, X>
where
    E: Emission<Weight = T, Observation = X>,
{
    fn steps(&self) -> usize {
        self.steps
    }

    fn length(&self, lane: usize) -> usize {
        self.sequences.get(lane).map_or(0, Vec::len)
    }

    fn sample(&self, step: usize, lane: usize) -> Option<Option<&X>> {
        let samples = self.sequences.get(lane)?;
        let time = (step + samples.len()).checked_sub(self.steps)?;
        samples.get(time).copied()
    }

    #[inline(always)]
    fn likelihood(
        &self,
        states: &[E; N],
        step: usize,
        likelihood: &mut [Lanes<T, LANES>; N],
        log_scale: &mut [T; LANES],
    ) -> bool {
        for (lane, samples) in self.sequences.iter().enumerate() {
            let Some(time) = (step + samples.len()).checked_sub(self.steps) else { continue };
            let row = match samples.get(time) {
                // The first sample needs care.
                Some(Some(x)) if time > 0 => E::row(states, x),
                Some(_) => None,
                None => continue,
            };
            let Some(Row { likelihood: row, log_scale: scale }) = row else { return false };
            for (lanes, value) in likelihood.iter_mut().zip(row) {
                lanes.0[lane] = value;
            }
            log_scale[lane] = scale;
        }
        true
    }

    fn drop_lane(&mut self, lane: usize) {
        self.sequences[lane].clear();
    }
}
