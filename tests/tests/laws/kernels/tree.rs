//! The hidden tree kernel and its sum over pruned trees.

use fishweir::kernel::marginal::Heap;
use fishweir_core::ObservationError;
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::kernel::{
    BranchModel, HiddenTree, KernelError, OpenNode, PrunedTree, Scaled, TreeKernel, TreeModel,
    TreeShape,
};
use fishweir_core::number::Real;
use fishweir_tests::build::kernels::tree;
use fishweir_tests::checks::after;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::Tree;
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::kernels::{assert_near, assert_positive, borrowed, cases, gappy, symbols};

const STATES: usize = 4;
const CHILDREN: usize = 3;
const DEPTH: usize = 8;

/// A tree of `inner` inner nodes, each with one to three children.
fn grow(sampler: &mut Sampler, inner: usize, states: usize, shared: bool, arity: bool) -> Tree {
    let mut children: Vec<Vec<usize>> = vec![vec![]];
    let mut open = vec![0];
    for _ in 0..inner {
        let at = sampler.uniform(0.0, open.len() as f64) as usize;
        let node = open.swap_remove(at);
        for _ in 0..=sampler.uniform(0.0, CHILDREN as f64) as usize {
            let child = children.len();
            children[node].push(child);
            open.push(child);
            children.push(vec![]);
        }
    }
    let matrix = |s: &mut Sampler| (0..states).map(|_| s.sparse_probabilities(states)).collect();
    let matrices = if shared { 1 } else { CHILDREN };
    Tree {
        children,
        root: sampler.probabilities(states),
        transition: (0..matrices).map(|_| matrix(sampler)).collect(),
        // State 0 is a symbol, the others have one to three children.
        arity: arity.then(|| (0..states as u16).collect()),
    }
}

/// A string of leaves as the oracle takes it.
fn placed(tree: &Tree, string: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut by_node = vec![None; tree.children.len()];
    for (leaf, symbol) in tree.code(0).1.into_iter().zip(string) {
        by_node[leaf] = *symbol;
    }
    by_node
}

fn optional(string: &[usize]) -> Vec<Option<usize>> {
    string.iter().copied().map(Some).collect()
}

fn run<R: Streaming<Observation = usize>>(recursion: R, t: &[Option<usize>]) -> R::Reading {
    after(recursion, t.iter().copied()).read()
}

fn log_kernel<T: Real, const J: usize>(plain: &Tree, s: &[usize], t: &[Option<usize>]) -> f64 {
    let model: TreeModel<T, STATES, J> = tree(plain).expect("a model");
    let (code, _) = plain.code(0);
    let shape = TreeShape::new(&code).expect("a tree");
    let kernel = HiddenTree::<_, _, DEPTH>::of(&model, shape, s).expect("a kernel");
    run(kernel, t).expect("all leaves").to_f64()
}

