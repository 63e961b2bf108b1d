//! Support vector machines, several classes, class weights.

use fishweir::kernel::Gram;
use fishweir::learn::{
    ClassWeight, Costs, KernelLearner, KernelMachine, KernelSvm, LinearSvm, Loss, Matrix, minimise,
    objective,
};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::learn::{Items, assert_close, cases};

proptest! {
    #![proptest_config(cases(32))]

    /// The conditions of Karush, Kuhn and Tucker, item by item.
    #[test]
    fn a_kernel_machine_meets_the_optimality_conditions(
        seed: u64, count in 2_usize..50, features in 1_usize..6, c in 0.05..20.0_f64,
        ratio in 0.2..5.0_f64,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.5);
        let (gram, costs) = (items.gram(), Costs { positive: c, negative: ratio * c });
        let machine = KernelSvm::train(&gram, &items.positive, costs).expect("trained");
        let two = items.positive.iter().any(|p| *p) && items.positive.iter().any(|p| !p);
        let sum: f64 = machine.expansion.coefficients.iter().sum();
        assert_close(sum, 0.0, 1e-9, "sum of the signed multipliers");
        for (i, &positive) in items.positive.iter().enumerate() {
            let sign = if positive { 1.0 } else { -1.0 };
            let (alpha, cost) = (sign * machine.expansion.coefficients[i], costs.of(positive));
            let margin = sign * machine.expansion.value(gram.row(i));
            assert!((0.0..=cost).contains(&alpha), "multiplier {alpha} of cost {cost}");
            let slack = 1e-6 * (1.0 + margin.abs());
            assert!(!two || alpha > 0.0 || margin >= 1.0 - slack, "{margin} without support");
            assert!(alpha == 0.0 || alpha < cost || margin <= 1.0 + slack, "{margin} at the bound");
            if alpha > 0.0 && alpha < cost {
                assert_close(margin, 1.0, 1e-6, "margin of a free support vector");
            }
        }
        assert_close(machine.objective, machine.dual_objective, 1e-4, "duality gap");
    }

    /// A kernel machine folded into weights is the same machine.
    #[test]
    fn folding_keeps_every_value(seed: u64, count in 3_usize..40, features in 1_usize..9) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.0);
        let fresh = Items::draw(&mut s, 5, features, 1.0);
        for learner in [KernelLearner::Svm, KernelLearner::Logistic] {
            let machine = learner.train(&items.gram(), &items.positive, Costs::even(2.0));
            let machine = machine.expect("trained");
            let linear = machine.fold(items.rows.iter().map(Vec::as_slice), features);
            for row in items.rows.iter().chain(&fresh.rows) {
                let product = |x: &Vec<f64>| x.iter().zip(row).map(|(x, y)| x * y).sum::<f64>();
                let kernels: Vec<f64> = items.rows.iter().map(product).collect();
                assert_close(linear.value(row), machine.value(&kernels), 1e-11, "value");
            }
        }
    }

    /// Newton's method on the primal is not beaten by dual coordinate descent, which stops early.
    #[test]
    fn the_primal_of_the_squared_hinge_is_at_its_minimum(
        seed: u64, count in 2_usize..60, features in 1_usize..8, c in 0.05..20.0_f64,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.0);
        let mut rows = Matrix::new(features);
        items.rows.iter().for_each(|row| rows.push(row));
        let costs = Costs::even(c);
        let at = |machine: &_| objective(Loss::SquaredHinge, &rows, &items.positive, costs, machine);
        let newton = minimise(Loss::SquaredHinge, &rows, &items.positive, costs, None);
        let best = at(&newton);
        let descent = LinearSvm::train(&rows, &items.positive, costs, &mut vec![0.0; count]);
        assert!(best <= at(&descent.linear()) * (1.0 + 1e-9), "{best} above dual descent's");
        for k in 0..features {
            for step in [-1e-3, 1e-3] {
                let mut moved = newton.clone();
                moved.weights[k] += step;
                assert!(at(&moved) >= best - 1e-12 * best, "{best} is no minimum");
            }
        }
        let again = minimise(Loss::SquaredHinge, &rows, &items.positive, costs, Some(&newton));
        assert_close(at(&again), best, 1e-12, "from its own end");
    }
}

