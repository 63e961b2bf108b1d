//! An emulated board.
//!
//! The serial port and the log are two streams that never mix: the board's UART is a socket that the
//! emulator inherits, and what the firmware logs through semihosting is the emulator's standard
//! output. With `-icount shift=0` an instruction takes one nanosecond of virtual time, so that the
//! board's counter counts instructions. An emulator knows no cycles.
//!
//! A socket that a process inherits takes a Unix system: elsewhere [`Qemu::start`] says so.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
#[cfg(not(unix))]
use std::net::TcpStream as Socket;
#[cfg(unix)]
use std::os::unix::net::UnixStream as Socket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fishweir_core::wire::{Exit, UpdateStatus};

use super::dialogue::{Dialogue, FramedLines};
use super::session::{self, Input, Outcome};
use super::update::send_update;
use super::{DeviceError, Image, Options};

/// A pair of sockets, the second to be inherited.
#[cfg(unix)]
fn pair() -> io::Result<(Socket, Stdio)> {
    let (ours, theirs) = Socket::pair()?;
    Ok((ours, std::os::fd::OwnedFd::from(theirs).into()))
}

#[cfg(not(unix))]
fn pair() -> io::Result<(Socket, Stdio)> {
    let why = "the emulator inherits a socket, which takes a Unix system";
    Err(io::Error::new(ErrorKind::Unsupported, why))
}

/// An emulated board that is running an image.
#[derive(Debug)]
pub struct Qemu {
    child: Child,
    serial: Socket,
    log: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// End of the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Exit code of the emulator; `None` if it was killed.
    pub code: Option<i32>,
    /// Log of the device: defmt frames.
    pub log: Vec<u8>,
    /// Output of the emulator itself.
    pub stderr: String,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Result that the device reported.
    pub outcome: Outcome,
    /// Log of the device: defmt frames, for `defmt-print -e IMAGE`.
    pub log: Vec<u8>,
    /// Time that the conversation took, by the wall clock.
    pub elapsed: Duration,
}

impl Run {
    /// Mean ticks of a push of a sample; `None` if nothing was measured.
    pub fn ticks_per_sample(&self) -> Option<f64> {
        let report = &self.outcome.report;
        self.outcome.info.ticks_per_second?;
        (report.samples > 0).then(|| report.sample_ticks as f64 / report.samples as f64)
    }

    /// Mean number of instructions of a push of a sample under emulation; `None` if nothing was measured.
    pub fn instructions_per_sample(&self) -> Option<f64> {
        // One instruction a nanosecond: see the module.
        let instructions_per_tick = 1e9 / f64::from(self.outcome.info.ticks_per_second?);
        self.ticks_per_sample().map(|ticks| ticks * instructions_per_tick)
    }
}

impl Qemu {
    /// Starts the emulator of the image's board.
    ///
    /// # Errors
    /// [`DeviceError::NoProgram`] where QEMU is not installed.
    pub fn start(image: &Image) -> Result<Self, DeviceError> {
        Self::start_in(image, Path::new("."), &[])
    }

