//! Errors of projects that are not written.

use super::RATES;

/// Reason why a project is not written.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ProjectError {
    /// No such board.
    #[error("there is no board `{name}`; there are {known}")]
    #[strum(serialize = "unknown-board")]
    NoBoard {
        /// Requested name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A folder of a board that is not in order.
    #[error(transparent)]
    #[strum(serialize = "bad-board")]
    BoardFile(#[from] Box<crate::device::BoardError>),
    /// A chip that no family has, or memories that are not two.
    #[error(transparent)]
    Chip(#[from] Box<crate::device::ChipError>),
    /// A pin that the board does not have, or what is no name of one.
    #[error(
        "pin {name}={pin}: on {board} it is the name of one of these, and what its packages call it, like led=PA5: {known}"
    )]
    #[strum(serialize = "bad-pin")]
    Pin {
        /// Name of the pin.
        name: String,
        /// What it was to be.
        pin: String,
        /// The board.
        board: &'static str,
        /// Names of pins that there are.
        known: String,
    },
    /// A board that keeps no models which come over a line.
    #[error("{board} keeps no updates: {what}; take another board, or --application sensor")]
    #[strum(serialize = "no-slots")]
    NoSlots {
        /// The board.
        board: &'static str,
        /// Reason.
        what: &'static str,
    },
    /// A model that no update replaces.
    #[error("no update replaces this model: {what}; --application sensor runs it")]
    #[strum(serialize = "no-update")]
    NoUpdate {
        /// Reason.
        what: String,
    },
    /// A model that is taught nothing: without a basis, or in fixed point.
    #[error(
        "this model in {number} is taught no classes: it is to be in f32, and fitted with what classes are taught by"
    )]
    #[strum(serialize = "no-basis")]
    NoLessons {
        /// Format of its numbers.
        number: &'static str,
    },
    /// What raises the alarm is nothing that the model finds.
    #[error("nothing that the model finds is called `{name}`; the alarm is for one of {known}")]
    #[strum(serialize = "unknown-alarm")]
    Alarm {
        /// Requested name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A sensor that does not measure what is wanted, or a board that it cannot be on.
    #[error("{part}: {what}")]
    #[strum(serialize = "bad-sensor")]
    Sensor {
        /// The part.
        part: &'static str,
        /// Reason.
        what: String,
    },
    /// A name in the board's sources that has no value.
    #[error(
        "{board}: its sources ask for `{name}`, and the table [values] of its board.toml has no such name; add it"
    )]
    #[strum(serialize = "bad-board")]
    Value {
        /// The board.
        board: &'static str,
        /// The name.
        name: String,
    },
    /// A name that no package can have.
    #[error(
        "`{name}` is no name for a package: letters, digits, - and _, a letter first, and none that cargo or the crates with it have; give another"
    )]
    #[strum(serialize = "bad-name")]
    Name {
        /// Requested name.
        name: String,
    },
    /// A rate that no timer has.
    #[error(
        "{rate} samples per second: give from one a day ({:.7}) to 100 000", RATES[0]
    )]
    #[strum(serialize = "bad-rate")]
    Rate {
        /// Samples per second.
        rate: f64,
    },
    /// A name that no channel can have.
    #[error(transparent)]
    Channel(#[from] Box<crate::device::DeviceError>),
    /// More samples than a serial port carries, or none.
    #[error(
        "{rate} samples per second of {channels} channels: the serial port carries {most} of them; give a lower rate"
    )]
    #[strum(serialize = "bad-rate")]
    Line {
        /// Samples per second.
        rate: f64,
        /// Channels in a sample.
        channels: usize,
        /// Samples per second that the port carries.
        most: usize,
    },
    /// A real board waits for its line beside its watchdog.
    #[error("a program on {board} that waits for a host has tasks, to feed the watchdog meanwhile")]
    NeedsTasks {
        /// The board.
        board: &'static str,
    },
    /// An emulated board has no driver of time.
    #[error("{board} is emulated without a clock: tasks want a real board, one loop runs here too")]
    NoClock {
        /// The board.
        board: &'static str,
    },
}

crate::kinds!(ProjectError,
    Self::Channel(error) => error,
    Self::Chip(error) => error,
);
