//! An emulated board.
//!
//! The serial port and the log are two streams that never mix: the board's UART is a socket that the
//! emulator inherits, and what the firmware logs through semihosting is the emulator's standard
//! output. With `-icount shift=0` an instruction takes one nanosecond of virtual time, so that the
//! board's counter counts instructions. An emulator knows no cycles.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::protocol::Exit;
use super::session::{self, Input, Outcome};
use super::{DeviceError, Image, Options};

/// An emulated board that is running an image.
#[derive(Debug)]
pub struct Qemu {
    child: Child,
    serial: UnixStream,
    log: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What the device said.
    pub outcome: Outcome,
    /// What it logged: defmt frames, for `defmt-print -e IMAGE`.
    pub log: Vec<u8>,
    /// How long the conversation took, by the wall clock.
    pub elapsed: Duration,
}

impl Run {
    /// Instructions that a push of a sample took on average; `None` where none was measured.
    #[must_use]
    pub fn instructions_per_sample(&self) -> Option<f64> {
        let report = &self.outcome.report;
        // One instruction a nanosecond: see the module.
        let instructions_per_tick = 1e9 / f64::from(self.outcome.info.ticks_per_second?);
        (report.samples > 0)
            .then(|| report.sample_ticks as f64 * instructions_per_tick / report.samples as f64)
    }
}

