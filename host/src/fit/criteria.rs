//! Criteria by which fits of different sizes are compared.

use super::Fit;

impl Fit {
    /// Akaike's information criterion, `2 k - 2 log L`, with the number `k` of [free
    /// parameters](crate::runtime::Hmm::free_parameters). Of fits to the same sequences, the least predicts best (Akaike
    /// 1974).
    #[must_use]
    pub fn aic(&self) -> f64 {
        2.0 * self.model.free_parameters() as f64 - 2.0 * self.last()
    }

    /// The Bayesian information criterion, `k log n - 2 log L`, with the number `n` of observed samples. Of
    /// fits to the same sequences, the least is the likeliest to have the right number of states (Schwarz
    /// 1978); it asks for more than [`aic`](Self::aic) does of a parameter.
    #[must_use]
    pub fn bic(&self) -> f64 {
        let samples: f64 = self.occupancy.iter().sum();
        self.model.free_parameters() as f64 * samples.ln() - 2.0 * self.last()
    }
}