/// Three clusters, one of them rare.
fn clusters() -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut s = Sampler::new(11);
    let labels: Vec<usize> = (0..90).map(|i| if i % 10 == 0 { 2 } else { i % 2 }).collect();
    let centre = [[2.0, 0.0], [-2.0, 0.0], [0.0, 2.5]];
    let row = |&label: &usize| centre[label].map(|c| c + s.normal()).to_vec();
    (labels.iter().map(row).collect(), labels)
}

#[test]
fn several_classes_are_told_apart_one_against_the_rest() {
    let (rows, labels) = clusters();
    let gram = Gram::of_features(&rows).map(|k| k + 1.0);
    for learner in [KernelLearner::Svm, KernelLearner::Logistic] {
        let right = |weight| {
            let machine =
                KernelMachine::train(learner, &gram, &labels, 3, 1.0, weight).expect("trained");
            assert_eq!(machine.outputs.len(), 3);
            let right: Vec<usize> =
                (0..labels.len()).filter(|&i| machine.decide(gram.row(i)) == labels[i]).collect();
            (right.len(), right.iter().filter(|&&i| labels[i] == 2).count())
        };
        let ((even, rare_even), (_, rare_balanced)) =
            (right(ClassWeight::Even), right(ClassWeight::Balanced));
        assert!(even >= 75, "{learner:?}: {even} of 90");
        assert!(
            rare_balanced >= rare_even,
            "{learner:?}: {rare_balanced}, {rare_even} of the rare"
        );
        assert!(rare_balanced >= 7, "{learner:?}: {rare_balanced} of 9 of the rare class");
    }
    let two: Vec<usize> = labels.iter().map(|&label| label % 2).collect();
    let machine = KernelMachine::train(KernelLearner::Svm, &gram, &two, 2, 1.0, ClassWeight::Even);
    assert_eq!(machine.expect("trained").outputs.len(), 1);
}

#[test]
fn training_is_deterministic() {
    let (rows, labels) = clusters();
    let gram = Gram::of_features(&rows);
    for learner in [KernelLearner::Svm, KernelLearner::Logistic] {
        let train = || KernelMachine::train(learner, &gram, &labels, 3, 1.0, ClassWeight::Even);
        assert_eq!(train(), train());
    }
}

#[test]
fn a_class_without_rivals_is_always_decided_for() {
    let gram = Gram::from_fn(3, |i, j| f64::from(u8::from(i == j)));
    let machine = KernelSvm::train(&gram, &[true; 3], Costs::even(1.0)).expect("trained");
    assert_eq!(machine.expansion.value(&[0.3, 0.2, 0.1]), 1.0);
    let machine = KernelSvm::train(&gram, &[false; 3], Costs::even(1.0)).expect("trained");
    assert_eq!(machine.expansion.value(&[0.3, 0.2, 0.1]), -1.0);
}

/// Where every multiplier is at a bound, any bias between what the two sides lack is right.
#[test]
fn a_bias_without_free_multipliers_is_the_middle_of_what_is_allowed() {
    let gram = Gram::of_features(&[vec![2.0], vec![0.0]]);
    let machine = KernelSvm::train(&gram, &[true, false], Costs::even(0.1)).expect("trained");
    assert_eq!(machine.expansion.coefficients, [0.1, -0.1]);
    // Values but for the bias are 0.4 and 0: the margins lack 0.6 and 1 the other way.
    assert_close(machine.expansion.bias, (0.6 - 1.0) / 2.0, 1e-12, "bias");
}

#[test]
fn a_bias_is_the_mean_of_what_free_multipliers_lack() {
    let rows = [vec![3.0], vec![1.0], vec![0.0], vec![-4.0]];
    let gram = Gram::of_features(&rows);
    let machine = KernelSvm::train(&gram, &[true, true, false, false], Costs::even(10.0));
    // One and zero are parted in the middle: f(x) = 2 x - 1.
    let machine = machine.expect("trained").expansion;
    assert_close(machine.bias, -1.0, 1e-6, "bias");
    assert_eq!((machine.coefficients[0], machine.coefficients[3]), (0.0, 0.0));
}
