//! Groups of symbols.

use std::borrow::Cow;

use fishweir_core::filter::Beliefs;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Lanes, Real};
use multiversion::multiversion;
use multiversion::target::match_target;

use super::group::{Group, Rows};
use super::side_by_side::Together;
use crate::runtime::CategoricalVec;

/// Symbols of an alphabet that fits a byte: likelihoods are looked up for all lanes at once.
pub(super) struct Symbols<'a, T, const W: usize, const L: usize> {
    /// `[lane][time]`.
    sequences: Vec<&'a [Option<u16>]>,
    laid: Cow<'a, LaidSymbols<W, L>>,
    table: &'a Table<T>,
}

/// Symbols side by side, for any model.
#[derive(Clone)]
pub(super) struct LaidSymbols<const W: usize, const L: usize> {
    /// The alphabet's size.
    size: usize,
    /// `[step][set of lanes][lane]`; [`NONE`] without a symbol.
    symbols: Vec<[[u8; L]; W]>,
    /// `true` for each step at which a lane has its first sample, a missing one or an unknown symbol.
    careful: Vec<bool>,
}

/// No symbol.
const NONE: u8 = u8::MAX;

/// Largest number of symbols that fit a vector register of `f32`, or two of `f64`, and are looked up there.
const SHORT: usize = 16;

/// Likelihoods of symbols.
pub(super) struct Table<T> {
    /// `[state][symbol]`, of every byte: an index that needs no check.
    rows: Vec<[T; 256]>,
    /// Likelihoods of the first symbols, if there are no others.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "looked up in registers of x86-64")
    )]
    short: Option<Vec<[T; SHORT]>>,
}

impl<T: Real> Table<T> {
    /// The table of a model; `None` where the alphabet does not fit.
    pub(super) fn of<const N: usize>(states: &[CategoricalVec<T>; N]) -> Option<Self> {
        let size = states.iter().map(|state| state.probability.len()).max()?;
        if size > usize::from(NONE) {
            return None;
        }
        let row = |state: &CategoricalVec<T>| {
            let mut row = [T::ONE; 256];
            row[..state.probability.len()].copy_from_slice(&state.probability);
            row
        };
        let rows: Vec<[T; 256]> = states.iter().map(row).collect();
        let short = |row: &[T; 256]| std::array::from_fn(|symbol| row[symbol]);
        Some(Self { short: (size <= SHORT).then(|| rows.iter().map(short).collect()), rows })
    }

    #[inline(always)]
    fn likelihood<const N: usize, const L: usize>(&self, symbols: &[u8; L]) -> [Lanes<T, L>; N] {
        let mut likelihood = [Lanes([T::ONE; L]); N];
        let rows = &self.rows[..N];
        for state in 0..N {
            let (lanes, row) = (&mut likelihood[state].0, &rows[state]);
            for lane in 0..L {
                lanes[lane] = row[usize::from(symbols[lane])];
            }
        }
        likelihood
    }
}

impl<'a, T: Real, const W: usize, const L: usize> Symbols<'a, T, W, L> {
    /// Sequences that go together, side by side. `size` is the alphabet's.
    pub(super) fn new(
        sequences: Vec<&'a [Option<u16>]>,
        together: &'a Together,
        table: &'a Table<T>,
        size: usize,
    ) -> Self {
        let laid = together.laid(
            |laid: &LaidSymbols<W, L>| laid.size == size,
            || LaidSymbols::new(&sequences, size),
        );
        Self { sequences, laid, table }
    }

    /// The symbols, `[step][set of lanes][lane]`: [`u8::MAX`] without one.
    pub(super) fn symbols(&self) -> &[[[u8; L]; W]] {
        &self.laid.symbols
    }
}

impl<const W: usize, const L: usize> LaidSymbols<W, L> {
    fn new(sequences: &[&[Option<u16>]], size: usize) -> Self {
        let steps = sequences.iter().map(|symbols| symbols.len()).max().unwrap_or(0);
        let mut symbols = vec![[[NONE; L]; W]; steps];
        let mut careful = vec![false; steps];
        lay(sequences, size, &mut symbols, &mut careful);
        Self { size, symbols, careful }
    }
}

/// Number of steps that are laid out side by side at once.
const BLOCK: usize = 16;

