//! Kernels by marginalisation at run-time sizes: `k(s, t) = sum_h P(h) P(s | h) P(t | h)`.
//!
//! The recursions are the [core's](fishweir_core::kernel): models are padded to the sizes that it is
//! compiled for with states that cannot be reached and symbols that do not occur, which changes no bit
//! of `log k`. Rows of a [`LogGram`](super::LogGram) are computed in parallel, one stream against many stored
//! sequences. Everything is in logarithms until kernels are normalised, so that no length underflows.
//!
//! # A model's file
//!
//! TOML: one table, which is named after the kernel. Probabilities are rows of numbers that sum to one.
//! `alphabet` is `"dna"`, `"rna"`, `"protein"`, `"binary"`, or the symbols in order, words with `\n` between them.
//!
//! | table | compares | entries |
//! |---|---|---|
//! | `[marginalisation]` | sequences of any lengths | `alphabet` or `channels`; `prior`; a `[[marginalisation.model]]` each, as `hmm` below |
//! | `[hidden-binomial]` | strings of one length | `alphabet`; `shared.prior`, `shared.emission[state][symbol]`, or a `[[hidden-binomial.position]]` each |
//! | `[fixed-length]` | sequences of one length | `alphabet` or `channels`; `hmm.initial`, `hmm.transition[from][to]`, `hmm.emission.categorical.probability[state][symbol]` or `hmm.emission.gaussian.mean` and `.std`, `[state][channel]` |
//! | `[pair-hmm]` | strings of any lengths | `alphabet`, `initial`, `transition[from][to]`, `emission[state][symbol]`, `empty[state]`; `end = "anywhere"`, `end.emitting = 2`, or `end.silent = { initial = 0.0, state = [...] }` |
//! | `[hidden-tree]` | strings of a tree's leaves | `alphabet`, whose symbols are the states; `newick` or `newick_file`; `leaves`, the names in a string's order [the tree's, left to right]; `root[state]`; one of `transition[from][to]`, `transition_of_child[child][from][to]` and `substitution`; `arity[state]` [states are not tied] |
//! | `[pruned-tree]` | the same | the same |
//!
//! `substitution` makes a branch's transition probabilities from its length: `gain-loss = { gain = 0.5,
//! loss = 0.25 }` or `equal-rates = { rate = 1.0 }`; see [`Substitution`]. `root` is then its
//! stationary distribution, unless it is given. Files of all six are in `host/docs/kernels/`.
//!
//! ```
//! use fishweir::data::SamplesView;
//! use fishweir::kernel::marginal::MarginalModel;
//!
//! let model = MarginalModel::parse("profiles.toml", r#"
//!     [hidden-tree]
//!     alphabet = "binary"
//!     newick = "((human:0.1,mouse:0.1):0.2,fly:0.5);"
//!     substitution.gain-loss = { gain = 0.5, loss = 1.0 }
//! "#)?;
//! let profiles = [[Some(1), Some(1), Some(0)], [Some(1), None, Some(0)], [Some(0), Some(0), Some(1)]];
//! let profiles = profiles.each_ref().map(|profile| SamplesView::Symbols(profile));
//! let gram = model.log_gram(&profiles)?.normalised();
//! assert_eq!(gram.get(0, 0), 1.0);
//! assert!(gram.get(0, 1) > gram.get(0, 2));
//! # Ok::<(), fishweir::kernel::marginal::MarginalError>(())
//! ```

mod aligned;
mod check;
mod error;
mod model;
mod newick;
mod pair;
mod room;
mod rows;
mod set;
mod substitution;
mod tree;

pub use aligned::{FixedLengthModel, HiddenBinomialModel, HiddenState};
pub use error::{ItemError, MarginalError, ModelError};
pub use model::MarginalModel;
pub(crate) use model::as_text;
pub use newick::{Newick, NewickError};
pub(crate) use pair::ReducedPair;
pub use pair::{PairEnd, PairHmmModel};
pub use room::Heap;
pub use set::FiniteSetModel;
pub use substitution::Substitution;
pub use tree::TreeKernelModel;
