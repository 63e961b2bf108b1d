//! Logging through defmt if the feature is on, and no output if it is off (host tests).

macro_rules! log {
    ($level:ident, $format:literal $(, $value:expr)* $(,)?) => {{
        #[cfg(feature = "defmt")]
        defmt::$level!($format $(, $value)*);
        #[cfg(not(feature = "defmt"))]
        { $( let _ = &$value; )* }
    }};
}

pub(crate) use log;
