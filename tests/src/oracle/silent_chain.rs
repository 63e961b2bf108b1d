//! Sparse chains with silent states: the oracle that the recursion of a profile is compared with.

use fishweir_core::number::Real;

use fishweir_profiles::SearchProfile;

/// A way from one state to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// State where the transition begins.
    pub from: usize,
    /// State where it ends.
    pub to: usize,
    /// Weight of the transition: a probability, or odds.
    pub weight: f64,
}

/// Reason why there is no such chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainError {
    /// Rows for another number of states, or symbols.
    Size {
        /// Name of the part.
        what: &'static str,
        /// Entries there are.
        found: usize,
        /// Entries there should be.
        expected: usize,
    },
    /// An edge to or from a state that there is not.
    State {
        /// The edge's index.
        edge: usize,
        /// State where it begins.
        from: usize,
        /// State where it ends.
        to: usize,
        /// The number of states.
        states: usize,
    },
    /// A weight that is negative or not finite.
    Weight {
        /// Name of the part.
        what: &'static str,
        /// Index of the part.
        index: usize,
    },
    /// Silent states in a cycle: a path could go round for ever.
    Circle {
        /// One of the states.
        state: usize,
    },
}

/// A chain some of whose states emit nothing.
///
/// ```text
/// p(x) = sum over paths  initial prod edges prod emissions end
/// ```
///
/// A path begins in any state, silent or not, and ends in any once all symbols are emitted. Silent states
/// may form no circle; they are visited in topological order. Weights need not sum to one.
///
/// RAM and time a symbol are linear in states and edges.
#[derive(Clone, Debug, PartialEq)]
pub struct SilentChain {
    initial: Vec<f64>,
    end: Vec<f64>,
    /// `[state][symbol]`; `None` of a silent state.
    emission: Vec<Option<Vec<f64>>>,
    edges: Vec<Edge>,
    /// Indices of edges, by the state that they lead to.
    into: Vec<Vec<usize>>,
    /// Silent states, each after those that lead to it.
    silent: Vec<usize>,
    symbols: usize,
}

/// Expected counts of a sequence's paths.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainExpectations {
    /// `log p(x)`.
    pub log_likelihood: f64,
    /// Paths that begin in a state, `[state]`.
    pub initial: Vec<f64>,
    /// Paths that end in it, `[state]`.
    pub end: Vec<f64>,
    /// Emissions, `[state][symbol]`; empty of a silent state.
    pub emission: Vec<Vec<f64>>,
    /// Edges taken, in their order.
    pub edges: Vec<f64>,
    /// Expected visits of a state after a number of emitted symbols, its own included, `[symbols][state]`: of
    /// a state that emits the posterior probability that it emits the last of them.
    pub visits: Vec<Vec<f64>>,
}

/// A column of weights, `x 2^exponent`.
#[derive(Clone)]
struct Column {
    weight: Vec<f64>,
    exponent: i64,
}

impl Column {
    fn rescale(mut self) -> Self {
        let largest = self.weight.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            let power = Real::exponent(largest);
            let factor = f64::power_of_two(-power);
            self.weight.iter_mut().for_each(|weight| *weight *= factor);
            self.exponent += i64::from(power);
        }
        self
    }
}

