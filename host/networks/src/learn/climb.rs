//! A graph by hill climbing.

use std::collections::{BTreeSet, VecDeque};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::{NetworkError, Shape};
use super::columns::Columns;
use super::score::{Score, Scorer};
use crate::records::{Records, Variable};
use fishweir::internals::each;

/// Least rise of the score by a change, in nats: less is rounding.
///
/// Of changes with rises equal within this, the first is taken.
const LEAST: f64 = 1e-7;

/// The default of [`HillClimb::patience`].
const PATIENCE: usize = 100;

/// Changes for which a changed pair of nodes is left alone, if there are pairs enough.
const LEFT_ALONE: usize = 15;

/// Edges that must or must not be there, `(parent, child)` by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    /// Edges that are there from the start and stay.
    pub required: Vec<(usize, usize)>,
    /// Edges that are never made.
    pub forbidden: Vec<(usize, usize)>,
}

/// Hill climbing from the required edges: of all edges that may be added, dropped or turned round, the
/// change that raises the score most, until none does. Then it goes on, with `patience`: the change that
/// lowers the score least, except on the 15 pairs of nodes that were changed last; `patience` such changes
/// without a better graph end it, and the best graph is taken.
///
/// A restart makes some random changes to the best graph so far and climbs again; the best of all is kept.
/// Scores of families are computed once; a change of a node's parents asks for at most as many as there
/// are nodes. The result is the same for any order of columns, on any number of threads.
///
/// Work: counting `n^2` pairs of columns, then some `2 n` families per edge.
///
/// Sources: Heckerman, Geiger and Chickering 1995, section 7; Glover, "Tabu search", 1989.
#[derive(Clone, Debug, PartialEq)]
pub struct HillClimb {
    /// Score to maximise.
    pub score: Score,
    /// Largest number of parents of a node.
    pub most_parents: usize,
    /// Changes that may be made in a row without a better graph; 0 ends at the first graph that no change
    /// betters.
    pub patience: usize,
    /// Restarts after the first climb.
    pub restarts: usize,
    /// Random changes before each.
    pub changes: usize,
    /// Seed of the random changes.
    pub seed: u64,
    /// Edges that must or must not be there.
    pub constraints: Constraints,
}

impl Default for HillClimb {
    fn default() -> Self {
        let constraints = Constraints::default();
        let (score, most_parents, patience) = (Score::Bic, 8, PATIENCE);
        Self { score, most_parents, patience, restarts: 0, changes: 10, seed: 1, constraints }
    }
}

/// A graph that was climbed to.
#[derive(Clone, Debug, PartialEq)]
pub struct Climbed {
    /// The parents of each column.
    pub parents: Vec<Vec<usize>>,
    /// Score of the graph.
    pub score: f64,
    /// Changes made on the way to it.
    pub steps: usize,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Add(usize, usize),
    Drop(usize, usize),
    /// The edge as it is before.
    Turn(usize, usize),
}

impl Change {
    /// The nodes that it joins or parts.
    fn pair(self) -> (usize, usize) {
        let (Self::Add(a, b) | Self::Drop(a, b) | Self::Turn(a, b)) = self;
        (a.min(b), a.max(b))
    }
}

impl HillClimb {
    /// Learns a graph of the columns of whole records.
    ///
    /// # Errors
    /// [`NetworkError`]: invalid variables, records that do not fit or have missing fields; required
    /// edges that lead round, are forbidden too, or are no columns'; a setting out of range.
    pub fn learn(
        &self,
        variables: &[Variable],
        records: &Records,
    ) -> Result<Climbed, NetworkError> {
        self.score.validate()?;
        let columns = Columns::of(variables, records)?;
        let scorer = Scorer::new(&columns, self.score);
        let rules = self.rules(variables, &columns)?;
        let mut best = Climb::new(&scorer, &rules);
        if let Some(node) = best.own.iter().position(|&own| own == f64::NEG_INFINITY) {
            let node = columns.name(variables, node).to_owned();
            return Err(NetworkError::TooLarge { node });
        }
        best.climb(self.patience);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for _ in 0..self.restarts {
            let mut other = best.clone();
            for _ in 0..self.changes {
                other.change_at_random(&mut random);
            }
            other.climb(self.patience);
            if other.score > best.score + LEAST {
                best = other;
            }
        }
        let Climb { parents, score, steps, .. } = best;
        let parents = parents.into_iter().map(|set| set.into_iter().collect()).collect();
        Ok(Climbed { parents: columns.restore(parents), score, steps })
    }

