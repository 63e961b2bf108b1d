//! An I2C bus, a clock and an output at the other end of a serial port: a sensor that somebody simulates
//! there is read by the very code that reads one on the board.
//!
//! Device to host, little-endian:
//!
//! | record | bytes | answered by |
//! |---|---|---|
//! | transaction | `T`, address, number of parts; each part `W`, `u16` length, the bytes written, or `R`, `u16` length | a status; after [`OK`](Status::OK) all bytes read |
//! | delay | `D`, `u32` nanoseconds | nothing: the other end lets so much time pass |
//! | output | `O`, `u16` length, the bytes | nothing |
//!
//! The status is one byte, see [`Status`]. Transactions and delays come in the order in which they
//! happen, so that time at the other end is the device's and every run is the same.

use core::cell::{Cell, RefCell};
use core::fmt;

use embedded_hal::delay::DelayNs;
use embedded_hal::i2c::{self, ErrorKind, I2c, NoAcknowledgeSource, Operation};
use embedded_io::{ErrorType, Read, Write};

/// Status of a transaction: the first byte of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Status(pub u8);

impl Status {
    /// Done; the bytes read follow.
    pub const OK: Self = Self(0);
    /// The address was not acknowledged.
    pub const NO_ADDRESS: Self = Self(1);
    /// A byte written was not acknowledged.
    pub const NO_DATA: Self = Self(2);
    /// The bus failed.
    pub const BUS: Self = Self(3);
    /// Status after the end: there is no bus any more.
    pub const ENDED: Self = Self(0xFF);
}

/// Reason why a transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BridgeError {
    /// The other end reports this status.
    Status(Status),
    /// The serial port failed, or its bytes make no sense; the bridge is down for good.
    Broken,
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(Status(status)) => write!(f, "bridged bus: status {status}"),
            Self::Broken => f.write_str("the bridge's serial port failed"),
        }
    }
}

impl core::error::Error for BridgeError {}

impl i2c::Error for BridgeError {
    fn kind(&self) -> ErrorKind {
        match *self {
            Self::Status(Status::NO_ADDRESS) => {
                ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address)
            }
            Self::Status(Status::NO_DATA) => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Data),
            Self::Status(Status::BUS) => ErrorKind::Bus,
            Self::Status(_) | Self::Broken => ErrorKind::Other,
        }
    }
}

impl embedded_io::Error for BridgeError {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::Other
    }
}

/// A serial port that stands for a bus, a clock and an output.
#[derive(Debug)]
pub struct Bridge<S> {
    serial: RefCell<S>,
    /// Reason why it was closed.
    closed: Cell<Option<BridgeError>>,
}

impl<S: Read + Write> Bridge<S> {
    /// A bridge over a serial port that carries nothing else.
    pub const fn new(serial: S) -> Self {
        Self { serial: RefCell::new(serial), closed: Cell::new(None) }
    }

    /// Returns whether the other end still has a bus.
    pub fn is_open(&self) -> bool {
        self.closed.get().is_none()
    }

    /// Checks that the bridge is open, or was closed by the other end.
    ///
    /// # Errors
    /// [`BridgeError::Broken`] if the serial port failed.
    pub fn check(&self) -> Result<(), BridgeError> {
        match self.closed.get() {
            Some(BridgeError::Broken) => Err(BridgeError::Broken),
            _ => Ok(()),
        }
    }

    /// The bus.
    pub const fn i2c(&self) -> BridgedI2c<'_, S> {
        BridgedI2c(self)
    }

    /// The clock.
    pub const fn delay(&self) -> BridgedDelay<'_, S> {
        BridgedDelay(self)
    }

    /// The output.
    pub const fn output(&self) -> BridgedOutput<'_, S> {
        BridgedOutput(self)
    }

    /// Does something with the serial port. A failure is final: its place in a record is unknown.
    fn with<T>(
        &self,
        work: impl FnOnce(&mut S) -> Result<T, BridgeError>,
    ) -> Result<T, BridgeError> {
        if let Some(error) = self.closed.get() {
            return Err(error);
        }
        let outcome = work(&mut self.serial.borrow_mut());
        if let Err(error @ (BridgeError::Broken | BridgeError::Status(Status::ENDED))) = outcome {
            self.closed.set(Some(error));
        }
        outcome
    }
}

fn send<S: Write>(serial: &mut S, bytes: &[u8]) -> Result<(), BridgeError> {
    serial.write_all(bytes).map_err(|_| BridgeError::Broken)
}

fn flush<S: Write>(serial: &mut S) -> Result<(), BridgeError> {
    serial.flush().map_err(|_| BridgeError::Broken)
}

fn receive<S: Read>(serial: &mut S, bytes: &mut [u8]) -> Result<(), BridgeError> {
    serial.read_exact(bytes).map_err(|_| BridgeError::Broken)
}

fn length(bytes: &[u8]) -> Result<[u8; 2], BridgeError> {
    u16::try_from(bytes.len()).map(u16::to_le_bytes).map_err(|_| BridgeError::Broken)
}

/// The bus of a [`Bridge`].
#[derive(Debug)]
pub struct BridgedI2c<'a, S>(&'a Bridge<S>);

impl<S> i2c::ErrorType for BridgedI2c<'_, S> {
    type Error = BridgeError;
}

