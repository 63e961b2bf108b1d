//! Profile hidden Markov models: a family of sequences as a line of positions, each with a state that
//! matches a symbol, one that inserts some, and a silent one that skips the position.
//!
//! ```text
//!              .-------------------- J <-------------------.
//!              v                                           |
//! S -> N ----> B ----> M_1 ----> M_2 ----> ... M_K ------> E ----> C -> T
//!                       I_1       I_2                   (from any M_k, D_k)
//!                            D_2       ... D_K
//! ```
//!
//! `N`, `J` and `C` emit what lies before, between and after the domains, `B` and `E` are where a domain
//! begins and ends. Every weight is *odds*: a probability over the one that the null model gives the same
//! symbol, so that what is read is the log-odds of the stream so far against the null model. Local and
//! glocal search, one domain or many, and the model of the length are nothing but other weights
//! ([`Steps::enter`], [`Steps::exit`], [`Flanks`]).
//!
//! | what | where | size |
//! |---|---|---|
//! | model | flash | `K (A + 9) + 6` weights |
//! | state | RAM | `3 K + 3` numbers, a ledger |
//! | work a symbol | | `10 K` multiplications, `9 K` additions; no division, no logarithm |
//!
//! Silent states form no cycle and are summed in the order of positions as a column is swept, so the
//! recursion needs one column, changed in place.
//!
//! Sources: Krogh, Brown, Mian, Sjolander and Haussler, "Hidden Markov models in computational biology:
//! applications to protein modeling", 1994; Eddy, "Accelerated profile HMM searches", 2011 (the search
//! profile with `N`, `B`, `E`, `J`, `C`).

mod model;
mod search;

pub use model::{Flanks, ProfileHmm, ProfileHmmView, Steps};
pub use search::{Cell, ProfileBelief, ProfileFilter, ProfileSearch, advance, rescale};