impl SilentChain {
    /// A chain. `symbols` is the size of its alphabet.
    ///
    /// # Errors
    /// Names the first entry that is wrong, or a silent state in a circle.
    pub fn new(
        symbols: usize,
        initial: Vec<f64>,
        end: Vec<f64>,
        emission: Vec<Option<Vec<f64>>>,
        edges: Vec<Edge>,
    ) -> Result<Self, ChainError> {
        let states = emission.len();
        for (what, found) in [("initial", initial.len()), ("end", end.len())] {
            if found != states {
                return Err(ChainError::Size { what, found, expected: states });
            }
        }
        let rows = emission.iter().flatten();
        if let Some(row) = rows.clone().find(|row| row.len() != symbols) {
            let (what, found) = ("a row of emissions", row.len());
            return Err(ChainError::Size { what, found, expected: symbols });
        }
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        for (what, weights) in [("initial state", &initial), ("end state", &end)] {
            if let Some(index) = weights.iter().position(|weight| !is_weight(weight)) {
                return Err(ChainError::Weight { what, index });
            }
        }
        let odd = |row: &Option<Vec<f64>>| row.iter().flatten().any(|weight| !is_weight(weight));
        if let Some(index) = emission.iter().position(odd) {
            return Err(ChainError::Weight { what: "emitting state", index });
        }
        let mut into = vec![Vec::new(); states];
        for (index, edge) in edges.iter().enumerate() {
            let Edge { from, to, weight } = *edge;
            if from >= states || to >= states {
                return Err(ChainError::State { edge: index, from, to, states });
            }
            if !is_weight(&weight) {
                return Err(ChainError::Weight { what: "edge", index });
            }
            into[to].push(index);
        }
        let silent = order(&emission, &edges)?;
        Ok(Self { initial, end, emission, edges, into, silent, symbols })
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.emission.len()
    }

    /// The size of the alphabet.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Weights of beginning in a state, `[state]`.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// Weights of ending in it, `[state]`.
    pub fn end(&self) -> &[f64] {
        &self.end
    }

    /// Emission probabilities of a state, `[symbol]`; `None` for a silent one.
    pub fn emission(&self, state: usize) -> Option<&[f64]> {
        self.emission.get(state)?.as_deref()
    }

    fn odds(&self, state: usize, symbol: usize) -> Option<f64> {
        self.emission[state].as_ref().map(|row| row.get(symbol).copied().unwrap_or(0.0))
    }

