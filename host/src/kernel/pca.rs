use nalgebra::{DMatrix, SymmetricEigen};

use super::{Gram, GramError};

/// Principal components of items in the feature space of a kernel.
///
/// ```text
/// K~ = H K H,  H = I - 1 1' / n          K~ v_c = l_c v_c          z_ic = sqrt(l_c) v_ic
/// ```
///
/// The coordinates `z` of all components have the items' own inner products about their mean; those of
/// the first few are the nearest to them in as many dimensions. The variance along a component is `l_c /
/// n`. Of a matrix that is not positive semi-definite components with negative `l` are left out.
///
/// Source: Schoelkopf, Smola and Mueller, "Nonlinear component analysis as a kernel eigenvalue problem",
/// Neural Computation 10, 1998. Work: some `10 n^3` multiply-adds; RAM `24 n^2` bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPca {
    /// Variance along each component, `[component]`, falling.
    pub variance: Vec<f64>,
    /// Variance along all directions in which it is positive.
    pub total: f64,
    /// Coordinates, `[item][component]`.
    pub coordinates: Vec<Vec<f64>>,
}

/// Steps of QR at most, an eigenvalue; it takes some two.
const STEPS: usize = 30;

/// Variances below this fraction of the largest are rounding; so are those that centring leaves of entries.
const RELATIVE_CUT: f64 = 1e-12;

impl KernelPca {
    /// Items at most: half a minute of work.
    pub const ITEMS_AT_MOST: usize = 2_000;

    /// The first components: at most `components`, and only those that carry variance.
    ///
    /// The largest coordinate of a component is positive, of equals the first.
    ///
    /// # Errors
    /// [`GramError`] where an entry is not finite or the eigenvalues do not converge.
    pub fn of(gram: &Gram, components: usize) -> Result<Self, GramError> {
        gram.check()?;
        let items = gram.len();
        if items == 0 {
            return Ok(Self { variance: Vec::new(), total: 0.0, coordinates: Vec::new() });
        }
        let n = items as f64;
        let means: Vec<f64> = gram.rows().map(|row| row.iter().sum::<f64>() / n).collect();
        let mean = means.iter().sum::<f64>() / n;
        let centred =
            DMatrix::from_fn(items, items, |i, j| gram.get(i, j) - means[i] - means[j] + mean);
        let eigen = SymmetricEigen::try_new(centred, f64::EPSILON, STEPS * items)
            .ok_or(GramError::Eigenvalues)?;
        let mut order: Vec<usize> = (0..items).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let largest = gram.rows().flatten().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        let rounding = 8.0 * n * f64::EPSILON * largest;
        let least = (RELATIVE_CUT * eigen.eigenvalues.amax()).max(rounding);
        order.retain(|&axis| eigen.eigenvalues[axis] > least);
        let total = order.iter().map(|&axis| eigen.eigenvalues[axis]).sum::<f64>() / n;
        order.truncate(components);
        let mut coordinates = vec![Vec::with_capacity(order.len()); items];
        for &axis in &order {
            let vector = eigen.eigenvectors.column(axis);
            let largest = vector.iter().fold(0.0_f64, |most, entry| {
                // Of two that differ by rounding alone the first.
                if entry.abs() > most.abs() * (1.0 + 1e-9) { *entry } else { most }
            });
            let factor = eigen.eigenvalues[axis].sqrt().copysign(largest);
            for (item, entry) in coordinates.iter_mut().zip(vector.iter()) {
                item.push(factor * entry);
            }
        }
        let variance = order.iter().map(|&axis| eigen.eigenvalues[axis] / n).collect();
        Ok(Self { variance, total, coordinates })
    }

    /// The share of the total variance along each component.
    pub fn shares(&self) -> impl Iterator<Item = f64> {
        self.variance.iter().map(|variance| variance / self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Vec<f64>> {
        // On a plane in three dimensions, away from the origin.
        let on_plane = |i: i32| {
            let (a, b) = (f64::from(i % 5) - 2.0, 0.25 * f64::from(i % 3));
            vec![7.0 + a + b, 1.0 - a, 3.0 + 2.0 * a - b]
        };
        (0..15).map(on_plane).collect()
    }

    #[test]
    fn coordinates_keep_distances_and_variances_are_theirs() {
        let points = points();
        let gram = Gram::of_features(&points);
        let pca = KernelPca::of(&gram, 9).expect("finite");
        assert_eq!(pca.variance.len(), 2, "a plane has two directions");
        let distance =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
        for (i, one) in points.iter().enumerate() {
            for (j, other) in points.iter().enumerate() {
                let found = distance(&pca.coordinates[i], &pca.coordinates[j]);
                assert!((found - distance(one, other)).abs() < 1e-9);
            }
        }
        for (component, variance) in pca.variance.iter().enumerate() {
            let column = || pca.coordinates.iter().map(|item| item[component]);
            assert!(column().sum::<f64>().abs() < 1e-9);
            let squares: f64 = column().map(|z| z * z).sum();
            assert!((squares / 15.0 - variance).abs() < 1e-9);
            let largest = column()
                .fold(0.0_f64, |most, z| if z.abs() > most.abs() + 1e-9 { z } else { most });
            assert!(largest > 0.0);
        }
        assert!((pca.shares().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn items_that_are_all_alike_have_no_component() {
        // The computed mean of equal entries may be off by rounding.
        for (items, entry) in [(4, 3.0), (8, 0.1), (7, 1e9 / 3.0)] {
            let pca = KernelPca::of(&Gram::from_fn(items, |_, _| entry), 2).expect("finite");
            assert!(pca.variance.is_empty(), "{entry}: {:?}", pca.variance);
            assert_eq!(pca.coordinates, vec![Vec::<f64>::new(); items]);
        }
    }
}
