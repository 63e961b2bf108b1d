//! A serial port of this machine, or a bridge to one over TCP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::{DeviceError, Options};

/// A line to a device: bytes out, bytes in, with a limit on each wait.
///
/// Read and written through references, by two threads at once, as [`converse`](super::converse) does.
#[derive(Debug)]
pub struct Port(Line);

#[derive(Debug)]
enum Line {
    Bridge(TcpStream),
    #[cfg(unix)]
    Serial(serial::Serial),
}

/// Time during which the host tries to reach a bridge.
const REACH: Duration = Duration::from_secs(5);

impl Port {
    /// Default rate in bits per second: that of most boards' USB bridges.
    pub const BAUD: u32 = 115_200;

    /// Opens a serial port by its path (`/dev/ttyACM0`; eight bits, no parity, one stop bit, no flow control), or a
    /// bridge to one by `HOST:PORT`, for which `baud` means nothing.
    ///
    /// A read waits [`Options::retry`], a write [`Options::patience`].
    ///
    /// # Errors
    /// [`DeviceError::NoPort`]. On other systems than Unix there are bridges alone.
    pub fn open(name: &str, baud: u32, options: &Options) -> Result<Self, DeviceError> {
        let is_bridge = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let opened = match is_bridge && !std::path::Path::new(name).exists() {
            true => bridge(name, options).map(Line::Bridge),
            false => serial(name, baud, options),
        };
        opened.map(Self).map_err(|source| {
            let hint = match source.kind() {
                ErrorKind::PermissionDenied => {
                    "; your user may have to be in the group that owns it"
                }
                ErrorKind::NotFound => {
                    "; is it plugged in? /dev/ttyACM* and /dev/ttyUSB* are usual names"
                }
                _ => "",
            };
            DeviceError::NoPort { name: name.to_owned(), source, hint }
        })
    }

    /// Ends all reading and writing.
    pub fn hang_up(&self) {
        match &self.0 {
            // Fails only where the other side has hung up before.
            Line::Bridge(stream) => drop(stream.shutdown(Shutdown::Both)),
            #[cfg(unix)]
            Line::Serial(serial) => serial.hang_up(),
        }
    }
}

fn bridge(name: &str, options: &Options) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in name.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, REACH) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(options.retry))?;
                stream.set_write_timeout(Some(options.patience))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(unix)]
fn serial(name: &str, baud: u32, options: &Options) -> io::Result<Line> {
    serial::Serial::open(name, baud, options).map(Line::Serial)
}

#[cfg(not(unix))]
fn serial(_: &str, _: u32, _: &Options) -> io::Result<Line> {
    let why = "serial ports are opened on Unix systems alone; name a bridge to it, HOST:PORT";
    Err(io::Error::new(ErrorKind::Unsupported, why))
}

impl Read for &Port {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            Line::Bridge(stream) => { stream }.read(into),
            #[cfg(unix)]
            Line::Serial(serial) => serial.read(into),
        }
    }
}

impl Write for &Port {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let written = match &self.0 {
            Line::Bridge(stream) => { stream }.write(from),
            #[cfg(unix)]
            Line::Serial(serial) => serial.write(from),
        };
        written.map_err(|error| match error.kind() {
            // Of a pipe it means that nobody wants to hear any more; of a device, that it is gone.
            ErrorKind::BrokenPipe => io::Error::new(ErrorKind::ConnectionReset, error),
            _ => error,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
mod serial {
    use std::fs::{File, OpenOptions};
    use std::io::{self, ErrorKind, Read, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::OFlags;
    use rustix::termios::{
        ControlModes, OptionalActions, QueueSelector, isatty, tcflush, tcgetattr, tcsetattr,
    };

    use crate::device::Options;

    /// A terminal device in raw mode.
    #[derive(Debug)]
    pub(super) struct Serial {
        file: File,
        retry: Duration,
        patience: Duration,
        hung_up: AtomicBool,
    }

    /// Time between two checks of whether a wait is still wanted.
    const GLANCE: Duration = Duration::from_millis(50);

    impl Serial {
        pub(super) fn open(path: &str, baud: u32, options: &Options) -> io::Result<Self> {
            // Without waiting for a carrier, and without becoming the one whose death ends this program.
            let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
            let mut open = OpenOptions::new();
            let file =
                open.read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)?;
            if !isatty(&file) {
                return Err(io::Error::new(ErrorKind::InvalidInput, "not a serial port"));
            }
            let mut modes = tcgetattr(&file)?;
            modes.make_raw();
            modes.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
            modes.control_modes -= ControlModes::CSTOPB | ControlModes::CRTSCTS;
            modes.set_speed(baud)?;
            tcsetattr(&file, OptionalActions::Now, &modes)?;
            // What was said before nobody asked for.
            tcflush(&file, QueueSelector::IOFlush)?;
            let Options { patience, retry } = *options;
            Ok(Self { file, retry, patience, hung_up: AtomicBool::new(false) })
        }

        pub(super) fn hang_up(&self) {
            self.hung_up.store(true, Ordering::Relaxed);
        }

        /// Reads bytes; none if the port was hung up or unplugged.
        pub(super) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
            loop {
                if !self.wait(PollFlags::IN, self.retry)? {
                    return Ok(0);
                }
                match (&self.file).read(into) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    // So Linux tells of a port that is gone.
                    Err(error) if error.raw_os_error() == Some(GONE) => return Ok(0),
                    done => return done,
                }
            }
        }

        pub(super) fn write(&self, from: &[u8]) -> io::Result<usize> {
            loop {
                if !self.wait(PollFlags::OUT, self.patience)? {
                    return Err(io::Error::new(ErrorKind::ConnectionReset, "hung up"));
                }
                match (&self.file).write(from) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    done => return done,
                }
            }
        }

        /// Waits until the port is ready; `false` where it was hung up.
        fn wait(&self, what: PollFlags, most: Duration) -> io::Result<bool> {
            let until = Instant::now() + most;
            while !self.hung_up.load(Ordering::Relaxed) {
                let left = until.saturating_duration_since(Instant::now());
                let span = left.min(GLANCE);
                let span = Timespec { tv_sec: 0, tv_nsec: span.subsec_nanos().into() };
                if poll(&mut [PollFd::new(&self.file, what)], Some(&span))? > 0 {
                    return Ok(true);
                }
                if left.is_zero() {
                    return Err(ErrorKind::TimedOut.into());
                }
            }
            Ok(false)
        }
    }

