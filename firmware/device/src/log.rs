//! Logging through defmt where the feature is on, and nothing at all where it is off (host tests).

macro_rules! log {
    ($level:ident, $format:literal $(, $value:expr)* $(,)?) => {{
        #[cfg(feature = "defmt")]
        defmt::$level!($format $(, $value)*);
        #[cfg(not(feature = "defmt"))]
        { $( let _ = &$value; )* }
    }};
}

pub(crate) use log;
