//! Items that the library shares with its sibling packages. No part of the library's interface: it may change at any time.

pub use crate::batch::LANES;
pub use crate::classifier::file::{seal, unseal};
pub use crate::data::internals::{Table as TableRows, check_name as check_shown_name};
pub use crate::data::internals::{field, load, unpacked, unpacked_as};
pub use crate::elementary::Elementary;
pub use crate::kernel::gram::inner_product;
pub use crate::learn::selection::choice::{choose_c, inner_folds};
pub use crate::learn::solver::primal::{TOLERANCE, minimise_to};
pub use crate::parallel::each;
pub use crate::words::{is_hidden, shorten};

/// Elements of figures.
pub mod svg {
    pub use crate::plot::svg::{colour, draw_heading, escape, ink, open};
}

pub use fishweir_data::internals::RECORDINGS;