/// Lays sequences side by side, aligned at their ends, some steps of every lane after the other: a lane's
/// symbols lie far apart.
fn lay<const W: usize, const L: usize>(
    sequences: &[&[Option<u16>]],
    size: usize,
    symbols: &mut [[[u8; L]; W]],
    careful: &mut [bool],
) {
    let steps = symbols.len();
    // A pointer passes both halves of an option at once: read in turn, the second costs a branch.
    let byte: fn(Option<u16>, usize) -> u8 = byte::<L>;
    for first in (0..steps).step_by(BLOCK) {
        let until = if steps - first < BLOCK { steps } else { first + BLOCK };
        let (block, careful) = (&mut symbols[first..until], &mut careful[first..until]);
        for set in 0..sequences.len().div_ceil(L) {
            let mut lanes = [[NONE; BLOCK]; L];
            for lane in 0..L {
                let Some(sequence) = sequences.get(set * L + lane) else { break };
                let bytes = &mut lanes[lane];
                let start = steps - sequence.len();
                let inside = first.checked_sub(start + 1).map(|time| &sequence[time + 1..]);
                let mut plain = false;
                if let Some(part) = inside.and_then(|rest| rest.as_chunks::<BLOCK>().0.first()) {
                    for index in 0..BLOCK {
                        bytes[index] = byte(part[index], size);
                    }
                    plain = true;
                    for index in 0..BLOCK {
                        plain &= bytes[index] != NONE;
                    }
                } else {
                    let skipped = start.saturating_sub(first).min(block.len());
                    let part = &sequence[(first + skipped).saturating_sub(start)..];
                    let count =
                        if part.len() < BLOCK - skipped { part.len() } else { BLOCK - skipped };
                    for index in 0..count {
                        bytes[skipped + index] = byte(part[index], size);
                    }
                    let begun = start.checked_sub(first).and_then(|index| careful.get_mut(index));
                    begun.into_iter().for_each(|careful| *careful = true);
                }
                if !plain {
                    for index in 0..careful.len() {
                        careful[index] |= bytes[index] == NONE && first + index >= start;
                    }
                }
            }
            let transposed = transposed(&lanes);
            for index in 0..block.len() {
                block[index][set] = transposed[index];
            }
        }
    }
}

/// Returns the byte of a symbol of an alphabet of that size.
///
/// Generic, so that it is compiled beside its one caller and becomes a part of it.
fn byte<const L: usize>(symbol: Option<u16>, size: usize) -> u8 {
    match symbol {
        Some(symbol) if usize::from(symbol) < size => symbol as u8,
        _ => NONE,
    }
}

/// Returns bytes by step and lane. Each round interleaves the two halves, which moves the first bit of an
/// index to its end: as many rounds as a lane's number has bits.
#[inline(always)]
fn transposed<const L: usize>(lanes: &[[u8; BLOCK]; L]) -> [[u8; L]; BLOCK] {
    let mut bytes = *lanes;
    for _ in 0..L.ilog2() {
        let before = bytes;
        for row in 0..L / 2 {
            for half in 0..2 {
                for k in 0..BLOCK / 2 {
                    let column = half * (BLOCK / 2) + k;
                    bytes[2 * row + half][2 * k] = before[row][column];
                    bytes[2 * row + half][2 * k + 1] = before[row + L / 2][column];
                }
            }
        }
    }
    let mut steps = [[NONE; L]; BLOCK];
    for step in 0..BLOCK {
        for lane in 0..L {
            let index = step * L + lane;
            steps[step][lane] = bytes[index / BLOCK][index % BLOCK];
        }
    }
    steps
}

impl<T: Lookup, const N: usize, const W: usize, const L: usize> Group<T, CategoricalVec<T>, N, W, L>
    for Symbols<'_, T, W, L>
{
    fn steps(&self) -> usize {
        self.laid.symbols.len()
    }

    fn length(&self, lane: usize) -> usize {
        self.sequences.get(lane).map_or(0, |symbols| symbols.len())
    }

    fn sample(&self, step: usize, lane: usize) -> Option<Option<&u16>> {
        let symbols = self.sequences.get(lane)?;
        let time = (step + symbols.len()).checked_sub(self.laid.symbols.len())?;
        symbols.get(time).map(Option::as_ref)
    }

    fn advance<const KEEP: bool>(
        &mut self,
        hmm: &Hmm<CategoricalVec<T>, N>,
        step: usize,
        state: &mut [Beliefs<T, N, L>; W],
        rows: &mut Rows<T, N, W, L>,
    ) -> usize {
        let LaidSymbols { symbols, careful, .. } = self.laid.as_ref();
        let careful = careful[step..].iter().position(|&careful| careful);
        let until = careful.map_or(symbols.len(), |steps| step + steps);
        let rows = if KEEP { &mut rows[step..until] } else { &mut [] };
        T::advance::<N, W, L, KEEP>(hmm.chain(), self.table, &symbols[step..until], state, rows)
    }

    fn drop_lane(&mut self, lane: usize) {
        for step in &mut self.laid.to_mut().symbols {
            step[lane / L][lane % L] = NONE;
        }
        self.sequences[lane] = &[];
    }
}

