//! Exact inference: a junction tree.

use super::factors::Factor;
use super::triangulate::cliques;
use super::{Network, NetworkError};
use crate::records::MISSING;
use fishweir::internals::Elementary;

/// Largest size of a clique for exact inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Nodes of a clique.
    pub variables: usize,
    /// Entries of its table.
    pub cells: usize,
}

impl Default for Width {
    /// Eleven nodes (a tree width of ten) and 2^22 entries, 32 MB.
    fn default() -> Self {
        Self { variables: 11, cells: 1 << 22 }
    }
}

#[derive(Clone, Debug)]
struct Clique {
    /// Variables, in rising order.
    variables: Vec<usize>,
    /// The clique above, and the variables shared with it; `None` for the first.
    above: Option<(usize, Vec<usize>)>,
}

/// Cliques of a triangulated graph in a tree such that what two share is in all between them, and in which
/// every scope has a clique: any product of factors over these scopes is summed there exactly.
///
/// The graph is triangulated by minimal fill. Sources: Lauritzen and Spiegelhalter, "Local computations
/// with probabilities on graphical structures", 1988; Jensen, Lauritzen and Olesen, "Bayesian updating in
/// causal probabilistic networks by local computations", 1990; Kjaerulff, "Triangulation of graphs", 1990.
#[derive(Clone, Debug)]
pub struct JunctionTree {
    cards: Vec<usize>,
    /// Cliques, those above before those below.
    cliques: Vec<Clique>,
    /// The smallest clique with each variable.
    of_variable: Vec<usize>,
    /// The smallest clique with each scope.
    of_scope: Vec<usize>,
}

impl JunctionTree {
    /// A tree for factors over these scopes of variables; `cards` are their numbers of states.
    ///
    /// # Errors
    /// [`NetworkError::TooWide`].
    pub fn new(cards: &[usize], scopes: &[Vec<usize>], most: Width) -> Result<Self, NetworkError> {
        let found = cliques(cards, scopes);
        let size = |clique: &[usize]| clique.iter().map(|&v| cards[v] as f64).product::<f64>();
        let variables = found.iter().map(|(clique, _)| clique.len()).max().unwrap_or(0);
        let cells = found.iter().map(|(clique, _)| size(clique)).fold(0.0, f64::max);
        if variables > most.variables || cells > most.cells as f64 {
            return Err(NetworkError::TooWide {
                variables,
                cells,
                most_variables: most.variables,
                most_cells: most.cells,
            });
        }
        let cliques: Vec<Clique> = found
            .iter()
            .map(|(variables, above)| {
                let shared = |above: usize| {
                    let above = &found[above].0;
                    variables.iter().copied().filter(|v| above.contains(v)).collect()
                };
                Clique { variables: variables.clone(), above: above.map(|a| (a, shared(a))) }
            })
            .collect();
        let smallest = |scope: &[usize]| {
            let has = |clique: &&Clique| scope.iter().all(|v| clique.variables.contains(v));
            let of = cliques.iter().enumerate().filter(|(_, clique)| has(clique));
            let size = |(_, clique): &(usize, &Clique)| {
                clique.variables.iter().map(|&v| cards[v]).product::<usize>()
            };
            of.min_by_key(size).map_or(0, |(index, _)| index)
        };
        Ok(Self {
            cards: cards.to_vec(),
            of_variable: (0..cards.len()).map(|v| smallest(&[v])).collect(),
            of_scope: scopes.iter().map(|scope| smallest(scope)).collect(),
            cliques,
        })
    }

    /// Nodes and entries of the largest clique, each at its largest.
    pub fn width(&self) -> Width {
        let cells = |clique: &Clique| clique.variables.iter().map(|&v| self.cards[v]).product();
        Width {
            variables: self.cliques.iter().map(|clique| clique.variables.len()).max().unwrap_or(0),
            cells: self.cliques.iter().map(cells).max().unwrap_or(0),
        }
    }

