//! Warnings: what a modeller would want to know of the data before they are learnt.

pub(crate) mod channels;
pub(crate) mod faults;
