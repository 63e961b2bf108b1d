//! Spotting: events of a continuous stream, learnt from series that are marked sample by sample.
//!
//! | what | file |
//! |---|---|
//! | [`SpotPlan`]: a spotter from marked series | `plan.rs` |
//! | [`WindowedEvents`]: the same from windows, for comparison | `windowed.rs` |
//! | [`SpotValidation`]: both on series that neither has seen | `validation.rs` |

mod plan;
mod validation;
mod windowed;

pub use plan::{SpotFigures, SpotPlan, SpotTrial, SpottingError};
pub use validation::{SpotFold, SpotValidation, SpotValidationError};
pub use windowed::{WindowedEvents, WindowedEventsError};