    /// The cliques' tables: the product of factors, one per scope, where it is not zero by the evidence, a
    /// state a variable or [`MISSING`].
    fn potentials(&self, factors: &[Factor], evidence: &[u16]) -> Vec<Factor> {
        let ones = |clique: &Clique| Factor::ones(&clique.variables, &self.cards);
        let mut tables: Vec<Factor> = self.cliques.iter().map(ones).collect();
        for (factor, &clique) in factors.iter().zip(&self.of_scope) {
            tables[clique].multiply(factor);
        }
        for (variable, &state) in evidence.iter().enumerate() {
            if state != MISSING {
                tables[self.of_variable[variable]].observe(variable, state.into());
            }
        }
        tables
    }

    /// Sends messages up to the first clique, each divided by its `total`, and gives them with the sum of
    /// the logarithms of what was divided by: minus infinity where all is zero.
    fn collect(
        &self,
        tables: &mut [Factor],
        onto: fn(&Factor, &[usize]) -> Factor,
        total: fn(&mut Factor) -> f64,
    ) -> (Vec<Option<Factor>>, f64) {
        let (mut messages, mut log) = (vec![None; self.cliques.len()], 0.0);
        for (index, clique) in self.cliques.iter().enumerate().rev() {
            let Some((above, shared)) = &clique.above else {
                log += total(&mut tables[index]).portable_ln();
                continue;
            };
            let mut message = onto(&tables[index], shared);
            log += total(&mut message).portable_ln();
            tables[*above].multiply(&message);
            messages[index] = Some(message);
        }
        (messages, log)
    }

    /// `log sum_x prod_f f(x)` of factors, one per scope, over what agrees with the evidence; minus infinity
    /// where nothing does.
    pub fn log_partition(&self, factors: &[Factor], evidence: &[u16]) -> f64 {
        let mut tables = self.potentials(factors, evidence);
        self.collect(&mut tables, Factor::sum_onto, Factor::normalise).1
    }

    /// Marginals of the product of factors, one a scope, given the evidence; `None` where that is
    /// impossible.
    ///
    /// Work: some six passes over the cliques' tables. RAM: the tables.
    pub fn calibrate(&self, factors: &[Factor], evidence: &[u16]) -> Option<Calibrated<'_>> {
        let mut tables = self.potentials(factors, evidence);
        let (messages, log_partition) =
            self.collect(&mut tables, Factor::sum_onto, Factor::normalise);
        if log_partition == f64::NEG_INFINITY {
            return None;
        }
        for (index, clique) in self.cliques.iter().enumerate() {
            if let (Some((above, shared)), Some(up)) = (&clique.above, &messages[index]) {
                let mut down = tables[*above].sum_onto(shared);
                down.divide(up);
                tables[index].multiply(&down);
                tables[index].normalise();
            }
        }
        Some(Calibrated { tree: self, tables, log_partition })
    }

    /// A configuration of the largest product among those that agree with the evidence, the logarithm of
    /// that product with it; `None` where all are impossible.
    pub fn largest(&self, factors: &[Factor], evidence: &[u16]) -> Option<(Vec<u16>, f64)> {
        let mut tables = self.potentials(factors, evidence);
        let (_, log) = self.collect(&mut tables, Factor::max_onto, Factor::normalise_by_largest);
        if log == f64::NEG_INFINITY {
            return None;
        }
        let mut states = vec![MISSING; self.cards.len()];
        for table in &tables {
            let known = |v: usize| (states[v] != MISSING).then(|| usize::from(states[v]));
            let of_clique = table.largest(known);
            for (&variable, state) in table.variables().iter().zip(of_clique) {
                states[variable] = state as u16;
            }
        }
        Some((states, log))
    }
}

/// The cliques' marginals of a product of factors.
#[derive(Clone, Debug)]
pub struct Calibrated<'t> {
    tree: &'t JunctionTree,
    tables: Vec<Factor>,
    log_partition: f64,
}

