use core::fmt;

use crate::error::{ModelError, ObservationError};

/// Reason why a kernel was refused: the stored sequence, symbol or node at fault, and the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum KernelError {
    /// A flaw of the model.
    Model(ModelError),
    /// A stored symbol that the model does not know.
    Stored {
        /// The stored sequence.
        sequence: usize,
        /// The position in it.
        position: usize,
        /// Fault of the observation.
        error: ObservationError,
    },
    /// A stored sequence whose length differs from that of the others (or of the model, or of the tree).
    Length {
        /// The stored sequence.
        sequence: usize,
        /// Length of the sequence.
        found: usize,
        /// Expected length.
        expected: usize,
    },
    /// A stored sequence, or a tree, that needs more room than the constant sizes give.
    Capacity {
        /// Rows, or levels, needed.
        needed: usize,
        /// Number of nodes that exist.
        available: usize,
    },
    /// A tree's code that ends before the tree does, goes on after it, or has no internal node.
    Tree {
        /// The entry of the code.
        node: usize,
    },
    /// A node with more children than the model has transitions for.
    Arity {
        /// The entry of the code.
        node: usize,
    },
    /// A node to which the model has no transitions.
    Branch {
        /// The entry of the code.
        node: usize,
    },
}

impl From<ModelError> for KernelError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl KernelError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Model(error) => error.kind.kind(),
            Self::Stored { error, .. } => error.kind(),
            Self::Length { .. } => "wrong-length",
            Self::Capacity { .. } => "too-large",
            Self::Tree { .. } | Self::Arity { .. } | Self::Branch { .. } => "bad-tree",
        }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Stored { sequence, position, error } => {
                write!(f, "stored sequence {sequence}, position {position}: {error}")
            }
            Self::Length { sequence, found, expected } => {
                write!(f, "stored sequence {sequence} has {found} symbols where {expected} belong")
            }
            Self::Capacity { needed, available } => {
                write!(f, "{needed} rows are needed where there is room for {available}")
            }
            Self::Tree { node } => {
                write!(f, "node {node} of the tree: a code of arities must end with its tree")
            }
            Self::Arity { node } => {
                write!(
                    f,
                    "node {node} of the tree has more children than the model has transitions"
                )
            }
            Self::Branch { node } => {
                write!(f, "the model has no transitions to node {node} of the tree")
            }
        }
    }
}

impl core::error::Error for KernelError {}
