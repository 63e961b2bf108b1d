//! Support vector machines, several classes, class weights.

use fishweir::data::{Dataset, Kind, Samples, SamplesView};
use fishweir::kernel::Gram;
use fishweir::learn::{
    ClassWeight, ClassifierKind, Costs, Expansion, FeatureMap, FeatureScaler, Features,
    KERNEL_LOGISTIC, KERNEL_SVM, KERNEL_WINDOWS, KernelLogistic, KernelMachine, KernelSvm,
    LEARNERS, LINEAR_SVM, LOGISTIC, LinearSvm, Loss, Matrix, Request, Scaling, WindowKernel,
    minimise, objective, train,
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
        assert_optimal(&machine, &gram, &items.positive, costs);
    }

    /// Costs that rise, or fall, or rise on one side alone: each machine, started from the one before, is the one
    /// that its own costs have.
    #[test]
    fn a_path_of_costs_ends_where_each_begins_anew(
        seed: u64, count in 2_usize..60, features in 1_usize..6, apart in 0.0..6.0_f64,
        costs in prop::collection::vec((0.01..20.0_f64, 0.01..20.0_f64), 1..5), rising: bool,
    ) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, apart);
        let mut costs: Vec<Costs> =
            costs.into_iter().map(|(positive, negative)| Costs { positive, negative }).collect();
        if rising {
            let ratio = costs[0].negative / costs[0].positive;
            costs.sort_by(|a, b| a.positive.total_cmp(&b.positive));
            costs.iter_mut().for_each(|costs| costs.negative = ratio * costs.positive);
        }
        let gram = items.gram();
        let path = KernelSvm::path(&gram, &items.positive, &costs).expect("trained");
        assert_eq!(path.len(), costs.len());
        for (machine, &costs) in path.iter().zip(&costs) {
            assert_optimal(machine, &gram, &items.positive, costs);
            let cold = KernelSvm::train(&gram, &items.positive, costs).expect("trained");
            let off = (machine.dual_objective - cold.dual_objective).abs();
            let most = most_gap(&items.positive, costs);
            assert!(off <= most, "{off} from the one that begins anew");
        }
    }

    /// A kernel machine folded into weights is the same machine.
    #[test]
    fn folding_keeps_every_value(seed: u64, count in 3_usize..40, features in 1_usize..9) {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, count, features, 1.0);
        let fresh = Items::draw(&mut s, 5, features, 1.0);
        for learner in [KERNEL_SVM.on_gram(), KERNEL_LOGISTIC.on_gram()] {
            let path = (learner.path)(&items.gram(), &items.positive, &[Costs::even(2.0)]);
            let [machine] = &path.expect("trained")[..] else { panic!("a machine a cost") };
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

/// The conditions of Karush, Kuhn and Tucker, item by item.
fn assert_optimal(machine: &KernelSvm, gram: &Gram, positive: &[bool], costs: Costs) {
    let two = positive.iter().any(|p| *p) && positive.iter().any(|p| !p);
    let sum: f64 = machine.expansion.coefficients.iter().sum();
    assert_close(sum, 0.0, 1e-9, "sum of the signed multipliers");
    for (i, &positive) in positive.iter().enumerate() {
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
    let (gap, most) = (machine.objective - machine.dual_objective, most_gap(positive, costs));
    assert!(gap.abs() <= most, "duality gap {gap} above {most}");
}

/// How far apart the objectives may be where no condition is violated by more than a millionth, each item's times its
/// cost; twice that, for the bias is between.
fn most_gap(positive: &[bool], costs: Costs) -> f64 {
    2e-6 * positive.iter().map(|&positive| costs.of(positive)).sum::<f64>() + 1e-9
}

/// Two clouds that overlap: most multipliers are at a bound, and are left out on the way. At the end the conditions hold of
/// all, whatever the path to it.
#[test]
fn what_was_shrunken_meets_the_conditions_at_the_end() {
    let mut s = Sampler::new(21);
    let items = Items::draw(&mut s, 500, 3, 1.0);
    let gram = items.gram();
    let costs = [0.01, 0.1, 1.0, 10.0].map(Costs::even);
    let path = KernelSvm::path(&gram, &items.positive, &costs).expect("trained");
    for (machine, costs) in path.iter().zip(costs) {
        assert_optimal(machine, &gram, &items.positive, costs);
        let at_bound = machine.expansion.coefficients.iter().filter(|c| c.abs() == costs.positive);
        assert!(at_bound.count() > 100, "a problem without multipliers at bounds tells nothing");
    }
}

/// Entries that are nearly alike, where single precision sees none of what parts them, and entries beyond it: double
/// precision has the end.
#[test]
fn what_single_precision_does_not_tell_meets_the_conditions() {
    let mut s = Sampler::new(23);
    let items = Items::draw(&mut s, 120, 2, 1.0);
    let costs = [1.0, 10.0].map(Costs::even);
    for (offset, by) in [(0.0, 1.0), (1e5, 1.0), (0.0, 2.0_f64.powi(140))] {
        // An offset changes no machine, for multipliers sum to zero; a factor divides multipliers.
        let gram = items.gram().map(|k| by * k + offset);
        let scaled = costs.map(|costs| Costs::even(costs.positive / by));
        let path = KernelSvm::path(&gram, &items.positive, &scaled).expect("trained");
        for (machine, costs) in path.iter().zip(costs) {
            let coefficients = machine.expansion.coefficients.iter().map(|one| one * by).collect();
            let expansion = Expansion { coefficients, bias: machine.expansion.bias };
            let (dual_objective, objective) = (machine.dual_objective * by, machine.objective * by);
            let plain = KernelSvm { expansion, dual_objective, objective };
            assert_optimal(&plain, &items.gram(), &items.positive, costs);
        }
    }
}

/// A machine whose conditions hold is one, whatever its cost: a millionth of a margin at a cost of a million is a gap of
/// its own.
#[test]
fn great_costs_are_no_refusal() {
    for (seed, apart) in [(24, 12.0), (25, 1.0)] {
        let mut s = Sampler::new(seed);
        let items = Items::draw(&mut s, 60, 2, apart);
        let rbf = |i: usize, j: usize| {
            let square = |(a, b): (&f64, &f64)| (a - b) * (a - b);
            (-items.rows[i].iter().zip(&items.rows[j]).map(square).sum::<f64>()).exp()
        };
        let gram = Gram::from_fn(60, rbf);
        for c in [1e4, 1e6] {
            let machine =
                KernelSvm::train(&gram, &items.positive, Costs::even(c)).expect("trained");
            assert_optimal(&machine, &gram, &items.positive, Costs::even(c));
        }
    }
}

/// Where no multiplier is at its cost, a larger one has the same machine, to the bit.
#[test]
fn larger_costs_that_bound_nothing_change_nothing() {
    let mut s = Sampler::new(22);
    let items = Items::draw(&mut s, 80, 4, 12.0);
    let gram = items.gram();
    let costs = [1e-4, 1.0, 10.0, 1e3].map(Costs::even);
    let path = KernelSvm::path(&gram, &items.positive, &costs).expect("trained");
    let most = |machine: &KernelSvm| {
        machine.expansion.coefficients.iter().fold(0.0, |most: f64, c| most.max(c.abs()))
    };
    assert_eq!(most(&path[0]), 1e-4, "the first is bounded");
    assert!(most(&path[1]) < 1.0, "{} is bounded", most(&path[1]));
    assert_eq!((&path[1], &path[1]), (&path[2], &path[3]));
    for (machine, costs) in path.iter().zip(costs) {
        assert_optimal(machine, &gram, &items.positive, costs);
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
    let gram = Gram::of_features(&rows);
    let plus_one = gram.clone().map(|k| k + 1.0);
    for learner in [KERNEL_SVM.on_gram(), KERNEL_LOGISTIC.on_gram()] {
        let right = |weight| {
            let machine = KernelMachine::train(learner, &plus_one, &labels, (3, weight), 1.0)
                .expect("trained");
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
    let machine =
        KernelMachine::train(KERNEL_SVM.on_gram(), &gram, &two, (2, ClassWeight::Even), 1.0);
    assert_eq!(machine.expect("trained").outputs.len(), 1);
}

#[test]
fn training_is_deterministic() {
    let (rows, labels) = clusters();
    let gram = Gram::of_features(&rows);
    for learner in [KERNEL_SVM.on_gram(), KERNEL_LOGISTIC.on_gram()] {
        let train = || KernelMachine::train(learner, &gram, &labels, (3, ClassWeight::Even), 1.0);
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

/// Logistic regression has a bias of prior variance one: it is trained on the kernel plus one. A support
/// vector machine has one that costs nothing.
#[test]
fn a_machine_on_windows_is_that_of_its_learner() {
    let (rows, labels) = clusters();
    let gram = Gram::of_features(&rows);
    let labels: Vec<usize> = labels.iter().map(|&label| label % 2).collect();
    let positive: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
    let classes = ["a", "b"].map(str::to_owned);
    let all: Vec<usize> = (0..labels.len()).collect();
    let costs = Costs::even(0.3);
    for learner in [&KERNEL_SVM, &KERNEL_LOGISTIC] {
        let options = Request::minimal(ClassifierKind::Bayes).with(|request| {
            request.learner = Some(learner);
        });
        let (labels, groups) = (labels.clone(), all.clone());
        let kernel =
            WindowKernel { gram: &gram, labels, groups, classes: &classes, request: &options };
        let values = kernel.train(&all, 0.3).expect("trained").values(&all);
        assert_eq!(values.len(), all.len());
        let direct: Vec<f64> = if learner == &KERNEL_LOGISTIC {
            let plus_one = gram.clone().map(|k| k + 1.0);
            KernelLogistic::train(&plus_one, &positive, costs).expect("trained").margins
        } else {
            let machine = KernelSvm::train(&gram, &positive, costs).expect("trained").expansion;
            all.iter().map(|&item| machine.value(gram.row(item))).collect()
        };
        for (value, direct) in values.iter().zip(direct) {
            assert_close(value[0], direct, 1e-9, "value");
        }
    }
}

#[test]
fn more_windows_than_a_gram_matrix_takes_are_refused() {
    for &learner in LEARNERS {
        assert!(learner.check_windows(KERNEL_WINDOWS).is_ok());
        let refused = learner.check_windows(KERNEL_WINDOWS + 1).expect_err("too many").to_string();
        let kind = match learner.name {
            "klr" | "logistic" => "logistic",
            "ridge" | "kernel-ridge" => "ridge",
            _ => "support vector",
        };
        assert!(refused.contains("5001") && refused.contains(kind), "{refused}");
    }
}

/// What a machine says is the sum of all its terms, however many, and the multipliers make the machine,
/// those carried on from smaller costs too.
#[test]
fn a_linear_machine_is_the_sum_of_its_multipliers() {
    let mut s = Sampler::new(12);
    let items = Items::draw(&mut s, 40, 19, 1.0);
    let mut rows = Matrix::new(19);
    items.rows.iter().for_each(|row| rows.push(row));
    let mut dual = vec![0.0; 40];
    for c in [0.1, 1.0, 10.0] {
        let machine = LinearSvm::train(&rows, &items.positive, Costs::even(c), &mut dual);
        let linear = machine.linear();
        for k in 0..20 {
            let entry = |row: &[f32]| row.get(k).map_or(1.0, |&x| f64::from(x));
            let signed = rows.rows().zip(&items.positive).zip(&dual).map(|((row, &is), &alpha)| {
                if is { entry(row) * f64::from(alpha) } else { -entry(row) * f64::from(alpha) }
            });
            let weight = linear.weights.get(k).copied().unwrap_or(linear.bias);
            assert_close(weight, signed.sum(), 1e-4, "weight");
        }
        for row in rows.rows() {
            let wide: Vec<f64> = row.iter().copied().map(f64::from).collect();
            assert_close(machine.value(row).into(), linear.value(&wide), 1e-5, "value");
        }
    }
}

/// Models, features, scaling, machine, directions: training is these, one after the other.
#[test]
fn a_trained_classifier_is_the_machine_of_its_scaled_features() {
    let mut s = Sampler::new(13);
    let series = (0..16).map(|n| {
        let level = if n % 2 == 0 { 0.0 } else { 0.8 };
        let rows: Samples = (0..12).map(|_| [level + s.normal(), 30.0 * s.normal()]).collect();
        (["a", "b"][n % 2], rows)
    });
    let kind = Kind::Channels(["p", "q"].map(str::to_owned).to_vec());
    let data = Dataset::labelled(kind, series).expect("sound");
    let all: Vec<usize> = (0..16).collect();
    let mut options = Request::minimal(ClassifierKind::Fisher);
    options.baum_welch.states = 2;
    (options.c, options.std_floors) = (vec![0.5], vec![0.3]);
    for (learner, scaling) in [(&LOGISTIC, Scaling::Practical), (&LINEAR_SVM, Scaling::Diagonal)] {
        (options.learner, options.scalings) = (Some(learner), vec![scaling]);
        let classifier = train(&data, &all, &options, &|| ()).expect("trained").classifier;
        let (models, scale) = (classifier.models.clone(), classifier.scale.clone());
        let map = FeatureMap::new(Features::Scores, models, scale, true, classifier.normalisation);
        let views: Vec<SamplesView<'_>> =
            data.series().iter().map(|series| series.samples.view()).collect();
        let mut matrix = Matrix::new(map.len());
        map.extract(&views).iter().flatten().for_each(|row| matrix.push(row));
        let metric = FeatureScaler::of(&matrix, &[12; 16], &map, scaling).expect("a metric");
        let mut scaled = Matrix::new(map.len());
        for row in matrix.rows() {
            scaled.push(&metric.map(&row.iter().copied().map(f64::from).collect::<Vec<f64>>()));
        }
        let positive: Vec<bool> = data.series().iter().map(|one| one.label == Some(1)).collect();
        let costs = Costs::even(0.5);
        let machine = if learner == &LINEAR_SVM {
            LinearSvm::train(&scaled, &positive, costs, &mut [0.0; 16]).linear()
        } else {
            minimise(Loss::Logistic, &scaled, &positive, costs, None)
        };
        let pulled = metric.pull(&machine);
        let (directions, weights): (Vec<_>, Vec<f64>) =
            map.directions(&pulled.weights).into_iter().unzip();
        let [output] = classifier.outputs() else { panic!("one output") };
        assert_close(output.bias, pulled.bias, 1e-9, "bias");
        assert_eq!((output.weights.len(), &output.directions), (2, &directions));
        assert_eq!(output.weights, weights);
    }
}
