//! Kernels over hidden models of symbols: hidden binomial, pair HMM, hidden and pruned tree.

mod cost;
mod run;
mod source;

use fishweir_core::kernel::TreeShape;

use super::Norms;
use super::round::{row, rows};
use crate::deploy::error::DeployError;
use crate::kernel::marginal::{MarginalModel, PairHmmModel, ReducedPair, TreeKernelModel};
use crate::runtime::family::OF_SYMBOLS;
use crate::runtime::{Family, Shape};

/// A kernel over a hidden model, with its stored strings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hidden {
    pub(super) law: Law,
    /// `[item][position]`, of a tree `[item][leaf]`.
    pub(super) stored: Vec<Vec<u16>>,
    pub(super) norms: Norms,
    /// Symbols of the longest stream that has a norm, of the pair HMM: those of the longest string that was trained on.
    pub(super) room: usize,
}

impl Hidden {
    /// The hidden model is over symbols, whatever its emissions.
    pub(super) fn emission(&self) -> Option<(&'static dyn Family, Shape)> {
        let symbols = match &self.law {
            Law::Binomial(law) => law.tables.first().map_or(0, Vec::len),
            Law::Pair(law) => law.emission.first().map_or(0, Vec::len),
            Law::Tree(law) => law.root.len(),
        };
        Some((OF_SYMBOLS, Shape { size: symbols, ..Shape::default() }))
    }
}

/// A hidden model in `f32`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Law {
    Binomial(Binomial),
    Pair(Pair),
    Tree(Tree),
}

/// Fields of the core's `HiddenBinomial`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binomial {
    /// `[table][symbol][symbol]`.
    tables: Vec<Vec<Vec<f32>>>,
    shared: bool,
    states: usize,
}

/// Fields of the core's `PairHmm`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    /// `[state]`.
    initial: Vec<f32>,
    /// `[from][to]`.
    transition: Vec<Vec<f32>>,
    /// `[state][symbol]`.
    emission: Vec<Vec<f32>>,
    /// `[state]`.
    empty: Vec<f32>,
    initial_end: f32,
    /// `[state]`.
    end: Vec<f32>,
}

/// Fields of the core's `BranchModel` and `TreeShape`, and the order of the leaves.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pruned: bool,
    /// `[state]`.
    root: Vec<f32>,
    /// `[matrix][from][to]`.
    transition: Vec<Vec<Vec<f32>>>,
    /// `[node]`.
    matrix: Vec<u16>,
    /// Number of children, `[node]`.
    children: Vec<u16>,
    /// `[state]`; `None` if states are not tied to numbers of children.
    arity: Option<Vec<u16>>,
    /// The leaf of each position of a string, from left to right.
    places: Vec<u16>,
    /// Nodes that are open at once.
    depth: usize,
}

impl Tree {
    /// Returns whether strings have the tree's order.
    fn in_order(&self) -> bool {
        self.places.iter().enumerate().all(|(position, &place)| position == usize::from(place))
    }
}

impl Law {
    /// The hidden model of a kernel, in `f32`.
    pub(super) fn rounded(model: &MarginalModel) -> Result<Self, DeployError> {
        let bad = |error: crate::kernel::marginal::ModelError| {
            DeployError::Models(format!("{}: {error}", model.name()))
        };
        model.validate().map_err(bad)?;
        let tables = |tables: &[Vec<Vec<f64>>]| {
            tables.iter().map(|table| rows("kernel model", table)).collect::<Result<_, _>>()
        };
        match model {
            MarginalModel::HiddenBinomial(binomial) => Ok(Self::Binomial(Binomial {
                tables: tables(&binomial.tables().map_err(bad)?)?,
                shared: binomial.shared.is_some(),
                states: model.states(),
            })),
            MarginalModel::PairHmm(pair) => {
                let PairHmmModel { emission, empty, .. } = pair;
                let ReducedPair { initial, transition, initial_end, end } =
                    pair.reduced().map_err(bad)?;
                Ok(Self::Pair(Pair {
                    initial: row("initial", 0, &initial)?,
                    transition: rows("transition", &transition)?,
                    emission: rows("emission", emission)?,
                    empty: row("empty", 0, empty)?,
                    initial_end: row("end", 0, &[initial_end])?[0],
                    end: row("end", 1, &end)?,
                }))
            }
            MarginalModel::HiddenTree(tree) => Self::of_tree(tree, false, bad),
            MarginalModel::PrunedTree(tree) => Self::of_tree(tree, true, bad),
            _ => Err(DeployError::Models(format!(
                "the {} kernel is stored with its hidden Markov models",
                model.name()
            ))),
        }
    }

    fn of_tree(
        tree: &TreeKernelModel,
        pruned: bool,
        bad: impl Fn(crate::kernel::marginal::ModelError) -> DeployError,
    ) -> Result<Self, DeployError> {
        let plan = tree.plan().map_err(&bad)?;
        let children = tree.tree().map_err(&bad)?.children().to_vec();
        let shape = TreeShape::new(&children)
            .map_err(|error| DeployError::Models(format!("the tree: {error}")))?;
        let mut places = vec![0; plan.position.len()];
        for (leaf, &position) in plan.position.iter().enumerate() {
            places[position] = u16::try_from(leaf).map_err(|_| {
                DeployError::Models("the tree has more than 65 535 leaves; cut it".to_owned())
            })?;
        }
        let depth = shape.depth();
        Ok(Self::Tree(Tree {
            pruned,
            root: row("root", 0, &plan.root)?,
            transition: plan
                .transition
                .iter()
                .map(|matrix| rows("transition", matrix))
                .collect::<Result<_, _>>()?,
            matrix: plan.matrix,
            children,
            arity: tree.arity.clone(),
            places,
            depth,
        }))
    }

    /// Checks the support vectors against the model.
    pub(super) fn check(
        &self,
        support: &[usize],
        stored: &[Vec<u16>],
        symbols: usize,
    ) -> Result<(), DeployError> {
        let length = match self {
            Self::Binomial(binomial) if !binomial.shared => Some(binomial.tables.len()),
            Self::Binomial(_) => stored.first().map(Vec::len),
            Self::Pair(_) => None,
            Self::Tree(tree) => Some(tree.places.len()),
        };
        for (&item, string) in support.iter().zip(stored) {
            if string.iter().any(|&symbol| usize::from(symbol) >= symbols) {
                return Err(DeployError::Impossible(item));
            }
            if let Some(wanted) = length.filter(|&wanted| string.len() != wanted) {
                let part = format!("items [{item}]");
                return Err(DeployError::Shape { part, found: string.len(), wanted });
            }
        }
        Ok(())
    }

    /// A string as the kernel stores it: of a tree, in the order of its leaves.
    pub(super) fn in_its_order(&self, string: &[u16]) -> Vec<u16> {
        let mut stored = string.to_vec();
        if let Self::Tree(tree) = self {
            for (&place, &symbol) in tree.places.iter().zip(string) {
                stored[usize::from(place)] = symbol;
            }
        }
        stored
    }

    /// Name of the kernel.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Binomial(_) => "hidden binomial",
            Self::Pair(_) => "pair hidden Markov model",
            Self::Tree(Tree { pruned: false, .. }) => "hidden tree",
            Self::Tree(_) => "pruned tree",
        }
    }

    /// Number of hidden states.
    pub(super) fn states(&self) -> usize {
        match self {
            Self::Binomial(binomial) => binomial.states,
            Self::Pair(pair) => pair.initial.len(),
            Self::Tree(tree) => tree.root.len(),
        }
    }
}
