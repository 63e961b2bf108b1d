//! Features of a kernel by its values with a few items.

use fishweir_core::matrix::solve_transposed;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::learn::solver::expansion::{Expansion, KernelLearnError, Linear};
use crate::learn::solver::factor::Factor;
use crate::learn::solver::matrix::Matrix;
use crate::parallel::each;
use crate::runtime::numbers::choose;

/// Share of the kernel's trace below which its remainder gives no landmark.
///
/// It is also the share of an item's own value below which that item is no landmark, to avoid a division by nearly zero.
const LEFT: f64 = 1e-6;
const SEED: u64 = 1;

/// Features whose inner products are a kernel's as far as a few of its items, the landmarks, tell:
/// `phi(x) = L^-1 k(x)`, where `k(x)` are the kernel's values with the landmarks and `L L' = K` is the Cholesky
/// factor of those among them, so that `phi(x) . phi(y) = k(x)' K^-1 k(y)` (C. Williams and M. Seeger, Using the
/// Nystrom method to speed up kernel machines, NIPS 2001).
///
/// A machine that is linear in them is an expansion in the kernel on the landmarks alone, however many items it was
/// trained on.
#[derive(Clone, Debug)]
pub struct Nystrom {
    landmarks: Vec<usize>,
    /// `[item][landmark]`.
    features: Matrix,
    /// `L`, `[landmark][landmark]`, row by row.
    lower: Vec<f64>,
}

