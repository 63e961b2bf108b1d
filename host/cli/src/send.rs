//! `fishweir send`.

use std::path::PathBuf;
use std::time::Duration;

use fishweir::deploy::is_to_be_signed;
use fishweir::device::{DeviceError, Options, Port, send_update};
use fishweir::files;
use fishweir::report::counted;
use fishweir_core::update::{Update, UpdateError};
use fishweir_core::wire::UpdateStatus;

use super::{Failure, Topic, keygen, output, progress};

pub(super) const LONG_ABOUT: &str = "\
Send an update of its model to a device in the field.

`export --update` writes the update. The device must run the application `field` of the firmware, or another program with \
its wire format. It asks for the update piece by piece. Lost pieces are sent again, and an interrupted transfer continues where \
it stopped. The device checks the update and runs its self-test. The new model is then on trial from the next stream on.

A device accepts only updates that are signed by the private key of the public key in its image. --key signs the update; \
`keygen` makes a pair of keys. A device with the feature `insecure-updates-by-anyone` accepts any update.

Exit codes: 0 the device has the update; 2 it has not, and the error says why.";

const EXAMPLES: &str = "\
Examples:
  fishweir send gait.update --port /dev/ttyACM0";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// An update
    update: PathBuf,
    /// Sign the update with this private key of `fishweir keygen`
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The serial port of the device, such as /dev/ttyACM0, or a bridge to it, HOST:PORT
    #[arg(long)]
    port: String,
    /// Bits per second of a serial port, with eight bits, no parity and one stop bit
    #[arg(long, value_name = "BAUD", default_value_t = Port::BAUD)]
    baud: u32,
    /// Seconds without an answer after which the command gives up
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (name, port) = (arguments.update.display(), &arguments.port);
    let bytes = files::read(&arguments.update)?;
    let of_file = |error: UpdateError| Failure::input(error.kind(), format!("{name}: {error}"));
    let key = arguments.key.as_deref().map(keygen::read).transpose()?;
    let bytes = match &key {
        Some(key) => key.sign(&bytes).map_err(of_file)?,
        None if is_to_be_signed(&bytes) => {
            return Err(Failure::input(
                Topic::UnsignedUpdate,
                format!("{name}: it has no signature; sign it with --key FILE"),
            ));
        }
        None => bytes,
    };
    let header = Update::read(&bytes).map_err(of_file)?.header;
    let version = header.version();
    let mut options = Options::default();
    options.patience = Duration::from_secs(arguments.patience);
    let link = Port::open(port, arguments.baud, &options)?;
    let bar = progress::bytes(format!("sending to {port}"), bytes.len());
    let sent = send_update(&link, &link, &bytes, &options, |there| bar.set_position(there as u64));
    bar.finish_and_clear();
    let status = sent.map_err(|error| {
        let remedy = remedy(&error, header.is_signed());
        Failure::input(error.kind(), format!("{port}: {error}{remedy}"))
    })?;
    let stands = match status {
        UpdateStatus::OnTrial => "runs it, on trial",
        UpdateStatus::Confirmed => "runs it, confirmed",
        _ => "has checked it, and uses it on trial from the next stream on",
    };
    let length = counted(bytes.len(), "byte");
    output::print(
        format!("{name}, version {version}, {length}: the device on {port} {stands}\n").as_bytes(),
    )
}

/// Remedy for a refusal, in the words of the command line.
fn remedy(error: &DeviceError, signed: bool) -> &'static str {
    match error {
        DeviceError::UpdateRefused { why: UpdateStatus::Signature } if signed => {
            "; sign it with that key: --key FILE"
        }
        DeviceError::UpdateRefused { why: UpdateStatus::Signature } => {
            "; it has no signature: sign it with --key FILE"
        }
        DeviceError::UpdateRefused { why: UpdateStatus::NotNewer } => {
            " by `export --update-version`"
        }
        _ => "",
    }
}
