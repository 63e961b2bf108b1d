//! Paths through a profile: the best one, and draws from their posterior.

use fishweir::internals::Elementary;
use fishweir_core::number::{Max, Scalar};
use fishweir_core::profile_hmm::{Flanks, Steps};
use rand::Rng;

use super::search::{Column, scale};
use super::{ProfileError, SearchProfile};

/// A state of a path. Positions count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A flanking state, which emits outside the domains: `N`, `J` or `C`.
    Flank,
    /// A domain begins: `B`, which emits nothing.
    Begin,
    /// `M_k`.
    Match(usize),
    /// `I_k`.
    Insert(usize),
    /// `D_k`: emits nothing.
    Delete(usize),
}

impl State {
    /// Returns whether it emits a symbol.
    pub fn emits(self) -> bool {
        !matches!(self, Self::Delete(_) | Self::Begin)
    }
}

/// A path: states in order, and the number of symbols emitted up to and including each.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// States, `(state, symbols)`. The symbol of a state that emits is `symbols - 1`.
    pub states: Vec<(State, usize)>,
}

/// A domain's first and last matches: in the sequence and in the profile, from 0, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First symbol that is matched, and the last.
    pub sequence: [usize; 2],
    /// The positions that they match.
    pub profile: [usize; 2],
}

impl Path {
    /// The domains of the path that match anything.
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut open = false;
        for &(state, symbols) in &self.states {
            match (state, symbols.checked_sub(1)) {
                (State::Begin, _) => open = false,
                (State::Match(k), Some(t)) => {
                    match segments.last_mut().filter(|_| open) {
                        Some(last) => (last.sequence[1], last.profile[1]) = (t, k),
                        None => segments.push(Segment { sequence: [t; 2], profile: [k; 2] }),
                    }
                    open = true;
                }
                _ => {}
            }
        }
        segments
    }
}

/// Position of a trace on its way from the last symbol to the first.
#[derive(Clone, Copy)]
enum At {
    Before,
    Between,
    After,
    Begin,
    Cell(State),
}

/// A table of columns, in which a trace goes back.
struct Table<'t, X: Scalar> {
    columns: Vec<Column<X>>,
    logs: Vec<f64>,
    steps: &'t [Steps<f64>],
    flanks: Flanks<f64>,
}

