use super::model::{Model, Observation, log_sum_exp};

/// Everything that forward, backward and Viterbi say of a sequence, computed slowly in the log
/// domain: nothing is scaled, so nothing that goes wrong with scaling can go wrong here.
///
/// `None` stands for "undefined": posteriors and paths of an impossible sequence.
#[derive(Clone, Debug)]
pub struct LogDomain {
    /// `log p(z_t = j, x_1..t)`, `[time][state]`.
    pub log_forward: Vec<Vec<f64>>,
    /// `log p(x_t+1..T | z_t = j)`, `[time][state]`.
    pub log_backward: Vec<Vec<f64>>,
    /// `log b_j(x_t)`, `[time][state]`.
    pub log_emission: Vec<Vec<f64>>,
    log_transition: Vec<Vec<f64>>,
    log_initial: Vec<f64>,
}

impl LogDomain {
    /// Runs forward and backward. Cost: `T N^2` exponentials, `3 T N` numbers.
    pub fn of(model: &Model, sequence: &[Option<Observation>]) -> Self {
        let n = model.states();
        let log_initial: Vec<f64> = model.initial.iter().map(|p| p.ln()).collect();
        let log_transition: Vec<Vec<f64>> =
            model.transition.iter().map(|row| row.iter().map(|p| p.ln()).collect()).collect();
        let log_emission: Vec<Vec<f64>> =
            sequence.iter().map(|x| model.log_row(x.as_ref())).collect();
        let mut log_forward: Vec<Vec<f64>> = Vec::with_capacity(sequence.len());
        for row in &log_emission {
            let next = (0..n).map(|j| {
                let predicted = match log_forward.last() {
                    None => log_initial[j],
                    Some(last) => {
                        let terms = (0..n).map(|i| last[i] + log_transition[i][j]);
                        log_sum_exp(&terms.collect::<Vec<_>>())
                    }
                };
                predicted + row[j]
            });
            let next = next.collect();
            log_forward.push(next);
        }
        let mut log_backward = vec![vec![0.0; n]; sequence.len()];
        for t in (1..sequence.len()).rev() {
            for i in 0..n {
                let terms =
                    (0..n).map(|j| log_transition[i][j] + log_emission[t][j] + log_backward[t][j]);
                log_backward[t - 1][i] = log_sum_exp(&terms.collect::<Vec<_>>());
            }
        }
        Self { log_forward, log_backward, log_emission, log_transition, log_initial }
    }

    /// `log p(x_1..t)`, `[time]`.
    pub fn prefix_log_likelihood(&self) -> Vec<f64> {
        self.log_forward.iter().map(|row| log_sum_exp(row)).collect()
    }

    /// `log p(x_1..T)`, read forward; zero of an empty sequence.
    pub fn log_likelihood(&self) -> f64 {
        self.log_forward.last().map_or(0.0, |row| log_sum_exp(row))
    }

    /// `log p(x_1..T)`, read backward.
    pub fn log_likelihood_backward(&self) -> f64 {
        match (self.log_emission.first(), self.log_backward.first()) {
            (Some(emission), Some(backward)) => {
                let terms = self.log_initial.iter().zip(emission).zip(backward);
                log_sum_exp(&terms.map(|((a, b), c)| a + b + c).collect::<Vec<_>>())
            }
            _ => 0.0,
        }
    }

    /// `p(z_t = j | x_1..t)`, `[state]`; `None` where `x_1..t` is impossible.
    pub fn filtered(&self, t: usize) -> Option<Vec<f64>> {
        let row = &self.log_forward[t];
        let log = log_sum_exp(row);
        log.is_finite().then(|| row.iter().map(|l| (l - log).exp()).collect())
    }

    /// `p(z_t = j | x_1..T)`, `[time][state]`.
    pub fn posterior(&self) -> Option<Vec<Vec<f64>>> {
        let log = self.log_likelihood();
        let rows = self.log_forward.iter().zip(&self.log_backward);
        log.is_finite().then(|| {
            rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a + b - log).exp()).collect()).collect()
        })
    }

    /// `sum_{t<T} p(z_t = i, z_t+1 = j | x_1..T)`, `[from][to]`.
    pub fn pairs(&self) -> Option<Vec<Vec<f64>>> {
        let log = self.log_likelihood();
        let n = self.log_initial.len();
        let pair = |i: usize, j: usize| -> f64 {
            (1..self.log_forward.len())
                .map(|t| {
                    let ahead = self.log_emission[t][j] + self.log_backward[t][j];
                    (self.log_forward[t - 1][i] + self.log_transition[i][j] + ahead - log).exp()
                })
                .sum()
        };
        log.is_finite().then(|| (0..n).map(|i| (0..n).map(|j| pair(i, j)).collect()).collect())
    }

    /// The most probable path and `log p(z_1..T, x_1..T)` of it; `None` where every path is
    /// impossible. Of equally probable states the first.
    pub fn viterbi(&self) -> Option<(Vec<usize>, f64)> {
        let n = self.log_initial.len();
        let mut best: Vec<f64> = Vec::new();
        let mut came_from: Vec<Vec<usize>> = Vec::new();
        for (t, emission) in self.log_emission.iter().enumerate() {
            let step = |j: usize| -> (usize, f64) {
                if t == 0 {
                    return (j, self.log_initial[j]);
                }
                let from = |i: usize| best[i] + self.log_transition[i][j];
                (1..n).fold(
                    (0, from(0)),
                    |(at, log), i| {
                        if from(i) > log { (i, from(i)) } else { (at, log) }
                    },
                )
            };
            let steps: Vec<(usize, f64)> = (0..n).map(step).collect();
            best = steps.iter().zip(emission).map(|((_, log), b)| log + b).collect();
            came_from.push(steps.iter().map(|(from, _)| *from).collect());
        }
        let (mut state, log) = best.iter().copied().enumerate().fold(
            (0, f64::NEG_INFINITY),
            |(at, most), (j, log)| if log > most { (j, log) } else { (at, most) },
        );
        if !log.is_finite() {
            return None;
        }
        let mut path = vec![state; came_from.len()];
        for t in (1..path.len()).rev() {
            state = came_from[t][state];
            path[t - 1] = state;
        }
        Some((path, log))
    }
}