impl<S: Read + Write> I2c for BridgedI2c<'_, S> {
    fn transaction(&mut self, address: u8, parts: &mut [Operation<'_>]) -> Result<(), BridgeError> {
        self.0.with(|serial| {
            let count = u8::try_from(parts.len()).map_err(|_| BridgeError::Broken)?;
            send(serial, &[b'T', address, count])?;
            for part in &*parts {
                match part {
                    Operation::Write(bytes) => {
                        send(serial, b"W")?;
                        send(serial, &length(bytes)?)?;
                        send(serial, bytes)?;
                    }
                    Operation::Read(buffer) => {
                        send(serial, b"R")?;
                        send(serial, &length(buffer)?)?;
                    }
                }
            }
            flush(serial)?;
            let mut status = [0];
            receive(serial, &mut status)?;
            let [status] = status.map(Status);
            if status != Status::OK {
                return Err(BridgeError::Status(status));
            }
            for part in parts {
                if let Operation::Read(buffer) = part {
                    receive(serial, buffer)?;
                }
            }
            Ok(())
        })
    }
}

/// The clock of a [`Bridge`]: the time that it waits passes at the other end.
#[derive(Debug)]
pub struct BridgedDelay<'a, S>(&'a Bridge<S>);

impl<S: Read + Write> DelayNs for BridgedDelay<'_, S> {
    fn delay_ns(&mut self, ns: u32) {
        // What fails here fails again at the next transaction, which can say so.
        let _ = self.0.with(|serial| {
            send(serial, b"D")?;
            send(serial, &ns.to_le_bytes())?;
            flush(serial)
        });
    }
}

/// The output of a [`Bridge`].
#[derive(Debug)]
pub struct BridgedOutput<'a, S>(&'a Bridge<S>);

impl<S> ErrorType for BridgedOutput<'_, S> {
    type Error = BridgeError;
}

impl<S: Read + Write> Write for BridgedOutput<'_, S> {
    /// Writes also after the other end has ended the conversation: the last words are for it.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, BridgeError> {
        self.0.check()?;
        let bytes = &bytes[..bytes.len().min(usize::from(u16::MAX))];
        let mut serial = self.0.serial.borrow_mut();
        send(&mut *serial, b"O")?;
        send(&mut *serial, &length(bytes)?)?;
        send(&mut *serial, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), BridgeError> {
        flush(&mut *self.0.serial.borrow_mut())
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use embedded_io::ErrorKind as IoErrorKind;

    use super::*;

    /// Port with prepared answers, which records what is written.
    #[derive(Default)]
    struct Port {
        answers: Vec<u8>,
        told: Vec<u8>,
    }

    impl ErrorType for Port {
        type Error = IoErrorKind;
    }

    impl Read for Port {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, IoErrorKind> {
            let length = self.answers.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.answers[..length]);
            self.answers.drain(..length);
            Ok(length)
        }
    }

    impl Write for Port {
        fn write(&mut self, bytes: &[u8]) -> Result<usize, IoErrorKind> {
            self.told.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<(), IoErrorKind> {
            Ok(())
        }
    }

    fn bridge(answers: &[u8]) -> Bridge<Port> {
        Bridge::new(Port { answers: answers.to_vec(), told: Vec::new() })
    }

    fn told(bridge: &Bridge<Port>) -> Vec<u8> {
        bridge.serial.borrow().told.clone()
    }

    #[test]
    fn transactions_delays_and_output_lie_on_the_wire_as_documented() {
        let bridge = bridge(&[0, 0xAA, 0xBB, 0]);
        let mut read = [0; 2];
        bridge.i2c().write_read(0x19, &[0xA8], &mut read).expect("acknowledged");
        assert_eq!(read, [0xAA, 0xBB]);
        bridge.delay().delay_ms(2);
        bridge.i2c().write(0x19, &[0x20, 0x47]).expect("acknowledged");
        bridge.output().write_all(b"hi").expect("open");
        let expected = [
            &b"T\x19\x02W\x01\0\xA8R\x02\0"[..],
            b"D\x80\x84\x1E\0",
            b"T\x19\x01W\x02\0\x20\x47",
            b"O\x02\0hi",
        ];
        assert_eq!(told(&bridge), expected.concat());
    }

    #[test]
    fn a_refusal_is_the_sensors_and_the_next_transaction_is_heard() {
        let bridge = bridge(&[1, 2, 3, 0, 7]);
        let kind = |_| i2c::Error::kind(&bridge.i2c().write(0x19, &[]).expect_err("refused"));
        assert_eq!(kind(1), ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address));
        assert_eq!(kind(2), ErrorKind::NoAcknowledge(NoAcknowledgeSource::Data));
        assert_eq!(kind(3), ErrorKind::Bus);
        let mut byte = [0];
        bridge.i2c().read(0x19, &mut byte).expect("acknowledged");
        assert_eq!((byte, bridge.is_open()), ([7], true));
    }

    #[test]
    fn the_other_end_may_end_it_and_still_hear_the_last_words() {
        let bridge = bridge(&[0xFF, 0]);
        let ended = BridgeError::Status(Status::ENDED);
        assert_eq!(bridge.i2c().write(0x19, &[]), Err(ended));
        assert_eq!(bridge.i2c().write(0x19, &[]), Err(ended), "nothing is sent any more");
        assert_eq!((bridge.is_open(), bridge.check()), (false, Ok(())));
        bridge.output().write_all(b"done").expect("heard");
        assert_eq!(told(&bridge), b"T\x19\x01W\0\0O\x04\0done");
    }

    #[test]
    fn a_port_that_fails_breaks_the_bridge_for_good() {
        let bridge = bridge(&[0, 1]);
        let mut read = [0; 2];
        assert_eq!(bridge.i2c().read(0x19, &mut read), Err(BridgeError::Broken));
        assert_eq!((bridge.is_open(), bridge.check()), (false, Err(BridgeError::Broken)));
        assert_eq!(bridge.output().write(b"x"), Err(BridgeError::Broken));
    }
}
