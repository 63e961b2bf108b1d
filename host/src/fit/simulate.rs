//! Series drawn from a model.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::data::{Rows, Samples};
use crate::runtime::{Emissions, Hmm};

impl Hmm {
    /// Draws a series: states along the chain, an observation from each (ancestral sampling; Rabiner
    /// 1989, section II.D). The same seed draws the same series.
    #[must_use]
    pub fn simulate(&self, length: usize, seed: u64) -> Samples {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut state = None;
        let mut next = |rng: &mut ChaCha8Rng| {
            let row = state.and_then(|state: usize| self.transition.get(state));
            let drawn = choose(row.unwrap_or(&self.initial), rng);
            state = Some(drawn);
            drawn
        };
        match &self.emission {
            Emissions::Categorical { probability } => {
                let mut symbols = Vec::with_capacity(length);
                for _ in 0..length {
                    let state = next(&mut rng);
                    symbols.push(u16::try_from(choose(&probability[state], &mut rng)).ok());
                }
                Samples::Symbols(symbols)
            }
            Emissions::Gaussian { mean, std } => {
                let mut rows = Rows::new(self.size());
                for _ in 0..length {
                    let state = next(&mut rng);
                    let channels = mean[state].iter().zip(&std[state]);
                    let row: Vec<f64> =
                        channels.map(|(mean, std)| mean + std * normal(&mut rng)).collect();
                    rows.push(Some(&row));
                }
                Samples::Channels(rows)
            }
        }
    }
}

/// An index, with these probabilities.
pub(crate) fn choose(probability: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let mut left: f64 = rng.random();
    for (index, p) in probability.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding leaves a trace: the last that can be.
    probability.iter().rposition(|&p| p > 0.0).unwrap_or(0)
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}