    /// Starts the emulator in a folder, with more arguments. Files that the firmware opens through
    /// semihosting lie in the folder.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_in(image: &Image, folder: &Path, arguments: &[&str]) -> Result<Self, DeviceError> {
        let (serial, theirs) = pair()?;
        let emulator = &image.board.emulator;
        let mut child = Command::new(emulator.program)
            .current_dir(folder)
            .args(emulator.machine)
            .args(arguments)
            .args(["-icount", "shift=0", "-display", "none", "-monitor", "none"])
            .args(["-chardev", "socket,id=serial,fd=0", "-serial", "chardev:serial"])
            .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
            .arg(std::path::absolute(&image.elf)?)
            .stdin(theirs)
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
        // Who hung up is about to end, however long a busy machine takes over it.
        let hung_up = matches!(outcome, Err(DeviceError::Stopped { .. } | DeviceError::Link(_)));
        let (code, log, stderr) = self.end(options.patience, hung_up || outcome.is_ok())?;
        let asked = code == Some(Exit::Done.code());
        match outcome {
            Ok(outcome) if asked => Ok(Run { outcome, log, elapsed }),
            Ok(_) => Err(DeviceError::Emulator {
                what: "the device answered everything, but the emulator ended with an error",
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

    /// Listens until the device ends, and returns its output: for images that ask for nothing.
    ///
    /// # Errors
    /// As [`talk`](Self::talk).
    pub fn listen(self, patience: Duration) -> Result<Vec<u8>, DeviceError> {
        let (sent, _) = self.talk(patience, |mut serial| {
            let mut sent = Vec::new();
            serial.read_to_end(&mut sent)?;
            Ok(sent)
        })?;
        Ok(sent)
    }

    /// Holds any conversation with the device over its serial port, then waits for it to end: for
    /// applications with a wire of their own. Returns what came of the conversation, and the log.
    ///
    /// # Errors
    /// [`DeviceError::Silent`] where the device says nothing for the length of `patience`, and
    /// [`DeviceError::Emulator`] where the conversation fails otherwise, which is its cause, or the device
    /// ends otherwise than well.
    pub fn talk<T>(
        mut self,
        patience: Duration,
        conversation: impl FnOnce(&Socket) -> std::io::Result<T>,
    ) -> Result<(T, Vec<u8>), DeviceError> {
        self.serial.set_read_timeout(Some(patience))?;
        let outcome = conversation(&self.serial);
        let (code, log, stderr) = self.end(patience, outcome.is_ok())?;
        let failed = |what, cause| DeviceError::Emulator { what, cause, code, stderr };
        match outcome {
            Ok(outcome) if code == Some(Exit::Done.code()) => Ok((outcome, log)),
            Ok(_) => Err(failed("the emulator ended with an error", None)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(DeviceError::Silent { seconds: patience.as_secs(), answers: 0 })
            }
            Err(error) => {
                Err(failed("the device broke off", Some(Box::new(DeviceError::Link(error)))))
            }
        }
    }

    /// Waits for the greeting, a line in frames, sends the dialogue, and returns that line and all that follow until the
    /// device ends: for applications that answer in lines of text.
    ///
    /// # Errors
    /// As [`talk`](Self::talk), and where a line is damaged or lost.
    pub fn exchange_frames(
        self,
        patience: Duration,
        dialogue: &Dialogue,
    ) -> Result<Vec<String>, DeviceError> {
        let whole = |line: io::Result<Option<String>>| {
            line?.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "a line arrived damaged"))
        };
        self.exchange_lines(patience, dialogue.bytes(), |serial| {
            Box::new(FramedLines::new(serial).map(whole))
        })
    }

    /// Waits for the greeting, a line, sends `text`, and returns that line and all that follow until the
    /// device ends: for applications that take text as a terminal sends it.
    ///
    /// # Errors
    /// As [`talk`](Self::talk).
    pub fn exchange(self, patience: Duration, text: &[u8]) -> Result<Vec<String>, DeviceError> {
        self.exchange_lines(patience, text, |serial| Box::new(BufReader::new(serial).lines()))
    }

    /// Exchanges bytes for lines as they are read.
    fn exchange_lines(
        self,
        patience: Duration,
        text: &[u8],
        read: impl FnOnce(&Socket) -> Box<dyn Iterator<Item = io::Result<String>> + '_>,
    ) -> Result<Vec<String>, DeviceError> {
        let conversation = |mut serial: &Socket| -> io::Result<Vec<String>> {
            let mut lines = read(serial);
            let greeting = lines.next().transpose()?;
            thread::scope(|scope| {
                // It answers while it is sent more.
                let sender = scope.spawn(move || serial.write_all(text));
                let lines: io::Result<Vec<_>> = greeting.into_iter().map(Ok).chain(lines).collect();
                if lines.is_err() {
                    // Else the sender would wait for who reads no more.
                    serial.shutdown(Shutdown::Both).ok();
                }
                let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                lines.and_then(|lines| sent.map(|()| lines))
            })
        };
        self.talk(patience, conversation).map(|(lines, _)| lines)
    }

    /// Sends an update of its model to a device that runs `field`, which goes on running: see
    /// [`send_update`](super::send_update).
    ///
    /// # Errors
    /// As [`send_update`](super::send_update).
    pub fn update(
        &self,
        update: &[u8],
        options: &Options,
        progress: impl FnMut(usize),
    ) -> Result<UpdateStatus, DeviceError> {
        self.serial.set_read_timeout(Some(options.retry))?;
        send_update(&self.serial, &self.serial, update, options, progress)
    }

    /// The device's serial port, for a conversation of one's own: see [`converse`](super::converse).
    pub fn serial(&self) -> &Socket {
        &self.serial
    }

    /// Waits until the device ends, or ends it when `patience` is over.
    ///
    /// # Errors
    /// When the emulator cannot be waited for.
    pub fn wait(mut self, patience: Duration) -> Result<Ending, DeviceError> {
        let (code, log, stderr) = self.end(patience, true)?;
        Ok(Ending { code, log, stderr })
    }

    fn converse<'a>(
        &self,
        inputs: impl IntoIterator<Item = Input<'a>, IntoIter: Send>,
        options: &Options,
        progress: impl FnMut(usize),
    ) -> Result<Outcome, DeviceError> {
        self.serial.set_read_timeout(Some(options.retry))?;
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
        // Where the host is slow, questions were repeated: the device ends only when it has found room
        // for all answers, so somebody must read them.
        self.serial.set_read_timeout(Some(Duration::from_millis(2)))?;
        let mut unheard = [0; 4096];
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() < deadline => match self.serial.read(&mut unheard) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Ok(1..) => {}
                    // Hung up: nothing to wait for but the emulator's end.
                    _ => thread::sleep(Duration::from_millis(2)),
                },
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