    fn rules(&self, variables: &[Variable], columns: &Columns) -> Result<Rules, NetworkError> {
        let place = |column: usize| {
            let place = columns.place(column);
            place.ok_or_else(|| NetworkError::UnknownNode(format!("number {column}")))
        };
        let edges = |edges: &[(usize, usize)]| {
            let edge = |&(parent, child): &(usize, usize)| Ok((place(parent)?, place(child)?));
            edges.iter().map(edge).collect::<Result<BTreeSet<_>, NetworkError>>()
        };
        let Constraints { required, forbidden } = &self.constraints;
        let rules = Rules {
            required: edges(required)?,
            forbidden: edges(forbidden)?,
            most_parents: self.most_parents,
        };
        for (parent, child) in required {
            if forbidden.contains(&(*parent, *child)) {
                let name = |column: &usize| &variables[*column].name;
                return Err(NetworkError::Other(format!(
                    "the edge {} -> {} is both required and forbidden; take it off one list",
                    name(parent),
                    name(child)
                )));
            }
        }
        // Required edges must be a graph.
        let mut parents = vec![Vec::new(); columns.len()];
        let unique: BTreeSet<&(usize, usize)> = required.iter().collect();
        unique.iter().for_each(|(parent, child)| parents[*child].push(*parent));
        Shape::new(variables, parents)?;
        Ok(rules)
    }
}

struct Rules {
    required: BTreeSet<(usize, usize)>,
    forbidden: BTreeSet<(usize, usize)>,
    most_parents: usize,
}

#[derive(Clone)]
struct Climb<'a> {
    scorer: &'a Scorer<'a>,
    rules: &'a Rules,
    parents: Vec<BTreeSet<usize>>,
    /// The score of each node with its parents.
    own: Vec<f64>,
    /// Gain of each node's score if another node becomes its parent, or ceases to be one.
    gain: Vec<Vec<f64>>,
    /// `[node][other]`: whether the other is above the node.
    above: Vec<Vec<bool>>,
    score: f64,
    steps: usize,
}

impl<'a> Climb<'a> {
    fn new(scorer: &'a Scorer<'a>, rules: &'a Rules) -> Self {
        let nodes = scorer.columns.len();
        let mut parents = vec![BTreeSet::new(); nodes];
        for &(parent, child) in &rules.required {
            parents[child].insert(parent);
        }
        let mut search = Self {
            scorer,
            rules,
            parents,
            own: vec![0.0; nodes],
            gain: vec![Vec::new(); nodes],
            above: Vec::new(),
            score: 0.0,
            steps: 0,
        };
        search.refresh(&(0..nodes).collect::<Vec<_>>());
        search
    }

    /// Updates the scores that a change of these nodes' parents affects.
    fn refresh(&mut self, nodes: &[usize]) {
        let scored = each(nodes.len(), &|index| self.score_node(nodes[index]));
        for (&node, (own, gain)) in nodes.iter().zip(scored) {
            (self.own[node], self.gain[node]) = (own, gain);
        }
        self.score = self.own.iter().sum();
        self.above = ancestors(&self.parents);
    }

