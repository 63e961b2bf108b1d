//! Forward and backward over a whole sequence: what a path does where, on average.

use fishweir_core::number::Real;
use fishweir_core::profile_hmm::{Cell, Flanks, Steps};

use super::search::{Column, scale};
use super::{ProfileError, SearchProfile};

/// Expected counts of everything that a path through a profile does, and where.
///
/// The count of a weight is the derivative of the log-odds with respect to the weight's logarithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectations {
    /// The log-odds, in nats, without the null model's length.
    pub log_odds: f64,
    /// Symbols that match states emit, `[symbol][position]`.
    pub matched: Vec<f64>,
    /// Transitions, `[position]`.
    pub steps: Vec<Steps<f64>>,
    /// Probability that a symbol is in a domain, `[t]`.
    pub in_domain: Vec<f64>,
    /// Expected number of domains that begin with the symbol, `[t]`.
    pub begins: Vec<f64>,
    /// Expected number of domains that end after it, `[t]`.
    pub ends: Vec<f64>,
}

/// `p(what comes | state)` of a column, `x exp(log)`.
struct Ahead {
    cells: Vec<Cell<f64>>,
    /// `N`, `J`, `C`.
    flanks: [f64; 3],
    begin: f64,
    end: f64,
    log: f64,
}

impl Ahead {
    /// After the last symbol.
    fn last(steps: &[Steps<f64>], flanks: &Flanks<f64>) -> Self {
        let cells = vec![Cell::ZERO; steps.len()];
        let mut ahead = Self { cells, flanks: [0.0; 3], begin: 0.0, end: 0.0, log: 0.0 };
        ahead.flanks[2] = flanks.finish;
        ahead.end = flanks.last * flanks.finish;
        ahead.sweep(steps, None);
        ahead
    }

    /// The column before another, whose symbol has the given odds.
    fn before(&self, steps: &[Steps<f64>], flanks: &Flanks<f64>, odds: &[f64]) -> Self {
        let begin = steps
            .iter()
            .zip(odds)
            .zip(&self.cells)
            .map(|((steps, odds), next)| steps.enter * odds * next.matched)
            .sum::<f64>();
        let [before, between, after] = self.flanks.map(|flank| flank * flanks.stay);
        let new = [before + flanks.begin * begin, between + flanks.begin * begin, after];
        let end = flanks.last * new[2] + flanks.again * new[1];
        let mut ahead = Self { cells: self.cells.clone(), flanks: new, begin, end, log: self.log };
        ahead.sweep(steps, Some(odds));
        ahead.rescale();
        ahead
    }

    /// The states of the positions, from the last to the first: the column's cells become those before a
    /// symbol with the given odds, or those where no symbol comes.
    fn sweep(&mut self, steps: &[Steps<f64>], odds: Option<&[f64]>) {
        let (mut arriving, mut deleted) = (0.0, 0.0);
        for (k, (cell, steps)) in self.cells.iter_mut().zip(steps).enumerate().rev() {
            let next = *cell;
            let leaving = steps.exit * self.end;
            *cell = Cell {
                matched: leaving
                    + steps.match_delete * deleted
                    + steps.match_match * arriving
                    + steps.match_insert * next.inserted,
                inserted: steps.insert_match * arriving + steps.insert_insert * next.inserted,
                deleted: leaving + steps.delete_delete * deleted + steps.delete_match * arriving,
            };
            arriving = odds.and_then(|odds| odds.get(k)).map_or(0.0, |odds| odds * next.matched);
            deleted = cell.deleted;
        }
    }

    /// Keeps the column near one.
    fn rescale(&mut self) {
        let matched = self.cells.iter().map(|cell| cell.matched.max(cell.inserted));
        let largest = matched.chain(self.flanks).fold(0.0, f64::max);
        if (1e-30..1e30).contains(&largest) || largest <= 0.0 {
            return;
        }
        let factor = f64::power_of_two(-Real::exponent(largest));
        for cell in &mut self.cells {
            cell.matched *= factor;
            cell.inserted *= factor;
            cell.deleted *= factor;
        }
        self.flanks = self.flanks.map(|flank| flank * factor);
        self.begin *= factor;
        self.end *= factor;
        self.log -= factor.ln();
    }
}

