use super::{FactorLayout, TermsError};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::{ForgettingFactor, Streaming};
use crate::number::Real;

/// The tables of a [`Discrepancy`], of any size: the network as a device holds it.
///
/// ```text
/// D_ijk = sum_events lambda^age [row of i is j] ( [x_i = k] - theta_ijk )
/// S_i   = sum_jk D_ijk^2 / (P_ij theta_ijk),        W_i = sum_events lambda^(2 age) over those with i
/// ```
///
/// The statistic `sum_i S_i / W_i` is the squared maximum mean discrepancy between the events of late and
/// the network, under the network's Fisher kernel, times their effective number: Rao's score statistic. While
/// the network holds its mean is the number of free parameters, and over a long memory it is near
/// chi-squared with that number of degrees of freedom. Each term is centred, so that nothing cancels. Forgetting is a growing
/// unit for what comes, rescaled by a power of two now and then.
///
/// An event touches one row per node. The row's deviations add up to zero, so that of `S_i` it changes
///
/// ```text
/// S_i += u (D_ijk + D'_ijk) / (P_ij theta_ijk),      k = x_i, D before and D' after, u the unit
/// ```
///
/// and nothing is summed over cells to read. The deviation of the state that came is made what the others
/// leave of zero: so rounding does not add up however long the memory is.
///
/// A node that is missing in an event, or one of whose parents is, has none of it in its sums.
///
/// Flash: the terms', and two reals per cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DiscrepancyTables<'t, T> {
    terms: FactorLayout<'t>,
    theta: &'t [T],
    /// `1 / (P theta)`, zero where a cell has no probability.
    precision: &'t [T],
    memory: ForgettingFactor<T>,
    /// Threshold of the statistic.
    threshold: T,
    /// Effective events before there is an alarm.
    least: T,
}

/// State of the recursion: one number per cell and two per node, in arrays or other slices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DiscrepancyState<T, D, S> {
    /// `D`, by cell, in units of `unit`.
    deviation: D,
    /// `[S, W]`, by node, in units of its square.
    sums: S,
    /// Weight of the next event.
    unit: T,
    /// Sums of all units and of their squares.
    weight: T,
    square: T,
}

/// Discrepancy between recent events and the network.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DiscrepancyReading<T = f32> {
    /// `sum_i S_i / W_i`.
    pub statistic: T,
    /// The node with the largest share of it; the first of equals.
    pub node: usize,
    /// Share of that node in the statistic.
    pub share: T,
    /// Events that count: `(sum lambda^age)^2 / sum lambda^(2 age)`.
    pub events: T,
    /// `true` if the statistic has passed its threshold, over enough events. NaN counts as passed.
    pub alarm: bool,
}

/// The unit that is rescaled, as a power of two.
const LARGEST_UNIT: i32 = 12;

/// Cell of a node that an event does not observe. No real cell: 32 bits number at most as many cells.
const NOWHERE: u32 = u32::MAX;

impl<'t, T: Real> DiscrepancyTables<'t, T> {
    /// The tables of a network: `theta` and `precision` by cell, `1 / (P theta)` with `P` the probability
    /// of the row, zero where the cell has none. An alarm is a statistic above `threshold` once `least`
    /// effective events are in. [`validate`](Self::validate) checks the numbers.
    ///
    /// # Errors
    /// [`TermsError`]: terms that are not families of nodes, tables without an entry per cell.
    pub const fn new(
        terms: FactorLayout<'t>,
        theta: &'t [T],
        precision: &'t [T],
        memory: ForgettingFactor<T>,
        threshold: T,
        least: T,
    ) -> Result<Self, TermsError> {
        if let Err(error) = terms.check_families() {
            return Err(error);
        }
        let wanted = terms.cells();
        if theta.len() != wanted {
            return Err(TermsError::Sizes { wanted, found: theta.len() });
        }
        if precision.len() != wanted {
            return Err(TermsError::Sizes { wanted, found: precision.len() });
        }
        Ok(Self { terms, theta, precision, memory, threshold, least })
    }

