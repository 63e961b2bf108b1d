//! Priors of a profile's distributions: mixtures of Dirichlet densities.

use statrs::function::gamma::ln_gamma;

use super::Residues;
use fishweir::internals::Elementary;

/// A mixture of Dirichlet densities over rows of probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Dirichlets {
    /// Weight and pseudo-counts of each component.
    pub components: Vec<(f64, Vec<f64>)>,
}

impl Dirichlets {
    /// One component.
    pub fn one(pseudo_counts: &[f64]) -> Self {
        Self { components: vec![(1.0, pseudo_counts.to_vec())] }
    }

    /// The mean of the posterior given counts: every component's own, by its share of the posterior.
    ///
    /// ```text
    /// p_a = sum_c q_c (n_a + alpha_ca) / (n + alpha_c)
    /// q_c ~ q'_c B(n + alpha_c) / B(alpha_c)
    /// ```
    ///
    /// Source: Sjolander et al., "Dirichlet mixtures: a method for improved detection of weak but
    /// significant protein sequence homology", 1996.
    pub fn mean(&self, counts: &[f64]) -> Vec<f64> {
        let total: f64 = counts.iter().sum();
        let logs: Vec<f64> = self
            .components
            .iter()
            .map(|(weight, alpha)| {
                let sum: f64 = alpha.iter().sum();
                let each = counts.iter().zip(alpha).filter(|(count, _)| **count > 0.0);
                let gains: f64 = each.map(|(n, a)| ln_gamma(n + a) - ln_gamma(*a)).sum();
                weight.portable_ln() + gains + ln_gamma(sum) - ln_gamma(sum + total)
            })
            .collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut mean = vec![0.0; counts.len()];
        let mut shares = 0.0;
        for (log, (_, alpha)) in logs.iter().zip(&self.components) {
            let share = (log - largest).portable_exp();
            let sum = total + alpha.iter().sum::<f64>();
            for ((mean, n), a) in mean.iter_mut().zip(counts).zip(alpha) {
                *mean += share * (n + a) / sum;
            }
            shares += share;
        }
        mean.iter().map(|entry| entry / shares).collect()
    }
}

/// Priors of all of a profile's distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfilePrior {
    /// Prior of match emissions.
    pub matched: Dirichlets,
    /// Prior of insert emissions.
    pub inserted: Dirichlets,
    /// Prior of the transitions out of a match, an insert, a delete state.
    pub transition: [Dirichlets; 3],
}

impl ProfilePrior {
    /// One pseudo-count everywhere.
    pub fn laplace(residues: &Residues) -> Self {
        let flat = Dirichlets::one(&vec![1.0; residues.len()]);
        let transition = [3, 2, 2].map(|ways| Dirichlets::one(&vec![1.0; ways]));
        Self { matched: flat.clone(), inserted: flat, transition }
    }

    /// The prior of an alphabet: for amino acids the nine components of Sjolander et al. 1996, with
    /// HMMER 3's insertions and transitions; for nucleotides HMMER 3's.
    pub fn of(residues: &Residues) -> Self {
        let transition = |ways: [&[f64]; 3]| ways.map(Dirichlets::one);
        if residues.len() == AMINO_INSERTED.len() {
            let components =
                AMINO.iter().map(|(weight, alpha)| (*weight, alpha.to_vec())).collect();
            return Self {
                matched: Dirichlets { components },
                inserted: Dirichlets::one(&AMINO_INSERTED),
                transition: transition([
                    &[0.7939, 0.0278, 0.0135],
                    &[0.1551, 0.1331],
                    &[0.9002, 0.5630],
                ]),
            };
        }
        let components =
            NUCLEOTIDES.iter().map(|(weight, alpha)| (*weight, alpha.to_vec())).collect();
        Self {
            matched: Dirichlets { components },
            inserted: Dirichlets::one(&[1.0; 4]),
            transition: transition([&[2.0, 0.1, 0.1], &[0.12, 0.4], &[0.5, 1.0]]),
        }
    }
}

/// Insertions are all but fixed: they are slightly polar.
const AMINO_INSERTED: [f64; 20] = [
    681.0, 120.0, 623.0, 651.0, 313.0, 902.0, 241.0, 371.0, 687.0, 676.0, 143.0, 548.0, 647.0,
    415.0, 551.0, 926.0, 623.0, 505.0, 102.0, 269.0,
];

