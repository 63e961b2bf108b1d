use crate::error::{ErrorKind, ModelError, Part};
use crate::number::Real;

/// The duration recursion over borrowed tables: sizes are known at run time.
///
/// A cell `(i, u)` holds the weight of the paths that are in state `i`, whose present segment has lasted `u` samples:
/// `cells[i * longest + u - 1]`.
///
/// ```text
/// e_i          = sum_u a(i, u) h_i(u)                   the segment ends
/// a'(i, u + 1) = a(i, u) (1 - h_i(u))                   it goes on
/// a'(j, 1)     = sum_i e_i A_ij                         another begins
/// ```
///
/// Rows of `transition` may sum to less than one: what is left is the probability that the string ends after a segment. With one
/// cell per state, and hazards of one, it is the forward recursion of a hidden Markov model.
///
/// Cost per sample: `2 N D + N^2` multiplications. RAM: `N D` reals, and `N` more while a step is made.
///
/// Source: Yu, "Hidden semi-Markov models", 2010, section 3.2.2 (residual time), with elapsed instead of residual durations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SegmentChain<'m, T> {
    initial: &'m [T],
    transition: &'m [T],
    hazard: &'m [T],
    longest: usize,
}

impl<'m, T: Real> SegmentChain<'m, T> {
    /// A chain of tables in a row: `initial[state]`, `transition[from][to]`, `hazard[state][elapsed - 1]`.
    ///
    /// # Errors
    /// Names the first entry that is no probability, the first row that sums to more than one, and a table whose size does not fit.
    pub fn new(initial: &'m [T], transition: &'m [T], hazard: &'m [T]) -> Result<Self, ModelError> {
        let states = initial.len();
        let longest = hazard.len().checked_div(states).unwrap_or(0);
        let duration = Part::Parameter("duration");
        for (part, found, wanted) in [
            (Part::Transition, transition.len(), states * states),
            (duration, hazard.len(), states * longest.max(1)),
        ] {
            if found != wanted || states == 0 {
                return Err(ModelError::new(part, ErrorKind::Inconsistent, 0, 0));
            }
        }
        check(Part::Initial, initial, states, true)?;
        check(Part::Transition, transition, states, true)?;
        check(duration, hazard, longest, false)?;
        Ok(Self { initial, transition, hazard, longest })
    }

    /// A chain that is known to be valid: what [`new`](Self::new) refuses gives meaningless weights.
    pub const fn from_parts(
        initial: &'m [T],
        transition: &'m [T],
        hazard: &'m [T],
        longest: usize,
    ) -> Self {
        Self { initial, transition, hazard, longest }
    }

    /// Number of states.
    pub const fn states(&self) -> usize {
        self.initial.len()
    }

    /// Cells per state.
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// Writes the weights before the first sample: a segment begins.
    pub fn begin(&self, mut cells: &mut [T]) {
        cells.fill(T::ZERO);
        for &p in self.initial {
            let Some((row, rest)) = cells.split_at_mut_checked(self.longest) else { return };
            if let Some(first) = row.first_mut() {
                *first = p;
            }
            cells = rest;
        }
    }

    /// Writes the weight of the paths whose segment ends with the present sample, `[state]`.
    pub fn leaving(&self, mut cells: &[T], leaving: &mut [T]) {
        let mut hazard = self.hazard;
        for out in leaving {
            let (Some((row, rest)), Some((rates, others))) =
                (cells.split_at_checked(self.longest), hazard.split_at_checked(self.longest))
            else {
                return;
            };
            let mut sum = T::ZERO;
            for (&cell, &rate) in row.iter().zip(rates) {
                sum = sum + cell * rate;
            }
            *out = sum;
            (cells, hazard) = (rest, others);
        }
    }

    /// Moves the weights on by one sample; `leaving` is room for a number per state.
    pub fn advance(&self, mut cells: &mut [T], leaving: &mut [T]) {
        self.leaving(cells, leaving);
        let mut hazard = self.hazard;
        for to in 0..self.initial.len() {
            let (Some((row, rest)), Some((rates, others))) =
                (cells.split_at_mut_checked(self.longest), hazard.split_at_checked(self.longest))
            else {
                return;
            };
            let mut begun = T::ZERO;
            for (from, &out) in leaving.iter().enumerate() {
                if let Some(&p) = self.transition.get(from * self.initial.len() + to) {
                    begun = begun + out * p;
                }
            }
            // From the youngest on: each cell takes what the one before it had. What is past the last stays there.
            let mut carried = begun;
            for (cell, &rate) in row.iter_mut().zip(rates) {
                let stays = *cell * (T::ONE - rate);
                *cell = carried;
                carried = stays;
            }
            if let Some(last) = row.last_mut() {
                *last = *last + carried;
            }
            (cells, hazard) = (rest, others);
        }
    }

    /// Multiplies the weights of each state by its likelihood, and returns their sum.
    pub fn weigh(&self, mut cells: &mut [T], likelihood: &[T]) -> T {
        let mut sum = T::ZERO;
        for &likelihood in likelihood {
            let Some((row, rest)) = cells.split_at_mut_checked(self.longest) else { return sum };
            for cell in row {
                *cell = *cell * likelihood;
                sum = sum + *cell;
            }
            cells = rest;
        }
        sum
    }

    /// Writes the weight of each state, whatever its segment has lasted.
    pub fn states_of(&self, mut cells: &[T], state: &mut [T]) {
        for out in state {
            let Some((row, rest)) = cells.split_at_checked(self.longest) else { return };
            let mut sum = T::ZERO;
            for &cell in row {
                sum = sum + cell;
            }
            *out = sum;
            cells = rest;
        }
    }
}

fn check<T: Real>(part: Part, table: &[T], columns: usize, sums: bool) -> Result<(), ModelError> {
    for (row, entries) in table.chunks(columns.max(1)).enumerate() {
        let mut sum = T::ZERO;
        for (column, &p) in entries.iter().enumerate() {
            let kind = if !p.is_finite() {
                ErrorKind::NotFinite
            } else if p < T::ZERO {
                ErrorKind::Negative
            } else if p > T::ONE + T::SUM_TOLERANCE {
                ErrorKind::AboveOne
            } else {
                sum = sum + p;
                continue;
            };
            return Err(ModelError::new(part, kind, row, column));
        }
        if sums && sum > T::ONE + T::SUM_TOLERANCE {
            return Err(ModelError::new(part, ErrorKind::SumNotOne, row, 0));
        }
    }
    Ok(())
}