    /// Layout of the tables.
    pub const fn terms(&self) -> &FactorLayout<'t> {
        &self.terms
    }

    /// Sets another threshold.
    pub const fn with_threshold(self, threshold: T) -> Self {
        Self { threshold, ..self }
    }

    /// Bytes of flash: the lists, the tables and three settings.
    pub const fn bytes(&self) -> usize {
        self.terms.bytes() + (2 * self.terms.cells() + 3) * size_of::<T>()
    }

    /// Checks every number: probabilities from 0 to 1, precisions finite and not negative and above zero
    /// where a probability is, a memory of the past that keeps some of it, and all only if it loses none,
    /// a threshold that is positive.
    ///
    /// # Errors
    /// Names the first that is wrong, by node and entry; of settings, memory, threshold and least events.
    pub fn validate(&self) -> Result<(), ModelError> {
        for (row, cells) in self.terms.ranges().enumerate() {
            for (entry, cell) in cells.enumerate() {
                let (theta, precision) = (at(self.theta, cell), at(self.precision, cell));
                let wrong = |part, kind| Err(ModelError::new(part, kind, row, entry));
                let is_probability = theta >= T::ZERO && theta <= T::ONE;
                if !is_probability {
                    return wrong(Part::Probability, ErrorKind::NotInRange);
                }
                if !precision.is_finite() {
                    return wrong(Part::Whitening, ErrorKind::NotFinite);
                }
                if precision < T::ZERO {
                    return wrong(Part::Whitening, ErrorKind::Negative);
                }
                if precision > T::ZERO && theta == T::ZERO {
                    return wrong(Part::Whitening, ErrorKind::Inconsistent);
                }
            }
        }
        let kept = self.memory.lambda();
        let forgets = self.memory.one_minus_lambda() > T::ZERO;
        if !(kept > T::ZERO && kept <= T::ONE) || (forgets && kept == T::ONE) {
            return Err(ModelError::new(Part::Memory, ErrorKind::NotInRange, 0, 0));
        }
        for (entry, setting) in [self.threshold, self.least].into_iter().enumerate() {
            if !(setting >= T::ZERO && setting.is_finite()) {
                return Err(ModelError::new(Part::Limit, ErrorKind::NotInRange, 0, entry));
            }
        }
        Ok(())
    }

    /// Takes in an event. The buffers of the state must have an entry per cell and per node, `room` one per node:
    /// what it held does not matter.
    ///
    /// # Errors
    /// An invalid event, or one that the network makes impossible; the state is unchanged.
    pub fn step<D, S>(
        &self,
        state: &mut DiscrepancyState<T, D, S>,
        event: &[u16],
        room: &mut [u32],
    ) -> Result<(), ObservationError>
    where
        D: AsMut<[T]>,
        S: AsMut<[[T; 2]]>,
    {
        self.terms.check(event)?;
        let mut possible = true;
        for (slot, cell) in room.iter_mut().zip(self.terms.locate(event)) {
            *slot = NOWHERE;
            if let Some(cell) = cell {
                possible &= at(self.precision, cell) > T::ZERO;
                *slot = cell as u32;
            }
        }
        if !possible {
            return Err(ObservationError::Impossible);
        }
        self.grow(state);
        let unit = state.unit;
        let square = unit * unit;
        let deviation = state.deviation.as_mut();
        let nodes = event.iter().zip(self.terms.cards()).zip(state.sums.as_mut());
        for (&cell, ((&own, &card), [sum, weight])) in room.iter().zip(nodes) {
            if cell == NOWHERE {
                continue;
            }
            let (cell, own) = (cell as usize, usize::from(own));
            let row = cell.wrapping_sub(own)..cell.wrapping_sub(own).wrapping_add(card.into());
            let (Some(row), Some(theta)) = (deviation.get_mut(row.clone()), self.theta.get(row))
            else {
                continue;
            };
            let mut rest = T::ZERO;
            for (index, (entry, &theta)) in row.iter_mut().zip(theta).enumerate() {
                if index != own {
                    *entry = *entry - unit * theta;
                    rest = rest - *entry;
                }
            }
            if let Some(entry) = row.get_mut(own) {
                *sum = *sum + unit * at(self.precision, cell) * (*entry + rest);
                *entry = rest;
            }
            *weight = *weight + square;
        }
        state.weight = state.weight + unit;
        state.square = state.square + square;
        Ok(())
    }

    /// Takes in a missing event: the past fades.
    pub fn step_missing<D, S>(&self, state: &mut DiscrepancyState<T, D, S>)
    where
        D: AsMut<[T]>,
        S: AsMut<[[T; 2]]>,
    {
        self.grow(state);
    }

    /// Grows the next event's unit, which fades the past.
    fn grow<D: AsMut<[T]>, S: AsMut<[[T; 2]]>>(&self, state: &mut DiscrepancyState<T, D, S>) {
        if self.memory.one_minus_lambda() == T::ZERO {
            return;
        }
        state.unit = state.unit / self.memory.lambda();
        if state.unit >= T::power_of_two(LARGEST_UNIT) {
            let by = T::power_of_two(-LARGEST_UNIT);
            let twice = T::power_of_two(-2 * LARGEST_UNIT);
            state.unit = state.unit * by;
            state.weight = state.weight * by;
            state.square = state.square * twice;
            state.deviation.as_mut().iter_mut().for_each(|entry| *entry = *entry * by);
            state.sums.as_mut().as_flattened_mut().iter_mut().for_each(|sum| *sum = *sum * twice);
        }
    }

    /// Returns the discrepancy between the events and the network.
    pub fn read<D, S>(&self, state: &DiscrepancyState<T, D, S>) -> DiscrepancyReading<T>
    where
        S: AsRef<[[T; 2]]>,
    {
        let (mut statistic, mut node, mut share) = (T::ZERO, 0, T::ZERO);
        for (index, &[sum, weight]) in state.sums.as_ref().iter().enumerate() {
            if weight > T::ZERO {
                let own = sum / weight;
                statistic = statistic + own;
                if own > share {
                    (node, share) = (index, own);
                }
            }
        }
        let any = state.square > T::ZERO;
        let events = if any { state.weight * state.weight / state.square } else { T::ZERO };
        let within = statistic <= self.threshold;
        let alarm = !within && events >= self.least;
        let share = if statistic > T::ZERO { share / statistic } else { T::ZERO };
        DiscrepancyReading { statistic, node, share, events, alarm }
    }
}