impl Qemu {
    /// Starts the emulator of the image's board.
    ///
    /// # Errors
    /// [`DeviceError::NoProgram`] where QEMU is not installed.
    pub fn start(image: &Image) -> Result<Self, DeviceError> {
        let (serial, theirs) = UnixStream::pair()?;
        let emulator = &image.board.emulator;
        let mut child = Command::new(emulator.program)
            .args(image.board.machine)
            .args(["-icount", "shift=0", "-display", "none", "-monitor", "none"])
            .args(["-chardev", "socket,id=serial,fd=0", "-serial", "chardev:serial"])
            .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
            .arg(&image.elf)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| DeviceError::NoProgram {
                program: emulator.program.to_owned(),
                source,
                hint: format!(
                    "run: apt-get install {} (or your system's package of QEMU)",
                    emulator.package
                ),
            })?;
        // Pipes that nobody reads would stop the emulator when they are full.
        let log = child.stdout.take().map(drain);
        let stderr = child.stderr.take().map(drain);
        Ok(Self { child, serial, log, stderr })
    }

    /// Streams all inputs to the device, collects its answers, and waits for it to end.
    /// See [`converse`](super::converse).
    ///
    /// # Errors
    /// As [`converse`](super::converse), and when the emulator ends otherwise than asked.
    pub fn run<'a>(
        mut self,
        inputs: impl IntoIterator<Item = Input<'a>, IntoIter: Send>,
        options: &Options,
        progress: impl FnMut(usize),
    ) -> Result<Run, DeviceError> {
        let started = Instant::now();
        let outcome = self.converse(inputs, options, progress);
        let elapsed = started.elapsed();
        let (code, log, stderr) = self.end(options.patience, outcome.is_ok())?;
        let asked = code == Some(Exit::Done.code());
        match outcome {
            Ok(outcome) if asked => Ok(Run { outcome, log, elapsed }),
            Ok(_) => Err(DeviceError::Emulator {
                what: "the device answered everything but did not end well",
                cause: None,
                code,
                stderr,
            }),
            // A device that ended by itself is why the conversation broke off; one that had to be
            // killed was not.
            Err(
                cause @ (DeviceError::Stopped { .. }
                | DeviceError::Fault { .. }
                | DeviceError::Link(_)),
            ) => Err(DeviceError::Emulator {
                what: "the device broke off",
                cause: Some(Box::new(cause)),
                code,
                stderr,
            }),
            Err(error) => Err(error),
        }
    }

    /// Listens until the device ends, and returns what it sent: for images that ask for nothing.
    ///
    /// # Errors
    /// [`DeviceError::Silent`] where the device says nothing for the length of `patience`, and
    /// [`DeviceError::Emulator`] when it ends otherwise than well.
    pub fn listen(mut self, patience: Duration) -> Result<Vec<u8>, DeviceError> {
        self.serial.set_read_timeout(Some(patience))?;
        let mut sent = Vec::new();
        let heard = (&self.serial).read_to_end(&mut sent);
        let (code, _, stderr) = self.end(patience, heard.is_ok())?;
        match heard {
            Ok(_) if code == Some(Exit::Done.code()) => Ok(sent),
            Ok(_) => Err(DeviceError::Emulator {
                what: "the device did not end well",
                cause: None,
                code,
                stderr,
            }),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(DeviceError::Silent { seconds: patience.as_secs(), answers: 0 })
            }
            Err(error) => Err(DeviceError::Link(error)),
        }
    }

    /// Holds any conversation with the device over its serial port, then waits for it to end: for
    /// applications with a wire of their own. Returns what came of the conversation, and the log.
    ///
    /// # Errors
    /// [`DeviceError::Silent`] where the device says nothing for the length of `patience`,
    /// [`DeviceError::Link`] where the conversation fails otherwise, and [`DeviceError::Emulator`]
    /// when the device ends otherwise than well.
    pub fn talk<T>(
        mut self,
        patience: Duration,
        conversation: impl FnOnce(&UnixStream) -> std::io::Result<T>,
    ) -> Result<(T, Vec<u8>), DeviceError> {
        self.serial.set_read_timeout(Some(patience))?;
        let outcome = conversation(&self.serial);
        let (code, log, stderr) = self.end(patience, outcome.is_ok())?;
        let failed = |what, cause| DeviceError::Emulator { what, cause, code, stderr };
        match outcome {
            Ok(outcome) if code == Some(Exit::Done.code()) => Ok((outcome, log)),
            Ok(_) => Err(failed("the device did not end well", None)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(DeviceError::Silent { seconds: patience.as_secs(), answers: 0 })
            }
            Err(error) => {
                Err(failed("the device broke off", Some(Box::new(DeviceError::Link(error)))))
            }
        }
    }

    fn converse<'a>(
        &self,
        inputs: impl IntoIterator<Item = Input<'a>, IntoIter: Send>,
        options: &Options,
        progress: impl FnMut(usize),
    ) -> Result<Outcome, DeviceError> {
        self.serial.set_read_timeout(Some(options.patience))?;
        let hang_up = || {
            // Fails only where the device has hung up before.
            let _ = self.serial.shutdown(Shutdown::Both);
        };
        session::converse(&self.serial, &self.serial, hang_up, inputs, options, progress)
    }

    /// Waits for the emulator to end, or ends it; its exit code, log and error output.
    fn end(
        &mut self,
        patience: Duration,
        asked: bool,
    ) -> Result<(Option<i32>, Vec<u8>, String), DeviceError> {
        // A device that was not asked to stop may have ended by itself a moment ago, or never will.
        let deadline = Instant::now() + if asked { patience } else { Duration::from_millis(500) };
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                None => {
                    self.child.kill()?;
                    break self.child.wait()?;
                }
            }
        };
        let read = |drain: Option<JoinHandle<Vec<u8>>>| {
            drain.and_then(|drain| drain.join().ok()).unwrap_or_default()
        };
        let log = read(self.log.take());
        let stderr = String::from_utf8_lossy(&read(self.stderr.take())).into_owned();
        Ok((status.code(), log, stderr))
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // Ended already unless the run was never begun or panicked; then nobody else will end it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a pipe to its end on a thread of its own.
fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => return bytes,
                Ok(length) => bytes.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return bytes,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::device::{Board, Clock, Sections, board::Emulator};

    #[test]
    fn a_missing_emulator_is_told_with_what_installs_it() {
        static ABACUS: Board = Board {
            name: "abacus",
            core: "beads",
            target: "none",
            usual_clock: Clock { hertz: 1, part: "fingers" },
            emulator: Emulator { program: "qemu-system-beads", package: "beads" },
            machine: &[],
        };
        let sections = Sections::default();
        let image = Image { board: &ABACUS, elf: PathBuf::from("none.elf"), sections };
        let error = Qemu::start(&image).expect_err("no such program").to_string();
        assert!(error.contains("qemu-system-beads"), "{error}");
        assert!(error.contains("apt-get install beads"), "{error}");
    }
}