impl SearchProfile {
    /// Expected counts of a sequence, whose flanks are those of a length.
    ///
    /// RAM: `24 K` bytes a symbol. Time: some four times [`forward`](Self::forward).
    ///
    /// # Errors
    /// A symbol outside the alphabet, or a sequence without a path.
    pub fn expectations(
        &self,
        symbols: &[usize],
        length: usize,
    ) -> Result<Expectations, ProfileError> {
        let flanks = self.flanks(length);
        let columns = self.columns::<f64>(symbols, &flanks)?;
        let last = columns.last().ok_or(ProfileError::Impossible)?;
        let log_odds = (last.flanks()[2] * flanks.finish).ln() + scale(last);
        if !log_odds.is_finite() {
            return Err(ProfileError::Impossible);
        }
        let positions = self.positions();
        let mut expected = Expectations {
            log_odds,
            matched: vec![0.0; self.residues.symbols() * positions],
            steps: vec![Steps::from_array([0.0; 9]); positions],
            in_domain: vec![0.0; symbols.len()],
            begins: vec![0.0; symbols.len()],
            ends: vec![0.0; symbols.len()],
        };
        let mut ahead = Ahead::last(&self.steps, &flanks);
        for (t, &symbol) in symbols.iter().enumerate().rev() {
            let (now, past) = (&columns[t + 1], &columns[t]);
            let odds = self.odds(symbol);
            let (at, from) = (
                (scale(now) + ahead.log - log_odds).exp(),
                (scale(past) + ahead.log - log_odds).exp(),
            );
            expected.silent(self, now, &ahead, at, t);
            expected.emitting(self, [past, now], &ahead, odds, [from, at], symbol);
            let begin = (past.flanks()[0] + past.flanks()[1]) * flanks.begin;
            let before = ahead.before(&self.steps, &flanks, odds);
            let entered = (scale(past) + before.log - log_odds).exp();
            expected.begins[t] = begin * before.begin * entered;
            let stayed = past.flanks().iter().zip(ahead.flanks).map(|(past, next)| past * next);
            expected.in_domain[t] = 1.0 - stayed.sum::<f64>() * flanks.stay * from;
            // What enters is counted by the position that is entered.
            for (k, (counts, steps)) in expected.steps.iter_mut().zip(&self.steps).enumerate() {
                counts.enter += begin * steps.enter * odds[k] * ahead.cells[k].matched * from;
            }
            ahead = before;
        }
        Ok(expected)
    }
}

impl Expectations {
    /// Adds the silent steps of a column: deletions, and what leaves.
    fn silent(
        &mut self,
        profile: &SearchProfile,
        now: &Column<f64>,
        ahead: &Ahead,
        weight: f64,
        t: usize,
    ) {
        let cells = now.cells().as_slice();
        for (k, (cell, steps)) in cells.iter().zip(&profile.steps).enumerate() {
            let counts = &mut self.steps[k];
            let left = (cell.matched + cell.deleted) * steps.exit * ahead.end * weight;
            counts.exit += left;
            self.ends[t] += left;
            let deleted = ahead.cells.get(k + 1).map_or(0.0, |next| next.deleted) * weight;
            counts.match_delete += cell.matched * steps.match_delete * deleted;
            counts.delete_delete += cell.deleted * steps.delete_delete * deleted;
        }
    }

    /// Adds the steps that end in a symbol, and the symbol.
    fn emitting(
        &mut self,
        profile: &SearchProfile,
        [past, now]: [&Column<f64>; 2],
        ahead: &Ahead,
        odds: &[f64],
        [from, at]: [f64; 2],
        symbol: usize,
    ) {
        let (before, cells) = (past.cells().as_slice(), now.cells().as_slice());
        let row = symbol * profile.positions();
        for (k, (cell, steps)) in before.iter().zip(&profile.steps).enumerate() {
            self.matched[row + k] += cells[k].matched * ahead.cells[k].matched * at;
            let next = ahead.cells.get(k + 1).map_or(0.0, |next| next.matched * odds[k + 1]) * from;
            let inserted = ahead.cells[k].inserted * from;
            let counts = &mut self.steps[k];
            counts.match_match += cell.matched * steps.match_match * next;
            counts.insert_match += cell.inserted * steps.insert_match * next;
            counts.delete_match += cell.deleted * steps.delete_match * next;
            counts.match_insert += cell.matched * steps.match_insert * inserted;
            counts.insert_insert += cell.inserted * steps.insert_insert * inserted;
        }
    }
}
