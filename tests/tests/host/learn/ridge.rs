//! Ridge regression: its factorisation against machines that are trained anew.

use fishweir::kernel::Gram;
use fishweir::learn::{
    ClassWeight, Costs, KERNEL_RIDGE, KernelLearnError, Linear, Matrix, RIDGE_AT_MOST, Ridge,
};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::learn::{Items, assert_close, cases};

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    let mut matrix = Matrix::new(rows[0].len());
    rows.iter().for_each(|row| matrix.push(row));
    matrix
}

fn signs(positive: &[bool]) -> Vec<f64> {
    positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect()
}

fn some<T: Clone>(of: &[T], items: &[usize]) -> Vec<T> {
    items.iter().map(|&item| of[item].clone()).collect()
}

fn value(machine: &Linear, row: &[f64]) -> f64 {
    machine.value(&row.iter().map(|&x| f64::from(x as f32)).collect::<Vec<f64>>())
}

proptest! {
    #![proptest_config(cases(48))]

    /// What is held out is what a machine trained on the others says: one item at a time, and group by group, with
    /// fewer features than items and with more, whatever they weigh.
    #[test]
    fn what_is_held_out_is_what_the_others_machine_says(
        seed: u64, count in 4_usize..24, features in 1_usize..40, groups in 2_usize..24, c in 0.01..100.0_f64,
        balanced: bool,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.0);
        let weight = if balanced { ClassWeight::Balanced } else { ClassWeight::Even };
        let costs = weight.costs(1.0, &items.positive);
        let weights: Vec<f64> = items.positive.iter().map(|&is| costs.of(is)).collect();
        let (targets, ones) = (signs(&items.positive), vec![1.0; count]);
        let group: Vec<usize> = (0..count).map(|item| (item * item + item) % groups).collect();
        prop_assume!(group.iter().any(|&one| one != group[0]));
        let ridge = Ridge::of(&matrix(&items.rows), &weights).expect("factorised");
        let held_out = ridge.held_out(&[targets.clone(), ones], &group, c).expect("determined");
        for item in 0..count {
            let others: Vec<usize> = (0..count).filter(|&one| group[one] != group[item]).collect();
            let rest = Ridge::of(&matrix(&some(&items.rows, &others)), &some(&weights, &others));
            let machine = rest.expect("factorised").machine(&some(&targets, &others), c);
            assert_close(held_out[0][item], value(&machine, &items.rows[item]), 1e-9, "held out");
            assert_close(held_out[1][item], 1.0, 1e-9, "a constant");
        }
    }

    /// The eigenvalues of either side make the same machine: features that are always zero have no weight, and make
    /// more of them than of items. A Gram matrix makes it too.
    #[test]
    fn the_dual_makes_the_machine_of_the_primal(
        seed: u64, count in 2_usize..24, features in 1_usize..24, c in 0.01..100.0_f64, ratio in 0.2..5.0_f64,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.0);
        let costs = Costs { positive: c, negative: ratio * c };
        let weights: Vec<f64> = items.positive.iter().map(|&is| costs.of(is) / c).collect();
        let targets = signs(&items.positive);
        let of = |rows: &[Vec<f64>]| {
            Ridge::of(&matrix(rows), &weights).expect("factorised").machine(&targets, c)
        };
        let padded = |row: &Vec<f64>| [row.clone(), vec![0.0; count]].concat();
        let (primal, dual) =
            (of(&items.rows), of(&items.rows.iter().map(padded).collect::<Vec<_>>()));
        let rounded = |row: &Vec<f64>| row.iter().map(|&x| f64::from(x as f32)).collect();
        let rows: Vec<Vec<f64>> = items.rows.iter().map(rounded).collect();
        let product = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum();
        let gram = Gram::from_fn(count, product);
        let path = (KERNEL_RIDGE.on_gram().path)(&gram, &items.positive, &[costs]).expect("trained");
        let [machine] = &path[..] else { panic!("a machine a cost") };
        let folded = machine.fold(rows.iter().map(Vec::as_slice), features);
        for (weight, others) in primal.weights.iter().zip(dual.weights.iter().zip(&folded.weights)) {
            assert_close(*weight, *others.0, 1e-9, "weight in the dual");
            assert_close(*weight, *others.1, 1e-9, "weight on the Gram matrix");
        }
        assert!(dual.weights[features..].iter().all(|weight| weight.abs() < 1e-12));
        assert_close(primal.bias, dual.bias, 1e-9, "bias in the dual");
        assert_close(primal.bias, folded.bias, 1e-9, "bias on the Gram matrix");
    }

    /// Where the objective is least its gradient vanishes.
    #[test]
    fn a_machine_is_at_the_least_of_its_objective(
        seed: u64, count in 2_usize..30, features in 1_usize..30, c in 0.01..100.0_f64,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.0);
        let ridge = Ridge::of(&matrix(&items.rows), &vec![1.0; count]).expect("factorised");
        let machine = ridge.machine(&signs(&items.positive), c);
        let (mut gradient, mut of_bias) = (machine.weights.clone(), 0.0);
        for (row, target) in items.rows.iter().zip(signs(&items.positive)) {
            let beyond = target - value(&machine, row);
            gradient.iter_mut().zip(row).for_each(|(sum, &x)| *sum -= 2.0 * c * beyond * f64::from(x as f32));
            of_bias += beyond;
        }
        for sum in gradient.into_iter().chain([of_bias]) {
            assert_close(1.0 + sum, 1.0, 1e-8 * (1.0 + c), "gradient");
        }
    }
}

#[test]
fn what_ridge_regression_cannot_be_of_is_refused() {
    let wide = Matrix::new(RIDGE_AT_MOST + 1);
    assert_eq!(Ridge::of(&wide, &[]).err(), Some(KernelLearnError::Empty));
    assert_eq!(
        Ridge::of(&wide, &[1.0]).err(),
        Some(KernelLearnError::Labels { labels: 1, items: 0 })
    );
    let mut many = wide;
    let row = vec![0.0; RIDGE_AT_MOST + 1];
    (0..=RIDGE_AT_MOST).for_each(|_| many.push(&row));
    let refused = Ridge::of(&many, &vec![1.0; RIDGE_AT_MOST + 1]).expect_err("too large");
    assert!(refused.to_string().contains("3001"), "{refused}");
}
