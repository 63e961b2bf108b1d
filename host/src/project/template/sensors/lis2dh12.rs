//! {{part}}, by the crate `{{driver}}`: {{what}}, at {{odr_hertz}} Hz.
//!
//! The newest sample is read when one is due. A sensor that does not answer is set up anew.

use lis2dh::{AccelerationData, FullScale, Lis2dh, Mode, OutputDataRate, Register, Sa0Pad};

use crate::bus::{self, Bus};

type Driver = Lis2dh<Bus>;

/// Content of the register `WHO_AM_I`.
const IDENTITY: u8 = 0x33;
/// All axes, in `CTRL_REG1`; in `CTRL_REG4`, both bytes of a value are of one sample.
const AXES: u8 = 0x07;
const WHOLE: u8 = 0x80;
/// Acceleration of one digit: 12 bits for 8 g on either side.
const G: f32 = 0.004;

{{sensor}}
/// Sets the sensor up: up to 8 g, 12 bits. Its pad SA0 is high, as boards with it have it.
fn start() -> Option<Driver> {
    let mut driver = Lis2dh::new(bus::take()?, Sa0Pad::High);
    if driver.get_device_id().ok()? != IDENTITY {
        return None;
    }
    driver.set_mode(Mode::HighResolution).ok()?;
    driver.set_full_scale(FullScale::Fs8g).ok()?;
    driver.set_register_bits(Register::CtrlReg4, WHOLE).ok()?;
    driver.set_register_bits(Register::CtrlReg1, AXES).ok()?;
    driver.set_output_data_rate(OutputDataRate::{{odr}}).ok()?;
    Some(driver)
}

/// Acceleration along x, y, z, in g.
fn read(driver: &mut Driver) -> Result<Option<[f32; 3]>, Lost> {
    if !driver.read_status().map_err(|_| Lost)?.xyz_data_available {
        return Ok(None);
    }
    let mut data = [AccelerationData::default()];
    driver.read_data(&mut data).map_err(|_| Lost)?;
    let [AccelerationData { x, y, z }] = data;
    // Twelve bits, left-justified.
    Ok(Some([x, y, z].map(|digits| f32::from(digits >> 4) * G)))
}
