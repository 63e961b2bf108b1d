//! A board at a serial port: which, and how it is spoken to.

use std::time::Duration;

use fishweir::device::{Options, Port};

use super::Failure;

/// A board that runs an image already, in place of an emulated one.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct AtPort {
    /// Serial port of a board to run on, such as /dev/ttyACM0, or a bridge to it, HOST:PORT
    #[arg(long, conflicts_with_all = ["board", "firmware"])]
    pub(super) port: Option<String>,
    /// Bits per second of the serial port, with eight bits, no parity and one stop bit
    #[arg(long, value_name = "BAUD", default_value_t = Port::BAUD, requires = "port")]
    baud: u32,
    /// Seconds without an answer after which the command gives up
    #[arg(long, value_name = "SECONDS", default_value = "30", requires = "port", value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,
}

impl AtPort {
    /// Opens the port.
    pub(super) fn open(&self, port: &str) -> Result<(Options, Port), Failure> {
        let mut options = Options::of_board();
        options.patience = Duration::from_secs(self.patience);
        let link = Port::open(port, self.baud, &options)?;
        Ok((options, link))
    }
}
