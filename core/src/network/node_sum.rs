use super::{FactorLayout, TermsError};
use crate::classify::{Decision, decide};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::Streaming;
use crate::number::{Compensated, Real};

/// A classifier of events whose outputs are sums of look-ups: Bayes' rule under a Bayesian network, or a
/// linear machine on the features of its Fisher kernel.
///
/// ```text
/// value_o = bias_o + sum_events sum_terms table_o[cell]
/// ```
///
/// It decides after every event, for all of them together; reset it where what is decided on begins anew.
/// Tables in which a column is missing are left out: exact under naive Bayes, and wherever nothing else
/// depends on the column.
///
/// Flash: the terms', and a real per cell and output. State: two reals per output. Work per event: two integer
/// operations per column of a table, an exact addition per table and output.
///
/// ```
/// use fishweir_core::filter::Stream;
/// use fishweir_core::network::{MISSING, FactorClassifier, FactorLayout};
///
/// const TERMS: FactorLayout<'static> = match FactorLayout::new(&[2, 2], &[1, 1], &[0, 1]) {
///     Ok(terms) => terms,
///     Err(_) => panic!("no terms"),
/// };
/// static DOOR_AND_LAMP: FactorClassifier<'static, f32, 1> =
///     match FactorClassifier::new(TERMS, [&[-1.0, 1.0, -0.5, 2.0]], [0.0]) {
///         Ok(sum) => sum,
///         Err(_) => panic!("no tables"),
///     };
/// let mut stream = Stream::new(&DOOR_AND_LAMP);
/// stream.push(&[0, 1][..])?;
/// assert_eq!((stream.read().class, stream.read().margin), (1, 1.0));
/// stream.push(&[0, MISSING][..])?;
/// assert_eq!(stream.read().class, 0);
/// # Ok::<(), fishweir_core::ObservationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FactorClassifier<'t, T, const O: usize> {
    terms: FactorLayout<'t>,
    /// `[output][cell]`.
    tables: [&'t [T]; O],
    bias: [T; O],
}

impl<'t, T, const O: usize> FactorClassifier<'t, T, O> {
    /// A classifier of tables, `[output][cell]`. [`validate`](Self::validate) checks the numbers.
    ///
    /// # Errors
    /// [`TermsError::Sizes`]: a table without an entry per cell.
    pub const fn new(
        terms: FactorLayout<'t>,
        tables: [&'t [T]; O],
        bias: [T; O],
    ) -> Result<Self, TermsError>
    where
        T: Copy,
    {
        let mut output = 0;
        while output < O {
            let (wanted, found) = (terms.cells(), tables[output].len());
            if wanted != found {
                return Err(TermsError::Sizes { wanted, found });
            }
            output += 1;
        }
        Ok(Self { terms, tables, bias })
    }

    /// Layout of the tables.
    pub const fn terms(&self) -> &FactorLayout<'t> {
        &self.terms
    }

    /// Bytes of flash: the lists, the tables and the biases.
    pub const fn bytes(&self) -> usize {
        self.terms.bytes() + (self.terms.cells() + 1) * O * size_of::<T>()
    }
}

impl<T: Real, const O: usize> FactorClassifier<'_, T, O> {
    /// Checks that every number is finite.
    ///
    /// # Errors
    /// Names the first that is not, by output and cell.
    pub fn validate(&self) -> Result<(), ModelError> {
        let finite = |(entry, value): (usize, &T), part, row| match value.is_finite() {
            true => Ok(()),
            false => Err(ModelError::new(part, ErrorKind::NotFinite, row, entry)),
        };
        for (row, table) in self.tables.iter().enumerate() {
            table.iter().enumerate().try_for_each(|x| finite(x, Part::LikelihoodWeight, row))?;
        }
        self.bias.iter().enumerate().try_for_each(|x| finite(x, Part::Bias, x.0))
    }

    /// The outputs' values.
    pub fn values(&self, state: &[Compensated<T>; O]) -> [T; O] {
        let mut values = self.bias;
        for (value, sum) in values.iter_mut().zip(state) {
            let mut sum = *sum;
            sum.add(*value);
            *value = sum.total();
        }
        values
    }
}

impl<T: Real, const O: usize> Streaming for FactorClassifier<'_, T, O> {
    /// A state per column, or [`MISSING`](super::MISSING).
    type Observation = [u16];
    type State = [Compensated<T>; O];
    type Reading = Decision<T>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        [Compensated::ZERO; O]
    }

    fn step(&self, state: &mut Self::State, event: &[u16]) -> Result<(), ObservationError> {
        self.terms.check(event)?;
        for cell in self.terms.locate(event).flatten() {
            for (sum, table) in state.iter_mut().zip(&self.tables) {
                sum.add(table.get(cell).copied().unwrap_or(T::ZERO));
            }
        }
        Ok(())
    }

    #[inline]
    fn step_missing(&self, _: &mut Self::State) {}

    fn read(&self, state: &Self::State) -> Decision<T> {
        decide(&self.values(state))
    }
}
