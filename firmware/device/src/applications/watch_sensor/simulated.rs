//! A simulated LIS2DH12: its register file behind an I2C bus, fed from a recording.
//!
//! Time passes only in [`advance`](SimulatedSensor::advance): what a test sees is
//! the same in every run. The world, which is the recording at 50 Hz, begins when the sensor is first
//! set to sample, and goes on whether or not the sensor does.
//!
//! Registers, FIFO and flags: ST's data sheet of the LIS2DH12, chapters 5 to 8. Simulated are what a
//! poller needs: `WHO_AM_I`, the control registers, `STATUS_REG`, the outputs with auto-increment, and
//! the FIFO's bypass and stream modes.

use std::collections::VecDeque;
use std::ops::Range;
use std::vec::Vec;

/// Nanoseconds between two samples.
pub const PERIOD_NS: u64 = 20_000_000;

/// The address with the pad SA0 high.
pub const ADDRESS: u8 = 0x19;

const FIFO_DEPTH: usize = 32;

mod register {
    pub(super) const WHO_AM_I: u8 = 0x0F;
    pub(super) const CTRL_REG1: u8 = 0x20;
    pub(super) const CTRL_REG4: u8 = 0x23;
    pub(super) const CTRL_REG5: u8 = 0x24;
    pub(super) const STATUS_REG: u8 = 0x27;
    pub(super) const OUT_X_L: u8 = 0x28;
    pub(super) const OUT_Z_H: u8 = 0x2D;
    pub(super) const FIFO_CTRL_REG: u8 = 0x2E;
    pub(super) const FIFO_SRC_REG: u8 = 0x2F;
}

/// Fault to simulate, and its time, in milliseconds of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nobody answers.
    NoAnswer(Range<u64>),
    /// Time from which the sensor takes no samples, until its `CTRL_REG1` is written.
    Stall(u64),
    /// The supply fails for a moment: all registers are as after power-on, the FIFO is empty.
    PowerLoss(u64),
}

/// One part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The master writes these bytes.
    Write(Vec<u8>),
    /// The master reads this number of bytes.
    Read(usize),
}

/// The sensor's address, or a byte, was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAcknowledged;

/// Counts of the traffic on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Transactions, the failed ones included.
    pub transactions: usize,
    /// Number of transactions that were not acknowledged.
    pub refused: usize,
    /// Samples read from the outputs.
    pub samples: usize,
    /// Times that the status register was read.
    pub polls: usize,
}

/// The sensor.
#[derive(Clone, Debug)]
pub struct SimulatedSensor {
    recording: Vec<[f32; 3]>,
    troubles: Vec<Trouble>,
    registers: [u8; 0x40],
    fifo: VecDeque<[i16; 3]>,
    /// Values of the output registers while the FIFO is empty.
    last: [i16; 3],
    is_fresh: bool,
    has_overwritten: bool,
    has_stalled: bool,
    /// Nanoseconds since the world began; `None` before.
    time: Option<u64>,
    /// The register that the next byte is of.
    pointer: u8,
    increments: bool,
    traffic: Traffic,
}

impl SimulatedSensor {
    /// A sensor after power-on, in a world that is this recording: x, y, z in g, at 50 Hz.
    pub fn new(recording: Vec<[f32; 3]>, troubles: Vec<Trouble>) -> Self {
        Self {
            recording,
            troubles,
            registers: after_power_on(),
            fifo: VecDeque::new(),
            last: [0; 3],
            is_fresh: false,
            has_overwritten: false,
            has_stalled: false,
            time: None,
            pointer: 0,
            increments: false,
            traffic: Traffic::default(),
        }
    }

    /// Returns the counts of the traffic on the bus.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Returns whether samples wait to be read.
    pub fn has_data(&self) -> bool {
        !self.fifo.is_empty()
    }

    /// Returns whether the recording is at its end.
    pub fn is_over(&self) -> bool {
        self.time.is_some_and(|time| time / PERIOD_NS >= self.recording.len() as u64)
    }

    /// Lets time pass.
    pub fn advance(&mut self, nanoseconds: u64) {
        let Some(before) = self.time else { return };
        let now = before + nanoseconds;
        let events = |trouble: &Trouble| match *trouble {
            Trouble::Stall(at) | Trouble::PowerLoss(at) => Some(at * 1_000_000),
            Trouble::NoAnswer(_) => None,
        };
        // A sample at the end of its period, and what goes wrong before it.
        for tick in before / PERIOD_NS..now / PERIOD_NS {
            let (begin, end) = (tick * PERIOD_NS, (tick + 1) * PERIOD_NS);
            let due: Vec<Trouble> = self
                .troubles
                .iter()
                .filter(|trouble| events(trouble).is_some_and(|at| (begin..end).contains(&at)))
                .cloned()
                .collect();
            for trouble in due {
                match trouble {
                    Trouble::Stall(_) => self.has_stalled = true,
                    _ => {
                        self.registers = after_power_on();
                        self.fifo.clear();
                        (self.is_fresh, self.has_overwritten) = (false, false);
                    }
                }
            }
            if let Some(&felt) = self.recording.get(tick as usize) {
                self.sample(felt);
            }
        }
        self.time = Some(now);
    }

    /// A transaction on the bus; the bytes read.
    ///
    /// # Errors
    /// [`NotAcknowledged`] at another address, and in trouble.
    pub fn transaction(&mut self, address: u8, parts: &[Part]) -> Result<Vec<u8>, NotAcknowledged> {
        self.traffic.transactions += 1;
        let now = self.time.unwrap_or(0) / 1_000_000;
        let is_deaf = self
            .troubles
            .iter()
            .any(|trouble| matches!(trouble, Trouble::NoAnswer(when) if when.contains(&now)));
        if address != ADDRESS || is_deaf {
            self.traffic.refused += 1;
            return Err(NotAcknowledged);
        }
        let mut read = Vec::new();
        for part in parts {
            match part {
                Part::Write(bytes) => self.written(bytes),
                Part::Read(length) => read.extend((0..*length).map(|_| self.read())),
            }
        }
        Ok(read)
    }