fn any(plain: &Tree, s: &[usize], t: &[Option<usize>]) -> f64 {
    match plain.transition.len() {
        1 => log_kernel::<f64, 1>(plain, s, t),
        _ => log_kernel::<f64, CHILDREN>(plain, s, t),
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// All labellings of the inner nodes; all prunings; missing leaves have a likelihood of one.
    #[test]
    fn kernels_are_the_enumeration(
        seed: u64, inner in 1_usize..=5, states in 2_usize..=4, shared: bool, arity: bool,
    ) {
        let mut sampler = Sampler::new(seed);
        let plain = grow(&mut sampler, inner, states, shared, arity);
        let leaves = plain.code(0).1.len();
        let s = symbols(&mut sampler, leaves, states);
        let t = gappy(&mut sampler, leaves, states);
        let (by_s, by_t) = (placed(&plain, &optional(&s)), placed(&plain, &t));
        let expected = plain.kernel(&by_s, &by_t);
        let got = any(&plain, &s, &t);
        if expected == 0.0 {
            prop_assert_eq!(got, f64::NEG_INFINITY);
        } else {
            assert_near(got.exp(), expected, 1e-12, "kernel");
        }

        let model: TreeModel<f64, STATES, CHILDREN> = tree(&plain).expect("a model");
        let (code, _) = plain.code(0);
        let shape = TreeShape::new(&code).expect("a tree");
        let kernel = PrunedTree::<_, _, DEPTH>::of(&model, shape, &s);
        let pruned = run(kernel.expect("a kernel"), &t).expect("all leaves");
        let (sum, count) = plain.pruned(&by_s, &by_t);
        assert_near(pruned.log_count.exp(), count as f64, 1e-13, "count");
        if sum == 0.0 {
            prop_assert_eq!(pruned.log_sum, f64::NEG_INFINITY);
        } else {
            assert_near(pruned.log_sum.exp(), sum, 1e-12, "sum");
            assert_near(pruned.log_mean.exp(), sum / count as f64, 1e-12, "mean");
        }
    }

    /// The laws; a reading comes with the last leaf, and no leaf after it.
    #[test]
    fn laws(seed: u64, inner in 1_usize..=5) {
        let mut sampler = Sampler::new(seed);
        let plain = grow(&mut sampler, inner, 3, false, false);
        let (code, leaves) = plain.code(0);
        let leaves = leaves.len();
        let s = symbols(&mut sampler, leaves, 3);
        let t = gappy(&mut sampler, leaves, 3);
        let samples = borrowed(&t);
        let model: TreeModel<f64, 3, CHILDREN> = tree(&plain).expect("a model");
        let shape = TreeShape::new(&code).expect("a tree");
        prop_assert_eq!(shape.leaves(), leaves);
        let trial = Trial { samples: &samples, refusable: &[&3, &1000] };
        let kernel = HiddenTree::<_, _, DEPTH>::of(&model, shape, &s);
        let kernel = kernel.expect("a kernel");
        let expected = plain.kernel(&placed(&plain, &optional(&s)), &placed(&plain, &t));
        let refused = check(kernel, trial, |prefix, reading: Option<f64>| {
            assert_eq!(reading.is_some(), prefix.len() == leaves);
            if let Some(log) = reading {
                assert!((log.exp() - expected).abs() <= 1e-12 * expected);
            }
        });
        prop_assert_eq!(refused, 2 * (leaves + 1));
        let pruned = PrunedTree::<_, _, DEPTH>::of(&model, shape, &s);
        check(pruned.expect("a kernel"), trial, |prefix, reading| {
            assert_eq!(reading.is_some(), prefix.len() == leaves);
        });
        let mut stream = Stream::new(kernel);
        for _ in 0..leaves {
            stream.push(None).expect("nothing to refuse");
        }
        let full = stream.state().clone();
        prop_assert_eq!(stream.push(&0), Err(ObservationError::PastEnd));
        stream.push(None).expect("nothing to refuse");
        prop_assert_eq!(stream.state(), &full);
    }

    /// Children that share a matrix may change places, with their leaves.
    #[test]
    fn equal_children_have_no_order(seed: u64, inner in 2_usize..=6) {
        let mut sampler = Sampler::new(seed);
        let plain = grow(&mut sampler, inner, 3, true, false);
        let mut turned = plain.clone();
        for children in &mut turned.children {
            children.reverse();
        }
        let leaves = plain.code(0).1.len();
        let s = symbols(&mut sampler, leaves, 3);
        let t = gappy(&mut sampler, leaves, 3);
        let turn = |string: &[Option<usize>]| -> Vec<Option<usize>> {
            let by_node = placed(&plain, string);
            turned.code(0).1.into_iter().map(|leaf| by_node[leaf]).collect()
        };
        let turned_s: Vec<usize> =
            turn(&optional(&s)).into_iter().map(|x| x.expect("none is missing")).collect();
        let got = log_kernel::<f64, 1>(&turned, &turned_s, &turn(&t));
        let expected = log_kernel::<f64, 1>(&plain, &s, &t);
        prop_assert!(got == expected || (got - expected).abs() < 1e-12 * (1.0 + expected.abs()));
    }

    #[test]
    fn grams_are_positive(seed: u64, inner in 1_usize..=5) {
        let mut sampler = Sampler::new(seed);
        let mut plain = grow(&mut sampler, inner, 3, false, false);
        for row in plain.transition.iter_mut().flatten() {
            *row = sampler.probabilities(3);
        }
        let (code, leaves) = plain.code(0);
        let items: Vec<_> = (0..6).map(|_| symbols(&mut sampler, leaves.len(), 3)).collect();
        let row = |s: &Vec<usize>| -> Vec<f64> {
            items.iter().map(|t| any(&plain, s, &optional(t))).collect()
        };
        assert_positive(&items.iter().map(row).collect::<Vec<_>>());
        let model: TreeModel<f64, 3, CHILDREN> = tree(&plain).expect("a model");
        let shape = TreeShape::new(&code).expect("a tree");
        let row = |s: &Vec<usize>| -> Vec<f64> {
            let kernel = PrunedTree::<_, _, DEPTH>::of(&model, shape, s);
            let kernel = kernel.expect("a kernel");
            items.iter().map(|t| run(kernel, &optional(t)).expect("all leaves").log_mean).collect()
        };
        assert_positive(&items.iter().map(row).collect::<Vec<_>>());
    }

    /// The worked example's two lines, written out.
    #[test]
    fn binary_trees_are_the_worked_example(
        seed: u64, epsilon in 0.0..=1.0_f64, delta in 0.0..=1.0_f64, tau in 0.0..=1.0_f64,
    ) {
        let mut sampler = Sampler::new(seed);
        let s = symbols(&mut sampler, 4, 2);
        let t = symbols(&mut sampler, 4, 2);
        let model = TreeModel::binary(epsilon, delta, tau).expect("probabilities");
        let shape = TreeShape::new(&[2, 2, 0, 0, 2, 0, 0]).expect("a tree");
        let kernel = HiddenTree::<_, _, 2>::of(&model, shape, &s).expect("a kernel");
        let got = run(kernel, &optional(&t)).expect("all leaves").exp();
        let leaf = |i: usize| {
            let p = [[1.0 - delta, delta], [epsilon, 1.0 - epsilon]];
            [p[0][s[i]] * p[0][t[i]], p[1][s[i]] * p[1][t[i]]]
        };
        let inner = |i: usize| {
            let (a, b) = (leaf(i), leaf(i + 1));
            [a[0] * b[0], a[1] * b[1]]
        };
        let (a, b) = (inner(0), inner(2));
        let kern = [
            ((1.0 - delta) * a[0] + delta * a[1]) * ((1.0 - delta) * b[0] + delta * b[1]),
            (epsilon * a[0] + (1.0 - epsilon) * a[1]) * (epsilon * b[0] + (1.0 - epsilon) * b[1]),
        ];
        let expected = (1.0 - tau) * kern[0] + tau * kern[1];
        prop_assert!((got - expected).abs() <= 1e-13 * expected, "{got} where {expected} is right");
    }
}

/// With a matrix per branch: the tree of one matrix where all are alike, and by hand where they differ.
#[test]
fn branches_have_their_own_probabilities() {
    type Branches<'m> =
        TreeKernel<'m, BranchModel<'m, f64, 2>, Option<u8>, Heap<OpenNode<Scaled<f64, 2>>>>;
    let one = [[0.75, 0.25], [0.125, 0.875]];
    let other = [[0.5, 0.5], [0.25, 0.75]];
    let root = [0.25, 0.75];
    // ((a, b), c)
    let code = [2, 2, 0, 0, 0];
    let shape = TreeShape::new(&code).expect("a tree");
    let (s, t) = ([Some(1_u8), Some(0), Some(1)], [Some(1), Some(1), Some(0)]);
    let log = |matrices: &[[[f64; 2]; 2]], of_node: &[u16]| {
        let model = BranchModel::new(root, matrices, of_node).expect("a model");
        run(Branches::of(&model, shape, &s).expect("a kernel"), &t).expect("all leaves")
    };
    let alike = TreeModel::new(root, [one]).expect("a model");
    let kernel = HiddenTree::<_, _, 2>::of(&alike, shape, &s).expect("a kernel");
    assert_eq!(log(&[one], &[0; 5]), run(kernel, &t).expect("all leaves"));
    let expected: f64 = (0..2)
        .map(|a| {
            let inner: f64 = (0..2)
                .map(|b| other[a][b] * one[b][1] * one[b][1] * other[b][0] * other[b][1])
                .sum();
            root[a] * inner * one[a][1] * one[a][0]
        })
        .sum();
    assert_near(log(&[one, other], &[7, 1, 0, 1, 0]).exp(), expected, 1e-14, "kernel");

    let bare = BranchModel::new(root, &[], &[0; 5]).expect("a model");
    let error = Branches::of(&bare, shape, &s).expect_err("no transitions");
    assert_eq!(error, KernelError::Branch { node: 1 });
    let (matrices, short) = ([one], [0; 4]);
    let short = BranchModel::new(root, &matrices, &short).expect("a model");
    let error = Branches::of(&short, shape, &s).expect_err("no transitions");
    assert_eq!(error, KernelError::Branch { node: 4 });
    assert!(BranchModel::new(root, &[[[0.5, 0.25], [0.5, 0.5]]], &[0; 5]).is_err());
}

/// A star of 10^5 leaves, and a caterpillar as deep as there is room: neither underflows.
#[test]
fn large_trees_do_not_underflow() {
    const LEAVES: usize = 50_000;
    let model = TreeModel::<f32, 2, 1>::phylogeny(0.25, 0.125, 0.5).expect("probabilities");
    // Two stars under a root.
    let mut code = vec![2_u16];
    for _ in 0..2 {
        code.push(u16::try_from(LEAVES).expect("fewer"));
        code.extend(std::iter::repeat_n(0, LEAVES));
    }
    let shape = TreeShape::new(&code).expect("a tree");
    let profile: Vec<bool> = (0..2 * LEAVES).map(|i| i % 3 == 0).collect();
    let other: Vec<usize> = (0..2 * LEAVES).map(|i| usize::from(i % 2 == 0)).collect();
    let kernel = HiddenTree::<_, _, 2>::of(&model, shape, &profile).expect("a kernel");
    let got = f64::from(run(kernel, &optional(&other)).expect("all leaves"));
    let star = |a: usize, half: usize| -> f64 {
        let p = [[0.75_f64, 0.25], [0.125, 0.875]];
        let leaves = half * LEAVES..(half + 1) * LEAVES;
        leaves.map(|i| (p[a][usize::from(profile[i])] * p[a][other[i]]).ln()).sum()
    };
    // Of each star the likelier state is all that counts.
    let message = |a: usize, half: usize| -> f64 {
        let p = [[0.75_f64, 0.25], [0.125, 0.875]];
        fishweir_tests::oracle::log_sum_exp(&[
            p[a][0].ln() + star(0, half),
            p[a][1].ln() + star(1, half),
        ])
    };
    let root = [0, 1].map(|a| 0.5_f64.ln() + message(a, 0) + message(a, 1));
    let expected = fishweir_tests::oracle::log_sum_exp(&root);
    assert!(expected < -1e5, "{expected}");
    assert_near(got, expected, 1e-5, "two stars");

    const DEEP: usize = 2000;
    let code: Vec<u16> = (0..DEEP).flat_map(|_| [2, 0]).chain([0]).collect();
    let shape = TreeShape::new(&code).expect("a tree");
    let profile = vec![0_u8; DEEP + 1];
    let kernel = HiddenTree::<_, _, DEEP>::of(&model, shape, &profile).expect("a kernel");
    let got = f64::from(run(kernel, &vec![Some(1); DEEP + 1]).expect("all leaves"));
    // From the bottom up, in the log domain.
    let p = [[0.75_f64, 0.25], [0.125, 0.875]];
    let leaf = [0, 1].map(|a: usize| (p[a][0] * p[a][1]).ln());
    let mut value = leaf.map(|leaf| 2.0 * leaf);
    for _ in 1..DEEP {
        value = [0, 1].map(|a| {
            let terms = [p[a][0].ln() + value[0], p[a][1].ln() + value[1]];
            leaf[a] + fishweir_tests::oracle::log_sum_exp(&terms)
        });
    }
    let expected = fishweir_tests::oracle::log_sum_exp(&value.map(|v| v + 0.5_f64.ln()));
    assert!(expected < -3e3, "{expected}");
    assert_near(got, expected, 1e-5, "caterpillar");
}

#[test]
fn shapes_models_and_strings_are_checked() {
    let code = |code: &'static [u16]| TreeShape::new(code).map(|_| ());
    assert_eq!(code(&[2, 0, 0]), Ok(()));
    assert_eq!(code(&[]), Err(KernelError::Tree { node: 0 }));
    assert_eq!(code(&[0]), Err(KernelError::Tree { node: 0 }));
    assert_eq!(code(&[2, 0]), Err(KernelError::Tree { node: 2 }));
    assert_eq!(code(&[1, 0, 0]), Err(KernelError::Tree { node: 2 }));

    assert!(TreeModel::<f64, 2, 1>::binary(0.5, 1.5, 0.5).is_err());
    assert!(TreeModel::<f64, 2, 1>::new([0.5, 0.25], [[[1.0, 0.0], [0.0, 1.0]]]).is_err());
    let model = TreeModel::<f64, 2, 1>::binary(0.5, 0.5, 0.5).expect("probabilities");
    let two = TreeModel::new([0.5; 2], [[[0.5_f64; 2]; 2]; 2]).expect("probabilities");
    let of = |code: &'static [u16], s: &[u8]| {
        HiddenTree::<_, _, 1>::of(&model, TreeShape::new(code)?, s).map(|_| ())
    };
    assert_eq!(of(&[2, 0, 0], &[0, 1]), Ok(()));
    let length = KernelError::Length { sequence: 0, found: 1, expected: 2 };
    assert_eq!(of(&[2, 0, 0], &[0]), Err(length));
    let error = ObservationError::UnknownSymbol;
    let stored = KernelError::Stored { sequence: 0, position: 1, error };
    assert_eq!(of(&[2, 0, 0], &[0, 2]), Err(stored));
    let deep = KernelError::Capacity { needed: 2, available: 1 };
    assert_eq!(of(&[2, 1, 0, 0], &[0, 0]), Err(deep));
    let shape = TreeShape::new(&[3, 0, 0, 0]).expect("a tree");
    let kernel = HiddenTree::<_, _, 1>::of(&two, shape, &[0_u8, 0, 0]).map(|_| ());
    assert_eq!(kernel, Err(KernelError::Arity { node: 0 }));
}
