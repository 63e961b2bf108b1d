//! Oracles: slow, obvious, in `f64`, and independent of the recursions under test. They share the
//! model's numbers with them and nothing else.
//!
//! | oracle | says | cost |
//! |---|---|---|
//! | [`Enumeration`] | everything about a sequence, from the definition | `T N^T` |
//! | [`LogDomain`] | forward, backward, posteriors, Viterbi by `log sum exp` | `T N^2` logarithms |
//! | [`PairModel`] | the pair kernel, trajectory by trajectory or length by length | `N^longest` |
//! | [`Tree`] | the tree kernel, labelling by labelling, pruned or not | `P^nodes` |
//! | [`System`] | a linear dynamical system as one dense Gaussian | `(T (N + D))^3` |
//! | [`Joint`] | every record of a Bayesian network with its probability | `prod r_i` |
//! | [`SilentChain`] | a profile, as any sparse chain with silent states | states and edges a symbol |
//! | [`derivative`] | a derivative by central differences | four evaluations |

mod difference;
mod direction;
mod enumeration;
mod hidden_tree;
mod linear;
mod log_domain;
mod model;
mod network;
mod pair;
mod partial;
mod silent_chain;
mod silent_chain_fit;
mod system;

pub use difference::derivative;
pub use direction::{Direction, LawDirection, Parametrisation, Spread};
pub use enumeration::{Enumeration, sequences, words};
pub use hidden_tree::Tree;
pub use linear::{Factored, least_eigenvalue};
pub use log_domain::LogDomain;
pub use model::{Law, Model, Observation, Sequence, log_sum_exp};
pub use network::Joint;
pub use pair::{PairEnd, PairModel};
pub use silent_chain::{ChainError, ChainExpectations, Edge, SilentChain, profile_chain};
pub use silent_chain_fit::ChainScore;
pub use system::{DenseGaussian, System};
