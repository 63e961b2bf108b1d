//! The accelerometer: ST's LIS2DH12 (LIS3DH and LIS2DH have the same registers), at 50 Hz, up to 8 g,
//! 12 bits, its FIFO running.

use core::fmt;

use embedded_hal::i2c::{ErrorKind, I2c};
pub use lis2dh::Sa0Pad;
use lis2dh::{AccelerationData, FifoConfig, FullScale, Lis2dh, Mode, OutputDataRate, Register};

/// Samples per second.
pub const RATE_HERTZ: u32 = 50;
/// Samples that the FIFO holds.
pub const FIFO_DEPTH: u8 = 32;
/// Acceleration of one digit: 12 bits for 8 g on either side (the data sheet's rounded figure).
pub const G_PER_DIGIT: f32 = 0.004;

/// Content of the register `WHO_AM_I`.
const IDENTITY: u8 = 0x33;
/// All three axes, in `CTRL_REG1`.
const AXES_ENABLE: u8 = 0x07;
/// Bit of `CTRL_REG4`: the two bytes of a value are of one sample.
const BLOCK_DATA_UPDATE: u8 = 0x80;

/// Fault of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SensorFault {
    /// No answer: the address or a written byte is not acknowledged.
    NoAnswer,
    /// The bus failed in another way.
    Bus,
    /// Another device answers: this is in its `WHO_AM_I`.
    WrongDeviceId(u8),
    /// No data have become ready for too long.
    Stalled,
    /// The FIFO was full: samples may have been overwritten.
    Overrun,
}

impl fmt::Display for SensorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer => f.write_str("no answer"),
            Self::Bus => f.write_str("bus error"),
            Self::WrongDeviceId(identity) => write!(f, "stranger {identity:02x}"),
            Self::Stalled => f.write_str("stalled"),
            Self::Overrun => f.write_str("overrun"),
        }
    }
}

impl core::error::Error for SensorFault {}

impl<E: embedded_hal::i2c::Error> From<lis2dh::Error<E>> for SensorFault {
    fn from(error: lis2dh::Error<E>) -> Self {
        match error {
            lis2dh::Error::I2c(error) if matches!(error.kind(), ErrorKind::NoAcknowledge(_)) => {
                Self::NoAnswer
            }
            // The driver's own refusals cannot come from the settings below.
            _ => Self::Bus,
        }
    }
}

/// Samples that wait in the FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FifoStatus {
    /// Samples to be read.
    pub samples: u8,
    /// `true` if the FIFO is full: others may have been overwritten.
    pub full: bool,
}

/// The accelerometer on an I2C bus.
pub struct Accelerometer<I> {
    driver: Lis2dh<I>,
}

impl<I: I2c> Accelerometer<I> {
    /// The accelerometer at the address that its pad SA0 selects (0x18 or 0x19). Sends nothing yet.
    pub fn new(i2c: I, pad: Sa0Pad) -> Self {
        Self { driver: Lis2dh::new(i2c, pad) }
    }

    /// Sets it up and lets it sample. Whatever was in the FIFO is gone.
    ///
    /// # Errors
    /// When the sensor does not answer, or is another.
    pub fn start(&mut self) -> Result<(), SensorFault> {
        let identity = self.driver.get_device_id()?;
        if identity != IDENTITY {
            return Err(SensorFault::WrongDeviceId(identity));
        }
        // The bypass mode empties the FIFO.
        self.driver.configure_fifo(FifoConfig::Bypass)?;
        self.driver.set_mode(Mode::HighResolution)?;
        self.driver.set_full_scale(FullScale::Fs8g)?;
        self.driver.set_register_bits(Register::CtrlReg4, BLOCK_DATA_UPDATE)?;
        self.driver.configure_fifo(FifoConfig::Stream { watermark: FIFO_DEPTH / 2 })?;
        self.driver.set_register_bits(Register::CtrlReg1, AXES_ENABLE)?;
        Ok(self.driver.set_output_data_rate(OutputDataRate::Hz50)?)
    }

    /// Returns whether data are ready, and the number of samples.
    ///
    /// # Errors
    /// When the sensor does not answer.
    pub fn waiting(&mut self) -> Result<FifoStatus, SensorFault> {
        if !self.driver.read_status()?.xyz_data_available {
            return Ok(FifoStatus::default());
        }
        let fifo = self.driver.read_fifo_status()?;
        // Five bits count to 31; the flag says that it is one more.
        let samples = if fifo.full { FIFO_DEPTH } else { fifo.sample_count };
        Ok(FifoStatus { samples, full: fifo.full })
    }

    /// Takes the oldest sample from the FIFO: x, y, z in g.
    ///
    /// # Errors
    /// When the sensor does not answer.
    pub fn sample(&mut self) -> Result<[f32; 3], SensorFault> {
        let mut data = [AccelerationData::default()];
        self.driver.read_data(&mut data)?;
        let [AccelerationData { x, y, z }] = data;
        // Twelve bits, left-justified.
        Ok([x, y, z].map(|raw| f32::from(raw >> 4) * G_PER_DIGIT))
    }
}
