//! Kernels by marginalisation: `k(s, t) = sum_h P(h) P(s | h) P(t | h)` over hidden models `h`, as
//! accumulators that a stream feeds. One sequence `s` is stored, in flash on the device; the other,
//! `t`, arrives symbol by symbol.
//!
//! `N` states, `M` sequences stored at once, `L` their length.
//!
//! | kernel | hidden model `h` | state (reals) | multiply-adds per symbol |
//! |---|---|---|---|
//! | [`Marginalisation`] | one of `M` hidden Markov models | `M N` | `M N^2` |
//! | [`HiddenBinomial`] | a state per position, independent | `M` | `M` |
//! | [`FixedLength`] | a path of a Markov chain, aligned with both | `M N` | `M N^2` |
//! | [`FixedLengthNorm`] | the same, of the stream with itself | `N` | `N^2` |
//! | [`PairKernel`] | a trajectory with insertions and deletions | `(L + 1) N` | `L N^2` |
//! | [`PairNorm`] | the same, of the stream with itself, up to `L` symbols | `(L + 1) N` | up to `L N^2` |
//! | [`HiddenTree`] | the states of a tree's internal nodes | `depth N` | `N^2` per node |
//! | [`PrunedTree`] | the same, of every pruned tree | `3 depth N` | `3 N^2` per node |
//!
//! Those against one sequence stand side by side in a [`Bank`]. [`HiddenBinomialNorm`] and [`TreeNorm`] are the kernels of the
//! stream with itself of the others: what normalised kernels are divided by.
//!
//! All read `log k`, and are exact sums of products: scaled by powers of two, they underflow at no
//! length. A kernel of zero is an answer like others, and its logarithm is minus infinity; what is
//! refused is an invalid observation, or one past the end of what is stored. A missing symbol,
//! of either sequence, is summed over.
//!
//! One kernel is of another kind, and reads `k` itself, which may be negative: [`PositionFisher`], the
//! invariant Fisher kernel of sequences whose positions are independent, at a look-up and a compensated
//! addition per stored sequence. A kernel on Fisher scores that is linear in them needs no recursion of its
//! own: it is a direction ([`crate::score`], [`crate::context`]).
//!
//! Between whole models, rather than sequences, are [`ModelPairKernel`] (hidden Markov models, a step a push: `N M`
//! reals, `N M (N + M)` multiply-adds) and, for what a single distribution is, [`ProductKernel`]: the probability
//! product kernel of any power and the mean map of any width ([`Affinity`]).
//!
//! [`Coreset`] keeps `K` items of a stream that stand for all under a kernel with [features](FeatureMap).
//!
//! Sums over conditionally independent products are inner products, so every Gram matrix is positive
//! semi-definite. Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis",
//! 2004, section 12.1.

mod aligned;
mod bank;
mod between;
mod branch_model;
mod coreset;
mod error;
mod fixed_length;
mod fixed_length_norm;
mod hidden_binomial;
mod hidden_tree;
mod leaf_queue;
mod log_kernel;
mod marginalisation;
mod observed;
mod overlap;
mod pair_hmm;
mod pair_kernel;
mod pair_norm;
mod position_fisher;
mod pruned_tree;
mod room;
mod scaled;
mod traversal;
mod tree_law;
mod tree_model;
mod tree_shape;
mod validate;

pub use aligned::Aligned;
pub use bank::{Bank, BankState, LogReading};
pub use between::{ModelPairKernel, log_between};
pub use branch_model::BranchModel;
pub use coreset::{Coreset, CoresetState, DenseFeatures, FeatureMap, KeptItem};
pub use error::KernelError;
pub use fixed_length::FixedLength;
pub use fixed_length_norm::{FixedLengthNorm, NormState};
pub use hidden_binomial::{HiddenBinomial, HiddenBinomialNorm, PairTable};
#[cfg(feature = "heapless")]
pub use hidden_tree::{HiddenTree, HiddenTreeNorm};
pub use leaf_queue::LeafQueue;
pub use log_kernel::LogKernel;
pub(crate) use log_kernel::no_parts;
pub use marginalisation::{Marginalisation, MarginalisationState, log_mixture, log_mixture_norm};
pub use observed::Observed;
pub use overlap::{
    Affinity, Covariance, MOST_COUNTS, Normal, Overlaps, ProductKernel, bernoulli_log_overlap,
    categorical_log_overlap, gaussian_log_overlap, mixture_log_overlap, poisson_log_overlap,
};
pub use pair_hmm::{End, PairHmm};
pub use pair_kernel::{Column, PairKernel};
pub use pair_norm::{PairNorm, PairNormState};
pub use position_fisher::{PositionFisher, PositionFisherState};
pub use pruned_tree::Pruned;
#[cfg(feature = "heapless")]
pub use pruned_tree::{PrunedTree, PrunedTreeNorm};
pub use room::{Cells, Stack};
pub use scaled::Scaled;
pub use traversal::{OpenNode, Traversal, TreeKernel, TreeMessage, TreeNorm};
pub use tree_law::{Branch, PruningMessage, TreeMessages, TreeTransition};
pub use tree_model::TreeModel;
pub use tree_shape::TreeShape;
pub use validate::Validate;
