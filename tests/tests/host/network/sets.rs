//! Sets of records: the kernel, the tests, representatives.

use fishweir_networks::records::{MISSING, Records};
use fishweir_networks::{NetworkFisher, Width, random_subsets};
use proptest::prelude::*;

use super::{Drawn, assert_close, cases, stored};

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn set_kernels_are_means_over_pairs(seed: u64, nodes in 1_usize..=4) {
        let drawn = Drawn::new(nodes, true, seed);
        let fisher = NetworkFisher::new(drawn.network(), Width::default(), 1);
        let (x, y) = (drawn.network().sample(5, seed), drawn.network().sample(7, seed ^ 1));
        let gram = fisher.gram(&Records::of_rows(nodes, x.rows().chain(y.rows()))).expect("possible");
        let mean = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
            let sum: f64 = a.clone().flat_map(|i| b.clone().map(move |j| (i, j))).map(|(i, j)| gram.get(i, j)).sum();
            sum / (a.len() * b.len()) as f64
        };
        let (xy, xx, yy) = (mean(0..5, 5..12), mean(0..5, 0..5), mean(5..12, 5..12));
        let (of_x, of_y) = (fisher.mean(&x).expect("some"), fisher.mean(&y).expect("some"));
        assert_close(fisher.set_kernel(&of_x, &of_y), xy, 1e-9, "set kernel");
        let (scale, mmd) = (1.0 + xx + yy, fisher.mmd_squared(&of_x, &of_y));
        prop_assert!((mmd - (xx + yy - 2.0 * xy)).abs() < 1e-9 * scale, "{mmd}");
        let by_node: f64 = fisher.set_kernel_by_node(&of_x, &of_y).iter().sum();
        prop_assert!((by_node - xy).abs() < 1e-9 * scale, "{by_node}");
    }

    /// No exchange of one record is left that brings the chosen closer to all.
    #[test]
    fn representatives_are_a_minimum(seed: u64, k in 1_usize..=4) {
        let drawn = Drawn::new(4, false, seed);
        let fisher = NetworkFisher::new(drawn.network(), Width::default(), 1);
        let records = drawn.network().sample(25, seed);
        let start = &random_subsets(25, k, 1, seed).expect("enough")[0];
        let found = fisher.representatives(&records, start).expect("possible");
        prop_assert!(found.trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
        let again = fisher.discrepancies(&records, std::slice::from_ref(&found.indices)).expect("possible");
        assert_close(again[0], found.objective, 1e-9, "objective");
        let mut exchanged = Vec::new();
        for place in 0..k {
            for other in (0..25).filter(|other| !found.indices.contains(other)) {
                let mut changed = found.indices.clone();
                changed[place] = other;
                exchanged.push(changed);
            }
        }
        for objective in fisher.discrepancies(&records, &exchanged).expect("possible") {
            prop_assert!(objective >= found.objective - 1e-9 * (1.0 + found.objective));
        }
    }
}

#[test]
fn statistics_have_their_limit_and_changes_are_seen() {
    let network = stored("survey");
    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let (mut sum, mut small) = (0.0, 0);
    for seed in 0..200 {
        let test =
            fisher.test_against_network(&fisher.mean(&network.sample(2000, seed)).expect("some"));
        assert_eq!(test.degrees, 21);
        sum += test.statistic;
        small += usize::from(test.p_limit.expect("whole") < 0.1);
    }
    // Standard error of the mean: sqrt(42 / 200) = 0.46.
    assert!((sum / 200.0 - 21.0).abs() < 1.6, "{}", sum / 200.0);
    assert!((8..=34).contains(&small), "{small} of 200 below a tenth");
    let same = fisher.two_sample_test(&network.sample(400, 7), &network.sample(300, 8), 199, 1);
    let same = same.expect("possible");
    let p = same.p_permutations.expect("asked for");
    assert!(same.p_limit.expect("whole") > 0.01 && p > 0.01, "{same:?}");
    let mut moved = network.sample(300, 9);
    let travel = network.node("T").expect("a node");
    let rows = moved.rows().map(|row| {
        let mut row = row.to_vec();
        row[travel] = 1;
        row
    });
    moved = Records::of_rows(6, rows.collect::<Vec<_>>());
    let other = fisher.two_sample_test(&network.sample(400, 7), &moved, 199, 1).expect("possible");
    assert!(
        other.p_limit.expect("whole") < 1e-6 && other.p_permutations == Some(0.005),
        "{other:?}"
    );
    let most = other.by_node.iter().copied().fold(0.0, f64::max);
    assert_eq!(other.by_node[travel], most);
}

#[test]
fn choices_that_are_none_are_refused() {
    let network = stored("asia");
    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let records = network.sample(5, 1);
    for (start, says) in
        [(vec![], "choose one"), (vec![5], "no record 5"), (vec![1, 1], "record 1 is chosen twice")]
    {
        let error = fisher.representatives(&records, &start).expect_err("refused").to_string();
        assert!(error.contains(says), "{error}");
    }
    let mut hidden = records.clone();
    hidden.forget(2);
    assert_eq!(hidden.row(0)[2], MISSING);
    let error = fisher.representatives(&hidden, &[0]).expect_err("refused").to_string();
    assert!(error.contains("`smoke` is missing"), "{error}");
    assert!(fisher.mean(&Records::new(8)).is_err());
    assert!(random_subsets(3, 4, 1, 1).is_err() && random_subsets(3, 0, 1, 1).is_err());
}

/// What one pass in a device's numbers says of the kept records is what the kernel says in `f64`; it is closer to all than random
/// choices are, and not far from algorithm 1 over all records.
#[test]
fn records_kept_in_one_pass_stand_for_all() {
    let network = stored("survey");
    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let records = network.sample(400, 5);
    let all = fisher.mean(&records).expect("some");
    for keep in [4_usize, 16, 64] {
        let kept = fisher.coreset(&records, keep.try_into().expect("some")).expect("possible");
        assert_eq!(kept.weights.iter().sum::<u32>(), 400);
        assert!(kept.indices.windows(2).all(|pair| pair[0] < pair[1]));
        let some = fisher.mean(&records.subset(&kept.indices)).expect("some");
        let truth = fisher.mmd_squared(&some, &all);
        assert!((f64::from(kept.discrepancy) - truth).abs() < 1e-4 * (1.0 + truth), "{keep}");
        let subsets = random_subsets(400, keep, 50, 1).expect("enough");
        let random = fisher.discrepancies(&records, &subsets).expect("possible");
        let random = random.iter().sum::<f64>() / 50.0;
        let best = fisher.representatives(&records, &subsets[0]).expect("possible").objective;
        assert!(truth < 0.3 * random, "{keep}: {truth}, {random} at random");
        assert!(truth < 2.0 * best + 0.02 * random, "{keep}: {truth}, {best} by algorithm 1");
    }
    let hidden = Records::of_rows(6, [[0, 0, 0, 0, 0, MISSING]]);
    // A node without a state has no features.
    assert!(fisher.coreset(&hidden, 1.try_into().expect("some")).is_ok());
}
