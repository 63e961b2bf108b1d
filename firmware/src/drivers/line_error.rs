//! Errors of the line that a serial port can report.

use core::fmt;

use embedded_io::ErrorKind;

/// Error of a received byte. A driver knows those that its hardware distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LineError {
    /// A received byte was lost: those before it had not been read yet.
    Overrun,
    /// The line was low for longer than a byte takes.
    Break,
    /// A stop bit was low: another rate, or noise.
    Framing,
    /// The parity bit does not fit.
    Parity,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overrun => "serial port: overrun, a byte was lost",
            Self::Break => "serial port: break",
            Self::Framing => "serial port: framing error, a byte is not what was sent",
            Self::Parity => "serial port: parity error, a byte is not what was sent",
        })
    }
}

impl core::error::Error for LineError {}

impl embedded_io::Error for LineError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Overrun => ErrorKind::Other,
            Self::Break | Self::Framing | Self::Parity => ErrorKind::InvalidData,
        }
    }
}
