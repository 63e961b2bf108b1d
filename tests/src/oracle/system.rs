use super::Factored;

type Matrix = Vec<Vec<f64>>;

/// A linear dynamical system, as the definition writes it: `s_0 ~ N(mean, covariance)`,
/// `s_t = transition s_t-1 + N(0, noise)`, `x_t = observation s_t + N(0, observation_noise)`.
#[derive(Clone, Debug)]
pub struct System {
    /// `[row]`.
    pub mean: Vec<f64>,
    /// `[row][column]`.
    pub covariance: Matrix,
    /// `[to][from]`.
    pub transition: Matrix,
    /// `[row][column]`.
    pub noise: Matrix,
    /// `[channel][row]`.
    pub observation: Matrix,
    /// `[channel][channel]`.
    pub observation_noise: Matrix,
}

/// A Gaussian by its mean and its dense covariance.
#[derive(Clone, Debug)]
pub struct DenseGaussian {
    /// `[entry]`.
    pub mean: Vec<f64>,
    /// `[entry][entry]`.
    pub covariance: Matrix,
}

impl System {
    /// Numbers of a state.
    pub fn states(&self) -> usize {
        self.mean.len()
    }

    /// Channels.
    pub fn channels(&self) -> usize {
        self.observation.len()
    }

    /// All states of so many times, one after the other, and then all their samples, as one Gaussian: every
    /// number is a sum over the independent first state and noises.
    pub fn joint(&self, times: usize) -> DenseGaussian {
        let (n, d) = (self.states(), self.channels());
        let sources = times * (n + d);
        let unit = |at: usize| (0..sources).map(|k| f64::from(k == at)).collect::<Vec<f64>>();
        let mut rows: Matrix = Vec::new();
        for t in 0..times {
            for (i, weights) in self.transition.iter().enumerate() {
                let mut row = unit(t * n + i);
                if t > 0 {
                    add_rows(&mut row, weights, &rows[(t - 1) * n..t * n]);
                }
                rows.push(row);
            }
        }
        for t in 0..times {
            for (c, weights) in self.observation.iter().enumerate() {
                let mut row = unit(times * n + t * d + c);
                add_rows(&mut row, weights, &rows[t * n..(t + 1) * n]);
                rows.push(row);
            }
        }
        let mut mean = vec![0.0; sources];
        mean[..n].copy_from_slice(&self.mean);
        let mut covariance = vec![vec![0.0; sources]; sources];
        let blocks = std::iter::once(&self.covariance)
            .chain(std::iter::repeat_n(&self.noise, times - 1))
            .chain(std::iter::repeat_n(&self.observation_noise, times));
        let mut from = 0;
        for block in blocks {
            for (i, row) in block.iter().enumerate() {
                covariance[from + i][from..from + row.len()].copy_from_slice(row);
            }
            from += block.len();
        }
        let spread: Matrix =
            rows.iter().map(|row| covariance.iter().map(|c| inner(row, c)).collect()).collect();
        DenseGaussian {
            mean: rows.iter().map(|row| inner(row, &mean)).collect(),
            covariance: spread
                .iter()
                .map(|left| rows.iter().map(|row| inner(left, row)).collect())
                .collect(),
        }
    }

    /// What samples say: their log density, and all states given them, `[time][row]`, as one Gaussian.
    pub fn given(&self, samples: &[Option<Vec<f64>>]) -> (f64, DenseGaussian) {
        let parts: Vec<Vec<Option<f64>>> = samples
            .iter()
            .map(|x| match x {
                Some(x) => x.iter().map(|&x| Some(x)).collect(),
                None => vec![None; self.channels()],
            })
            .collect();
        self.given_in_part(&parts)
    }

    /// Log-likelihood of samples that lack channels, `[time][channel]`.
    pub fn given_in_part(&self, samples: &[Vec<Option<f64>>]) -> (f64, DenseGaussian) {
        let (n, d, times) = (self.states(), self.channels(), samples.len());
        let joint = self.joint(times);
        let entries = || (0..times).flat_map(|t| (0..d).map(move |c| (t, c)));
        let seen: Vec<usize> = entries()
            .filter(|&(t, c)| samples[t][c].is_some())
            .map(|(t, c)| times * n + t * d + c)
            .collect();
        let states: Vec<usize> = (0..times * n).collect();
        let x: Vec<f64> = samples.iter().flatten().flatten().copied().collect();
        let of_seen = joint.part(&seen);
        (of_seen.log_density(&x), joint.given(&states, &seen, &x))
    }
}

impl DenseGaussian {
    /// The marginal of these entries.
    pub fn part(&self, entries: &[usize]) -> Self {
        let row = |&i: &usize| entries.iter().map(|&j| self.covariance[i][j]).collect();
        Self {
            mean: entries.iter().map(|&i| self.mean[i]).collect(),
            covariance: entries.iter().map(row).collect(),
        }
    }

    /// `log N(x; mean, covariance)`.
    pub fn log_density(&self, x: &[f64]) -> f64 {
        if x.is_empty() {
            return 0.0;
        }
        let factored = Factored::of(&self.covariance);
        let centred: Vec<f64> = x.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let square = inner(&centred, &factored.solve(&centred));
        let size = x.len() as f64;
        -0.5 * (size * std::f64::consts::TAU.ln() + factored.log_determinant() + square)
    }

    /// Some entries, given others.
    fn given(&self, wanted: &[usize], seen: &[usize], x: &[f64]) -> Self {
        let mut left = self.part(wanted);
        if seen.is_empty() {
            return left;
        }
        let of_seen = self.part(seen);
        let factored = Factored::of(&of_seen.covariance);
        let centred: Vec<f64> = x.iter().zip(&of_seen.mean).map(|(x, mean)| x - mean).collect();
        let told = factored.solve(&centred);
        let cross: Matrix =
            wanted.iter().map(|&i| seen.iter().map(|&j| self.covariance[i][j]).collect()).collect();
        for (i, row) in cross.iter().enumerate() {
            left.mean[i] += inner(row, &told);
            let solved = factored.solve(row);
            for (entry, other) in left.covariance[i].iter_mut().zip(&cross) {
                *entry -= inner(&solved, other);
            }
        }
        left
    }
}

fn add_rows(to: &mut [f64], weights: &[f64], rows: &[Vec<f64>]) {
    for (weight, row) in weights.iter().zip(rows) {
        for (to, from) in to.iter_mut().zip(row) {
            *to += weight * from;
        }
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