    fn written(&mut self, bytes: &[u8]) {
        let Some((&sub_address, values)) = bytes.split_first() else { return };
        self.pointer = sub_address & 0x7F;
        self.increments = sub_address & 0x80 != 0;
        for &value in values {
            self.write(self.pointer, value);
            self.step();
        }
    }

    fn write(&mut self, register: u8, value: u8) {
        // Temperature configuration, control, FIFO control, interrupts; the others cannot be written.
        let is_writable = matches!(register, 0x1E..=0x26 | 0x2E | 0x30 | 0x32..=0x34 | 0x36..=0x3F);
        let Some(slot) = self.registers.get_mut(usize::from(register)).filter(|_| is_writable)
        else {
            return;
        };
        *slot = value;
        match register {
            register::CTRL_REG1 => {
                self.has_stalled = false;
                if self.samples_at_50_hertz() {
                    self.time.get_or_insert(0);
                }
            }
            register::FIFO_CTRL_REG if !self.streams() => {
                self.fifo.clear();
                self.has_overwritten = false;
            }
            _ => {}
        }
    }

    fn read(&mut self) -> u8 {
        let register = self.pointer;
        let value = match register {
            register::STATUS_REG => {
                self.traffic.polls += 1;
                // Of all axes and of each: data overrun, data available.
                (u8::from(self.has_overwritten) * 0xF0) | (u8::from(self.is_fresh) * 0x0F)
            }
            register::FIFO_SRC_REG => self.fifo_source(),
            register::OUT_X_L..=register::OUT_Z_H => self.output(register - register::OUT_X_L),
            _ => self.registers.get(usize::from(register)).copied().unwrap_or(0),
        };
        self.step();
        value
    }

    fn step(&mut self) {
        if !self.increments {
            return;
        }
        let is_last = self.pointer == register::OUT_Z_H && self.streams();
        self.pointer = if is_last { register::OUT_X_L } else { (self.pointer + 1) & 0x7F };
    }

    /// A byte of the oldest sample. Reading its last byte frees its place.
    fn output(&mut self, byte: u8) -> u8 {
        if byte == 0 {
            self.last = self.fifo.front().copied().unwrap_or(self.last);
        }
        let [low, high] = self.last[usize::from(byte / 2)].to_le_bytes();
        if byte == 5 {
            self.fifo.pop_front();
            self.has_overwritten = false;
            self.is_fresh = !self.fifo.is_empty();
            self.traffic.samples += 1;
        }
        if byte.is_multiple_of(2) { low } else { high }
    }

    fn fifo_source(&self) -> u8 {
        let threshold = self.registers[usize::from(register::FIFO_CTRL_REG)] & 0x1F;
        let length = self.fifo.len().min(FIFO_DEPTH) as u8;
        let watermark = u8::from(length > threshold) * 0x80;
        let overrun = u8::from(self.fifo.len() == FIFO_DEPTH) * 0x40;
        let empty = u8::from(length == 0) * 0x20;
        watermark | overrun | empty | length.min(31)
    }

    fn samples_at_50_hertz(&self) -> bool {
        self.registers[usize::from(register::CTRL_REG1)] >> 4 == 4
    }

    fn streams(&self) -> bool {
        self.registers[usize::from(register::CTRL_REG5)] & 0x40 != 0
            && self.registers[usize::from(register::FIFO_CTRL_REG)] >> 6 == 2
    }

    /// The analogue side: one sample, if there is to be one.
    fn sample(&mut self, felt: [f32; 3]) {
        if !self.samples_at_50_hertz() || self.has_stalled {
            return;
        }
        let raw = self.quantised(felt);
        if self.streams() {
            if self.fifo.len() == FIFO_DEPTH {
                self.fifo.pop_front();
                self.has_overwritten = true;
            }
            self.fifo.push_back(raw);
        } else {
            self.last = raw;
        }
        self.is_fresh = true;
    }

    /// Left-justified digits, as many as the mode has, at its full scale.
    fn quantised(&self, felt: [f32; 3]) -> [i16; 3] {
        let control = self.registers[usize::from(register::CTRL_REG4)];
        let bits = match (self.registers[usize::from(register::CTRL_REG1)] & 0x08, control & 0x08) {
            (0, 0) => 10,
            (0, _) => 12,
            _ => 8,
        };
        let milli_g_of_12_bits = [1.0, 2.0, 4.0, 12.0][usize::from(control >> 4 & 3)];
        let digit = milli_g_of_12_bits * f32::from(1_u16 << (12 - bits)) / 1000.0;
        let axes = self.registers[usize::from(register::CTRL_REG1)] & 7;
        let most = (1 << (bits - 1)) - 1;
        let mut axis = 0;
        felt.map(|g| {
            let is_on = axes >> axis & 1 != 0;
            axis += 1;
            let digits = ((g / digit).round() as i32).clamp(-most - 1, most);
            if is_on { (digits << (16 - bits)) as i16 } else { 0 }
        })
    }
}

fn after_power_on() -> [u8; 0x40] {
    let mut registers = [0; 0x40];
    for (register, value) in
        [(0x07, 0), (0x1E, 0x10), (register::WHO_AM_I, 0x33), (register::CTRL_REG1, 0x07)]
    {
        registers[usize::from(register)] = value;
    }
    registers
}
