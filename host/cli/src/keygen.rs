//! `fishweir keygen`, and the key that `export` and `send` sign updates with.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use fishweir::deploy::UpdateKey;
use fishweir::files;
use serde::Serialize;

use super::{Failure, Topic};

pub(super) const LONG_ABOUT: &str = "\
Make a pair of keys to sign updates of a device's model with.

The private key goes to FILE, which only its owner can read: whoever has it can replace the models of the devices. Keep a \
copy; without it they take no update any more. The public key goes next to it, with the ending .pub; the image is built \
with it. Neither file may exist yet.";

const EXAMPLES: &str = "\
Examples:
  fishweir keygen update.key
  FISHWEIR_UPDATE_KEY=update.pub cargo build --release --features field --bin field
  fishweir send gait.update --key update.key --port /dev/ttyACM0";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The private key to write: Ed25519, PKCS #8 in PEM
    file: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Keys {
    private_key: String,
    public_key: String,
    /// Public key, 64 hexadecimal digits.
    public: String,
}

impl std::fmt::Display for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "private key written to {}: keep it secret, and keep a copy",
            self.private_key
        )?;
        writeln!(f, "public key written to {}: {}", self.public_key, self.public)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let private = &arguments.file;
    let public = private.with_extension("pub");
    if public == *private {
        return Err(Failure::input(
            Topic::SameOutput,
            format!("{}: the ending .pub is the public key's; name another", private.display()),
        ));
    }
    for file in [private, &public] {
        if fs::symlink_metadata(file).is_ok() {
            return Err(exists(file));
        }
    }
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| {
        Failure::input(Topic::NoRandomness, format!("the system gives no random numbers: {error}"))
    })?;
    let key = UpdateKey::from_secret(&secret);
    create(private, &key.private_text(), true)?;
    if let Err(failure) = create(&public, &key.public_text(), false) {
        // Half a pair is of no use.
        let _ = fs::remove_file(private);
        return Err(failure);
    }
    let shown = |path: &Path| path.display().to_string();
    let public_text = key.public_text().trim_end().to_owned();
    let report =
        Keys { private_key: shown(private), public_key: shown(&public), public: public_text };
    crate::output::print_report(&report, arguments.json)
}

/// Writes a file that did not exist; a secret one for its owner alone.
fn create(path: &Path, text: &str, secret: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if secret { 0o600 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = secret;
    let written = options.open(path).and_then(|mut file| {
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.inspect_err(|_| drop(fs::remove_file(path)))
    });
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => Failure::input(
            "unwritable-file",
            format!("{}: cannot be written: {error}", path.display()),
        ),
    })
}

fn exists(path: &Path) -> Failure {
    Failure::input(
        Topic::KeyExists,
        format!(
            "{}: exists, and a key is never overwritten: move it away, or name another file",
            path.display()
        ),
    )
}

/// Reads the private key that updates are signed with.
pub(super) fn read(path: &Path) -> Result<UpdateKey, Failure> {
    let bytes = files::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    UpdateKey::parse(&text).map_err(|error| {
        let kind = error.kind();
        Failure::input(kind, format!("{}: {error}; make one by `fishweir keygen`", path.display()))
    })
}
