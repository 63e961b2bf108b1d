//! Models whose past is seen: the distribution of the next sample is that of one of `C` contexts, and
//! the past determines which.
//!
//! ```text
//! log p(x_1..T) = sum_t log b_c(t)(x_t)              c(t) a function of x_1..t-1
//! ```
//!
//! A context is to these models what a hidden state is to a hidden Markov model, and any
//! [emission family](crate::emission) serves. What varies is the [rule](ContextRule):
//!
//! | model | rule | contexts |
//! |---|---|---|
//! | [`Independent`]: a density, a mixture of densities | [`Unconditional`] | one |
//! | [`IndependentPositions`]: sequences of one length | [`Positions`] | one per position |
//! | strings that are aligned, of any length; a hidden Markov model whose states follow one another | [`Steps`] | one per position |
//! | [`MarkovString`]: order `k`, with an end, with a padded start, variable-length contexts | [`Automaton`] | the strings of a set |
//!
//! | recursion | reads | state (reals) | work a sample |
//! |---|---|---|---|
//! | [`ContextLikelihood`] | log-likelihood | `1` | one likelihood and a product |
//! | [`ContextLikelihood`] over [`Dual`](crate::number::Dual) weights | and `D` directional derivatives: a linear classifier on the score | `1 + D` | `1 + 2D` products |
//! | [`ContextStatistics`] | sufficient statistics by context, of which the [score](ContextModel::score) is read | `2 C S` | `S` compensated additions |
//!
//! [`ContextTree`] learns which contexts matter while it predicts: the Bayes mixture of all suffix trees (context tree weighting).
//!
//! What is not observed teaches nothing: the samples after a gap are predicted as soon as their
//! context is known again, and the two parts count as two pieces of one stream.
//!
//! Sources: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, examples
//! 12.30 to 12.33; Jaakkola and Haussler, "Exploiting generative models in discriminative
//! classifiers", 1998, equation 11.

mod automaton;
mod error;
mod likelihood;
mod markov;
mod model;
mod positions;
mod rule;
mod statistics;
mod tree;

pub use automaton::{Automaton, AutomatonView, Span, StringEnd, StringHistory};
pub use error::ContextError;
pub use likelihood::{ContextBelief, ContextLikelihood};
pub use markov::{MarkovString, Unnormalised};
pub use model::{ContextModel, Independent};
pub use positions::IndependentPositions;
pub use rule::{ContextRule, Positions, PositionsView, Steps, Unconditional};
pub use statistics::{ContextStatistics, ContextStatisticsState};
pub use tree::{ContextTree, DEEPEST_CONTEXT};
