use fishweir_core::filter::Stream;
use fishweir_core::kernel::{HiddenTree, PrunedTree, TreeModel, TreeShape};
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::doubles;
use fishweir::kernel::marginal::MarginalModel;

use super::kernel::{Slack, after, all, compare_kernel};
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use super::through_host;
use super::tree::Tree as Value;
use crate::build::kernels::tree;
use crate::oracle::Tree;

/// The hidden tree kernel, and its sum over pruned trees.
pub(super) struct Trees;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    children: Vec<Vec<usize>>,
    leaf_of_position: Vec<usize>,
    root_prior: Row,
    transition: Vec<Matrix>,
    state_arity: Option<Vec<u16>>,
    s: Vec<usize>,
    t: Vec<usize>,
    /// The worked example's parameters: all three, or none.
    epsilon: Option<f64>,
    delta: Option<f64>,
    tau: Option<f64>,
}

impl Inputs {
    /// The tree, and the leaf of each position.
    pub(super) fn plain(self) -> (Tree, Vec<usize>) {
        let tree = Tree {
            children: self.children,
            root: self.root_prior,
            transition: self.transition,
            arity: self.state_arity,
        };
        (tree, self.leaf_of_position)
    }
}

/// Sizes that the tests are compiled for.
const STATES: usize = 8;
const CHILDREN: usize = 8;
const DEPTH: usize = 1024;

impl Kind for Trees {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let example = match (inputs.epsilon, inputs.delta, inputs.tau) {
            (Some(epsilon), Some(delta), Some(tau)) => {
                let [epsilon, delta, tau] = [epsilon, delta, tau].map(T::from_f64);
                Some(TreeModel::binary(epsilon, delta, tau).map_err(|error| error.to_string())?)
            }
            (None, None, None) => None,
            _ => return Err("`epsilon`, `delta` and `tau`, or none of them".into()),
        };
        let plain = Tree {
            children: inputs.children,
            root: inputs.root_prior,
            transition: inputs.transition,
            arity: inputs.state_arity,
        };
        if T::ROUNDING == 0.0 {
            let [s, t] = [&inputs.s, &inputs.t];
            let model = through_host::tree(&plain, &inputs.leaf_of_position)?;
            let hidden = MarginalModel::HiddenTree(model.clone());
            let log = through_host::log_kernel(&hidden, s, t)?;
            let slack = Slack::new(T::ROUNDING, 0.0, log);
            compare_kernel(comparison, log, slack);
            let sum = through_host::log_kernel(&MarginalModel::PrunedTree(model), s, t)?.exp();
            comparison.field("pruned_sum", sum, slack.value());
        }
        let most = plain.children.iter().map(Vec::len).max().unwrap_or(0);
        if let [_] = &plain.transition[..] {
            let case = Strung::new(&plain, &inputs.leaf_of_position, &inputs.s, &inputs.t)?;
            let model = tree::<T, STATES, 1>(&plain)?;
            case.check(&model, comparison)?;
            if let Some(model) = example {
                // The same once more, by the two lines of the worked example.
                case.kernel(&model, comparison)?;
            }
            return Ok(());
        }
        if most > plain.transition.len() {
            return Err("a node with more children than there are transitions".into());
        }
        let case = Strung::new(&plain, &inputs.leaf_of_position, &inputs.s, &inputs.t)?;
        case.check(&tree::<T, STATES, CHILDREN>(&plain)?, comparison)
    }
}

/// A tree with two strings of its leaves, from left to right.
struct Strung<'a> {
    plain: &'a Tree,
    s: Vec<usize>,
    t: Vec<usize>,
}

impl<'a> Strung<'a> {
    fn new(plain: &'a Tree, positions: &[usize], s: &[usize], t: &[usize]) -> Result<Self, String> {
        let (_, leaves) = plain.code(0);
        let order = |string: &[usize]| -> Result<Vec<usize>, String> {
            if string.len() != positions.len() || positions.len() != leaves.len() {
                return Err("a string that is not as long as the tree has leaves".into());
            }
            let place = |leaf| positions.iter().position(|position| position == leaf);
            leaves
                .iter()
                .map(|leaf| Ok(string[place(leaf).ok_or("a leaf without a position")?]))
                .collect()
        };
        Ok(Self { plain, s: order(s)?, t: order(t)? })
    }

