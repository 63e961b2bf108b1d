//! A board at the other end of a pseudo-terminal, over a line that loses and damages bytes.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use embedded_io::ErrorType;
use fishweir::device::Qemu;
use fishweir_device::applications::record::Recorder;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Damages one byte in `every`, by a generator of its own; 0 for none.
pub(crate) struct Noise {
    pub(crate) every: u64,
    state: u64,
}

impl Noise {
    pub(crate) const fn new(every: u64) -> Self {
        Self { every, state: 1 }
    }

    fn random(&mut self, below: u64) -> u64 {
        // Knuth's MMIX.
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 33) % below
    }

    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for &byte in bytes {
            if self.every == 0 || self.random(self.every) > 0 {
                out.push(byte);
                continue;
            }
            match self.random(3) {
                0 => out.push(byte ^ (1 << self.random(8))),
                1 => {}
                _ => out.extend([byte, byte]),
            }
        }
        out
    }
}

/// The board's end of a terminal, which waits for nobody, and the name of the other end.
pub(crate) fn terminal() -> (File, String) {
    let board = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    // What tests start would hold it open.
    fcntl_setfd(&board, FdFlags::CLOEXEC).expect("a flag");
    fcntl_setfl(&board, OFlags::NONBLOCK).expect("a flag");
    grantpt(&board).and_then(|()| unlockpt(&board)).expect("it can be opened");
    let name = ptsname(&board, Vec::new()).expect("it has a name").into_string();
    (board.into(), name.expect("of letters"))
}

/// A line that loses what nobody takes, as a serial port does.
pub(crate) struct Line {
    pub(crate) terminal: File,
    pub(crate) noise: Noise,
}

impl ErrorType for Line {
    type Error = std::convert::Infallible;
}

impl embedded_io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        let _ = self.terminal.write(&self.noise.pass(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Samples per second of [`record`].
pub(crate) const RATE: f64 = 500.0;

/// Sample of [`record`]; each fortieth is not observed.
pub(crate) fn measured(number: u32) -> Option<[f32; 2]> {
    (number % 40 != 39).then_some([number as f32, (number % 7) as f32 * 0.1])
}

/// Sends samples, numbered from 0, until told to end.
pub(crate) fn record(line: &mut Line, ended: &AtomicBool) {
    let mut recorder = Recorder::new(["n", "wave [g]"], (1e9 / RATE) as u64);
    let began = Instant::now();
    let mut number = 0;
    while !ended.load(Ordering::Relaxed) {
        let Ok(()) = recorder.push(line, measured(number).as_ref());
        number += 1;
        let due = began + Duration::from_secs_f64(f64::from(number) / RATE);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

/// Runs a check beside an emulated board, whose serial port is a terminal of this name over a line with noise both ways.
pub(crate) fn with_emulated<T>(qemu: &Qemu, every: u64, check: impl FnOnce(&str) -> T) -> T {
    let (terminal, port) = terminal();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            carry(qemu.serial(), Line { terminal, noise: Noise::new(every) }, &ended);
        });
        ending(&ended, || check(&port))
    })
}

/// Says at the end of a check, also of one that fails, that it has ended.
pub(crate) fn ending<T>(ended: &AtomicBool, check: impl FnOnce() -> T) -> T {
    let done = catch_unwind(AssertUnwindSafe(check));
    ended.store(true, Ordering::Relaxed);
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

fn carry(mut serial: &UnixStream, mut line: Line, ended: &AtomicBool) {
    serial.set_read_timeout(Some(Duration::from_millis(2))).expect("a socket has time-outs");
    let mut bytes = [0; 256];
    while !ended.load(Ordering::Relaxed) {
        if let Ok(read) = line.terminal.read(&mut bytes) {
            let _ = serial.write_all(&line.noise.pass(&bytes[..read]));
        }
        if let Ok(read) = serial.read(&mut bytes) {
            let Ok(()) = embedded_io::Write::write_all(&mut line, &bytes[..read]);
        }
    }
}