    use fishweir_core::Profile;
    use fishweir_core::number::NumberFormat;
    use fishweir_core::wire::{Frame, Info, Report, SampleIndex, SampleKind, VERSION};
    use zerocopy::FromZeros;

    use super::*;
    use crate::device::{Board, Clock, Sections, board::Emulator};

    /// Runs a shell script in place of the emulator, without samples.
    ///
    /// It finds the answers to all questions in the file `answers`, and the serial port at its descriptor 0.
    fn run_script(board: &'static Board, patience: Duration) -> Result<Run, DeviceError> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = SampleIndex::default();
        let info = Info {
            head: place.head(Info::TAG),
            version: VERSION,
            sample_kind: SampleKind::Symbol as u8,
            profile: Profile::of(NumberFormat::F32).to_bytes(),
            ..Info::new_zeroed()
        };
        let report = Report { head: place.next_stream().head(Report::TAG), ..Report::EMPTY };
        let answers = [Frame::new(&info).as_bytes(), Frame::new(&report).as_bytes()].concat();
        std::fs::write(folder.path().join("answers"), answers).expect("a temporary file");
        let image = Image { board, elf: PathBuf::from("none.elf"), sections: Sections::default() };
        let options = Options { patience, retry: Duration::from_millis(5), ..Options::default() };
        Qemu::start_in(&image, folder.path(), &[])?.run([], &options, |_| ())
    }

    #[test]
    fn a_device_that_stops_reading_is_silent_and_not_waited_for() {
        static DEAF: Board = script(&["-c", "echo ready >&0; exec sleep 1000"]);
        let (elf, sections) = (PathBuf::from("none.elf"), Sections::default());
        let emulator = Qemu::start(&Image { board: &DEAF, elf, sections }).expect("a shell");
        // More than fits between the two.
        let said = emulator.exchange(Duration::from_millis(300), &[b'\n'; 4_000_000]);
        assert!(matches!(said, Err(DeviceError::Silent { .. })), "{said:?}");
    }

    const fn script(machine: &'static [&'static str]) -> Board {
        Board {
            name: "script",
            core: "shell",
            target: "none",
            usual_clock: Clock { hertz: 1, part: "none" },
            folder: None,
            emulator: Emulator { program: "sh", package: "dash", machine },
        }
    }

    #[test]
    fn a_slow_device_gets_rid_of_all_that_it_was_asked_and_ends_well() {
        // More than fits between the two, when nobody expects any more.
        static SLOW: Board =
            script(&["-c", "cat answers >&0; sleep 0.3; exec head -c 1000000 /dev/zero >&0"]);
        let run = run_script(&SLOW, Duration::from_secs(10));
        assert!(run.is_ok(), "{run:?}");
    }

    #[test]
    fn a_device_that_never_ends_is_ended_silent_or_not() {
        static SILENT: Board = script(&["-c", "cat answers >&0; exec sleep 1000"]);
        static TALKATIVE: Board =
            script(&["-c", "cat answers >&0; sleep 0.3; exec cat /dev/zero >&0"]);
        for board in [&SILENT, &TALKATIVE] {
            let error = run_script(board, Duration::from_secs(1)).expect_err("it has to be killed");
            assert!(matches!(error, DeviceError::Emulator { code: None, .. }), "{error}");
            assert!(error.to_string().contains("ended with an error"), "{error}");
        }
    }

    #[test]
    fn a_missing_emulator_is_told_with_what_installs_it() {
        static ABACUS: Board = Board {
            name: "abacus",
            core: "beads",
            target: "none",
            usual_clock: Clock { hertz: 1, part: "none" },
            folder: None,
            emulator: Emulator { program: "qemu-system-beads", package: "beads", machine: &[] },
        };
        let sections = Sections::default();
        let image = Image { board: &ABACUS, elf: PathBuf::from("none.elf"), sections };
        let error = Qemu::start(&image).expect_err("no such program").to_string();
        assert!(error.contains("qemu-system-beads"), "{error}");
        assert!(error.contains("apt-get install beads"), "{error}");
    }
}
