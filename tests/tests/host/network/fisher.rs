//! The Fisher kernel: equal for equivalent networks, and what its definition says.

use fishweir::kernel::Gram;
use fishweir_networks::records::{MISSING, Records, Variable};
use fishweir_networks::{Network, NetworkFisher, Width};
use fishweir_tests::oracle::Joint;
use proptest::prelude::*;
use rand::Rng;

use super::{Drawn, assert_close, cases, stored};

fn kernel(network: &Network) -> NetworkFisher {
    NetworkFisher::new(network.clone(), Width::default(), 1)
}

/// The tables of a graph that stand for a distribution, by enumeration.
fn tables(cards: &[usize], parents: &[Vec<usize>], joint: &Joint) -> Vec<Vec<Vec<f64>>> {
    let of_node = |node: usize| -> Vec<Vec<f64>> {
        let rows: usize = parents[node].iter().map(|&parent| cards[parent]).product();
        let row_of =
            |x: &[u16]| parents[node].iter().fold(0, |row, &p| row * cards[p] + usize::from(x[p]));
        let of_row = |row: usize| -> Vec<f64> {
            let cell = |state: usize| {
                joint.sum(|x| f64::from(row_of(x) == row && usize::from(x[node]) == state))
            };
            let cells: Vec<f64> = (0..cards[node]).map(cell).collect();
            let sum: f64 = cells.iter().sum();
            cells.into_iter().map(|cell| cell / sum).collect()
        };
        (0..rows).map(of_row).collect()
    };
    (0..cards.len()).map(of_node).collect()
}

fn all_records(joint: &Joint) -> Records {
    let columns = joint.records[0].len();
    Records::of_rows(columns, &joint.records)
}