    fn score_node(&self, node: usize) -> (f64, Vec<f64>) {
        let current: Vec<usize> = self.parents[node].iter().copied().collect();
        let others: Vec<usize> = (0..self.parents.len()).filter(|&other| other != node).collect();
        let mut sets = vec![current.clone()];
        // Sets that may not be are not counted.
        let may = |other: usize| {
            current.contains(&other)
                || (current.len() < self.rules.most_parents
                    && !self.rules.forbidden.contains(&(other, node)))
        };
        let asked: Vec<usize> = others.into_iter().filter(|&other| may(other)).collect();
        for &other in &asked {
            let mut set = self.parents[node].clone();
            if !set.remove(&other) {
                set.insert(other);
            }
            sets.push(set.into_iter().collect());
        }
        let scores = self.scorer.families(node, &sets);
        let mut gain = vec![f64::NEG_INFINITY; self.parents.len()];
        for (&other, score) in asked.iter().zip(&scores[1..]) {
            gain[other] = score - scores[0];
        }
        (scores[0], gain)
    }

    /// Possible changes, in order, each with its gain.
    fn changes(&self) -> Vec<(Change, f64)> {
        let nodes = self.parents.len();
        let mut changes = Vec::new();
        for child in 0..nodes {
            for parent in (0..nodes).filter(|&parent| parent != child) {
                if self.parents[child].contains(&parent) {
                    if self.rules.required.contains(&(parent, child)) {
                        continue;
                    }
                    let dropped = self.gain[child][parent];
                    changes.push((Change::Drop(parent, child), dropped));
                    // Round by another way?
                    let round = self.parents[child].iter().any(|&other| self.above[other][parent]);
                    if !round {
                        let gain = dropped + self.gain[parent][child];
                        changes.push((Change::Turn(parent, child), gain));
                    }
                } else if !self.above[parent][child] {
                    changes.push((Change::Add(parent, child), self.gain[child][parent]));
                }
            }
        }
        changes.retain(|(_, gain)| *gain > f64::NEG_INFINITY);
        changes
    }

    fn make(&mut self, change: Change) {
        match change {
            Change::Add(parent, child) => {
                self.parents[child].insert(parent);
                self.refresh(&[child]);
            }
            Change::Drop(parent, child) => {
                self.parents[child].remove(&parent);
                self.refresh(&[child]);
            }
            Change::Turn(parent, child) => {
                self.parents[child].remove(&parent);
                self.parents[parent].insert(child);
                self.refresh(&[child, parent]);
            }
        }
        self.steps += 1;
    }

    fn climb(&mut self, patience: usize) {
        let (mut best, mut stale) = (self.clone(), 0);
        let mut recent: VecDeque<(usize, usize)> = VecDeque::new();
        let left_alone = LEFT_ALONE.min(self.parents.len() * (self.parents.len() - 1) / 4);
        while stale <= patience {
            let mut next: Option<(Change, f64)> = None;
            for (change, gain) in self.changes() {
                let betters = self.score + gain > best.score + LEAST;
                let is_free = betters || !recent.contains(&change.pair());
                let least = next.map_or(f64::NEG_INFINITY, |(_, most)| most + LEAST);
                if is_free && gain > least {
                    next = Some((change, gain));
                }
            }
            let Some((change, gain)) = next else { break };
            if patience == 0 && gain <= LEAST {
                break;
            }
            self.make(change);
            recent.push_back(change.pair());
            if recent.len() > patience.min(left_alone) {
                recent.pop_front();
            }
            if self.score > best.score + LEAST {
                (best, stale) = (self.clone(), 0);
            } else {
                stale += 1;
            }
        }
        *self = best;
    }

    fn change_at_random(&mut self, random: &mut ChaCha8Rng) {
        let changes = self.changes();
        if !changes.is_empty() {
            let (change, _) = changes[random.random_range(0..changes.len())];
            self.make(change);
        }
    }
}

/// `[node][other]`: whether a way leads down from the other to the node.
fn ancestors(parents: &[BTreeSet<usize>]) -> Vec<Vec<bool>> {
    let nodes = parents.len();
    let mut above = vec![vec![false; nodes]; nodes];
    for (node, above) in above.iter_mut().enumerate() {
        let mut open: Vec<usize> = parents[node].iter().copied().collect();
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut above[next], true) {
                open.extend(&parents[next]);
            }
        }
    }
    above
}
