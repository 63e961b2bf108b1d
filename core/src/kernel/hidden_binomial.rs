use core::borrow::Borrow;

use super::aligned::check_stored;
use super::validate::bytes_of;
use super::{Aligned, KernelError, LogKernel, Observed, Validate};
use crate::error::{
    ErrorKind, ModelError, ObservationError, Part, check_distribution, check_symbol,
};
use crate::filter::{Belief, Streaming};
use crate::hmm::Chain;
use crate::number::{Real, sum_of};

/// The probability that two symbols of one position come from the same hidden state, summed over it:
/// `P(a, b) = sum_h prior[h] emission[h][a] emission[h][b]`.
///
/// Flash: `K^2` reals. Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis",
/// 2004, below equation 12.1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct PairTable<T, const K: usize>([[T; K]; K]);

impl<T: Real, const K: usize> PairTable<T, K> {
    /// The table of a hidden state's prior `[state]` and emissions `[state][symbol]`. `K^2 N`
    /// multiply-adds.
    ///
    /// # Errors
    /// The first probability that is negative or not finite, or row that does not sum to one.
    pub fn new<const N: usize>(prior: &[T; N], emission: &[[T; K]; N]) -> Result<Self, ModelError> {
        check_distribution(prior.iter().copied(), Part::Prior, 0)?;
        for (state, row) in emission.iter().enumerate() {
            check_distribution(row.iter().copied(), Part::Probability, state)?;
        }
        let mut table = [[T::ZERO; K]; K];
        for (a, row) in table.iter_mut().enumerate() {
            for (b, entry) in row.iter_mut().enumerate() {
                // Symmetric to the last bit: the prior meets the product of the two.
                *entry = sum_of::<T, N>(|h| (emission[h][a] * emission[h][b]) * prior[h]);
            }
        }
        Ok(Self(table))
    }

    /// A table of numbers checked before, as an export writes them; [`validate`](Self::validate) checks them.
    pub const fn from_parts(probability: [[T; K]; K]) -> Self {
        Self(probability)
    }

    /// Checks every probability.
    ///
    /// # Errors
    /// The first that is negative or not finite.
    pub fn validate(&self) -> Result<(), ModelError> {
        for (a, row) in self.0.iter().enumerate() {
            for (b, &p) in row.iter().enumerate() {
                let kind = if !p.is_finite() {
                    ErrorKind::NotFinite
                } else if p < T::ZERO {
                    ErrorKind::Negative
                } else {
                    continue;
                };
                return Err(ModelError::new(Part::Probability, kind, a, b));
            }
        }
        Ok(())
    }

    /// The probabilities, `[symbol][symbol]`.
    pub const fn probability(&self) -> &[[T; K]; K] {
        &self.0
    }

    /// `P(a, b)`, or `P(a)` where the other is missing; `None` past the alphabet.
    #[inline]
    fn get(&self, a: Option<usize>, b: Option<usize>) -> Option<T> {
        let (a, b) = match (a, b) {
            (None, None) => return Some(T::ONE),
            (None, Some(known)) => (known, None),
            (Some(a), b) => (a, b),
        };
        let row = self.0.get(a)?;
        match b {
            Some(b) => row.get(b).copied(),
            None => Some(sum_of::<T, K>(|b| row[b])),
        }
    }
}