impl<'t, X> Table<'t, X>
where
    X: Scalar<Weight = f64, Real = f64, Reading: Scalar<Real = f64, Weight = f64>>,
{
    fn new(
        profile: &'t SearchProfile,
        symbols: &[usize],
        length: usize,
    ) -> Result<Self, ProfileError> {
        let flanks = profile.flanks(length);
        let columns = profile.columns::<X>(symbols, &flanks)?;
        let logs = columns.iter().map(scale).collect();
        let possible = columns.last().is_some_and(|last| last.flanks()[2].value() > 0.0);
        if !possible {
            return Err(ProfileError::Impossible);
        }
        Ok(Self { columns, logs, steps: &profile.steps, flanks })
    }

    fn cell(&self, t: usize, state: State) -> f64 {
        let cells = self.columns[t].cells().as_slice();
        let value = match state {
            State::Match(k) => cells.get(k).map(|cell| cell.matched),
            State::Insert(k) => cells.get(k).map(|cell| cell.inserted),
            State::Delete(k) => cells.get(k).map(|cell| cell.deleted),
            State::Flank | State::Begin => None,
        };
        value.map_or(0.0, Scalar::value)
    }

    fn flank(&self, t: usize, flank: usize) -> f64 {
        self.columns[t].flanks()[flank].value()
    }

    /// Collects the possible predecessors of a place: each with its column and its weight, on one column's scale.
    fn ways(&self, at: At, t: usize, ways: &mut Vec<(At, usize, f64)>) {
        ways.clear();
        let stay = self.flanks.stay;
        let leave = |ways: &mut Vec<(At, usize, f64)>, flank: usize, here: At, weight: f64| {
            if let Some(past) = t.checked_sub(1) {
                let scale = (self.logs[past] - self.logs[t]).portable_exp();
                ways.push((here, past, self.flank(past, flank) * stay * scale));
            }
            for (k, steps) in self.steps.iter().enumerate().filter(|(_, steps)| steps.exit > 0.0) {
                for state in [State::Match(k), State::Delete(k)] {
                    ways.push((At::Cell(state), t, self.cell(t, state) * steps.exit * weight));
                }
            }
        };
        let mut come = |from: State, t: usize, weight: f64| {
            ways.push((At::Cell(from), t, self.cell(t, from) * weight));
        };
        match at {
            At::Before => {
                if let Some(past) = t.checked_sub(1) {
                    ways.push((At::Before, past, 1.0));
                }
            }
            At::Between => leave(ways, 1, At::Between, self.flanks.again),
            At::After => leave(ways, 2, At::After, self.flanks.last),
            At::Begin => {
                ways.push((At::Before, t, self.flank(t, 0)));
                ways.push((At::Between, t, self.flank(t, 1)));
            }
            At::Cell(State::Match(k)) => {
                let Some(past) = t.checked_sub(1) else { return };
                if let Some(before) = k.checked_sub(1) {
                    let steps = &self.steps[before];
                    come(State::Match(before), past, steps.match_match);
                    come(State::Insert(before), past, steps.insert_match);
                    come(State::Delete(before), past, steps.delete_match);
                }
                let begin = (self.flank(past, 0), self.flank(past, 1));
                let begin = X::lift(begin.0).plus(X::lift(begin.1)).value() * self.flanks.begin;
                ways.push((At::Begin, past, begin * self.steps[k].enter));
            }
            At::Cell(State::Insert(k)) => {
                let Some(past) = t.checked_sub(1) else { return };
                come(State::Match(k), past, self.steps[k].match_insert);
                come(State::Insert(k), past, self.steps[k].insert_insert);
            }
            At::Cell(State::Delete(k)) => {
                let Some(before) = k.checked_sub(1) else { return };
                come(State::Match(before), t, self.steps[before].match_delete);
                come(State::Delete(before), t, self.steps[before].delete_delete);
            }
            At::Cell(State::Flank | State::Begin) => {}
        }
    }

    /// A path, back from the end; `choose` picks one of some weights.
    fn trace(&self, mut choose: impl FnMut(&[(At, usize, f64)]) -> usize) -> Path {
        let (mut at, mut t) = (At::After, self.columns.len() - 1);
        let (mut states, mut ways) = (Vec::new(), Vec::new());
        loop {
            self.ways(at, t, &mut ways);
            let Some(&(from, column, _)) = ways.get(choose(&ways)) else { break };
            match at {
                At::Cell(state) => states.push((state, t)),
                At::Begin => states.push((State::Begin, t)),
                _ if column < t => states.push((State::Flank, t)),
                _ => {}
            }
            (at, t) = (from, column);
        }
        states.reverse();
        Path { states }
    }
}

impl SearchProfile {
    /// The best path of a sequence, whose flanks are those of a length. Of several the one that leaves a
    /// state latest.
    ///
    /// # Errors
    /// A symbol outside the alphabet, or a sequence without a path.
    pub fn best_path(&self, symbols: &[usize], length: usize) -> Result<Path, ProfileError> {
        let table = Table::<Max<f64>>::new(self, symbols, length)?;
        Ok(table.trace(|ways| {
            let best = ways.iter().enumerate().max_by(|(_, a), (_, b)| a.2.total_cmp(&b.2));
            best.map_or(0, |(index, _)| index)
        }))
    }

    /// Paths drawn from their posterior given a sequence.
    ///
    /// # Errors
    /// As [`best_path`](Self::best_path).
    pub fn draw_paths(
        &self,
        symbols: &[usize],
        length: usize,
        count: usize,
        random: &mut impl Rng,
    ) -> Result<Vec<Path>, ProfileError> {
        let table = Table::<f64>::new(self, symbols, length)?;
        let draw = |_| {
            table.trace(|ways| {
                let total: f64 = ways.iter().map(|way| way.2).sum();
                let mut left = random.random::<f64>() * total;
                let passed = ways.iter().position(|way| {
                    left -= way.2;
                    left < 0.0
                });
                // Rounding may leave a crumb: then the last that is possible.
                passed.or_else(|| ways.iter().rposition(|way| way.2 > 0.0)).unwrap_or(0)
            })
        };
        Ok((0..count).map(draw).collect())
    }
}
