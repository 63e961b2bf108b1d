//! Forward and backward over a whole sequence: expected counts of a path's steps.

use fishweir::internals::Elementary;
use fishweir_core::number::Number;
use fishweir_core::profile_hmm::{Cell, Flanks, Steps, rescale};

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

/// `p(what comes | state)` of a column, without what is in the ledger.
pub(super) struct Ahead<X: Number> {
    pub(super) cells: Vec<Cell<X>>,
    /// `N`, `J`, `C`.
    flanks: [X; 3],
    begin: X,
    end: X,
    pub(super) ledger: X::ScaleAccumulator,
}

impl<X: Number> Ahead<X> {
    /// Row after the last symbol.
    pub(super) fn last(steps: &[Steps<X::Weight>], flanks: &Flanks<X>) -> Self {
        let mut ahead = Self {
            cells: vec![Cell::ZERO; steps.len()],
            flanks: [X::ZERO, X::ZERO, flanks.finish],
            begin: X::ZERO,
            end: flanks.last.times(flanks.finish),
            ledger: X::UNSCALED,
        };
        ahead.sweep(steps, &vec![X::ZERO; steps.len()]);
        ahead
    }

    /// Becomes the column before, of which `row` has the odds of the symbol between the two. They are
    /// spoilt.
    #[inline(always)]
    pub(super) fn step_back(
        &mut self,
        steps: &[Steps<X::Weight>],
        flanks: &Flanks<X>,
        row: &mut [X],
    ) {
        self.begin = X::ZERO;
        for ((row, cell), steps) in row.iter_mut().zip(&self.cells).zip(steps) {
            *row = row.times(cell.matched);
            self.begin = self.begin.plus(row.mul_weight(steps.enter));
        }
        let [before, between, after] = self.flanks.map(|flank| flank.times(flanks.stay));
        let begin = self.begin.times(flanks.begin);
        let around = [before.plus(begin), between.plus(begin), after];
        self.flanks = around;
        self.end = flanks.last.times(after).plus(flanks.again.times(around[1]));
        let sum = self.sweep(steps, row).plus(around[0]).plus(around[1].plus(after));
        if !sum.is_between(-WITHIN, WITHIN) {
            self.rescale(sum);
        }
    }

    /// The states of the positions, from the last to the first: the column's cells become those before a
    /// symbol that arrives in the next matches with the given weights. Their sum.
    #[inline(always)]
    fn sweep(&mut self, steps: &[Steps<X::Weight>], arrivals: &[X]) -> X {
        let (mut arriving, mut deleted, mut sum) = (X::ZERO, X::ZERO, X::ZERO);
        let cells = self.cells.iter_mut().zip(steps).zip(arrivals);
        for ((cell, steps), &arrival) in cells.rev() {
            let leaving = self.end.mul_weight(steps.exit);
            let inserted = cell.inserted;
            *cell = Cell {
                matched: leaving
                    .plus(deleted.mul_weight(steps.match_delete))
                    .plus(arriving.mul_weight(steps.match_match))
                    .plus(inserted.mul_weight(steps.match_insert)),
                inserted: arriving
                    .mul_weight(steps.insert_match)
                    .plus(inserted.mul_weight(steps.insert_insert)),
                deleted: leaving
                    .plus(deleted.mul_weight(steps.delete_delete))
                    .plus(arriving.mul_weight(steps.delete_match)),
            };
            sum = sum.plus(cell.matched).plus(cell.inserted);
            arriving = arrival;
            deleted = cell.deleted;
        }
        sum
    }

    /// Keeps the column near one.
    #[cold]
    #[inline(never)]
    fn rescale(&mut self, sum: X) {
        let mut ends = [self.begin, self.end];
        X::rescale(&mut ends, sum, &mut self.ledger.clone());
        [self.begin, self.end] = ends;
        rescale(&mut self.cells, &mut self.flanks, sum, &mut self.ledger);
    }
}

/// A column whose sum is from `2^-WITHIN` to `2^WITHIN` is left as it is.
pub(super) const WITHIN: i32 = 32;

impl SearchProfile {
    /// Expected counts of a sequence, whose flanks are those of a length.
    ///
    /// RAM: `24 K` bytes per symbol. Time: some four times [`forward`](Self::forward).
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
        let log_odds = (last.flanks()[2] * flanks.finish).portable_ln() + scale(last);
        if !log_odds.is_finite() {
            return Err(ProfileError::Impossible);
        }
        let positions = self.positions();
        let mut expected = Expectations {
            log_odds,
            // A stop is behind the symbols.
            matched: vec![0.0; (self.residues.symbols() + 1) * positions],
            steps: vec![Steps::from_array([0.0; 9]); positions],
            in_domain: vec![0.0; symbols.len()],
            begins: vec![0.0; symbols.len()],
            ends: vec![0.0; symbols.len()],
        };
        let mut ahead = Ahead::<f64>::last(&self.steps, &flanks);
        for (t, &symbol) in symbols.iter().enumerate().rev() {
            let (now, past) = (&columns[t + 1], &columns[t]);
            let odds = self.odds(symbol);
            let behind = |ahead: &Ahead<f64>| Number::log(1.0_f64, &ahead.ledger) - log_odds;
            let (at, from) = (
                (scale(now) + behind(&ahead)).portable_exp(),
                (scale(past) + behind(&ahead)).portable_exp(),
            );
            expected.silent(self, now, &ahead, at, t);
            expected.emitting(self, [past, now], &ahead, odds, [from, at], symbol);
            let begin = (past.flanks()[0] + past.flanks()[1]) * flanks.begin;
            let stayed = past.flanks().iter().zip(ahead.flanks).map(|(past, next)| past * next);
            expected.in_domain[t] = 1.0 - stayed.sum::<f64>() * flanks.stay * from;
            // What enters is counted by the position that is entered.
            for (k, (counts, steps)) in expected.steps.iter_mut().zip(&self.steps).enumerate() {
                counts.enter += begin * steps.enter * odds[k] * ahead.cells[k].matched * from;
            }
            ahead.step_back(&self.steps, &flanks, &mut odds.to_vec());
            expected.begins[t] =
                begin * ahead.begin * (scale(past) + behind(&ahead)).portable_exp();
        }
        Ok(expected)
    }
}

impl Expectations {
    /// Adds the silent steps of a column: deletions, and exits.
    fn silent(
        &mut self,
        profile: &SearchProfile,
        now: &Column<f64>,
        ahead: &Ahead<f64>,
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
        ahead: &Ahead<f64>,
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
