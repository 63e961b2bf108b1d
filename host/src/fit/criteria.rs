//! Criteria by which fits of different sizes are compared.

use super::options::Fit;
use crate::elementary::Elementary;

impl Fit {
    /// Akaike's information criterion, `2 k - 2 log L`, with the number `k` of [free
    /// parameters](crate::runtime::Hmm::free_parameters): of fits to the same sequences, the least is meant to
    /// predict best (Akaike 1974).
    ///
    /// `log L` is [`last`](Self::last): of the fit as Baum-Welch left it, held by pseudocounts and floors, so
    /// not the very maximum. Hidden Markov models with more states than needed are not regular, so for
    /// numbers of states both criteria are rules of thumb; held-out data decide better.
    pub fn aic(&self) -> f64 {
        2.0 * self.model.free_parameters() as f64 - 2.0 * self.last()
    }

    /// The Bayesian information criterion, `k log n - 2 log L`, with the number `n` of observed samples
    /// (Schwarz 1978): it asks more of a parameter than [`aic`](Self::aic), which see.
    pub fn bic(&self) -> f64 {
        let samples: f64 = self.occupancy.iter().sum();
        self.model.free_parameters() as f64 * samples.portable_ln() - 2.0 * self.last()
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Samples, SamplesView};
    use crate::fit::{BaumWelch, Fit, Topology};
    use crate::runtime::family;

    fn fitted(name: &str, topology: Topology, samples: &Samples, size: usize) -> Fit {
        let options = BaumWelch {
            states: 3,
            topology,
            iterations: 5,
            emission: family(name),
            ..BaumWelch::default()
        };
        let scale: &[f64] = if samples.view().rows().is_some() { &[1.0, 1.0] } else { &[] };
        let sequences: [SamplesView<'_>; 2] = [samples.view(), samples.view()];
        options.fit(&sequences, size, scale, &|| ()).expect("fitted")
    }

    #[test]
    fn parameters_are_counted_as_by_hand() {
        let counts: Samples =
            (0..40_u32).map(|t| [f64::from(t % 5), f64::from(t * 7 % 3 % 2)]).collect();
        let yes: Samples =
            (0..40_u32).map(|t| [f64::from(t % 2), f64::from(t * 7 % 3 % 2)]).collect();
        let symbols: Samples = (0..40).map(|t| t * t % 7 % 4).collect();
        // Three states: 2 of the start and 6 of the transitions; from left to right 2 of the transitions.
        for (name, samples, size, emission) in [
            ("categorical", &symbols, 4, 9),
            ("gaussian", &counts, 2, 12),
            ("poisson", &counts, 2, 6),
            ("bernoulli", &yes, 2, 6),
            ("full-gaussian", &counts, 2, 15),
            ("mixture", &counts, 2, 27),
        ] {
            let of = |topology| fitted(name, topology, samples, size).model.free_parameters();
            assert_eq!(of(Topology::Ergodic), 8 + emission, "{name}");
            assert_eq!(of(Topology::LeftToRight), 2 + emission, "{name}");
        }
    }

    #[test]
    fn criteria_are_those_of_the_fit() {
        let symbols =
            Samples::Symbols((0..40_u16).map(|t| (t % 4 != 3).then_some(t % 3)).collect());
        let fit = fitted("categorical", Topology::Ergodic, &symbols, 3);
        let (k, n) = (fit.model.free_parameters() as f64, 60.0_f64);
        assert!((fit.aic() - (2.0 * k - 2.0 * fit.last())).abs() < 1e-9);
        assert!((fit.bic() - (k * n.ln() - 2.0 * fit.last())).abs() < 1e-6);
    }
}