impl Nystrom {
    /// Chooses at most `most` landmarks of `items` items, fewer if those represent the whole kernel already.
    ///
    /// A landmark is drawn with a probability in proportion to the remainder of its kernel with itself after the earlier ones (Y.
    /// Chen, E. Epperly, J. Tropp and R. Webber, Randomly pivoted Cholesky, Communications on Pure and Applied Mathematics 78,
    /// 2025); from a fixed seed, so that the same items have the same landmarks.
    ///
    /// Time: `items most` kernel values and `items most^2 / 2` multiply-adds. RAM: `12 items most` bytes.
    ///
    /// # Errors
    /// [`KernelLearnError::NotFinite`].
    pub fn of(
        items: usize,
        most: usize,
        kernel: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Result<Self, KernelLearnError> {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let own: Vec<f64> = (0..items).map(|item| kernel(item, item)).collect();
        if let Some(item) = own.iter().position(|own| !own.is_finite()) {
            return Err(KernelLearnError::NotFinite { row: item, column: item });
        }
        let least = LEFT * own.iter().sum::<f64>();
        let mut factor = Factor::new(own.clone());
        let mut landmarks: Vec<usize> = Vec::new();
        while landmarks.len() < most {
            let all: f64 = factor.left.iter().sum();
            if all <= least {
                break;
            }
            let chances: Vec<f64> = factor.left.iter().map(|left| left / all).collect();
            let chosen = choose(&chances, &mut rng);
            factor.take(chosen, each(items, &|item| kernel(item, chosen)));
            for (left, own) in factor.left.iter_mut().zip(&own) {
                if *left <= LEFT * own {
                    *left = 0.0;
                }
            }
            landmarks.push(chosen);
        }
        let row = |item: usize| factor.columns.iter().map(move |column| column[item]);
        let lower = landmarks.iter().flat_map(|&landmark| row(landmark)).collect();
        let mut features = Matrix::new(landmarks.len());
        (0..items).for_each(|item| features.push(&row(item).collect::<Vec<f64>>()));
        Ok(Self { landmarks, features, lower })
    }

    /// Indices of the landmarks, in the order in which they were drawn.
    #[must_use]
    pub fn landmarks(&self) -> &[usize] {
        &self.landmarks
    }

    /// Features of the items, `[item][landmark]`.
    #[must_use]
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// A machine on features as one on the kernel's values with the landmarks: `w . L^-1 k(x) = (L^-T w) . k(x)`.
    #[must_use]
    pub fn expansion(&self, machine: &Linear) -> Expansion {
        let mut coefficients = machine.weights.clone();
        solve_transposed(&self.lower, self.landmarks.len(), &mut coefficients);
        Expansion { coefficients, bias: machine.bias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{ScoreKernel, inner_product};
    use crate::learn::KERNEL_SVM;
    use crate::learn::solver::loss::{ClassWeight, Costs};

    /// Points on a spiral of three turns.
    fn items() -> Vec<Vec<f64>> {
        let at = |k: u32| f64::from(k) * 0.3;
        (0..60).map(|k| vec![at(k) * at(k).cos() / 6.0, at(k) * at(k).sin() / 6.0]).collect()
    }

    const KERNELS: [ScoreKernel; 2] =
        [ScoreKernel::gaussian(0.3), ScoreKernel::Polynomial { degree: 3 }];

    #[test]
    fn features_are_the_projections_on_the_landmarks() {
        let items = items();
        for kernel in KERNELS {
            let value = |i: usize, j: usize| kernel.value(&items[i], &items[j]);
            let some = Nystrom::of(items.len(), 7, value).expect("finite");
            let (landmarks, features) = (some.landmarks(), some.features());
            assert_eq!((landmarks.len(), features.columns()), (7, 7));
            let product = |i: usize, j: usize| -> f64 {
                let pairs = features.row(i).iter().zip(features.row(j));
                pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            for i in 0..items.len() {
                // With a landmark the kernel is exact; for any item its own value is not exceeded.
                for &landmark in landmarks {
                    let (found, exact) = (product(i, landmark), value(i, landmark));
                    assert!((found - exact).abs() < 1e-5 * value(i, i).max(1.0), "{found} {exact}");
                }
                assert!(product(i, i) < value(i, i) * (1.0 + 1e-5));
            }
            // A machine on features is one on the kernel's values with the landmarks.
            let weights: Vec<f64> = (0..7).map(|k| f64::from(k) - 2.5).collect();
            let linear = Linear { weights, bias: 0.5 };
            let machine = some.expansion(&linear);
            for i in 0..items.len() {
                let kernels: Vec<f64> = landmarks.iter().map(|&one| value(i, one)).collect();
                let row: Vec<f64> = features.row(i).iter().map(|&x| f64::from(x)).collect();
                let direct = 0.5 + inner_product(&linear.weights, &row);
                let size: f64 = machine.coefficients.iter().map(|c| c.abs()).sum();
                let error = (machine.value(&kernels) - direct).abs();
                assert!(error < 1e-6 * (size + 10.0), "{error}");
            }
        }
    }

    #[test]
    fn with_every_item_a_landmark_the_machine_is_the_one_on_the_kernel() {
        let items = items();
        let labels: Vec<usize> = (0..items.len()).map(|k| usize::from(k / 10 % 2 == 1)).collect();
        let positive: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
        let value = |i: usize, j: usize| ScoreKernel::gaussian(0.3).value(&items[i], &items[j]);
        let all = Nystrom::of(items.len(), items.len(), value).expect("finite");
        let rows = all.features();
        let path = KERNEL_SVM.path(rows, &labels, 2, &[1.0], ClassWeight::Even).expect("trains");
        let machine = all.expansion(&path[0][0]);
        let on_gram = KERNEL_SVM.on_gram();
        let gram = on_gram.gram(items.len(), value);
        let costs = Costs { positive: 1.0, negative: 1.0 };
        let exact = on_gram.path_own(&gram, &positive, &[costs]).expect("trains");
        let [exact] = &exact[..] else { panic!("a machine a cost") };
        for i in 0..items.len() {
            let kernels: Vec<f64> = all.landmarks().iter().map(|&one| value(i, one)).collect();
            let (found, exact) = (machine.value(&kernels), exact.value(gram.row(i)));
            assert!((found - exact).abs() < 5e-3, "{found} {exact}");
        }
    }

    #[test]
    fn items_that_are_alike_are_one_landmark() {
        let item = |k: usize| [(k % 3) as f64];
        let kernel = ScoreKernel::gaussian(1.0);
        let three = Nystrom::of(30, 20, |i, j| kernel.value(&item(i), &item(j))).expect("finite");
        assert_eq!(three.landmarks().len(), 3);
        let none = Nystrom::of(4, 2, |i, j| if i == 2 || j == 2 { f64::NAN } else { 1.0 });
        assert_eq!(none.expect_err("no number"), KernelLearnError::NotFinite { row: 2, column: 2 });
        assert!(Nystrom::of(0, 2, |_, _| 1.0).expect("none").landmarks().is_empty());
    }
}
