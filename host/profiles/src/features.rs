//! Fisher scores of a profile's match emissions as features: by residue, or grouped by a mixture.

use super::{Dirichlets, Profile};

/// The gradient of a sequence's log-odds with respect to match emissions, from expected counts.
///
/// ```text
/// U_kc = sum_x n_k(x) ( theta_c(x) / p_k(x) - 1 )
/// ```
///
/// the derivative by the coefficient of `theta_c` where `p_k` moves towards it: of each residue alone (twenty
/// a position), or of the mean of each component of a Dirichlet mixture (nine), which groups residues that stand
/// for one another. Insertions and transitions take no part.
///
/// Source: Jaakkola, Diekhans and Haussler, "A discriminative framework for detecting remote protein
/// homologies", 2000.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchFeatures {
    positions: usize,
    width: usize,
    /// `theta_c(x) / p_k(x) - 1`, `[symbol][position][c]`; of a code for several residues the mean by its shares.
    ratios: Vec<Vec<f32>>,
}

impl MatchFeatures {
    /// Features by the components of a mixture; by residue without a mixture.
    pub fn new(profile: &Profile, mixture: Option<&Dirichlets>) -> Self {
        let residues = profile.residues;
        let groups: Vec<Vec<f64>> = match mixture {
            None => (0..residues.len())
                .map(|one| (0..residues.len()).map(|x| f64::from(u8::from(x == one))).collect())
                .collect(),
            Some(mixture) => {
                let mean = |alpha: &Vec<f64>| {
                    let total: f64 = alpha.iter().sum();
                    alpha.iter().map(|alpha| alpha / total).collect()
                };
                mixture.components.iter().map(|(_, alpha)| mean(alpha)).collect()
            }
        };
        let ratio = |symbol: usize| {
            let shares = residues.shares(symbol);
            let rows = profile.matched.iter().flat_map(|matched| {
                let shares = &shares;
                groups.iter().map(move |group| {
                    let ratio = |&(x, share): &(usize, f64)| share * group[x] / matched[x];
                    (shares.iter().map(ratio).sum::<f64>() - 1.0) as f32
                })
            });
            rows.collect()
        };
        let ratios = (0..residues.symbols()).map(ratio).collect();
        Self { positions: profile.len(), width: groups.len(), ratios }
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.positions * self.width
    }

    /// Returns whether there is no feature: never true.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rate of each symbol and position for weights on the features: `sum_c w_kc (theta_c(x) / p_k(x) - 1)`,
    /// `[symbol][position]`.
    pub fn rates(&self, weights: &[f64]) -> Vec<Vec<f64>> {
        let of = |ratios: &Vec<f32>| {
            let rows = ratios.chunks_exact(self.width).zip(weights.chunks_exact(self.width));
            let sum = |(ratios, weights): (&[f32], &[f64])| {
                ratios.iter().zip(weights).map(|(&ratio, weight)| f64::from(ratio) * weight).sum()
            };
            rows.map(sum).collect()
        };
        self.ratios.iter().map(of).collect()
    }

    /// One over the root of each column's mean square, zero where that is: `1 / sqrt(1/n sum_i x_ic^2)`, `[c]`, of
    /// rows `[i][c]`. Whitens by the diagonal of the empirical information.
    pub fn whitening<T: Copy + Into<f64>>(rows: &[Vec<T>]) -> Vec<f64> {
        let mut squares = vec![0.0_f64; rows.first().map_or(0, Vec::len)];
        for row in rows {
            squares.iter_mut().zip(row).for_each(|(square, &x)| *square += x.into() * x.into());
        }
        let root = |square: f64| (square / rows.len() as f64).sqrt();
        squares
            .iter()
            .map(|&square| if square > 0.0 { root(square).recip() } else { 0.0 })
            .collect()
    }

    /// The features, `[position][c]`, of expected counts `[symbol][position]`.
    pub fn of(&self, counts: &[f32]) -> Vec<f32> {
        let mut features = vec![0.0; self.len()];
        for (counts, ratios) in counts.chunks_exact(self.positions).zip(&self.ratios) {
            if counts.iter().all(|&count| count == 0.0) {
                continue;
            }
            let rows = features.chunks_exact_mut(self.width).zip(ratios.chunks_exact(self.width));
            for ((features, ratios), count) in rows.zip(counts) {
                for (feature, ratio) in features.iter_mut().zip(ratios) {
                    *feature += count * ratio;
                }
            }
        }
        features
    }
}