impl Calibrated<'_> {
    /// `log sum_x prod_f f(x)` over what agrees with the evidence.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// The distribution of a variable.
    pub fn marginal(&self, variable: usize) -> Vec<f64> {
        self.tables[self.tree.of_variable[variable]].sum_onto(&[variable]).into_values()
    }

    /// The distribution of some variables of a scope, in the order given, the last varying fastest.
    pub fn of_scope(&self, scope: usize, variables: &[usize]) -> Vec<f64> {
        self.tables[self.tree.of_scope[scope]].sum_onto(variables).into_values()
    }
}

/// Exact answers of a network: its tables as factors, a scope a node and its parents.
#[derive(Clone, Debug)]
pub struct Inference {
    tree: JunctionTree,
    factors: Vec<Factor>,
    families: Vec<Vec<usize>>,
}

impl Inference {
    /// Prepares a network.
    ///
    /// # Errors
    /// [`NetworkError::TooWide`].
    pub fn of(network: &Network, most: Width) -> Result<Self, NetworkError> {
        let shape = network.shape();
        let families: Vec<Vec<usize>> = (0..shape.nodes()).map(|node| shape.family(node)).collect();
        let factors = network_factors(network, 1.0);
        Ok(Self { tree: JunctionTree::new(shape.cards(), &families, most)?, factors, families })
    }

    /// The tree.
    pub fn tree(&self) -> &JunctionTree {
        &self.tree
    }

    /// The posterior given states, a node each or [`MISSING`]; `None` where they are impossible together.
    pub fn posterior(&self, evidence: &[u16]) -> Option<Posterior<'_>> {
        let calibrated = self.tree.calibrate(&self.factors, evidence)?;
        Some(Posterior { calibrated, families: &self.families })
    }

    /// `p(node | evidence)`, `[state]`, as the [`posterior`](Self::posterior) has it; `None` where the
    /// evidence is impossible. The way for one node: what is below it and the evidence is left out (barren
    /// nodes; Shachter, "Evaluating influence diagrams", 1986), states that are given take no room in the
    /// tables, and messages go one way, up the tree, with the node in those that know of it.
    ///
    /// Work: some three passes over tables, of a clique at most, or of one and the node.
    pub fn marginal(&self, node: usize, evidence: &[u16]) -> Option<Vec<f64>> {
        let cards = &self.tree.cards;
        let given = |v: usize| (evidence[v] != MISSING).then(|| usize::from(evidence[v]));
        if (0..cards.len()).any(|v| given(v).is_some_and(|state| state >= cards[v])) {
            return None;
        }
        let mut buckets = vec![Vec::new(); self.tree.cliques.len()];
        for of in self.at_or_above((0..cards.len()).filter(|&v| v == node || given(v).is_some())) {
            let mut factor = self.factors[of].restrict(|v| given(v).filter(|_| v != node));
            if let Some(state) = given(node) {
                factor.observe(node, state);
            }
            buckets[self.tree.of_scope[of]].push(factor);
        }
        for (index, clique) in self.tree.cliques.iter().enumerate().rev() {
            let factors = std::mem::take(&mut buckets[index]);
            let mut scope: Vec<usize> =
                factors.iter().flat_map(Factor::variables).copied().collect();
            scope.sort_unstable();
            scope.dedup();
            let mut table = Factor::ones(&scope, cards);
            factors.iter().for_each(|factor| table.multiply(factor));
            let above = clique.above.as_ref();
            scope.retain(|v| *v == node || above.is_some_and(|(_, shared)| shared.contains(v)));
            let mut message = table.sum_onto(&scope);
            if message.normalise() == 0.0 {
                return None;
            }
            let Some((above, _)) = above else { return Some(message.into_values()) };
            if !factors.is_empty() {
                buckets[*above].push(message);
            }
        }
        None
    }

    /// Some nodes and all above them.
    fn at_or_above(&self, nodes: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let (mut found, mut left) = (vec![false; self.families.len()], nodes.collect::<Vec<_>>());
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut found[node], true) {
                left.extend(&self.families[node]);
            }
        }
        (0..found.len()).filter(move |&node| found[node])
    }

    /// `log p(evidence)`.
    pub fn log_evidence(&self, evidence: &[u16]) -> f64 {
        self.tree.log_partition(&self.factors, evidence)
    }

    /// The most probable record that has these states, and its `log p`; `None` where they are impossible.
    /// Of equally probable ones the states of lower numbers, clique by clique.
    pub fn most_probable(&self, evidence: &[u16]) -> Option<(Vec<u16>, f64)> {
        self.tree.largest(&self.factors, evidence)
    }
}

