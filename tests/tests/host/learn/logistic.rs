//! Logistic regression: stationary, without a gap, and the same by every way.

use fishweir::kernel::Gram;
use fishweir::learn::{
    Costs, KernelLearnError, KernelLogistic, Linear, Loss, MapLogistic, Matrix, minimise,
    objective, sigmoid,
};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::learn::{Items, assert_close, cases};

/// `dJ / d lambda_i = log((c_i - lambda_i) / lambda_i) - S_i sum_j K_ij S_j lambda_j`, at multipliers
/// strictly inside their bounds, and the two objectives as they are written.
fn check_solution(gram: &Gram, positive: &[bool], costs: Costs, machine: &KernelLogistic) {
    let signed = machine.expansion().coefficients;
    let (mut entropy, mut likelihood, mut norm) = (0.0, 0.0, 0.0);
    for (i, &positive) in positive.iter().enumerate() {
        let (cost, sign) = (costs.of(positive), if positive { 1.0 } else { -1.0 });
        let margin: f64 = signed.iter().zip(gram.row(i)).map(|(a, k)| a * k).sum();
        let lambda = machine.multipliers[i];
        assert_eq!(signed[i], sign * lambda);
        assert!(lambda > 0.0 && lambda < cost, "multiplier {lambda} of cost {cost}");
        let gradient = ((cost - lambda) / lambda).ln() - sign * margin;
        let terms: f64 = signed.iter().zip(gram.row(i)).map(|(a, k)| (a * k).abs()).sum();
        assert!(gradient.abs() < 1e-9 * (1.0 + terms), "gradient {gradient} of item {i}");
        let p = lambda / cost;
        entropy -= cost * (p * p.ln() + (1.0 - p) * (-p).ln_1p());
        likelihood += cost * sigmoid(sign * margin).ln();
        norm += signed[i] * margin;
    }
    assert_close(machine.dual_objective, entropy - 0.5 * norm, 1e-9, "dual objective");
    assert_close(machine.objective, likelihood - 0.5 * norm, 1e-9, "objective");
    assert_close(machine.dual_objective, -machine.objective, 1e-10, "duality gap");
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn gradient_and_duality_gap_are_zero(
        seed: u64, items in 1_usize..40, features in 1_usize..12, apart in 0.0..4.0_f64,
        scale in -3..4_i32, cost in 0.2..5.0_f64,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, items, features, apart);
        let gram = items.gram().map(|k| k * 10_f64.powi(scale));
        let costs = Costs { positive: cost, negative: 1.0 };
        let machine = KernelLogistic::train(&gram, &items.positive, costs).expect("a solution");
        check_solution(&gram, &items.positive, costs, &machine);
    }

    #[test]
    fn the_order_of_items_does_not_matter(seed: u64, count in 2_usize..30, by in 1_usize..29) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, 3, 1.0);
        let order: Vec<usize> = (0..count).map(|i| (i + by) % count).rev().collect();
        let positive: Vec<bool> = order.iter().map(|&i| items.positive[i]).collect();
        let train = |gram: &Gram, positive: &[bool]| {
            KernelLogistic::train(gram, positive, Costs::even(1.0)).expect("a solution")
        };
        let machine = train(&items.gram(), &items.positive);
        let moved = train(&items.gram().subset(&order), &positive);
        assert_close(moved.objective, machine.objective, 1e-11, "objective");
        for (place, &item) in order.iter().enumerate() {
            assert_close(moved.multipliers[place], machine.multipliers[item], 1e-9, "multiplier");
        }
    }

    /// The dual, the primal on rows, and the map estimate under a unit covariance are one machine.
    #[test]
    fn primal_dual_and_prior_agree(seed: u64, count in 2_usize..40, features in 1_usize..9) {
        let mut s = Sampler::new(seed);
        let mut items = Items::draw(&mut s, count, features, 1.0);
        for row in items.rows.iter_mut().flatten() {
            *row = f64::from(*row as f32);
        }
        let mut rows = Matrix::new(features);
        items.rows.iter().for_each(|row| rows.push(row));
        let costs = Costs::even(1.0);
        let primal = minimise(Loss::Logistic, &rows, &items.positive, costs, None);
        // The primal's bias is a feature of value one.
        items.rows.iter_mut().for_each(|row| row.push(1.0));
        let unit: Vec<Vec<f64>> = (0..=features)
            .map(|i| (0..=features).map(|j| f64::from(u8::from(i == j))).collect())
            .collect();
        let prior = MapLogistic::train(&items.rows, &items.positive, &unit).expect("a solution");
        let reached = objective(Loss::Logistic, &rows, &items.positive, costs, &primal);
        assert_close(-reached, prior.dual.objective, 1e-12, "objective");
        let Linear { weights, bias } = primal;
        for (weight, theta) in weights.iter().chain([&bias]).zip(&prior.theta) {
            assert_close(*weight, *theta, 1e-6, "weight");
        }
        for (row, margin) in items.rows.iter().zip(&prior.dual.margins) {
            assert_close(prior.margin(row), *margin, 1e-10, "margin");
        }
    }

    /// `theta` is stationary for the penalised likelihood under any covariance: with
    /// `theta = Sigma u`, the gradient is `sum_i S_i lambda_i x_i - u`.
    #[test]
    fn the_gradient_of_the_penalised_likelihood_is_zero(seed: u64, count in 1_usize..30) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, 3, 2.0);
        let root: Vec<Vec<f64>> = (0..3).map(|_| (0..3).map(|_| s.normal()).collect()).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let covariance: Vec<Vec<f64>> =
            root.iter().map(|a| root.iter().map(|b| product(a, b)).collect()).collect();
        let machine =
            MapLogistic::train(&items.rows, &items.positive, &covariance).expect("a solution");
        let mut pull = [0.0; 3];
        for (row, &positive) in items.rows.iter().zip(&items.positive) {
            let sign = if positive { 1.0 } else { -1.0 };
            let weight = sign * sigmoid(-sign * machine.margin(row));
            pull.iter_mut().zip(row).for_each(|(pull, x)| *pull += weight * x);
        }
        for (row, theta) in covariance.iter().zip(&machine.theta) {
            assert_close(*theta, product(row, &pull), 1e-9, "theta");
        }
    }
}

