//! Learning tables and graphs.

use std::collections::BTreeSet;

use fishweir_networks::learn::{
    Constraints, ExpectationMaximisation, HillClimb, Prior, Score, chow_liu, fit_parameters,
    graph_score, k_dependence, naive_bayes, tree_augmented,
};
use fishweir_networks::records::{MISSING, Records, Variable};
use fishweir_networks::{Network, NetworkError, Shape};
use proptest::prelude::*;

use super::{Drawn, assert_close, cases, stored};

/// Edges by name.
fn edges(variables: &[Variable], parents: &[Vec<usize>]) -> BTreeSet<(String, String)> {
    let name = |node: usize| variables[node].name.clone();
    let of_node = |(child, of_child): (usize, &Vec<usize>)| {
        of_child.iter().map(|&parent| (name(parent), name(child))).collect::<Vec<_>>()
    };
    parents.iter().enumerate().flat_map(of_node).collect()
}

#[test]
fn climbing_finds_what_was_drawn_whatever_the_order_of_columns() {
    let network = stored("child");
    let (records, truth) = (network.sample(5000, 1), network.shape().all_parents());
    let found = HillClimb::default().learn(network.variables(), &records).expect("learnt");
    let score = |parents: &[Vec<usize>]| {
        graph_score(Score::Bic, network.variables(), parents, &records).expect("a graph")
    };
    assert_close(found.score, score(&found.parents), 1e-12, "the score");
    assert!(found.score >= score(truth), "{} below the truth's {}", found.score, score(truth));
    Shape::new(network.variables(), found.parents.clone()).expect("no cycle");
    let order: Vec<usize> = (0..20).map(|i| (7 * i + 3) % 20).collect();
    let other: Vec<Variable> = order.iter().map(|&i| network.variables()[i].clone()).collect();
    for climb in [
        HillClimb::default(),
        HillClimb { restarts: 2, score: Score::Bdeu { equivalent: 10.0 }, ..HillClimb::default() },
    ] {
        let a = climb.learn(network.variables(), &records).expect("learnt");
        let b = climb.learn(&other, &records.select(&order)).expect("learnt");
        assert_eq!(edges(network.variables(), &a.parents), edges(&other, &b.parents));
        assert_eq!(a.score, b.score);
    }
}

#[test]
fn required_edges_stay_and_forbidden_ones_never_come() {
    let network = stored("asia");
    let records = network.sample(3000, 2);
    let free = HillClimb::default().learn(network.variables(), &records).expect("learnt");
    let forbidden: Vec<(usize, usize)> =
        Shape::new(network.variables(), free.parents).expect("a graph").edges().collect();
    let constraints = Constraints { required: vec![(7, 0), (6, 0)], forbidden: forbidden.clone() };
    let climb = HillClimb { constraints, most_parents: 2, restarts: 3, ..HillClimb::default() };
    let found = climb.learn(network.variables(), &records).expect("learnt");
    assert!(found.parents[0].contains(&7) && found.parents[0].contains(&6));
    assert!(forbidden.iter().all(|(parent, child)| !found.parents[*child].contains(parent)));
    assert!(found.parents.iter().all(|parents| parents.len() <= 2));
    let refused = |required, forbidden| {
        let constraints = Constraints { required, forbidden };
        let climb = HillClimb { constraints, ..HillClimb::default() };
        climb.learn(network.variables(), &records).expect_err("refused")
    };
    assert!(matches!(refused(vec![(0, 1), (1, 0)], vec![]), NetworkError::Cycle(_)));
    assert!(refused(vec![(0, 1)], vec![(0, 1)]).to_string().contains("asia -> tub is both"));
    assert!(matches!(refused(vec![(0, 9)], vec![]), NetworkError::UnknownNode(_)));
    assert!(matches!(refused(vec![(0, 9)], vec![(0, 9)]), NetworkError::UnknownNode(_)));
    let zero = HillClimb { score: Score::Bdeu { equivalent: 0.0 }, ..HillClimb::default() };
    assert!(zero.learn(network.variables(), &records).is_err());
    let mut missing = records.clone();
    missing.forget(3);
    let error = HillClimb::default().learn(network.variables(), &missing).expect_err("missing");
    assert_eq!(error.record(), Some(0));
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn equivalent_graphs_score_alike(seed: u64) {
        let drawn = Drawn::new(3, false, seed);
        let (records, variables) = (drawn.network().sample(200, seed), Variable::numbered(&drawn.cards));
        let chains = [
            vec![vec![], vec![0], vec![1]],
            vec![vec![1], vec![], vec![1]],
            vec![vec![1], vec![2], vec![]],
        ];
        for score in [Score::Bic, Score::Bdeu { equivalent: 3.0 }] {
            let of = |parents: &[Vec<usize>]| {
                graph_score(score, &variables, parents, &records).expect("a graph")
            };
            assert_close(of(&chains[1]), of(&chains[0]), 1e-11, "fork");
            assert_close(of(&chains[2]), of(&chains[0]), 1e-11, "chain back");
        }
    }

    /// Of all trees over four columns none explains the records better.
    #[test]
    fn the_tree_is_the_likeliest(seed: u64) {
        let drawn = Drawn::new(4, false, seed);
        let (records, variables) = (drawn.network().sample(300, seed), Variable::numbered(&drawn.cards));
        let log = |parents: &[Vec<usize>]| -> f64 {
            let network = fit_parameters(&variables, parents, &records, Prior::PseudoCount(0.0));
            network.expect("fitted").log_likelihoods(&records).expect("whole").iter().sum()
        };
        let found = log(&chow_liu(&variables, &records).expect("learnt"));
        for code in 0..64_usize {
            // Each column but the first has another for its parent.
            let parent = |node: usize| (node + 1 + code / 4_usize.pow(node as u32 - 1) % 4) % 4;
            let parents: Vec<Vec<usize>> = (0..4)
                .map(|node| if node == 0 || parent(node) == node { vec![] } else { vec![parent(node)] })
                .collect();
            if Shape::new(&variables, parents.clone()).is_ok() {
                prop_assert!(log(&parents) <= found + 1e-9 * found.abs());
            }
        }
    }

    #[test]
    fn the_objective_of_expectation_maximisation_rises(seed: u64, nodes in 2_usize..=5, pseudo in 0_usize..=1) {
        let drawn = Drawn::new(nodes, false, seed);
        let network = drawn.network();
        let hide = |(index, row): (usize, &[u16])| -> Vec<u16> {
            let hidden = |column: usize| (index * 31 + column * 17).is_multiple_of(5) || column == 0;
            row.iter().enumerate().map(|(c, &x)| if hidden(c) { MISSING } else { x }).collect()
        };
        let whole = network.sample(120, seed);
        let records = Records::of_rows(nodes, whole.rows().enumerate().map(hide));
        let em = ExpectationMaximisation {
            prior: Prior::PseudoCount(pseudo as f64),
            passes: 30,
            ..ExpectationMaximisation::default()
        };
        let fit = em.fit(network.variables(), network.shape().all_parents(), &records).expect("fitted");
        for pair in fit.objective.windows(2) {
            prop_assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{:?}", fit.objective);
        }
    }
}

