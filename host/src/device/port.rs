//! A serial port of this machine, or a bridge to one over TCP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(not(target_family = "wasm"))]
use serial2::SerialPort;

#[cfg(target_family = "wasm")]
use super::serial_file::SerialPort;
use super::{DeviceError, Options};

/// A line to a device: bytes out, bytes in, with a limit on each wait.
///
/// Read and written through references, by two threads at once, as [`converse`](super::converse) does.
#[derive(Debug)]
pub struct Port {
    line: Line,
    retry: Duration,
    patience: Duration,
    hung_up: AtomicBool,
}

#[derive(Debug)]
enum Line {
    Bridge(TcpStream),
    Serial(SerialPort),
}

/// Time during which the host tries to reach a bridge.
const REACH: Duration = Duration::from_secs(5);

/// Time between two checks of whether a wait is still wanted.
const GLANCE: Duration = Duration::from_millis(50);

/// Error numbers of Unix: of a file that is no terminal, and by which Linux tells of a port that is gone.
const NO_TERMINAL: i32 = 25;
const GONE: i32 = 5;

impl Port {
    /// Default rate in bits per second: that of most boards' USB bridges.
    pub const BAUD: u32 = 115_200;

    /// Opens a serial port by its name (`/dev/ttyACM0`, `COM3`; eight bits, no parity, one stop bit, no flow control), or a
    /// bridge to one by `HOST:PORT`, for which `baud` means nothing.
    ///
    /// A read waits [`Options::retry`], a write [`Options::patience`].
    ///
    /// # Errors
    /// [`DeviceError::NoPort`].
    pub fn open(name: &str, baud: u32, options: &Options) -> Result<Self, DeviceError> {
        let is_bridge = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let opened = match is_bridge && !std::path::Path::new(name).exists() {
            true => bridge(name, options).map(Line::Bridge),
            false => serial(name, baud).map(Line::Serial),
        };
        let Options { retry, patience, .. } = *options;
        let hung_up = AtomicBool::new(false);
        opened.map(|line| Self { line, retry, patience, hung_up }).map_err(|source| {
            let hint = match source.kind() {
                ErrorKind::PermissionDenied => {
                    "; your user may have to be in the group that owns it"
                }
                ErrorKind::NotFound => {
                    "; is it plugged in? /dev/ttyACM* and /dev/ttyUSB* are usual names, COM3 on Windows"
                }
                _ => "",
            };
            DeviceError::NoPort { name: name.to_owned(), source, hint }
        })
    }

    /// Ends all reading and writing.
    pub fn hang_up(&self) {
        self.hung_up.store(true, Ordering::Relaxed);
        if let Line::Bridge(stream) = &self.line {
            // Fails only where the other side has hung up before.
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Tries again while it times out, until `most` is over; `None` where it was hung up.
    fn wait(
        &self,
        most: Duration,
        mut attempt: impl FnMut() -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        let until = Instant::now() + most;
        while !self.hung_up.load(Ordering::Relaxed) {
            match attempt() {
                Err(error) if error.kind() == ErrorKind::TimedOut && Instant::now() < until => {}
                done => return done.map(Some),
            }
        }
        Ok(None)
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

fn serial(name: &str, baud: u32) -> io::Result<SerialPort> {
    let mut port = SerialPort::open(name, baud).map_err(|error| match error.raw_os_error() {
        Some(NO_TERMINAL) if cfg!(unix) => {
            io::Error::new(ErrorKind::InvalidInput, "not a serial port")
        }
        _ => error,
    })?;
    port.set_read_timeout(GLANCE)?;
    port.set_write_timeout(GLANCE)?;
    // What was said before nobody asked for.
    port.discard_buffers()?;
    Ok(port)
}

impl Read for &Port {
    /// Reads bytes; none if the port was hung up or unplugged.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &self.line {
            Line::Bridge(stream) => { stream }.read(into),
            Line::Serial(serial) => match self.wait(self.retry, || serial.read(into)) {
                Err(error) if cfg!(unix) && error.raw_os_error() == Some(GONE) => Ok(0),
                done => done.map(Option::unwrap_or_default),
            },
        }
    }
}

impl Write for &Port {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let written = match &self.line {
            Line::Bridge(stream) => { stream }.write(from),
            Line::Serial(serial) => {
                self.wait(self.patience, || serial.write(from)).and_then(|written| {
                    written.ok_or_else(|| io::Error::new(ErrorKind::ConnectionReset, "hung up"))
                })
            }
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;
    use std::sync::mpsc;
    use std::thread;

    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    fn soon() -> Options {
        let (patience, retry) = (Duration::from_millis(200), Duration::from_millis(20));
        Options { patience, retry, ..Options::default() }
    }

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
        Port::open(path.to_str().expect("letters"), Port::BAUD, &soon()).expect("opened")
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
        let patient = Options { retry: Duration::from_secs(60), ..soon() };
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
        let quick = Options { patience: soon().patience, ..patient };
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
            |name: &str| Port::open(name, Port::BAUD, &soon()).expect_err("no port").to_string();
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