    /// Columns of prefixes, the empty one first: summed, or the best of each.
    fn forward(&self, x: &[usize], plus: fn(f64, f64) -> f64) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::with_capacity(x.len() + 1);
        let arriving = |state: usize, weight: &[f64]| {
            let ways = self.into[state].iter().map(|&edge| &self.edges[edge]);
            ways.map(|edge| weight[edge.from] * edge.weight).fold(0.0, plus)
        };
        for t in 0..=x.len() {
            let mut weight = vec![0.0; self.states()];
            let past = t.checked_sub(1).and_then(|past| columns.get(past));
            if let (Some(past), Some(&symbol)) = (past, t.checked_sub(1).and_then(|t| x.get(t))) {
                for (state, weight) in weight.iter_mut().enumerate() {
                    if let Some(odds) = self.odds(state, symbol) {
                        let begin = if t == 1 {
                            self.initial[state] * f64::power_of_two(-(past.exponent as i32))
                        } else {
                            0.0
                        };
                        *weight = plus(begin, arriving(state, &past.weight)) * odds;
                    }
                }
            }
            let exponent = past.map_or(0, |past| past.exponent);
            for &state in &self.silent {
                let begin = if t == 0 { self.initial[state] } else { 0.0 };
                weight[state] = plus(begin, arriving(state, &weight));
            }
            columns.push(Column { weight, exponent }.rescale());
        }
        columns
    }

    fn log(&self, last: &Column, plus: fn(f64, f64) -> f64) -> f64 {
        let ended = last.weight.iter().zip(&self.end).map(|(weight, end)| weight * end);
        ended.fold(0.0, plus).ln() + f64::times_ln_2(last.exponent)
    }

    /// `log p(x)`; minus infinity of a sequence without a path.
    pub fn log_likelihood(&self, x: &[usize]) -> f64 {
        let columns = self.forward(x, |a, b| a + b);
        columns.last().map_or(f64::NEG_INFINITY, |last| self.log(last, |a, b| a + b))
    }

    /// The best path, `(state, symbols emitted up to and including it)`, and the logarithm of its weight.
    /// `None` of a sequence without a path.
    pub fn viterbi(&self, x: &[usize]) -> Option<(f64, Vec<(usize, usize)>)> {
        let columns = self.forward(x, f64::max);
        let last = columns.last()?;
        let log = self.log(last, f64::max);
        let best = |weights: &mut dyn Iterator<Item = (usize, f64)>| {
            weights.filter(|way| way.1 > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let ends = last.weight.iter().zip(&self.end).map(|(weight, end)| weight * end);
        let (mut state, _) = best(&mut ends.enumerate())?;
        let mut t = x.len();
        let mut path = vec![(state, t)];
        loop {
            let emits = self.emission[state].is_some();
            let past = if emits { t - 1 } else { t };
            let column = &columns[past];
            let ways = self.into[state].iter().map(|&edge| &self.edges[edge]);
            let mut ways = ways.map(|edge| (edge.from, column.weight[edge.from] * edge.weight));
            let found = best(&mut ways);
            let begin = if past == 0 {
                self.initial[state] * f64::power_of_two(-(column.exponent as i32))
            } else {
                0.0
            };
            match found {
                Some((from, weight)) if weight >= begin => (state, t) = (from, past),
                _ => break,
            }
            path.push((state, t));
        }
        path.reverse();
        Some((log, path))
    }

    /// Expected counts of a sequence: each the derivative of `log p(x)` by the logarithm of a weight. `None`
    /// of a sequence without a path.
    pub fn expectations(&self, x: &[usize]) -> Option<ChainExpectations> {
        let columns = self.forward(x, |a, b| a + b);
        let log_likelihood = self.log(columns.last()?, |a, b| a + b);
        if !log_likelihood.is_finite() {
            return None;
        }
        let mut counts = ChainExpectations {
            log_likelihood,
            initial: vec![0.0; self.states()],
            end: vec![0.0; self.states()],
            emission: self
                .emission
                .iter()
                .map(|row| vec![0.0; row.as_ref().map_or(0, Vec::len)])
                .collect(),
            edges: vec![0.0; self.edges.len()],
            visits: vec![Vec::new(); x.len() + 1],
        };
        let share = |exponent: i64| (f64::times_ln_2(exponent) - log_likelihood).exp();
        // What comes after the states of a column: `emitted` those of the column after it, whose symbol's
        // odds are in them.
        let mut emitted = Column { weight: vec![0.0; self.states()], exponent: 0 };
        for t in (0..=x.len()).rev() {
            let column = &columns[t];
            let mut ahead = vec![0.0; self.states()];
            let last = if t == x.len() { 1.0 } else { 0.0 };
            for (ahead, end) in ahead.iter_mut().zip(&self.end) {
                *ahead = last * end;
            }
            for edge in self.edges.iter().filter(|edge| self.emission[edge.to].is_some()) {
                ahead[edge.from] += edge.weight * emitted.weight[edge.to];
            }
            // Into silent states, from the last of them to the first.
            for &state in self.silent.iter().rev() {
                for &edge in &self.into[state] {
                    let Edge { from, weight, .. } = self.edges[edge];
                    ahead[from] += weight * ahead[state];
                }
            }
            let at = share(column.exponent + emitted.exponent);
            for (index, edge) in self.edges.iter().enumerate() {
                let next = match self.emission[edge.to] {
                    Some(_) => emitted.weight[edge.to],
                    None => ahead[edge.to],
                };
                counts.edges[index] += column.weight[edge.from] * edge.weight * next * at;
            }
            let visited =
                column.weight.iter().zip(&ahead).map(|(weight, ahead)| weight * ahead * at);
            counts.visits[t] = visited.collect();
            let begun = share(emitted.exponent);
            for (state, &silent) in ahead.iter().enumerate() {
                counts.end[state] += last * column.weight[state] * self.end[state] * at;
                if t == 0 {
                    let emits = self.emission[state].is_some();
                    let next = if emits { emitted.weight[state] } else { silent };
                    counts.initial[state] += self.initial[state] * next * begun;
                }
            }
            let Some(&symbol) = t.checked_sub(1).and_then(|t| x.get(t)) else { continue };
            for (state, ahead) in ahead.iter_mut().enumerate() {
                let odds = self.odds(state, symbol).unwrap_or(0.0);
                if let Some(count) = counts.emission[state].get_mut(symbol) {
                    *count += column.weight[state] * *ahead * at;
                }
                *ahead *= odds;
            }
            emitted = Column { weight: ahead, exponent: emitted.exponent }.rescale();
        }
        Some(counts)
    }
}

/// Silent states in topological order, by how many silent ones are left before each (Kahn 1962).
fn order(emission: &[Option<Vec<f64>>], edges: &[Edge]) -> Result<Vec<usize>, ChainError> {
    let is_silent = |state: usize| emission[state].is_none();
    let among: Vec<&Edge> =
        edges.iter().filter(|edge| is_silent(edge.from) && is_silent(edge.to)).collect();
    let mut before = vec![0_usize; emission.len()];
    let mut out = vec![Vec::new(); emission.len()];
    for edge in among {
        before[edge.to] += 1;
        out[edge.from].push(edge.to);
    }
    let silent = (0..emission.len()).filter(|&state| is_silent(state));
    let count = silent.clone().count();
    let mut order: Vec<usize> = silent.clone().filter(|&state| before[state] == 0).collect();
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for &to in &out[state] {
            before[to] -= 1;
            if before[to] == 0 {
                order.push(to);
            }
        }
    }
    if order.len() == count {
        return Ok(order);
    }
    let state = silent.clone().find(|&state| before[state] > 0).unwrap_or_default();
    Err(ChainError::Circle { state })
}