/// The distribution of some nodes together, `p(nodes)`, in the order given, the last varying fastest.
///
/// # Errors
/// [`NetworkError::TooWide`], for a clique with all these nodes; an unknown node, or one given twice.
pub fn joint(network: &Network, nodes: &[usize], most: Width) -> Result<Vec<f64>, NetworkError> {
    let shape = network.shape();
    for (index, &node) in nodes.iter().enumerate() {
        if node >= shape.nodes() {
            return Err(NetworkError::UnknownNode(format!("number {node}")));
        }
        if nodes[..index].contains(&node) {
            let name = network.name(node);
            return Err(NetworkError::Other(format!("node `{name}` is asked for twice")));
        }
    }
    let families = (0..shape.nodes()).map(|node| shape.family(node));
    let scopes: Vec<Vec<usize>> = families.chain([nodes.to_vec()]).collect();
    let tree = JunctionTree::new(shape.cards(), &scopes, most)?;
    let calibrated = tree.calibrate(&network_factors(network, 1.0), &[]);
    let calibrated = calibrated.ok_or(NetworkError::Impossible { record: 0, node: None })?;
    Ok(calibrated.of_scope(shape.nodes(), nodes))
}

/// A network's tables raised to a power, each over its node's parents and the node; zero stays zero.
pub(super) fn network_factors(network: &Network, power: f64) -> Vec<Factor> {
    let shape = network.shape();
    let raise = |&theta: &f64| match theta {
        0.0 => 0.0,
        theta if power == 1.0 => theta,
        theta => theta.portable_powf(power),
    };
    let factor = |node: usize| {
        let family = shape.family(node);
        let cards = family.iter().map(|&v| shape.cards()[v]).collect();
        Factor::new(family, cards, network.table(node).iter().map(raise).collect())
    };
    (0..shape.nodes()).map(factor).collect()
}

/// Posterior of a network's nodes given evidence.
#[derive(Clone, Debug)]
pub struct Posterior<'t> {
    calibrated: Calibrated<'t>,
    families: &'t [Vec<usize>],
}

impl Posterior<'_> {
    /// `log p(evidence)`.
    pub fn log_evidence(&self) -> f64 {
        self.calibrated.log_partition()
    }

    /// `p(node | evidence)`, `[state]`.
    pub fn marginal(&self, node: usize) -> Vec<f64> {
        self.calibrated.marginal(node)
    }

    /// `p(parents, node | evidence)`, `[row][state]`, one row after the other.
    pub fn family(&self, node: usize) -> Vec<f64> {
        self.calibrated.of_scope(node, &self.families[node])
    }

    /// `p(parents | evidence)`, `[row]`.
    pub fn parents(&self, node: usize) -> Vec<f64> {
        let (_, parents) = self.families[node].split_last().unwrap_or((&node, &[]));
        self.calibrated.of_scope(node, parents)
    }

    /// [`family`](Self::family) of all nodes, in the shape's cells.
    pub fn families(&self) -> Vec<f64> {
        (0..self.families.len()).flat_map(|node| self.family(node)).collect()
    }
}
