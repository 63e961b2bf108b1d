use super::model::{Model, Observation, Sequence};

/// Every answer about a short sequence, from the definition: a sum over all `N^T` hidden paths.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// `p(x_1..T)`.
    pub likelihood: f64,
    /// `p(z_t = j | x_1..T)`, `[time][state]`.
    pub posterior: Vec<Vec<f64>>,
    /// `sum_{t<T} p(z_t = i, z_t+1 = j | x_1..T)`, `[from][to]`.
    pub pairs: Vec<Vec<f64>>,
    /// The largest `p(z_1..T, x_1..T)`.
    pub best_joint: f64,
    /// A path that has it.
    pub best_path: Vec<usize>,
}

impl Enumeration {
    /// Sums over all paths; `None` where the sequence is impossible. Cost: `T N^T`.
    pub fn of(model: &Model, sequence: &[Option<Observation>]) -> Option<Self> {
        let (n, length) = (model.states(), sequence.len());
        let mut sums = Self {
            likelihood: 0.0,
            posterior: vec![vec![0.0; n]; length],
            pairs: vec![vec![0.0; n]; n],
            best_joint: 0.0,
            best_path: Vec::new(),
        };
        for path in words(n, length) {
            let joint = model.log_joint(&path, sequence).exp();
            sums.likelihood += joint;
            if joint > sums.best_joint {
                sums.best_joint = joint;
                sums.best_path.clone_from(&path);
            }
            for (row, &state) in sums.posterior.iter_mut().zip(&path) {
                row[state] += joint;
            }
            for step in path.windows(2) {
                sums.pairs[step[0]][step[1]] += joint;
            }
        }
        if sums.likelihood == 0.0 {
            return None;
        }
        for value in sums.posterior.iter_mut().chain(&mut sums.pairs).flatten() {
            *value /= sums.likelihood;
        }
        Some(sums)
    }
}

/// All `size^length` words over the symbols `0..size`, the last place varying fastest.
pub fn words(size: usize, length: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next = (size > 0 || length == 0).then(|| vec![0; length]);
    std::iter::from_fn(move || {
        let word = next.clone()?;
        let place = word.iter().rposition(|&symbol| symbol + 1 < size);
        next = place.map(|place| {
            let mut following = word.clone();
            following[place] += 1;
            following[place + 1..].fill(0);
            following
        });
        Some(word)
    })
}

/// All sequences of a given length over an alphabet, without missing observations.
pub fn sequences(symbols: usize, length: usize) -> impl Iterator<Item = Sequence> {
    words(symbols, length)
        .map(|word| word.into_iter().map(|k| Some(Observation::Symbol(k))).collect())
}