/// The kernel of sequences of one length whose hidden states are independent, position by position,
/// against `M` stored ones at once: the sum over hidden sequences is a product of sums.
///
/// ```text
/// k(s, t) = prod_i P_i(s_i, t_i)        P_i(a, b) = sum_h prior_i[h] emission_i[h][a] emission_i[h][b]
/// ```
///
/// After `i` symbols it reads the kernel of the first `i`. A symbol that is missing, of either, is summed
/// over. Past the end of the stored sequences symbols are refused, and missing ones change nothing.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, equation 12.1
/// and Remark 12.6.
///
/// State: `M` reals and a ledger each. Work per symbol: `M` look-ups and products.
///
/// ```
/// use fishweir_core::{filter::Stream, kernel::{HiddenBinomial, PairTable}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = PairTable::<f64, 2>::new(&[0.5, 0.5], &[[0.75, 0.25], [0.25, 0.75]])?;
/// let mut kernel = Stream::new(HiddenBinomial::shared(&table, [&[0_u8, 1, 1]])?);
/// kernel.push_block(&[0, 1, 0])?;
/// let (same, other) = (0.3125, 0.1875);
/// assert!((kernel.read()[0].exp() - same * same * other).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HiddenBinomial<'m, P, S, const M: usize> {
    tables: &'m [P],
    shared: bool,
    stored: [&'m [S]; M],
}

impl<'m, P, S, const M: usize> HiddenBinomial<'m, P, S, M> {
    /// A kernel of parts checked before, as an export writes them: a table for each position, or one that they share.
    /// [`validate`](Validate::validate) checks them again.
    pub const fn from_parts(tables: &'m [P], shared: bool, stored: [&'m [S]; M]) -> Self {
        const { assert!(M > 0, "M must be at least 1") };
        Self { tables, shared, stored }
    }
}

impl<'m, T: Real, S: Observed<usize>, const K: usize, const M: usize>
    HiddenBinomial<'m, PairTable<T, K>, S, M>
{
    /// The kernel whose positions share one table.
    ///
    /// # Errors
    /// The first stored sequence of another length, or stored symbol outside the alphabet.
    pub fn shared(table: &'m PairTable<T, K>, stored: [&'m [S]; M]) -> Result<Self, KernelError> {
        Self::checked(core::slice::from_ref(table), true, stored)
    }

    /// The kernel with a table a position.
    ///
    /// # Errors
    /// A stored sequence whose length is not the tables', or the first stored symbol outside the
    /// alphabet.
    pub fn per_position(
        tables: &'m [PairTable<T, K>],
        stored: [&'m [S]; M],
    ) -> Result<Self, KernelError> {
        Self::checked(tables, false, stored)
    }

    fn checked(
        tables: &'m [PairTable<T, K>],
        shared: bool,
        stored: [&'m [S]; M],
    ) -> Result<Self, KernelError> {
        let kernel = Self::from_parts(tables, shared, stored);
        kernel.check_stored()?;
        Ok(kernel)
    }

    fn check_stored(&self) -> Result<(), KernelError> {
        for (sequence, symbols) in self.stored.iter().enumerate() {
            let (found, expected) = (symbols.len(), self.tables.len());
            if !self.shared && found != expected {
                return Err(KernelError::Length { sequence, found, expected });
            }
        }
        check_stored(&self.stored, |&symbol| check_symbol(symbol, K))
    }

    /// The length of the stored sequences.
    pub fn length(&self) -> usize {
        self.stored.first().map_or(0, |first| first.len())
    }

    #[inline]
    fn advance(&self, state: &mut Aligned<T, 1, M>, x: Option<usize>) {
        let position = if self.shared { 0 } else { state.position() };
        let Some(table) = self.tables.get(position) else { return };
        state.advance(&self.stored, |belief: &mut Belief<T, 1>, stored| {
            let stored = stored.observation().map(|symbol| *symbol.borrow());
            multiply(belief, table.get(stored, x).unwrap_or(T::ZERO))
        });
    }
}

/// Multiplies a product by another probability; returns whether it is positive.
///
/// Positions are independent: a chain of one state leads from each to the next.
#[inline]
fn multiply<T: Real>(belief: &mut Belief<T, 1>, pair: T) -> bool {
    let predicted = belief.predict(&Chain::from_parts([T::ONE], [[T::ONE]]));
    belief.condition_on(&predicted, Some((&[pair], &[])), |_| pair.ln())
}

impl<T: Real, S: Observed<usize>, const K: usize, const M: usize> Streaming
    for HiddenBinomial<'_, PairTable<T, K>, S, M>
{
    type Observation = usize;
    type State = Aligned<T, 1, M>;
    /// `log k`, `[sequence]`.
    type Reading = [T; M];

    #[inline]
    fn initial_state(&self) -> Self::State {
        Aligned::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        check_symbol(*x, K)?;
        if state.position() >= self.length() {
            return Err(ObservationError::PastEnd);
        }
        self.advance(state, Some(*x));
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        if state.position() < self.length() {
            self.advance(state, None);
        }
    }

    #[inline]
    fn read(&self, state: &Self::State) -> [T; M] {
        state.logs()
    }
}

impl<T: Real, S: Observed<usize>, const K: usize, const M: usize> LogKernel
    for HiddenBinomial<'_, PairTable<T, K>, S, M>
{
    type Parts = [[T; 2]; M];
    fn log_parts(&self, state: &Self::State) -> Self::Parts {
        state.log_parts()
    }
}

impl<T: Real, S: Observed<usize>, const K: usize, const M: usize> Validate
    for HiddenBinomial<'_, PairTable<T, K>, S, M>
{
    fn validate(&self) -> Result<(), KernelError> {
        for table in self.tables {
            table.validate()?;
        }
        self.check_stored()
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.tables) + bytes_of(&self.stored)
    }
}

