//! The junction tree against enumeration, and against the answers that come with known networks.

use fishweir_networks::records::MISSING;
use fishweir_networks::{Inference, Network, NetworkError, Width, joint};
use proptest::prelude::*;
use serde_json::Value;

use super::{Drawn, assert_close, cases, stored};

fn exact(network: &Network) -> Inference {
    Inference::of(network, Width::default()).expect("narrow")
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn posteriors_are_those_of_enumeration(seed: u64, nodes in 1_usize..=6, zeros: bool) {
        let mut drawn = Drawn::new(nodes, zeros, seed);
        let (network, all) = (drawn.network(), drawn.joint());
        let inference = exact(&network);
        assert_close(all.sum(|_| 1.0), 1.0, 1e-12, "the definition");
        for missing in [1.0, 0.6, 0.2] {
            let evidence = drawn.evidence(missing);
            let given = all.given(&evidence);
            let total = given.sum(|_| 1.0);
            let posterior = inference.posterior(&evidence).expect("possible");
            assert_close(posterior.log_evidence(), total.ln(), 1e-11, "evidence");
            assert_close(inference.log_evidence(&evidence), total.ln(), 1e-11, "evidence alone");
            for node in 0..nodes {
                let alone = inference.marginal(node, &evidence).expect("possible");
                let together = posterior.marginal(node);
                assert_eq!(alone.len(), together.len());
                for (alone, p) in alone.into_iter().zip(&together) {
                    assert_close(alone, *p, 1e-12, "marginal, alone");
                }
                for (state, p) in together.into_iter().enumerate() {
                    let sum = given.sum(|x| f64::from(usize::from(x[node]) == state)) / total;
                    assert_close(p, sum, 1e-11, "marginal");
                }
                let shape = network.shape();
                let (first, rows) = (shape.cells(node).start, posterior.parents(node));
                for (cell, p) in posterior.family(node).into_iter().enumerate() {
                    let of_cell = |x: &[u16]| f64::from(shape.cell(node, x) == Some(first + cell));
                    assert_close(p, given.sum(of_cell) / total, 1e-11, "family");
                }
                for (row, p) in rows.into_iter().enumerate() {
                    let of_row = |x: &[u16]| f64::from(shape.row(node, x) == Some(row));
                    assert_close(p, given.sum(of_row) / total, 1e-11, "parents");
                }
            }
            let (best, log) = inference.most_probable(&evidence).expect("possible");
            let largest = given.probabilities.iter().copied().fold(0.0, f64::max);
            assert_close(log, largest.ln(), 1e-11, "most probable");
            assert_close(network.log_likelihood(&best).expect("whole"), log, 1e-11, "its record");
            let agrees = best.iter().zip(&evidence).all(|(x, e)| *e == MISSING || x == e);
            prop_assert!(agrees, "{best:?} given {evidence:?}");
        }
    }

    #[test]
    fn any_nodes_have_a_joint_distribution(seed: u64, nodes in 2_usize..=5) {
        let drawn = Drawn::new(nodes, true, seed);
        let asked = [nodes - 1, 0];
        let table = joint(&drawn.network(), &asked, Width::default()).expect("narrow");
        let (all, card) = (drawn.joint(), drawn.cards[0]);
        for (cell, p) in table.into_iter().enumerate() {
            let wanted = [cell / card, cell % card];
            let of_cell = |x: &[u16]| {
                f64::from(asked.iter().zip(wanted).all(|(&node, k)| usize::from(x[node]) == k))
            };
            assert_close(p, all.sum(of_cell), 1e-11, "joint");
        }
    }
}

#[test]
fn what_is_impossible_has_no_posterior_and_what_is_too_wide_is_refused() {
    let network = stored("asia");
    let mut evidence = vec![MISSING; 8];
    // Neither tuberculosis nor cancer, and yet either.
    for (node, state) in [("tub", "no"), ("lung", "no"), ("either", "yes")] {
        let node = network.node(node).expect("a node");
        evidence[node] = network.variables()[node].state(state).expect("a state");
    }
    let inference = exact(&network);
    assert!(
        inference.posterior(&evidence).is_none() && inference.most_probable(&evidence).is_none()
    );
    assert_eq!(inference.log_evidence(&evidence), f64::NEG_INFINITY);
    assert!((0..8).all(|node| inference.marginal(node, &evidence).is_none()));
    evidence[0] = 7;
    assert!((0..8).all(|node| inference.marginal(node, &evidence).is_none()), "no such state");
    let narrow = Width { variables: 4, ..Width::default() };
    let error = Inference::of(&stored("insurance"), narrow).expect_err("wide");
    assert!(matches!(error, NetworkError::TooWide { variables: 8, .. }), "{error}");
    let small = Width { cells: 1000, ..Width::default() };
    assert!(Inference::of(&stored("insurance"), small).is_err());
    assert!(joint(&network, &[0, 0], Width::default()).is_err());
    assert!(joint(&network, &[8], Width::default()).is_err());
}

/// Rows of some tables are rounded in print; who computed the answers did not divide by their sums.
const ROUNDED: f64 = 3e-7;

fn check(network: &Network, inference: &Inference, evidence: &[u16], expected: &Value, what: &str) {
    let posterior = inference.posterior(evidence).expect("possible");
    for (name, states) in expected.as_object().expect("nodes") {
        let node = network.node(name).expect("a node");
        let marginal = posterior.marginal(node);
        let alone = inference.marginal(node, evidence).expect("possible");
        for (alone, p) in alone.into_iter().zip(&marginal) {
            assert_close(alone, *p, 1e-12, what);
        }
        for (state, p) in states.as_object().expect("states") {
            let state = usize::from(network.variables()[node].state(state).expect("a state"));
            assert_close(marginal[state], p.as_f64().expect("a number"), ROUNDED, what);
        }
    }
}

fn record(network: &Network, states: &Value) -> Vec<u16> {
    let mut record = vec![MISSING; network.shape().nodes()];
    for (name, state) in states.as_object().expect("nodes") {
        let node = network.node(name).expect("a node");
        let state = network.variables()[node].state(state.as_str().expect("a name"));
        record[node] = state.expect("a state");
    }
    record
}

#[test]
fn known_networks_have_their_known_answers() {
    for name in [
        "asia",
        "cancer",
        "earthquake",
        "survey",
        "sachs",
        "child",
        "insurance",
        "alarm",
        "hailfinder",
        "hepar2",
    ] {
        let network = stored(name);
        let path = format!("{}/data/bn-networks/{name}.expected.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("stored");
        let expected: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(expected["parameters"], network.shape().parameters(), "{name}");
        let inference = exact(&network);
        let nothing = vec![MISSING; network.shape().nodes()];
        check(&network, &inference, &nothing, &expected["prior_marginals"], name);
        for query in expected["queries"].as_array().expect("queries") {
            let evidence = record(&network, &query["evidence"]);
            let log = query["log_probability_of_evidence"].as_f64().expect("a number");
            assert_close(inference.log_evidence(&evidence), log, ROUNDED, name);
            check(&network, &inference, &evidence, &query["posterior"], name);
        }
        for one in expected["joint"].as_array().expect("records") {
            let log = network.log_likelihood(&record(&network, &one["row"])).expect("whole");
            assert_close(log, one["log_joint"].as_f64().expect("a number"), ROUNDED, name);
        }
    }
}