    const GONE: i32 = rustix::io::Errno::IO.raw_os_error();
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;
    use std::sync::mpsc;
    use std::thread;

    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    const SOON: Options =
        Options { patience: Duration::from_millis(200), retry: Duration::from_millis(20) };

    /// The device's end of a terminal, and the path of the other.
    fn terminal() -> (File, PathBuf) {
        let device = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        // What other tests start would hold it open.
        fcntl_setfd(&device, FdFlags::CLOEXEC).expect("a flag");
        grantpt(&device).and_then(|()| unlockpt(&device)).expect("it can be opened");
        let name = ptsname(&device, Vec::new()).expect("it has a name").into_string();
        (device.into(), name.expect("of letters").into())
    }

    fn open(path: &std::path::Path) -> Port {
        Port::open(path.to_str().expect("letters"), Port::BAUD, &SOON).expect("opened")
    }

    #[test]
    fn every_byte_passes_both_ways() {
        let (mut device, path) = terminal();
        let port = open(&path);
        // Not one is an end of line, an interrupt, a stop or an end of file.
        let all: Vec<u8> = (0..=255).collect();
        (&port).write_all(&all).expect("written");
        let mut there = [0; 256];
        device.read_exact(&mut there).expect("read");
        device.write_all(&there).expect("written");
        let mut back = [0; 256];
        (&port).read_exact(&mut back).expect("read, and not echoed");
        assert_eq!(back[..], all[..]);
        let silence = (&port).read(&mut back).expect_err("nothing more").kind();
        assert_eq!(silence, ErrorKind::TimedOut);
    }

    #[test]
    fn who_waits_is_told_that_it_is_over() {
        let (device, path) = terminal();
        let patient = Options { retry: Duration::from_secs(60), ..SOON };
        let port = Port::open(path.to_str().expect("letters"), Port::BAUD, &patient);
        let port = port.expect("opened");
        let (told, heard) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| told.send((&port).read(&mut [0; 8]).expect("the end")));
            thread::sleep(Duration::from_millis(20));
            port.hang_up();
            assert_eq!(heard.recv(), Ok(0));
        });
        assert_eq!((&port).write(&[1]).expect_err("hung up").kind(), ErrorKind::ConnectionReset);

        // A device that does not read holds up the writer no longer than its patience.
        let quick = Options { patience: SOON.patience, ..patient };
        let port = Port::open(path.to_str().expect("letters"), Port::BAUD, &quick).expect("opened");
        let stuck = loop {
            if let Err(error) = (&port).write(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(stuck.kind(), ErrorKind::TimedOut);
        drop(device);
        assert_eq!((&port).read(&mut [0; 8]).expect("unplugged"), 0);
    }

    #[test]
    fn what_is_no_port_is_said() {
        let refusal =
            |name: &str| Port::open(name, Port::BAUD, &SOON).expect_err("no port").to_string();
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().display().to_string();
        assert_eq!(refusal(&path), format!("{path}: not a serial port"));
        let nowhere = refusal("/dev/nowhere");
        assert!(
            nowhere.starts_with("/dev/nowhere: ") && nowhere.contains("plugged in"),
            "{nowhere}"
        );
        assert!(refusal("127.0.0.1:1").starts_with("127.0.0.1:1: "));
    }
}
