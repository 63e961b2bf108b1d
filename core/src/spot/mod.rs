//! Spotting: where in a continuous stream events begin and end, and of which class they are.
//!
//! Models of classes and one of the background are joined into one hidden Markov model, and decoded by
//! Viterbi's recursion as the stream runs. A decision needs no window and no reset:
//!
//! ```text
//!              entry_c initial_c              exit_c initial_background
//! background --------------------> class c --------------------------> background
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Spotter`] | the joined network: model and recursion |
//! | [`SpotState`] | what the past left: survivors, a token each, the background's reference |
//! | [`Event`] | class, first sample, end, log-odds |
//!
//! Memory does not grow with the stream, nor with how long events last: paths are not stored. The
//! survivor in each state carries a *token* instead: where it entered the class it is in, and the few
//! events that it has behind it but that other survivors do not agree on yet.
//!
//! Sources: Wilcox and Bush 1992 and Rose and Paul 1990 (keywords against a background model); Young,
//! Russell and Thornton 1989 (token passing); Sramek, Brejova and Vinar 2007 (survivors that agree).

mod event;
mod model;
mod recursion;
mod token;

pub use event::{Event, Spotted, Undecided};
pub use model::{BACKGROUND, Spotter};
pub use recursion::SpotState;