const NUCLEOTIDES: [(f64, [f64; 4]); 4] = [
    (0.24, [0.16, 0.45, 0.12, 0.39]),
    (0.26, [0.09, 0.03, 0.09, 0.04]),
    (0.08, [1.29, 0.40, 6.58, 0.51]),
    (0.42, [1.74, 1.49, 1.57, 1.95]),
];

/// Sjolander et al. 1996, estimated from the Blocks database; residues in the order of
/// [`AMINO`](super::AMINO).
const AMINO: [(f64, [f64; 20]); 9] = [
    (
        0.178091,
        [
            0.270_671, 0.039_848, 0.017_576, 0.016_415, 0.014_268, 0.131_916, 0.012_391, 0.022_599,
            0.020_358, 0.030_727, 0.015_315, 0.048_298, 0.053_803, 0.020_662, 0.023_612, 0.216_147,
            0.147_226, 0.065_438, 0.003_758, 0.009_621,
        ],
    ),
    (
        0.056591,
        [
            0.021_465, 0.010_300, 0.011_741, 0.010_883, 0.385_651, 0.016_416, 0.076_196, 0.035_329,
            0.013_921, 0.093_517, 0.022_034, 0.028_593, 0.013_086, 0.023_011, 0.018_866, 0.029_156,
            0.018_153, 0.036_100, 0.071_770, 0.419_641,
        ],
    ),
    (
        0.0960191,
        [
            0.561_459, 0.045_448, 0.438_366, 0.764_167, 0.087_364, 0.259_114, 0.214_940, 0.145_928,
            0.762_204, 0.247_320, 0.118_662, 0.441_564, 0.174_822, 0.530_840, 0.465_529, 0.583_402,
            0.445_586, 0.227_050, 0.029_510, 0.121_090,
        ],
    ),
    (
        0.0781233,
        [
            0.070_143, 0.011_140, 0.019_479, 0.094_657, 0.013_162, 0.048_038, 0.077_000, 0.032_939,
            0.576_639, 0.072_293, 0.028_240, 0.080_372, 0.037_661, 0.185_037, 0.506_783, 0.073_732,
            0.071_587, 0.042_532, 0.011_254, 0.028_723,
        ],
    ),
    (
        0.0834977,
        [
            0.041_103, 0.014_794, 0.005_610, 0.010_216, 0.153_602, 0.007_797, 0.007_175, 0.299_635,
            0.010_849, 0.999_446, 0.210_189, 0.006_127, 0.013_021, 0.019_798, 0.014_509, 0.012_049,
            0.035_799, 0.180_085, 0.012_744, 0.026_466,
        ],
    ),
    (
        0.0904123,
        [
            0.115_607, 0.037_381, 0.012_414, 0.018_179, 0.051_778, 0.017_255, 0.004_911, 0.796_882,
            0.017_074, 0.285_858, 0.075_811, 0.014_548, 0.015_092, 0.011_382, 0.012_696, 0.027_535,
            0.088_333, 0.944_340, 0.004_373, 0.016_741,
        ],
    ),
    (
        0.114468,
        [
            0.093_461, 0.004_737, 0.387_252, 0.347_841, 0.010_822, 0.105_877, 0.049_776, 0.014_963,
            0.094_276, 0.027_761, 0.010_040, 0.187_869, 0.050_018, 0.110_039, 0.038_668, 0.119_471,
            0.065_802, 0.025_430, 0.003_215, 0.018_742,
        ],
    ),
    (
        0.0682132,
        [
            0.452_171, 0.114_613, 0.062_460, 0.115_702, 0.284_246, 0.140_204, 0.100_358, 0.550_230,
            0.143_995, 0.700_649, 0.276_580, 0.118_569, 0.097_470, 0.126_673, 0.143_634, 0.278_983,
            0.358_482, 0.661_750, 0.061_533, 0.199_373,
        ],
    ),
    (
        0.234585,
        [
            0.005_193, 0.004_039, 0.006_722, 0.006_121, 0.003_468, 0.016_931, 0.003_647, 0.002_184,
            0.005_019, 0.005_990, 0.001_473, 0.004_158, 0.009_055, 0.003_630, 0.006_583, 0.003_172,
            0.003_690, 0.002_967, 0.002_772, 0.002_686,
        ],
    ),
];
