use std::fmt;

use serde::Serialize;

use super::{counted, grouped};

/// How a table was read a chunk at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutOfCoreSummary {
    /// Series of the random sample by which choices were made and notes given.
    pub sampled: usize,
    /// The most memory that the program has held so far, in bytes; null where the system does not tell.
    pub peak_bytes: Option<u64>,
    /// Parts of the report that need all windows at a time.
    pub left_out: Vec<String>,
}

impl fmt::Display for OutOfCoreSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sampled, peak_bytes, left_out } = self;
        write!(f, "read in chunks, with a random sample of {}", counted(*sampled, "series"))?;
        if let Some(bytes) = peak_bytes {
            write!(f, "; {} kB of memory at most", grouped(bytes.div_ceil(1_000) as usize))?;
        }
        if !left_out.is_empty() {
            write!(f, "; left out: {}", left_out.join(", "))?;
        }
        Ok(())
    }
}
