//! Profile hidden Markov models of sequence families: from an alignment or a HMMER3 file, to scores,
//! domains, alignments and Fisher scores.
//!
//! ```text
//! Alignment --Build--> Profile --SearchProfile::new--> SearchProfile --score, search--> bits, domains
//!                        ^  |                              |
//!            HMMER3/f ---+  +-- score <-- Expectations <---+-- best_path, draw_paths
//! ```
//!
//! The recursion is the core's ([`fishweir_core::profile_hmm`]), at run-time size: what is scored here is what
//! a device scores.

mod align;
mod alignment;
mod build;
mod classifier;
mod domains;
mod error;
mod features;
mod hmmer;
mod lanes;
mod model;
mod path;
mod posterior;
mod prior;
mod residues;
mod score;
mod search;
mod train;

pub use align::{Aligned, aligned, stockholm};
pub use alignment::{Alignment, sequences};
pub use build::{Build, Effective, position_weights};
pub use classifier::{ProfileClassifier, ProfileLearner};
pub use domains::{Domain, Hit};
pub use error::ProfileError;
pub use features::MatchFeatures;
pub use model::{Note, Profile, to};
pub use path::{Path, Segment, State};
pub use posterior::Expectations;
pub use prior::{Dirichlets, ProfilePrior};
pub use residues::{AMINO, DNA, RNA, Residues};
pub use score::ProfileScore;
pub use search::{Mode, SearchProfile};
pub use train::{ProfileFit, Trained};