/// The kernel of a stream with itself: the square of its norm, by which a [`HiddenBinomial`] kernel is normalised.
///
/// ```text
/// k(x, x) = prod_i P_i(x_i, x_i)
/// ```
///
/// A missing symbol is summed over, in each of the two by itself. Past the length symbols are refused, and missing ones
/// change nothing. State: a real, a ledger and a position. Work per symbol: a look-up and a product.
#[derive(Clone, Copy, Debug)]
pub struct HiddenBinomialNorm<'m, P> {
    tables: &'m [P],
    shared: bool,
    length: usize,
}

impl<'m, P> HiddenBinomialNorm<'m, P> {
    /// The norm of streams of a length: with a table for each position, or one that they share.
    pub const fn of(tables: &'m [P], shared: bool, length: usize) -> Self {
        Self { tables, shared, length }
    }
}

impl<T: Real, const K: usize> HiddenBinomialNorm<'_, PairTable<T, K>> {
    fn advance(&self, state: &mut Aligned<T, 1, 1>, x: Option<usize>) {
        let position = if self.shared { 0 } else { state.position() };
        let Some(table) = self.tables.get(position) else { return };
        // The length bounds the stream: what is stored does not.
        state.advance_all(|belief| multiply(belief, table.get(x, x).unwrap_or(T::ZERO)));
    }
}

impl<T: Real, const K: usize> Streaming for HiddenBinomialNorm<'_, PairTable<T, K>> {
    type Observation = usize;
    type State = Aligned<T, 1, 1>;
    /// `log k(x, x)`.
    type Reading = T;

    #[inline]
    fn initial_state(&self) -> Self::State {
        Aligned::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        check_symbol(*x, K)?;
        if state.position() >= self.length {
            return Err(ObservationError::PastEnd);
        }
        self.advance(state, Some(*x));
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        if state.position() < self.length {
            self.advance(state, None);
        }
    }

    #[inline]
    fn read(&self, state: &Self::State) -> T {
        let [log] = state.logs();
        log
    }
}

impl<T: Real, const K: usize> LogKernel for HiddenBinomialNorm<'_, PairTable<T, K>> {
    type Parts = [T; 2];
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        let [parts] = state.log_parts();
        parts
    }
}

impl<P> Validate for HiddenBinomialNorm<'_, P> {
    fn validate(&self) -> Result<(), KernelError> {
        Ok(())
    }
    /// Size without the tables, which belong to the kernel.
    fn size_bytes(&self) -> usize {
        size_of_val(self)
    }
}