/// The search profile with the flanks of a length as a chain: `N B E J C`, then `M I D` by positions.
///
/// # Errors
/// None of a search profile.
pub fn profile_chain(profile: &SearchProfile, length: usize) -> Result<SilentChain, ChainError> {
    let (flanks, positions) = (profile.flanks(length), profile.positions());
    let [before, begin, end, between, after] = [0, 1, 2, 3, 4];
    let [matched, inserted, deleted] = [0, 1, 2].map(|kind| move |k: usize| 5 + 3 * k + kind);
    let mut edges = Vec::new();
    let mut way = |from, to, weight| edges.push(Edge { from, to, weight });
    for (from, to, weight) in [
        (before, before, flanks.stay),
        (before, begin, flanks.begin),
        (between, between, flanks.stay),
        (between, begin, flanks.begin),
        (after, after, flanks.stay),
        (end, between, flanks.again * flanks.stay),
        (end, begin, flanks.again * flanks.begin),
        (end, after, flanks.last * flanks.stay),
    ] {
        way(from, to, weight);
    }
    for (k, steps) in profile.steps().iter().enumerate() {
        way(begin, matched(k), steps.enter);
        way(matched(k), end, steps.exit);
        way(deleted(k), end, steps.exit);
        way(matched(k), inserted(k), steps.match_insert);
        way(inserted(k), inserted(k), steps.insert_insert);
        if k + 1 < positions {
            way(matched(k), matched(k + 1), steps.match_match);
            way(matched(k), deleted(k + 1), steps.match_delete);
            way(inserted(k), matched(k + 1), steps.insert_match);
            way(deleted(k), matched(k + 1), steps.delete_match);
            way(deleted(k), deleted(k + 1), steps.delete_delete);
        }
    }
    let symbols = profile.residues().symbols();
    let states = 5 + 3 * positions;
    let (mut initial, mut ends) = (vec![0.0; states], vec![0.0; states]);
    // A state that emits is entered with a symbol: a flank of none is passed by.
    initial[before] = flanks.stay;
    initial[begin] = flanks.begin;
    ends[end] = flanks.last * flanks.finish;
    ends[after] = flanks.finish;
    let mut emission = vec![Some(vec![1.0; symbols]), None, None];
    emission.extend([Some(vec![1.0; symbols]), Some(vec![1.0; symbols])]);
    for k in 0..positions {
        let odds = (0..symbols).map(|symbol| profile.odds(symbol)[k]).collect();
        emission.extend([Some(odds), Some(vec![1.0; symbols]), None]);
    }
    SilentChain::new(symbols, initial, ends, emission, edges)
}
