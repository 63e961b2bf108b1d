use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// More items than features, as many, and fewer; and items that are all alike, where the penalty alone makes the
/// moments definite.
#[test]
fn a_factor_a_cost_makes_the_machines_of_the_eigenvalues() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (items, features, spread) in [(30, 7, 1.0), (12, 12, 1.0), (9, 40, 1.0), (20, 6, 0.0)] {
        let mut rows = Matrix::new(features);
        for _ in 0..items {
            let row = |_| 3.0 + spread * rng.random::<f64>();
            rows.push(&(0..features).map(row).collect::<Vec<f64>>());
        }
        let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
        let c = [0.1, 10.0, 1e3];
        let by_factors = machines(&rows, &labels, (3, ClassWeight::Even), &c).expect("factors");
        let ridge = Ridge::of(&rows, &vec![1.0; items]).expect("eigenvalues");
        for (positive, of_costs) in outputs(&labels, 3).iter().zip(&by_factors) {
            for (&c, machine) in c.iter().zip(of_costs) {
                let wanted = ridge.machine(&signs(positive), c);
                let weights = machine.weights.iter().zip(&wanted.weights);
                for (one, other) in weights.chain([(&machine.bias, &wanted.bias)]) {
                    assert!((one - other).abs() < 1e-7 * (1.0 + other.abs()), "{one} {other}");
                }
            }
        }
    }
}

/// Singles, and groups of several with one of more than are left out at a time; products of items and of features;
/// items that weigh differently.
#[test]
fn a_factor_a_cost_holds_out_what_eigenvalues_do() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for (items, features) in [(90, 11), (40, 70), (700, 9)] {
        let mut rows = Matrix::new(features);
        for _ in 0..items {
            let row: Vec<f64> = (0..features).map(|_| rng.random::<f64>() + 0.5).collect();
            rows.push(&row);
        }
        let weights: Vec<f64> = (0..items).map(|item| [0.5, 2.0][item % 2]).collect();
        let targets: Vec<Vec<f64>> = (2..5)
            .map(|n| (0..items).map(|item| [1.0, -1.0][usize::from(item % n > 0)]).collect())
            .collect();
        let alone: Vec<usize> = (0..items).rev().collect();
        let large = items.saturating_sub(100);
        let several: Vec<usize> =
            (0..items).map(|item| if item < large { 0 } else { 1 + item % 3 }).collect();
        for groups in [alone, several] {
            for c in [0.1, 10.0] {
                let centred = Centred::of(&rows, &weights).expect("rows");
                let found = centred.held_out(&targets, &members(&groups), c);
                let found = found.ok().flatten().expect("determined");
                let ridge = centred.factorised().expect("eigenvalues");
                let wanted = ridge.held_out(&targets, &groups, c).expect("determined");
                let pairs = found.iter().flatten().zip(wanted.iter().flatten());
                for (found, wanted) in pairs {
                    assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{items} {c}");
                }
            }
        }
    }
}
