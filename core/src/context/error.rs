use core::fmt;

/// Reason why a set of contexts was refused, with the context at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ContextError {
    /// Another number of contexts than the constant sizes give, or more than 65 535.
    Count {
        /// Contexts there are.
        found: usize,
        /// Contexts there should be, or may be.
        expected: usize,
    },
    /// A symbol outside the alphabet, or a start marker after a symbol.
    Symbol {
        /// The context.
        context: usize,
        /// The position in it.
        position: usize,
    },
    /// A context that is another once more.
    Duplicate {
        /// The context.
        context: usize,
        /// The one it repeats.
        earlier: usize,
    },
    /// Contexts of several lengths, without start markers and without the empty one: the beginning
    /// of a string is undefined.
    NoEmpty {
        /// The first context whose length differs from the one before it.
        context: usize,
    },
    /// No context is a suffix of the past after this symbol in this context: add the empty one.
    NoSuffix {
        /// The context.
        context: usize,
        /// The symbol.
        symbol: usize,
    },
}

impl ContextError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Count { .. } => "wrong-shape",
            Self::Symbol { .. } => "unknown-symbol",
            Self::Duplicate { .. } => "same-context",
            Self::NoEmpty { .. } => "no-empty-context",
            Self::NoSuffix { .. } => "no-suffix",
        }
    }
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { found, expected } => {
                write!(f, "{found} contexts where there is room for {expected}")
            }
            Self::Symbol { context, position } => write!(
                f,
                "context {context}, position {position}: outside the alphabet, or a start marker \
                 after a symbol"
            ),
            Self::Duplicate { context, earlier } => {
                write!(f, "context {context} repeats context {earlier}")
            }
            Self::NoEmpty { context } => write!(
                f,
                "context {context} differs in length from the one before it: contexts of several \
                 lengths need the empty one, or start markers"
            ),
            Self::NoSuffix { context, symbol } => write!(
                f,
                "symbol {symbol} after context {context} leads nowhere: no suffix of the two is a \
                 context; add the empty one"
            ),
        }
    }
}

impl core::error::Error for ContextError {}