#[test]
fn whole_records_need_no_second_pass() {
    let network = stored("survey");
    let (records, parents) = (network.sample(500, 3), network.shape().all_parents());
    for prior in [Prior::PseudoCount(0.0), Prior::PseudoCount(1.0), Prior::Equivalent(6.0)] {
        let em = ExpectationMaximisation { prior, ..ExpectationMaximisation::default() };
        let a = em.fit(network.variables(), parents, &records).expect("fitted").network;
        let b = fit_parameters(network.variables(), parents, &records, prior).expect("fitted");
        for (a, b) in a.theta().iter().zip(b.theta()) {
            assert_close(*a, *b, 1e-12, "theta");
        }
    }
    // By hand: 3 of 4 records have state 0; one pseudo-count in each of two cells.
    let coin = [Variable::new("coin", ["heads", "tails"])];
    let four = Records::of_rows(1, [[0], [0], [1], [0]]);
    let fit = |prior| fit_parameters(&coin, &[vec![]], &four, prior).expect("fitted").theta()[0];
    assert_eq!(fit(Prior::PseudoCount(0.0)), 0.75);
    assert_eq!(fit(Prior::PseudoCount(1.0)), 4.0 / 6.0);
    assert_eq!(fit(Prior::Equivalent(4.0)), 5.0 / 8.0);
    assert!(fit_parameters(&coin, &[vec![]], &four, Prior::PseudoCount(-1.0)).is_err());
}

#[test]
fn classifiers_have_their_graphs() {
    let network = stored("child");
    let (records, class) = (network.sample(2000, 4), network.node("Disease").expect("a node"));
    let variables = network.variables();
    let naive = naive_bayes(variables, class).expect("a class");
    let tan = tree_augmented(variables, &records, class).expect("learnt");
    let kdb = k_dependence(variables, &records, class, 3).expect("learnt");
    assert_eq!(k_dependence(variables, &records, class, 0).expect("learnt"), naive);
    for (node, parents) in tan.iter().enumerate() {
        assert_eq!(parents.first(), if node == class { None } else { Some(&class) });
        assert!(parents.len() <= 2 && kdb[node].len() <= 4);
    }
    // A tree: all attributes but one have a second parent, and nothing leads round.
    assert_eq!(tan.iter().map(Vec::len).sum::<usize>(), 19 + 18);
    assert_eq!(kdb.iter().map(Vec::len).sum::<usize>(), 19 + 1 + 2 + 16 * 3);
    for parents in [tan, kdb] {
        let fitted: Network =
            fit_parameters(variables, &parents, &records, Prior::PseudoCount(1.0))
                .expect("a graph");
        assert!(fitted.theta().iter().all(|&theta| theta > 0.0));
    }
    assert!(naive_bayes(variables, 20).is_err());
}