#[test]
fn separable_one_sided_and_degenerate_data_have_a_solution() {
    let mut s = Sampler::new(4);
    let far = Items::draw(&mut s, 25, 2, 50.0);
    let one_sided = Items { positive: vec![true; 25], rows: far.rows.clone() };
    let copies = Items { rows: vec![vec![1.0, -2.0]; 25], positive: far.positive.clone() };
    let nothing = Items { rows: vec![vec![0.0; 2]; 25], positive: far.positive.clone() };
    for items in [far, one_sided, copies, nothing] {
        for scale in [1e-6, 1.0, 1e4] {
            let gram = items.gram().map(|k| k * scale);
            let machine = KernelLogistic::train(&gram, &items.positive, Costs::even(1.0));
            check_solution(&gram, &items.positive, Costs::even(1.0), &machine.expect("a solution"));
        }
    }
    let none = KernelLogistic::train(&Gram::from_fn(0, |_, _| 0.0), &[], Costs::even(1.0));
    assert_eq!(none.expect("nothing to learn").dual_objective, 0.0);
}

#[test]
fn what_is_no_problem_is_refused_by_name() {
    let train = |gram: &Gram, positive: &[bool], costs| {
        KernelLogistic::train(gram, positive, costs).expect_err("refused")
    };
    let unit = Gram::from_fn(2, |i, j| f64::from(u8::from(i == j)));
    let both = [true, false];
    assert_eq!(
        train(&unit, &[true], Costs::even(1.0)),
        KernelLearnError::Labels { labels: 1, items: 2 }
    );
    assert!(matches!(train(&unit, &both, Costs::even(0.0)), KernelLearnError::Costs { .. }));
    let broken = unit.clone().map(|k| if k == 0.0 { f64::NAN } else { k });
    assert_eq!(
        train(&broken, &both, Costs::even(1.0)),
        KernelLearnError::NotFinite { row: 0, column: 1 }
    );
    let indefinite = unit.map(|k| -8.0 * k);
    assert_eq!(train(&indefinite, &both, Costs::even(1.0)), KernelLearnError::NotSemidefinite);
    let rows = [vec![1.0, 2.0], vec![1.0]];
    let prior = [vec![1.0, 0.0], vec![0.0, 1.0]];
    assert!(matches!(
        MapLogistic::train(&rows, &both, &prior),
        Err(KernelLearnError::Shape { row: 1, found: 1, wanted: 2, .. })
    ));
    let lopsided = [vec![1.0, 0.5], vec![0.0, 1.0]];
    assert_eq!(
        MapLogistic::train(&rows[..1], &both[..1], &lopsided),
        Err(KernelLearnError::NotSymmetric { row: 1, column: 0 })
    );
}

/// What is said of a new item, which is none of those trained on.
#[test]
fn margins_and_probabilities_are_those_of_the_machine() {
    let mut s = Sampler::new(9);
    let items = Items::draw(&mut s, 20, 3, 1.0);
    let unit = [vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
    let prior = MapLogistic::train(&items.rows, &items.positive, &unit).expect("a solution");
    let machine = &prior.dual;
    for new in Items::draw(&mut s, 5, 3, 1.0).rows {
        let product = |row: &Vec<f64>| row.iter().zip(&new).map(|(x, y)| x * y).sum::<f64>();
        let kernels: Vec<f64> = items.rows.iter().map(product).collect();
        let margin = machine.expansion().value(&kernels);
        assert_close(machine.margin(&kernels), margin, 1e-12, "margin");
        assert_close(prior.margin(&new), margin, 1e-9, "margin by weights");
        let odds = margin.exp();
        assert_close(machine.probability(&kernels), odds / (1.0 + odds), 1e-12, "probability");
        assert_close(prior.probability(&new), odds / (1.0 + odds), 1e-9, "by weights");
    }
}
