//! The other end of the firmware's bridge: a simulated sensor, its clock, and what the device prints.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use super::simulated::{Part, SimulatedSensor, Traffic};

/// As the firmware's `drivers::bridge` has them.
const OK: u8 = 0;
const NO_ADDRESS: u8 = 1;
const ENDED: u8 = 0xFF;

/// What came over the bridge.
#[derive(Debug)]
pub(super) struct Crossing {
    /// The application's output.
    pub(super) lines: Vec<String>,
    /// What happened on the bus.
    pub(super) traffic: Traffic,
    /// Milliseconds that the device waited.
    pub(super) waited_ms: u64,
}

/// Serves the device until the recording is over and the device has read all of it.
pub(super) fn serve(serial: &UnixStream, mut sensor: SimulatedSensor) -> io::Result<Crossing> {
    let mut reader = BufReader::new(serial);
    let mut writer = serial;
    let (mut output, mut waited_ns) = (Vec::new(), 0);
    loop {
        let mut tag = [0];
        if reader.read(&mut tag)? == 0 {
            let lines = String::from_utf8_lossy(&output).lines().map(String::from).collect();
            let (traffic, waited_ms) = (sensor.traffic(), waited_ns / 1_000_000);
            return Ok(Crossing { lines, traffic, waited_ms });
        }
        match tag {
            [b'T'] => {
                let [address, parts] = read(&mut reader)?;
                let parts: Vec<Part> =
                    (0..parts).map(|_| part(&mut reader)).collect::<io::Result<_>>()?;
                if sensor.is_over() && !sensor.has_data() {
                    writer.write_all(&[ENDED])?;
                    continue;
                }
                match sensor.transaction(address, &parts) {
                    Ok(bytes) => writer.write_all(&[&[OK], &bytes[..]].concat())?,
                    Err(_) => writer.write_all(&[NO_ADDRESS])?,
                }
            }
            [b'D'] => {
                let nanoseconds = u32::from_le_bytes(read(&mut reader)?);
                waited_ns += u64::from(nanoseconds);
                sensor.advance(nanoseconds.into());
            }
            [b'O'] => output.extend(bytes(&mut reader)?),
            [tag] => {
                let what = format!("the device sent a record that begins with {tag:#x}");
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
        }
    }
}

fn part(reader: &mut impl Read) -> io::Result<Part> {
    Ok(match read(reader)? {
        [b'W'] => Part::Write(bytes(reader)?),
        [b'R'] => Part::Read(u16::from_le_bytes(read(reader)?).into()),
        [tag] => {
            let what = format!("a part of a transaction begins with {tag:#x}");
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
    })
}

fn bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(u16::from_le_bytes(read(reader)?))];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read<const LENGTH: usize>(reader: &mut impl Read) -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}