    fn slack<T: Precise>(&self, log: f64) -> Slack {
        let nodes = self.plain.children.len() as f64;
        Slack::new(T::ROUNDING, nodes * (STATES + 8) as f64, log)
    }

    fn kernel<T: Precise, const P: usize, const J: usize>(
        &self,
        model: &TreeModel<T, P, J>,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        let log = self.log::<T, P, J>(model, &self.s, all(&self.t))?;
        let slack = self.slack::<T>(log);
        compare_kernel(comparison, log, slack);
        Ok(())
    }

    fn log<'x, T: Precise, const P: usize, const J: usize>(
        &self,
        model: &TreeModel<T, P, J>,
        s: &[usize],
        t: impl Iterator<Item = Option<&'x usize>>,
    ) -> Result<f64, String> {
        let (code, _) = self.plain.code(0);
        let shape = TreeShape::new(&code).map_err(|error| error.to_string())?;
        let kernel = HiddenTree::<_, _, DEPTH>::of(model, shape, s);
        let log = after(kernel.map_err(|error| error.to_string())?, t)?;
        Ok(log.ok_or("a string shorter than the tree")?.to_f64())
    }

    fn check<T: Precise, const J: usize>(
        &self,
        model: &TreeModel<T, STATES, J>,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        self.kernel(model, comparison)?;
        // A string against one of which nothing is known is its own probability.
        let alone = |s: &[usize]| self.log(model, s, s.iter().map(|_| None));
        let (prob_s, prob_t) = (alone(&self.s)?, alone(&self.t)?);
        let slack = self.slack::<T>(prob_s.max(prob_t));
        comparison.field("prob_s", prob_s.exp(), slack.value());
        comparison.field("prob_t", prob_t.exp(), slack.value());
        let degenerate = if self.s == self.t { prob_s.exp() } else { 0.0 };
        let name = "literal_degenerate";
        comparison.field(name, degenerate, slack.value());
        let values = self.node_values(model)?;
        comparison.field("node_values", values, slack.value());
        self.pruned(model, comparison)
    }

    /// `k[v][a]`: the kernel of the subtree, given the state of its root.
    fn node_values<T: Precise, const J: usize>(
        &self,
        model: &TreeModel<T, STATES, J>,
    ) -> Result<Vec<Value>, String> {
        let (_, leaves) = self.plain.code(0);
        let mut values = Vec::new();
        for (v, children) in self.plain.children.iter().enumerate() {
            // Of a tree of hundreds of nodes the file has no values.
            if children.is_empty() || self.plain.children.len() > 100 {
                values.push(Value::Undefined);
                continue;
            }
            let (code, below) = self.plain.code(v);
            let pick = |string: &[usize]| -> Vec<usize> {
                let known = leaves.iter().zip(string);
                known.filter(|(leaf, _)| below.contains(leaf)).map(|(_, &symbol)| symbol).collect()
            };
            let shape = TreeShape::new(&code).map_err(|error| error.to_string())?;
            let s = pick(&self.s);
            let kernel = HiddenTree::<_, _, DEPTH>::of(model, shape, &s);
            let kernel = kernel.map_err(|error| error.to_string())?;
            let mut stream = Stream::new(kernel);
            stream.push_block(&pick(&self.t)).map_err(|error| error.to_string())?;
            let row = kernel.at_root(stream.state()).ok_or("a string shorter than the tree")?;
            let states = self.plain.root.len();
            let row: Row = doubles(&row[..states]).into_iter().map(f64::exp).collect();
            values.push(row.into());
        }
        Ok(values)
    }

    fn pruned<T: Precise, const J: usize>(
        &self,
        model: &TreeModel<T, STATES, J>,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        let (code, _) = self.plain.code(0);
        let shape = TreeShape::new(&code).map_err(|error| error.to_string())?;
        let kernel = PrunedTree::<_, _, DEPTH>::of(model, shape, &self.s);
        let pruned = after(kernel.map_err(|error| error.to_string())?, all(&self.t))?;
        let pruned = pruned.ok_or("a string shorter than the tree")?;
        let [sum, count, mean] =
            [pruned.log_sum, pruned.log_count, pruned.log_mean].map(|log| log.to_f64());
        let slack = self.slack::<T>(sum.min(mean));
        comparison.field("pruned_sum", sum.exp(), slack.value());
        comparison.field("pruned_count", count.exp(), slack.value());
        comparison.field("pruned_mean", mean.exp(), slack.value());
        Ok(())
    }
}