impl<T: Real, D, S> DiscrepancyState<T, D, S> {
    /// State before the first event: buffers of zeros, one entry per cell and per node.
    pub const fn new(deviation: D, sums: S) -> Self {
        Self { deviation, sums, unit: T::ONE, weight: T::ZERO, square: T::ZERO }
    }
}

fn at<T: Real>(table: &[T], cell: usize) -> T {
    table.get(cell).copied().unwrap_or(T::ZERO)
}

/// An alarm on a stream of events, without labels: it detects when they no longer follow a Bayesian network,
/// and at which of its `N` nodes. `C` is the number of cells of its tables.
///
/// State: `C + 2 N + 3` reals; a push has `N` integers on the stack. Work: [`DiscrepancyTables`]'. After an
/// alarm, reset.
///
/// ```
/// use fishweir_core::filter::{ForgettingFactor, Stream};
/// use fishweir_core::network::{Discrepancy, DiscrepancyTables, FactorLayout};
///
/// // A door that is open in a quarter of the events.
/// let terms = FactorLayout::new(&[2], &[1], &[0])?;
/// let (theta, precision) = ([0.75, 0.25], [1.0 / 0.75, 4.0]);
/// let memory = ForgettingFactor::samples(64.0)?;
/// let tables = DiscrepancyTables::new(terms, &theta, &precision, memory, 20.0_f32, 20.0)?;
/// let alarm = Discrepancy::<f32, 1, 2>::new(tables)?;
///
/// let mut stream = Stream::new(&alarm);
/// for event in 0..400 {
///     stream.push(&[u16::from(event % 4 == 0)][..])?;
/// }
/// assert!(!stream.read().alarm);
/// for _ in 0..30 {
///     stream.push(&[1][..])?;
/// }
/// assert!(stream.read().alarm);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Discrepancy<'t, T, const N: usize, const C: usize> {
    tables: DiscrepancyTables<'t, T>,
}

impl<'t, T: Real, const N: usize, const C: usize> Discrepancy<'t, T, N, C> {
    /// The alarm of some tables.
    ///
    /// # Errors
    /// [`TermsError::Sizes`]: tables over another number of nodes, or of cells, than `N` and `C`.
    pub const fn new(tables: DiscrepancyTables<'t, T>) -> Result<Self, TermsError> {
        if tables.terms.len() != N {
            return Err(TermsError::Sizes { wanted: tables.terms.len(), found: N });
        }
        if tables.terms.cells() != C {
            return Err(TermsError::Sizes { wanted: tables.terms.cells(), found: C });
        }
        Ok(Self { tables })
    }

    /// The tables.
    pub const fn tables(&self) -> &DiscrepancyTables<'t, T> {
        &self.tables
    }
}

impl<T: Real, const N: usize, const C: usize> Streaming for Discrepancy<'_, T, N, C> {
    /// A state per node, or [`MISSING`](super::MISSING).
    type Observation = [u16];
    type State = DiscrepancyState<T, [T; C], [[T; 2]; N]>;
    type Reading = DiscrepancyReading<T>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        DiscrepancyState::new([T::ZERO; C], [[T::ZERO; 2]; N])
    }

    #[inline]
    fn step(&self, state: &mut Self::State, event: &[u16]) -> Result<(), ObservationError> {
        self.tables.step(state, event, &mut [NOWHERE; N])
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.tables.step_missing(state);
    }

    #[inline]
    fn read(&self, state: &Self::State) -> Self::Reading {
        self.tables.read(state)
    }
}
