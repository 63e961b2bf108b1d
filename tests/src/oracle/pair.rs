use super::enumeration::words;

/// Where trajectories end.
#[derive(Clone, Debug, PartialEq)]
pub enum PairEnd {
    /// Anywhere.
    Anywhere,
    /// In a silent final state: probabilities from the initial state, then `[state]`.
    Silent(Vec<f64>),
    /// In an emitting state.
    Emitting(usize),
}

/// A hidden Markov model whose states may emit nothing: plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PairModel {
    /// `[state]`.
    pub initial: Vec<f64>,
    /// `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// `[state][symbol]`.
    pub emission: Vec<Vec<f64>>,
    /// `[state]`.
    pub empty: Vec<f64>,
    /// Where trajectories end.
    pub end: PairEnd,
}

impl PairModel {
    fn weight(&self, last: Option<usize>) -> f64 {
        match (&self.end, last) {
            (PairEnd::Anywhere, _) => 1.0,
            (PairEnd::Silent(p), None) => p[0],
            (PairEnd::Silent(p), Some(state)) => p[state + 1],
            (PairEnd::Emitting(end), last) => f64::from(last == Some(*end)),
        }
    }

    /// `P(s | h)`: all ways of placing the symbols on a trajectory.
    fn emits(&self, trajectory: &[usize], s: &[usize]) -> f64 {
        // [symbols placed]
        let mut ways = vec![0.0; s.len() + 1];
        ways[0] = 1.0;
        for &state in trajectory {
            for placed in (0..=s.len()).rev() {
                let silent = ways[placed] * self.empty[state];
                let emitted = match placed {
                    0 => 0.0,
                    _ => ways[placed - 1] * self.emission[state][s[placed - 1]],
                };
                ways[placed] = silent + emitted;
            }
        }
        ways[s.len()]
    }

    /// `sum_h P(h) P(s | h) P(t | h)` from the definition, over all trajectories of up to `longest`
    /// states. Cost: `N^longest`.
    pub fn enumerate(&self, s: &[usize], t: &[usize], longest: usize) -> f64 {
        let trajectories = (0..=longest).flat_map(|length| words(self.initial.len(), length));
        trajectories
            .map(|h| {
                let mut p = self.weight(h.last().copied());
                for (step, &state) in h.iter().enumerate() {
                    p *= match step {
                        0 => self.initial[state],
                        _ => self.transition[h[step - 1]][state],
                    };
                }
                p * self.emits(&h, s) * self.emits(&h, t)
            })
            .sum()
    }

    /// The same, trajectory lengths one by one: `q[i][j][a]` is the probability that a trajectory of
    /// `n` states ends in `a` with `i` and `j` symbols emitted. Nothing is removed from the model.
    pub fn kernel(&self, s: &[usize], t: &[usize], longest: usize) -> f64 {
        let states = self.initial.len();
        let (rows, columns) = (s.len() + 1, t.len() + 1);
        let at = |i: usize, j: usize| i * columns + j;
        let emit = |state: usize, symbol: Option<usize>| match symbol {
            None => self.empty[state],
            Some(symbol) => self.emission[state][symbol],
        };
        let mut total = if s.is_empty() && t.is_empty() { self.weight(None) } else { 0.0 };
        let mut now = vec![vec![0.0; states]; rows * columns];
        for n in 1..=longest {
            let mut next = vec![vec![0.0; states]; rows * columns];
            for i in 0..rows {
                for j in 0..columns {
                    for b in 0..states {
                        let enter = |i: usize, j: usize| match n {
                            1 if i == 0 && j == 0 => self.initial[b],
                            1 => 0.0,
                            _ => {
                                (0..states).map(|a| now[at(i, j)][a] * self.transition[a][b]).sum()
                            }
                        };
                        let mut sum = emit(b, None) * emit(b, None) * enter(i, j);
                        if i > 0 {
                            sum += emit(b, Some(s[i - 1])) * emit(b, None) * enter(i - 1, j);
                        }
                        if j > 0 {
                            sum += emit(b, None) * emit(b, Some(t[j - 1])) * enter(i, j - 1);
                        }
                        if i > 0 && j > 0 {
                            let both = emit(b, Some(s[i - 1])) * emit(b, Some(t[j - 1]));
                            sum += both * enter(i - 1, j - 1);
                        }
                        next[at(i, j)][b] = sum;
                    }
                }
            }
            now = next;
            let last = &now[at(rows - 1, columns - 1)];
            total += (0..states).map(|a| last[a] * self.weight(Some(a))).sum::<f64>();
        }
        total
    }
}
