//! Bayesian networks: inference against enumeration, the Fisher kernel's laws, learning, files, devices.

mod bif;
mod classifier;
mod device;
mod fisher;
mod inference;
mod learning;
mod records;
mod sets;

use fishweir_networks::records::{MISSING, Variable};
use fishweir_networks::{Network, read_bif};
use fishweir_tests::checks::{assert_near as assert_close, cases};
use fishweir_tests::oracle::Joint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A network as lists, and as what is under test.
struct Drawn {
    cards: Vec<usize>,
    parents: Vec<Vec<usize>>,
    tables: Vec<Vec<Vec<f64>>>,
    random: ChaCha8Rng,
}

impl Drawn {
    /// A random network of so many nodes with one to three states, in a random order; with `zeros` some
    /// probabilities are zero.
    fn new(nodes: usize, zeros: bool, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let cards: Vec<usize> = (0..nodes).map(|_| random.random_range(1..=3)).collect();
        let mut order: Vec<usize> = (0..nodes).collect();
        for last in (1..nodes).rev() {
            order.swap(last, random.random_range(0..=last));
        }
        let mut parents = vec![Vec::new(); nodes];
        for (turn, &node) in order.iter().enumerate() {
            for &before in order[..turn].iter().rev() {
                if parents[node].len() < 3 && random.random_bool(0.4) {
                    parents[node].push(before);
                }
            }
        }
        let tables = (0..nodes)
            .map(|node| {
                let rows: usize =
                    parents[node].iter().map(|&parent: &usize| cards[parent]).product();
                (0..rows).map(|_| row(cards[node], zeros, &mut random)).collect()
            })
            .collect();
        Self { cards, parents, tables, random }
    }

    fn network(&self) -> Network {
        let variables = Variable::numbered(&self.cards);
        Network::new(variables, self.parents.clone(), &self.tables).expect("a network")
    }

    fn joint(&self) -> Joint {
        Joint::of(&self.cards, &self.parents, &self.tables)
    }

    /// A record that is possible, of which some fields are missing.
    fn evidence(&mut self, missing: f64) -> Vec<u16> {
        let record = self.network().sample(1, self.random.random()).row(0).to_vec();
        let hide = |state| if self.random.random_bool(missing) { MISSING } else { state };
        record.into_iter().map(hide).collect()
    }
}

fn row(card: usize, zeros: bool, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut row: Vec<f64> = (0..card).map(|_| random.random::<f64>() + 0.02).collect();
    if zeros {
        let kept = random.random_range(0..card);
        for (state, p) in row.iter_mut().enumerate() {
            if state != kept && random.random_bool(0.3) {
                *p = 0.0;
            }
        }
    }
    let sum: f64 = row.iter().sum();
    row.into_iter().map(|p| p / sum).collect()
}

/// One of the networks that are stored beside the tests.
fn stored(name: &str) -> Network {
    let path = format!("{}/data/bn-networks/{name}.bif", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("stored");
    read_bif(&path, &text).unwrap_or_else(|error| panic!("{error}"))
}