/// A number for which likelihoods of symbols are looked up.
pub trait Lookup: Real {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "sealed")]
    fn advance<const N: usize, const W: usize, const L: usize, const KEEP: bool>(
        chain: &Chain<Self, N>,
        table: &Table<Self>,
        symbols: &[[[u8; L]; W]],
        state: &mut [Beliefs<Self, N, L>; W],
        rows: &mut Rows<Self, N, W, L>,
    ) -> usize;
}

macro_rules! lookup {
    ($t:ident, $lanes:literal) => {
        impl Lookup for $t {
            #[expect(private_interfaces, reason = "sealed")]
            fn advance<const N: usize, const W: usize, const L: usize, const KEEP: bool>(
                chain: &Chain<Self, N>,
                table: &Table<Self>,
                symbols: &[[[u8; L]; W]],
                state: &mut [Beliefs<Self, N, L>; W],
                rows: &mut Rows<Self, N, W, L>,
            ) -> usize {
                $t::<N, W, L, KEEP>(chain, table, symbols, state, rows)
            }
        }

        #[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
        fn $t<const N: usize, const W: usize, const L: usize, const KEEP: bool>(
            chain: &Chain<$t, N>,
            table: &Table<$t>,
            symbols: &[[[u8; L]; W]],
            state: &mut [Beliefs<$t, N, L>; W],
            rows: &mut Rows<$t, N, W, L>,
        ) -> usize {
            let keep = |step: usize, set: usize, row: &[Lanes<$t, L>; N]| {
                if KEEP {
                    rows[step][set] = *row;
                }
            };
            match_target! {
                "x86_64+avx512f+avx512bw+avx512dq+avx512vl" => {
                    let short = table.short.as_ref().map(|short| <&[_; N]>::try_from(short.as_slice()));
                    if let Some(Ok(table)) = short {
                        return Beliefs::steps(state, chain, symbols.len(), |step, set| {
                            let mut likelihood = [Lanes([1.0; L]); N];
                            let symbols = symbols[step][set].as_chunks::<$lanes>().0;
                            for state in 0..N {
                                let lanes = likelihood[state].0.as_chunks_mut::<$lanes>().0;
                                for part in 0..L / $lanes {
                                    lanes[part] = registers::$t(&table[state], symbols[part]);
                                }
                            }
                            likelihood
                        }, keep);
                    }
                }
                _ => {}
            }
            Beliefs::steps(
                state,
                chain,
                symbols.len(),
                |step, set| table.likelihood(&symbols[step][set]),
                keep,
            )
        }
    };
}
lookup!(f32, 16);
lookup!(f64, 8);

/// Tables in vector registers, as compilers turn an index into one load per lane.
#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::x86_64::*;

    use zerocopy::transmute;

    use super::{NONE, SHORT};

    /// Likelihood of each lane's symbol; one for a lane without.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn f32(table: &[f32; SHORT], symbols: [u8; 16]) -> [f32; 16] {
        let symbols: __m128i = transmute!(symbols);
        let known = _mm_cmpneq_epu8_mask(symbols, _mm_set1_epi8(NONE as i8));
        let (index, table) = (_mm512_cvtepu8_epi32(symbols), transmute!(*table));
        transmute!(_mm512_mask_permutexvar_ps(_mm512_set1_ps(1.0), known, index, table))
    }

    /// Likelihood of each lane's symbol, in doubles.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn f64(table: &[f64; SHORT], symbols: [u8; 8]) -> [f64; 8] {
        let symbols: __m128i = transmute!([symbols, [0; 8]]);
        let known = _mm_cmpneq_epu8_mask(symbols, _mm_set1_epi8(NONE as i8)) as u8;
        let [low, high]: [__m512d; 2] = transmute!(*table);
        let found = _mm512_permutex2var_pd(low, _mm512_cvtepu8_epi64(symbols), high);
        transmute!(_mm512_mask_mov_pd(_mm512_set1_pd(1.0), known, found))
    }
}