fn assert_equal(a: &Gram, b: &Gram, within: f64) {
    for (a, b) in a.rows().flatten().zip(b.rows().flatten()) {
        assert_close(*a, *b, within, "kernel");
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// A covered edge, whose ends have the same other parents, may be turned round, and any way between
    /// equivalent graphs is made of such turns (Chickering 1995).
    #[test]
    fn equivalent_networks_have_one_kernel(seed: u64, nodes in 2_usize..=5) {
        let drawn = Drawn::new(nodes, false, seed);
        let (joint, mut parents) = (drawn.joint(), drawn.parents.clone());
        let mut turned = 0;
        for child in 0..nodes {
            for parent in parents[child].clone() {
                let mut others: Vec<usize> =
                    parents[child].iter().copied().filter(|&one| one != parent).collect();
                let mut above = parents[parent].clone();
                others.sort_unstable();
                above.sort_unstable();
                if others == above {
                    parents[child].retain(|&one| one != parent);
                    parents[parent].push(child);
                    turned += 1;
                    break;
                }
            }
        }
        prop_assume!(turned > 0);
        let tables = tables(&drawn.cards, &parents, &joint);
        let other = Network::new(Variable::numbered(&drawn.cards), parents, &tables).expect("a network");
        let records = all_records(&joint);
        let (a, b) = (kernel(&drawn.network()), kernel(&other));
        prop_assert_eq!(a.dimension(), b.dimension());
        assert_equal(&a.gram(&records).expect("possible"), &b.gram(&records).expect("possible"), 1e-8);
    }

    #[test]
    fn features_have_mean_zero_and_unit_information(seed: u64, nodes in 1_usize..=4, zeros: bool) {
        let drawn = Drawn::new(nodes, zeros, seed);
        let (joint, fisher) = (drawn.joint(), kernel(&drawn.network()));
        let possible: Vec<usize> =
            (0..joint.records.len()).filter(|&r| joint.probabilities[r] > 0.0).collect();
        let records = all_records(&joint).subset(&possible);
        let gram = fisher.gram(&records).expect("possible");
        let features = fisher.features(&records).expect("possible");
        assert_equal(&Gram::of_features(&features), &gram, 1e-9);
        // sum_y p(y) K(x, y) = 0, sum_y p(y) K(x, y) K(y, z) = K(x, z), and the trace is the dimension.
        let p = |index: usize| joint.probabilities[possible[index]];
        let scale = gram.diagonal().fold(1.0, f64::max);
        let mut trace = 0.0;
        for x in 0..records.len() {
            trace += p(x) * gram.get(x, x);
            let mean: f64 = (0..records.len()).map(|y| p(y) * gram.get(x, y)).sum();
            prop_assert!(mean.abs() < 1e-10 * scale, "{mean}");
            let twice: f64 = (0..records.len()).map(|y| p(y) * gram.get(x, y) * gram.get(y, 0)).sum();
            prop_assert!((twice - gram.get(x, 0)).abs() < 1e-8 * scale, "{twice}");
        }
        assert_close(trace, fisher.dimension() as f64, 1e-9, "trace");
    }

    #[test]
    fn missing_fields_have_their_expected_features(seed: u64, nodes in 2_usize..=4) {
        let mut drawn = Drawn::new(nodes, true, seed);
        let (joint, fisher) = (drawn.joint(), kernel(&drawn.network()));
        let evidence = drawn.evidence(0.5);
        let found = fisher.features(&Records::of_rows(nodes, [&evidence])).expect("possible");
        let given = joint.given(&evidence);
        let total = given.sum(|_| 1.0);
        let mut expected = vec![0.0; found[0].len()];
        for (record, p) in given.records.iter().zip(&given.probabilities).filter(|(_, p)| **p > 0.0) {
            let of_record = fisher.features(&Records::of_rows(nodes, [record])).expect("possible");
            for (sum, entry) in expected.iter_mut().zip(&of_record[0]) {
                *sum += p / total * entry;
            }
        }
        for (found, expected) in found[0].iter().zip(&expected) {
            assert_close(*found, *expected, 1e-9, "feature");
        }
        // Weights on features are tables that are looked up.
        let weights: Vec<f64> = expected.iter().map(|_| drawn.random.random::<f64>() - 0.5).collect();
        let table = fisher.fold(&weights);
        let whole = drawn.evidence(0.0);
        let features = fisher.features(&Records::of_rows(nodes, [&whole])).expect("possible");
        let product: f64 = weights.iter().zip(&features[0]).map(|(w, f)| w * f).sum();
        let network = drawn.network();
        let cells = (0..nodes).filter_map(|node| network.shape().cell(node, &whole));
        assert_close(cells.map(|cell| table[cell]).sum(), product, 1e-9, "folded");
    }
}

#[test]
fn what_is_too_wide_is_sampled_and_close() {
    let network = stored("child");
    let narrow = Width { variables: 2, cells: 4 };
    let (drawn, exact) = (NetworkFisher::new(network.clone(), narrow, 1), kernel(&network));
    assert!(!drawn.is_exact() && exact.is_exact());
    for node in 0..network.shape().nodes() {
        let pairs = drawn.parent_probabilities(node).iter().zip(exact.parent_probabilities(node));
        for (drawn, exact) in pairs {
            assert!((drawn - exact).abs() < 0.003, "{drawn} and {exact}");
        }
    }
    let hidden = Records::of_rows(20, [[MISSING; 20]]);
    let error = drawn.features(&hidden).expect_err("not exact").to_string();
    assert!(error.contains("beyond the limit of 2 nodes"), "{error}");
}

#[test]
fn what_is_impossible_is_named() {
    let network = stored("asia");
    let impossible = [1, 1, 1, 1, 1, 0, 1, 1];
    let records = Records::of_rows(8, [[1; 8], impossible]);
    let error = kernel(&network).gram(&records).expect_err("impossible").to_string();
    assert!(error.contains("record 1") && error.contains("`either`"), "{error}");
    let unknown = Records::of_rows(8, [[1, 1, 1, 2, 1, 1, 1, 1]]);
    let error = kernel(&network).gram(&unknown).expect_err("unknown").to_string();
    assert!(error.contains("`lung` has no state 2"), "{error}");
}
