//! Kernels of strings of a tree's leaves: hidden tree, and its sum over pruned trees.

use std::collections::HashMap;
use std::path::PathBuf;

use fishweir_core::kernel::{
    BranchModel, KernelError, OpenNode, Pruned, PruningMessage, Scaled, TreeKernel, TreeMessage,
    TreeShape,
};
use serde::{Deserialize, Serialize};

use super::check;
use super::error::{ItemError, ModelError};
use super::newick::Newick;
use super::room::Heap;
use super::rows::{LogRows, Row, Rows, after_symbols, in_parallel, one_length, prepare, symbols};
use super::substitution::Substitution;
use crate::data::{Alphabet, SamplesView};
use crate::runtime::{padded, with_two_sizes};

/// A tree whose inner nodes' hidden states two strings of its leaves share.
///
/// Symbols are states. Equation and cost: [`HiddenTree`](fishweir_core::kernel) and
/// [`PrunedTree`](fishweir_core::kernel). A missing leaf has a likelihood of one. Depth has
/// no bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeKernelModel {
    /// The symbols, which are the states.
    pub alphabet: Alphabet,
    /// The tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newick: Option<Newick>,
    /// Path of the tree, relative to the model's file: [`read`](super::MarginalModel::read) replaces it by the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newick_file: Option<PathBuf>,
    /// The names of the leaves in the order of a string's symbols; the tree's own from left to right
    /// where none are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// Prior of the root, `[state]`; a substitution's stationary distribution where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Vec<f64>>,
    /// Transition probabilities of every branch, `[from][to]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Vec<Vec<f64>>>,
    /// Or of the branches to first children, to second ones, ..., `[child][from][to]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_of_child: Option<Vec<Vec<Vec<f64>>>>,
    /// Or from each branch's length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitution: Option<Substitution>,
    /// The number of children that a node in a state has, `[state]`, where states are tied to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arity: Option<Vec<u16>>,
}

/// The tree of a model, read: branches by matrix, leaves by the string's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// `[matrix][from][to]`.
    pub(crate) transition: Vec<Vec<Vec<f64>>>,
    /// `[node]`.
    pub(crate) matrix: Vec<u16>,
    pub(crate) root: Vec<f64>,
    /// Position in a string, of each leaf from left to right.
    pub(crate) position: Vec<usize>,
}

impl TreeKernelModel {
    pub(crate) fn tree(&self) -> Result<&Newick, ModelError> {
        self.newick.as_ref().ok_or_else(|| {
            let what = "is missing; write the tree (`newick`), or where it is (`newick_file`)";
            ModelError::new("newick", what)
        })
    }

    pub(super) fn validate(&self) -> Result<(), ModelError> {
        let states = self.alphabet.len();
        check::states("alphabet", states)?;
        if let Some(root) = &self.root {
            check::length("root", root.len(), states)?;
            check::distribution("root", root, 0.0)?;
        }
        if let Some(arity) = &self.arity {
            check::length("arity", arity.len(), states)?;
        }
        self.plan().map(|_| ())
    }

    pub(crate) fn plan(&self) -> Result<Plan, ModelError> {
        let states = self.alphabet.len();
        let tree = self.tree()?;
        let (transition, matrix) = match (
            &self.transition,
            &self.transition_of_child,
            &self.substitution,
        ) {
            (Some(one), None, None) => {
                check::matrix("transition", one, (states, states), |_| 0.0)?;
                (vec![one.clone()], vec![0; tree.children().len()])
            }
            (None, Some(several), None) => {
                for (child, one) in several.iter().enumerate() {
                    let entry = format!("transition_of_child[{child}]");
                    check::matrix(&entry, one, (states, states), |_| 0.0)?;
                }
                (several.clone(), by_child(tree, several.len())?)
            }
            (None, None, Some(substitution)) => {
                substitution.validate(states)?;
                by_length(tree, substitution, states)?
            }
            _ => {
                return Err(ModelError::new(
                    "transition",
                    "give one of `transition` (the same for every branch), `transition_of_child` and \
                        `substitution` (by branch lengths)",
                ));
            }
        };
        let stationary = || self.substitution.as_ref().map(|one| one.stationary(states));
        let root = self.root.clone().or_else(stationary).ok_or_else(|| {
            ModelError::new("root", "is missing; write the probabilities of the root's states")
        })?;
        Ok(Plan { transition, matrix, root, position: self.positions(tree)? })
    }

    fn positions(&self, tree: &Newick) -> Result<Vec<usize>, ModelError> {
        if self.leaves.is_empty() {
            return Ok((0..tree.leaves().count()).collect());
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (position, name) in self.leaves.iter().enumerate() {
            if places.insert(name, position).is_some() {
                let what = format!("`{name}` is named twice; name each leaf once");
                return Err(ModelError::new(format!("leaves[{position}]"), what));
            }
        }
        let place = |name: &str| {
            places.remove(name).ok_or_else(|| {
                ModelError::new("leaves", format!("the tree's leaf `{name}` is not named; add it"))
            })
        };
        let positions = tree.leaves().map(place).collect::<Result<_, _>>()?;
        match places.keys().min() {
            Some(name) => {
                Err(ModelError::new("leaves", format!("the tree has no leaf `{name}`; remove it")))
            }
            None => Ok(positions),
        }
    }

    /// `log k` of planned rows, by what is computed at a node and read at the root.
    fn rows_of<V: TreeMessage<f64, P> + Send + Sync, const P: usize>(
        &self,
        items: &[SamplesView<'_>],
        plan: &[Row],
        read: impl Fn(V::Reading) -> f64 + Sync,
    ) -> LogRows {
        let tree = self.tree()?;
        let Plan { transition, matrix, root, position } = self.plan()?;
        let leaves = position.len();
        one_length(items, Some((leaves, "as many as the tree has leaves")))?;
        let items = prepare(items, |view| {
            let symbols = symbols(view, self.alphabet.len())?;
            Ok(position.iter().map(|&position| symbols[position]).collect::<Vec<_>>())
        })?;
        // A padded state stays where it is, and has no fitting number of children.
        let transition: Vec<[[f64; P]; P]> =
            transition.iter().map(|one| check::filled_rows(one, check::sure)).collect();
        let refused = |what: &dyn std::fmt::Display| ModelError::new("newick", what.to_string());
        let mut model = BranchModel::new(padded(&root), &transition, &matrix)
            .map_err(|error| refused(&error))?;
        if let Some(arity) = &self.arity {
            let padded = |state| arity.get(state).copied().unwrap_or(u16::MAX);
            model = model.with_arities(std::array::from_fn(padded));
        }
        let shape = TreeShape::new(tree.children()).map_err(|error| refused(&error))?;
        in_parallel(&items, plan, |stream, stored| {
            let one = |stored: &Vec<Option<u16>>| {
                type Kernel<'m, V, const P: usize> =
                    TreeKernel<'m, BranchModel<'m, f64, P>, Option<u16>, Heap<OpenNode<V>>>;
                let kernel = Kernel::<V, P>::of(&model, shape, stored).map_err(ItemError::from)?;
                let short =
                    KernelError::Length { sequence: 0, found: stream.len(), expected: leaves };
                after_symbols(kernel, stream)?.map(&read).ok_or(ItemError::Kernel(short))
            };
            stored.iter().map(one).collect()
        })
    }
}

/// The matrix of each node's branch: its number among its parent's children.
fn by_child(tree: &Newick, matrices: usize) -> Result<Vec<u16>, ModelError> {
    let mut of_node = Vec::with_capacity(tree.children().len());
    // Of each open node, how many children there are and have come.
    let mut open: Vec<(u16, u16)> = Vec::new();
    for (node, &children) in tree.children().iter().enumerate() {
        while open.pop_if(|(all, come)| all == come).is_some() {}
        let child = open.last_mut().map_or(0, |(_, come)| {
            *come += 1;
            *come - 1
        });
        of_node.push(child);
        if usize::from(children) > matrices {
            let what = format!(
                "has {matrices} matrices, and {} has {children} children; write one per child",
                tree.called(node)
            );
            return Err(ModelError::new("transition_of_child", what));
        }
        if children > 0 {
            open.push((children, 0));
        }
    }
    Ok(of_node)
}

/// The matrices of all lengths that occur, and each node's.
#[expect(clippy::type_complexity, reason = "matrices, and which is whose")]
fn by_length(
    tree: &Newick,
    substitution: &Substitution,
    states: usize,
) -> Result<(Vec<Vec<Vec<f64>>>, Vec<u16>), ModelError> {
    let mut known: HashMap<u64, u16> = HashMap::new();
    let mut transition = Vec::new();
    // Nothing leads to the root.
    let mut of_node = vec![0];
    for node in 1..tree.children().len() {
        let length = tree.length(node).ok_or_else(|| {
            let what = format!(
                "the branch to {} has no length, which `substitution` needs; write one after `:`",
                tree.called(node)
            );
            ModelError::new("newick", what)
        })?;
        let index = match known.get(&length.to_bits()) {
            Some(&index) => index,
            None => {
                let index = u16::try_from(transition.len()).map_err(|_| {
                    ModelError::new("newick", "has more than 65536 different branch lengths")
                })?;
                known.insert(length.to_bits(), index);
                transition.push(substitution.transition(length, states));
                index
            }
        };
        of_node.push(index);
    }
    Ok((transition, of_node))
}

/// The kernel over all labellings of the inner nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hidden<'m>(pub(super) &'m TreeKernelModel);

/// The kernel summed over all pruned trees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pruning<'m>(pub(super) &'m TreeKernelModel);

impl Rows for Hidden<'_> {
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        with_two_sizes!(self.0.alphabet.len(), P => {
            self.0.rows_of::<Scaled<f64, P>, P>(items, plan, |log| log)
        })
    }
}

impl Rows for Pruning<'_> {
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        with_two_sizes!(self.0.alphabet.len(), P => {
            let sum = |pruned: Pruned<f64>| pruned.log_sum;
            self.0.rows_of::<PruningMessage<f64, P>, P>(items, plan, sum)
        })
    }
}
